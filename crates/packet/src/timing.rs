//! The delays and rules by which dialects differ.

use base::seed::FastRandomStream;

/// The order in which the virtual channels of a port send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VirtualChannelSendOrder {
    /// The highest virtual channel in which a part of a packet waits to be sent.
    Highest,
    /// The lowest virtual channel in which a part of a packet waits to be sent.
    Lowest,
    /// Virtual channels in turn, starting behind the one that sent last.
    RoundRobin,
    /// The virtual channel whose first packet was scheduled earliest by its interface; each channel
    /// holds its packets sorted by that time.
    Oldest,
}

/// The time at which a router forwards a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardingRule {
    /// When all of it has arrived (store and forward).
    Whole,
    /// When all of it has arrived, and then the time of a full chunk on the link has passed,
    /// however short this chunk is; CODES counts that time as propagation.
    Twice,
    /// When its head has arrived (virtual cut-through).
    Head,
}

/// The time at which a router returns the credit of a chunk to the router before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreditRule {
    /// When the chunk has been granted room in the buffer behind the next link; until then it
    /// occupies the buffer of the link that it came by.
    Behind,
    /// When the chunk has left the router.
    Gone,
}

/// A delay drawn uniformly from a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomDelay {
    /// The least delay of the range, ps.
    pub least_ps: u64,
    /// The width of the range, ps: delays are less than this above the least; 0 means a constant
    /// delay.
    pub more_ps: u32,
}

impl RandomDelay {
    /// No delay.
    pub const ZERO: Self = Self { least_ps: 0, more_ps: 0 };

    /// Draws a delay, ps.
    #[inline]
    pub fn ps(self, dice: &mut FastRandomStream) -> u64 {
        let more_ps = if self.more_ps > 0 { dice.below(self.more_ps) } else { 0 };
        self.least_ps + u64::from(more_ps)
    }
}

/// The delays and rules of a dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct DialectTimingRules {
    /// Delay of a router, ps: from when a chunk's last byte leaves its output until it arrives at
    /// the other end, minus the latency of the link. No port is busy meanwhile.
    pub router_ps: u64,
    /// Delay of a credit, ps.
    pub credit_ps: u64,
    /// Random delay added to every transmission and credit.
    pub jitter: RandomDelay,
    /// Delay from a process to the network interface of its endpoint, and from there to the
    /// endpoint's queue.
    pub nic: RandomDelay,
    /// Whether a free interface waits for the gap between messages, and a little longer, before it
    /// takes a message; otherwise it takes one at once.
    pub is_gap_first: bool,
    /// The number of packets that a network interface cuts in the transmission time of one packet
    /// on a rail.
    pub at_once: u32,
    /// Delay after which an idle port wakes up; none if it sends at once.
    pub waking: Option<RandomDelay>,
    /// When routers forward chunks.
    pub passing: ForwardingRule,
    /// When routers return credits to the router before.
    pub room: CreditRule,
    /// Whether the latency of a chunk is counted from when it leaves the endpoint, rather than from
    /// when the interface schedules its packet.
    pub begins_late: bool,
    /// Whether a send is complete a moment after its last chunk begins to leave, rather than when
    /// that chunk has left.
    pub is_sent_early: bool,
    /// Which virtual channel sends first.
    pub order: VirtualChannelSendOrder,
}

/// Transmission time of `bytes` at a rate in GiB/s (2^30 bytes a second), in ps, rounded once.
pub(super) fn transmission_ps(bytes: u64, gib_per_s: f64) -> u64 {
    (bytes as f64 * 1e12 / (gib_per_s * 1_073_741_824.0)).round() as u64
}

/// Delay after which an endpoint or router learns that others are done, ps.
pub(super) const TELL_PS: u64 = 1_000_000;
