//! Dragonfly: groups that are complete graphs, joined pairwise by global links.
//!
//! Source: Kim, Dally, Scott & Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA
//! 2008; arrangements of the global links as in Hastings, Rincon-Cruz, Spehlmann et al.,
//! "Comparing global link arrangements for dragonfly networks", CLUSTER 2015, and Camarero,
//! Vallejo & Beivide, "Topological characterization of Hamming and dragonfly networks", TACO 2014.
//!
//! A group has a h global ports, numbered l = 0, 1, ...; port l is on router l / h. With g groups,
//! ports 0 to g - 2 lead to the other groups in the order of the arrangement, the next g - 1 ports
//! to each of them again, and so on. So m = a h / (g - 1) links, rounded down, join every two
//! groups, and the remaining ports stay empty. Ports of a switch: endpoints, group, global.

use super::cheapest::CheapestMembers;
use super::need::NetworkNeed;
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, MAX_P, PromisedValue, in_range};
use base::{Refusal, SwitchId};
use fabric::network::{Cable, CablePlug, Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Dragonfly: g groups of a switches, complete inside, h global links on every switch.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dragonfly {
    /// Endpoints per switch; default h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
    /// Switches per group; default 2 h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<u32>,
    /// Global ports per switch.
    pub h: u32,
    /// Groups, at most a h + 1, which is the default. Where g - 1 does not divide a h, some
    /// global ports of every group have no link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub g: Option<u32>,
    /// Which group each global port leads to: `absolute` (the default), `relative`, `palmtree`,
    /// `circulant` or, of the networks of CODES alone, `codes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrangement: Option<GlobalLinkArrangement>,
}

/// The order in which the global ports of a group lead to the other groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "GlobalArrangement")]
pub enum GlobalLinkArrangement {
    /// Groups 0, 1, 2, ... without the own one (consecutive).
    Absolute,
    /// The next group, the one after it, and so on, round the ring of groups.
    Relative,
    /// As relative, in the opposite direction: the previous group first.
    Palmtree,
    /// The next and the previous group, then those at distance two, and so on.
    Circulant,
    /// As relative, a group's links to another one in the opposite order there: the networks that
    /// CODES is configured with in the Fit Fly study, and no others.
    Codes,
}

const ALL: [GlobalLinkArrangement; 4] = [
    GlobalLinkArrangement::Absolute,
    GlobalLinkArrangement::Relative,
    GlobalLinkArrangement::Palmtree,
    GlobalLinkArrangement::Circulant,
];

/// The most switches per group, and the most global ports per switch.
const MOST: u32 = 1024;
/// Promises count paths of two global links one by one up to this many steps, and give bounds
/// beyond.
const COUNTED_STEPS: u64 = 1 << 22;

/// The wiring of groups by global links: the parameters, checked and completed by defaults.
#[derive(Debug, Clone, Copy)]
pub(super) struct GlobalLinkWiring {
    pub(super) p: u32,
    pub(super) a: u32,
    pub(super) h: u32,
    pub(super) g: u32,
    /// The number of links that join any two groups; 0 when there is one group.
    pub(super) m: u32,
    pub(super) arrangement: GlobalLinkArrangement,
}

/// The numbers of ordered pairs of switches in different groups within one hop and within two hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct IntergroupPairCounts {
    /// The number of pairs one hop apart.
    one: u64,
    /// The number of pairs at most two hops apart.
    two: u64,
}

impl Dragonfly {
    fn wiring(&self) -> Result<GlobalLinkWiring, Refusal> {
        let h = in_range("h", self.h, 1, MOST)?;
        let a = in_range("a", self.a.unwrap_or(2 * h), 1, MOST)?;
        let p = in_range("p", self.p.unwrap_or(h), 0, MAX_P)?;
        let g = self.g.unwrap_or(a * h + 1);
        if g < 1 || g > a * h + 1 {
            let why = format!("{g} groups cannot be joined by {a} x {h} global ports a group");
            return Err(Refusal::new("g", why, format!("1 to {}", a * h + 1)));
        }
        let m = if g == 1 { 0 } else { a * h / (g - 1) };
        let arrangement = self.arrangement.unwrap_or(GlobalLinkArrangement::Absolute);
        if arrangement == GlobalLinkArrangement::Codes && (a, h, g) != (18, 9, 19) {
            let why = format!("codes with a={a}, h={h}, g={g}");
            return Err(Refusal::new("arrangement", why, "a=18, h=9, g=19, or another one"));
        }
        Ok(GlobalLinkWiring { p, a, h, g, m, arrangement })
    }
}

