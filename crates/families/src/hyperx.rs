//! HyperX: a grid whose rows are complete graphs, as in flattened butterflies and hypercubes.
//!
//! Source: Ahn et al., "HyperX: topology, routing, and packaging of efficient large-scale
//! networks", SC 2009, section 2; Kim, Dally & Abts, "Flattened butterfly: a cost-efficient
//! topology for high-radix networks", ISCA 2007, for the number of endpoints.
//!
//! Ports are sorted by dimension, and in a dimension by the coordinate they lead to; parallel links
//! have consecutive ports.

use super::cheapest::CheapestMembers;
use super::grid::GridPoints;
use super::need::NetworkNeed;
use super::wish::NetworkWish;
use super::{
    ExactFraction, Family, FamilyPromise, GridShape, MAX_P, MAX_PORTS, PromisedValue, in_range,
    recipe,
};
use base::{Refusal, SwitchId};
use fabric::geometry::{GridRowLinks, NetworkGeometry, PlaneStructure};
use fabric::network::{Cable, CablePlug, NetworkRecipe, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// HyperX: switches on a grid, linked when they differ in exactly one coordinate.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HyperX {
    /// Switches along each dimension: `4x6`.
    pub shape: GridShape,
    /// Parallel links a pair, along each dimension (`1x2`) or one number for all; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<GridShape>,
    /// Endpoints per switch. The default, the least of size times k over the dimensions, is the
    /// most that uniform traffic can use in full (the flattened butterfly's rule).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

/// The checked parameters of a HyperX network, with what follows from them.
struct CheckedHyperXParameters<'a> {
    grid: GridPoints<'a>,
    /// The number of parallel links between two linked switches, by dimension.
    parallel: Vec<u32>,
    radix: u32,
    p: u32,
}

impl HyperX {
    fn checked(&self) -> Result<CheckedHyperXParameters<'_>, Refusal> {
        let grid = GridPoints::new(&self.shape)?;
        let parallel = self.multiplicities()?;
        let ports = |(d, size): (usize, u64)| u64::from(parallel[d]) * (size - 1);
        let radix: u64 = grid.wide().map(ports).sum();
        if radix > u64::from(MAX_PORTS) {
            let why = format!("a switch needs {radix} ports");
            return Err(Refusal::new("shape", why, format!("at most {MAX_PORTS}")));
        }
        let even = grid.wide().map(|(d, size)| u64::from(parallel[d]) * size).min();
        let most = (MAX_PORTS - radix as u32).min(MAX_P);
        let default = even.unwrap_or(1).min(u64::from(MAX_P)) as u32;
        let p = in_range("p", self.p.unwrap_or(default), 0, most)?;
        Ok(CheckedHyperXParameters { grid, parallel, radix: radix as u32, p })
    }

    fn multiplicities(&self) -> Result<Vec<u32>, Refusal> {
        let dimensions = self.shape.0.len();
        let parallel = match self.k.as_ref().map(|k| &k.0[..]) {
            None => vec![1; dimensions],
            Some(&[k]) => vec![k; dimensions],
            Some(k) if k.len() == dimensions => k.to_vec(),
            Some(k) => {
                let why = format!("{} numbers for {dimensions} dimensions", k.len());
                return Err(Refusal::new("k", why, "one number, or one a dimension"));
            }
        };
        for &k in &parallel {
            in_range("k", k, 1, MAX_PORTS)?;
        }
        Ok(parallel)
    }
}

/// Offers the shapes of this number of dimensions that begin with `shape`, the longest dimension
/// first, each with as many links between two switches as the endpoints of a switch need.
fn carrying_shapes(
    need: &NetworkNeed,
    dimensions: usize,
    shape: &mut Vec<u32>,
    members: &mut CheapestMembers<'_, HyperX>,
) {
    let radix = need.wish.radix;
    if shape.len() < dimensions {
        let longest = shape.last().copied().unwrap_or(radix);
        let ports: u32 = shape.iter().map(|s| s - 1).sum();
        // one switch alone is a grid of one
        let least = if dimensions == 1 { 1 } else { 2 };
        for size in least..=longest.min(radix.saturating_sub(ports)) {
            shape.push(size);
            carrying_shapes(need, dimensions, shape, members);
            shape.pop();
        }
        return;
    }
    let switches: u64 = shape.iter().map(|&s| u64::from(s)).product();
    let p = need.per_switch(switches);
    if p > u64::from(radix) {
        return;
    }
    let links = need.links_for(p) as u32;
    let k: Vec<u32> = shape.iter().map(|&s| if s > 1 { links.div_ceil(s) } else { 1 }).collect();
    let network_radix: u32 = shape.iter().zip(&k).map(|(s, k)| k * (s - 1)).sum();
    let counts = [switches, switches * u64::from(network_radix) / 2];
    members.offer(counts, network_radix + p as u32, || HyperX {
        shape: GridShape(shape.clone()),
        k: k.iter().any(|&k| k > 1).then_some(GridShape(k)),
        p: Some(p as u32),
    });
}

