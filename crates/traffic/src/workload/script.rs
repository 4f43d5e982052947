//! The operations of one rank, written phase by phase.

use super::{RankScheduleBuilder, ScheduleOperation, UnexpandedCollective};
use base::{ComputationError, ProgressWatch, Refusal};

/// Most operations of a generated schedule, which take 8 GiB.
pub(super) const MOST_OPERATIONS: u64 = 1 << 28;

/// Operations between two checks for an interrupt by the user.
const STRIDE: u64 = 1 << 16;

/// Tags that a phase may use: the collective operations that applications use need fewer.
pub(super) const TAGS: u32 = 64;

/// The first tag of a phase, whose number must be the same at all ranks that take part.
///
/// Tags repeat after 2^24 phases, when messages of the first phase are long done.
pub fn tag(phase: u64) -> u32 {
    (phase % (1 << 24)) as u32 * TAGS
}

/// A message to, or from, another rank: that rank, bytes, tag.
pub type ScriptMessage = (u32, u64, u32);

/// The script of a rank, which is written phase by phase. Each phase is called with the operations
/// `after` which it begins, and returns those with which it ends: what depends on the phase waits
/// for them.
///
/// The first error is kept, and nothing more is added after it.
pub struct RankScriptWriter<'a> {
    into: RankScheduleBuilder<'a>,
    cpu: u8,
    watch: &'a dyn ProgressWatch,
    /// Most operations of all ranks together.
    most: u64,
    stopped: Option<ComputationError>,
    /// The number of all ranks, and the list to which collective operations of all ranks are added;
    /// none if these are written as messages.
    joined: Option<(u32, &'a mut Vec<UnexpandedCollective>)>,
}

impl<'a> RankScriptWriter<'a> {
    /// The script of a rank in a schedule with at most `most` operations.
    pub(super) fn new(
        into: RankScheduleBuilder<'a>,
        most: u64,
        watch: &'a dyn ProgressWatch,
    ) -> Self {
        Self { into, cpu: 0, watch, most, stopped: None, joined: None }
    }

    /// Makes collective operations of all `ranks` one operation of each rank, which is added to
    /// `all`.
    pub(super) fn joining(self, ranks: u32, all: &'a mut Vec<UnexpandedCollective>) -> Self {
        Self { joined: Some((ranks, all)), ..self }
    }

    /// Whether nothing more is added, after an error. Programs with long loops should test it.
    pub fn is_over(&self) -> bool {
        self.stopped.is_some()
    }

    /// Sets the processor of the operations that follow.
    pub fn on(&mut self, cpu: u8) {
        self.cpu = cpu;
    }

    /// The number of operations of the rank so far.
    pub fn len(&self) -> u32 {
        self.into.len()
    }

    /// Whether the rank has no operations so far.
    pub fn is_empty(&self) -> bool {
        self.into.is_empty()
    }

    /// Ends the script.
    ///
    /// # Errors
    /// The first error: an operation that could not be added, or a stop by `watch`.
    pub(super) fn done(self) -> Result<(), ComputationError> {
        self.stopped.map_or(Ok(()), Err)
    }

    /// Adds an operation that begins when all of `after` have ended; returns its number.
    pub fn add(&mut self, op: ScheduleOperation, after: &[u32]) -> u32 {
        if self.is_over() {
            return 0;
        }
        match self.tried(op.on(self.cpu), after) {
            Ok(number) => number,
            Err(stop) => {
                self.stopped = Some(stop);
                0
            }
        }
    }

    fn tried(&mut self, op: ScheduleOperation, after: &[u32]) -> Result<u32, ComputationError> {
        let total = self.into.total();
        if total >= self.most {
            return Err(too_many().into());
        }
        if total.is_multiple_of(STRIDE) {
            self.watch.tick("operations", total, 0)?;
        }
        let number = self.into.add(op)?;
        for &before in after {
            self.into.require(number, before)?;
        }
        Ok(number)
    }

    /// Names the operations from number `first` to the last one so far as a collective operation.
    pub fn name_from(&mut self, first: u32, name: &str) {
        if !self.is_over() {
            self.into.name_from(first, name);
        }
    }

    /// Makes `step` also wait for the end of `before`.
    pub fn wait(&mut self, step: u32, before: u32) {
        if !self.is_over()
            && let Err(refused) = self.into.require(step, before)
        {
            self.stopped = Some(refused.into());
        }
    }

    /// Makes `step` also wait for the start of `before`.
    pub fn wait_start(&mut self, step: u32, before: u32) {
        if !self.is_over()
            && let Err(refused) = self.into.require_start(step, before)
        {
            self.stopped = Some(refused.into());
        }
    }

    /// Adds a calculation, unless it takes no time; returns the operations with which it ends.
    pub fn calc(&mut self, ns: u64, after: &[u32]) -> Vec<u32> {
        if ns == 0 { after.to_vec() } else { vec![self.add(ScheduleOperation::calc(ns), after)] }
    }

    /// Returns at most one operation, which ends when all of `after` have ended. Many operations
    /// can then wait for many others without a dependency for each pair.
    pub fn join(&mut self, after: &[u32]) -> Vec<u32> {
        if after.len() < 2 {
            after.to_vec()
        } else {
            vec![self.add(ScheduleOperation::calc(0), after)]
        }
    }

    /// Adds all messages at once: those to other ranks and those from other ranks.
    pub fn exchange(
        &mut self,
        to: &[ScriptMessage],
        from: &[ScriptMessage],
        after: &[u32],
    ) -> Vec<u32> {
        if to.is_empty() && from.is_empty() {
            return after.to_vec();
        }
        let after = self.join(after);
        let mut ends = Vec::with_capacity(to.len() + from.len());
        for &(peer, bytes, tag) in from {
            ends.push(self.add(ScheduleOperation::recv(bytes, peer, tag), &after));
        }
        for &(peer, bytes, tag) in to {
            ends.push(self.add(ScheduleOperation::send(bytes, peer, tag), &after));
        }
        ends
    }

    /// Adds one operation in place of a collective operation of all `ranks`, if these are joined;
    /// none otherwise. `what` describes the collective operation by the number of that operation.
    pub(super) fn joined_as_one(
        &mut self,
        ranks: u32,
        after: &[u32],
        what: impl FnOnce(u32) -> UnexpandedCollective,
    ) -> Option<u32> {
        self.joined.as_ref().filter(|(all, _)| *all == ranks)?;
        let op = self.add(ScheduleOperation::calc(0), after);
        let number = self.into.total().saturating_sub(1) as u32;
        if let Some((_, all)) = &mut self.joined {
            all.push(what(number));
        }
        Some(op)
    }
}

/// What the refusal of a schedule with too many operations is about.
pub(super) const OPERATIONS: &str = "operations";

/// The refusal of a schedule with too many operations.
pub(super) fn too_many() -> Refusal {
    let why = format!("there would be more than {MOST_OPERATIONS}");
    Refusal::new(OPERATIONS, why, "fewer ranks, rounds or parts")
}
