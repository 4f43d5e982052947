//! Clos: three stages, folded into two levels or not.
//!
//! Source: Clos, "A study of non-blocking switching networks", Bell System Technical Journal 1953;
//! rearrangeable for m >= n by Slepian and Duguid (Hwang, "The mathematical theory of nonblocking
//! switching networks", 1998).
//!
//! C(n, m, r) has r ingress switches with n inputs, m middle switches, and r egress switches with n
//! outputs. Cables carry both directions here. In the folded network an ingress switch and its
//! egress switch are one switch; that is the leaf-spine network of data centres. In the unfolded
//! network, endpoints are on both outer stages, the inputs first. Ports: endpoints, then links by
//! the number of the switch they lead to.

use super::wish::NetworkWish;
use super::xgft::Xgft;
use super::{
    ExactFraction, Family, FamilyPromise, GridShape, MAX_P, MAX_PORTS, PromisedValue, in_range,
    recipe,
};
use base::{Refusal, SwitchId};
use fabric::geometry::{NetworkGeometry, PlaneStructure};
use fabric::network::{NetworkRecipe, Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Clos network C(n, m, r): every outer switch is linked to every middle switch.
///
/// Strictly non-blocking for m >= 2 n - 1, rearrangeably for m >= n.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clos {
    /// Endpoints per outer switch.
    pub n: u32,
    /// Middle switches.
    pub m: u32,
    /// Outer switches; unfolded, as many on each side.
    pub r: u32,
    /// Whether ingress and egress are the same switches; default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<bool>,
}

impl Clos {
    /// The number of outer switches, of both sides together.
    fn outer(&self) -> Result<u32, Refusal> {
        let sides = if self.folded.unwrap_or(true) { 1 } else { 2 };
        let n = in_range("n", self.n, 1, MAX_P)?;
        in_range("m", self.m, 1, MAX_PORTS - n)?;
        Ok(sides * in_range("r", self.r, 1, MAX_PORTS / sides)?)
    }
}

