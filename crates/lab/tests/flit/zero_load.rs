//! Latency of packets in an idle network, against the closed form of `BookSim`'s pipeline.
//!
//! A head takes S internal steps in a router: routing, unless the router before did it, allocation
//! of a virtual channel, allocation of the crossbar, traversal; one less where crossbar and channel
//! are requested together. The other flits follow one per cycle, and wait for credits where a
//! packet is longer than a buffer.

use crate::files::data;
use base::seed::FastRandomStream;
use flit::engine::{FlitEngineInputs, engine};
use formats::booksim::{SettingsSource, anynet, read};
use lab::booksim::{BookSimRunInputs, case};
use traffic::destinations::PacketDestinations;
use traffic::process::{InjectedTrafficClass, OfferedLoad};

/// The parameters of a router that latency without load depends on; `speed` is in hundredths of
/// steps.
#[derive(Debug, Clone, Copy)]
struct RouterPipelineParameters {
    speed: u64,
    routing_delay: u64,
    crossbar_delay: u64,
    speculative: bool,
    credit_delay: u64,
    buffer: usize,
    flits: usize,
}

impl RouterPipelineParameters {
    fn steps_before(&self, cycle: u64) -> u64 {
        cycle * self.speed / 100
    }

    /// The cycle in which a head that comes in `cycle` has taken `steps` steps.
    fn after(&self, cycle: u64, steps: u64) -> u64 {
        let from = self.steps_before(cycle);
        (cycle..cycle + 9).find(|&w| self.steps_before(w + 1) - from >= steps).unwrap()
    }

    /// The arrival of the tail of a packet that is injected in cycle `injected` and takes channels
    /// of these latencies, the first from its source, the last to its target.
    fn arrival(&self, injected: u64, latencies: &[u64]) -> u64 {
        let steps = 3 + u64::from(self.routing_delay > 0) - u64::from(self.speculative);
        // delays of more than a step take whole cycles
        let extra = self.routing_delay.saturating_sub(1) + self.crossbar_delay - 1;
        let (hops, last) = (latencies.len() - 1, u64::from(self.speed == 100));
        // for each router, with 0 the source and hops + 1 the target: the cycle of the grant and of
        // the sending of each flit
        let mut granted = vec![vec![0; self.flits]; hops + 2];
        let mut sent = vec![vec![0; self.flits]; hops + 1];
        for j in 0..self.flits {
            // a flit may go once the flit that had its place has left the next buffer
            let credit = |granted: &[Vec<u64>], r: usize, delay: u64| {
                j.checked_sub(self.buffer)
                    .map_or(0, |k| granted[r + 1][k] + latencies[r] + 1 + delay)
            };
            let next = if j == 0 { injected } else { sent[0][j - 1] + 1 };
            sent[0][j] = next.max(credit(&granted, 0, 0));
            for r in 1..=hops {
                let comes = sent[r - 1][j] + latencies[r - 1] + 1;
                if j == 0 {
                    granted[r][0] = self.after(comes, steps - 1);
                    sent[r][0] = self.after(comes, steps) + extra;
                } else {
                    let free = credit(&granted, r, self.credit_delay);
                    granted[r][j] = comes.max(granted[r][j - 1] + 1).max(free);
                    sent[r][j] = (granted[r][j] + last).max(sent[r][j - 1] + 1);
                }
            }
            granted[hops + 1][j] = sent[hops][j] + latencies[hops] + 1;
        }
        granted[hops + 1][self.flits - 1]
    }

    /// The configuration keys of this router.
    fn keys(&self) -> String {
        format!(
            "internal_speedup = {:.2}; routing_delay = {}; st_final_delay = {}; speculative = {};
             credit_delay = {}; vc_buf_size = {}; packet_size = {};",
            self.speed as f64 / 100.0,
            self.routing_delay,
            self.crossbar_delay,
            u32::from(self.speculative),
            self.credit_delay,
            self.buffer,
            self.flits
        )
    }
}

