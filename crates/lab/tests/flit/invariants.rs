//! Invariants of every router on every network: no flit is lost or created, all packets arrive, and
//! neither threads nor the general code of a step change any result.

use base::QuietWatch;
use flit::booksim::freedom;
use flit::engine::{FlitEngineInputs, FlitSimulationEngine, TrafficCounts, engine};
use flit::router::{AllocatorKind, PacketPriorityRule, RouterDesign};
use formats::booksim::{SettingsSource, read};
use lab::booksim::{BookSimRunInputs, case};
use proptest::prelude::*;
use proptest::sample::select;
use verify::Verdict;

/// Networks with routing functions that are proved free of deadlock.
const NETWORKS: [&str; 16] = [
    "topology = mesh; k = 3; n = 2; routing_function = dor; num_vcs = 1;",
    "topology = mesh; k = 2; n = 3; routing_function = dor; num_vcs = 3;",
    "topology = mesh; k = 3; n = 2; routing_function = dim_order_ni; num_vcs = 9;",
    "topology = mesh; k = 4; n = 2; routing_function = xy_yx; num_vcs = 4;",
    "topology = mesh; k = 3; n = 2; routing_function = adaptive_xy_yx; num_vcs = 2;",
    "topology = torus; k = 4; n = 2; routing_function = dim_order; num_vcs = 2;",
    "topology = torus; k = 5; n = 1; routing_function = dim_order; num_vcs = 6;",
    "topology = flatfly; k = 3; n = 2; c = 4; x = 3; y = 3; xr = 2; yr = 2;
     routing_function = ran_min; num_vcs = 2;",
    "topology = flatfly; k = 4; n = 1; c = 4; x = 4; y = 4; xr = 2; yr = 2;
     routing_function = valiant; num_vcs = 4; use_noc_latency = 0;",
    "topology = flatfly; k = 2; n = 2; c = 4; x = 2; y = 2; xr = 2; yr = 2;
     routing_function = ugal; num_vcs = 4;",
    "topology = flatfly; k = 3; n = 2; c = 1; x = 3; y = 3; xr = 1; yr = 1;
     routing_function = adaptive_xyyx; num_vcs = 2;",
    "topology = fattree; k = 2; n = 3; routing_function = nca; num_vcs = 2;",
    "topology = fattree; k = 3; n = 2; routing_function = anca; num_vcs = 3;",
    "topology = dragonflynew; k = 1; n = 1; routing_function = min; num_vcs = 2;",
    "topology = anynet; network_file = net; routing_function = min; vc_policy = hops; num_vcs = 4;",
    "topology = anynet; network_file = net; k = 1; routing_function = ugalgnew; vc_policy = hops;
     num_vcs = 4;",
];

/// A star of 7 routers with a ring around it, and given latencies in both directions.
fn star(latencies: &[u32]) -> String {
    let mut latency = latencies.iter().cycle();
    let mut row = |r: u32| {
        let ring = |by: u32| 1 + (r + 5 + by) % 6;
        let others = if r == 0 { (1..7).collect() } else { vec![0, ring(1), ring(5)] };
        let mut word = |other| format!(" router {other} {}", latency.next().unwrap());
        format!("router {r} node {r}{}\n", others.into_iter().map(&mut word).collect::<String>())
    };
    (0..7).map(&mut row).collect()
}

fn any_allocator() -> impl Strategy<Value = AllocatorKind> {
    select(vec![AllocatorKind::SeparableInputFirst, AllocatorKind::Islip])
}

/// A router of any kind, or of the kind that the fast code of a step handles.
fn any_router() -> impl Strategy<Value = RouterDesign> {
    let speeds = select(vec![1.0, 1.25, 1.5, 1.7, 2.0, 3.0]);
    let priorities = select(vec![
        PacketPriorityRule::RoundRobin,
        PacketPriorityRule::Age,
        PacketPriorityRule::NetworkAge,
        PacketPriorityRule::Class,
    ]);
    let sizes = (1_u32..10, speeds, 1_u8..5, 1_u8..4, 0_u32..4, proptest::option::of(1_u32..9));
    let delays = (0_u32..4, 1_u32..4, 1_u32..4, 1_u32..4);
    let allocators = (any_allocator(), 1_u8..4, any_allocator(), 1_u8..4, priorities);
    let options = any::<[bool; 11]>();
    (sizes, delays, allocators, options).prop_map(|(sizes, delays, allocators, options)| {
        let usual = RouterDesign {
            buffer_flits: sizes.0,
            internal_speedup: sizes.1,
            credit_delay: sizes.4,
            ..RouterDesign::default()
        };
        let [
            plain,
            speculative,
            yields,
            free,
            credit,
            hold,
            tail,
            busy,
            empty,
            shuffle,
            as_booksim,
        ] = options;
        if plain && hold {
            return usual;
        }
        RouterDesign {
            input_speedup: sizes.2,
            output_speedup: sizes.3,
            output_buffer_flits: sizes.5,
            routing_delay: delays.0,
            vc_alloc_delay: if speculative { 1 } else { delays.1 },
            switch_alloc_delay: delays.2,
            crossbar_delay: delays.3,
            vc_allocator: allocators.0,
            vc_alloc_rounds: allocators.1,
            switch_allocator: allocators.2,
            switch_alloc_rounds: allocators.3,
            priority: allocators.4,
            speculative,
            speculation_yields: yields,
            // hopeless requests that do not yield can starve all others
            speculation_asks_free: free || !yields,
            speculation_asks_credit: credit,
            hold_switch_for_packet: hold,
            wait_for_tail_credit: tail,
            vc_busy_when_full: busy,
            vc_prioritize_empty: empty,
            vc_shuffle_requests: shuffle,
            as_booksim,
            ..usual
        }
    })
}

