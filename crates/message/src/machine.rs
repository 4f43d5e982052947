//! The machine that runs a schedule: processors and interfaces of all ranks, and waiting events.

use super::left::UnfinishedOperations;
use super::matching::MessageMatcher;
use super::net::ChannelUse;
use super::queue::{EventQueue, TimedScheduleEvent};
use super::ranks::RankStates;
use super::trace::OperationStepTimes;
use base::quick::QuickHashBuilder;
use base::{Interrupted, ProgressWatch};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use traffic::workload::{OperationKind, Schedule, ScheduleOperation};

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum ScheduleEventKind {
    /// A send, receive or calculation may begin.
    Begin,
    /// A message arrives, or a request to send.
    Arrive,
    /// A receiver answers a request to send.
    Answer,
    /// The answer reaches the sender, which sends the message.
    Data,
    /// A large message arrives, after its request was answered.
    DataArrive,
    /// A receiver takes a message.
    Take,
    /// A message enters the network.
    Enter,
    /// Flows are examined, after all other events of the same time.
    Net,
}

impl ScheduleEventKind {
    /// The kind in an event's key.
    #[inline]
    pub(super) fn of(key: u64) -> Self {
        WHAT[(key & 7) as usize]
    }

    /// Whether the event is at the rank that receives the message, not at the event's own rank.
    #[inline]
    pub(super) fn is_arrival(self) -> bool {
        matches!(self, Self::Arrive | Self::DataArrive)
    }
}

const WHAT: [ScheduleEventKind; 8] = [
    ScheduleEventKind::Begin,
    ScheduleEventKind::Arrive,
    ScheduleEventKind::Answer,
    ScheduleEventKind::Data,
    ScheduleEventKind::DataArrive,
    ScheduleEventKind::Take,
    ScheduleEventKind::Enter,
    ScheduleEventKind::Net,
];

/// Keys of events are serial numbers with four bits below: three for the kind, and this one if the
/// event represents a queue of events that wait for a processor.
const WAITS: u64 = 8;
const SERIAL: u32 = 4;
/// Events between two checks for an interrupt by the user: without a network, and over one, where
/// an event may take as long as the number of messages in flight requires.
const STRIDES: [u64; 2] = [1 << 16, 1 << 7];

/// An event that may happen.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingScheduleEvent {
    pub(super) now: u64,
    pub(super) what: ScheduleEventKind,
    pub(super) op: u32,
    /// The rank of the operation; for an arrival, the rank that sent the message.
    pub(super) rank: u32,
    key: u64,
}

/// The resources that an event needs: a processor, and for messages also an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EventResources {
    rank: u32,
    cpu: u8,
    nic: u8,
    side: InterfaceSide,
}

/// The side of an interface that an event needs: sending or receiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(super) enum InterfaceSide {
    /// No interface.
    Neither,
    /// Sending.
    Out,
    /// Receiving.
    In,
    /// Receiving, and no processor.
    InAlone,
}

/// The waiting events that need the same resource, by key, and the event in the queue that
/// represents the first of them.
#[derive(Debug, Default)]
struct ResourceWaitQueue {
    all: BinaryHeap<Reverse<(u64, u32, u32)>>,
    stands: (u64, u64),
}

/// The result of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScheduleRunResult {
    /// The time at which each rank is done: in picoseconds for the dialect `causal`, else
    /// nanoseconds.
    pub finish: Vec<u64>,
    /// Number of operations begun and messages arrived.
    pub events: u64,
    /// Number of messages that arrived.
    pub messages: u64,
    /// The operations left over if the schedule deadlocks; none if all are done.
    pub left: Option<UnfinishedOperations>,
    /// The use of the network's channels; none without a network.
    pub used: Option<ChannelUse>,
    /// The times of all steps; none unless a trace was requested.
    pub trace: Option<OperationStepTimes>,
    /// Receives that are smaller than their messages.
    pub short: ShortReceives,
}

/// Receives of a run that are smaller than the messages that they take, which MPI truncates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShortReceives {
    /// The number of them.
    pub count: u64,
    /// The first of them by rank and number, and the send of its message.
    pub first: Option<(u32, u32)>,
}

impl ShortReceives {
    /// Counts a receive that is smaller than its message.
    #[cold]
    fn add(&mut self, receive: u32, send: u32) {
        self.count += 1;
        let known = self.first.unwrap_or((u32::MAX, u32::MAX));
        self.first = Some(known.min((receive, send)));
    }
}

/// In place of a number of dependencies: the operation is done.
const DONE: u32 = u32::MAX;
/// No operation.
pub(super) const NONE: u32 = u32::MAX;

