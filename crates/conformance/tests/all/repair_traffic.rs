//! Repairs under traffic: packets that are stored and forwarded while entries change one by one.
//!
//! Every (channel, lane) pair has a buffer for some packets, endpoints send as much as fits, and
//! some channels are slow, so that old packets meet new entries. The test shares nothing with
//! repair and the proofs but the tables and the list of changes.

use base::seed::RandomStream;
use base::{LinkId, QuietWatch, SwitchId, TerminalId};
use engines::ENGINES;
use engines::repair::{RepairedTables, ServiceLevelChange, TableChangeSafety, repair};
use fabric::network::Topology;
use fabric::network::parse_inline;
use fabric::tables::{NO_ROUTE, Routing};
use families::family;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

const NETWORKS: [&str; 10] = [
    "slim_fly:q=4,p=1",
    "slim_fly:q=5,p=2",
    "torus:shape=4x4,p=1",
    "torus:shape=3x3x2,p=1",
    "mesh:shape=4x4,p=1",
    "dragonfly:h=2",
    "fat_tree:levels=3,k=4",
    "jellyfish:n=14,k=4,p=1,seed=2",
    "hyperx:shape=3x3,p=2",
    "torus:shape=6,p=1",
];

/// A layer, and a destination terminal in it.
type Destination = (u32, TerminalId);

/// The number of packets that a terminal prepares before it sends them.
const WRITTEN: usize = 4;

/// The number of rounds of a wait in which buffers forward packets in any order, before the oldest
/// go first.
const ANY_ORDER: u64 = 1000;

/// A packet in a buffer or at its sender.
#[derive(Clone)]
struct QueuedPacket {
    to: Destination,
    level: u8,
    serial: u64,
    /// The port that it looked up when it arrived, if it looks it up only once.
    wants: Option<u16>,
}

/// A network with one buffer per virtual channel, its endpoints and its changing tables.
pub(crate) struct BufferedFabric<'a> {
    /// The network before the failures, and which of its links work.
    on: &'a Topology,
    works: Vec<bool>,
    /// The network that endpoints know: they send to the endpoints that work there.
    known: &'a Topology,
    levels: &'a Routing,
    tables: Vec<u16>,
    lanes: usize,
    /// By `channel * lanes + lane`: the packets in the buffer at the end of the channel.
    buffers: Vec<VecDeque<QueuedPacket>>,
    /// The number of packets that a buffer can hold.
    depth: usize,
    /// By channel: the number of rounds, out of 64, in which a packet may leave its buffer.
    speed: Vec<u64>,
    /// The destinations to which most packets are sent.
    changing: Vec<Destination>,
    /// By terminal: packets that it has prepared, with their service levels, and not sent yet.
    senders: Vec<VecDeque<QueuedPacket>>,
    /// The new service levels of packets from a switch to a destination.
    new_levels: BTreeMap<(Destination, SwitchId), u8>,
    /// The destinations to which nobody sends for now.
    drained: BTreeSet<Destination>,
    draw: RandomStream,
    sent: u64,
    arrived: u64,
}

/// The step of a repair that is omitted, to show that it matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OmittedRepairStep {
    Nothing,
    /// All steps and waits: levels change at once, then entries in their order.
    All,
    /// Entries do not drop packets first.
    Stops,
    /// There is no wait for packets with old service levels.
    WaitForLevels,
    /// Entries change in any order.
    Order,
}

/// The place that a packet goes to next.
enum NextPacketPlace {
    Home,
    Nowhere,
    Buffer(usize),
}

impl<'a> BufferedFabric<'a> {
    pub(crate) fn new(old: &'a Routing, depth: usize, draw: RandomStream) -> Self {
        let on = old.topology();
        let (channels, lanes) = (on.links().len() * 2, usize::from(old.lanes().count()));
        let mut fabric = Self {
            on,
            known: on,
            works: (0..on.links().len()).map(|l| on.link_is_up(LinkId::from(l))).collect(),
            levels: old,
            tables: old.next(),
            lanes,
            buffers: vec![VecDeque::new(); channels * lanes],
            depth,
            speed: vec![64; channels],
            changing: Vec::new(),
            senders: vec![VecDeque::new(); on.terminals().len()],
            new_levels: BTreeMap::new(),
            drained: BTreeSet::new(),
            draw,
            sent: 0,
            arrived: 0,
        };
        for c in 0..channels {
            fabric.speed[c] = [1, 8, 64, 64][fabric.draw.below(4) as usize];
        }
        fabric
    }

