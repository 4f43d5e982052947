//! The packet level for Python: a network or tables, parameters and loads in, points out.

use crate::classes::{Routing, Topology, Traffic, Workload};
use crate::enter::{afford, enter, from_python, object, refuse, stopped, to_python};
use crate::ranks::Ranks;
use base::stage::parameters;
use base::{ComputationError, ExperimentStage, RecordJson};
use lab::over_seeds::over_seeds;
use packet::replay::UserSuppliedJobs;
use packet::spec::PacketSimulationParameters;
use packet::stage::{PacketSimulationInputs, PacketSimulationRecord};
use pyo3::prelude::*;
use serde_json::Value;
use std::time::Instant;
use traffic::workload::Schedule;

/// The schema of the packet level's parameters.
#[pyfunction]
pub fn packet_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &schemars::schema_for!(PacketSimulationParameters).to_value())
}

/// What the packet level finds at the loads that `given` says: `verified`, `parameters`, `points`;
/// with traces `jobs`, whose schedules, and the endpoints of all processes, take the place of what
/// the parameters name. `hands` is a number of threads, or the ranks of an MPI program, all of
/// which call this with the same arguments and get the same result.
#[pyfunction]
#[pyo3(signature = (on, given, hands, traffic=None, jobs=(None, None), progress=None))]
pub fn simulate_packet<'py>(
    py: Python<'py>,
    on: &Bound<'py, PyAny>,
    given: &Bound<'py, PyAny>,
    hands: (usize, Option<Py<Ranks>>),
    traffic: Option<Py<Traffic>>,
    jobs: (Option<Vec<Py<Workload>>>, Option<Vec<u32>>),
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (threads, ranks) = hands;
    let routing = on.cast::<Routing>().ok().map(|tables| tables.get().inner.clone());
    let topology = match &routing {
        Some(routing) => routing.topology().clone(),
        None => on.cast::<Topology>()?.get().inner.clone(),
    };
    let traffic = traffic.as_ref().map(|t| t.get().sending());
    let (workloads, places) = jobs;
    let schedules: Option<Vec<&Schedule>> =
        workloads.as_ref().map(|all| all.iter().map(|one| &one.get().inner).collect());
    let jobs = UserSuppliedJobs { schedules: schedules.as_deref(), places: places.as_deref() };
    let on =
        PacketSimulationInputs { topology: &topology, routing: routing.as_ref(), traffic, jobs };
    let read = || {
        let spec: PacketSimulationParameters =
            parameters(&object(from_python(given)?)).map_err(refuse)?;
        afford(py, &format!("simulating {}", topology.recipe()), |_| spec.need(on, threads))?;
        Ok(spec)
    };
    let began = Instant::now();
    let clock = || began.elapsed().as_secs_f64();
    let found = match ranks.as_ref().map(Py::get) {
        None => {
            let spec = read()?;
            let threads = spec.paying(&topology, threads);
            enter(py, progress, |watch| {
                let run = |one: &PacketSimulationParameters, threads| {
                    one.simulate(on, threads, Some(&clock), watch)
                };
                each_seed(&spec, threads, run)
            })?
        }
        Some(ranks) => {
            let spec = ranks.agreed(py, read())?;
            enter(py, progress, |watch| {
                ranks.same_build()?;
                let run = |one: &PacketSimulationParameters, _| {
                    ranks.over(|peers| one.simulate_over(on, peers, Some(&clock), watch))
                };
                each_seed(&spec, 1, run)
            })?
        }
    };
    to_python(py, &Value::Object(found.map_err(stopped)?.0))
}

/// The record of a run with every seed that `spec` asks for; `run` runs a single one.
fn each_seed<R>(
    spec: &PacketSimulationParameters,
    threads: usize,
    run: R,
) -> Result<RecordJson, ComputationError>
where
    R: Fn(&PacketSimulationParameters, usize) -> Result<PacketSimulationRecord, ComputationError>
        + Sync,
{
    if spec.seeds == 1 {
        return run(spec, threads).map(RecordJson::of);
    }
    over_seeds(
        (spec.seed, spec.seeds),
        threads,
        PacketSimulationParameters::COLUMNS,
        |seed, threads| {
            run(&PacketSimulationParameters { seed, seeds: 1, ..spec.clone() }, threads)
                .map(RecordJson::of)
        },
    )
}
