//! Galaxyfly: galaxy graphs of diameter 2 whose vertices are groups of switches.
//!
//! Source: Lei, Dong, Liao, Su & Li, "Galaxyfly: a novel family of flexible-radix low-diameter
//! topologies for large-scales interconnection networks", ICS 2016, sections 3 and 4.
//!
//! The galaxy graph has n clusters of q vertices. In a cluster, s and s' are linked when s - s' is
//! in X, the first generator set of the Slim Fly of order q (empty for q = 1). For clusters i
//! before j, (j, s) is linked to (i, e s), where e is the primitive element. Every vertex becomes a
//! group of a switches that are all linked to each other. Port l of a group's a h outward ports is
//! on switch l / h. The outward ports lead to the linked groups in turn, those of the own cluster
//! first, then by cluster. Each linked group gets the same number of ports, as large as possible,
//! and the remaining ports stay empty. Ports of a switch: endpoints, group, outward.
//!
//! a = 1 gives the flat network of diameter 2, q = 1 a Dragonfly of n groups.

use super::algebra::{endpoints, largest_of_each_radix, one_of, sized};
use super::cheapest::CheapestMembers;
use super::need::NetworkNeed;
use super::slim_fly::SlimFly;
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, PromisedValue, in_range};
use base::field::{FiniteField, prime_power};
use base::{Refusal, SwitchId};
use fabric::network::{Cable, CablePlug, Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Galaxyfly: n clusters of q groups of a switches, which have h outward ports each.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Galaxyfly {
    /// Number of clusters, 1 to 8192.
    pub n: u32,
    /// Groups per cluster: 1, or a prime power 4w+d, d = -1, 0 or 1, at most 256.
    pub q: u32,
    /// Switches per group, 1 to 1024; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<u32>,
    /// Outward ports per switch; a h is at least the n - 1 + (q - d) / 2 links of a group (n - 1
    /// where q = 1). The default is the least that do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub h: Option<u32>,
    /// Endpoints per switch; the default is network radix over diameter (that of most members: 2
    /// for a = 1, 3 for q = 1, else 5), rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_N: u32 = 8192;
const MAX_Q: u32 = 256;
const MAX_A: u32 = 1024;
const MAX_H: u32 = 16_384;
const MAX_SWITCHES: u64 = 1 << 26;

/// The checked parameters of a Galaxyfly network, with what follows from them.
#[derive(Clone, Copy)]
struct CheckedGalaxyflyParameters {
    a: u32,
    h: u32,
    p: u32,
    /// The number of groups that a group is linked to.
    linked: u32,
    /// The number of links between two linked groups.
    parallel: u32,
    /// The number of ports of a switch to other switches.
    radix: u32,
    /// The largest number of links between groups on a shortest path: the galaxy graph's diameter.
    steps: u32,
}

impl Galaxyfly {
    fn checked(&self) -> Result<CheckedGalaxyflyParameters, Refusal> {
        in_range("n", self.n, 1, MAX_N)?;
        let good = |q| q == 1 || (q % 4 != 2 && prime_power(q).is_some());
        one_of("q", self.q, MAX_Q, "1 or a prime power 4w-1, 4w or 4w+1", good)?;
        let a = in_range("a", self.a.unwrap_or(1), 1, MAX_A)?;
        let per_cluster = u64::from(self.q) * u64::from(a);
        if u64::from(self.n) * per_cluster > MAX_SWITCHES {
            let why = format!("{} clusters of {per_cluster} switches", self.n);
            return Err(Refusal::new("n", why, format!("1 to {}", MAX_SWITCHES / per_cluster)));
        }
        let inside = match self.q % 4 {
            _ if self.q == 1 => 0,
            3 => self.q.div_ceil(2),
            _ => self.q / 2,
        };
        let linked = self.n - 1 + inside;
        let h = in_range("h", self.h.unwrap_or(linked.div_ceil(a)), linked.div_ceil(a), MAX_H)?;
        let parallel = (a * h).checked_div(linked).unwrap_or(0);
        let radix = a - 1 + h.min(parallel * linked);
        let steps = match (self.n, self.q) {
            (1, 1) => 0,
            (_, 1) | (1, 3) => 1,
            _ => 2,
        };
        let p = endpoints(self.p, radix, if a == 1 { steps } else { 2 * steps + 1 })?;
        Ok(CheckedGalaxyflyParameters { a, h, p, linked, parallel, radix, steps })
    }

    fn groups(&self) -> u64 {
        u64::from(self.n) * u64::from(self.q)
    }

    /// Bounds of the mean distance and a lower bound of the diameter, for groups of at least two
    /// switches.
    ///
    /// For the lower bounds: a shortest path has no two consecutive links inside groups, which
    /// limits the number of switches within k hops. For the upper bound: one link for each step
    /// between groups, and a link inside a group where the next step starts at another switch.
    fn bounds(&self, c: &CheckedGalaxyflyParameters) -> (ExactFraction, ExactFraction, u32) {
        let (groups, a, h) = (self.groups(), u64::from(c.a), u64::from(c.h));
        let n = groups * a;
        let (mut inside, mut outward, mut within) = (a - 1, h, 1_u64);
        let (mut low, mut diameter) = (0, 0);
        while within < n {
            low += n - within;
            diameter += 1;
            within = within.saturating_add(inside).saturating_add(outward);
            let next = outward.saturating_mul(a - 1);
            outward = inside.saturating_add(outward).saturating_mul(h);
            inside = next;
        }
        // upper bounds of the sums of distances from the switches of a group to those of linked
        // groups, and to those of all other groups
        let linked = u64::from(c.linked);
        let one = linked * (3 * a * a - 2 * a);
        let two = (groups - 1 - linked) * (5 * a * a - 2 * a);
        let ratio = |num, den| ExactFraction { num, den };
        let high = ratio(a * (a - 1) + one + two, a * (n - 1));
        (ratio(low, n - 1), high, diameter)
    }

    /// For each group, the groups linked to it, in the order of the outward ports.
    fn linked_groups(&self) -> Result<Vec<Vec<u32>>, Refusal> {
        let q = self.q;
        if q == 1 {
            let others = |i: u32| (0..self.n).filter(move |&j| j != i).collect();
            return Ok((0..self.n).map(others).collect());
        }
        let field = FiniteField::new(q)?;
        let [mut set, _] = SlimFly { q, p: None }.generators(&field)?;
        set.sort_unstable();
        let (e, back) = (field.power(1), field.power(q - 2));
        let of = |i: u32, s: u32| {
            let own = set.iter().map(|&x| i * q + field.add(s, x));
            let before = (0..i).map(|j| j * q + field.mul(e, s));
            let after = (i + 1..self.n).map(|j| j * q + field.mul(back, s));
            own.chain(before).chain(after).collect()
        };
        Ok((0..self.n).flat_map(|i| (0..q).map(move |s| (i, s))).map(|(i, s)| of(i, s)).collect())
    }
}

impl Family for Galaxyfly {
    const NAME: &'static str = "galaxyfly";

    fn examples() -> Vec<Self> {
        let of = |n, q, a, h, p| Self { n, q, a, h, p };
        vec![
            of(1, 1, Some(3), None, None),
            of(1, 5, None, None, Some(1)),
            of(4, 3, None, None, None),
            of(5, 4, None, Some(12), Some(1)),
            of(3, 5, Some(2), Some(2), Some(1)),
            of(9, 1, Some(4), Some(2), Some(2)),
            of(2, 3, Some(3), Some(2), Some(0)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let c = self.checked()?;
        let (groups, a) = (self.groups(), u64::from(c.a));
        let n = groups * a;
        let between = groups * u64::from(c.linked) / 2 * u64::from(c.parallel);
        let links = groups * (a * (a - 1) / 2) + between;
        let (diameter, mean) = if c.a == 1 {
            // linked groups are one hop apart, all others two
            let sum = 2 * (n - 1) - u64::from(c.linked);
            (
                PromisedValue::Exact(c.steps),
                PromisedValue::Exact(ExactFraction { num: sum, den: (n - 1).max(1) }),
            )
        } else if c.steps == 0 {
            (PromisedValue::Exact(1), PromisedValue::Exact(ExactFraction { num: 1, den: 1 }))
        } else {
            let (low, high, least) = self.bounds(&c);
            (
                PromisedValue::Between(least.max(c.steps), 2 * c.steps + 1),
                PromisedValue::Between(low, high),
            )
        };
        Ok(FamilyPromise::direct(n, c.p, links, c.radix, diameter, mean))
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let c = self.checked()?;
        let groups = self.groups() as u32;
        let linked = self.linked_groups()?;
        let mut b = TopologyBuilder::new();
        for group in 0..groups {
            let (i, s) = (group / self.q, group % self.q);
            for r in 0..c.a {
                b.switch(Switch::new(format!("galaxy-{i}-{s}-{r}")).at(group, vec![i, s, r]));
            }
        }
        b.endpoints_on((0..groups * c.a).map(SwitchId), c.p);
        let switch = |group: u32, r: u32| SwitchId(group * c.a + r);
        for group in 0..groups {
            for r in 0..c.a {
                for other in r + 1..c.a {
                    let plug =
                        |r, port: u32| CablePlug { switch: switch(group, r), port: port as u16 };
                    b.link_at(plug(r, c.p + other), plug(other, c.p + 1 + r), Cable::default());
                }
            }
        }
        let outward = |group: u32, l: u32| CablePlug {
            switch: switch(group, l / c.h),
            port: (c.p + c.a + l % c.h) as u16,
        };
        for (group, others) in (0..).zip(&linked) {
            for (place, &other) in (0..).zip(others).filter(|&(_, &other)| other > group) {
                let back = linked[other as usize].iter().position(|&g| g == group);
                let back = back.expect("links between groups lead back") as u32;
                for copy in 0..c.parallel {
                    let (to, from) = (copy * c.linked + place, copy * c.linked + back);
                    b.link_at(outward(group, to), outward(other, from), Cable::default());
                }
            }
        }
        Ok(b)
    }

    /// The flat networks, and networks with groups of a = 3 h / 2 + 1 switches. With these, uniform
    /// traffic loads links inside and between groups equally: a path of five hops has three links
    /// inside groups and two between groups.
    fn near(wish: &NetworkWish) -> Vec<Self> {
        let ports = wish.radix.min(1024);
        let good = |q: &u32| q % 4 != 2 && prime_power(*q).is_some();
        let orders: Vec<u32> = (3..=MAX_Q.min(2 * ports)).filter(good).collect();
        let of = |n, q, a| Self { n, q, a: Some(a), h: None, p: None };
        let flat = orders.iter().flat_map(|&q| {
            (1..=(ports + 1).saturating_sub(q / 2)).map(move |n| Self { p: Some(0), ..of(n, q, 1) })
        });
        let mut members = largest_of_each_radix(flat);
        let mut grouped = Vec::new();
        for h in 2..=2 * ports / 5 {
            let a = 3 * h / 2 + 1;
            for &q in &orders {
                let most = (a * h + 1).saturating_sub(q.div_ceil(2)).min(MAX_N);
                grouped.push(Self { h: Some(h), p: Some(0), ..of(most, q, a) });
            }
        }
        members.extend(largest_of_each_radix(grouped.into_iter()));
        let put = |m: Self| sized(wish, |p| Self { p, ..m.clone() });
        members.into_iter().filter_map(put).collect()
    }

    /// All flat members, and all with groups, not only the largest of each radix.
    fn carrying(need: &NetworkNeed) -> Vec<Self> {
        let radix = need.wish.radix.min(1024);
        let good = |q: &u32| q % 4 != 2 && prime_power(*q).is_some();
        let orders: Vec<u32> = (3..=MAX_Q.min(2 * radix)).filter(good).collect();
        let of = |n, q, a, h| Self { n, q, a: Some(a), h, p: Some(0) };
        // a switch carries at least one endpoint and at most as many as it has ports
        let fits = |m: &Self| {
            let switches = u64::from(m.n) * u64::from(m.q) * u64::from(m.a.unwrap_or(1));
            need.per_switch(switches) <= u64::from(radix) && switches <= 2 * need.endpoints
        };
        let mut flat = CheapestMembers::of(need);
        let all = orders
            .iter()
            .flat_map(|&q| (1..=(radix + 1).saturating_sub(q / 2)).map(move |n| of(n, q, 1, None)));
        flat.offer_sized(all.filter(fits), |m, p| Self { p: Some(p), ..m.clone() });
        let mut grouped = CheapestMembers::of(need);
        for (&q, h) in orders.iter().flat_map(|q| (2..=2 * radix / 5).map(move |h| (q, h))) {
            let a = 3 * h / 2 + 1;
            let most = (a * h + 1).saturating_sub(q.div_ceil(2)).min(MAX_N);
            // fewer clusters than carry the need, or many more, are of no use
            let least = need.endpoints.div_ceil(u64::from(radix) * u64::from(q) * u64::from(a));
            let enough = need.endpoints.div_ceil(u64::from(q) * u64::from(a));
            let range = u32::try_from(least).unwrap_or(u32::MAX).max(1)
                ..=most.min(u32::try_from(enough).unwrap_or(u32::MAX));
            let all = range.map(|n| of(n, q, a, Some(h)));
            grouped.offer_sized(all, |m, p| Self { p: Some(p), ..m.clone() });
        }
        let mut members = flat.into_members();
        members.extend(grouped.into_members());
        members
    }

    fn kind(&self) -> String {
        if self.a.unwrap_or(1) == 1 { "flat".to_owned() } else { "grouped".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, built, refused};
    use super::super::dragonfly::Dragonfly;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn members_keep_their_promise(
            n in 1_u32..7,
            q in prop::sample::select(vec![1_u32, 3, 4, 5, 7, 8, 9]),
            a in 1_u32..5,
            more in 0_u32..6,
            p in 0_u32..3,
        ) {
            let member = Galaxyfly { n, q, a: Some(a), h: None, p: Some(p) };
            let least = member.checked().expect("a member").h;
            let member = Galaxyfly { h: Some(least + more), ..member };
            prop_assert_eq!(broken(&member), Vec::<String>::new());
        }

        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            n in prop_oneof![any::<u32>(), 0_u32..300],
            q in prop_oneof![any::<u32>(), 0_u32..300],
            a in prop::option::of(prop_oneof![any::<u32>(), 0_u32..1100]),
            h in prop::option::of(prop_oneof![any::<u32>(), 0_u32..600]),
            p in prop::option::of(any::<u32>()),
        ) {
            if let Ok(promise) = (Galaxyfly { n, q, a, h, p }).promise() {
                prop_assert!(promise.switches <= MAX_SWITCHES && q % 4 != 2);
                prop_assert!(promise.radix <= 65_534);
            }
        }
    }

    /// q = 1 is the Dragonfly with the absolute arrangement, port by port.
    #[test]
    fn clusters_of_one_group_are_the_dragonfly() {
        for (n, a, h) in [(9, 4, 2), (5, 2, 3), (7, 6, 1), (3, 2, 2)] {
            let galaxy = Galaxyfly { n, q: 1, a: Some(a), h: Some(h), p: Some(2) };
            let dragonfly = Dragonfly { p: Some(2), a: Some(a), h, g: Some(n), arrangement: None };
            let ends = |t: fabric::network::Topology| {
                let mut ends: Vec<_> = t.links().iter().map(|l| (l.a, l.b)).collect();
                ends.sort_by_key(|(a, b)| (a.switch.0, a.port, b.switch.0, b.port));
                ends
            };
            assert_eq!(ends(built(&galaxy)), ends(built(&dragonfly)), "n={n} a={a} h={h}");
        }
    }

    #[test]
    fn parameters_that_do_not_fit_are_refused() {
        let of = |n, q, a, h, p| Galaxyfly { n, q, a, h, p };
        assert_eq!(refused(&of(0, 5, None, None, None)).param, "n");
        assert_eq!(refused(&of(4, 6, None, None, None)).help, "nearest: 5, 7");
        assert_eq!(refused(&of(4, 2, None, None, None)).help, "nearest: 1, 3");
        assert_eq!(refused(&of(4, 5, Some(0), None, None)).param, "a");
        // a group has 3 + 2 links to other groups, which need 2 ports on each of its 3 switches
        assert!(of(4, 5, Some(3), Some(2), None).promise().is_ok());
        assert_eq!(refused(&of(4, 5, Some(3), Some(1), None)).help, "2 to 16384");
        assert_eq!(refused(&of(8192, 256, Some(1024), None, None)).help, "1 to 256");
        assert_eq!(refused(&of(u32::MAX, u32::MAX, None, None, None)).param, "n");
        assert_eq!(refused(&of(4, 5, None, None, Some(u32::MAX))).param, "p");
    }
}