/// The state after a run: the counts, what every port sent, and when it was over.
type FinalState = (TrafficCounts, Vec<u32>, u32);

/// Runs for some hundred cycles, and then until all packets have arrived.
fn left(
    of: &BookSimRunInputs,
    router: &RouterDesign,
    seed: u64,
    threads: usize,
    always_full: bool,
) -> FinalState {
    let setup = FlitEngineInputs {
        wiring: &of.wiring,
        router,
        guide: &*of.guide,
        classes: &of.classes,
        urgencies: &of.urgencies,
        seed,
        threads,
        always_full,
        assignment: None,
        age_from_staging: false,
        cycles: 1 << 20,
    };
    let mut engine: Box<dyn FlitSimulationEngine> = engine(setup).unwrap();
    engine.count_in(0..u32::MAX, false);
    let flits = |e: &dyn FlitSimulationEngine| e.tally().injected - e.tally().ejected;
    for cycles in [1, 2, 3, 97, 100, 97] {
        engine.advance(cycles);
        engine.audit().unwrap();
    }
    engine.stop_sources();
    while engine.flits_inside() > 0 {
        assert!(engine.now() < 100_000, "{} flits never arrive", flits(&*engine));
        engine.advance(50);
        engine.audit().unwrap();
    }
    // the last flits and credits are still in flight
    engine.advance(200);
    engine.audit().unwrap();
    let tally = engine.tally();
    assert_eq!(flits(&*engine), 0);
    for class in &tally.classes {
        assert_eq!(class.staged, class.arrived);
        assert_eq!(class.staged, class.entered);
        assert_eq!(class.latencies.count(), class.arrived);
        assert!(class.wait <= class.latency);
    }
    (tally, engine.sent(), engine.now())
}

fn campaign() -> u32 {
    if std::env::var_os("FLYLOOM_CAMPAIGN").is_some() { 500 } else { 60 }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(campaign())
    })]
    #[test]
    fn campaign_nothing_is_lost_and_threads_change_nothing(
        network in select(NETWORKS.to_vec()),
        mut router in any_router(),
        latencies in proptest::collection::vec(1_u32..8, 1..12),
        two_classes in any::<bool>(),
        load in 0.02_f64..1.0,
        flits in select(vec!["1", "2", "5", "{{1,4}}", "{{1,3,9}}"]),
        seed in any::<u32>(),
    ) {
        let share = if two_classes { load / 2.0 } else { load };
        let classes = if two_classes {
            "classes = 2; class_priority = {0,3}; traffic = {uniform,diagonal};"
        } else {
            ""
        };
        let text = format!(
            "{network} {classes} packet_size = {flits}; injection_rate = {share:.4};
             injection_rate_uses_flits = 1;"
        );
        let config = read(&[SettingsSource::File { name: "a.cfg", text: &text }]).unwrap();
        let net = star(&latencies);
        let of = case(&config, Some(("net", &net))).unwrap();
        let proof = freedom::prove(&*of.guide, &of.wiring, &QuietWatch).unwrap();
        // with some latencies the shortest paths have more hops than there are channels that rise
        // hop by hop
        let holds = matches!(proof, Verdict::Holds(_));
        prop_assert!(holds || network.contains("anynet"), "{text}");
        prop_assume!(holds);
        router.virtual_channels = of.router.virtual_channels;
        router.input_speedup = router.input_speedup.min(router.virtual_channels);
        let one = left(&of, &router, seed.into(), 1, false);
        for threads in [2, 3] {
            prop_assert_eq!(&one, &left(&of, &router, seed.into(), threads, false));
        }
        prop_assert_eq!(&one, &left(&of, &router, seed.into(), 2, true));
    }
}
