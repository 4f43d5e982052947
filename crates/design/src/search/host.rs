//! The order/radix problem: endpoints on switches of a given radix, as few hops apart as possible.
//!
//! Hops between endpoints count the two endpoint cables, as in the competition: endpoints of one
//! switch are 2 apart, others 2 more than their switches.
//!
//! Source: Yasudo, Koibuchi, Nakano, Matsutani and Amano, "Order/radix problem: towards low
//! end-to-end latency interconnection networks", ICPP 2017.

use super::{MAX_ORDER, OrderDegreeProblem};
use base::Refusal;

/// Most endpoints of a problem.
pub const MAX_ENDPOINTS: u32 = 1 << 20;

/// An instance of the order/radix problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderRadixProblem {
    endpoints: u32,
    radix: u32,
}

/// Lower bounds of distances for a [`OrderRadixProblem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderRadixBounds {
    /// Longest distance between endpoints, endpoint cables counted, hops.
    pub diameter: u32,
    /// Sum of these distances over ordered pairs of endpoints.
    pub distance_sum: u64,
    /// Ordered pairs of distinct endpoints.
    pub pairs: u64,
}

/// A design: a number of switches with the endpoints spread evenly over them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvenHostDistribution {
    /// Switches.
    pub switches: u32,
    /// Most endpoints on a switch; the others have one less.
    pub concentration: u32,
    /// Links of a switch to others.
    pub degree: u32,
    /// A lower bound of the sum of distances between endpoints for this number of switches.
    pub distance_sum: u64,
}

impl OrderRadixProblem {
    /// `endpoints` on switches of `radix` ports.
    ///
    /// # Errors
    /// When there are fewer than 2 or more than [`MAX_ENDPOINTS`] endpoints, or the radix is not in
    /// `3..=65535` (with two ports a switch only joins two).
    pub fn new(endpoints: u32, radix: u32) -> Result<Self, Refusal> {
        if !(2..=MAX_ENDPOINTS).contains(&endpoints) {
            let why = format!("{endpoints} endpoints are out of range");
            return Err(Refusal::new("endpoints", why, format!("2 to {MAX_ENDPOINTS}")));
        }
        if !(3..=65_535).contains(&radix) {
            let why = format!("{radix} ports are out of range");
            return Err(Refusal::new("radix", why, "3 to 65535"));
        }
        Ok(Self { endpoints, radix })
    }

    /// The bounds.
    ///
    /// Seen from an endpoint, the others are leaves of a tree whose switches have radix - 1 ports
    /// downwards. By Kraft's inequality the sum of the depths is least when depths differ by at
    /// most one; a leaf at depth i is i + 1 hops away (Yasudo et al., section 4). O(log endpoints).
    pub fn bounds(self) -> OrderRadixBounds {
        let (n, k) = (u64::from(self.endpoints), u64::from(self.radix - 1));
        let leaves = n - 1;
        let (mut depth, mut room) = (1_u32, k);
        while room < leaves {
            depth += 1;
            room *= k;
        }
        // leaves that can stay one level higher; none does on the level of the endpoint itself
        let higher = if depth == 1 { 0 } else { (room - leaves) / (k - 1) };
        let distance_sum = n * (leaves * u64::from(depth + 1) - higher);
        OrderRadixBounds { diameter: depth + 1, distance_sum, pairs: n * leaves }
    }

    /// All numbers of switches that hold the endpoints and leave ports to join them, best first by
    /// the bound of each, fewer switches first among equals. At most `most`.
    ///
    /// O(endpoints * diameter).
    ///
    /// # Errors
    /// When there is none.
    pub fn designs(self, most: usize) -> Result<Vec<EvenHostDistribution>, Refusal> {
        let fewest = self.endpoints.div_ceil(self.radix);
        let highest = self.endpoints.min(MAX_ORDER);
        let mut found: Vec<EvenHostDistribution> =
            (fewest..=highest).filter_map(|m| self.design(m)).collect();
        found.sort_by_key(|d| (d.distance_sum, d.switches));
        found.truncate(most);
        if found.is_empty() {
            let why = format!("{} endpoints need too many switches", self.endpoints);
            return Err(Refusal::new("endpoints", why, "fewer endpoints or a larger radix"));
        }
        Ok(found)
    }

    fn design(self, m: u32) -> Option<EvenHostDistribution> {
        let concentration = self.endpoints.div_ceil(m);
        let free = self.radix.checked_sub(concentration)?;
        let degree = free.min(m - 1);
        if m > 1 && OrderDegreeProblem::new(m, degree).is_err() {
            return None;
        }
        let (n, m64) = (u64::from(self.endpoints), u64::from(m));
        // endpoints by switch: `more` switches have the concentration, the rest one less
        let less = u64::from(concentration) * m64 - n;
        let more = m64 - less;
        let mut sum = 0;
        for (switches, own) in
            [(more, u64::from(concentration)), (less, u64::from(concentration) - 1)]
        {
            if switches > 0 {
                let near = 2 * own.saturating_sub(1);
                let heavy = more - u64::from(own == u64::from(concentration));
                let others = away(n - own, heavy, u64::from(concentration), u64::from(degree));
                sum += switches * own * (near + others);
            }
        }
        Some(EvenHostDistribution { switches: m, concentration, degree, distance_sum: sum })
    }

