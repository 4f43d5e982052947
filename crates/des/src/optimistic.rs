//! Time Warp in rounds: parts run ahead speculatively, and undo events that were handled too early.
//!
//! In a round, every part handles its events of a bounded span of time; then all parts exchange the
//! events that they sent and the cancellations of events. An event that arrives late at a logical
//! process undoes the events that the process has handled after it: their changes are undone, and
//! the events that they sent are cancelled wherever they are by then. Events earlier than all
//! unhandled ones are final and get committed.
//!
//! Source: Jefferson, "Virtual time", TOPLAS 7(3), 1985; rounds as in Steinman, "Breathing time
//! warp", PADS 1993.

use crate::model::{
    CurrentEvent, Event, EventKey, HandlerContext, LpNumber, RANGE_PS, SimulationModel,
    SimulationOutcome, check, endless, out_of_range,
};
use crate::queue::EventQueue;
use crate::windows::{LpPartResult, LpPartition, joined, lock};
use base::seed::FastRandomStream;
use base::team::{ThreadBarrier, together};
use base::{ComputationError, Interrupted, ProgressWatch, QuietWatch};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The options of the optimistic engine: the length of rounds, and variants that test the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptimisticEngineOptions {
    /// The length of a round, ps: events later than its start plus this are not handled in it.
    pub span_ps: u64,
    /// Whether every event is handled, undone and handled again, to test the undoing.
    pub forced: bool,
    /// A seed for handling the events of a round in a random order, nearly all of them too early,
    /// to test the engine. `None`: in the order of their keys.
    pub hostile: Option<u64>,
}

impl OptimisticEngineOptions {
    /// Rounds of this length, with events in order.
    pub fn new(span_ps: u64) -> Self {
        Self { span_ps, forced: false, hostile: None }
    }
}

/// A message between parts: an event, or its cancellation.
#[derive(Clone, Copy)]
enum EventOrCancellation<E> {
    Event(Event<E>),
    /// The cancellation of an event: its key, and the process that it was for.
    Cancel(EventKey, LpNumber),
}

/// The length of rounds: that of the options, halved while many events are undone.
struct AdaptiveRoundLength {
    span_ps: u64,
    options: OptimisticEngineOptions,
    /// The numbers of events that all parts together had handled and undone before the last round.
    before: (u64, u64),
}

impl AdaptiveRoundLength {
    fn new(options: OptimisticEngineOptions) -> Self {
        Self { span_ps: options.span_ps.max(1), options, before: (0, 0) }
    }

    /// The length of the next round in ps, from the numbers of events handled and undone so far.
    fn next_ps(&mut self, (handled, undone): (u64, u64)) -> u64 {
        let (new, lost) = (handled - self.before.0, undone - self.before.1);
        self.before = (handled, undone);
        if self.options.forced || self.options.hostile.is_some() {
            return self.span_ps;
        }
        if 2 * lost > new {
            self.span_ps = (self.span_ps / 2).max(1);
        } else if 8 * lost < new {
            self.span_ps = self.span_ps.saturating_mul(2).min(self.options.span_ps.max(1));
        }
        self.span_ps
    }
}

/// The memory through which the threads of all parts exchange messages and counts.
struct RoundExchangeMemory<E> {
    parts: usize,
    meeting: ThreadBarrier,
    sent: Vec<Mutex<Vec<EventOrCancellation<E>>>>,
    firsts_ps: Vec<AtomicU64>,
    /// The numbers of events that each part has handled and undone.
    counts: Vec<[AtomicU64; 2]>,
    /// Whether any part has sent messages that the others must receive; two flags, used in turn.
    busy: [AtomicBool; 2],
    stop: AtomicBool,
}

/// An event that was handled, with what is needed to undo it.
struct HandledEvent<M: SimulationModel> {
    event: Event<M::Event>,
    /// The numbers in the logs at which its changes, sent events and records begin.
    changes: u64,
    sent: u64,
    records: u64,
    serial: u32,
    /// The number of the event that the same logical process handled before.
    before: Option<u64>,
    undone: bool,
    /// Whether the event's handler sent an event for a time out of range.
    too_late: bool,
}

