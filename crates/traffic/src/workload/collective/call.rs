//! A collective operation of a number of ranks with its parameters, ready to be written.

use super::kind::{
    AdditionCost, AlgorithmEntry, BlockNumbers, CollectiveAlgorithm, CollectiveOperation,
    RootParameters, StepReceiver,
};
use super::size::CollectiveSize;
use super::{entry, exchange};
use crate::workload::WorkloadRequest;
use crate::workload::parameters::{MOST_BYTES, MOST_RANKS};
use base::{Quiet, Refusal, Stop};
use serde_json::Map;
use std::sync::Arc;

/// Most ranks of a call that has a list of all.
const MOST_LISTED: u32 = 4096;

/// A collective operation of a number of ranks, ready to be written into a schedule.
#[derive(Clone)]
pub struct CollectiveCall {
    pub(super) algorithm: Arc<dyn CollectiveAlgorithm>,
    name: &'static str,
    /// What MPI has a call for, and its root.
    known: Option<(CollectiveOperation, u32)>,
    is_whole: bool,
    ranks: u32,
    bytes: u64,
    /// Bytes of the block of each rank, counted around; where there are none all are alike.
    sizes: Option<Arc<Vec<u64>>>,
    /// What adding up costs.
    pub add_ns_per_kib: u64,
}

impl CollectiveCall {
    /// By name, with the defaults of the algorithm's own parameters. `bytes` are those of the
    /// vector that is broadcast or added; for operations with a block for every rank, those of a
    /// block.
    ///
    /// # Errors
    /// When there is no such algorithm, or it is not for this number of ranks.
    pub fn new(name: &str, ranks: u32, bytes: u64) -> Result<Self, Stop> {
        Self::rooted(name, ranks, 0, bytes)
    }

