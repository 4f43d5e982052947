//! A case of the packet level: a network under a dialect's model, with traffic or workloads, ready
//! to run.

use super::classes::{Sharing, TrafficClass};
use super::dialect::{DialectNetwork, build};
use super::ended::FinalState;
use super::model::{Model, TrafficSource};
use super::models::Route;
use super::nic::{Injection, OpenTraffic};
use super::plant::{LinkClass, SimulatedNetwork};
use super::rates::Rates;
use super::replay::{GivenJobs, Replay};
use super::report::{EngineCounts, Reporter};
use super::row::PointRow;
use super::spec::{Spec, SyncMethod, UndoMode};
use super::stuck::{BlockedPacket, wait_cycle};
use super::tally::Tally;
use super::timing::Timing;
use base::{Refusal, Stop, Watch};
use des::{OptimisticOptions, optimistic, sequential, windows};
use fabric::Topology;
use paths::PathSource;
use paths::select::RailSelection;
use std::sync::Arc;
use traffic::destinations::Destinations;
use traffic::sending::Sending;

/// A network with its model, and with the traffic or workloads that are sent over it.
pub struct Case {
    spec: Spec,
    on: Arc<Topology>,
    plant: Arc<SimulatedNetwork>,
    timing: Timing,
    route: Arc<Route>,
    injection: Injection,
    concentration: u32,
    source: CaseTraffic,
    /// Whether packets are proved free of deadlock.
    pub verified: bool,
    /// The range of the rates of links.
    pub rates: Rates,
}

/// What endpoints send, at any load.
enum CaseTraffic {
    /// Open-loop traffic: the destinations of each class.
    Open(Vec<Destinations>),
    /// Workloads: processes send what their schedules say.
    Replay(Arc<Replay>),
}

/// Traffic or workloads that the caller gives, in place of those that the parameters name.
#[derive(Clone, Copy, Default)]
pub struct GivenTraffic<'a> {
    /// Who sends to whom.
    pub traffic: Option<&'a Sending>,
    /// The schedules of workloads, and the endpoints of their processes.
    pub jobs: GivenJobs<'a>,
}

impl Case {
    /// Builds the network's model and proves its paths free of deadlock.
    ///
    /// # Errors
    /// When something does not fit, packets may deadlock and `unverified` is not set, or `watch`
    /// says stop.
    pub fn new(
        on: PathSource,
        spec: &Spec,
        given: GivenTraffic<'_>,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        spec.check()?;
        let t = on.topology().clone();
        let to = if spec.workload.0.is_empty() {
            Some(of_classes(&on, spec, given.traffic, watch)?)
        } else {
            None
        };
        let DialectNetwork { plant, timing, route, injection, concentration, verified, rates } =
            build(spec, on, watch)?;
        let source = if let Some(to) = to {
            CaseTraffic::Open(to)
        } else {
            let rate = plant.of(LinkClass::Endpoint).gib_per_s;
            CaseTraffic::Replay(Arc::new(given.jobs.replay(spec, &t, (rate, injection), watch)?))
        };
        Ok(Self {
            spec: spec.clone(),
            on: t,
            plant: Arc::new(plant),
            timing,
            route: Arc::new(route),
            injection,
            concentration,
            source,
            verified,
            rates,
        })
    }

    /// The schedules of workloads, where the case has workloads.
    pub fn replay(&self) -> Option<&Arc<Replay>> {
        match &self.source {
            CaseTraffic::Open(_) => None,
            CaseTraffic::Replay(replay) => Some(replay),
        }
    }

