//! Network interfaces of endpoints: messages are created, wait, and are cut into packets.

use super::endpoint::Endpoint;
use super::event::{ChunkSender, Event, PacketChunk};
use super::model::{EndpointTrafficSource, PacketSimulationModel};
use super::nic::{MessageInjectionProcess, Nic, OpenLoopTraffic};
use super::runs::{EventHandlerContext, NodeStateChange};
use super::tally::ChunkArrival;
use super::window::MeasuredWindow;

impl Endpoint {
    /// The network interface of a class, for changing; its old state is recorded so that it can be
    /// undone.
    pub(super) fn nic(&mut self, class: u8, to: &mut impl EventHandlerContext) -> &mut Nic {
        let nic = &mut self.nics[usize::from(class)];
        to.note(|| NodeStateChange::Nic(class, *nic));
        nic
    }

    /// Handles the event at which the interface schedules its next packet.
    pub(super) fn schedule_comes(&mut self, class: u8, to: &mut impl EventHandlerContext) {
        self.nic(class, to).is_scheduled = false;
    }
}

impl PacketSimulationModel {
    /// Schedules the creation of an endpoint's first message of a class.
    pub(super) fn opens(
        &self,
        (class, open): (u8, &OpenLoopTraffic),
        it: &mut Endpoint,
        to: &mut impl EventHandlerContext,
    ) {
        if !open.to.is_active(to.me() - self.plant.routers) {
            return;
        }
        let dice = &mut it.node.dice;
        let delay_ps = match open.injection {
            MessageInjectionProcess::Jittered => open.injection.first_ps(open.interval_ps, dice),
            injection => injection.next_ps(open.interval_ps, dice),
        };
        self.creates_later(class, delay_ps, to);
    }

    /// Schedules the creation of a message of a class, unless that is after the measured window,
    /// when endpoints create no more.
    fn creates_later(&self, class: u8, delay_ps: u64, to: &mut impl EventHandlerContext) {
        let delay_ps = delay_ps.max(1);
        if to.now_ps().saturating_add(delay_ps) < self.window.end_ps {
            to.send(to.me(), delay_ps, Event::Creates(class));
        }
    }

    /// An endpoint creates its next message of a class.
    pub(super) fn creates(&self, it: &mut Endpoint, class: u8, to: &mut impl EventHandlerContext) {
        let open = match &self.drive {
            EndpointTrafficSource::Open(open) => &open[usize::from(class)],
            EndpointTrafficSource::Replay(replay) => {
                return self.background_creates(replay, it, to);
            }
        };
        let me = to.me() - self.plant.routers;
        let other = open.to.draw(me, it.node.dice(to));
        let message = it.nics[usize::from(class)].created;
        it.nic(class, to).created += 1;
        if open.messages.is_none_or(|quota| message + 1 < quota) {
            let delay_ps = open.injection.next_ps(open.interval_ps, it.node.dice(to));
            self.creates_later(class, delay_ps, to);
        }
        if other == me {
            // a message to its own endpoint does not enter the network; only windows count it
            if self.window != MeasuredWindow::WHOLE {
                to.record(ChunkArrival::at_sender(to.now_ps(), open.bytes, class.into()));
            }
            return;
        }
        let packet = PacketChunk { from: me, to: other, message, bytes: open.bytes, ..it.plain() };
        self.enqueues(it, class, packet, to);
    }

    /// Puts a message of a class into the interface's queue, to be cut into packets; `packet` holds
    /// the message as if it were one packet.
    pub(super) fn enqueues(
        &self,
        it: &mut Endpoint,
        class: u8,
        packet: PacketChunk,
        to: &mut impl EventHandlerContext,
    ) {
        let packet = PacketChunk { created_ps: to.now_ps(), ..packet };
        let sender = ChunkSender { lp: to.me(), port: 0, lane: 0 };
        let messages = it.node.append(it.nics[usize::from(class)].messages, packet, sender, to);
        it.nic(class, to).messages = messages;
        self.schedules(it, class, to);
    }

    /// Schedules the next packet of a class at its interface: now, or as soon as the interface is
    /// free.
    pub(super) fn schedules(
        &self,
        it: &mut Endpoint,
        class: u8,
        to: &mut impl EventHandlerContext,
    ) {
        let now = to.now_ps();
        let nic = it.nics[usize::from(class)];
        if nic.is_scheduled || nic.is_blocked || (nic.left == 0 && nic.messages.is_empty()) {
            return;
        }
        if now < nic.free_ps {
            it.nic(class, to).is_scheduled = true;
            to.send(to.me(), nic.free_ps - now, Event::Schedules(class));
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
        // CODES adds this pause after the time at which the packet reaches the endpoint's queue
        let pause_ps = delay_ps + it.node.drawn_ps(self.timing.jitter, to);
        let nic = it.nic(class, to);
        nic.left -= bytes;
        nic.free_ps = now + each_ps + pause_ps;
        nic.is_scheduled = nic.left > 0 || !nic.messages.is_empty();
        let packet = PacketChunk { began_ps: now, bytes, is_last: nic.left == 0, ..nic.current };
        if nic.is_scheduled {
            to.send(to.me(), nic.free_ps - now, Event::Schedules(class));
        }
        to.send(to.me(), delay_ps, Event::Queues(packet, class));
    }
}
