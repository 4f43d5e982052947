//! Tests of random configurations over all keys of the router, against a slow model of BookSim's
//! rules.
//!
//! Both get the same packets at the same times and, where a routing function is random, the same
//! draws ([`crate::drawn`]), so that every latency is equal. With several outputs of a port,
//! BookSim's order of two flits that come through together follows from lists that the fast router
//! does not keep; then means are compared.

use crate::drawn::{FixedDrawRouting, dragonfly, fat_tree};
use crate::slow::allocator::AllocatorKind;
use crate::slow::{
    self, CableEnd, ClassResult, Flit, InjectionChannels, Packet, PacketPriorityRule, Port,
    RouteRequest, RouterKeys, RoutingFunction,
};
use base::seed::FastRandomStream;
use fabric::network::parse_inline;
use families::family;
use flit::engine::{FlitEngineInputs, RailAssignmentInputs, TrafficCounts, engine};
use formats::booksim::{SettingsSource, read};
use lab::booksim::case;
use paths::select::RailSelection;
use rayon::prelude::*;
use std::fmt::Write;
use traffic::times::{TimeScaledPackets, TimedPacketLists};

/// The number of cycles in which packets are injected.
const INJECTION_CYCLES: u32 = 250;
/// The largest number of cycles of a run.
const CYCLES: u32 = 20_000;

/// A network: its keys, its file, its ports, and the port of each router towards each endpoint.
pub(crate) struct ReferenceNetwork {
    pub(crate) keys: String,
    pub(crate) file: Option<String>,
    pub(crate) ports: Vec<Vec<Port>>,
    pub(crate) next: Vec<Vec<usize>>,
    pub(crate) rule: VirtualChannelRule,
}

/// The rule of a routing function for virtual channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VirtualChannelRule {
    /// Any virtual channel.
    Any,
    /// `min_adapt`: channel 0 at a low rank, and always behind a link on which the packet had it;
    /// else also the others. In BookSim outputs of the same rank are one, that of the lowest
    /// dimension.
    Escape,
    /// `dim_order` on a torus: the lower half, or the upper half where the packet enters a
    /// dimension at a larger coordinate than its destination's. The number is the base of
    /// coordinates.
    Halves(usize),
    /// `xy_yx` on a mesh with this number of routers a side.
    XyYx(usize),
    /// `valiant` on a mesh with this number of routers a side.
    Valiant(usize),
    /// `nca` on a tree with this number of ports up.
    Nca(usize),
    /// `ugal` on a dragonfly with this number of endpoints on a router.
    Ugal(usize),
}

impl ReferenceNetwork {
    fn wants(
        &self,
        vcs: usize,
        (router, input): (usize, usize),
        flit: &mut Flit,
        used: &[u32],
    ) -> Vec<RouteRequest> {
        match self.rule {
            VirtualChannelRule::XyYx(k) => return vec![self.xy_yx(k, vcs, (router, input), flit)],
            VirtualChannelRule::Valiant(k) => {
                return vec![self.valiant(k, vcs, (router, input), flit)];
            }
            VirtualChannelRule::Nca(k) => return vec![self.nca(k, vcs, (router, input), flit)],
            VirtualChannelRule::Ugal(p) => return vec![self.ugal(p, (router, input), flit, used)],
            VirtualChannelRule::Any
            | VirtualChannelRule::Escape
            | VirtualChannelRule::Halves(_) => {}
        }
        let port = self.next[router][flit.to as usize];
        let CableEnd::Router(..) = self.ports[router][port].end else {
            return vec![(port, 0..vcs, 0)];
        };
        match self.rule {
            VirtualChannelRule::Escape => {
                let is_injected = matches!(self.ports[router][input].end, CableEnd::Endpoint(_));
                let mut all = vec![(port, 0..1, 0)];
                if is_injected || flit.vc != 0 {
                    all.push((port, 1..vcs, 1));
                }
                all
            }
            VirtualChannelRule::Halves(k) => {
                let at = |r: usize| if port < 2 { r % k } else { r / k };
                if input / 2 != port / 2 {
                    flit.note = u32::from(at(router) > at(flit.to as usize));
                }
                let half = vcs / 2;
                vec![(port, if flit.note == 0 { 0..vcs - half } else { half..vcs }, 0)]
            }
            _ => vec![(port, 0..vcs, 0)],
        }
    }
}

