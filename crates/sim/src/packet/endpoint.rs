//! Endpoints: an interface cuts messages into packets, a queue a rail sends them, and what arrives
//! is counted.

use super::event::{Happens, NONE, Packet, Sender};
use super::model::{Change, Drive, Model, Runs};
use super::node::{List, Node};
use super::plant::Class;
use super::replay::{self, Plays};
use super::tally::Arrival;
use super::timing::Passing;
use base::exp::ln;
use base::seed::Fast;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traffic::destinations::Destinations;

/// The interface of an endpoint: what it has to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nic {
    /// Messages that wait.
    messages: List,
    /// The message that is cut, as its next packet but for its length.
    current: Packet,
    /// Bytes of it that are left.
    left: u32,
    /// When the next packet may be scheduled, ps.
    free_ps: u64,
    /// Whether an event will schedule one.
    is_scheduled: bool,
    /// Whether it waits for room in the queue of a rail.
    is_blocked: bool,
    /// The rail of its last packet.
    rail: u8,
    /// Messages that were born.
    born: u32,
}

/// What an endpoint has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// Chunks.
    pub chunks: u64,
    /// Bytes.
    pub bytes: u64,
    /// Sum of their latencies, ps.
    pub latency_ps: u64,
    /// When the last one came, ps.
    pub last_ps: u64,
}

/// An endpoint: a port a rail, each of one lane, whose queue is [`super::node::Lane::queued`].
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub(super) node: Node,
    pub(super) nic: Nic,
    /// What it has received.
    pub seen: Seen,
    /// When the youngest packet of each sender that came began, ps, by sender; where packets that
    /// were overtaken are counted.
    heard: Vec<(u32, u64)>,
    /// What its processes do, where there are some.
    pub(super) plays: Option<Box<Plays>>,
}

/// When messages are born.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Births {
    /// With exponential times between them.
    Exponential,
    /// All the same time apart, at all endpoints at once.
    Synchronised,
    /// All the same time apart, the first of an endpoint at any time before that.
    Jittered,
}

impl Births {
    /// Time until the first message of an endpoint, ps.
    pub(super) fn first_ps(self, interval_ps: f64, dice: &mut Fast) -> u64 {
        match self {
            Self::Exponential => self.next_ps(interval_ps, dice),
            Self::Synchronised => 0,
            Self::Jittered => (uniform(dice) * interval_ps) as u64,
        }
    }

    /// Time until the next one, ps.
    pub(super) fn next_ps(self, interval_ps: f64, dice: &mut Fast) -> u64 {
        match self {
            Self::Exponential => (-ln(uniform(dice)) * interval_ps).round() as u64,
            Self::Synchronised | Self::Jittered => interval_ps.round() as u64,
        }
    }
}

