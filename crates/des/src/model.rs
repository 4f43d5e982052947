//! What the engines run: logical processes, events, and the order of events.

use base::{Refusal, Stop};
use std::cmp::Ordering;

/// A logical process by its number.
pub type Lp = u32;

/// Most logical processes: the key has 24 bits for them.
pub(crate) const MOST_LPS: u32 = 1 << 24;

/// Generations of events at one time that the key can tell apart.
const MOST_DEPTH: u64 = 0xff;

/// All events happen before this, ps: some 107 days. Half of what a time can be, so that models may
/// add two such spans.
pub const RANGE_PS: u64 = 1 << 63;

/// When an event happens, and which of several at one time comes first: time in ps (64 bits), depth
/// (8), sender (24), number among the sender's events (32, which may begin anew).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    // two words, since one of 128 bits makes all that has it a multiple of 16 bytes
    time_ps: u64,
    rest: u64,
}

impl PartialOrd for Key {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    /// As derived, but in one comparison of 128 bits: 2 % of the time of a run of packets.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.bits().cmp(&other.bits())
    }
}

impl Key {
    /// Before all events.
    pub const FIRST: Self = Self { time_ps: 0, rest: 0 };

    #[inline]
    pub(crate) fn new(time_ps: u64, depth: u64, source: Lp, serial: u32) -> Self {
        Self { time_ps, rest: depth << 56 | u64::from(source) << 32 | u64::from(serial) }
    }

    /// The time, ps.
    #[inline]
    pub fn time_ps(self) -> u64 {
        self.time_ps
    }

    /// All of it, for other processes.
    #[inline]
    pub(crate) fn bits(self) -> u128 {
        u128::from(self.time_ps) << 64 | u128::from(self.rest)
    }

    /// What another process's [`Self::bits`] stands for.
    #[inline]
    pub(crate) fn of_bits(bits: u128) -> Self {
        Self { time_ps: (bits >> 64) as u64, rest: bits as u64 }
    }

    #[inline]
    pub(crate) fn depth(self) -> u64 {
        self.rest >> 56
    }
}

/// An event on its way.
#[derive(Debug, Clone, Copy)]
pub struct Event<E> {
    /// When, and before which others.
    pub key: Key,
    /// Who handles it.
    pub to: Lp,
    /// What it is.
    pub what: E,
}

/// What is simulated.
pub trait Model: Sync + Sized {
    /// What one logical process knows.
    type State: Send;
    /// What happens.
    type Event: Copy + Send;
    /// What a handler changed, as it was before: enough to take the change back.
    type Change: Copy + Send;
    /// What is told of the run.
    type Record: Copy + Send;
    /// What is made of all records. It must not depend on their order.
    type Tally: Send;

    /// How many logical processes there are, 2^24 at most.
    fn lps(&self) -> u32;

    /// The state of a logical process before the first event; it may send events.
    fn start(&self, to: &mut impl Context<Self>) -> Self::State;

    /// An event happens to a logical process.
    fn handle(&self, state: &mut Self::State, event: Self::Event, to: &mut impl Context<Self>);

    /// Takes a change back: the last one first, until all of an event are gone.
    fn undo(&self, state: &mut Self::State, change: Self::Change);

    /// A tally without records.
    fn tally(&self) -> Self::Tally;

    /// Adds a record to the tally.
    fn count(&self, tally: &mut Self::Tally, record: Self::Record);

    /// Adds the tally of another part.
    fn merge(&self, into: &mut Self::Tally, other: Self::Tally);

    /// How far a run is whose part, one of `parts`, has this tally: of what, how many, of how many;
    /// 0 of 0 where that is not known.
    fn progress(&self, tally: &Self::Tally, parts: u64) -> (&'static str, u64, u64) {
        let _ = (tally, parts);
        ("events", 0, 0)
    }

    /// The least delay of any event from a logical process to one of another part, ps.
    fn lookahead_ps(&self, part_of: &[u16]) -> u64;
}

