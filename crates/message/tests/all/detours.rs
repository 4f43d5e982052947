//! Tests of detours: closed forms on complete graphs, messages alone, and what is refused.

use super::network::{BYTE_PS, NETS, at_once, free, messages, network, ran, routed};
use base::QuietWatch;
use message::{
    LogGopsParameters, MessageChoosingParameters, MessageRouteSelection, NetworkTimeParameters,
    NetworkWithRanks, ScheduleDialect, run,
};
use paths::PathSource;
use std::sync::Arc;

const BYTES: u64 = 1_000_001;

fn by(selection: MessageRouteSelection, candidates: u32, parts: u32) -> NetworkTimeParameters {
    let choosing = MessageChoosingParameters { candidates, parts };
    NetworkTimeParameters { selection, choosing, ..at_once() }
}

/// The time until all of these messages have arrived, in units of the time of one alone.
fn units(on: &str, how: &NetworkTimeParameters, all: &[(u32, u32, u64)]) -> f64 {
    let found = ran(PathSource::Network(Arc::new(network(on))), how, &free(), all);
    let last = *found.finish.iter().max().expect("ranks");
    last as f64 / ((BYTES - 1) * BYTE_PS) as f64
}

/// A message from each endpoint of switch 0 to another one of switch 1, `p` endpoints each.
fn hot(p: u32) -> Vec<(u32, u32, u64)> {
    (0..p).map(|i| (i, p + i, BYTES)).collect()
}

#[test]
fn messages_of_one_pair_of_switches_use_all_disjoint_paths() {
    // n - 1 disjoint paths lead from switch to switch: one of a link, n - 2 of two
    for n in [4, 6, 10] {
        for times in [1, 2, 4] {
            let p = times * (n - 1);
            let (on, all) = (format!("complete:n={n},p={p}"), hot(p));
            let shortest = units(&on, &by(MessageRouteSelection::Adaptive, 4, 8), &all);
            assert!((shortest - f64::from(p)).abs() < 1e-6, "{shortest} for {p}");
            let bound = f64::from(times);
            let usual = units(&on, &by(MessageRouteSelection::UgalG, 4, 8), &all);
            assert!((bound - 1e-6..bound * 1.4).contains(&usual), "n={n}: {usual} for {bound}");
            let many = units(&on, &by(MessageRouteSelection::UgalG, 64, 8), &all);
            let most = if times == 1 { 1.0 + 1e-6 } else { bound * 1.3 };
            assert!((bound - 1e-6..most).contains(&many), "n={n}: {many} for {bound}");
        }
    }
}

#[test]
fn a_message_that_shares_nothing_takes_shortest_paths() {
    let costs = LogGopsParameters { o: 100.0, ..free() };
    for on in NETS {
        let on = Arc::new(network(on));
        let last = on.endpoints().len() as u32 - 1;
        for (to, bytes) in [(1, BYTES), (last / 2, 1), (last, BYTES)] {
            let time = |selection| {
                let how = NetworkTimeParameters { selection, ..NetworkTimeParameters::default() };
                let on = PathSource::Network(Arc::clone(&on));
                ran(on, &how, &costs, &[(0, to, bytes)]).finish[to as usize]
            };
            let expected = time(MessageRouteSelection::Spread);
            assert_eq!(time(MessageRouteSelection::UgalG), expected);
        }
    }
}

#[test]
fn a_part_over_a_drawn_switch_takes_two_links_of_a_complete_graph() {
    for parts in [1, 8] {
        let how = by(MessageRouteSelection::Valiant, 4, parts);
        let on = PathSource::Network(Arc::new(network("complete:n=9,p=1")));
        let found = ran(on, &how, &free(), &[(0, 1, BYTES)]);
        let used = found.used.expect("a network");
        let links = &used.bytes[..used.bytes.len() - 18];
        let bytes: f64 = links.iter().sum();
        assert!((bytes - 2.0 * (BYTES - 1) as f64).abs() < 1e-3, "{bytes}");
        // on complete graphs the link from 0 to 1 is the first
        assert!(links[0] < 0.5, "{}", links[0]);
    }
}

#[test]
fn where_no_switch_is_left_the_shortest_path_is_taken() {
    for selection in [MessageRouteSelection::Valiant, MessageRouteSelection::UgalG] {
        let found = units("complete:n=2,p=3", &by(selection, 4, 8), &hot(3));
        assert!((found - 3.0).abs() < 1e-6, "{found}");
    }
}

#[test]
fn detours_are_refused_on_tables() {
    let on = Arc::new(network("slim_fly:q=5,p=3"));
    let tables = routed(&on, "min_hop");
    for selection in [MessageRouteSelection::Valiant, MessageRouteSelection::UgalG] {
        let under = NetworkWithRanks {
            on: PathSource::Tables(Box::new(tables.clone())),
            how: &NetworkTimeParameters { selection, ..NetworkTimeParameters::default() },
            places: &[0, 1, 2],
            seed: 0,
        };
        let all = messages(3, &[(0, 1, 9)]);
        let found = run(&all, ScheduleDialect::Causal, &free(), Some(&under), &QuietWatch);
        let said = found.expect_err("refused").to_string();
        assert!(said.contains("on tables, whose paths are given"), "{said}");
    }
}