impl GlobalLinkWiring {
    /// Says how many global ports of a group have no link, and which numbers of groups use all: the
    /// nearest below and above. Empty where all ports have links.
    pub(super) fn notes(&self) -> Vec<String> {
        let all = self.a * self.h;
        let free = all - self.m * (self.g - 1);
        if free == 0 {
            return Vec::new();
        }
        let uses_all = |g: &u32| all.is_multiple_of(g - 1);
        let below = (2..self.g).rev().find(uses_all);
        let above = (self.g + 1..=all + 1).find(uses_all);
        let near: Vec<String> = below.into_iter().chain(above).map(|g| g.to_string()).collect();
        let why = match self.g {
            1 => "there is one group".to_owned(),
            g => format!("g - 1 = {} does not divide {all}", g - 1),
        };
        let help = format!("g = {} uses all", near.join(" or "));
        vec![format!("{free} of {all} global ports of a group have no link: {why}; {help}")]
    }

    /// The position of group `to` in the order in which the ports of group `from` lead to groups.
    fn index(&self, from: u32, to: u32) -> u32 {
        let ahead = (to + self.g - from) % self.g;
        let behind = self.g - ahead;
        match self.arrangement {
            GlobalLinkArrangement::Absolute if to < from => to,
            GlobalLinkArrangement::Absolute => to - 1,
            GlobalLinkArrangement::Relative | GlobalLinkArrangement::Codes => ahead - 1,
            GlobalLinkArrangement::Palmtree => behind - 1,
            GlobalLinkArrangement::Circulant if ahead <= behind => 2 * (ahead - 1),
            GlobalLinkArrangement::Circulant => 2 * (behind - 1) + 1,
        }
    }

    /// The group at position `index` in the order of group `from`: the inverse of
    /// [`GlobalLinkWiring::index`].
    fn target(&self, from: u32, index: u32) -> u32 {
        let ahead = match self.arrangement {
            GlobalLinkArrangement::Absolute if index < from => return index,
            GlobalLinkArrangement::Absolute => return index + 1,
            GlobalLinkArrangement::Relative | GlobalLinkArrangement::Codes => index + 1,
            GlobalLinkArrangement::Palmtree => self.g - index - 1,
            GlobalLinkArrangement::Circulant if index.is_multiple_of(2) => index / 2 + 1,
            GlobalLinkArrangement::Circulant => self.g - index / 2 - 1,
        };
        (from + ahead) % self.g
    }

    /// The port of group `from` that has link number `round` to group `to`.
    fn port(&self, from: u32, to: u32, round: u32) -> u32 {
        round * (self.g - 1) + self.index(from, to)
    }

    /// The number that link number `round` between two groups has at its other end.
    fn far_round(&self, round: u32) -> u32 {
        if self.arrangement == GlobalLinkArrangement::Codes { self.m - 1 - round } else { round }
    }

    /// The ports in use on router `i` of any group.
    fn ports_of(&self, i: u32) -> std::ops::Range<u32> {
        let used = self.m * (self.g - 1);
        (i * self.h).min(used)..((i + 1) * self.h).min(used)
    }

    /// Group and port at the other end of `port` of group `from`.
    pub(super) fn across(&self, from: u32, port: u32) -> (u32, u32) {
        let to = self.target(from, port % (self.g - 1));
        (to, self.port(to, from, self.far_round(port / (self.g - 1))))
    }

