//! Pages whose headers are not believed: a damaged one may claim more values than its bytes can
//! hold, and the library would make room for them first.

use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

/// The pages of a column chunk that has `left` values.
pub(super) struct CheckedPages {
    pages: Box<dyn PageReader>,
    left: u64,
}

impl CheckedPages {
    pub(super) fn new(pages: Box<dyn PageReader>, values: u64) -> Self {
        Self { pages, left: values }
    }

    fn check(&mut self, page: Option<Page>) -> Result<Option<Page>> {
        let refuse = |what: &str| Err(ParquetError::General(what.into()));
        match &page {
            // Every value of a dictionary takes at least a byte.
            Some(Page::DictionaryPage { buf, num_values, .. })
                if *num_values as usize > buf.len() =>
            {
                return refuse("a dictionary has fewer values than it says");
            }
            Some(Page::DictionaryPage { .. }) => {}
            Some(data) => match self.left.checked_sub(u64::from(data.num_values())) {
                Some(left) => self.left = left,
                None => return refuse("a column has more values than it says"),
            },
            None if self.left > 0 => return refuse("a column has fewer values than it says"),
            None => {}
        }
        Ok(page)
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        self.check(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}
