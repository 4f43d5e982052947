//! Which endpoint each process is on.

use base::seed::Stream;
use base::words::did_you_mean;
use base::{Refusal, TerminalId};
use fabric::Topology;
use std::collections::HashMap;

/// In which order processes take endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// In the order of the endpoints.
    Linear,
    /// At random.
    Random,
    /// Switch after switch, these at random.
    RandomSwitches,
    /// Group after group, these at random.
    RandomGroups,
    /// The first endpoint of every switch, then the second of every one, and so on.
    Stripe,
}

impl Policy {
    /// All, by name.
    pub const NAMES: [(&str, Self); 5] = [
        ("linear", Self::Linear),
        ("random", Self::Random),
        ("random_switches", Self::RandomSwitches),
        ("random_groups", Self::RandomGroups),
        ("stripe", Self::Stripe),
    ];

    /// Which endpoints one after the other get a process.
    pub fn doc(self) -> &'static str {
        match self {
            Self::Linear => "endpoints in the network's order",
            Self::Random => "endpoints at random",
            Self::RandomSwitches => "switch after switch, these at random",
            Self::RandomGroups => "group after group, these at random",
            Self::Stripe => "the first endpoint of every switch, then the second, and so on",
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn parse(name: &str) -> Result<Self, Refusal> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, policy)| *policy).ok_or_else(|| {
            let names = Self::NAMES.map(|(name, _)| name);
            let near = did_you_mean(name, names);
            let help = format!("{near}{}, or a file", names.join(", "));
            Refusal::new("placement", format!("there is no {name:?}"), help)
        })
    }

    /// The endpoint of each of so many processes, `per_endpoint` after one another on each, on
    /// endpoints that work. O(endpoints).
    ///
    /// # Errors
    /// When there are fewer places.
    pub fn place(
        self,
        on: &Topology,
        processes: u32,
        per_endpoint: u32,
        seed: u64,
    ) -> Result<Vec<u32>, Refusal> {
        let mut draw = Stream::new(seed, "placement", 0);
        let homes = homes(on);
        let mut order: Vec<u32> =
            (0..).zip(&homes).filter(|h| h.1.is_some()).map(|h| h.0).collect();
        let switch = |e: &u32| homes[*e as usize].unwrap_or(0);
        let mut shuffled = |count: usize| {
            let mut all: Vec<u32> = (0..count as u32).collect();
            draw.shuffle(&mut all);
            all
        };
        match self {
            Self::Linear => {}
            Self::Random => {
                let places = shuffled(order.len());
                order = places.into_iter().map(|i| order[i as usize]).collect();
            }
            Self::RandomSwitches => {
                let ranks = shuffled(on.switches().len());
                order.sort_by_key(|e| ranks[switch(e) as usize]);
            }
            Self::RandomGroups => {
                let group = |e: &u32| on.switches()[switch(e) as usize].group;
                let groups = order.iter().map(group).max().map_or(0, |most| most as usize + 1);
                let ranks = shuffled(groups);
                order.sort_by_key(|e| ranks[group(e) as usize]);
            }
            Self::Stripe => {
                let mut taken = vec![0_u32; on.switches().len()];
                let mut turns = HashMap::new();
                for e in &order {
                    turns.insert(*e, taken[switch(e) as usize]);
                    taken[switch(e) as usize] += 1;
                }
                order.sort_by_key(|e| (turns[e], switch(e)));
            }
        }
        let places = order.len() as u64 * u64::from(per_endpoint);
        if u64::from(processes) > places {
            let why = format!("{processes} processes for {} endpoints", order.len());
            let help = format!("no more than {places} with {per_endpoint} an endpoint");
            return Err(Refusal::new("placement", why, help));
        }
        Ok((0..processes).map(|rank| order[(rank / per_endpoint.max(1)) as usize]).collect())
    }
}

/// Endpoints that are given are in the network.
///
/// # Errors
/// When one is not.
pub fn check_places(on: &Topology, given: &[u32]) -> Result<(), Refusal> {
    let endpoints = on.endpoints().len();
    given.iter().find(|place| **place as usize >= endpoints).map_or(Ok(()), |place| {
        let why = format!("there is no endpoint {place}");
        let help = format!("0 to {}", endpoints.saturating_sub(1));
        Err(Refusal::new("placement", why, help))
    })
}

/// The switch of the first working rail of each endpoint.
fn homes(on: &Topology) -> Vec<Option<u32>> {
    let mut homes = vec![None; on.endpoints().len()];
    for (i, terminal) in (0..).zip(on.terminals()) {
        if on.terminal_is_up(TerminalId(i)) {
            homes[terminal.endpoint.ix()].get_or_insert(terminal.plug.switch.0);
        }
    }
    homes
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::network::parse_inline;
    use proptest::prelude::*;

    /// Nine groups of four switches with two endpoints each.
    fn network() -> Topology {
        let recipe = parse_inline("dragonfly:h=2").expect("a recipe");
        let family = families::family(&recipe.family).expect("there is one");
        family.build(&recipe.params).expect("a network")
    }

    proptest! {
        #[test]
        fn every_policy_fills_endpoints_evenly(
            which in 0_usize..5, processes in 0_u32..300, per in 1_u32..4, seed in any::<u64>(),
        ) {
            let on = network();
            let (name, policy) = Policy::NAMES[which];
            prop_assert_eq!(Policy::parse(name).expect("a name"), policy);
            let endpoints = on.endpoints().len() as u32;
            let found = policy.place(&on, processes, per, seed);
            if processes > endpoints * per {
                prop_assert!(found.is_err());
                return Ok(());
            }
            let found = found.expect("places enough");
            prop_assert_eq!(found.len() as u32, processes);
            let mut counts = vec![0; endpoints as usize];
            for &e in &found {
                counts[e as usize] += 1;
            }
            // all are full but the last that was taken
            let partly = counts.iter().filter(|n| **n > 0 && **n < per).count();
            prop_assert!(partly <= 1 && counts.iter().all(|n| *n <= per));
        }
    }

    #[test]
    fn groups_and_switches_stay_together() {
        let on = network();
        let place = |policy: Policy| policy.place(&on, 72, 1, 3).expect("places");
        let switch = |e: u32| on.terminals()[e as usize].plug.switch;
        let runs = |of: &dyn Fn(u32) -> u32, placed: &[u32]| {
            1 + placed.windows(2).filter(|w| of(w[0]) != of(w[1])).count()
        };
        let of_switch = |e: u32| switch(e).0;
        let of_group = |e: u32| on.switches()[switch(e).ix()].group;
        assert_eq!(runs(&of_switch, &place(Policy::Linear)), 36);
        assert_eq!(runs(&of_switch, &place(Policy::RandomSwitches)), 36);
        assert_eq!(runs(&of_group, &place(Policy::RandomGroups)), 9);
        assert!(runs(&of_group, &place(Policy::Random)) > 36);
        assert_eq!(runs(&of_switch, &place(Policy::Stripe)), 72);
        assert_ne!(place(Policy::RandomGroups), place(Policy::Linear));
    }
}