    fn entry(&mut self, (layer, t): Destination, switch: SwitchId) -> &mut u16 {
        let row = layer as usize * self.on.terminals().len() + t.ix();
        &mut self.tables[row * self.on.switches().len() + switch.ix()]
    }

    fn next(&mut self, packet: &QueuedPacket, at: SwitchId, input: u16) -> NextPacketPlace {
        let port = match packet.wants {
            Some(port) => port,
            None => *self.entry(packet.to, at),
        };
        if at == self.on.terminals()[packet.to.1.ix()].plug.switch {
            return NextPacketPlace::Home;
        }
        match self.on.hop(at, port) {
            Some((channel, _)) if self.works[channel.link().ix()] => {
                let lane = self.levels.lanes().sl2vl().lane(at, input, port, packet.level);
                NextPacketPlace::Buffer(channel.0 as usize * self.lanes + usize::from(lane))
            }
            _ => NextPacketPlace::Nowhere,
        }
    }

    /// The next place of a packet in a buffer.
    fn next_of(&mut self, buffer: usize, packet: &QueuedPacket) -> NextPacketPlace {
        let head = self.on.head(base::ChannelId::from(buffer / self.lanes));
        self.next(packet, head.switch, head.port)
    }

    /// Puts a packet into the buffer of the next switch. Half of the packets look up their port
    /// there at once, the others when it is their turn.
    fn put(&mut self, buffer: usize, mut packet: QueuedPacket) {
        let head = self.on.head(base::ChannelId::from(buffer / self.lanes)).switch;
        packet.wants = None;
        if self.draw.below(2) == 0 {
            packet.wants = Some(*self.entry(packet.to, head));
        }
        self.buffers[buffer].push_back(packet);
    }

    /// Every buffer may forward its packet, in a different order each time; then endpoints send.
    fn round(&mut self) {
        let count = self.buffers.len();
        let first = self.draw.below(count as u64) as usize;
        // a stride that shares no divisor with the count reaches every buffer
        let shares = |n: &usize| (2..=*n).any(|d| n.is_multiple_of(d) && count.is_multiple_of(d));
        let from = 1 + self.draw.below(16) as usize;
        let stride = (from..from + count).find(|n| !shares(n)).unwrap_or(1);
        (0..count).for_each(|i| self.pass((first + i * stride) % count));
        (0..self.on.terminals().len()).for_each(|t| self.send(TerminalId::from(t)));
    }

    /// Forwards the packet at the head of a buffer, if there is one, its channel is not slow just
    /// now and the next buffer has room.
    fn pass(&mut self, buffer: usize) {
        let Some(packet) = self.buffers[buffer].front().cloned() else { return };
        if self.draw.below(64) >= self.speed[buffer / self.lanes] {
            return;
        }
        match self.next_of(buffer, &packet) {
            NextPacketPlace::Home => {
                self.arrived += 1;
                self.buffers[buffer].pop_front();
            }
            NextPacketPlace::Nowhere => {
                self.buffers[buffer].pop_front();
            }
            NextPacketPlace::Buffer(next) if self.has_room(next) => {
                self.buffers[buffer].pop_front();
                self.put(next, packet);
            }
            NextPacketPlace::Buffer(_) => {}
        }
    }

