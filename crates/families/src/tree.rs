//! Complete trees: one root, the same number of children below every switch but the leaves.
//!
//! Source: Knuth, "The Art of Computer Programming", volume 1, section 2.3.4.5 (complete trees).
//!
//! Leaves have the lowest numbers, then the level above, and the root the last. Ports: endpoints or
//! children in order, then the parent. Groups are the subtrees below the root; the root is in the
//! first.

use super::{ExactFraction, Family, FamilyPromise, MAX_P, MAX_PORTS, PromisedValue, in_range};
use base::{Refusal, SwitchId};
use fabric::network::{Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tree: a complete tree of switches with endpoints on the leaves.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeNetwork {
    /// Children of a switch, 2 to 65533.
    pub arity: u32,
    /// Levels of switches, 1 (the root alone) to 26; at most 2^26 switches in all.
    pub levels: u32,
    /// Endpoints per leaf; the default is the arity, at most 4096.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_LEVELS: u32 = 26;
const MAX_SWITCHES: u64 = 1 << 26;

/// The checked parameters of a tree network, with what follows from them.
struct CheckedTreeParameters {
    /// The number of switches of each level, the leaves first.
    sizes: Vec<u64>,
    p: u32,
}

impl TreeNetwork {
    fn checked(&self) -> Result<CheckedTreeParameters, Refusal> {
        in_range("arity", self.arity, 2, MAX_PORTS - 1)?;
        in_range("levels", self.levels, 1, MAX_LEVELS)?;
        let p = in_range("p", self.p.unwrap_or(self.arity.min(MAX_P)), 0, MAX_P)?;
        let arity = u64::from(self.arity);
        let mut sizes = vec![1];
        let mut total = 1;
        for above in 0..self.levels as usize - 1 {
            // no overflow: a level has at most 2^26 switches, and a switch at most 2^16 children
            sizes.push(sizes[above] * arity);
            total += sizes[above + 1];
            if total > MAX_SWITCHES {
                let why = format!("over {MAX_SWITCHES} switches with {arity} children each");
                return Err(Refusal::new("levels", why, format!("1 to {}", above + 1)));
            }
        }
        sizes.reverse();
        Ok(CheckedTreeParameters { sizes, p })
    }
}

impl Family for TreeNetwork {
    const NAME: &'static str = "tree";

    fn examples() -> Vec<Self> {
        let of = |arity, levels, p| Self { arity, levels, p };
        vec![
            of(2, 1, None),
            of(2, 4, None),
            of(3, 3, Some(1)),
            of(7, 2, Some(2)),
            of(2, 5, Some(0)),
            of(4, 1, Some(0)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let CheckedTreeParameters { sizes, p } = self.checked()?;
        let arity = u64::from(self.arity);
        let switches: u64 = sizes.iter().sum();
        let edge = if p == 0 { switches } else { sizes[0] };
        // the link above a subtree is on the path from each of its leaves to each leaf outside
        let (mut below, mut sum) = (0, 0_u128);
        for (level, &size) in sizes.iter().enumerate().take(sizes.len() - 1) {
            below = match (p, level) {
                (_, 0) => 1,
                (0, _) => below * arity + 1,
                _ => below * arity,
            };
            sum += u128::from(size) * 2 * u128::from(below) * u128::from(edge - below);
        }
        // no overflow: at most 2 * 26 hops for each of 2^52 pairs
        let mean = ExactFraction { num: sum as u64, den: (edge * (edge - 1)).max(1) };
        let network_radix = match self.levels {
            1 => 0,
            2 => self.arity,
            _ => self.arity + 1,
        };
        Ok(FamilyPromise {
            switches,
            endpoints: sizes[0] * u64::from(p),
            links: switches - 1,
            network_radix,
            diameter: PromisedValue::Exact(2 * (self.levels - 1)),
            mean_distance: PromisedValue::Exact(mean),
            edge_switches: edge,
            radix: network_radix.max(p + u32::from(self.levels > 1)),
            planes: 1,
            vertex_transitive: self.levels == 1,
        })
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let CheckedTreeParameters { sizes, p } = self.checked()?;
        let mut b = TopologyBuilder::new();
        let mut subtree = self.arity.pow((self.levels).saturating_sub(2));
        for (level, &size) in (0..).zip(&sizes) {
            for i in 0..size as u32 {
                let group = i / subtree.max(1);
                let switch = Switch::new(format!("tree-{level}-{i}"));
                b.switch(Switch { level, ..switch.at(group, vec![u32::from(level), i]) });
            }
            subtree /= self.arity;
        }
        b.endpoints_on((0..sizes[0] as u32).map(SwitchId), p);
        let mut first = 0;
        for &size in &sizes[..sizes.len() - 1] {
            for i in 0..size as u32 {
                let parent = first + size as u32 + i / self.arity;
                b.link(SwitchId(first + i), SwitchId(parent));
            }
            first += size as u32;
        }
        Ok(b)
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, built, refused};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn trees_keep_their_promise(arity in 2_u32..6, levels in 1_u32..5, p in 0_u32..3) {
            let member = TreeNetwork { arity, levels, p: Some(p) };
            prop_assert_eq!(broken(&member), Vec::<String>::new());
            let t = built(&member);
            // groups are the subtrees, so only links of the root join different groups
            let across = t.links().iter().filter(|l| {
                t.switches()[l.a.switch.ix()].group != t.switches()[l.b.switch.ix()].group
            });
            let expected = if levels > 1 { arity as usize - 1 } else { 0 };
            prop_assert_eq!(across.count(), expected);
        }

        #[test]
        fn any_numbers_give_a_tree_or_a_refusal(
            arity in prop_oneof![any::<u32>(), 0_u32..70],
            levels in prop_oneof![any::<u32>(), 0_u32..30],
            p in prop::option::of(any::<u32>()),
        ) {
            let member = TreeNetwork { arity, levels, p };
            if let Ok(promise) = member.promise() {
                prop_assert!(promise.switches <= MAX_SWITCHES);
                let all = u64::from(arity).pow(levels) - 1;
                prop_assert_eq!(promise.switches, all / (u64::from(arity) - 1));
            }
        }
    }

    #[test]
    fn the_limits_hold() {
        let largest = TreeNetwork { arity: 2, levels: 26, p: None }.promise().expect("the largest");
        assert_eq!(largest.switches, (1 << 26) - 1);
        let refusal = refused(&TreeNetwork { arity: 3, levels: 18, p: None });
        assert_eq!((refusal.param.as_str(), refusal.help.as_str()), ("levels", "1 to 17"));
        assert_eq!(refused(&TreeNetwork { arity: 1, levels: 3, p: None }).param, "arity");
        assert_eq!(
            refused(&TreeNetwork { arity: u32::MAX, levels: u32::MAX, p: None }).param,
            "arity"
        );
        assert_eq!(refused(&TreeNetwork { arity: 2, levels: 27, p: None }).help, "1 to 26");
        assert_eq!(refused(&TreeNetwork { arity: 2, levels: 2, p: Some(5000) }).param, "p");
    }
}
