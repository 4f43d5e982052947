//! The interface of models: logical processes, events, and the order of events.

use base::{ComputationError, Refusal};
use std::cmp::Ordering;

/// The number of a logical process.
pub type LpNumber = u32;

/// The largest number of logical processes: a key has 24 bits for them.
pub(crate) const MOST_LPS: u32 = 1 << 24;

/// The largest depth of a chain of events at one time that a key can hold.
const MOST_DEPTH: u64 = 0xff;

/// The end of the range of times, ps: about 107 days. It is half of what 64 bits can hold, so that
/// models may add two such times.
pub const RANGE_PS: u64 = 1 << 63;

/// The key by which events are ordered: time in ps (64 bits), depth (8), sender (24), number among
/// the sender's events (32, which may wrap around).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventKey {
    // two words, because a single 128-bit field would round the size of everything that holds a key
    // up to a multiple of 16 bytes
    time_ps: u64,
    rest: u64,
}

impl PartialOrd for EventKey {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for EventKey {
    /// Compares as the derived order would, but in one comparison of 128 bits, which saves 2 % of
    /// the time of a packet simulation.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.bits().cmp(&other.bits())
    }
}

impl EventKey {
    /// A key that is less than that of any event.
    pub const FIRST: Self = Self { time_ps: 0, rest: 0 };

    #[inline]
    pub(crate) fn new(time_ps: u64, depth: u64, source: LpNumber, serial: u32) -> Self {
        Self { time_ps, rest: depth << 56 | u64::from(source) << 32 | u64::from(serial) }
    }

    /// The time of the event, ps.
    #[inline]
    pub fn time_ps(self) -> u64 {
        self.time_ps
    }

    /// The whole key as bits, to be sent to other processes.
    #[inline]
    pub(crate) fn bits(self) -> u128 {
        u128::from(self.time_ps) << 64 | u128::from(self.rest)
    }

    /// The key with these bits, which [`Self::bits`] has returned, perhaps in another process.
    #[inline]
    pub(crate) fn of_bits(bits: u128) -> Self {
        Self { time_ps: (bits >> 64) as u64, rest: bits as u64 }
    }

    #[inline]
    pub(crate) fn depth(self) -> u64 {
        self.rest >> 56
    }
}

/// An event that has been sent and not handled yet.
#[derive(Debug, Clone, Copy)]
pub struct Event<E> {
    /// The key by which the event is ordered.
    pub key: EventKey,
    /// The logical process that handles it.
    pub to: LpNumber,
    /// The content of the event.
    pub what: E,
}

/// A simulation model: logical processes, their events, and the records of a run.
pub trait SimulationModel: Sync + Sized {
    /// The state of one logical process.
    type State: Send;
    /// The content of an event.
    type Event: Copy + Send;
    /// The value of a part of the state before a handler changed it, from which the change can be
    /// undone.
    type Change: Copy + Send;
    /// An observation that a handler records.
    type Record: Copy + Send;
    /// The statistics over all records; they must not depend on the order of the records.
    type Tally: Send;

    /// The number of logical processes, at most 2^24.
    fn lps(&self) -> u32;

    /// Returns the state of a logical process before the first event; it may send events through
    /// `to`.
    fn start(&self, to: &mut impl HandlerContext<Self>) -> Self::State;

    /// Handles an event at a logical process.
    fn handle(
        &self,
        state: &mut Self::State,
        event: Self::Event,
        to: &mut impl HandlerContext<Self>,
    );

    /// Undoes a change. Engines undo the changes of an event from the last to the first.
    fn undo(&self, state: &mut Self::State, change: Self::Change);

    /// Returns the statistics over no records.
    fn tally(&self) -> Self::Tally;

    /// Adds a record to the statistics.
    fn count(&self, tally: &mut Self::Tally, record: Self::Record);

    /// Adds the statistics of another part to `into`.
    fn merge(&self, into: &mut Self::Tally, other: Self::Tally);

    /// Estimates the progress of a run from the statistics of one of `parts` parts: what is
    /// counted, how much of that is done, and how much there is in all. 0 of 0 where it is not
    /// known.
    fn progress(&self, tally: &Self::Tally, parts: u64) -> (&'static str, u64, u64) {
        let _ = (tally, parts);
        ("events", 0, 0)
    }

    /// The least delay of any event between logical processes of different parts, ps.
    fn lookahead_ps(&self, part_of: &[u16]) -> u64;
}

