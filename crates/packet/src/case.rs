//! A case of the packet level: a network under a dialect's model, with traffic or workloads, ready
//! to run.

use super::classes::{ClassPortSharingRule, TrafficClassParameters};
use super::dialect::{DialectNetwork, build};
use super::ended::FinalRunState;
use super::model::{EndpointTrafficSource, PacketSimulationModel};
use super::models::PacketPathMethod;
use super::nic::{MessageInjectionProcess, OpenLoopTraffic};
use super::offer::{AcceptedTraffic, ClassOfferedTraffic};
use super::plant::{LinkClass, SimulatedNetwork};
use super::rates::LinkRates;
use super::replay::{ReplayedJobs, UserSuppliedJobs};
use super::report::{EngineCounts, RunReportBuilder};
use super::row::LoadPointResultRow;
use super::spec::{EventEngineKind, EventUndoMode, PacketSimulationParameters};
use super::stuck::{BlockedPacket, wait_cycle};
use super::tally::ArrivalStatistics;
use super::timing::DialectTimingRules;
use super::used::AppliedParameterValues;
use super::window::{MeasuredWindow, RunLengthParameters};
use base::{ComputationError, ProgressWatch, Refusal};
use des::{OptimisticEngineOptions, optimistic, sequential, windows};
use fabric::Topology;
use paths::PathSource;
use paths::select::RailSelection;
use std::sync::Arc;
use traffic::destinations::PacketDestinations;
use traffic::sending::OfferedTraffic;

/// A network with its model, and with the traffic or workloads that are sent over it.
pub struct PreparedPacketSimulation {
    spec: PacketSimulationParameters,
    on: Arc<Topology>,
    plant: Arc<SimulatedNetwork>,
    timing: DialectTimingRules,
    route: Arc<PacketPathMethod>,
    injection: MessageInjectionProcess,
    /// The values of parameters that have a default for each dialect and network.
    used: AppliedParameterValues,
    concentration: u32,
    source: PreparedTraffic,
    /// The warm-up, measured and drain times of generated traffic; none if the whole run is
    /// measured.
    run: Option<RunLengthParameters>,
    /// Whether packets are proved free of deadlock.
    pub verified: bool,
    /// The range of the rates of links.
    pub rates: LinkRates,
}

/// The traffic of a case; its load is set for each point.
enum PreparedTraffic {
    /// Open-loop traffic: the destinations of each class.
    Open(Vec<PacketDestinations>),
    /// Workloads: processes send what their schedules say.
    Replay(Arc<ReplayedJobs>),
}

/// Traffic or workloads that the caller gives, in place of those that the parameters name.
#[derive(Clone, Copy, Default)]
pub struct UserSuppliedTraffic<'a> {
    /// Who sends to whom.
    pub traffic: Option<&'a OfferedTraffic>,
    /// The schedules of workloads, and the endpoints of their processes.
    pub jobs: UserSuppliedJobs<'a>,
}

impl PreparedPacketSimulation {
    /// Builds the network's model and proves its paths free of deadlock.
    ///
    /// # Errors
    /// When something does not fit, packets may deadlock and `unverified` is not set, or `watch`
    /// says stop.
    pub fn new(
        on: PathSource,
        spec: &PacketSimulationParameters,
        given: UserSuppliedTraffic<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        spec.check()?;
        let t = on.topology().clone();
        let to = if spec.workload.0.is_empty() {
            Some(of_classes(&on, spec, given.traffic, watch)?)
        } else {
            None
        };
        let DialectNetwork {
            plant,
            timing,
            route,
            injection,
            used,
            concentration,
            verified,
            rates,
        } = build(spec, on, watch)?;
        let source = if let Some(to) = to {
            PreparedTraffic::Open(to)
        } else {
            let rate = plant.of(LinkClass::Endpoint).gib_per_s;
            PreparedTraffic::Replay(Arc::new(given.jobs.replay(
                spec,
                &t,
                (rate, injection),
                watch,
            )?))
        };
        let run = match &source {
            PreparedTraffic::Open(to) if spec.is_steady() => Some(steady(spec, to, &plant)),
            _ => None,
        };
        Ok(Self {
            spec: spec.clone(),
            run,
            on: t,
            plant: Arc::new(plant),
            timing,
            route: Arc::new(route),
            injection,
            used,
            concentration,
            source,
            verified,
            rates,
        })
    }

