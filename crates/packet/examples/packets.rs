//! Points of packets under load, for profilers: `packets NET PARAMETERS THREADS`, parameters as
//! JSON.
#![expect(clippy::print_stdout, reason = "a program")]

use base::QuietWatch;
use fabric::network::parse_inline;
use packet::replay::UserSuppliedJobs;
use packet::spec::PacketSimulationParameters;
use packet::stage::PacketSimulationInputs;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [net, given, threads] = &words[..] else {
        println!("packets NET PARAMETERS THREADS");
        return;
    };
    let recipe = parse_inline(net).expect("a network");
    let family = families::family(&recipe.family).expect("a family");
    let on = Arc::new(family.build(&recipe.params).expect("it can be built"));
    let spec: PacketSimulationParameters = serde_json::from_str(given).expect("parameters");
    let began = Instant::now();
    let clock = || began.elapsed().as_secs_f64();
    let driven = PacketSimulationInputs {
        topology: &on,
        routing: None,
        traffic: None,
        jobs: UserSuppliedJobs::default(),
    };
    let threads = threads.parse().expect("threads");
    let found = spec.simulate(driven, threads, Some(&clock), &QuietWatch).expect("it runs");
    for job in &found.jobs {
        println!("{job:?}");
    }
    for row in found.points {
        let wall_s = row.wall_s.unwrap_or(f64::NAN);
        println!(
            "{} load {:?} threads {threads}: {:.3} s, {:.2} M packets/s, {} windows, {} undone, \
             {} us, {} routers, {} detours",
            row.digest,
            row.offered_load,
            wall_s,
            row.packets as f64 / wall_s / 1e6,
            row.windows,
            row.rollbacks,
            row.latencies.mean_latency_ns.unwrap_or(f64::NAN) / 1e3,
            row.mean_switches.unwrap_or(f64::NAN),
            row.nonminimal_packets,
        );
    }
}
