//! Nothing that answers can be made outside the gate's crate: an oracle in between would have queries to look into.

use reticent_oracle::{PaperClaim, Oracle, Refusal, Terms};
use reticent_problem::Shape;

struct Between<'a>(&'a mut dyn Oracle);

impl Oracle for Between<'_> {
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

    fn set_basis(&mut self, images: Option<&[f64]>) -> Result<(), Refusal> {
        self.0.set_basis(images)
    }
}

fn main() {}
