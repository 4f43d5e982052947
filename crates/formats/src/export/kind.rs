//! The formats of export: what a writer is given, and by which options and name it is asked for.

use base::part::PartDescription;
use base::{Refusal, fields};
use fabric::network::Topology;
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The source of an export: what a writer is given.
#[derive(Debug, Clone, Copy)]
pub struct ExportInput<'a> {
    /// The network; lengths of cables are known where it has them.
    pub network: &'a Topology,
    /// Its tables, where there are some.
    pub routing: Option<&'a Routing>,
    /// Where its devices stand, where that is known.
    pub places: Option<&'a DeviceFloorPlaces>,
}

/// The places of devices: racks on a floor, and a seat for every device.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct DeviceFloorPlaces {
    /// The racks.
    pub racks: Vec<FloorRack>,
    /// The seat of each switch, by switch id.
    pub switches: Vec<RackPosition>,
    /// The seat of each endpoint, by endpoint id.
    pub endpoints: Vec<RackPosition>,
}

/// A rack and where it stands.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FloorRack {
    /// Its name.
    pub name: String,
    /// Along the row, metres.
    pub x_m: f64,
    /// Across the rows, metres.
    pub y_m: f64,
}

/// A place in a rack.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct RackPosition {
    /// Number of the rack.
    pub rack: usize,
    /// Height unit, from 1 at the bottom; `None` beside the rack.
    pub unit: Option<u32>,
}

/// A row of the table of formats: its name, what it is, and its options.
#[derive(Debug, Clone, Copy)]
pub struct ExportFormatEntry {
    /// The word that asks for it, what it is and for which program, and its options.
    pub part: PartDescription,
    /// The networks that the format can hold, in words.
    pub networks: &'static str,
    /// Whether the file has the floor plan even where the user does not ask for one.
    pub placed: bool,
    write: WriteFn,
    /// Makes the files that belong beside the one of the network; `None` where there are none.
    beside: Option<BesideFn>,
}

/// A function that writes a network with these options.
type WriteFn = fn(&ExportInput, &Map<String, Value>) -> Result<String, Refusal>;
/// A function that gives the files that belong beside a network's.
type BesideFn = fn(&ExportInput, &Map<String, Value>) -> Result<Vec<(String, String)>, Refusal>;

impl ExportFormatEntry {
    /// A format of one file that can hold `networks`.
    pub(super) const fn new(part: PartDescription, networks: &'static str, write: WriteFn) -> Self {
        Self { part, networks, placed: false, write, beside: None }
    }

    /// The same format with the files that `beside` makes beside its own.
    pub(super) const fn beside_it(self, beside: BesideFn) -> Self {
        Self { beside: Some(beside), ..self }
    }

    /// The same format with the floor plan in its file.
    pub(super) const fn with_places(self) -> Self {
        Self { placed: true, ..self }
    }

    /// `source` in this format, with these options.
    ///
    /// # Errors
    /// When an option is not one of the format's or has no such value, and when the format cannot
    /// hold the network.
    pub fn write(
        &self,
        source: &ExportInput,
        options: &Map<String, Value>,
    ) -> Result<String, Refusal> {
        let schema = self.part.schema();
        let own: Vec<&String> =
            schema["properties"].as_object().map(|all| all.keys().collect()).unwrap_or_default();
        if let Some(key) = options.keys().find(|key| !own.contains(key)) {
            let names: Vec<&str> = own.iter().map(|name| name.as_str()).collect();
            let help = if names.is_empty() { "it has none".to_owned() } else { names.join(", ") };
            return Err(Refusal::new(key, format!("not an option of {}", self.part.name), help));
        }
        (self.write)(source, options).map_err(|refusal| refusal.within(self.part.name))
    }

    /// The files that belong beside the one that [`Self::write`] makes, by name and content.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn beside(
        &self,
        source: &ExportInput,
        options: &Map<String, Value>,
    ) -> Result<Vec<(String, String)>, Refusal> {
        let Some(beside) = self.beside else { return Ok(Vec::new()) };
        beside(source, options).map_err(|refusal| refusal.within(self.part.name))
    }
}

/// The options of a format that has a plane alone.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "OnePlaneOptions")]
pub(super) struct OnePlaneExportOptions {
    /// which plane to write, from 0; of a network of several
    pub(super) plane: Option<u16>,
}

/// Parses the options of a format as a `T`.
pub(super) fn asked<T: DeserializeOwned>(options: &Map<String, Value>) -> Result<T, Refusal> {
    fields::typed(&Value::Object(options.clone())).map_err(|(field, why)| {
        let why = why.replace("expected u16", "expected a whole number below 65536");
        let why = why.replace("expected f64", "expected a number");
        Refusal::new(field, why, "see `flyloom export --list`")
    })
}

/// A quantity that cannot be negative: `value`, when it is finite.
pub(super) fn quantity(name: &str, value: f64, least: f64) -> Result<f64, Refusal> {
    if value.is_finite() && value >= least {
        return Ok(value);
    }
    let help = if least > 0.0 { "a number above 0" } else { "a number from 0" };
    Err(Refusal::new(name, format!("{value} is out of range"), help))
}
