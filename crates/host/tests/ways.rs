//! The ways between machines, as tests go them: TLS, TLS through a proxy, QUIC, and couriers who lose parcels.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use reticent_host::Roster;
use reticent_host::links::proxy::HttpProxy;
use reticent_host::links::quic::{QuicDialer, QuicListener};
use reticent_host::links::socket::{SocketDialer, SocketListener};
use reticent_host::links::tls::{TlsDialer, TlsListener};
use reticent_host::links::{Dial, Listen};

use super::world::World;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    Tls,
    Proxy,
    Quic,
    Socket,
}

pub const WAYS: [Way; 4] = [Way::Tls, Way::Proxy, Way::Quic, Way::Socket];

/// What is on the way, until it is dropped.
pub struct Carried {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Carried {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

impl Way {
    pub fn listener(self, world: &World, roster: &Arc<Roster>) -> Box<dyn Listen> {
        let (lead, address) = (Arc::new(world.identity("lead")), roster.lead_address());
        match self {
            Way::Tls | Way::Proxy => Box::new(TlsListener::new(&lead, roster, address).unwrap()),
            Way::Quic => Box::new(QuicListener::new(&lead, roster, address).unwrap()),
            Way::Socket => {
                Box::new(SocketListener::new(&lead, roster, &world.at("lead.s")).unwrap())
            }
        }
    }

    /// How the member of this name goes, with the roster that it has.
    pub fn dialer(self, world: &World, roster: &Arc<Roster>, name: &str) -> Box<dyn Dial> {
        let own = Arc::new(world.identity(name));
        match self {
            Way::Tls => Box::new(TlsDialer::new(&own, roster).unwrap()),
            Way::Proxy => {
                let text = std::fs::read_to_string(world.at("proxy")).unwrap();
                let proxy = HttpProxy::parse(&text).unwrap();
                Box::new(TlsDialer::new(&own, roster).unwrap().through(proxy))
            }
            Way::Quic => Box::new(QuicDialer::new(&own, roster).unwrap()),
            Way::Socket => {
                let path = world.at(&format!("{name}.s"));
                Box::new(SocketDialer::new(&own, roster, &path).unwrap())
            }
        }
    }

    /// What is between the members.
    pub fn carried(self, world: &World, names: &[&str]) -> Carried {
        let over = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&over);
        let thread = match self {
            Way::Tls | Way::Quic => None,
            Way::Proxy => {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let address = listener.local_addr().unwrap();
                std::fs::write(world.at("proxy"), format!("http://{address}")).unwrap();
                Some(std::thread::spawn(move || proxy(&listener, &own)))
            }
            Way::Socket => {
                let lead = world.at("lead.s");
                let parties = names.iter().map(|name| world.at(&format!("{name}.s"))).collect();
                Some(std::thread::spawn(move || courier(&lead, parties, &own)))
            }
        };
        Carried { over, thread }
    }
}

/// A proxy of the smallest kind: CONNECT, and then bytes both ways.
fn proxy(listener: &TcpListener, over: &AtomicBool) {
    listener.set_nonblocking(true).unwrap();
    while !over.load(Ordering::Relaxed) {
        let Ok((client, _)) = listener.accept() else {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        };
        client.set_nonblocking(false).unwrap();
        std::thread::spawn(move || tunnel(client));
    }
}

fn tunnel(mut client: TcpStream) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let target = head.strip_prefix("CONNECT ")?.split(' ').next()?.to_owned();
    let Ok(server) = TcpStream::connect(target) else {
        return client.write_all(b"HTTP/1.1 502 Bad Gateway\r\n\r\n").ok();
    };
    client.write_all(b"HTTP/1.1 200 Connection established\r\nVia: a test\r\n\r\n").ok()?;
    let copy = |mut from: TcpStream, mut to: TcpStream| {
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Write);
        })
    };
    copy(client.try_clone().ok()?, server.try_clone().ok()?);
    copy(server, client);
    Some(())
}

/// One visit at a socket, as couriers make it: a parcel in, a parcel out.
pub fn visit(path: &Path, parcel: &[u8]) -> Option<Vec<u8>> {
    let mut line = std::os::unix::net::UnixStream::connect(path).ok()?;
    let front = [0_u32.to_le_bytes(), (parcel.len() as u32).to_le_bytes()].concat();
    line.write_all(&[&front[..], parcel].concat()).ok()?;
    let mut length = [0; 4];
    line.read_exact(&mut length).ok()?;
    let mut taken = vec![0; u32::from_le_bytes(length) as usize];
    line.read_exact(&mut taken).ok()?;
    Some(taken)
}

/// A courier that goes back and forth, loses every fifth parcel and carries every seventh twice.
fn courier(lead: &Path, parties: Vec<PathBuf>, over: &AtomicBool) {
    let mut said: Vec<Vec<u8>> = vec![Vec::new(); parties.len()];
    let mut walked = 0_u64;
    while !over.load(Ordering::Relaxed) {
        for (party, said) in parties.iter().zip(&mut said) {
            walked += 1;
            let taken = visit(party, said).filter(|taken| !taken.is_empty());
            let Some(taken) = taken.filter(|_| !walked.is_multiple_of(5)) else { continue };
            if walked.is_multiple_of(7) {
                visit(lead, &taken);
            }
            if let Some(answer) = visit(lead, &taken) {
                *said = answer;
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
