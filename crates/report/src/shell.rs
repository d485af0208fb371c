//! What every page has around it: a head that forbids everything but the page's own style.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::page::Page;
use crate::words::plain;

/// The style of the pages, and that of their pictures.
fn style() -> String {
    format!("{}{}", include_str!("style.css"), reticent_plot::STYLE)
}

/// The content security policy of every page: nothing is loaded and nothing runs; the one style
/// sheet is known by its hash; forms go where the page came from.
#[must_use]
pub fn policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(style().as_bytes()));
    format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'self'")
}

/// What is around a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shell<'a> {
    /// The title, and the first heading.
    pub title: &'a str,
    /// A sentence below it.
    pub lead: Option<&'a str>,
    /// Where else one can go.
    pub nav: Option<&'a Markup>,
}

/// The whole page.
pub(crate) fn shell(of: &Shell, body: &Markup) -> Page {
    let title = plain(of.title);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="robots" content="noindex";
                title { (title) }
                style { (PreEscaped(style())) }
            }
            body {
                a.skip href="#main" { "To the content" }
                header.top {
                    p.brand { "Reticent" }
                    @if let Some(nav) = of.nav { (nav) }
                }
                main id="main" {
                    h1 { bdi { (title) } }
                    @if let Some(lead) = of.lead { p.under { (lead) } }
                    (body)
                }
                footer { p {
                    "Made by reticent " (env!("CARGO_PKG_VERSION"))
                    ". A number on this page is a promise only where the page says so; it was recomputed, and rounded \
                     so that it is never less than what holds."
                } }
            }
        }
    };
    Page(page.into_string())
}
