//! A collective operation of all ranks that a schedule has one operation for at each.

use super::collective::CollectiveOperation;

/// A collective operation of all ranks, where a schedule has one operation for it at each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinedOperation {
    /// The operation of the schedule, a calculation, which is in its place.
    pub op: u32,
    /// What it is.
    pub operation: CollectiveOperation,
    /// The root, of those that have one.
    pub root: u32,
    /// Bytes of the vector, or of every block.
    pub bytes: u64,
    /// Which meeting it is: the same number at all ranks, rising where one comes after another.
    pub meeting: u32,
}