    /// The same with a root, of those that have one.
    ///
    /// # Errors
    /// As [`CollectiveCall::new`], and when there is no such rank.
    pub fn rooted(name: &str, ranks: u32, root: u32, bytes: u64) -> Result<Self, Stop> {
        let numbers = [
            ("ranks", u64::from(ranks), 1, MOST_RANKS),
            ("bytes", bytes, 0, MOST_BYTES),
            ("root", root.into(), 0, MOST_RANKS),
        ];
        // schedules of traces have very many calls: no schema is made for each
        if let Some((name, value, least, most)) =
            numbers.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value))
        {
            let help = format!("a whole number from {least} to {most}");
            return Err(Refusal::new(name, format!("{value} is out of range"), help).into());
        }
        let given = numbers.map(|(name, value, ..)| (name.to_owned(), value.into()));
        let given = Map::from_iter(given);
        let entry = entry(name)?;
        Self::asked(entry, &WorkloadRequest::trusted(entry.part, &given, &Quiet))
    }

    /// Blocks from every rank to every other, whose sizes are given; empty ones are sent with
    /// `keeps_empty` alone.
    /// In rounds a rank sends to the one that is as many further as the round's number, else all at
    /// once. O(ranks^2).
    pub(in crate::workload) fn exchange(
        ranks: u32,
        bytes: &dyn Fn(u32, u32) -> u64,
        rounds: bool,
        keeps_empty: bool,
    ) -> Self {
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        let all = pairs.map(|(from, to)| (from, to, bytes(from, to)));
        let all: Vec<exchange::ExchangeMessage> =
            all.filter(|e| e.0 != e.1 && (keeps_empty || e.2 > 0)).collect();
        let round = |i: usize| (all[i].1 + ranks - all[i].0) % ranks;
        let messages = Some(exchange::ExchangeMessages::new(ranks, &all, round));
        let name = if rounds { "alltoallv_pairwise" } else { "alltoallv_linear" };
        Self { name, ..Self::of(exchange::BlockExchange { messages, rounds }, ranks) }
    }

    /// As asked for.
    pub(super) fn asked(
        entry: &AlgorithmEntry,
        request: &WorkloadRequest<'_>,
    ) -> Result<Self, Stop> {
        let CollectiveSize { ranks, bytes } = request.read()?;
        let ranks = ranks.0;
        let algorithm: Arc<dyn CollectiveAlgorithm> = (entry.make)(request)?.into();
        algorithm.check(ranks).map_err(|help| {
            Refusal::new("ranks", format!("{} is not for {ranks}", entry.part.name), help)
        })?;
        // those that have no such parameter have its default, which changes nothing
        let AdditionCost { add_ns_per_kib } = request.read()?;
        let is_whole = entry.operation.is_whole();
        let known = Some((entry.operation, RootParameters::asked(request)?));
        let name = entry.part.name;
        Ok(Self { algorithm, name, known, is_whole, ranks, bytes, sizes: None, add_ns_per_kib })
    }

    /// An operation of this number of ranks in which none does anything.
    pub(in crate::workload) fn nothing(ranks: u32) -> Self {
        Self::of(EmptyAlgorithm, ranks)
    }

    /// An algorithm whose blocks have sizes of their own, from ranks to others.
    pub(in crate::workload) fn of(
        algorithm: impl CollectiveAlgorithm + 'static,
        ranks: u32,
    ) -> Self {
        let algorithm = Arc::new(algorithm);
        Self {
            algorithm,
            name: "alltoallv",
            known: None,
            is_whole: false,
            ranks,
            bytes: 0,
            sizes: None,
            add_ns_per_kib: 0,
        }
    }

    /// The same with other bytes.
    #[must_use]
    pub fn with_bytes(&self, bytes: u64) -> Self {
        Self { bytes, ..self.clone() }
    }

    /// The same with a size for the block of each rank; ranks beyond the list count around. Of
    /// operations with a block for every rank.
    #[must_use]
    pub(in crate::workload) fn with_sizes(self, sizes: Vec<u64>) -> Self {
        Self { sizes: Some(Arc::new(sizes)), ..self }
    }

    /// What it is called: the algorithm, where it has a name.
    pub(in crate::workload) fn name(&self) -> &'static str {
        self.name
    }

    /// How many ranks take part.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The operation, its root, and the bytes of the vector or of every block; none where ranks
    /// have blocks of their own, or it is no one of MPI's.
    pub(in crate::workload) fn uniform(&self) -> Option<(CollectiveOperation, u32, u64)> {
        let known = self.known.filter(|(it, _)| match it {
            CollectiveOperation::Alltoallv | CollectiveOperation::Neighbours => false,
            // MPI's call has a list of all ranks
            CollectiveOperation::ReduceScatter => self.sizes.is_none() && self.ranks <= MOST_LISTED,
            _ => self.sizes.is_none(),
        });
        known.map(|(operation, root)| (operation, root, self.bytes))
    }

    pub(in crate::workload) fn tell(&self, rank: u32, to: &mut dyn StepReceiver) {
        self.algorithm.tell(rank, self.ranks, to);
    }

    /// Bytes of a message of these blocks.
    pub(super) fn size(&self, blocks: BlockNumbers<'_>) -> u64 {
        if let Some(sizes) = &self.sizes {
            return blocks.map(|b| sizes[(b % sizes.len() as u64) as usize]).sum();
        }
        if !self.is_whole {
            return blocks.map(|b| self.algorithm.bytes(b, self.ranks, self.bytes)).sum();
        }
        let parts = u128::from(self.algorithm.blocks(self.ranks));
        let until = |b: u64| (u128::from(self.bytes) * u128::from(b) / parts) as u64;
        blocks.map(|b| until(b + 1) - until(b)).sum()
    }
}

/// The algorithm of what is left out: no rank sends, receives, or waits.
struct EmptyAlgorithm;

impl CollectiveAlgorithm for EmptyAlgorithm {
    fn tell(&self, _: u32, _: u32, _: &mut dyn StepReceiver) {}
}
