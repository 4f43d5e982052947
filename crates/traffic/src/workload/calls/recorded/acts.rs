//! The recorded events of every process as acts: groups get numbers that are common to all
//! processes, and operations are found by the calls that complete them.

use super::super::meeting::{
    CallMismatch, CollectiveCaller, CollectiveMeeting, CollectiveMeetingKind,
};
use super::super::{CommunicatorMembership, NamedCommunicator, TracedCollectiveCall};
use super::library::{LibraryProgress, LibraryStep, LibraryTraffic};
use super::{
    CallEvent, CallRecording, CompletedOperation, GroupMembers, OperationNumber, OperationStart,
    RecordedEvent, RecordedMessage,
};
use base::Refusal;
use std::collections::HashMap;

/// The action of a recorded act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RecordedActionKind {
    Nothing,
    Message(ResolvedMessage),
    /// A collective operation: the index of the meeting, and the rank in it.
    Meets(u32, u32),
    /// A neighbour exchange, by its index.
    Exchanges(u32),
    /// A one-sided transfer of a window, by its index.
    Transfers(u32),
    /// Waits for the end of the acts with these indices.
    Awaits(Vec<u32>),
    /// Waits for the message that is received next: its group, source and tag.
    Probes(u32, u32, u32),
    /// A fence of a window that ends an epoch: all transfers of the epoch have arrived.
    Fences(u32, u32),
    /// The end of a thread.
    ThreadEnds,
    /// Messages of libflyloom that begin together, and waits for what others put.
    Library(LibraryStep),
    /// Acts up to [`RecordedActionKind::Returns`] are a collective operation of libflyloom, beside
    /// which the program goes on.
    Branches,
    /// Work of such an operation that stands for what it does in no time.
    Local,
    /// The end of such an operation.
    Returns,
}

impl RecordedActionKind {
    /// The messages of an act in which both programs take part.
    pub(super) fn messages(&mut self) -> &mut [ResolvedMessage] {
        match self {
            Self::Message(message) => std::slice::from_mut(message),
            Self::Library(step) => &mut step.messages,
            _ => &mut [],
        }
    }
}

/// The purpose of a one-sided transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransferPurpose {
    /// A call on a window of MPI.
    Window,
    /// A put or a question of libflyloom.
    Library,
    /// A question of libflyloom that is answered when what its origin put before has arrived.
    Flush,
}

/// A message whose group number is common to all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResolvedMessage {
    pub(super) is_send: bool,
    pub(super) group: u32,
    pub(super) peer: Option<u32>,
    pub(super) tag: Option<u32>,
    pub(super) bytes: u64,
}

/// An act of a process: one thing that it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordedAction {
    pub(super) thread: u8,
    /// Time of computation of the thread since its last act, ns.
    pub(super) gap_ns: u64,
    pub(super) does: RecordedActionKind,
    /// Whether the next act of the thread waits for the end of this one.
    pub(super) waits: bool,
}

/// A one-sided transfer: a call on a window that moves bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WindowTransfer {
    pub(super) origin: u32,
    pub(super) target: u32,
    pub(super) out: Option<u64>,
    pub(super) back: Option<u64>,
    /// The index of the window, and the number of its fences that the origin had passed before.
    pub(super) epoch: (u32, u32),
    pub(super) purpose: TransferPurpose,
}

/// A neighbour exchange: for each member of the group, by its rank there, the members that it sends
/// to and the bytes.
#[derive(Debug)]
pub(super) struct NeighbourExchange {
    pub(super) group: u32,
    pub(super) rows: HashMap<u32, Vec<(u32, u64)>>,
}

/// The acts of all processes, and what they refer to.
#[derive(Debug, Default)]
pub(super) struct RecordedActionLists {
    pub(super) acts: Vec<Vec<RecordedAction>>,
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) meetings: Vec<CollectiveMeeting>,
    pub(super) exchanges: Vec<NeighbourExchange>,
    pub(super) transfers: Vec<WindowTransfer>,
    pub(super) library: LibraryTraffic,
    /// The ranks whose recording ends before `MPI_Finalize`.
    pub(super) cut: Vec<u32>,
    pub(super) aborted: Option<(u32, i64)>,
    identified: HashMap<(GroupMembers, u32), u32>,
    met: HashMap<(u32, u32), u32>,
    exchanged: HashMap<(u32, u32), u32>,
}

