//! The acts of all processes, and the state of a process while its events become acts.

use super::super::meeting::MatchedCollectiveCalls;
use super::action::{
    LibflyloomArrival, NeighbourExchange, RecordedAction, RecordedActionKind, ResolvedMessage,
    WindowTransfer,
};
use super::{
    CallEvent, CompletedOperation, GroupMembers, OperationNumber, OperationStart, RecordedEvent,
    RecordedMessage,
};
use base::Refusal;
use std::collections::HashMap;

/// The acts of all processes, and what they refer to.
#[derive(Debug, Default)]
pub(super) struct RecordedActionLists {
    pub(super) acts: Vec<Vec<RecordedAction>>,
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) meetings: Vec<MatchedCollectiveCalls>,
    pub(super) exchanges: Vec<NeighbourExchange>,
    pub(super) transfers: Vec<WindowTransfer>,
    pub(super) library: LibflyloomTraffic,
    /// The ranks whose recording ends before `MPI_Finalize`.
    pub(super) cut: Vec<u32>,
    pub(super) aborted: Option<(u32, i64)>,
    pub(super) identified: HashMap<(GroupMembers, u32), u32>,
    pub(super) met: HashMap<(u32, u32), u32>,
    pub(super) exchanged: HashMap<(u32, u32), u32>,
}

/// The state of a process while its events are interpreted.
pub(super) struct RecordedEventInterpreter<'a> {
    pub(super) rank: u32,
    pub(super) groups: HashMap<u64, u32>,
    pub(super) made: HashMap<GroupMembers, u32>,
    /// For each communicator, the number of collective operations so far.
    pub(super) joined: HashMap<u32, u32>,
    pub(super) fences: HashMap<u32, u32>,
    pub(super) operations: HashMap<OperationNumber, u32>,
    /// For each window, the transfers that are not known to be complete: their acts and targets.
    pub(super) moving: HashMap<u32, Vec<(u32, u32)>>,
    pub(super) acts: Vec<RecordedAction>,
    pub(super) library: LibflyloomProgress,
    /// The time at which each thread returned from its last call, ns.
    pub(super) left_ns: HashMap<u8, u64>,
    pub(super) gaps_ns: HashMap<u8, u64>,
    pub(super) event: &'a RecordedEvent,
    pub(super) at: usize,
}

impl<'a> RecordedEventInterpreter<'a> {
    pub(super) fn new(rank: u32, first: &'a RecordedEvent) -> Self {
        Self {
            rank,
            groups: HashMap::new(),
            made: HashMap::new(),
            joined: HashMap::new(),
            fences: HashMap::new(),
            operations: HashMap::new(),
            moving: HashMap::new(),
            acts: Vec::new(),
            library: LibflyloomProgress::default(),
            left_ns: HashMap::new(),
            gaps_ns: HashMap::new(),
            event: first,
            at: 0,
        }
    }

    /// The time of computation before an event, since its thread returned from its last call. A new
    /// thread is assumed to begin when the first thread returned from its last call.
    pub(super) fn clock(&mut self) {
        let event = self.event;
        let main = self.left_ns.get(&0).copied().unwrap_or(event.start_ns);
        let left = self.left_ns.entry(event.thread).or_insert(main);
        if !matches!(event.what, CallEvent::Begins | CallEvent::ThreadEnds) {
            let gap_ns = self.gaps_ns.entry(event.thread).or_insert(0);
            *gap_ns = gap_ns.saturating_add(event.start_ns.saturating_sub(*left));
        }
        *left = event.end_ns;
        if event.what == CallEvent::ThreadEnds {
            self.left_ns.remove(&event.thread);
        }
    }

    /// What the act before does.
    pub(super) fn last(&mut self) -> Option<&mut RecordedActionKind> {
        self.acts.last_mut().map(|act| &mut act.does)
    }

    pub(super) fn act(&mut self, does: RecordedActionKind, waits: bool) {
        let thread = self.event.thread;
        let gap_ns = self.gaps_ns.remove(&thread).unwrap_or(0);
        self.acts.push(RecordedAction { thread, gap_ns, does, waits });
    }

    pub(super) fn begin(&mut self, begun: OperationStart, does: RecordedActionKind) {
        self.operations.insert(begun.number, self.acts.len() as u32);
        self.act(does, !begun.later);
    }

    pub(super) fn group(&self, number: u64) -> Result<u32, Refusal> {
        self.groups.get(&number).copied().ok_or_else(|| {
            Refusal::new("", format!("there is no communicator {number}"), "a whole record")
        })
    }

    pub(super) fn next_joined(&mut self, group: u32) -> u32 {
        let count = self.joined.entry(group).or_insert(0);
        *count += 1;
        *count - 1
    }

