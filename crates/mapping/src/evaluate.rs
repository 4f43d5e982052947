//! Evaluation of a mapping: hop-bytes, dilation, and the load of every channel.
//!
//! Source: Hoefler & Snir, "Generic topology mapping strategies for large-scale parallel
//! architectures", ICS 2011, section 3 (dilation and congestion).

use crate::capacity::capacities;
use crate::fractional::FractionalRouting;
use crate::paths::TrafficPathRule;
use crate::slots::{switch_of, unreachable, working_rails};
use base::{ComputationError, ProgressWatch, Refusal, SwitchId, TerminalId};
use fabric::Topology;
use serde::Serialize;
use traffic::communication::CommunicationGraph;

/// The figures of merit of a mapping.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MappingFigures {
    /// Sum over pairs of processes of bytes times hops between switches [byte hops].
    pub hop_bytes: f64,
    /// Hop-bytes divided by all bytes [hops]; 0 if nothing is sent.
    pub average_dilation: f64,
    /// Hops of the pair with the longest path.
    pub maximum_dilation: u32,
    /// Largest load of a channel between switches [bytes per capacity of the fastest link].
    pub maximum_congestion: f64,
    /// Mean load over all working channels between switches, in the same unit.
    pub mean_congestion: f64,
    /// Largest load of a cable between an endpoint and its switch, in one direction and the same
    /// unit.
    pub endpoint_congestion: f64,
}

/// The figures of a mapping, and the load of every channel.
#[derive(Debug, Clone, PartialEq)]
pub struct MappingEvaluationResult {
    /// The figures of the mapping.
    pub figures: MappingFigures,
    /// The load of every channel between switches, by its number [bytes per capacity of the fastest
    /// link].
    pub loads: Vec<f64>,
}

/// Bytes from a switch to a terminal; without tables, to the terminal's switch.
struct SwitchTerminalFlow {
    to: u32,
    from: u32,
    bytes: f64,
}

/// Evaluates the mapping with the endpoints `places` of the processes.
///
/// O(flows + destinations * channels that their paths can take).
///
/// # Errors
/// When an endpoint does not exist or does not work, no path connects two of them, or `watch` says
/// stop.
pub fn evaluate(
    paths: TrafficPathRule<'_>,
    graph: &CommunicationGraph,
    places: &[u32],
    watch: &dyn ProgressWatch,
) -> Result<MappingEvaluationResult, ComputationError> {
    let on = paths.topology();
    let rails = working_rails(on);
    check_places(on, graph, &rails, places)?;
    let by_terminal = matches!(paths, TrafficPathRule::Tables(_));
    let mut flows = Vec::with_capacity(graph.pairs());
    let mut ends = TerminalLoads::new(on);
    for one in graph.sent() {
        let (a, b) = (places[one.from as usize], places[one.to as usize]);
        if a != b && one.bytes > 0.0 {
            spread(on, &rails, [a, b], one.bytes, by_terminal, &mut flows, &mut ends)?;
        }
    }
    flows.sort_by_key(|flow| (flow.to, flow.from));
    let mut sums =
        ChannelLoadSums { loads: vec![0.0; 2 * on.links().len()], hop_bytes: 0.0, longest: 0 };
    match paths {
        TrafficPathRule::Shortest(_) => split(on, &flows, &mut sums, watch)?,
        TrafficPathRule::Tables(routing) => {
            follow(paths, routing.layers(), &flows, &mut sums, watch)?;
        }
        TrafficPathRule::Split(shares) => share(shares, &flows, &mut sums),
    }
    let capacity = capacities(on);
    for (load, capacity) in sums.loads.iter_mut().zip(&capacity).filter(|(_, c)| **c > 0.0) {
        *load /= capacity;
    }
    let working = capacity.iter().filter(|c| **c > 0.0).count();
    let total = graph.total_bytes();
    let figures = MappingFigures {
        hop_bytes: sums.hop_bytes,
        average_dilation: if total > 0.0 { sums.hop_bytes / total } else { 0.0 },
        maximum_dilation: sums.longest,
        maximum_congestion: sums.loads.iter().copied().fold(0.0, f64::max),
        mean_congestion: sums.loads.iter().fold(0.0, |sum, load| sum + load)
            / working.max(1) as f64,
        endpoint_congestion: ends.largest(on),
    };
    Ok(MappingEvaluationResult { figures, loads: sums.loads })
}

