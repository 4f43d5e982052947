//! Tests of the values that a record says of parameters that were not given: a run that is given
//! them is the same run, and one that has others is another.

use crate::common::built;
use base::QuietWatch;
use packet::replay::UserSuppliedJobs;
use packet::spec::PacketSimulationParameters;
use packet::stage::{PacketSimulationInputs, PacketSimulationRecord};
use serde_json::{Value, json};

fn run(inline: &str, given: &Value) -> PacketSimulationRecord {
    let spec: PacketSimulationParameters =
        serde_json::from_value(given.clone()).expect("parameters");
    let on = built(inline);
    let driven = PacketSimulationInputs {
        topology: &on,
        routing: None,
        traffic: None,
        jobs: UserSuppliedJobs::default(),
    };
    spec.simulate(driven, 1, None, &QuietWatch).expect("it runs")
}

#[test]
fn a_run_that_is_given_the_values_of_a_record_is_the_same() {
    for (inline, given) in [
        ("slim_fly:q=5,p=4", json!({"selection": "ugal_l"})),
        ("slim_fly:q=5,p=4", json!({"selection": "par", "packet_bytes": 64, "message_bytes": 64})),
        ("slim_fly:q=5,p=4", json!({"dialect": "codes-slimfly-v1", "selection": "adaptive"})),
        ("dragonfly:h=2", json!({"dialect": "codes-dally-v1", "selection": "par"})),
        (
            "megafly:leaves=3,spines=3,p=3,h=3,g=4",
            json!({"dialect": "codes-dfplus-v1", "selection": "par"}),
        ),
        ("slim_fly:q=5,p=4", json!({"workload": "alltoall_linear ranks=40 bytes=9000"})),
    ] {
        let mut given = given;
        if given.get("workload").is_none() {
            (given["load"], given["messages"]) = (json!(0.8), json!(20));
        }
        if given.get("dialect").is_none() {
            given["switch"] = json!({"virtual_channels": 8});
        }
        let found = run(inline, &given);
        let said = serde_json::to_value(&found.parameters).expect("JSON");
        let again = run(inline, &said);
        assert_eq!(again.points[0].digest, found.points[0].digest, "{said}");
        assert_eq!(again.parameters, found.parameters);
        let is_own = given.get("dialect").is_none();
        for (table, name) in [
            ("link", "local_rate_gbps"),
            ("link", "global_rate_gbps"),
            ("link", "endpoint_rate_gbps"),
            ("link", "local_buffer_bytes"),
            ("switch", "delay_ns"),
            ("switch", "credit_ns"),
            ("switch", "virtual_channels"),
            ("mpi", "least_compute_ns"),
            if is_own { ("switch", "switching") } else { ("switch", "lookahead_ns") },
            if is_own { ("switch", "arbitration") } else { ("link", "latency_ns") },
        ] {
            assert!(!said[table][name].is_null(), "{table}.{name}: {said}");
        }
        for name in ["injection", "costs"] {
            assert!(!said[name].is_null(), "{name}: {said}");
        }
    }
}

/// A cable of 25 ns and a packet of 64 bytes at 12.5 GiB/s, 4.77 ns: the cable and back, the packet
/// at both ends and a switch of 90 ns hold 31 packets, half of which is 15. A packet of 4,096 bytes
/// takes 305 ns, and the least queue is never below 5.
#[test]
fn the_least_queue_is_that_of_the_cables() {
    for (bytes, least) in [(64, 15), (4096, 5)] {
        let given = json!({
            "selection": "ugal_l", "packet_bytes": bytes, "message_bytes": bytes, "load": 0.5,
            "messages": 20, "switch": {"virtual_channels": 4},
        });
        let found = run("slim_fly:q=5,p=4", &given);
        let used = found.parameters.choosing.expect("it compares");
        assert_eq!((used.least_queue, used.threshold, used.candidates), (Some(least), Some(0), 4));
        let mut other = given.clone();
        other["choosing"] = json!({"least_queue": least + 5});
        assert_ne!(run("slim_fly:q=5,p=4", &other).points[0].digest, found.points[0].digest);
    }
    let given = json!({"messages": 2, "load": 0.1});
    assert_eq!(run("slim_fly:q=5,p=4", &given).parameters.choosing, None);
}
