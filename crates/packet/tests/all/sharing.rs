//! Tests of the order in which ports serve packets, and of the statistics of packets that wait.

use crate::common::built;
use base::QuietWatch;
use fabric::Topology;
use packet::replay::UserSuppliedJobs;
use packet::row::LoadPointResultRow;
use packet::spec::PacketSimulationParameters;
use packet::stage::{PacketSimulationInputs, PacketSimulationRecord};
use serde_json::{Value, json};
use std::sync::Arc;

fn tried(on: &Arc<Topology>, given: &Value) -> Result<PacketSimulationRecord, String> {
    let spec: PacketSimulationParameters =
        serde_json::from_value(given.clone()).map_err(|e| e.to_string())?;
    let driven = PacketSimulationInputs {
        topology: on,
        routing: None,
        traffic: None,
        jobs: UserSuppliedJobs::default(),
    };
    spec.simulate(driven, 1, None, &QuietWatch).map_err(|stop| stop.to_string())
}

fn point(on: &Arc<Topology>, given: &Value) -> LoadPointResultRow {
    tried(on, given).expect("it runs").points.remove(0)
}

/// All endpoints of a line of routers send to the last one, as much as they can. With round robin
/// each link is shared equally by its router's endpoint and the link before, so the first endpoint
/// gets a quarter of the last link. With the oldest first, packets of all endpoints have the same
/// age on arrival and nearly equally many of each are in flight, as most wait at endpoints; so all
/// endpoints get the same rate (Little's law). A link that is not busy is blocked.
#[test]
fn the_oldest_first_is_fair_on_a_line() {
    let on = built("mesh:shape=4,p=1");
    for (arbitration, endpoint_bytes, local_bytes, shares) in [
        ("round_robin", 65_536, 65_536, [0.25, 0.5, 1.0]),
        ("oldest", 2 << 20, 16_384, [1.0 / 3.0, 2.0 / 3.0, 1.0]),
    ] {
        let given = json!({
            "load": 1.0, "traffic": "hotspot:3", "end_ns": 20_000_000.0, "links": true,
            "switch": {"arbitration": arbitration, "virtual_channels": 1},
            "link": {
                "endpoint_buffer_bytes": endpoint_bytes, "local_buffer_bytes": local_bytes,
                "global_buffer_bytes": local_bytes,
            },
        });
        let row = point(&on, &given);
        let links = row.links.as_ref().expect("asked for");
        let name = |at: usize| on.switches()[at].name.as_str();
        for (at, share) in shares.iter().enumerate() {
            let is_it = |l: &usize| links.from[*l] == name(at) && links.to[*l] == name(at + 1);
            let link = (0..links.from.len()).find(is_it).expect("it is a line");
            let (used, blocked) = (links.used[link], links.blocked[link]);
            assert!((used - share).abs() < 0.02, "{arbitration} {at}: {used} for {share}");
            assert!((blocked - (1.0 - share)).abs() < 0.02, "{arbitration} {at}: {blocked}");
        }
    }
}

/// Packets of a pair of endpoints arrive in order over a single path, but not over paths of
/// different lengths.
#[test]
fn packets_are_overtaken_where_there_are_several_paths() {
    let on = built("slim_fly:q=5,p=2");
    let given = |selection: &str, dialect: &str| {
        json!({
            "load": 0.5, "traffic": "shift:3", "messages": 40, "selection": selection,
            "dialect": dialect, "switch": {"virtual_channels": 8}, "overtaken": true,
        })
    };
    let row = point(&built("mesh:shape=4,p=1"), &given("minimal", "physical"));
    assert_eq!(row.overtaken_packets, Some(0));
    let row = point(&on, &given("valiant", "physical"));
    let found = row.overtaken_packets.expect("it is counted");
    // the first packet of each pair cannot be overtaken
    assert!(found > 0 && found < row.packets - on.endpoints().len() as u64, "{found}");
    let row = point(&on, &given("valiant", "codes-slimfly-v1"));
    assert!(row.overtaken_packets.is_some_and(|found| found > 0));
    assert_eq!(point(&on, &json!({"load": 0.1, "messages": 2})).overtaken_packets, None);
}

#[test]
fn codes_has_no_arbitration_of_ours() {
    let given =
        json!({"dialect": "codes-slimfly-v1", "switch": {"arbitration": "oldest"}, "load": 0.1});
    let refusal = tried(&built("slim_fly:q=5,p=2"), &given).expect_err("it is refused");
    assert!(refusal.contains("switch.arbitration"), "{refusal}");
}

