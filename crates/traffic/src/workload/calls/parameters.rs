//! How traces become schedules: the parameters that all of them take.

use crate::workload::collective::{Call, Choice, Operation};
use base::Stop;
use base::fields::whole;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most copies of a trace.
const MOST_COPIES: u64 = 1 << 20;

/// What is computed, how much of it there is, and what calls mean.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReplayParameters {
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
    pub rules: CallRules,
    #[serde(default)]
    barrier: Choice<{ Operation::Barrier as u8 }>,
    #[serde(default)]
    broadcast: Choice<{ Operation::Broadcast as u8 }>,
    #[serde(default)]
    reduce: Choice<{ Operation::Reduce as u8 }>,
    #[serde(default)]
    allreduce: Choice<{ Operation::Allreduce as u8 }>,
    #[serde(default)]
    allgather: Choice<{ Operation::Allgather as u8 }>,
    #[serde(default)]
    reduce_scatter: Choice<{ Operation::ReduceScatter as u8 }>,
    #[serde(default)]
    alltoall: Choice<{ Operation::Alltoall as u8 }>,
    #[serde(default)]
    alltoallv: Choice<{ Operation::Alltoallv as u8 }>,
    #[serde(default)]
    scan: Choice<{ Operation::Scan as u8 }>,
    #[serde(default)]
    exscan: Choice<{ Operation::Exscan as u8 }>,
    #[serde(default)]
    gather: Choice<{ Operation::Gather as u8 }>,
    #[serde(default)]
    scatter: Choice<{ Operation::Scatter as u8 }>,
}

/// What calls mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallRules {
    /// What MPI says.
    #[default]
    Mpi,
    /// What CODES makes of them.
    Codes,
}

fn one() -> f64 {
    1.0
}

impl ReplayParameters {
    /// The algorithm of an operation by its name in the table.
    pub(super) fn algorithm(&self, operation: Operation) -> &'static str {
        match operation {
            Operation::Barrier => self.barrier.name(),
            Operation::Broadcast => self.broadcast.name(),
            Operation::Reduce => self.reduce.name(),
            Operation::Allreduce => self.allreduce.name(),
            Operation::Allgather => self.allgather.name(),
            Operation::ReduceScatter => self.reduce_scatter.name(),
            Operation::Alltoall => self.alltoall.name(),
            Operation::Alltoallv => self.alltoallv.name(),
            Operation::Scan => self.scan.name(),
            Operation::Exscan => self.exscan.name(),
            Operation::Gather => self.gather.name(),
            Operation::Scatter => self.scatter.name(),
            // no call that is read is one
            Operation::Neighbours => operation.usual(),
        }
    }

    /// The operation of this number of ranks by the algorithm that is asked for: uniform blocks of
    /// `bytes`.
    ///
    /// # Errors
    /// When the algorithm is not for this number of ranks.
    pub(super) fn call(
        &self,
        operation: Operation,
        ranks: u32,
        root: u32,
        bytes: u64,
    ) -> Result<Call, Stop> {
        let mut call = Call::rooted(self.algorithm(operation), ranks, root, bytes)?;
        call.add_ns_per_kib = self.add_ns_per_kib;
        Ok(call)
    }
}
