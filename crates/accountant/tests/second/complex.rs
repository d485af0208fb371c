//! As much complex arithmetic as a contour needs.

#[derive(Clone, Copy, Debug)]
pub struct C(pub f64, pub f64);

impl C {
    pub fn mul(self, o: C) -> C {
        C(self.0 * o.0 - self.1 * o.1, self.0 * o.1 + self.1 * o.0)
    }
    pub fn add(self, o: C) -> C {
        C(self.0 + o.0, self.1 + o.1)
    }
    pub fn scale(self, by: f64) -> C {
        C(self.0 * by, self.1 * by)
    }
    pub fn div(self, o: C) -> C {
        let n = o.0 * o.0 + o.1 * o.1;
        C((self.0 * o.0 + self.1 * o.1) / n, (self.1 * o.0 - self.0 * o.1) / n)
    }
    pub fn norm(self) -> f64 {
        self.0.hypot(self.1)
    }
    pub fn exp(self) -> C {
        let (sin, cos) = self.1.sin_cos();
        let r = self.0.exp();
        C(r * cos, r * sin)
    }
    /// e^z − 1 without cancellation near 0.
    pub fn exp_m1(self) -> C {
        if self.1 == 0.0 {
            return C(self.0.exp_m1(), 0.0);
        }
        let (sin, cos) = self.1.sin_cos();
        let half = (self.1 / 2.0).sin();
        C(self.0.exp_m1() * cos - 2.0 * half * half, self.0.exp() * sin)
    }
    /// ln(1 + z); the branch does not matter where a whole multiple of it is exponentiated.
    pub fn ln_1p(self) -> C {
        let C(x, y) = self;
        let re = if self.norm() < 0.5 {
            0.5 * (2.0 * x + x * x + y * y).ln_1p()
        } else {
            (1.0 + x).hypot(y).ln()
        };
        C(re, y.atan2(1.0 + x))
    }
    pub fn ln(self) -> C {
        C(self.norm().ln(), self.1.atan2(self.0))
    }
}
