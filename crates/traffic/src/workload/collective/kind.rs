//! The trait of collective algorithms, and their table.

use super::size::{
    BlockBytesParameter, CollectiveSizeParameters, MeanMessageBytesParameter,
    RequiredCollectiveSize, VectorBytesParameter,
};
use crate::workload::WorkloadRequest;
use crate::workload::parameters::{MOST_NS, MOST_RANKS, no_rank};
use base::fields::whole;
use base::part::PartDescription;
use base::{ComputationError, QuietWatch, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;

/// A collective operation, as MPI defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectiveOperation {
    /// No rank leaves before all ranks have come.
    Barrier,
    /// All ranks get the root's blocks.
    Broadcast,
    /// The root gets the sum of the blocks of all ranks.
    Reduce,
    /// All ranks get the sum of the blocks of all ranks.
    Allreduce,
    /// All get the block of each rank.
    Allgather,
    /// Each rank gets its block of the sum.
    ReduceScatter,
    /// Each rank gets a block from each rank.
    Alltoall,
    /// Each rank gets a block from each rank; the sizes differ, and may be 0.
    Alltoallv,
    /// Each rank gets a block from each of its neighbours.
    Neighbours,
    /// Each rank gets the sum of the blocks of all ranks up to itself.
    Scan,
    /// Each rank but the first gets the sum of the blocks of all ranks before it.
    Exscan,
    /// The root gets the block of each rank.
    Gather,
    /// Each rank gets its block from the root.
    Scatter,
}

/// The effect of a received block on the rank's block of the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceivedBlockEffect {
    /// The received block replaces it.
    Store,
    /// The received block is added to it.
    Add,
}

/// The number of a step of a rank.
pub type StepNumber = u32;

/// The numbers of the blocks of a message. The parts of a divided vector are numbered from 0. A
/// block for a rank, or of a rank, has the number of that rank. A block from rank `a` for rank `b`
/// of `n` ranks has the number `a n + b`.
pub type BlockNumbers<'a> = &'a mut dyn Iterator<Item = u64>;

/// A receiver of the steps of a rank's algorithm, one by one.
pub trait AlgorithmStepSink {
    /// Sends blocks with the contents that the steps before have made: those that this one depends
    /// on, directly or indirectly. Receives of other steps do not affect it.
    fn send(&mut self, to: u32, tag: u32, blocks: BlockNumbers<'_>) -> StepNumber;

    /// Receives the blocks that `from` sends with this tag; messages with the same tag match in
    /// order.
    fn recv(
        &mut self,
        from: u32,
        tag: u32,
        blocks: BlockNumbers<'_>,
        how: ReceivedBlockEffect,
    ) -> StepNumber;

    /// Makes `step` wait for the end of `before`.
    fn after(&mut self, step: StepNumber, before: StepNumber);
}

/// An algorithm of a collective operation with its parameters, for any number of ranks that `check`
/// allows.
pub trait CollectiveAlgorithm: Send + Sync {
    /// The number of blocks into which the message of each rank is divided.
    fn blocks(&self, ranks: u32) -> u64 {
        let _ = ranks;
        1
    }

    /// The bytes of a block, for operations whose blocks are not parts of one vector.
    fn bytes(&self, block: u64, ranks: u32, bytes: u64) -> u64 {
        let _ = (block, ranks);
        bytes
    }

    /// Checks that the algorithm supports this number of ranks.
    ///
    /// # Errors
    /// The numbers of ranks that it supports.
    fn check(&self, ranks: u32) -> Result<(), String> {
        let _ = ranks;
        Ok(())
    }

    /// Passes the steps of `rank` to `to`.
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink);
}

/// An algorithm, or the reason why it cannot be made.
pub(super) type AlgorithmResult = Result<Box<dyn CollectiveAlgorithm>, ComputationError>;