/// The context of a handler: sends events, and notes changes and records.
pub trait HandlerContext<M: SimulationModel> {
    /// Whether changes are stored for undoing; otherwise [`HandlerContext::note`] costs nothing.
    const KEEPS: bool;

    /// The logical process that handles the event.
    fn me(&self) -> LpNumber;

    /// The time of the event, ps.
    fn now_ps(&self) -> u64;

    /// Sends an event that happens after a delay, which may be 0.
    fn send(&mut self, to: LpNumber, delay_ps: u64, event: M::Event);

    /// Notes the value before a change; handlers call it before every change.
    fn note(&mut self, was: impl FnOnce() -> M::Change);

    /// Records an observation.
    fn record(&mut self, record: M::Record);
}

/// The state that all contexts share: the event that is being handled, and the number of the next
/// event that its process sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurrentEvent {
    pub(crate) me: LpNumber,
    pub(crate) key: EventKey,
    pub(crate) serial: u32,
    /// Whether a chain of events at one time became deeper than a key can hold.
    pub(crate) too_deep: bool,
    /// Whether an event was sent for a time past [`RANGE_PS`].
    pub(crate) too_late: bool,
}

impl CurrentEvent {
    /// The state while process `me` handles the event `key`; the next event that it sends gets
    /// number `serial`.
    #[inline]
    pub(crate) fn new(me: LpNumber, key: EventKey, serial: u32) -> Self {
        Self { me, key, serial, too_deep: false, too_late: false }
    }

    /// The key of an event that is sent now.
    #[inline]
    pub(crate) fn sent(&mut self, delay_ps: u64) -> EventKey {
        let mut depth = 0;
        if delay_ps == 0 {
            depth = self.key.depth() + 1;
            if depth > MOST_DEPTH {
                self.too_deep = true;
                depth = MOST_DEPTH;
            }
        }
        let mut time_ps = self.key.time_ps().saturating_add(delay_ps);
        if time_ps >= RANGE_PS {
            // a time that no engine reaches
            time_ps = u64::MAX;
            self.too_late = true;
        }
        let key = EventKey::new(time_ps, depth, self.me, self.serial);
        self.serial = self.serial.wrapping_add(1);
        key
    }

    /// Refuses to continue a run until `end_ps` where an event is too deep, or where times are out
    /// of range.
    #[inline]
    pub(crate) fn check(&self, end_ps: u64) -> Result<(), ComputationError> {
        if self.too_deep | self.too_late { self.flaw(end_ps) } else { Ok(()) }
    }

    #[cold]
    fn flaw(&self, end_ps: u64) -> Result<(), ComputationError> {
        if self.too_deep {
            return Err(endless(self.me, self.key.time_ps()));
        }
        if end_ps > RANGE_PS { Err(out_of_range()) } else { Ok(()) }
    }
}

/// The refusal of times out of range, with the same words for all engines.
pub(crate) fn out_of_range() -> ComputationError {
    let why = format!("the run comes to times of {RANGE_PS} ps (107 days) or more: out of range");
    Refusal::new("", why, "shorter calculations, fewer bytes, or higher rates").into()
}

/// The refusal of events that cause one another at one time without end.
pub(crate) fn endless(at: LpNumber, now_ps: u64) -> ComputationError {
    let why = format!("events at {now_ps} ps cause one another without end (process {at})");
    Refusal::new("", why, "a delay above 0 somewhere in their cycle").into()
}

/// Refuses a model with too many logical processes.
pub(crate) fn check<M: SimulationModel>(model: &M) -> Result<(), ComputationError> {
    if model.lps() <= MOST_LPS {
        return Ok(());
    }
    let why = format!("{} logical processes", model.lps());
    Err(Refusal::new("", why, format!("{MOST_LPS} at most")).into())
}

/// The result of a run.
#[derive(Debug)]
pub struct SimulationOutcome<M: SimulationModel> {
    /// The final states of the logical processes, by their numbers.
    pub states: Vec<M::State>,
    /// The statistics over all records.
    pub tally: M::Tally,
    /// The number of events that were handled and not undone.
    pub events: u64,
    /// The time of the last of these events, ps.
    pub last_ps: u64,
    /// The number of windows or rounds; 0 for the sequential engine.
    pub windows: u64,
    /// The number of events that were undone.
    pub undone: u64,
}

impl<M: SimulationModel> SimulationOutcome<M> {
    /// The share of handled events that were not undone.
    pub fn efficiency(&self) -> f64 {
        if self.events == 0 {
            return 1.0;
        }
        self.events as f64 / (self.events + self.undone) as f64
    }
}
