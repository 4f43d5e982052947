//! Collective operations as schedules. To add an algorithm, put a file with its `ENTRY` beside this
//! one.
//!
//! An algorithm lists the steps of each rank: the blocks that it sends and receives. These steps
//! become a schedule. Tests also execute them symbolically, and check that every rank ends with
//! what MPI defines, in whatever order messages arrive.

mod alltoallv;
mod alone;
mod call;
mod choice;
pub(super) mod exchange;
#[cfg(test)]
mod follow;
mod kind;
mod neighbour;
// The algorithm of docs/adding-a-collective.md, under a name that does not collide with it once
// added.
#[cfg(test)]
#[path = "../../../../../docs/parts/allgather_spread.rs"]
mod page_allgather_spread;
mod rooted;
mod size;
#[cfg(test)]
mod tests;
mod trees;
mod written;

pub(super) use alone::alone;
pub use call::CollectiveCall;
pub use choice::{AllgatherChoice, AllreduceChoice, CollectiveAlgorithmName};
pub use kind::{
    AlgorithmStepSink, BlockNumbers, CollectiveAlgorithm, CollectiveAlgorithmEntry,
    CollectiveOperation, ReceivedBlockEffect, StepNumber,
};

use base::Refusal;
use base::words::did_you_mean;

// gen:begin
mod allgather_bruck;
mod allgather_recursive_doubling;
mod allgather_ring;
mod allreduce_double_tree;
mod allreduce_rabenseifner;
mod allreduce_recursive_doubling;
mod allreduce_ring;
mod allreduce_tree;
mod alltoall_bruck;
mod alltoall_linear;
mod alltoall_pairwise;
mod alltoallv_linear;
mod alltoallv_pairwise;
mod barrier_dissemination;
mod barrier_linear;
mod barrier_tree;
mod broadcast_binary;
mod broadcast_binomial;
mod broadcast_linear;
mod broadcast_multicast;
mod broadcast_pipelined;
mod broadcast_scatter_allgather;
mod exscan_doubling;
mod gather_binomial;
mod gather_linear;
mod neighbour_coloured;
mod neighbour_linear;
mod reduce_binomial;
mod reduce_linear;
mod reduce_pipelined;
mod reduce_scatter_halving;
mod reduce_scatter_pairwise;
mod reduce_scatter_ring;
mod scan_doubling;
mod scan_linear;
mod scatter_binomial;
mod scatter_linear;

/// All algorithms of collective operations, by file; written by `cargo xtask gen`.
#[rustfmt::skip]
pub const ALGORITHMS: &[CollectiveAlgorithmEntry] = &[
    allgather_bruck::ENTRY,
    allgather_recursive_doubling::ENTRY,
    allgather_ring::ENTRY,
    allreduce_double_tree::ENTRY,
    allreduce_rabenseifner::ENTRY,
    allreduce_recursive_doubling::ENTRY,
    allreduce_ring::ENTRY,
    allreduce_tree::ENTRY,
    alltoall_bruck::ENTRY,
    alltoall_linear::ENTRY,
    alltoall_pairwise::ENTRY,
    alltoallv_linear::ENTRY,
    alltoallv_pairwise::ENTRY,
    barrier_dissemination::ENTRY,
    barrier_linear::ENTRY,
    barrier_tree::ENTRY,
    broadcast_binary::ENTRY,
    broadcast_binomial::ENTRY,
    broadcast_linear::ENTRY,
    broadcast_multicast::ENTRY,
    broadcast_pipelined::ENTRY,
    broadcast_scatter_allgather::ENTRY,
    exscan_doubling::ENTRY,
    gather_binomial::ENTRY,
    gather_linear::ENTRY,
    neighbour_coloured::ENTRY,
    neighbour_linear::ENTRY,
    reduce_binomial::ENTRY,
    reduce_linear::ENTRY,
    reduce_pipelined::ENTRY,
    reduce_scatter_halving::ENTRY,
    reduce_scatter_pairwise::ENTRY,
    reduce_scatter_ring::ENTRY,
    scan_doubling::ENTRY,
    scan_linear::ENTRY,
    scatter_binomial::ENTRY,
    scatter_linear::ENTRY,
];
// gen:end

/// The row of an algorithm.
///
/// # Errors
/// When there is none of that name.
pub fn entry(name: &str) -> Result<&'static CollectiveAlgorithmEntry, Refusal> {
    ALGORITHMS.iter().find(|e| e.part.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALGORITHMS.iter().map(|e| e.part.name).collect();
        let help = did_you_mean(name, names.iter().copied()) + &names.join(", ");
        Refusal::new("algorithm", format!("there is no '{name}'"), help)
    })
}
