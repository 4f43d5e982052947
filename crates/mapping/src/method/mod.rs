//! Methods of mapping: each makes an arrangement or improves one.
//!
//! To add a method, put a file with its `ENTRY` beside this one; `cargo xtask gen` adds it to the
//! table.

mod auto;
mod exact;
mod kind;
mod pack;
// The method of docs/adding-a-mapping-method.md, under a name that does not collide with it once
// added.
#[cfg(test)]
#[path = "../../../../docs/parts/heavy_first.rs"]
mod page_heavy_first;
pub(crate) mod partition;

pub(crate) use auto::auto;
pub(crate) use kind::CompiledSiteMetric;
pub use kind::MappingMethodEntry;
pub(crate) use pack::pack;

// gen:begin
mod anneal;
mod bisection;
mod congestion;
mod fold;
mod greedy;
mod linear;
mod local;
mod multicore;
mod multilevel;
mod random;
mod rcm;
mod threshold;

/// All steps of mappings, by file; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static METHODS: &[MappingMethodEntry] = &[
    anneal::ENTRY,
    bisection::ENTRY,
    congestion::ENTRY,
    fold::ENTRY,
    greedy::ENTRY,
    linear::ENTRY,
    local::ENTRY,
    multicore::ENTRY,
    multilevel::ENTRY,
    random::ENTRY,
    rcm::ENTRY,
    threshold::ENTRY,
];
// gen:end
