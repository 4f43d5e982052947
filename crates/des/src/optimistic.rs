//! Time Warp in rounds: parts go ahead of what is sure, and undo what came too early.
//!
//! A round: every part handles its events of a bounded span of time; then all exchange what they
//! sent and what they take back. An event that comes to a logical process late undoes what this
//! has handled after it: changes are taken back, and what was sent is cancelled, wherever it is by
//! then. What is earlier than all events that are left is sure, and is committed.
//! Source: Jefferson, "Virtual time", TOPLAS 7(3), 1985; rounds as in Steinman, "Breathing time
//! warp", PADS 1993.

use crate::model::{
    Context, Event, Key, Lp, Model, Outcome, RANGE_PS, Turn, check, endless, out_of_range,
};
use crate::queue::Queue;
use crate::windows::{Part, Placed, joined, lock};
use base::seed::Fast;
use base::team::{Meeting, together};
use base::{Interrupted, Quiet, Stop, Watch};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// How far parts go ahead, and in what order they handle events meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// How long a round is, ps: nothing later than its beginning and this is handled.
    pub span_ps: u64,
    /// Whether every event is undone and handled again at once: a test of what undoes it.
    pub forced: bool,
    /// A seed for handling the events of a round in an order drawn at random, nearly all of them
    /// too early: a test of the engine. None: in the order of their keys.
    pub hostile: Option<u64>,
}

impl Ahead {
    /// Rounds of so long, in order.
    pub fn new(span_ps: u64) -> Self {
        Self { span_ps, forced: false, hostile: None }
    }
}

/// What parts send each other.
#[derive(Clone, Copy)]
enum Sent<E> {
    Event(Event<E>),
    /// An event is taken back: its key, and whose it was.
    Cancel(Key, Lp),
}

/// How far a round goes: as far as is asked for, and less while more is undone than stays.
struct Reach {
    span_ps: u64,
    ahead: Ahead,
    /// Events of all parts that were handled and undone, before the last round.
    before: (u64, u64),
}

impl Reach {
    fn new(ahead: Ahead) -> Self {
        Self { span_ps: ahead.span_ps.max(1), ahead, before: (0, 0) }
    }

    /// How long the next round is, ps, by what was handled and undone until now.
    fn next_ps(&mut self, (handled, undone): (u64, u64)) -> u64 {
        let (new, lost) = (handled - self.before.0, undone - self.before.1);
        self.before = (handled, undone);
        if self.ahead.forced || self.ahead.hostile.is_some() {
            return self.span_ps;
        }
        if 2 * lost > new {
            self.span_ps = (self.span_ps / 2).max(1);
        } else if 8 * lost < new {
            self.span_ps = self.span_ps.saturating_mul(2).min(self.ahead.span_ps.max(1));
        }
        self.span_ps
    }
}

struct Boxes<E> {
    parts: usize,
    meeting: Meeting,
    sent: Vec<Mutex<Vec<Sent<E>>>>,
    firsts_ps: Vec<AtomicU64>,
    /// Events that each part has handled and undone.
    counts: Vec<[AtomicU64; 2]>,
    /// Whether any part has still something to exchange, by side.
    busy: [AtomicBool; 2],
    stop: AtomicBool,
}

/// An event that was handled, and can be undone.
struct Done<M: Model> {
    event: Event<M::Event>,
    /// Where its changes and what it sent begin.
    changes: u64,
    sent: u64,
    records: u64,
    serial: u32,
    /// The one before of the same logical process, by its number.
    before: Option<u64>,
    undone: bool,
    /// It sent something for a time out of range.
    too_late: bool,
}

/// A row that grows at its end and is forgotten from its beginning; numbers stay.
struct Row<T> {
    first: u64,
    items: VecDeque<T>,
}

impl<T> Row<T> {
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

struct Kept<'a, M: Model> {
    changes: &'a mut Row<M::Change>,
    sent: &'a mut Row<Event<M::Event>>,
    records: &'a mut Row<M::Record>,
    turn: Turn,
}