    /// Every global link once: group and port at both ends, the lower group first.
    pub(super) fn global_links(&self) -> impl Iterator<Item = [(u32, u32); 2]> + '_ {
        let ends = (0..self.g).flat_map(|g| (0..self.m * (self.g - 1)).map(move |port| (g, port)));
        let links = ends.map(|(from, port)| [(from, port), self.across(from, port)]);
        links.filter(|[(from, _), (to, _)]| from < to)
    }

    /// Whether router `i` of group `from` has a link to group `to`.
    fn reaches(&self, from: u32, to: u32, i: u32) -> bool {
        let first = (i * self.h).saturating_sub(self.index(from, to)).div_ceil(self.g - 1);
        first < self.m && self.port(from, to, first) / self.h == i
    }

    /// The counts for pairs whose first switch is in group `from`. O(a h^2 log h).
    fn near_from(&self, from: u32) -> IntergroupPairCounts {
        let a = u64::from(self.a);
        let mut near = IntergroupPairCounts { one: 0, two: 0 };
        for to in (0..self.g).filter(|&to| to != from) {
            // the ends rise or fall with the rounds, so that links with equal ends are consecutive
            let ends = |round| {
                let far = self.port(to, from, self.far_round(round));
                [self.port(from, to, round) / self.h, far / self.h]
            };
            let news = |same: fn([u32; 2], [u32; 2]) -> bool| {
                1 + (1..self.m).filter(|&r| !same(ends(r - 1), ends(r))).count() as u64
            };
            let (here, there) = (news(|x, y| x[0] == y[0]), news(|x, y| x[1] == y[1]));
            near.one += news(|x, y| x == y);
            near.two += a * (here + there) - here * there;
        }
        for i in 0..self.a {
            let mut shortcuts = Vec::new();
            for (middle, back) in self.ports_of(i).map(|port| self.across(from, port)) {
                for (to, end) in self.ports_of(back / self.h).map(|port| self.across(middle, port))
                {
                    let j = end / self.h;
                    if to != from && !self.reaches(from, to, i) && !self.reaches(to, from, j) {
                        shortcuts.push((to, j));
                    }
                }
            }
            shortcuts.sort_unstable();
            shortcuts.dedup();
            near.two += shortcuts.len() as u64;
        }
        near
    }

    /// The smallest and the largest possible counts over all groups; equal where the counts are
    /// exact.
    ///
    /// By formula in O(1) for a h + 1 groups and the absolute, relative or palmtree arrangement;
    /// otherwise by counting, where that takes at most [`COUNTED_STEPS`]; otherwise as bounds.
    fn near(&self) -> [IntergroupPairCounts; 2] {
        let [a, h, g] = [self.a, self.h, self.g].map(u64::from);
        if a == 1 || g == 1 {
            return self.bounds();
        }
        let absolute = self.arrangement == GlobalLinkArrangement::Absolute;
        if g == a * h + 1 && self.arrangement != GlobalLinkArrangement::Circulant {
            // Pairs of routers that are within two hops only by two consecutive global links.
            // Absolute: two groups with neighbouring numbers share a router of most other groups;
            // relative: o + o' = -h+1 .. h-1 for the offsets o, o' on routers i and a - 1 - i.
            let shortcuts =
                if absolute { h * (h - 1) * a * (a - 1) } else { 2 * g * (a - 2) * (h - 1) };
            let one = g * a * h;
            return [IntergroupPairCounts { one, two: one * (2 * a - 1) + shortcuts }; 2];
        }
        // except for the absolute arrangement, the links look the same from every group
        let starts = if absolute { g } else { 1 };
        if starts * a * h * h <= COUNTED_STEPS {
            let mut sum = IntergroupPairCounts { one: 0, two: 0 };
            for near in (0..starts as u32).map(|from| self.near_from(from)) {
                sum.one += near.one * (g / starts);
                sum.two += near.two * (g / starts);
            }
            return [sum; 2];
        }
        self.bounds()
    }

    /// Loose bounds for [`GlobalLinkWiring::near`], in O(1): between two groups, 1 to min(m, a)
    /// routers of each have a link to the other; and two global links of a switch join h global
    /// neighbours of it.
    fn bounds(&self) -> [IntergroupPairCounts; 2] {
        let [a, h, g, m] = [self.a, self.h, self.g, self.m].map(u64::from);
        // all distances are 1
        if a == 1 || g == 1 {
            return [IntergroupPairCounts { one: 0, two: 0 }; 2];
        }
        let (groups, most) = (g * (g - 1), m.min(a));
        let two = groups * (a * a - (a - most) * (a - most)) + a * g * h * (h - 1);
        [
            IntergroupPairCounts { one: groups, two: groups * (2 * a - 1) },
            IntergroupPairCounts { one: groups * m.min(a * a), two: two.min(groups * a * a) },
        ]
    }

    /// The promise of a dragonfly with this wiring and these counts of near pairs.
    fn promise(&self, near: [IntergroupPairCounts; 2]) -> FamilyPromise {
        let [a, g, m] = [self.a, self.g, self.m].map(u64::from);
        let (diameter, mean_distance) = self.distances(near);
        let links = g * (a * (a - 1) / 2) + m * (g * (g - 1) / 2);
        let network_radix = self.a - 1 + self.ports_of(0).len() as u32;
        FamilyPromise::direct(a * g, self.p, links, network_radix, diameter, mean_distance)
    }

    /// Diameter and mean distance by these counts of near pairs: the smallest and the largest.
    fn distances(
        &self,
        near: [IntergroupPairCounts; 2],
    ) -> (PromisedValue<u32>, PromisedValue<ExactFraction>) {
        let (a, g) = (u64::from(self.a), u64::from(self.g));
        if a == 1 || g == 1 {
            let diameter = u32::from(a * g > 1);
            return (
                PromisedValue::Exact(diameter),
                PromisedValue::Exact(ExactFraction { num: 1, den: 1 }),
            );
        }
        let pairs = a * a * g * (g - 1);
        let mean = |near: IntergroupPairCounts| ExactFraction {
            num: g * a * (a - 1) + 3 * pairs - near.two - near.one,
            den: a * g * (a * g - 1),
        };
        let diameter = |near: IntergroupPairCounts| {
            3 - u32::from(near.two == pairs) - u32::from(near.one == pairs)
        };
        let [least, most] = near;
        if least == most {
            return (PromisedValue::Exact(diameter(most)), PromisedValue::Exact(mean(most)));
        }
        (
            PromisedValue::Between(diameter(most), diameter(least)),
            PromisedValue::Between(mean(most), mean(least)),
        )
    }
}

