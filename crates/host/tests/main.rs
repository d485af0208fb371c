//! Members of a run, each with its own folder, key, table and journal, on one machine: loopback alone,
//! and every wait has an end.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

mod attacks;
mod attempts;
mod bits;
mod blame;
mod crash;
mod crowd;
mod cuts;
mod drawn;
mod forfeits;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod kills;
#[cfg(unix)]
mod links;
mod many;
mod noisy;
mod payment;
mod peers;
mod relays;
#[cfg(unix)]
mod restored;
#[cfg(unix)]
mod rough;
mod rows;
mod steps;
mod strikes;
#[cfg(unix)]
mod ways;
mod world;
#[cfg(unix)]
mod written;
