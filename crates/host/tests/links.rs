//! What every link must do, whatever carries it: frames whole and in order, keys by the roster, waits that
//! end, and a last word that arrives.

use std::collections::BTreeSet;
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reticent_host::links::quic::QuicListener;
use reticent_host::links::{Dial, Link, LinkError, LinkKind, Listen, PartyWay};
use reticent_host::{HostError, HostOptions, Notice, PartyFile, Roster, RosterMember};

use super::ways::{WAYS, Way};
use super::world::{AUTO, World, assert_same, options};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// One end of a connection, or why there is none.
type Ended = Result<Box<dyn Link>, LinkError>;

/// Both ends of a connection; the lead's is there with the party's first frame.
fn pair(listener: &dyn Listen, dialer: &dyn Dial) -> (Ended, Ended) {
    std::thread::scope(|scope| {
        let dialled = scope.spawn(|| {
            let mut link = dialer.dial(soon())?;
            link.send(b"hello", soon())?;
            Ok(link)
        });
        let arrival = listener.accept(soon()).unwrap();
        let came = arrival.map_or(Err(LinkError::Timeout), |arrival| arrival.link(soon()));
        (came, dialled.join().unwrap())
    })
}

fn world(folder: &tempfile::TempDir) -> (World, Arc<Roster>) {
    let world = World::new(folder.path(), 2, AUTO);
    let roster = world.run_file().roster;
    (world, roster)
}

/// Whoever starts before the lead, or has a wrong address, or a proxy that refuses, waits for as long as `patience`: it is
/// told why before that, and at the end.
#[test]
fn a_lead_that_is_not_reached_is_told_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (world, _) = world(&folder);
    let told: Arc<Mutex<Vec<Notice>>> = Arc::default();
    let own = Arc::clone(&told);
    let notify = Arc::new(move |notice: &Notice| own.lock().unwrap().push(notice.clone()));
    let patience = Duration::from_secs(4);
    let options = HostOptions { patience, notify, ..options() };
    let ended = world.join(0, options, &world.tls_dialer("party-0")).unwrap_err();
    let refused = "the connection failed: connection refused";
    assert_eq!(ended.to_string(), format!("lead did not come within 4 s: {refused}"));
    assert!(matches!(ended, HostError::Absent { .. }));
    let unreached = Notice::Unreached { name: "lead".to_owned(), why: refused.to_owned() };
    assert_eq!(*told.lock().unwrap(), [unreached]);
}

#[test]
fn frames_come_whole_and_in_order_and_a_dropped_link_has_said_its_last_word() {
    for way in WAYS {
        let folder = tempfile::tempdir().unwrap();
        let (world, roster) = world(&folder);
        let _carried = way.carried(&world, &["party-0"]);
        let listener = way.listener(&world, &roster);
        let dialer = way.dialer(&world, &roster, "party-0");
        let (came, dialled) = pair(&*listener, &*dialer);
        let (mut lead, mut party) = (came.unwrap(), dialled.unwrap());
        assert_eq!(lead.peer(), world.identity("party-0").public().bytes(), "{way:?}");
        assert_eq!(party.peer(), roster.lead_key(), "{way:?}");
        assert_eq!(lead.receive(5, soon()).unwrap(), b"hello", "{way:?}");
        // Nothing is there: a wait that ends, and the link is as it was.
        let nothing = lead.receive(9, Instant::now() + Duration::from_millis(30));
        assert_eq!(nothing, Err(LinkError::Timeout), "{way:?}");
        let long: Vec<u8> = (0..1_500_000_u32).map(|i| (i % 253) as u8).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| lead.send(&long, soon()).unwrap());
            assert_eq!(party.receive(long.len(), soon()).unwrap(), long, "{way:?}");
        });
        party.send(b"", soon()).unwrap();
        party.send(b"four", soon()).unwrap();
        assert_eq!(lead.receive(9, soon()).unwrap(), b"", "{way:?}");
        let refused = lead.receive(3, soon()).unwrap_err();
        assert_eq!(refused, LinkError::TooLong { given: 4, limit: 3 }, "{way:?}");
        lead.send(b"last", soon()).unwrap();
        drop(lead);
        assert_eq!(party.receive(9, soon()).unwrap(), b"last", "{way:?}");
        assert_eq!(party.receive(9, soon()), Err(LinkError::Closed), "{way:?}");
    }
}