/// A log that grows at its end and drops its oldest items; items keep their numbers.
struct NumberedLog<T> {
    first: u64,
    items: VecDeque<T>,
}

impl<T> NumberedLog<T> {
    fn new() -> Self {
        Self { first: 0, items: VecDeque::new() }
    }

    fn end(&self) -> u64 {
        self.first + self.items.len() as u64
    }

    fn get(&self, at: u64) -> &T {
        &self.items[(at - self.first) as usize]
    }

    fn get_mut(&mut self, at: u64) -> &mut T {
        &mut self.items[(at - self.first) as usize]
    }

    fn forget(&mut self, before: u64) {
        let count = before.saturating_sub(self.first).min(self.items.len() as u64);
        self.items.drain(..count as usize);
        self.first += count;
    }
}

/// A context that keeps changes, sent events and records, so that they can be undone.
struct UndoableContext<'a, M: SimulationModel> {
    changes: &'a mut NumberedLog<M::Change>,
    sent: &'a mut NumberedLog<Event<M::Event>>,
    records: &'a mut NumberedLog<M::Record>,
    turn: CurrentEvent,
}

impl<M: SimulationModel> HandlerContext<M> for UndoableContext<'_, M> {
    const KEEPS: bool = true;

    fn me(&self) -> LpNumber {
        self.turn.me
    }

    fn now_ps(&self) -> u64 {
        self.turn.key.time_ps()
    }

    #[inline]
    fn send(&mut self, to: LpNumber, delay_ps: u64, what: M::Event) {
        let key = self.turn.sent(delay_ps);
        self.sent.items.push_back(Event { key, to, what });
    }

    #[inline]
    fn note(&mut self, was: impl FnOnce() -> M::Change) {
        self.changes.items.push_back(was());
    }

    #[inline]
    fn record(&mut self, record: M::Record) {
        self.records.items.push_back(record);
    }
}

/// A part of the logical processes with its event queue and its logs.
struct OptimisticLpPart<'a, M: SimulationModel> {
    model: &'a M,
    placed: &'a LpPartition,
    me: usize,
    queue: EventQueue<M::Event>,
    out: Vec<Vec<EventOrCancellation<M::Event>>>,
    states: Vec<M::State>,
    serials: Vec<u32>,
    /// The number of the last event that each logical process has handled.
    last: Vec<Option<u64>>,
    done: NumberedLog<HandledEvent<M>>,
    changes: NumberedLog<M::Change>,
    sent: NumberedLog<Event<M::Event>>,
    records: NumberedLog<M::Record>,
    /// Events for this part that are still to be cancelled.
    cancelled: Vec<(EventKey, LpNumber)>,
    tally: M::Tally,
    handled: u64,
    undone: u64,
    last_ps: u64,
    failed: Option<ComputationError>,
    /// The time and process at which events seem to cause one another without end. These events may
    /// still be undone. `None` where there are no such events.
    deep: Option<(u64, LpNumber)>,
    /// Whether committed events have sent events for times out of range.
    too_late: bool,
}

