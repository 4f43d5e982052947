//! Tests of random destinations, against definitions, counts and closed forms.

use super::*;
use crate::chances::fits;
use crate::pattern::CommunicationPattern;
use base::{ComputationError, QuietWatch, SwitchId};
use fabric::network::Topology;
use proptest::prelude::*;
use serde_json::json;

fn network(family: &str, params: &serde_json::Value) -> Topology {
    let given = params.as_object().expect("a table");
    families::family(family).and_then(|f| f.build(given)).expect("a network")
}

/// How often each destination of `source` is drawn.
fn counts(all: &PacketDestinations, source: u32, draws: u32) -> Vec<u32> {
    let mut random = FastRandomStream::new(9, "test", u64::from(source));
    let mut seen = vec![0; all.endpoints() as usize];
    for _ in 0..draws {
        seen[all.draw(source, &mut random) as usize] += 1;
    }
    seen
}

/// The number with these bits, the highest first.
fn number(bits: &[u32]) -> u32 {
    bits.iter().fold(0, |sum, bit| 2 * sum + bit)
}

/// Bits of a rank, the highest first.
fn bits(rank: u32, count: u32) -> Vec<u32> {
    let text = format!("{rank:0width$b}", width = count as usize);
    text.chars().map(|c| u32::from(c == '1')).collect()
}

/// The destination of a rank under a bit pattern, by its definition.
fn defined(name: &str, rank: u32, count: u32) -> u32 {
    let mut own = bits(rank, count);
    match name {
        "bit_reverse" => own.reverse(),
        "bit_complement" => own.iter_mut().for_each(|bit| *bit = 1 - *bit),
        "shuffle" => own.rotate_left(1),
        _ => own.rotate_left(count as usize / 2),
    }
    number(&own)
}

const ON_BITS: [&str; 4] = ["bit_reverse", "bit_complement", "shuffle", "transpose"];

#[test]
fn patterns_on_bits_are_permutations_of_the_definition() {
    for name in ON_BITS {
        for count in (1..=12).filter(|count| name != "transpose" || count % 2 == 0) {
            let ranks = 1 << count;
            let all =
                CommunicationPattern::parse(name, ranks).and_then(|p| p.destinations(ranks, 0));
            let all = all.expect(name);
            let expected: Vec<u32> = (0..ranks).map(|r| defined(name, r, count)).collect();
            assert_eq!(all.fixed(), Some(&expected[..]), "{name} {count}");
            assert_eq!(all.active(), ranks);
        }
    }
}

#[test]
fn ranks_beyond_the_active_ones_are_idle() {
    let ranks = 100;
    for name in ON_BITS {
        assert!(CommunicationPattern::parse(name, ranks).is_err(), "{name}");
        let short = CommunicationPattern::parse(&format!("{name}:64"), ranks).expect(name);
        let all = CommunicationPattern::parse(&format!("{name}:active=64"), ranks);
        let same = all.as_ref().map(|all| format!("{all:?}") == format!("{short:?}"));
        assert_eq!(same.ok(), Some(true), "{name}");
        let all = all.and_then(|p| p.destinations(ranks, 0)).expect(name);
        assert_eq!((all.active(), all.endpoints()), (64, 100));
        let mut random = FastRandomStream::new(1, "test", 0);
        for rank in 0..ranks {
            let to = all.draw(rank, &mut random);
            assert_eq!(to, if rank < 64 { defined(name, rank, 6) } else { rank });
            assert_eq!(all.is_active(rank), rank < 64);
            assert!((all.rate(rank) - f64::from(u8::from(rank < 64))).abs() < 1e-12);
        }
    }
    for bad in ["shuffle:active=63", "shuffle:active=128", "transpose:active=32"] {
        let refused = CommunicationPattern::parse(bad, ranks).expect_err(bad);
        assert!(refused.help.contains("active=64"), "{refused}");
    }
    let refused = CommunicationPattern::parse("transpose", 32).expect_err("an odd power");
    assert!(refused.why.contains("not an even power") && refused.help.contains("active=16"));
}

/// Whether a table of destinations is a permutation of the sources that send.
fn is_permutation(all: &PacketDestinations) -> bool {
    let Some(to) = all.fixed() else { return false };
    let senders: Vec<u32> = (0..all.endpoints()).filter(|&e| all.is_active(e)).collect();
    let mut receivers: Vec<u32> = senders.iter().map(|&e| to[e as usize]).collect();
    receivers.sort_unstable();
    receivers == senders
}

