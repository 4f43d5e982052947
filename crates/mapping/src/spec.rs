//! The parameters of a mapping, each defined once for commands and Python functions.

use crate::effort::{MappingObjective, SearchEffort};
use crate::problem::PinnedProcess;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The default fraction by which hop-bytes may grow in exchange for less congestion.
pub const HOPS_LIMIT: f64 = 0.05;
/// The default if tables are made for the mapping, as its traffic then takes other paths anyway.
pub const HOPS_LIMIT_WITH_ROUTING: f64 = 0.3;

/// The parameters of mappings. Those that are files for users have here what the files say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Spec")]
pub struct MappingParameters {
    /// Who sends how much to whom: a file (.mtx, Open MPI's monitoring (.prof), a dense matrix,
    /// METIS, Scotch, GOAL, a trace), or a graph that is made, as `stencil:shape=8x8,bytes=100`;
    /// see docs/mapping.md#communication-graphs.
    pub graph: String,
    /// The mapping, an endpoint for each process; a file is of the format that it shows where none
    /// is given. Where tables are made, they are made for this mapping, and it is kept.
    pub mapping: Option<Vec<u32>>,
    /// Traffic goes by this engine's tables; `ecmp`: split over all shortest paths.
    pub engine: String,
    /// LID mask control, 0 to 7: 2^LMC routes to every endpoint; where tables are made for a
    /// mapping 2, unless there are `layers`.
    pub lmc: Option<u32>,
    /// Routes to every endpoint, 1 to 128; a pair's traffic is split evenly over them.
    pub layers: Option<u32>,
    /// Options of the engine; where tables are made for a mapping those of `application`, as
    /// `slack`, by how many hops a path may be longer than the shortest.
    pub engine_options: Map<String, Value>,
    /// auto, or steps of `flyloom list methods` joined by `+`: one that makes a mapping, then
    /// those that improve it.
    pub method: String,
    /// What is to be small.
    pub objective: MappingObjective,
    /// For less congestion hop-bytes may grow by this part over the least that were found; only
    /// the linear mapping may have more. 0.05 where it is not given, and 0.3 where tables are made.
    pub hops_limit: Option<f64>,
    /// The endpoints of the job, in the order in which they are filled; all where it is not given.
    pub hosts: Option<Vec<u32>>,
    /// Processes on each endpoint; where it is not given as many as the host list names it, or 1.
    pub per_endpoint: Option<u32>,
    /// Processes whose endpoint is given, as lines `RANK ENDPOINT`.
    pub pin: Vec<(u32, u32)>,
    /// The graph is a sparse matrix: what is mapped is the halo exchange of this number of equal
    /// parts of it.
    pub partition: Option<u32>,
    /// How much is tried.
    pub effort: SearchEffort,
    /// Seed of all that is random.
    pub seed: u64,
    /// LIDs of the fabric that do not fit the LMC may move, as of `route`.
    pub new_lids: Option<bool>,
    /// File that the mapping is written to.
    pub path: Option<String>,
    /// Of the mapping, as a file: list, rankfile, hydra, slurm, cray, pbs or json.
    pub format: Option<String>,
    /// Folder that the tables are written to, as `route -o` writes them.
    pub tables: Option<String>,
}

impl Default for MappingParameters {
    fn default() -> Self {
        Self {
            graph: String::new(),
            mapping: None,
            engine: "ecmp".to_owned(),
            lmc: None,
            layers: None,
            engine_options: Map::new(),
            method: "auto".to_owned(),
            objective: MappingObjective::Congestion,
            hops_limit: None,
            hosts: None,
            per_endpoint: None,
            pin: Vec::new(),
            partition: None,
            effort: SearchEffort::Normal,
            seed: 0,
            new_lids: Some(false),
            path: None,
            format: None,
            tables: None,
        }
    }
}

impl MappingParameters {
    /// The processes that are pinned to endpoints.
    pub fn pins(&self) -> Vec<PinnedProcess> {
        self.pin.iter().map(|&(process, endpoint)| PinnedProcess { process, endpoint }).collect()
    }
}

/// A task that is done with mappings, which is a Python function and a command.
#[derive(Debug)]
pub struct MappingTask {
    /// Its name, its description, and the parameters of all tasks.
    pub part: PartDescription,
    /// The parameters that it requires.
    pub needs: &'static [&'static str],
    /// The parameters that it does not take.
    pub without: &'static [&'static str],
}

const FILES: &[&str] = &["graph", "hosts", "mapping", "pin"];

impl MappingTask {
    const fn new(
        name: &'static str,
        doc: &'static str,
        needs: &'static [&'static str],
        without: &'static [&'static str],
    ) -> Self {
        Self {
            part: PartDescription::new(name, doc).takes::<MappingParameters>().reads(FILES),
            needs,
            without,
        }
    }
}

/// All tasks that are done with mappings.
pub static TASKS: &[MappingTask] = &[
    MappingTask::new(
        "map_processes",
        "Which process goes on which endpoint, so that little traffic goes far or meets",
        &["graph"],
        &["mapping", "new_lids", "tables"],
    ),
    MappingTask::new(
        "evaluate_mapping",
        "What a mapping is worth: hop-bytes, dilation and congestion, beside the linear one",
        &["graph", "mapping"],
        &["method", "objective", "hops_limit", "pin", "effort", "new_lids", "path", "tables"],
    ),
    MappingTask::new(
        "map_with_routing",
        "A mapping and forwarding tables for its traffic, so that the busiest channel carries \
         little",
        &["graph"],
        &["engine", "objective"],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_task_names_parameters_that_there_are() {
        for task in TASKS {
            let schema = task.part.schema();
            let known = schema["properties"].as_object().expect("parameters");
            for name in task.needs.iter().chain(task.without).chain(task.part.files) {
                assert!(known.contains_key(*name), "{}: {name}", task.part.name);
            }
        }
    }

    #[test]
    fn words_are_read_and_others_refused_with_those_that_there_are() {
        let given = json!({"objective": "hops", "effort": "best", "pin": [[0, 3]]});
        let spec: MappingParameters = serde_json::from_value(given).expect("parameters");
        assert_eq!((spec.objective, spec.effort), (MappingObjective::Hops, SearchEffort::Best));
        assert_eq!(spec.pins(), [PinnedProcess { process: 0, endpoint: 3 }]);
        let wrong = serde_json::from_value::<MappingParameters>(json!({"objective": "hop"}));
        let why = wrong.expect_err("no objective").to_string();
        assert!(why.contains("hops") && why.contains("congestion"), "{why}");
    }
}