/// A number in (0, 1]: its logarithm is finite.
fn uniform(dice: &mut Fast) -> f64 {
    ((dice.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// What endpoints send of their own, whatever arrives.
#[derive(Debug, Clone)]
pub struct Open {
    /// Who sends to whom.
    pub to: Destinations,
    /// Messages of an endpoint; none where they end with the run.
    pub messages: Option<u32>,
    /// Length of a message.
    pub bytes: u32,
    /// Mean time between two messages of an endpoint, ps.
    pub interval_ps: f64,
    /// When they come.
    pub births: Births,
}

/// How a packet gets its rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rails {
    /// Any, then one with fewer chunks under way.
    #[default]
    Congestion,
    /// The one with the shorter way; of equal ones as above.
    Path,
    /// That of the endpoint's injection queue: always the same.
    Dedicated,
    /// Any, all as likely.
    Random,
    /// In turn.
    Striped,
}

impl Endpoint {
    /// One with so many rails.
    pub(super) fn new(rails: u32, dice: Fast) -> Self {
        let current = Packet {
            began_ps: 0,
            word: NONE.into(),
            tail_ps: 0,
            from: NONE,
            to: NONE,
            bytes: 0,
            message: NONE,
            hops: 0,
            rail: 0,
            is_detour: false,
            is_last: false,
        };
        let nic = Nic {
            messages: List::EMPTY,
            current,
            left: 0,
            free_ps: 0,
            is_scheduled: false,
            is_blocked: false,
            rail: 0,
            born: 0,
        };
        let node = Node::new(rails as usize, 1, dice);
        Self { node, nic, seen: Seen::default(), heard: Vec::new(), plays: None }
    }

    /// The event that schedules a packet has come.
    pub(super) fn schedule_comes(&mut self) {
        self.nic.is_scheduled = false;
    }

    fn nic(&mut self, to: &mut impl Runs) -> &mut Nic {
        to.note(|| Change::Nic(self.nic));
        &mut self.nic
    }

    /// Takes a change back.
    pub(super) fn undo(&mut self, change: Change) {
        match change {
            Change::Nic(was) => self.nic = was,
            Change::Seen(was) => self.seen = was,
            Change::Heard(at, Some(was)) => self.heard[at as usize].1 = was,
            Change::Heard(at, None) => _ = self.heard.remove(at as usize),
            Change::Played(was) => {
                if let Some(plays) = &mut self.plays {
                    plays.undo(was);
                }
            }
            _ => self.node.undo(change),
        }
    }
}

impl Endpoint {
    /// Whether a packet comes behind one that its sender sent after it. O(log(senders)), of a new
    /// sender O(senders).
    pub(super) fn is_late(&mut self, packet: &Packet, to: &mut impl Runs) -> bool {
        match self.heard.binary_search_by_key(&packet.from, |heard| heard.0) {
            Ok(at) => {
                let youngest_ps = self.heard[at].1;
                if packet.began_ps > youngest_ps {
                    to.note(|| Change::Heard(at as u32, Some(youngest_ps)));
                    self.heard[at].1 = packet.began_ps;
                }
                packet.began_ps < youngest_ps
            }
            Err(at) => {
                to.note(|| Change::Heard(at as u32, None));
                self.heard.insert(at, (packet.from, packet.began_ps));
                false
            }
        }
    }
}

impl Nic {
    /// A packet of which nothing is known yet.
    pub(super) fn plain(&self) -> Packet {
        self.current
    }
}

impl Model {
    /// The first message of an endpoint is due.
    pub(super) fn opens(&self, open: &Open, it: &mut Endpoint, to: &mut impl Runs) {
        if !open.to.is_active(to.me() - self.plant.routers) {
            return;
        }
        let dice = &mut it.node.dice;
        let delay_ps = match open.births {
            Births::Jittered => open.births.first_ps(open.interval_ps, dice),
            births => births.next_ps(open.interval_ps, dice),
        };
        to.send(to.me(), delay_ps.max(1), Happens::Born);
    }

    /// The next message of an endpoint is born.
    pub(super) fn born(&self, it: &mut Endpoint, to: &mut impl Runs) {
        let open = match &self.drive {
            Drive::Open(open) => open,
            Drive::Replay(replay) => return self.background_born(replay, it, to),
        };
        let me = to.me() - self.plant.routers;
        let other = open.to.draw(me, it.node.dice(to));
        let message = it.nic.born;
        it.nic(to).born += 1;
        if open.messages.is_none_or(|quota| message + 1 < quota) {
            let delay_ps = open.births.next_ps(open.interval_ps, it.node.dice(to)).max(1);
            to.send(to.me(), delay_ps, Happens::Born);
        }
        if other == me {
            return;
        }
        let packet = Packet { from: me, to: other, message, bytes: open.bytes, ..it.nic.plain() };
        self.enqueues(it, packet, to);
    }

    /// A message, as a packet of its length, waits to be cut.
    pub(super) fn enqueues(&self, it: &mut Endpoint, packet: Packet, to: &mut impl Runs) {
        let sender = Sender { lp: to.me(), port: 0, lane: 0 };
        let messages = it.node.append(it.nic.messages, packet, sender, to);
        it.nic(to).messages = messages;
        self.schedules(it, to);
    }

    /// An interface schedules its next packet, now or when it may.
    pub(super) fn schedules(&self, it: &mut Endpoint, to: &mut impl Runs) {
        let now = to.now_ps();
        let nic = it.nic;
        if nic.is_scheduled || nic.is_blocked || (nic.left == 0 && nic.messages.is_empty()) {
            return;
        }
        if now < nic.free_ps {
            it.nic(to).is_scheduled = true;
            to.send(to.me(), nic.free_ps - now, Happens::Schedules);
            return;
        }
        if it.node.ports[usize::from(nic.rail)].queued >= self.endpoint_room() {
            it.nic(to).is_blocked = true;
            return;
        }
        if nic.left == 0 {
            let (messages, first) = it.node.remove(nic.messages, to);
            let nic = it.nic(to);
            nic.messages = messages;
            nic.current = first.packet;
            nic.left = first.packet.bytes;
        }
        let bytes = it.nic.left.min(self.plant.chunk_bytes);
        let delay_ps = it.node.drawn_ps(self.timing.nic, to);
        let each_ps = self.plant.chunk_ps(Class::Endpoint, bytes) / u64::from(self.timing.at_once);
        // CODES counts from the queue of the endpoint on
        let pause_ps = delay_ps + it.node.drawn_ps(self.timing.jitter, to);
        let nic = it.nic(to);
        nic.left -= bytes;
        nic.free_ps = now + each_ps + pause_ps;
        nic.is_scheduled = nic.left > 0 || !nic.messages.is_empty();
        let packet = Packet { began_ps: now, bytes, is_last: nic.left == 0, ..nic.current };
        if nic.is_scheduled {
            to.send(to.me(), it.nic.free_ps - now, Happens::Schedules);
        }
        to.send(to.me(), delay_ps, Happens::Queues(packet));
    }

    /// A packet reaches the queue of its endpoint, and gets its rail.
    pub(super) fn queues(&self, it: &mut Endpoint, mut packet: Packet, to: &mut impl Runs) {
        packet.rail = self.rail(it, &packet, to);
        if it.nic.rail != packet.rail {
            it.nic(to).rail = packet.rail;
        }
        let (port, at) = (u16::from(packet.rail), usize::from(packet.rail));
        let lane = self.route.enters(&self.plant, &mut packet, &mut it.node, to);
        let sender = Sender { lp: to.me(), port, lane };
        let queued = it.node.append(it.node.lanes[at].queued, packet, sender, to);
        it.node.lane(at, to).queued = queued;
        it.node.port(port, to).queued += 1;
        self.endpoint_wakes(it, port, to);
    }

    fn rail(&self, it: &mut Endpoint, packet: &Packet, to: &mut impl Runs) -> u8 {
        let rails = self.plant.rails;
        if rails == 1 {
            return 0;
        }
        let own = self.injection_queue(packet.from);
        if self.rails == Rails::Path {
            let length = |rail: u32| {
                let ends = [packet.from, packet.to].map(|e| self.plant.at(e, rail as u8).router);
                self.route.length(&self.plant, ends[0], ends[1])
            };
            let shortest = (0..rails).map(length).min();
            let mut best = (0..rails).filter(|&rail| Some(length(rail)) == shortest);
            if let (Some(rail), None) = (best.next(), best.next()) {
                return rail as u8;
            }
        }
        match self.rails {
            Rails::Dedicated => return own as u8,
            Rails::Random => return it.node.dice(to).below(rails) as u8,
            Rails::Striped => return ((u32::from(it.nic.rail) + 1) % rails) as u8,
            Rails::Congestion | Rails::Path => {}
        }
        let mut best = it.node.dice(to).below(rails);
        for rail in (0..rails).map(|step| (own + step) % rails) {
            if it.node.lanes[rail as usize].chunks < it.node.lanes[best as usize].chunks {
                best = rail;
            }
        }
        best as u8
    }

    /// The injection queue of an endpoint's interface: one of as many as it has rails.
    fn injection_queue(&self, endpoint: u32) -> u32 {
        let each = (self.concentration / self.plant.rails).max(1);
        endpoint % self.concentration.max(1) / each % self.plant.rails
    }

    fn endpoint_wakes(&self, it: &mut Endpoint, port: u16, to: &mut impl Runs) {
        if self.wakes(&mut it.node, port, to) {
            self.endpoint_sends(it, port, to);
        }
    }

    /// A rail of an endpoint may send.
    pub(super) fn endpoint_sends(&self, it: &mut Endpoint, port: u16, to: &mut impl Runs) {
        let at = usize::from(port);
        let lane = it.node.lanes[at];
        let room = self.endpoint_room();
        if lane.queued.is_empty() || lane.chunks >= room {
            it.node.port(port, to).is_awake = false;
            return;
        }
        let (queued, waiting) = it.node.remove(lane.queued, to);
        let lane = it.node.lane(at, to);
        lane.queued = queued;
        lane.chunks += 1;
        let may_send = !queued.is_empty() && lane.chunks < room;
        let mut packet = waiting.packet;
        let now = to.now_ps();
        if self.timing.begins_late {
            packet.began_ps = now;
        }
        let time_ps = self.plant.chunk_ps(Class::Endpoint, packet.bytes);
        let jitter_ps = it.node.drawn_ps(self.timing.jitter, to);
        let own = it.node.port(port, to);
        let start_ps = own.free_ps.max(now);
        let free_ps = start_ps + time_ps + jitter_ps;
        own.free_ps = free_ps;
        own.busy_ps += time_ps;
        own.bytes += u64::from(packet.bytes);
        own.queued -= 1;
        own.is_awake = may_send;
        if may_send {
            to.send(to.me(), free_ps - now, Happens::Sends { port });
        }
        let at = self.plant.at(packet.from, packet.rail);
        let latency_ps = self.plant.latency_ps(waiting.sender);
        let arrives_ps = match self.timing.passing {
            Passing::Whole => free_ps,
            Passing::Twice => free_ps + self.plant.of(Class::Endpoint).chunk_ps,
            Passing::Head => {
                packet.tail_ps = (free_ps - start_ps) as u32;
                start_ps
            }
        };
        let delay_ps = arrives_ps + latency_ps - now;
        to.send(at.router, delay_ps, Happens::Arrives(packet, waiting.sender));
        if packet.is_last
            && let (Drive::Replay(_), Some(op)) = (&self.drive, replay::sends(packet.message))
        {
            let left_ps = if self.timing.is_sent_early {
                it.node.drawn_ps(self.timing.nic, to)
            } else {
                free_ps - now
            };
            to.send(to.me(), left_ps, Happens::Ends(op));
        }
        if it.nic.is_blocked && u16::from(it.nic.rail) == port {
            let nic = it.nic(to);
            nic.is_blocked = false;
            if self.timing.is_sent_early {
                // CODES goes on when what is sent now has left
                nic.free_ps = nic.free_ps.max(free_ps);
            }
            self.schedules(it, to);
        }
    }

    /// A credit comes for a rail of an endpoint.
    pub(super) fn endpoint_credit(&self, it: &mut Endpoint, port: u16, to: &mut impl Runs) {
        let at = usize::from(port);
        it.node.lane(at, to).chunks -= 1;
        if !it.node.lanes[at].queued.is_empty() {
            self.endpoint_wakes(it, port, to);
        }
    }

    /// A chunk arrives where it is for.
    pub(super) fn at_endpoint(
        &self,
        it: &mut Endpoint,
        packet: Packet,
        sender: Sender,
        to: &mut impl Runs,
    ) {
        self.credit(&mut it.node, sender, 0, to);
        let now = to.now_ps();
        let latency_ps = now - packet.began_ps;
        to.note(|| Change::Seen(it.seen));
        it.seen.chunks += 1;
        it.seen.bytes += u64::from(packet.bytes);
        it.seen.latency_ps += latency_ps;
        it.seen.last_ps = now;
        let job = match &self.drive {
            Drive::Open(_) => 0,
            Drive::Replay(replay) => replay.job_at(it.plays.as_deref(), packet.message),
        };
        let is_late = self.overtaken && it.is_late(&packet, to);
        let Packet { bytes, hops, is_detour, is_last, .. } = packet;
        to.record(Arrival {
            at_ps: now,
            latency_ps,
            bytes,
            hops,
            is_detour,
            is_last,
            is_late,
            job,
        });
        if let Drive::Replay(replay) = &self.drive {
            self.arrives(replay, it, packet, to);
        }
    }
}
