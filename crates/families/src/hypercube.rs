//! Hypercubes, plain and folded: switches are n-bit words, linked when they differ in one bit.
//!
//! Source: El-Amawy & Latifi, "Properties and performance of folded hypercubes", IEEE Transactions
//! on Parallel and Distributed Systems 2(1), 1991, section II.
//!
//! Ports after the endpoints come bit by bit, the first (highest) bit first; in the folded cube the
//! last port leads to the complement.

use super::algebra::{binary_cayley, endpoints, sized};
use super::hyperx::HyperX;
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, GridShape, PromisedValue, in_range};
use base::Refusal;
use fabric::geometry::{GridRowLinks, NetworkGeometry, PlaneStructure};
use fabric::network::{NetworkRecipe, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hypercube: 2^n switches of network radix n and diameter n.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hypercube {
    /// Number of dimensions, 1 to 22.
    pub n: u32,
    /// Endpoints per switch; default 1, the network radix over the diameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

/// Folded hypercube: 2^n switches, linked also to their complement, of diameter n/2, rounded up.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FoldedHypercube {
    /// Number of dimensions, 2 to 22.
    pub n: u32,
    /// Endpoints per switch; the default is network radix n + 1 over diameter, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_N: u32 = 22;

/// The generators of the graph, one for each bit, the highest first.
fn bits(n: u32) -> Vec<u32> {
    (0..n).rev().map(|i| 1 << i).collect()
}

impl Family for Hypercube {
    const NAME: &'static str = "hypercube";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Grid(GridRowLinks::Line))
    }

    fn examples() -> Vec<Self> {
        let of = |n, p| Self { n, p };
        vec![of(1, None), of(2, Some(2)), of(4, None), of(5, Some(0)), of(6, Some(1))]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let n = in_range("n", self.n, 1, MAX_N)?;
        let p = endpoints(self.p, n, n)?;
        let switches = 1_u64 << n;
        // every bit differs between a switch and half of all switches
        let links = u64::from(n) * switches / 2;
        let mean = PromisedValue::Exact(ExactFraction { num: links, den: switches - 1 });
        Ok(FamilyPromise::direct(switches, p, links, n, PromisedValue::Exact(n), mean)
            .vertex_transitive())
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let n = in_range("n", self.n, 1, MAX_N)?;
        Ok(binary_cayley("cube", n, &bits(n), endpoints(self.p, n, n)?))
    }

    fn general_form(&self) -> Option<NetworkRecipe> {
        let n = in_range("n", self.n, 1, MAX_N).ok()?;
        let p = Some(endpoints(self.p, n, n).ok()?);
        HyperX { shape: GridShape(vec![2; n as usize]), k: None, p }.general_form()
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        let most = MAX_N.min(wish.radix);
        (1..=most).filter_map(|n| sized(wish, |p| Self { n, p })).collect()
    }
}

impl Family for FoldedHypercube {
    const NAME: &'static str = "folded_hypercube";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Grid(GridRowLinks::Other))
    }

    fn examples() -> Vec<Self> {
        let of = |n, p| Self { n, p };
        vec![of(2, None), of(3, Some(1)), of(4, None), of(5, Some(0)), of(6, Some(2))]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let n = in_range("n", self.n, 2, MAX_N)?;
        let p = endpoints(self.p, n + 1, n.div_ceil(2))?;
        let switches = 1_u64 << n;
        // `n over w` other switches differ from a switch in w bits; they differ from its complement
        // in n - w bits
        let (mut sum, mut choose) = (0, 1_u64);
        for w in 1..=u64::from(n) {
            choose = choose * (u64::from(n) + 1 - w) / w;
            sum += choose * w.min(u64::from(n) + 1 - w);
        }
        let mean = PromisedValue::Exact(ExactFraction { num: sum, den: switches - 1 });
        let links = u64::from(n + 1) * switches / 2;
        let diameter = PromisedValue::Exact(n.div_ceil(2));
        Ok(FamilyPromise::direct(switches, p, links, n + 1, diameter, mean).vertex_transitive())
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let n = in_range("n", self.n, 2, MAX_N)?;
        let mut generators = bits(n);
        generators.push((1 << n) - 1);
        let p = endpoints(self.p, n + 1, n.div_ceil(2))?;
        Ok(binary_cayley("folded", n, &generators, p))
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        let most = MAX_N.min(wish.radix);
        (2..=most).filter_map(|n| sized(wish, |p| Self { n, p })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, built, refused};
    use super::*;
    use base::SwitchId;
    use fabric::network::{PortPeer, Topology};

    fn neighbour(t: &Topology, s: u32, port: u16) -> u32 {
        let PortPeer::Switch(c) = t.peer(SwitchId(s), port) else { panic!("port {port} is empty") };
        t.head(c).switch.0
    }

    #[test]
    fn cubes_to_ten_dimensions_keep_their_promise() {
        for n in 1..=10 {
            assert_eq!(broken(&Hypercube { n, p: Some(1) }), Vec::<String>::new(), "n={n}");
        }
        for n in 2..=10 {
            assert_eq!(broken(&FoldedHypercube { n, p: Some(1) }), Vec::<String>::new(), "n={n}");
        }
    }

    #[test]
    fn distances_are_hamming_and_ports_are_bits() {
        for n in 2..=6_u32 {
            let plain = built(&Hypercube { n, p: Some(3) });
            let folded = built(&FoldedHypercube { n, p: Some(3) });
            for s in 0..1_u32 << n {
                let hops = [plain.graph(), folded.graph()].map(|g| g.distances_from(s as usize));
                for o in 0..1_u32 << n {
                    let differ = (s ^ o).count_ones();
                    assert_eq!(hops[0][o as usize], differ);
                    assert_eq!(hops[1][o as usize], differ.min(n + 1 - differ));
                }
                for bit in 0..n {
                    assert_eq!(neighbour(&plain, s, 4 + bit as u16), s ^ (1 << (n - 1 - bit)));
                }
                assert_eq!(neighbour(&folded, s, 4 + n as u16), s ^ ((1 << n) - 1));
                let word = plain.switches()[s as usize].coordinates.iter();
                assert_eq!(word.fold(0, |x, bit| 2 * x + bit), s);
            }
        }
    }

    #[test]
    fn the_limits_hold() {
        let promise = Hypercube { n: 22, p: None }.promise().expect("the largest");
        assert_eq!((promise.links, promise.endpoints), (11 << 22, 1 << 22));
        for n in [0, 23, u32::MAX] {
            assert_eq!(refused(&Hypercube { n, p: None }).help, "1 to 22");
            assert_eq!(refused(&FoldedHypercube { n, p: None }).help, "2 to 22");
        }
        assert_eq!(refused(&FoldedHypercube { n: 1, p: None }).param, "n");
        assert_eq!(refused(&Hypercube { n: 3, p: Some(u32::MAX) }).param, "p");
    }
}
