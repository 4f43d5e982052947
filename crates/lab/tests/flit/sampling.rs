//! Tests of when a run of `BookSim`'s is over: its rules, applied to histories kept cycle by cycle.

use crate::files::simulation;
use base::QuietWatch;
use flit::engine::{FlitSimulationEngine, engine};
use flit::run::{FlitRunPhases, RunEndCondition, run};
use formats::booksim::{BookSimConfig, BookSimTrafficClass, SettingsSource, SimulationKind, read};
use lab::sampling::{BookSimSimulation, SamplingEndReason};

const MESH: &str = "topology = mesh; k = 4; n = 2; routing_function = dor; num_vcs = 4;
    vc_buf_size = 8; use_noc_latency = 0; sample_period = 200; seed = 7;";

fn config(more: &str) -> BookSimConfig {
    let text = format!("{MESH} {more}");
    read(&[SettingsSource::File { name: "mesh.cfg", text: &text }]).unwrap()
}

fn started(of: &BookSimSimulation) -> Box<dyn FlitSimulationEngine + '_> {
    let mut engine = engine(of.setup(1)).unwrap();
    engine.count_in(0..u32::MAX, false);
    engine
}

#[test]
fn what_is_in_flight_is_as_old_as_it_is() {
    for more in [
        "injection_rate = 0.6; include_queuing = 0;",
        "injection_rate = 0.9; include_queuing = 0; sw_allocator = separable_input_first;
         vc_allocator = separable_input_first; internal_speedup = 2.0; credit_delay = 2;",
        "injection_rate = 0.1;",
    ] {
        let of = simulation(config(more));
        let mut engine = started(&of);
        // every cycle adds one to the age of each packet that is in flight
        let mut area = 0;
        for cycle in 1..=500 {
            engine.count_until(cycle);
            engine.advance(1);
            let tally = engine.tally();
            area += tally.classes[0].staged - tally.classes[0].arrived;
            let [(flits, age)] = engine.not_arrived()[..] else { panic!("one class") };
            assert_eq!(flits, tally.classes[0].staged - tally.classes[0].arrived);
            assert_eq!(tally.classes[0].latency + age, area, "{more} {cycle}");
        }
        assert!(area > 1000);
    }
}

#[test]
fn flits_in_flight_are_counted_one_by_one() {
    let of = simulation(config("packet_size = 5; injection_rate = 0.1; classes = 2;"));
    let mut engine = started(&of);
    for cycle in (7..1000).step_by(7) {
        engine.count_until(cycle);
        engine.advance(7);
        let tally = engine.tally();
        for (class, (flits, _)) in tally.classes.iter().zip(engine.not_arrived()) {
            assert_eq!(flits, 5 * class.staged - class.accepted);
        }
    }
}

/// Everything counted until the end of a period, for each class: cycles of latency, packets and
/// flits that arrived; flits in flight, and their ages.
type PeriodCounts = Vec<[f64; 5]>;

/// The counts at the end of each period, of packets injected from a period on or of all packets.
fn history(
    of: &BookSimSimulation,
    each: u32,
    periods: u32,
    from: Option<u32>,
) -> Vec<PeriodCounts> {
    let mut engine = engine(of.setup(1)).unwrap();
    engine.count_in(from.unwrap_or(0) * each..u32::MAX, false);
    let seen = |period: u32| {
        engine.count_until(period * each);
        engine.advance(if period == 0 { 0 } else { each });
        let tally = engine.tally();
        let class = |(c, (flits, age)): (&flit::engine::TrafficClassCounts, (u64, u64))| {
            [c.latency, c.arrived, c.accepted, flits, age].map(|n| n as f64)
        };
        tally.classes.iter().zip(engine.not_arrived()).map(class).collect()
    };
    (0..=periods).map(seen).collect()
}

/// The period that statistics begin with, the number of periods, and what ended them: the rules
/// applied to histories.
fn predicted(of: &BookSimSimulation, config: &BookSimConfig) -> (u32, u32, SamplingEndReason) {
    let run = &config.run;
    let is_latency = run.simulation == SimulationKind::Latency;
    let all = history(of, run.sample_period, run.max_samples, None);
    let (mut before, mut warm, mut near) = (vec![[0.0; 2]; config.classes.len()], None, 0);
    let mut measured: Vec<PeriodCounts> = Vec::new();
    let mut since = 0;
    for end in 1..=run.max_samples {
        since = warm.unwrap_or((end - 1) / 2 * 2);
        let stats = if warm.is_some() { &measured } else { &all };
        let (mut is_above, mut moves) = (false, false);
        for (i, class) in config.classes.iter().enumerate() {
            let (now, start) = (stats[end as usize][i], stats[since as usize][i]);
            let [latency, packets, flits] = [0, 1, 2].map(|k| now[k] - start[k]);
            let in_flight = &all[end as usize][i][3..];
            let figures = [latency / packets, flits / f64::from(end - since)];
            let change = |k: usize| ((figures[k] - before[i][k]) / figures[k]).abs();
            let limits = |c: &BookSimTrafficClass| match warm {
                None => [c.warmup_latency, c.warmup_accepted],
                Some(_) => [c.stopping_latency, c.stopping_accepted],
            };
            let mean = (latency + in_flight[1]) / (packets + in_flight[0]);
            is_above |= is_latency && class.latency_limit.is_some_and(|most| mean > most);
            let exceeds = |k: usize| limits(class)[k].is_some_and(|most| change(k) > most);
            moves |= is_latency && exceeds(0) || exceeds(1);
            before[i] = figures;
        }
        if is_above {
            return (since, end, SamplingEndReason::LatencyThres);
        }
        if warm.is_some() {
            near = if moves { 0 } else { near + 1 };
            if near == 3 {
                return (since, end, SamplingEndReason::Converged);
            }
        } else if if run.warmup_periods > 0 { end >= run.warmup_periods } else { !moves } {
            warm = Some(end);
            measured = history(of, run.sample_period, run.max_samples, warm);
        }
    }
    let is_measured = warm.is_some_and(|w| w < run.max_samples);
    (
        since,
        run.max_samples,
        if is_measured { SamplingEndReason::MaxSamples } else { SamplingEndReason::NotWarm },
    )
}

