//! What libflyloom did in a recorded program, as acts: puts are one-sided transfers, packets that
//! the other side's program waits for are messages, and a wait for a notification is one for the
//! transfers that came before it.

use super::acts::{
    EventWalker, RecordedActionKind, RecordedActionLists, ResolvedMessage, TransferPurpose,
    WindowTransfer,
};
use super::{LibraryEvent, LibraryEventKind};
use base::Refusal;
use std::collections::HashMap;

/// Messages that begin together, all of which are waited for, and what else is waited for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LibraryStep {
    /// The messages; one without a tag is left out.
    pub(super) messages: Vec<ResolvedMessage>,
    /// The arrivals that are waited for, when the messages are there.
    pub(super) arrivals: Vec<LibraryArrival>,
}

/// A wait for what another rank sent: the message of this number in a queue, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LibraryArrival {
    pub(super) origin: u32,
    group: u32,
    tag: u32,
    number: u32,
}

/// The key of a queue of messages: sender, receiver, group and tag.
type QueueKey = (u32, u32, u32, u32);

/// The messages of libflyloom between all ranks.
#[derive(Debug, Default)]
pub(super) struct LibraryTraffic {
    /// For each sender and receiver, the indices of the transfers in order.
    transfers: HashMap<(u32, u32), Vec<u32>>,
    /// For each message of a queue, the number of transfers up to it from its sender to its
    /// receiver.
    sent: HashMap<QueueKey, Vec<u32>>,
    /// The groups of windows, teams and collective operations: runtime, window or team, and the
    /// number of the collective operation.
    groups: HashMap<(u32, u32, Option<u64>), u32>,
}

/// What a rank has done by libflyloom up to an event.
#[derive(Debug, Default)]
pub(super) struct LibraryProgress {
    /// For each queue, the number of messages received or notifications taken.
    received: HashMap<QueueKey, u32>,
    /// For each active request, the notifications that it took.
    took: HashMap<(u32, u64), Vec<LibraryArrival>>,
    /// For each runtime, the acts of the transfers with an answer.
    asks: HashMap<u32, Vec<u32>>,
    /// The acts that end a collective operation.
    collectives: HashMap<(u32, u64), u32>,
}

impl LibraryTraffic {
    /// The transfers to `rank` that have arrived when it has waited for an arrival.
    pub(super) fn arrived(&self, rank: u32, arrival: &LibraryArrival) -> &[u32] {
        let LibraryArrival { origin, group, tag, number } = *arrival;
        let count = self.sent.get(&(origin, rank, group, tag));
        let count = count.and_then(|counts| counts.get(number as usize)).copied().unwrap_or(0);
        let all = self.transfers.get(&(origin, rank)).map_or(&[][..], Vec::as_slice);
        &all[..count as usize]
    }

    fn sends(&mut self, key: QueueKey) {
        let count = self.transfers.get(&(key.0, key.1)).map_or(0, |all| all.len() as u32);
        self.sent.entry(key).or_default().push(count);
    }
}

impl LibraryProgress {
    fn receives(&mut self, key: QueueKey) -> LibraryArrival {
        let count = self.received.entry(key).or_default();
        *count += 1;
        let (origin, _, group, tag) = key;
        LibraryArrival { origin, group, tag, number: *count - 1 }
    }
}

/// The other side of an event that has one.
fn peer(event: &LibraryEvent) -> Result<u32, Refusal> {
    event.peer.ok_or_else(|| Refusal::new("", "an event has no other rank", "a whole record"))
}