/// What a handler may do besides changing its state.
pub trait Context<M: Model> {
    /// Whether changes are kept: else [`Context::note`] costs nothing.
    const KEEPS: bool;

    /// The logical process whose event this is.
    fn me(&self) -> Lp;

    /// The time, ps.
    fn now_ps(&self) -> u64;

    /// Sends an event that happens after a delay, which may be 0.
    fn send(&mut self, to: Lp, delay_ps: u64, event: M::Event);

    /// The state changes: what it was. Called before every change.
    fn note(&mut self, was: impl FnOnce() -> M::Change);

    /// Tells something of the run.
    fn record(&mut self, record: M::Record);
}

/// Who handles an event, when, and what number its next event has: what all contexts share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) me: Lp,
    pub(crate) key: Key,
    pub(crate) serial: u32,
    /// More events caused one another at one time than the key can tell apart.
    pub(crate) too_deep: bool,
    /// Something was sent for a time past [`RANGE_PS`].
    pub(crate) too_late: bool,
}

impl Turn {
    /// The turn of a process at an event, whose next one has this number.
    #[inline]
    pub(crate) fn new(me: Lp, key: Key, serial: u32) -> Self {
        Self { me, key, serial, too_deep: false, too_late: false }
    }

    /// The key of what is sent now.
    #[inline]
    pub(crate) fn sent(&mut self, delay_ps: u64) -> Key {
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
            // no engine comes to that time
            time_ps = u64::MAX;
            self.too_late = true;
        }
        let key = Key::new(time_ps, depth, self.me, self.serial);
        self.serial = self.serial.wrapping_add(1);
        key
    }

    /// Why a run until `end_ps` ends here, where it does.
    #[inline]
    pub(crate) fn check(&self, end_ps: u64) -> Result<(), Stop> {
        if self.too_deep | self.too_late { self.flaw(end_ps) } else { Ok(()) }
    }

    #[cold]
    fn flaw(&self, end_ps: u64) -> Result<(), Stop> {
        if self.too_deep {
            return Err(endless(self.me, self.key.time_ps()));
        }
        if end_ps > RANGE_PS { Err(out_of_range()) } else { Ok(()) }
    }
}

/// That something would happen later than times can say: the same words whatever part says them.
pub(crate) fn out_of_range() -> Stop {
    let why = format!("the run comes to times of {RANGE_PS} ps (107 days) or more: out of range");
    Refusal::new("", why, "shorter calculations, fewer bytes, or higher rates").into()
}

/// That events cause one another at one time without end.
pub(crate) fn endless(at: Lp, now_ps: u64) -> Stop {
    let why = format!("events at {now_ps} ps cause one another without end (process {at})");
    Refusal::new("", why, "a delay above 0 somewhere in their circle").into()
}

/// Refuses a model of too many logical processes.
pub(crate) fn check<M: Model>(model: &M) -> Result<(), Stop> {
    if model.lps() <= MOST_LPS {
        return Ok(());
    }
    let why = format!("{} logical processes", model.lps());
    Err(Refusal::new("", why, format!("{MOST_LPS} at most")).into())
}

/// What a run found.
#[derive(Debug)]
pub struct Outcome<M: Model> {
    /// The states at the end, by their numbers.
    pub states: Vec<M::State>,
    /// All records.
    pub tally: M::Tally,
    /// Events that were handled, without those that were undone.
    pub events: u64,
    /// When the last of them happened, ps.
    pub last_ps: u64,
    /// Windows, or rounds, of parallel engines.
    pub windows: u64,
    /// Events that were undone.
    pub undone: u64,
}

impl<M: Model> Outcome<M> {
    /// The share of handled events that were not undone.
    pub fn efficiency(&self) -> f64 {
        if self.events == 0 {
            return 1.0;
        }
        self.events as f64 / (self.events + self.undone) as f64
    }
}
