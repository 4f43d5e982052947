//! Tests of the packet level: results of CODES, closed forms, conservation, and engines that agree.

use crate::common::built;
use base::QuietWatch;
use fabric::Topology;
use packet::replay::UserSuppliedJobs;
use packet::row::LoadPointResultRow;
use packet::spec::PacketSimulationParameters;
use packet::stage::{PacketSimulationInputs, PacketSimulationRecord};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

fn spec(given: &Value) -> PacketSimulationParameters {
    serde_json::from_value(given.clone()).expect("parameters")
}

fn run(on: &Arc<Topology>, given: &Value, threads: usize) -> PacketSimulationRecord {
    let driven = PacketSimulationInputs {
        topology: on,
        routing: None,
        traffic: None,
        jobs: UserSuppliedJobs::default(),
    };
    spec(given).simulate(driven, threads, None, &QuietWatch).expect("it runs")
}

fn point(on: &Arc<Topology>, given: &Value) -> LoadPointResultRow {
    run(on, given, 1).points.remove(0)
}

fn refused(inline: &str, given: &Value) -> String {
    let topology = built(inline);
    let driven = PacketSimulationInputs {
        topology: &topology,
        routing: None,
        traffic: None,
        jobs: UserSuppliedJobs::default(),
    };
    let stop = spec(given).simulate(driven, 1, None, &QuietWatch).expect_err("it is refused");
    stop.to_string()
}

/// The parameters of `given`, overwritten by those of `more`.
fn with(given: &Value, more: &Value) -> Value {
    let mut all = given.clone();
    for (key, value) in more.as_object().expect("a table") {
        all[key] = value.clone();
    }
    all
}

const SLIM_FLY: (&str, &str) = ("slim_fly:q=13,p=9", "codes-slimfly-v1");
const FIT_FLY: (&str, &str) = ("fit_fly:q=13,p=9", "codes-slimfly-v1");
const DRAGONFLY: (&str, &str) = ("dragonfly:p=9,a=18,h=9,g=19,arrangement=codes", "codes-dally-v1");
const MEGAFLY: (&str, &str) =
    ("megafly:leaves=18,spines=18,p=18,h=18,g=10,arrangement=codes", "codes-dfplus-v1");

/// Points of CODES on the networks of the Fit Fly study: hops within 0.5 %, mean latency within
/// 1 %, under adaptive routing 2 %, detours within 3 %.
#[test]
fn codes_found_the_same() {
    let mut seen = 0;
    for line in include_str!("../data/packet_curves.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [network, routing, _, traffic, load] = cells[..5] else { panic!("{line}") };
        let number = |at: usize| cells[at].parse::<f64>().expect("a number");
        if !["0.3", "0.7"].contains(&load) {
            continue;
        }
        let (inline, dialect) = match network {
            "slim_fly" => SLIM_FLY,
            "fit_fly" => FIT_FLY,
            "dragonfly" => DRAGONFLY,
            _ => MEGAFLY,
        };
        let selection = match routing {
            "nonminimal" => "valiant",
            "prog-adaptive" => "par",
            same => same,
        };
        let row = point(
            &built(inline),
            &json!({"dialect": dialect, "load": load, "traffic": traffic, "selection": selection}),
        );
        let near = |found: f64, due: f64, part: f64| {
            let message = format!("{line}: {found} for {due}");
            assert!((found - due).abs() <= part * due, "{message}");
        };
        let latency = if routing == "adaptive" { 0.02 } else { 0.01 };
        near(row.mean_switches.expect("some arrived"), number(8), 0.005);
        near(row.latencies.mean_latency_ns.expect("some arrived") / 1e3, number(9), latency);
        // each figure is of a single run, so counts differ by chance, by about their square roots
        let by_chance = 1.0 / number(11).max(1.0).sqrt();
        near(row.nonminimal_packets as f64, number(11), 0.03 + by_chance);
        // traffic draws the sender itself as well, once in the number of endpoints
        near(row.packets as f64, number(7), 0.002);
        seen += 1;
    }
    assert_eq!(seen, 15);
}

/// The greater the weight of bytes that wait for a detour, the fewer detours there are.
#[test]
fn detours_are_weighed() {
    let on = built("dragonfly:h=3");
    let detours = |weight: u32| {
        let given = json!({
            "dialect": DRAGONFLY.1, "selection": "par", "load": 0.7,
            "switch": {"detour_weight": weight},
        });
        point(&on, &given).nonminimal_packets
    };
    let found = [1, 2, 4].map(detours);
    assert!(found.is_sorted_by(|more, less| more > less), "{found:?}");
    let usual = json!({"dialect": DRAGONFLY.1, "selection": "par", "load": 0.7});
    assert_eq!(point(&on, &usual).nonminimal_packets, found[1]);
}

