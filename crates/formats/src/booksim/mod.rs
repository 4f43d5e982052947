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
pub use classes::{BookSimTrafficClass, InjectionRule, WeightedPacketLength};
pub use config::{
    AllocatorKind, AnynetVirtualChannelRule, BookSimConfig, BookSimNetwork, PacketPriorityRule,
    RouterSettings, SimulationKind, SimulationRunSettings,
};
pub use keys::{ConfigKey, ConfigKeyUse, ConfigValueKind, KEYS};
pub use note::UnusedKeyNote;
pub use source::SettingsSource;

use crate::companion::kind::{CompanionFileFormat, one_file, one_text};
use base::Refusal;
use base::part::PartDescription;

pub(crate) const CONFIG: CompanionFileFormat = CompanionFileFormat {
    part: PartDescription::new("booksim", "a configuration of BookSim"),
    read: |files| one_text(files, |text, name| read(&[SettingsSource::File { name, text }])),
    example: || one_file("booksim.cfg", EXAMPLE),
};

const EXAMPLE: &str = "// a run of 2026-01-01 with 8 x 8 routers, 123 of 456\n\
    topology = mesh; k = 8;\nn = 2; routing_function = dor; num_vcs = 4; vc_buf_size = 16;\n\
    use_noc_latency = 0; alloc_iters = 4; packet_size = {1,4};\n\
    traffic = {uniform,transpose}; classes = 2; injection_rate = {0.05,0.10};\n\
    latency_thres = 5123.25; sample_period = 1234; warmup_periods = 2; seed = 12345;\n\
    max_samples = 25; credit_delay = 2; routing_delay = 1; warmup_thres = 0.0525;\n\
    stopping_thres = 0.0575; acc_stopping_thres = 0.0515;\n";

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
    build::config(&settings::BookSimConfigValues::read(sources)?)
}
