//! Averages of iterates.

reticent_oracle::words! {
    /// Which average of the iterates `x₁ … x_T` is the solution.
    #[derive(Eq)]
    pub enum Average = "average" {
        /// `x_T`.
        Last = "last",
        /// `(1/T) Σ x_t`.
        Uniform = "uniform" " (all iterates alike)",
        /// `Σ t·x_t / Σ t`: early iterates, far from the optimum, count less.
        Weighted = "weighted" " (iterate t counts t times)",
        /// Weights in proportion to t³ for large t: the last quarter of the iterates has two thirds
        /// of the weight.
        Late = "late" " (about t³ times)",
    }
}

/// An average that is kept up to date.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    params: Average,
    mean: Vec<f64>,
    count: f64,
    weight: f64,
}

impl Running {
    pub fn new(params: Average, len: usize) -> Self {
        Running { params, mean: vec![0.0; len], count: 0.0, weight: 0.0 }
    }

    /// The next iterate. The mean is moved towards it by its share of the weight so far, which
    /// loses fewer digits than a growing sum.
    pub fn add(&mut self, x: &[f64]) {
        self.count += 1.0;
        let weight = match self.params {
            Average::Last => {
                self.mean.copy_from_slice(x);
                return;
            }
            Average::Uniform => 1.0,
            Average::Weighted => self.count,
            // t(t+1)(t+2)/6, so that iterate t has the share 4/(t+3) of the weight up to it.
            Average::Late => self.count * (self.count + 1.0) * (self.count + 2.0) / 6.0,
        };
        self.weight += weight;
        let share = weight / self.weight;
        for (mean, x) in self.mean.iter_mut().zip(x) {
            *mean += share * (x - *mean);
        }
    }

    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Forgets what was added.
    pub fn restart(&mut self) {
        (self.count, self.weight) = (0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Vec<f64> {
        let mut running = Running::new(name.parse().unwrap(), 2);
        for x in [[9.0, 9.0], [3.0, 0.0], [6.0, 3.0]] {
            running.add(&x);
        }
        running.mean().to_vec()
    }

    #[test]
    fn averages_are_what_their_names_say() {
        assert_eq!(of("last"), [6.0, 3.0]);
        assert_eq!(of("uniform"), [6.0, 4.0]);
        let weighted = of("weighted");
        assert!((weighted[0] - 33.0 / 6.0).abs() < 1e-15 && (weighted[1] - 3.0).abs() < 1e-15);
        let late = of("late");
        assert!((late[0] - 81.0 / 15.0).abs() < 1e-14 && (late[1] - 2.6).abs() < 1e-14, "{late:?}");
    }

    #[test]
    fn other_names_are_refused() {
        let error = "mean".parse::<Average>().unwrap_err().to_string();
        assert!(error.starts_with("average = mean: use last"), "{error}");
    }
}