    /// Forwards the oldest packet first, together with what it waits for. Where packets do not wait
    /// in a cycle, it comes closer to its destination each time. Then the next oldest follows, and
    /// so on.
    fn round_of_oldest(&mut self) {
        let count = self.buffers.len();
        let queues = self.buffers.iter().chain(&self.senders);
        let oldest = |queue: &VecDeque<QueuedPacket>| queue.iter().map(|p| p.serial).min();
        let mut by_age: Vec<_> =
            queues.enumerate().filter_map(|(q, queue)| Some((oldest(queue)?, q))).collect();
        by_age.sort_unstable();
        let mut seen = vec![false; count + self.senders.len()];
        for (_, start) in by_age {
            let (mut at, mut chain) = (Some(start), Vec::new());
            while let Some(queue) = at.filter(|&queue| !seen[queue]) {
                seen[queue] = true;
                chain.push(queue);
                at = self.next_of_queue(queue);
            }
            for queue in chain.into_iter().rev() {
                match queue.checked_sub(count) {
                    None => self.pass(queue),
                    Some(t) => self.send(TerminalId::from(t)),
                }
            }
        }
        let rest = (0..self.senders.len()).filter(|t| !seen[count + t]);
        rest.for_each(|t| self.send(TerminalId::from(t)));
    }

    /// The next buffer of the packet at the head of a buffer or, for numbers after all buffers, of
    /// a sender.
    fn next_of_queue(&mut self, queue: usize) -> Option<usize> {
        let next = match queue.checked_sub(self.buffers.len()) {
            None => {
                let packet = self.buffers[queue].front().cloned()?;
                self.next_of(queue, &packet)
            }
            Some(t) => {
                let packet = self.senders[t].front().cloned()?;
                let plug = self.on.terminals()[t].plug;
                self.next(&packet, plug.switch, plug.port)
            }
        };
        match next {
            NextPacketPlace::Buffer(next) => Some(next),
            NextPacketPlace::Home | NextPacketPlace::Nowhere => None,
        }
    }

    /// A terminal prepares packets, with the service levels that it knows, and sends them one by
    /// one when there is room.
    fn send(&mut self, from: TerminalId) {
        if self.senders[from.ix()].len() < WRITTEN
            && let Some(packet) = self.write(from)
        {
            self.senders[from.ix()].push_back(packet);
        }
        let Some(packet) = self.senders[from.ix()].front().cloned() else { return };
        let plug = self.on.terminals()[from.ix()].plug;
        match self.next(&packet, plug.switch, plug.port) {
            NextPacketPlace::Buffer(first) if !self.has_room(first) => return,
            NextPacketPlace::Buffer(first) => self.put(first, packet),
            NextPacketPlace::Home | NextPacketPlace::Nowhere => {}
        }
        self.senders[from.ix()].pop_front();
    }

    fn write(&mut self, from: TerminalId) -> Option<QueuedPacket> {
        let mut layer = self.draw.below(u64::from(self.levels.layers())) as u32;
        let mut t = TerminalId::from(self.draw.below(self.on.terminals().len() as u64) as usize);
        if self.draw.below(4) > 0 && !self.changing.is_empty() {
            (layer, t) = self.changing[self.draw.below(self.changing.len() as u64) as usize];
        }
        let up = |t: TerminalId| self.known.terminal_is_up(t);
        if t == from || self.on.plane_of(t) != self.on.plane_of(from) || !up(t) || !up(from) {
            return None;
        }
        let (to, source) = ((layer, t), self.on.terminals()[from.ix()].plug.switch);
        if self.drained.contains(&to) {
            return None;
        }
        let usual = || self.levels.service_level(from, layer, t);
        let level = self.new_levels.get(&(to, source)).copied().unwrap_or_else(usual);
        self.sent += 1;
        Some(QueuedPacket { to, level, serial: self.sent, wants: None })
    }

    fn has_room(&self, buffer: usize) -> bool {
        self.buffers[buffer].len() < self.depth
    }

    /// Whether packets wait for one another in a cycle.
    fn is_stuck(&mut self) -> bool {
        let waits: Vec<Option<usize>> = (0..self.buffers.len())
            .map(|b| {
                let packet = self.buffers[b].front().cloned()?;
                match self.next_of(b, &packet) {
                    NextPacketPlace::Buffer(next) => (!self.has_room(next)).then_some(next),
                    NextPacketPlace::Home | NextPacketPlace::Nowhere => None,
                }
            })
            .collect();
        let mut seen = vec![usize::MAX; waits.len()];
        (0..waits.len()).any(|start| {
            let mut at = start;
            while seen[at] == usize::MAX {
                seen[at] = start;
                match waits[at] {
                    Some(next) => at = next,
                    None => return false,
                }
            }
            // the walk has returned to one of its own buffers: a cycle
            seen[at] == start && waits[at].is_some()
        })
    }

