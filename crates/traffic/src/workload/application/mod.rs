//! Applications as schedules. To add one, put a file with its `ENTRY` beside this one.
//!
//! The time of computation follows from a rate that users set, and the sizes of messages follow
//! from the problem. A schedule models who sends how much to whom, and what waits for what; it does
//! not claim to be a run of the real program.

mod halo;
mod kind;
mod multigrid;
#[cfg(test)]
mod multigrid_tests;
// The application of docs/adding-an-application.md, under a name that does not collide with it once
// added.
#[cfg(test)]
#[path = "../../../../../docs/parts/ping_pong.rs"]
mod page_ping_pong;
mod rmat;
mod stencil;
#[cfg(test)]
mod tests;
mod training;

pub use kind::ApplicationEntry;

// gen:begin
mod amg_like;
mod amg_trace_like;
mod bfs;
mod bfs_2d;
mod conjugate_gradient;
mod cosmoflow;
mod fft_3d;
mod gpt_3;
mod hpl;
mod mg_like;
mod random_pairs;
mod resnet_152;
mod stencil_2d;
mod stencil_3d;

/// All applications, by file; written by `cargo xtask gen`.
#[rustfmt::skip]
pub const APPLICATIONS: &[ApplicationEntry] = &[
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
// gen:end
