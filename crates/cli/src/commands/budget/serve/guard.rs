//! What every request passes: who it was meant for, where it came from, how long it may take; and
//! what every answer forbids.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::routes::{LARGEST_FILE, LARGEST_FORM};

/// From the head of a request to its answer.
const LONGEST: Duration = Duration::from_secs(30);

/// The names that the server may be asked for by.
#[derive(Clone, Debug)]
pub struct Hosts(Arc<Vec<String>>);

/// The names of an address, and those that were given. A page elsewhere whose name is made to point
/// here asks for its own name, and is refused.
pub fn hosts(address: SocketAddr, given: &[String]) -> Hosts {
    let port = address.port();
    let mut known = vec![address.to_string()];
    if address.ip().is_loopback() || address.ip().is_unspecified() {
        known.extend(["127.0.0.1", "[::1]", "localhost"].map(|name| format!("{name}:{port}")));
    }
    known.extend(given.iter().cloned());
    known.extend(given.iter().map(|name| format!("{name}:{port}")));
    if port == 80 {
        let bare: Vec<String> =
            known.iter().filter_map(|name| name.strip_suffix(":80").map(str::to_owned)).collect();
        known.extend(bare);
    }
    known.iter_mut().for_each(|name| name.make_ascii_lowercase());
    Hosts(Arc::new(known))
}

impl Hosts {
    /// The name that a request is for, if the server has it.
    fn asked(&self, headers: &HeaderMap) -> Option<String> {
        let mut given = headers.get_all(header::HOST).iter();
        let host = given.next()?.to_str().ok()?.to_ascii_lowercase();
        (given.next().is_none() && self.0.contains(&host)).then_some(host)
    }
}

/// Whether a request that does something comes from a page of this server, or from no page at all.
/// A browser says so itself where it trusts the way (the loopback, or encrypted); as the pages forbid
/// it to tell where one comes from, the origin is then `null`.
fn is_own(headers: &HeaderMap, host: &str) -> bool {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let own = |origin: &str| {
        let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        name.is_some_and(|name| name.eq_ignore_ascii_case(host))
    };
    let origin = text(header::ORIGIN);
    match text(HeaderName::from_static("sec-fetch-site")) {
        Some("same-origin" | "none") => origin.is_none_or(|origin| origin == "null" || own(origin)),
        Some(_) => false,
        None => origin.is_none_or(own),
    }
}

/// Lets a request pass, or not.
pub async fn guard(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let response = match hosts.asked(request.headers()) {
        None => {
            (StatusCode::MISDIRECTED_REQUEST, "This server has another name.\n").into_response()
        }
        Some(host) => {
            if body_is_too_long(&request) {
                let said = (StatusCode::PAYLOAD_TOO_LARGE, "This is more than is read here.\n");
                return forbidding(said.into_response());
            }
            let reads = [Method::GET, Method::HEAD].contains(request.method());
            if reads || is_own(request.headers(), &host) {
                answered(request, next).await
            } else {
                (StatusCode::FORBIDDEN, "This came from another site.\n").into_response()
            }
        }
    };
    forbidding(response)
}

/// Whether a request says itself that its body is longer than what its page reads. One that does not
/// say so is read up to the limit.
fn body_is_too_long(request: &Request) -> bool {
    let most = if request.uri().path() == "/verify" { LARGEST_FILE } else { LARGEST_FORM };
    let given = request.headers().get(header::CONTENT_LENGTH);
    let given = given.and_then(|value| value.to_str().ok()).and_then(|text| text.parse().ok());
    given.is_some_and(|length: usize| length > most)
}

async fn answered(request: Request, next: Next) -> Response {
    match tokio::time::timeout(LONGEST, next.run(request)).await {
        Ok(response) => response,
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "This takes too long.\n").into_response(),
    }
}

/// With what every answer forbids.
fn forbidding(mut response: Response) -> Response {
    let policy = format!("{}; frame-ancestors 'none'", reticent_report::policy());
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    let headers = response.headers_mut();
    for (name, value) in fixed {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(of: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        of.iter().map(pair).collect()
    }

    #[test]
    fn a_name_that_is_not_ours_is_refused() {
        let hosts = hosts("127.0.0.1:8417".parse().unwrap(), &["Officer.example".to_owned()]);
        for own in ["127.0.0.1:8417", "LOCALHOST:8417", "[::1]:8417", "officer.example"] {
            assert!(hosts.asked(&headers(&[("host", own)])).is_some(), "{own}");
        }
        for other in
            ["evil.example", "localhost", "127.0.0.1:80", "localhost:8417.evil.example", ""]
        {
            assert!(hosts.asked(&headers(&[("host", other)])).is_none(), "{other}");
        }
        assert!(hosts.asked(&HeaderMap::new()).is_none());
        let mut twice = headers(&[("host", "localhost:8417")]);
        twice.append("host", HeaderValue::from_static("localhost:8417"));
        assert!(hosts.asked(&twice).is_none());
    }

    #[test]
    fn what_comes_from_another_site_is_refused() {
        let host = "localhost:8417";
        assert!(is_own(&headers(&[]), host));
        assert!(is_own(&headers(&[("origin", "http://localhost:8417")]), host));
        for other in ["http://evil.example", "null", "http://localhost:84170", "http://localhost"] {
            assert!(!is_own(&headers(&[("origin", other)]), host), "{other}");
        }
        assert!(!is_own(&headers(&[("sec-fetch-site", "cross-site")]), host));
        assert!(!is_own(&headers(&[("sec-fetch-site", "same-site")]), host));
        let told = [("sec-fetch-site", "same-origin"), ("origin", "null")];
        assert!(is_own(&headers(&told), host));
        let forged = [("sec-fetch-site", "same-origin"), ("origin", "http://evil.example")];
        assert!(!is_own(&headers(&forged), host));
    }
}
