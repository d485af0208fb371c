//! A page that is done.

/// HTML, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page(pub(crate) String);

impl Page {
    /// The text of the page.
    #[must_use]
    pub fn html(&self) -> &str {
        &self.0
    }

    /// The same, for who keeps it.
    #[must_use]
    pub fn into_html(self) -> String {
        self.0
    }
}
