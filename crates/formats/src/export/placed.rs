//! `GraphML` with the places of switches.

use super::Source;
use crate::graph_file::graphml;
use base::Refusal;
use serde_json::{Map, Value};

/// [`graphml::write_placed`]; it can say every network.
#[allow(clippy::unnecessary_wraps)] // the signature of all writers
pub(super) fn write(source: &Source, _options: &Map<String, Value>) -> Result<String, Refusal> {
    Ok(graphml::write_placed(source.network, source.places))
}