/// Numbers of groups that fit a wish, where a group has `ports` global ports and `hosts` endpoints:
/// the next below and above at which the links between two groups carry uniform traffic in full. A
/// group's endpoints send 1/g of their traffic to each other group.
pub(super) fn groups_near(wish: &NetworkWish, ports: u32, hosts: u32) -> impl Iterator<Item = u32> {
    let full = f64::from(hosts) / wish.oversubscription;
    let carries = |g: &u32| f64::from(ports / (g - 1)) * f64::from(*g) >= full - 1e-9;
    let most = u64::from(ports) + 1;
    let wished = wish.endpoints.map_or(most, |n| n / u64::from(hosts)).clamp(2, most) as u32;
    let below = (2..=wished).rev().find(carries);
    let above = (wished + 1..=ports + 1).find(carries);
    below.into_iter().chain(above)
}

/// The least number of global ports on each of `a` switches of a group with `hosts` endpoints, of g
/// groups, with which the global links carry uniform traffic: m links to each other group, where a
/// group sends hosts (g - 1) / g of its traffic over m (g - 1) links. `None` where that is out of
/// range.
pub(super) fn global_ports(need: &NetworkNeed, [a, hosts, g]: [u32; 3]) -> Option<u32> {
    let m = need.links_for(hosts.into()).div_ceil(g.into());
    let h = (m * u64::from(g - 1)).div_ceil(a.into());
    u32::try_from(h).ok().filter(|h| (1..=MOST).contains(h))
}

impl Family for Dragonfly {
    const NAME: &'static str = "dragonfly";

    fn examples() -> Vec<Self> {
        let of = |h, arrangement| Self { p: None, a: None, h, g: None, arrangement };
        let sized = |a, h, g, arrangement| Self {
            p: Some(1),
            a: Some(a),
            h,
            g: Some(g),
            arrangement: Some(arrangement),
        };
        let mut members = vec![of(2, None), sized(1, 1, 1, ALL[0]), sized(3, 5, 1, ALL[1])];
        for arrangement in ALL {
            members.push(of(1, Some(arrangement)));
            members.push(of(3, Some(arrangement)));
            members.push(sized(4, 3, 6, arrangement));
            members.push(sized(5, 2, 2, arrangement));
            members.push(sized(1, 7, 5, arrangement));
        }
        members
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let w = self.wiring()?;
        Ok(w.promise(w.near()))
    }

    fn counts(&self) -> Result<FamilyPromise, Refusal> {
        let w = self.wiring()?;
        Ok(w.promise(w.bounds()))
    }