/// Keys that change nothing in an idle network.
const IDLE: [&str; 10] = [
    "",
    "hold_switch_for_packet = 1;",
    "wait_for_tail_credit = 1;",
    "vc_busy_when_full = 1;",
    "vc_prioritize_empty = 1; vc_shuffle_requests = 1;",
    SHORT,
    "input_speedup = 2; output_speedup = 2;",
    "vc_allocator = islip(2); sw_allocator = islip;",
    "vc_allocator = islip; sw_allocator = islip(3);",
    "priority = age;",
];

/// A flit behind the crossbar delays the next grant by a cycle. This is too late to delay its
/// sending, but not its credit, so the key changes nothing only where no flit waits for a credit.
const SHORT: &str = "output_buffer_size = 1;";

/// Latencies of the channels from one endpoint to another.
type PathLatencies = Box<dyn Fn(u32, u32) -> Vec<u64>>;

/// `count` links of latency `link`, between the channels of the two endpoints, of latency 1.
fn links(count: u32, link: u64) -> Vec<u64> {
    let mut all = vec![link; count as usize + 2];
    (all[0], all[count as usize + 1]) = (1, 1);
    all
}

/// The networks: keys, file, endpoints, and the path of every packet.
fn networks() -> Vec<(&'static str, Option<&'static str>, u32, PathLatencies)> {
    let apart = |a: u32, b: u32, around: bool| {
        let far = a.abs_diff(b);
        if around { far.min(5 - far) } else { far }
    };
    let cube = move |around: bool, link: u64| -> PathLatencies {
        let of = move |a: u32, b: u32| apart(a % 5, b % 5, around) + apart(a / 5, b / 5, around);
        Box::new(move |a, b| links(of(a, b), link))
    };
    let fly: PathLatencies = Box::new(|a, b| {
        // a router has 2 x 2 endpoints of a grid of 8 x 8, so its coordinates are half of theirs
        let (x, y) = ((a % 8 / 2).abs_diff(b % 8 / 2), (a / 16).abs_diff(b / 16));
        let links = [x, y].into_iter().filter(|&d| d > 0).map(|d| 2 * u64::from(d));
        std::iter::once(1).chain(links).chain([1]).collect()
    });
    let tree: PathLatencies = Box::new(|a, b| {
        let up = (1..3).find(|&level| a / 3_u32.pow(level) == b / 3_u32.pow(level)).unwrap_or(3);
        links(2 * (up - 1), 1)
    });
    vec![
        ("topology = mesh; k = 5; n = 2; routing_function = dor;", None, 25, cube(false, 1)),
        (
            "topology = torus; k = 5; n = 2; routing_function = dim_order; use_noc_latency = 0;",
            None,
            25,
            cube(true, 1),
        ),
        ("topology = torus; k = 5; n = 2; routing_function = dim_order;", None, 25, cube(true, 2)),
        (
            "topology = flatfly; k = 4; n = 2; c = 4; x = 4; y = 4; xr = 2; yr = 2;
             routing_function = ran_min;",
            None,
            64,
            fly,
        ),
        ("topology = fattree; k = 3; n = 3; routing_function = nca;", None, 27, tree),
        (
            "topology = anynet; routing_function = min; network_file = x_rrg32.anynet;",
            Some("x_rrg32.anynet"),
            0,
            shortest("x_rrg32.anynet"),
        ),
        (
            "topology = anynet; routing_function = min; network_file = x_spine16.anynet;",
            Some("x_spine16.anynet"),
            0,
            shortest("x_spine16.anynet"),
        ),
    ]
}

/// The paths on a network of a file: at every router the first link of a path of least latency. Of
/// several, the path over the router that the search reaches first; it visits the nearest router
/// first, of equal ones that with the least number.
fn shortest(file: &'static str) -> PathLatencies {
    let net = anynet::read(&std::fs::read_to_string(data(file)).unwrap(), file).unwrap();
    let routers = net.neighbours().len();
    let mut next = Vec::new();
    for from in 0..routers {
        let mut far = vec![u32::MAX; routers];
        let (mut first, mut done) = (vec![(0, 0); routers], vec![false; routers]);
        far[from] = 0;
        while let Some(at) = (0..routers).filter(|&r| !done[r]).min_by_key(|&r| far[r]) {
            done[at] = true;
            for to in &net.neighbours()[at] {
                let (r, length) = (to.router as usize, far[at] + to.latency);
                if length < far[r] {
                    far[r] = length;
                    first[r] = if at == from { (r, u64::from(to.latency)) } else { first[at] };
                }
            }
        }
        next.push(first);
    }
    Box::new(move |a, b| {
        let (mut at, last) = (net.router_of()[a as usize], net.router_of()[b as usize]);
        let mut all = vec![1];
        while at != last {
            let (r, latency) = next[at as usize][last as usize];
            all.push(latency);
            at = r as u32;
        }
        all.push(1);
        all
    })
}

