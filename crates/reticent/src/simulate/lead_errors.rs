//! Estimates with standard errors as a lead has made them: their numbers follow from answers that have
//! their noise, and all else is a party's own to say.

use reticent_admm::Estimated;

use crate::error::Error;
use crate::standard_errors::{Found, StandardErrors};

/// Why there are none, in a party's words.
const HIDDEN: &str = "the lead says that the sums that it was answered with do not allow any; its own model says why";

impl Found {
    /// The same without what was found: what a party knows of it beforehand.
    pub(super) fn without_numbers(mut self) -> Self {
        let len = self.kept.len();
        let (estimate, covariance) = (vec![0.0; len], vec![0.0; len * len]);
        self.estimated = Estimated::Found { estimate, covariance };
        self
    }
}

impl StandardErrors {
    /// The same with the numbers of the lead's, and nothing else of them.
    pub(crate) fn with_numbers_of(self, lead: &StandardErrors) -> Result<Self, Error> {
        if lead.hidden.is_some() {
            let (estimates, curves, surfaces) = Default::default();
            let hidden = Some(HIDDEN.to_owned());
            return Ok(StandardErrors { hidden, estimates, curves, surfaces, ..self });
        }
        let (mut own, mut other) = (self, lead.clone());
        let mut sound = true;
        other.each_number(&mut |value, least| sound &= value.is_finite() && *value >= least);
        own.each_number(&mut |value, _| *value = 0.0);
        other.each_number(&mut |value, _| *value = 0.0);
        if !sound || own != other {
            let why = "it has estimates of other coefficients than the job, or what is no number";
            return Err(Error::value("model", "another", why));
        }
        Ok(lead.clone())
    }

    /// Every estimate and every standard error, with the least that it may be.
    fn each_number(&mut self, to: &mut dyn FnMut(&mut f64, f64)) {
        let any = f64::NEG_INFINITY;
        for one in &mut self.estimates {
            to(&mut one.estimate, any);
            to(&mut one.standard_error, 0.0);
        }
        for curve in &mut self.curves {
            curve.estimates.iter_mut().for_each(|value| to(value, any));
            curve.standard_errors.iter_mut().for_each(|value| to(value, 0.0));
        }
        for surface in &mut self.surfaces {
            surface.estimates.iter_mut().flatten().for_each(|value| to(value, any));
            surface.standard_errors.iter_mut().flatten().for_each(|value| to(value, 0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard_errors::CoefficientEstimate;

    fn errors(name: &str, estimate: f64, standard_error: f64) -> StandardErrors {
        StandardErrors {
            share: 0.5,
            of: "log-odds of ill = yes".to_owned(),
            hidden: None,
            estimates: vec![CoefficientEstimate {
                name: name.to_owned(),
                against: None,
                encoded: false,
                estimate,
                standard_error,
            }],
            curves: Vec::new(),
            surfaces: Vec::new(),
        }
    }

    #[test]
    fn a_lead_says_numbers_and_nothing_else() {
        let own = || errors("age", 0.0, 0.0);
        let told = own().with_numbers_of(&errors("age", 2.5, 0.5)).unwrap();
        assert_eq!(told, errors("age", 2.5, 0.5));
        let hidden = StandardErrors {
            hidden: Some("all is well".to_owned()),
            share: 0.9,
            ..errors("age", 1.0, 1.0)
        };
        let said = own().with_numbers_of(&hidden).unwrap();
        assert_eq!(
            (said.share, said.hidden.as_deref(), said.estimates.len()),
            (0.5, Some(HIDDEN), 0)
        );
        let of = |other: StandardErrors| own().with_numbers_of(&other).is_err();
        assert!(of(errors("weight", 2.5, 0.5)) && of(errors("age", f64::NAN, 0.5)));
        assert!(of(errors("age", 2.5, -0.5)) && of(errors("age", 2.5, f64::INFINITY)));
        assert!(of(StandardErrors { share: 0.9, ..errors("age", 2.5, 0.5) }));
        assert!(of(StandardErrors { of: "income".to_owned(), ..errors("age", 2.5, 0.5) }));
        assert!(of(StandardErrors { estimates: Vec::new(), ..errors("age", 2.5, 0.5) }));
    }
}
