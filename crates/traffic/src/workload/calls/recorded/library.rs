//! What libflyloom did in a recorded program, as acts: puts are one-sided transfers, packets that
//! the other side's program waits for are messages, and a wait for a notification is one for the
//! transfers that came before it.

use super::action::{
    LibflyloomStep, OneSidedTransferPurpose, RecordedActionKind, ResolvedMessage, WindowTransfer,
};
use super::walker::{RecordedActionLists, RecordedEventInterpreter};
use super::{LibflyloomEvent, LibflyloomEventKind};
use base::Refusal;

/// The other side of an event that has one.
fn peer(event: &LibflyloomEvent) -> Result<u32, Refusal> {
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
        walker: &mut RecordedEventInterpreter<'_>,
        event: &LibflyloomEvent,
    ) -> Result<(), Refusal> {
        use LibflyloomEventKind as Kind;
        let runtime = walker.group(event.runtime)?;
        let LibflyloomEvent { kind, tag, object, value, answer, .. } = *event;
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
                let took = walker.library.took.remove(&(runtime, value)).unwrap_or_default();
                let step = LibflyloomStep { took, ..LibflyloomStep::default() };
                walker.act(RecordedActionKind::Library(step), true);
            }
            Kind::CollectiveBegins => walker.act(RecordedActionKind::Branches, true),
            Kind::Local => walker.act(RecordedActionKind::Local, true),
            Kind::CollectiveEnds => {
                let act = walker.acts.len() as u32;
                walker.library.collectives.insert((runtime, value), act);
                walker.act(RecordedActionKind::Returns, false);
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
        walker: &mut RecordedEventInterpreter<'_>,
        event: &LibflyloomEvent,
        group: u32,
    ) -> Result<(), Refusal> {
        let (rank, other) = (walker.rank, peer(event)?);
        let is_send = matches!(event.kind, LibflyloomEventKind::Send | LibflyloomEventKind::Out);
        let (tag, bytes) = (event.tag, event.value);
        let message = ResolvedMessage { is_send, group, peer: Some(other), tag: Some(tag), bytes };
        if !(event.is_beside && matches!(walker.last(), Some(RecordedActionKind::Library(_)))) {
            walker.act(RecordedActionKind::Library(LibflyloomStep::default()), true);
        }
        if is_send {
            self.library.sends((rank, other, group, tag));
        }
        let arrival = (!is_send).then(|| walker.library.receives((other, rank, group, tag)));
        if let Some(RecordedActionKind::Library(step)) = walker.last() {
            step.messages.push(message);
            step.brought.push(arrival.filter(|_| event.brings));
        }
        Ok(())
    }

    /// A transfer in which the target's program takes no part; its act.
    fn library_transfer(
        &mut self,
        walker: &mut RecordedEventInterpreter<'_>,
        event: &LibflyloomEvent,
        group: u32,
        back: Option<u64>,
    ) -> Result<u32, Refusal> {
        let (origin, target) = (walker.rank, peer(event)?);
        let number = self.transfers.len() as u32;
        let purpose = if event.flushes {
            OneSidedTransferPurpose::Flush
        } else {
            OneSidedTransferPurpose::Library
        };
        let (out, epoch) = (Some(event.value), (group, 0));
        self.transfers.push(WindowTransfer { origin, target, out, back, epoch, purpose });
        self.library.transfers.entry((origin, target)).or_default().push(number);
        self.library.sends((origin, target, group, event.tag));
        let act = walker.acts.len() as u32;
        walker.act(RecordedActionKind::Transfers(number), false);
        Ok(act)
    }
}
