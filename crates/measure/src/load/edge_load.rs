//! Paths per channel when every endpoint sends to every other.
//!
//! Source: Heydemann, Meyer, Sotteau, "On forwarding indices of networks", 1989.

use super::busiest::{BUSIEST, BusyChannel, busiest};
use base::stage::{BetterDirection, ColumnType};
use base::{
    ComputationError, ExperimentStage, Interrupted, ProgressWatch, RecordColumn, ResourceNeed,
    SwitchId,
};
use fabric::size::{NetworkSize, RouteWorkKind};
use fabric::tables::{DestinationBundles, ForwardingTree, RouteWalk, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The number of routes over each channel, for all ordered pairs of terminals of one plane and all
/// layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeLoad {
    /// The number of routes by channel; it is 0 for channels that are down.
    pub routes: Vec<u64>,
    /// Histogram: `histogram[n]` working channels carry `n` routes.
    pub histogram: BTreeMap<u64, u64>,
    /// Sum of the hops of all routes.
    pub hops: u64,
}

impl EdgeLoad {
    /// The edge forwarding index of the routing: the most routes on any channel.
    pub fn index(&self) -> u64 {
        self.histogram.keys().next_back().copied().unwrap_or(0)
    }

    /// A lower bound of the index for routings with the same mean path length: total hops divided
    /// by the number of channels.
    pub fn mean_bound(&self) -> u64 {
        self.hops.div_ceil(self.histogram.values().sum::<u64>().max(1))
    }
}

/// Counts the routes over every channel. O(hops of all routes); routes that the terminals of a
/// switch share count once in this.
///
/// Routes that do not arrive are counted up to their end, or until they have passed every switch
/// once.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn edge_load(routing: &Routing, watch: &dyn ProgressWatch) -> Result<EdgeLoad, Interrupted> {
    let on = routing.topology();
    let mut routes = vec![0_u64; on.graph().links() * 2];
    let mut count = |tree: ForwardingTree<'_>, source: SwitchId, times: u64| {
        for hop in RouteWalk::new(on, tree, source).take(on.switches().len()) {
            routes[hop.channel.0 as usize] += times;
        }
    };
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    let mut done = 0;
    let mut bundles = DestinationBundles::new(routing, routing.destinations());
    while let Some(bundle) = bundles.next_bundle() {
        let first = routing.tree(bundle.layer, bundle.terminals[0]);
        for &(source, endpoints) in bundle.sources {
            if !bundle.differs[source.ix()] {
                count(first, source, u64::from(endpoints) * bundle.terminals.len() as u64);
            }
        }
        for &t in bundle.terminals {
            watch.tick("load", done, total)?;
            done += 1;
            let tree = routing.tree(bundle.layer, t);
            bundle.differing.iter().for_each(|&(s, endpoints)| count(tree, s, endpoints.into()));
        }
    }
    let mut histogram = BTreeMap::new();
    for s in 0..on.graph().switches() {
        for c in on.graph().channels(s) {
            *histogram.entry(routes[c.0 as usize]).or_insert(0) += 1;
        }
    }
    Ok(EdgeLoad { hops: routes.iter().sum(), routes, histogram })
}

/// Routes over each channel when every terminal sends to every other, all layers together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EdgeLoadParams {
    /// Only this number of the busiest channels, by name.
    pub top: u32,
}

impl Default for EdgeLoadParams {
    fn default() -> Self {
        Self { top: BUSIEST }
    }
}

/// The number of routes over the channels.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EdgeLoadRecord {
    /// Most routes on a channel.
    pub edge_forwarding_index: u64,
    /// Total hops over channels, rounded up: no routing with these path lengths has a lower index.
    pub lower_bound: u64,
    /// Hops of all routes together.
    pub hops: u64,
    /// Working channels by the routes they carry: [routes, channels].
    pub histogram: Vec<(u64, u64)>,
    /// The channels between switches with the most routes, the busiest first; `load` is the number
    /// of routes.
    pub busiest_channels: Vec<BusyChannel>,
}

impl ExperimentStage for EdgeLoadParams {
    const NAME: &'static str = "edge_load";
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "edge_forwarding_index",
            "/edge_forwarding_index",
            ColumnType::Whole,
            "routes",
            "most routes on a channel",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "lower_bound",
            "/lower_bound",
            ColumnType::Whole,
            "routes",
            "least index with these path lengths",
            BetterDirection::Neither,
        ),
    ];

    type Input<'a> = &'a Routing;
    type Record = EdgeLoadRecord;

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { top: 3 }]
    }

    fn need(&self, on: &Routing, threads: usize) -> ResourceNeed {
        NetworkSize::of(on.topology(), threads).along(on, RouteWorkKind::Load)
    }

    fn run(
        &self,
        on: &Routing,
        watch: &dyn ProgressWatch,
    ) -> Result<EdgeLoadRecord, ComputationError> {
        let load = edge_load(on, watch)?;
        let routes: Vec<f64> = load.routes.iter().map(|n| *n as f64).collect();
        Ok(EdgeLoadRecord {
            edge_forwarding_index: load.index(),
            lower_bound: load.mean_bound(),
            hops: load.hops,
            busiest_channels: busiest(on.topology(), &routes, self.top),
            histogram: load.histogram.into_iter().collect(),
        })
    }
}
