//! The engine that docs/adding-an-engine.md adds.

use engines::{Engine, EngineEntry, EnginePromise, trees};

#[allow(unreachable_pub)] // it is added to a library
#[path = "../../../../docs/parts/d_mod_k.rs"]
mod d_mod_k;

/// The row of the engine in the table that it is added to.
pub(super) const ENTRY: EngineEntry = EngineEntry::of::<d_mod_k::DModK>();