    pub(super) fn message(
        &mut self,
        it: &RecordedMessage,
        is_send: bool,
        later: bool,
    ) -> Result<(), Refusal> {
        let group = self.group(it.group)?;
        let RecordedMessage { number, peer, tag, bytes, .. } = *it;
        let wire = ResolvedMessage { is_send, group, peer, tag, bytes };
        self.begin(
            OperationStart { number, group: it.group, later },
            RecordedActionKind::Message(wire),
        );
        Ok(())
    }

    pub(super) fn completed(&mut self, completed: &[CompletedOperation]) {
        let mut awaited = Vec::with_capacity(completed.len());
        for one in completed {
            let (CompletedOperation::AsBegun(number)
            | CompletedOperation::From(number, ..)
            | CompletedOperation::Cancelled(number)) = *one;
            let Some(&act) = self.operations.get(&number) else { continue };
            let does = &mut self.acts[act as usize].does;
            match (*one, does) {
                (CompletedOperation::From(_, source, tag), RecordedActionKind::Message(wire)) => {
                    (wire.peer, wire.tag) = (Some(source), Some(tag));
                }
                (CompletedOperation::Cancelled(_), does) => *does = RecordedActionKind::Nothing,
                _ => {}
            }
            awaited.push(act);
        }
        self.act(RecordedActionKind::Awaits(awaited), true);
    }

    /// The transfers to a target, or to all, in a window are complete.
    pub(super) fn transfers_end(&mut self, window: u32, target: Option<u32>) {
        let moving = self.moving.entry(window).or_default();
        let (done, left) = moving.iter().partition(|(_, to)| target.is_none_or(|it| it == *to));
        *moving = left;
        let done: Vec<(u32, u32)> = done;
        self.act(RecordedActionKind::Awaits(done.into_iter().map(|(act, _)| act).collect()), true);
    }

    pub(super) fn sync(
        &mut self,
        window: u64,
        target: Option<u32>,
        is_fence: bool,
    ) -> Result<(), Refusal> {
        let window = self.group(window)?;
        self.transfers_end(window, target);
        if is_fence {
            let epoch = self.fences.entry(window).or_insert(0);
            *epoch += 1;
            let ended = *epoch - 1;
            self.act(RecordedActionKind::Fences(window, ended), true);
        }
        Ok(())
    }
}

/// The key of a queue of messages: sender, receiver, group and tag.
pub(super) type QueueKey = (u32, u32, u32, u32);

/// The messages of libflyloom between all ranks.
#[derive(Debug, Default)]
pub(super) struct LibflyloomTraffic {
    /// For each sender and receiver, the indices of the transfers in order.
    pub(super) transfers: HashMap<(u32, u32), Vec<u32>>,
    /// For each message of a queue, the number of transfers up to it from its sender to its
    /// receiver.
    sent: HashMap<QueueKey, Vec<u32>>,
    /// The groups of windows, teams and collective operations: runtime, window or team, and the
    /// number of the collective operation.
    pub(super) groups: HashMap<(u32, u32, Option<u64>), u32>,
}

/// What a rank has done by libflyloom up to an event.
#[derive(Debug, Default)]
pub(super) struct LibflyloomProgress {
    /// For each queue, the number of messages received or notifications taken.
    received: HashMap<QueueKey, u32>,
    /// For each active request, the notifications that it took.
    pub(super) took: HashMap<(u32, u64), Vec<LibflyloomArrival>>,
    /// For each runtime, the acts of the transfers with an answer.
    pub(super) asks: HashMap<u32, Vec<u32>>,
    /// The acts that end a collective operation.
    pub(super) collectives: HashMap<(u32, u64), u32>,
}

impl LibflyloomTraffic {
    /// The transfers to `rank` that have arrived when it has waited for an arrival.
    pub(super) fn arrived(&self, rank: u32, arrival: &LibflyloomArrival) -> &[u32] {
        let LibflyloomArrival { origin, group, tag, number } = *arrival;
        let count = self.sent.get(&(origin, rank, group, tag));
        let count = count.and_then(|counts| counts.get(number as usize)).copied().unwrap_or(0);
        let all = self.transfers.get(&(origin, rank)).map_or(&[][..], Vec::as_slice);
        &all[..count as usize]
    }

    pub(super) fn sends(&mut self, key: QueueKey) {
        let count = self.transfers.get(&(key.0, key.1)).map_or(0, |all| all.len() as u32);
        self.sent.entry(key).or_default().push(count);
    }
}

impl LibflyloomProgress {
    pub(super) fn receives(&mut self, key: QueueKey) -> LibflyloomArrival {
        let count = self.received.entry(key).or_default();
        *count += 1;
        let (origin, _, group, tag) = key;
        LibflyloomArrival { origin, group, tag, number: *count - 1 }
    }
}
