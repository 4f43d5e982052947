//! Parts of all traces of MPI: names of local calls, which communicate with nobody, and constants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is done with requests that nobody began, of all traces of MPI.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "UnknownRequests")]
pub(super) struct UnknownRequestParameter {
    /// What is done with requests that nobody began.
    pub(super) unknown_requests: UnknownRequestPolicy,
}

/// What is done with requests that nobody began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Unknown")]
#[serde(rename_all = "snake_case")]
pub(super) enum UnknownRequestPolicy {
    /// The trace is refused.
    #[default]
    Refuse,
    /// They are `MPI_REQUEST_NULL`.
    Null,
}

impl UnknownRequestParameter {
    /// Whether they are `MPI_REQUEST_NULL`.
    pub(super) fn is_null(&self) -> bool {
        self.unknown_requests == UnknownRequestPolicy::Null
    }
}

/// The colour that puts a process into no communicator, in Open MPI and MPICH.
pub(super) const UNDEFINED: i64 = -32766;

/// The beginnings of the names of local calls.
const LOCAL: [&str; 20] = [
    "Type_",
    "Op_",
    "Group_",
    "Attr_",
    "Keyval_",
    "Errhandler_",
    "Error_",
    "Info_",
    "Get_",
    "Pack",
    "Unpack",
    "Address",
    "Wti",
    "Initialized",
    "Finalized",
    "Buffer_",
    "Cart_coords",
    "Cart_rank",
    "Cart_shift",
    "Dims_create",
];

/// The whole names of further local calls.
const LOCAL_TOO: [&str; 32] = [
    "Cart_get",
    "Cart_map",
    "Cartdim_get",
    "Graph_get",
    "Graph_map",
    "Graph_neighbors",
    "Graph_neighbors_count",
    "Graphdims_get",
    "Topo_test",
    "Comm_group",
    "Comm_compare",
    "Comm_set_name",
    "Comm_get_name",
    "Comm_test_inter",
    "Comm_create_keyval",
    "Comm_free_keyval",
    "Comm_delete_attr",
    "Comm_get_attr",
    "Comm_set_attr",
    "Comm_call_errhandler",
    "Comm_create_errhandler",
    "Comm_get_errhandler",
    "Comm_set_errhandler",
    "Add_error_class",
    "Add_error_code",
    "Add_error_string",
    "Query_thread",
    "Is_thread_main",
    "Test_cancelled",
    "Alloc_mem",
    "Free_mem",
    "Iprobe",
];

/// Whether a call, named without `MPI_`, is local: it communicates with nobody, and its time is
/// computing.
pub(super) fn is_local(name: &str) -> bool {
    LOCAL.iter().any(|start| name.starts_with(start)) || LOCAL_TOO.contains(&name)
}
