//! A case: a network as a dialect sees it, with traffic or traces, ready to run.

use super::classes::{ClassOf, Sharing};
use super::dialect::{Made, made};
use super::ended::Ended;
use super::model::{Drive, Model};
use super::models::Route;
use super::nic::{Injection, Open};
use super::plant::{Class, Plant};
use super::rates::Rates;
use super::replay::{Jobs, Replay};
use super::row::Row;
use super::spec::{Spec, Sync, Undo};
use super::stuck::{Waits, circle};
use super::tally::Tally;
use super::timing::Timing;
use super::told::{Ran, Teller};
use base::{Refusal, Stop, Watch};
use des::{Ahead, optimistic, sequential, windows};
use fabric::Topology;
use paths::PathSource;
use paths::select::Rail;
use std::sync::Arc;
use traffic::destinations::Destinations;
use traffic::sending::Sending;

/// A case.
pub struct Case {
    spec: Spec,
    on: Arc<Topology>,
    plant: Arc<Plant>,
    timing: Timing,
    route: Arc<Route>,
    births: Injection,
    concentration: u32,
    sends: Sends,
    /// Whether packets are proved never to wait in a circle.
    pub verified: bool,
    /// The rates of links.
    pub rates: Rates,
}

/// What endpoints send, at any load.
enum Sends {
    /// To whom, a class each.
    Open(Vec<Destinations>),
    /// What processes do.
    Replay(Arc<Replay>),
}

/// Where what is sent comes from: traffic or traces of the user's, in place of the spec's.
#[derive(Clone, Copy, Default)]
pub struct Own<'a> {
    /// Traffic.
    pub traffic: Option<&'a Sending>,
    /// Traces, and where their processes are.
    pub jobs: Jobs<'a>,
}

impl Case {
    /// Builds and proves it.
    ///
    /// # Errors
    /// When something does not fit, packets may wait in a circle and `unverified` is not set, or
    /// `watch` says stop.
    pub fn new(on: PathSource, spec: &Spec, own: Own<'_>, watch: &dyn Watch) -> Result<Self, Stop> {
        spec.check()?;
        let t = on.topology().clone();
        let to = if spec.workload.0.is_empty() {
            Some(of_classes(&on, spec, own.traffic, watch)?)
        } else {
            None
        };
        let Made { plant, timing, route, births, concentration, verified, rates } =
            made(spec, on, watch)?;
        let sends = if let Some(to) = to {
            Sends::Open(to)
        } else {
            let rate = plant.of(Class::Endpoint).gib_per_s;
            Sends::Replay(Arc::new(own.jobs.replay(spec, &t, (rate, births), watch)?))
        };
        Ok(Self {
            spec: spec.clone(),
            on: t,
            plant: Arc::new(plant),
            timing,
            route: Arc::new(route),
            births,
            concentration,
            sends,
            verified,
            rates,
        })
    }

    /// What jobs do, where there are some.
    pub fn replay(&self) -> Option<&Arc<Replay>> {
        match &self.sends {
            Sends::Open(_) => None,
            Sends::Replay(replay) => Some(replay),
        }
    }

    /// The model at a load, which jobs do not look at.
    pub(super) fn model(&self, load: f64) -> Model {
        let spec = &self.spec;
        let rate = self.plant.of(Class::Endpoint).gib_per_s * f64::from(1 << 30);
        let rails = match spec.rail {
            Rail::Random => spec.dialect.entry().random_rails,
            other => other,
        };
        let (drive, expected) = match &self.sends {
            Sends::Open(to) => {
                let open: Vec<Open> = to
                    .iter()
                    .zip(self.classes())
                    .map(|(to, class)| self.open(to, &class, load * rate))
                    .collect();
                let chunks = open.iter().map(|open| self.chunks(open)).sum();
                (Drive::Open(open), chunks)
            }
            Sends::Replay(replay) => {
                (Drive::Replay(replay.clone()), replay.chunks(spec.packet_bytes))
            }
        };
        Model {
            expected,
            plant: self.plant.clone(),
            timing: self.timing.clone(),
            route: self.route.clone(),
            rails,
            sharing: Sharing::of(&spec.traffic_class),
            drive,
            concentration: self.concentration,
            seed: spec.seed,
            links: spec.links,
            overtaken: spec.overtaken,
            span_ps: spec.series_ns.map_or(0, |ns| ((ns * 1e3).round() as u64).max(1)),
        }
    }

    /// The classes, with their parts of the load: all together are 1.
    pub(super) fn classes(&self) -> Vec<ClassOf> {
        let all = if self.spec.traffic_class.is_empty() {
            vec![ClassOf::default()]
        } else {
            self.spec.traffic_class.clone()
        };
        let sum: f64 = all.iter().map(|one| one.share).sum();
        all.into_iter().map(|one| ClassOf { share: one.share / sum, ..one }).collect()
    }

    /// What endpoints send of a class, at so many bytes a second in all.
    fn open(&self, to: &Destinations, class: &ClassOf, rate: f64) -> Open {
        let bytes = class.message_bytes.unwrap_or(self.spec.message_bytes());
        let messages = class.messages.unwrap_or(self.spec.messages());
        Open {
            to: to.clone(),
            messages: self.spec.end_ns.is_none().then_some(messages),
            bytes,
            interval_ps: f64::from(bytes) * 1e12 / (class.share * rate),
            births: self.births,
        }
    }

    /// About how many packets come of it; 0 where it ends with the run.
    fn chunks(&self, open: &Open) -> u64 {
        let senders = (0..self.plant.endpoints).filter(|e| open.to.is_active(*e)).count() as u64;
        let each = u64::from(open.bytes.div_ceil(self.spec.packet_bytes));
        senders * each * u64::from(open.messages.unwrap_or(0))
    }

