//! Numbers that stand for something else than a rank or a request.

/// The meanings of numbers in a trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct MpiConstants {
    pub(super) null: i64,
    pub(super) any: i64,
    pub(super) request_bytes: u64,
}