/// The bytes that each switch sends to each terminal under a mapping: source switch, terminal,
/// bytes. Traffic that stays on a switch is left out; endpoints with several rails use them evenly.
/// O(pairs log pairs).
///
/// # Errors
/// The errors of [`evaluate`].
pub fn flows(
    on: &Topology,
    graph: &CommunicationGraph,
    places: &[u32],
) -> Result<Vec<(u32, u32, f64)>, Refusal> {
    let rails = working_rails(on);
    check_places(on, graph, &rails, places)?;
    let (mut flows, mut ends) = (Vec::with_capacity(graph.pairs()), TerminalLoads::new(on));
    for one in graph.sent() {
        let (a, b) = (places[one.from as usize], places[one.to as usize]);
        if a != b && one.bytes > 0.0 {
            spread(on, &rails, [a, b], one.bytes, true, &mut flows, &mut ends)?;
        }
    }
    flows.retain(|flow| switch_of(on, TerminalId(flow.to)) != flow.from);
    flows.sort_by_key(|flow| (flow.to, flow.from));
    let same = flows.chunk_by(|a, b| (a.to, a.from) == (b.to, b.from));
    Ok(same.map(|all| (all[0].from, all[0].to, all.iter().map(|f| f.bytes).sum())).collect())
}

/// Loads of channels, hop-bytes, and the hops of the longest path, summed up flow by flow.
struct ChannelLoadSums {
    loads: Vec<f64>,
    hop_bytes: f64,
    longest: u32,
}

/// Bytes that leave and enter every terminal.
struct TerminalLoads {
    out: Vec<f64>,
    into: Vec<f64>,
}

impl TerminalLoads {
    fn new(on: &Topology) -> Self {
        let none = vec![0.0; on.terminals().len()];
        Self { out: none.clone(), into: none }
    }

    fn largest(&self, on: &Topology) -> f64 {
        let rate = |t: usize| on.terminals()[t].cable.rate_gbps();
        let links = (0..on.links().len()).map(base::LinkId::from);
        let links = links.filter(|&l| on.link_is_up(l)).map(|l| on.links()[l.ix()].cable);
        let fastest = links.map(|cable| cable.rate_gbps()).fold(0.0, f64::max);
        let loads = (0..self.out.len()).map(|t| {
            let share = if fastest > 0.0 { rate(t) / fastest } else { 1.0 };
            self.out[t].max(self.into[t]) / share
        });
        loads.fold(0.0, f64::max)
    }
}

/// Adds the flows between two endpoints, spread evenly over their pairs of rails in the same plane.
fn spread(
    on: &Topology,
    rails: &[Vec<TerminalId>],
    [a, b]: [u32; 2],
    bytes: f64,
    by_terminal: bool,
    flows: &mut Vec<SwitchTerminalFlow>,
    ends: &mut TerminalLoads,
) -> Result<(), Refusal> {
    let begin = flows.len();
    let mut pairs = Vec::new();
    for &from in &rails[a as usize] {
        for &to in rails[b as usize].iter().filter(|&&t| on.plane_of(t) == on.plane_of(from)) {
            pairs.push((from, to));
        }
    }
    if pairs.is_empty() {
        let name = |e: u32| &on.endpoints()[e as usize].name;
        let why = format!("{} and {} share no plane", name(a), name(b));
        return Err(Refusal::new("mapping", why, "every pair needs a common plane"));
    }
    let share = bytes / pairs.len() as f64;
    for (from, to) in pairs {
        ends.out[from.ix()] += share;
        ends.into[to.ix()] += share;
        let [source, home] = [switch_of(on, from), switch_of(on, to)];
        let to = if by_terminal { to.0 } else { home };
        flows.push(SwitchTerminalFlow { to, from: source, bytes: share });
    }
    debug_assert!(flows.len() > begin);
    Ok(())
}

