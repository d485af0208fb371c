//! The central adversary sees what is released. A guarantee against it alone reaches nobody who
//! sees messages.

use crate::vocabulary::View;

pub(super) fn covers(asked: View) -> bool {
    asked == View::Central
}
