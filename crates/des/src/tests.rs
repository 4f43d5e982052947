//! Tests of all engines against the sequential one, and of that against a sorted list.

use crate::{
    Event, EventKey, EventQueue, HandlerContext, LpNumber, OptimisticEngineOptions,
    SimulationModel, SimulationOutcome, optimistic, sequential, windows,
};
use base::seed::FastRandomStream;
use base::{Interrupted, ProgressWatch, QuietWatch};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The PHOLD benchmark: processes pass on events. Their state depends on the order of all events;
/// some delays are 0, and some events are swallowed or doubled.
#[derive(Debug)]
pub(crate) struct PholdModel {
    pub(crate) lps: u32,
    pub(crate) seed: u64,
    pub(crate) events: u32,
    /// Least delay to another process, ps.
    pub(crate) least_ps: u64,
    /// The number, out of ten events that a process sends to itself, of events without delay.
    pub(crate) zeros: u32,
}

/// The state of a process of the benchmark.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PholdState {
    draws: u32,
    history: u64,
    handled: u64,
}

/// A change to the state of a process, as the value before it.
#[derive(Clone, Copy)]
pub(crate) enum PholdStateChange {
    Draws(u32),
    History(u64),
    Handled(u64),
}

impl PholdModel {
    fn draw(
        &self,
        me: LpNumber,
        state: &mut PholdState,
        to: &mut impl HandlerContext<Self>,
        bound: u32,
    ) -> u32 {
        to.note(|| PholdStateChange::Draws(state.draws));
        state.draws += 1;
        let stream = u64::from(me) << 32 | u64::from(state.draws);
        FastRandomStream::new(self.seed, "phold", stream).below(bound)
    }
}

impl SimulationModel for PholdModel {
    type State = PholdState;
    type Event = u32;
    type Change = PholdStateChange;
    type Record = u64;
    type Tally = (u64, u64);

    fn lps(&self) -> u32 {
        self.lps
    }

    fn start(&self, to: &mut impl HandlerContext<Self>) -> PholdState {
        for event in 0..self.events {
            let delay = FastRandomStream::new(self.seed, "start", u64::from(to.me() * 64 + event))
                .below(5000);
            to.send(to.me(), u64::from(delay), event);
        }
        PholdState { draws: 0, history: 0, handled: 0 }
    }

    fn handle(&self, state: &mut PholdState, event: u32, to: &mut impl HandlerContext<Self>) {
        let (me, now) = (to.me(), to.now_ps());
        to.note(|| PholdStateChange::Handled(state.handled));
        state.handled += 1;
        to.note(|| PholdStateChange::History(state.history));
        let word = state.history ^ now ^ u64::from(event) << 40;
        state.history = word.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17);
        to.record(state.history >> 32);
        let copies = [1, 1, 1, 1, 1, 1, 0, 2][self.draw(me, state, to, 8) as usize];
        for _ in 0..copies {
            let other = self.draw(me, state, to, self.lps);
            // one event in three goes to the process itself
            let other = if self.draw(me, state, to, 3) == 0 { me } else { other };
            let delay = self.draw(me, state, to, 3000);
            let delay = if other != me {
                self.least_ps + u64::from(delay)
            } else if self.draw(me, state, to, 10) < self.zeros {
                0
            } else {
                u64::from(delay)
            };
            to.send(other, delay, event ^ delay as u32);
        }
    }

    fn undo(&self, state: &mut PholdState, change: PholdStateChange) {
        match change {
            PholdStateChange::Draws(was) => state.draws = was,
            PholdStateChange::History(was) => state.history = was,
            PholdStateChange::Handled(was) => state.handled = was,
        }
    }

    fn tally(&self) -> (u64, u64) {
        (0, 0)
    }

    fn count(&self, tally: &mut (u64, u64), record: u64) {
        *tally = (tally.0 + record, tally.1.max(record));
    }

    fn merge(&self, into: &mut (u64, u64), other: (u64, u64)) {
        *into = (into.0 + other.0, into.1.max(other.1));
    }

    fn lookahead_ps(&self, _: &[u16]) -> u64 {
        self.least_ps
    }
}

