//! The need of somebody who buys a network: a number of endpoints to carry, and prices by which
//! members are ranked before they are priced in full.

use crate::wish::NetworkWish;

/// A need: a wish whose number of endpoints must be reached, and rough prices.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkNeed {
    /// Endpoints that the network must carry at least; at most this number of ports; its
    /// bandwidth.
    pub wish: NetworkWish,
    /// The number of endpoints, as in the wish; 1 or more.
    pub endpoints: u64,
    /// What a switch with 0, 1, ... ports costs, up to the ports of the wish; any unit. Infinite
    /// where none is sold.
    pub switch_price: Vec<f64>,
    /// What a link between switches costs, on average; the same unit.
    pub link_price: f64,
    /// What the cable of an endpoint costs; the same unit.
    pub endpoint_price: f64,
}

impl NetworkNeed {
    /// The estimated price of a network of these counts, whose switches have `radix` ports.
    pub fn estimate(&self, switches: u64, links: u64, radix: u32) -> f64 {
        let switch = self.switch_price.get(radix as usize).copied().unwrap_or(f64::INFINITY);
        switches as f64 * switch
            + links as f64 * self.link_price
            + self.endpoints as f64 * self.endpoint_price
    }

    /// The number of endpoints that a switch must carry where `switches` carry endpoints.
    pub fn per_switch(&self, switches: u64) -> u64 {
        self.endpoints.div_ceil(switches.max(1))
    }

    /// The most endpoints that a switch may carry for each unit of bandwidth it has room for.
    pub fn admitted(&self, room: f64) -> u32 {
        (self.wish.oversubscription * room + 1e-9).floor().clamp(0.0, f64::from(u32::MAX)) as u32
    }

    /// The least room of bandwidth, in links, that `endpoints` endpoints need.
    pub fn links_for(&self, endpoints: u64) -> u64 {
        (endpoints as f64 / self.wish.oversubscription - 1e-9).ceil().max(1.0) as u64
    }
}
