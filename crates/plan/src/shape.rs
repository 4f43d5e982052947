//! Switches recognised by their cables alone: the plan's graph with its port numbers laid over the
//! found one.
//!
//! With ports at both ends of every cable a connected plan is all but rigid: one switch in its
//! place says where the others stand. So every planned switch is tried as the place of a found one,
//! and the rest grows from there, the switch that most of its cables agree on first.

use super::devices::DevicePairing;
use super::places::{PlacementCertainty, PlannedAndFoundCables};
use base::{SwitchId, TerminalId};
use fabric::network::{PortPeer, Topology};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// Number of found switches of a component that are tried as the start of a growth.
const ROOTS: usize = 4;
/// Number of disagreeing cable ends by which a growth may exceed twice those of the best so far.
const PATIENCE: u64 = 60;

/// The best laying of a plan over a found network.
pub(super) struct BestPlanPlacement {
    /// Which found switch stands in the place of which planned one.
    pub(super) pairs: DevicePairing,
    /// How many layings are equally good, as far as the search went.
    pub(super) equally_good: u64,
}

/// How well a laying fits: cables, then endpoint ports, then switches that stand in their own
/// places and endpoints that are in theirs, as far as these are known.
type LayingMerit = (u64, u64, u64);

/// Switches and endpoints that are known by GUID or name.
pub(super) type KnownDevices<'a> = (&'a DevicePairing, &'a DevicePairing);

/// A search for the best laying.
struct PlanPlacementSearch<'a> {
    wiring: &'a PlannedAndFoundCables<'a>,
    /// Port, endpoint and rail of every working terminal, by found switch.
    hosts: Vec<Vec<(u16, u32, u16)>>,
    plan: &'a Topology,
    known: Option<KnownDevices<'a>>,
    /// Most cables of a switch.
    degree: u64,
}

/// The laying of `plan` over the found network in which most cables agree, one component after the
/// other from the largest down. Among equals the one in which most of what is `known` is in its
/// place, then the first in lexicographic order. Isolated switches stay unknown.
/// O(roots * planned switches * cables) at worst, as a rule O(planned switches * radix + cables).
pub(super) fn by_structure(
    plan: &Topology,
    found: &Topology,
    wiring: &PlannedAndFoundCables<'_>,
    known: Option<KnownDevices<'_>>,
) -> BestPlanPlacement {
    let mut hosts = vec![Vec::new(); found.switches().len()];
    for (i, t) in found.terminals().iter().enumerate() {
        if found.terminal_is_up(TerminalId::from(i)) {
            hosts[t.plug.switch.ix()].push((t.plug.port, t.endpoint.0, t.rail));
        }
    }
    let degree = wiring.rows.iter().map(Vec::len).max().unwrap_or(0) as u64;
    let search = PlanPlacementSearch { wiring, hosts, plan, known, degree };
    let mut shape = BestPlanPlacement {
        pairs: DevicePairing::new(plan.switches().len(), found.switches().len()),
        equally_good: 1,
    };
    for part in parts(wiring) {
        let (best, equal) = search.lay(&part, &shape.pairs);
        if let Some(best) = best {
            shape.pairs = best;
            shape.equally_good = shape.equally_good.saturating_mul(equal);
        }
    }
    shape
}