/// Runs the same simulation with a sorted list, in as few lines as possible. Returns the states,
/// the tally and the number of events.
pub(crate) fn listed(model: &PholdModel, end_ps: u64) -> (Vec<PholdState>, (u64, u64), u64) {
    /// A context with the sorted list of events to come; keys are (time, depth, source, serial).
    struct SortedListContext<'a> {
        me: LpNumber,
        now: (u64, u32),
        serials: &'a mut [u32],
        list: &'a mut BTreeMap<(u64, u32, LpNumber, u32), (LpNumber, u32)>,
        tally: &'a mut (u64, u64),
    }
    impl HandlerContext<PholdModel> for SortedListContext<'_> {
        const KEEPS: bool = false;
        fn me(&self) -> LpNumber {
            self.me
        }
        fn now_ps(&self) -> u64 {
            self.now.0
        }
        fn send(&mut self, to: LpNumber, delay_ps: u64, event: u32) {
            let depth = if delay_ps == 0 { self.now.1 + 1 } else { 0 };
            let serial = &mut self.serials[self.me as usize];
            self.list.insert((self.now.0 + delay_ps, depth, self.me, *serial), (to, event));
            *serial += 1;
        }
        fn note(&mut self, _: impl FnOnce() -> PholdStateChange) {}
        fn record(&mut self, record: u64) {
            *self.tally = (self.tally.0 + record, self.tally.1.max(record));
        }
    }
    let (mut serials, mut list) = (vec![0; model.lps as usize], BTreeMap::new());
    let (mut tally, mut states, mut events) = ((0, 0), Vec::new(), 0);
    for me in 0..model.lps {
        let (serials, list, tally) = (&mut serials[..], &mut list, &mut tally);
        states.push(model.start(&mut SortedListContext { me, now: (0, 0), serials, list, tally }));
    }
    while let Some((key, (me, event))) = list.pop_first() {
        if key.0 >= end_ps {
            break;
        }
        events += 1;
        let (serials, list, tally) = (&mut serials[..], &mut list, &mut tally);
        let mut to = SortedListContext { me, now: (key.0, key.1), serials, list, tally };
        model.handle(&mut states[me as usize], event, &mut to);
    }
    (states, tally, events)
}

fn found(outcome: SimulationOutcome<PholdModel>) -> (Vec<PholdState>, (u64, u64), u64) {
    (outcome.states, outcome.tally, outcome.events)
}

pub(crate) fn drawn_parts(lps: u32, parts: u16, seed: u64) -> Vec<u16> {
    let mut dice = FastRandomStream::new(seed, "parts", 0);
    (0..lps).map(|_| dice.below(parts.into()) as u16).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The sequential engine, windows and all variants of the optimistic engine give the same
    /// states and records.
    #[test]
    fn all_engines_are_equal(
        lps in 1_u32..12,
        seed in any::<u64>(),
        events in 1_u32..6,
        parts in 1_u16..4,
        least_ps in 1_u64..2000,
        zeros in 0_u32..5,
        span_ps in 1_u64..20_000,
        end_ps in 0_u64..60_000,
    ) {
        let model = PholdModel { lps, seed, events, least_ps, zeros };
        let expected = listed(&model, end_ps);
        prop_assert_eq!(&found(sequential(&model, end_ps, &QuietWatch).unwrap()), &expected);
        let part_of = drawn_parts(lps, parts, seed);
        let run = windows(&model, &part_of, end_ps, &QuietWatch).unwrap();
        prop_assert_eq!(&found(run), &expected);
        let plain = OptimisticEngineOptions::new(span_ps);
        let forced = OptimisticEngineOptions { forced: true, ..plain };
        let hostile = OptimisticEngineOptions { hostile: Some(seed), ..plain };
        for ahead in [plain, forced, hostile] {
            let run = optimistic(&model, &part_of, end_ps, ahead, &QuietWatch).unwrap();
            if ahead.forced {
                prop_assert!(run.undone >= run.events);
            }
            prop_assert_eq!(&found(run), &expected, "{:?}", ahead);
        }
    }

    /// A queue returns events in the order of their keys. Events near and far in time are pushed
    /// and removed in between.
    #[test]
    fn a_queue_is_a_sorted_list(seed in any::<u64>(), shift in 0_u32..50) {
        let mut dice = FastRandomStream::new(seed, "queue", 0);
        let (mut queue, mut list) = (EventQueue::new(), BTreeMap::new());
        let mut serial = 0;
        for _ in 0..2000 {
            let far = 1_u64 << dice.below(shift + 1);
            let key = EventKey::new(dice.next_u64() % far, 0, dice.below(3), serial);
            serial += 1;
            queue.push(Event { key, to: 0, what: serial });
            list.insert(key, serial);
            match dice.below(8) {
                0 => {
                    let limit = dice.next_u64() % far;
                    while let Some(event) = queue.pop_before(limit) {
                        prop_assert_eq!(list.pop_first(), Some((event.key, event.what)));
                    }
                    prop_assert!(list.keys().next().is_none_or(|key| key.time_ps() >= limit));
                }
                1 => {
                    let at = dice.below(list.len() as u32) as usize;
                    let key = *list.keys().nth(at).unwrap();
                    let found = queue.remove(key).map(|event| event.what);
                    prop_assert_eq!(found, list.remove(&key));
                    prop_assert!(queue.remove(key).is_none());
                }
                _ => {}
            }
            prop_assert_eq!(queue.first_ps(), list.keys().next().map(|key| key.time_ps()));
            prop_assert_eq!(queue.len(), list.len());
        }
        while let Some(event) = queue.pop_before(u64::MAX) {
            prop_assert_eq!(list.pop_first(), Some((event.key, event.what)));
        }
        prop_assert!(list.is_empty());
    }
}