/// The roster decides, at both ends, for every link: a stranger, a key of yesterday, the lead's own key
/// at a party, and a lead that is another.
#[test]
fn whose_key_is_not_the_rosters_is_refused_by_name_on_every_link() {
    for way in WAYS {
        let folder = tempfile::tempdir().unwrap();
        let (world, roster) = world(&folder);
        let lead = |name: &str| RosterMember {
            address: Some(roster.lead_address().to_owned()),
            ..world.member(name)
        };
        let made = |lead: RosterMember, until: Option<&str>| {
            let roster = Roster::new(&world.at("other.toml"), "a study", lead).unwrap();
            let until = until.map(str::to_owned);
            let party = RosterMember { until, ..world.member("party-0") };
            Arc::new(roster.with(party).unwrap())
        };
        let old = made(lead("lead"), Some("2020-01-01"));
        let false_lead = made(lead("stranger"), None);
        let names = ["party-0", "stranger", "lead"];
        let _carried = way.carried(&world, &names);
        // Who listens with which roster, who comes with which, and what is said of it, by whom.
        let cases = [
            (&roster, "stranger", &roster, true, "nobody's in the roster"),
            (&old, "party-0", &roster, true, "good until 2020-01-01"),
            (&roster, "party-0", &false_lead, false, "nobody's in the roster"),
        ];
        for (theirs, name, own, by_lead, words) in cases {
            let listener = way.listener(&world, theirs);
            let dialer = way.dialer(&world, own, name);
            let (came, dialled) = pair(&*listener, &*dialer);
            // A party hears of it at the first read at the latest.
            let heard = dialled.and_then(|mut link| link.receive(9, soon()));
            let refused = if by_lead { came.map(drop) } else { heard.clone().map(drop) };
            let why = refused.unwrap_err();
            let named = matches!(&why, LinkError::Untrusted(why) if why.contains(words));
            assert!(named, "{way:?} {name}: {why:?}");
            let heard = heard.unwrap_err();
            let told = matches!(heard, LinkError::Untrusted(_) | LinkError::Closed);
            assert!(told, "{way:?} {name}: {heard:?}");
        }
    }
}

/// UDP does not get through: nobody is at that port, and TLS is.
#[test]
fn a_party_that_udp_does_not_get_through_for_comes_by_tls() {
    let folder = tempfile::tempdir().unwrap();
    let (world, roster) = world(&folder);
    let way = PartyWay::default();
    assert_eq!(way.link, LinkKind::Auto);
    let dialer = way.dialer(&Arc::new(world.identity("party-0")), &roster).unwrap();
    let listener = Way::Tls.listener(&world, &roster);
    let (came, dialled) = pair(&*listener, &*dialer);
    assert_eq!(came.unwrap().receive(9, soon()).unwrap(), b"hello");
    drop(dialled.unwrap());
    // It is not tried again for a while.
    let (came, dialled) = pair(&*listener, &*dialer);
    assert!(came.is_ok() && dialled.is_ok());
}

/// The lead listens to both: QUIC is taken.
#[test]
fn a_party_comes_by_quic_where_the_lead_listens_to_both() {
    let folder = tempfile::tempdir().unwrap();
    let (world, roster) = world(&folder);
    let lead = Arc::new(world.identity("lead"));
    let place = Some((LinkKind::Auto, roster.lead_address()));
    let listener = reticent_host::links::listener(&lead, &roster, place, None).unwrap();
    let dialer = PartyWay::default().dialer(&Arc::new(world.identity("party-0")), &roster).unwrap();
    let (came, dialled) = pair(&*listener, &*dialer);
    let said = format!("{:?} {:?}", came.unwrap(), dialled.unwrap());
    assert!(said.contains("QuicLink") && !said.contains("SecureLink"), "{said}");
}

/// A lead that was killed says nothing; one that is back at the same place tells who is still waiting that its
/// connection is gone, and knows nothing of the one before but its key.
#[test]
fn a_lead_that_is_back_tells_waiting_parties_so_over_quic() {
    let folder = tempfile::tempdir().unwrap();
    let (world, roster) = world(&folder);
    let lead = Arc::new(world.identity("lead"));
    let listen = || QuicListener::new(&lead, &roster, "127.0.0.1:0").unwrap();
    let place = |at: &QuicListener| at.address().unwrap().parse::<SocketAddr>().unwrap();
    let (killed, back) = (listen(), listen());
    // What stands at the lead's address leads to one of them, and then to the other.
    let (to, over) = (Mutex::new(place(&killed)), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| relay(roster.lead_address(), &to, &over));
        let dialer = Way::Quic.dialer(&world, &roster, "party-0");
        let (came, dialled) = pair(&killed, &*dialer);
        let (_came, mut waiting) = (came.unwrap(), dialled.unwrap());
        *to.lock().unwrap() = place(&back);
        let heard = waiting.receive(9, soon());
        over.store(true, Ordering::Relaxed);
        assert_eq!(heard, Err(LinkError::Closed));
    });
}

