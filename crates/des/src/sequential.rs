//! The sequential engine, with one thread and one queue: all other engines must give its results.

use crate::model::{
    CurrentEvent, Event, EventKey, HandlerContext, LpNumber, SimulationModel, SimulationOutcome,
    check,
};
use crate::queue::EventQueue;
use base::{ComputationError, ProgressWatch};

/// Events between two checks whether the user wants to stop.
const STRIDE: u64 = 1 << 16;

/// The context of handlers in the sequential engine, which writes into the queue directly.
pub(crate) struct SequentialHandlerContext<'a, M: SimulationModel> {
    pub(crate) model: &'a M,
    pub(crate) queue: &'a mut EventQueue<M::Event>,
    pub(crate) tally: &'a mut M::Tally,
    pub(crate) turn: CurrentEvent,
}

impl<M: SimulationModel> HandlerContext<M> for SequentialHandlerContext<'_, M> {
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
        self.queue.push(Event { key, to, what });
    }

    #[inline]
    fn note(&mut self, _: impl FnOnce() -> M::Change) {}

    #[inline]
    fn record(&mut self, record: M::Record) {
        self.model.count(self.tally, record);
    }
}

/// Runs all events before `end_ps`, in the order of their keys. O(events).
///
/// # Errors
/// When there are more than 2^24 logical processes, events cause one another without end at one
/// time or come to times out of range, or `watch` asks to stop.
pub fn sequential<M: SimulationModel>(
    model: &M,
    end_ps: u64,
    watch: &dyn ProgressWatch,
) -> Result<SimulationOutcome<M>, ComputationError> {
    check(model)?;
    let (mut queue, mut tally) = (EventQueue::new(), model.tally());
    let mut serials = vec![0; model.lps() as usize];
    let mut states = Vec::with_capacity(model.lps() as usize);
    for me in 0..model.lps() {
        let turn = CurrentEvent::new(me, EventKey::FIRST, 0);
        let (queue, tally) = (&mut queue, &mut tally);
        let mut to = SequentialHandlerContext { model, queue, tally, turn };
        states.push(model.start(&mut to));
        to.turn.check(end_ps)?;
        serials[me as usize] = to.turn.serial;
    }
    let (mut events, mut last_ps) = (0_u64, 0);
    while let Some(Event { key, to: me, what }) = queue.pop_before(end_ps) {
        if events.is_multiple_of(STRIDE) {
            let (what, done, all) = model.progress(&tally, 1);
            watch.tick(what, done, all)?;
        }
        queue.fetch_next(|lp| &states[lp as usize]);
        let serial = serials[me as usize];
        let turn = CurrentEvent::new(me, key, serial);
        let (queue, tally) = (&mut queue, &mut tally);
        let mut to = SequentialHandlerContext { model, queue, tally, turn };
        model.handle(&mut states[me as usize], what, &mut to);
        to.turn.check(end_ps)?;
        serials[me as usize] = to.turn.serial;
        events += 1;
        last_ps = key.time_ps();
    }
    Ok(SimulationOutcome { states, tally, events, last_ps, windows: 0, undone: 0 })
}
