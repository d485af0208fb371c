//! Connections: how many at once, how long each, and how all of them end.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// So many at once; who comes later waits.
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
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            Some((place, listener.accept().await))
        };
        let next = tokio::select! {
            next = next => next,
            () = &mut stop => break,
        };
        match next {
            Some((place, Ok((stream, _)))) => {
                count += 1;
                let connection = open.watch(connection(stream, router.clone()));
                tokio::spawn(async move {
                    // Who went away, or was too slow, is told nothing.
                    let _ = timeout(CONNECTION, connection).await;
                    drop(place);
                });
            }
            // Too many open files, for example: others may close some.
            Some((_, Err(_))) => sleep(Duration::from_millis(100)).await,
            None => break,
        }
    }
    drop(listener);
    let _ = timeout(PATIENCE, open.shutdown()).await;
    count
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