/// Loads of flows that split equally at every switch over all minimal next hops (ECMP).
fn split(
    on: &Topology,
    flows: &[SwitchTerminalFlow],
    sums: &mut ChannelLoadSums,
    watch: &dyn ProgressWatch,
) -> Result<(), ComputationError> {
    let graph = on.graph();
    let mut far = vec![u32::MAX; graph.switches()];
    let mut here = vec![0.0; graph.switches()];
    let mut order: Vec<u32> = Vec::new();
    let mut done = 0;
    for to_one in flows.chunk_by(|a, b| a.to == b.to) {
        watch.tick("loads", done, flows.len() as u64)?;
        done += to_one.len() as u64;
        let home = to_one[0].to;
        let mut missing = 0;
        for flow in to_one.iter().filter(|f| f.from != home) {
            missing += usize::from(here[flow.from as usize] == 0.0);
            here[flow.from as usize] += flow.bytes;
        }
        order.clear();
        order.push(home);
        far[home as usize] = 0;
        let mut head = 0;
        while missing > 0 {
            let Some(&v) = order.get(head) else {
                let from = to_one.iter().find(|f| far[f.from as usize] == u32::MAX);
                let from = from.map_or(home, |f| f.from);
                return Err(unreachable(on, from, home).into());
            };
            head += 1;
            for &w in graph.neighbours(v as usize) {
                if far[w as usize] == u32::MAX {
                    far[w as usize] = far[v as usize] + 1;
                    missing -= usize::from(here[w as usize] > 0.0);
                    order.push(w);
                }
            }
        }
        for flow in to_one {
            sums.hop_bytes += flow.bytes * f64::from(far[flow.from as usize]);
            sums.longest = sums.longest.max(far[flow.from as usize]);
        }
        for &v in order.iter().skip(1).rev() {
            let v = v as usize;
            let amount = std::mem::take(&mut here[v]);
            if amount > 0.0 {
                let ahead = |w: &u32| far[*w as usize] < far[v];
                let next_hops = graph.neighbours(v).iter().filter(|w| ahead(w)).count();
                let share = amount / next_hops as f64;
                let next = graph.neighbours(v).iter().zip(graph.channels(v));
                for (&w, channel) in next.filter(|(w, _)| ahead(w)) {
                    sums.loads[channel.ix()] += share;
                    here[w as usize] += share;
                }
            }
        }
        here[home as usize] = 0.0;
        for &v in &order {
            far[v as usize] = u32::MAX;
        }
    }
    Ok(())
}

/// Loads of flows that follow the routes of tables.
fn follow(
    paths: TrafficPathRule<'_>,
    layers: u32,
    flows: &[SwitchTerminalFlow],
    sums: &mut ChannelLoadSums,
    watch: &dyn ProgressWatch,
) -> Result<(), ComputationError> {
    let mut done = 0;
    for same in flows.chunk_by(|a, b| (a.to, a.from) == (b.to, b.from)) {
        watch.tick("loads", done, flows.len() as u64)?;
        done += same.len() as u64;
        let bytes: f64 = same.iter().map(|f| f.bytes).sum();
        let share = bytes / f64::from(layers);
        for layer in 0..layers {
            let route = paths.route(layer, SwitchId(same[0].from), TerminalId(same[0].to))?;
            for channel in &route {
                sums.loads[channel.ix()] += share;
            }
            sums.hop_bytes += share * route.len() as f64;
            sums.longest = sums.longest.max(route.len() as u32);
        }
    }
    Ok(())
}

/// Loads of flows that are split over paths by a fractional routing.
fn share(shares: &FractionalRouting<'_>, flows: &[SwitchTerminalFlow], sums: &mut ChannelLoadSums) {
    let mut found = Vec::new();
    for same in flows.chunk_by(|a, b| (a.to, a.from) == (b.to, b.from)) {
        let bytes: f64 = same.iter().map(|f| f.bytes).sum();
        found.clear();
        let longest = shares.collect(same[0].from, same[0].to, bytes, &mut found);
        for &(channel, load) in &found {
            sums.loads[channel as usize] += load;
            sums.hop_bytes += load;
        }
        sums.longest = sums.longest.max(longest);
    }
}

/// Refuses places that are not a mapping of the graph.
fn check_places(
    on: &Topology,
    graph: &CommunicationGraph,
    rails: &[Vec<TerminalId>],
    places: &[u32],
) -> Result<(), Refusal> {
    let processes = graph.processes();
    if places.len() != processes as usize {
        let why = format!("{} places for {processes} processes", places.len());
        return Err(Refusal::new("mapping", why, "one endpoint for each process"));
    }
    for (process, &e) in places.iter().enumerate() {
        let Some(own) = rails.get(e as usize) else {
            let why = format!("process {process} is on endpoint {e}, which there is not");
            let help = format!("0 to {}", rails.len().saturating_sub(1));
            return Err(Refusal::new("mapping", why, help));
        };
        if own.is_empty() {
            let name = &on.endpoints()[e as usize].name;
            let why = format!("process {process} is on {name}, which has no rail that works");
            return Err(Refusal::new("mapping", why, "endpoints that are reached"));
        }
    }
    Ok(())
}