    /// One run at a load, on so many threads where its engine is parallel; the result is the same
    /// with any number. Of jobs, which look at no load, the one run.
    ///
    /// # Errors
    /// When links have no latency at all and there are several threads, processes wait for messages
    /// that do not come, or `watch` says stop.
    pub fn point(&self, load: f64, threads: usize, watch: &dyn Watch) -> Result<Row, Stop> {
        let model = self.model(load);
        let end_ps = self.end_ps();
        let parts = || model.parts(threads.clamp(1, 1024) as u16);
        let found = match self.spec.sync {
            Sync::Sequential => sequential(&model, end_ps, watch)?,
            Sync::Threads => windows(&model, &parts(), end_ps, watch)?,
            Sync::Mpi => return Err(alone()),
            Sync::Optimistic => {
                let ahead = Ahead {
                    span_ps: ((self.spec.ahead_ns * 1000.0).round() as u64).max(1),
                    forced: self.spec.undo == Undo::Forced,
                    hostile: (self.spec.undo == Undo::Hostile).then_some(self.spec.seed),
                };
                optimistic(&model, &parts(), end_ps, ahead, watch)?
            }
        };
        let ended = Ended::of(&model, (0..).zip(&found.states));
        let is_stuck = self.is_stuck(&ended);
        let waits = if is_stuck { circle(&model, &found.states) } else { Vec::new() };
        self.row(load, &Ran::of(&found), &ended, &found.tally, &waits)
    }

    /// When a run is ended, ps.
    pub(super) fn end_ps(&self) -> u64 {
        self.spec.end_ns.map_or(u64::MAX, |ns| (ns * 1e3).round() as u64)
    }

    /// Whether packets wait for ever: a run that is ended by its time may end with some on their
    /// way.
    pub(super) fn is_stuck(&self, ended: &Ended) -> bool {
        self.spec.end_ns.is_none() && ended.waits
    }

    /// How long what is measured took, ps: until the last event, and beside a background until all
    /// jobs were done.
    fn measured_ps(&self, ran: &Ran, ended: &Ended) -> u64 {
        let is_beside = self.replay().is_some_and(|replay| replay.tells());
        let done_ps = ended.times.iter().map(|time| time.end_ps).max();
        match done_ps {
            Some(done_ps) if is_beside && ended.left.is_empty() => done_ps,
            _ => ran.last_ps,
        }
    }

    /// What people read of a run.
    pub(super) fn row(
        &self,
        load: f64,
        ran: &Ran,
        ended: &Ended,
        tally: &Tally,
        waits: &[Waits],
    ) -> Result<Row, Stop> {
        let teller = Teller {
            on: &self.on,
            plant: &self.plant,
            replay: self.replay(),
            overtaken: self.spec.overtaken,
        };
        let is_stuck = self.is_stuck(ended);
        if let (Some(replay), false, false) = (self.replay(), is_stuck, ended.left.is_empty()) {
            return Err(ended.left.refusal(replay.schedule()).into());
        }
        let load = self.replay().is_none().then_some(load);
        let ran = &Ran { last_ps: self.measured_ps(ran, ended), ..*ran };
        let mut row = teller.row(load, ran, ended, tally, waits);
        if let (Some(load), true) = (load, self.spec.traffic_class.len() > 1) {
            let shares: Vec<f64> = self.classes().iter().map(|one| one.share * load).collect();
            row.classes = Some(teller.classes(&shares, tally));
        }
        row.deadlocked = is_stuck;
        row.links = self.spec.links.then(|| teller.links(ended, ran.last_ps));
        row.ranks = self.spec.ranks.then(|| teller.ranks(ended));
        row.series = self.spec.series_ns.map(|ns| teller.series(tally, ns));
        Ok(row)
    }
}

/// That a run over ranks has none.
pub(super) fn alone() -> Stop {
    let why = "mpi is for the ranks of `mpiexec -n 2 flyloom sim packet ... --sync mpi`";
    Refusal::new("sync", why, "sequential, threads, optimistic").into()
}

/// Who sends to whom, of each class.
fn of_classes(
    on: &PathSource,
    spec: &Spec,
    own: Option<&Sending>,
    watch: &dyn Watch,
) -> Result<Vec<Destinations>, Stop> {
    if spec.traffic_class.is_empty() {
        return Ok(vec![destinations(on, spec, own, watch)?]);
    }
    let of = |class: &ClassOf| match &class.traffic {
        Some(traffic) => {
            destinations(on, &Spec { traffic: Some(traffic.clone()), ..spec.clone() }, None, watch)
        }
        None => destinations(on, spec, own, watch),
    };
    spec.traffic_class.iter().map(of).collect()
}

/// Who sends to whom.
fn destinations(
    on: &PathSource,
    spec: &Spec,
    own: Option<&Sending>,
    watch: &dyn Watch,
) -> Result<Destinations, Stop> {
    let endpoints = on.topology().endpoints().len() as u32;
    let is_by_steps = spec.dialect.entry().draws_steps;
    Ok(match (own, on) {
        (Some(sending), _) => Destinations::of_sending(on.topology(), sending)?,
        (None, _) if spec.pattern() == "uniform" && is_by_steps && endpoints > 2 => {
            Destinations::steps(endpoints, &(1..endpoints - 1).collect::<Vec<_>>())
        }
        (None, PathSource::Tables(r)) => Destinations::over(r, spec.pattern(), spec.seed, watch)?,
        (None, PathSource::Network(t)) => Destinations::named(t, spec.pattern(), spec.seed, watch)?,
    })
}
