//! The files beside these tests: configurations, networks and curves of `BookSim`.

use base::QuietWatch;
use formats::booksim::{BookSimConfig, BookSimNetwork, SettingsSource, read};
use lab::sampling::BookSimSimulation;

/// The path of a file.
pub(crate) fn data(name: &str) -> String {
    format!("{}/tests/data/flit/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A configuration by its name, with further settings.
pub(crate) fn config(name: &str, arguments: &[String]) -> BookSimConfig {
    let text = std::fs::read_to_string(data(&format!("{name}.cfg"))).unwrap();
    let file = SettingsSource::File { name, text: &text };
    let arguments = arguments.iter().map(|a| SettingsSource::Argument(a));
    let sources: Vec<SettingsSource<'_>> = std::iter::once(file).chain(arguments).collect();
    read(&sources).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The simulation of a configuration.
pub(crate) fn simulation(config: BookSimConfig) -> BookSimSimulation {
    let file = match &config.network {
        BookSimNetwork::Anynet { file, .. } => {
            Some((file.clone(), std::fs::read_to_string(data(file)).unwrap()))
        }
        _ => None,
    };
    let network = file.as_ref().map(|(name, text)| (&**name, &**text));
    BookSimSimulation::new(config, network, &QuietWatch).unwrap()
}
