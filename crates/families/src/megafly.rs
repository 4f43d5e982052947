//! Megafly, or Dragonfly+: groups of leaves and spines, complete between the two, joined pairwise
//! by global links of the spines.
//!
//! Source: Flajslik, Borch & Parker, "Megafly: a topology for exascale systems", ISC 2018; Shpiner
//! et al., "Dragonfly+: low cost topology for scaling datacenters", `HiPINEB` 2017, section II.
//!
//! A group has spines times h global ports, numbered l = 0, 1, ...; port l is on spine l / h. They
//! lead to the other groups as in a dragonfly: with g groups, spines h / (g - 1) links, rounded
//! down, join every two groups, and the remaining ports stay empty. Ports of a leaf: endpoints,
//! then links up by spine; of a spine: links down by leaf, then global links.

use super::cheapest::CheapestMembers;
use super::dragonfly::{GlobalLinkArrangement, GlobalLinkWiring, global_ports, groups_near};
use super::need::NetworkNeed;
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, MAX_P, PromisedValue, in_range};
use base::{Refusal, SwitchId};
use fabric::network::{Cable, CablePlug, Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Megafly (Dragonfly+): a dragonfly whose groups are fat trees of two levels.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Megafly {
    /// Leaf switches per group: those with endpoints.
    pub leaves: u32,
    /// Spine switches per group: those with global links; default leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spines: Option<u32>,
    /// Endpoints per leaf; default spines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
    /// Global ports per spine; default leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub h: Option<u32>,
    /// Groups, at most spines h + 1, which is the default. Where g - 1 does not divide spines h,
    /// some global ports of every group have no link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub g: Option<u32>,
    /// Which group each global port leads to: `absolute` (the default), `relative`, `palmtree`,
    /// `circulant` or, of the networks of CODES alone, `codes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrangement: Option<GlobalLinkArrangement>,
}

/// The most leaves and spines per group, and the most global ports per spine.
const MOST: u32 = 1024;

impl Megafly {
    /// The wiring by global links, of groups with `a` = spines switches.
    fn wiring(&self) -> Result<GlobalLinkWiring, Refusal> {
        let leaves = in_range("leaves", self.leaves, 1, MOST)?;
        let spines = in_range("spines", self.spines.unwrap_or(leaves), 1, MOST)?;
        let p = in_range("p", self.p.unwrap_or(spines), 1, MAX_P)?;
        let h = in_range("h", self.h.unwrap_or(leaves), 1, MOST)?;
        let ports = spines * h;
        let g = self.g.unwrap_or(ports + 1);
        if g < 1 || g > ports + 1 {
            let why = format!("{g} groups cannot be joined by {spines} x {h} global ports a group");
            return Err(Refusal::new("g", why, format!("1 to {}", ports + 1)));
        }
        let m = if g == 1 { 0 } else { ports / (g - 1) };
        let arrangement = self.arrangement.unwrap_or(GlobalLinkArrangement::Absolute);
        if arrangement == GlobalLinkArrangement::Codes && (leaves, spines, h, g) != (18, 18, 18, 10)
        {
            let why = format!("codes with leaves={leaves}, spines={spines}, h={h}, g={g}");
            let help = "leaves=18, spines=18, h=18, g=10, or another one";
            return Err(Refusal::new("arrangement", why, help));
        }
        Ok(GlobalLinkWiring { p, a: spines, h, g, m, arrangement })
    }
}

impl Family for Megafly {
    const NAME: &'static str = "megafly";

    fn examples() -> Vec<Self> {
        let of = |leaves, spines, p, h, g| Self {
            leaves,
            spines: Some(spines),
            p: Some(p),
            h: Some(h),
            g: Some(g),
            arrangement: None,
        };
        let arranged = |arrangement| Self { arrangement: Some(arrangement), ..of(2, 3, 1, 2, 4) };
        vec![
            Self { leaves: 2, spines: None, p: None, h: None, g: None, arrangement: None },
            of(3, 2, 2, 3, 4),
            of(2, 4, 1, 2, 3),
            of(3, 2, 1, 1, 1),
            of(1, 2, 2, 2, 5),
            arranged(GlobalLinkArrangement::Relative),
            arranged(GlobalLinkArrangement::Palmtree),
            arranged(GlobalLinkArrangement::Circulant),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let w = self.wiring()?;
        let [leaves, spines, g, m] = [self.leaves, w.a, w.g, w.m].map(u64::from);
        let edges = g * leaves;
        // the first spine uses all its global ports, or all that the group uses
        let global = (m * (g - 1)).min(w.h.into()) as u32;
        let spine = self.leaves + global;
        let diameter = match (g, leaves) {
            (1, 1) => 0,
            (1, _) => 2,
            _ => 3,
        };
        Ok(FamilyPromise {
            switches: g * (leaves + spines),
            endpoints: edges * u64::from(w.p),
            links: g * leaves * spines + m * (g * (g - 1) / 2),
            network_radix: spine.max(w.a),
            diameter: PromisedValue::Exact(diameter),
            // two hops inside the group; three (up, across, down) to every leaf of the other groups
            mean_distance: PromisedValue::Exact(ExactFraction {
                num: 2 * (leaves - 1) + 3 * (g - 1) * leaves,
                den: (edges - 1).max(1),
            }),
            edge_switches: edges,
            radix: spine.max(w.a + w.p),
            planes: 1,
            vertex_transitive: false,
        })
    }

    fn notes(&self) -> Vec<String> {
        self.wiring().map(|w| w.notes()).unwrap_or_default()
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let w = self.wiring()?;
        let (leaves, each) = (self.leaves, self.leaves + w.a);
        let mut b = TopologyBuilder::new();
        for group in 0..w.g {
            for i in 0..each {
                let (level, number) = if i < leaves { (0, i) } else { (1, i - leaves) };
                let name = format!("mf-{group}-{level}-{number}");
                let coordinates = vec![group, u32::from(level), number];
                b.switch(Switch { level, ..Switch::new(name).at(group, coordinates) });
            }
        }
        let edges = (0..w.g).flat_map(|group| (0..leaves).map(move |i| SwitchId(group * each + i)));
        b.endpoints_on(edges, w.p);
        let spine = |group: u32, i: u32| SwitchId(group * each + leaves + i);
        let plug = |switch, port: u32| CablePlug { switch, port: port as u16 };
        for group in 0..w.g {
            for leaf in 0..leaves {
                for i in 0..w.a {
                    let up = plug(SwitchId(group * each + leaf), w.p + 1 + i);
                    b.link_at(up, plug(spine(group, i), 1 + leaf), Cable::default());
                }
            }
        }
        let global = |group, port| plug(spine(group, port / w.h), leaves + 1 + port % w.h);
        for [(from, port), (to, back)] in w.global_links() {
            b.link_at(global(from, port), global(to, back), Cable::default());
        }
        Ok(b)
    }

    /// Balanced members, leaves = spines = h = p (Shpiner et al., section II), with as many groups
    /// as the wish needs where the links between two groups still carry uniform traffic.
    fn near(wish: &NetworkWish) -> Vec<Self> {
        let mut members = Vec::new();
        for half in 1..=(wish.radix / 2).min(MOST) {
            let p = wish.per_switch(f64::from(half), f64::from(half));
            let of = |g| Self {
                leaves: half,
                spines: Some(half),
                p: Some(p),
                h: Some(half),
                g: Some(g),
                arrangement: None,
            };
            members.extend(groups_near(wish, half * half, half * p).map(of));
        }
        members
    }

    /// All with as many endpoints on a leaf as it has up-links, and with global links for the
    /// endpoints of a group.
    fn carrying(need: &NetworkNeed) -> Vec<Self> {
        let mut members = CheapestMembers::of(need);
        let radix = need.wish.radix.min(MOST);
        for (leaves, spines) in (1..radix).flat_map(|l| (1..radix).map(move |s| (l, s))) {
            for p in 1..=need.admitted(spines.into()).min(radix - spines) {
                let first = need.per_switch(u64::from(leaves * p)).max(2);
                for g in (first..first + 2).filter_map(|g| u32::try_from(g).ok()) {
                    let Some(h) = global_ports(need, [spines, leaves * p, g]) else { continue };
                    let groups = u64::from(g);
                    let links = groups * u64::from(leaves * spines)
                        + u64::from(spines * h / (g - 1)) * (groups * (groups - 1) / 2);
                    let ports = (p + spines).max(leaves + h);
                    let switches = groups * u64::from(leaves + spines);
                    members.offer([switches, links], ports, || Self {
                        leaves,
                        spines: Some(spines),
                        p: Some(p),
                        h: Some(h),
                        g: Some(g),
                        arrangement: None,
                    });
                }
            }
        }
        members.into_members()
    }
}

#[cfg(test)]
mod tests {
    use super::super::recipe;
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::Topology;
    use proptest::prelude::*;

    const ALL: [GlobalLinkArrangement; 4] = [
        GlobalLinkArrangement::Absolute,
        GlobalLinkArrangement::Relative,
        GlobalLinkArrangement::Palmtree,
        GlobalLinkArrangement::Circulant,
    ];

    fn built(member: &Megafly) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    /// The number of links between any two groups.
    fn between(t: &Topology, g: usize) -> Vec<Vec<u32>> {
        let mut counted = vec![vec![0; g]; g];
        for link in t.links() {
            let [x, y] = [link.a, link.b].map(|plug| &t.switches()[plug.switch.ix()]);
            if x.group != y.group {
                assert_eq!((x.level, y.level), (1, 1), "global links join spines");
                counted[x.group as usize][y.group as usize] += 1;
                counted[y.group as usize][x.group as usize] += 1;
            }
        }
        counted
    }

    /// The megafly of the Fit Fly study: 3,240 endpoints, 360 routers of 36 ports, 10 groups, 324
    /// global ports and 324 endpoints a group, 36 links a pair of groups.
    #[test]
    fn the_published_configuration_comes_out() {
        let member =
            Megafly { leaves: 18, spines: None, p: None, h: None, g: Some(10), arrangement: None };
        let (promise, t) = (member.promise().expect("a member"), built(&member));
        assert_eq!((promise.endpoints, promise.switches, promise.radix), (3240, 360, 36));
        assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
        for (x, row) in between(&t, 10).into_iter().enumerate() {
            assert_eq!(row.iter().sum::<u32>(), 324);
            assert!((0..10).all(|y| row[y] == if x == y { 0 } else { 36 }));
        }
        assert_eq!(promise.diameter, PromisedValue::Exact(3));
        // from a leaf, 17 leaves are two hops away and 162 three
        assert_eq!(
            promise.mean_distance,
            PromisedValue::Exact(ExactFraction { num: 34 + 486, den: 179 })
        );
    }

    /// The megafly of the Fit Fly study as its configuration file has it: spine 18 + i of a group
    /// has two links to each other group, both to spine 18 + 17 - i of that group.
    #[test]
    fn the_codes_arrangement_is_that_of_its_configuration() {
        let member = Megafly {
            leaves: 18,
            spines: Some(18),
            p: Some(18),
            h: Some(18),
            g: Some(10),
            arrangement: Some(GlobalLinkArrangement::Codes),
        };
        let t = built(&member);
        assert_eq!(broken_promises(&member.promise().expect("a member"), &t), Vec::<String>::new());
        let mut found: Vec<(u32, u32)> = Vec::new();
        for link in t.links() {
            let [x, y] = [link.a.switch.0, link.b.switch.0];
            if x / 36 != y / 36 {
                found.extend([(x, y), (y, x)]);
            }
        }
        let mut due = Vec::new();
        for (group, other) in (0..10).flat_map(|g| (0..10).map(move |o| (g, o))) {
            for l in (18..36).filter(|_| group != other) {
                due.extend([(group * 36 + l, other * 36 + 53 - l); 2]);
            }
        }
        found.sort_unstable();
        due.sort_unstable();
        assert_eq!(found, due);
        let other = Megafly { g: Some(9), ..member };
        assert!(other.promise().expect_err("no other size").to_string().contains("g=10"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn members_keep_their_promise_and_join_groups_evenly(
            leaves in 1_u32..5,
            spines in 1_u32..5,
            p in 1_u32..3,
            h in 1_u32..5,
            part in 0_u32..1000,
            kind in 0_usize..4,
        ) {
            let g = 1 + part % (spines * h + 1);
            let member = Megafly {
                leaves,
                spines: Some(spines),
                p: Some(p),
                h: Some(h),
                g: Some(g),
                arrangement: Some(ALL[kind]),
            };
            let (promise, t) = (member.promise().expect("a member"), built(&member));
            prop_assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
            for (x, row) in between(&t, g as usize).into_iter().enumerate() {
                for (y, links) in row.into_iter().enumerate() {
                    let expected = if x == y { 0 } else { spines * h / (g - 1) };
                    prop_assert_eq!(links, expected);
                }
            }
            for (v, from) in t.switches().iter().enumerate().filter(|(_, s)| s.level == 0) {
                let distances = t.graph().distances_from(v);
                for (to, d) in t.switches().iter().zip(distances).filter(|(s, _)| s.level == 0) {
                    let expected = match (from.group == to.group, from.name == to.name) {
                        (_, true) => 0,
                        (true, _) => 2,
                        _ => 3,
                    };
                    prop_assert_eq!(d, expected);
                }
            }
        }

        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            leaves in prop_oneof![any::<u32>(), 0..=MOST],
            numbers in prop::collection::vec(
                prop::option::of(prop_oneof![any::<u32>(), 0_u32..1100]), 4,
            ),
        ) {
            let [spines, p, h, g] = numbers[..] else { panic!("four numbers") };
            let member = Megafly { leaves, spines, p, h, g, arrangement: None };
            let good = |x: Option<u32>, most| x.is_none_or(|x| (1..=most).contains(&x));
            let there = (1..=MOST).contains(&leaves) && good(spines, MOST) && good(p, MAX_P)
                && good(h, MOST)
                && good(g, spines.unwrap_or(leaves) * h.unwrap_or(leaves) + 1);
            prop_assert_eq!(member.promise().is_ok(), there);
        }
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        let of = |leaves, spines, p, h, g| Megafly { leaves, spines, p, h, g, arrangement: None };
        let cases = [
            (of(0, None, None, None, None), "leaves", "1 to 1024"),
            (of(2, Some(1025), None, None, None), "spines", "1 to 1024"),
            (of(2, None, Some(0), None, None), "p", "1 to 4096"),
            (of(2, None, None, Some(u32::MAX), None), "h", "1 to 1024"),
            (of(2, Some(3), None, None, Some(8)), "g", "1 to 7"),
            (of(2, None, None, None, Some(0)), "g", "1 to 5"),
        ];
        for (member, param, help) in cases {
            let refusal = member.promise().expect_err("no such member");
            assert_eq!((&refusal.param[..], &refusal.help[..]), (param, help));
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
    }
}
