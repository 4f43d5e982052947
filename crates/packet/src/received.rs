//! What is kept of the chunks that an endpoint has received.

/// What an endpoint has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// Chunks.
    pub chunks: u64,
    /// Bytes.
    pub bytes: u64,
    /// Sum of their latencies, ps.
    pub latency_ps: u64,
    /// When the last one came, ps.
    pub last_ps: u64,
}

/// A message of which a part has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partly {
    /// Its sender and class, and its number.
    pub(super) of: (u32, u32),
    /// What is missing, bytes.
    pub(super) left: u32,
}
