//! `reticent budget serve`: budgets as pages, on this machine.
//!
//! Nothing is kept between two requests but the token: every page opens the budget, reads it and
//! closes it again. Reading is for whoever reaches the address; the one thing that can be written,
//! giving up a job, takes the token in the request itself, so that there is no session to ride on.

mod guard;
mod routes;
mod sent;
mod server;
mod token;

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use reticent_budget::Store;
use serde::Serialize;

use self::routes::Pages;
use self::token::Token;
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::number;

#[derive(Debug, Args)]
#[command(
    after_help = "Anyone who can reach the address can read the pages: on the loopback, everybody with an account \
                  on this machine. The connection is not encrypted; for others put an encrypting server in front \
                  (docs/report.md)."
)]
pub struct Serve {
    /// The budgets
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The port; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 8417, value_parser = number::whole::<u16>, allow_negative_numbers = true)]
    port: u16,

    /// The address to listen on
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,

    /// A further host name of the server; may be repeated. Requests for other names are refused
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,

    /// Allow holders of the token in this file to close jobs that did not return
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Stop after this number of seconds
    #[arg(long, value_name = "SECONDS", value_parser = number::times, allow_negative_numbers = true)]
    stop_after: Option<u64>,
}

impl Serve {
    /// Does it, until it is stopped.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        for file in &self.files {
            Store::open_to_read(file).map_err(CommandFailure::Budget)?;
        }
        let token = self.token_file.as_deref().map(Token::read).transpose()?;
        let refuse = |what: &str, error: std::io::Error| CommandFailure::Usage {
            message: format!("{what}: {}", error.kind()),
            hint: "give another --port or --listen".to_owned(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(4)
            .build()
            .map_err(|error| refuse("no server can be started", error))?;
        let wanted = SocketAddr::new(self.listen, self.port);
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind(wanted))
            .map_err(|error| refuse(&format!("cannot listen on {wanted}"), error))?;
        let address = listener
            .local_addr()
            .map_err(|error| refuse(&format!("cannot listen on {wanted}"), error))?;
        // Said at once and not with the answer, for that comes when all is over.
        let _ = writeln!(
            std::io::stderr(),
            "Serving {} on http://{address}/ until it is stopped (Ctrl-C).",
            if self.files.len() == 1 { "a budget" } else { "budgets" }
        );
        if !address.ip().is_loopback() {
            let _ = writeln!(
                std::io::stderr(),
                "Whoever reaches this machine on {address} can read these pages, and what travels is not encrypted: \
                 put a server in front that asks who they are and encrypts, and listen on the loopback \
                 (docs/report.md)."
            );
        }
        let hosts = guard::hosts(address, &self.host);
        let router = routes::router(Pages::new(self.files, token), hosts);
        let stop = server::stopped(self.stop_after.map(Duration::from_secs));
        let answered = runtime.block_on(server::serve(listener, router, stop));
        // A page that is still being counted is nobody's any more.
        runtime.shutdown_timeout(Duration::from_secs(1));
        let text = format!("Stopped after {answered} connections.\n");
        let served = ServedPages { address: address.to_string(), connections: answered };
        Ok(Answer::of(text, &served))
    }
}

/// What was served.
#[derive(Serialize)]
struct ServedPages {
    address: String,
    connections: u64,
}
