//! BDF: the diameter-3 star products of Bermond, Delorme and Farhi.
//!
//! Source: Bermond, Delorme & Farhi, "Large graphs with given degree and diameter III", Annals of
//! Discrete Mathematics 13, 1982; as a network: Besta & Hoefler, "Slim Fly: a cost effective
//! low-diameter network topology", SC 2014, section II-C.
//!
//! Every point of the polarity graph of order u becomes a group of u + 1 switches, linked as a
//! graph X of degree (u + 1) / 2 with an involution f. For every link a - b of the polarity graph,
//! (a, x) is linked to (b, f(x)). X has diameter 2 or less and the property P* of the papers: for
//! every x, all switches are among x, f(x), the neighbours of x, and f of the neighbours of f(x).
//! The sources leave the choice of X open where several graphs are possible. Here X is made of
//! pairs (i, 0), (i, 1) that f exchanges; see [`links_of_x`]. Ports: inside X, then by the group
//! they lead to.
//!
//! Why the diameter is 3: let two points be two links apart. Two links between groups and one of X,
//! in any order, lead from x to all switches of the other group except x and f(x). Two links
//! between groups lead to x, and three lead to f(x), because there is a walk of three links between
//! any two points that are not linked.

use super::algebra::{
    PolarityGraphCounts, ProjectivePlane, endpoints, one_of, sized, star_product,
};
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, PromisedValue};
use base::field::prime_power;
use base::{Refusal, SwitchId};
use fabric::network::{Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// BDF: diameter 3 with (u^2 + u + 1) (u + 1) switches of network radix k = 3 (u + 1) / 2.
///
/// That is 8/27 k^3 - 4/9 k^2 + 2/3 k switches.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Bdf")]
pub struct BermondDelormeFarhi {
    /// Order of the polarity graph: an odd prime power from 3 to 128.
    pub u: u32,
    /// Endpoints per switch; the default is a third of the network radix, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_U: u32 = 128;

/// The links x - y, x < y, ascending, of a graph of degree d with the property P*. Switch 2 i + s
/// is on side s of pair i, and f exchanges the two sides.
///
/// P* asks, between any two pairs, for one of the links (i, 0) - (j, 0), (i, 1) - (j, 1) and for
/// one of (i, 0) - (j, 1), (i, 1) - (j, 0). The fewest links that satisfy it join one switch to
/// both switches of the other pair. Which pair has that switch is as in a round-robin tournament of
/// m pairs: pair i wins over the next (m - 1) / 2 pairs. The winner's two switches take turns over
/// its opponents. The links that are missing for degree d depend on d mod 4: a link in every pair
/// (0 and 1; for 0 one pair loses to all others), all four links between opposite pairs (2), or all
/// links but one between a pair and the next (3).
fn links_of_x(d: u32) -> Vec<(u32, u32)> {
    let round = if d.is_multiple_of(4) { d - 1 } else { d };
    let mut links = Vec::new();
    let mut link = |i: u32, s: u32, j: u32, t: u32| {
        let (x, y) = (2 * i + s, 2 * j + t);
        links.push((x.min(y), x.max(y)));
    };
    for i in 0..round {
        for step in 1..=(round - 1) / 2 {
            let j = (i + step) % round;
            if d % 4 == 3 && step == 1 {
                link(i, 0, j, 0);
                link(i, 1, j, 1);
                link(i, 0, j, 1);
            } else {
                link(i, step % 2, j, 0);
                link(i, step % 2, j, 1);
            }
        }
    }
    for i in 0..round {
        match d % 4 {
            0 => (0..2).for_each(|t| link(i, d / 2 % 2, d - 1, t)),
            2 if i < d / 2 => {
                (0..4).for_each(|sides| link(i, sides / 2, i + d / 2, sides % 2));
            }
            _ => {}
        }
    }
    for i in (0..d).filter(|_| d % 4 < 2) {
        link(i, 0, i, 1);
    }
    links.sort_unstable();
    links
}

impl BermondDelormeFarhi {
    /// Checks the parameters and returns the endpoints per switch.
    fn checked(&self) -> Result<u32, Refusal> {
        let good = |u| u % 2 == 1 && prime_power(u).is_some();
        one_of("u", self.u, MAX_U, "an odd prime power", good)?;
        endpoints(self.p, 3 * (self.u + 1) / 2, 3)
    }
}

impl Family for BermondDelormeFarhi {
    const NAME: &'static str = "bdf";

    fn examples() -> Vec<Self> {
        vec![Self { u: 3, p: None }, Self { u: 5, p: Some(0) }, Self { u: 7, p: Some(0) }]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let p = self.checked()?;
        let PolarityGraphCounts { points, adjacent, quadrics, apart } =
            PolarityGraphCounts::new(self.u);
        let order = u64::from(self.u) + 1;
        let n = points * order;
        let links = points * (order * order / 4) + adjacent / 2 * order;
        // in a group two links away, all but one switch are three hops away. In addition, between
        // the groups of two linked points one of which is a quadric, f(f(x)) is three hops away if
        // x is not linked to f(x); other linked points have a common neighbour, over which two hops
        // suffice
        let alone = !matches!(order / 2 % 4, 0 | 1);
        let behind = if alone { 2 * quadrics * u64::from(self.u) * order } else { 0 };
        let three = apart * order * (order - 1) + behind;
        let pairs = n * (n - 1);
        let mean =
            PromisedValue::Exact(ExactFraction { num: 2 * pairs + three - 2 * links, den: pairs });
        let radix = 3 * (self.u + 1) / 2;
        Ok(FamilyPromise::direct(n, p, links, radix, PromisedValue::Exact(3), mean))
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let p = self.checked()?;
        let plane = ProjectivePlane::new(self.u)?;
        let (nodes, order) = (plane.points(), self.u + 1);
        let mut b = TopologyBuilder::new();
        for a in 0..nodes {
            let [i, j, k] = plane.at(a);
            for x in 0..order {
                let switch = Switch::new(format!("bdf-{i}-{j}-{k}-{x}"));
                b.switch(switch.at(a, vec![i, j, k, x]));
            }
        }
        b.endpoints_on((0..nodes * order).map(SwitchId), p);
        let inner = links_of_x(order / 2);
        star_product(&mut b, (nodes, order), &inner, plane.links(), |x| x ^ 1);
        Ok(b)
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        let most = MAX_U.min(wish.radix);
        (3..=most).filter_map(|u| sized(wish, |p| Self { u, p })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, refused};
    use super::*;

    /// Every graph X has its degree, diameter at most 2 and P*, for every degree that a member
    /// needs.
    #[test]
    fn the_graphs_x_have_what_the_construction_needs() {
        for d in 2..=64_u32 {
            let links = links_of_x(d);
            let n = 2 * d as usize;
            let mut near = vec![vec![false; n]; n];
            for &(x, y) in &links {
                let (x, y) = (x as usize, y as usize);
                assert!(x < y && !near[x][y], "d={d}: {x} - {y} twice");
                (near[x][y], near[y][x]) = (true, true);
            }
            for x in 0..n {
                assert_eq!(near[x].iter().filter(|&&l| l).count(), d as usize, "d={d} x={x}");
                for y in (0..n).filter(|&y| y != x && !near[x][y]) {
                    assert!((0..n).any(|z| near[x][z] && near[z][y]), "d={d}: {x} to {y}");
                    assert!(y == x ^ 1 || near[x ^ 1][y ^ 1], "d={d}: {y} is not named from {x}");
                }
            }
        }
    }

    #[test]
    fn members_of_every_kind_keep_their_promise() {
        for u in [3, 5, 7, 9, 11, 13] {
            assert_eq!(
                broken(&BermondDelormeFarhi { u, p: Some(0) }),
                Vec::<String>::new(),
                "u={u}"
            );
        }
    }

    /// Besta & Hoefler: 8/27 k^3 - 4/9 k^2 + 2/3 k switches of network radix k.
    #[test]
    fn sizes_are_those_of_the_paper() {
        for u in (3..=127).filter(|&u| u % 2 == 1 && prime_power(u).is_some()) {
            let promise = BermondDelormeFarhi { u, p: None }.promise().expect("a member");
            let k = u64::from(promise.network_radix);
            assert_eq!(27 * promise.switches, 8 * k.pow(3) - 12 * k.pow(2) + 18 * k, "u={u}");
        }
    }

    #[test]
    fn orders_that_there_are_not_are_refused() {
        for u in [0, 1, 2, 4, 8, 15, 129, u32::MAX] {
            assert_eq!(refused(&BermondDelormeFarhi { u, p: None }).param, "u", "u={u}");
        }
        assert_eq!(refused(&BermondDelormeFarhi { u: 8, p: None }).help, "nearest: 7, 9");
        assert_eq!(refused(&BermondDelormeFarhi { u: 3, p: Some(5000) }).param, "p");
    }
}
