//! A case: a network, proved routing or a proved scheme, a selection, traffic and a router.

use super::engine::Setup;
use super::guide::Guide;
use super::router::Router;
use super::run::{Drain, Found, Phases, Point, run};
use super::wiring::Wiring;
use crate::select::{Choosing, Detours, Layers, NearestAncestor, Selection};
use base::{Interrupted, Refusal, Stop, Watch};
use fabric::Topology;
use fabric::geometry::Form;
use fabric::tables::Routing;
use fabric::tables::candidates::{LaneClasses, Minimal, UpDown, Via};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use traffic::destinations::Destinations;
use traffic::process::{Class, Load, Process, Sizes};
use traffic::sending::Sending;
use verify::{Limits, Verdict, Verification, Verified};

/// The lanes of packets that choose their ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaneUse {
    /// By the links crossed before: lanes rise on every way, so that packets never wait in a
    /// circle.
    #[default]
    Hops,
    /// Any lane on any hop.
    Any,
}

/// How long a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunLength {
    /// Cycles before anything counts.
    pub warmup_cycles: u32,
    /// Cycles that count.
    pub measure_cycles: u32,
    /// Most cycles after these in which what counts may still arrive.
    pub drain_cycles: u32,
    /// Whether endpoints go on sending until all that counts has arrived; else they stop.
    pub drain_under_load: bool,
}

impl Default for RunLength {
    fn default() -> Self {
        Self {
            warmup_cycles: 1000,
            measure_cycles: 3000,
            drain_cycles: 100_000,
            drain_under_load: false,
        }
    }
}

/// All parameters of a case but the network, the tables and the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// How packets choose among the ways that there are.
    pub selection: Selection,
    /// What selections look at; their usual numbers where it is not given.
    pub choosing: Option<Choosing>,
    /// The lanes of packets that choose.
    pub lane_use: LaneUse,
    /// Who sends to whom: a pattern with its argument.
    pub traffic: String,
    /// When packets are born: `bernoulli` or `on_off:ALPHA,BETA`.
    pub process: String,
    /// Flits of a packet, or several with weights: `1=3,5=1`.
    #[serde(deserialize_with = "flits_said")]
    #[schemars(with = "FlitsSaid")]
    pub packet_flits: String,
    /// The routers.
    pub router: Router,
    /// Latency of all cables, cycles.
    pub link_latency_cycles: u32,
    /// How long a cycle is, where latencies follow from lengths of cables; they are
    /// `link_latency_cycles` where it is not given.
    pub cycle_ns: Option<f64>,
    /// Warm-up, measurement, drain.
    pub run: RunLength,
    /// Runs what is not proved free of deadlock.
    pub unverified: bool,
    /// The seed of all that is random.
    pub seed: u64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            selection: Selection::Minimal,
            choosing: None,
            lane_use: LaneUse::Hops,
            traffic: "uniform".to_owned(),
            process: "bernoulli".to_owned(),
            packet_flits: "1".to_owned(),
            router: Router::default(),
            link_latency_cycles: 1,
            cycle_ns: None,
            run: RunLength::default(),
            unverified: false,
            seed: 0,
        }
    }
}

/// `packet_flits` as people write it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum FlitsSaid {
    /// So many.
    One(u64),
    /// A number, or several with weights.
    Several(String),
}

fn flits_said<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(match FlitsSaid::deserialize(from)? {
        FlitsSaid::One(flits) => flits.to_string(),
        FlitsSaid::Several(text) => text,
    })
}

/// What packets are routed by.
#[derive(Debug, Clone)]
pub enum On {
    /// Ways that a selection chooses on a network.
    Network(Arc<Topology>),
    /// Forwarding tables.
    Tables(Box<Routing>),
}

impl On {
    fn topology(&self) -> &Arc<Topology> {
        match self {
            Self::Network(t) => t,
            Self::Tables(r) => r.topology(),
        }
    }
}

/// A case that is ready to run at any load.
pub struct Case {
    wiring: Wiring,
    router: Router,
    guide: Box<dyn Guide + Send>,
    /// Whether its routing was proved free of deadlock.
    pub verified: bool,
    class: Class,
    phases: Phases,
    seed: u64,
}

/// Why a scheme is refused: packets can wait in a circle. Of a circle the first step is told.
fn unproved(why: impl std::fmt::Display, help: String) -> Stop {
    let why = why.to_string();
    let told = match why.split_once('\n') {
        Some((first, rest)) => format!("{first}; {} more in a circle", rest.lines().count()),
        None => why,
    };
    Refusal::new("routing", format!("not proved free of deadlock: {told}"), help).into()
}