/// The state of a process while its events are interpreted.
pub(super) struct EventWalker<'a> {
    pub(super) rank: u32,
    groups: HashMap<u64, u32>,
    made: HashMap<GroupMembers, u32>,
    /// For each communicator, the number of collective operations so far.
    joined: HashMap<u32, u32>,
    fences: HashMap<u32, u32>,
    operations: HashMap<OperationNumber, u32>,
    /// For each window, the transfers that are not known to be complete: their acts and targets.
    pub(super) moving: HashMap<u32, Vec<(u32, u32)>>,
    pub(super) acts: Vec<RecordedAction>,
    pub(super) library: LibraryProgress,
    /// The time at which each thread returned from its last call, ns.
    left_ns: HashMap<u8, u64>,
    gaps_ns: HashMap<u8, u64>,
    event: &'a RecordedEvent,
    at: usize,
}

/// The file and byte of a rank's event.
fn place(recording: &CallRecording, rank: u32, event: usize) -> String {
    let process = &recording.processes[rank as usize];
    format!("{}: byte {}", process.file, process.events[event].byte)
}

/// Interprets the events of all processes. O(events + members of groups).
///
/// # Errors
/// With files and bytes, when ranks of a communicator call different operations, or an event refers
/// to something that does not exist.
pub(super) fn acts(recording: &CallRecording) -> Result<RecordedActionLists, Refusal> {
    let mut all = RecordedActionLists::default();
    for (rank, process) in (0..).zip(&recording.processes) {
        let Some(first) = process.events.first() else {
            all.cut.push(rank);
            all.acts.push(Vec::new());
            continue;
        };
        let mut walker = EventWalker::new(rank, first);
        for (at, event) in process.events.iter().enumerate() {
            (walker.event, walker.at) = (event, at);
            walker.clock();
            all.event(recording, &mut walker).map_err(|refused| {
                if refused.param.is_empty() {
                    Refusal { param: place(recording, rank, at), ..refused }
                } else {
                    refused
                }
            })?;
        }
        if !matches!(process.events.last().map(|last| &last.what), Some(CallEvent::Ends)) {
            all.cut.push(rank);
        }
        all.acts.push(walker.acts);
    }
    Ok(all)
}

impl RecordedActionLists {
    fn event(
        &mut self,
        recording: &CallRecording,
        walker: &mut EventWalker<'_>,
    ) -> Result<(), Refusal> {
        match &walker.event.what {
            CallEvent::Begins | CallEvent::Waits | CallEvent::Ends | CallEvent::Polls => {
                walker.act(RecordedActionKind::Nothing, true);
            }
            CallEvent::Aborts(code) => {
                self.aborted.get_or_insert((walker.rank, *code));
                walker.act(RecordedActionKind::Nothing, true);
            }
            CallEvent::ThreadEnds => walker.act(RecordedActionKind::ThreadEnds, true),
            CallEvent::Group(number, members) => self.group(walker, *number, members),
            CallEvent::Send(message, later) => walker.message(message, true, *later)?,
            CallEvent::Recv(message, later) => walker.message(message, false, *later)?,
            CallEvent::Joint(begun, operation, root, sizes) => {
                let group = walker.group(begun.group)?;
                let comm = NamedCommunicator {
                    handle: begun.group,
                    shape: CommunicatorMembership::Unsaid,
                };
                let sizes = sizes.clone();
                let joint =
                    TracedCollectiveCall { comm, operation: *operation, root: *root, sizes };
                self.join(recording, walker, group, *begun, &joint)?;
            }
            CallEvent::Exchange(begun, sent) => {
                let group = walker.group(begun.group)?;
                let key = (group, walker.next_joined(group));
                let exchanges = &mut self.exchanges;
                let number = *self.exchanged.entry(key).or_insert_with(|| {
                    exchanges.push(NeighbourExchange { group, rows: HashMap::new() });
                    exchanges.len() as u32 - 1
                });
                self.exchanges[number as usize].rows.insert(walker.rank, sent.clone());
                walker.begin(*begun, RecordedActionKind::Exchanges(number));
            }
            CallEvent::Transfer(begun, target, out, back) => {
                let window = walker.group(begun.group)?;
                let epoch = (window, walker.fences.get(&window).copied().unwrap_or(0));
                let (origin, target) = (walker.rank, *target);
                self.transfers.push(WindowTransfer {
                    origin,
                    target,
                    out: *out,
                    back: *back,
                    epoch,
                    purpose: TransferPurpose::Window,
                });
                let act = walker.acts.len() as u32;
                walker.moving.entry(window).or_default().push((act, target));
                walker
                    .begin(*begun, RecordedActionKind::Transfers(self.transfers.len() as u32 - 1));
            }
            CallEvent::Awaits(completed) => walker.completed(completed),
            CallEvent::Probes(group, source, tag) => {
                let group = walker.group(*group)?;
                walker.act(RecordedActionKind::Probes(group, *source, *tag), true);
            }
            CallEvent::Syncs(window, target, is_fence) => {
                walker.sync(*window, *target, *is_fence)?;
            }
            CallEvent::Library(event) => self.library_event(walker, event)?,
        }
        Ok(())
    }

