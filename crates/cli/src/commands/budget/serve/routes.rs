//! Which address is which page.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Form, Multipart, Path as Part, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use reticent_budget::{BudgetError, Store};
use reticent_report::{BudgetAccount, Page, live};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

use super::guard::{Hosts, guard};
use super::sent;
use super::token::Token;
use crate::commands::report::account;

/// The largest file that is verified, and the largest form.
pub const LARGEST_FILE: usize = 16 * 1024 * 1024;
pub const LARGEST_FORM: usize = 4 * 1024;

/// So many pages are counted at once.
const AT_ONCE: usize = 2;

/// So many files of others are: one that takes for ever to count is in nobody's way but theirs.
const FILES_AT_ONCE: usize = 1;

/// Who gives a wrong token waits, and everybody behind them.
const PENALTY: Duration = Duration::from_millis(300);

/// What the pages are about.
#[derive(Clone, Debug)]
pub struct Pages(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    files: Vec<PathBuf>,
    token: Option<Token>,
    /// Tokens are tried one after the other.
    trying: Mutex<()>,
    counting: Arc<Semaphore>,
    verifying: Arc<Semaphore>,
}

type Asked = HashMap<String, String>;

impl Pages {
    /// The pages of these budgets.
    pub fn new(files: Vec<PathBuf>, token: Option<Token>) -> Self {
        let counting = Arc::new(Semaphore::new(AT_ONCE));
        let verifying = Arc::new(Semaphore::new(FILES_AT_ONCE));
        Self(Arc::new(Inner { files, token, trying: Mutex::new(()), counting, verifying }))
    }

    /// Does what reads files or counts, away from the connections, and not too much of it at once.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Response> {
        let place = Arc::clone(&self.0.counting).acquire_owned().await.map_err(|_| busy())?;
        away(place, work).await
    }

    /// The same for a file that somebody sent; nobody waits for another's.
    async fn verify<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Response> {
        let place = Arc::clone(&self.0.verifying).try_acquire_owned().map_err(|_| busy())?;
        away(place, work).await
    }

    /// The budget of this number in an address, counted from 1.
    fn file(&self, number: &str) -> Option<(usize, PathBuf)> {
        let number: usize = number.parse().ok()?;
        Some((number, self.0.files.get(number.checked_sub(1)?)?.clone()))
    }

    /// Whether the token was given, in a form or as a header; tried one after the other.
    async fn may_write(&self, headers: &HeaderMap, form: &Asked) -> bool {
        let Some(token) = &self.0.token else { return false };
        let _one = self.0.trying.lock().await;
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
        let given = bearer.or(form.get("token").map(String::as_str)).unwrap_or_default();
        let right = token.is(given);
        if !right {
            tokio::time::sleep(PENALTY).await;
        }
        right
    }
}

/// Does it on another thread; its place is free when it is done, whoever still waits for it.
async fn away<T: Send + 'static>(
    place: OwnedSemaphorePermit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Response> {
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(place);
        done
    });
    done.await.map_err(|_| busy())
}

fn no_budget() -> Response {
    said(StatusCode::NOT_FOUND, "Not found", "There is no such budget.", "/")
}

fn busy() -> Response {
    said(StatusCode::SERVICE_UNAVAILABLE, "Busy", "Try again in a moment.", "/")
}

/// All pages, behind the guard.
pub fn router(pages: Pages, hosts: Hosts) -> Router {
    Router::new()
        .route("/", get(index))
        .route("/budget/{number}", get(budget))
        .route("/budget/{number}/history", get(history))
        .route("/budget/{number}/plan", get(plan))
        .route("/budget/{number}/forfeit", post(forfeit).layer(DefaultBodyLimit::max(LARGEST_FORM)))
        .route("/verify", get(verify).post(verified).layer(DefaultBodyLimit::max(LARGEST_FILE)))
        .fallback(|| async {
            said(StatusCode::NOT_FOUND, "Not found", "There is no such page.", "/")
        })
        .layer(axum::middleware::from_fn_with_state(hosts, guard))
        .with_state(pages)
}

fn page(page: Page) -> Response {
    Html(page.into_html()).into_response()
}

fn said(status: StatusCode, title: &str, words: &str, back: &str) -> Response {
    (status, page(live::message(title, words, back))).into_response()
}

/// A budget that could not be read.
fn unread(error: &BudgetError) -> Response {
    said(StatusCode::INTERNAL_SERVER_ERROR, "Cannot be read", &error.to_string(), "/")
}

fn read(file: &Path) -> Result<(Store, BudgetAccount), BudgetError> {
    let store = Store::open_to_read(file)?;
    let account = account(&store, file)?;
    Ok((store, account))
}

