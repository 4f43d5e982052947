//! What a network can carry of worst-case, uniform and collective traffic, without a clock and
//! whatever its routing tables: bounds by the load of its channels.
//!
//! Sources: Valiant, "A scheme for fast parallel communication", SIAM J. Computing 1982 (random
//! intermediate switches: no traffic loads a channel more than twice as much as uniform traffic);
//! Towles, Dally, "Worst-case traffic for oblivious routing functions", SPAA 2002; Thakur,
//! Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", IJHPCA
//! 2005, section 4 (steps and bytes of the algorithms).

use super::by_plane;
use super::channel_load::minimal_load;
use super::heaviest::heaviest_load;
use super::pattern_load::{SwitchDemand, busiest_channels};
use base::seed::RandomStream;
use base::stage::{BetterDirection, ColumnType};
use base::{ComputationError, ExperimentStage, ProgressWatch, RecordColumn, Refusal, ResourceNeed};
use fabric::network::Topology;
use fabric::size::{NetworkSize, RequestedStructureSections};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use traffic::pattern::CommunicationPattern;

/// What a network carries of uniform, worst-case and collective traffic, by the load of its links.
///
/// Without routing tables: traffic of a pair is split evenly over its minimal paths, or, where
/// packets choose, goes over random intermediate switches if that loads the busiest link less. A
/// collective operation takes the time of its steps one after the other, rank i on endpoint i: the
/// bytes of a step at the rate that its busiest link leaves, and `step_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TrafficLimitParameters {
    /// Bytes that an allreduce adds up, on every endpoint.
    pub allreduce_bytes: u64,
    /// Bytes that every endpoint sends every other in an all-to-all.
    pub alltoall_bytes: u64,
    /// Time of a step beside its bytes: two overheads and the latency, nanoseconds.
    pub step_ns: f64,
    /// Time from a port of a switch to another, nanoseconds (130 of a Quantum switch, as its maker
    /// says).
    pub switch_delay_ns: f64,
    /// Time that a cable takes, nanoseconds: 5 a metre.
    pub cable_ns: f64,
    /// Rate of every link, Gbit/s; that of the network's cables by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gbps: Option<f64>,
}

impl Default for TrafficLimitParameters {
    fn default() -> Self {
        Self {
            allreduce_bytes: 100_000_000,
            alltoall_bytes: 1000,
            step_ns: 2000.0,
            switch_delay_ns: 130.0,
            cable_ns: 50.0,
            gbps: None,
        }
    }
}

/// What a network can carry.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrafficLimitRecord {
    /// The network, in the inline form.
    pub network: String,
    /// Rate of an endpoint's cable, Gbit/s.
    pub gbps: f64,
    /// The load of uniform traffic over minimal paths at which the busiest link is full, a fraction
    /// of the rate of an endpoint; above 1 where links could carry more. None without links.
    pub uniform_minimal: Option<f64>,
    /// The same for the worst permutation found: the published worst case of the family, or the one
    /// that loads a channel most, for some of the channels that uniform traffic loads most; or a
    /// step of the exchange. An upper bound of the true worst case.
    pub worst_case_minimal: Option<f64>,
    /// Its load where packets choose adaptively: at least half of what uniform traffic has, over
    /// random intermediate switches, or what minimal paths carry where that is more.
    pub worst_case_adaptive: Option<f64>,
    /// The steps of an exchange by recursive doubling, in which endpoint i and i xor 2^step
    /// exchange; in a last step endpoints beyond the largest power of two.
    pub exchanges: Vec<ExchangeStepLoad>,
    /// Load of the busiest link when every endpoint sends to the next at full rate, in units of
    /// that rate.
    pub ring_load: f64,
    /// Bytes that the allreduce adds up.
    pub allreduce_bytes: u64,
    /// The fastest algorithm of the allreduce over minimal paths: `recursive_doubling`,
    /// `rabenseifner` or `ring`.
    pub allreduce_algorithm: String,
    /// Its time, nanoseconds.
    pub allreduce_ns: f64,
    /// The fastest algorithm where packets choose adaptively.
    pub allreduce_adaptive_algorithm: String,
    /// Its time, nanoseconds.
    pub allreduce_adaptive_ns: f64,
    /// Bytes of a pair in the all-to-all.
    pub alltoall_bytes: u64,
    /// Time of the all-to-all: all its bytes as uniform traffic, nanoseconds.
    pub alltoall_ns: f64,
    /// Mean time of a first bit between endpoints of different switches in an empty network, over
    /// minimal paths and without the software: one more switch and two more cables than there are
    /// hops, nanoseconds. None where no two switches carry endpoints.
    pub zero_load_ns: Option<f64>,
}

/// The busiest link in a step of recursive doubling, at full rate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ExchangeStepLoad {
    /// Its load over minimal paths, in units of the rate of an endpoint.
    pub minimal: f64,
    /// Its load where packets choose adaptively: at most twice the load of uniform traffic.
    pub adaptive: f64,
}

