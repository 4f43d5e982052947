//! Tests of measurement in a window: closed forms of queues, and engines that agree.

use crate::common::built;
use base::QuietWatch;
use fabric::Topology;
use packet::replay::UserSuppliedJobs;
use packet::row::LoadPointResultRow;
use packet::spec::PacketSimulationParameters;
use packet::stage::{PacketSimulationInputs, PacketSimulationRecord};
use serde_json::{Value, json};
use std::sync::Arc;

fn tried(
    on: &Arc<Topology>,
    given: &Value,
    threads: usize,
) -> Result<PacketSimulationRecord, String> {
    let spec: PacketSimulationParameters =
        serde_json::from_value(given.clone()).map_err(|e| e.to_string())?;
    let driven = PacketSimulationInputs {
        topology: on,
        routing: None,
        traffic: None,
        jobs: UserSuppliedJobs::default(),
    };
    spec.simulate(driven, threads, None, &QuietWatch).map_err(|stop| stop.to_string())
}

fn point(inline: &str, given: &Value) -> LoadPointResultRow {
    tried(&built(inline), given, 1).expect("it runs").points.remove(0)
}

/// Transmission time of a packet of 4,096 bytes at 12.5 GiB/s, ns.
fn packet_ns() -> f64 {
    4096.0e9 / (12.5 * f64::from(1 << 30))
}

#[track_caller]
fn near(found: f64, due: f64, most: f64) {
    assert!((found - due).abs() <= most, "{found} for {due} within {most}");
}

/// Every endpoint sends to the next switch, alone on its link: except for chance, all of the
/// offered load arrives, and links are busy for that fraction of the window.
#[test]
fn what_links_carry_is_accepted() {
    for load in [0.05_f64, 0.3, 0.8, 0.95] {
        let given = json!({"load": load, "traffic": "shift:1"});
        let row = point("complete:n=8,p=1", &given);
        // 100,000 packets at a load of 1; three standard deviations of a Poisson number
        let most = 3.0 * load / (1e5 * load).sqrt();
        let accepted = row.accepted_load.expect("traffic is generated");
        near(accepted, load, most);
        assert_eq!(row.saturated, Some(false), "{load}");
        near(row.accepted_gbps, accepted * 12.5 * 8.589_934_592, 1e-6);
        // the busiest of the eight links may be another three standard deviations above
        near(row.busiest_link_use, load, 4.0 * load / (1e5 / 8.0 * load).sqrt());
    }
}

/// Endpoints of a switch share the link to the other switch: each gets its part of the link, and a
/// point is saturated if more is offered.
#[test]
fn what_links_cannot_carry_saturates_them() {
    for (each, load) in [(2, 0.8), (2, 0.55), (4, 1.0), (4, 3.0)] {
        let given = json!({"load": load, "traffic": format!("shift:{each}")});
        let row = point(&format!("complete:n=2,p={each}"), &given);
        let accepted = row.accepted_load.expect("traffic is generated");
        near(accepted, 1.0 / f64::from(each), 1e-3);
        assert_eq!(row.saturated, Some(true), "{each} {load}");
        near(row.busiest_link_use, 1.0, 1e-3);
    }
}

/// A uniform message goes to its own sender with probability 1 / endpoints: if these messages are
/// counted, the accepted load equals the offered one.
#[test]
fn uniform_traffic_is_accepted() {
    for (net, seed) in [("slim_fly:q=5,p=4", 0), ("slim_fly:q=5,p=4", 1), ("complete:n=4,p=1", 0)] {
        let row = point(net, &json!({"load": 0.3, "seed": seed}));
        let accepted = row.accepted_load.expect("traffic is generated");
        near(accepted, 0.3, 3.0 * 0.3 / 3e4_f64.sqrt());
        assert_eq!(row.saturated, Some(false));
    }
}

/// At almost no load, a packet takes its own time once, plus two routers and three links.
#[test]
fn without_load_latency_is_the_closed_form() {
    let row = point("complete:n=4,p=1", &json!({"load": 0.001, "traffic": "shift:1"}));
    let due = packet_ns() + 2.0 * 90.0 + 3.0 * 25.0;
    near(row.latencies.p50_latency_ns.expect("some arrived"), due, due / 64.0);
    near(row.latencies.mean_latency_ns.expect("some arrived"), due, 1e-3 * due);
}

/// An endpoint that sends packets at random times over links of its own is an M/D/1 queue: a
/// message waits `load t / 2 (1 - load)` for those before it, with t the time of a packet.
#[test]
fn messages_wait_as_in_a_queue_of_random_arrivals() {
    let t = packet_ns();
    for load in [0.3, 0.6, 0.8] {
        let row = point("complete:n=4,p=1", &json!({"load": load, "traffic": "shift:1"}));
        let free = t + 2.0 * 90.0 + 3.0 * 25.0;
        let waits = load * t / 2.0 / (1.0 - load);
        let found = row.latencies.mean_message_latency_ns.expect("some arrived");
        near(found - free, waits, 0.05 * waits);
    }
}