/// The rate of a rail, 12.5 GiB/s, in Gbit/s.
const FULL_GBPS: f64 = 12.5 * 8.589_934_592;
/// Transmission time of a packet at 12.5 GiB/s, us.
fn packet_us(bytes: u32) -> f64 {
    f64::from(bytes) * 1e6 / (12.5 * f64::from(1 << 30))
}

/// Classes share one link, and all together offer more than it carries: shares follow the weights,
/// whatever the lengths of packets. A class that offers less than its share gets all that it
/// offers, and the others share the rest.
#[test]
fn classes_share_a_link_by_their_weights() {
    let on = built("complete:n=2,p=1");
    for (classes, shares) in [
        (json!([{"weight": 3.0}, {"weight": 1.0}]), vec![0.75, 0.25]),
        (
            json!([{"weight": 1.0, "message_bytes": 4096}, {"weight": 2.0, "message_bytes": 300}]),
            vec![1.0 / 3.0, 2.0 / 3.0],
        ),
        (
            json!([{"weight": 1.0, "share": 0.1}, {"weight": 1.0, "share": 2.0},
                   {"weight": 3.0, "share": 1.9}]),
            vec![0.1, 0.225, 0.675],
        ),
    ] {
        let given = json!({
            "load": 4.0, "traffic": "shift:1", "end_ns": 3_000_000.0, "traffic_class": classes,
        });
        let row = point(&on, &given);
        let found = row.classes.as_ref().expect("there are several");
        for (class, share) in found.iter().zip(&shares) {
            let accepted = class.accepted_gbps / FULL_GBPS;
            assert!((accepted - share).abs() < 0.01, "{given}: {accepted} for {share}");
        }
        let sum: f64 = found.iter().map(|class| class.accepted_gbps).sum();
        assert!((sum - row.accepted_gbps).abs() < 1e-9);
    }
}

/// A few urgent packets, beside as much other traffic as the link carries: each waits at the first
/// link for the rest of the packet being sent, half a packet on average (a priority queue without
/// preemption: W = R / (1 - rho)). Behind that link they arrive one at a time and need not wait.
#[test]
fn urgent_packets_wait_for_half_a_packet() {
    let on = built("complete:n=2,p=1");
    let (load, rho) = (2.0, 0.05);
    let given = json!({
        "load": load, "traffic": "shift:1", "end_ns": 30_000_000.0,
        "traffic_class": [{"share": load - rho}, {"share": rho, "priority": 1}],
        "link": {"latency_ns": 10.0}, "switch": {"delay_ns": 50.0},
    });
    let row = point(&on, &given);
    let urgent = &row.classes.as_ref().expect("there are several")[1];
    let free_us = packet_us(4096) + 3.0 * 0.01 + 2.0 * 0.05;
    let due_us = free_us + packet_us(4096) / 2.0 / (1.0 - rho);
    let found_us = urgent.latencies.mean_latency_ns.expect("some arrived") / 1e3;
    assert!((found_us - due_us).abs() < 0.02 * due_us, "{found_us} for {due_us}");
    assert!((urgent.accepted_gbps / FULL_GBPS - rho).abs() < 0.05 * rho);
}

/// Traffic that fills all buffers of its class on a line of routers leaves those of another class
/// free: the other class gets all that it offers.
#[test]
fn a_class_has_buffers_of_its_own() {
    let on = built("mesh:shape=4,p=1");
    let given = json!({
        "load": 1.1, "end_ns": 3_000_000.0,
        "traffic_class": [
            {"share": 1.0, "traffic": "hotspot:3"}, {"share": 0.1, "traffic": "shift:1"}
        ],
    });
    let row = point(&on, &given);
    let classes = row.classes.as_ref().expect("there are several");
    let found = classes[1].accepted_gbps / FULL_GBPS;
    assert!((found - 0.1).abs() < 0.005, "{found}");
    // three of four endpoints share one link
    assert!(classes[0].accepted_gbps / FULL_GBPS < 0.25, "{classes:?}");
}

