//! The operations of one rank, written phase by phase.

use super::{JoinedOperation, Op, RankBuilder};
use base::{Refusal, Stop, Watch};

/// Most operations of a schedule that is made: 8 GiB of them.
pub(super) const MOST_OPERATIONS: u64 = 1 << 28;

/// Operations between two looks at whether the user wants to stop.
const STRIDE: u64 = 1 << 16;

/// Tags that a phase may use: the collective operations that applications call need fewer.
pub(super) const TAGS: u32 = 64;

/// The first tag of a phase, by the number that it has at all ranks that take part.
///
/// Numbers are counted around after 2^24, when messages of the first of them are long done.
pub fn tag(phase: u64) -> u32 {
    (phase % (1 << 24)) as u32 * TAGS
}

/// A message to, or from: the other rank, bytes, tag.
pub type ScriptMessage = (u32, u64, u32);

/// The script of a rank: what it does, while it is written. Every phase gets the operations that it
/// begins `after`, and returns those that it ends with: what waits for the phase waits for them.
///
/// What cannot be is kept, and nothing more is added.
pub struct RankScript<'a> {
    into: RankBuilder<'a>,
    cpu: u8,
    watch: &'a dyn Watch,
    /// Most operations of all ranks.
    most: u64,
    stopped: Option<Stop>,
    /// How many ranks there are, and where collective operations of all of them go that are not
    /// written as messages.
    joined: Option<(u32, &'a mut Vec<JoinedOperation>)>,
}

impl<'a> RankScript<'a> {
    /// For a rank of a schedule that has `most` operations at most.
    pub(super) fn new(into: RankBuilder<'a>, most: u64, watch: &'a dyn Watch) -> Self {
        Self { into, cpu: 0, watch, most, stopped: None, joined: None }
    }

    /// Collective operations of all `ranks` become one operation of each, which is added
    /// to `all`.
    pub(super) fn joining(self, ranks: u32, all: &'a mut Vec<JoinedOperation>) -> Self {
        Self { joined: Some((ranks, all)), ..self }
    }

    /// Whether nothing more is added. Programs with long loops look at it now and then.
    pub fn is_over(&self) -> bool {
        self.stopped.is_some()
    }

    /// From now on operations are of this processor.
    pub fn on(&mut self, cpu: u8) {
        self.cpu = cpu;
    }

    /// How many operations the rank has so far.
    pub fn len(&self) -> u32 {
        self.into.len()
    }

    /// Whether it has none so far.
    pub fn is_empty(&self) -> bool {
        self.into.is_empty()
    }

    /// How it ended.
    ///
    /// # Errors
    /// The first that could not be added, or that the user stopped it.
    pub(super) fn done(self) -> Result<(), Stop> {
        self.stopped.map_or(Ok(()), Err)
    }

    /// An operation that begins when all of `after` have ended; its number.
    pub fn add(&mut self, op: Op, after: &[u32]) -> u32 {
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

    fn tried(&mut self, op: Op, after: &[u32]) -> Result<u32, Stop> {
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

    /// The operations from number `first` up to the last so far are a collective operation of this
    /// name.
    pub fn name_from(&mut self, first: u32, name: &str) {
        if !self.is_over() {
            self.into.name_from(first, name);
        }
    }

    /// `step` begins when `before` has ended as well.
    pub fn wait(&mut self, step: u32, before: u32) {
        if !self.is_over()
            && let Err(refused) = self.into.require(step, before)
        {
            self.stopped = Some(refused.into());
        }
    }

    /// `step` begins when `before` has begun as well.
    pub fn wait_start(&mut self, step: u32, before: u32) {
        if !self.is_over()
            && let Err(refused) = self.into.require_start(step, before)
        {
            self.stopped = Some(refused.into());
        }
    }

    /// A calculation; nothing where it takes no time.
    pub fn calc(&mut self, ns: u64, after: &[u32]) -> Vec<u32> {
        if ns == 0 { after.to_vec() } else { vec![self.add(Op::calc(ns), after)] }
    }

    /// One operation, or none, that ends when all of `after` have: so that many that wait for many
    /// need no edge for each pair.
    pub fn join(&mut self, after: &[u32]) -> Vec<u32> {
        if after.len() < 2 { after.to_vec() } else { vec![self.add(Op::calc(0), after)] }
    }

    /// All messages at once: those to others and those from others.
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
            ends.push(self.add(Op::recv(bytes, peer, tag), &after));
        }
        for &(peer, bytes, tag) in to {
            ends.push(self.add(Op::send(bytes, peer, tag), &after));
        }
        ends
    }

    /// One operation in place of a collective operation of all `ranks`, where they are kept so;
    /// `what` says what it is, by the number of the operation.
    pub(super) fn joined_as_one(
        &mut self,
        ranks: u32,
        after: &[u32],
        what: impl FnOnce(u32) -> JoinedOperation,
    ) -> Option<u32> {
        self.joined.as_ref().filter(|(all, _)| *all == ranks)?;
        let op = self.add(Op::calc(0), after);
        let number = self.into.total().saturating_sub(1) as u32;
        if let Some((_, all)) = &mut self.joined {
            all.push(what(number));
        }
        Some(op)
    }
}

/// Refuses a schedule of more operations than there may be.
pub(super) fn too_many() -> Refusal {
    let why = format!("there would be more than {MOST_OPERATIONS}");
    Refusal::new("operations", why, "fewer ranks, rounds or parts")
}