    /// The schedules of workloads, where the case has workloads.
    pub fn replay(&self) -> Option<&Arc<ReplayedJobs>> {
        match &self.source {
            PreparedTraffic::Open(_) => None,
            PreparedTraffic::Replay(replay) => Some(replay),
        }
    }

    /// The warm-up, measured and drain times; none if the whole run is measured.
    pub(super) fn run_length(&self) -> Option<&RunLengthParameters> {
        self.run.as_ref()
    }

    /// Decisions so far in which a score of the user's was not a number; none of built-in
    /// selections, and of engines that decide again or see a part of the network.
    pub(super) fn undefined_decisions(&self) -> Option<u64> {
        let is_whole =
            matches!(self.spec.sync, EventEngineKind::Sequential | EventEngineKind::Threads);
        match &*self.route {
            PacketPathMethod::Guided(route) if is_whole => route.undefined_decisions(),
            _ => None,
        }
    }

    /// The parameters with the values that the run uses where none is given.
    pub(super) fn used_parameters(&self) -> PacketSimulationParameters {
        self.used.filled_in(self.spec.with_defaults(self.run_length()))
    }

    /// The part of a run that is measured, and the time at which it is stopped, ps.
    fn measured(&self) -> (MeasuredWindow, u64) {
        let end_ps = self.spec.end_ns.map_or(u64::MAX, |ns| (ns * 1e3).round() as u64);
        self.run.as_ref().map_or((MeasuredWindow::WHOLE, end_ps), RunLengthParameters::window)
    }

    /// The maximum rate of a rail of an endpoint, in bytes a second.
    fn rail_rate(&self) -> f64 {
        self.plant.of(LinkClass::Endpoint).gib_per_s * f64::from(1 << 30)
    }

    /// The model at an offered load, which workloads ignore.
    pub(super) fn model(&self, load: f64) -> PacketSimulationModel {
        let spec = &self.spec;
        let rails = match spec.rail {
            RailSelection::Random => spec.dialect.entry().random_rails,
            other => other,
        };
        let (drive, expected) = match &self.source {
            PreparedTraffic::Open(to) => {
                let open = self.opens(to, load);
                let chunks = open.iter().map(|open| self.chunks(open)).sum();
                (EndpointTrafficSource::Open(open), chunks)
            }
            PreparedTraffic::Replay(replay) => {
                (EndpointTrafficSource::Replay(replay.clone()), replay.chunks(spec.packet_bytes))
            }
        };
        PacketSimulationModel {
            window: self.measured().0,
            expected,
            plant: self.plant.clone(),
            timing: self.timing.clone(),
            route: self.route.clone(),
            rails,
            sharing: ClassPortSharingRule::of(&spec.traffic_class),
            drive,
            concentration: self.concentration,
            seed: spec.seed,
            links: spec.links,
            top: spec.top,
            overtaken: spec.overtaken,
            span_ps: spec.series_ns.map_or(0, |ns| ((ns * 1e3).round() as u64).max(1)),
        }
    }

    /// The classes of traffic, with their shares scaled so that they add up to 1.
    pub(super) fn classes(&self) -> Vec<TrafficClassParameters> {
        let all = if self.spec.traffic_class.is_empty() {
            vec![TrafficClassParameters::default()]
        } else {
            self.spec.traffic_class.clone()
        };
        let sum: f64 = all.iter().map(|one| one.share).sum();
        all.into_iter()
            .map(|one| TrafficClassParameters { share: one.share / sum, ..one })
            .collect()
    }

    /// The open-loop traffic of all classes at a load.
    fn opens(&self, to: &[PacketDestinations], load: f64) -> Vec<OpenLoopTraffic> {
        let rate = load * self.rail_rate();
        to.iter().zip(self.classes()).map(|(to, class)| self.open(to, &class, rate)).collect()
    }

    /// The open-loop traffic of one class, where all classes together send `rate` bytes a second
    /// from each endpoint.
    fn open(
        &self,
        to: &PacketDestinations,
        class: &TrafficClassParameters,
        rate: f64,
    ) -> OpenLoopTraffic {
        let bytes = class.message_bytes.unwrap_or(self.spec.message_bytes());
        let messages = class.messages.unwrap_or(self.spec.messages());
        OpenLoopTraffic {
            to: to.clone(),
            messages: (self.spec.end_ns.is_none() && self.run.is_none()).then_some(messages),
            bytes,
            interval_ps: f64::from(bytes) * 1e12 / (class.share * rate),
            injection: self.injection,
        }
    }

