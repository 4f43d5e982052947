//! The wish of somebody who plans a network: a number of endpoints, switches with a number of
//! ports, full bandwidth.

use crate::promise::{ExactFraction, FamilyPromise};
use serde::Serialize;

/// The rule that rounds the ideal number of endpoints per switch to a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConcentrationRounding {
    /// The family's rule, rounded up: half the network radix of a Slim Fly (Besta & Hoefler, SC
    /// 2014; the deployed cluster).
    Ceil,
    /// The family's rule, rounded down (the Slim Fly of CODES, and Fit Fly).
    Floor,
    /// The largest number with which uniform traffic over minimal paths does not overload the
    /// average channel: [`NetworkWish::ideal`], rounded down.
    Exact,
}

/// A wish for a network: endpoints, ports and bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkWish {
    /// The number of endpoints; `None` for as many as possible.
    pub endpoints: Option<u64>,
    /// The most ports of a switch, to other switches and to endpoints together.
    pub radix: u32,
    /// The rule for the number of endpoints per switch.
    pub concentration: ConcentrationRounding,
    /// The number of endpoints for each endpoint that full bandwidth allows; 1 or more.
    pub oversubscription: f64,
}

impl NetworkWish {
    /// The number of endpoints per switch at which uniform traffic over minimal paths loads the
    /// average channel fully: channels over the sum of distances from a switch, `k' n / ((n - 1) *
    /// mean)`.
    ///
    /// The endpoints of a switch send p units, of which p (n - 1) / n leave it, each over `mean`
    /// channels; there are k' channels a switch. Source: Besta & Hoefler, SC 2014, section II-B.
    pub fn ideal(network_radix: u32, switches: u64, mean: ExactFraction) -> f64 {
        let hops = mean.num as f64 / mean.den as f64 * switches.saturating_sub(1) as f64;
        f64::from(network_radix) * switches as f64 / hops
    }

    /// The whole number of endpoints per switch, at least 1. `rule` is the number that the family's
    /// rule gives, `ideal` that of [`NetworkWish::ideal`].
    pub fn per_switch(&self, rule: f64, ideal: f64) -> u32 {
        let r = self.oversubscription;
        let p = match self.concentration {
            ConcentrationRounding::Ceil => (r * rule - 1e-9).ceil(),
            ConcentrationRounding::Floor => (r * rule + 1e-9).floor(),
            ConcentrationRounding::Exact => (r * ideal + 1e-9).floor(),
        };
        p.max(1.0) as u32
    }

    /// As [`NetworkWish::per_switch`], for a direct network whose rule is network radix over
    /// diameter; `None` where both the rule and the ideal are below one endpoint.
    pub fn endpoints_of(&self, p: &FamilyPromise) -> Option<u32> {
        let (super::PromisedValue::Exact(diameter) | super::PromisedValue::Between(_, diameter)) =
            p.diameter;
        let (super::PromisedValue::Exact(mean) | super::PromisedValue::Between(_, mean)) =
            p.mean_distance;
        let rule = f64::from(p.network_radix) / f64::from(diameter.max(1));
        let ideal = Self::ideal(p.network_radix, p.switches / u64::from(p.planes), mean);
        let room = self.oversubscription * rule.max(ideal) >= 1.0 - 1e-9;
        room.then(|| self.per_switch(rule, ideal))
    }
}