impl RecordedActionLists {
    /// A group of its own for a window or a team of libflyloom, or for one of its collective
    /// operations.
    fn library_group(&mut self, runtime: u32, object: u32, collective: Option<u64>) -> u32 {
        let groups = &mut self.groups;
        *self.library.groups.entry((runtime, object, collective)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() as u32 - 1
        })
    }

    pub(super) fn library_event(
        &mut self,
        walker: &mut EventWalker<'_>,
        event: &LibraryEvent,
    ) -> Result<(), Refusal> {
        use LibraryEventKind as Kind;
        let runtime = walker.group(event.runtime)?;
        let LibraryEvent { kind, tag, object, value, answer, .. } = *event;
        match kind {
            Kind::Send | Kind::Recv => {
                let group = self.library_group(runtime, object, None);
                self.library_message(walker, event, group)?;
            }
            Kind::Out | Kind::In => {
                let group = self.library_group(runtime, object, Some(answer));
                self.library_message(walker, event, group)?;
            }
            Kind::Put => {
                let group = self.library_group(runtime, object, None);
                self.library_transfer(walker, event, group, None)?;
            }
            Kind::Ask => {
                let group = self.library_group(runtime, object, None);
                let act = self.library_transfer(walker, event, group, Some(answer))?;
                walker.library.asks.entry(runtime).or_default().push(act);
                walker.moving.entry(group).or_default().push((act, peer(event)?));
            }
            Kind::Answer => {
                let ask = usize::try_from(value).ok().and_then(|ask| ask.checked_sub(1));
                let asks = walker.library.asks.get(&runtime);
                let act = asks.zip(ask).and_then(|(asks, ask)| asks.get(ask)).copied();
                walker.act(RecordedActionKind::Awaits(act.into_iter().collect()), true);
            }
            Kind::Answers => {
                let group = self.library_group(runtime, object, None);
                walker.transfers_end(group, event.peer);
            }
            Kind::Took => {
                let group = self.library_group(runtime, object, None);
                let key = (peer(event)?, walker.rank, group, tag);
                let arrival = walker.library.receives(key);
                walker.library.took.entry((runtime, value)).or_default().push(arrival);
            }
            Kind::Done => {
                let arrivals = walker.library.took.remove(&(runtime, value)).unwrap_or_default();
                let step = LibraryStep { messages: Vec::new(), arrivals };
                walker.act(RecordedActionKind::Library(step), true);
            }
            Kind::CollectiveBegins => walker.act(RecordedActionKind::Branches, true),
            Kind::Local => walker.act(RecordedActionKind::Local, true),
            Kind::CollectiveEnds => {
                let act = walker.acts.len() as u32;
                walker.library.collectives.insert((runtime, value), act);
                walker.act(RecordedActionKind::Returns, true);
            }
            Kind::Joins => {
                let act = walker.library.collectives.remove(&(runtime, value));
                walker.act(RecordedActionKind::Awaits(act.into_iter().collect()), true);
            }
        }
        Ok(())
    }

    /// A message that both programs take part in. It joins the step before it where both begin
    /// together.
    fn library_message(
        &mut self,
        walker: &mut EventWalker<'_>,
        event: &LibraryEvent,
        group: u32,
    ) -> Result<(), Refusal> {
        let (rank, other) = (walker.rank, peer(event)?);
        let is_send = matches!(event.kind, LibraryEventKind::Send | LibraryEventKind::Out);
        let (tag, bytes) = (event.tag, event.value);
        let message = ResolvedMessage { is_send, group, peer: Some(other), tag: Some(tag), bytes };
        if !(event.is_beside && matches!(walker.last(), Some(RecordedActionKind::Library(_)))) {
            walker.act(RecordedActionKind::Library(LibraryStep::default()), true);
        }
        if is_send {
            self.library.sends((rank, other, group, tag));
        }
        let arrival = (!is_send).then(|| walker.library.receives((other, rank, group, tag)));
        if let Some(RecordedActionKind::Library(step)) = walker.last() {
            step.messages.push(message);
            step.arrivals.extend(arrival.filter(|_| event.brings));
        }
        Ok(())
    }

    /// A transfer in which the target's program takes no part; its act.
    fn library_transfer(
        &mut self,
        walker: &mut EventWalker<'_>,
        event: &LibraryEvent,
        group: u32,
        back: Option<u64>,
    ) -> Result<u32, Refusal> {
        let (origin, target) = (walker.rank, peer(event)?);
        let number = self.transfers.len() as u32;
        let purpose = if event.flushes { TransferPurpose::Flush } else { TransferPurpose::Library };
        let (out, epoch) = (Some(event.value), (group, 0));
        self.transfers.push(WindowTransfer { origin, target, out, back, epoch, purpose });
        self.library.transfers.entry((origin, target)).or_default().push(number);
        self.library.sends((origin, target, group, event.tag));
        let act = walker.acts.len() as u32;
        walker.act(RecordedActionKind::Transfers(number), false);
        Ok(act)
    }
}