#[test]
fn tornado_and_neighbour_move_every_coordinate() {
    let t = network("torus", &json!({ "shape": [5, 4, 3], "p": 2 }));
    let place =
        |e: u32| t.switches()[t.terminals()[e as usize].plug.switch.ix()].coordinates.clone();
    for (name, by) in [("tornado", [2, 1, 1]), ("neighbour", [1, 1, 1])] {
        let all = PacketDestinations::named(&t, name, 0, &QuietWatch).expect(name);
        assert!(is_permutation(&all) && all.active() == 120);
        for e in 0..120 {
            let to = all.fixed().expect("a table")[e as usize];
            assert_eq!(to % 2, e % 2, "endpoint e of a switch goes to endpoint e of another");
            for (d, side) in [5, 4, 3].into_iter().enumerate() {
                assert_eq!(place(to)[d], (place(e)[d] + by[d]) % side, "{name} {e}");
            }
        }
    }
    // without a grid the pattern uses the numbers of switches: 50 switches with 4 endpoints each
    let fly = network("slim_fly", &json!({ "q": 5, "p": 4 }));
    for (name, by) in [("tornado", 24 * 4), ("neighbour", 4)] {
        let all = PacketDestinations::named(&fly, name, 0, &QuietWatch).expect(name);
        let expected: Vec<u32> = (0..200).map(|e| (e + by) % 200).collect();
        assert_eq!(all.fixed(), Some(&expected[..]), "{name}");
    }
    // all planes have the same grid, or the same Slim Fly, and count as one network
    let planes = network("multi_plane", &json!({ "planes": 2, "of": "torus:shape=5x4x3,p=2" }));
    let fit = network("fit_fly", &json!({ "q": 5, "p": 4, "planes": 2 }));
    for (name, many, one) in [
        ("tornado", &planes, &t),
        ("neighbour", &planes, &t),
        ("tornado", &fit, &fly),
        ("worst_case", &fit, &fly),
    ] {
        let [many, one] =
            [many, one].map(|t| PacketDestinations::named(t, name, 0, &QuietWatch).expect(name));
        assert_eq!(many, one, "{name}");
    }
    // on sides of two, the switch just short of halfway around is the switch itself
    let cube = network("hypercube", &json!({ "n": 4, "p": 1 }));
    assert!(PacketDestinations::named(&cube, "tornado", 0, &QuietWatch).is_err());
    assert!(PacketDestinations::named(&cube, "neighbour", 0, &QuietWatch).is_ok());
}

#[test]
fn what_is_drawn_has_the_chances_of_its_definition() {
    let t = network("ring", &json!({ "n": 8, "p": 2 }));
    let even = |set: &[u32]| -> Vec<f64> {
        (0..16).map(|e| if set.contains(&e) { 1.0 / set.len() as f64 } else { 0.0 }).collect()
    };
    let without = |out: u32| (0..16).filter(|&e| e != out).collect::<Vec<_>>();
    let everybody: Vec<u32> = (0..16).collect();
    for (name, source, chances) in [
        ("uniform", 3, even(&everybody)),
        ("all_to_all", 3, even(&without(3))),
        ("hotspot", 3, even(&[0])),
        ("hotspot:15,2", 2, even(&[2, 15])),
        ("stencil:4x4", 5, even(&[4, 6, 1, 9])),
        ("bisect", 3, even(&[11])),
        ("shift", 10, even(&[2])),
        ("shift:3", 10, even(&[13])),
        ("scatter", 0, even(&without(0))),
    ] {
        let all = PacketDestinations::named(&t, name, 1, &QuietWatch).expect(name);
        assert!(fits(&counts(&all, source, 40_000), &chances), "{name}");
    }
    let third =
        PacketDestinations::named(&t, "hotspot:4=3,8=1,1=2", 1, &QuietWatch).expect("weights");
    let mut chances = vec![0.0; 16];
    (chances[4], chances[8], chances[1]) = (0.5, 1.0 / 6.0, 1.0 / 3.0);
    assert!(fits(&counts(&third, 0, 40_000), &chances));
    let mixed = PacketDestinations::mixture(0.3, PacketDestinations::uniform(16), third);
    let chances: Vec<f64> = chances.iter().map(|p| 0.3 / 16.0 + 0.7 * p).collect();
    assert!(fits(&counts(&mixed, 0, 40_000), &chances));
}

