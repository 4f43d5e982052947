//! A slow, simple network of BookSim's routers and endpoints, written from its rules alone, to
//! compare the fast one with.
//!
//! In a cycle, endpoints and routers read their channels, endpoints make packets and send a flit,
//! flits that have arrived are credited, routers take their steps, and what leaves them is sent.

pub(crate) mod allocator;
mod router;

use allocator::AllocatorKind;
use router::{DownstreamBuffers, Router};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// The rule by which packets get priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PacketPriorityRule {
    None,
    Class,
    Age,
    NetworkAge,
}

/// The keys of a configuration that reach routers and endpoints, each by its name.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the file, by its name")]
pub(crate) struct RouterKeys {
    pub(crate) vcs: usize,
    /// Flits of a virtual channel's buffer.
    pub(crate) buffer: u32,
    /// The part of `buf_size` beyond the buffers of all channels, where it is set.
    pub(crate) shared_rest: Option<u32>,
    pub(crate) vc_allocator: AllocatorKind,
    pub(crate) sw_allocator: AllocatorKind,
    pub(crate) internal_speedup: f64,
    pub(crate) input_speedup: usize,
    pub(crate) output_speedup: usize,
    pub(crate) routing_delay: u64,
    pub(crate) prepare_delay: u64,
    pub(crate) final_delay: u64,
    pub(crate) credit_delay: u64,
    pub(crate) speculative: bool,
    pub(crate) spec_check_elig: bool,
    pub(crate) spec_check_cred: bool,
    pub(crate) hold_switch_for_packet: bool,
    pub(crate) wait_for_tail_credit: bool,
    pub(crate) vc_busy_when_full: bool,
    pub(crate) vc_prioritize_empty: bool,
    pub(crate) vc_shuffle_requests: bool,
    pub(crate) output_buffer: Option<usize>,
    pub(crate) priority: PacketPriorityRule,
    /// The priority of each class.
    pub(crate) class_priority: Vec<i64>,
    /// Whether flits that come to one output in the same step, which several outputs of a port
    /// allow, are ordered by their inputs instead of BookSim's lists; this is not a key of BookSim.
    pub(crate) together_by_lane: bool,
}

impl RouterKeys {
    fn has_priorities(&self) -> bool {
        self.priority != PacketPriorityRule::None
    }

    fn crossbar_input(&self, (input, vc): (usize, usize)) -> usize {
        input * self.input_speedup + vc % self.input_speedup
    }

    fn crossbar_output(&self, input: usize, port: usize) -> usize {
        port * self.output_speedup + input % self.output_speedup
    }
}

/// A flit.
#[derive(Debug, Clone)]
pub(crate) struct Flit {
    class: usize,
    pub(crate) to: u32,
    injected: u64,
    head: bool,
    tail: bool,
    pub(crate) vc: usize,
    hops: u64,
    rank: i64,
    /// The note of the routing function.
    pub(crate) note: u32,
}

/// An output that a packet asks for: a port, virtual channels of it, and the packet's rank.
pub(crate) type RouteRequest = (usize, Range<usize>, i64);

/// The routing function: it gets router, input port, head flit, and the flits in the buffers behind
/// each output.
pub(crate) type RoutingFunction<'a> =
    &'a dyn Fn((usize, usize), &mut Flit, &[u32]) -> Vec<RouteRequest>;

/// The virtual channels on which an endpoint may send a packet to another one.
pub(crate) type InjectionChannels<'a> = &'a dyn Fn(usize, u32) -> Range<usize>;

/// The far end of a port's cable.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CableEnd {
    Router(usize, usize),
    Endpoint(usize),
    Nothing,
}

/// A port: its end, and the latencies of the channel that leaves by it and, from an endpoint, of
/// the one that comes in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Port {
    pub(crate) end: CableEnd,
    pub(crate) out: u64,
    pub(crate) into: u64,
}

/// A packet: its cycle of injection, its destination, its flits. All classes of an endpoint send
/// the same packets.
pub(crate) type Packet = (u64, u32, u32);

/// The results of a class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClassResult {
    pub(crate) arrived: u64,
    pub(crate) latency: u64,
    /// Cycles from injection to entering the network.
    pub(crate) wait: u64,
    pub(crate) hops: u64,
    /// The number of packets for each latency.
    pub(crate) latencies: BTreeMap<u64, u64>,
}

/// An endpoint.
struct ReferenceEndpoint {
    router: usize,
    port: usize,
    /// For each class: the packets to come, and the flits of the current packet.
    packets: Vec<VecDeque<Packet>>,
    made: Vec<VecDeque<Flit>>,
    /// For each class: the virtual channel of the current packet, and of the last one that was
    /// sent.
    vc: Vec<Option<usize>>,
    /// For each class: the virtual channels that the current packet may take.
    may: Vec<Range<usize>>,
    last_vc: Vec<Option<usize>>,
    last_class: usize,
    ahead: DownstreamBuffers,
    /// The number of times that BookSim would have ended with an error, because another class has
    /// taken the virtual channel that a packet had found.
    stops: u64,
}