/// A torus of k x k routers, routed dimension by dimension; k is odd, so that no direction is
/// random.
fn torus(k: usize, wires: bool) -> ReferenceNetwork {
    let latency = if wires { 2 } else { 1 };
    let (mut ports, mut next) = (Vec::new(), Vec::new());
    for r in 0..k * k {
        let round = [((r % k + 1) % k) + r / k * k, ((r % k + k - 1) % k) + r / k * k];
        let across = [(r + k) % (k * k), (r + k * k - k) % (k * k)];
        let ends = [(round[0], 1), (round[1], 0), (across[0], 3), (across[1], 2)];
        let mut own: Vec<Port> = ends
            .into_iter()
            .map(|(to, port)| Port { end: CableEnd::Router(to, port), out: latency, into: 1 })
            .collect();
        own.push(Port { end: CableEnd::Endpoint(r), out: 1, into: 1 });
        ports.push(own);
        let towards = |to: usize| {
            let far = [(to % k + k - r % k) % k, (to / k + k - r / k) % k];
            let dimension = far.iter().position(|&steps| steps > 0);
            dimension.map_or(4, |d| 2 * d + usize::from(2 * far[d] > k))
        };
        next.push((0..k * k).map(towards).collect());
    }
    let keys = format!(
        "topology = torus; k = {k}; n = 2; routing_function = dim_order; use_noc_latency = {};",
        u8::from(wires)
    );
    ReferenceNetwork { keys, file: None, ports, next, rule: VirtualChannelRule::Halves(k) }
}

/// A mesh of k x k routers, routed dimension by dimension.
fn mesh(k: usize, rule: VirtualChannelRule) -> ReferenceNetwork {
    let port = |end| Port { end, out: 1, into: 1 };
    let (mut ports, mut next) = (Vec::new(), Vec::new());
    for r in 0..k * k {
        let mut own = Vec::new();
        for (at, step) in [(r % k, 1), (r / k, k)] {
            let first = own.len();
            own.push(if at + 1 < k {
                CableEnd::Router(r + step, first + 1)
            } else {
                CableEnd::Nothing
            });
            own.push(if at > 0 { CableEnd::Router(r - step, first) } else { CableEnd::Nothing });
        }
        own.push(CableEnd::Endpoint(r));
        ports.push(own.into_iter().map(port).collect());
        let towards = |to: usize| match ((r % k).cmp(&(to % k)), (r / k).cmp(&(to / k))) {
            (std::cmp::Ordering::Less, _) => 0,
            (std::cmp::Ordering::Greater, _) => 1,
            (_, std::cmp::Ordering::Less) => 2,
            (_, std::cmp::Ordering::Greater) => 3,
            _ => 4,
        };
        next.push((0..k * k).map(towards).collect());
    }
    let function = match rule {
        VirtualChannelRule::Escape => "min_adapt",
        VirtualChannelRule::XyYx(_) => "xy_yx",
        VirtualChannelRule::Valiant(_) => "valiant",
        _ => "dor",
    };
    let keys = format!(
        "topology = mesh; k = {k}; n = 2; routing_function = {function}; use_noc_latency = 0;"
    );
    ReferenceNetwork { keys, file: None, ports, next, rule }
}

/// A tree of routers with two endpoints each, and random latencies in both directions.
fn tree(routers: usize, random: &mut FastRandomStream) -> ReferenceNetwork {
    let parents: Vec<usize> =
        (0..routers).map(|r| if r == 0 { 0 } else { random.below(r as u32) as usize }).collect();
    let near =
        |a: usize, b: usize| a != b && (parents[a] == b && a > 0 || parents[b] == a && b > 0);
    let neighbours: Vec<Vec<usize>> =
        (0..routers).map(|r| (0..routers).filter(|&o| near(r, o)).collect()).collect();
    let (mut file, mut ports) = (String::new(), Vec::new());
    for r in 0..routers {
        write!(file, "router {r} node {} node {}", 2 * r, 2 * r + 1).unwrap();
        let ends = [2 * r, 2 * r + 1].map(|e| Port { end: CableEnd::Endpoint(e), out: 1, into: 1 });
        let mut own = ends.to_vec();
        for &o in &neighbours[r] {
            let latency = 1 + random.below(4);
            write!(file, " router {o} {latency}").unwrap();
            let back = 2 + neighbours[o].iter().position(|&n| n == r).unwrap();
            own.push(Port { end: CableEnd::Router(o, back), out: latency.into(), into: 1 });
        }
        file.push('\n');
        ports.push(own);
    }
    let is_over = |r: usize, first: usize, to: usize| {
        let (mut seen, mut open) = (vec![false; routers], vec![first]);
        seen[r] = true;
        while let Some(at) = open.pop() {
            seen[at] = true;
            open.extend(neighbours[at].iter().filter(|&&n| !seen[n]));
        }
        seen[to] && to != r
    };
    let towards = |r: usize, e: usize| {
        let over = neighbours[r].iter().position(|&o| is_over(r, o, e / 2));
        over.map_or(e % 2, |n| 2 + n)
    };
    let next = (0..routers).map(|r| (0..2 * routers).map(|e| towards(r, e)).collect()).collect();
    let keys = "topology = anynet; routing_function = min; network_file = net;".to_owned();
    ReferenceNetwork { keys, file: Some(file), ports, next, rule: VirtualChannelRule::Any }
}

