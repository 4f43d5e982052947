//! Applications as schedules: one is one file with its row of [`APPLICATIONS`].
//!
//! What an application computes takes time by a rate that is given; the sizes of its messages
//! follow from its problem. No schedule claims to be a run of a program: it is who sends how much
//! to whom, and what waits for what.

mod amg_like;
mod amg_trace_like;
mod bfs;
mod bfs_2d;
mod conjugate_gradient;
mod cosmoflow;
mod fft_3d;
mod gpt_3;
mod halo;
mod hpl;
mod mg_like;
mod multigrid;
#[cfg(test)]
mod multigrid_tests;
mod random_pairs;
mod resnet_152;
mod rmat;
mod stencil;
mod stencil_2d;
mod stencil_3d;
#[cfg(test)]
mod tests;
mod training;

use super::collective::Call;
use super::keys::{Asked, Key};
use super::make::Program;
use base::Stop;

/// A program, or why there is none.
type Made = Result<Box<dyn Program>, Stop>;

/// How an application is asked for.
pub struct Entry {
    /// The name that users type.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Its parameters.
    pub keys: &'static [Key],
    /// Checks the parameters.
    pub(super) make: fn(&Asked<'_>) -> Made,
}

/// All applications, in the order in which they are listed.
pub const APPLICATIONS: &[Entry] = &[
    amg_like::ENTRY,
    amg_trace_like::ENTRY,
    bfs::ENTRY,
    bfs_2d::ENTRY,
    conjugate_gradient::ENTRY,
    cosmoflow::ENTRY,
    fft_3d::ENTRY,
    gpt_3::ENTRY,
    hpl::ENTRY,
    mg_like::ENTRY,
    random_pairs::ENTRY,
    resnet_152::ENTRY,
    stencil_2d::ENTRY,
    stencil_3d::ENTRY,
];

/// How sums over all ranks are made.
const ALLREDUCE: Key = Key::word(
    "allreduce",
    "the algorithm of sums: allreduce_...; none: they are left out",
    &["recursive_doubling", "ring", "rabenseifner", "tree", "double_tree", "none"],
);

/// How sums of large vectors are made: the ring where nothing is said.
const GRADIENTS: Key = Key::word(
    "allreduce",
    "the algorithm of sums: allreduce_...; none: they are left out",
    &["ring", "recursive_doubling", "rabenseifner", "tree", "double_tree", "none"],
);

/// The allreduce that the key of that name asks for; nothing where it asks for none.
fn allreduce(asked: &Asked<'_>, ranks: u32, bytes: u64) -> Result<Call, Stop> {
    match asked.word("allreduce")? {
        "none" => Ok(Call::nothing(ranks)),
        algorithm => Call::new(&format!("allreduce_{algorithm}"), ranks, bytes),
    }
}