    fn notes(&self) -> Vec<String> {
        self.wiring().map(|w| w.notes()).unwrap_or_default()
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let w = self.wiring()?;
        let mut b = TopologyBuilder::new();
        for group in 0..w.g {
            for router in 0..w.a {
                let name = format!("df-{group}-{router}");
                b.switch(Switch::new(name).at(group, vec![group, router]));
            }
        }
        b.endpoints_on((0..w.a * w.g).map(SwitchId), w.p);
        let plug = |group: u32, router: u32, port: u32| CablePlug {
            switch: SwitchId(group * w.a + router),
            port: (w.p + 1 + port) as u16,
        };
        for group in 0..w.g {
            for i in 0..w.a {
                for j in i + 1..w.a {
                    b.link_at(plug(group, i, j - 1), plug(group, j, i), Cable::default());
                }
            }
        }
        let global = |group, port| plug(group, port / w.h, w.a - 1 + port % w.h);
        for [(from, port), (to, back)] in w.global_links() {
            b.link_at(global(from, port), global(to, back), Cable::default());
        }
        Ok(b)
    }

    /// Balanced members, a = 2 h, p = h (Kim et al., section 3.1): with the most groups, and with
    /// as many as the wish needs where the links between two groups still carry uniform traffic.
    fn near(wish: &NetworkWish) -> Vec<Self> {
        let mut members = Vec::new();
        for h in 1..=wish.radix.min(4 * MOST).div_ceil(4) {
            let (a, p) = (2 * h, wish.per_switch(f64::from(h), f64::from(h)));
            let of = |g| Self { p: Some(p), a: Some(a), h, g: Some(g), arrangement: None };
            members.extend(groups_near(wish, a * h, a * p).map(of));
        }
        members
    }