impl Family for Clos {
    const NAME: &'static str = "clos";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Levels)
    }

    fn examples() -> Vec<Self> {
        let of = |n, m, r, folded| Self { n, m, r, folded };
        vec![
            of(2, 3, 4, None),
            of(3, 3, 5, Some(true)),
            of(2, 3, 4, Some(false)),
            of(1, 1, 1, None),
            of(3, 2, 1, Some(false)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let outer = self.outer()?;
        let [n, m] = [self.n, self.m].map(u64::from);
        Ok(FamilyPromise {
            switches: u64::from(outer) + m,
            endpoints: u64::from(outer) * n,
            links: u64::from(outer) * m,
            network_radix: self.m.max(outer),
            diameter: PromisedValue::Exact(if outer > 1 { 2 } else { 0 }),
            mean_distance: PromisedValue::Exact(ExactFraction { num: 2, den: 1 }),
            edge_switches: outer.into(),
            radix: (self.n + self.m).max(outer),
            planes: 1,
            vertex_transitive: false,
        })
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let outer = self.outer()?;
        let folded = outer == self.r;
        let mut b = TopologyBuilder::new();
        // outer switches first, ingress before egress, then the middle
        let outers = (0..outer).map(|i| (2 * (i / self.r), i % self.r, 0));
        for (stage, i, level) in outers.chain((0..self.m).map(|i| (1, i, 1))) {
            let group = if folded { 0 } else { stage };
            let switch = Switch::new(format!("clos-{stage}-{i}")).at(group, vec![stage, i]);
            b.switch(Switch { level, ..switch });
        }
        b.endpoints_on((0..outer).map(SwitchId), self.n);
        for i in 0..outer {
            for middle in 0..self.m {
                b.link(SwitchId(i), SwitchId(outer + middle));
            }
        }
        Ok(b)
    }

    /// Folded networks with as many outer switches as the wish needs: for every n the rearrangeable
    /// and the strictly non-blocking one, or with oversubscription those with m = n /
    /// oversubscription.
    /// That of a folded network, whose outer switches are leaves and whose middle ones are spines.
    fn general_form(&self) -> Option<NetworkRecipe> {
        let outer = self.outer().ok().filter(|_| self.folded.unwrap_or(true))?;
        let (m, w) = (GridShape(vec![self.n, outer]), GridShape(vec![1, self.m]));
        Some(recipe(&Xgft { m, w, parallel: None }))
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        let mut members = Vec::new();
        for n in 1..wish.radix.min(MAX_P) {
            let rearrangeable = (f64::from(n) / wish.oversubscription - 1e-9).ceil() as u32;
            let most = wish.radix.min(MAX_PORTS);
            let r = wish.endpoints.map_or(u64::from(most), |e| e / u64::from(n));
            let r = r.clamp(1, most.into()) as u32;
            for m in [rearrangeable.max(1), 2 * n - 1] {
                let of = |r| Self { n, m, r, folded: None };
                members.extend([r, r + 1].map(of));
            }
        }
        members
    }

    fn kind(&self) -> String {
        let kind = match self.m {
            m if m >= self.n.saturating_mul(2).saturating_sub(1) => "strictly non-blocking",
            m if m >= self.n => "rearrangeable",
            _ => "blocking",
        };
        kind.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fat_tree::FatTree;
    use super::super::{ConcentrationRounding, recipe};
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::Topology;
    use proptest::prelude::*;

    fn clos(n: u32, m: u32, r: u32, folded: bool) -> Clos {
        Clos { n, m, r, folded: Some(folded) }
    }

    fn built<F: Family>(member: &F) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn members_keep_their_promise_and_join_outer_to_middle(
            n in 1_u32..5, m in 1_u32..7, r in 1_u32..7, folded in any::<bool>(),
        ) {
            let member = clos(n, m, r, folded);
            let (promise, t) = (member.promise().expect("a member"), built(&member));
            prop_assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
            let outer = |s: SwitchId| t.switches()[s.ix()].coordinates[0] != 1;
            prop_assert!(t.links().iter().all(|l| outer(l.a.switch) && !outer(l.b.switch)));
            for (s, switch) in t.switches().iter().enumerate() {
                let mut reached = t.graph().neighbours(s).to_vec();
                let sides = if folded { 1 } else { 2 };
                let expected = if switch.level == 1 { sides * r } else { m };
                prop_assert_eq!(reached.len() as u32, expected);
                reached.dedup();
                prop_assert_eq!(reached.len() as u32, expected, "one link a pair");
            }
        }

        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            n in prop_oneof![any::<u32>(), 0_u32..70],
            m in prop_oneof![any::<u32>(), 0_u32..70, 60_000_u32..66_000],
            r in prop_oneof![any::<u32>(), 0_u32..70, 30_000_u32..66_000],
            folded in any::<bool>(),
        ) {
            let most = if folded { 65_534 } else { 32_767 };
            let there = (1..=MAX_P).contains(&n) && m >= 1 && r >= 1 && r <= most
                && u64::from(n) + u64::from(m) <= 65_534;
            let member = clos(n, m, r, folded);
            prop_assert_eq!(member.promise().is_ok(), there);
            prop_assert!(!member.kind().is_empty() || n == 0);
        }
    }

    /// The folded network has the same links as a fat tree of two levels.
    #[test]
    fn folded_it_is_a_leaf_spine() {
        let tree = FatTree { leaves: Some(6), spines: Some(4), p: Some(3), ..FatTree::default() };
        let (tree, clos) = (built(&tree), built(&clos(3, 4, 6, true)));
        assert_eq!(tree.links(), clos.links());
    }

    /// Clos 1953: m = 2 n - 1; Slepian and Duguid: m = n.
    #[test]
    fn kinds_are_those_of_the_theorems() {
        let kind = |m| Clos { n: 4, m, r: 8, folded: None }.kind();
        assert_eq!(kind(7), "strictly non-blocking");
        assert_eq!([kind(6), kind(4)], ["rearrangeable", "rearrangeable"]);
        assert_eq!(kind(3), "blocking");
    }

    #[test]
    fn members_near_a_wish_are_the_largest_of_their_ports() {
        let wish = NetworkWish {
            endpoints: None,
            radix: 36,
            concentration: ConcentrationRounding::Ceil,
            oversubscription: 1.0,
        };
        let largest = |kind: &str| {
            let fits = |member: &Clos| {
                let promise = member.promise().ok().filter(|p| p.radix <= 36)?;
                (member.kind() == kind).then_some(promise.endpoints)
            };
            Clos::near(&wish).iter().filter_map(fits).max()
        };
        // 36 ports allow n + m <= 36, with m = n or with m = 2 n - 1, and 36 outer switches
        assert_eq!(largest("rearrangeable"), Some(18 * 36));
        assert_eq!(largest("strictly non-blocking"), Some(12 * 36));
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        for (n, m, r, folded, param) in [
            (0, 1, 1, true, "n"),
            (4097, 1, 1, true, "n"),
            (1, 0, 1, true, "m"),
            (4, 65_531, 1, true, "m"),
            (1, 1, 0, true, "r"),
            (1, 1, 65_535, true, "r"),
            (1, 1, 32_768, false, "r"),
            (u32::MAX, u32::MAX, u32::MAX, false, "n"),
        ] {
            let member = clos(n, m, r, folded);
            let refusal = member.promise().expect_err("no such member");
            assert_eq!(refusal.param, param, "{member:?}");
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
    }
}