/// A row of the table of algorithms.
pub struct CollectiveAlgorithmEntry {
    /// The name, composed of operation and algorithm; a description; and the parameters.
    pub part: PartDescription,
    /// The operation.
    pub operation: CollectiveOperation,
    /// Makes the algorithm with its own parameters.
    pub(super) make: fn(&WorkloadRequest<'_>) -> AlgorithmResult,
}

/// No parameters.
#[derive(JsonSchema)]
#[schemars(rename = "NoParameters")]
struct NoAlgorithmParameters {}

/// What adding up costs.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AdditionCost")]
pub(super) struct AdditionTimeParameter {
    /// Time to add a KiB of blocks, ns.
    #[serde(default)]
    #[schemars(range(max = 1 << 30))]
    pub(super) add_ns_per_kib: u64,
}

/// What is computed while an algorithm runs.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "OverlapParameters")]
pub(super) struct OverlappedComputationParameters {
    /// Computation of every rank meanwhile, ns.
    #[serde(default)]
    #[schemars(range(max = MOST_NS))]
    pub(super) overlap_ns: u64,
    /// Parts of the computation, between which messages get on.
    #[serde(default = "whole::<1>")]
    #[schemars(range(min = 1, max = 1 << 20))]
    pub(super) chunks: u64,
    /// Processor of the computation: 0 that of the messages, 1 another.
    #[serde(default)]
    #[schemars(range(max = 1))]
    pub(super) overlap_cpu: u8,
}

/// Rank that has or gets the data.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct RootRankParameter(#[schemars(range(max = MOST_RANKS))] u32);

impl RootRankParameter {
    /// The number of the root.
    ///
    /// # Errors
    /// When there is no such rank.
    pub(super) fn of(self, ranks: u32) -> Result<u32, Refusal> {
        if self.0 < ranks { Ok(self.0) } else { Err(no_rank("root", self.0.into(), ranks)) }
    }
}

/// The root alone.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "RootParameters")]
pub(super) struct RootedCollectiveParameters {
    #[serde(default)]
    pub(super) root: RootRankParameter,
}

impl RootedCollectiveParameters {
    /// The root of a request.
    ///
    /// # Errors
    /// When there is no such rank.
    pub(super) fn asked(request: &WorkloadRequest<'_>) -> Result<u32, Refusal> {
        let (CollectiveSizeParameters { ranks, .. }, Self { root }) =
            (request.read()?, request.read()?);
        root.of(ranks.0)
    }
}

impl CollectiveAlgorithmEntry {
    /// A row for an algorithm that has only the common parameters.
    pub(super) const fn new(
        part: PartDescription,
        operation: CollectiveOperation,
        make: fn(&WorkloadRequest<'_>) -> AlgorithmResult,
    ) -> Self {
        Self::with::<NoAlgorithmParameters>(part, operation, make)
    }

    /// A row for an algorithm with parameters of its own, which are the fields of `Own`.
    pub(super) const fn with<Own: JsonSchema>(
        part: PartDescription,
        operation: CollectiveOperation,
        make: fn(&WorkloadRequest<'_>) -> AlgorithmResult,
    ) -> Self {
        let part = match operation {
            CollectiveOperation::Barrier | CollectiveOperation::Neighbours => {
                part.takes::<CollectiveSizeParameters>()
            }
            CollectiveOperation::Alltoallv => {
                part.takes::<RequiredCollectiveSize<MeanMessageBytesParameter>>()
            }
            _ if operation.is_whole() => {
                part.takes::<RequiredCollectiveSize<VectorBytesParameter>>()
            }
            _ => part.takes::<RequiredCollectiveSize<BlockBytesParameter>>(),
        };
        let part = part.takes::<Own>();
        let part = if operation.adds() { part.takes::<AdditionTimeParameter>() } else { part };
        Self { part: part.takes::<OverlappedComputationParameters>(), operation, make }
    }

    /// Whether the algorithm supports this number of ranks.
    pub fn is_for(&self, ranks: u32) -> bool {
        let given =
            Map::from_iter([("ranks".to_owned(), ranks.into()), ("bytes".to_owned(), 1.into())]);
        let request = WorkloadRequest::new(self.part, &given, &QuietWatch);
        let made =
            request.map_err(ComputationError::from).and_then(|request| (self.make)(&request));
        made.is_ok_and(|algorithm| algorithm.check(ranks).is_ok())
    }
}

impl CollectiveOperation {
    /// Whether the blocks of the operation are the parts of one vector.
    pub(super) const fn is_whole(self) -> bool {
        use CollectiveOperation::{Allreduce, Barrier, Broadcast, Exscan, Reduce, Scan};
        matches!(self, Barrier | Broadcast | Reduce | Allreduce | Scan | Exscan)
    }

    /// Whether the operation adds up blocks.
    pub const fn adds(self) -> bool {
        use CollectiveOperation::{Allreduce, Exscan, Reduce, ReduceScatter, Scan};
        matches!(self, Reduce | Allreduce | ReduceScatter | Scan | Exscan)
    }

    /// The default algorithm of the operation.
    pub(in crate::workload) fn usual(self) -> &'static str {
        match self {
            Self::Barrier => "barrier_dissemination",
            Self::Broadcast => "broadcast_binomial",
            Self::Reduce => "reduce_binomial",
            Self::Allreduce => "allreduce_recursive_doubling",
            Self::Allgather => "allgather_bruck",
            Self::ReduceScatter => "reduce_scatter_ring",
            Self::Alltoall => "alltoall_linear",
            Self::Alltoallv => "alltoallv_linear",
            Self::Scan => "scan_doubling",
            Self::Exscan => "exscan_doubling",
            Self::Gather => "gather_binomial",
            Self::Scatter => "scatter_binomial",
            Self::Neighbours => "neighbour_linear",
        }
    }

    /// The name of one of its algorithms, without the operation.
    pub(super) fn without(self, algorithm: &'static str) -> &'static str {
        let own = algorithm.strip_prefix(self.name());
        own.and_then(|rest| rest.strip_prefix('_')).unwrap_or(algorithm)
    }

    /// The first part of the names of its algorithms.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Allgather => "allgather",
            Self::ReduceScatter => "reduce_scatter",
            Self::Alltoall => "alltoall",
            Self::Alltoallv => "alltoallv",
            Self::Neighbours => "neighbour",
            Self::Scan => "scan",
            Self::Exscan => "exscan",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
        }
    }
}
