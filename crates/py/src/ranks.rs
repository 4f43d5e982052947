//! One rank of an MPI program for Python: what all ranks agree on, and how they end.

use crate::enter::{RefusalError, refuse, stopped};
use base::{ComputationError, Interrupted, Refusal};
use des::PeerByteExchange;
use des::peers::{agree, same};
use des_mpi::MpiWorld;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The bytes of the library of `capi`, which cargo links before it compiles this file.
#[cfg(all(feature = "extension-module", target_os = "linux"))]
const MAP_LIBRARY: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/../../../deps/libflyloom_map.so"));
#[cfg(not(all(feature = "extension-module", target_os = "linux")))]
const MAP_LIBRARY: &[u8] = &[];

/// The core for C, as the bytes of a shared library that programs of MPI load; empty where there is
/// none.
#[pyfunction]
pub fn map_library(py: Python<'_>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, MAP_LIBRARY)
}

/// This process among the ranks of an MPI program.
#[pyclass(frozen)]
pub struct Ranks {
    world: Mutex<Option<MpiWorld>>,
    #[pyo3(get)]
    rank: usize,
    #[pyo3(get)]
    size: usize,
    #[pyo3(get)]
    library: String,
}

#[pymethods]
impl Ranks {
    /// Loads the library around MPI at a path, and begins MPI.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let world = py.detach(|| MpiWorld::open(&path)).map_err(refuse)?;
        let (rank, size, library) = (world.me(), world.count(), world.library());
        Ok(Self { world: Mutex::new(Some(world)), rank, size, library })
    }

    /// Called by all ranks, each with what went wrong, if anything did: raises the refusal of the
    /// first rank that has one.
    #[pyo3(signature = (error=None))]
    fn agree(&self, py: Python<'_>, error: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mine = error.map_or(Ok(()), |error| Err(stop_of(error)));
        py.detach(|| self.over(|peers| agree(peers, mine))).map_err(stopped)
    }

    /// Ends all ranks with an exit code.
    fn abort(&self, code: i32) {
        if let Some(world) = self.lock().as_mut() {
            world.abort(code);
        }
    }

    /// Ends MPI; called by all ranks.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let world = self.lock().take();
        py.detach(|| world.map_or(Ok(()), MpiWorld::close)).map_err(refuse)
    }
}

impl Ranks {
    fn lock(&self) -> MutexGuard<'_, Option<MpiWorld>> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of `work`, which is done together with the other ranks.
    ///
    /// # Errors
    /// The errors of `work`; also when MPI has ended.
    pub fn over<T>(
        &self,
        work: impl FnOnce(&mut dyn PeerByteExchange) -> Result<T, ComputationError>,
    ) -> Result<T, ComputationError> {
        match self.lock().as_mut() {
            Some(world) => work(world),
            None => Err(Refusal::new("", "MPI has ended in this process", "").into()),
        }
    }

    /// What this rank found, where all ranks found something; else the refusal of the first that
    /// did not.
    ///
    /// # Errors
    /// That refusal; of other exceptions this rank's own.
    pub fn agreed<T>(&self, py: Python<'_>, found: PyResult<T>) -> PyResult<T> {
        let error = found.as_ref().err().map(|error| error.value(py).clone().into_any());
        let is_refusal =
            found.as_ref().is_err_and(|error| error.is_instance_of::<RefusalError>(py));
        match self.agree(py, error.as_ref()) {
            Err(all) if is_refusal || found.is_ok() => Err(all),
            _ => found,
        }
    }

    /// Checks that all ranks run the same flyloom.
    ///
    /// # Errors
    /// The refusal names one that does not.
    pub fn same_build(&self) -> Result<(), ComputationError> {
        let sources = base::seed::fnv1a64(env!("FLYLOOM_SOURCES").as_bytes());
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let given = [("flyloom", version), ("build of flyloom", format!("{sources:016x}"))];
        self.over(|peers| same(peers, &given))
    }
}

/// A Python exception as the other ranks hear of it.
fn stop_of(error: &Bound<'_, PyAny>) -> ComputationError {
    if error.is_instance_of::<PyKeyboardInterrupt>() {
        return Interrupted.into();
    }
    let text = |name: &str| error.getattr(name).and_then(|text| text.extract::<String>()).ok();
    if let (Some(param), Some(why), Some(help)) = (text("param"), text("why"), text("help")) {
        return Refusal::new(param, why, help).into();
    }
    let words = error.str().map_or_else(|_| String::new(), |words| words.to_string());
    Refusal::new("", words, "").into()
}
