//! Files that other programs take: their table, and their text.

use crate::classes::{Routing, Topology, affordable};
use crate::enter::{enter_alone, from_python, object, refuse, to_python};
use base::Refusal;
use fabric::size::NetworkSize;
use formats::export::{DeviceFloorPlaces, ExportInput, FORMATS, format};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// A floor plan: places, and the length of every cable, metres.
#[derive(Deserialize)]
struct FloorPlan {
    #[serde(flatten)]
    places: DeviceFloorPlaces,
    links_m: Vec<f32>,
    terminals_m: Vec<f32>,
}

/// The formats that networks are exported to: `name`, `title`, `networks`, `options` (name and what
/// it does), `placed`.
#[pyfunction]
pub fn export_formats(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let rows = FORMATS.iter().map(|f| {
        let schema = f.part.schema();
        let option = |(name, field): (&String, &Value)| {
            let doc = field["description"].as_str().unwrap_or_default().replace('\n', " ");
            json!({ "name": name, "doc": doc })
        };
        let options: Vec<Value> =
            schema["properties"].as_object().into_iter().flatten().map(option).collect();
        json!({
            "name": f.part.name, "title": f.part.doc, "networks": f.networks,
            "options": options, "placed": f.placed,
        })
    });
    to_python(py, &Value::Array(rows.collect()))
}

/// The files that belong beside that of the format `to` with these options, name and content.
#[pyfunction]
#[pyo3(signature = (network, to, options=None))]
pub fn export_beside(
    py: Python<'_>,
    network: PyRef<'_, Topology>,
    to: &str,
    options: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<(String, String)>> {
    let format = format(to).map_err(refuse)?;
    let options = options.map(from_python).transpose()?.map(object).unwrap_or_default();
    let t = network.inner.clone();
    let work = move || {
        let source = ExportInput { network: &t, routing: None, places: None };
        format.beside(&source, &options)
    };
    enter_alone(py, work)?.map_err(refuse)
}

/// The network, with its tables where given, as a file of the format `to`, with its options (a
/// dict). `floor` is a plan: `racks`, `switches` and `endpoints` (seats), `links_m`, `terminals_m`.
#[pyfunction]
#[pyo3(signature = (network, to, options=None, routing=None, floor=None))]
pub fn export_text(
    py: Python<'_>,
    network: PyRef<'_, Topology>,
    to: &str,
    options: Option<&Bound<'_, PyAny>>,
    routing: Option<PyRef<'_, Routing>>,
    floor: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let format = format(to).map_err(refuse)?;
    let options = options.map(from_python).transpose()?.map(object).unwrap_or_default();
    let t = network.inner.clone();
    let routing = routing.map(|routing| routing.inner.clone());
    let plan = floor.map(from_python).transpose()?.map(serde_json::from_value::<FloorPlan>);
    let wrong = |e: serde_json::Error| refuse(Refusal::new("floor", e.to_string(), ""));
    let plan = plan.transpose().map_err(wrong)?;
    affordable(py, &t, "writing", NetworkSize::text)?;
    let work = move || {
        let planned = plan.as_ref().map(|p| t.with_lengths(&p.links_m, &p.terminals_m));
        let network = planned.transpose()?.map_or(t, Arc::new);
        let source = ExportInput {
            network: &network,
            routing: routing.as_ref(),
            places: plan.as_ref().map(|p| &p.places),
        };
        format.write(&source, &options)
    };
    enter_alone(py, work)?.map_err(refuse)
}