/// The latency is (2 x 0.75 + t + 0.5) + h (0.75 + t + 0.5 + 90) ns, with t the time of a packet
/// and h the routers visited: at almost no load no packet meets another.
#[test]
fn without_load_slim_fly_of_codes_is_its_closed_form() {
    let given = json!({"dialect": SLIM_FLY.1, "load": 0.001, "messages": 20});
    let row = point(&built("slim_fly:q=5,p=4"), &given);
    let packet_ns = 4096.0e9 / (12.5 * f64::from(1 << 30));
    let switches = row.mean_switches.expect("some arrived");
    // each random delay includes the engine's lookahead of 0.01 ns: 3 of them, and 2 for each hop
    let due = 1.5 + packet_ns + 0.5 + 0.03 + switches * (1.25 + packet_ns + 90.0 + 0.02);
    let found = row.latencies.mean_latency_ns.expect("some arrived");
    assert!((found - due).abs() < 0.003 * due, "{found} for {due}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The latency is t + h (delay + latency) + latency with cut-through; with store and forward, t
    /// is added on every link.
    #[test]
    fn without_load_our_own_model_is_its_closed_form(
        (net, hops) in prop_oneof![
            Just(("complete:n=2,p=1", 2.0)), Just(("torus:shape=4,p=1", 3.0)),
            Just(("mesh:shape=5,p=1", 5.0))
        ],
        bytes in 1_u32..4096,
        latency_ns in 1_u32..200,
        delay_ns in 0_u32..200,
        is_whole: bool,
    ) {
        let switching = if is_whole { "store_and_forward" } else { "cut_through" };
        let shift = match net { "torus:shape=4,p=1" => "shift:2", "mesh:shape=5,p=1" => "shift:4",
            _ => "shift:1" };
        let given = json!({
            "load": 0.0002, "messages": 1, "message_bytes": bytes, "traffic": shift,
            "link": {"latency_ns": latency_ns},
            "switch": {"delay_ns": delay_ns, "switching": switching},
        });
        let row = point(&built(net), &given);
        let packet_ps = (f64::from(bytes) * 1e12 / (12.5 * f64::from(1 << 30))).round();
        let wire_ps = f64::from(latency_ns) * 1000.0;
        let times = |hops: f64| if is_whole { hops + 1.0 } else { 1.0 };
        let of = |hops: f64| {
            times(hops) * packet_ps + (hops + 1.0) * wire_ps + hops * f64::from(delay_ns) * 1000.0
        };
        // the longest path is that of the shift, on which packets wait for nothing
        let longest = row.latencies.max_latency_ns.expect("some arrived") * 1e3;
        prop_assert!((longest - of(hops)).abs() < 0.6, "{longest} for {}", of(hops));
    }

    /// Messages that arrive faster than a link carries them queue up, so their latencies grow by
    /// the same amount from one to the next.
    #[test]
    fn messages_wait_for_those_before_them(
        messages in 1_u32..40,
        message_bytes in 1_u32..30_000,
        load in 1.0_f64..4.0,
    ) {
        let given = json!({
            "load": load, "messages": messages, "message_bytes": message_bytes,
            "injection": "synchronised", "traffic": "shift:1",
        });
        let row = point(&built("complete:n=2,p=1"), &given);
        let ps = |bytes: u32| (f64::from(bytes) * 1e12 / (12.5 * f64::from(1 << 30))).round();
        let (whole, rest) = (message_bytes / 4096, message_bytes % 4096);
        let service = f64::from(whole) * ps(4096) + if rest > 0 { ps(rest) } else { 0.0 };
        let rate = load * 12.5 * f64::from(1 << 30);
        let interval = (f64::from(message_bytes) * 1e12 / rate).round();
        let alone = service + 3.0 * 25_000.0 + 2.0 * 90_000.0;
        let later = (service - interval).max(0.0) * f64::from(messages - 1);
        let found = row.latencies;
        let near = |found: Option<f64>, due_ps: f64| {
            let found_ps = found.expect("some arrived") * 1e3;
            // the time of each packet is rounded separately
            let most = 4.0 * f64::from(messages);
            prop_assert!((found_ps - due_ps).abs() <= most, "{found_ps} for {due_ps}");
            Ok(())
        };
        near(found.max_message_latency_ns, alone + later)?;
        near(found.mean_message_latency_ns, alone + later / 2.0)?;
        if whole == 0 {
            // a packet is scheduled when the one before it has left
            near(found.max_latency_ns, alone)?;
        }
        prop_assert_eq!(row.messages, 2 * u64::from(messages));
    }

    /// All messages arrive, on any network and under any selection, and all engines agree.
    #[test]
    fn everything_arrives_and_engines_agree(
        net in prop_oneof![
            Just("slim_fly:q=5,p=3"), Just("dragonfly:h=2"), Just("fit_fly:q=5,p=3"),
            Just("megafly:leaves=2,spines=2,p=2,h=2,g=5"), Just("torus:shape=3x3,p=2"),
            Just("fat_tree:levels=2,k=4"), Just("multi_plane:planes=3,of=hyperx:shape=3x3,p=2"),
        ],
        selection in prop_oneof![
            Just("minimal"), Just("valiant"), Just("adaptive"), Just("par")
        ],
        rails in prop_oneof![
            Just("least_used"), Just("shortest"), Just("fixed"), Just("random"),
            Just("round_robin")
        ],
        load in 0.1_f64..1.0,
        message_bytes in 1_u32..20_000,
        room in 4096_u32..20_000,
        messages in 1_u32..20,
        is_ended: bool,
        arbitration in prop_oneof![Just("round_robin"), Just("oldest")],
        seed: u64,
    ) {
        let on = built(net);
        let given = json!({
            "load": load, "selection": selection, "rail": rails, "seed": seed,
            "traffic": "shift:1",
            "messages": messages, "message_bytes": message_bytes,
            "switch": {"virtual_channels": 16, "arbitration": arbitration},
            "link": {"local_buffer_bytes": room, "global_buffer_bytes": room},
            "end_ns": if is_ended { json!(3000.0) } else { Value::Null },
        });
        let first = point(&on, &given);
        if !is_ended {
            let endpoints = on.endpoints().len() as u64;
            prop_assert_eq!(first.messages, endpoints * u64::from(messages));
            let each = u64::from(message_bytes.div_ceil(4096));
            prop_assert_eq!(first.packets, first.messages * each);
            prop_assert!(!first.deadlocked);
        }
        for (sync, threads, undo) in [
            ("threads", 2, "needed"), ("threads", 3, "needed"), ("optimistic", 2, "needed"),
            ("optimistic", 3, "forced"), ("optimistic", 2, "hostile"),
        ] {
            let other = with(&given, &json!({"sync": sync, "undo": undo}));
            let found = run(&on, &other, threads).points.remove(0);
            let alike = LoadPointResultRow {
                windows: 0, rollbacks: 0, efficiency: 1.0, ..found.clone()
            };
            let expected = LoadPointResultRow { windows: 0, rollbacks: 0, ..first.clone() };
            prop_assert_eq!(&alike, &expected, "{}", sync);
        }
    }
}

/// All engines find the same results in the dialects of CODES too, bit by bit.
#[test]
fn engines_agree_in_all_dialects() {
    for ((inline, dialect), selection) in
        [(SLIM_FLY, "adaptive"), (FIT_FLY, "adaptive"), (DRAGONFLY, "par"), (MEGAFLY, "par")]
    {
        let on = built(inline);
        let given = json!({
            "dialect": dialect, "selection": selection, "messages": 2, "load": 0.7,
            "switch": {"adaptive_threshold_bytes":
                if dialect == "codes-dfplus-v1" { json!(0) } else { Value::Null }},
        });
        let first = point(&on, &given);
        assert!(first.nonminimal_packets > 0, "{inline}");
        for (sync, threads) in [("threads", 2), ("threads", 3), ("optimistic", 2)] {
            let found = run(&on, &with(&given, &json!({"sync": sync})), threads).points.remove(0);
            assert_eq!((found.digest, found.events), (first.digest.clone(), first.events));
        }
    }
}

/// Without jitter, packets meet at equal times: an event that was undone must return to the same
/// position in the order, or a different router is affected.
#[test]
fn a_hostile_order_changes_nothing() {
    let on = built("slim_fly:q=5,p=3");
    for seed in 0..6 {
        let given = json!({
            "load": 0.8, "messages": 30, "seed": seed, "sync": "optimistic", "undo": "hostile",
        });
        let due = point(&on, &with(&given, &json!({"sync": "sequential"})));
        for (ahead_ns, threads) in [(400.0, 1), (1000.0, 1), (400.0, 2)] {
            let other = with(&given, &json!({"ahead_ns": ahead_ns}));
            let found = run(&on, &other, threads).points.remove(0);
            assert_eq!((found.digest, found.events), (due.digest.clone(), due.events), "{seed}");
        }
    }
}

/// Valiant on a torus with one virtual channel deadlocks; the run names the packets of the cycle.
#[test]
fn a_deadlock_is_found_and_its_cycle_reported() {
    let given = json!({
        "load": 1.0, "selection": "valiant", "messages": 400, "lane_use": "any",
        "switch": {"virtual_channels": 1}, "unverified": true,
        "link": {"local_buffer_bytes": 4096, "global_buffer_bytes": 4096},
    });
    let found = run(&built("torus:shape=4x4,p=4"), &given, 1);
    assert!(!found.verified);
    let row = &found.points[0];
    assert!(row.deadlocked);
    let cycle = row.cycle.as_ref().expect("there is one");
    let ends = |step: &str| {
        let (from, rest) = step.split_once(" -> ").expect("a channel");
        (from.to_owned(), rest.split_once(',').expect("its end").0.to_owned())
    };
    let all: Vec<(String, String)> = cycle.iter().map(|step| ends(step)).collect();
    for (this, next) in all.iter().zip(all.iter().cycle().skip(1)) {
        assert_eq!(this.1, next.0, "{cycle:?}");
    }
    let proved = with(&given, &json!({"unverified": false}));
    assert!(refused("torus:shape=4x4,p=4", &proved).contains("not proved free of deadlock"));
}

#[test]
fn what_a_dialect_lacks_is_refused() {
    let slim = "slim_fly:q=5,p=4";
    for (inline, given, why) in [
        (
            slim,
            json!({"dialect": "codes-slimfly-v1", "selection": "par"}),
            "minimal, valiant, ugal_l",
        ),
        (slim, json!({"dialect": "codes-dally-v1"}), "a dragonfly"),
        (slim, json!({"dialect": "codes-dfplus-v1"}), "a megafly"),
        ("torus:shape=3x3,p=1", json!({"dialect": "codes-slimfly-v1"}), "slim_fly or fit_fly"),
        ("torus:shape=6x3,p=1", json!({"dialect": "codes-slimfly-v1"}), "slim_fly or fit_fly"),
        (
            "dragonfly:h=2",
            json!({"dialect": "codes-dally-v1", "selection": "valiant"}),
            "minimal, par",
        ),
        (
            slim,
            json!({"dialect": "codes-slimfly-v1", "switch": {"virtual_channels": 3}}),
            "4 or more",
        ),
        (slim, json!({"dialect": "codes-slimfly-v1", "rail": "round_robin"}), "rail"),
        (slim, json!({"load": "auto"}), "flit level"),
        (slim, json!({"packet_bytes": 1 << 20, "link": {"local_rate_gbps": 0.08}}), "packet_bytes"),
        (slim, json!({"load": 1.0e-9}), "load"),
        (slim, json!({"selection": "ugal_g", "switch": {"virtual_channels": 8}}), "ugal_l"),
        (slim, json!({"switch": {"lookahead_ns": 1.0}}), "lookahead_ns"),
        (slim, json!({"switch": {"detour_weight": 2}}), "detour_weight"),
        (
            "dragonfly:h=2",
            json!({"dialect": "codes-dally-v1", "switch": {"detour_weight": 0}}),
            "detour_weight",
        ),
        (slim, json!({"link": {"local_buffer_bytes": 100}}), "local_buffer_bytes"),
    ] {
        let refusal = refused(inline, &given);
        assert!(refusal.contains(why), "{given}: {refusal}");
    }
    let none = json!({"link": {"latency_ns": 0.0}, "switch": {"credit_ns": 0.0, "delay_ns": 0.0},
        "sync": "threads"});
    let topology = built(slim);
    let driven = PacketSimulationInputs {
        topology: &topology,
        routing: None,
        traffic: None,
        jobs: UserSuppliedJobs::default(),
    };
    let stop = spec(&none).simulate(driven, 2, None, &QuietWatch).expect_err("no lookahead");
    assert!(stop.to_string().contains("lookahead"), "{stop}");
}
