//! Fat-tree routing: up by the digits of the destination's number, then down.
//!
//! Source: Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real
//! life fat trees", CCIT report 776, Technion 2010: towards terminal j a switch of level l (leaves
//! 0) with w(l) parents and u up-links takes up-link number floor(j / (w(0) ... w(l-1))) mod u.
//! Up-links are counted parent by parent and then link by link.
//!
//! Levels are distances from the nearest switch with terminals, so that trees read from a fabric
//! can be routed too. Routes go up and then down, which needs one lane. Where the up-link that the
//! formula names has failed or leads to a switch from which the destination is not reached, the one
//! with the fewest addresses so far is taken.

use super::sssp::{minimal_switch_routes, ports_of_channels};
use super::trees::{NextHopTree, UpDownRanks};
use super::{Engine, EnginePromise};
use base::ComputationError;
use base::{ChannelId, LinkId, ProgressWatch, Refusal, SwitchId, TerminalId};
use fabric::network::Topology;
use fabric::tables::{ForwardingTableDraft, NO_ROUTE, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// D-mod-k on fat trees: shortest routes up and down, without congestion under shifts. One lane.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ftree {}

impl Engine for Ftree {
    const NAME: &'static str = "ftree";
    const PROMISE: EnginePromise = EnginePromise { minimal: true, deadlock_free: true };
    const BY_ROWS: bool = true;

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }

    /// O(layers * terminals * arcs). Layer i routes to terminal j as the first layer does to
    /// terminal j + i.
    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let up_links = UpLinks::new(on)?;
        let switches = on.switches().len();
        let mut laying = ForwardingTableDraft::new(on, layers);
        let mut chooser = PortChooser::new(on, &up_links);
        let mut tree = NextHopTree::default();
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
            let legal = tree.rebuild_up_down(on, home, &up_links.ranks);
            check_reached(on, home, &tree.order[legal..])?;
            let works = |(_, t): &(u64, &TerminalId)| on.terminal_is_up(**t);
            let run: Vec<(u64, usize)> =
                numbers.zip(attached).filter(works).map(|(n, t)| (n, t.ix())).collect();
            open.clear();
            open.push(home.0);
            open.extend(&tree.order);
            own.clear();
            own.resize(layers as usize * run.len() * open.len(), NO_ROUTE);
            chooser.begin(&tree);
            for (i, &(number, t)) in run.iter().enumerate() {
                for layer in 0..layers as usize {
                    let at = (layer * run.len() + i) * open.len();
                    own[at] = on.terminals()[t].plug.port;
                    let ports = &mut own[at + 1..at + open.len()];
                    chooser.route(&tree, number + layer as u64, ports);
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

/// The up-links of every switch of a tree in the order of the D-mod-k formula, failed ones
/// included, and the level of every switch.
struct UpLinks {
    ranks: UpDownRanks,
    /// Up-links by switch: the first link to every parent, then the second link to every parent,
    /// and so on.
    up: Vec<Vec<ChannelId>>,
    /// The level of each switch; one above the top for switches that no terminal is connected to.
    level: Vec<usize>,
    /// The divisor of terminal numbers at each level.
    divisor: Vec<u64>,
}

impl UpLinks {
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
        Ok(Self { ranks: UpDownRanks::new(on, rank), up, level, divisor })
    }
}

/// Chooses the ports towards one terminal after the other. It reuses choices of the terminal
/// before: numbers of a switch's terminals follow one another, so that the quotients by the
/// divisors of higher levels are mostly the same.
struct PortChooser<'a> {
    up_links: &'a UpLinks,
    /// The switches of each level.
    of_level: Vec<Vec<u32>>,
    /// The current terminal number divided by the divisor of each level.
    quotient: Vec<u64>,
    /// The up-link of each switch that the formula names for the current terminal number.
    named: Vec<Option<ChannelId>>,
    /// By channel: the number of addresses whose routes use it so far, and its port number.
    assigned: Vec<u32>,
    port: Vec<u16>,
    /// For each switch in the order of the tree: the channel taken, and a bit for each level whose
    /// up-links decide the choice. All bits are set where the channel with the fewest addresses was
    /// taken.
    taken: Vec<(ChannelId, u64)>,
}

/// The bit of a level in a mask of levels.
fn bit(level: usize) -> u64 {
    1 << level.min(63)
}

impl<'a> PortChooser<'a> {
    fn new(on: &Topology, up_links: &'a UpLinks) -> Self {
        let mut of_level = vec![Vec::new(); up_links.divisor.len()];
        for (v, &l) in (0..).zip(&up_links.level) {
            of_level[l].push(v);
        }
        Self {
            up_links,
            quotient: vec![u64::MAX; of_level.len()],
            of_level,
            named: vec![None; up_links.level.len()],
            assigned: vec![0; on.links().len() * 2],
            port: ports_of_channels(on),
            taken: Vec::new(),
        }
    }

    /// Starts with the terminals of another switch, whose tree this is.
    fn begin(&mut self, tree: &NextHopTree) {
        self.taken.clear();
        self.taken.resize(tree.order.len(), (ChannelId(0), u64::MAX));
    }

    /// Finds the up-links that the formula names for terminal `number`. Returns a mask with a bit
    /// for each level at which some of them differ from those of the previous number.
    fn name(&mut self, number: u64) -> u64 {
        let mut changed = 0;
        for (l, switches) in self.of_level.iter().enumerate() {
            let quotient = number / self.up_links.divisor[l];
            if std::mem::replace(&mut self.quotient[l], quotient) == quotient {
                continue;
            }
            changed |= bit(l);
            for &v in switches {
                let up = &self.up_links.up[v as usize];
                let place = quotient.checked_rem(up.len() as u64);
                self.named[v as usize] = place.map(|place| up[place as usize]);
            }
        }
        changed
    }

    /// The port of every switch of the tree, in its order, towards the terminal called `number`.
    fn route(&mut self, tree: &NextHopTree, number: u64, ports: &mut [u16]) {
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

    /// The hop that switch `v` takes, and a mask of the levels whose up-links decide it.
    fn choose(&self, v: u32, hops: &[(ChannelId, u32)]) -> (ChannelId, u64) {
        let level = &self.up_links.level;
        let mut decide = 0;
        for &(c, to) in hops {
            // a route goes down over the link that the formula names at the lower switch for its
            // routes up
            let up = self.up_links.ranks.is_up(v, to);
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

/// The level of every switch: the number of links to the nearest leaf, failed links included.
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

/// Refuses a tree in which one of `cut`, the switches without an up*/down* route, has terminals.
fn check_reached(on: &Topology, home: SwitchId, cut: &[u32]) -> Result<(), Refusal> {
    let sends = |s: &&u32| {
        let attached: &[TerminalId] = on.terminals_on(SwitchId(**s));
        attached.iter().any(|&t| on.terminal_is_up(t))
    };
    let Some(&from) = cut.iter().find(sends) else { return Ok(()) };
    let (from, to) = (&on.switches()[from as usize].name, &on.switches()[home.ix()].name);
    let why = format!("no path up and then down from {from} to {to}");
    Err(Refusal::new("", why, "repair the tree, or use up_down"))
}
