//! `BCube`: servers relay packets, and each server has a link to one switch of every level.
//!
//! Source: Guo et al., "`BCube`: a high performance, server-centric network architecture for
//! modular data centers", SIGCOMM 2009, section 3.1.
//!
//! Switches of a `BCube` are never linked to each other: packets travel on through servers. So here
//! a server is a switch of level 0, with k + 1 ports for cables and one endpoint for the server's
//! own traffic; the switches of the paper carry no endpoints. Two servers are two hops apart for
//! every digit in which they differ (the paper counts one hop). The server a(k) ... a(0) is linked
//! to the switch of level l whose digits are its own without a(l). Groups are the n parts that
//! differ in a(k), and one group of the switches of the highest level. Ports of a server: the
//! endpoint, then level by level; of a switch: by a(l).

use super::{ExactFraction, Family, FamilyPromise, PromisedValue, in_range};
use base::{Refusal, SwitchId};
use fabric::network::{Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `BCube`: n^(k+1) servers with k + 1 ports, and k + 1 levels of n^k switches with n ports.
///
/// Servers relay: each is a switch with one endpoint.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bcube {
    /// Ports of a switch.
    pub n: u32,
    /// The highest level; levels count from 0.
    pub k: u32,
}

/// The most ports of a switch, and the highest level.
const MAX_N: u32 = 65_534;
const MAX_K: u32 = 29;
/// The most servers.
const MOST: u64 = 1 << 26;

impl Bcube {
    /// The number of servers, n^(k+1).
    fn servers(&self) -> Result<u64, Refusal> {
        let n = in_range("n", self.n, 2, MAX_N)?;
        let k = in_range("k", self.k, 0, MAX_K)?;
        let size = |k: u32| u64::from(n).checked_pow(k + 1).filter(|&size| size <= MOST);
        size(k).ok_or_else(|| {
            let most = (0..k).rev().find(|&k| size(k).is_some()).unwrap_or(0);
            let why = format!("{n}^{} servers are too many", k + 1);
            Refusal::new("k", why, format!("with n = {n}, 0 to {most}"))
        })
    }

    /// The last `count` digits of `number`, the most significant first.
    fn digits(&self, number: u32, count: u32) -> Vec<u32> {
        (0..count).rev().map(|place| number / self.n.pow(place) % self.n).collect()
    }
}

fn named(prefix: &str, digits: &[u32]) -> String {
    let digits = digits.iter().map(u32::to_string);
    std::iter::once(prefix.to_owned()).chain(digits).collect::<Vec<_>>().join("-")
}

impl Family for Bcube {
    const NAME: &'static str = "bcube";

    fn examples() -> Vec<Self> {
        [(4, 0), (4, 1), (2, 2), (3, 2), (2, 3)].map(|(n, k)| Self { n, k }).to_vec()
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let servers = self.servers()?;
        let levels = self.k + 1;
        let links = u64::from(levels) * servers;
        // two hops for every digit that differs; each digit differs for servers - servers / n
        // servers
        let apart = servers - servers / u64::from(self.n);
        let far = 2 * u64::from(levels) * apart;
        Ok(FamilyPromise {
            switches: servers + links / u64::from(self.n),
            endpoints: servers,
            links,
            network_radix: self.n.max(levels),
            diameter: PromisedValue::Exact(2 * levels),
            mean_distance: PromisedValue::Exact(ExactFraction { num: far, den: servers - 1 }),
            edge_switches: servers,
            radix: self.n.max(levels + 1),
            planes: 1,
            vertex_transitive: false,
        })
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let (servers, n, k) = (self.servers()? as u32, self.n, self.k);
        let each = servers / n;
        let mut b = TopologyBuilder::new();
        for server in 0..servers {
            let digits = self.digits(server, k + 1);
            let name = named("server", &digits);
            let group = if k == 0 { 0 } else { digits[0] };
            let coordinates = std::iter::once(0).chain(digits).collect();
            b.switch(Switch::new(name).at(group, coordinates));
        }
        for level in 0..=k {
            for switch in 0..each {
                let digits = self.digits(switch, k);
                let name = named(&format!("switch-{level}"), &digits);
                let group = match digits.first() {
                    Some(&highest) if level < k => highest,
                    Some(_) => n,
                    None => 0,
                };
                let coordinates = std::iter::once(level + 1).chain(digits).collect();
                let switch = Switch::new(name).at(group, coordinates);
                b.switch(Switch { level: level as u8 + 1, ..switch });
            }
        }
        b.endpoints_on((0..servers).map(SwitchId), 1);
        for level in 0..=k {
            let place = n.pow(level);
            for server in 0..servers {
                let switch = server / (place * n) * place + server % place;
                b.link(SwitchId(server), SwitchId(servers + level * each + switch));
            }
        }
        Ok(b)
    }