    /// Runs `count` rounds. Returns false where packets get stuck.
    fn rounds(&mut self, count: u64) -> bool {
        (0..count).all(|i| {
            self.round();
            i % 8 != 0 || !self.is_stuck()
        })
    }

    /// Runs rounds until all packets prepared before have left. Returns false where packets get
    /// stuck.
    pub(crate) fn wait(&mut self) -> bool {
        self.wait_for(|_| true)
    }

    /// Runs rounds until all packets have left that were prepared before and for whose destination
    /// `of` is true, also those that wait at their senders. At first buffers forward packets in any
    /// order, and then by age: where many flows meet again and again, one packet may wait as long
    /// as the product of their numbers, although it is in no cycle.
    fn wait_for(&mut self, of: impl Fn(Destination) -> bool) -> bool {
        let before = self.sent;
        let stays = |p: &&QueuedPacket| p.serial <= before && of(p.to);
        // all channels are fast here: the wait would be too long where slow channels meet
        let speed = std::mem::replace(&mut self.speed, vec![64; self.works.len() * 2]);
        let (mut oldest, mut since) = (None, 0);
        // a path visits no switch twice, and at each there may be a full buffer before it
        let enough = (self.on.switches().len() + 1) * (self.depth + 1) + WRITTEN;
        for i in 0.. {
            let queues = self.buffers.iter().chain(&self.senders).flatten();
            let Some(serial) = queues.filter(stays).map(|p| p.serial).min() else { break };
            if i < ANY_ORDER / 4 {
                if !self.rounds(4) {
                    return false;
                }
                continue;
            }
            since = if oldest == Some(serial) { since + 1 } else { 0 };
            oldest = Some(serial);
            assert!(since <= enough, "{}", self.still_there(serial));
            self.round_of_oldest();
            if i % 4 == 0 && self.is_stuck() {
                return false;
            }
        }
        self.speed = speed;
        true
    }

    /// Describes the place of a packet that should have left, and the rest of its path.
    fn still_there(&mut self, serial: u64) -> String {
        let queues = self.buffers.iter().chain(&self.senders);
        let queue = queues.enumerate().find(|(_, queue)| queue.iter().any(|p| p.serial == serial));
        let Some((queue, held)) = queue else { return format!("packet {serial} has left") };
        let (place, ahead) = (held.iter().position(|p| p.serial == serial), held.front().cloned());
        let packet = held.iter().find(|p| p.serial == serial).cloned().expect("it is there");
        let mut at = match queue.checked_sub(self.buffers.len()) {
            None => self.on.head(base::ChannelId::from(queue / self.lanes)).switch,
            Some(t) => self.on.terminals()[t].plug.switch,
        };
        let mut path = vec![at];
        while let Some((_, switch)) = self.on.hop(at, *self.entry(packet.to, at)) {
            at = switch;
            path.push(at);
            if path.len() > self.on.switches().len() {
                break;
            }
        }
        format!(
            "packet {serial} to {:?} stays at place {place:?} of queue {queue} behind {:?}; \
             entries lead it along {path:?}",
            packet.to,
            ahead.map(|p| (p.serial, p.to))
        )
    }

    /// Failures remove the packets in dead switches.
    fn fail(&mut self, damaged: &Topology) {
        for l in 0..self.works.len() {
            self.works[l] = damaged.link_is_up(LinkId::from(l));
        }
        for buffer in 0..self.buffers.len() {
            let head = self.on.head(base::ChannelId::from(buffer / self.lanes)).switch;
            if !damaged.switches()[head.ix()].up {
                self.buffers[buffer].clear();
            }
        }
        for t in 0..self.senders.len() {
            if !damaged.terminal_is_up(TerminalId::from(t)) {
                self.senders[t].clear();
            }
        }
    }

