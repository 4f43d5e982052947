//! The flit level as a stage: parameters and inputs of a run, and its points and figures.

use super::case::{PreparedFlitSimulation, UserSuppliedTraffic};
use super::points::{curve, points};
use super::router::RouterDesign;
use super::row::LoadPointResultRow;
use super::spec::{FlitSimulationParameters, RunLengthParameters};
use super::warmup::WarmupSetting;
use base::renamed::RenamedParameter;
use base::stage::{BetterDirection, ColumnType};
use base::{ComputationError, ExperimentStage, ProgressWatch, RecordColumn, Refusal, ResourceNeed};
use fabric::Topology;
use fabric::size::NetworkSize;
use fabric::tables::Routing;
use paths::PathSource;
use paths::loads::SimulationLoads;
use paths::proved::proof_bytes;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// The inputs of a run at the flit level: network, tables and traffic.
#[derive(Clone, Copy)]
pub struct FlitSimulationInputs<'a> {
    /// The network.
    pub topology: &'a Arc<Topology>,
    /// The routing tables, if packets follow tables; none if the selection chooses paths on the
    /// network.
    pub routing: Option<&'a Routing>,
    /// Traffic that the user supplies; none if the parameters name it.
    pub traffic: Option<UserSuppliedTraffic<'a>>,
}

/// What the flit level finds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Record")]
pub struct FlitSimulationRecord {
    /// Whether the routing was proved free of deadlock.
    pub verified: bool,
    /// All parameters.
    pub parameters: FlitSimulationParameters,
    /// Decisions in which a score of the user's own selection was not a number, such as 0 / 0, and
    /// so never better than another: of all points; none of built-in selections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined_decisions: Option<u64>,
    /// Of traffic that was made to load one channel most, the load of that channel when every
    /// endpoint sends a flit a cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_channel_load: Option<f64>,
    /// A point for each load, in their order.
    pub points: Vec<LoadPointResultRow>,
    /// The largest load found that is not saturated, where loads were `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturation_throughput: Option<f64>,
}

impl FlitSimulationParameters {
    /// Runs the simulation on `threads` threads; the result is the same with any number.
    ///
    /// # Errors
    /// When something does not fit, the routing is not proved free of deadlock and `unverified` is
    /// not set, or `watch` says stop.
    pub fn simulate(
        &self,
        on: FlitSimulationInputs<'_>,
        threads: usize,
        watch: &dyn ProgressWatch,
    ) -> Result<FlitSimulationRecord, ComputationError> {
        let source = PathSource::of(on.topology, on.routing);
        let case = PreparedFlitSimulation::new(source, self, on.traffic, watch)?;
        let (found, saturation_throughput) = match (&self.load, case.own_load()) {
            (SimulationLoads::At(loads), _) => (points(&case, loads, threads, watch)?, None),
            (SimulationLoads::Auto, Some(load)) => (points(&case, &[load], threads, watch)?, None),
            (SimulationLoads::Auto, None) => {
                let (found, saturation) = curve(&case, threads, watch)?;
                (found.into_iter().map(|(_, point)| point).collect(), saturation)
            }
        };
        let run = if case.is_whole() { self.run.clone() } else { self.run.said() };
        let points = found.iter().map(|point| case.row(point)).collect();
        Ok(FlitSimulationRecord {
            verified: case.verified,
            parameters: Self {
                lane_use: case.lane_use,
                choosing: self.selection.used_choosing(self.choosing, case.choosing),
                run,
                ..self.clone()
            },
            undefined_decisions: case.undefined_decisions(),
            largest_channel_load: case.largest_channel_load(),
            points,
            saturation_throughput,
        })
    }

    /// Estimate of the resources of a run on a network of this size: bytes within a factor of two,
    /// seconds within an order of magnitude.
    pub fn need_of(&self, size: &NetworkSize) -> ResourceNeed {
        let (count, mean) = match &self.load {
            SimulationLoads::At(loads) => {
                (loads.len() as f64, loads.iter().sum::<f64>() / loads.len() as f64)
            }
            SimulationLoads::Auto => (BISECTED, 0.5),
        };
        let lanes = f64::from(1_u32 << self.router.stride_bits());
        let lane = 8.0 * f64::from(1_u32 << self.router.ring_bits()) + 64.0;
        let ports = size.arcs() + size.terminals;
        let runs =
            f64::from(self.seeds) * if self.load == SimulationLoads::Auto { 1.0 } else { count };
        let at_once = size.threads.min(runs);
        let engine = ports * (lanes * lane + 256.0) + 400.0 * size.terminals;
        let tables = self.selection.kind().table_bytes(size) + at_once * engine;
        let proof = if self.unverified {
            0.0
        } else {
            let lanes = f64::from(self.router.virtual_channels);
            proof_bytes(size, &self.selection, self.lane_use, lanes)
        };
        let warmup = match self.run.warmup() {
            WarmupSetting::Cycles(cycles) => cycles,
            WarmupSetting::Auto => USUAL_WARMUP,
        };
        let cycles = f64::from(warmup) + f64::from(self.run.measured());
        let each =
            cycles * (mean * size.terminals * (size.depth + 1.0) + HOPS_IDLE * size.switches);
        let hops = each * count * f64::from(self.seeds);
        ResourceNeed::new(tables.max(proof), hops / (HOPS_A_SECOND * size.threads))
    }
}