impl<M: SimulationModel> OptimisticLpPart<'_, M> {
    fn start(&mut self) {
        for me in self.placed.of(self.me) {
            let turn = CurrentEvent::new(me, EventKey::FIRST, 0);
            let (changes, sent, records) = (&mut self.changes, &mut self.sent, &mut self.records);
            let mut to = UndoableContext::<M> { changes, sent, records, turn };
            self.states.push(self.model.start(&mut to));
            self.serials.push(to.turn.serial);
            self.too_late |= to.turn.too_late;
            self.last.push(None);
        }
        // events that processes send at the start are never undone
        self.deliver(self.sent.first);
        self.sent.forget(self.sent.end());
        self.changes.forget(self.changes.end());
        for record in self.records.items.drain(..) {
            self.model.count(&mut self.tally, record);
        }
    }

    /// Delivers the events that were sent from number `from` on.
    fn deliver(&mut self, from: u64) {
        for at in from..self.sent.end() {
            let event = *self.sent.get(at);
            let part = usize::from(self.placed.part_of[event.to as usize]);
            if part == self.me {
                self.arrive(event);
            } else {
                self.out[part].push(EventOrCancellation::Event(event));
            }
        }
    }

    /// Receives an event, and undoes the events that its process has handled after it.
    fn arrive(&mut self, event: Event<M::Event>) {
        self.roll_back(event.to, event.key);
        self.queue.push(event);
    }

    /// Undoes the events that a process has handled after `key`, and then all events that this
    /// cancels.
    fn roll_back(&mut self, lp: LpNumber, key: EventKey) {
        let at = self.placed.local[lp as usize] as usize;
        while let Some(number) = self.last(at)
            && self.done.get(number).event.key > key
        {
            self.undo_last(at);
        }
        self.cancel_all();
    }

    /// Cancels the events that undone events had sent, until none is left.
    fn cancel_all(&mut self) {
        while let Some((key, lp)) = self.cancelled.pop() {
            self.cancel(key, lp);
        }
    }

    /// The number of the last event that a process has handled; `None` where it cannot be undone
    /// any more.
    fn last(&self, at: usize) -> Option<u64> {
        self.last[at].filter(|&number| number >= self.done.first)
    }

    /// Cancels an event of this part.
    fn cancel(&mut self, key: EventKey, lp: LpNumber) {
        // the event is in the queue, or it was handled; then undoing it puts it back into the queue
        if self.queue.remove(key).is_none() {
            let at = self.placed.local[lp as usize] as usize;
            while let Some(number) = self.last(at)
                && self.done.get(number).event.key >= key
            {
                self.undo_last(at);
            }
            let was_there = self.queue.remove(key);
            debug_assert!(was_there.is_some(), "an event that is taken back was sent before");
        }
    }

    /// Undoes the last event of a process.
    fn undo_last(&mut self, at: usize) {
        let Some(number) = self.last(at) else { return };
        let last = number + 1 == self.done.end();
        let next = if last { None } else { Some(self.done.get(number + 1)) };
        let changes_end = next.map_or(self.changes.end(), |next| next.changes);
        let sent_end = next.map_or(self.sent.end(), |next| next.sent);
        let done = self.done.get_mut(number);
        done.undone = true;
        let (event, changes, sent) = (done.event, done.changes, done.sent);
        self.serials[at] = done.serial;
        self.last[at] = done.before;
        for change in (changes..changes_end).rev() {
            self.model.undo(&mut self.states[at], *self.changes.get(change));
        }
        for number in sent..sent_end {
            let Event { key, to, .. } = *self.sent.get(number);
            let part = usize::from(self.placed.part_of[to as usize]);
            if part == self.me {
                self.cancelled.push((key, to));
            } else {
                self.out[part].push(EventOrCancellation::Cancel(key, to));
            }
        }
        self.undone += 1;
        self.queue.push(event);
    }

    fn handle(&mut self, event: Event<M::Event>) {
        let at = self.placed.local[event.to as usize] as usize;
        let serial = self.serials[at];
        let done = HandledEvent {
            event,
            changes: self.changes.end(),
            sent: self.sent.end(),
            records: self.records.end(),
            serial,
            before: self.last[at],
            undone: false,
            too_late: false,
        };
        let turn = CurrentEvent::new(event.to, event.key, serial);
        let (changes, sent, records) = (&mut self.changes, &mut self.sent, &mut self.records);
        let mut to = UndoableContext::<M> { changes, sent, records, turn };
        self.model.handle(&mut self.states[at], event.what, &mut to);
        let turn = to.turn;
        if turn.too_deep {
            self.deep = Some((event.key.time_ps(), event.to));
        }
        self.serials[at] = turn.serial;
        let (number, from) = (self.done.end(), done.sent);
        self.last[at] = Some(number);
        self.done.items.push_back(HandledEvent { too_late: turn.too_late, ..done });
        self.handled += 1;
        self.deliver(from);
    }

    /// Handles the events before `limit_ps`.
    fn go(
        &mut self,
        limit_ps: u64,
        ahead: OptimisticEngineOptions,
        dice: Option<&mut FastRandomStream>,
    ) {
        if let Some(dice) = dice {
            let mut all = Vec::new();
            while let Some(event) = self.queue.pop_before(limit_ps) {
                all.push(event);
            }
            for last in (1..all.len()).rev() {
                all.swap(last, dice.below(last as u32 + 1) as usize);
            }
            // the events go back into the queue, because some get cancelled before they are
            // handled, and sent again with other contents
            for &event in &all {
                self.queue.push(event);
            }
            for Event { key, .. } in all {
                if let Some(event) = self.queue.remove(key) {
                    self.roll_back(event.to, key);
                    self.handle(event);
                }
            }
            return;
        }
        while let Some(event) = self.queue.pop_before(limit_ps) {
            self.queue.fetch_next(|lp| &self.states[self.placed.local[lp as usize] as usize]);
            self.handle(event);
            if ahead.forced {
                let at = self.placed.local[event.to as usize] as usize;
                // the process has handled nothing after this event, unless the event sent another
                // one to the same process for this time
                if self.last(at).is_some_and(|last| self.done.get(last).event.key == event.key) {
                    self.undo_last(at);
                    self.cancel_all();
                    if let Some(event) = self.queue.remove(event.key) {
                        self.handle(event);
                    }
                }
            }
            if self.deep.is_some() {
                return;
            }
        }
    }

    /// Commits the events earlier than `sure_ps`, before which no part has unhandled events.
    fn commit(&mut self, sure_ps: u64) {
        while let Some(done) = self.done.items.front() {
            if !done.undone && done.event.key.time_ps() >= sure_ps {
                break;
            }
            let next = self.done.items.get(1);
            let records = next.map_or(self.records.end(), |next| next.records);
            let changes = next.map_or(self.changes.end(), |next| next.changes);
            let sent = next.map_or(self.sent.end(), |next| next.sent);
            if !done.undone {
                self.last_ps = self.last_ps.max(done.event.key.time_ps());
                self.too_late |= done.too_late;
                for number in done.records..records {
                    self.model.count(&mut self.tally, *self.records.get(number));
                }
            }
            self.records.forget(records);
            self.changes.forget(changes);
            self.sent.forget(sent);
            let gone = self.done.first;
            self.done.forget(gone + 1);
        }
    }
}

