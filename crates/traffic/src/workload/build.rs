//! The builder of a schedule, which is filled rank after rank.

use super::named::NamedCollectives;
use super::{OperationKind, Schedule, ScheduleOperation};
use base::Refusal;
use std::ops::Range;

/// The most operations, or dependencies, of a schedule.
const MOST: usize = u32::MAX as usize;
/// Most bytes of all messages of a schedule.
const MOST_BYTES: u64 = i64::MAX as u64;

/// A schedule that is being built.
#[derive(Debug)]
pub struct ScheduleBuilder {
    made: Schedule,
    ranks: u32,
    /// The bytes of all messages so far.
    bytes: u64,
    edges: Vec<OperationDependency>,
    /// Scratch memory for sorting the dependency lists of a rank.
    places: Vec<u32>,
}

/// A dependency of two operations: `after` waits for `before`, or for its start.
#[derive(Debug, Clone, Copy)]
struct OperationDependency {
    /// Twice the number of the operation within its rank, plus 1 if its start is meant.
    before: u32,
    after: u32,
}

impl ScheduleBuilder {
    /// A builder for this number of ranks, none of which has operations yet.
    pub fn new(ranks: u32) -> Self {
        let made = Schedule {
            ops: Vec::new(),
            starts: vec![0],
            lists: vec![0],
            waiting: Vec::new(),
            cpus: 0,
            nics: 0,
            named: NamedCollectives::default(),
        };
        Self { made, ranks, bytes: 0, edges: Vec::new(), places: Vec::new() }
    }

    /// Begins the next rank.
    ///
    /// # Panics
    /// When all ranks have been built.
    pub fn rank(&mut self) -> RankScheduleBuilder<'_> {
        let first = self.made.ops.len() as u32;
        assert!(self.made.starts.len() as u32 <= self.ranks, "all ranks are there");
        self.edges.clear();
        RankScheduleBuilder { of: self, first }
    }

    /// The number of operations so far.
    pub fn total(&self) -> u64 {
        self.made.ops.len() as u64
    }

    /// The schedule; all ranks must have been built.
    ///
    /// # Errors
    /// When ranks are missing.
    pub fn finish(mut self) -> Result<Schedule, Refusal> {
        let there = self.made.ranks();
        if there != self.ranks {
            let why = format!("{there} ranks are there of {}", self.ranks);
            return Err(Refusal::new("ranks", why, "every rank, in order"));
        }
        self.made.ops.shrink_to_fit();
        self.made.lists.shrink_to_fit();
        self.made.waiting.shrink_to_fit();
        Ok(self.made)
    }

    /// Stores the dependencies of a rank as lists; those of the same operation stay in order.
    fn close(&mut self, first: u32) {
        let ops = self.made.ops.len() - first as usize;
        self.places.clear();
        self.places.resize(2 * ops, 0);
        for edge in &self.edges {
            self.places[edge.before as usize] += 1;
        }
        let begin = self.made.waiting.len() as u32;
        let mut sum = begin;
        for place in &mut self.places {
            sum += std::mem::replace(place, sum);
            self.made.lists.push(sum);
        }
        self.made.waiting.resize(sum as usize, 0);
        for edge in &self.edges {
            let place = &mut self.places[edge.before as usize];
            self.made.waiting[*place as usize] = first + edge.after;
            *place += 1;
        }
        self.made.starts.push(self.made.ops.len() as u32);
    }
}

/// The builder of one rank; its operations are in the schedule once it is dropped.
#[derive(Debug)]
pub struct RankScheduleBuilder<'a> {
    of: &'a mut ScheduleBuilder,
    first: u32,
}

impl RankScheduleBuilder<'_> {
    /// Adds an operation and returns its number within the rank.
    ///
    /// # Errors
    /// When it names a rank that does not exist, or there are too many operations or bytes.
    pub fn add(&mut self, op: ScheduleOperation) -> Result<u32, Refusal> {
        let made = &mut self.of.made;
        if made.ops.len() >= MOST / 2 {
            let why = format!("more than {} operations", MOST / 2);
            return Err(Refusal::new("operations", why, "a smaller schedule"));
        }
        let is_any = op.kind == OperationKind::Recv && op.peer == super::ANY;
        if op.kind != OperationKind::Calc && op.peer >= self.of.ranks && !is_any {
            let why = format!("there is no rank {}", op.peer);
            return Err(Refusal::new("rank", why, format!("0 to {}", self.of.ranks - 1)));
        }
        if op.kind == OperationKind::Send {
            let sum = self.of.bytes.checked_add(op.size).filter(|sum| *sum <= MOST_BYTES);
            self.of.bytes = sum.ok_or_else(|| {
                let why = format!("with {} more all messages are too many", op.size);
                Refusal::new("bytes", why, "below 2^63 in all")
            })?;
        }
        made.cpus = made.cpus.max(op.cpu);
        made.nics = made.nics.max(op.nic);
        made.ops.push(op);
        Ok(made.ops.len() as u32 - 1 - self.first)
    }

    /// Makes `after` start only when `before` is done; both are numbers within the rank.
    ///
    /// # Errors
    /// When there are too many dependencies.
    pub fn require(&mut self, after: u32, before: u32) -> Result<(), Refusal> {
        self.edge(after, 2 * before)
    }

    /// Makes `after` start only when `before` has started.
    ///
    /// # Errors
    /// As [`RankScheduleBuilder::require`].
    pub fn require_start(&mut self, after: u32, before: u32) -> Result<(), Refusal> {
        self.edge(after, 2 * before + 1)
    }

    fn edge(&mut self, after: u32, before: u32) -> Result<(), Refusal> {
        let ops = self.len();
        assert!(after < ops && before / 2 < ops, "both operations are there");
        if self.of.made.waiting.len() + self.of.edges.len() >= MOST {
            let why = format!("more than {MOST}");
            return Err(Refusal::new("dependencies", why, "a smaller schedule"));
        }
        self.of.edges.push(OperationDependency { before, after });
        Ok(())
    }

    /// Names the operations from number `first` of the rank to the last one so far as a collective
    /// operation. It has no effect if there are none, or if they are named already.
    pub fn name_from(&mut self, first: u32, name: &str) {
        self.name(first..self.len(), name);
    }

    /// As [`RankScheduleBuilder::name_from`], for a range of operations.
    pub(super) fn name(&mut self, steps: Range<u32>, name: &str) {
        let steps = self.first + steps.start..self.first + steps.end;
        self.of.made.named.add(name, steps);
    }

    /// The number of operations of all ranks so far.
    pub fn total(&self) -> u64 {
        self.of.total()
    }

    /// The number of operations of this rank so far.
    pub fn len(&self) -> u32 {
        self.of.made.ops.len() as u32 - self.first
    }

    /// Whether this rank has no operations so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Drop for RankScheduleBuilder<'_> {
    fn drop(&mut self) {
        self.of.close(self.first);
    }
}