    /// Sets the service levels of paths one by one under traffic. Returns false where packets get
    /// stuck.
    fn change_levels(&mut self, levels: &[ServiceLevelChange], pace: u64) -> bool {
        levels.iter().all(|one| {
            self.new_levels.insert((one.to, one.source), one.level.1);
            let rounds = self.draw.below(pace);
            self.rounds(rounds)
        })
    }

    /// Sets entries one by one under traffic. Returns false where packets get stuck.
    fn change(
        &mut self,
        entries: impl Iterator<Item = (Destination, SwitchId, u16)>,
        pace: u64,
    ) -> bool {
        entries.into_iter().all(|(to, switch, port)| {
            *self.entry(to, switch) = port;
            let rounds = self.draw.below(pace);
            self.rounds(rounds)
        })
    }
}

/// Carries out a repair as it says, except for the omitted step. Returns false where packets get
/// stuck.
pub(crate) fn carry_out<'a>(
    fabric: &mut BufferedFabric<'a>,
    done: &'a RepairedTables,
    pace: u64,
    left_out: OmittedRepairStep,
) -> bool {
    let damaged = done.routing.topology();
    let of_levels = done.levels.iter().map(|c| c.to);
    fabric.changing = done.changes.iter().map(|c| c.to).chain(of_levels).collect();
    if !fabric.rounds(100) {
        return false;
    }
    fabric.fail(damaged);
    let mut changes: Vec<_> = done.changes.iter().map(|c| (c.to, c.switch, c.port.1)).collect();
    let drains = matches!(done.safety, TableChangeSafety::Draining(_));
    if done.safety == TableChangeSafety::AnyOrder || drains || left_out == OmittedRepairStep::Order
    {
        fabric.draw.shuffle(&mut changes);
    }
    let carried = ready(fabric, done, pace, left_out)
        && fabric.change_levels(&done.levels, pace)
        && levels_are_old(fabric, done, left_out)
        && fabric.change(changes.into_iter(), pace);
    fabric.levels = &done.routing;
    fabric.new_levels.clear();
    fabric.drained.clear();
    let carried = carried && fabric.rounds(300);
    fabric.known = damaged;
    carried
}

/// Does what must happen before levels and entries change.
fn ready(
    fabric: &mut BufferedFabric<'_>,
    done: &RepairedTables,
    pace: u64,
    left_out: OmittedRepairStep,
) -> bool {
    match done.safety {
        _ if left_out == OmittedRepairStep::All => true,
        TableChangeSafety::AnyOrder | TableChangeSafety::InOrder => true,
        TableChangeSafety::InSteps => {
            let stops = done.stops.iter().map(|&(to, s)| (to, s, NO_ROUTE));
            (left_out == OmittedRepairStep::Stops || fabric.change(stops, pace)) && fabric.wait()
        }
        TableChangeSafety::Draining(_) => {
            fabric.drained = fabric.changing.iter().copied().collect();
            let drained = fabric.drained.clone();
            fabric.wait_for(|to| drained.contains(&to))
        }
        TableChangeSafety::Unknown => unreachable!("not asked for"),
    }
}

/// Waits until packets with old service levels have left.
fn levels_are_old(
    fabric: &mut BufferedFabric<'_>,
    done: &RepairedTables,
    left_out: OmittedRepairStep,
) -> bool {
    match left_out {
        _ if done.levels.is_empty() || done.safety != TableChangeSafety::InSteps => true,
        OmittedRepairStep::All | OmittedRepairStep::WaitForLevels => true,
        OmittedRepairStep::Nothing | OmittedRepairStep::Stops | OmittedRepairStep::Order => {
            fabric.wait()
        }
    }
}

