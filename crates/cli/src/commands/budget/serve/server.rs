//! Connections: how many at once, how long each, and how all of them end.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::Next;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

/// So many at once; who comes later takes the place of who has asked nothing yet, or waits.
const CONNECTIONS: usize = 64;

/// A head must have come by then.
const HEAD: Duration = Duration::from_secs(10);

/// A connection is one request, and over by then.
const CONNECTION: Duration = Duration::from_secs(60);

/// The longest head of a request, in bytes.
const LONGEST_HEAD: usize = 16 * 1024;

/// What is being answered when the server stops may take so long.
const PATIENCE: Duration = Duration::from_secs(5);

/// Done when somebody stops the program, or after so long.
pub async fn stopped(after: Option<Duration>) {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let over = async {
        match after {
            Some(after) => sleep(after).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = interrupted => (),
        () = terminated() => (),
        () = over => (),
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signal) => _ = signal.recv().await,
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}

/// Serves until `stop`; how many connections there were.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) -> u64 {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let open = GracefulShutdown::new();
    let mut stop = pin!(stop);
    let mut count = 0;
    let mut guests: VecDeque<Guest> = VecDeque::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files, for example: others may close some.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        guests.retain(|guest| !guest.task.is_finished());
        if places.available_permits() == 0 {
            make_room(&mut guests);
        }
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = &mut stop => break,
        };
        let Ok(place) = place else { break };
        count += 1;
        let asked = Arc::new(AtomicBool::new(false));
        let connection = open.watch(connection(stream, noting(&router, &asked)));
        let task = tokio::spawn(async move {
            // Who went away, or was too slow, is told nothing.
            let _ = timeout(CONNECTION, connection).await;
            drop(place);
        });
        guests.push_back(Guest { asked, task: task.abort_handle() });
    }
    drop(listener);
    let _ = timeout(PATIENCE, open.shutdown()).await;
    count
}

/// Somebody who is connected.
struct Guest {
    /// Whether a whole head of a request has come.
    asked: Arc<AtomicBool>,
    task: AbortHandle,
}

/// Sends away who has been here longest and asked nothing: idle connections stall nobody.
fn make_room(guests: &mut VecDeque<Guest>) {
    let idle = guests.iter().position(|guest| !guest.asked.load(Ordering::Relaxed));
    if let Some(guest) = idle.and_then(|at| guests.remove(at)) {
        guest.task.abort();
    }
}

/// The same pages, for one connection, which note that something was asked.
fn noting(router: &Router, asked: &Arc<AtomicBool>) -> Router {
    let asked = Arc::clone(asked);
    router.clone().layer(axum::middleware::from_fn(move |request: Request, next: Next| {
        asked.store(true, Ordering::Relaxed);
        next.run(request)
    }))
}

type Connection = http1::Connection<TokioIo<TcpStream>, TowerToHyperService<Router>>;

fn connection(stream: TcpStream, router: Router) -> Connection {
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LONGEST_HEAD)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
}