/// A column with the figure `name` of a point's only run.
macro_rules! of_point {
    ($name:literal, $kind:ident, $unit:literal, $meaning:literal, $better:ident) => {
        RecordColumn::new(
            $name,
            concat!("/points/0/", $name),
            ColumnType::$kind,
            $unit,
            $meaning,
            BetterDirection::$better,
        )
    };
}

impl ExperimentStage for FlitSimulationParameters {
    const NAME: &'static str = "sim.flit";
    const FILES: &'static [&'static str] = &["traffic"];
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "verified",
            "/verified",
            ColumnType::Truth,
            "",
            "its routing is proved free of deadlock",
            BetterDirection::Higher,
        ),
        of_point!("offered_load", Real, "flits/cycle", "flits an endpoint wants to send", Neither),
        of_point!("accepted_load", Real, "flits/cycle", "flits that arrive, an endpoint", Higher),
        of_point!(
            "mean_packet_latency_cycles",
            Real,
            "cycles",
            "from when a packet is made to its arrival",
            Lower
        ),
        of_point!(
            "mean_network_latency_cycles",
            Real,
            "cycles",
            "from a packet's entering the network to its arrival",
            Lower
        ),
        of_point!(
            "p99_packet_latency_cycles",
            Whole,
            "cycles",
            "latency that 99 % of packets do not exceed",
            Lower
        ),
        of_point!("mean_hops", Real, "links", "links between switches traversed", Lower),
        of_point!("mean_switches", Real, "switches", "switches visited", Lower),
        of_point!("saturated", Truth, "", "less than 97 % of the offered load arrives", Lower),
        of_point!("deadlocked", Truth, "", "packets wait for one another in a cycle", Lower),
        RecordColumn::new(
            "saturation_throughput",
            "/saturation_throughput",
            ColumnType::Real,
            "flits/cycle",
            "largest load found that is not saturated, of loads that are auto",
            BetterDirection::Higher,
        ),
    ];

    const RENAMED: &'static [RenamedParameter] = &[
        RenamedParameter::name("router", "switch"),
        RenamedParameter::name("process", "injection"),
        RenamedParameter::name("class", "traffic_class"),
        RenamedParameter::name("classes", "traffic_class"),
        RenamedParameter::name("traffic_class.process", "traffic_class.injection"),
        RenamedParameter::name("run.links", "links"),
        RenamedParameter::words("rail", "rail", &[("path", "shortest")]),
    ];

    type Input<'a> = FlitSimulationInputs<'a>;
    type Record = FlitSimulationRecord;

    fn examples() -> Vec<Self> {
        let run = RunLengthParameters {
            warmup_cycles: Some(WarmupSetting::Cycles(50)),
            measure_cycles: Some(100),
            ..RunLengthParameters::default()
        };
        let router = RouterDesign { virtual_channels: 16, ..RouterDesign::default() };
        let short =
            |load| Self { load, run: run.clone(), router: router.clone(), ..Self::default() };
        vec![short(SimulationLoads::At(vec![0.2])), short(SimulationLoads::At(vec![0.1, 0.3]))]
    }

    fn need(&self, on: FlitSimulationInputs<'_>, threads: usize) -> ResourceNeed {
        self.need_of(&NetworkSize::of(on.topology, threads))
    }

    fn check(&self) -> Result<(), Refusal> {
        self.check()
    }

    fn run(
        &self,
        on: FlitSimulationInputs<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<FlitSimulationRecord, ComputationError> {
        self.simulate(on, rayon::current_num_threads(), watch)
    }
}

/// Estimate of the number of points of a run with loads `auto`, for its time.
const BISECTED: f64 = 13.0;
/// Estimate of the cycles of a warm-up whose end the run detects by itself, for its time.
const USUAL_WARMUP: u32 = 3000;
/// Number of flits through a router that take as much time as a cycle of an idle router.
pub const HOPS_IDLE: f64 = 0.25;
/// Rough number of flits through routers that one processor core simulates in a second.
pub const HOPS_A_SECOND: f64 = 8e6;
