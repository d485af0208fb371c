//! Workers that lie in a form that is whole: what this program never says, said with right digests.

use std::sync::{Arc, Mutex};

use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_problem::losses;

use super::message::{ShardHello, write_answer};
use super::*;
use crate::sums::grid::BITS;

const OPENING: PrivacyModel = PrivacyModel {
    adjacency: Adjacency::ReplaceOne,
    unit: Unit::Record,
    view: View::Central,
    public_n: None,
    intercept: 0.0,
};

fn loss() -> Arc<dyn Loss> {
    losses::parse("logistic", Some(2)).unwrap().into()
}

/// Two workers with four records each, of which the second says of itself, and of its sums, what it likes.
#[derive(Debug)]
struct Liar {
    shards: Mutex<Vec<Shard>>,
    hello: fn(&mut ShardHello),
    steps: fn(&mut Vec<i64>),
}

impl Shards for Liar {
    fn count(&self) -> usize {
        2
    }

    fn ask(&self, requests: &[(usize, &[u8])]) -> Result<Vec<Vec<u8>>, Refusal> {
        let mut shards = self.shards.lock().unwrap();
        let said = requests.iter().map(|&(k, request)| {
            let answer = shards[k].answer(request)?;
            if k == 0 {
                return Ok(answer);
            }
            let honest = ShardRequest::Hello.pack()?;
            let hello = read_answer(&honest, &shards[k].answer(&honest)?).unwrap();
            let ShardReply::Hello(mut hello) = hello.reply else { unreachable!() };
            (self.hello)(&mut hello);
            let found = read_answer(request, &answer).unwrap();
            let mut steps = found.steps;
            (self.steps)(&mut steps);
            let identity = hello.identity()?;
            let reply = match found.reply {
                ShardReply::Hello(_) => ShardReply::Hello(hello),
                other => other,
            };
            write_answer(&identity, request, (reply, &steps))
        });
        said.collect()
    }
}

fn enrolled(hello: fn(&mut ShardHello), steps: fn(&mut Vec<i64>)) -> Result<ShardedRows, Refusal> {
    let shard = |number: u32| {
        let rows = Rows::Dense(Dense { rows: 4, columns: 1, values: vec![0.5, -0.5, 0.25, 1.0] });
        let (targets, names) = (vec![1.0, -1.0, 1.0, -1.0], vec![String::new()]);
        let table = Table { rows, targets, users: None, weights: None, names };
        let own = (vec![[number as u8; 32]], &[1; 32], &[2; 32]);
        let seat = ShardSeat { number, of: 2, split: false };
        Shard::new(table.into(), (loss(), &OPENING), seat, own).unwrap()
    };
    let engine = Liar { shards: Mutex::new(vec![shard(0), shard(1)]), hello, steps };
    ShardedRows::enrol(Box::new(engine), (&OPENING, &*loss()), (1, &[2; 32]))
}

fn refused_for(found: Result<ShardedRows, Refusal>, word: &str) {
    let why = found.map(drop).unwrap_err().to_string();
    assert!(why.contains(word), "{why}");
}

#[test]
fn a_lie_about_size_arithmetic_or_program_is_refused_at_enrolment() {
    assert!(enrolled(|_| (), |_| ()).is_ok());
    // Its count is more than so few units can have.
    refused_for(enrolled(|hello| hello.units = 3, |_| ()), "cannot have");
    refused_for(enrolled(|hello| hello.units = 5, |_| ()), "another number of units");
    refused_for(enrolled(|hello| hello.units = 1 << 30, |_| ()), "more than");
    refused_for(enrolled(|hello| hello.records = u64::MAX, |_| ()), "more than");
    refused_for(enrolled(|hello| hello.arithmetic[0] ^= 1, |_| ()), "computes other numbers");
    refused_for(enrolled(|hello| hello.program.push('9'), |_| ()), "another build");
    refused_for(enrolled(|hello| hello.build[31] ^= 1, |_| ()), "another build");
    refused_for(enrolled(|hello| hello.features = 2, |_| ()), "other terms");
    refused_for(enrolled(|hello| hello.files = vec![[0; 32]], |_| ()), "count twice");
    refused_for(enrolled(|_| (), |steps| steps.extend([0])), "cannot have");
}

/// Whatever a worker says, it adds no more than a clip for each of its units.
#[test]
fn no_answer_is_longer_than_its_units_clips() {
    let mut rows = enrolled(
        |_| (),
        |steps| {
            // Counting at enrolment has one number, and a gradient here too: this one is negative.
            steps.iter_mut().filter(|step| **step < 0).for_each(|step| *step = -(4 << BITS) - 1);
        },
    )
    .unwrap();
    let what = RecordSum::Gradient { at: vec![0.0].into(), clip: 1.0 };
    let why = rows.sum(&what, &*loss(), None, &mut [0]).unwrap_err();
    assert!(why.to_string().contains("cannot have"), "{why}");
}
