//! Configurations of `BookSim` 2 and of its `PolarFly` variant, and the files of its anynet.
//!
//! Source: N. Jiang et al., "A detailed and flexible cycle-accurate network-on-chip simulator",
//! ISPASS 2013; its program at revision 28f43299, and the variant of K. Lakhotia et al.,
//! "PolarFly: a cost-effective and flexible low-diameter topology", SC 2022.
//!
//! Nothing is passed over in silence: a key that `BookSim` does not know, a value of the wrong
//! kind and a value that is not supported are refused with file, line and key. Keys that have no
//! effect in `BookSim` either are accepted, and [`BookSimConfig::notes`] says so.

pub mod anynet;
mod build;
mod classes;
mod config;
mod keys;
mod note;
mod settings;
mod source;
#[cfg(test)]
mod tests;
mod text;
mod traffic;

pub use ::traffic::pattern::booksim::BookSimPattern as Pattern;
pub use anynet::{AnynetNetwork, PortNeighbour};
pub use build::FUNCTIONS;
pub use classes::{BookSimTrafficClass, InjectionRule, PacketLength};
pub use config::{
    Allocator, BookSimConfig, BookSimNetwork, PriorityRule, RouterSettings, RunSettings,
    SimulationKind, VcPolicy,
};
pub use keys::{ConfigKey, ConfigValueKind, KEYS, KeyUse};
pub use note::UnusedKeyNote;
pub use source::SettingsSource;

use base::Refusal;

/// Reads a configuration; what no source sets has `BookSim`'s default. O(text).
///
/// The configuration is one of the `PolarFly` variant where it sets one of that variant's keys, or
/// one of its routing functions: then `k` is the number of endpoints on a router, and
/// `warmup_periods` is 0 unless set.
///
/// # Errors
/// Where a text is not well formed, a key is unknown, or a value is of the wrong kind, not
/// possible, or not supported.
pub fn read(sources: &[SettingsSource<'_>]) -> Result<BookSimConfig, Refusal> {
    build::config(&settings::BookSimSettings::read(sources)?)
}