/// Cycles of injection and latencies of packets from `source` to `target` that were alone for long.
fn alone(
    of: &BookSimRunInputs,
    (source, target): (u32, u32),
    seed: u64,
    rest: u32,
) -> Vec<(u32, u64)> {
    let endpoints = of.wiring.endpoints().len();
    let mut to = vec![None; endpoints];
    to[source as usize] = Some(target);
    let destinations = PacketDestinations::fixed_to(&to);
    let classes = [InjectedTrafficClass {
        destinations,
        load: OfferedLoad::Packets(0.02),
        ..of.classes[0].clone()
    }];
    let setup = FlitEngineInputs {
        wiring: &of.wiring,
        router: &of.router,
        guide: &*of.guide,
        classes: &classes,
        urgencies: &of.urgencies,
        seed,
        threads: 1,
        always_full: seed % 2 == 1,
        assignment: None,
        age_from_staging: false,
        cycles: 1 << 20,
    };
    let mut engine = engine(setup).unwrap();
    engine.count_in(0..u32::MAX, false);
    let mut injections = Vec::new();
    let (mut found, mut latest) = (Vec::new(), (0, 0));
    while engine.now() < 1200 {
        engine.advance(1);
        let tally = engine.tally();
        let class = &tally.classes[0];
        if class.staged > injections.len() as u64 {
            injections.push(engine.now() - 1);
        }
        if class.arrived > latest.0 {
            // several packets that arrive together were not alone; one entry for each keeps the
            // count
            let sum = class.latency - latest.1;
            found.extend((latest.0..class.arrived).map(|_| sum));
            latest = (class.arrived, class.latency);
        }
    }
    engine.audit().unwrap();
    let quiet = |i: usize| {
        let before = i == 0 || injections[i] - injections[i - 1] > rest;
        let after = injections.get(i + 1).is_none_or(|next| next - injections[i] > rest);
        before && after
    };
    (0..found.len()).filter(|&i| quiet(i)).map(|i| (injections[i], found[i])).collect()
}

/// A random router that the closed form covers.
fn any_pipeline(random: &mut FastRandomStream) -> RouterPipelineParameters {
    let mut one = |of: &[u64]| of[random.below(of.len() as u32) as usize];
    let speed = one(&[100, 200, 300, 100, 200, 125, 150, 170]);
    let (mut flits, mut buffer) = (1, one(&[1, 4, 8]));
    if speed % 100 == 0 && one(&[0, 1, 1]) == 1 {
        [(flits, buffer)] =
            [[(4, 8), (8, 4), (9, 3), (5, 2), (12, 4), (3, 1)][one(&[0, 1, 2, 3, 4, 5]) as usize]];
    }
    let whole = speed % 100 == 0 && flits <= buffer;
    RouterPipelineParameters {
        speed,
        routing_delay: if whole { one(&[0, 1, 1, 2, 3]) } else { one(&[0, 1]) },
        // a flit that follows another through a slow crossbar waits for it
        crossbar_delay: if whole && flits == 1 { one(&[1, 1, 2]) } else { 1 },
        speculative: one(&[0, 1]) == 1,
        credit_delay: one(&[0, 1, 2]),
        buffer: buffer as usize,
        flits: flits as usize,
    }
}

