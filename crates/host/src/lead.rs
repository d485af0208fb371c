//! The lead: gathers the parties, runs the algorithm on the sums that they entrust to it, and
//! delivers the model. If the process is killed, the same call continues the run.

use std::collections::BTreeMap;
use std::sync::Arc;

use reticent::accountant::View;
use reticent::simulate::{RemoteJob, RemoteKind, Simulated, Traffic};
use reticent::{Error, Identity, Progress, Run, Stage};
use reticent_core::hex;
use reticent_noise::{Digest, NoiseKey};
use reticent_runtime::{STEPS, run_id};

use crate::carrier::{Lines, NetworkCarrier, locked};
use crate::company::{Company, may_leave};
use crate::error::HostError;
use crate::hall::Hall;
use crate::journal::RunJournal;
use crate::links::{Link, Listen};
use crate::lobby::{Begun, Lobby};
use crate::options::{HostOptions, Notice};
use crate::roster::Roster;
use crate::signed_rosters::RunRole;
use crate::status::RunStage;
use crate::sums::NetworkSums;

/// The input of a lead.
#[derive(Debug)]
pub struct Lead<'a> {
    /// The job, checked.
    pub job: &'a RemoteJob,
    /// The roster.
    pub roster: &'a Arc<Roster>,
    /// The lead's own key.
    pub identity: &'a Identity,
    /// The options.
    pub options: HostOptions,
}

/// The result of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Led {
    /// The model with its certificate, signed by the lead; empty where the lead has none, as
    /// between peers on a graph.
    pub model: String,
    /// The identifier of the run, in hexadecimal digits.
    pub run: String,
    /// The number of rounds, and the traffic of this process; `None` if the run was over before it
    /// began.
    pub moved: Option<(u32, Traffic)>,
    /// The parties that have not confirmed the model.
    pub without: Vec<String>,
    /// Rejected connections and messages, by name.
    pub rejections: BTreeMap<String, u64>,
}

/// A run that is over, which the lead keeps until all have the model.
#[derive(serde::Serialize, serde::Deserialize)]
struct Over {
    run: Digest,
    job: Digest,
    roster: Digest,
    /// The parties of the run.
    seats: Vec<u32>,
    model: String,
}

/// A run that is being led: its connections, its parties, and what all have signed.
#[derive(Clone, Copy)]
pub(crate) struct LedRun<'a> {
    pub lines: &'a Arc<Lines>,
    pub company: &'a Company<'a>,
    pub begun: &'a Begun,
}

