//! A collective operation with its number of ranks and parameters, ready to be written.

use super::kind::{
    AdditionTimeParameter, AlgorithmStepSink, BlockNumbers, CollectiveAlgorithm,
    CollectiveAlgorithmEntry, CollectiveOperation, RootedCollectiveParameters,
};
use super::size::CollectiveSizeParameters;
use super::{entry, exchange};
use crate::workload::WorkloadRequest;
use crate::workload::parameters::{MOST_BYTES, MOST_RANKS};
use base::{ComputationError, QuietWatch, Refusal};
use serde_json::Map;
use std::sync::Arc;

/// Most ranks of a call that lists a size for each rank.
const MOST_LISTED: u32 = 4096;

/// A collective operation of a number of ranks, ready to be written into a schedule.
#[derive(Clone)]
pub struct CollectiveCall {
    pub(super) algorithm: Arc<dyn CollectiveAlgorithm>,
    name: &'static str,
    /// The operation of an MPI call and its root; none if MPI has no such call.
    known: Option<(CollectiveOperation, u32)>,
    is_whole: bool,
    ranks: u32,
    bytes: u64,
    /// The bytes of each rank's block, repeated cyclically; none if all blocks are of the same
    /// size.
    sizes: Option<Arc<Vec<u64>>>,
    /// Time of adding up a KiB of received data, ns.
    pub add_ns_per_kib: u64,
}

impl CollectiveCall {
    /// The operation of this name, with default parameters of the algorithm. `bytes` is the size of
    /// the vector that is broadcast or added; for operations with a block for every rank, the size
    /// of a block.
    ///
    /// # Errors
    /// When there is no such algorithm, or it does not support this number of ranks.
    pub fn new(name: &str, ranks: u32, bytes: u64) -> Result<Self, ComputationError> {
        Self::rooted(name, ranks, 0, bytes)
    }

    /// As [`CollectiveCall::new`], with a root, for operations that have one.
    ///
    /// # Errors
    /// As for [`CollectiveCall::new`], and when there is no such rank.
    pub fn rooted(name: &str, ranks: u32, root: u32, bytes: u64) -> Result<Self, ComputationError> {
        let numbers = [
            ("ranks", u64::from(ranks), 1, MOST_RANKS),
            ("bytes", bytes, 0, MOST_BYTES),
            ("root", root.into(), 0, MOST_RANKS),
        ];
        // a trace has very many calls, so no schema is built for each of them
        if let Some((name, value, least, most)) =
            numbers.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value))
        {
            let help = format!("a whole number from {least} to {most}");
            return Err(Refusal::new(name, format!("{value} is out of range"), help).into());
        }
        let given = numbers.map(|(name, value, ..)| (name.to_owned(), value.into()));
        let given = Map::from_iter(given);
        let entry = entry(name)?;
        Self::asked(entry, &WorkloadRequest::trusted(entry.part, &given, &QuietWatch))
    }

    /// An exchange of blocks of given sizes between ranks; empty blocks are only sent with
    /// `keeps_empty`. With rounds, a rank sends in round i to the rank i further; otherwise all
    /// blocks are sent at once. O(ranks^2).
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
        Self { name, ..Self::of(exchange::BlockExchangeAlgorithm { messages, rounds }, ranks) }
    }

    /// The operation that a request with parameters describes.
    pub(super) fn asked(
        entry: &CollectiveAlgorithmEntry,
        request: &WorkloadRequest<'_>,
    ) -> Result<Self, ComputationError> {
        let CollectiveSizeParameters { ranks, bytes } = request.read()?;
        let ranks = ranks.0;
        let algorithm: Arc<dyn CollectiveAlgorithm> = (entry.make)(request)?.into();
        algorithm.check(ranks).map_err(|help| {
            Refusal::new("ranks", format!("{} is not for {ranks}", entry.part.name), help)
        })?;
        // operations without this parameter get its default, which has no effect
        let AdditionTimeParameter { add_ns_per_kib } = request.read()?;
        let is_whole = entry.operation.is_whole();
        let known = Some((entry.operation, RootedCollectiveParameters::asked(request)?));
        let name = entry.part.name;
        Ok(Self { algorithm, name, known, is_whole, ranks, bytes, sizes: None, add_ns_per_kib })
    }

    /// An operation over this number of ranks in which no rank does anything.
    pub(in crate::workload) fn nothing(ranks: u32) -> Self {
        Self::of(OmittedCollectiveAlgorithm, ranks)
    }

    /// An operation by an algorithm whose blocks, from rank to rank, have sizes of their own.
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

    /// The same operation with another number of bytes.
    #[must_use]
    pub fn with_bytes(&self, bytes: u64) -> Self {
        Self { bytes, ..self.clone() }
    }

    /// The same operation with a size for the block of each rank; the list is repeated cyclically
    /// for further ranks. Only for operations with a block for every rank.
    #[must_use]
    pub(in crate::workload) fn with_sizes(self, sizes: Vec<u64>) -> Self {
        Self { sizes: Some(Arc::new(sizes)), ..self }
    }

    /// The name of the algorithm; empty if it has none.
    pub(in crate::workload) fn name(&self) -> &'static str {
        self.name
    }

    /// The number of ranks that take part.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The operation, its root, and the bytes of the vector or of every block; none if ranks have
    /// blocks of different sizes, or MPI has no such operation.
    pub(in crate::workload) fn uniform(&self) -> Option<(CollectiveOperation, u32, u64)> {
        let known = self.known.filter(|(it, _)| match it {
            CollectiveOperation::Alltoallv | CollectiveOperation::Neighbours => false,
            // MPI's call lists the sizes of all ranks
            CollectiveOperation::ReduceScatter => self.sizes.is_none() && self.ranks <= MOST_LISTED,
            _ => self.sizes.is_none(),
        });
        known.map(|(operation, root)| (operation, root, self.bytes))
    }

    pub(in crate::workload) fn tell(&self, rank: u32, to: &mut dyn AlgorithmStepSink) {
        self.algorithm.tell(rank, self.ranks, to);
    }

    /// The bytes of a message with these blocks.
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

/// The algorithm of an operation that is left out: no rank sends, receives or waits.
struct OmittedCollectiveAlgorithm;

impl CollectiveAlgorithm for OmittedCollectiveAlgorithm {
    fn tell(&self, _: u32, _: u32, _: &mut dyn AlgorithmStepSink) {}
}
