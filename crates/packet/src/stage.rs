//! The packet level as a stage: from the parameters and the network to the figures of each point.

use super::case::{PreparedPacketSimulation, UserSuppliedTraffic, alone};
use super::models::{RATE, SimulatorDialect};
use super::plant::LinkClass;
use super::rates::LinkRates;
use super::replay::{JobResultRow, UserSuppliedJobs};
use super::row::LoadPointResultRow;
use super::spec::{BITS_IN_GIB, EventEngineKind, PacketSimulationParameters};
use base::renamed::RenamedParameter;
use base::stage::{BetterDirection, ColumnType};
use base::{
    ComputationError, ExperimentStage, Interrupted, ProgressWatch, RecordColumn, Refusal,
    ResourceNeed,
};
use des::PeerByteExchange;
use des::peers::{agree, same};
use fabric::Topology;
use fabric::network::{RATE_GBPS, RATE_SOURCE};
use fabric::size::NetworkSize;
use fabric::tables::Routing;
use paths::PathSource;
use paths::loads::SimulationLoads;
use paths::proved::proof_bytes;
use paths::select::PathSelection;
use paths::side_by_side::{paying, side_by_side};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::sync::Arc;
use traffic::sending::OfferedTraffic;

/// The inputs of a run at the packet level: network, tables, traffic and workloads.
#[derive(Clone, Copy)]
pub struct PacketSimulationInputs<'a> {
    /// The network.
    pub topology: &'a Arc<Topology>,
    /// The forwarding tables that packets follow; without them the selection chooses paths on the
    /// network.
    pub routing: Option<&'a Routing>,
    /// Traffic that the caller supplies, in place of the pattern that the parameters name.
    pub traffic: Option<&'a OfferedTraffic>,
    /// Schedules and endpoints of workloads that the caller supplies, in place of those that the
    /// parameters name.
    pub jobs: UserSuppliedJobs<'a>,
}

/// The results of a run at the packet level.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Record")]
pub struct PacketSimulationRecord {
    /// Whether packets were proved free of deadlock.
    pub verified: bool,
    /// The rates of links: those of the cables, link by link, where the network says some.
    pub rates: LinkRates,
    /// All parameters.
    pub parameters: PacketSimulationParameters,
    /// Decisions in which a score of the user's own selection was not a number, such as 0 / 0, and
    /// so never better than another: of all points; none of built-in selections, and of
    /// the engine `optimistic`, which decides again, and of MPI's ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined_decisions: Option<u64>,
    /// A point for each load, in their order; a single one for workloads.
    pub points: Vec<LoadPointResultRow>,
    /// The results of jobs, those of workloads first; empty where there are no workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobResultRow>,
}

impl PacketSimulationParameters {
    /// Runs the simulation with `seed` on `threads` threads. The result does not depend on their
    /// number, except for wall times, which `clock` gives in seconds. The runs of several seeds are
    /// simulations of one seed each.
    ///
    /// # Errors
    /// When something does not fit, packets may deadlock and `unverified` is not set, or `watch`
    /// says stop.
    pub fn simulate(
        &self,
        on: PacketSimulationInputs<'_>,
        threads: usize,
        clock: Option<&(dyn Fn() -> f64 + core::marker::Sync)>,
        watch: &dyn ProgressWatch,
    ) -> Result<PacketSimulationRecord, ComputationError> {
        if self.sync == EventEngineKind::Mpi {
            return Err(alone());
        }
        let case = self.case(on, watch)?;
        let SimulationLoads::At(loads) = &self.loads() else { return Err(Interrupted.into()) };
        // workloads ignore the load, so they are run once
        let loads = if case.replay().is_some() { &[0.0][..] } else { loads };
        // a parallel engine uses all threads for one point, the sequential one uses one for each
        // point
        let (at_once, each) = match self.sync {
            EventEngineKind::Sequential => (threads.clamp(1, loads.len().max(1)), 1),
            EventEngineKind::Threads | EventEngineKind::Mpi | EventEngineKind::Optimistic => {
                (1, threads)
            }
        };
        let points = side_by_side(loads.len(), at_once, |at| {
            let began = clock.map(|now| now());
            let row = case.point(loads[at], each, watch)?;
            let wall_s = began.zip(clock).map(|(began, now)| now() - began);
            Ok(LoadPointResultRow { wall_s, ..row })
        })?;
        Ok(Self::record(&case, points))
    }

