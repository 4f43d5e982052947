//! Routing engines: what each needs, what each returns, and the table of all of them.
//!
//! A new engine is one new file beside this one: a struct of options that implements [`Engine`].
//! `cargo xtask gen` adds its row to [`ENGINES`]; the conformance tests then run on it.

use base::Refusal;

pub mod ask;
mod chosen;
mod engine;
mod entry;
pub mod given;
pub mod lanes;
mod rehang;
pub mod repair;
mod routable;
mod tree_cache;
pub mod trees;
pub mod work;

pub use engine::{Engine, EnginePromise};
pub use entry::EngineEntry;
pub use routable::check_connected;

// gen:begin
pub mod application;
pub mod dfsssp;
pub mod dor;
pub mod ecmp;
pub mod fatpaths;
pub mod ftree;
pub mod lash;
pub mod layered;
pub mod min_hop;
pub mod nue;
pub mod rues;
pub mod sssp;
pub mod up_down;
pub mod valiant_static;

/// Every `Engine` of this folder, by file and name; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static ENGINES: &[EngineEntry] = &[
    EngineEntry::of::<application::ApplicationEngine>(),
    EngineEntry::of::<dfsssp::Dfsssp>(),
    EngineEntry::of::<dor::Dor>(),
    EngineEntry::of::<ecmp::Ecmp>(),
    EngineEntry::of::<fatpaths::FatPaths>(),
    EngineEntry::of::<ftree::Ftree>(),
    EngineEntry::of::<lash::Lash>(),
    EngineEntry::of::<layered::Layered>(),
    EngineEntry::of::<min_hop::MinHop>(),
    EngineEntry::of::<nue::Nue>(),
    EngineEntry::of::<rues::Rues>(),
    EngineEntry::of::<sssp::Sssp>(),
    EngineEntry::of::<up_down::UpDown>(),
    EngineEntry::of::<valiant_static::ValiantStatic>(),
];
// gen:end

/// The row of the table of engines for the engine called `name`.
///
/// # Errors
/// When there is no such engine; the refusal lists those that exist.
pub fn engine(name: &str) -> Result<&'static EngineEntry, Refusal> {
    ENGINES.iter().find(|e| e.part.name == name).ok_or_else(|| {
        let names: Vec<&str> = ENGINES.iter().map(|e| e.part.name).collect();
        let why = format!("there is no engine '{name}'");
        let near = base::words::did_you_mean(name, names.iter().copied());
        Refusal::new("engine", why, format!("{near}engines: {}", names.join(", ")))
    })
}
