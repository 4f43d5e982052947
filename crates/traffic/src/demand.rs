//! Traffic matrices: how much every endpoint wants to send to every other.
//!
//! Source: Jyothi, Singla, Godfrey, Kolla, "Measuring and understanding throughput of network
//! topologies", SC 2016 (uniform, longest matching, elephants).

use super::assignment::{assign, assign_greedily};
use base::seed::RandomStream;
use base::{ComputationError, EndpointId, ProgressWatch, Refusal, SwitchId, TerminalId};
use fabric::network::Topology;
use std::collections::BTreeMap;

/// One end of a demand, its sender or its receiver: an endpoint, or all endpoints of a switch, each
/// with the same amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DemandEnd {
    /// An endpoint; its working rails share the traffic.
    Endpoint(EndpointId),
    /// A switch; the terminals on it share the traffic.
    Switch(SwitchId),
}

/// Traffic between switches and terminals, in units of an endpoint's full rate.
///
/// What an endpoint sends to another is spread evenly over the pairs of their working terminals
/// that share a plane.
#[derive(Debug, Clone, PartialEq)]
pub struct TrafficDemand {
    /// Source switch, destination terminal, and amount above 0; sorted, each pair once.
    pub flows: Vec<(SwitchId, TerminalId, f64)>,
}

/// The demand of one source switch: destination switches and amounts.
pub type SourceDemand = (u32, Vec<(u32, f64)>);

/// The most pairs of a switch and a terminal that a demand may have.
pub const MOST_FLOWS: usize = 1 << 24;

/// The most pairs of places of a matching; a place is a set of switches that some endpoint is
/// plugged into.
const MOST_PLACES: usize = 1 << 12;

/// The most rows of an assignment that is solved exactly.
const MOST_EXACT: usize = 1 << 11;

/// A matching: each endpoint is the destination of one endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointMatching {
    /// The pairs of source and destination.
    pub pairs: Vec<(EndpointId, EndpointId)>,
    /// Whether no matching has a larger sum of distances; otherwise it was built greedily.
    pub exact: bool,
}

impl TrafficDemand {
    /// Every endpoint sends `1 / (N - 1)` to each of the N - 1 others. O(places * endpoints).
    ///
    /// # Errors
    /// When there are fewer than two working endpoints, more pairs than [`MOST_FLOWS`], or two
    /// endpoints that share no plane.
    pub fn uniform(t: &Topology) -> Result<Self, Refusal> {
        let places = EndpointPlaces::new(t)?;
        let all: usize = places.members.iter().map(Vec::len).sum();
        let wide = places.switches.iter().map(Vec::len).max().unwrap_or(1);
        if places.members.len().saturating_mul(all).saturating_mul(wide * wide) > MOST_FLOWS {
            let why = format!("{} places times {all} endpoints", places.members.len());
            let help = format!("a smaller network: at most {MOST_FLOWS} pairs");
            return Err(Refusal::new("traffic", why, help));
        }
        let mut flows = Vec::new();
        for (a, from) in places.members.iter().enumerate() {
            for (b, to) in places.members.iter().enumerate() {
                let senders = from.len() - usize::from(a == b);
                let amount = senders as f64 / (all - 1) as f64;
                for &end in to {
                    let (from, to) = (rails(t, from[0]), rails(t, end));
                    spread(t, &from, &to, amount, &mut flows)?;
                }
            }
        }
        Ok(Self::merged(flows))
    }

    /// The demand of these pairs, each with an amount in units of an endpoint's full rate.
    /// O(pairs).
    ///
    /// # Errors
    /// When an amount is neither 0 nor between 1e-6 and 1e6, an end does not exist or has no
    /// working terminal, or the two ends of a pair share no plane.
    pub fn between(t: &Topology, pairs: &[(DemandEnd, DemandEnd, f64)]) -> Result<Self, Refusal> {
        let mut flows = Vec::new();
        for &(from, to, amount) in pairs {
            if amount != 0.0 && !(LEAST_AMOUNT..=MOST_AMOUNT).contains(&amount) {
                let why = format!("{amount} is no amount of traffic");
                let help = format!("0, or {LEAST_AMOUNT} to {MOST_AMOUNT}");
                return Err(Refusal::new("demand", why, help));
            }
            spread(t, &party(t, from)?, &party(t, to)?, amount, &mut flows)?;
            if flows.len() > MOST_FLOWS {
                let help = format!("at most {MOST_FLOWS} pairs of terminals");
                return Err(Refusal::new("traffic", "too many pairs", help));
            }
        }
        Ok(Self::merged(flows))
    }

    /// The amount that every endpoint sends to its partner in `matching`, which is 1. With
    /// `elephants`, a fraction of the flows and a seed, only that fraction (rounded to a whole
    /// number of flows, which are drawn) sends 1, and the others send 1/10.
    pub fn amounts(matching: &EndpointMatching, elephants: Option<(f64, u64)>) -> Vec<f64> {
        let count = matching.pairs.len();
        let mut amount = vec![1.0; count];
        if let Some((fraction, seed)) = elephants {
            let mut order: Vec<usize> = (0..count).collect();
            RandomStream::new(seed, "elephants", 0).shuffle(&mut order);
            let large = (fraction * count as f64).round() as usize;
            for &i in &order[large.min(count)..] {
                amount[i] = 0.1;
            }
        }
        amount
    }

