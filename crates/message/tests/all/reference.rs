//! Tests of schedules against LogGOPSim: the times of the reference data.

use base::QuietWatch;
use message::{LogGopsParameters, ScheduleDialect, run};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A run of the reference data: parameters, number of events, and the time each rank is done.
struct ReferenceRunRow {
    costs: LogGopsParameters,
    events: u64,
    finish: Vec<u64>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/message")
}

fn rows(file: &str) -> BTreeMap<(String, String), ReferenceRunRow> {
    let text = std::fs::read_to_string(folder().join(file)).expect("reference data");
    let mut rows: BTreeMap<(String, String), ReferenceRunRow> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split(',').collect();
        let n = |i: usize| words[i].parse::<u64>().expect("a number");
        let x = |i| n(i) as f64;
        let costs = LogGopsParameters { L: x(2), o: x(3), g: x(4), G: x(5), O: x(6), S: n(7) };
        let key = (words[0].to_owned(), words[1].to_owned());
        let row =
            rows.entry(key).or_insert(ReferenceRunRow { costs, events: n(8), finish: Vec::new() });
        assert_eq!(row.finish.len() as u64, n(9), "ranks are in order");
        row.finish.push(n(10));
    }
    rows
}

fn check(file: &str, schedules: &str) -> usize {
    let rows = rows(file);
    for ((goal, set), row) in &rows {
        let path = folder().join(schedules).join(goal);
        let text = std::fs::read_to_string(path).expect("a schedule");
        let schedule = formats::trace::goal::parse(&text, &QuietWatch).expect("a schedule");
        let found = run(&schedule, ScheduleDialect::LogGopsV1, &row.costs, None, &QuietWatch)
            .expect("a run");
        assert_eq!(found.finish, row.finish, "{goal} {set}");
        assert_eq!((found.events, found.left), (row.events, None), "{goal} {set}");
    }
    rows.len()
}

#[test]
fn every_rank_of_the_reference_data_is_exact() {
    assert_eq!(check("loggops_micro.csv", "micro"), 72);
    assert!(check("loggops_schedgen.csv", "schedgen") > 200);
}

#[test]
fn a_broadcast_of_many_is_as_long_as_its_tree() {
    // more operations than fit into the caches, so that events are prefetched
    let ranks = 200_003_u32;
    let given = serde_json::json!({ "ranks": ranks, "bytes": 1 });
    let given = given.as_object().expect("a map");
    let schedule =
        traffic::workload::make("broadcast_binomial", given, &QuietWatch).expect("a schedule");
    let costs = LogGopsParameters::default();
    let (o, latency) = (costs.o as u64, costs.L as u64);
    // each rank sends one message after another, as g is less than o; parents have the lower
    // numbers
    let (mut has, mut finish) = (vec![0; ranks as usize], vec![0; ranks as usize]);
    for rank in 0..ranks {
        let mut now = has[rank as usize];
        for op in schedule.of_rank(rank).map(|op| schedule.ops()[op as usize]) {
            if op.kind == traffic::workload::OperationKind::Send {
                assert!(op.peer > rank);
                now += o;
                has[op.peer as usize] = now + latency + o;
            }
        }
        finish[rank as usize] = now;
    }
    for (dialect, unit) in [(ScheduleDialect::LogGopsV1, 1), (ScheduleDialect::Causal, 1000)] {
        let found = run(&schedule, dialect, &costs, None, &QuietWatch).expect("a run");
        assert_eq!(found.left, None);
        let expected: Vec<u64> = finish.iter().map(|t| t * unit).collect();
        assert!(found.finish == expected, "{dialect:?}");
    }
}