impl<M: Model> Context<M> for Kept<'_, M> {
    const KEEPS: bool = true;

    fn me(&self) -> Lp {
        self.turn.me
    }

    fn now_ps(&self) -> u64 {
        self.turn.key.time_ps()
    }

    #[inline]
    fn send(&mut self, to: Lp, delay_ps: u64, what: M::Event) {
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

struct Worker<'a, M: Model> {
    model: &'a M,
    placed: &'a Placed,
    me: usize,
    queue: Queue<M::Event>,
    out: Vec<Vec<Sent<M::Event>>>,
    states: Vec<M::State>,
    serials: Vec<u32>,
    /// The last event that each logical process has handled.
    last: Vec<Option<u64>>,
    done: Row<Done<M>>,
    changes: Row<M::Change>,
    sent: Row<Event<M::Event>>,
    records: Row<M::Record>,
    /// Events to be cancelled among this part's own.
    cancelled: Vec<(Key, Lp)>,
    tally: M::Tally,
    handled: u64,
    undone: u64,
    last_ps: u64,
    failed: Option<Stop>,
    /// When and where events seemed to cause one another without end: they may yet be undone.
    deep: Option<(u64, Lp)>,
    /// What stays comes to times out of range.
    too_late: bool,
}

impl<M: Model> Worker<'_, M> {
    fn start(&mut self) {
        for me in self.placed.of(self.me) {
            let turn = Turn::new(me, Key::FIRST, 0);
            let (changes, sent, records) = (&mut self.changes, &mut self.sent, &mut self.records);
            let mut to = Kept::<M> { changes, sent, records, turn };
            self.states.push(self.model.start(&mut to));
            self.serials.push(to.turn.serial);
            self.too_late |= to.turn.too_late;
            self.last.push(None);
        }
        // nothing of this is ever undone
        self.deliver(self.sent.first);
        self.sent.forget(self.sent.end());
        self.changes.forget(self.changes.end());
        for record in self.records.items.drain(..) {
            self.model.count(&mut self.tally, record);
        }
    }

    /// Hands on what was sent from a number on.
    fn deliver(&mut self, from: u64) {
        for at in from..self.sent.end() {
            let event = *self.sent.get(at);
            let part = usize::from(self.placed.part_of[event.to as usize]);
            if part == self.me {
                self.arrive(event);
            } else {
                self.out[part].push(Sent::Event(event));
            }
        }
    }

    /// An event comes: what its process has handled after it is undone.
    fn arrive(&mut self, event: Event<M::Event>) {
        self.roll_back(event.to, event.key);
        self.queue.push(event);
    }

    /// Undoes what a process has handled after `key`; cancels run until none are left.
    fn roll_back(&mut self, lp: Lp, key: Key) {
        let at = self.placed.local[lp as usize] as usize;
        while let Some(number) = self.last(at)
            && self.done.get(number).event.key > key
        {
            self.undo_last(at);
        }
        self.cancel_all();
    }

    /// Takes back what the undone events had sent, and what was undone for it.
    fn cancel_all(&mut self) {
        while let Some((key, lp)) = self.cancelled.pop() {
            self.cancel(key, lp);
        }
    }

    /// The last event that the process at a place has handled, where it can be undone.
    fn last(&self, at: usize) -> Option<u64> {
        self.last[at].filter(|&number| number >= self.done.first)
    }

    /// Takes back an event of this part.
    fn cancel(&mut self, key: Key, lp: Lp) {
        // it is in the queue, unless it was handled: then it is undone, which puts it there
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

    /// Undoes the last event of the process at a place.
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
                self.out[part].push(Sent::Cancel(key, to));
            }
        }
        self.undone += 1;
        self.queue.push(event);
    }

    fn handle(&mut self, event: Event<M::Event>) {
        let at = self.placed.local[event.to as usize] as usize;
        let serial = self.serials[at];
        let done = Done {
            event,
            changes: self.changes.end(),
            sent: self.sent.end(),
            records: self.records.end(),
            serial,
            before: self.last[at],
            undone: false,
            too_late: false,
        };
        let turn = Turn::new(event.to, event.key, serial);
        let (changes, sent, records) = (&mut self.changes, &mut self.sent, &mut self.records);
        let mut to = Kept::<M> { changes, sent, records, turn };
        self.model.handle(&mut self.states[at], event.what, &mut to);
        let turn = to.turn;
        if turn.too_deep {
            self.deep = Some((event.key.time_ps(), event.to));
        }
        self.serials[at] = turn.serial;
        let (number, from) = (self.done.end(), done.sent);
        self.last[at] = Some(number);
        self.done.items.push_back(Done { too_late: turn.too_late, ..done });
        self.handled += 1;
        self.deliver(from);
    }

    /// Handles the events before a time.
    fn go(&mut self, limit_ps: u64, ahead: Ahead, dice: Option<&mut Fast>) {
        if let Some(dice) = dice {
            let mut all = Vec::new();
            while let Some(event) = self.queue.pop_before(limit_ps) {
                all.push(event);
            }
            for last in (1..all.len()).rev() {
                all.swap(last, dice.below(last as u32 + 1) as usize);
            }
            // they go back: some are cancelled meanwhile, and come again with other contents
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
                // nothing has happened to it since, unless it sent itself something at this time
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

    /// Commits what is earlier than all that is left anywhere.
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

/// What a thread found and how many events it has undone; none where another stopped.
type Ran<M> = Result<Option<(Part<M>, u64)>, Stop>;

/// Runs all events before `end_ps` optimistically: a thread for each part of the logical processes.
/// The result is that of [`crate::sequential`].
///
/// # Errors
/// As of [`crate::sequential`].
pub fn optimistic<M: Model>(
    model: &M,
    part_of: &[u16],
    end_ps: u64,
    ahead: Ahead,
    watch: &dyn Watch,
) -> Result<Outcome<M>, Stop> {
    check(model)?;
    let placed = Placed::new(part_of, model.lps())?;
    let parts = placed.parts();
    let boxes = Boxes {
        parts,
        meeting: Meeting::new(parts),
        sent: (0..parts * parts).map(|_| Mutex::new(Vec::new())).collect(),
        firsts_ps: (0..parts).map(|_| AtomicU64::new(0)).collect(),
        counts: (0..parts).map(|_| [AtomicU64::new(0), AtomicU64::new(0)]).collect(),
        busy: [AtomicBool::new(false), AtomicBool::new(false)],
        stop: AtomicBool::new(false),
    };
    let found: Vec<Ran<M>> = together(&boxes.meeting, 0..parts, |_, me| {
        let watch: &dyn Watch = if me == 0 { watch } else { &Quiet };
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
    Ok(Outcome { undone, ..joined(model, &placed, all) })
}

fn rounds<M: Model>(
    model: &M,
    placed: &Placed,
    me: usize,
    end_ps: u64,
    ahead: Ahead,
    boxes: &Boxes<M::Event>,
    watch: &dyn Watch,
) -> Ran<M> {
    let mut worker = Worker {
        model,
        placed,
        me,
        queue: Queue::new(),
        out: (0..boxes.parts).map(|_| Vec::new()).collect(),
        states: Vec::new(),
        serials: Vec::new(),
        last: Vec::new(),
        done: Row::new(),
        changes: Row::new(),
        sent: Row::new(),
        records: Row::new(),
        cancelled: Vec::new(),
        tally: model.tally(),
        handled: 0,
        undone: 0,
        last_ps: 0,
        failed: None,
        deep: None,
        too_late: false,
    };
    let mut dice = ahead.hostile.map(|seed| Fast::new(seed, "hostile", me as u64));
    let (mut windows, mut reach) = (0, Reach::new(ahead));
    worker.start();
    loop {
        if worker.failed.is_none() {
            let (what, done, all) = model.progress(&worker.tally, boxes.parts as u64);
            worker.failed = watch.tick(what, done, all).err().map(Stop::from);
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
    let Worker { states, tally, handled, undone, last_ps, failed, .. } = worker;
    if let Some(stop) = failed {
        return Err(stop);
    }
    let events = handled - undone;
    Ok(Some((Part { states, tally, events, last_ps, windows }, undone)))
}

/// Exchanges until nothing is on its way: what comes may undo events, and so take others back.
fn settle<M: Model>(
    worker: &mut Worker<'_, M>,
    boxes: &Boxes<M::Event>,
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
                    Sent::Event(event) => worker.arrive(event),
                    Sent::Cancel(key, lp) => {
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
