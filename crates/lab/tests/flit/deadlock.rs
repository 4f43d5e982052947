//! Deadlocks: they are found where `BookSim` has them, and not where they are impossible.
//!
//! On Slim Fly q = 5, UGAL-L with any virtual channel on any hop deadlocks under tornado traffic
//! from a load of 0.6 on; with virtual channels that rise hop by hop it accepts 0.42 at a load of
//! 1.

use crate::files::{config, simulation};
use base::QuietWatch;
use flit::engine::{BlockedPacket, engine};
use formats::booksim::{SettingsSource, read};
use lab::sampling::{BookSimSimulation, SamplingEndReason};
use std::fmt::Write;

fn ugal(policy: &str, load: f64, seed: u32) -> BookSimSimulation {
    let arguments = [
        "routing_function=ugallnew".to_owned(),
        "traffic=tornado(200,1,1)".to_owned(),
        format!("vc_policy={policy}"),
        format!("injection_rate={load:?}"),
        format!("seed={seed}"),
        "sample_period=600".to_owned(),
    ];
    simulation(config("hv_sf_q5_val", &arguments))
}

#[test]
fn any_channel_on_any_hop_locks_up() {
    for (load, seed) in [(0.6, 1), (0.8, 2), (1.0, 3)] {
        let of = ugal("any", load, seed);
        assert!(of.dependency_cycle.is_some(), "a proof of what locks up");
        let cycle = of.run(1, &QuietWatch).unwrap().point.deadlock.expect("a cycle");
        assert!(cycle.len() > 1, "{load}: {cycle:?}");
        let place = |w: &BlockedPacket| (w.router, w.port, w.lane);
        let mut places: Vec<_> = cycle.iter().map(place).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), cycle.len(), "each once: {cycle:?}");
    }
}

#[test]
fn channels_that_rise_do_not() {
    let mut accepted = Vec::new();
    for seed in 1..=3 {
        let of = ugal("hops", 1.0, seed);
        assert_eq!(of.dependency_cycle, None);
        let point = of.run(1, &QuietWatch).unwrap().point;
        assert_eq!(point.deadlock, None);
        accepted.push(point.all.accepted_load);
    }
    let mean = accepted.iter().sum::<f64>() / 3.0;
    assert!((mean / 0.42 - 1.0).abs() < 0.015, "{accepted:?}");
}

/// A ring of routers that send in one direction only, with these keys in addition.
fn ring(keys: &str) -> BookSimSimulation {
    let routers = 5;
    let mut file = String::new();
    for r in 0..routers {
        writeln!(file, "router {r} node {r} router {}", (r + 1) % routers).unwrap();
    }
    let text = format!(
        "topology = anynet; routing_function = min; network_file = net; injection_rate = 1.0;
         vc_buf_size = 2; traffic = tornado({{5,1,1}}); latency_thres = -1.0; {keys}"
    );
    let config = read(&[SettingsSource::File { name: "ring.cfg", text: &text }]).unwrap();
    BookSimSimulation::new(config, Some(("net", &file)), &QuietWatch).unwrap()
}

#[test]
fn every_kind_of_router_that_locks_up_is_seen_to() {
    // a packet waits for a channel that another packet holds, one that is full, or one whose last
    // packet has not left the next buffer
    for keys in [
        "num_vcs = 1;",
        "num_vcs = 1; vc_busy_when_full = 1;",
        "num_vcs = 2; vc_busy_when_full = 1; packet_size = 1;",
        "num_vcs = 1; wait_for_tail_credit = 1; packet_size = 3;",
        "num_vcs = 1; wait_for_tail_credit = 1; vc_busy_when_full = 1; packet_size = 2;",
        "num_vcs = 1; hold_switch_for_packet = 1; packet_size = 3; output_buffer_size = 1;",
        "num_vcs = 1; vc_busy_when_full = 1; speculative = 1; st_final_delay = 3;",
        "num_vcs = 1; vc_busy_when_full = 1; routing_delay = 0; internal_speedup = 2.0;",
    ] {
        let of = ring(keys);
        let mut engine = engine(of.setup(1)).unwrap();
        let mut cycles = 0;
        let cycle = loop {
            engine.advance(500);
            cycles += 500;
            assert!(cycles < 100_000, "{keys}: still {}", engine.is_still());
            let Some(cycle) = engine.deadlock() else { continue };
            break cycle;
        };
        assert!(cycle.len() > 1, "{keys}: {cycle:?}");
        // all five routers are part of the cycle: once the others have stopped, nothing moves any
        // more
        engine.advance(500);
        let (sent, left) = (engine.sent(), engine.tally().ejected);
        engine.advance(5000);
        assert_eq!((engine.sent(), engine.tally().ejected), (sent, left), "{keys}");
        assert!(engine.is_still(), "{keys}");
        assert_eq!(of.run(1, &QuietWatch).unwrap().ended, SamplingEndReason::Deadlock, "{keys}");
    }
}

#[test]
fn a_class_that_never_comes_to_its_turn_ends_the_run() {
    let text = "topology = mesh; k = 2; n = 1; routing_function = dor; use_noc_latency = 0;
        num_vcs = 4; priority = class; classes = 2; class_priority = {1,0};
        injection_rate = {1.0,0.1}; latency_thres = -1.0; stopping_thres = -1.0;
        acc_stopping_thres = -1.0;";
    let config = read(&[SettingsSource::File { name: "mesh.cfg", text }]).unwrap();
    let found =
        BookSimSimulation::new(config, None, &QuietWatch).unwrap().run(1, &QuietWatch).unwrap();
    assert_eq!((found.ended, found.point.deadlock), (SamplingEndReason::NotDrained, None));
    assert!(found.point.classes[0].packets.1 > 0);
    assert_eq!(found.point.classes[1].packets.1, 0, "BookSim's sources send the other class first");
}
