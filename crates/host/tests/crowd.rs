//! Strangers who take every place at the lead's door and come again as soon as they are sent away: whoever
//! has a key of the roster gets in all the same.
#![cfg(target_os = "linux")]

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reticent_host::links::{Arrival, Link, LinkError, Listen};
use reticent_host::{HostOptions, Notice};
use socket2::{Domain, Socket, Type};

use super::ways::Way;
use super::world::{World, assert_same, options};

const SHORT: &str = "algorithm = \"dp-sgd\"\nepsilon = 2.0\ndelta = 1e-5\niterations = 3\n";

/// As many as may be on their way in at once, and some more.
const STRANGERS: usize = 80;

/// A connection from another address than that of the parties.
fn stranger(to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from(([127, 0, 0, 2], 0)).into())?;
    socket.connect_timeout(&to.into(), Duration::from_secs(5))?;
    let line = TcpStream::from(socket);
    line.set_nonblocking(true)?;
    Ok(line)
}

/// Whether the lead has sent it away.
fn is_gone(mut line: &TcpStream) -> bool {
    match line.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(why) => why.kind() != std::io::ErrorKind::WouldBlock,
    }
}

/// Holds the door until it is told to stop: silent, and back at once. From before anybody else comes.
fn hold(to: SocketAddr, full: &AtomicBool, over: &AtomicBool) {
    let mut lines: Vec<TcpStream> = Vec::new();
    while !over.load(Ordering::Relaxed) {
        lines.retain(|line| !is_gone(line));
        while lines.len() < STRANGERS {
            lines.extend(stranger(to));
        }
        full.store(true, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// One address has all places at the door and takes each that falls free: members from another address are
/// let in all the same, the strangers who made room are counted by name, and the run is what it is without
/// them.
#[test]
fn members_get_in_while_a_stranger_holds_every_place() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, SHORT);
    let roster = world.run_file().roster;
    let address: SocketAddr = roster.lead_address().parse().unwrap();
    let listener = Way::Tls.listener(&world, &roster);
    let (full, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let led = std::thread::scope(|scope| {
        let led = scope.spawn(|| world.lead(options(), listener));
        scope.spawn(|| hold(address, &full, &over));
        let until = Instant::now() + Duration::from_secs(20);
        while !full.load(Ordering::Relaxed) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let joined = [0, 1].map(|party| {
            let dialer = Way::Tls.dialer(&world, &roster, &format!("party-{party}"));
            let world = &world;
            scope.spawn(move || world.join(party, options(), &*dialer))
        });
        let joined = joined.map(|own| own.join().unwrap());
        over.store(true, Ordering::Relaxed);
        for own in joined {
            assert_same(&own.unwrap().joined.model, &world.simulated());
        }
        led.join().unwrap().unwrap()
    });
    let counted = |name: &str| led.rejections.get(name).copied().unwrap_or_default();
    assert!(counted("made room") > 0 && counted("too many at once") > 0, "{:?}", led.rejections);
}

/// A member's link that says nothing, and that nobody but the hall breaks off.
#[derive(Debug)]
struct SilentLink;

impl Link for SilentLink {
    fn peer(&self) -> [u8; 32] {
        [7; 32]
    }

    fn send(&mut self, _: &[u8], _: Instant) -> Result<(), LinkError> {
        Ok(())
    }

    fn receive(&mut self, _: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        Err(LinkError::Timeout)
    }
}

/// Somebody who has shown a key and says no hello always comes.
#[derive(Debug)]
struct SilentCrowd;

impl Listen for SilentCrowd {
    fn accept(&self, _: Instant) -> Result<Option<Arrival>, LinkError> {
        std::thread::sleep(Duration::from_millis(2));
        Ok(Some(Arrival::new(|_| Ok(Box::new(SilentLink)))))
    }
}

/// Whoever has made room after showing a key is gone, and does not keep a thread until the time for a hello
/// is over: else the places bound nothing.
#[test]
fn who_makes_room_between_key_and_hello_is_gone_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, SHORT);
    // Made room after a second at the door; a hello may take ten.
    let until = Instant::now() + Duration::from_secs(8);
    let seen = Arc::new(AtomicBool::new(false));
    let (heard, known) = (Arc::clone(&seen), Arc::clone(&seen));
    let notify = Arc::new(move |notice: &Notice| {
        if matches!(notice, Notice::Rejected { name } if name == "made room") {
            heard.store(true, Ordering::Relaxed);
        }
    });
    let gone = move |_: &str| known.load(Ordering::Relaxed) || Instant::now() >= until;
    let options = HostOptions { notify, gone: Some(Arc::new(gone)), ..options() };
    assert!(world.lead(options, Box::new(SilentCrowd)).is_err());
    assert!(seen.load(Ordering::Relaxed));
}
