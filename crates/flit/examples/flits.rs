//! A point of a network under load, for profilers: `flits NET SELECTION LOAD CYCLES THREADS`.
#![expect(clippy::print_stdout, reason = "a program")]

use base::QuietWatch;
use fabric::network::parse_inline;
use flit::case::PreparedFlitSimulation;
use flit::spec::{FlitSimulationParameters, RunLengthParameters};
use flit::warmup::WarmupSetting;
use paths::PathSource;
use paths::select::{LaneUseRule, PathSelectionSpec};
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [net, selection, load, cycles, threads] = &words[..] else {
        println!("flits NET SELECTION LOAD CYCLES THREADS");
        return;
    };
    let recipe = parse_inline(net).expect("a network");
    let family = families::family(&recipe.family).expect("a family");
    let on = PathSource::Network(Arc::new(family.build(&recipe.params).expect("it can be built")));
    let (lane_use, name) = match selection.strip_suffix("/any") {
        Some(name) => (LaneUseRule::Any, name),
        None => (LaneUseRule::Hops, &**selection),
    };
    let spec = FlitSimulationParameters {
        selection: PathSelectionSpec::parse(name).expect("a selection"),
        lane_use,
        unverified: lane_use == LaneUseRule::Any,
        run: RunLengthParameters {
            warmup_cycles: Some(WarmupSetting::Cycles(0)),
            measure_cycles: Some(cycles.parse().expect("cycles")),
            drain_cycles: 0,
            ..RunLengthParameters::default()
        },
        ..FlitSimulationParameters::default()
    };
    let case = PreparedFlitSimulation::new(on, &spec, None, &QuietWatch).expect("a case");
    let began = Instant::now();
    let point = case
        .point(load.parse().expect("a load"), 0, threads.parse().expect("threads"), &QuietWatch)
        .expect("a point");
    let took = began.elapsed().as_secs_f64();
    println!(
        "hops {} accepted {:.6} latency {:.6} Mhops/s {:.2}",
        point.flit_hops,
        point.all.accepted_load,
        point.all.latency.unwrap_or(0.0),
        point.flit_hops as f64 / took / 1e6
    );
}