/// A random router.
fn any_keys(rule: VirtualChannelRule, random: &mut FastRandomStream) -> RouterKeys {
    let mut below = |n: usize| random.below(n as u32) as usize;
    let vcs = if rule == VirtualChannelRule::Any { 1 + below(6) } else { 2 + below(5) };
    let kinds = [
        AllocatorKind::Separable,
        AllocatorKind::Separable,
        AllocatorKind::Islip(1),
        AllocatorKind::Islip(2),
        AllocatorKind::Islip(3),
    ];
    let hold_switch_for_packet = below(3) == 0;
    let output_speedup = [1, 1, 1, 1, 2, 3][below(6)];
    let bounded = below(3) == 0 && !(hold_switch_for_packet && output_speedup > 1);
    let (prepare_delay, final_delay) =
        [(0, 1), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3), (2, 3)][below(7)];
    RouterKeys {
        vcs,
        buffer: 1 + below(8) as u32,
        shared_rest: if below(3) == 0 { Some(below(vcs) as u32) } else { None },
        vc_allocator: kinds[below(5)],
        sw_allocator: kinds[below(5)],
        internal_speedup: [1.0, 1.0, 1.25, 1.5, 2.0, 3.0][below(6)],
        input_speedup: 1 + below(vcs.min(3)),
        output_speedup,
        routing_delay: [0, 1, 1, 2, 3][below(5)],
        prepare_delay,
        final_delay,
        credit_delay: below(5) as u64,
        speculative: below(2) == 0,
        spec_check_elig: below(3) > 0,
        spec_check_cred: below(3) > 0,
        hold_switch_for_packet,
        wait_for_tail_credit: below(3) == 0,
        vc_busy_when_full: below(3) == 0,
        vc_prioritize_empty: below(3) == 0,
        vc_shuffle_requests: below(3) == 0,
        output_buffer: bounded.then(|| 1 + below(8)),
        priority: [
            PacketPriorityRule::None,
            PacketPriorityRule::Class,
            PacketPriorityRule::Age,
            PacketPriorityRule::NetworkAge,
        ][below(4)],
        class_priority: (0..=below(3)).map(|_| below(3) as i64).collect(),
        together_by_lane: output_speedup > 1,
    }
}

/// The router's keys as a configuration of BookSim.
fn text(keys: &RouterKeys, network: &ReferenceNetwork) -> String {
    let allocator = |kind: AllocatorKind| match kind {
        AllocatorKind::Separable => "separable_input_first".to_owned(),
        AllocatorKind::Islip(1) => "islip".to_owned(),
        AllocatorKind::Islip(rounds) => format!("islip({rounds})"),
    };
    let priority = match keys.priority {
        PacketPriorityRule::None => "none",
        PacketPriorityRule::Class => "class",
        PacketPriorityRule::Age => "age",
        PacketPriorityRule::NetworkAge => "network_age",
    };
    let of_classes: Vec<String> = keys.class_priority.iter().map(ToString::to_string).collect();
    // the buffer of all channels of a port together; flits left over by the division belong to none
    let shared = keys.shared_rest.map_or(String::new(), |rest| {
        format!("vc_buf_size = 77; buf_size = {};", keys.buffer * keys.vcs as u32 + rest)
    });
    format!(
        "{} num_vcs = {}; vc_buf_size = {}; {shared} vc_allocator = {}; sw_allocator = {};
internal_speedup = {:?}; input_speedup = {}; output_speedup = {}; routing_delay = {};
st_prepare_delay = {}; st_final_delay = {}; credit_delay = {}; speculative = {};
spec_check_elig = {}; spec_check_cred = {}; hold_switch_for_packet = {};
wait_for_tail_credit = {}; vc_busy_when_full = {}; vc_prioritize_empty = {};
vc_shuffle_requests = {}; output_buffer_size = {}; priority = {priority}; classes = {};
class_priority = {{{}}};",
        network.keys,
        keys.vcs,
        keys.buffer,
        allocator(keys.vc_allocator),
        allocator(keys.sw_allocator),
        keys.internal_speedup,
        keys.input_speedup,
        keys.output_speedup,
        keys.routing_delay,
        keys.prepare_delay,
        keys.final_delay,
        keys.credit_delay,
        u8::from(keys.speculative),
        u8::from(keys.spec_check_elig),
        u8::from(keys.spec_check_cred),
        u8::from(keys.hold_switch_for_packet),
        u8::from(keys.wait_for_tail_credit),
        u8::from(keys.vc_busy_when_full),
        u8::from(keys.vc_prioritize_empty),
        u8::from(keys.vc_shuffle_requests),
        keys.output_buffer.map_or(-1, |flits| flits as i64),
        of_classes.len(),
        of_classes.join(","),
    )
}