/// Packets to a lead that is away follow at ever longer pauses: a party begins anew before they are too long.
#[test]
fn a_party_that_finds_no_lead_begins_anew_over_quic() {
    let folder = tempfile::tempdir().unwrap();
    let (world, roster) = world(&folder);
    let silent = UdpSocket::bind(roster.lead_address()).unwrap();
    let dialer = Way::Quic.dialer(&world, &roster, "party-0");
    let found = dialer.dial(Instant::now() + Duration::from_millis(1_500));
    assert_eq!(found.map(drop), Err(LinkError::Timeout));
    silent.set_nonblocking(true).unwrap();
    let (mut packet, mut connections) = ([0; 2_000], BTreeSet::new());
    while let Ok(length) = silent.recv(&mut packet) {
        // The front of a packet with a long header: a byte, the version, a length, and the connection's number.
        let number = 6 + usize::from(packet[5]);
        connections.insert(packet[6..number.min(length)].to_vec());
    }
    assert_eq!(connections.len(), 2);
}

/// Packets of one party to whoever is at `to`, and back.
fn relay(at: &str, to: &Mutex<SocketAddr>, over: &AtomicBool) {
    let socket = UdpSocket::bind(at).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let (mut packet, mut party) = ([0; 2_000], None);
    while !over.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut packet) else { continue };
        let (lead, party) = (*to.lock().unwrap(), *party.get_or_insert(from));
        // The party is who was first; what comes from a lead that is not the one is lost.
        match from {
            own if own == party => socket.send_to(&packet[..length], lead).unwrap(),
            own if own == lead => socket.send_to(&packet[..length], party).unwrap(),
            _ => 0,
        };
    }
}

#[test]
fn a_socket_is_its_owners_alone_and_takes_the_place_of_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (world, roster) = world(&folder);
    let path = world.at("lead.s");
    let listen = || {
        let lead = Arc::new(world.identity("lead"));
        reticent_host::links::listener(&lead, &roster, None, Some(&path)).map(drop)
    };
    std::fs::write(&path, "a file").unwrap();
    assert!(listen().unwrap_err().to_string().contains("a file of another kind"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a file");
    std::fs::remove_file(&path).unwrap();
    let first = Way::Socket.listener(&world, &roster);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(listen().unwrap_err().to_string().contains("already"));
    drop(first);
    assert!(!path.exists());
    // One that a killed process has left is replaced.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    listen().unwrap();
}

/// Couriers may be a user of their own, who is in a group and reads nothing else.
#[test]
fn a_socket_in_a_folder_that_passes_its_group_on_is_its_groups_too() {
    let folder = tempfile::tempdir().unwrap();
    let (world, roster) = world(&folder);
    let shared = world.at("shared");
    std::fs::create_dir(&shared).unwrap();
    for (folder, mode) in [(0o2750, 0o660), (0o750, 0o600)] {
        std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(folder)).unwrap();
        let lead = Arc::new(world.identity("lead"));
        let path = shared.join("lead.s");
        let _socket = reticent_host::links::listener(&lead, &roster, None, Some(&path)).unwrap();
        let (found, own) = (std::fs::metadata(&path).unwrap(), std::fs::metadata(&shared).unwrap());
        assert_eq!((found.mode() & 0o777, found.gid()), (mode, own.gid()));
    }
}

/// Bytes that are no parcel, parcels of channels that nobody has begun, and a courier that waits in the
/// middle of a word: no answer, or the end of that channel.
#[test]
fn what_a_courier_makes_up_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (world, roster) = world(&folder);
    let listener = Way::Socket.listener(&world, &roster);
    let path = world.at("lead.s");
    let visit = |parcel: &[u8]| super::ways::visit(&path, parcel);
    assert_eq!(visit(b""), Some(Vec::new()));
    assert_eq!(visit(b"no parcel"), None);
    let parcel = |from: u64, bytes: &[u8]| {
        [b"RTP1", &[9; 16][..], &from.to_le_bytes(), &[0; 8], &[0], bytes].concat()
    };
    // It is over, where it never began.
    let over = visit(&parcel(7, b"x")).unwrap();
    assert_eq!((over.len(), over[36]), (37, 1));
    // No TLS: said by name to who listens.
    visit(&parcel(0, &[7; 300])).unwrap();
    let arrival = listener.accept(soon()).unwrap().unwrap();
    assert!(matches!(arrival.link(soon()), Err(LinkError::Failed(_))));
}

