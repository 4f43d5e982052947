//! Compares wide entries of `PortChoicesByDestination` with narrow ones.

use super::{PortChoicesByDestination, SEVERAL};
use crate::wiring::RouterWiring;
use base::QuietWatch;
use base::seed::FastRandomStream;
use fabric::network::parse_inline;
use fabric::tables::candidates::{LaneClasses, MinimalAdaptiveRouting};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Entries become wide with the first list that narrow ones cannot name, and then hold the same
/// ports.
#[test]
fn entries_are_as_wide_as_their_lists_ask() {
    for inline in ["jellyfish:n=60,k=8,p=1,seed=2", "hyperx:shape=3x4,p=1", "fat_tree:levels=3,k=4"]
    {
        let recipe = parse_inline(inline).expect("it is written so");
        let family = families::family(&recipe.family).expect("there is one");
        let on = Arc::new(family.build(&recipe.params).expect("it can be built"));
        let wiring = RouterWiring::of(&on, |_| 1).expect("one rail each");
        let scheme = MinimalAdaptiveRouting::new(on.clone(), LaneClasses::any(1), &QuietWatch)
            .expect("it is small");
        let with = |most| {
            PortChoicesByDestination::with(&scheme, 0, &wiring, most, &QuietWatch)
                .expect("nobody stops")
        };
        let usual =
            PortChoicesByDestination::of(&scheme, 0, &wiring, &QuietWatch).expect("nobody stops");
        let pairs = || {
            let all = 0..wiring.routers();
            all.clone().flat_map(move |at| all.clone().map(move |goal| (at, goal)))
        };
        let lists: BTreeSet<&[u16]> =
            pairs().map(|(at, goal)| usual.ports(at, goal)).filter(|l| l.len() != 1).collect();
        assert!(lists.len() > 2 && lists.len() < SEVERAL.into(), "{inline}: {}", lists.len());
        for (most, is_wide) in
            [(Some(lists.len()), false), (Some(lists.len() - 1), true), (None, true)]
        {
            let mut made = with(most);
            let (mut left, mut right) =
                (FastRandomStream::new(1, "ports", 0), FastRandomStream::new(1, "ports", 0));
            for (at, goal) in pairs() {
                assert_eq!(made.ports(at, goal), usual.ports(at, goal), "{inline}: {at} to {goal}");
                let drawn = made.port(at, goal, &mut left);
                assert_eq!(drawn, usual.port(at, goal, &mut right), "{inline}: {at} to {goal}");
            }
            assert_eq!(left, right, "{inline}: as many draws");
            assert_eq!(made.take_entries().is_none(), is_wide, "{inline}: {most:?}");
        }
    }
}
