//! Extended generalized fat trees (XGFT), with parallel links and with planes.
//!
//! Source: Öhring, Ibel, Das & Kumar, "On generalized fat trees", IPPS 1995, section 2; parallel
//! links as in the PGFT of Zahavi, "D-Mod-K routing providing non-blocking traffic for shift
//! permutations on real life fat trees", CCIT report 776, Technion 2010.
//!
//! A switch of level i is named by digits: x(h) ... x(i+1) say in which subtree of each higher
//! level it is, and y(i) ... y(1) which of the equivalent switches of its subtree it is. Its
//! coordinates are its level and these digits in this order. Its group is x(h), and the highest
//! level is a group of its own. An endpoint has a rail to each y(1), and no link changes y(1), so
//! that y(1) is the plane. Ports: endpoints or links down by x(i), then links up by y(i+1);
//! parallel links have consecutive ports.

use super::cheapest::CheapestMembers;
use super::need::NetworkNeed;
use super::wish::NetworkWish;
use super::{
    ExactFraction, Family, FamilyPromise, GridShape, MAX_P, MAX_PORTS, PromisedValue, in_range,
};
use base::{Refusal, SwitchId};
use fabric::geometry::{NetworkGeometry, PlaneStructure};
use fabric::network::{Cable, Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Extended generalized fat tree: h levels of switches, every branching of its own size.
///
/// Endpoints are level 0. An element of level i - 1 has w(i) parents, one of level i has m(i)
/// children.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Xgft {
    /// Children m(1) ... m(h) of the switches of each level, lowest first: `4x4x8`. The first is
    /// the number of endpoints per leaf switch.
    pub m: GridShape,
    /// Parents w(1) ... w(h) of the elements of each level, endpoints first: `1x4x4`. The first is
    /// the number of rails of an endpoint, each in a plane of its own.
    pub w: GridShape,
    /// Parallel links between a child and a parent, by level as w, the first 1; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<GridShape>,
}

/// The most levels.
const MAX_LEVELS: usize = 32;
/// The most switches of a level, and the most endpoints.
const MOST: u64 = 1 << 30;
/// The most rails of an endpoint.
const MAX_RAILS: u32 = 64;

/// The checked parameters of an XGFT; levels count from 0, endpoints are below level 0.
struct XgftShape<'a> {
    m: &'a [u32],
    w: &'a [u32],
    parallel: Vec<u32>,
    /// The number of switches of each level.
    switches: Vec<u64>,
    endpoints: u64,
}

impl Xgft {
    fn tree(&self) -> Result<XgftShape<'_>, Refusal> {
        let (m, w) = (&self.m.0[..], &self.w.0[..]);
        let h = m.len();
        if !(1..=MAX_LEVELS).contains(&h) {
            let why = format!("{h} levels");
            return Err(Refusal::new("m", why, format!("1 to {MAX_LEVELS} numbers")));
        }
        let parallel = self.parallel.as_ref().map_or_else(|| vec![1; h], |p| p.0.clone());
        for (param, given) in [("w", w), ("parallel", &parallel[..])] {
            if given.len() != h {
                let why = format!("{} numbers for the {h} levels of m", given.len());
                return Err(Refusal::new(param, why, format!("{h} numbers")));
            }
        }
        for level in 0..h {
            let [most_m, most_w] = if level == 0 { [MAX_P, MAX_RAILS] } else { [MAX_PORTS; 2] };
            in_range("m", m[level], 1, most_m)?;
            in_range("w", w[level], 1, most_w)?;
            in_range("parallel", parallel[level], 1, if level == 0 { 1 } else { MAX_PORTS })?;
        }
        let size = |above: &[u32], below: &[u32]| {
            let all = above.iter().chain(below).try_fold(1_u64, |n, &x| n.checked_mul(x.into()));
            all.filter(|&n| n <= MOST).ok_or_else(|| {
                let why = "too many switches or endpoints".to_owned();
                Refusal::new("m", why, format!("at most {MOST} on a level"))
            })
        };
        let endpoints = size(m, &[])?;
        let switches: Result<Vec<u64>, Refusal> =
            (0..h).map(|level| size(&m[level + 1..], &w[..=level])).collect();
        let tree = XgftShape { m, w, parallel, switches: switches?, endpoints };
        for level in 0..h {
            let ports = u64::from(m[level]) * u64::from(tree.parallel[level]) + tree.up(level);
            if ports > u64::from(MAX_PORTS) {
                let why = format!("a switch of level {} needs {ports} ports", level + 1);
                return Err(Refusal::new("m", why, format!("at most {MAX_PORTS}")));
            }
        }
        Ok(tree)
    }
}