    /// Gives a group a number that is the same at all its members. Groups with the same members in
    /// the same order are created in the same order by all of them.
    fn group(&mut self, walker: &mut EventWalker<'_>, number: u64, members: &GroupMembers) {
        let mut same = members.clone();
        if !same.other.is_empty() && same.other < same.own {
            std::mem::swap(&mut same.own, &mut same.other);
        }
        let count = walker.made.entry(same.clone()).or_insert(0);
        let groups = &mut self.groups;
        let found = *self.identified.entry((same.clone(), *count)).or_insert_with(|| {
            groups.push([same.own, same.other].concat());
            groups.len() as u32 - 1
        });
        *count += 1;
        walker.groups.insert(number, found);
    }

    fn join(
        &mut self,
        recording: &CallRecording,
        walker: &mut EventWalker<'_>,
        group: u32,
        begun: OperationStart,
        joint: &TracedCollectiveCall,
    ) -> Result<(), Refusal> {
        let members = &self.groups[group as usize];
        let size = members.len() as u32;
        let me = members.iter().position(|&rank| rank == walker.rank);
        let Some(me) = me.filter(|_| joint.root.is_none_or(|root| root < size)) else {
            return Err(Refusal::new("", "a rank outside of the communicator", "a whole record"));
        };
        let who = CollectiveCaller { rank: walker.rank, call: walker.at };
        let kind = CollectiveMeetingKind::Operation(joint.operation, joint.root, begun.later);
        let key = (group, walker.next_joined(group));
        let meetings = &mut self.meetings;
        let number = *self.met.entry(key).or_insert_with(|| {
            meetings.push(CollectiveMeeting::new(group, size, kind, who));
            meetings.len() as u32 - 1
        });
        let meeting = &mut self.meetings[number as usize];
        let first = meeting.first;
        meeting.join(me as u32, joint, begun.later).map_err(|CallMismatch { here, there }| {
            let place = |who: CollectiveCaller| place(recording, who.rank, who.call);
            let why = format!("it has {here}, where {} has {there}", place(first));
            Refusal::new(place(who), why, "the same at all ranks of the communicator")
        })?;
        walker.begin(begun, RecordedActionKind::Meets(number, me as u32));
        Ok(())
    }
}

impl<'a> EventWalker<'a> {
    fn new(rank: u32, first: &'a RecordedEvent) -> Self {
        Self {
            rank,
            groups: HashMap::new(),
            made: HashMap::new(),
            joined: HashMap::new(),
            fences: HashMap::new(),
            operations: HashMap::new(),
            moving: HashMap::new(),
            acts: Vec::new(),
            library: LibraryProgress::default(),
            left_ns: HashMap::new(),
            gaps_ns: HashMap::new(),
            event: first,
            at: 0,
        }
    }

    /// The time of computation before an event, since its thread returned from its last call. A new
    /// thread is assumed to begin when the first thread returned from its last call.
    fn clock(&mut self) {
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

    fn begin(&mut self, begun: OperationStart, does: RecordedActionKind) {
        self.operations.insert(begun.number, self.acts.len() as u32);
        self.act(does, !begun.later);
    }

    pub(super) fn group(&self, number: u64) -> Result<u32, Refusal> {
        self.groups.get(&number).copied().ok_or_else(|| {
            Refusal::new("", format!("there is no communicator {number}"), "a whole record")
        })
    }

    fn next_joined(&mut self, group: u32) -> u32 {
        let count = self.joined.entry(group).or_insert(0);
        *count += 1;
        *count - 1
    }

    fn message(&mut self, it: &RecordedMessage, is_send: bool, later: bool) -> Result<(), Refusal> {
        let group = self.group(it.group)?;
        let RecordedMessage { number, peer, tag, bytes, .. } = *it;
        let wire = ResolvedMessage { is_send, group, peer, tag, bytes };
        self.begin(
            OperationStart { number, group: it.group, later },
            RecordedActionKind::Message(wire),
        );
        Ok(())
    }

    fn completed(&mut self, completed: &[CompletedOperation]) {
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

    fn sync(&mut self, window: u64, target: Option<u32>, is_fence: bool) -> Result<(), Refusal> {
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
