//! Communication patterns: every text is a pattern of messages between ranks, or is refused.

use base::seed::{FastRandomStream, RandomStream};
use proptest::prelude::*;
use std::collections::BTreeSet;
use traffic::pattern::CommunicationPattern;

/// Names of ORCS that are not ours, and the pattern without messages.
const OTHERS: [&str; 4] = ["null", "rand", "recdbl", "circle"];

/// Every name of the table, and the others.
fn names() -> Vec<&'static str> {
    [CommunicationPattern::names(), OTHERS.to_vec()].concat()
}

/// The names of all parameters of patterns.
fn keys() -> Vec<String> {
    let schemas: Vec<_> =
        CommunicationPattern::all().map(base::part::PartDescription::schema).collect();
    let of = schemas.iter().filter_map(|schema| schema["properties"].as_object());
    of.flat_map(|all| all.keys().cloned()).collect()
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (0_u32..40).prop_map(|n| n.to_string()),
        (0_u32..40, 0_u32..4).prop_map(|(n, weight)| format!("{n}={weight}")),
        (0_u32..6).prop_map(|bits| (1 << bits).to_string()),
        Just(u32::MAX.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        (-1.0..2.0_f64).prop_map(|x| x.to_string()),
        proptest::sample::select(vec!["nan", "linear", "rand", "tables", "family"])
            .prop_map(str::to_owned),
        "[a-z,.x:-]{0,4}",
    ]
}

/// A value, alone or behind the name of a parameter.
fn word() -> impl Strategy<Value = String> {
    let key = proptest::option::weighted(0.3, proptest::sample::select(keys()));
    (key, number()).prop_map(|(key, value)| match key {
        Some(key) => format!("{key}={value}"),
        None => value,
    })
}

fn text() -> impl Strategy<Value = String> {
    let words = proptest::collection::vec(word(), 0..4);
    let marks = prop_oneof![Just((":", ",")), Just((":", "x")), Just((" ", " "))];
    (proptest::sample::select(names()), words, marks).prop_map(|(name, words, (first, next))| {
        if words.is_empty() {
            name.to_owned()
        } else {
            format!("{name}{first}{}", words.join(next))
        }
    })
}

/// Every parameter of every pattern is taken by its name, and stands in its row with a sentence.
#[test]
fn parameters_are_taken_by_their_names() {
    for (text, short) in [
        ("shift:by=5", "shift:5"),
        ("shift by=5", "shift:5"),
        ("tree:arity=3", "tree:3"),
        ("neighbours:count=4", "neighbours:4"),
        ("stencil:sides=4x4", "stencil:4x4"),
        ("stencil sides=3", "stencil:3"),
        ("hotspot:at=3=4,1", "hotspot:3=4,1"),
        ("receivers:count=3,order=linear,chance=0.5", "receivers:3,0.5,linear"),
        ("receivers_one count=2 idle=0.5 chance=0", "receivers_one:2,0,0.5"),
        ("transpose active=16", "transpose:active=16"),
        ("shuffle:8", "shuffle:active=8"),
    ] {
        let of = |text| {
            let pattern = CommunicationPattern::parse(text, 16).expect(text);
            let mut draw = RandomStream::new(1, "pattern", 0);
            let levels = 0..pattern.levels(16);
            levels.map(|level| pattern.messages(level, 16, &mut draw)).collect::<Vec<_>>()
        };
        assert_eq!(of(text), of(short), "{text}");
    }
    for part in CommunicationPattern::all() {
        for (key, of) in part.schema()["properties"].as_object().into_iter().flatten() {
            assert!(of["description"].is_string(), "{}: {key}", part.name);
        }
        let text = format!("{}:no_such_key=1", part.name);
        let refused =
            CommunicationPattern::parse(&text, 16).expect_err("there is no such parameter");
        assert_eq!(refused.param, "pattern", "{refused}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn messages_are_between_two_ranks_or_the_pattern_is_refused(
        text in text(), ranks in 0_u32..60, seed in any::<u64>(),
    ) {
        let pattern = match CommunicationPattern::parse(&text, ranks) {
            Ok(pattern) => pattern,
            Err(r) => {
                let known = ["pattern", "endpoints"];
                prop_assert!(known.contains(&r.param.as_str()) && !r.help.is_empty(), "{}", r);
                return Ok(());
            }
        };
        let mut draw = RandomStream::new(seed, "pattern", 0);
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
        let parsed = CommunicationPattern::parse(&text, ranks);
        let parsed = parsed.and_then(|p| p.destinations(ranks, seed));
        let Ok(all) = parsed else { return Ok(()) };
        let mut random = FastRandomStream::new(seed, "test", 0);
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
        if let Ok(pattern) = CommunicationPattern::parse(&text, ranks) {
            prop_assert!(pattern.levels(ranks) <= ranks && pattern.most_messages(ranks) > 0);
        }
    }
}

/// Derangements of four are nine, all as likely.
#[test]
fn permutations_are_uniform_among_those_without_a_fixed_point() {
    let pattern = CommunicationPattern::parse("permutation", 4).expect("a pattern");
    let mut seen = std::collections::BTreeMap::new();
    for run in 0..9000 {
        let mut draw = RandomStream::new(5, "pattern", run);
        *seen.entry(pattern.messages(0, 4, &mut draw)).or_insert(0_u32) += 1;
    }
    assert_eq!(seen.len(), 9);
    // five standard deviations of a binomial(9000, 1/9)
    assert!(seen.values().all(|n| n.abs_diff(1000) < 150), "{seen:?}");
}
