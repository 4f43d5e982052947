//! Placement of processes on endpoints.
//!
//! To add a placement, put a file with its `ENTRY` beside this one; `cargo xtask gen` adds it to
//! the table.

mod kind;
// The placement of docs/adding-a-placement.md, under a name that does not collide with it once
// added.
#[cfg(test)]
#[path = "../../../../docs/parts/stripe_groups.rs"]
mod page_stripe_groups;

pub use kind::PlacementMethodEntry;

use base::Refusal;
use base::words::did_you_mean;
use fabric::Topology;

// gen:begin
mod linear;
mod random;
mod random_groups;
mod random_switches;
mod stripe;

/// All placements, by file; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static PLACEMENTS: &[PlacementMethodEntry] = &[
    linear::ENTRY,
    random::ENTRY,
    random_groups::ENTRY,
    random_switches::ENTRY,
    stripe::ENTRY,
];
// gen:end

/// The placement of this name.
///
/// # Errors
/// When there is none.
pub fn placement(name: &str) -> Result<&'static PlacementMethodEntry, Refusal> {
    PLACEMENTS.iter().find(|entry| entry.part.name == name).ok_or_else(|| {
        let names: Vec<&str> = PLACEMENTS.iter().map(|entry| entry.part.name).collect();
        let near = did_you_mean(name, names.iter().copied());
        let help = format!("{near}{}, or a file", names.join(", "));
        Refusal::new("placement", format!("there is no {name:?}"), help)
    })
}

/// Checks that all given endpoints exist in the network.
///
/// # Errors
/// When one does not exist.
pub fn check_places(on: &Topology, given: &[u32]) -> Result<(), Refusal> {
    let endpoints = on.endpoints().len();
    given.iter().find(|place| **place as usize >= endpoints).map_or(Ok(()), |place| {
        let why = format!("there is no endpoint {place}");
        let help = format!("0 to {}", endpoints.saturating_sub(1));
        Err(Refusal::new("placement", why, help))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::network::parse_inline;
    use proptest::prelude::*;

    /// Nine groups of four switches with two endpoints each.
    pub(super) fn network() -> Topology {
        let recipe = parse_inline("dragonfly:h=2").expect("a recipe");
        let family = families::family(&recipe.family).expect("there is one");
        family.build(&recipe.params).expect("a network")
    }

    proptest! {
        #[test]
        fn every_policy_fills_endpoints_evenly(
            which in 0..PLACEMENTS.len(),
            (processes, per) in (0_u32..300, 1_u32..4),
            seed in any::<u64>(),
        ) {
            let on = network();
            let policy = &PLACEMENTS[which];
            let named = placement(policy.part.name).expect("a name");
            prop_assert_eq!(named.part.name, policy.part.name);
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
            // all switches in use are full, except for the last one taken
            let partly = counts.iter().filter(|n| **n > 0 && **n < per).count();
            prop_assert!(partly <= 1 && counts.iter().all(|n| *n <= per));
        }
    }

    #[test]
    fn groups_and_switches_stay_together() {
        let on = network();
        let place =
            |name: &str| placement(name).expect("known").place(&on, 72, 1, 3).expect("places");
        let switch = |e: u32| on.terminals()[e as usize].plug.switch;
        let runs = |of: &dyn Fn(u32) -> u32, placed: &[u32]| {
            1 + placed.windows(2).filter(|w| of(w[0]) != of(w[1])).count()
        };
        let of_switch = |e: u32| switch(e).0;
        let of_group = |e: u32| on.switches()[switch(e).ix()].group;
        assert_eq!(runs(&of_switch, &place("linear")), 36);
        assert_eq!(runs(&of_switch, &place("random_switches")), 36);
        assert_eq!(runs(&of_group, &place("random_groups")), 9);
        assert!(runs(&of_group, &place("random")) > 36);
        assert_eq!(runs(&of_switch, &place("stripe")), 72);
        assert_ne!(place("random_groups"), place("linear"));
    }
}