#[test]
fn campaign_packets_that_are_alone_have_the_latency_of_the_closed_form() {
    let rounds = if std::env::var_os("FLYLOOM_CAMPAIGN").is_some() { 400 } else { 40 };
    let (mut packets, mut long) = (0, 0);
    for (n, (network, file, endpoints, path)) in (0..).zip(networks()) {
        let text = file.map(|f| (f, std::fs::read_to_string(data(f)).unwrap()));
        let mut random = FastRandomStream::new(1, "zero load", n);
        for round in 0..rounds {
            let pipeline = any_pipeline(&mut random);
            let mut idle = IDLE[round % IDLE.len()];
            if idle == SHORT && pipeline.flits > pipeline.buffer {
                idle = "output_buffer_size = 2;";
            }
            let keys = format!("{network} {} num_vcs = 4; {idle}", pipeline.keys());
            let config = read(&[SettingsSource::File { name: "a.cfg", text: &keys }]).unwrap();
            let of = case(&config, text.as_ref().map(|(f, t)| (*f, &**t))).unwrap();
            let endpoints = endpoints.max(of.wiring.endpoints().len() as u32);
            assert_eq!(endpoints as usize, of.wiring.endpoints().len());
            let pair = (random.below(endpoints), random.below(endpoints));
            let latencies = path(pair.0, pair.1);
            let first = pipeline.arrival(0, &latencies);
            for (injected, found) in alone(&of, pair, round as u64, 2 * first as u32 + 10) {
                let injected = u64::from(injected);
                let expected = pipeline.arrival(injected, &latencies) - injected;
                assert_eq!(found, expected, "{keys}: {pair:?} over {latencies:?} from {injected}");
                packets += 1;
                long += usize::from(pipeline.flits > pipeline.buffer);
            }
        }
    }
    println!("{packets} packets, {long} of them longer than a buffer");
    assert!(packets > 500 && long > 100, "{packets} {long}");
}

#[test]
fn the_closed_form_gives_what_booksim_measured() {
    // 8 x 8 mesh with a mean of h = 6.224 routers: BookSim's means, as exact as its samples
    let usual = RouterPipelineParameters {
        speed: 100,
        routing_delay: 1,
        crossbar_delay: 1,
        speculative: false,
        credit_delay: 2,
        buffer: 8,
        flits: 1,
    };
    let of = |p: RouterPipelineParameters| {
        let (mut sum, mut count) = (0, 0);
        for (a, b) in (0..64_u32).flat_map(|a| (0..64).map(move |b| (a, b))) {
            let far = (a % 8).abs_diff(b % 8) + (a / 8).abs_diff(b / 8);
            for injected in 0..20 {
                sum += p.arrival(injected, &links(far, 1)) - injected;
                count += 1;
            }
        }
        f64::from(sum as u32) / f64::from(count)
    };
    let fast = RouterPipelineParameters { speed: 200, ..usual };
    let ahead = RouterPipelineParameters { routing_delay: 0, speculative: true, ..fast };
    for (p, measured) in [
        (usual, 33.13),
        (fast, 20.68),
        (RouterPipelineParameters { speed: 300, ..usual }, 20.68),
        (RouterPipelineParameters { speed: 150, ..usual }, 26.90),
        (RouterPipelineParameters { speed: 125, ..usual }, 27.15),
        (RouterPipelineParameters { speculative: true, ..usual }, 26.91),
        (ahead, 14.45),
        (RouterPipelineParameters { routing_delay: 2, ..usual }, 39.44),
        (RouterPipelineParameters { crossbar_delay: 2, ..usual }, 39.43),
        (RouterPipelineParameters { routing_delay: 2, ..fast }, 26.90),
    ] {
        assert!((of(p) - measured).abs() < 0.2, "{p:?}: {} {measured}", of(p));
    }
    for (flits, buffer, credit_delay, speed, more) in [
        (8, 4, 2, 100, 3.09),
        (12, 4, 2, 100, 6.13),
        (5, 2, 2, 100, 10.05),
        (9, 3, 0, 100, 4.08),
        (8, 4, 2, 200, 2.06),
    ] {
        let long = RouterPipelineParameters { speed, credit_delay, buffer, flits, ..usual };
        let room = of(RouterPipelineParameters { buffer: 16, ..long });
        assert!((of(long) - room - more).abs() < 0.2, "{long:?}: {} {room} {more}", of(long));
    }
}
