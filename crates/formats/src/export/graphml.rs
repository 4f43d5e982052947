//! `GraphML` with the places of switches, and where to draw them.
//!
//! Beside what every `GraphML` file of ours has, a node has `rack`, `unit`, `x_m` and `y_m` (its
//! rack on the floor) and `z_m` (its height in it), and for drawings `x` and `y`: rows of racks
//! seen from the front, so that no two switches are in one place. Gephi takes these two as they
//! are; yEd has its own elements with the same place, whose y runs down. An edge has `rate_gbps`.

use super::kind::{DeviceFloorPlaces, ExportFormatEntry, ExportInput, RackPosition};
use crate::graph_file::graphml::{self, GraphMlExtraElements, data, escape, key};
use base::Refusal;
use base::part::PartDescription;
use serde_json::{Map, Value};
use std::fmt::Write;

pub(super) const ENTRY: ExportFormatEntry = ExportFormatEntry::new(
    PartDescription::new(
        "graphml",
        "GraphML with places, rates and lengths, for Gephi, yEd and networkx",
    ),
    "any",
    write,
)
.with_places();

/// Height of a unit of a rack, millimetres (EIA-310: 1.75 inches).
const UNIT_MM: f64 = 44.45;
/// In a drawing: between racks, between units, and the gap between rows of racks.
const RACK_STEP: f64 = 200.0;
const UNIT_STEP: f64 = 24.0;
const ROW_GAP: f64 = 200.0;
/// Width and height of a node in yEd.
const NODE: (f64, f64) = (100.0, 18.0);

/// The text of the file, with places where they are known. It can hold every network. O(network).
#[allow(clippy::unnecessary_wraps)] // the signature of all writers
pub(super) fn write(
    source: &ExportInput,
    _options: &Map<String, Value>,
) -> Result<String, Refusal> {
    let rates = key("edge", "rate_gbps", "double");
    let Some(places) = source.places else {
        let more =
            GraphMlExtraElements { namespaces: "", keys: rates, of_switch: &|_| String::new() };
        return Ok(graphml::text(source.network, Some(&more)));
    };
    let mut keys = key("node", "rack", "string") + &key("node", "unit", "long");
    for name in ["x_m", "y_m", "z_m", "x", "y"] {
        keys += &key("node", name, "double");
    }
    keys += "  <key id=\"nodegraphics\" for=\"node\" yfiles.type=\"nodegraphics\"/>\n";
    let drawing = GraphDrawingScale::of(places);
    let of_switch = |switch: usize| {
        let name = &source.network.switches()[switch].name;
        drawing.node(places, &places.switches[switch], name)
    };
    let more = GraphMlExtraElements {
        namespaces: " xmlns:y=\"http://www.yworks.com/xml/graphml\"",
        keys: keys + &rates,
        of_switch: &of_switch,
    };
    Ok(graphml::text(source.network, Some(&more)))
}

/// The scale by which places become points of a drawing.
struct GraphDrawingScale {
    /// Points a metre along a row.
    along: f64,
    /// Points a metre from row to row.
    across: f64,
}

impl GraphDrawingScale {
    fn of(places: &DeviceFloorPlaces) -> Self {
        let units = places.switches.iter().filter_map(|seat| seat.unit).max().unwrap_or(0);
        let row = f64::from(units) * UNIT_STEP + ROW_GAP;
        Self {
            along: RACK_STEP / least_step(places.racks.iter().map(|rack| rack.x_m)),
            across: row / least_step(places.racks.iter().map(|rack| rack.y_m)),
        }
    }

    /// The attributes of a node that say where its switch stands.
    fn node(&self, places: &DeviceFloorPlaces, seat: &RackPosition, name: &str) -> String {
        let rack = &places.racks[seat.rack];
        let height = f64::from(seat.unit.unwrap_or(0));
        let (x, y) = (rack.x_m * self.along, height * UNIT_STEP - rack.y_m * self.across);
        let mut text = String::new();
        // a reader that knows both takes the point that comes last
        let _ = write!(
            text,
            "<data key=\"nodegraphics\"><y:ShapeNode><y:Geometry x=\"{}\" y=\"{}\" width=\"{}\" \
             height=\"{}\"/><y:NodeLabel>{}</y:NodeLabel></y:ShapeNode></data>",
            rounded(x - NODE.0 / 2.0),
            rounded(-y - NODE.1 / 2.0),
            NODE.0,
            NODE.1,
            escape(name),
        );
        text += &data("rack", &rack.name);
        if let Some(unit) = seat.unit {
            text += &data("unit", &unit.to_string());
            text += &data("z_m", &rounded(f64::from(unit) * UNIT_MM / 1000.0).to_string());
        }
        for (key, value) in
            [("x_m", rack.x_m), ("y_m", rack.y_m), ("x", rounded(x)), ("y", rounded(y))]
        {
            text += &data(key, &value.to_string());
        }
        text
    }
}

/// The least distance between two different `values`; 1 where all are equal.
fn least_step(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let steps = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 1e-6);
    let least = steps.fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 1.0 }
}

/// `value` rounded to a thousandth; never -0.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0 + 0.0
}
