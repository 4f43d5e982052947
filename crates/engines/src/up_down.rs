//! Up*/down* routing: every route goes towards a root switch, then away from it.
//!
//! Source: Schroeder, Birrell, Burrows, Murray, Needham, Rodeheffer, Satterthwaite, Thacker,
//! "Autonet: a high-speed, self-configuring local area network using point-to-point links", IEEE
//! Journal on Selected Areas in Communications 9(8), 1991: a breadth-first tree and the switch
//! numbers give every link an upper end. No route goes up after it went down, so channel
//! dependencies have no cycle. Tables know only the destination of a packet, not the switch that it
//! comes from; [`NextHopTree::rebuild_up_down`] says how the next hops still fit together.

use super::sssp::{balanced_routes, endpoints_per_switch};
use super::trees::{NextHopTree, UpDownRanks};
use super::{Engine, EnginePromise};
use base::ComputationError;
use base::{Interrupted, ProgressWatch, Refusal, SwitchId};
use fabric::network::Topology;
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Up towards a root, then down: free of deadlock on one lane, on any network. Routes are not all
/// minimal.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpDown {
    /// The root: a switch by name or number. By default, and in the other planes: the switch with
    /// the least distance to the farthest one; among several, the one of least mean distance, then
    /// the first. In trees, also in those read from files and in those with a few plugs in wrong
    /// switches, all switches of the top level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<RootSwitch>,
}

/// The root switch as users name it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RootSwitch {
    /// Its number.
    Number(u32),
    /// Its name; digits that name no switch are its number.
    Name(String),
}

impl Engine for UpDown {
    const NAME: &'static str = "up_down";
    const PROMISE: EnginePromise = EnginePromise { minimal: false, deadlock_free: true };

    fn examples() -> Vec<Self> {
        vec![Self { root: None }, Self { root: Some(RootSwitch::Number(0)) }]
    }

    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let root = self.root.as_ref().map(|root| root.find(on)).transpose()?;
        let ranks = match root.is_none().then(|| by_level(on)).flatten() {
            Some((ranks, _)) => ranks,
            None => breadth_first(on, &roots(on, root, watch)?),
        };
        let legal = |tree: &mut NextHopTree, to| {
            tree.rebuild_up_down(on, to, &ranks);
        };
        balanced_routes(on, layers, legal, watch)
    }
}

impl RootSwitch {
    fn find(&self, on: &Topology) -> Result<usize, Refusal> {
        let switches = on.switches();
        let number = |n: u32| Some(n as usize).filter(|&s| s < switches.len());
        let (name, found) = match self {
            Self::Number(n) => (n.to_string(), number(*n)),
            Self::Name(text) => {
                let named = switches.iter().position(|s| s.name == *text);
                (text.clone(), named.or_else(|| number(text.parse().ok()?)))
            }
        };
        let help = || match switches.iter().position(|s| s.up) {
            Some(first) => {
                let (last, name) = (switches.len() - 1, &switches[first].name);
                format!("a working switch, by number, 0 to {last}, or by name, such as {name}")
            }
            None => "this network has no working switch".to_owned(),
        };
        match found {
            None => Err(Refusal::new("root", format!("there is no switch {name}"), help())),
            Some(s) if !switches[s].up => {
                Err(Refusal::new("root", format!("switch {name} has failed"), help()))
            }
            Some(s) => Ok(s),
        }
    }
}

