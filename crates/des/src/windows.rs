//! Conservative windows: all parts handle their events of a span of time that is too short for any
//! event from another part to arrive in it; then they exchange the events that they sent.
//!
//! A window begins with the earliest event of all parts, and lasts as long as the least delay
//! between two parts. One exchange for each window carries the events and the time at which the
//! next window begins.

use crate::model::{
    CurrentEvent, Event, EventKey, HandlerContext, LpNumber, SimulationModel, SimulationOutcome,
    check,
};
use crate::queue::EventQueue;
use base::team::{ThreadBarrier, together};
use base::{ComputationError, Interrupted, ProgressWatch, QuietWatch, Refusal};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Windows between two checks whether the user wants to stop.
const STRIDE: u64 = 64;

/// The transport of events between parts, which are threads of one process or separate processes.
pub trait EventTransport<E> {
    /// The number of this part.
    fn me(&self) -> usize;

    /// Sends `out[p]` to part p, and takes the events that other parts send. Returns the least
    /// `first_ps` of all parts, and whether any part wants to stop the run. All parts must call
    /// this together.
    ///
    /// # Errors
    /// When another part cannot be reached any more.
    fn exchange(
        &mut self,
        out: &mut [Vec<Event<E>>],
        first_ps: u64,
        stop: bool,
        take: &mut dyn FnMut(Event<E>),
    ) -> Result<(u64, bool), ComputationError>;
}

/// Memory through which threads pass events to each other. There are two sets, used in turn, so
/// that one barrier for each exchange is enough.
struct ThreadMailboxes<E> {
    parts: usize,
    meeting: ThreadBarrier,
    events: [Vec<Mutex<Vec<Event<E>>>>; 2],
    firsts_ps: [Vec<AtomicU64>; 2],
    stops: [AtomicBool; 2],
}

impl<E> ThreadMailboxes<E> {
    fn new(parts: usize) -> Self {
        let events = || (0..parts * parts).map(|_| Mutex::new(Vec::new())).collect();
        let firsts = || (0..parts).map(|_| AtomicU64::new(u64::MAX)).collect();
        Self {
            parts,
            meeting: ThreadBarrier::new(parts),
            events: [events(), events()],
            firsts_ps: [firsts(), firsts()],
            stops: [AtomicBool::new(false), AtomicBool::new(false)],
        }
    }
}

/// The transport of one thread, over mailboxes that all threads share.
struct ThreadEventTransport<'a, E> {
    me: usize,
    boxes: &'a ThreadMailboxes<E>,
    side: usize,
}

impl<E: Copy> EventTransport<E> for ThreadEventTransport<'_, E> {
    fn me(&self) -> usize {
        self.me
    }

    fn exchange(
        &mut self,
        out: &mut [Vec<Event<E>>],
        first_ps: u64,
        stop: bool,
        take: &mut dyn FnMut(Event<E>),
    ) -> Result<(u64, bool), ComputationError> {
        let (boxes, side) = (self.boxes, self.side);
        self.side = 1 - side;
        for (to, events) in out.iter_mut().enumerate().filter(|(_, events)| !events.is_empty()) {
            let mut given = lock(&boxes.events[side][self.me * boxes.parts + to]);
            std::mem::swap(&mut *given, events);
        }
        boxes.firsts_ps[side][self.me].store(first_ps, Relaxed);
        if stop {
            boxes.stops[side].store(true, Relaxed);
        }
        boxes.meeting.wait()?;
        for from in 0..boxes.parts {
            let mut taken = lock(&boxes.events[side][from * boxes.parts + self.me]);
            for event in taken.drain(..) {
                take(event);
            }
        }
        let first = boxes.firsts_ps[side].iter().map(|first| first.load(Relaxed)).min();
        Ok((first.unwrap_or(u64::MAX), boxes.stops[side].load(Relaxed)))
    }
}

/// Locks a mutex. No thread can poison it, because handlers do not run under it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The partition of the logical processes: the part of each, and its index within the part.
pub(crate) struct LpPartition {
    pub(crate) part_of: Vec<u16>,
    pub(crate) local: Vec<u32>,
}