/// The state of an operation in a run.
#[derive(Debug, Clone, Copy)]
#[repr(align(16))]
pub(super) struct OperationState {
    /// The earliest time at which it may begin, by its dependencies. Once it has begun, the field
    /// is reused for other times.
    pub(super) time: u64,
    /// The receive of a send, or the send of a receive, once they have met.
    pub(super) partner: u32,
    /// Number of dependencies that it still waits for, or [`DONE`].
    count: u32,
}

/// The state of a run: ranks, pending events and waiting messages.
#[derive(Debug)]
pub(super) struct ScheduleRunState<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) matching: MessageMatcher,
    pub(super) ranks: RankStates,
    /// Receives that are smaller than their messages.
    short: ShortReceives,
    /// For each operation, the number of dependencies that it still waits for, or [`DONE`]; empty
    /// in the dialect `causal`, which has them in `own`.
    counts: Vec<u32>,
    /// The state of each operation; empty in other dialects than `causal`.
    own: Vec<OperationState>,
    /// Whether the schedule is large enough for prefetching.
    is_large: bool,
    pub(super) queue: EventQueue,
    serial: u64,
    /// Numbers: operations begun and messages arrived; messages alone; events processed; events
    /// between two checks for an interrupt; and an estimate of all events.
    pub(super) events: u64,
    pub(super) messages: u64,
    looks: u64,
    stride: u64,
    total: u64,
    waiting: HashMap<EventResources, ResourceWaitQueue, QuickHashBuilder>,
    /// Operations that have become free to begin: those at the event's rank, then those at the
    /// other.
    free: [Vec<u32>; 2],
}

impl<'a> ScheduleRunState<'a> {
    /// A machine at the start of a run; operations without dependencies are queued. If `is_causal`,
    /// no operation begins before its dependencies allow.
    pub(super) fn new(schedule: &'a Schedule, is_causal: bool) -> Self {
        let mut counts = schedule.counts();
        let mut own = Vec::new();
        if is_causal {
            own = counts
                .iter()
                .map(|&count| OperationState { time: 0, partner: NONE, count })
                .collect();
            counts = Vec::new();
        }
        let mut new = Self {
            schedule,
            matching: MessageMatcher::new(schedule),
            ranks: RankStates::new(schedule.ranks(), schedule.cpus(), schedule.nics()),
            short: ShortReceives::default(),
            counts,
            own,
            is_large: false,
            queue: EventQueue::new(),
            serial: 0,
            events: 0,
            messages: 0,
            looks: 0,
            stride: STRIDES[0],
            total: schedule.ops().len() as u64 + schedule.messages(),
            waiting: HashMap::default(),
            free: [Vec::new(), Vec::new()],
        };
        new.is_large = new.is_worth_looking_ahead();
        for rank in 0..schedule.ranks() {
            let mut free = std::mem::take(&mut new.free[0]);
            free.extend(schedule.of_rank(rank).filter(|&op| new.count(op) == 0));
            new.release(rank, &mut free);
            new.free[0] = free;
        }
        new
    }

    /// This machine for a run over a network, where events take longer.
    pub(super) fn over_network(mut self) -> Self {
        self.stride = STRIDES[1];
        self
    }

    /// The next event.
    #[inline]
    pub(super) fn next(
        &mut self,
        watch: &dyn ProgressWatch,
    ) -> Result<Option<PendingScheduleEvent>, Interrupted> {
        let Some(TimedScheduleEvent { time, key, op, rank }) = self.queue.pop() else {
            return Ok(None);
        };
        self.looks += 1;
        if self.looks.is_multiple_of(self.stride) {
            watch.tick("events", self.events, self.total)?;
        }
        if self.is_large && self.queue.is_news() {
            self.look_ahead();
        }
        Ok(Some(PendingScheduleEvent {
            now: time,
            what: ScheduleEventKind::of(key),
            op,
            rank,
            key,
        }))
    }

    /// The operation of this number.
    #[inline]
    pub(super) fn op(&self, op: u32) -> ScheduleOperation {
        self.schedule.ops()[op as usize]
    }

    /// The number of dependencies that an operation still waits for.
    #[inline]
    pub(super) fn count(&self, op: u32) -> u32 {
        match self.own.get(op as usize) {
            Some(own) => own.count,
            None => self.counts[op as usize],
        }
    }

    /// The receive of a send, or the send of a receive, in the dialect `causal`; otherwise `op`
    /// itself.
    pub(super) fn partner(&self, op: u32) -> u32 {
        self.own.get(op as usize).map_or(op, |own| own.partner)
    }

    /// The state of an operation in the dialect `causal`.
    #[inline]
    pub(super) fn own(&mut self, op: u32) -> &mut OperationState {
        &mut self.own[op as usize]
    }