/// Ranks by level of a tree, the top level first, then by number; every switch of the top level is
/// a root. `None` where more than a few cables do not join neighbouring levels, or where some endpoint cannot be
/// reached up and then down from every other one of its connected part. O(switches * arcs).
fn by_level(on: &Topology) -> Option<(UpDownRanks, Vec<u32>)> {
    let level = fabric::tree::nearly_tree_levels(on)?;
    let mut order: Vec<u32> = (0..on.switches().len() as u32).collect();
    order.sort_by_key(|&v| (std::cmp::Reverse(level[v as usize]), v));
    let mut rank = vec![0; order.len()];
    for (r, v) in (0..).zip(order) {
        rank[v as usize] = r;
    }
    let ranks = UpDownRanks::new(on, rank);
    let (endpoints, (part, _)) = (endpoints_per_switch(on), on.graph().components());
    let mut tree = NextHopTree::default();
    let edge = |s: &usize| endpoints[*s] > 0;
    let reached = |d: usize| {
        let legal = tree.rebuild_up_down(on, SwitchId::from(d), &ranks);
        let with = tree.order[..legal].iter().filter(|v| endpoints[**v as usize] > 0).count();
        with + 1 == (0..endpoints.len()).filter(|s| edge(s) && part[*s] == part[d]).count()
    };
    (0..endpoints.len()).filter(edge).all(reached).then_some((ranks, level))
}

/// The switches towards which routes go up: in a tree all those of the top level, else the most
/// central switch, as [`middle`]. Empty where there is no switch. O(switches * arcs).
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn root_switches(
    on: &Topology,
    watch: &dyn ProgressWatch,
) -> Result<Vec<SwitchId>, Interrupted> {
    let Some((_, level)) = by_level(on) else {
        return Ok(middle(on, watch)?.into_iter().collect());
    };
    let top = level.iter().copied().max().unwrap_or(0);
    let on_top = (0..level.len()).filter(|&s| level[s] == top && on.switches()[s].up);
    Ok(on_top.map(SwitchId::from).collect())
}

/// The centrality of a switch: the hops to the farthest switch that it reaches, the sum of hops to
/// all of them, and its number. Less is more central.
fn standing(on: &Topology, v: usize) -> (u32, u64, u32) {
    let distance = on.graph().distances_from(v);
    let reached = || distance.iter().filter(|d| **d != u32::MAX);
    let farthest = reached().copied().max().unwrap_or(0);
    (farthest, reached().map(|&d| u64::from(d)).sum(), v as u32)
}

/// The most central switch: among switches with links the one with the least distance to the
/// farthest switch that it reaches; among several, the least sum of distances, then the first.
/// `None` where there is no switch. O(switches * arcs).
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn middle(on: &Topology, watch: &dyn ProgressWatch) -> Result<Option<SwitchId>, Interrupted> {
    let switches = on.switches().len();
    let mut best = None;
    for v in 0..switches {
        watch.tick("the middle", v as u64, switches as u64)?;
        let own = (on.graph().degree(v) == 0, standing(on, v));
        best = Some(best.map_or(own, |least: (bool, (u32, u64, u32))| least.min(own)));
    }
    Ok(best.map(|(_, (_, _, v))| SwitchId(v)))
}

/// Chooses a root for every connected part: `given` in its own part, the most central switch
/// elsewhere. O(switches * arcs).
fn roots(
    on: &Topology,
    given: Option<usize>,
    watch: &dyn ProgressWatch,
) -> Result<Vec<u32>, Interrupted> {
    let (component, parts) = on.graph().components();
    let mut best: Vec<Option<(u32, u64, u32)>> = vec![None; parts as usize];
    let switches = on.switches().len();
    for v in 0..switches {
        let part = component[v] as usize;
        if given.is_some_and(|root| component[root] == component[v] && root != v) {
            continue;
        }
        watch.tick("root", v as u64, switches as u64)?;
        let own = standing(on, v);
        best[part] = Some(best[part].map_or(own, |least| least.min(own)));
    }
    Ok(best.into_iter().flatten().map(|(_, _, v)| v).collect())
}

/// Ranks by distance from the root, then by number. O(arcs + n log n).
fn breadth_first(on: &Topology, roots: &[u32]) -> UpDownRanks {
    let level = on.graph().distances_from_any(roots);
    let mut order: Vec<u32> = (0..level.len() as u32).collect();
    order.sort_by_key(|&v| level[v as usize]);
    let mut rank = vec![0; order.len()];
    for (r, v) in (0..).zip(order) {
        rank[v as usize] = r;
    }
    UpDownRanks::new(on, rank)
}
