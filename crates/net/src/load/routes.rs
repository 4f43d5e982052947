//! The routes that given tables leave each demand, for throughput over these tables alone.

use super::demand::Demand;
use crate::routing::Routing;
use crate::structure::MeasureError;
use base::{Refusal, Watch};
use std::collections::BTreeMap;

/// Demands that may split over the same routes, as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Distinct routes, each its channels in order.
    pub routes: Vec<Vec<u32>>,
    /// Their demand, in units of an endpoint's full rate.
    pub amount: f64,
}

/// The most route hops that [`choices`] keeps.
const MOST_HOPS: usize = 1 << 24;

/// The routes of every demand that leaves its switch: one a layer, equal ones once; demands with
/// the same routes together, in the order of source and routes. O(flows * layers * hops).
///
/// # Errors
/// When a route does not arrive or nothing leaves its switch; beyond 2^24 hops of routes; when
/// `watch` says stop.
pub fn choices(
    routing: &Routing,
    demand: &Demand,
    watch: &dyn Watch,
) -> Result<Vec<Choice>, MeasureError> {
    let on = routing.topology();
    let total = demand.flows.len() as u64;
    let mut hops = 0;
    let mut all: BTreeMap<Vec<Vec<u32>>, f64> = BTreeMap::new();
    for (i, &(source, terminal, amount)) in demand.flows.iter().enumerate() {
        if i % 4096 == 0 {
            watch.tick("routes", i as u64, total)?;
        }
        let home = on.terminals()[terminal.ix()].plug.switch;
        if source == home {
            continue;
        }
        let mut routes = Vec::new();
        for layer in 0..routing.layers() {
            let tree = routing.tree(layer, terminal);
            let (mut at, mut route) = (source, Vec::new());
            while let Some((channel, next)) = routing.step(tree, at) {
                route.push(channel.0);
                at = next;
                if route.len() > on.switches().len() {
                    break;
                }
            }
            if at != home || route.len() > on.switches().len() {
                let (from, to) = (&on.switches()[source.ix()].name, &on.switches()[home.ix()].name);
                let why = format!("the route from {from} to {to} in layer {layer} does not arrive");
                return Err(Refusal::new("tables", why, "verify the tables first").into());
            }
            routes.push(route);
        }
        routes.sort_unstable();
        routes.dedup();
        if let Some(sum) = all.get_mut(&routes) {
            *sum += amount;
            continue;
        }
        hops += routes.iter().map(Vec::len).sum::<usize>();
        if hops > MOST_HOPS {
            let help = format!("a smaller network or fewer layers: {MOST_HOPS} hops of routes");
            return Err(Refusal::new("traffic", "too many routes to keep", help).into());
        }
        all.insert(routes, amount);
    }
    if all.is_empty() {
        let help = "demands between endpoints of different switches";
        return Err(Refusal::new("traffic", "nothing leaves its switch", help).into());
    }
    Ok(all.into_iter().map(|(routes, amount)| Choice { routes, amount }).collect())
}
