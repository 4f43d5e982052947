//! What an application is, and how it is asked for.

use crate::workload::Program;
use crate::workload::collective::Call;
use crate::workload::keys::{Asked, Key};
use base::Stop;

/// A program, or why there is none.
pub(super) type Made = Result<Box<dyn Program>, Stop>;

/// How an application is asked for.
pub struct Entry {
    /// The name that users type.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Its parameters.
    pub keys: &'static [Key],
    /// Checks the parameters.
    pub(in crate::workload) make: fn(&Asked<'_>) -> Made,
}

/// How sums over all ranks are made.
pub(super) const ALLREDUCE: Key = Key::word(
    "allreduce",
    "the algorithm of sums: allreduce_...; none: they are left out",
    &["recursive_doubling", "ring", "rabenseifner", "tree", "double_tree", "none"],
);

/// How sums of large vectors are made: the ring where nothing is said.
pub(super) const GRADIENTS: Key = Key::word(
    "allreduce",
    "the algorithm of sums: allreduce_...; none: they are left out",
    &["ring", "recursive_doubling", "rabenseifner", "tree", "double_tree", "none"],
);

/// The allreduce that the key of that name asks for; nothing where it asks for none.
pub(super) fn allreduce(asked: &Asked<'_>, ranks: u32, bytes: u64) -> Result<Call, Stop> {
    match asked.word("allreduce")? {
        "none" => Ok(Call::nothing(ranks)),
        algorithm => Call::new(&format!("allreduce_{algorithm}"), ranks, bytes),
    }
}