/// A run of a fixed number of messages is measured from its begin to its end, unlike a window.
#[test]
fn a_number_of_messages_is_measured_as_a_whole() {
    let given = json!({"load": 0.3, "traffic": "shift:1"});
    let window = point("complete:n=8,p=1", &given);
    let mut whole = given.clone();
    whole["messages"] = json!(30);
    let row = point("complete:n=8,p=1", &whole);
    assert_eq!((row.messages, row.saturated), (240, None));
    assert!(row.accepted_load < window.accepted_load.map(|load| 0.9 * load));
    let mut codes = json!({"dialect": "codes-slimfly-v1", "load": 0.3});
    let on = built("slim_fly:q=5,p=4");
    let found = tried(&on, &codes, 1).expect("it runs");
    assert_eq!((found.parameters.messages, found.points[0].saturated), (Some(30), None));
    codes["run"] = json!({"measure_ns": 100_000.0});
    let found = tried(&on, &codes, 1).expect("it runs");
    assert_eq!((found.parameters.messages, found.points[0].saturated), (None, Some(false)));
    near(found.points[0].accepted_load.expect("some"), 0.3, 0.008);
}

/// Messages that still wait at endpoints when the drain is over have no latency, and the run ends.
#[test]
fn a_drain_is_bounded() {
    let run = json!({"warmup_ns": 1e4, "measure_ns": 1e5, "drain_ns": 2e4});
    let given = json!({"load": 4.0, "traffic": "shift:1", "run": run});
    let row = point("complete:n=2,p=1", &given);
    assert!(row.end_ns <= 1.3e5 && !row.deadlocked, "{}", row.end_ns);
    near(row.accepted_load.expect("some"), 1.0, 0.01);
    // only messages created in the first fifth of the window, at most, have arrived
    assert!(row.messages < row.packets, "{} {}", row.messages, row.packets);
}

/// All engines find the same in a window, bit by bit, also where the run is stopped.
#[test]
fn engines_agree_on_a_window() {
    let run = json!({"warmup_ns": 2000.0, "measure_ns": 5000.0, "drain_ns": 3000.0});
    for (net, more) in [
        ("slim_fly:q=5,p=4", json!({"load": 0.5, "selection": "ugal_l"})),
        ("fit_fly:q=5,p=3", json!({"load": 2.5, "overtaken": true, "message_bytes": 9000})),
        (
            "torus:shape=3x3,p=2",
            json!({"load": 0.9, "traffic_class": [{"share": 2.0}, {"priority": 1}]}),
        ),
    ] {
        let on = built(net);
        let mut given = json!({
            "run": run, "links": true, "series_ns": 1000.0, "switch": {"virtual_channels": 8},
        });
        for (key, value) in more.as_object().expect("a table") {
            given[key] = value.clone();
        }
        let due = tried(&on, &given, 1).expect("it runs").points.remove(0);
        assert!(due.packets > 0 && due.accepted_load > Some(0.2));
        for (sync, threads, undo) in [
            ("threads", 2, "needed"),
            ("threads", 3, "needed"),
            ("optimistic", 2, "needed"),
            ("optimistic", 2, "forced"),
            ("optimistic", 1, "hostile"),
        ] {
            given["sync"] = json!(sync);
            given["undo"] = json!(undo);
            let found = tried(&on, &given, threads).expect("it runs").points.remove(0);
            let found = LoadPointResultRow { windows: 0, rollbacks: 0, efficiency: 1.0, ..found };
            assert_eq!(
                found,
                LoadPointResultRow { windows: 0, rollbacks: 0, ..due.clone() },
                "{net} {sync}"
            );
        }
    }
}

/// Packets that wait for one another in a cycle end a measured run as well.
#[test]
fn a_deadlock_in_a_window_is_found() {
    let given = json!({
        "load": 1.0, "selection": "valiant", "lane_use": "any", "unverified": true,
        "switch": {"virtual_channels": 1},
        "link": {"local_buffer_bytes": 4096, "global_buffer_bytes": 4096},
    });
    let row = point("torus:shape=4x4,p=4", &given);
    assert!(row.deadlocked && row.cycle.is_some());
    assert_eq!(row.saturated, Some(true));
}

#[test]
fn a_window_beside_another_length_is_refused() {
    let on = built("slim_fly:q=5,p=4");
    for (more, why) in [
        (json!({"messages": 30}), "messages says how long the run is"),
        (json!({"end_ns": 3000.0}), "end_ns says how long the run is"),
        (json!({"workload": "alltoall_linear:ranks=4,bytes=64"}), "workload says how long"),
        (json!({"traffic_class": [{"messages": 3}, {}]}), "messages says how long the run is"),
        (json!({"run": {"measure_ns": 0.0}}), "run.measure_ns: 0 is out of range"),
        (json!({"run": {"warmup_ns": -1.0}}), "run.warmup_ns: -1 is out of range"),
        (json!({"run": {"drain_ns": 1e13}}), "run.drain_ns"),
    ] {
        let mut given = json!({"run": {"measure_ns": 1000.0}});
        for (key, value) in more.as_object().expect("a table") {
            given[key] = value.clone();
        }
        let refusal = tried(&on, &given, 1).expect_err("it is refused");
        assert!(refusal.contains(why), "{refusal}");
    }
}