/// Random packets of every endpoint, in the order of their injection.
fn any_packets(endpoints: u32, classes: u32, random: &mut FastRandomStream) -> Vec<Vec<Packet>> {
    let most = 1 + random.below(6);
    // flits for each cycle and endpoint, in hundredths
    let load = 5 + random.below(60);
    let count = (INJECTION_CYCLES * load / 100 * 2 / (most + 1) / classes).max(1);
    let mut of = |_| {
        let mut own: Vec<Packet> = (0..count)
            .map(|_| {
                (
                    random.below(INJECTION_CYCLES).into(),
                    random.below(endpoints),
                    1 + random.below(most),
                )
            })
            .collect();
        own.sort_by_key(|packet| packet.0);
        own
    };
    (0..endpoints).map(&mut of).collect()
}

/// The result of the fast routers.
fn fast(text: &str, network: &ReferenceNetwork, packets: &[Vec<Packet>]) -> TrafficCounts {
    let config = read(&[SettingsSource::File { name: "a.cfg", text }]).unwrap();
    let of = case(&config, network.file.as_ref().map(|file| ("net", &**file))).unwrap();
    let mut lines = String::new();
    for (source, own) in packets.iter().enumerate() {
        for (injected, to, size) in own {
            writeln!(lines, "{injected} {source} {to} {size}").unwrap();
        }
    }
    // only the endpoints of the network file matter here
    let recipe = parse_inline(&format!("mesh:shape={},p=1", packets.len())).unwrap();
    let named = family(&recipe.family).unwrap().build(&recipe.params).unwrap();
    let listed = TimedPacketLists::parse(&lines, &named).unwrap();
    let times = Some(TimeScaledPackets { packets: &listed, stretch: 1.0 });
    let given = FixedDrawRouting { guide: &*of.guide, wiring: &of.wiring };
    let mut made = engine(FlitEngineInputs {
        wiring: &of.wiring,
        router: &of.router,
        guide: &given,
        classes: &of.classes,
        urgencies: &of.urgencies,
        seed: 1,
        threads: 1,
        always_full: false,
        assignment: Some(RailAssignmentInputs {
            rails: 1,
            rail: RailSelection::Fixed,
            times,
            lengths: None,
        }),
        cycles: 1 << 17,
        age_from_staging: false,
    })
    .unwrap();
    made.count_in(0..u32::MAX, false);
    while made.now() < CYCLES && !(made.now() > INJECTION_CYCLES && made.flits_inside() == 0) {
        made.advance(100);
    }
    made.audit().unwrap();
    made.tally()
}

fn found(tally: &TrafficCounts) -> Vec<ClassResult> {
    let class = |class: &flit::engine::TrafficClassCounts| ClassResult {
        arrived: class.arrived,
        latency: class.latency,
        wait: class.wait,
        hops: class.hops,
        latencies: class.latencies.bins().filter(|(cycles, _)| *cycles < 4096).collect(),
    };
    tally.classes.iter().map(class).collect()
}

/// The outcome of comparing a configuration in both programs.
enum ComparisonOutcome {
    /// Equal in both, with the number of times that BookSim would have stopped; and, where a port
    /// has several outputs, the difference that BookSim's order of simultaneous flits makes.
    Same(u64, Option<f64>),
    /// Packets wait too long in both, as with deadlocks of `valiant` and `ugal`.
    Late,
    Differs(String),
}