    fn record(
        case: &PreparedPacketSimulation,
        mut points: Vec<LoadPointResultRow>,
    ) -> PacketSimulationRecord {
        let jobs = points.first_mut().map(|row| std::mem::take(&mut row.jobs)).unwrap_or_default();
        let (verified, rates) = (case.verified, case.rates);
        let parameters = case.used_parameters();
        let undefined_decisions = case.undefined_decisions();
        PacketSimulationRecord { verified, rates, parameters, undefined_decisions, points, jobs }
    }

    /// The network with the traffic that is sent over it, ready to run.
    fn case(
        &self,
        on: PacketSimulationInputs<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<PreparedPacketSimulation, ComputationError> {
        self.check()?;
        let source = PathSource::of(on.topology, on.routing);
        let given = UserSuppliedTraffic { traffic: on.traffic, jobs: on.jobs };
        PreparedPacketSimulation::new(source, self, given, watch)
    }

    /// Runs the simulation over several processes, each of which simulates a part of the network;
    /// all get the same result, except for wall times.
    ///
    /// # Errors
    /// The errors of [`Self::simulate`], the same in all processes; and when processes were given
    /// different inputs.
    pub fn simulate_over(
        &self,
        on: PacketSimulationInputs<'_>,
        peers: &mut dyn PeerByteExchange,
        clock: Option<&(dyn Fn() -> f64 + core::marker::Sync)>,
        watch: &dyn ProgressWatch,
    ) -> Result<PacketSimulationRecord, ComputationError> {
        let case = agree(peers, self.case(on, watch))?;
        let tables = on.routing.map_or(0, Routing::digest);
        same(
            peers,
            &[
                ("network", format!("{:016x}", on.topology.digest())),
                ("tables", format!("{tables:016x}")),
                ("traffic", digest(&on.traffic)),
                ("traces", digest(&case.replay())),
                ("parameters", serde_json::to_string(self).unwrap_or_default()),
            ],
        )?;
        let SimulationLoads::At(loads) = &self.loads() else { return Err(Interrupted.into()) };
        let loads = if case.replay().is_some() { &[0.0][..] } else { loads };
        let point = |load: &f64| {
            let began = clock.map(|now| now());
            let row = case.point_over(*load, peers, watch)?;
            let wall_s = began.zip(clock).map(|(began, now)| now() - began);
            Ok(LoadPointResultRow { wall_s, ..row })
        };
        let points = loads.iter().map(point).collect::<Result<_, ComputationError>>()?;
        Ok(Self::record(&case, points))
    }

    /// The memory and time that a run needs on a network of this size: bytes within a factor of
    /// two, seconds within an order of magnitude.
    pub fn need_of(&self, size: &NetworkSize) -> ResourceNeed {
        let (points, load) = match &self.loads() {
            SimulationLoads::At(loads) => {
                let count = loads.len().max(1) as f64;
                (count, loads.iter().sum::<f64>() / count)
            }
            SimulationLoads::Auto => (1.0, 0.5),
        };
        let packets = f64::from(self.message_bytes().div_ceil(self.packet_bytes));
        let (messages, waiting) = if self.is_steady() {
            let gib_per_s = self.link.gib_per_s(LinkClass::Endpoint).unwrap_or(RATE);
            let message_ns = f64::from(self.message_bytes()) * 1e9 / gib_per_s / f64::from(1 << 30);
            let run = self.run.with_defaults(message_ns, packets, size.terminals);
            let messages = run.messages(message_ns, load);
            // if more is offered than accepted, messages queue at their endpoints
            (messages, messages * (1.0 - FITS / load).max(0.0))
        } else {
            (f64::from(self.messages()), 0.0)
        };
        let need = self.need_at(size, messages * packets, points);
        ResourceNeed::new(need.bytes + WAITING_BYTES * waiting * size.terminals, need.seconds)
    }

    /// The need of a run of workloads with `packets` packets. It is a lower bound, because
    /// background jobs send until all workloads are done.
    fn need_of_packets(&self, size: &NetworkSize, packets: f64) -> ResourceNeed {
        self.need_at(size, packets / size.terminals.max(1.0), self.seeds.into())
    }

    /// The number of threads, at most `threads`, that are worth using for one run on this network.
    /// If several runs are simulated side by side, all threads are used.
    pub fn paying(&self, on: &Topology, threads: usize) -> usize {
        match self.sync {
            EventEngineKind::Sequential | EventEngineKind::Mpi => threads,
            EventEngineKind::Threads | EventEngineKind::Optimistic => {
                let ports = 2 * (on.links().len() + on.terminals().len());
                paying(threads, ports, PORTS_A_THREAD)
            }
        }
    }

    /// The resources needed by `points` points, with `each` packets for each endpoint.
    fn need_at(&self, size: &NetworkSize, each: f64, points: f64) -> ResourceNeed {
        let classes = self.traffic_class.len().max(1) as f64;
        let lanes = f64::from(self.router.virtual_channels.unwrap_or(4)) * classes;
        let at_once =
            if self.sync == EventEngineKind::Sequential { size.threads.min(points) } else { 1.0 };
        let state = (size.arcs() + size.terminals) * (40.0 + 36.0 * lanes)
            + 600.0 * size.terminals
            + 150.0 * size.terminals * each.min(8.0);
        let tables = self.selection.kind().table_bytes(size) + at_once * state;
        let is_proved = self.dialect == SimulatorDialect::Physical && !self.unverified;
        let proof = if is_proved {
            proof_bytes(size, &self.selection, self.lane_use, lanes / classes)
        } else {
            0.0
        };
        let hops = each * points * size.terminals * (size.depth + 1.0);
        ResourceNeed::new(tables.max(proof), hops / (HOPS_A_SECOND * size.threads))
    }
}

/// A digest by which MPI processes check that all were given the same value.
fn digest(value: &impl std::fmt::Debug) -> String {
    /// The FNV-1a hash of text that is written to it.
    struct TextHash(u64);
    impl Write for TextHash {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            for byte in text.bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            Ok(())
        }
    }
    let mut hash = TextHash(0xcbf2_9ce4_8422_2325);
    let _ = write!(hash, "{value:?}"); // it takes everything
    format!("{:016x}", hash.0)
}