/// The `index`-th of all cases: tables of some engine on some network, and their repair.
fn case(index: u64) -> Option<(String, Routing, RepairedTables, RandomStream)> {
    let mut draw = RandomStream::new(13, "repairs under traffic", index);
    let mut any = |n: usize| draw.below(n as u64) as usize;
    let inline = NETWORKS[any(NETWORKS.len())];
    let recipe = parse_inline(inline).expect("an inline form");
    let on = family(&recipe.family).expect("a family").build(&recipe.params).expect("a member");
    let on = Arc::new(on);
    let entry = &ENGINES[any(ENGINES.len())];
    let examples = entry.examples();
    let options = &examples[any(examples.len())];
    let old = entry.route(options, &on, 1 + any(2) as u32, &QuietWatch).ok()?;
    let links: Vec<_> = (0..=any(3)).map(|_| LinkId::from(any(on.links().len()))).collect();
    let switch = any(on.switches().len() * 4);
    let switches: Vec<_> =
        (switch < on.switches().len()).then(|| SwitchId::from(switch)).into_iter().collect();
    let damaged = Arc::new(on.with_failures(&links, &switches).expect("known ids"));
    let done = repair(&old, &damaged, &QuietWatch).ok()?;
    let name = format!("{inline} {} {options:?} {links:?} {switches:?}", entry.part.name);
    (done.safety != TableChangeSafety::Unknown).then_some((name, old, done, draw))
}

#[test]
fn campaign_packets_never_get_stuck_where_repair_is_safe() {
    let campaign = std::env::var_os("FLYLOOM_CAMPAIGN").is_some();
    let packets = if campaign { 100_000_000 } else { 500_000 };
    let (mut arrived, mut index, mut stuck) = (0, 0, 0);
    let mut outcomes = [0_u32; 4];
    while arrived < packets {
        let Some((name, old, done, mut draw)) = case(index) else {
            index += 1;
            continue;
        };
        let pace = 1 + draw.below(30);
        let traffic = RandomStream::new(14, "traffic", index);
        let mut fabric = BufferedFabric::new(&old, 1, traffic);
        let safe = carry_out(&mut fabric, &done, pace, OmittedRepairStep::Nothing);
        assert!(safe, "case {index}, {name}: stuck, {:?}", done.safety);
        arrived += fabric.arrived;
        outcomes[match done.safety {
            TableChangeSafety::AnyOrder => 0,
            TableChangeSafety::InOrder => 1,
            TableChangeSafety::InSteps => 2,
            TableChangeSafety::Draining(_) | TableChangeSafety::Unknown => 3,
        }] += 1;
        if matches!(done.safety, TableChangeSafety::InSteps | TableChangeSafety::Draining(_)) {
            let mut careless =
                BufferedFabric::new(&old, 1, RandomStream::new(14, "traffic", index));
            stuck += u32::from(!carry_out(&mut careless, &done, pace, OmittedRepairStep::All));
        }
        index += 1;
    }
    println!("any order, in order, in steps, drained: {outcomes:?}; {arrived} packets arrived;");
    println!("{stuck} of those in steps or drained got stuck where they were not");
    assert!(stuck > 0, "it sees no deadlock where there must be some");
}

#[test]
#[should_panic(expected = "entries lead it along")]
fn a_packet_that_never_arrives_ends_the_wait() {
    let recipe = parse_inline("torus:shape=6,p=1").expect("an inline form");
    let on = family(&recipe.family).expect("a family").build(&recipe.params).expect("a member");
    let entry = ENGINES.iter().find(|entry| entry.part.name == "up_down").expect("an engine");
    let routing = entry.route(&entry.examples()[0], &Arc::new(on), 1, &QuietWatch).expect("tables");
    let on = routing.topology();
    let mut fabric = BufferedFabric::new(&routing, 2, RandomStream::new(19, "a loop", 0));
    // no endpoint sends, and two switches forward packets for a third switch to each other
    fabric.drained = (0..on.terminals().len()).map(|t| (0, TerminalId::from(t))).collect();
    let home = on.terminals()[0].plug.switch;
    let link = on.links().iter().find(|link| link.a.switch != home && link.b.switch != home);
    let ends = link.map(|link| [link.a, link.b]).expect("six switches");
    let to = (0, TerminalId::from(0_usize));
    for end in ends {
        *fabric.entry(to, end.switch) = end.port;
    }
    let (channel, _) = on.hop(ends[0].switch, ends[0].port).expect("a channel");
    fabric.sent = 1;
    let packet = QueuedPacket { to, level: 0, serial: 1, wants: None };
    let lanes = fabric.lanes;
    fabric.put(channel.0 as usize * lanes, packet);
    fabric.wait();
}
