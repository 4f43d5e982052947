//! Tori and meshes of any dimension: neighbours differ by one in one coordinate.
//!
//! Source: Dally & Towles, "Principles and Practices of Interconnection Networks", 2004, chapter 5.
//!
//! A dimension of size 2 has one link, in a torus as in a mesh: plus one and minus one are the same
//! neighbour, so that 2x2x...x2 is the hypercube. (`BookSim` has two links there; users who want
//! them take `hyperx` with multiplicity 2.) A dimension of size 1 has no link. Ports are sorted by
//! dimension, plus before minus. At the border of a mesh the outward port stays empty, so that a
//! port number means the same direction everywhere.

use super::cheapest::CheapestMembers;
use super::grid::GridPoints;
use super::hyperx::HyperX;
use super::need::NetworkNeed;
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, GridShape, MAX_P, PromisedValue, in_range};
use base::{Refusal, SwitchId};
use fabric::geometry::{GridRowLinks, NetworkGeometry, PlaneStructure};
use fabric::network::{Cable, CablePlug, NetworkRecipe, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Torus: a grid of any dimension whose rows are closed to rings.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Torus {
    /// Switches along each dimension: `8x8x4`. A size of 2 is one link, not two.
    pub shape: GridShape,
    /// Endpoints per switch; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

/// Mesh: a grid of any dimension whose rows are open.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshNetwork {
    /// Switches along each dimension: `8x8x4`.
    pub shape: GridShape,
    /// Endpoints per switch; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

/// A grid with closed or open rows, and the number of endpoints of its switches. Both families are
/// built from it.
struct GridLattice<'a> {
    grid: GridPoints<'a>,
    p: u32,
    closed: bool,
}

impl<'a> GridLattice<'a> {
    fn new(shape: &'a GridShape, p: Option<u32>, closed: bool) -> Result<Self, Refusal> {
        let p = in_range("p", p.unwrap_or(1), 0, MAX_P)?;
        Ok(Self { grid: GridPoints::new(shape)?, p, closed })
    }

    fn promise(&self) -> FamilyPromise {
        let n = self.grid.places;
        let (mut links, mut radix, mut diameter) = (0, 0, 0);
        // three times the sum of distances from all switches, divided by n
        let mut far = 0;
        for (_, s) in self.grid.wide() {
            radix += if s == 2 { 1 } else { 2 };
            if self.closed && s > 2 {
                links += n;
                diameter += s / 2;
                far += 3 * (s * s / 4) * (n / s);
            } else {
                links += n / s * (s - 1);
                diameter += s - 1;
                far += (s * s - 1) * (n / s);
            }
        }
        let mean = PromisedValue::Exact(ExactFraction { num: far, den: 3 * (n - 1).max(1) });
        let promise = FamilyPromise::direct(
            n,
            self.p,
            links,
            radix,
            PromisedValue::Exact(diameter as u32),
            mean,
        );
        // rows of two switches are the same in a torus and in a mesh
        let open = !self.closed && self.grid.wide().any(|(_, s)| s > 2);
        if open { promise } else { promise.vertex_transitive() }
    }

    fn build(&self, prefix: &str) -> TopologyBuilder {
        let mut b = TopologyBuilder::new();
        self.grid.populate(&mut b, prefix, self.p);
        for id in 0..self.grid.places as u32 {
            let mut ports = self.p;
            for (d, size) in self.grid.wide() {
                let (size, stride) = (size as u32, self.grid.stride(d));
                let last = id / stride % size == size - 1;
                // in a row of two, plus and minus are the same single port
                let plus = ports + 1;
                let minus = if size == 2 { plus } else { plus + 1 };
                ports = minus;
                if last && !(self.closed && size > 2) {
                    continue;
                }
                let next = if last { id - (size - 1) * stride } else { id + stride };
                let a = CablePlug { switch: SwitchId(id), port: plus as u16 };
                let z = CablePlug { switch: SwitchId(next), port: minus as u16 };
                b.link_at(a, z, Cable::default());
            }
        }
        b
    }
}

/// Offers the tori with `p` endpoints a switch whose shapes begin with `shape`, have no dimension
/// above `longest` and just carry the need.
fn carrying_shapes(
    need: &NetworkNeed,
    [p, longest, dimensions]: [u32; 3],
    shape: &mut Vec<u32>,
    members: &mut CheapestMembers<'_, Torus>,
) {
    let left = dimensions as usize - shape.len();
    let switches: u64 = shape.iter().map(|&s| u64::from(s)).product();
    let missing = need.endpoints.div_ceil(switches * u64::from(p));
    let reach = u64::from(longest).saturating_pow(left as u32);
    if reach < missing {
        return;
    }
    if left == 1 {
        let last = missing.max(2) as u32;
        shape.push(last);
        let torus = Torus { shape: GridShape(shape.clone()), p: Some(p) };
        if let Ok(promise) = torus.promise() {
            members.offer([promise.switches, promise.links], promise.radix, || torus);
        }
        shape.pop();
        return;
    }
    for size in 2..=longest {
        shape.push(size);
        carrying_shapes(need, [p, size, dimensions], shape, members);
        shape.pop();
    }
}

impl Family for Torus {
    const NAME: &'static str = "torus";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Grid(GridRowLinks::Ring))
    }

    fn examples() -> Vec<Self> {
        let of = |shape: &[u32], p| Self { shape: GridShape(shape.to_vec()), p };
        vec![
            of(&[1], None),
            of(&[7], Some(2)),
            of(&[2, 2, 2, 2], None),
            of(&[5, 4], Some(0)),
            of(&[3, 1, 2], None),
            of(&[4, 6, 3], Some(1)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        Ok(GridLattice::new(&self.shape, self.p, true)?.promise())
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        Ok(GridLattice::new(&self.shape, self.p, true)?.build(Self::NAME))
    }

    /// Tori of 2 to 6 dimensions with sizes as equal as possible, and with full bandwidth. Under
    /// uniform traffic the channels along a row of s switches carry p s / 8 (Dally & Towles,
    /// chapter 5), so that rows have at most 8 r / p switches.
    fn near(wish: &NetworkWish) -> Vec<Self> {
        let longest = |p: u32| (8.0 * wish.oversubscription / f64::from(p)) as u32;
        let mut members = Vec::new();
        for p in 1..=8 {
            for dimensions in 2..=6 {
                // all dimensions have size s, then one dimension after the other has size s + 1
                for s in 2..=longest(p) {
                    for longer in 0..dimensions {
                        let shape: Vec<u32> =
                            (0..dimensions).map(|d| s + u32::from(d < longer)).collect();
                        if shape[0] <= longest(p) {
                            members.push(Self { shape: GridShape(shape), p: Some(p) });
                        }
                    }
                }
            }
        }
        members
    }

    /// That of tori whose rows are complete graphs or squares.
    fn general_form(&self) -> Option<NetworkRecipe> {
        let p = Some(GridLattice::new(&self.shape, self.p, true).ok()?.p);
        let mut shape = Vec::new();
        for &size in &self.shape.0 {
            match size {
                4 => shape.extend([2, 2]),
                1..=3 => shape.push(size),
                _ => return None,
            }
        }
        HyperX { shape: GridShape(shape), k: None, p }.general_form()
    }

    /// All of two to six dimensions whose rows have at most 8 switches for every endpoint of a
    /// switch, the longest dimension first.
    fn carrying(need: &NetworkNeed) -> Vec<Self> {
        let of_dimensions = |dimensions| {
            let mut members = CheapestMembers::of(need);
            for p in 1..=8 {
                let longest = need.admitted(8.0 / f64::from(p));
                carrying_shapes(need, [p, longest, dimensions], &mut Vec::new(), &mut members);
            }
            members.into_members()
        };
        (2..=6).flat_map(of_dimensions).collect()
    }

    fn kind(&self) -> String {
        format!("{}D", self.shape.0.len())
    }
}

impl Family for MeshNetwork {
    const NAME: &'static str = "mesh";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Grid(GridRowLinks::Line))
    }

    fn examples() -> Vec<Self> {
        let of = |shape: &[u32], p| Self { shape: GridShape(shape.to_vec()), p };
        vec![
            of(&[1, 1], None),
            of(&[9], Some(2)),
            of(&[2, 2, 2], None),
            of(&[5, 4], Some(0)),
            of(&[3, 1, 2, 4], Some(1)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        Ok(GridLattice::new(&self.shape, self.p, false)?.promise())
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        Ok(GridLattice::new(&self.shape, self.p, false)?.build(Self::NAME))
    }
}

#[cfg(test)]
mod tests {
    use super::super::recipe;
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::{PortPeer, Topology};
    use proptest::prelude::*;

    fn built<F: Family>(family: &F) -> Topology {
        let built = family.build().expect("a member").finish(recipe(family));
        built.expect("a valid network")
    }

    fn torus(shape: &[u32]) -> Torus {
        Torus { shape: GridShape(shape.to_vec()), p: Some(0) }
    }

    fn mesh(shape: &[u32]) -> MeshNetwork {
        MeshNetwork { shape: GridShape(shape.to_vec()), p: Some(0) }
    }

    /// The distance along one dimension, from the two coordinates.
    fn apart(a: u32, b: u32, size: u32, closed: bool) -> u32 {
        let straight = a.abs_diff(b);
        if closed { straight.min(size - straight) } else { straight }
    }

    fn distances_are_taxicab(t: &Topology, shape: &[u32], closed: bool) {
        for (v, from) in t.switches().iter().enumerate() {
            let found = t.graph().distances_from(v);
            for (w, to) in t.switches().iter().enumerate() {
                let steps =
                    |d: usize| apart(from.coordinates[d], to.coordinates[d], shape[d], closed);
                let expected: u32 = (0..shape.len()).map(steps).sum();
                assert_eq!(found[w], expected, "{} to {}", from.name, to.name);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn grids_are_what_they_promise_and_measure_as_grids(
            shape in prop::collection::vec(1_u32..6, 1..5),
            p in 0_u32..3,
        ) {
            let t = Torus { shape: GridShape(shape.clone()), p: Some(p) };
            let m = MeshNetwork { shape: GridShape(shape.clone()), p: Some(p) };
            let (bt, bm) = (built(&t), built(&m));
            let promised = [t.promise().expect("a torus"), m.promise().expect("a mesh")];
            prop_assert_eq!(broken_promises(&promised[0], &bt), Vec::<String>::new());
            prop_assert_eq!(broken_promises(&promised[1], &bm), Vec::<String>::new());
            distances_are_taxicab(&bt, &shape, true);
            distances_are_taxicab(&bm, &shape, false);
        }
    }

    #[test]
    fn a_port_leads_one_step_along_its_dimension() {
        let shape = [4, 1, 2, 3];
        let t = built(&Torus { shape: GridShape(shape.to_vec()), p: Some(2) });
        // ports 1 and 2 have endpoints; dimension 0: 3 plus, 4 minus; dimension 2: 5; dimension 3:
        // 6, 7
        let steps = [(3, 0, 1), (4, 0, 3), (5, 2, 1), (6, 3, 1), (7, 3, 2)];
        for s in 0..24 {
            for (port, d, step) in steps {
                let PortPeer::Switch(c) = t.peer(SwitchId(s), port) else {
                    panic!("port {port} of switch {s} is empty");
                };
                let mut expected = t.switches()[s as usize].coordinates.clone();
                expected[d] = (expected[d] + step) % shape[d];
                assert_eq!(t.switches()[t.head(c).switch.ix()].coordinates, expected);
            }
            assert_eq!(t.peer(SwitchId(s), 8), PortPeer::Empty);
        }
    }

    #[test]
    fn twos_make_the_hypercube() {
        for n in 1..9_u32 {
            let shape = vec![2; n as usize];
            let of = ExactFraction { num: u64::from(n) << (n - 1), den: (1 << n) - 1 };
            for promise in [torus(&shape).promise(), mesh(&shape).promise()] {
                let promise = promise.expect("a cube");
                assert_eq!(promise.links, u64::from(n) << (n - 1));
                assert_eq!((promise.diameter, promise.network_radix), (PromisedValue::Exact(n), n));
                let PromisedValue::Exact(mean) = promise.mean_distance else { panic!("not exact") };
                assert_eq!(mean.num * of.den, of.num * mean.den);
            }
            let t = built(&torus(&shape));
            for link in t.links() {
                assert_eq!((link.a.switch.0 ^ link.b.switch.0).count_ones(), 1);
            }
        }
    }

    /// Dally & Towles: per dimension k/4 for even k, (k^2 - 1) / (4 k) for odd k, over all pairs,
    /// those of a switch with itself included; (k^2 - 1) / (3 k) in a mesh.
    #[test]
    fn means_are_those_of_the_textbook() {
        let mean = |promise: Result<FamilyPromise, Refusal>| match promise
            .expect("a grid")
            .mean_distance
        {
            PromisedValue::Exact(r) => r.num as f64 / r.den as f64,
            PromisedValue::Between(..) => panic!("not exact"),
        };
        for (k, n) in [(3, 2), (4, 3), (8, 3), (7, 4), (16, 1)] {
            let (shape, size) = (vec![k; n], f64::from(k));
            let all = size.powi(n as i32);
            let others = all / (all - 1.0) * n as f64;
            let ring = if k % 2 == 0 { size / 4.0 } else { (size * size - 1.0) / (4.0 * size) };
            let row = (size * size - 1.0) / (3.0 * size);
            assert!((mean(torus(&shape).promise()) - ring * others).abs() < 1e-12, "{k}^{n}");
            assert!((mean(mesh(&shape).promise()) - row * others).abs() < 1e-12, "{k}^{n}");
        }
    }

    #[test]
    fn impossible_shapes_are_refused_by_promise_and_build_alike() {
        let shapes: [&[u32]; 5] = [&[], &[4, 0], &[u32::MAX, u32::MAX], &[2; 31], &[1; 33]];
        for shape in shapes {
            let (t, m) = (torus(shape), mesh(shape));
            let refusals = [
                t.promise().expect_err("no torus"),
                t.build().expect_err("no torus"),
                m.promise().expect_err("no mesh"),
                m.build().expect_err("no mesh"),
            ];
            assert!(refusals.iter().all(|r| r.param == "shape" && *r == refusals[0]), "{shape:?}");
        }
        let crowded = Torus { shape: GridShape(vec![3]), p: Some(MAX_P + 1) };
        assert_eq!(crowded.promise().expect_err("too many").help, "0 to 4096");
        let long = torus(&[1 << 30]).promise().expect("the longest ring");
        assert_eq!(long.diameter, PromisedValue::Exact(1 << 29));
    }
}
