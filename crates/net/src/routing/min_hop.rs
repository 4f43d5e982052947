//! Fewest hops, ports balanced by the number of addresses already sent through them.
//!
//! Source: OpenSM's default engine (MINHOP), in its manual page and `osm_ucast_mgr.c`: among the
//! ports on a shortest way take the one with the fewest addresses assigned; further addresses of
//! one terminal (LMC > 0) avoid the ports, then the neighbours, that its earlier ones use.

use super::trees::MinimalTree;
use super::{Engine, NO_ROUTE, RouteError, Routing};
use crate::network::Topology;
use base::{SwitchId, TerminalId, Watch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shortest paths, balanced locally at every switch. One lane: may deadlock.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinHop {}

impl Engine for MinHop {
    const NAME: &'static str = "min_hop";

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }

    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn Watch,
    ) -> Result<Routing, RouteError> {
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let mut next = vec![NO_ROUTE; layers as usize * terminals * switches];
        let mut to_switch = vec![NO_ROUTE; switches * switches];
        let mut assigned = vec![0_u32; on.graph().links() * 2];
        let mut tree = MinimalTree::default();
        for layer in 0..layers as usize {
            let mut built_for = None;
            for t in (0..terminals).map(TerminalId::from).filter(|&t| on.terminal_is_up(t)) {
                let plug = on.terminals()[t.ix()].plug;
                if built_for != Some(plug.switch) {
                    let done = (layer * terminals + t.ix()) as u64;
                    watch.tick("routing", done, layers as u64 * terminals as u64)?;
                    tree.rebuild(on, plug.switch, None);
                    built_for = Some(plug.switch);
                }
                let (before, rest) = next.split_at_mut((layer * terminals + t.ix()) * switches);
                let entries = &mut rest[..switches];
                entries[plug.switch.ix()] = plug.port;
                for (i, &v) in tree.order.iter().enumerate() {
                    let v = v as usize;
                    let earlier =
                        || (0..layer).map(|l| before[(l * terminals + t.ix()) * switches + v]);
                    let cost = |&&(channel, to): &&(base::ChannelId, u32)| {
                        let port = on.tail(channel).port;
                        let same_port = earlier().filter(|&p| p == port).count();
                        let here = SwitchId::from(v);
                        let leads_there = |p| on.hop(here, p).is_some_and(|(_, s)| s.0 == to);
                        let same_switch = earlier().filter(|&p| leads_there(p)).count();
                        (assigned[channel.0 as usize], same_port, same_switch)
                    };
                    let best = tree.hops(i).iter().min_by_key(cost);
                    let (channel, _) = *best.expect("a switch in the order has a next hop");
                    assigned[channel.0 as usize] += 1;
                    entries[v] = on.tail(channel).port;
                }
            }
        }
        for d in 0..switches {
            tree.rebuild(on, SwitchId::from(d), None);
            to_switch[d * switches + d] = 0;
            for (i, &v) in tree.order.iter().enumerate() {
                let best = tree.hops(i).iter().min_by_key(|(c, _)| assigned[c.0 as usize]);
                let (channel, _) = *best.expect("a switch in the order has a next hop");
                to_switch[d * switches + v as usize] = on.tail(channel).port;
            }
        }
        Ok(Routing::new(on.clone(), layers, next, to_switch))
    }
}
