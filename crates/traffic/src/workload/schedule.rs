//! Schedules: the operations of every rank, and their dependencies.

use super::named::{NamedCollectiveSpan, NamedCollectives};
use std::ops::Range;

/// The wildcard: the source, or the tag, of a receive that takes any.
pub const ANY: u32 = u32::MAX;

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum OperationKind {
    /// Sends `size` bytes to `peer`.
    Send = 1,
    /// Receives `size` bytes from `peer`, or from [`ANY`].
    Recv = 2,
    /// Computes for `size` nanoseconds.
    Calc = 3,
}

/// An operation of one rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduleOperation {
    /// Bytes of a message, or nanoseconds of a calculation.
    pub size: u64,
    /// The other rank of a message; 0 for a calculation.
    pub peer: u32,
    /// The tag of a message; a receive takes messages of this tag, or of any tag if it is [`ANY`];
    /// 0 for a calculation.
    pub tag: u32,
    /// What it does.
    pub kind: OperationKind,
    /// The processor of its rank that it runs on.
    pub cpu: u8,
    /// The network interface of its rank that it uses; 0 for a calculation.
    pub nic: u8,
}

impl ScheduleOperation {
    /// A calculation on processor 0.
    pub fn calc(ns: u64) -> Self {
        Self { size: ns, peer: 0, tag: 0, kind: OperationKind::Calc, cpu: 0, nic: 0 }
    }

    /// A send by processor 0 and interface 0.
    pub fn send(bytes: u64, to: u32, tag: u32) -> Self {
        Self { size: bytes, peer: to, tag, kind: OperationKind::Send, cpu: 0, nic: 0 }
    }

    /// A receive by processor 0 and interface 0.
    pub fn recv(bytes: u64, from: u32, tag: u32) -> Self {
        Self { size: bytes, peer: from, tag, kind: OperationKind::Recv, cpu: 0, nic: 0 }
    }

    /// The same operation on another processor.
    #[must_use]
    pub fn on(self, cpu: u8) -> Self {
        Self { cpu, ..self }
    }
}

/// A schedule: the operations of all ranks. They are numbered in order, rank after rank.
///
/// It takes 32 bytes for each operation and 4 for each dependency. Two schedules are equal if their
/// ranks do the same, whatever the names of their collective operations.
#[derive(Debug, Clone)]
pub struct Schedule {
    pub(super) ops: Vec<ScheduleOperation>,
    /// For each rank, the number of its first operation; at the end, the number of all operations.
    pub(super) starts: Vec<u32>,
    /// For each operation, where the list of operations begins that wait for its end, and where the
    /// list of those that wait for its start does.
    pub(super) lists: Vec<u32>,
    pub(super) waiting: Vec<u32>,
    pub(super) cpus: u8,
    pub(super) nics: u8,
    /// The names of collective operations, and the operations of each.
    pub(super) named: NamedCollectives,
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Self) -> bool {
        (&self.ops, &self.starts, &self.lists, &self.waiting, self.cpus, self.nics)
            == (&other.ops, &other.starts, &other.lists, &other.waiting, other.cpus, other.nics)
    }
}

impl Eq for Schedule {}

impl Schedule {
    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// All operations, rank after rank.
    #[inline]
    pub fn ops(&self) -> &[ScheduleOperation] {
        &self.ops
    }

    /// The range of the numbers of a rank's operations.
    pub fn of_rank(&self, rank: u32) -> Range<u32> {
        self.starts[rank as usize]..self.starts[rank as usize + 1]
    }

    /// The rank of an operation. O(log(ranks)).
    pub fn rank_of(&self, op: u32) -> u32 {
        self.starts.partition_point(|&first| first <= op) as u32 - 1
    }

    /// The operations that wait for the end of `op`, in the order in which these dependencies were
    /// added.
    #[inline]
    pub fn require(&self, op: u32) -> &[u32] {
        let at = 2 * op as usize;
        &self.waiting[self.lists[at] as usize..self.lists[at + 1] as usize]
    }

    /// The operations that wait for the start of `op`.
    #[inline]
    pub fn require_start(&self, op: u32) -> &[u32] {
        let at = 2 * op as usize + 1;
        &self.waiting[self.lists[at] as usize..self.lists[at + 1] as usize]
    }

    /// The named collective operations, rank after rank, in the order of their operations. No
    /// operation belongs to two of them.
    pub fn collectives(&self) -> impl Iterator<Item = NamedCollectiveSpan<'_>> {
        self.named.among(0..self.ops.len() as u32)
    }

    /// As [`Schedule::collectives`], for one rank.
    pub fn collectives_of(&self, rank: u32) -> impl Iterator<Item = NamedCollectiveSpan<'_>> {
        self.named.among(self.of_rank(rank))
    }

    /// The number of dependencies of each operation; duplicates are counted.
    pub fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.ops.len()];
        for &op in &self.waiting {
            counts[op as usize] += 1;
        }
        counts
    }

    /// The number of all dependencies.
    pub fn dependencies(&self) -> usize {
        self.waiting.len()
    }

    /// The number of processors of every rank: one more than the largest number in use.
    pub fn cpus(&self) -> u32 {
        u32::from(self.cpus) + 1
    }

    /// The number of network interfaces of every rank: one more than the largest number in use.
    pub fn nics(&self) -> u32 {
        u32::from(self.nics) + 1
    }

    /// The number of sends.
    pub fn messages(&self) -> u64 {
        self.ops.iter().filter(|op| op.kind == OperationKind::Send).count() as u64
    }

    /// The bytes of all messages.
    pub fn sent_bytes(&self) -> f64 {
        self.sum(OperationKind::Send)
    }

    /// The time of all calculations in ns.
    pub fn calculated_ns(&self) -> f64 {
        self.sum(OperationKind::Calc)
    }

    /// The same schedule with calculations that take no time.
    #[must_use]
    pub fn without_calculations(&self) -> Self {
        let mut same = self.clone();
        same.ops.iter_mut().filter(|op| op.kind == OperationKind::Calc).for_each(|op| op.size = 0);
        same
    }

    fn sum(&self, kind: OperationKind) -> f64 {
        let of = self.ops.iter().filter(|op| op.kind == kind);
        of.map(|op| u128::from(op.size)).sum::<u128>() as f64
    }

    /// A description of an operation: its rank, its number there from 1, and what it does.
    pub fn described(&self, op: u32) -> String {
        let rank = self.rank_of(op);
        let number = op - self.of_rank(rank).start + 1;
        let it = &self.ops[op as usize];
        let any = |n: u32| if n == ANY { "any".to_owned() } else { n.to_string() };
        let (peer, tag) = (any(it.peer), any(it.tag));
        let what = match it.kind {
            OperationKind::Send => format!("send {}b to {peer} tag {tag}", it.size),
            OperationKind::Recv => format!("recv {}b from {peer} tag {tag}", it.size),
            OperationKind::Calc => format!("calc {}", it.size),
        };
        format!("rank {rank}, operation {number}: {what}")
    }
}