impl XgftShape<'_> {
    /// The number of up-links of a switch of `level`.
    fn up(&self, level: usize) -> u64 {
        let links = |&w: &u32| u64::from(w) * u64::from(self.parallel[level + 1]);
        self.w.get(level + 1).map_or(0, links)
    }

    /// Sizes of the digits of a switch of `level`, the most significant first.
    fn sizes(&self, level: usize) -> Vec<u32> {
        let (below, above) = (&self.w[..=level], &self.m[level + 1..]);
        above.iter().rev().chain(below.iter().rev()).copied().collect()
    }

    /// The digits of number `id` on `level`: x(h) ... x(level+2), y(level+1) ... y(1).
    fn digits(&self, level: usize, id: u64) -> Vec<u32> {
        let mut rest = id;
        let mut digits = self.sizes(level);
        for digit in digits.iter_mut().rev() {
            let size = u64::from(*digit);
            *digit = (rest % size) as u32;
            rest /= size;
        }
        digits
    }

    /// The number of the switch of `level` with these digits: the inverse of [`XgftShape::digits`].
    fn number(&self, level: usize, digits: &[u32]) -> u32 {
        self.sizes(level).iter().zip(digits).fold(0, |n, (size, digit)| n * size + digit)
    }

    fn add_switches(&self, b: &mut TopologyBuilder) {
        let top = self.m.len() - 1;
        for (level, &count) in self.switches.iter().enumerate() {
            for id in 0..count {
                let digits = self.digits(level, id);
                let name: Vec<String> = digits.iter().map(u32::to_string).collect();
                let name = format!("xgft-{level}-{}", name.join("-"));
                let (plane, pod) = (digits[top] as u16, digits[0]);
                let group = if level < top { pod } else { self.m[top] };
                let group = if top == 0 { 0 } else { group };
                let coordinates = std::iter::once(level as u32).chain(digits).collect();
                let mut switch = Switch::new(name).at(group, coordinates);
                (switch.level, switch.plane) = (level as u8, plane);
                b.switch(switch);
            }
        }
    }
}

/// Offers the trees that begin with `branches` and carry the need: pairs of children and parents
/// from the lowest level up, where a switch of the last of these levels has `up` links upwards.
fn carrying_trees(
    need: &NetworkNeed,
    levels: usize,
    branches: &mut Vec<[u32; 2]>,
    up: u32,
    members: &mut CheapestMembers<'_, Xgft>,
) {
    let radix = need.wish.radix;
    let below: u64 = branches.iter().map(|b| u64::from(b[0])).product();
    if branches[branches.len() - 1][0] + up > radix {
        return;
    }
    if branches.len() + 1 < levels {
        let most = need.endpoints.div_ceil(below).min(radix.into()) as u32;
        for children in 2..=most.min(radix - 1) {
            branches.push([children, up]);
            carrying_trees(need, levels, branches, children, members);
            branches.pop();
        }
        return;
    }
    let top = need.endpoints.div_ceil(below).max(2);
    if top > u64::from(radix) {
        return;
    }
    let top = top as u32;
    for parallel in 1..=(radix / top).min(up) {
        branches.push([top, up.div_ceil(parallel)]);
        offer_tree(branches, parallel, members);
        branches.pop();
    }
}

/// Offers the tree of these branches with `parallel` links to each switch of the top level.
fn offer_tree(branches: &[[u32; 2]], parallel: u32, members: &mut CheapestMembers<'_, Xgft>) {
    let levels = branches.len();
    let (mut switches, mut links, mut radix) = (0, 0, 0);
    for level in 0..levels {
        let above: u64 = branches[level + 1..].iter().map(|b| u64::from(b[0])).product();
        let below: u64 = branches[..=level].iter().map(|b| u64::from(b[1])).product();
        let times = |level| if level + 1 == levels { parallel } else { 1 };
        let up = branches.get(level + 1).map_or(0, |b| b[1] * times(level + 1));
        switches += above * below;
        links += above * below * u64::from(up);
        radix = radix.max(branches[level][0] * times(level) + up);
    }
    members.offer([switches, links], radix, || {
        let digits = |i: usize| GridShape(branches.iter().map(|b| b[i]).collect());
        let mut several = vec![1; levels];
        several[levels - 1] = parallel;
        let parallel = (parallel > 1).then_some(GridShape(several));
        Xgft { m: digits(0), w: digits(1), parallel }
    });
}

