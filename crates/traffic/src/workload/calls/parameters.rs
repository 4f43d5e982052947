//! The parameters of turning traces into schedules, which all kinds of traces have.

use crate::workload::collective::{CollectiveAlgorithmName, CollectiveCall, CollectiveOperation};
use base::ComputationError;
use base::fields::whole;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most copies of a trace.
const MOST_COPIES: u64 = 1 << 20;

/// What is computed, how much of it there is, and what calls mean.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ReplayParameters")]
pub struct CallReplayParameters {
    /// Factor of the time between calls.
    #[serde(default = "one")]
    #[schemars(range(min = 0.0, max = 1e6))]
    pub(super) scale_compute: f64,
    /// Copies of the job, side by side.
    #[serde(default = "whole::<1>")]
    #[schemars(range(min = 1, max = MOST_COPIES))]
    pub(super) copies: u64,
    /// Time to add a KiB in reductions, ns.
    #[serde(default)]
    #[schemars(range(max = 1 << 30))]
    add_ns_per_kib: u64,
    /// What calls mean; codes: collectives are nothing, only Wait and Waitall wait, communicators
    /// are all `MPI_COMM_WORLD`.
    #[serde(default)]
    pub rules: CallSemantics,
    #[serde(default)]
    barrier: CollectiveAlgorithmName<{ CollectiveOperation::Barrier as u8 }>,
    #[serde(default)]
    broadcast: CollectiveAlgorithmName<{ CollectiveOperation::Broadcast as u8 }>,
    #[serde(default)]
    reduce: CollectiveAlgorithmName<{ CollectiveOperation::Reduce as u8 }>,
    #[serde(default)]
    allreduce: CollectiveAlgorithmName<{ CollectiveOperation::Allreduce as u8 }>,
    #[serde(default)]
    allgather: CollectiveAlgorithmName<{ CollectiveOperation::Allgather as u8 }>,
    #[serde(default)]
    reduce_scatter: CollectiveAlgorithmName<{ CollectiveOperation::ReduceScatter as u8 }>,
    #[serde(default)]
    alltoall: CollectiveAlgorithmName<{ CollectiveOperation::Alltoall as u8 }>,
    #[serde(default)]
    alltoallv: CollectiveAlgorithmName<{ CollectiveOperation::Alltoallv as u8 }>,
    #[serde(default)]
    scan: CollectiveAlgorithmName<{ CollectiveOperation::Scan as u8 }>,
    #[serde(default)]
    exscan: CollectiveAlgorithmName<{ CollectiveOperation::Exscan as u8 }>,
    #[serde(default)]
    gather: CollectiveAlgorithmName<{ CollectiveOperation::Gather as u8 }>,
    #[serde(default)]
    scatter: CollectiveAlgorithmName<{ CollectiveOperation::Scatter as u8 }>,
    /// What differs where a recording is replayed.
    #[serde(skip)]
    recorded: Option<RecordingReplayDefaults>,
}

/// Defaults and parameters that only replayed recordings have.
#[derive(Debug)]
struct RecordingReplayDefaults {
    exscan: &'static str,
    gatherv: &'static str,
    scatterv: &'static str,
}

/// How calls that `flyloom record` kept become a schedule. Without parameters collectives are the
/// messages that the matrix of the same recorder counts.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "RecordedParameters")]
pub struct RecordingReplayParameters {
    /// Factor of the time between calls.
    #[serde(default = "one")]
    #[schemars(range(min = 0.0, max = 1e6))]
    scale_compute: f64,
    /// Time to add a KiB in reductions, ns.
    #[serde(default)]
    #[schemars(range(max = 1 << 30))]
    add_ns_per_kib: u64,
    #[serde(default)]
    barrier: CollectiveAlgorithmName<{ CollectiveOperation::Barrier as u8 }>,
    #[serde(default)]
    broadcast: CollectiveAlgorithmName<{ CollectiveOperation::Broadcast as u8 }>,
    #[serde(default)]
    reduce: CollectiveAlgorithmName<{ CollectiveOperation::Reduce as u8 }>,
    #[serde(default)]
    allreduce: CollectiveAlgorithmName<{ CollectiveOperation::Allreduce as u8 }>,
    #[serde(default = "allgather_ring")]
    allgather: CollectiveAlgorithmName<{ CollectiveOperation::Allgather as u8 }>,
    #[serde(default = "reduce_scatter_pairwise")]
    reduce_scatter: CollectiveAlgorithmName<{ CollectiveOperation::ReduceScatter as u8 }>,
    #[serde(default)]
    alltoall: CollectiveAlgorithmName<{ CollectiveOperation::Alltoall as u8 }>,
    #[serde(default)]
    alltoallv: CollectiveAlgorithmName<{ CollectiveOperation::Alltoallv as u8 }>,
    #[serde(default = "scan_linear")]
    scan: CollectiveAlgorithmName<{ CollectiveOperation::Scan as u8 }>,
    /// Algorithm, `exscan_...`; where none is given, the messages of `scan_linear`.
    #[serde(default)]
    exscan: Option<CollectiveAlgorithmName<{ CollectiveOperation::Exscan as u8 }>>,
    #[serde(default)]
    gather: CollectiveAlgorithmName<{ CollectiveOperation::Gather as u8 }>,
    #[serde(default)]
    scatter: CollectiveAlgorithmName<{ CollectiveOperation::Scatter as u8 }>,
    /// Algorithm, `gather_...`, of blocks of several sizes.
    #[serde(default = "gather_linear")]
    gatherv: CollectiveAlgorithmName<{ CollectiveOperation::Gather as u8 }>,
    /// Algorithm, `scatter_...`, of blocks of several sizes.
    #[serde(default = "scatter_linear")]
    scatterv: CollectiveAlgorithmName<{ CollectiveOperation::Scatter as u8 }>,
}