#[test]
fn runs_are_as_long_as_the_rules_say() {
    let mut met = Vec::new();
    for more in [
        "injection_rate = 0.2;",
        "injection_rate = 0.3; sample_period = 50;",
        "injection_rate = 0.3; sample_period = 50; warmup_periods = 0;",
        "injection_rate = 0.3; sample_period = 20; warmup_periods = 0; max_samples = 40;
         warmup_thres = 0.02; acc_warmup_thres = 0.02;",
        "injection_rate = 0.3; sample_period = 20; max_samples = 60; stopping_thres = 0.004;",
        "injection_rate = 0.3; sample_period = 20; max_samples = 9; stopping_thres = 0.004;",
        "injection_rate = 0.3; sample_period = 20; warmup_periods = 0; warmup_thres = 0.0001;",
        "injection_rate = 0.45; sim_type = throughput; sample_period = 50;
         acc_stopping_thres = 0.003; max_samples = 30;",
        "injection_rate = 0.7; latency_thres = 40.0;",
        "injection_rate = 0.5; latency_thres = 25.0; warmup_periods = 5; max_samples = 20;",
        "injection_rate = 0.42; packet_size = 1; latency_thres = 19.0; max_samples = 20;",
        "injection_rate = 0.12; packet_size = 3; latency_thres = 26.5; include_queuing = 0;
         stopping_thres = 0.001; max_samples = 25; sample_period = 50;",
        "classes = 2; injection_rate = {0.1,0.05}; packet_size = {1,4}; sample_period = 50;
         stopping_thres = {0.02,0.01}; max_samples = 40;",
        "classes = 2; injection_rate = {0.3,0.3}; latency_thres = {500.0,30.0}; max_samples = 30;",
    ] {
        let config = config(more);
        let of = simulation(config.clone());
        let (since, periods, ended) = predicted(&of, &config);
        let found = of.run(1, &QuietWatch).unwrap();
        let each = config.run.sample_period;
        assert_eq!((found.point.warmup_cycles, found.ended), (since * each, ended), "{more}");
        assert!(found.point.cycles >= u64::from(periods * each), "{more}");
        met.push(ended);
        if ended == SamplingEndReason::LatencyThres || ended == SamplingEndReason::NotWarm {
            assert_eq!(found.point.cycles, u64::from(periods * each), "{more}");
            continue;
        }
        // a run whose phases have these fixed lengths finds the same
        let phases = FlitRunPhases {
            warmup_cycles: since * each,
            measure_cycles: (periods - since) * each,
            drain_cycles: 100_000,
            drain: match config.run.simulation {
                SimulationKind::Latency => RunEndCondition::Measured,
                SimulationKind::Throughput => RunEndCondition::Empty,
            },
        };
        let same = run(of.setup(1), phases, &QuietWatch).unwrap();
        assert_eq!(found.point.classes, same.classes, "{more}");
        assert_eq!(found.point.traces.sent, same.traces.sent, "{more}");
        assert_eq!(found, of.run(2, &QuietWatch).unwrap(), "{more}");
    }
    for ended in [
        SamplingEndReason::Converged,
        SamplingEndReason::MaxSamples,
        SamplingEndReason::NotWarm,
        SamplingEndReason::LatencyThres,
    ] {
        assert!(met.contains(&ended), "{ended:?} is not among them");
    }
}

#[test]
fn without_queuing_latencies_are_shorter_by_the_wait_of_the_queue() {
    let of = |queuing: u32| {
        let text = format!(
            "packet_size = 4; injection_rate = 0.05; include_queuing = {queuing}; num_vcs = 8;
             sample_period = 30000; sim_type = throughput; latency_thres = -1.0;
             internal_speedup = 2.0;"
        );
        simulation(config(&text)).run(2, &QuietWatch).unwrap().point.all
    };
    let (with, without) = (of(1), of(0));
    assert_eq!(with.network_latency, without.network_latency);
    assert_eq!(with.accepted_load.to_bits(), without.accepted_load.to_bits());
    // an injection in each cycle with probability p, S cycles each: mean wait p S (S - 1) / 2 (1 -
    // p S)
    let (p, s) = (0.05, 4.0);
    let wait = p * s * (s - 1.0) / (2.0 * (1.0 - p * s));
    let found = with.latency.unwrap() - without.latency.unwrap();
    assert!((found / wait - 1.0).abs() < 0.05, "{found} and not {wait}");
}
