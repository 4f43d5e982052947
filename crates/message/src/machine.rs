//! What schedules are run on: processors and interfaces of all ranks, and who waits for them.

use super::left::LeftOverOperations;
use super::matching::Matching;
use super::net::ChannelUse;
use super::queue::{EventQueue, TimedEvent};
use super::ranks::AllRanks;
use super::trace::OperationTimes;
use base::quick::QuickHashBuilder;
use base::{Interrupted, Watch};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use traffic::workload::{Op, OperationKind, Schedule};

/// The kind of an event: what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum EventKind {
    /// A send, receive or calculation that may begin.
    Begin,
    /// A message that arrives, or the question whether it may come.
    Arrive,
    /// A receiver that answers that it may.
    Answer,
    /// The answer, at the sender, which sends.
    Data,
    /// The message itself, after the question.
    DataArrive,
    /// A receiver that takes a message.
    Take,
    /// A message that enters the network.
    Enter,
    /// The network is looked at, after all else that happens at the time.
    Net,
}

impl EventKind {
    /// That of an event's key.
    #[inline]
    pub(super) fn of(key: u64) -> Self {
        WHAT[(key & 7) as usize]
    }

    /// Whether a message comes to another rank than the event's.
    #[inline]
    pub(super) fn is_arrival(self) -> bool {
        matches!(self, Self::Arrive | Self::DataArrive)
    }
}

const WHAT: [EventKind; 8] = [
    EventKind::Begin,
    EventKind::Arrive,
    EventKind::Answer,
    EventKind::Data,
    EventKind::DataArrive,
    EventKind::Take,
    EventKind::Enter,
    EventKind::Net,
];

/// Keys are serial numbers with bits below: three of what it is, and one of whether it stands for
/// those that wait for a processor.
const WAITS: u64 = 8;
const SERIAL: u32 = 4;
/// Events between two looks at whether the user wants to stop; and over a network, where an event
/// may take as long as all messages in flight ask for.
const STRIDES: [u64; 2] = [1 << 16, 1 << 7];

/// An event that may happen.
#[derive(Debug, Clone, Copy)]
pub(super) struct DueEvent {
    pub(super) now: u64,
    pub(super) what: EventKind,
    pub(super) op: u32,
    /// The rank of the operation; of a message, the rank that sent it.
    pub(super) rank: u32,
    key: u64,
}

/// The resources that an event needs: a processor, and for messages an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EventNeeds {
    rank: u32,
    cpu: u8,
    nic: u8,
    side: InterfaceSide,
}

/// The side of an interface: sending or receiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(super) enum InterfaceSide {
    /// None.
    Neither,
    /// Sending.
    Out,
    /// Receiving.
    In,
    /// Receiving, without a processor.
    InAlone,
}

/// The waiting events that need the same, by key, and the event that stands for the first of them.
#[derive(Debug, Default)]
struct WaitingEvents {
    all: BinaryHeap<Reverse<(u64, u32, u32)>>,
    stands: (u64, u64),
}

/// The result of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunResult {
    /// When each rank is done: nanoseconds, or picoseconds where that is causal.
    pub finish: Vec<u64>,
    /// Operations begun and messages arrived.
    pub events: u64,
    /// Messages that arrived.
    pub messages: u64,
    /// What was left over, where the schedule cannot come to its end.
    pub left: Option<LeftOverOperations>,
    /// What went over the network, where there is one.
    pub used: Option<ChannelUse>,
    /// When everything happened, where that was asked for.
    pub trace: Option<OperationTimes>,
}

/// In place of how many dependencies an operation still has: it is done.
const DONE: u32 = u32::MAX;
/// No operation.
pub(super) const NONE: u32 = u32::MAX;

/// The state of an operation in a run.
#[derive(Debug, Clone, Copy)]
#[repr(align(16))]
pub(super) struct OpState {
    /// When it may begin, by what it waits for. Once it has begun that is of no use, and there are
    /// other times here.
    pub(super) time: u64,
    /// The receive of a send, or the send of a receive, once they have met.
    pub(super) partner: u32,
    /// Dependencies that it still has, or [`DONE`].
    count: u32,
}