impl ExperimentStage for TrafficLimitParameters {
    const NAME: &'static str = "traffic_limits";
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "worst_case_minimal",
            "/worst_case_minimal",
            ColumnType::Real,
            "fraction",
            "load of the worst permutation at which a link is full, over minimal paths",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "worst_case_adaptive",
            "/worst_case_adaptive",
            ColumnType::Real,
            "fraction",
            "the same where packets choose among minimal paths and detours, at least",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "allreduce_ns",
            "/allreduce_ns",
            ColumnType::Real,
            "ns",
            "time of an allreduce by its fastest algorithm over minimal paths",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "allreduce_adaptive_ns",
            "/allreduce_adaptive_ns",
            ColumnType::Real,
            "ns",
            "the same where packets choose adaptively",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "zero_load_ns",
            "/zero_load_ns",
            ColumnType::Real,
            "ns",
            "mean time of a first bit between endpoints in an empty network",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "alltoall_ns",
            "/alltoall_ns",
            ColumnType::Real,
            "ns",
            "time of an all-to-all, all its bytes as uniform traffic",
            BetterDirection::Lower,
        ),
    ];

    type Input<'a> = &'a Topology;
    type Record = TrafficLimitRecord;

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { allreduce_bytes: 8, gbps: Some(100.0), ..Self::default() }]
    }

    fn need(&self, on: &Topology, threads: usize) -> ResourceNeed {
        let one = RequestedStructureSections { load: true, ..Default::default() };
        let load = NetworkSize::of(on, threads).structure(&one);
        let patterns = (on.endpoints().len().max(2) as f64).log2() + 3.0;
        load.then(ResourceNeed::new(0.0, patterns * load.seconds))
    }

    fn run(
        &self,
        on: &Topology,
        watch: &dyn ProgressWatch,
    ) -> Result<TrafficLimitRecord, ComputationError> {
        for (name, value) in [("step_ns", self.step_ns), ("gbps", self.gbps.unwrap_or(1.0))] {
            if !(1e-6..=1e18).contains(&value) {
                let why = format!("{value:e} is out of range");
                return Err(Refusal::new(name, why, "0.000001 to 1e18").into());
            }
        }
        limits(on, self, watch)
    }
}

fn limits(
    t: &Topology,
    asked: &TrafficLimitParameters,
    watch: &dyn ProgressWatch,
) -> Result<TrafficLimitRecord, ComputationError> {
    let rails = endpoint_rails(t);
    let ranks = rails.len() as u32;
    let loads = minimal_load(t, watch)?;
    let uniform = loads.uniform_saturation;
    let own = t.terminals().iter().map(|r| r.cable.rate_gbps()).fold(f64::INFINITY, f64::min);
    let gbps = asked.gbps.unwrap_or(if own.is_finite() { own } else { 1.0 });
    // twice the load of uniform traffic, which random intermediate switches never exceed
    let detours = uniform.map_or(f64::INFINITY, |load| 2.0 / load);
    let mut steps = Vec::new();
    let mut ring_load = 0.0;
    let mut worst: f64 = 0.0;
    if ranks >= 2 {
        let on = |name| CommunicationPattern::on(t, None, name, ranks, watch);
        let mut draw = RandomStream::new(0, "traffic limits", 0);
        let mut sent = |pattern: &CommunicationPattern, level| {
            switch_demands(&rails, &pattern.messages(level, ranks, &mut draw))
        };
        let doubling = on("recursive_doubling")?;
        let levels = doubling.levels(ranks);
        let mut patterns: Vec<_> = (0..levels).map(|level| sent(&doubling, level)).collect();
        patterns.push(sent(&on("ring")?, 0));
        let known = CommunicationPattern::known_worst_case(t, ranks);
        patterns.extend(known.as_ref().map(|known| sent(known, 0)));
        let mut busiest = busiest_channels(t.graph(), &patterns, watch)?;
        worst = busiest.iter().copied().fold(worst, f64::max);
        if known.is_none() && uniform.is_some() {
            worst = worst.max(heaviest_load(t, &loads.terminals.by_channel, watch)?);
        }
        ring_load = busiest[levels as usize];
        busiest.truncate(levels as usize);
        let step = |minimal: f64| ExchangeStepLoad { minimal, adaptive: minimal.min(detours) };
        steps = busiest.into_iter().map(step).collect();
    }
    let distances = by_plane(t, &t.edge_switches(), watch)?;
    let (hops, pairs) = distances.sum_and_pairs();
    let through = |hops: f64| (hops + 1.0) * asked.switch_delay_ns + (hops + 2.0) * asked.cable_ns;
    let zero_load_ns = (pairs > 0).then(|| through(hops as f64 / pairs as f64));
    let times = CollectiveTimes { ranks, ns_per_byte: 8.0 / gbps, step_ns: asked.step_ns };
    let minimal: Vec<f64> = steps.iter().map(|step| step.minimal).collect();
    let adaptive: Vec<f64> = steps.iter().map(|step| step.adaptive).collect();
    let (algorithm, ns) = times.allreduce(asked.allreduce_bytes as f64, &minimal, ring_load);
    let spread = ring_load.min(detours);
    let (chosen, adaptive_ns) = times.allreduce(asked.allreduce_bytes as f64, &adaptive, spread);
    let carried = (worst > 0.0).then(|| 1.0 / worst);
    Ok(TrafficLimitRecord {
        network: t.recipe().to_string(),
        gbps,
        uniform_minimal: uniform,
        worst_case_minimal: carried,
        worst_case_adaptive: carried.map(|load| load.max(1.0 / detours)),
        exchanges: steps,
        ring_load,
        allreduce_bytes: asked.allreduce_bytes,
        allreduce_algorithm: algorithm.to_owned(),
        allreduce_ns: ns,
        allreduce_adaptive_algorithm: chosen.to_owned(),
        allreduce_adaptive_ns: adaptive_ns,
        alltoall_bytes: asked.alltoall_bytes,
        alltoall_ns: times.alltoall(asked.alltoall_bytes as f64, uniform),
        zero_load_ns,
    })
}