/// The connected components that have a cable, the largest first.
fn parts(wiring: &PlannedAndFoundCables<'_>) -> Vec<Vec<u32>> {
    let mut seen = vec![false; wiring.rows.len()];
    let mut parts = Vec::new();
    for start in 0..wiring.rows.len() {
        if wiring.rows[start].is_empty() || std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut part = vec![start as u32];
        let mut next = 0;
        while let Some(&f) = part.get(next) {
            next += 1;
            for (_, far) in &wiring.rows[f as usize] {
                if !std::mem::replace(&mut seen[far.switch.ix()], true) {
                    part.push(far.switch.0);
                }
            }
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts.sort_by_key(|part| Reverse(part.len()));
    parts
}

impl PlanPlacementSearch<'_> {
    /// The best laying that adds `part` to `base`, and how many are as good.
    fn lay(&self, part: &[u32], base: &DevicePairing) -> (Option<DevicePairing>, u64) {
        let cables = part.iter().map(|f| self.wiring.rows[*f as usize].len() as u64).sum::<u64>();
        let mut best: Option<(LayingMerit, DevicePairing)> = None;
        let mut equal: BTreeSet<Vec<Option<u32>>> = BTreeSet::new();
        let mut fewest = u64::MAX;
        for k in 0..ROOTS.min(part.len()) {
            let root = part[k * part.len() / ROOTS.min(part.len())];
            for place in 0..base.found.len() as u32 {
                if base.found[place as usize].is_some() {
                    continue;
                }
                let limit = fewest.saturating_mul(2).saturating_add(4 * self.degree + PATIENCE);
                let Some((mut pairs, odd)) = self.grow(root, place, base, limit) else { continue };
                if odd > 0 {
                    self.wiring.settle(&mut pairs, PlacementCertainty::More);
                }
                fewest = fewest.min(odd);
                let merit = self.merit(part, &pairs);
                let order =
                    best.as_ref().map(|(m, p)| (merit.cmp(m), pairs.planned.cmp(&p.planned)));
                let better = order.is_none_or(|o| o.0.is_gt() || o.0.is_eq() && o.1.is_lt());
                if best.as_ref().is_none_or(|(m, _)| *m <= merit) {
                    if best.as_ref().is_some_and(|(m, _)| *m < merit) {
                        equal.clear();
                    }
                    equal.insert(pairs.planned.clone());
                }
                if better {
                    best = Some((merit, pairs));
                }
            }
            // all cables agree: another root would find the same
            if best.as_ref().is_some_and(|(m, _)| 2 * m.0 == cables) {
                break;
            }
        }
        (best.map(|(_, pairs)| pairs), equal.len() as u64)
    }

    fn merit(&self, part: &[u32], at: &DevicePairing) -> LayingMerit {
        let (mut cables, mut hosts, mut own) = (0, 0, 0);
        for &f in part {
            let Some(place) = at.planned[f as usize] else { continue };
            let votes = self.wiring.votes(at, f);
            cables += votes.iter().find(|(p, _)| *p == place).map_or(0, |(_, n)| u64::from(*n));
            own += u64::from(self.known.is_some_and(|k| k.0.planned[f as usize] == Some(place)));
            for &(port, e, rail) in &self.hosts[f as usize] {
                if let PortPeer::Terminal(t) = self.plan.peer(SwitchId(place), port) {
                    let t = &self.plan.terminals()[t.ix()];
                    let who = self.known.and_then(|k| k.1.planned[e as usize]);
                    hosts += 1;
                    own += u64::from(who == Some(t.endpoint.0) && t.rail == rail);
                }
            }
        }
        (cables / 2, hosts, own)
    }

    /// The laying that follows from `root` in `place`, and the number of cable ends that disagree;
    /// `None` as soon as these are more than `limit`.
    fn grow(
        &self,
        root: u32,
        place: u32,
        base: &DevicePairing,
        limit: u64,
    ) -> Option<(DevicePairing, u64)> {
        let mut at = base.clone();
        let mut votes: HashMap<(u32, u32), u32> = HashMap::new();
        let mut next = BinaryHeap::from([(0_u32, Reverse(root), Reverse(place))]);
        let mut odd = 0;
        while let Some((_, Reverse(f), Reverse(place))) = next.pop() {
            if at.planned[f as usize].is_some() || at.found[place as usize].is_some() {
                continue;
            }
            at.set(place, f);
            for &(port, far) in &self.wiring.rows[f as usize] {
                let end = self.wiring.planned(place, port).filter(|end| end.port == far.port);
                let now = at.planned[far.switch.ix()];
                match end {
                    Some(end) if now == Some(end.switch.0) => {}
                    Some(end) if now.is_none() => {
                        let n = votes.entry((far.switch.0, end.switch.0)).or_insert(0);
                        *n += 1;
                        next.push((*n, Reverse(far.switch.0), Reverse(end.switch.0)));
                    }
                    _ => odd += 1,
                }
            }
            if odd > limit {
                return None;
            }
        }
        Some((at, odd))
    }
}
