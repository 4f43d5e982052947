//! A point as users read it.

use super::run::{FlitRunResult, TrafficClassFigures};
use super::seen::{ChannelUseFigures, NetworkNames};
use paths::over_seeds::{SeedSpread, SeedStatistics};
use paths::wiring::RouterWiring;
use schemars::JsonSchema;
use serde::Serialize;

/// A point as users read it; loads in flits an active endpoint and cycle.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Row")]
pub struct LoadPointResultRow {
    /// What endpoints want to send.
    pub offered_load: f64,
    /// What arrives.
    pub accepted_load: f64,
    /// Mean cycles from when a packet is made at its endpoint to its arrival; null where none
    /// arrived.
    pub mean_packet_latency_cycles: Option<f64>,
    /// Mean cycles from entering the network to arrival.
    pub mean_network_latency_cycles: Option<f64>,
    /// Latency that 99 % of packets do not exceed.
    pub p99_packet_latency_cycles: Option<u64>,
    /// `mean_packet_latency_cycles` in nanoseconds, where `cycle_ns` says how long a cycle is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_packet_latency_ns: Option<f64>,
    /// `mean_network_latency_cycles` in nanoseconds, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_network_latency_ns: Option<f64>,
    /// `p99_packet_latency_cycles` in nanoseconds, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_packet_latency_ns: Option<f64>,
    /// Mean links between switches traversed; null where no packet arrived.
    pub mean_hops: Option<f64>,
    /// Mean switches visited, one more than links traversed.
    pub mean_switches: Option<f64>,
    /// Cycles before those that count: those that are asked for, or that were found.
    pub warmup_cycles: u32,
    /// Cycles simulated.
    pub cycles: u64,
    /// Flits through switches, over all cycles.
    pub switched_flits: u64,
    /// Whether less than 97 % of what is offered arrives; null where nothing was sent, or so few
    /// packets that less may be chance.
    pub saturated: Option<bool>,
    /// Whether packets wait for one another in a cycle.
    pub deadlocked: bool,
    /// The cycle, where there is one: each packet waits for the next, the last for the first.
    #[serde(rename = "circle", skip_serializing_if = "Option::is_none")]
    pub waits: Option<Vec<String>>,
    /// Packets by latency: least cycles of a bin, packets.
    pub latency_histogram: Vec<(u64, u64)>,
    /// Packets by links between switches traversed, from 0 on.
    pub hop_histogram: Vec<u64>,
    /// How runs with several seeds differ, where there are several that are not all equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_seeds: Option<SeedStatistics>,
    /// A row for each class of traffic, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<LoadPointResultRow>,
    /// What was seen of links; not of a class alone.
    #[serde(flatten)]
    pub seen: Option<ChannelUseFigures>,
}

impl LoadPointResultRow {
    /// The row of a point on `wiring`, `with_links` also each link's.
    pub fn of(
        point: &FlitRunResult,
        wiring: &RouterWiring,
        names: &NetworkNames,
        with_links: bool,
    ) -> Self {
        let seen = ChannelUseFigures::of(&point.traces, wiring, names, with_links);
        Self { seen: Some(seen), ..Self::of_found(point, &point.all, names) }
    }

    /// The row of a point, with a row for each class, from runs that differ by their seeds; there
    /// must be at least one run.
    pub fn of_runs(
        runs: &[FlitRunResult],
        wiring: &RouterWiring,
        names: &NetworkNames,
        with_links: bool,
    ) -> Self {
        let merged = FlitRunResult::merged(runs);
        // where all runs are equal, the seed makes no difference
        let differ = runs.iter().any(|run| *run != runs[0]);
        let over_seeds = differ.then(|| over_seeds(runs));
        let classes = Self::of_classes(&merged, names);
        Self { over_seeds, classes, ..Self::of(&merged, wiring, names, with_links) }
    }

    /// This row with latencies in nanoseconds added, for cycles of `cycle_ns`.
    #[must_use]
    pub fn timed(mut self, cycle_ns: f64) -> Self {
        let ns = |cycles: Option<f64>| cycles.map(|cycles| cycles * cycle_ns);
        self.mean_packet_latency_ns = ns(self.mean_packet_latency_cycles);
        self.mean_network_latency_ns = ns(self.mean_network_latency_cycles);
        self.p99_packet_latency_ns = ns(self.p99_packet_latency_cycles.map(|c| c as f64));
        self.classes = self.classes.into_iter().map(|class| class.timed(cycle_ns)).collect();
        self
    }

    /// The rows of its classes; empty if there is only one class.
    pub fn of_classes(point: &FlitRunResult, names: &NetworkNames) -> Vec<Self> {
        let several = if point.classes.len() > 1 { &point.classes[..] } else { &[] };
        several.iter().map(|found| Self::of_found(point, found, names)).collect()
    }

    fn of_found(point: &FlitRunResult, all: &TrafficClassFigures, names: &NetworkNames) -> Self {
        let used = all.by_hops.iter().rposition(|&n| n > 0).map_or(0, |last| last + 1);
        Self {
            offered_load: all.offered_load,
            accepted_load: all.accepted_load,
            mean_packet_latency_cycles: all.latency,
            mean_network_latency_cycles: all.network_latency,
            p99_packet_latency_cycles: all.latency.map(|_| all.latencies.quantile(0.99)),
            mean_packet_latency_ns: None,
            mean_network_latency_ns: None,
            p99_packet_latency_ns: None,
            mean_hops: all.hops.map(|switches| switches - 1.0),
            mean_switches: all.hops,
            warmup_cycles: point.warmup_cycles,
            cycles: point.cycles,
            switched_flits: point.flit_hops,
            saturated: if all.is_sent() || point.deadlock.is_some() {
                all.is_saturated()
            } else {
                None
            },
            deadlocked: point.deadlock.is_some(),
            waits: point.deadlock.as_ref().map(|c| c.iter().map(|w| names.tell(w)).collect()),
            latency_histogram: all.latencies.bins().collect(),
            hop_histogram: all.by_hops[used.min(1)..used].to_vec(),
            over_seeds: None,
            classes: Vec::new(),
            seen: None,
        }
    }
}

/// A function that reads a figure of a run; none if the run does not have it.
type OptionalFigure = fn(&TrafficClassFigures) -> Option<f64>;

/// How the figures of runs of one point differ.
fn over_seeds(runs: &[FlitRunResult]) -> SeedStatistics {
    let figures: [(&str, OptionalFigure); 5] = [
        ("accepted_load", |found| Some(found.accepted_load)),
        ("mean_packet_latency_cycles", |found| found.latency),
        ("mean_network_latency_cycles", |found| found.network_latency),
        ("mean_hops", |found| found.hops.map(|switches| switches - 1.0)),
        ("mean_switches", |found| found.hops),
    ];
    let spread = |of: OptionalFigure| {
        let values: Option<Vec<f64>> = runs.iter().map(|run| of(&run.all)).collect();
        values.and_then(|values| SeedSpread::of(&values))
    };
    let figures = figures.map(|(name, of)| (name.to_owned(), spread(of)));
    SeedStatistics { seeds: runs.len() as u32, figures: figures.into() }
}
