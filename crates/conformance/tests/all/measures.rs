//! Runs every measure on every family's first example: its record has what its columns say.

use crate::page_measure;
use base::QuietWatch;
use base::stage::ColumnType;
use fabric::Topology;
use fabric::tables::Routing;
use lab::stages::{STAGES, StageEntry, StageInputKind, StageInputs, stage};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Every measure, that of docs/adding-a-measure.md too.
fn entries() -> impl Iterator<Item = &'static StageEntry> {
    STAGES.iter().chain([&page_measure::ENTRY])
}

fn is(kind: ColumnType, value: &Value) -> bool {
    match kind {
        ColumnType::Whole => value.is_u64() || value.is_i64(),
        ColumnType::Real => value.is_number(),
        ColumnType::Truth => value.is_boolean(),
        ColumnType::Text => value.is_string(),
    }
}

/// The inputs of a measure: a network and its tables, without files.
fn given<'a>(topology: &'a Arc<Topology>, routing: Option<&'a Routing>) -> StageInputs<'a> {
    StageInputs { topology, routing, traffic: None, schedules: None, times: None, places: None }
}

#[test]
fn columns_are_in_the_records_of_every_family() {
    let mut met = std::collections::BTreeSet::new();
    for family in families::FAMILIES {
        let recipe = family.examples().swap_remove(0);
        let t = Arc::new(family.build(&recipe.params).expect("an example"));
        let routed =
            engines::engine("up_down").expect("there is").route(&Map::new(), &t, 1, &QuietWatch);
        let routing = routed.ok();
        let routing = routing.as_ref();
        let on = given(&t, routing);
        for entry in entries() {
            for given in entry.examples() {
                let Ok(found) = entry.run(&given, on, &QuietWatch) else { continue };
                let cells = found.cells(entry.columns);
                for (column, value) in entry.columns.iter().zip(cells) {
                    let place =
                        format!("{} {given:?}: {} of {recipe}", entry.part.name, column.name);
                    assert!(value.is_null() || is(column.kind, &value), "{place}: {value}");
                    if !value.is_null() {
                        met.insert((entry.part.name, column.name));
                    }
                }
                let again = entry.run(&given, on, &QuietWatch).expect("as before");
                assert_eq!(again, found, "{} twice on {recipe}", entry.part.name);
            }
        }
    }
    let missing: Vec<_> = entries()
        .flat_map(|e| e.columns.iter().map(|c| (e.part.name, c.name)))
        .filter(|c| !met.contains(c))
        .collect();
    assert_eq!(missing, [("resilience", "removed_until_mean")], "columns that no record has");
}

#[test]
fn parameters_have_defaults_and_are_checked() {
    for entry in entries() {
        let all = entry.complete(&Map::new()).expect("defaults");
        assert_eq!(entry.complete(&all).expect("defaults written out"), all, "{}", entry.part.name);
        for example in entry.examples() {
            entry.complete(&example).expect("an example");
        }
        let unknown = Map::from_iter([("no_such".to_owned(), json!(1))]);
        let why = entry.complete(&unknown).expect_err("unknown").to_string();
        assert!(why.contains("no_such") && why.contains(entry.part.name), "{why}");
        let schema = entry.part.schema();
        for name in ["engine", "layers", "lmc", "on", "option", "p", "progress", "source"] {
            let free = schema["properties"].get(name).is_none();
            assert!(free, "{}: {name} is a word of all commands and functions", entry.part.name);
        }
        let record = entry.record_schema();
        let parts = record["$defs"].as_object().into_iter().flatten().map(|(_, part)| part);
        for part in [&schema, &record].into_iter().chain(parts) {
            assert!(part["description"].is_string(), "{} {part} says nothing", entry.part.name);
            for (name, field) in part["properties"].as_object().into_iter().flatten() {
                assert!(
                    field["description"].is_string(),
                    "{} {name} says nothing",
                    entry.part.name
                );
            }
        }
    }
}

#[test]
fn what_needs_tables_says_so() {
    let ring = fabric::network::parse_inline("ring:n=4,p=1").expect("well formed");
    let t = families::family("ring").and_then(|f| f.build(&ring.params)).expect("a ring");
    let t = Arc::new(t);
    let on = given(&t, None);
    for entry in entries() {
        let done = entry.run(&Map::new(), on, &QuietWatch);
        match entry.input {
            StageInputKind::Topology | StageInputKind::Either => {
                assert!(done.is_ok(), "{}", entry.part.name);
            }
            StageInputKind::Routing => {
                let why = done.expect_err("no tables").to_string();
                assert!(why.contains(entry.part.name) && why.contains("route it"), "{why}");
            }
        }
    }
    assert!(stage("fish").is_err_and(|r| r.help.contains("ebb, ") && r.why.contains("fish")));
}