/// Buckets keep the order of events while their width is tuned: the run is long enough for narrower
/// and for wider buckets.
#[test]
fn buckets_of_any_width_keep_the_order() {
    for step_ps in [1_u64, 1 << 20] {
        let (mut queue, mut dice) = (EventQueue::new(), FastRandomStream::new(7, "width", 0));
        let mut key = |now: u64, serial: u32| {
            EventKey::new(now + u64::from(dice.below(64)) * step_ps, 0, 0, serial)
        };
        for serial in 0..1000 {
            queue.push(Event { key: key(0, serial), to: 0, what: () });
        }
        let mut last = EventKey::FIRST;
        for serial in 1000..400_000 {
            let event = queue.pop_before(u64::MAX).expect("as many come as go");
            assert!(event.key > last);
            last = event.key;
            let next = key(last.time_ps() + 1, serial);
            queue.push(Event { key: next, to: 0, what: () });
        }
        assert_eq!(queue.len(), 1000);
    }
}

/// Although no two events of a run have the same key, a queue that holds such events returns all of
/// them.
#[test]
fn equal_keys_are_all_there() {
    for count in [2, 5, 23, 24, 25, 60] {
        let mut queue = EventQueue::new();
        for serial in 0..count {
            queue.push(Event { key: EventKey::new(5000, 0, 0, serial / 2), to: 0, what: serial });
        }
        let mut taken: Vec<(EventKey, u32)> =
            std::iter::from_fn(|| queue.pop_before(u64::MAX)).map(|e| (e.key, e.what)).collect();
        assert!(taken.is_sorted_by_key(|event| event.0), "{count}");
        taken.sort_unstable_by_key(|event| event.1);
        assert!(taken.iter().map(|event| event.1).eq(0..count), "{count}");
    }
}

#[test]
fn rollbacks_happen_and_change_nothing() {
    let model = PholdModel { lps: 40, seed: 3, events: 4, least_ps: 100, zeros: 2 };
    let part_of = drawn_parts(40, 3, 1);
    let expected = listed(&model, 200_000);
    let ahead = OptimisticEngineOptions { hostile: Some(5), ..OptimisticEngineOptions::new(5000) };
    let run = optimistic(&model, &part_of, 200_000, ahead, &QuietWatch).unwrap();
    assert!(run.undone > run.events / 10, "{} of {}", run.undone, run.events);
    assert!(run.efficiency() < 0.95);
    assert_eq!(found(run), expected);
}

/// A process that sends itself events without delay forever is refused.
#[test]
fn events_without_end_at_one_time_are_refused() {
    let model = PholdModel { lps: 2, seed: 1, events: 60, least_ps: 5, zeros: 10 };
    let part_of = [0, 1];
    let runs = [
        sequential(&EndlessModel(&model), 1000, &QuietWatch).map(|run| run.events),
        windows(&EndlessModel(&model), &part_of, 1000, &QuietWatch).map(|run| run.events),
        optimistic(
            &EndlessModel(&model),
            &part_of,
            1000,
            OptimisticEngineOptions::new(10),
            &QuietWatch,
        )
        .map(|run| run.events),
    ];
    for run in runs {
        let why = run.expect_err("it has no end").to_string();
        assert!(why.contains("without end (process 1)"), "{why}");
    }
}

/// A model whose processes send events without end.
struct EndlessModel<'a>(&'a PholdModel);

impl SimulationModel for EndlessModel<'_> {
    type State = ();
    type Event = ();
    type Change = ();
    type Record = ();
    type Tally = ();
    fn lps(&self) -> u32 {
        self.0.lps
    }
    fn start(&self, to: &mut impl HandlerContext<Self>) {
        if to.me() == 1 {
            to.send(1, 7, ());
        }
    }
    fn handle(&self, (): &mut (), (): (), to: &mut impl HandlerContext<Self>) {
        to.send(to.me(), 0, ());
    }
    fn undo(&self, (): &mut (), (): ()) {}
    fn tally(&self) {}
    fn count(&self, (): &mut (), (): ()) {}
    fn merge(&self, (): &mut (), (): ()) {}
    fn lookahead_ps(&self, _: &[u16]) -> u64 {
        5
    }
}

