//! Packets that wait in a circle: found where `BookSim`'s do, and not where they cannot.
//!
//! On Slim Fly q = 5 UGAL-L with any virtual channel on any hop locks up under tornado traffic from
//! a load of 0.6 on; with the channel of the links crossed before it accepts 0.42 at a load of 1.

use crate::files::{config, simulation};
use base::Quiet;
use sim::flit::engine::Waiting;

fn ugal(policy: &str, load: f64, seed: u32) -> lab::sampling::BookSim {
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
        assert!(of.circle.is_some(), "a proof of what locks up");
        let circle = of.run(1, &Quiet).unwrap().point.circle.expect("a circle");
        assert!(circle.len() > 1, "{load}: {circle:?}");
        let place = |w: &Waiting| (w.router, w.port, w.lane);
        let mut places: Vec<_> = circle.iter().map(place).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), circle.len(), "each once: {circle:?}");
    }
}

#[test]
fn channels_that_rise_do_not() {
    let mut accepted = Vec::new();
    for seed in 1..=3 {
        let of = ugal("hops", 1.0, seed);
        assert_eq!(of.circle, None);
        let point = of.run(1, &Quiet).unwrap().point;
        assert_eq!(point.circle, None);
        accepted.push(point.all.accepted_load);
    }
    let mean = accepted.iter().sum::<f64>() / 3.0;
    assert!((mean / 0.42 - 1.0).abs() < 0.015, "{accepted:?}");
}
