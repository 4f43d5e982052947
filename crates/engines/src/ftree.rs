//! Fat-tree routing: up by the digits of the destination's number, then down.
//!
//! Source: Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real
//! life fat trees", CCIT report 776, Technion 2010: towards terminal j a switch of
//! level l (leaves 0) with w(l) parents and u up-links takes up-link number
//! floor(j / (w(0) ... w(l-1))) mod u, counted parent by parent and then link by link.
//!
//! Levels are distances from the nearest switch with terminals, so that trees read from a fabric
//! can be routed too. Ways go up and then down, which needs one lane; where the cable that the
//! formula names is down or leads astray, the one with the fewest addresses so far is taken.

use super::sssp::minimal_switch_routes;
use super::trees::{MinimalTree, Ranks};
use super::{Engine, Promise};
use base::Stop;
use base::{ChannelId, LinkId, Refusal, SwitchId, TerminalId, Watch};
use fabric::network::Topology;
use fabric::tables::{NO_ROUTE, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// D-mod-k on fat trees: shortest ways up and down, without congestion under shifts. One lane.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ftree {}

impl Engine for Ftree {
    const NAME: &'static str = "ftree";
    const PROMISE: Promise = Promise { minimal: true, deadlock_free: true };

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }

    /// O(layers * terminals * arcs). Layer i routes to terminal j as the first does to j + i.
    fn route(&self, on: &Arc<Topology>, layers: u32, watch: &dyn Watch) -> Result<Routing, Stop> {
        let climb = Climb::new(on)?;
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let mut next = vec![NO_ROUTE; layers as usize * terminals * switches];
        let mut assigned = vec![0_u32; on.links().len() * 2];
        let mut tree = MinimalTree::default();
        let mut first_of_plane = vec![0_u64; usize::from(on.planes())];
        for home in (0..switches).map(SwitchId::from) {
            let attached = on.terminals_on(home);
            let first = &mut first_of_plane[usize::from(on.switches()[home.ix()].plane)];
            let numbers = *first..;
            *first += attached.len() as u64;
            if !on.switches()[home.ix()].up || attached.is_empty() {
                continue;
            }
            watch.tick("routing", home.ix() as u64, switches as u64)?;
            let legal = tree.rebuild_up_down(on, home, &climb.ranks);
            check_reached(on, home, &tree.order[legal..])?;
            for (number, &t) in numbers.zip(attached).filter(|(_, t)| on.terminal_is_up(**t)) {
                for layer in 0..layers as usize {
                    let row = (layer * terminals + t.ix()) * switches;
                    let entries = &mut next[row..row + switches];
                    entries[home.ix()] = on.terminals()[t.ix()].plug.port;
                    climb.route(on, &tree, number + layer as u64, entries, &mut assigned);
                }
            }
        }
        Ok(Routing::new(on.clone(), layers, next, minimal_switch_routes(on, watch)?))
    }
}

/// A tree by levels, and the up-links of every switch, failed ones included, as they are counted.
struct Climb {
    ranks: Ranks,
    /// Up-links by switch: the first link to every parent, then the second to every parent, ...
    up: Vec<Vec<ChannelId>>,
    /// What the number of a terminal is divided by, by switch.
    divisor: Vec<u64>,
}

impl Climb {
    fn new(on: &Topology) -> Result<Self, Refusal> {
        let level = levels(on)?;
        let top = level.iter().copied().filter(|l| *l != u32::MAX).max().unwrap_or(0);
        let mut up: Vec<Vec<ChannelId>> = vec![Vec::new(); level.len()];
        for l in (0..on.links().len()).map(LinkId::from) {
            for c in [l.forth(), l.back()] {
                let (from, to) = (on.tail(c).switch.ix(), on.head(c).switch.ix());
                if level[to] > level[from] && level[to] != u32::MAX {
                    up[from].push(c);
                }
            }
        }
        let mut most_parents = vec![1_u64; top as usize + 1];
        for (v, links) in up.iter_mut().enumerate() {
            links.sort_by_key(|&c| on.tail(c).port);
            let parent = |c: ChannelId| on.head(c).switch;
            let turn =
                |i: usize| links[..i].iter().filter(|c| parent(**c) == parent(links[i])).count();
            let mut turns: Vec<(usize, ChannelId)> =
                (0..links.len()).map(|i| (turn(i), links[i])).collect();
            turns.sort_by_key(|(turn, _)| *turn);
            let parents = turns.iter().filter(|(turn, _)| *turn == 0).count() as u64;
            if let Some(most) = most_parents.get_mut(level[v] as usize) {
                *most = parents.max(*most);
            }
            *links = turns.into_iter().map(|(_, c)| c).collect();
        }
        let below = |l: &u32| most_parents.iter().take(*l as usize);
        let product = |l: &u32| below(l).fold(1_u64, |all, w| all.saturating_mul(*w));
        let divisor = level.iter().map(product).collect();
        let rank = level.iter().map(|l| top.saturating_sub(*l)).collect();
        Ok(Self { ranks: Ranks::new(on, rank), up, divisor })
    }

