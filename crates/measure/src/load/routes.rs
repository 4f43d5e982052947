//! Routes of demands, for throughput: those that given routing tables allow.

use base::ComputationError;
use base::{ProgressWatch, Refusal, SwitchId, TerminalId};
use fabric::tables::Routing;
use std::collections::BTreeMap;
use std::ops::Range;
use traffic::demand::TrafficDemand;

/// Demands, each with its routes, and the channels of each route.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandRoutes {
    /// The amount of every demand, in units of an endpoint's full rate.
    pub amount: Vec<f64>,
    /// For each demand, the index after its last route; before these, a 0.
    ends: Vec<u32>,
    /// For each route, the index after its last channel; before these, a 0.
    hop_ends: Vec<u32>,
    channels: Vec<u32>,
}

impl Default for DemandRoutes {
    fn default() -> Self {
        Self { amount: Vec::new(), ends: vec![0], hop_ends: vec![0], channels: Vec::new() }
    }
}

impl DemandRoutes {
    /// Demands of these amounts, without routes.
    pub fn none(amount: Vec<f64>) -> Self {
        Self { ends: vec![0; amount.len() + 1], amount, ..Self::default() }
    }

    /// Adds a route to the demand that the next [`Self::close`] adds.
    pub fn add(&mut self, channels: &[u32]) {
        self.channels.extend(channels);
        self.hop_ends.push(self.channels.len() as u32);
    }

    /// Adds a demand, with the routes that were added since the last one.
    pub fn close(&mut self, amount: f64) {
        self.amount.push(amount);
        self.ends.push(self.count() as u32);
    }

    /// The routes of a demand.
    pub fn of(&self, choice: usize) -> Range<usize> {
        self.ends[choice] as usize..self.ends[choice + 1] as usize
    }

    /// Number of routes.
    pub fn count(&self) -> usize {
        self.hop_ends.len() - 1
    }

    /// The channels of a route, in order.
    pub fn channels(&self, route: usize) -> &[u32] {
        &self.channels[self.hops(route)]
    }

    /// The channels of all routes, one after the other.
    pub fn all_channels(&self) -> &[u32] {
        &self.channels
    }

    pub(super) fn hops(&self, route: usize) -> Range<usize> {
        self.hop_ends[route] as usize..self.hop_ends[route + 1] as usize
    }

    pub(super) fn channel(&self, hop: usize) -> usize {
        self.channels[hop] as usize
    }
}

/// The largest number of hops of all routes together.
pub(super) const MOST_HOPS: usize = 1 << 27;

/// The refusal of routes with more than [`MOST_HOPS`] hops.
pub(super) fn too_many_hops() -> Refusal {
    let help = format!("a smaller network, fewer layers or fewer demands: {MOST_HOPS} hops");
    Refusal::new("traffic", "too many routes to keep", help)
}

/// The routes of every demand that leaves its switch: one for each layer, without duplicates.
/// Demands of one source with the same routes are merged. They are sorted by source, then by
/// routes. O(flows * layers * hops).
///
/// # Errors
/// When a route does not arrive or nothing leaves its switch; beyond 2^27 hops of routes; when
/// `watch` says stop.
pub fn choices(
    routing: &Routing,
    demand: &TrafficDemand,
    watch: &dyn ProgressWatch,
) -> Result<DemandRoutes, ComputationError> {
    let on = routing.topology();
    let total = demand.flows.len() as u64;
    let (mut done, mut all) = (0, DemandRoutes::default());
    for of_source in demand.flows.chunk_by(|a, b| a.0 == b.0) {
        watch.tick("routes", done, total)?;
        done += of_source.len() as u64;
        let mut own: BTreeMap<Vec<Vec<u32>>, f64> = BTreeMap::new();
        for &(source, terminal, amount) in of_source {
            if on.terminals()[terminal.ix()].plug.switch != source {
                let layers = 0..routing.layers();
                let mut routes: Vec<Vec<u32>> = layers
                    .map(|layer| route(routing, layer, source, terminal))
                    .collect::<Result<_, _>>()?;
                routes.sort_unstable();
                routes.dedup();
                *own.entry(routes).or_insert(0.0) += amount;
            }
        }
        for (routes, amount) in own {
            for route in &routes {
                all.add(route);
            }
            all.close(amount);
        }
        if all.channels.len() > MOST_HOPS {
            return Err(too_many_hops().into());
        }
    }
    if all.amount.is_empty() {
        let help = "demands between endpoints of different switches";
        return Err(Refusal::new("traffic", "nothing leaves its switch", help).into());
    }
    Ok(all)
}

/// The channels of the route from `source` to `terminal`.
pub(crate) fn route(
    routing: &Routing,
    layer: u32,
    source: SwitchId,
    terminal: TerminalId,
) -> Result<Vec<u32>, Refusal> {
    let on = routing.topology();
    let home = on.terminals()[terminal.ix()].plug.switch;
    let (mut walk, mut channels) = (routing.walk(layer, terminal, source), Vec::new());
    while walk.at() != home {
        match walk.next() {
            Some(hop) if channels.len() < on.switches().len() => channels.push(hop.channel.0),
            _ => {
                let (from, to) = (&on.switches()[source.ix()].name, &on.switches()[home.ix()].name);
                let why = format!("the route from {from} to {to} in layer {layer} does not arrive");
                return Err(Refusal::new("tables", why, "verify the tables first"));
            }
        }
    }
    Ok(channels)
}