    /// The demand between switches: for each source switch, its destinations and amounts, sorted.
    /// Traffic that stays on its switch is left out. O(flows).
    ///
    /// # Errors
    /// When nothing leaves its switch, or there is no path to a destination.
    pub fn by_switch(&self, t: &Topology) -> Result<Vec<SourceDemand>, Refusal> {
        let mut all: Vec<SourceDemand> = Vec::new();
        for of_source in self.flows.chunk_by(|a, b| a.0 == b.0) {
            let from = of_source[0].0;
            let mut to: BTreeMap<u32, f64> = BTreeMap::new();
            for &(_, terminal, amount) in of_source {
                let switch = t.terminals()[terminal.ix()].plug.switch;
                if switch != from {
                    *to.entry(switch.0).or_insert(0.0) += amount;
                }
            }
            if to.is_empty() {
                continue;
            }
            let distance = t.graph().distances_from(from.ix());
            if let Some(&cut) = to.keys().find(|&&v| distance[v as usize] == u32::MAX) {
                let name = |s: usize| &t.switches()[s].name;
                let why =
                    format!("there is no path from {} to {}", name(from.ix()), name(cut as usize));
                return Err(Refusal::new("traffic", why, "demands between connected switches"));
            }
            all.push((from.0, to.into_iter().collect()));
        }
        if all.is_empty() {
            let help = "demands between endpoints of different switches";
            return Err(Refusal::new("traffic", "nothing leaves its switch", help));
        }
        Ok(all)
    }

    /// A demand of `flows`: sorted, with the amounts of a pair added up and empty flows removed.
    fn merged(mut flows: Vec<(SwitchId, TerminalId, f64)>) -> Self {
        flows.retain(|f| f.2 > 0.0);
        flows.sort_by_key(|f| (f.0, f.1)); // stable: sums run in the order given
        flows.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        Self { flows }
    }
}

/// The smallest nonzero amount of traffic between two ends, and the largest.
const LEAST_AMOUNT: f64 = 1e-6;
const MOST_AMOUNT: f64 = 1e6;

/// Capacity of every channel: the rate of its link over that of the fastest endpoint cable, so 1 is
/// what one endpoint can fill; 0 where the link is down. Link l has channels 2 l and 2 l + 1, one
/// for each direction.
pub fn capacities(t: &Topology) -> Vec<f64> {
    let injection = t.terminals().iter().map(|x| x.cable.rate_gbps()).fold(0.0, f64::max);
    let of = |(i, l): (usize, &fabric::network::Link)| {
        let up = t.link_is_up(base::LinkId::from(i));
        [if up { l.cable.rate_gbps() / injection } else { 0.0 }; 2]
    };
    t.links().iter().enumerate().flat_map(of).collect()
}