    /// The model at an offered load, which workloads ignore.
    pub(super) fn model(&self, load: f64) -> Model {
        let spec = &self.spec;
        let rate = self.plant.of(LinkClass::Endpoint).gib_per_s * f64::from(1 << 30);
        let rails = match spec.rail {
            RailSelection::Random => spec.dialect.entry().random_rails,
            other => other,
        };
        let (drive, expected) = match &self.source {
            CaseTraffic::Open(to) => {
                let open: Vec<OpenTraffic> = to
                    .iter()
                    .zip(self.classes())
                    .map(|(to, class)| self.open(to, &class, load * rate))
                    .collect();
                let chunks = open.iter().map(|open| self.chunks(open)).sum();
                (TrafficSource::Open(open), chunks)
            }
            CaseTraffic::Replay(replay) => {
                (TrafficSource::Replay(replay.clone()), replay.chunks(spec.packet_bytes))
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

    /// The classes of traffic, with their shares scaled so that they add up to 1.
    pub(super) fn classes(&self) -> Vec<TrafficClass> {
        let all = if self.spec.traffic_class.is_empty() {
            vec![TrafficClass::default()]
        } else {
            self.spec.traffic_class.clone()
        };
        let sum: f64 = all.iter().map(|one| one.share).sum();
        all.into_iter().map(|one| TrafficClass { share: one.share / sum, ..one }).collect()
    }

    /// The open-loop traffic of one class, where all classes together send `rate` bytes a second
    /// from each endpoint.
    fn open(&self, to: &Destinations, class: &TrafficClass, rate: f64) -> OpenTraffic {
        let bytes = class.message_bytes.unwrap_or(self.spec.message_bytes());
        let messages = class.messages.unwrap_or(self.spec.messages());
        OpenTraffic {
            to: to.clone(),
            messages: self.spec.end_ns.is_none().then_some(messages),
            bytes,
            interval_ps: f64::from(bytes) * 1e12 / (class.share * rate),
            injection: self.injection,
        }
    }

    /// The approximate number of packets of one class; 0 where they are sent until the run ends.
    fn chunks(&self, open: &OpenTraffic) -> u64 {
        let senders = (0..self.plant.endpoints).filter(|e| open.to.is_active(*e)).count() as u64;
        let each = u64::from(open.bytes.div_ceil(self.spec.packet_bytes));
        senders * each * u64::from(open.messages.unwrap_or(0))
    }

    /// One run at a load, on `threads` threads where the engine is parallel; the result does not
    /// depend on their number. Workloads ignore the load and are run once.
    ///
    /// # Errors
    /// When links have no latency at all and there are several threads, processes wait for messages
    /// that never come, or `watch` says stop.
    pub fn point(&self, load: f64, threads: usize, watch: &dyn Watch) -> Result<PointRow, Stop> {
        let model = self.model(load);
        let end_ps = self.end_ps();
        let parts = || model.parts(threads.clamp(1, 1024) as u16);
        let found = match self.spec.sync {
            SyncMethod::Sequential => sequential(&model, end_ps, watch)?,
            SyncMethod::Threads => windows(&model, &parts(), end_ps, watch)?,
            SyncMethod::Mpi => return Err(alone()),
            SyncMethod::Optimistic => {
                let ahead = OptimisticOptions {
                    span_ps: ((self.spec.ahead_ns * 1000.0).round() as u64).max(1),
                    forced: self.spec.undo == UndoMode::Forced,
                    hostile: (self.spec.undo == UndoMode::Hostile).then_some(self.spec.seed),
                };
                optimistic(&model, &parts(), end_ps, ahead, watch)?
            }
        };
        let ended = FinalState::of(&model, (0..).zip(&found.states));
        let is_stuck = self.is_stuck(&ended);
        let waits = if is_stuck { wait_cycle(&model, &found.states) } else { Vec::new() };
        self.row(load, &EngineCounts::of(&found), &ended, &found.tally, &waits)
    }

    /// The time at which a run is stopped, ps.
    pub(super) fn end_ps(&self) -> u64 {
        self.spec.end_ns.map_or(u64::MAX, |ns| (ns * 1e3).round() as u64)
    }

    /// Whether packets are deadlocked. A run that is stopped by its time may end with packets in
    /// the network without that.
    pub(super) fn is_stuck(&self, ended: &FinalState) -> bool {
        self.spec.end_ns.is_none() && ended.waits
    }

    /// How long the measured part of a run took, ps: until the last event or, beside background
    /// jobs, until all other jobs were done.
    fn measured_ps(&self, ran: &EngineCounts, ended: &FinalState) -> u64 {
        let is_beside = self.replay().is_some_and(|replay| replay.tells());
        let done_ps = ended.times.iter().map(|time| time.end_ps).max();
        match done_ps {
            Some(done_ps) if is_beside && ended.left.is_empty() => done_ps,
            _ => ran.last_ps,
        }
    }

    /// The result of a run as users read it.
    pub(super) fn row(
        &self,
        load: f64,
        ran: &EngineCounts,
        ended: &FinalState,
        tally: &Tally,
        waits: &[BlockedPacket],
    ) -> Result<PointRow, Stop> {
        let reporter = Reporter {
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
        let ran = &EngineCounts { last_ps: self.measured_ps(ran, ended), ..*ran };
        let mut row = reporter.row(load, ran, ended, tally, waits);
        if let (Some(load), true) = (load, self.spec.traffic_class.len() > 1) {
            let shares: Vec<f64> = self.classes().iter().map(|one| one.share * load).collect();
            row.classes = Some(reporter.classes(&shares, tally));
        }
        row.deadlocked = is_stuck;
        row.links = self.spec.links.then(|| reporter.links(ended, ran.last_ps));
        row.ranks = self.spec.ranks.then(|| reporter.ranks(ended));
        row.series = self.spec.series_ns.map(|ns| reporter.series(tally, ns));
        Ok(row)
    }
}

/// The refusal of `sync = "mpi"` in a run that is not started under MPI.
pub(super) fn alone() -> Stop {
    let why = "mpi is for the ranks of `mpiexec -n 2 flyloom sim packet ... --sync mpi`";
    Refusal::new("sync", why, "sequential, threads, optimistic").into()
}

/// The destinations of every endpoint, for each class of traffic.
fn of_classes(
    on: &PathSource,
    spec: &Spec,
    given: Option<&Sending>,
    watch: &dyn Watch,
) -> Result<Vec<Destinations>, Stop> {
    if spec.traffic_class.is_empty() {
        return Ok(vec![destinations(on, spec, given, watch)?]);
    }
    let of = |class: &TrafficClass| match &class.traffic {
        Some(traffic) => {
            destinations(on, &Spec { traffic: Some(traffic.clone()), ..spec.clone() }, None, watch)
        }
        None => destinations(on, spec, given, watch),
    };
    spec.traffic_class.iter().map(of).collect()
}

/// The destinations of every endpoint: of the caller's traffic, else of the pattern that the
/// parameters name.
fn destinations(
    on: &PathSource,
    spec: &Spec,
    given: Option<&Sending>,
    watch: &dyn Watch,
) -> Result<Destinations, Stop> {
    let endpoints = on.topology().endpoints().len() as u32;
    let is_by_steps = spec.dialect.entry().draws_steps;
    Ok(match (given, on) {
        (Some(sending), _) => Destinations::of_sending(on.topology(), sending)?,
        (None, _) if spec.pattern() == "uniform" && is_by_steps && endpoints > 2 => {
            Destinations::steps(endpoints, &(1..endpoints - 1).collect::<Vec<_>>())
        }
        (None, PathSource::Tables(r)) => Destinations::over(r, spec.pattern(), spec.seed, watch)?,
        (None, PathSource::Network(t)) => Destinations::named(t, spec.pattern(), spec.seed, watch)?,
    })
}
