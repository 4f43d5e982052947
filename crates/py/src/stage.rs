//! Measures by name, of networks and of tables, as Python dictionaries.

use crate::classes::Workload;
use crate::enter::{afford, enter, from_python, object, refuse, stopped, to_python};
use fabric::Topology;
use fabric::tables::Routing;
use lab::stages::{StageInputs, stage};
use pyo3::prelude::*;
use serde_json::Value;
use std::sync::Arc;
use traffic::sending::OfferedTraffic;
use traffic::times::TimedPacketLists;
use traffic::workload::Schedule;

/// The files of a measure, and what else it has besides its network and its parameters.
pub struct MeasureInputFiles<'a> {
    /// Tables.
    pub routing: Option<&'a Routing>,
    /// Traffic that was read.
    pub traffic: Option<&'a OfferedTraffic>,
    /// Schedules that were read.
    pub workloads: Option<&'a [Py<Workload>]>,
    /// A file of packets with their times: its name, and its text.
    pub times: Option<(String, String)>,
    /// The endpoint of every process, where that is known.
    pub places: Option<&'a [u32]>,
}

/// The record of the measure `name` with these parameters, if the machine can do it.
///
/// # Errors
/// `RefusalError` for a measure or parameter that there is not, and what the measure refuses.
pub fn measured<'py>(
    py: Python<'py>,
    name: &str,
    given: Option<&Bound<'py, PyAny>>,
    topology: &Arc<Topology>,
    given_files: MeasureInputFiles<'_>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let entry = stage(name).map_err(refuse)?;
    let given = &given.map(from_python).transpose()?.map(object).unwrap_or_default();
    let MeasureInputFiles { routing, traffic, workloads, times, places } = given_files;
    let schedules: Option<Vec<&Schedule>> =
        workloads.map(|all| all.iter().map(|one| &one.get().inner).collect());
    let (schedules, times) = (schedules.as_deref(), injections(times, topology)?);
    let on = StageInputs { topology, routing, traffic, schedules, times: times.as_ref(), places };
    let mut need = Ok(());
    afford(py, &format!("{name} of {}", topology.recipe()), |threads| {
        entry.need(given, on, threads).unwrap_or_else(|why| {
            need = Err(why);
            base::ResourceNeed::new(0.0, 0.0)
        })
    })?;
    need.map_err(refuse)?;
    let found = enter(py, progress, |watch| entry.run(given, on, watch))?.map_err(stopped)?;
    to_python(py, &Value::Object(found.0))
}

/// The packets of a file with their times: its name, and its text.
///
/// # Errors
/// `RefusalError` with the file and the line at fault.
pub fn injections(
    file: Option<(String, String)>,
    on: &fabric::Topology,
) -> PyResult<Option<Arc<TimedPacketLists>>> {
    let read = |(name, text): (String, String)| {
        TimedPacketLists::parse(&text, on).map(Arc::new).map_err(|r| refuse(r.within(&name)))
    };
    file.map(read).transpose()
}