    /// All with room for the endpoints of a switch on its local links (2 p of them at most a, as a
    /// packet takes one on either side of the global link) and with global links for the endpoints
    /// of a group.
    fn carrying(need: &NetworkNeed) -> Vec<Self> {
        let mut members = CheapestMembers::of(need);
        let radix = need.wish.radix.min(MOST);
        for a in 1..=radix {
            for p in 1..=need.admitted(f64::from(a) / 2.0).min(radix - a) {
                let first = need.per_switch(u64::from(a * p)).max(2);
                for g in (first..first + 4).filter_map(|g| u32::try_from(g).ok()) {
                    let Some(h) = global_ports(need, [a, a * p, g]) else { continue };
                    let [switches, groups] = [u64::from(a) * u64::from(g), u64::from(g)];
                    let links = groups * u64::from(a * (a - 1) / 2)
                        + u64::from(a * h / (g - 1)) * (groups * (groups - 1) / 2);
                    members.offer([switches, links], p + a - 1 + h, || Self {
                        p: Some(p),
                        a: Some(a),
                        h,
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
    use super::GlobalLinkArrangement::{Absolute, Circulant, Palmtree, Relative};
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::{PortPeer, Topology};
    use proptest::prelude::*;

    fn balanced(h: u32, arrangement: GlobalLinkArrangement) -> Dragonfly {
        Dragonfly { p: None, a: None, h, g: None, arrangement: Some(arrangement) }
    }

    fn built(member: &Dragonfly) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    /// Mean distances computed by an independent program: breadth-first search in Python over the
    /// published wiring.
    #[test]
    fn mean_distances_are_those_of_an_independent_program() {
        let known = [
            (2, Absolute, (247, 105)),
            (2, Relative, (82, 35)),
            (2, Circulant, (163, 70)),
            (4, Absolute, (7793, 2893)),
            (4, Relative, (1413, 526)),
            (4, Palmtree, (1413, 526)),
            (4, Circulant, (704, 263)),
        ];
        for (h, arrangement, (num, den)) in known {
            let promise = balanced(h, arrangement).promise().expect("a member");
            let PromisedValue::Exact(mean) = promise.mean_distance else { panic!("not exact") };
            assert_eq!(mean.num * den, mean.den * num, "h={h} {arrangement:?}");
            assert_eq!(promise.diameter, PromisedValue::Exact(3));
        }
    }

    /// The ports without a link, counted in the network that is built.
    #[test]
    fn notes_name_the_ports_that_have_no_link() {
        for (a, h, g) in [(6, 3, 11), (6, 3, 10), (6, 3, 19), (6, 3, 18), (4, 3, 1), (2, 5, 4)] {
            let member = Dragonfly { p: Some(1), a: Some(a), h, g: Some(g), arrangement: None };
            let global = built(&member).links().len() as u32 - g * a * (a - 1) / 2;
            let free = a * h - 2 * global / g;
            let [note] = &member.notes()[..] else {
                assert_eq!((free, member.notes().len()), (0, 0), "{a} {h} {g}");
                continue;
            };
            let said = format!("{free} of {} global ports of a group have no link: ", a * h);
            assert!(free > 0 && note.starts_with(&said), "{note}");
            let named = note.split("g = ").nth(1).expect("numbers of groups");
            for other in named.trim_end_matches(" uses all").split(" or ") {
                let g = Some(other.parse().expect("a number"));
                assert!(Dragonfly { g, ..member.clone() }.notes().is_empty(), "{note}");
            }
        }
        let asked = Dragonfly { p: Some(3), a: Some(6), h: 3, g: Some(11), arrangement: None };
        assert!(asked.notes()[0].ends_with("g - 1 = 10 does not divide 18; g = 10 or 19 uses all"));
    }

    #[test]
    fn formulae_agree_with_counting() {
        for (a, h) in [(2, 1), (2, 5), (3, 2), (4, 2), (5, 4), (8, 4), (6, 3)] {
            for arrangement in [Absolute, Relative, Palmtree] {
                let member = Dragonfly { a: Some(a), ..balanced(h, arrangement) };
                let w = member.wiring().expect("a member");
                let mut counted = IntergroupPairCounts { one: 0, two: 0 };
                for near in (0..w.g).map(|from| w.near_from(from)) {
                    counted.one += near.one;
                    counted.two += near.two;
                }
                assert_eq!(w.near(), [counted; 2], "a={a} h={h} {arrangement:?}");
            }
        }
    }

    /// The published rules for the group that global port l of group G leads to, with the most
    /// groups.
    #[test]
    fn global_ports_lead_where_the_published_arrangement_says() {
        for arrangement in ALL {
            let (a, h, g) = (4_i64, 2_i64, 9_i64);
            let t = built(&balanced(2, arrangement));
            for group in 0..g {
                for l in 0..a * h {
                    let expected = match arrangement {
                        Absolute if l < group => l,
                        Absolute => l + 1,
                        Relative => group + l + 1,
                        Palmtree => group - l - 1,
                        Circulant if l % 2 == 0 => group + l / 2 + 1,
                        Circulant => group - (l - 1) / 2 - 1,
                        GlobalLinkArrangement::Codes => unreachable!("it is of one size"),
                    };
                    let router = SwitchId((group * a + l / h) as u32);
                    // two endpoints and three local ports have the lower port numbers
                    let PortPeer::Switch(c) = t.peer(router, (6 + l % h) as u16) else {
                        panic!("global port {l} of group {group} is empty");
                    };
                    let reached = t.switches()[t.head(c).switch.ix()].group;
                    assert_eq!(i64::from(reached), expected.rem_euclid(g), "{arrangement:?} {l}");
                }
            }
        }
    }

    /// The "1D dragonfly" of the Fit Fly study: 342 routers of 35 used ports, 9 links a pair.
    #[test]
    fn fewer_groups_share_the_ports_evenly() {
        let member =
            Dragonfly { p: Some(9), a: Some(18), h: 9, g: Some(19), arrangement: Some(Absolute) };
        let t = built(&member);
        assert_eq!((t.switches().len(), t.endpoints().len(), t.radix()), (342, 3078, 35));
        let mut between = vec![vec![0; 19]; 19];
        for link in t.links() {
            let [x, y] = [link.a, link.b].map(|plug| t.switches()[plug.switch.ix()].group as usize);
            between[x.min(y)][x.max(y)] += 1;
        }
        for x in 0..19 {
            assert_eq!(between[x][x], 18 * 17 / 2);
            assert!(between[x][x + 1..].iter().all(|&links| links == 9));
        }
        let promise = member.promise().expect("a member");
        assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
        assert!(matches!(promise.mean_distance, PromisedValue::Exact(_)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn members_keep_their_promise_and_lie_within_the_bounds(
            a in 1_u32..7,
            h in 1_u32..6,
            part in 0_u32..1000,
            most in any::<bool>(),
            kind in 0_usize..4,
        ) {
            let g = if most { a * h + 1 } else { 1 + part % (a * h + 1) };
            let arrangement = ALL[kind];
            let member =
                Dragonfly { p: Some(1), a: Some(a), h, g: Some(g), arrangement: Some(arrangement) };
            let t = built(&member);
            let promise = member.promise().expect("a member");
            prop_assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
            let links = |x: u32, y: u32| {
                let group = |plug: CablePlug| t.switches()[plug.switch.ix()].group;
                let joins = |l: &&fabric::network::Link| (group(l.a), group(l.b)) == (x, y);
                t.links().iter().filter(joins).count() as u32
            };
            for y in 1..g {
                prop_assert_eq!(links(0, y), a * h / (g - 1));
            }
            if a > 1 && g > 1 {
                let w = member.wiring().expect("a member");
                let ([low, high], [exact, _]) = (w.bounds(), w.near());
                prop_assert!(low.one <= exact.one && exact.one <= high.one);
                prop_assert!(low.two <= exact.two && exact.two <= high.two);
            }
        }
    }

    /// The dragonfly of the Fit Fly study as its configuration file has it: router l of group g has
    /// links to groups g + 1 to g + 9 where l is even, to g + 10 to g + 18 where l is odd, each to
    /// router 17 - l of that group.
    #[test]
    fn the_codes_arrangement_is_that_of_its_configuration() {
        let codes = Some(GlobalLinkArrangement::Codes);
        let member = Dragonfly { p: Some(9), a: Some(18), h: 9, g: Some(19), arrangement: codes };
        let t = built(&member);
        assert_eq!(broken_promises(&member.promise().expect("a member"), &t), Vec::<String>::new());
        let mut found: Vec<(u32, u32)> = Vec::new();
        for link in t.links() {
            let [x, y] = [link.a.switch.0, link.b.switch.0];
            if x / 18 != y / 18 {
                found.extend([(x, y), (y, x)]);
            }
        }
        let mut due = Vec::new();
        for router in 0..342 {
            let (group, l) = (router / 18, router % 18);
            for k in 1..10 {
                let ahead = if l % 2 == 0 { k } else { 9 + k };
                due.push((router, (group + ahead) % 19 * 18 + 17 - l));
            }
        }
        found.sort_unstable();
        due.sort_unstable();
        assert_eq!(found, due);
        let other = Dragonfly { g: Some(10), ..member };
        assert!(other.promise().expect_err("no other size").to_string().contains("g=19"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            a in prop_oneof![any::<u32>(), 0..=MOST],
            h in prop_oneof![any::<u32>(), 0..=MOST],
            g in prop::option::of(prop_oneof![any::<u32>(), 0_u32..2000]),
            p in prop::option::of(any::<u32>()),
            kind in 0_usize..4,
        ) {
            let member = Dragonfly { p, a: Some(a), h, g, arrangement: Some(ALL[kind]) };
            let there = (1..=MOST).contains(&h) && (1..=MOST).contains(&a)
                && p.unwrap_or(0) <= MAX_P
                && g.is_none_or(|g| g >= 1 && g <= a * h + 1);
            prop_assert_eq!(member.promise().is_ok(), there);
        }
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        let of = |p, a, h, g| Dragonfly { p, a, h, g, arrangement: None };
        let cases = [
            (of(None, None, 0, None), "h"),
            (of(None, None, MOST + 1, None), "h"),
            (of(None, Some(0), 2, None), "a"),
            (of(None, Some(u32::MAX), 2, None), "a"),
            (of(Some(MAX_P + 1), None, 2, None), "p"),
            (of(None, None, 2, Some(0)), "g"),
            (of(None, None, 2, Some(10)), "g"),
        ];
        for (member, param) in cases {
            let refusal = member.promise().expect_err("no such member");
            assert_eq!(refusal.param, param, "{member:?}");
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
        let g = of(None, None, 2, Some(10)).promise().expect_err("ten groups").help;
        assert_eq!(g, "1 to 9");
        let largest = of(Some(MAX_P), Some(MOST), MOST, None).promise().expect("the largest");
        assert_eq!(largest.switches, 1024 * (1024 * 1024 + 1));
        let fewer = of(None, Some(MOST), MOST, Some(1000)).promise().expect("bounds");
        assert!(matches!(fewer.mean_distance, PromisedValue::Between(low, high) if low != high));
    }
}