/// An event of the network: something that arrives after a delay.
enum NetworkEvent {
    Flit(usize, usize, Flit),
    Credit(usize, usize, BTreeSet<usize>),
    Home(Flit, usize),
    Room(usize, BTreeSet<usize>),
}

/// Runs until all packets have arrived; returns the number of times that BookSim would have stopped
/// because two packets took one virtual channel; none where packets have not arrived by `cycles`.
pub(crate) fn run(
    ports: &[Vec<Port>],
    (route, inject): (RoutingFunction<'_>, InjectionChannels<'_>),
    keys: &RouterKeys,
    packets: &[Vec<Packet>],
    cycles: u64,
) -> Option<(Vec<ClassResult>, u64)> {
    let mut routers: Vec<Router> = ports.iter().map(|p| Router::new(p.len(), keys)).collect();
    let mut nodes = nodes(ports, keys, packets);
    let classes = keys.class_priority.len();
    let all = (packets.iter().map(Vec::len).sum::<usize>() * classes) as u64;
    let mut found = vec![ClassResult::default(); classes];
    let mut events: BTreeMap<u64, Vec<NetworkEvent>> = BTreeMap::new();
    for now in 0..cycles {
        let mut home = Vec::new();
        for event in events.remove(&now).unwrap_or_default() {
            match event {
                NetworkEvent::Flit(router, input, flit) => {
                    routers[router].comes.insert(input, flit);
                }
                NetworkEvent::Credit(router, output, vcs) => {
                    routers[router].credited.push_back((now + keys.credit_delay, output, vcs));
                }
                NetworkEvent::Room(node, vcs) => nodes[node].ahead.credit(&vcs, keys),
                NetworkEvent::Home(flit, node) => home.push((flit, node)),
            }
        }
        for (e, node) in nodes.iter_mut().enumerate() {
            node.make(now, keys, &|to| inject(e, to));
            if let Some(flit) = node.send(now, keys, &mut found) {
                let after = now + 1 + ports[node.router][node.port].into;
                events.entry(after).or_default().push(NetworkEvent::Flit(
                    node.router,
                    node.port,
                    flit,
                ));
            }
        }
        for (flit, node) in home {
            let (router, port) = (nodes[node].router, nodes[node].port);
            let credit = NetworkEvent::Credit(router, port, BTreeSet::from([flit.vc]));
            events.entry(now + 1 + ports[router][port].out).or_default().push(credit);
            if flit.tail {
                let class = &mut found[flit.class];
                class.arrived += 1;
                class.latency += now - flit.injected;
                class.hops += flit.hops;
                *class.latencies.entry(now - flit.injected).or_default() += 1;
            }
        }
        for (r, router) in routers.iter_mut().enumerate() {
            router.cycle(now, keys, &|input, flit, used| route((r, input), flit, used));
            leave(ports, (r, router), now, &mut events);
        }
        if found.iter().map(|class| class.arrived).sum::<u64>() == all {
            return Some((found, nodes.iter().map(|node| node.stops).sum()));
        }
    }
    None
}

/// Schedules everything that leaves a router at the end of a cycle for its arrival.
fn leave(
    ports: &[Vec<Port>],
    (r, router): (usize, &mut Router),
    now: u64,
    events: &mut BTreeMap<u64, Vec<NetworkEvent>>,
) {
    let (flits, credits) = router.leaves();
    for (port, flit) in flits {
        let Port { end, out, .. } = ports[r][port];
        let event = match end {
            CableEnd::Router(to, input) => NetworkEvent::Flit(to, input, flit),
            CableEnd::Endpoint(node) => NetworkEvent::Home(flit, node),
            CableEnd::Nothing => unreachable!("no packet goes there"),
        };
        events.entry(now + 1 + out).or_default().push(event);
    }
    for (port, vcs) in credits {
        let (event, latency) = match ports[r][port].end {
            CableEnd::Router(to, output) => {
                (NetworkEvent::Credit(to, output, vcs), ports[to][output].out)
            }
            CableEnd::Endpoint(node) => (NetworkEvent::Room(node, vcs), ports[r][port].into),
            CableEnd::Nothing => unreachable!("no packet came from there"),
        };
        events.entry(now + 1 + latency).or_default().push(event);
    }
}