impl Family for HyperX {
    const NAME: &'static str = "hyperx";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Grid(GridRowLinks::Complete))
    }

    fn examples() -> Vec<Self> {
        let shape = |s: &[u32]| GridShape(s.to_vec());
        let of = |s: &[u32], p| Self { shape: shape(s), k: None, p };
        let with = |s: &[u32], k: &[u32]| Self { k: Some(shape(k)), ..of(s, None) };
        vec![
            of(&[1], None),
            of(&[8], Some(3)),
            of(&[4, 6], None),
            of(&[2, 2, 2, 2], Some(0)),
            of(&[3, 1, 4], Some(1)),
            with(&[4, 3], &[1, 2]),
            with(&[3, 2, 2], &[2]),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let CheckedHyperXParameters { grid, radix, p, .. } = self.checked()?;
        let n = grid.places;
        let diameter = PromisedValue::Exact(grid.wide().count() as u32);
        // n - n/s of the n switches differ from a switch in a given coordinate
        let far = grid.wide().map(|(_, s)| n - n / s).sum();
        let mean = PromisedValue::Exact(ExactFraction { num: far, den: (n - 1).max(1) });
        let links = n * u64::from(radix) / 2;
        Ok(FamilyPromise::direct(n, p, links, radix, diameter, mean).vertex_transitive())
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let CheckedHyperXParameters { grid, parallel, p, .. } = self.checked()?;
        let mut b = TopologyBuilder::new();
        grid.populate(&mut b, Self::NAME, p);
        for id in 0..grid.places as u32 {
            let mut first = p + 1;
            for (d, size) in grid.wide() {
                let (size, stride, k) = (size as u32, grid.stride(d), parallel[d]);
                let here = id / stride % size;
                for there in here + 1..size {
                    let other = SwitchId(id + (there - here) * stride);
                    for lane in 0..k {
                        // switch `there` is neighbour number `there` - 1 along the row, seen from
                        // here
                        let a = (first + (there - 1) * k + lane) as u16;
                        let z = (first + here * k + lane) as u16;
                        b.link_at(
                            CablePlug { switch: SwitchId(id), port: a },
                            CablePlug { switch: other, port: z },
                            Cable::default(),
                        );
                    }
                }
                first += (size - 1) * k;
            }
        }
        Ok(b)
    }

    /// One to four dimensions, with sizes as equal as possible, and with as many endpoints as the
    /// shortest row has switches (Ahn et al., section 2: relative bisection 1/2 and above).
    fn near(wish: &NetworkWish) -> Vec<Self> {
        let mut members = Vec::new();
        for dimensions in 1..=4_u32 {
            // all dimensions have size s, then one dimension after the other has size s + 1
            for s in 2..=wish.radix / dimensions + 1 {
                for longer in 0..dimensions {
                    let shape: Vec<u32> =
                        (0..dimensions).map(|d| s + u32::from(d < longer)).collect();
                    let links: u32 = shape.iter().map(|s| s - 1).sum();
                    let rule = f64::from(s);
                    // slightly fewer endpoints than the rule gives, where there are not enough
                    // ports
                    let left = wish.radix.saturating_sub(links);
                    let full = wish.per_switch(rule, rule);
                    let p = full.min(left);
                    if 10 * p >= 9 * full {
                        members.push(Self { shape: GridShape(shape), k: None, p: Some(p) });
                    }
                }
            }
        }
        members
    }

    fn general_form(&self) -> Option<NetworkRecipe> {
        let k = self.multiplicities().ok()?;
        let mut rows: Vec<[u32; 2]> = self.shape.0.iter().zip(k).map(|(&s, k)| [s, k]).collect();
        rows.retain(|&[size, _]| size > 1);
        rows.sort_unstable_by(|a, b| b.cmp(a));
        let [shape, k] = [0, 1].map(|i| GridShape(rows.iter().map(|row| row[i]).collect()));
        let k = k.0.iter().any(|&k| k > 1).then_some(k);
        Some(recipe(&Self { shape, k, p: Some(self.checked().ok()?.p) }))
    }

    /// All of at most four dimensions, with as many parallel links in each as its size needs to
    /// carry the endpoints of a switch.
    fn carrying(need: &NetworkNeed) -> Vec<Self> {
        let of_dimensions = |dimensions| {
            let mut members = CheapestMembers::of(need);
            carrying_shapes(need, dimensions, &mut Vec::new(), &mut members);
            members.into_members()
        };
        (1..=4).flat_map(of_dimensions).collect()
    }

    fn kind(&self) -> String {
        format!("{}D", self.shape.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::recipe;
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::{PortPeer, Topology};
    use proptest::prelude::*;

    fn hyperx(shape: &[u32], k: Option<&[u32]>, p: Option<u32>) -> HyperX {
        HyperX { shape: GridShape(shape.to_vec()), k: k.map(|k| GridShape(k.to_vec())), p }
    }

    fn built(member: &HyperX) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn members_keep_their_promise_and_distances_are_hamming(
            dimensions in prop::collection::vec((1_u32..6, 1_u32..4), 1..4),
            p in 0_u32..3,
        ) {
            let (shape, k): (Vec<u32>, Vec<u32>) = dimensions.into_iter().unzip();
            let member = hyperx(&shape, Some(&k), Some(p));
            let t = built(&member);
            let promise = member.promise().expect("a member");
            prop_assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
            for (v, from) in t.switches().iter().enumerate() {
                let found = t.graph().distances_from(v);
                for (w, to) in t.switches().iter().enumerate() {
                    let differ: Vec<usize> = (0..shape.len())
                        .filter(|&d| from.coordinates[d] != to.coordinates[d])
                        .collect();
                    prop_assert_eq!(found[w] as usize, differ.len());
                    let links = t.graph().neighbours(v).iter().filter(|&&n| n as usize == w);
                    let expected = if let [d] = differ[..] { k[d] } else { 0 };
                    prop_assert_eq!(links.count(), expected as usize);
                }
            }
        }
    }

    /// Kim, Dally & Abts: a k-ary n-flat has k^(n-1) routers of radix k + (n-1)(k-1), k endpoints
    /// on each; and the mean distance [sum(1 - 1/s)] n / (n - 1).
    #[test]
    fn the_flattened_butterfly_is_a_member_with_its_own_concentration() {
        for (k, n) in [(4_u32, 3_u32), (8, 2), (3, 4), (10, 4)] {
            let member = hyperx(&vec![k; n as usize - 1], None, None);
            let promise = member.promise().expect("a flat");
            assert_eq!(promise.switches, u64::from(k.pow(n - 1)));
            assert_eq!(promise.endpoints, u64::from(k.pow(n)));
            assert_eq!(promise.network_radix, (n - 1) * (k - 1));
            assert_eq!(promise.diameter, PromisedValue::Exact(n - 1));
            let PromisedValue::Exact(mean) = promise.mean_distance else { panic!("not exact") };
            let switches = f64::from(k.pow(n - 1));
            let expected =
                f64::from(n - 1) * (1.0 - 1.0 / f64::from(k)) * switches / (switches - 1.0);
            assert!((mean.num as f64 / mean.den as f64 - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn ports_are_grouped_by_dimension_coordinate_and_lane() {
        let t = built(&hyperx(&[3, 4], Some(&[1, 2]), Some(2)));
        for s in 0..12_u32 {
            let (x, y) = (s / 4, s % 4);
            let rows = (0..3).filter(|&c| c != x).map(|c| c * 4 + y);
            let columns = (0..4).filter(|&c| c != y).flat_map(|c| [x * 4 + c; 2]);
            for (port, expected) in (3..).zip(rows.chain(columns)) {
                let PortPeer::Switch(c) = t.peer(SwitchId(s), port) else {
                    panic!("port {port} of switch {s} is empty");
                };
                assert_eq!(t.head(c).switch.0, expected, "port {port} of switch {s}");
            }
        }
        assert_eq!((t.network_radix(), t.radix()), (8, 10));
        // parallel links are not crossed: columns start at port 5, with two links for each pair
        let lane = |plug: CablePlug| (plug.port - 5) % 2;
        let columns = t.links().iter().filter(|l| l.a.port >= 5);
        assert!(columns.clone().all(|l| lane(l.a) == lane(l.b)));
        assert_eq!(columns.count(), 3 * 6 * 2);
    }

    proptest! {
        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            shape in prop::collection::vec(prop_oneof![any::<u32>(), 0_u32..40], 0..8),
            k in prop::option::of(prop::collection::vec(any::<u32>(), 0..8)),
            p in prop::option::of(any::<u32>()),
        ) {
            let member = hyperx(&shape, k.as_deref(), p);
            if let Ok(promise) = member.promise() {
                let switches: u64 = shape.iter().map(|&s| u64::from(s)).product();
                prop_assert_eq!(promise.switches, switches);
                prop_assert!(switches > 0);
            }
        }
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        type Case = (&'static [u32], Option<&'static [u32]>, Option<u32>, &'static str);
        let cases: [Case; 7] = [
            (&[4, 0], None, None, "shape"),
            (&[1 << 20], None, None, "shape"),
            (&[2, 3], Some(&[1, 2, 3]), None, "k"),
            (&[2, 3], Some(&[0]), None, "k"),
            (&[2, 3], Some(&[u32::MAX]), None, "k"),
            (&[4, 4], None, Some(4097), "p"),
            (&[65_000], None, Some(600), "p"),
        ];
        for (shape, k, p, param) in cases {
            let member = hyperx(shape, k, p);
            let refusal = member.promise().expect_err("no such member");
            assert_eq!(refusal.param, param, "{member:?}");
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
    }
}