/// The result of a part and the number of events it has undone; `None` where another part has
/// failed.
type PartOutcome<M> = Result<Option<(LpPartResult<M>, u64)>, ComputationError>;

/// Runs all events before `end_ps` optimistically, with a thread for each part of the logical
/// processes. The result is that of [`crate::sequential`].
///
/// # Errors
/// The errors of [`crate::sequential`].
pub fn optimistic<M: SimulationModel>(
    model: &M,
    part_of: &[u16],
    end_ps: u64,
    ahead: OptimisticEngineOptions,
    watch: &dyn ProgressWatch,
) -> Result<SimulationOutcome<M>, ComputationError> {
    check(model)?;
    let placed = LpPartition::new(part_of, model.lps())?;
    let parts = placed.parts();
    let boxes = RoundExchangeMemory {
        parts,
        meeting: ThreadBarrier::new(parts),
        sent: (0..parts * parts).map(|_| Mutex::new(Vec::new())).collect(),
        firsts_ps: (0..parts).map(|_| AtomicU64::new(0)).collect(),
        counts: (0..parts).map(|_| [AtomicU64::new(0), AtomicU64::new(0)]).collect(),
        busy: [AtomicBool::new(false), AtomicBool::new(false)],
        stop: AtomicBool::new(false),
    };
    let found: Vec<PartOutcome<M>> = together(&boxes.meeting, 0..parts, |_, me| {
        let watch: &dyn ProgressWatch = if me == 0 { watch } else { &QuietWatch };
        rounds(model, &placed, me, end_ps, ahead, &boxes, watch)
    });
    let (mut all, mut undone) = (Vec::with_capacity(parts), 0);
    for part in found {
        if let Some((part, times)) = part? {
            undone += times;
            all.push(part);
        }
    }
    if all.len() < parts {
        return Err(Interrupted.into());
    }
    Ok(SimulationOutcome { undone, ..joined(model, &placed, all) })
}