impl Case {
    /// Builds and proves it; `own` is traffic of the user's, in place of the spec's.
    ///
    /// # Errors
    /// When something does not fit, the routing is not proved free of deadlock and `unverified` is
    /// not set, or `watch` says stop.
    pub fn new(
        on: On,
        spec: &Spec,
        own: Option<&Sending>,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        let t = on.topology().clone();
        let latency = |cable: &fabric::network::Cable| match spec.cycle_ns {
            Some(ns) => (cable.latency().ns() / ns).ceil().max(1.0) as u32,
            None => spec.link_latency_cycles,
        };
        if spec.link_latency_cycles == 0 || spec.link_latency_cycles > 10_000 {
            let why = format!("{} is out of range", spec.link_latency_cycles);
            return Err(Refusal::new("link_latency_cycles", why, "1 to 10000").into());
        }
        if spec.cycle_ns.is_some_and(|ns| !(1e-3..=1e6).contains(&ns)) {
            return Err(Refusal::new("cycle_ns", "it is out of range", "0.001 to 1000000").into());
        }
        let wiring = Wiring::of(&t, latency)?;
        spec.router.check(&wiring)?;
        let run = &spec.run;
        if run.measure_cycles == 0
            || u64::from(run.measure_cycles) + u64::from(run.warmup_cycles) > 1 << 30
        {
            let why = format!("{} + {} cycles", run.warmup_cycles, run.measure_cycles);
            return Err(
                Refusal::new("run.measure_cycles", why, "1 to 2^30 with the warm-up").into()
            );
        }
        let choosing = spec.choosing.unwrap_or(Choosing::usual(spec.selection));
        choosing.check()?;
        let destinations = match own {
            Some(sending) => Destinations::of_sending(&t, sending)?,
            None => Destinations::named(&t, &spec.traffic, spec.seed)?,
        };
        let class = Class {
            destinations,
            process: Process::parse(&spec.process)?,
            sizes: Sizes::parse(&spec.packet_flits)
                .map_err(|r| Refusal { param: "packet_flits".to_owned(), ..r })?,
            load: Load::Flits(0.0),
        };
        let (guide, verified) = guide(on, spec, choosing, &wiring, watch)?;
        let drain = if run.drain_under_load { Drain::Measured } else { Drain::Empty };
        let phases = Phases {
            warmup_cycles: run.warmup_cycles,
            measure_cycles: run.measure_cycles,
            drain_cycles: run.drain_cycles.min(1 << 29),
            drain,
        };
        let (router, seed) = (spec.router.clone(), spec.seed);
        Ok(Self { wiring, router, guide, verified, class, phases, seed })
    }

    /// The network as the simulator sees it.
    pub fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    /// One point, on so many threads; the result is the same with any number.
    ///
    /// # Errors
    /// When there is no such load, or `watch` says stop.
    pub fn point(&self, load: f64, threads: usize, watch: &dyn Watch) -> Result<Point, Stop> {
        if !(load > 0.0 && load <= 1.0) {
            let why = format!("{load} is out of range");
            return Err(Refusal::new("load", why, "above 0, at most 1").into());
        }
        let classes = [Class { load: Load::Flits(load), ..self.class.clone() }];
        let Phases { warmup_cycles, measure_cycles, drain_cycles, .. } = self.phases;
        let setup = Setup {
            wiring: &self.wiring,
            router: &self.router,
            guide: &*self.guide,
            classes: &classes,
            urgencies: &[0],
            seed: self.seed,
            threads,
            always_full: false,
            cycles: warmup_cycles + measure_cycles + drain_cycles,
        };
        run(setup, self.phases, watch)
    }
}

type Made = (Box<dyn Guide + Send>, bool);