    /// The time from which a processor of a rank is free, for changing.
    #[inline]
    pub(super) fn cpu(&mut self, rank: u32, cpu: u8) -> &mut u64 {
        self.ranks.cpu(rank, cpu)
    }

    /// The time from which an interface of a rank may send, for changing.
    #[inline]
    pub(super) fn sends(&mut self, rank: u32, nic: u8) -> &mut u64 {
        self.ranks.sends(rank, nic)
    }

    /// The time from which an interface of a rank may receive, for changing.
    #[inline]
    pub(super) fn takes(&mut self, rank: u32, nic: u8) -> &mut u64 {
        self.ranks.takes(rank, nic)
    }

    /// Handles the arrival at `rank` of the message that `op` of `source` sent: returns the receive
    /// that takes it, if one is posted.
    #[inline]
    pub(super) fn arrives(&mut self, rank: u32, source: u32, tag: u32, op: u32) -> Option<u32> {
        let receive = self.matching.arrive(self.ranks.heads(rank), rank, (source, tag), op);
        if let Some(receive) = receive {
            self.compares(receive, op);
        }
        receive
    }

    /// Posts the receive `op`: returns the message that it takes and the rank that sent it, if one
    /// waits.
    #[inline]
    pub(super) fn posted(&mut self, rank: u32, op: u32) -> Option<(u32, u32)> {
        let it = self.op(op);
        let message = self.matching.post(self.ranks.heads(rank), rank, (it.peer, it.tag), op);
        if let Some((send, _)) = message {
            self.compares(op, send);
        }
        message
    }

    /// Notes a receive that is smaller than the message that it takes.
    #[inline]
    fn compares(&mut self, receive: u32, send: u32) {
        if self.op(receive).size < self.op(send).size {
            self.short.add(receive, send);
        }
    }

    /// The time from which all resources that an event needs are free.
    #[inline]
    fn free_at(&mut self, needs: EventResources) -> u64 {
        let cpu = *self.cpu(needs.rank, needs.cpu);
        match needs.side {
            InterfaceSide::Neither => cpu,
            InterfaceSide::Out => cpu.max(*self.sends(needs.rank, needs.nic)),
            InterfaceSide::In => cpu.max(*self.takes(needs.rank, needs.nic)),
            InterfaceSide::InAlone => *self.takes(needs.rank, needs.nic),
        }
    }

    /// Queues an event of `op`, or of the message that it sent, for `time`.
    #[inline]
    pub(super) fn at(&mut self, time: u64, what: ScheduleEventKind, op: u32, rank: u32) {
        let key = self.serial << SERIAL | what as u64;
        self.serial += 1;
        self.queue.push(TimedScheduleEvent { time, key, op, rank });
    }

    /// Queues an event for `time` that is processed after all others of that time.
    pub(super) fn last_at(&mut self, time: u64, what: ScheduleEventKind) {
        let key = u64::MAX << SERIAL | what as u64;
        self.queue.push(TimedScheduleEvent { time, key, op: 0, rank: 0 });
    }

    /// The resources that `op`, or a message that it sent, needs at `rank`.
    #[inline]
    pub(super) fn needs(rank: u32, op: &ScheduleOperation, side: InterfaceSide) -> EventResources {
        let cpu = if side == InterfaceSide::InAlone { 0 } else { op.cpu };
        EventResources {
            rank,
            cpu,
            nic: if side == InterfaceSide::Neither { 0 } else { op.nic },
            side,
        }
    }

    /// Whether an event may happen now. If not, it waits for its resources and is queued again.
    ///
    /// Events that wait for the same resources are queued again when these are free, in the order
    /// of their keys. The first of them represents all of them in the queue.
    #[inline]
    pub(super) fn may(&mut self, due: &PendingScheduleEvent, needs: EventResources) -> bool {
        let free = self.free_at(needs);
        if due.key & WAITS != 0 {
            let Some(waiting) = self.waiting.get_mut(&needs) else { return false };
            if waiting.stands != (due.now, due.key) {
                return false;
            }
            if free > due.now {
                waiting.stands.0 = free;
                self.queue.push(TimedScheduleEvent {
                    time: free,
                    key: due.key,
                    op: due.op,
                    rank: due.rank,
                });
                return false;
            }
            return true;
        }
        if free <= due.now {
            return true;
        }
        let key = due.key | WAITS;
        let waiting = self.waiting.entry(needs).or_default();
        let is_first = waiting.all.peek().is_none_or(|Reverse(first)| key < first.0);
        waiting.all.push(Reverse((key, due.op, due.rank)));
        if is_first {
            waiting.stands = (free, key);
            self.queue.push(TimedScheduleEvent { time: free, key, op: due.op, rank: due.rank });
        }
        false
    }

