//! k-ary n-tree: n levels of k^(n-1) switches with k ports down and k up, k^n endpoints.
//!
//! Source: Petrini & Vanneschi, "k-ary n-trees: high performance networks for massively parallel
//! architectures", IPPS 1997, section 2.
//!
//! A switch is a level and n - 1 digits below k; here level 0 carries the endpoints (the paper
//! counts from the roots). Switches of neighbouring levels are linked when their digits agree
//! except for one. The group is the first digit, which names the subtree under the roots; the roots
//! are a group of their own. Ports: endpoints or links down, then links up, each by the digit that
//! changes.

use super::wish::NetworkWish;
use super::xgft::Xgft;
use super::{
    ExactFraction, Family, FamilyPromise, GridShape, MAX_P, PromisedValue, in_range, power, recipe,
};
use base::{Refusal, SwitchId};
use fabric::geometry::{NetworkGeometry, PlaneStructure};
use fabric::network::{NetworkRecipe, Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// k-ary n-tree: a fat tree of n levels in which every switch but the roots has k parents.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KAryNTree {
    /// Children, and parents, of a switch.
    pub k: u32,
    /// Levels of switches.
    pub n: u32,
    /// Endpoints per switch of the lowest level; default k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

/// The most levels, and the most children of a switch.
const MAX_N: u32 = 30;
const MAX_K: u32 = 4096;
/// The most switches of a level.
const MOST: u64 = 1 << 30;

impl KAryNTree {
    /// The number of switches of a level, k^(n-1), and of endpoints on each switch of the lowest
    /// level.
    fn checked(&self) -> Result<(u64, u32), Refusal> {
        let k = in_range("k", self.k, 1, MAX_K)?;
        let n = in_range("n", self.n, 1, MAX_N)?;
        let p = in_range("p", self.p.unwrap_or(k), 1, MAX_P)?;
        Ok((power(k, n, 1, MOST, "switches a level")?, p))
    }
}

impl Family for KAryNTree {
    const NAME: &'static str = "k_ary_n_tree";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Levels)
    }

    fn examples() -> Vec<Self> {
        let of = |k, n, p| Self { k, n, p };
        let plain = [(3, 1), (4, 2), (2, 3), (3, 3), (2, 4), (1, 3)].map(|(k, n)| of(k, n, None));
        let mut members = plain.to_vec();
        members.push(of(4, 2, Some(1)));
        members
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let (width, p) = self.checked()?;
        let (k, n) = (u64::from(self.k), self.n);
        let up = if n > 1 { self.k } else { 0 };
        // k^l - k^(l-1) of the k^(n-1) leaves are 2 l hops away from a leaf
        let far = (1..n).map(|l| 2 * u64::from(l) * (k.pow(l) - k.pow(l - 1))).sum();
        Ok(FamilyPromise {
            switches: u64::from(n) * width,
            endpoints: width * u64::from(p),
            links: u64::from(n - 1) * width * k,
            network_radix: if n > 2 { 2 * up } else { up },
            diameter: PromisedValue::Exact(if self.k == 1 { 0 } else { 2 * (n - 1) }),
            mean_distance: PromisedValue::Exact(ExactFraction {
                num: far,
                den: (width - 1).max(1),
            }),
            edge_switches: width,
            radix: (p + up).max(if n > 2 { 2 * up } else { up }),
            planes: 1,
            vertex_transitive: false,
        })
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let (width, p) = self.checked()?;
        let (k, digits, width) = (self.k, self.n - 1, width as u32);
        let place = |digit: u32| k.pow(digits - 1 - digit);
        let mut b = TopologyBuilder::new();
        for level in 0..self.n {
            for w in 0..width {
                let word: Vec<u32> = (0..digits).map(|digit| w / place(digit) % k).collect();
                let name: Vec<String> = word.iter().map(u32::to_string).collect();
                let group = match word.first() {
                    Some(&first) => {
                        if level < digits {
                            first
                        } else {
                            k
                        }
                    }
                    None => 0,
                };
                let name = format!("tree-{level}-{}", name.join("-"));
                let coordinates = std::iter::once(level).chain(word).collect();
                let mut switch = Switch::new(name.trim_end_matches('-')).at(group, coordinates);
                switch.level = level as u8;
                b.switch(switch);
            }
        }
        b.endpoints_on((0..width).map(SwitchId), p);
        for level in 0..digits {
            // links of the lowest level change the last digit, those to the roots the first
            let stride = place(digits - 1 - level);
            for w in 0..width {
                let others = w - w / stride % k * stride;
                for digit in 0..k {
                    let parent = (level + 1) * width + others + digit * stride;
                    b.link(SwitchId(level * width + w), SwitchId(parent));
                }
            }
        }
        Ok(b)
    }

    /// For every k that the ports allow, the tree with the most levels below the wish and the tree
    /// with one level more; none where the wish names no number, because the number of levels is
    /// not bounded.
    fn general_form(&self) -> Option<NetworkRecipe> {
        let (_, p) = self.checked().ok()?;
        let n = self.n as usize;
        let (mut m, mut w) = (vec![self.k; n], vec![self.k; n]);
        (m[0], w[0]) = (p, 1);
        Some(recipe(&Xgft { m: GridShape(m), w: GridShape(w), parallel: None }))
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        let of = |k: u32| {
            let p = wish.per_switch(f64::from(k), f64::from(k));
            (2..=5).map(move |n| Self { k, n, p: Some(p) })
        };
        (2..=(wish.radix / 2).min(MAX_K)).flat_map(of).collect()
    }

    fn kind(&self) -> String {
        format!("{} levels", self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::super::xgft::Xgft;
    use super::super::{GridShape, recipe};
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::Topology;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn built<F: Family>(member: &F) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    /// Petrini & Vanneschi: n k^(n-1) switches, k^n endpoints, diameter 2 (n - 1); and the links
    /// are those of XGFT(n; k, ..., k; 1, k, ..., k).
    #[test]
    fn the_tree_is_a_generalized_fat_tree() {
        for (k, n) in [(2, 2), (2, 3), (3, 3), (4, 2), (2, 5), (3, 4)] {
            let member = KAryNTree { k, n, p: None };
            let promise = member.promise().expect("a member");
            assert_eq!(promise.switches, u64::from(n * k.pow(n - 1)));
            assert_eq!(promise.endpoints, u64::from(k.pow(n)));
            assert_eq!(promise.links, u64::from((n - 1) * k.pow(n)));
            assert_eq!(promise.diameter, PromisedValue::Exact(2 * (n - 1)));
            let mut w = vec![k; n as usize];
            w[0] = 1;
            let m = GridShape(vec![k; n as usize]);
            let (tree, xgft) =
                (built(&member), built(&Xgft { m, w: GridShape(w), parallel: None }));
            // switches of the generalized tree have the last digit y(1) = 0
            let links = |t: &Topology, digits: usize| -> BTreeSet<[Vec<u32>; 2]> {
                let name = |s: SwitchId| t.switches()[s.ix()].coordinates[..=digits].to_vec();
                t.links().iter().map(|l| [name(l.a.switch), name(l.b.switch)]).collect()
            };
            let digits = n as usize - 1;
            assert_eq!(links(&tree, digits).len() as u64, promise.links);
            assert_eq!(links(&tree, digits), links(&xgft, digits), "k={k} n={n}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn members_keep_their_promise(k in 1_u32..5, n in 1_u32..5, p in 1_u32..4) {
            let member = KAryNTree { k, n, p: Some(p) };
            let promise = member.promise().expect("a member");
            prop_assert_eq!(broken_promises(&promise, &built(&member)), Vec::<String>::new());
        }

        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            k in prop_oneof![any::<u32>(), 0_u32..70],
            n in prop_oneof![any::<u32>(), 0_u32..40],
            p in prop::option::of(any::<u32>()),
        ) {
            let there = (1..=MAX_K).contains(&k) && (1..=MAX_N).contains(&n)
                && f64::from(k).powi(n as i32 - 1) <= MOST as f64
                && p.is_none_or(|p| (1..=MAX_P).contains(&p));
            prop_assert_eq!(KAryNTree { k, n, p }.promise().is_ok(), there);
        }
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        let of = |k, n, p| KAryNTree { k, n, p };
        let cases = [
            (of(0, 2, None), "k", "1 to 4096"),
            (of(MAX_K + 1, 1, None), "k", "1 to 4096"),
            (of(2, 0, None), "n", "1 to 30"),
            (of(8, 12, None), "n", "with k = 8, 1 to 11"),
            (of(2, 2, Some(0)), "p", "1 to 4096"),
        ];
        for (member, param, help) in cases {
            let refusal = member.promise().expect_err("no such member");
            assert_eq!((&refusal.param[..], &refusal.help[..]), (param, help));
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
        assert_eq!(of(8, 11, None).promise().expect("the largest").endpoints, 1 << 33);
    }
}