impl LpPartition {
    /// # Errors
    /// When there is not a part for every logical process.
    pub(crate) fn new(part_of: &[u16], lps: u32) -> Result<Self, ComputationError> {
        if part_of.len() != lps as usize {
            let why = format!("{} places for {lps} logical processes", part_of.len());
            return Err(Refusal::new("", why, "a part for each").into());
        }
        let parts = part_of.iter().max().map_or(0, |&part| usize::from(part) + 1);
        let mut sizes = vec![0; parts];
        let mut local = Vec::with_capacity(part_of.len());
        for &part in part_of {
            local.push(sizes[usize::from(part)]);
            sizes[usize::from(part)] += 1;
        }
        Ok(Self { part_of: part_of.to_vec(), local })
    }

    pub(crate) fn parts(&self) -> usize {
        self.part_of.iter().max().map_or(1, |&part| usize::from(part) + 1)
    }

    pub(crate) fn of(&self, part: usize) -> impl Iterator<Item = LpNumber> {
        (0..).zip(&self.part_of).filter(move |(_, of)| usize::from(**of) == part).map(|(lp, _)| lp)
    }
}

/// The context of handlers in a part: events for other parts are collected for the exchange.
struct WindowHandlerContext<'a, M: SimulationModel> {
    model: &'a M,
    placed: &'a LpPartition,
    part: usize,
    queue: &'a mut EventQueue<M::Event>,
    out: &'a mut [Vec<Event<M::Event>>],
    /// The time of the earliest event sent to another part, ps.
    sent_ps: &'a mut u64,
    tally: &'a mut M::Tally,
    turn: CurrentEvent,
}

impl<M: SimulationModel> HandlerContext<M> for WindowHandlerContext<'_, M> {
    const KEEPS: bool = false;

    fn me(&self) -> LpNumber {
        self.turn.me
    }

    fn now_ps(&self) -> u64 {
        self.turn.key.time_ps()
    }

    #[inline]
    fn send(&mut self, to: LpNumber, delay_ps: u64, what: M::Event) {
        let key = self.turn.sent(delay_ps);
        let part = usize::from(self.placed.part_of[to as usize]);
        if part == self.part {
            self.queue.push(Event { key, to, what });
        } else {
            *self.sent_ps = (*self.sent_ps).min(key.time_ps());
            self.out[part].push(Event { key, to, what });
        }
    }

    #[inline]
    fn note(&mut self, _: impl FnOnce() -> M::Change) {}

    #[inline]
    fn record(&mut self, record: M::Record) {
        self.model.count(self.tally, record);
    }
}

/// The result of one part of a run.
pub struct LpPartResult<M: SimulationModel> {
    /// The final states of the part's logical processes, in their order.
    pub states: Vec<M::State>,
    /// The statistics over the part's records.
    pub tally: M::Tally,
    /// The number of events that the part handled.
    pub events: u64,
    /// The time of the last of these events, ps.
    pub last_ps: u64,
    /// The number of windows of the run.
    pub windows: u64,
}

/// Runs one part of a model and exchanges events with the others over a transport. Returns `None`
/// where another part has stopped the run.
///
/// # Errors
/// The errors of [`windows`], and when the transport fails.
pub fn windows_over<M: SimulationModel>(
    model: &M,
    part_of: &[u16],
    end_ps: u64,
    transport: &mut impl EventTransport<M::Event>,
    watch: &dyn ProgressWatch,
) -> Result<Option<LpPartResult<M>>, ComputationError> {
    check(model)?;
    let placed = LpPartition::new(part_of, model.lps())?;
    let lookahead_ps = lookahead(model, part_of, placed.parts())?;
    run(model, &placed, lookahead_ps, end_ps, transport, watch)
}

fn lookahead<M: SimulationModel>(
    model: &M,
    part_of: &[u16],
    parts: usize,
) -> Result<u64, ComputationError> {
    let lookahead_ps = if parts > 1 { model.lookahead_ps(part_of) } else { u64::MAX };
    if lookahead_ps > 0 {
        return Ok(lookahead_ps);
    }
    let why = "events between two parts may have no delay: there is no lookahead";
    Err(Refusal::new("", why, "a latency above 0 of all links, or one thread").into())
}