    /// Is called after an event that [`ScheduleRunState::may`] happen: queues the next event that
    /// waits for the same resources.
    #[inline]
    pub(super) fn happened(&mut self, due: &PendingScheduleEvent, needs: EventResources) {
        if due.key & WAITS == 0 {
            return;
        }
        let free = self.free_at(needs).max(due.now);
        let Some(waiting) = self.waiting.get_mut(&needs) else { return };
        waiting.all.pop();
        match waiting.all.peek() {
            None => {
                self.waiting.remove(&needs);
            }
            Some(&Reverse((key, op, rank))) => {
                waiting.stands = (free, key);
                self.queue.push(TimedScheduleEvent { time: free, key, op, rank });
            }
        }
    }

    /// Records that `op` began at `time`: operations that depend on its start may become free.
    /// `other` says whether they are at the event's other rank.
    #[inline]
    pub(super) fn begun(&mut self, op: u32, other: bool, time: u64) {
        let schedule = self.schedule;
        self.lower(schedule.require_start(op), other, time);
    }

    /// Records that `op` is done at `time`, unless it was before: operations that depend on it may
    /// become free.
    #[inline]
    pub(super) fn done(&mut self, op: u32, other: bool, time: u64) {
        let count = match self.own.get_mut(op as usize) {
            Some(own) => &mut own.count,
            None => &mut self.counts[op as usize],
        };
        if std::mem::replace(count, DONE) == DONE {
            return;
        }
        let schedule = self.schedule;
        self.lower(schedule.require(op), other, time);
    }

    #[inline]
    fn lower(&mut self, waiting: &[u32], other: bool, time: u64) {
        for &op in waiting {
            let count = match self.own.get_mut(op as usize) {
                Some(own) => {
                    own.time = time.max(own.time);
                    &mut own.count
                }
                None => &mut self.counts[op as usize],
            };
            *count -= 1;
            if *count == 0 {
                self.free[usize::from(other)].push(op);
            }
        }
    }

    /// Queues the operations that have become free at `rank` and at `other`, the lower rank first.
    #[inline]
    pub(super) fn release_all(&mut self, rank: u32, other: u32) {
        if self.free[0].is_empty() && self.free[1].is_empty() {
            return;
        }
        let [mut own, mut others] = std::mem::take(&mut self.free);
        if rank == other {
            own.append(&mut others);
        }
        if other < rank {
            self.release(other, &mut others);
        }
        self.release(rank, &mut own);
        self.release(other, &mut others);
        self.free = [own, others];
    }

    /// Queues the free operations of a rank: first sends, then receives, then calculations; each
    /// kind in the order in which they became free.
    fn release(&mut self, rank: u32, free: &mut Vec<u32>) {
        if free.len() > 1 {
            free.sort_by_key(|&op| self.op(op).kind);
        }
        for op in free.drain(..) {
            let time = if let Some(own) = self.own.get(op as usize) {
                own.time
            } else {
                let it = self.op(op);
                let side = if it.kind == OperationKind::Send {
                    InterfaceSide::Out
                } else {
                    InterfaceSide::Neither
                };
                self.free_at(Self::needs(rank, &it, side))
            };
            self.at(time, ScheduleEventKind::Begin, op, rank);
        }
    }

    /// The result of the run, once no events are left: a rank is done when the last of its
    /// processors is free.
    pub(super) fn found(&mut self) -> ScheduleRunResult {
        let left = self.left();
        // frees memory that is no longer needed, for the results
        (self.queue, self.matching) = (EventQueue::default(), MessageMatcher::default());
        (self.counts, self.own) = (Vec::new(), Vec::new());
        ScheduleRunResult {
            finish: self.ranks.finish(),
            events: self.events,
            messages: self.messages,
            left,
            used: None,
            trace: None,
            short: self.short,
        }
    }

    /// The operations that are left over at the end; none if all are done.
    fn left(&self) -> Option<UnfinishedOperations> {
        let all = 0..self.schedule.ops().len() as u32;
        let undone = || all.clone().filter(|&op| self.count(op) != DONE);
        let waits = |op: &u32| self.count(*op) > 0;
        let sends = |op: &u32| !waits(op) && self.op(*op).kind == OperationKind::Send;
        let left = UnfinishedOperations {
            stuck: undone().filter(waits).collect(),
            sends: undone().filter(sends).collect(),
            receives: self.matching.receives(),
            messages: self.matching.messages(),
        };
        let none = undone().next().is_none() && left.messages.is_empty();
        (!none).then_some(left)
    }
}