    fn kind(&self) -> String {
        format!("{} levels", self.k.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::recipe;
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::Topology;
    use proptest::prelude::*;

    fn built(n: u32, k: u32) -> Topology {
        let member = Bcube { n, k };
        member.build().expect("a member").finish(recipe(&member)).expect("a valid network")
    }

    /// Guo et al.: BCube(k) is n of BCube(k-1) and n^k further switches, one for the servers of
    /// equal number in each; n^(k+1) servers and (k+1) n^k switches. A link is a server and a
    /// switch, given by its level and number.
    fn recursive(n: u32, k: u32) -> Vec<(u32, (u32, u32))> {
        if k == 0 {
            return (0..n).map(|server| (server, (0, 0))).collect();
        }
        let (inner, part) = (recursive(n, k - 1), n.pow(k));
        let mut links = Vec::new();
        for i in 0..n {
            let below = |&(server, (level, switch))| {
                (i * part + server, (level, i * n.pow(k - 1) + switch))
            };
            links.extend(inner.iter().map(below));
            links.extend((0..part).map(|server| (i * part + server, (k, server))));
        }
        links
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn members_are_those_of_the_recursion_and_keep_their_promise(
            n in 2_u32..5, k in 0_u32..4,
        ) {
            let (promise, t) = (Bcube { n, k }.promise().expect("a member"), built(n, k));
            prop_assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
            let (servers, each) = (n.pow(k + 1), n.pow(k));
            prop_assert_eq!(promise.switches, u64::from(servers + (k + 1) * each));
            let relays = |s: u32| ((s - servers) / each, (s - servers) % each);
            let mut found: Vec<(u32, (u32, u32))> =
                t.links().iter().map(|l| (l.a.switch.0, relays(l.b.switch.0))).collect();
            let mut expected = recursive(n, k);
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
            for v in 0..servers {
                let distances = t.graph().distances_from(v as usize);
                for w in 0..servers {
                    let differ = |i: &u32| v / n.pow(*i) % n != w / n.pow(*i) % n;
                    let digits = (0..=k).filter(differ).count() as u32;
                    prop_assert_eq!(distances[w as usize], 2 * digits);
                }
            }
        }

        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            n in prop_oneof![any::<u32>(), 0_u32..70],
            k in prop_oneof![any::<u32>(), 0_u32..40],
        ) {
            let there = (2..=MAX_N).contains(&n) && k <= MAX_K
                && f64::from(n).powi(k as i32 + 1) <= MOST as f64;
            prop_assert_eq!(Bcube { n, k }.promise().is_ok(), there);
        }
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        for (n, k, param, help) in [
            (1, 1, "n", "2 to 65534"),
            (65_535, 0, "n", "2 to 65534"),
            (2, u32::MAX, "k", "0 to 29"),
            (8, 9, "k", "with n = 8, 0 to 7"),
        ] {
            let member = Bcube { n, k };
            let refusal = member.promise().expect_err("no such member");
            assert_eq!((&refusal.param[..], &refusal.help[..]), (param, help));
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
    }
}