fn run<M: SimulationModel>(
    model: &M,
    placed: &LpPartition,
    lookahead_ps: u64,
    end_ps: u64,
    transport: &mut impl EventTransport<M::Event>,
    watch: &dyn ProgressWatch,
) -> Result<Option<LpPartResult<M>>, ComputationError> {
    let part = transport.me();
    let mut queue = EventQueue::new();
    let mut out: Vec<Vec<Event<M::Event>>> = (0..placed.parts()).map(|_| Vec::new()).collect();
    let mut found = LpPartResult {
        states: Vec::new(),
        tally: model.tally(),
        events: 0,
        last_ps: 0,
        windows: 0,
    };
    let (mut serials, mut sent_ps, mut failed) = (Vec::new(), u64::MAX, None);
    for me in placed.of(part) {
        let turn = CurrentEvent::new(me, EventKey::FIRST, 0);
        let (queue, out, tally) = (&mut queue, &mut out[..], &mut found.tally);
        let sent_ps = &mut sent_ps;
        let mut to = WindowHandlerContext { model, placed, part, queue, out, sent_ps, tally, turn };
        found.states.push(model.start(&mut to));
        serials.push(to.turn.serial);
        failed = failed.or(to.turn.check(end_ps).err());
    }
    loop {
        if failed.is_none() && found.windows.is_multiple_of(STRIDE) {
            let (what, done, all) = model.progress(&found.tally, placed.parts() as u64);
            failed = watch.tick(what, done, all).err().map(ComputationError::from);
        }
        let first_ps = queue.first_ps().unwrap_or(u64::MAX).min(sent_ps);
        sent_ps = u64::MAX;
        let (first_ps, stop) =
            transport.exchange(&mut out, first_ps, failed.is_some(), &mut |e| queue.push(e))?;
        if stop {
            return failed.map_or(Ok(None), Err);
        }
        if first_ps >= end_ps {
            return Ok(Some(found));
        }
        let limit_ps = first_ps.saturating_add(lookahead_ps).min(end_ps);
        found.windows += 1;
        while let Some(Event { key, to: me, what }) = queue.pop_before(limit_ps) {
            queue.fetch_next(|lp| &found.states[placed.local[lp as usize] as usize]);
            let at = placed.local[me as usize] as usize;
            let turn = CurrentEvent::new(me, key, serials[at]);
            let (queue, out, tally) = (&mut queue, &mut out[..], &mut found.tally);
            let sent_ps = &mut sent_ps;
            let mut to =
                WindowHandlerContext { model, placed, part, queue, out, sent_ps, tally, turn };
            model.handle(&mut found.states[at], what, &mut to);
            if let Err(stop) = to.turn.check(end_ps) {
                failed = Some(stop);
                break;
            }
            serials[at] = to.turn.serial;
            found.events += 1;
            found.last_ps = key.time_ps();
        }
    }
}

/// Runs all events before `end_ps` in windows, with a thread for each part of the logical
/// processes; `part_of` has the part of each process, counted from 0. The result is that of
/// [`crate::sequential`].
///
/// # Errors
/// The errors of [`crate::sequential`], and when events between two parts may have no delay.
pub fn windows<M: SimulationModel>(
    model: &M,
    part_of: &[u16],
    end_ps: u64,
    watch: &dyn ProgressWatch,
) -> Result<SimulationOutcome<M>, ComputationError> {
    check(model)?;
    let placed = LpPartition::new(part_of, model.lps())?;
    let parts = placed.parts();
    let lookahead_ps = lookahead(model, part_of, parts)?;
    let boxes = ThreadMailboxes::new(parts);
    let found = together(&boxes.meeting, 0..parts, |_, me| {
        let mut thread = ThreadEventTransport { me, boxes: &boxes, side: 0 };
        // only one part reports to the user
        let watch: &dyn ProgressWatch = if me == 0 { watch } else { &QuietWatch };
        run(model, &placed, lookahead_ps, end_ps, &mut thread, watch)
    });
    let mut all = Vec::with_capacity(parts);
    for part in found {
        all.extend(part?);
    }
    if all.len() < parts {
        return Err(Interrupted.into());
    }
    Ok(joined(model, &placed, all))
}

/// Joins the results of all parts.
pub(crate) fn joined<M: SimulationModel>(
    model: &M,
    placed: &LpPartition,
    parts: Vec<LpPartResult<M>>,
) -> SimulationOutcome<M> {
    let mut whole = SimulationOutcome {
        states: Vec::with_capacity(placed.part_of.len()),
        tally: model.tally(),
        events: 0,
        last_ps: 0,
        windows: 0,
        undone: 0,
    };
    let mut states = Vec::with_capacity(parts.len());
    for part in parts {
        model.merge(&mut whole.tally, part.tally);
        whole.events += part.events;
        whole.last_ps = whole.last_ps.max(part.last_ps);
        whole.windows = part.windows;
        states.push(part.states.into_iter());
    }
    for &part in &placed.part_of {
        whole.states.extend(states[usize::from(part)].next());
    }
    whole
}