impl Family for Xgft {
    const NAME: &'static str = "xgft";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Levels)
    }

    fn examples() -> Vec<Self> {
        let of = |m: &[u32], w: &[u32]| Self {
            m: GridShape(m.to_vec()),
            w: GridShape(w.to_vec()),
            parallel: None,
        };
        let with = |m: &[u32], w: &[u32], parallel: &[u32]| Self {
            parallel: Some(GridShape(parallel.to_vec())),
            ..of(m, w)
        };
        vec![
            of(&[3], &[1]),
            of(&[2, 4], &[1, 3]),
            of(&[2, 3, 2], &[1, 2, 2]),
            of(&[1, 2, 2, 2], &[1, 2, 1, 3]),
            of(&[2, 2, 3], &[2, 2, 1]),
            of(&[2, 1, 3], &[1, 2, 2]),
            with(&[3, 4], &[1, 2], &[1, 3]),
            with(&[2, 2, 3], &[1, 2, 1], &[1, 1, 2]),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let t = self.tree()?;
        let h = t.m.len();
        let ports_down = |level: usize| u64::from(t.m[level]) * u64::from(t.parallel[level]);
        let network = |level: usize| t.up(level) + if level == 0 { 0 } else { ports_down(level) };
        let most = |ports: &dyn Fn(usize) -> u64| (0..h).map(ports).max().unwrap_or(0) as u32;
        // From a leaf: (m(i) - 1) m(i-1) ... m(2) leaves differ in x(i) and in no higher digit, and
        // the path to them goes up to level i.
        let (mut sum, mut leaves, mut diameter) = (0, 1_u64, 0);
        for (level, &m) in t.m.iter().enumerate().skip(1).filter(|&(_, &m)| m > 1) {
            diameter = 2 * level as u32;
            sum += leaves * u64::from(m - 1) * u64::from(diameter);
            leaves *= u64::from(m);
        }
        Ok(FamilyPromise {
            switches: t.switches.iter().sum(),
            endpoints: t.endpoints,
            links: (0..h).map(|level| t.switches[level] * t.up(level)).sum(),
            network_radix: most(&network),
            diameter: PromisedValue::Exact(diameter),
            mean_distance: PromisedValue::Exact(ExactFraction {
                num: sum,
                den: (leaves - 1).max(1),
            }),
            edge_switches: t.switches[0],
            radix: most(&|level| ports_down(level) + t.up(level)),
            planes: t.w[0],
            vertex_transitive: false,
        })
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let t = self.tree()?;
        let mut b = TopologyBuilder::new();
        t.add_switches(&mut b);
        let rails = u64::from(t.w[0]);
        for i in 0..t.endpoints {
            let endpoint = b.endpoint(format!("host-{i:04}"), None);
            let leaf = i / u64::from(t.m[0]);
            for rail in 0..rails {
                let switch = SwitchId((leaf * rails + rail) as u32);
                b.attach(endpoint, switch, 0, Cable::default());
            }
        }
        let mut first = 0;
        for level in 1..t.m.len() {
            let below = first;
            first += t.switches[level - 1] as u32;
            for child in 0..t.switches[level - 1] {
                // the lowest x of the child is replaced by the highest y of the parent
                let mut digits = t.digits(level - 1, child);
                let place = t.m.len() - 1 - level;
                for y in 0..t.w[level] {
                    digits[place] = y;
                    let parent = SwitchId(first + t.number(level, &digits));
                    for _ in 0..t.parallel[level] {
                        b.link(SwitchId(below + child as u32), parent);
                    }
                }
            }
        }
        Ok(b)
    }

    /// Trees of k-port switches, half their ports up and half down, of two to five levels, with as
    /// many subtrees under the top level as the wish needs; none where the wish names no number,
    /// because the number of levels is not bounded.
    fn near(wish: &NetworkWish) -> Vec<Self> {
        let endpoints = wish.endpoints.unwrap_or(u64::MAX);
        let r = wish.oversubscription;
        let mut members = Vec::new();
        for k in 2..=wish.radix.min(4096) {
            let rule = f64::from(k) / (r + 1.0);
            let p = wish.per_switch(rule, rule);
            let Some(up) = k.checked_sub(p).filter(|&up| up > 0) else { continue };
            if f64::from(p) > r * f64::from(up) + 1e-9 {
                continue;
            }
            let half = k / 2;
            for levels in 2..=4_u32 {
                let subtree = u64::from(p) * u64::from(half).pow(levels - 2);
                let wished = (endpoints / subtree).clamp(1, k.into()) as u32;
                for top in [wished, wished + 1].into_iter().filter(|&top| top <= k) {
                    let mut m = vec![half; levels as usize];
                    let mut w = m.clone();
                    let last = m.len() - 1;
                    (m[0], m[last], w[0], w[1]) = (p, top, 1, up);
                    // the links go to fewer top switches, each with several links to a subtree
                    let links = w[last];
                    let fits = |n: &u32| links.is_multiple_of(*n);
                    let most = (1..=k / top).rev().find(fits).unwrap_or(1);
                    w[last] = links / most;
                    let mut parallel = vec![1; m.len()];
                    parallel[last] = most;
                    let parallel = (most > 1).then_some(GridShape(parallel));
                    members.push(Self { m: GridShape(m), w: GridShape(w), parallel });
                }
            }
        }
        members
    }

    /// All of two to four levels of full bandwidth above the leaves, with as few switches of the
    /// top level as its ports and parallel links allow.
    fn carrying(need: &NetworkNeed) -> Vec<Self> {
        let of_levels = |levels| {
            let mut members = CheapestMembers::of(need);
            for p in 1..need.wish.radix {
                let up = need.links_for(p.into()) as u32;
                carrying_trees(need, levels, &mut vec![[p, 1]], up, &mut members);
            }
            members.into_members()
        };
        (2..=4).flat_map(of_levels).collect()
    }

    fn kind(&self) -> String {
        format!("{} levels", self.m.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fat_tree::FatTree;
    use super::super::recipe;
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::Topology;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn xgft(m: &[u32], w: &[u32], parallel: Option<&[u32]>) -> Xgft {
        let shape = |s: &[u32]| GridShape(s.to_vec());
        Xgft { m: shape(m), w: shape(w), parallel: parallel.map(shape) }
    }

    fn built(member: &Xgft) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    /// Öhring et al., section 2: N = m1 ... mh, and level i has m(i+1) ... m(h) w(1) ... w(i).
    #[test]
    fn counts_are_those_of_the_paper() {
        let promise = xgft(&[4, 4, 8], &[1, 4, 4], None).promise().expect("a member");
        assert_eq!(promise.endpoints, 4 * 4 * 8);
        assert_eq!(promise.switches, (4 * 8) + (8 * 4) + (4 * 4));
        assert_eq!(promise.links, 32 * 4 + 32 * 4);
        assert_eq!((promise.network_radix, promise.radix), (8, 8));
        assert_eq!(promise.diameter, PromisedValue::Exact(4));
    }

    /// A three-level fat tree of k-port switches is XGFT(3; k/2, k/2, k; 1, k/2, k/2).
    #[test]
    fn the_fat_tree_is_a_member() {
        for half in [1, 2, 3, 4] {
            let k = 2 * half;
            let tree = FatTree { levels: Some(3), k: Some(k), ..FatTree::default() };
            let other = tree.build().expect("a member").finish(recipe(&tree)).expect("valid");
            let t = built(&xgft(&[half, half, k], &[1, half, half], None));
            assert_eq!(t.switches().len(), other.switches().len());
            let distances = |t: &Topology| {
                let mut counted = BTreeMap::new();
                for v in 0..t.switches().len() {
                    for (w, d) in t.graph().distances_from(v).into_iter().enumerate() {
                        let levels = [v, w].map(|s| t.switches()[s].level);
                        *counted.entry((levels, d)).or_insert(0) += 1;
                    }
                }
                counted
            };
            assert_eq!(distances(&t), distances(&other), "k={k}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn members_keep_their_promise_and_the_links_of_the_definition(
            levels in prop::collection::vec((1_u32..4, 1_u32..4, 1_u32..3), 1..5),
        ) {
            let m: Vec<u32> = levels.iter().map(|l| l.0).collect();
            let w: Vec<u32> = levels.iter().map(|l| l.1).collect();
            let mut parallel: Vec<u32> = levels.iter().map(|l| l.2).collect();
            parallel[0] = 1;
            let member = xgft(&m, &w, Some(&parallel));
            let t = built(&member);
            let promise = member.promise().expect("a member");
            prop_assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
            // (x(i+1) .. x(h), y(1) .. y(i)) has up-links to (x(i+2) .. x(h), y(1) .. y(i), y):
            // written lowest first, as in the paper
            let h = m.len();
            let label = |c: &[u32]| {
                let level = c[0] as usize;
                let digits = &c[1..];
                let x: Vec<u32> = digits[..h - 1 - level].iter().rev().copied().collect();
                let y: Vec<u32> = digits[h - 1 - level..].iter().rev().copied().collect();
                (level, x, y)
            };
            for (v, s) in t.switches().iter().enumerate() {
                let (level, x, y) = label(&s.coordinates);
                prop_assert_eq!(level, usize::from(s.level));
                for (o, other) in t.switches().iter().enumerate() {
                    let (above, x2, y2) = label(&other.coordinates);
                    if above < level {
                        continue;
                    }
                    let parent = above == level + 1 && x2[..] == x[1..] && y2[..=level] == y[..];
                    let links = t.graph().neighbours(v).iter().filter(|&&n| n as usize == o);
                    let expected = if parent { parallel[above] } else { 0 };
                    prop_assert_eq!(links.count(), expected as usize);
                }
            }
            prop_assert_eq!(t.planes(), w[0] as u16);
            for (i, rail) in t.terminals().iter().enumerate() {
                let leaf = &t.switches()[rail.plug.switch.ix()];
                prop_assert_eq!(leaf.plane, rail.rail);
                prop_assert_eq!(rail.endpoint.ix(), i / w[0] as usize);
                prop_assert_eq!(leaf.level, 0);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            m in prop::collection::vec(
                prop_oneof![any::<u32>(), 0_u32..9, 60_000_u32..70_000], 0..7,
            ),
            w in prop::collection::vec(prop_oneof![any::<u32>(), 0_u32..9], 0..7),
            parallel in prop::option::of(prop::collection::vec(0_u32..9, 0..7)),
        ) {
            let member = xgft(&m, &w, parallel.as_deref());
            if let Ok(promise) = member.promise() {
                let endpoints: u64 = m.iter().map(|&m| u64::from(m)).product();
                prop_assert_eq!(promise.endpoints, endpoints);
                prop_assert!(endpoints > 0 && promise.radix <= 65_534);
            }
        }
    }

    #[test]
    fn members_near_a_wish_fit_its_ports_and_enclose_its_endpoints() {
        let wish = NetworkWish {
            endpoints: Some(20_000),
            radix: 36,
            concentration: super::super::ConcentrationRounding::Ceil,
            oversubscription: 1.0,
        };
        let sizes = |wish: NetworkWish| -> Vec<u64> {
            let members = Xgft::near(&wish).into_iter();
            let promises = members.map(|member| member.promise().expect("a member"));
            promises.filter(|promise| promise.radix <= 36).map(|p| p.endpoints).collect()
        };
        let found = sizes(wish);
        // four levels give 18 * 18 * 18 * 3 = 17,496 or 23,328 endpoints
        assert!(found.contains(&17_496) && found.contains(&23_328));
        let most = sizes(NetworkWish { endpoints: None, ..wish }).into_iter().max();
        assert_eq!(most, Some(18 * 18 * 18 * 36), "four levels of 36 ports");
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        type Case = (&'static [u32], &'static [u32], Option<&'static [u32]>, &'static str);
        let cases: [Case; 9] = [
            (&[], &[], None, "m"),
            (&[0, 2], &[1, 1], None, "m"),
            (&[4097, 2], &[1, 1], None, "m"),
            (&[2, 2], &[1], None, "w"),
            (&[2, 2], &[65, 1], None, "w"),
            (&[2, 2], &[1, 0], None, "w"),
            (&[2, 2], &[1, 2], Some(&[2, 1]), "parallel"),
            (&[2, 40_000], &[1, 2], Some(&[1, 2]), "m"),
            (&[4096, 65_534, 65_534], &[1, 1, 1], None, "m"),
        ];
        for (m, w, parallel, param) in cases {
            let member = xgft(m, w, parallel);
            let refusal = member.promise().expect_err("no such member");
            assert_eq!(refusal.param, param, "{member:?}");
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
    }
}