async fn index(State(pages): State<Pages>) -> Result<Response, Response> {
    let files = pages.0.files.clone();
    let all = pages.work(move || {
        let name = |file: &Path| {
            file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let one = |file: &PathBuf| {
            let account = read(file).map(|(_, account)| account).map_err(|error| error.to_string());
            (name(file), account)
        };
        live::index(&files.iter().map(one).collect::<Vec<_>>())
    });
    all.await.map(page)
}

async fn budget(
    State(pages): State<Pages>,
    Part(number): Part<String>,
    Query(query): Query<Asked>,
) -> Result<Response, Response> {
    let (number, file) = pages.file(&number).ok_or_else(no_budget)?;
    let watching = query.get("watch").is_some_and(|word| word == "yes");
    let asked = live::PageRequest { number, writable: pages.0.token.is_some(), watching };
    let found = pages.work(move || read(&file).map(|(_, account)| live::budget(&account, asked)));
    let mut response = page(found.await?.map_err(|error| unread(&error))?);
    if watching {
        let every = header::HeaderValue::from_static("10");
        response.headers_mut().insert(header::REFRESH, every);
    }
    Ok(response)
}

async fn history(
    State(pages): State<Pages>,
    Part(number): Part<String>,
    Query(query): Query<Asked>,
) -> Result<Response, Response> {
    let (number, file) = pages.file(&number).ok_or_else(no_budget)?;
    let from = query.get("from").and_then(|from| from.parse().ok()).unwrap_or(1_usize).max(1);
    let found = pages.work(move || {
        let (store, account) = read(&file)?;
        Ok(live::history(&account, number, &store.lines()?, from))
    });
    found.await?.map(page).map_err(|error: BudgetError| unread(&error))
}

async fn plan(
    State(pages): State<Pages>,
    Part(number): Part<String>,
    Query(query): Query<Asked>,
) -> Result<Response, Response> {
    let (number, file) = pages.file(&number).ok_or_else(no_budget)?;
    let found = pages.work(move || {
        let typed =
            |name: &str| query.get(name).map(|text| text.trim().to_owned()).unwrap_or_default();
        let (epsilon, delta) = (typed("epsilon"), typed("delta"));
        let (store, account) = read(&file)?;
        let numbers = epsilon.parse::<f64>().ok().zip(delta.parse::<f64>().ok());
        let planned = match numbers {
            None => Err("ε and δ must be numbers, for example 1 and 1e-6.".to_owned()),
            Some((epsilon, delta)) => {
                let plan = store.promise()?.gaussian(epsilon, delta);
                plan.and_then(|plan| store.plan(&plan)).map_err(|error| error.to_string())
            }
        };
        Ok(live::plan(&account, number, (&epsilon, &delta), &planned))
    });
    found.await?.map(page).map_err(|error: BudgetError| unread(&error))
}

async fn forfeit(
    State(pages): State<Pages>,
    Part(number): Part<String>,
    headers: HeaderMap,
    Form(form): Form<Asked>,
) -> Result<Response, Response> {
    let (number, file) = pages.file(&number).ok_or_else(no_budget)?;
    let own = format!("/budget/{number}");
    if !pages.may_write(&headers, &form).await {
        let words = "Nothing was changed: this server is read-only, or the token is another.";
        return Err(said(StatusCode::FORBIDDEN, "Refused", words, &own));
    }
    let job = form.get("job").and_then(|job| job.parse::<u64>().ok());
    let job = job.ok_or_else(|| {
        said(StatusCode::BAD_REQUEST, "Refused", "Nothing was changed: no job was named.", &own)
    })?;
    let done = pages.work(move || Store::open(&file).and_then(|mut store| store.forfeit(job)));
    match done.await? {
        Ok(()) => {
            let words = format!("Job {job} is closed, and counted as spent.");
            Ok(said(StatusCode::OK, "Done", &words, &own))
        }
        Err(error) => {
            let words = format!("Nothing was changed: {error}.");
            Err(said(StatusCode::CONFLICT, "Refused", &words, &own))
        }
    }
}

async fn verify() -> Response {
    page(live::verify())
}

async fn verified(State(pages): State<Pages>, mut parts: Multipart) -> Result<Response, Response> {
    let refuse = |status: StatusCode, words: &str| said(status, "Cannot be read", words, "/verify");
    let part = parts.next_field().await;
    let part = part.map_err(|error| refuse(error.status(), "The upload is damaged."))?;
    let part = part.ok_or_else(|| refuse(StatusCode::BAD_REQUEST, "There was no file."))?;
    let name = part.file_name().unwrap_or("a file").to_owned();
    let bytes = part
        .bytes()
        .await
        .map_err(|error| refuse(error.status(), "The file is too large, or did not come whole."))?;
    let found = pages.verify(move || {
        let text = std::str::from_utf8(&bytes).map_err(|_| "it is not text".to_owned())?;
        sent::subject(&name, text).map(|subject| live::verified(&subject))
    });
    found.await?.map(page).map_err(|words| {
        refuse(
            StatusCode::UNPROCESSABLE_ENTITY,
            &format!("This is no model and no certificate: {words}."),
        )
    })
}