/// The guide of a case, and whether it is proved.
fn guide(
    on: On,
    spec: &Spec,
    choosing: Choosing,
    wiring: &Wiring,
    watch: &dyn Watch,
) -> Result<Made, Stop> {
    let lanes = spec.router.virtual_channels;
    let t = match on {
        On::Tables(routing) => return of_tables(*routing, spec, choosing, wiring, watch),
        On::Network(t) => t,
    };
    if spec.selection == Selection::Anca {
        return nearest_ancestor(t, choosing, lanes, wiring, watch);
    }
    let shortest = Minimal::new(t.clone(), LaneClasses::any(1), watch)?;
    let legs = if spec.selection == Selection::Minimal { 1 } else { 2 };
    let hops = legs * longest(&shortest, &t);
    let classes = match spec.lane_use {
        LaneUse::Hops => LaneClasses {
            classes: (hops.max(1)).min(lanes.into()) as u8,
            width: (u32::from(lanes) / hops.max(1)).max(1) as u8,
        },
        LaneUse::Any => LaneClasses::any(lanes),
    };
    let minimal = Minimal::new(t, classes, watch)?;
    let help =
        format!("router.virtual_channels of at least {hops} with lane_use hops, or --unverified");
    if spec.selection == Selection::Minimal {
        return Ok(match Verified::scheme(minimal.clone(), watch)? {
            Ok(proved) => (Box::new(Detours::minimal(&proved, wiring, watch)?), true),
            Err(_) if spec.unverified => {
                let made =
                    Detours::unproved(&minimal, &minimal, spec.selection, choosing, wiring, watch)?;
                (Box::new(made), false)
            }
            Err(flaw) => return Err(unproved(flaw, help)),
        });
    }
    let via = Via::by_hop(minimal.clone());
    Ok(match Verified::scheme(via.clone(), watch)? {
        Ok(proved) => {
            (Box::new(Detours::via(&proved, spec.selection, choosing, wiring, watch)?), true)
        }
        Err(_) if spec.unverified => {
            let made = Detours::unproved(&via, &minimal, spec.selection, choosing, wiring, watch)?;
            (Box::new(made), false)
        }
        Err(flaw) => return Err(unproved(flaw, help)),
    })
}

/// Hops of the longest shortest way between switches with endpoints.
fn longest(ways: &Minimal, t: &Topology) -> u32 {
    let edge: Vec<base::SwitchId> = t.edge_switches().into_iter().map(base::SwitchId).collect();
    let pairs = edge.iter().flat_map(|a| edge.iter().map(move |b| (*a, *b)));
    pairs.filter_map(|(a, b)| ways.hops(a, b)).max().unwrap_or(0).into()
}

fn of_tables(
    routing: Routing,
    spec: &Spec,
    choosing: Choosing,
    wiring: &Wiring,
    watch: &dyn Watch,
) -> Result<Made, Stop> {
    let lanes = spec.router.virtual_channels;
    let used = routing.lanes().count();
    if used > lanes {
        let why = format!("the tables use {used} lanes, the router has {lanes}");
        return Err(Refusal::new("router.virtual_channels", why, format!("at least {used}")).into());
    }
    let proved = Verified::routing(routing.clone(), Limits { lanes, ..Limits::NONE }, watch)?;
    let (routing, verified) = match proved {
        Ok(proved) => ((*proved).clone(), true),
        Err(_) if spec.unverified => (routing, false),
        Err(found) => {
            let help = "tables that `flyloom verify` holds good, or --unverified";
            return Err(unproved(fault(&found), help.to_owned()));
        }
    };
    let guide = Layers::new(routing, spec.selection, choosing, lanes, wiring)?;
    Ok((Box::new(guide), verified))
}

/// What is wrong with tables, in words.
fn fault(found: &Verification) -> String {
    if let Verdict::Fails(why) = &found.complete {
        return why.to_string();
    }
    if let Some(Verdict::Fails(cycle)) = &found.deadlock {
        return cycle.to_string();
    }
    match (&found.rechecked, &found.lanes) {
        (Some(Err(why)), _) => why.clone(),
        (_, Some(Verdict::Fails(excess))) => excess.to_string(),
        _ => "nothing was found".to_owned(),
    }
}

fn nearest_ancestor(
    t: Arc<Topology>,
    choosing: Choosing,
    lanes: u8,
    wiring: &Wiring,
    watch: &dyn Watch,
) -> Result<Made, Stop> {
    if t.geometry().form != Form::Levels {
        let help = "a tree: its switches have levels";
        return Err(Refusal::new("selection", "anca on a network without levels", help).into());
    }
    let top = t.switches().iter().map(|s| s.level).max().unwrap_or(0);
    let rank: Vec<u32> = t.switches().iter().map(|s| u32::from(top - s.level)).collect();
    let scheme = UpDown::new(t, rank.clone(), lanes, watch)?;
    match Verified::scheme(scheme, watch)? {
        Ok(proved) => {
            Ok((Box::new(NearestAncestor::new(&proved, rank, choosing, wiring, watch)?), true))
        }
        Err(flaw) => Err(unproved(flaw, "a tree that works".to_owned())),
    }
}