impl Lead<'_> {
    /// Leads the run of the journal, or a new one.
    ///
    /// # Errors
    /// If the roster is not signed by all, a party does not connect, or the run ends early.
    pub fn run(&self, journal: RunJournal, listener: Box<dyn Listen>) -> Result<Led, HostError> {
        let me = self.identity.public().bytes();
        if me != self.roster.lead_key() {
            return Err(self.roster.refused("the key is not the lead's in it".to_owned()));
        }
        self.roster.signed_by_all(&me)?;
        self.options.signed.allow(self.roster, (&journal, RunRole::Lead))?;
        if let Some(why) = journal.get::<String>("ended")? {
            return Err(HostError::Ended(why));
        }
        let hall = Hall::new(self.roster, self.job.digest(), &self.options);
        let over = journal.get::<Over>("over")?;
        let begun = journal.get::<Begun>("begun")?;
        let kept = over.as_ref().map(|over| (over.run, over.job, over.roster, &over.seats));
        let kept = kept.or(begun
            .as_ref()
            .map(|begun| (begun.run, begun.job, begun.roster, &begun.terms.seats)));
        if let Some((run, job, roster, seats)) = &kept {
            if (job, roster) != (self.job.digest(), &self.roster.digest()) {
                let why =
                    "it is of another job or another roster; give this one a journal of its own";
                return Err(HostError::journal(journal.path(), why));
            }
            hall.begin(run, seats);
        }
        let door = hall.open(listener);
        let led = match over {
            Some(over) => self.hand_over(&hall, journal, over, None),
            None => self.lead(&hall, journal, begun),
        };
        hall.close();
        // The thread checks ten times a second whether it should stop.
        let _ = door.join();
        led
    }

    fn lead(
        &self,
        hall: &Arc<Hall>,
        mut journal: RunJournal,
        begun: Option<Begun>,
    ) -> Result<Led, HostError> {
        let again = begun.is_some();
        let (begun, links) = match begun {
            Some(begun) => (begun, Vec::new()),
            None => {
                let lobby =
                    Lobby { hall, job: self.job, identity: self.identity, options: &self.options };
                lobby.gather(&mut journal)?
            }
        };
        hall.begin(&begun.run, &begun.terms.seats);
        let company = Company::of(self.job, self.roster, &begun.terms.seats)?;
        self.options.tell(Notice::Began { run: hex(&begun.run), again });
        let units = begun.terms.units.iter().map(|units| units.unwrap_or(0)).max().unwrap_or(0);
        let limit = company.job().longest(units);
        let of = (&begun.run, &company);
        let lines = Arc::new(Lines::new(hall, of, journal, &self.options, limit)?);
        lines.seat(links);
        match self.perform(LedRun { lines: &lines, company: &company, begun: &begun }) {
            Ok(model) => {
                let Begun { run, job, roster, .. } = begun;
                let seats = company.seats.clone();
                let over = Over { run, job, roster, seats, model };
                self.options.writing("over", || {
                    locked(&lines.journal).commit(|change| {
                        change.set("over", &over)?;
                        // The key that could remove the noise is deleted here.
                        change.forget("begun")?;
                        change.forget("node")?;
                        change.forget_mail()?;
                        change.forget_answers()
                    })
                })?;
                locked(&lines.journal).wipe();
                let moved = self.moved(&lines);
                self.deliver(&lines, &company, over, Some(moved))
            }
            Err(why) if why.may_go_on() || matches!(why, HostError::Journal { .. }) => Err(why),
            Err(why) => {
                self.options.writing("ended", || {
                    locked(&lines.journal).commit(|change| {
                        change.set("ended", &why.to_string())?;
                        change.forget("begun")?;
                        change.forget("node")?;
                        change.forget_mail()?;
                        change.forget_answers()
                    })
                })?;
                locked(&lines.journal).wipe();
                lines.tell_over(&why.to_string());
                Err(why)
            }
        }
    }

    /// The greetings of all parties. Where a run may continue without some, a party that does not
    /// greet has left it: its greeting is empty, and it is asked nothing.
    pub(crate) fn greeted(
        &self,
        LedRun { lines, company, begun }: LedRun<'_>,
    ) -> Result<Vec<Option<Vec<u8>>>, HostError> {
        let known: BTreeMap<u32, Vec<u8>> =
            locked(&lines.journal).greetings()?.into_iter().collect();
        let may_leave = self.options.least.is_some() && may_leave(self.job);
        let one = |party: u32| match known.get(&party) {
            Some(greeting) => Ok(Some(greeting.clone())),
            None => match lines.greeting(party, &begun.signatures) {
                Err(HostError::Absent { .. }) if may_leave => Ok(None),
                greeted => greeted.map(Some),
            },
        };
        std::thread::scope(|scope| {
            let all: Vec<_> =
                (0..company.job().parties()).map(|party| scope.spawn(move || one(party))).collect();
            all.into_iter()
                .map(|greeted| greeted.join().unwrap_or_else(|_| Err(panicked())))
                .collect()
        })
    }

    /// Runs the algorithm; returns the model, signed.
    fn perform(&self, led: LedRun<'_>) -> Result<String, HostError> {
        if self.job.kind() != RemoteKind::Sums {
            return self.relay(led);
        }
        let greetings = self.greeted(led)?;
        let work = || -> Result<String, Error> {
            let mut watch = |stage: Stage| {
                if let Stage::Iteration(Progress { done, of }) = stage {
                    self.options.tell(Notice::Iteration { done, of });
                }
                std::ops::ControlFlow::Continue(())
            };
            let run = Run::watched(&mut watch);
            let mut simulated = match self.job.trust() {
                View::Central => self.entrusted(led, &greetings, run)?,
                _ => self.added(led, &greetings, run)?,
            };
            simulated.model.sign(self.identity)?;
            simulated.model.to_json()
        };
        let ran = match self.job.trust() {
            // The gate asks in a pool with a thread for each party, whatever the number of
            // processors.
            View::Central => {
                let threads = led.company.job().parties() as usize + 1;
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let pool =
                    pool.map_err(|error| HostError::disagreed("this machine", error.to_string()))?;
                pool.install(work)
            }
            _ => work(),
        };
        // The connection knows better than the algorithm why a party did not answer.
        ran.map_err(|error| led.lines.failure().unwrap_or(HostError::Job(error)))
    }

    /// Runs the algorithm on exact sums, which are entrusted to this lead.
    fn entrusted(
        &self,
        LedRun { lines, company, begun }: LedRun<'_>,
        greetings: &[Option<Vec<u8>>],
        mut run: Run<'_>,
    ) -> Result<Simulated, Error> {
        let carrier = Box::new(NetworkCarrier(Arc::clone(lines)));
        let greetings: Vec<Vec<u8>> = greetings.iter().flatten().cloned().collect();
        let rows = begun.aggregator().admit(&greetings, company.job().shape(), carrier)?;
        let entropy = match self.options.seed {
            Some(seed) => reticent_oracle::Entropy::seeded(seed),
            None => begun.entropy(),
        };
        let ready = company.job().open(rows, &begun.terms.units, entropy, &mut run)?;
        if ready.is_tainted() && self.options.seed.is_none() {
            let why = "no certificate could be given: a party's key is from a seed, or the schema is a draft";
            return Err(Error::value("parties", "tainted", why));
        }
        ready.run(run, || self.moved(lines))
    }

    /// The number of rounds, and the traffic; a masked sum is one round.
    fn moved(&self, lines: &Lines) -> (u32, Traffic) {
        let (asked, traffic) = lines.moved();
        match self.job.trust() {
            View::SecureAggregation => (asked.div_ceil(STEPS), traffic),
            _ => (asked, traffic),
        }
    }

    /// Runs the algorithm on sums with the parties' own noise.
    fn added(
        &self,
        LedRun { lines, company, begun }: LedRun<'_>,
        greetings: &[Option<Vec<u8>>],
        run: Run<'_>,
    ) -> Result<Simulated, Error> {
        let units = &begun.terms.units;
        let of = match self.options.seed {
            None => begun.run,
            Some(seed) => run_id(self.job.digest(), &NoiseKey::seeded(seed))?,
        };
        let (lines, roster) = (Arc::clone(lines), Arc::clone(&company.roster));
        let plan = company.job().sum_plan(units)?;
        let own = Arc::clone(&lines);
        let members = (0..plan.law().parties()).collect();
        let (agreed, least) = (begun.run, self.options.least);
        let carrier = NetworkSums { lines, plan, agreed, run: of, roster, least, members, slot: 1 };
        let ungreeted = (0..).zip(greetings).filter(|(_, greeting)| greeting.is_none());
        let ungreeted: Vec<u32> = ungreeted.map(|(party, _)| party).collect();
        if !ungreeted.is_empty() && carrier.decided(1).is_none() {
            carrier.leave_out(&ungreeted, 1, 1)?;
        }
        let carrier = Box::new(carrier);
        let ready = company.job().open_sums(units, carrier)?;
        ready.run(run, self.options.seed.is_some(), || self.moved(&own))
    }

    /// Delivers a model that was there before this process.
    fn hand_over(
        &self,
        hall: &Arc<Hall>,
        journal: RunJournal,
        over: Over,
        moved: Option<(u32, Traffic)>,
    ) -> Result<Led, HostError> {
        let company = Company::of(self.job, self.roster, &over.seats)?;
        let limit = company.job().longest(0);
        let lines = Lines::new(hall, (&over.run, &company), journal, &self.options, limit)?;
        self.deliver(&lines, &company, over, moved)
    }

    fn deliver(
        &self,
        lines: &Lines,
        company: &Company<'_>,
        over: Over,
        moved: Option<(u32, Traffic)>,
    ) -> Result<Led, HostError> {
        let have = locked(&lines.journal).received()?;
        // Peers have models of their own, and that of an observed walk is for its observer alone.
        let model = match self.job.kind() {
            RemoteKind::Sums | RemoteKind::Star => &over.model[..],
            _ => "",
        };
        let without = std::thread::scope(|scope| {
            let left = (0..company.job().parties())
                .filter(|party| !have.contains(party) && lines.stays(*party));
            let all: Vec<_> = left
                .map(|party| (party, scope.spawn(move || lines.deliver(party, model).is_ok())))
                .collect();
            let missed = all.into_iter().filter_map(|(party, done)| {
                (!done.join().unwrap_or(false)).then(|| company.roster.name(party))
            });
            missed.collect()
        });
        let run = hex(&over.run);
        Ok(Led { model: over.model, run, moved, without, rejections: lines.hall.rejections() })
    }
}

/// The run of a lead's journal, and its stage.
pub(crate) fn run_of(journal: &RunJournal) -> Result<Option<(Digest, RunStage)>, HostError> {
    if let Some(over) = journal.get::<Over>("over")? {
        return Ok(Some((over.run, RunStage::Over)));
    }
    let begun = journal.get::<Begun>("begun")?;
    Ok(begun.map(|begun| (begun.run, RunStage::Begun)))
}

fn panicked() -> HostError {
    HostError::disagreed("this program", "a thread has ended")
}

/// Any thread may use a connection to speak with its party.
const _: fn(Box<dyn Link>) -> Box<dyn Send> = |link| Box::new(link);