/// The number of ports of routers and endpoints that justifies one more thread.
///
/// Seconds with one thread and with two, the least of 7 runs in turn on two cores that others use
/// too, at a load of 0.5, in windows: 20 ports 0.055 and 0.78; 162 ports 0.12 and 1.22; 384 ports
/// 0.37 and 0.59; 750 ports 0.40 and 0.29; 2,058 ports 0.72 and 0.39. Optimistic: 162 ports 0.71
/// and 1.75; 384 ports 0.99 and 0.80; 750 ports 0.66 and 0.48.
const PORTS_A_THREAD: usize = 256;
/// One GiB/s in Gbit/s.
const GBPS_OF_GIB: f64 = BITS_IN_GIB / 1e9;
/// The load above which the estimate counts messages that queue at their endpoints.
const FITS: f64 = 0.8;
/// Memory of a message that queues at its endpoint, in bytes.
const WAITING_BYTES: f64 = 88.0;
/// Rough number of packets that one processor core moves through a router in a second.
const HOPS_A_SECOND: f64 = 3e6;

/// A real-valued column of figure `name`, read from the first point of a run.
const fn real(
    name: &'static str,
    at: &'static str,
    unit: &'static str,
    help: &'static str,
    better: BetterDirection,
) -> RecordColumn {
    RecordColumn::new(name, at, ColumnType::Real, unit, help, better)
}

