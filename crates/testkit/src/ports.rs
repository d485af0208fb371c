//! Ports for tests whose programs listen at an address that is written down beforehand.

use std::net::{TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};

/// A port of loopback that was free a moment ago, for TCP and UDP. It is below those that systems hand out by
/// themselves, so that no connection that a test beside this one makes takes it before the program listens.
pub fn free_port() -> u16 {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(61);
    loop {
        let step = TRIED.fetch_add(1, Ordering::Relaxed);
        let port = (20_000 + start.wrapping_add(7 * step) % 12_000) as u16;
        let place = ("127.0.0.1", port);
        if TcpListener::bind(place).is_ok() && UdpSocket::bind(place).is_ok() {
            return port;
        }
    }
}
