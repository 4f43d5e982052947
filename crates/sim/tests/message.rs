//! Schedules against LogGOPSim's semantics: the times of the reference data.

use base::Quiet;
use sim::message::{Dialect, LogGops, run};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A run of the reference data: parameters, events, finish of each rank.
struct Row {
    costs: LogGops,
    events: u64,
    finish: Vec<u64>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/message")
}

fn rows(file: &str) -> BTreeMap<(String, String), Row> {
    let text = std::fs::read_to_string(folder().join(file)).expect("reference data");
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split(',').collect();
        let n = |i: usize| words[i].parse::<u64>().expect("a number");
        let x = |i| n(i) as f64;
        let costs = LogGops { L: x(2), o: x(3), g: x(4), G: x(5), O: x(6), S: n(7) };
        let key = (words[0].to_owned(), words[1].to_owned());
        let row = rows.entry(key).or_insert(Row { costs, events: n(8), finish: Vec::new() });
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
        let schedule = formats::goal::text::parse(&text, &Quiet).expect("a schedule");
        let found = run(&schedule, Dialect::LogGopsV1, &row.costs, None, &Quiet).expect("a run");
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
