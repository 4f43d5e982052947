//! Who goes first at a port, and what is counted of those that wait for it.

mod common;

use base::Quiet;
use common::built;
use fabric::Topology;
use serde_json::{Value, json};
use sim::packet::replay::Jobs;
use sim::packet::row::Row;
use sim::packet::spec::Spec;
use sim::packet::stage::{Driven, Record};
use std::sync::Arc;

fn tried(on: &Arc<Topology>, given: &Value) -> Result<Record, String> {
    let spec: Spec = serde_json::from_value(given.clone()).map_err(|e| e.to_string())?;
    let driven = Driven { topology: on, routing: None, traffic: None, jobs: Jobs::default() };
    spec.simulate(driven, 1, None, &Quiet).map_err(|stop| stop.to_string())
}

fn point(on: &Arc<Topology>, given: &Value) -> Row {
    tried(on, given).expect("it runs").points.remove(0)
}

/// All endpoints of a line of routers send to the last one, as much as they can. A link takes what
/// comes first of its router's endpoint and of the link before, which have as much room: each gets
/// half, and the first of four endpoints a quarter. The oldest first, packets of all endpoints are
/// as old when they arrive; as many of each are on their way (nearly: what waits at endpoints is
/// most of it), so that all get as much (Little's law). A link that is not busy is blocked.
#[test]
fn the_oldest_first_is_fair_on_a_line() {
    let on = built("mesh:shape=4,p=1");
    for (arbitration, endpoint_bytes, local_bytes, shares) in [
        ("round_robin", 65_536, 65_536, [0.25, 0.5, 1.0]),
        ("oldest", 2 << 20, 16_384, [1.0 / 3.0, 2.0 / 3.0, 1.0]),
    ] {
        let given = json!({
            "load": 1.0, "traffic": "hotspot:3", "end_us": 20_000.0, "links": true,
            "router": {"arbitration": arbitration, "virtual_channels": 1},
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
            let (used, blocked) = (links.utilisation[link], links.blocked[link]);
            assert!((used - share).abs() < 0.02, "{arbitration} {at}: {used} for {share}");
            assert!((blocked - (1.0 - share)).abs() < 0.02, "{arbitration} {at}: {blocked}");
        }
    }
}

/// Packets of a pair come in order by the only way, and not by ways of different lengths.
#[test]
fn overtaken_packets_are_those_of_several_ways() {
    let on = built("slim_fly:q=5,p=2");
    let given = |selection: &str, dialect: &str| {
        json!({
            "load": 0.5, "traffic": "shift:3", "messages": 40, "selection": selection,
            "dialect": dialect, "router": {"virtual_channels": 8},
        })
    };
    let row = point(&built("mesh:shape=4,p=1"), &given("minimal", "physical"));
    assert_eq!(row.overtaken_packets, Some(0));
    let row = point(&on, &given("valiant", "physical"));
    let found = row.overtaken_packets.expect("it is counted");
    // the first of each pair is behind none
    assert!(found > 0 && found < row.packets - on.endpoints().len() as u64, "{found}");
    assert_eq!(point(&on, &given("valiant", "codes-slimfly-v1")).overtaken_packets, None);
}

#[test]
fn codes_has_no_arbitration_of_ours() {
    let given =
        json!({"dialect": "codes-slimfly-v1", "router": {"arbitration": "oldest"}, "load": 0.1});
    let told = tried(&built("slim_fly:q=5,p=2"), &given).expect_err("it is refused");
    assert!(told.contains("router.arbitration"), "{told}");
}
