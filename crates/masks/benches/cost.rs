//! What one aggregation costs: bytes and milliseconds for a member and for the collector, vectors
//! of 100 entries, one member in twenty leaving before its vector. A plain program:
//! `cargo bench -p reticent-masks --bench cost`.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use reticent_masks::{AggregationTerms, Collector, LinkEnd, Member, MemberId, Sparsity};

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

struct Cost {
    members: u32,
    degree: u32,
    sent: f64,
    received: f64,
    member: Duration,
    collector: Duration,
}

fn measure(terms: &AggregationTerms) -> Cost {
    let members = terms.members();
    let mut collector = Collector::new(terms.clone());
    let (mut member_time, mut collector_time) = (Duration::ZERO, Duration::ZERO);
    let (mut sent, mut received) = (0, 0);
    let start = now();
    let mut machines: BTreeMap<MemberId, Member> = (0..members)
        .map(|id| {
            let mut key = [1; 32];
            key[..4].copy_from_slice(&id.to_le_bytes());
            let input = vec![u64::from(id); DIMENSION as usize];
            (id, Member::new(terms.clone(), id, &key, input).expect("a member of the terms"))
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
    let complete = |members: u32| {
        AggregationTerms::complete([5; 32], 0, members, members * 2 / 3 + 1, DIMENSION)
            .expect("terms in range")
    };
    let sparse = |members: u32, corrupt: u32, away: u32| {
        let chosen = Sparsity::choose(members, corrupt, away, 40, 20).expect("a graph");
        let threshold = members - away;
        AggregationTerms::sparse(
            [5; 32],
            0,
            members,
            threshold,
            DIMENSION,
            chosen.degree,
            chosen.quorum,
        )
        .expect("terms in range")
    };
    println!(
        "| members | neighbours | KiB sent | KiB received | ms a member | ms collector | ms all |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for terms in [
        complete(10),
        complete(100),
        sparse(1000, 100, 100),
        sparse(1000, 200, 200),
        sparse(1000, 333, 100),
    ] {
        let cost = measure(&terms);
        let all =
            cost.member.as_secs_f64() * f64::from(cost.members) + cost.collector.as_secs_f64();
        println!(
            "| {} | {} | {:.1} | {:.1} | {:.2} | {:.0} | {:.0} |",
            cost.members,
            cost.degree,
            cost.sent,
            cost.received,
            cost.member.as_secs_f64() * 1e3,
            cost.collector.as_secs_f64() * 1e3,
            all * 1e3,
        );
    }
}
