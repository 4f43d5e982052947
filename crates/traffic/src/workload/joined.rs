//! Collective operations that a schedule represents by one operation at each rank.

use super::collective::CollectiveOperation;

/// A collective operation of all ranks, which a schedule represents by one operation at each rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnexpandedCollective {
    /// The number of the operation in the schedule: a calculation that stands for it.
    pub op: u32,
    /// The collective operation.
    pub operation: CollectiveOperation,
    /// The root, for operations that have one.
    pub root: u32,
    /// Bytes of the vector, or of every block.
    pub bytes: u64,
    /// The number of the collective operation: the same at all ranks, and rising in the order of
    /// calls.
    pub meeting: u32,
}