impl ExperimentStage for PacketSimulationParameters {
    const NAME: &'static str = "sim.packet";
    const FILES: &'static [&'static str] = &["traffic", "workload", "placement"];
    const COLUMNS: &'static [RecordColumn] = &[
        real(
            "offered_load",
            "/points/0/offered_load",
            "",
            "what endpoints send",
            BetterDirection::Neither,
        ),
        RATE_GBPS,
        RATE_SOURCE,
        real(
            "accepted_load",
            "/points/0/accepted_load",
            "",
            "what of that arrives, for each endpoint that sends",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "saturated",
            "/points/0/saturated",
            ColumnType::Truth,
            "",
            "less than 97 % of the offered load arrives",
            BetterDirection::Lower,
        ),
        real(
            "accepted_gbps",
            "/points/0/accepted_gbps",
            "Gbit/s",
            "bytes that arrive, for each endpoint",
            BetterDirection::Higher,
        ),
        real(
            "mean_latency_ns",
            "/points/0/mean_latency_ns",
            "ns",
            "mean latency of packets",
            BetterDirection::Lower,
        ),
        real(
            "p99_latency_ns",
            "/points/0/p99_latency_ns",
            "ns",
            "latency that 99 % of packets do not exceed",
            BetterDirection::Lower,
        ),
        real(
            "mean_hops",
            "/points/0/mean_hops",
            "links",
            "mean number of links between switches traversed",
            BetterDirection::Lower,
        ),
        real(
            "mean_switches",
            "/points/0/mean_switches",
            "switches",
            "mean number of switches visited",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "nonminimal_packets",
            "/points/0/nonminimal_packets",
            ColumnType::Whole,
            "",
            "packets on non-minimal paths",
            BetterDirection::Neither,
        ),
        real("end_ns", "/points/0/end_ns", "ns", "the last arrival", BetterDirection::Lower),
        real(
            "max_comm_ns",
            "/jobs/0/max_comm_ns",
            "ns",
            "longest time that a process of the first workload communicated",
            BetterDirection::Lower,
        ),
        real(
            "mean_comm_ns",
            "/jobs/0/mean_comm_ns",
            "ns",
            "mean communication time of the processes of the first workload",
            BetterDirection::Lower,
        ),
    ];

    const RENAMED: &'static [RenamedParameter] = &[
        RenamedParameter::name("router", "switch"),
        RenamedParameter::name("class", "traffic_class"),
        RenamedParameter::name("classes", "traffic_class"),
        RenamedParameter::words(
            "rails",
            "rail",
            &[
                ("congestion", "least_used"),
                ("path", "shortest"),
                ("dedicated", "fixed"),
                ("striped", "round_robin"),
            ],
        ),
        RenamedParameter::name("births", "injection"),
        RenamedParameter::name("bytes", "message_bytes"),
        RenamedParameter::name("trace", "workload"),
        RenamedParameter::name("trace_class", "workload_class"),
        RenamedParameter::times("link.local_gib_per_s", "link.local_rate_gbps", GBPS_OF_GIB),
        RenamedParameter::times("link.global_gib_per_s", "link.global_rate_gbps", GBPS_OF_GIB),
        RenamedParameter::times("link.endpoint_gib_per_s", "link.endpoint_rate_gbps", GBPS_OF_GIB),
        RenamedParameter::times("end_us", "end_ns", 1000.0),
        RenamedParameter::times("series_us", "series_ns", 1000.0),
        RenamedParameter::times("background.interval_us", "background.interval_ns", 1000.0),
        RenamedParameter::name("background.births", "background.injection"),
        RenamedParameter::name("background.class", "background.traffic_class"),
    ];

    type Input<'a> = PacketSimulationInputs<'a>;
    type Record = PacketSimulationRecord;

    fn examples() -> Vec<Self> {
        let less = Self { messages: Some(5), ..Self::default() };
        vec![
            less.clone(),
            Self {
                selection: PathSelection::Valiant.into(),
                sync: EventEngineKind::Threads,
                ..less
            },
        ]
    }

    fn need(&self, on: PacketSimulationInputs<'_>, threads: usize) -> ResourceNeed {
        let size = NetworkSize::of(on.topology, threads);
        if self.workload.0.is_empty() {
            return self.need_of(&size);
        }
        self.need_of_packets(&size, on.jobs.packets(self, on.topology))
    }

    fn check(&self) -> Result<(), Refusal> {
        self.check()
    }

    fn run(
        &self,
        on: PacketSimulationInputs<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<PacketSimulationRecord, ComputationError> {
        let threads = self.paying(on.topology, rayon::current_num_threads());
        self.simulate(on, threads, None, watch)
    }
}
