//! Counters of the chunks and messages that an endpoint has received.

/// The totals of what an endpoint has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointReceivedTotals {
    /// Number of chunks received.
    pub chunks: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Sum of the chunks' latencies, ps.
    pub latency_ps: u64,
    /// The time at which the last chunk came, ps.
    pub last_ps: u64,
}

/// A message that has arrived in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialMessage {
    /// The message's sender and class as one number, and the message's number.
    pub(super) of: (u32, u32),
    /// Bytes that have yet to arrive.
    pub(super) left: u32,
}