/// What times of collective operations are made of.
struct CollectiveTimes {
    ranks: u32,
    ns_per_byte: f64,
    step_ns: f64,
}

impl CollectiveTimes {
    /// The fastest algorithm of an allreduce of `bytes`, and its time. `exchange` has the load of
    /// the busiest link in each step of recursive doubling, with the step of the ranks beyond the
    /// last power of two at its end; `ring` that when every rank sends to the next.
    fn allreduce(&self, bytes: f64, exchange: &[f64], ring: f64) -> (&'static str, f64) {
        if self.ranks < 2 {
            return ("recursive_doubling", 0.0);
        }
        let step = |bytes: f64, load: f64| self.step_ns + bytes * self.ns_per_byte * load.max(1.0);
        let doublings = self.ranks.ilog2() as usize;
        // ranks beyond the last power of two hand their data over before, and get it back after
        let beyond: f64 = exchange[doublings..].iter().map(|&load| 2.0 * step(bytes, load)).sum();
        let exchange = &exchange[..doublings];
        let whole: f64 = exchange.iter().map(|&load| step(bytes, load)).sum();
        // half of what is left is exchanged in each step of the scatter, likewise in the gather
        let part =
            |(i, &load): (usize, &f64)| 2.0 * step(bytes / f64::powi(2.0, i as i32 + 1), load);
        let halves: f64 = exchange.iter().enumerate().map(part).sum();
        let n = f64::from(self.ranks);
        let around = 2.0 * (n - 1.0) * step(bytes / n, ring);
        let all = [
            ("recursive_doubling", whole + beyond),
            ("rabenseifner", halves + beyond),
            ("ring", around),
        ];
        all.into_iter().min_by(|x, y| x.1.total_cmp(&y.1)).expect("three algorithms")
    }

    /// The time of an all-to-all of `bytes` a pair where the busiest link is full at `uniform`.
    fn alltoall(&self, bytes: f64, uniform: Option<f64>) -> f64 {
        let others = f64::from(self.ranks.saturating_sub(1));
        let load = uniform.map_or(1.0, |load| (1.0 / load).max(1.0));
        if others > 0.0 { self.step_ns + others * bytes * self.ns_per_byte * load } else { 0.0 }
    }
}

/// The switches of the rails of every endpoint that has a working one, by the number of the rail.
fn endpoint_rails(t: &Topology) -> Vec<BTreeMap<u16, u32>> {
    let mut rails = vec![BTreeMap::new(); t.endpoints().len()];
    for (i, terminal) in (0..).zip(t.terminals()) {
        if t.terminal_is_up(base::TerminalId(i)) {
            rails[terminal.endpoint.ix()].insert(terminal.rail, terminal.plug.switch.ix() as u32);
        }
    }
    rails.retain(|rails| !rails.is_empty());
    rails
}

/// What switches send each other when all `messages` are sent at full rate on every rail.
fn switch_demands(rails: &[BTreeMap<u16, u32>], messages: &[(u32, u32)]) -> Vec<SwitchDemand> {
    let mut wanted: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
    for &(from, to) in messages {
        let (source, destination) = (&rails[from as usize], &rails[to as usize]);
        for (rail, &switch) in source {
            if let Some(&there) = destination.get(rail).filter(|&&there| there != switch) {
                *wanted.entry(switch).or_default().entry(there).or_default() += 1.0;
            }
        }
    }
    wanted.into_iter().map(|(from, to)| (from, to.into_iter().collect())).collect()
}