    /// What each class offers at a load.
    fn offers(&self, to: &[PacketDestinations], load: f64) -> Vec<ClassOfferedTraffic> {
        let window = self.measured().0;
        let of = |(open, class): (OpenLoopTraffic, TrafficClassParameters)| ClassOfferedTraffic {
            load: class.share * load,
            senders: f64::from(open.to.active()),
            messages: f64::from(open.to.active()) * window.messages(&open),
            rate: self.rail_rate(),
        };
        self.opens(to, load).into_iter().zip(self.classes()).map(of).collect()
    }

    /// The approximate number of packets of one class; 0 if it sends until the run ends.
    fn chunks(&self, open: &OpenLoopTraffic) -> u64 {
        let senders = u64::from(open.to.active());
        let each = u64::from(open.bytes.div_ceil(self.spec.packet_bytes));
        let messages = match (open.messages, &self.run) {
            (Some(messages), _) => u64::from(messages),
            (None, Some(_)) => (self.measured().0.end_ps as f64 / open.interval_ps) as u64,
            (None, None) => 0,
        };
        senders * each * messages
    }

    /// One run at a load, on `threads` threads where the engine is parallel; the result does not
    /// depend on their number. Workloads ignore the load and are run once.
    ///
    /// # Errors
    /// When links have no latency at all and there are several threads, processes wait for messages
    /// that never come, or `watch` says stop.
    pub fn point(
        &self,
        load: f64,
        threads: usize,
        watch: &dyn ProgressWatch,
    ) -> Result<LoadPointResultRow, ComputationError> {
        let model = self.model(load);
        let end_ps = self.end_ps();
        let parts = || model.parts(threads.clamp(1, 1024) as u16);
        let found = match self.spec.sync {
            EventEngineKind::Sequential => sequential(&model, end_ps, watch)?,
            EventEngineKind::Threads => windows(&model, &parts(), end_ps, watch)?,
            EventEngineKind::Mpi => return Err(alone()),
            EventEngineKind::Optimistic => {
                let ahead = OptimisticEngineOptions {
                    span_ps: ((self.spec.ahead_ns * 1000.0).round() as u64).max(1),
                    forced: self.spec.undo == EventUndoMode::Forced,
                    hostile: (self.spec.undo == EventUndoMode::Hostile).then_some(self.spec.seed),
                };
                optimistic(&model, &parts(), end_ps, ahead, watch)?
            }
        };
        let ended = FinalRunState::of(&model, (0..).zip(&found.states));
        let ran = EngineCounts::of(&found);
        let is_stuck = self.is_stuck(&ended, &ran);
        let waits = if is_stuck { wait_cycle(&model, &found.states) } else { Vec::new() };
        self.row(load, &ran, &ended, &found.tally, &waits)
    }

    /// The time at which a run is stopped, ps.
    pub(super) fn end_ps(&self) -> u64 {
        self.measured().1
    }

    /// Whether packets are deadlocked. Packets may be left in the network if a run was stopped at
    /// its end time. They are deadlocked only if the last event was so long before that time that
    /// no other event can have been pending.
    pub(super) fn is_stuck(&self, ended: &FinalRunState, ran: &EngineCounts) -> bool {
        let has_ended = match self.run {
            None => self.spec.end_ns.is_none(),
            Some(_) => ran.last_ps.saturating_add(self.longest_ps()) < self.end_ps(),
        };
        has_ended && ended.waits
    }

    /// An upper bound of the time from the creation of an event of packets to the event itself, ps.
    fn longest_ps(&self) -> u64 {
        let chunk_ps = self.plant.links().iter().map(|link| link.chunk_ps).max().unwrap_or(0);
        let ports = (0..self.plant.routers).flat_map(|router| self.plant.all(router));
        let latency_ps = ports.map(|behind| behind.latency_ps).max().unwrap_or(0);
        let DialectTimingRules { router_ps, credit_ps, jitter, nic, waking, .. } = self.timing;
        let drawn = [Some(jitter), Some(nic), waking].into_iter().flatten();
        let drawn_ps: u64 = drawn.map(|it| it.least_ps + u64::from(it.more_ps)).sum();
        4 * chunk_ps + u64::from(latency_ps) + router_ps + credit_ps + 2 * drawn_ps
    }

