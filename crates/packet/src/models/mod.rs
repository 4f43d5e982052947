//! Whose model of routers and endpoints: what each takes for granted and how its packets find
//! their paths, a file each, and one for all networks and tables.
//!
//! A new model is one file beside this one with its row, `ENTRY`, and its `Route`; `cargo xtask
//! gen` puts it into the list.

#[macro_use]
mod table;
mod groups;
mod guided;
mod kind;
mod order;
// That of docs/adding-a-packet-model.md, under a name that adding it leaves free.
#[cfg(test)]
#[path = "../../../../docs/parts/ecube.rs"]
#[allow(unreachable_pub, reason = "it is public where it is in the list")]
mod page_ecube;

pub use guided::GuidedPaths;
pub(crate) use kind::{CODES_MESSAGES, PathRequest, RATE};

// gen:begin
mod dally;
mod dfplus;
mod slim_fly;

// All models of packets besides our own, by file; written by `cargo xtask gen`.
models! {
    Dally: dally;
    Dfplus: dfplus;
    SlimFly: slim_fly;
}
// gen:end
