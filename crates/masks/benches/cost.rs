//! What one aggregation costs: bytes and milliseconds for a member and for the collector, vectors
//! of 100 entries, one member in twenty leaving before its vector; for the first sum of a run, in
//! which channels are agreed on, and for a later one. A plain program:
//! `cargo bench -p reticent-masks --bench cost`.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use reticent_masks::{
    AggregationTerms, Channels, Collector, LinkEnd, Member, MemberId, Sparsity, SumMembers,
};

const DIMENSION: u32 = 100;

/// Processor time of this thread where Linux tells it, so that a busy machine does not change the
/// table; else the clock.
fn now() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// 32 bytes for a purpose and a member.
fn key(purpose: u8, id: MemberId) -> [u8; 32] {
    let mut key = [purpose; 32];
    // Not at the front, where X25519 leaves bits out: two members would have one key.
    key[8..12].copy_from_slice(&id.to_le_bytes());
    key
}

struct Cost {
    members: u32,
    degree: u32,
    sent: f64,
    received: f64,
    member: Duration,
    collector: Duration,
}

fn measure(terms: &AggregationTerms, channels: &[Arc<Channels>]) -> Cost {
    let members = terms.members();
    let mut collector = Collector::new(terms.clone());
    let (mut member_time, mut collector_time) = (Duration::ZERO, Duration::ZERO);
    let (mut sent, mut received) = (0, 0);
    let start = now();
    let mut machines: BTreeMap<MemberId, Member> = (0..members)
        .map(|id| {
            let input = vec![u64::from(id); DIMENSION as usize];
            let member = Member::new(terms.clone(), id, &key(1, id), input);
            let channels = Arc::clone(&channels[id as usize]);
            (id, member.expect("a member of the terms").over(channels))
        })
        .collect();
    let mut answers: Vec<_> =
        machines.values().map(|member| (member.id(), member.start().bytes)).collect();
    member_time += now().saturating_sub(start);
    for phase in 0..4 {
        if phase == 2 {
            answers.retain(|(id, _)| id % 20 != 7);
        }
        let start = now();
        let mut said = Vec::new();
        for (id, bytes) in answers.drain(..) {
            sent += bytes.len();
            said.extend(collector.on_message(id, &bytes).expect("an honest message"));
        }
        if said.is_empty() && collector.outcome().is_none() {
            said = collector.on_deadline();
        }
        collector_time += now().saturating_sub(start);
        let start = now();
        for outgoing in said {
            let LinkEnd::Member(id) = outgoing.to else { continue };
            received += outgoing.bytes.len();
            let member = machines.get_mut(&id).expect("a member of the terms");
            let answer = member.on_message(&outgoing.bytes).expect("an honest message");
            answers.extend(answer.into_iter().map(|answer| (id, answer.bytes)));
        }
        member_time += now().saturating_sub(start);
    }
    let sum = collector.outcome().expect("an end").expect("a sum");
    let expected: u64 = sum.members.iter().map(|&id| u64::from(id)).sum();
    assert!(
        sum.values.iter().all(|&value| value == expected)
            && sum.members.len() < members as usize + 1
    );
    let each = |bytes: usize| bytes as f64 / f64::from(members) / 1024.0;
    Cost {
        members,
        degree: terms.degree(),
        sent: each(sent),
        received: each(received),
        member: member_time / members,
        collector: collector_time,
    }
}

fn main() {
    let complete = |members: u32, round: u64| {
        AggregationTerms::complete([5; 32], round, members, members * 2 / 3 + 1, DIMENSION)
            .expect("terms in range")
    };
    let sparse = |members: u32, corrupt: u32, away: u32, round: u64| {
        let chosen = Sparsity::choose(members, corrupt, away, 40, 20).expect("a graph");
        let threshold = members - away;
        AggregationTerms::sparse(
            [5; 32],
            round,
            members,
            threshold,
            DIMENSION,
            chosen.degree,
            chosen.quorum,
        )
        .expect("terms in range")
    };
    // As every masked sum of this program has them: complete up to 255 members.
    let chosen = |members: u32, round: u64| {
        let sum = SumMembers::choose(members, members, 0.8).expect("a graph");
        sum.terms(&[5; 32], round, DIMENSION).expect("terms in range")
    };
    println!(
        "| members | neighbours | sum | KiB sent | KiB received | ms a member | ms collector | ms all |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for rounds in [
        [0, 1].map(|round| complete(10, round)),
        [0, 1].map(|round| complete(100, round)),
        [0, 1].map(|round| chosen(250, round)),
        [0, 1].map(|round| chosen(260, round)),
        [0, 1].map(|round| sparse(1000, 100, 100, round)),
        [0, 1].map(|round| sparse(1000, 200, 250, round)),
        [0, 1].map(|round| sparse(1000, 333, 100, round)),
    ] {
        let channels: Vec<Arc<Channels>> =
            (0..rounds[0].members()).map(|id| Arc::new(Channels::new(&key(2, id)))).collect();
        for (terms, which) in rounds.iter().zip(["first", "later"]) {
            print(&measure(terms, &channels), which);
        }
    }
}

fn print(cost: &Cost, which: &str) {
    let member = cost.member.as_secs_f64();
    let all = member * f64::from(cost.members) + cost.collector.as_secs_f64();
    println!(
        "| {} | {} | {which} | {:.1} | {:.1} | {:.2} | {:.0} | {:.0} |",
        cost.members,
        cost.degree,
        cost.sent,
        cost.received,
        member * 1e3,
        cost.collector.as_secs_f64() * 1e3,
        all * 1e3,
    );
}
