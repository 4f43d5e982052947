//! Shortest paths; each switch balances the number of addresses over its ports.
//!
//! Source: OpenSM's default engine (MINHOP), in its manual page and `osm_ucast_mgr.c`: among the
//! ports on a shortest path take the one with the fewest addresses assigned; further addresses of
//! one terminal (LMC > 0) avoid the ports, then the neighbours, that its earlier ones use.

use super::sssp::{endpoints_per_switch, ports_of_channels};
use super::tree_cache::{NextHopTreeCache, runs};
use super::trees::NextHopTree;
use super::{Engine, EnginePromise};
use base::ComputationError;
use base::{ChannelId, ProgressWatch, SwitchId};
use fabric::network::Topology;
use fabric::tables::{ForwardingTableDraft, NO_ROUTE, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shortest paths, balanced locally at every switch. One lane: may deadlock.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinHop {}

impl Engine for MinHop {
    const NAME: &'static str = "min_hop";
    const PROMISE: EnginePromise = EnginePromise { minimal: true, deadlock_free: false };
    const BY_ROWS: bool = true;

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }

    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let mut laying = ForwardingTableDraft::new(on, layers);
        let mut assigned = ChannelAddressCounts::new(on);
        let minimal = |tree: &mut NextHopTree, to| tree.rebuild(on, to, None);
        let mut trees = NextHopTreeCache::new(on, endpoints_per_switch(on), minimal);
        let runs = runs(on);
        let (mut row, mut open, mut own) = (vec![NO_ROUTE; switches], Vec::new(), Vec::new());
        for layer in 0..layers as usize {
            for (home, run) in &runs {
                let done = (layer * terminals + run[0]) as u64;
                watch.tick("routing", done, layers as u64 * terminals as u64)?;
                let choices = trees.towards(*home);
                for settled in &choices.settled {
                    assigned.count[settled.channel.0 as usize] += run.len() as u32;
                }
                row.fill(NO_ROUTE);
                choices.write_settled(&mut row);
                open.clear();
                open.push(home.0);
                open.extend(&choices.open.order);
                own.clear();
                for &t in run {
                    own.push(on.terminals()[t].plug.port);
                    if layer == 0 {
                        assigned.choose(&choices.open, |_| std::iter::empty(), &mut own);
                    } else {
                        let earlier = |v: u32| {
                            let laying = &laying;
                            (0..layer).map(move |l| laying.tree(l * terminals + t).port(v as usize))
                        };
                        assigned.choose(&choices.open, earlier, &mut own);
                    }
                }
                laying.put(layer, *home, run, &row, (&open, &own));
            }
        }
        let mut to_switch = vec![NO_ROUTE; switches * switches];
        for d in (0..switches).map(SwitchId::from) {
            watch.tick("routing", d.ix() as u64, switches as u64)?;
            let choices = trees.towards(d);
            let entries = &mut to_switch[d.ix() * switches..(d.ix() + 1) * switches];
            choices.write_settled(entries);
            entries[d.ix()] = 0;
            for (i, &v) in choices.open.order.iter().enumerate() {
                let best = choices.open.hops(i).iter().min_by_key(|(c, _)| assigned.of(*c));
                let (channel, _) = *best.expect("a switch in the order has a next hop");
                entries[v as usize] = on.tail(channel).port;
            }
        }
        Ok(Routing::laid(on.clone(), layers, laying, to_switch))
    }
}

/// The number of addresses whose routes use each channel.
struct ChannelAddressCounts<'a> {
    on: &'a Topology,
    count: Vec<u32>,
    port: Vec<u16>,
}

impl<'a> ChannelAddressCounts<'a> {
    fn new(on: &'a Topology) -> Self {
        Self { on, count: vec![0; on.graph().links() * 2], port: ports_of_channels(on) }
    }

    fn of(&self, channel: ChannelId) -> u32 {
        self.count[channel.0 as usize]
    }

    /// Appends to `ports` the port of every switch of `tree`, in its order, towards one more
    /// address. The switch takes the channel with the fewest addresses; among equals the one whose
    /// port the `earlier` addresses of the same terminal use least, then the one whose neighbour
    /// they use least, then the lowest port.
    fn choose<I: Iterator<Item = u16>>(
        &mut self,
        tree: &NextHopTree,
        earlier: impl Fn(u32) -> I,
        ports: &mut Vec<u16>,
    ) {
        for (i, &v) in tree.order.iter().enumerate() {
            let used = |(channel, to): (ChannelId, u32)| {
                let leads_there =
                    |p: &u16| self.on.hop(SwitchId(v), *p).is_some_and(|(_, s)| s.0 == to);
                let same_port = earlier(v).filter(|p| *p == self.port[channel.0 as usize]).count();
                (same_port, earlier(v).filter(leads_there).count())
            };
            let mut best = tree.hops(i)[0];
            for &hop in &tree.hops(i)[1..] {
                let (own, least) = (self.of(hop.0), self.of(best.0));
                if own < least || own == least && used(hop) < used(best) {
                    best = hop;
                }
            }
            self.count[best.0.0 as usize] += 1;
            ports.push(self.port[best.0.0 as usize]);
        }
    }
}
