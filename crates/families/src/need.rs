//! The need of somebody who buys a network: a number of endpoints to carry, and prices by which
//! members are ranked before they are priced in full.

use crate::family::Family;
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

/// The members that may be the cheapest for a need: those of the least estimated price.
#[derive(Debug)]
pub(super) struct CheapestMembers<'a, F> {
    need: &'a NetworkNeed,
    found: Vec<(f64, F)>,
    least: f64,
}

/// Members that are kept of a family; estimates of members that differ in more than this many
/// others are far apart.
const KEPT: usize = 24;
/// Members with an estimate above this many times the least are not kept.
const FACTOR: f64 = 1.5;

impl<'a, F: Family> CheapestMembers<'a, F> {
    pub(super) fn of(need: &'a NetworkNeed) -> Self {
        Self { need, found: Vec::new(), least: f64::INFINITY }
    }

    /// Offers a member of these counts, whose switches need `radix` ports; it must carry the need.
    pub(super) fn offer(&mut self, counts: [u64; 2], radix: u32, member: impl FnOnce() -> F) {
        if radix > self.need.wish.radix {
            return;
        }
        let estimate = self.need.estimate(counts[0], counts[1], radix);
        if estimate > FACTOR * self.least || !estimate.is_finite() {
            return;
        }
        self.least = self.least.min(estimate);
        self.found.push((estimate, member()));
        if self.found.len() >= 64 * KEPT {
            self.keep();
        }
    }

    fn keep(&mut self) {
        // the sort is stable: equal estimates stay in the order of the family's search
        self.found.sort_by(|x, y| x.0.total_cmp(&y.0));
        self.found.truncate(KEPT);
    }

    /// Offers each of `members` of a direct network, given without endpoints, with as many
    /// endpoints a switch as the need takes and the rule of [`NetworkWish::endpoints_of`] admits.
    pub(super) fn offer_sized(
        &mut self,
        members: impl IntoIterator<Item = F>,
        of: impl Fn(&F, u32) -> F,
    ) {
        for bare in members {
            let Ok(promise) = bare.promise() else { continue };
            let Some(most) = self.need.wish.endpoints_of(&promise) else { continue };
            let p = self.need.per_switch(promise.switches / u64::from(promise.planes));
            if p <= u64::from(most) {
                let p = p as u32;
                let counts = [promise.switches, promise.links];
                self.offer(counts, promise.network_radix + p, || of(&bare, p));
            }
        }
    }

    pub(super) fn into_members(mut self) -> Vec<F> {
        self.keep();
        self.found.into_iter().map(|(_, member)| member).collect()
    }
}