fn rounds<M: SimulationModel>(
    model: &M,
    placed: &LpPartition,
    me: usize,
    end_ps: u64,
    ahead: OptimisticEngineOptions,
    boxes: &RoundExchangeMemory<M::Event>,
    watch: &dyn ProgressWatch,
) -> PartOutcome<M> {
    let mut worker = OptimisticLpPart {
        model,
        placed,
        me,
        queue: EventQueue::new(),
        out: (0..boxes.parts).map(|_| Vec::new()).collect(),
        states: Vec::new(),
        serials: Vec::new(),
        last: Vec::new(),
        done: NumberedLog::new(),
        changes: NumberedLog::new(),
        sent: NumberedLog::new(),
        records: NumberedLog::new(),
        cancelled: Vec::new(),
        tally: model.tally(),
        handled: 0,
        undone: 0,
        last_ps: 0,
        failed: None,
        deep: None,
        too_late: false,
    };
    let mut dice = ahead.hostile.map(|seed| FastRandomStream::new(seed, "hostile", me as u64));
    let (mut windows, mut reach) = (0, AdaptiveRoundLength::new(ahead));
    worker.start();
    loop {
        if worker.failed.is_none() {
            let (what, done, all) = model.progress(&worker.tally, boxes.parts as u64);
            worker.failed = watch.tick(what, done, all).err().map(ComputationError::from);
        }
        if worker.failed.is_some() {
            boxes.stop.store(true, Relaxed);
        }
        settle(&mut worker, boxes)?;
        if boxes.stop.load(Relaxed) {
            return worker.failed.map_or(Ok(None), Err);
        }
        let first = worker.queue.first_ps().unwrap_or(u64::MAX);
        boxes.firsts_ps[me].store(first, Relaxed);
        boxes.counts[me][0].store(worker.handled, Relaxed);
        boxes.counts[me][1].store(worker.undone, Relaxed);
        boxes.meeting.wait()?;
        let sure_ps = boxes.firsts_ps.iter().map(|first| first.load(Relaxed)).min();
        let sure_ps = sure_ps.unwrap_or(u64::MAX).min(end_ps);
        let sum = |of: usize| boxes.counts.iter().map(|part| part[of].load(Relaxed)).sum();
        let span_ps = reach.next_ps((sum(0), sum(1)));
        boxes.meeting.wait()?;
        worker.commit(sure_ps);
        if let Some((time_ps, lp)) = worker.deep.take()
            && time_ps == sure_ps
        {
            worker.failed = Some(endless(lp, time_ps));
        }
        if worker.too_late && end_ps > RANGE_PS {
            worker.failed = Some(out_of_range());
        }
        if sure_ps >= end_ps {
            break;
        }
        windows += 1;
        let limit_ps = sure_ps.saturating_add(span_ps).min(end_ps);
        worker.go(limit_ps, ahead, dice.as_mut());
    }
    let OptimisticLpPart { states, tally, handled, undone, last_ps, failed, .. } = worker;
    if let Some(stop) = failed {
        return Err(stop);
    }
    let events = handled - undone;
    Ok(Some((LpPartResult { states, tally, events, last_ps, windows }, undone)))
}

/// Exchanges messages until there are none: each may undo events and thereby cause new messages.
fn settle<M: SimulationModel>(
    worker: &mut OptimisticLpPart<'_, M>,
    boxes: &RoundExchangeMemory<M::Event>,
) -> Result<(), Interrupted> {
    let mut side = 0;
    loop {
        for (to, sent) in worker.out.iter_mut().enumerate().filter(|(_, sent)| !sent.is_empty()) {
            lock(&boxes.sent[worker.me * boxes.parts + to]).append(sent);
            boxes.busy[side].store(true, Relaxed);
        }
        boxes.meeting.wait()?;
        let is_busy = boxes.busy[side].load(Relaxed);
        for from in 0..boxes.parts {
            let taken = std::mem::take(&mut *lock(&boxes.sent[from * boxes.parts + worker.me]));
            for sent in taken {
                match sent {
                    EventOrCancellation::Event(event) => worker.arrive(event),
                    EventOrCancellation::Cancel(key, lp) => {
                        worker.cancelled.push((key, lp));
                        worker.cancel_all();
                    }
                }
            }
        }
        boxes.meeting.wait()?;
        boxes.busy[side].store(false, Relaxed);
        side = 1 - side;
        if !is_busy {
            return Ok(());
        }
    }
}