/// Jobs and background jobs have classes: an urgent job is hardly slower than without the others.
#[test]
fn jobs_have_classes() {
    let on = built("slim_fly:q=5,p=4");
    let run = |more: Value| {
        let mut given = json!({
            "workload": "mg_like:p=4,levels=2,base_bytes=32768", "seed": 3, "placement": "random",
            "switch": {"virtual_channels": 4},
        });
        for (key, value) in more.as_object().expect("a table") {
            given[key] = value.clone();
        }
        let found = tried(&on, &given).expect("it runs");
        found.jobs[0].max_comm_ns.expect("it communicates")
    };
    let background = |class: u32| {
        json!([{
            "ranks": 100, "intensity": 0.9, "interval_ns": 20000, "traffic_class": class,
        }])
    };
    let classes = json!([{"priority": 1}, {"priority": 0}]);
    let alone = run(json!({}));
    let beside = run(json!({"background": background(1)}));
    let first = run(json!({"background": background(2), "traffic_class": classes}));
    let last =
        run(json!({"background": background(1), "traffic_class": classes, "workload_class": [2]}));
    assert!(alone < first && first < 1.3 * alone, "{alone} {first}");
    assert!(first < 0.8 * beside && beside < last, "{first} {beside} {last}");
}

/// All packets of each class arrive, and every engine finds the same results.
#[test]
fn engines_agree_with_classes() {
    for net in ["slim_fly:q=5,p=3", "fit_fly:q=5,p=3"] {
        let on = built(net);
        let mut given = json!({
            "load": 0.8, "traffic": "uniform", "messages": 10, "selection": "adaptive",
            "overtaken": true,
            "traffic_class": [
                {"weight": 2.0}, {"message_bytes": 9000, "messages": 7, "traffic": "shift:5"},
                {"priority": 2, "share": 0.2},
            ],
            "switch": {"virtual_channels": 4, "arbitration": "oldest"},
        });
        let first = point(&on, &given);
        let classes = first.classes.as_ref().expect("there are several");
        let endpoints = on.endpoints().len() as u64;
        assert_eq!(classes[1].messages, 7 * endpoints);
        assert_eq!(classes[1].packets, 3 * 7 * endpoints);
        assert_eq!(classes.iter().map(|class| class.packets).sum::<u64>(), first.packets);
        for (sync, threads, undo) in [
            ("threads", 2, "needed"),
            ("optimistic", 2, "needed"),
            ("optimistic", 3, "forced"),
            ("optimistic", 2, "hostile"),
        ] {
            (given["sync"], given["undo"]) = (json!(sync), json!(undo));
            let spec: PacketSimulationParameters =
                serde_json::from_value(given.clone()).expect("parameters");
            let driven = PacketSimulationInputs {
                topology: &on,
                routing: None,
                traffic: None,
                jobs: UserSuppliedJobs::default(),
            };
            let found = spec.simulate(driven, threads, None, &QuietWatch).expect("it runs");
            assert_eq!(found.points[0].digest, first.digest, "{net} {sync} {undo}");
            assert_eq!(found.points[0].classes, first.classes);
            assert_eq!(found.points[0].overtaken_packets, first.overtaken_packets);
        }
    }
}

#[test]
fn classes_that_cannot_be_are_refused() {
    let on = built("slim_fly:q=5,p=2");
    let two = json!([{}, {}]);
    for (given, why) in [
        (json!({"dialect": "codes-slimfly-v1", "traffic_class": two}), "codes-slimfly-v1 has no"),
        (json!({"traffic_class": [{}, {"share": 0.0}]}), "traffic_class 2: share"),
        (json!({"traffic_class": [{"weight": -1.0}, {}]}), "traffic_class 1: weight"),
        (json!({"traffic_class": [{"message_bytes": 0}, {}]}), "traffic_class 1: message_bytes"),
        (json!({"traffic_class": [{}, {"traffic": "nothing"}]}), "nothing"),
        (json!({"traffic_class": vec![json!({}); 9]}), "8 at most"),
        (json!({"traffic_class": vec![json!({}); 8], "switch": {"virtual_channels": 20}}), "128"),
        (json!({"traffic_class": [{"urgency": 1}]}), "urgency"),
        (json!({"workload_class": [2]}), "workload_class"),
        (
            json!({"workload": "mg_like:p=2,levels=1,base_bytes=64", "workload_class": [2]}),
            "workload_class",
        ),
        (
            json!({"workload": "mg_like:p=2,levels=1,base_bytes=64", "traffic_class": two,
                   "background": [{"ranks": 3, "bytes": 8, "traffic_class": 3}]}),
            "background.traffic_class",
        ),
        (
            json!({
                "workload": "mg_like:p=2,levels=1,base_bytes=64",
                "traffic_class": [{"share": 2.0}, {}],
            }),
            "priority and weight alone",
        ),
    ] {
        let refusal = tried(&on, &given).expect_err("it is refused");
        assert!(refusal.contains(why), "{given}: {refusal}");
    }
}