/// The longest matching: a permutation of the working endpoints whose sum of distances [hops] is
/// largest. The distance of two endpoints is the mean over the pairs of their terminals that share
/// a plane.
///
/// Endpoints of one place are interchangeable. So they are assigned in blocks, of the largest size
/// that divides all places evenly. Up to 2048 blocks are assigned exactly, O(blocks^3); more are
/// assigned one by one to the farthest place that has room, O(blocks * places).
///
/// # Errors
/// When there are fewer than two working endpoints, more than 4096 places, or endpoints without a
/// path or a plane between them, or `watch` says stop.
pub fn longest_matching(
    t: &Topology,
    watch: &dyn ProgressWatch,
) -> Result<EndpointMatching, ComputationError> {
    let places = EndpointPlaces::new(t)?;
    let count = places.members.len();
    if count > MOST_PLACES {
        let help = format!("at most {MOST_PLACES}");
        return Err(
            Refusal::new("traffic", format!("{count} switches with endpoints"), help).into()
        );
    }
    let far = places.distances(t)?;
    let block = places.members.iter().map(Vec::len).fold(0, gcd);
    let of_block: Vec<usize> = places
        .members
        .iter()
        .enumerate()
        .flat_map(|(i, m)| std::iter::repeat_n(i, m.len() / block))
        .collect();
    let exact = of_block.len() <= MOST_EXACT;
    let weight = |a: usize, b: usize| far[of_block[a] * count + of_block[b]];
    let partner = if exact {
        assign(of_block.len(), weight, watch)?
    } else {
        assign_greedily(of_block.len(), weight, watch)?
    };
    let inside = |i: usize| {
        let first = of_block.partition_point(|&p| p < of_block[i]);
        &places.members[of_block[i]][(i - first) * block..(i - first + 1) * block]
    };
    let both = |(i, &j): (usize, &usize)| {
        inside(i).iter().copied().zip(inside(j).iter().copied()).collect::<Vec<_>>()
    };
    Ok(EndpointMatching { pairs: partner.iter().enumerate().flat_map(both).collect(), exact })
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The places of endpoints: endpoints in the same place are plugged into the same switches.
struct EndpointPlaces {
    /// The switches of each place, one entry for each terminal.
    switches: Vec<Vec<SwitchId>>,
    members: Vec<Vec<EndpointId>>,
}

impl EndpointPlaces {
    fn new(t: &Topology) -> Result<Self, Refusal> {
        let mut of: Vec<Vec<SwitchId>> = vec![Vec::new(); t.endpoints().len()];
        for i in (0..t.terminals().len()).map(TerminalId::from).filter(|&i| t.terminal_is_up(i)) {
            let terminal = &t.terminals()[i.ix()];
            of[terminal.endpoint.ix()].push(terminal.plug.switch);
        }
        let mut places: BTreeMap<Vec<SwitchId>, Vec<EndpointId>> = BTreeMap::new();
        for (e, mut at) in of.into_iter().enumerate().filter(|(_, at)| !at.is_empty()) {
            at.sort_unstable();
            places.entry(at).or_default().push(EndpointId::from(e));
        }
        if places.values().map(Vec::len).sum::<usize>() < 2 {
            let why = "the network has fewer than two working endpoints";
            return Err(Refusal::new("traffic", why, "give its switches endpoints"));
        }
        let (switches, members) = places.into_iter().unzip();
        Ok(Self { switches, members })
    }

    /// The mean distance between any two places, in hops.
    fn distances(&self, t: &Topology) -> Result<Vec<f64>, Refusal> {
        let count = self.switches.len();
        let plane = |s: SwitchId| t.switches()[s.ix()].plane;
        let mut far = vec![0.0; count * count];
        for (a, row) in self.switches.iter().zip(far.chunks_exact_mut(count)) {
            let from: Vec<_> = a.iter().map(|&s| (s, t.graph().distances_from(s.ix()))).collect();
            for (b, mean) in self.switches.iter().zip(row) {
                let (mut sum, mut routes) = (0.0, 0.0);
                for (s, distance) in &from {
                    for &to in b.iter().filter(|&&to| plane(to) == plane(*s)) {
                        if distance[to.ix()] == u32::MAX {
                            let name = |s: SwitchId| &t.switches()[s.ix()].name;
                            let why = format!("no path from {} to {}", name(*s), name(to));
                            return Err(Refusal::new("traffic", why, "a connected network"));
                        }
                        sum += f64::from(distance[to.ix()]);
                        routes += 1.0;
                    }
                }
                // endpoints without a common plane are refused later, if they are paired
                *mean = if routes > 0.0 { sum / routes } else { 0.0 };
            }
        }
        Ok(far)
    }
}

/// The working terminals of an endpoint.
fn rails(t: &Topology, endpoint: EndpointId) -> Vec<TerminalId> {
    let begin = t.terminals().partition_point(|x| x.endpoint < endpoint);
    let own = t.terminals()[begin..].iter().take_while(|x| x.endpoint == endpoint).count();
    (begin..begin + own).map(TerminalId::from).filter(|&i| t.terminal_is_up(i)).collect()
}

fn party(t: &Topology, party: DemandEnd) -> Result<Vec<TerminalId>, Refusal> {
    let (found, what) = match party {
        DemandEnd::Endpoint(e) if e.ix() < t.endpoints().len() => {
            (rails(t, e), format!("endpoint {}", t.endpoints()[e.ix()].name))
        }
        DemandEnd::Switch(s) if s.ix() < t.switches().len() => {
            let on = t.terminals_on(s).iter().copied();
            let up = on.filter(|&i| t.terminal_is_up(i)).collect();
            (up, format!("switch {}", t.switches()[s.ix()].name))
        }
        _ => {
            let (e, s) = (t.endpoints().len(), t.switches().len());
            let help = format!("endpoints below {e}, switches below {s}");
            return Err(Refusal::new("traffic", format!("there is no {party:?}"), help));
        }
    };
    if found.is_empty() {
        let why = format!("{what} has no working terminal");
        return Err(Refusal::new("traffic", why, "parties that can send and receive"));
    }
    Ok(found)
}

/// Adds `amount` from the terminals `from` to the terminals `to`, evenly over the pairs that share
/// a plane.
fn spread(
    t: &Topology,
    from: &[TerminalId],
    to: &[TerminalId],
    amount: f64,
    flows: &mut Vec<(SwitchId, TerminalId, f64)>,
) -> Result<(), Refusal> {
    let begin = flows.len();
    for &a in from {
        let source = t.terminals()[a.ix()].plug.switch;
        let same = to.iter().filter(|&&b| t.plane_of(a) == t.plane_of(b));
        flows.extend(same.map(|&b| (source, b, 0.0)));
    }
    let pairs = flows.len() - begin;
    if pairs == 0 {
        let name = |i: TerminalId| &t.endpoints()[t.terminals()[i.ix()].endpoint.ix()].name;
        let why = format!("{} and {} share no plane", name(from[0]), name(to[0]));
        return Err(Refusal::new("traffic", why, "every pair needs a common plane"));
    }
    for flow in &mut flows[begin..] {
        flow.2 = amount / pairs as f64;
    }
    Ok(())
}
