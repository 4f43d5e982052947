//! Random uniform edge selection: each layer uses shortest paths in its own random part of the
//! network.
//!
//! Source: Blach, Besta, De Sensi, Domke, Harake, Li, Iff, Konieczny, Lakhotia, Kubicek, Ferrari,
//! Petrini, Hoefler, "A high-performance design, implementation, deployment, and evaluation of the
//! Slim Fly network", NSDI 2024 (RUES): the first layer has all links, every further one a uniform
//! random part of them. Pairs that a layer does not connect use the routes of the first layer.

use super::sssp::{PathBalancer, endpoints_per_switch};
use super::tree_cache::NextHopTreeCache;
use super::trees::NextHopTree;
use super::{Engine, EnginePromise};
use crate::lanes::DefaultLaneMethod;
use base::ComputationError;
use base::seed::RandomStream;
use base::{LinkId, ProgressWatch, Refusal};
use fabric::network::Topology;
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shortest paths in the whole network, then in random parts of it; deadlock-free lanes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rues {
    /// Part of the working links that each layer but the first keeps, 0 to 1.
    #[serde(default = "usual_part")]
    pub keep: f64,
    /// Seed of the links that are kept.
    #[serde(default)]
    pub seed: u64,
}

/// The default part of links to keep: the one that gave a Slim Fly of 50 switches the most disjoint
/// paths.
pub(super) const fn usual_part() -> f64 {
    0.4
}

impl Engine for Rues {
    const NAME: &'static str = "rues";
    const PROMISE: EnginePromise = EnginePromise { minimal: false, deadlock_free: true };
    const LANES: DefaultLaneMethod = DefaultLaneMethod::Online;

    fn examples() -> Vec<Self> {
        let with = |keep| Self { keep, seed: 0 };
        vec![with(usual_part()), with(0.8)]
    }

    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let channels = |layer: u32| {
            let kept =
                sample(on, self.keep, &mut RandomStream::new(self.seed, "rues", layer.into()));
            kept.into_iter().flat_map(|kept| [kept; 2]).collect()
        };
        routes_within(on, layers, self.keep, channels, watch)
    }
}

/// Balanced shortest paths: the first layer over all channels, each further layer over the channels
/// that `channels` marks for it (one flag per channel). A switch from which these channels do not
/// lead to the destination forwards as in the first layer.
///
/// A switch forwards by the destination alone. So a route that begins with hops of the first layer
/// continues over the channels of its own layer from the first switch that they lead on from.
/// O(layers * terminals * links).
///
/// # Errors
/// When `keep` is not between 0 and 1, or `watch` asks to stop.
pub(super) fn routes_within(
    on: &Arc<Topology>,
    layers: u32,
    keep: f64,
    channels: impl Fn(u32) -> Vec<bool>,
    watch: &dyn ProgressWatch,
) -> Result<Routing, ComputationError> {
    if !(0.0..=1.0).contains(&keep) {
        let nearest = u8::from(keep > 1.0);
        let why = format!("{keep} is no part of the links");
        return Err(Refusal::new("keep", why, format!("0 to 1; nearest: {nearest}")).into());
    }
    let minimal = |tree: &mut NextHopTree, to| tree.rebuild(on, to, None);
    let mut balancer = PathBalancer::new(on);
    let mut trees = NextHopTreeCache::new(on, endpoints_per_switch(on), minimal);
    let mut next = balancer.layer(&mut trees, &[], watch)?;
    for layer in 1..layers {
        let more = balancer.layer_within(&channels(layer), &next, watch)?;
        next.extend(more);
    }
    Ok(Routing::new(on.clone(), layers, next, balancer.switch_routes(&mut trees, watch)?))
}

/// Marks a random part of the working links: `keep` times their number, rounded.
pub(super) fn sample(on: &Topology, keep: f64, random: &mut RandomStream) -> Vec<bool> {
    let all = (0..on.links().len()).map(LinkId::from);
    let mut working: Vec<LinkId> = all.filter(|&l| on.link_is_up(l)).collect();
    random.shuffle(&mut working);
    let mut kept = vec![false; on.links().len()];
    for link in &working[..(keep * working.len() as f64).round() as usize] {
        kept[link.ix()] = true;
    }
    kept
}