/// Compares the `index`-th configuration in both programs.
fn compare(index: u64) -> ComparisonOutcome {
    let mut random = FastRandomStream::new(7, "configurations", index);
    let network = match random.below(10) {
        0 => mesh(3, VirtualChannelRule::Any),
        1 => mesh(4, VirtualChannelRule::Any),
        2 => mesh(3 + random.below(2) as usize, VirtualChannelRule::Escape),
        3 => torus([3, 5][random.below(2) as usize], random.below(2) == 0),
        4 => mesh(4, VirtualChannelRule::XyYx(4)),
        5 => mesh(3, VirtualChannelRule::Valiant(3)),
        7 => dragonfly(1),
        6 => fat_tree(2 + random.below(2) as usize, 2 + random.below(2) as usize),
        _ => tree(3 + random.below(5) as usize, &mut random),
    };
    let mut keys = any_keys(network.rule, &mut random);
    if let VirtualChannelRule::Ugal(_) = network.rule {
        // one channel for each phase, buffers large enough for a difference to matter, and no
        // lookahead at queues
        (keys.vcs, keys.input_speedup) = (3, keys.input_speedup.min(3));
        keys.buffer += 32;
        keys.routing_delay = keys.routing_delay.max(1);
    }
    let endpoints = network.next[0].len() as u32;
    let mut packets = any_packets(endpoints, keys.class_priority.len() as u32, &mut random);
    if let VirtualChannelRule::Ugal(p) = network.rule {
        // most packets go from each group to the next one, over the single link between them
        for (from, own) in packets.iter_mut().enumerate() {
            let next = (from + 2 * p * p) as u32 % endpoints;
            own.iter_mut().filter(|packet| packet.0 % 4 > 0).for_each(|packet| packet.1 = next);
        }
    }
    let route = |place: (usize, usize), flit: &mut Flit, used: &[u32]| {
        network.wants(keys.vcs, place, flit, used)
    };
    let inject = |from: usize, to: u32| network.injects(keys.vcs, from, to);
    let rules: (RoutingFunction<'_>, InjectionChannels<'_>) = (&route, &inject);
    let slow = |keys: &RouterKeys| slow::run(&network.ports, rules, keys, &packets, CYCLES.into());
    let text = text(&keys, &network);
    let fast = found(&fast(&text, &network, &packets));
    let Some((mut expected, stops)) = slow(&keys) else {
        let all = packets.iter().map(Vec::len).sum::<usize>() * keys.class_priority.len();
        if fast.iter().map(|class| class.arrived).sum::<u64>() < all as u64 {
            return ComparisonOutcome::Late;
        }
        return ComparisonOutcome::Differs(format!("case {index}, late in one alone: {text}\n"));
    };
    // longer latencies share bins
    for found in &mut expected {
        found.latencies.retain(|cycles, _| *cycles < 4096);
    }
    let latency = |all: &[ClassResult]| all.iter().map(|found| found.latency).sum::<u64>() as f64;
    if expected != fast {
        let gap = 100.0 * (latency(&fast) / latency(&expected) - 1.0);
        return ComparisonOutcome::Differs(format!("case {index}, {gap:+.2} %: {text}\n"));
    }
    let exact = if keys.together_by_lane {
        slow(&RouterKeys { together_by_lane: false, ..keys.clone() })
    } else {
        None
    };
    ComparisonOutcome::Same(stops, exact.map(|(exact, _)| latency(&fast) / latency(&exact) - 1.0))
}

#[test]
fn campaign_any_router_of_booksim_is_that_of_its_rules() {
    let count = if std::env::var_os("FLYLOOM_CAMPAIGN").is_some() { 20_000 } else { 100 };
    let (mut late, mut stopped, mut wrong, mut gaps) = (0, 0, Vec::new(), Vec::new());
    let all: Vec<ComparisonOutcome> = (0..count).into_par_iter().map(compare).collect();
    for one in all {
        match one {
            ComparisonOutcome::Same(stops, gap) => {
                stopped += usize::from(stops > 0);
                gaps.extend(gap);
            }
            ComparisonOutcome::Late => late += 1,
            ComparisonOutcome::Differs(text) => wrong.push(text),
        }
    }
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let most = gaps.iter().fold(0_f64, |most, gap| most.max(gap.abs()));
    println!("{count} configurations: {late} with packets that wait too long, {stopped} at which");
    println!("BookSim stops; {} with several outputs of a port: {mean:+.4}, {most:.4}", gaps.len());
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.concat());
    assert!(late * 20 < count, "{late} of {count}");
    assert!(mean.abs() < 0.005, "{mean}");
}