    /// The number of endpoints on each switch of a design, (switches,): the first switches have one
    /// more.
    pub fn spread(self, switches: u32) -> Vec<u32> {
        let (each, more) = (self.endpoints / switches, self.endpoints % switches);
        (0..switches).map(|s| each + u32::from(s < more)).collect()
    }
}

/// The least sum of distances to `endpoints` on other switches in the fullest tree of this degree.
/// `heavy` of the switches have `weight` endpoints and stand nearest; the others have one less.
fn away(endpoints: u64, heavy: u64, weight: u64, degree: u64) -> u64 {
    let (mut left, mut heavy) = (endpoints, heavy);
    let (mut sphere, mut hops, mut sum) = (degree, 3, 0);
    while left > 0 {
        let full = sphere.min(heavy);
        heavy -= full;
        let here = (full * weight + (sphere - full).saturating_mul(weight - 1)).min(left);
        if here == 0 {
            break; // switches without endpoints: weight 1, none heavy
        }
        sum += here * hops;
        left -= here;
        hops += 1;
        sphere = sphere.saturating_mul(degree.saturating_sub(1)).min(1 << 32);
    }
    sum
}

/// The sum of distances over ordered pairs of endpoints, and the longest distance, endpoint cables
/// counted, in the network of `edges` with `endpoints[s]` endpoints on switch s; `None` when some
/// endpoints are not connected or there are fewer than two. O(switches * links).
pub fn host_distances(edges: &[(u32, u32)], endpoints: &[u32]) -> Option<(u64, u32)> {
    let ends = edges.iter().map(|&(a, b)| Some((base::SwitchId(a), base::SwitchId(b))));
    let graph = base::Graph::new(endpoints.len(), ends);
    let (mut sum, mut longest) = (0, 0);
    for (s, &own) in endpoints.iter().enumerate().filter(|(_, own)| **own > 0) {
        for (hops, &other) in graph.distances_from(s).into_iter().zip(endpoints) {
            let pairs = u64::from(own) * u64::from(other);
            if hops == 0 {
                let own_pairs = pairs - u64::from(own);
                sum += 2 * own_pairs;
                longest = longest.max(if own_pairs > 0 { 2 } else { 0 });
            } else if other > 0 {
                if hops == u32::MAX {
                    return None;
                }
                sum += pairs * u64::from(hops + 2);
                longest = longest.max(hops + 2);
            }
        }
    }
    (longest > 0).then_some((sum, longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(endpoints: u32, radix: u32) -> OrderRadixProblem {
        OrderRadixProblem::new(endpoints, radix).unwrap()
    }

    /// The least sum of depths of `leaves` leaves, by trying every number at every depth.
    fn depths(leaves: u64, k: u64, depth: u64, open: u64) -> Option<u64> {
        if leaves == 0 {
            return Some(0);
        }
        if open == 0 || depth > 6 {
            return None;
        }
        (0..=open.min(leaves))
            .filter_map(|here| {
                let deeper = depths(leaves - here, k, depth + 1, (open - here) * k)?;
                Some(here * depth + deeper)
            })
            .min()
    }

    #[test]
    fn the_bound_is_the_best_tree() {
        for radix in 3..7 {
            for n in 2..14 {
                let k = u64::from(radix - 1);
                let least = depths(u64::from(n - 1), k, 1, k).expect("deep enough");
                let expect = u64::from(n) * (least + u64::from(n - 1));
                assert_eq!(of(n, radix).bounds().distance_sum, expect, "({n}, {radix})");
            }
        }
    }

    #[test]
    fn one_switch_and_two_meet_it() {
        let one = of(8, 8).designs(1).unwrap()[0];
        assert_eq!((one.switches, one.degree, one.distance_sum), (1, 0, 8 * 7 * 2));
        assert_eq!(one.distance_sum, of(8, 8).bounds().distance_sum);
        // 4 endpoints on two switches of 3 ports: 2 on each, 2 hops inside, 3 across
        let two = of(4, 3).designs(1).unwrap()[0];
        assert_eq!((two.switches, two.concentration, two.degree), (2, 2, 1));
        assert_eq!(two.distance_sum, 4 * (2 + 3 + 3));
        assert_eq!(host_distances(&[(0, 1)], &[2, 2]), Some((32, 3)));
    }

    #[test]
    fn no_design_promises_more_than_the_bound() {
        for radix in 3..12 {
            for n in 2..200 {
                let problem = of(n, radix);
                let bound = problem.bounds();
                for d in problem.designs(usize::MAX).unwrap() {
                    assert!(d.distance_sum >= bound.distance_sum, "({n}, {radix}) {d:?}");
                    assert!(d.degree + d.concentration <= radix);
                    let spread = problem.spread(d.switches);
                    assert_eq!(spread.iter().sum::<u32>(), n);
                    assert_eq!(spread[0], d.concentration);
                }
            }
        }
    }

    #[test]
    fn a_ring_is_measured() {
        // endpoints on a ring of four: 2 apart on a switch, 3 beside it, 4 across
        let ring = [(0, 1), (1, 2), (2, 3), (3, 0)];
        assert_eq!(host_distances(&ring, &[2; 4]), Some((8 * (2 + 4 * 3 + 2 * 4), 4)));
        assert_eq!(host_distances(&ring, &[1, 0, 1, 0]), Some((8, 4)));
        assert_eq!(host_distances(&ring[..1], &[1, 0, 1, 0]), None);
    }
}
