//! What goes from the server to a party: public numbers alone.

use std::borrow::Cow;

use reticent_noise::Digest;
use serde::{Deserialize, Serialize};

use crate::queries::{RecordSum, wrong};
use crate::refusal::Refusal;

/// What a party is asked, and what stands for the plan that it is asked by.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SumRequest<'a> {
    pub agreed: Digest,
    /// Other coordinates, or those of the table again, that it is asked in from here on; see
    /// [`Oracle::set_basis`](crate::Oracle::set_basis).
    pub basis: Option<Option<Cow<'a, [f64]>>>,
    pub what: RecordSum<'a>,
}

impl SumRequest<'_> {
    pub fn pack(&self) -> Result<Vec<u8>, Refusal> {
        postcard::to_allocvec(self).map_err(|_| wrong("a request cannot be written"))
    }
}

impl SumRequest<'static> {
    pub fn unpack(bytes: &[u8]) -> Result<Self, Refusal> {
        match postcard::take_from_bytes(bytes) {
            Ok((request, [])) => Ok(request),
            _ => Err(wrong("a request of the server cannot be read")),
        }
    }
}
