//! Tests that the algorithms offered for traces are those in the table.

use super::parameters::CallReplayParameters;
use crate::workload::collective;
use base::part::PartDescription;
use serde_json::{Map, Value};

const PART: PartDescription =
    PartDescription::new("trace", "calls of MPI").takes::<CallReplayParameters>();

#[test]
fn every_algorithm_is_offered() {
    let schema = PART.schema();
    let mut offered: Vec<String> = Vec::new();
    for (name, field) in schema["properties"].as_object().expect("a table") {
        let words = field["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
        offered.extend(words.map(|word| format!("{name}_{word}")));
    }
    offered.sort_unstable();
    // neighbour exchanges never occur among the calls that are read
    let all = collective::ALGORITHMS.iter().map(|entry| entry.part.name);
    let mut all: Vec<&str> = all.filter(|name| !name.starts_with("neighbour")).collect();
    all.sort_unstable();
    assert_eq!(offered, all);
    assert!(PART.has("copies"));
}

#[test]
fn usual_algorithms_are_those_of_their_operations() {
    let usual: CallReplayParameters = PART.read(&Map::new()).expect("all have defaults");
    for entry in collective::ALGORITHMS {
        let name = usual.algorithm(entry.operation, false);
        assert_eq!(collective::entry(name).expect(name).operation, entry.operation);
    }
}
