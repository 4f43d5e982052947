//! How long things take: what differs between dialects, as numbers.

use base::seed::Fast;

/// In what order the virtual channels of a port send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The highest that has something.
    Highest,
    /// The lowest that has something.
    Lowest,
    /// In turn, from the one behind that which sent last.
    RoundRobin,
    /// That with the oldest packet, and of each the oldest: by when interfaces scheduled them.
    Oldest,
}

/// When a chunk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// When it has arrived whole.
    Whole,
    /// The same, and as much later as a whole chunk takes on the link, however short this one is:
    /// propagation.
    Twice,
    /// When its head has come: virtual cut-through.
    Head,
}

/// When a router tells the one before that there is room again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// When a chunk has got a place in the buffer behind the next link: routers keep what waits
    /// for that in the buffer of the link that it came by.
    Behind,
    /// When a chunk has left the router.
    Gone,
}

/// A time that is drawn uniformly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// At least so much, ps.
    pub least_ps: u64,
    /// And less than this more, ps; nothing is drawn where it is 0.
    pub more_ps: u32,
}

impl Drawn {
    /// None.
    pub const ZERO: Self = Self { least_ps: 0, more_ps: 0 };

    /// One such time, ps.
    #[inline]
    pub fn ps(self, dice: &mut Fast) -> u64 {
        let more_ps = if self.more_ps > 0 { dice.below(self.more_ps) } else { 0 };
        self.least_ps + u64::from(more_ps)
    }
}

/// Delays of a dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// Of a router, from a chunk's end on its output to its arrival; it occupies no port, ps.
    pub router_ps: u64,
    /// Of a credit, ps.
    pub credit_ps: u64,
    /// Added to transmissions and credits.
    pub jitter: Drawn,
    /// From a process to the interface of its endpoint, and from there to the endpoint's queue.
    pub nic: Drawn,
    /// Whether an interface that is free waits the gap between messages all the same, and a little
    /// longer; else it takes a message at once.
    pub is_gap_first: bool,
    /// How many packets an interface cuts in the time of one on a rail.
    pub at_once: u32,
    /// How long an idle port of a router or an endpoint takes to wake; without it sends at once.
    pub waking: Option<Drawn>,
    /// When chunks go on.
    pub passing: Passing,
    /// When there is room again.
    pub room: Room,
    /// Whether the latency of a chunk begins when it leaves the endpoint, not when the interface
    /// schedules its packet.
    pub begins_late: bool,
    /// Whether a send is done when its last chunk begins to leave, a moment after; else when that
    /// has left.
    pub is_sent_early: bool,
    /// Which virtual channel sends first.
    pub order: Order,
}

/// The time of so many bytes at a rate in GiB/s (2^30 bytes a second), ps, rounded once.
pub(super) fn transmission_ps(bytes: u64, gib_per_s: f64) -> u64 {
    (bytes as f64 * 1e12 / (gib_per_s * 1_073_741_824.0)).round() as u64
}

/// How long it takes to hear that others are done, ps.
pub(super) const TELL_PS: u64 = 1_000_000;