/// A courier that keeps what it has carried, and brings it again as a connection of its own: the lead's part
/// of the handshake is new, so that nothing of it opens.
#[test]
fn what_a_courier_has_carried_is_worth_nothing_a_second_time() {
    let folder = tempfile::tempdir().unwrap();
    let (world, roster) = world(&folder);
    let listener = Way::Socket.listener(&world, &roster);
    let dialer = Way::Socket.dialer(&world, &roster, "party-0");
    let (lead, party) = (world.at("lead.s"), world.at("party-0.s"));
    let (done, until) = (AtomicBool::new(false), soon());
    // It goes on while both ends shake hands, and no longer than these wait.
    let courier = || {
        let (mut kept, mut said) = (Vec::new(), Vec::new());
        while !done.load(Ordering::Relaxed) && Instant::now() < until {
            let Some(taken) = super::ways::visit(&party, &said).filter(|taken| taken.len() >= 37)
            else {
                continue;
            };
            let from = u64::from_le_bytes(taken[20..28].try_into().unwrap()) as usize;
            kept.truncate(from);
            kept.extend_from_slice(&taken[37..]);
            said = super::ways::visit(&lead, &taken).unwrap_or_default();
        }
        kept
    };
    let kept = std::thread::scope(|scope| {
        let courier = scope.spawn(courier);
        let dialled = scope.spawn(|| {
            let mut link = dialer.dial(soon()).unwrap();
            link.send(b"hello", soon()).unwrap();
            link
        });
        let arrival = listener.accept(soon()).unwrap().unwrap();
        let mut came = arrival.link(soon()).unwrap();
        assert_eq!(came.receive(9, soon()).unwrap(), b"hello");
        done.store(true, Ordering::Relaxed);
        drop(dialled.join().unwrap());
        courier.join().unwrap()
    });
    assert!(kept.len() > 300, "{}", kept.len());
    let again = [b"RTP1", &[9; 16][..], &[0; 16], &[0], &kept].concat();
    super::ways::visit(&lead, &again).unwrap();
    let arrival = listener.accept(soon()).unwrap().unwrap();
    let refused = arrival.link(soon()).map(drop).unwrap_err();
    assert!(matches!(refused, LinkError::Failed(_)), "{refused:?}");
}

/// Connections that say nothing, more than may be on their way in and from where the parties are: each has its
/// name, those who came first make room, and the run is what it is without them.
#[test]
fn hundreds_of_silent_connections_are_turned_away_by_name_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let job = "algorithm = \"dp-sgd\"\nepsilon = 2.0\ndelta = 1e-5\niterations = 3\n";
    let world = World::new(folder.path(), 2, job);
    let roster = world.run_file().roster;
    let listener = Way::Tls.listener(&world, &roster);
    let led = std::thread::scope(|scope| {
        let led = scope.spawn(|| world.lead(options(), listener));
        let silent: Vec<_> = (0..300)
            .map(|_| std::net::TcpStream::connect(roster.lead_address()).unwrap())
            .collect();
        let joined = ["party-0", "party-1"].map(|name| {
            let dialer = Way::Tls.dialer(&world, &roster, name);
            let world = &world;
            scope.spawn(move || {
                let party = u32::from(name == "party-1");
                world.join(party, options(), &*dialer)
            })
        });
        for own in joined {
            assert_same(&own.join().unwrap().unwrap().joined.model, &world.simulated());
        }
        drop(silent);
        led.join().unwrap().unwrap()
    });
    let counted = |name: &str| led.rejections.get(name).copied().unwrap_or_default();
    assert!(counted("too many at once") > 0, "{:?}", led.rejections);
    assert!(counted("made room") > 0, "{:?}", led.rejections);
}

#[test]
fn a_proxy_that_refuses_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (world, roster) = world(&folder);
    // Nobody listens behind the proxy.
    let _carried = Way::Proxy.carried(&world, &[]);
    let dialer = Way::Proxy.dialer(&world, &roster, "party-0");
    let why = dialer.dial(soon()).map(drop).unwrap_err().to_string();
    assert!(why.contains("HTTP 502"), "{why}");
}

#[test]
fn a_party_file_names_one_way() {
    let folder = tempfile::tempdir().unwrap();
    let (world, _) = world(&folder);
    let read = |more: &str| {
        let text = format!("data = \"d\"\nkey = \"k\"\njournal = \"j\"\nout = \"o\"\n{more}\n");
        std::fs::write(world.at("party.toml"), text).unwrap();
        PartyFile::read(&world.at("party.toml")).map_err(|error| error.to_string())
    };
    let run = world.run_file();
    let way = read("").unwrap().way(&run);
    assert_eq!((way.link, way.proxy, way.courier), (LinkKind::Auto, None, None));
    assert_eq!(read("link = \"tls\"").unwrap().way(&run).link, LinkKind::Tls);
    let way = read("courier = \"c.s\"").unwrap().way(&run);
    assert_eq!(way.courier, Some(world.at("c.s")));
    for (keys, words) in [
        ("link = \"carrier pigeon\"", "auto, quic, tls"),
        ("proxy = \"https://p:1\"", "http://HOST:PORT"),
        ("proxy = \"http://p:1\"\nlink = \"quic\"", "TCP alone"),
        ("proxy = \"http://p:1\"\ncourier = \"c\"", "couriers carry everything"),
    ] {
        let why = read(keys).unwrap_err();
        assert!(why.contains(words), "{keys}: {why}");
    }
}