/// Ranks, and what waits.
#[derive(Debug)]
pub(super) struct Machine<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) matching: Matching,
    pub(super) ranks: AllRanks,
    /// Dependencies that each operation still has, or [`DONE`]; empty where `own` has them.
    counts: Vec<u32>,
    /// What is known of each operation where that is causal.
    own: Vec<OpState>,
    /// Whether it is worth it to look ahead.
    is_large: bool,
    pub(super) queue: EventQueue,
    serial: u64,
    /// Operations begun and messages arrived; messages alone; events looked at; about how many
    /// there will be.
    pub(super) events: u64,
    pub(super) messages: u64,
    looks: u64,
    stride: u64,
    total: u64,
    waiting: HashMap<EventNeeds, WaitingEvents, QuickHashBuilder>,
    /// Operations that have become free, by the rank: the event's own, then the other's.
    free: [Vec<u32>; 2],
}

impl<'a> Machine<'a> {
    /// At the start, with all operations queued that wait for nothing. Where it `is_causal` an
    /// operation begins no earlier than what it waits for allows.
    pub(super) fn new(schedule: &'a Schedule, is_causal: bool) -> Self {
        let mut counts = schedule.counts();
        let mut own = Vec::new();
        if is_causal {
            own = counts.iter().map(|&count| OpState { time: 0, partner: NONE, count }).collect();
            counts = Vec::new();
        }
        let mut new = Self {
            schedule,
            matching: Matching::new(schedule),
            ranks: AllRanks::new(schedule.ranks(), schedule.cpus(), schedule.nics()),
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
    pub(super) fn next(&mut self, watch: &dyn Watch) -> Result<Option<DueEvent>, Interrupted> {
        let Some(TimedEvent { time, key, op, rank }) = self.queue.pop() else { return Ok(None) };
        self.looks += 1;
        if self.looks.is_multiple_of(self.stride) {
            watch.tick("events", self.events, self.total)?;
        }
        if self.is_large && self.queue.is_news() {
            self.look_ahead();
        }
        Ok(Some(DueEvent { now: time, what: EventKind::of(key), op, rank, key }))
    }

    /// The operation of that number.
    #[inline]
    pub(super) fn op(&self, op: u32) -> Op {
        self.schedule.ops()[op as usize]
    }

    /// Dependencies that an operation still has.
    #[inline]
    pub(super) fn count(&self, op: u32) -> u32 {
        match self.own.get(op as usize) {
            Some(own) => own.count,
            None => self.counts[op as usize],
        }
    }

    /// What an operation has met, where that is causal; else itself.
    pub(super) fn partner(&self, op: u32) -> u32 {
        self.own.get(op as usize).map_or(op, |own| own.partner)
    }

    /// What is known of an operation, where that is causal.
    #[inline]
    pub(super) fn own(&mut self, op: u32) -> &mut OpState {
        &mut self.own[op as usize]
    }

    /// When a processor of a rank is free.
    #[inline]
    pub(super) fn cpu(&mut self, rank: u32, cpu: u8) -> &mut u64 {
        self.ranks.cpu(rank, cpu)
    }

    /// When an interface of a rank may send.
    #[inline]
    pub(super) fn sends(&mut self, rank: u32, nic: u8) -> &mut u64 {
        self.ranks.sends(rank, nic)
    }

    /// When it may receive.
    #[inline]
    pub(super) fn takes(&mut self, rank: u32, nic: u8) -> &mut u64 {
        self.ranks.takes(rank, nic)
    }

    /// The message sent by `op` of `source` arrives at `rank`: the receive that takes it.
    #[inline]
    pub(super) fn arrives(&mut self, rank: u32, source: u32, tag: u32, op: u32) -> Option<u32> {
        self.matching.arrive(self.ranks.heads(rank), rank, (source, tag), op)
    }

    /// The receive `op` is posted: the message that it takes, and the rank that sent it.
    #[inline]
    pub(super) fn posted(&mut self, rank: u32, op: u32) -> Option<(u32, u32)> {
        let it = self.op(op);
        self.matching.post(self.ranks.heads(rank), rank, (it.peer, it.tag), op)
    }

    /// When all that an event needs is free.
    #[inline]
    fn free_at(&mut self, needs: EventNeeds) -> u64 {
        let cpu = *self.cpu(needs.rank, needs.cpu);
        match needs.side {
            InterfaceSide::Neither => cpu,
            InterfaceSide::Out => cpu.max(*self.sends(needs.rank, needs.nic)),
            InterfaceSide::In => cpu.max(*self.takes(needs.rank, needs.nic)),
            InterfaceSide::InAlone => *self.takes(needs.rank, needs.nic),
        }
    }

    /// Queues `op` of `rank`, or the message that it sent, for `time`.
    #[inline]
    pub(super) fn at(&mut self, time: u64, what: EventKind, op: u32, rank: u32) {
        let key = self.serial << SERIAL | what as u64;
        self.serial += 1;
        self.queue.push(TimedEvent { time, key, op, rank });
    }

    /// Queues `what` for `time`, after all else that happens then.
    pub(super) fn last_at(&mut self, time: u64, what: EventKind) {
        let key = u64::MAX << SERIAL | what as u64;
        self.queue.push(TimedEvent { time, key, op: 0, rank: 0 });
    }

    /// What `op` needs, or a message that it sent, at `rank`.
    #[inline]
    pub(super) fn needs(rank: u32, op: &Op, side: InterfaceSide) -> EventNeeds {
        let cpu = if side == InterfaceSide::InAlone { 0 } else { op.cpu };
        EventNeeds { rank, cpu, nic: if side == InterfaceSide::Neither { 0 } else { op.nic }, side }
    }

    /// Whether an event may happen now. Where it may not it waits, and comes again.
    ///
    /// All that wait for the same come again when it is free, in the order of their keys: one of
    /// them, the first, stands for all in the queue.
    #[inline]
    pub(super) fn may(&mut self, due: &DueEvent, needs: EventNeeds) -> bool {
        let free = self.free_at(needs);
        if due.key & WAITS != 0 {
            let Some(waiting) = self.waiting.get_mut(&needs) else { return false };
            if waiting.stands != (due.now, due.key) {
                return false;
            }
            if free > due.now {
                waiting.stands.0 = free;
                self.queue.push(TimedEvent {
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
            self.queue.push(TimedEvent { time: free, key, op: due.op, rank: due.rank });
        }
        false
    }

    /// After an event that [`Machine::may`] happen: the next one that waits for the same stands
    /// for the rest.
    #[inline]
    pub(super) fn happened(&mut self, due: &DueEvent, needs: EventNeeds) {
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
                self.queue.push(TimedEvent { time: free, key, op, rank });
            }
        }
    }

    /// `op` has begun at `time`: what waits for that of the event's own rank, or of the other.
    #[inline]
    pub(super) fn begun(&mut self, op: u32, other: bool, time: u64) {
        let schedule = self.schedule;
        self.lower(schedule.require_start(op), other, time);
    }

    /// `op` is done at `time`, if it was not before.
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

    /// Queues what has become free of `rank` and of `other`, in ascending order of the ranks.
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

    /// Queues operations of a rank: sends, receives, calculations, else in the order in which they
    /// became free.
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
            self.at(time, EventKind::Begin, op, rank);
        }
    }

    /// What the run found, once there are no more events: a rank is done when the last of its
    /// processors is free.
    pub(super) fn found(&mut self) -> RunResult {
        let left = self.left();
        // what is not needed any more makes room for what was found
        (self.queue, self.matching) = (EventQueue::default(), Matching::default());
        (self.counts, self.own) = (Vec::new(), Vec::new());
        RunResult {
            finish: self.ranks.finish(),
            events: self.events,
            messages: self.messages,
            left,
            used: None,
            trace: None,
        }
    }

    /// What is left over at the end.
    fn left(&self) -> Option<LeftOverOperations> {
        let all = 0..self.schedule.ops().len() as u32;
        let undone = || all.clone().filter(|&op| self.count(op) != DONE);
        let waits = |op: &u32| self.count(*op) > 0;
        let sends = |op: &u32| !waits(op) && self.op(*op).kind == OperationKind::Send;
        let left = LeftOverOperations {
            stuck: undone().filter(waits).collect(),
            sends: undone().filter(sends).collect(),
            receives: self.matching.receives(),
            messages: self.matching.messages(),
        };
        let none = undone().next().is_none() && left.messages.is_empty();
        (!none).then_some(left)
    }
}
