//! Tests of the packet level over several processes.

#[path = "../../../des/src/wired.rs"]
mod wired;

use crate::common::built;
use base::{ComputationError, QuietWatch};
use des::PeerByteExchange;
use fabric::Topology;
use packet::replay::UserSuppliedJobs;
use packet::row::LoadPointResultRow;
use packet::spec::PacketSimulationParameters;
use packet::stage::{PacketSimulationInputs, PacketSimulationRecord};
use serde_json::{Value, json};
use std::sync::Arc;
use wired::each;

fn spec(given: &Value) -> PacketSimulationParameters {
    serde_json::from_value(given.clone()).expect("parameters")
}

fn driven(on: &Arc<Topology>) -> PacketSimulationInputs<'_> {
    PacketSimulationInputs {
        topology: on,
        routing: None,
        traffic: None,
        jobs: UserSuppliedJobs::default(),
    }
}

/// The results of MPI ranks, each with its own parameters.
fn ranks(on: &Arc<Topology>, given: &[Value]) -> Vec<Result<PacketSimulationRecord, String>> {
    each(given.len(), |peers| {
        let mut spec = spec(&given[peers.me()]);
        spec.sync = packet::spec::EventEngineKind::Mpi;
        let found = spec.simulate_over(driven(on), peers, None, &QuietWatch);
        found.map_err(|why: ComputationError| why.to_string())
    })
}

fn alone(on: &Arc<Topology>, given: &Value) -> PacketSimulationRecord {
    spec(given).simulate(driven(on), 1, None, &QuietWatch).expect("it runs")
}

/// Points without the counts that may differ between engines.
fn alike(record: &PacketSimulationRecord) -> Vec<LoadPointResultRow> {
    record.points.iter().map(|row| LoadPointResultRow { windows: 0, ..row.clone() }).collect()
}

#[track_caller]
fn agree(inline: &str, given: &Value, counts: &[usize]) -> PacketSimulationRecord {
    let on = built(inline);
    let expected = alone(&on, given);
    for count in counts {
        for found in ranks(&on, &vec![given.clone(); *count]) {
            let found = found.expect("it runs");
            assert!(*count == 1 || found.points[0].windows > 0);
            assert_eq!(alike(&found), alike(&expected), "{inline} {count}");
            assert_eq!(found.jobs, expected.jobs, "{inline} {count}");
        }
    }
    expected
}

#[test]
fn ranks_find_what_one_process_finds() {
    for (inline, given) in [
        ("slim_fly:q=5,p=4", json!({"load": [0.3, 0.8], "messages": 6, "message_bytes": 10_000})),
        ("slim_fly:q=5,p=4", json!({"messages": 30, "end_ns": 4000.0, "selection": "valiant"})),
        ("fit_fly:q=5,p=3", json!({"messages": 5, "selection": "ugal_l"})),
        ("fat_tree:k=4", json!({"messages": 5})),
        (
            "slim_fly:q=5,p=4",
            json!({
                "load": [0.4, 1.5], "links": true,
                "run": {"warmup_ns": 2000.0, "measure_ns": 5000.0, "drain_ns": 2000.0},
            }),
        ),
        (
            "slim_fly:q=5,p=4",
            json!({
                "dialect": "codes-slimfly-v1", "selection": "adaptive", "messages": 2, "load": 0.7,
            }),
        ),
        ("fit_fly:q=5,p=4", json!({"dialect": "codes-slimfly-v1", "messages": 2})),
        (
            "dragonfly:p=9,a=18,h=9,g=19,arrangement=codes",
            json!({
                "dialect": "codes-dally-v1", "selection": "par", "messages": 1, "load": 0.7,
            }),
        ),
        (
            "megafly:leaves=18,spines=18,p=18,h=18,g=10,arrangement=codes",
            json!({
                "dialect": "codes-dfplus-v1", "selection": "par", "messages": 1, "load": 0.7,
                "switch": {"adaptive_threshold_bytes": 0},
            }),
        ),
        (
            "slim_fly:q=5,p=4",
            json!({
                "workload": [
                    "amg_like:p=4,levels=2,base_bytes=16384",
                    "mg_like:p=3,levels=1,base_bytes=20000",
                ],
                "background": [{"ranks": 40, "intensity": 0.1, "interval_ns": 5000}],
                "placement": "random", "links": true, "ranks": true, "series_ns": 2000.0,
            }),
        ),
        (
            "slim_fly:q=5,p=4",
            json!({
                "dialect": "codes-slimfly-v1", "collectives": "codes",
                "workload": ["amg_like:p=4,levels=2,base_bytes=16384"],
            }),
        ),
    ] {
        agree(inline, &given, &[2, 3]);
    }
}

/// A single rank simulates the only part; more ranks than routers leave some without work.
#[test]
fn any_number_of_ranks_will_do() {
    agree("ring:n=5,p=2", &json!({"messages": 3, "switch": {"virtual_channels": 4}}), &[1, 5, 7]);
}

/// No rank has the states of all routers; still every rank reports the cycle.
#[test]
fn a_deadlock_over_ranks_is_reported() {
    let given = json!({
        "load": 1.0, "selection": "valiant", "messages": 400, "lane_use": "any",
        "switch": {"virtual_channels": 1}, "unverified": true,
        "link": {"local_buffer_bytes": 4096, "global_buffer_bytes": 4096},
    });
    let found = agree("torus:shape=4x4,p=4", &given, &[2]);
    assert!(found.points[0].cycle.is_some());
}

#[test]
fn ranks_that_were_given_something_else_are_refused() {
    let on = built("slim_fly:q=5,p=4");
    for found in ranks(&on, &[json!({"seed": 1}), json!({"seed": 1}), json!({"seed": 2})]) {
        let why = found.expect_err("they differ");
        assert!(why.contains("rank 2 has other parameters than rank 0"), "{why}");
    }
    for found in ranks(&on, &[json!({}), json!({"load": 1e-9})]) {
        let why = found.expect_err("one is out of range");
        assert!(why.contains("rank 1 of 2: ") && why.contains("out of range"), "{why}");
    }
    let alone = spec(&json!({"sync": "mpi"})).simulate(driven(&on), 2, None, &QuietWatch);
    assert!(alone.expect_err("nobody is there").to_string().contains("mpiexec"));
}
