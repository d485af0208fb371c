//! What stands between an algorithm and an oracle asks it, as everybody does.

use reticent_oracle::{Oracle, PaperClaim, Refusal, Terms};
use reticent_problem::Shape;

struct Between<'a>(&'a mut dyn Oracle);

impl Between<'_> {
    fn shape(&self) -> Shape {
        self.0.shape()
    }

    fn terms(&self) -> &Terms {
        self.0.terms()
    }

    fn claim(&mut self, claim: PaperClaim) {
        self.0.claim(claim);
    }

    fn open_consensus(&mut self, start: &[f64]) -> Result<(), Refusal> {
        self.0.open_consensus(start)
    }
}

pub fn main() {
    let _ = (Between::shape, Between::terms, Between::claim, Between::open_consensus);
}