/// A chain of events through all processes in turn, with equal delays but for the last one, which
/// is a little longer.
struct ChainModel {
    step_ps: u64,
    steps: u32,
    more_ps: u64,
}

impl SimulationModel for ChainModel {
    type State = ();
    type Event = u32;
    type Change = ();
    type Record = ();
    type Tally = ();
    fn lps(&self) -> u32 {
        3
    }
    fn start(&self, to: &mut impl HandlerContext<Self>) {
        if to.me() == 0 {
            to.send(0, 0, 0);
        }
    }
    fn handle(&self, (): &mut (), step: u32, to: &mut impl HandlerContext<Self>) {
        if step < self.steps {
            let more_ps = if step + 1 == self.steps { self.more_ps } else { 0 };
            to.send((to.me() + 1) % 3, self.step_ps + more_ps, step + 1);
        }
    }
    fn undo(&self, (): &mut (), (): ()) {}
    fn tally(&self) {}
    fn count(&self, (): &mut (), (): ()) {}
    fn merge(&self, (): &mut (), (): ()) {}
    fn lookahead_ps(&self, _: &[u16]) -> u64 {
        self.step_ps
    }
}

#[test]
fn times_are_exact_up_to_their_range_and_refused_beyond_it() {
    let each = |model: &ChainModel, end_ps: u64| {
        let parts = [0, 1, 1];
        let ahead = OptimisticEngineOptions::new(1 << 50);
        [
            sequential(model, end_ps, &QuietWatch),
            windows(model, &parts, end_ps, &QuietWatch),
            optimistic(model, &parts, end_ps, ahead, &QuietWatch),
            optimistic(
                model,
                &parts,
                end_ps,
                OptimisticEngineOptions { forced: true, ..ahead },
                &QuietWatch,
            ),
        ]
        .map(|run| run.map(|found| found.last_ps).map_err(|stop| stop.to_string()))
    };
    // 2^63 is not divisible by 7, so the last step gets the remainder
    let (step_ps, steps) = (crate::RANGE_PS / 7, 7);
    let last_ps = 7 * step_ps;
    let rest_ps = crate::RANGE_PS - last_ps;
    for run in each(&ChainModel { step_ps, steps, more_ps: rest_ps - 1 }, u64::MAX) {
        assert_eq!(run, Ok(crate::RANGE_PS - 1));
    }
    // at the end of the range, and where a sum of two times would overflow 64 bits
    for more_ps in [rest_ps, u64::MAX - step_ps, u64::MAX - last_ps + 2] {
        let found = each(&ChainModel { step_ps, steps, more_ps }, u64::MAX);
        for run in &found {
            let why = run.as_ref().expect_err("it is out of range");
            assert!(why.contains("out of range"), "{why}");
            assert_eq!(run, &found[0]);
        }
        // times out of range that the run does not reach do not matter
        for run in each(&ChainModel { step_ps, steps, more_ps }, last_ps) {
            assert_eq!(run, Ok(6 * step_ps));
        }
    }
    // an event out of range at the very start
    let start = ChainModel { step_ps: u64::MAX, steps: 1, more_ps: 0 };
    assert!(each(&start, u64::MAX).iter().all(Result::is_err));
}

#[test]
fn parts_without_lookahead_are_refused() {
    let model = PholdModel { lps: 4, seed: 1, events: 1, least_ps: 0, zeros: 0 };
    let why =
        windows(&model, &[0, 1, 0, 1], 1000, &QuietWatch).expect_err("no lookahead").to_string();
    assert!(why.contains("lookahead"), "{why}");
    let why = windows(&model, &[0, 1], 1000, &QuietWatch).expect_err("four are due").to_string();
    assert!(why.contains("2 places for 4"), "{why}");
}

/// A watch that asks to stop at once.
struct StoppingWatch;

impl ProgressWatch for StoppingWatch {
    fn tick(&self, _: &str, _: u64, _: u64) -> Result<(), Interrupted> {
        Err(Interrupted)
    }
}

#[test]
fn the_user_stops_every_engine() {
    let model = PholdModel { lps: 4, seed: 1, events: 4, least_ps: 100, zeros: 0 };
    let part_of = [0, 1, 2, 0];
    assert!(sequential(&model, u64::MAX, &StoppingWatch).is_err());
    assert!(windows(&model, &part_of, u64::MAX, &StoppingWatch).is_err());
    assert!(
        optimistic(&model, &part_of, u64::MAX, OptimisticEngineOptions::new(100), &StoppingWatch)
            .is_err()
    );
}