const fn allgather_ring() -> CollectiveAlgorithmName<{ CollectiveOperation::Allgather as u8 }> {
    CollectiveAlgorithmName::new("allgather_ring")
}

const fn reduce_scatter_pairwise()
-> CollectiveAlgorithmName<{ CollectiveOperation::ReduceScatter as u8 }> {
    CollectiveAlgorithmName::new("reduce_scatter_pairwise")
}

const fn scan_linear() -> CollectiveAlgorithmName<{ CollectiveOperation::Scan as u8 }> {
    CollectiveAlgorithmName::new("scan_linear")
}

const fn gather_linear() -> CollectiveAlgorithmName<{ CollectiveOperation::Gather as u8 }> {
    CollectiveAlgorithmName::new("gather_linear")
}

const fn scatter_linear() -> CollectiveAlgorithmName<{ CollectiveOperation::Scatter as u8 }> {
    CollectiveAlgorithmName::new("scatter_linear")
}

impl From<RecordingReplayParameters> for CallReplayParameters {
    fn from(with: RecordingReplayParameters) -> Self {
        Self {
            scale_compute: with.scale_compute,
            copies: 1,
            add_ns_per_kib: with.add_ns_per_kib,
            rules: CallSemantics::Mpi,
            barrier: with.barrier,
            broadcast: with.broadcast,
            reduce: with.reduce,
            allreduce: with.allreduce,
            allgather: with.allgather,
            reduce_scatter: with.reduce_scatter,
            alltoall: with.alltoall,
            alltoallv: with.alltoallv,
            scan: with.scan,
            exscan: with.exscan.unwrap_or_default(),
            gather: with.gather,
            scatter: with.scatter,
            recorded: Some(RecordingReplayDefaults {
                exscan: with.exscan.map_or("scan_linear", CollectiveAlgorithmName::name),
                gatherv: with.gatherv.name(),
                scatterv: with.scatterv.name(),
            }),
        }
    }
}

/// What calls mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "CallRules")]
pub enum CallSemantics {
    /// What MPI says.
    #[default]
    Mpi,
    /// What CODES makes of them.
    Codes,
}

fn one() -> f64 {
    1.0
}

impl CallReplayParameters {
    /// Whether messages of 0 bytes are sent too, in operations in which each rank has its own
    /// sizes.
    pub(super) fn keeps_empty(&self) -> bool {
        self.recorded.is_some()
    }

    /// The name, in the table, of the algorithm for an operation; `listed` says that its blocks
    /// have different sizes.
    pub(super) fn algorithm(&self, operation: CollectiveOperation, listed: bool) -> &'static str {
        match (operation, &self.recorded) {
            (CollectiveOperation::Exscan, Some(recorded)) => return recorded.exscan,
            (CollectiveOperation::Gather, Some(recorded)) if listed => return recorded.gatherv,
            (CollectiveOperation::Scatter, Some(recorded)) if listed => return recorded.scatterv,
            _ => {}
        }
        match operation {
            CollectiveOperation::Barrier => self.barrier.name(),
            CollectiveOperation::Broadcast => self.broadcast.name(),
            CollectiveOperation::Reduce => self.reduce.name(),
            CollectiveOperation::Allreduce => self.allreduce.name(),
            CollectiveOperation::Allgather => self.allgather.name(),
            CollectiveOperation::ReduceScatter => self.reduce_scatter.name(),
            CollectiveOperation::Alltoall => self.alltoall.name(),
            CollectiveOperation::Alltoallv => self.alltoallv.name(),
            CollectiveOperation::Scan => self.scan.name(),
            CollectiveOperation::Exscan => self.exscan.name(),
            CollectiveOperation::Gather => self.gather.name(),
            CollectiveOperation::Scatter => self.scatter.name(),
            // neighbour exchanges never occur among the calls that are read
            CollectiveOperation::Neighbours => operation.usual(),
        }
    }

    /// The operation over this number of ranks by the selected algorithm: with uniform blocks of
    /// `bytes`, or with blocks whose sizes are set later.
    ///
    /// # Errors
    /// When the algorithm does not support this number of ranks.
    pub(super) fn call(
        &self,
        operation: CollectiveOperation,
        ranks: u32,
        root: u32,
        bytes: Option<u64>,
    ) -> Result<CollectiveCall, ComputationError> {
        let name = self.algorithm(operation, bytes.is_none());
        let mut call = CollectiveCall::rooted(name, ranks, root, bytes.unwrap_or(0))?;
        call.add_ns_per_kib = self.add_ns_per_kib;
        Ok(call)
    }
}
