//! Models of routers and endpoints, each in a file with its defaults and its choice of paths. One
//! model, `guided`, works on all networks and tables.
//!
//! To add a model, put a file with its `ENTRY` and its type of `PacketPaths` beside this one;
//! `cargo xtask gen` adds it to the list.

#[macro_use]
mod table;
mod groups;
mod guided;
mod kind;
mod order;
// The model of docs/adding-a-packet-model.md, under a name that does not collide with it once
// added.
#[cfg(test)]
#[path = "../../../../docs/parts/ecube.rs"]
#[allow(unreachable_pub, reason = "it is public where it is in the list")]
mod page_ecube;

pub use guided::RoutingGuidePaths;
pub(crate) use kind::{CODES_MESSAGES, DETOUR_WEIGHT, ModelPathInputs, RATE};

// gen:begin
mod dally;
mod dfplus;
mod slim_fly;

// All models of packets besides our own, by file; written by `cargo xtask gen`.
models! {
    Dally: dally::DragonflyDallyPaths;
    Dfplus: dfplus::DragonflyPlusPaths;
    SlimFly: slim_fly::SlimFlyPaths;
}
// gen:end