fn nodes(
    ports: &[Vec<Port>],
    keys: &RouterKeys,
    packets: &[Vec<Packet>],
) -> Vec<ReferenceEndpoint> {
    let classes = keys.class_priority.len();
    let mut nodes: Vec<Option<ReferenceEndpoint>> = packets.iter().map(|_| None).collect();
    for (router, of) in ports.iter().enumerate() {
        for (port, p) in of.iter().enumerate() {
            if let CableEnd::Endpoint(e) = p.end {
                nodes[e] = Some(ReferenceEndpoint {
                    router,
                    port,
                    packets: vec![packets[e].iter().copied().collect(); classes],
                    made: vec![VecDeque::new(); classes],
                    vc: vec![None; classes],
                    may: vec![0..keys.vcs; classes],
                    last_vc: vec![None; classes],
                    last_class: 0,
                    ahead: DownstreamBuffers::new(keys),
                    stops: 0,
                });
            }
        }
    }
    nodes.into_iter().map(Option::unwrap).collect()
}

impl ReferenceEndpoint {
    /// Makes the next packet of each class that has none, if one is due.
    fn make(&mut self, now: u64, keys: &RouterKeys, inject: &dyn Fn(u32) -> Range<usize>) {
        for (class, made) in self.made.iter_mut().enumerate() {
            let due = self.packets[class].front().is_some_and(|packet| packet.0 <= now);
            if !made.is_empty() || !due {
                continue;
            }
            let (injected, to, size) = self.packets[class].pop_front().unwrap();
            let rank = match keys.priority {
                PacketPriorityRule::None | PacketPriorityRule::NetworkAge => 0,
                PacketPriorityRule::Class => keys.class_priority[class],
                PacketPriorityRule::Age => i64::from(i32::MAX) - injected as i64,
            };
            self.vc[class] = None;
            self.may[class] = inject(to);
            made.extend((0..size).map(|i| {
                let (head, tail) = (i == 0, i + 1 == size);
                Flit { class, to, injected, head, tail, vc: 0, hops: 0, rank, note: 0 }
            }));
        }
    }

    /// The class that sends next, if one can.
    fn choose(&mut self, keys: &RouterKeys) -> Option<usize> {
        let (classes, last) = (self.made.len(), self.last_class);
        let mut best: Option<(usize, i64)> = None;
        let mut others = classes;
        let goes_on = |flit: &&Flit| keys.hold_switch_for_packet && !flit.head;
        if let (Some(flit), Some(vc)) = (self.made[last].front().filter(goes_on), self.vc[last])
            && !self.ahead.is_full(vc, keys)
        {
            best = Some((last, flit.rank));
            others -= 1;
        }
        for class in (1..=others).map(|i| (last + i) % classes) {
            let Some(flit) = self.made[class].front() else { continue };
            let (head, rank) = (flit.head, flit.rank);
            if best.is_some_and(|(_, other)| other >= rank) {
                continue;
            }
            if head && self.vc[class].is_none() {
                self.vc[class] = self.free_vc(class, keys);
            }
            if self.vc[class].is_some_and(|vc| !self.ahead.is_full(vc, keys)) {
                best = Some((class, rank));
            }
        }
        let (class, _) = best?;
        let is_taken = self.vc[class].is_some_and(|vc| self.ahead.used[vc]);
        if self.made[class].front().is_some_and(|flit| flit.head) && is_taken {
            // a packet of another class has taken the channel that this one had found, and is still
            // in it: BookSim would stop
            (self.vc[class], self.stops) = (None, self.stops + 1);
            return self.choose(keys);
        }
        Some(class)
    }

    /// The next virtual channel after the last one of a class that is free and has credit.
    fn free_vc(&self, class: usize, keys: &RouterKeys) -> Option<usize> {
        let good = |vc: &usize| !self.ahead.used[*vc] && !self.ahead.is_full(*vc, keys);
        let Range { start, end } = self.may[class];
        match self.last_vc[class].filter(|last| self.may[class].contains(last)) {
            Some(last) => {
                (1..=end - start).map(|i| start + (last - start + i) % (end - start)).find(good)
            }
            None => Some(start).filter(good),
        }
    }

    /// The flit that leaves in this cycle, if one does.
    fn send(&mut self, now: u64, keys: &RouterKeys, found: &mut [ClassResult]) -> Option<Flit> {
        let class = self.choose(keys)?;
        let mut flit = self.made[class].pop_front().unwrap();
        flit.vc = self.vc[class].unwrap();
        if flit.head {
            self.ahead.take(flit.vc);
            self.last_vc[class] = Some(flit.vc);
            found[class].wait += now - flit.injected;
        }
        self.last_class = class;
        self.ahead.send(&flit, keys);
        if keys.priority == PacketPriorityRule::NetworkAge {
            flit.rank = i64::from(i32::MAX) - now as i64;
        }
        Some(flit)
    }
}
