//! Connections that break off or dribble at any byte of the way in, and a member that says too much in the
//! middle of a run: each has its name, and the run is what it is without them.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reticent_host::Roster;
use reticent_host::links::proxy::HttpProxy;
use reticent_host::links::tls::TlsDialer;
use reticent_host::links::{Dial, Link, LinkError};
use reticent_host::message::HostMessage;

use super::ways::Way;
use super::world::{World, assert_same, options};

const SHORT: &str = "algorithm = \"dp-sgd\"\nepsilon = 2.0\ndelta = 1e-5\niterations = 3\n";

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// What comes after the bytes that pass: nothing more, or one byte now and then.
#[derive(Clone, Copy)]
enum Then {
    BreaksOff,
    Dribbles,
}

/// A proxy that lets through so many bytes of one party on the way to the lead; where it is.
fn bad_line(whole: usize, then: Then, passed: Arc<AtomicUsize>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut party, _) = listener.accept().unwrap();
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            party.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let mut lead = TcpStream::connect(head.split(' ').nth(1).unwrap()).unwrap();
        party.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        let (mut from, mut to) = (lead.try_clone().unwrap(), party.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        let mut sent = 0;
        while party.read_exact(&mut byte).is_ok() {
            if sent >= whole {
                match then {
                    Then::BreaksOff => break,
                    Then::Dribbles => std::thread::sleep(Duration::from_millis(300)),
                }
            }
            if lead.write_all(&byte).is_err() {
                break;
            }
            sent += 1;
            passed.store(sent, Ordering::Relaxed);
        }
        let _ = (lead.shutdown(Shutdown::Both), party.shutdown(Shutdown::Both));
    });
    format!("http://{place}")
}

/// A hello of party 0 that names another run, through such a line; what comes of it.
fn try_in(
    world: &World,
    roster: &Arc<Roster>,
    line: &str,
    hello: &[u8],
) -> Result<HostMessage, LinkError> {
    let dialer = TlsDialer::new(&Arc::new(world.identity("party-0")), roster).unwrap();
    let dialer = dialer.through(HttpProxy::parse(line).unwrap());
    let mut link = dialer.dial(soon())?;
    link.send(hello, soon())?;
    let said = link.receive(1 << 16, soon())?;
    Ok(HostMessage::unpack(&said).unwrap())
}

/// A handshake and a hello that end at every eighth of their bytes, and that go on by one byte each 300 ms.
#[test]
fn a_hello_that_breaks_off_or_dribbles_is_turned_away_by_name_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, SHORT);
    let roster = world.run_file().roster;
    let listener = Way::Tls.listener(&world, &roster);
    let hello = HostMessage::Hello(super::attacks::hello(&world, 1)).pack();
    let led = std::thread::scope(|scope| {
        let led = scope.spawn(|| world.lead(options(), listener));
        // All of it: party 0 under the number of party 1, and so many bytes.
        let passed: Arc<AtomicUsize> = Arc::default();
        let line = bad_line(usize::MAX, Then::BreaksOff, Arc::clone(&passed));
        let said = try_in(&world, &roster, &line, &hello).unwrap();
        assert!(matches!(said, HostMessage::Refused(why) if why.name() == "not yours"));
        let all = passed.load(Ordering::Relaxed);
        assert!(all > 500, "{all}");
        let (world, roster, hello) = (&world, &roster, &hello);
        let bad: Vec<_> = (0..8)
            .flat_map(|part| [(all * part / 8, Then::BreaksOff), (all * part / 8, Then::Dribbles)])
            .map(|(whole, then)| {
                let line = bad_line(whole, then, Arc::default());
                scope.spawn(move || try_in(world, roster, &line, hello))
            })
            .collect();
        for own in bad {
            own.join().unwrap().unwrap_err();
        }
        let joined = ["party-0", "party-1"].map(|name| {
            let dialer = Way::Tls.dialer(world, roster, name);
            let party = u32::from(name == "party-1");
            scope.spawn(move || world.join(party, options(), &*dialer))
        });
        for own in joined {
            assert_same(&own.join().unwrap().unwrap().joined.model, &world.simulated());
        }
        led.join().unwrap().unwrap()
    });
    let counted = |name: &str| led.rejections.get(name).copied().unwrap_or_default();
    let names = (counted("left"), counted("slow"), counted("not yours"));
    assert_eq!(names, (8, 8, 1), "{:?}", led.rejections);
}

/// A party whose first answer is a frame that is longer than any of the run may be.
#[derive(Debug)]
struct Loud<D> {
    dialer: D,
    said: Arc<AtomicBool>,
}

#[derive(Debug)]
struct LoudLink {
    link: Box<dyn Link>,
    said: Arc<AtomicBool>,
}

impl<D: Dial> Dial for Loud<D> {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        let link = self.dialer.dial(until)?;
        Ok(Box::new(LoudLink { link, said: Arc::clone(&self.said) }))
    }
}

impl Link for LoudLink {
    fn peer(&self) -> [u8; 32] {
        self.link.peer()
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        let is_answer = matches!(HostMessage::unpack(frame), Ok(HostMessage::Envelope(_)));
        if is_answer && !self.said.swap(true, Ordering::Relaxed) {
            self.link.send(&vec![7; 8 << 20], until)?;
        }
        self.link.send(frame, until)
    }

    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        self.link.receive(limit, until)
    }
}

#[test]
fn a_member_that_says_too_much_in_a_run_is_named_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, SHORT);
    let listener = world.tls_listener().unwrap();
    let loud = Loud { dialer: world.tls_dialer("party-0"), said: Arc::default() };
    let dialers: [Box<dyn Dial>; 2] = [Box::new(loud), Box::new(world.tls_dialer("party-1"))];
    let (led, joined) = world.all(&options(), listener, &dialers);
    let led = led.unwrap();
    assert_eq!(led.rejections.get("oversized"), Some(&1), "{:?}", led.rejections);
    for own in joined {
        assert_same(&own.unwrap().joined.model, &world.simulated());
    }
}
