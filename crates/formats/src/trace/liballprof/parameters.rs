//! Parameters of the traces of liballprof.

use base::fields::word;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the numbers of a trace mean.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct LiballprofParameters {
    /// Whose constants the ranks are: of Open MPI, of MPICH.
    pub(super) mpi: MpiImplementation,
    /// Size of a request in an array, bytes.
    #[serde(deserialize_with = "word")]
    pub(super) request_bytes: MpiRequestSize,
}

/// Whose constants ranks and requests are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Library")]
#[serde(rename_all = "lowercase")]
pub(super) enum MpiImplementation {
    /// Of Open MPI.
    #[default]
    OpenMpi,
    /// Of MPICH.
    Mpich,
}

/// Size of a request in an array, bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RequestBytes")]
pub(super) enum MpiRequestSize {
    /// A pointer.
    #[default]
    #[serde(rename = "8")]
    Eight,
    /// A number.
    #[serde(rename = "4")]
    Four,
}
