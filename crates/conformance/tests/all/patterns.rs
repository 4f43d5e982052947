//! Communication patterns: every text is a pattern of messages between ranks, or is refused.

use base::seed::{Fast, Stream};
use proptest::prelude::*;
use std::collections::BTreeSet;
use traffic::pattern::Pattern;

/// Names of ORCS that are not ours, and the pattern without messages.
const OTHERS: [&str; 4] = ["null", "rand", "recdbl", "circle"];

/// Every name of the table, and the others.
fn names() -> Vec<&'static str> {
    [Pattern::names(), OTHERS.to_vec()].concat()
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (0_u32..40).prop_map(|n| n.to_string()),
        (0_u32..40, 0_u32..4).prop_map(|(n, weight)| format!("{n}={weight}")),
        (0_u32..6).prop_map(|bits| format!("active={}", 1 << bits)),
        Just(u32::MAX.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        (-1.0..2.0_f64).prop_map(|x| x.to_string()),
        Just("nan".to_owned()),
        "[a-z,.x:-]{0,4}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    let words = proptest::collection::vec(number(), 0..4);
    let mark = prop_oneof![Just(","), Just("x")];
    (proptest::sample::select(names()), words, mark).prop_map(|(name, words, mark)| {
        if words.is_empty() { name.to_owned() } else { format!("{name}:{}", words.join(mark)) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn messages_are_between_two_ranks_or_the_pattern_is_refused(
        text in text(), ranks in 0_u32..60, seed in any::<u64>(),
    ) {
        let pattern = match Pattern::parse(&text, ranks) {
            Ok(pattern) => pattern,
            Err(r) => {
                let known = ["pattern", "pattern_argument", "endpoints"];
                prop_assert!(known.contains(&r.param.as_str()) && !r.help.is_empty(), "{}", r);
                return Ok(());
            }
        };
        let mut draw = Stream::new(seed, "pattern", 0);
        for level in 0..pattern.levels(ranks) {
            let messages = pattern.messages(level, ranks, &mut draw);
            prop_assert!(messages.len() as u64 <= pattern.most_messages(ranks));
            for (a, b) in &messages {
                prop_assert!(a != b && *a < ranks && *b < ranks, "{} to {}", a, b);
            }
            let once: BTreeSet<_> = messages.iter().collect();
            prop_assert_eq!(once.len(), messages.len(), "a message is there twice");
            if matches!(pattern.name(), "permutation" | "shift" | "ring") {
                let to: BTreeSet<u32> = messages.iter().map(|(_, b)| *b).collect();
                prop_assert_eq!(to.len(), ranks as usize);
            }
        }
    }

    #[test]
    fn destinations_are_drawn_among_those_there_are(
        text in text(), ranks in 2_u32..60, seed in any::<u64>(),
    ) {
        let parsed = Pattern::parse(&text, ranks).and_then(|p| p.destinations(ranks, seed));
        let Ok(all) = parsed else { return Ok(()) };
        let mut random = Fast::new(seed, "test", 0);
        let senders = (0..ranks).filter(|&rank| all.is_active(rank)).count();
        prop_assert!(all.endpoints() == ranks && all.active() as usize == senders && senders > 0);
        for rank in 0..ranks {
            let (rate, sends) = (all.rate(rank), all.is_active(rank));
            prop_assert!((0.0..=1.0).contains(&rate) && (rate > 0.0) == sends);
            for _ in 0..4 {
                let to = all.draw(rank, &mut random);
                prop_assert!(to < ranks && (sends || to == rank));
                prop_assert!(all.fixed().is_none_or(|fixed| fixed[rank as usize] == to));
            }
        }
    }

    #[test]
    fn any_number_of_ranks_is_parsed(text in text(), ranks in any::<u32>()) {
        if let Ok(pattern) = Pattern::parse(&text, ranks) {
            prop_assert!(pattern.levels(ranks) <= ranks && pattern.most_messages(ranks) > 0);
        }
    }
}

/// Derangements of four are nine, all as likely.
#[test]
fn permutations_are_uniform_among_those_without_a_fixed_point() {
    let pattern = Pattern::parse("permutation", 4).expect("a pattern");
    let mut seen = std::collections::BTreeMap::new();
    for run in 0..9000 {
        let mut draw = Stream::new(5, "pattern", run);
        *seen.entry(pattern.messages(0, 4, &mut draw)).or_insert(0_u32) += 1;
    }
    assert_eq!(seen.len(), 9);
    // five standard deviations of a binomial(9000, 1/9)
    assert!(seen.values().all(|n| n.abs_diff(1000) < 150), "{seen:?}");
}
