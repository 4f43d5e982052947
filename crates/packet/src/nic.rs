//! Interfaces of endpoints, one a class of traffic: they cut messages into packets.

use super::endpoint::Endpoint;
use super::event::{Happens, NONE, Packet, Sender};
use super::model::{Change, Drive, Model, Runs};
use super::node::List;
use base::exp::ln;
use base::seed::Fast;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traffic::destinations::Destinations;

/// The interface of an endpoint for a class of traffic: what it has to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nic {
    /// Messages that wait.
    messages: List,
    /// The message that is cut, as its next packet but for its length.
    current: Packet,
    /// Bytes of it that are left.
    left: u32,
    /// When the next packet may be scheduled, ps.
    pub(super) free_ps: u64,
    /// Whether an event will schedule one.
    is_scheduled: bool,
    /// Whether it waits for room in the queue of a rail.
    pub(super) is_blocked: bool,
    /// The rail of its last packet.
    pub(super) rail: u8,
    /// Messages that were born.
    born: u32,
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

impl Nic {
    /// One without messages.
    pub(super) fn new() -> Self {
        let current = Packet {
            born_ps: 0,
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
        Self {
            messages: List::EMPTY,
            current,
            left: 0,
            free_ps: 0,
            is_scheduled: false,
            is_blocked: false,
            rail: 0,
            born: 0,
        }
    }

    /// A packet of which nothing is known yet.
    pub(super) fn plain(&self) -> Packet {
        self.current
    }
}

impl Endpoint {
    /// The interface of a class, to be changed.
    pub(super) fn nic(&mut self, class: u8, to: &mut impl Runs) -> &mut Nic {
        let nic = &mut self.nics[usize::from(class)];
        to.note(|| Change::Nic(class, *nic));
        nic
    }

    /// The event that schedules a packet has come.
    pub(super) fn schedule_comes(&mut self, class: u8, to: &mut impl Runs) {
        self.nic(class, to).is_scheduled = false;
    }
}

impl Model {
    /// The first message of an endpoint is due, of a class.
    pub(super) fn opens(&self, (class, open): (u8, &Open), it: &mut Endpoint, to: &mut impl Runs) {
        if !open.to.is_active(to.me() - self.plant.routers) {
            return;
        }
        let dice = &mut it.node.dice;
        let delay_ps = match open.births {
            Births::Jittered => open.births.first_ps(open.interval_ps, dice),
            births => births.next_ps(open.interval_ps, dice),
        };
        to.send(to.me(), delay_ps.max(1), Happens::Born(class));
    }

    /// The next message of an endpoint is born, of a class.
    pub(super) fn born(&self, it: &mut Endpoint, class: u8, to: &mut impl Runs) {
        let open = match &self.drive {
            Drive::Open(open) => &open[usize::from(class)],
            Drive::Replay(replay) => return self.background_born(replay, it, to),
        };
        let me = to.me() - self.plant.routers;
        let other = open.to.draw(me, it.node.dice(to));
        let message = it.nics[usize::from(class)].born;
        it.nic(class, to).born += 1;
        if open.messages.is_none_or(|quota| message + 1 < quota) {
            let delay_ps = open.births.next_ps(open.interval_ps, it.node.dice(to)).max(1);
            to.send(to.me(), delay_ps, Happens::Born(class));
        }
        if other == me {
            return;
        }
        let packet = Packet { from: me, to: other, message, bytes: open.bytes, ..it.plain() };
        self.enqueues(it, class, packet, to);
    }

    /// A message of a class, as a packet of its length, waits to be cut.
    pub(super) fn enqueues(
        &self,
        it: &mut Endpoint,
        class: u8,
        packet: Packet,
        to: &mut impl Runs,
    ) {
        let packet = Packet { born_ps: to.now_ps(), ..packet };
        let sender = Sender { lp: to.me(), port: 0, lane: 0 };
        let messages = it.node.append(it.nics[usize::from(class)].messages, packet, sender, to);
        it.nic(class, to).messages = messages;
        self.schedules(it, class, to);
    }

    /// The interface of a class schedules its next packet, now or when it may.
    pub(super) fn schedules(&self, it: &mut Endpoint, class: u8, to: &mut impl Runs) {
        let now = to.now_ps();
        let nic = it.nics[usize::from(class)];
        if nic.is_scheduled || nic.is_blocked || (nic.left == 0 && nic.messages.is_empty()) {
            return;
        }
        if now < nic.free_ps {
            it.nic(class, to).is_scheduled = true;
            to.send(to.me(), nic.free_ps - now, Happens::Schedules(class));
            return;
        }
        if self.is_full(&it.node.lanes[self.queue_at(nic.rail.into(), class)], nic.rail, to.me()) {
            it.nic(class, to).is_blocked = true;
            return;
        }
        if nic.left == 0 {
            let (messages, first) = it.node.remove(nic.messages, to);
            let nic = it.nic(class, to);
            nic.messages = messages;
            nic.current = first.packet;
            nic.left = first.packet.bytes;
        }
        let bytes = it.nics[usize::from(class)].left.min(self.plant.chunk_bytes);
        let delay_ps = it.node.drawn_ps(self.timing.nic, to);
        let me = to.me() - self.plant.routers;
        let each_ps = self.plant.interface_ps(me, self.timing.at_once, bytes);
        // CODES counts from the queue of the endpoint on
        let pause_ps = delay_ps + it.node.drawn_ps(self.timing.jitter, to);
        let nic = it.nic(class, to);
        nic.left -= bytes;
        nic.free_ps = now + each_ps + pause_ps;
        nic.is_scheduled = nic.left > 0 || !nic.messages.is_empty();
        let packet = Packet { began_ps: now, bytes, is_last: nic.left == 0, ..nic.current };
        if nic.is_scheduled {
            to.send(to.me(), nic.free_ps - now, Happens::Schedules(class));
        }
        to.send(to.me(), delay_ps, Happens::Queues(packet, class));
    }
}
