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

use super::sssp::{minimal_switch_routes, ports_of_channels};
use super::trees::{MinimalTree, Ranks};
use super::{Engine, Promise};
use base::Stop;
use base::{ChannelId, LinkId, Refusal, SwitchId, TerminalId, Watch};
use fabric::network::Topology;
use fabric::tables::{Laying, NO_ROUTE, Routing};
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
    const BY_ROWS: bool = true;

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }

    /// O(layers * terminals * arcs). Layer i routes to terminal j as the first does to j + i.
    fn route(&self, on: &Arc<Topology>, layers: u32, watch: &dyn Watch) -> Result<Routing, Stop> {
        let climb = Climb::new(on)?;
        let switches = on.switches().len();
        let mut laying = Laying::new(on, layers);
        let mut ways = Ways::new(on, &climb);
        let mut tree = MinimalTree::default();
        let mut first_of_plane = vec![0_u64; usize::from(on.planes())];
        let (nothing, mut open, mut own) = (vec![NO_ROUTE; switches], Vec::new(), Vec::new());
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
            let works = |(_, t): &(u64, &TerminalId)| on.terminal_is_up(**t);
            let run: Vec<(u64, usize)> =
                numbers.zip(attached).filter(works).map(|(n, t)| (n, t.ix())).collect();
            open.clear();
            open.push(home.0);
            open.extend(&tree.order);
            own.clear();
            own.resize(layers as usize * run.len() * open.len(), NO_ROUTE);
            ways.begin(&tree);
            for (i, &(number, t)) in run.iter().enumerate() {
                for layer in 0..layers as usize {
                    let at = (layer * run.len() + i) * open.len();
                    own[at] = on.terminals()[t].plug.port;
                    let ports = &mut own[at + 1..at + open.len()];
                    ways.route(&tree, number + layer as u64, ports);
                }
            }
            let terminals: Vec<usize> = run.iter().map(|(_, t)| *t).collect();
            for (layer, own) in own.chunks(run.len().max(1) * open.len()).enumerate() {
                laying.put(layer, home, &terminals, &nothing, (&open, own));
            }
        }
        Ok(Routing::laid(on.clone(), layers, laying, minimal_switch_routes(on, watch)?))
    }
}

/// A tree by levels, and the up-links of every switch, failed ones included, as they are counted.
struct Climb {
    ranks: Ranks,
    /// Up-links by switch: the first link to every parent, then the second to every parent, ...
    up: Vec<Vec<ChannelId>>,
    /// By switch, its level; one above the top for those that no terminal is connected to.
    level: Vec<usize>,
    /// What the number of a terminal is divided by, by level.
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
        let level: Vec<usize> = level.iter().map(|l| *l.min(&(top + 1)) as usize).collect();
        let mut divisor = vec![1_u64];
        for (l, parents) in most_parents.iter().enumerate() {
            divisor.push(divisor[l].saturating_mul(*parents));
        }
        let rank = level.iter().map(|l| top.saturating_sub(*l as u32)).collect();
        Ok(Self { ranks: Ranks::new(on, rank), up, level, divisor })
    }
}

/// The ways to one terminal after the other. What is as for the terminal before is not looked at
/// again: the numbers of a switch's terminals follow one another, and divided by what higher levels
/// divide by most of them are the same.
struct Ways<'a> {
    climb: &'a Climb,
    /// The switches of each level.
    of_level: Vec<Vec<u32>>,
    /// The number at hand, divided as each level does.
    quotient: Vec<u64>,
    /// The up-link of each switch for that number.
    named: Vec<Option<ChannelId>>,
    /// By channel, the addresses sent through it so far, and its port.
    assigned: Vec<u32>,
    port: Vec<u16>,
    /// By place in the order of the tree: the channel taken, and a bit for each level whose
    /// up-links decide that; all of them where it was the one with the fewest addresses.
    taken: Vec<(ChannelId, u64)>,
}

/// The bit of a level.
fn bit(level: usize) -> u64 {
    1 << level.min(63)
}

impl<'a> Ways<'a> {
    fn new(on: &Topology, climb: &'a Climb) -> Self {
        let mut of_level = vec![Vec::new(); climb.divisor.len()];
        for (v, &l) in (0..).zip(&climb.level) {
            of_level[l].push(v);
        }
        Self {
            climb,
            quotient: vec![u64::MAX; of_level.len()],
            of_level,
            named: vec![None; climb.level.len()],
            assigned: vec![0; on.links().len() * 2],
            port: ports_of_channels(on),
            taken: Vec::new(),
        }
    }

    /// Begins the terminals of another switch, with its tree.
    fn begin(&mut self, tree: &MinimalTree) {
        self.taken.clear();
        self.taken.resize(tree.order.len(), (ChannelId(0), u64::MAX));
    }

    /// The up-links that terminal `number` is sent by; a bit for each level where some are others
    /// than those of the number before.
    fn name(&mut self, number: u64) -> u64 {
        let mut changed = 0;
        for (l, switches) in self.of_level.iter().enumerate() {
            let quotient = number / self.climb.divisor[l];
            if std::mem::replace(&mut self.quotient[l], quotient) == quotient {
                continue;
            }
            changed |= bit(l);
            for &v in switches {
                let up = &self.climb.up[v as usize];
                let place = quotient.checked_rem(up.len() as u64);
                self.named[v as usize] = place.map(|place| up[place as usize]);
            }
        }
        changed
    }

    /// The port of every switch of the tree, in its order, towards the terminal called `number`.
    fn route(&mut self, tree: &MinimalTree, number: u64, ports: &mut [u16]) {
        let changed = self.name(number);
        for (i, (&v, port)) in tree.order.iter().zip(ports).enumerate() {
            let (mut channel, decide) = self.taken[i];
            if decide == u64::MAX || decide & changed != 0 {
                self.taken[i] = self.choose(v, tree.hops(i));
                channel = self.taken[i].0;
            }
            self.assigned[channel.0 as usize] += 1;
            *port = self.port[channel.0 as usize];
        }
    }

    /// Which of the hops of switch `v` is taken, and the levels that decide it.
    fn choose(&self, v: u32, hops: &[(ChannelId, u32)]) -> (ChannelId, u64) {
        let level = &self.climb.level;
        let mut decide = 0;
        for &(c, to) in hops {
            // down by the link that the lower switch itself would take upwards
            let up = self.climb.ranks.is_up(v, to);
            let (lower, own) = if up { (v, c) } else { (to, c.reverse()) };
            if self.named[lower as usize] == Some(own) {
                return (c, decide | bit(level[lower as usize]));
            }
            decide |= bit(level[lower as usize]);
        }
        let fewest = hops.iter().min_by_key(|(c, _)| self.assigned[c.0 as usize]);
        (fewest.expect("a switch in the order has a hop").0, u64::MAX)
    }
}

/// The level of every switch: links to the nearest leaf, as cabled.
fn levels(on: &Topology) -> Result<Vec<u32>, Refusal> {
    let help = "for trees: every cable joins a level to the next; try up_down";
    if on.terminals().is_empty() {
        return Err(Refusal::new("", "no switch has an endpoint, so none is a leaf", help));
    }
    fabric::tree::levels_of(on).map(|levels| levels.of).map_err(|(a, b, level)| {
        let (a, b) = (&on.switches()[a].name, &on.switches()[b].name);
        let why = format!("not a tree: {a} and {b} are linked, and both on level {level}");
        Refusal::new("", why, help)
    })
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
