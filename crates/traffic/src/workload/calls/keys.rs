//! How traces become schedules: the parameters.

use crate::workload::collective::{Call, Operation};
use crate::workload::keys::{Asked, Key};
use base::Stop;

/// Most copies of a trace.
const MOST_COPIES: u64 = 1 << 20;

/// What calls mean: what MPI says, or how CODES replays them.
const RULES: Key = Key::word(
    "rules",
    "what calls mean; codes: collectives are nothing, only Wait and Waitall wait, \
     communicators are all MPI_COMM_WORLD",
    &["mpi", "codes"],
);

/// The algorithm of each collective operation; the first is the default.
pub const ALGORITHMS: [Key; 12] = [
    Key::word("barrier", "algorithm", &["dissemination", "linear", "tree"]),
    Key::word(
        "broadcast",
        "algorithm",
        &["binomial", "binary", "linear", "multicast", "pipelined", "scatter_allgather"],
    ),
    Key::word("reduce", "algorithm", &["binomial", "linear", "pipelined"]),
    Key::word(
        "allreduce",
        "algorithm",
        &["recursive_doubling", "double_tree", "rabenseifner", "ring", "tree"],
    ),
    Key::word("allgather", "algorithm", &["bruck", "recursive_doubling", "ring"]),
    Key::word("reduce_scatter", "algorithm", &["ring", "halving"]),
    Key::word("alltoall", "algorithm", &["linear", "bruck", "pairwise"]),
    Key::word("alltoallv", "algorithm", &["linear", "pairwise"]),
    Key::word("scan", "algorithm", &["doubling"]),
    Key::word("exscan", "algorithm", &["doubling"]),
    Key::word("gather", "algorithm", &["binomial", "linear"]),
    Key::word("scatter", "algorithm", &["binomial", "linear"]),
];

/// The parameters that every trace takes: what is computed, and how much of it there is.
pub fn keys() -> Vec<Key> {
    let mut all = vec![
        Key::decimal("scale_compute", "factor of the time between calls", 1.0, (0.0, 1e6)),
        Key::whole("copies", "how often the job is there, side by side", 1, (1, MOST_COPIES)),
        Key::whole("add_ns_per_kib", "adding a KiB in reductions, ns", 0, (0, 1 << 30)),
        RULES,
    ];
    all.extend(ALGORITHMS);
    all
}

/// The algorithm that is asked for, for so many ranks: uniform blocks of `bytes`.
///
/// # Errors
/// When it is not for so many.
pub fn algorithm(
    asked: &Asked<'_>,
    operation: Operation,
    ranks: u32,
    root: u32,
    bytes: u64,
) -> Result<Call, Stop> {
    let name = format!("{}_{}", operation.name(), asked.word(operation.name())?);
    let add_ns_per_kib = asked.whole("add_ns_per_kib")?;
    let mut call = Call::rooted(&name, ranks, root, bytes)?;
    call.add_ns_per_kib = add_ns_per_kib;
    Ok(call)
}