#[test]
fn who_has_no_receiver_is_idle() {
    let t = network("ring", &json!({ "n": 8, "p": 2 }));
    for (name, active) in [("bisect", 8), ("gather", 15), ("scatter", 1), ("permutation", 16)] {
        let all = PacketDestinations::named(&t, name, 1, &QuietWatch).expect(name);
        assert_eq!(all.active(), active, "{name}");
    }
    for bad in
        ["null", "unifrm", "hotspot:16", "hotspot:0=0", "hotspot:1,1", "shift:0", "uniform:2"]
    {
        assert!(PacketDestinations::named(&t, bad, 1, &QuietWatch).is_err(), "{bad}");
    }
    let Err(ComputationError::Refused(refused)) =
        PacketDestinations::named(&t, "unifrm", 1, &QuietWatch)
    else {
        panic!("there is no such name");
    };
    assert!(refused.param == "traffic" && refused.help.starts_with("did you mean uniform? "));
}

#[test]
fn failed_endpoints_neither_send_nor_receive() {
    let whole = network("ring", &json!({ "n": 8, "p": 2 }));
    let t = whole.with_failures(&[], &[SwitchId(2)]).expect("a failure");
    let dead = [4, 5];
    for name in [
        "uniform",
        "all_to_all",
        "permutation",
        "shift:3",
        "hotspot:3",
        "stencil:7x2",
        "longest_matching",
    ] {
        let all = PacketDestinations::named(&t, name, 1, &QuietWatch).expect(name);
        assert_eq!((all.endpoints(), all.active()), (16, 14), "{name}");
        for source in 0..16 {
            let seen = counts(&all, source, 300);
            if dead.contains(&source) {
                assert_eq!(seen[source as usize], 300, "{name}");
                assert!(!all.is_active(source));
            } else {
                assert!(dead.iter().all(|&e| seen[e as usize] == 0), "{name}");
            }
        }
    }
}

#[test]
fn amounts_are_rates_and_shares() {
    let send = |from: u32, to: u32, x: f64| (EndpointId(from), EndpointId(to), x);
    let all = PacketDestinations::of_messages(
        4,
        &[send(0, 1, 0.5), send(0, 2, 1.0), send(0, 1, 0.5), send(2, 3, 0.5), send(3, 0, 0.0)],
    );
    let all = all.expect("traffic");
    let rates: Vec<f64> = (0..4).map(|e| all.rate(e)).collect();
    assert_eq!((rates, all.active()), (vec![1.0, 0.0, 0.25, 0.0], 2));
    assert!(fits(&counts(&all, 0, 20_000), &[0.0, 0.5, 0.5, 0.0]));
    assert!(fits(&counts(&all, 2, 20), &[0.0, 0.0, 0.0, 1.0]));
    let one =
        PacketDestinations::of_messages(3, &[send(2, 0, 9.0), send(0, 2, 9.0)]).expect("traffic");
    assert_eq!((one.fixed(), one.active()), (Some(&[2, 1, 0][..]), 2));
    assert!(PacketDestinations::of_messages(3, &[send(2, 0, 0.0)]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn permutations_are_permutations(ranks in 2_u32..300, seed in any::<u64>(), by in 1_u32..300) {
        for text in ["permutation".to_owned(), "ring".to_owned(), format!("shift:{by}"),
                     "tornado".to_owned(), "neighbour".to_owned()] {
            let Ok(pattern) = CommunicationPattern::parse(&text, ranks) else { continue };
            let all = pattern.destinations(ranks, seed).expect("destinations");
            prop_assert!(is_permutation(&all), "{} among {}", text, ranks);
        }
    }
}

#[test]
fn rails_share_what_their_endpoint_sends_and_keep_to_their_number() {
    let one = PacketDestinations::fixed_to(&[Some(2), None, Some(0)]);
    let shares = [0.25, 0.75];
    let all = one.on_rails(2, |_, rail| shares[rail as usize]);
    assert_eq!((all.endpoints(), all.active()), (6, 2));
    let mut random = FastRandomStream::new(1, "rails", 0);
    for source in 0..6 {
        let (endpoint, rail) = (source / 2, source % 2);
        let sends = endpoint != 1;
        assert_eq!(all.is_active(source), sends);
        let share = if sends { shares[rail as usize] } else { 0.0 };
        assert!((all.rate(source) - share).abs() < 1e-12);
        let to = [2, 1, 0][endpoint as usize] * 2 + rail;
        assert_eq!(all.draw(source, &mut random), to, "{source}");
    }
    let any = PacketDestinations::uniform(3).on_rails(4, |_, _| 0.25);
    assert_eq!((any.endpoints(), any.active()), (12, 3));
    let drawn: std::collections::BTreeSet<u32> =
        (0..200).map(|_| any.draw(6, &mut random)).collect();
    assert_eq!(drawn, [2, 6, 10].into(), "the second rail of every endpoint");
}