/// The points of some loads, in order, on all threads: a point a thread where there are enough.
///
/// # Errors
/// The first of [`Case::point`].
pub fn points(
    case: &Case,
    loads: &[f64],
    threads: usize,
    watch: &dyn Watch,
) -> Result<Vec<Point>, Stop> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let at_once = threads.min(loads.len()).max(1);
    let each = (threads / at_once).max(1);
    let work = || {
        let mut mine = Vec::new();
        loop {
            let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            // the largest loads take longest: they go first
            let Some(at) = loads.len().checked_sub(i + 1) else { return Ok(mine) };
            mine.push((at, case.point(loads[at], each, watch)?));
        }
    };
    let found: Vec<Result<Vec<(usize, Point)>, Stop>> = std::thread::scope(|scope| {
        let hands: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        hands.into_iter().map(|h| h.join().unwrap_or(Err(Interrupted.into()))).collect()
    });
    let mut all = Vec::new();
    for part in found {
        all.extend(part?);
    }
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, point)| point).collect())
}

/// How near the saturation throughput is found.
const NEAR: f64 = 0.005;

/// Points from a load of 0.1 on in steps of 0.1 until one is saturated, then between the last two
/// by bisection; and the saturation throughput: the largest load found that is not saturated, 0.005
/// below one that is. 1 where none is.
///
/// # Errors
/// As [`points`].
pub fn curve(
    case: &Case,
    threads: usize,
    watch: &dyn Watch,
) -> Result<(Vec<(f64, Point)>, f64), Stop> {
    let bad = |p: &Point| p.is_saturated() || p.circle.is_some();
    let mut found: Vec<(f64, Point)> = Vec::new();
    for step in 1..=10 {
        let load = f64::from(step) / 10.0;
        found.push((load, case.point(load, threads, watch)?));
        if found.last().is_some_and(|(_, p)| bad(p)) {
            break;
        }
    }
    let (mut high, fails) = found.last().map_or((1.0, false), |(load, p)| (*load, bad(p)));
    if !fails {
        return Ok((found, high));
    }
    let mut low = high - 0.1;
    while high - low > NEAR {
        let middle = f64::midpoint(low, high);
        let point = case.point(middle, threads, watch)?;
        if bad(&point) {
            high = middle;
        } else {
            low = middle;
        }
        found.push((middle, point));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok((found, low.max(0.0)))
}

/// A point as users read it; loads in flits an active endpoint and cycle.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// What endpoints want to send.
    pub offered_load: f64,
    /// What arrives.
    pub accepted_load: f64,
    /// Mean cycles from a packet's birth to its arrival; null where none arrived.
    pub mean_packet_latency_cycles: Option<f64>,
    /// Mean cycles from entering the network to arrival.
    pub mean_network_latency_cycles: Option<f64>,
    /// Latency that 99 % of packets do not exceed.
    pub p99_packet_latency_cycles: Option<u64>,
    /// Mean switches visited.
    pub mean_hops: Option<f64>,
    /// Cycles simulated.
    pub cycles: u32,
    /// Flits through switches, over all cycles.
    pub flit_hops: u64,
    /// Whether less than 97 % of what is offered arrives.
    pub saturated: bool,
    /// Whether packets wait for one another in a circle.
    pub deadlocked: bool,
    /// The circle, where there is one: each packet waits for the next, the last for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub circle: Option<Vec<String>>,
    /// Packets by latency: least cycles of a bin, packets.
    pub latency_histogram: Vec<(u64, u64)>,
    /// Packets by switches visited, from 0 on.
    pub hop_histogram: Vec<u64>,
}

impl Row {
    /// The row of a point.
    pub fn of(point: &Point) -> Self {
        Self::of_found(point, &point.all)
    }

    /// The rows of its classes, where there are several.
    pub fn of_classes(point: &Point) -> Vec<Self> {
        let several = if point.classes.len() > 1 { &point.classes[..] } else { &[] };
        several.iter().map(|found| Self::of_found(point, found)).collect()
    }

    fn of_found(point: &Point, all: &Found) -> Self {
        let used = all.by_hops.iter().rposition(|&n| n > 0).map_or(0, |last| last + 1);
        Self {
            offered_load: all.offered_load,
            accepted_load: all.accepted_load,
            mean_packet_latency_cycles: all.latency,
            mean_network_latency_cycles: all.network_latency,
            p99_packet_latency_cycles: all.latency.map(|_| all.latencies.quantile(0.99)),
            mean_hops: all.hops,
            cycles: point.cycles,
            flit_hops: point.flit_hops,
            saturated: all.is_saturated(),
            deadlocked: point.circle.is_some(),
            circle: point.circle.as_ref().map(|c| c.iter().map(ToString::to_string).collect()),
            latency_histogram: all.latencies.bins().collect(),
            hop_histogram: all.by_hops[..used].to_vec(),
        }
    }
}
