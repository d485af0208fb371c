//! Why what is certified may be more than what is true.

/// For what is tuned.
pub const CHOICE: &str = "a choice is counted by Rényi divergence, for the worst score";
/// For what learns a graph.
pub const GRAPH: &str =
    "no record moves the second moments and the gradient as far as it may at once";

/// For what asks for the scale of the residuals.
pub const SCALE: &str =
    "no record moves the counts of the scale and the gradient as far as it may at once";

/// For what is recalibrated.
pub const LINE: &str =
    "no record moves the line through the log-odds and the gradient as far as it may at once";

/// For what has standard errors.
pub const CURVATURE: &str =
    "no record moves the curvature and the gradient as far as it may at once";

/// For what chooses by the exponential mechanism.
pub const CHOSEN: &str = "a choice is counted for the worst scores, by Rényi divergence, and with few columns no \
                          record moves it so far";

pub const PART: &str = "corrections are counted in full, and this record moves them less";
pub const SCHEDULED: &str =
    "every release is counted in full, and a block that has not moved yet says nothing";
pub const PERTURBED: &str = "the determinant and the solver's distance are counted beside the noise, and a record \
                             that pushes another out";
pub const CAPPED: &str = "visits are counted up to a cap that few users reach";
pub const HIDDEN: &str =
    "what the steps of others hide is a bound, averaged over where the token goes";
pub const CERTAIN: &str =
    "only the noise of members that are certainly honest and stay is counted, by its moments";
pub const SIDES: &str = "of each noisy count only the side of a threshold is seen";
pub const DISTANCE: &str = "how far apart one record's two blocks can be is a bound";