    /// The up-link that terminal `number` is sent by from switch `v`.
    fn named(&self, v: u32, number: u64) -> Option<ChannelId> {
        let up = &self.up[v as usize];
        let place = (number / self.divisor[v as usize]).checked_rem(up.len() as u64)?;
        Some(up[place as usize])
    }

    /// Writes the port of every switch of the tree towards the terminal called `number`.
    fn route(
        &self,
        on: &Topology,
        tree: &MinimalTree,
        number: u64,
        entries: &mut [u16],
        assigned: &mut [u32],
    ) {
        let switches = 0..entries.len() as u32;
        let named: Vec<Option<ChannelId>> = switches.map(|v| self.named(v, number)).collect();
        for (i, &v) in tree.order.iter().enumerate() {
            let hops = tree.hops(i);
            // down by the link that the lower switch itself would take upwards
            let own = |&(c, to): &(ChannelId, u32)| {
                if self.ranks.is_up(v, to) {
                    named[v as usize] == Some(c)
                } else {
                    named[to as usize] == Some(c.reverse())
                }
            };
            let named = hops.iter().copied().find(own);
            let fewest = || hops.iter().copied().min_by_key(|(c, _)| assigned[c.0 as usize]);
            let (channel, _) = named.or_else(fewest).expect("a switch in the order has a hop");
            assigned[channel.0 as usize] += 1;
            entries[v as usize] = on.tail(channel).port;
        }
    }
}

/// The level of every switch: links to the nearest one with terminals, as cabled.
fn levels(on: &Topology) -> Result<Vec<u32>, Refusal> {
    let leaves: Vec<u32> = (0..on.switches().len() as u32)
        .filter(|&s| !on.terminals_on(SwitchId(s)).is_empty())
        .collect();
    let help = "for trees: every cable joins a level to the next; try up_down";
    if leaves.is_empty() {
        return Err(Refusal::new("", "no switch has an endpoint, so none is a leaf", help));
    }
    let ends = on.links().iter().map(|l| Some((l.a.switch, l.b.switch)));
    let level = base::Graph::new(on.switches().len(), ends).distances_from_any(&leaves);
    for l in on.links() {
        let (a, b) = (l.a.switch.ix(), l.b.switch.ix());
        if level[a] == level[b] && level[a] != u32::MAX {
            let (a, b, level) = (&on.switches()[a].name, &on.switches()[b].name, level[a]);
            let why = format!("not a tree: {a} and {b} are linked, and both on level {level}");
            return Err(Refusal::new("", why, help));
        }
    }
    Ok(level)
}

/// Refuses a tree in which one of `cut`, the switches without a way up and down, has terminals.
fn check_reached(on: &Topology, home: SwitchId, cut: &[u32]) -> Result<(), Refusal> {
    let sends = |s: &&u32| {
        let attached: &[TerminalId] = on.terminals_on(SwitchId(**s));
        attached.iter().any(|&t| on.terminal_is_up(t))
    };
    let Some(&from) = cut.iter().find(sends) else { return Ok(()) };
    let (from, to) = (&on.switches()[from as usize].name, &on.switches()[home.ix()].name);
    let why = format!("no way up and then down from {from} to {to}");
    Err(Refusal::new("", why, "mend the tree, or use up_down"))
}