    /// How long the measured part of a run took, ps: until the last event or, beside background
    /// jobs, until all other jobs were done.
    fn measured_ps(&self, ran: &EngineCounts, ended: &FinalRunState) -> u64 {
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
        ended: &FinalRunState,
        tally: &ArrivalStatistics,
        waits: &[BlockedPacket],
    ) -> Result<LoadPointResultRow, ComputationError> {
        let reporter = RunReportBuilder {
            on: &self.on,
            plant: &self.plant,
            replay: self.replay(),
            overtaken: self.spec.overtaken,
            top: self.spec.top,
            window: self.measured().0,
        };
        let is_stuck = self.is_stuck(ended, ran);
        if let (Some(replay), false, false) = (self.replay(), is_stuck, ended.left.is_empty()) {
            return Err(ended.left.refusal(replay.schedule()).into());
        }
        let load = self.replay().is_none().then_some(load);
        let ran = &EngineCounts { last_ps: self.measured_ps(ran, ended), ..*ran };
        let mut row = reporter.row(load, ran, ended, tally, waits);
        if let (Some(load), PreparedTraffic::Open(to)) = (load, &self.source) {
            let offers = self.offers(to, load);
            let accepted = AcceptedTraffic::of_all(&reporter.rates(&offers, tally));
            (row.accepted_load, row.saturated) = (Some(accepted.load), accepted.saturated);
            row.classes = (offers.len() > 1).then(|| reporter.classes(&offers, tally));
        }
        row.deadlocked = is_stuck;
        row.links = self.spec.links.then(|| reporter.links(ended, ran.last_ps));
        row.ranks = self.spec.ranks.then(|| reporter.ranks(ended));
        row.series = self.spec.series_ns.map(|ns| reporter.series(tally, ns));
        Ok(row)
    }
}

/// The warm-up, measured and drain times. Those that the parameters do not set follow from the
/// messages of the class whose messages are longest.
fn steady(
    spec: &PacketSimulationParameters,
    to: &[PacketDestinations],
    plant: &SimulatedNetwork,
) -> RunLengthParameters {
    let lengths = spec.traffic_class.iter().filter_map(|class| class.message_bytes);
    let bytes = lengths.max().unwrap_or(spec.message_bytes());
    let message_ns = f64::from(bytes) * 1e9 / plant.of(LinkClass::Endpoint).gib_per_s;
    let packets = f64::from(bytes.div_ceil(spec.packet_bytes));
    let senders = to.iter().map(PacketDestinations::active).min().unwrap_or(0);
    spec.run.with_defaults(message_ns / f64::from(1 << 30), packets, senders.into())
}

/// The refusal of `sync = "mpi"` in a run that is not started under MPI.
pub(super) fn alone() -> ComputationError {
    let why = "mpi is for the ranks of `mpiexec -n 2 flyloom sim packet ... --sync mpi`";
    Refusal::new("sync", why, "sequential, threads, optimistic").into()
}

/// The destinations of every endpoint, for each class of traffic.
fn of_classes(
    on: &PathSource,
    spec: &PacketSimulationParameters,
    given: Option<&OfferedTraffic>,
    watch: &dyn ProgressWatch,
) -> Result<Vec<PacketDestinations>, ComputationError> {
    if spec.traffic_class.is_empty() {
        return Ok(vec![destinations(on, spec, given, watch)?]);
    }
    let of = |class: &TrafficClassParameters| match &class.traffic {
        Some(traffic) => destinations(
            on,
            &PacketSimulationParameters { traffic: Some(traffic.clone()), ..spec.clone() },
            None,
            watch,
        ),
        None => destinations(on, spec, given, watch),
    };
    spec.traffic_class.iter().map(of).collect()
}

/// The destinations of every endpoint: of the caller's traffic, else of the pattern that the
/// parameters name.
fn destinations(
    on: &PathSource,
    spec: &PacketSimulationParameters,
    given: Option<&OfferedTraffic>,
    watch: &dyn ProgressWatch,
) -> Result<PacketDestinations, ComputationError> {
    let endpoints = on.topology().endpoints().len() as u32;
    let is_by_steps = spec.dialect.entry().draws_steps;
    Ok(match (given, on) {
        (Some(sending), _) => PacketDestinations::of_sending(on.topology(), sending)?,
        (None, _) if spec.pattern() == "uniform" && is_by_steps && endpoints > 2 => {
            PacketDestinations::steps(endpoints, &(1..endpoints - 1).collect::<Vec<_>>())
        }
        (None, PathSource::Tables(r)) => {
            PacketDestinations::over(r, spec.pattern(), spec.seed, watch)?
        }
        (None, PathSource::Network(t)) => {
            PacketDestinations::named(t, spec.pattern(), spec.seed, watch)?
        }
    })
}
