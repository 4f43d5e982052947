//! The message level: schedules under LogGOPS, a closed loop of processes, alone or over a network.

mod ahead;
mod causal;
mod costs;
mod left;
mod loggops;
mod machine;
mod matching;
mod net;
mod parameters;
mod path;
mod presets;
mod queue;
mod ranks;
pub mod stage;
mod timeline;
mod trace;

pub use costs::{MessageCostOrigin, MessageCostSpec};
pub use left::UnfinishedOperations;
pub use machine::{ScheduleRunResult, ShortReceives};
pub use net::{
    AdapterTimeParameters, ChannelUse, LinkTimeParameters, MessageChoosingParameters,
    MessageRouteSelection, NetworkTimeParameters, NetworkWithRanks, RailSelection,
    SwitchTimeParameters,
};
pub use parameters::LogGopsParameters;
pub use path::{CriticalPathCostCounts, CriticalPathSpan, ProcessorBusySpan, ProcessorWorkKind};
pub use presets::{LogGopsPreset, PRESETS, USUAL as USUAL_COSTS, preset};
pub use timeline::{CollectiveSpan, MessageWorkSpans};
pub use trace::{OperationStep, OperationStepTimes};

use base::{ComputationError, ProgressWatch, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traffic::workload::Schedule;

/// The dialect of a schedule: the rules by which it is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum ScheduleDialect {
    /// An operation begins when what it waits for has ended; large sends ask first.
    #[default]
    #[serde(rename = "causal")]
    Causal,
    /// As LogGOPSim does.
    #[serde(rename = "loggops-v1")]
    LogGopsV1,
}

impl ScheduleDialect {
    /// The unit of [`ScheduleRunResult::finish`], in nanoseconds.
    pub fn unit_ns(self) -> f64 {
        match self {
            Self::Causal => 1e-3,
            Self::LogGopsV1 => 1.0,
        }
    }
}

/// Runs `schedule`, over the network `under` it if there is one. O(events * log(events that wait
/// for one processor)), plus the time for flows over a network.
///
/// # Errors
/// When a parameter does not fit the dialect, there is no path between two ranks, or `watch` says
/// stop. A schedule that deadlocks is no error: see [`ScheduleRunResult::left`].
pub fn run(
    schedule: &Schedule,
    dialect: ScheduleDialect,
    costs: &LogGopsParameters,
    under: Option<&NetworkWithRanks<'_>>,
    watch: &dyn ProgressWatch,
) -> Result<ScheduleRunResult, ComputationError> {
    match (dialect, under) {
        (ScheduleDialect::Causal, _) => causal::run(schedule, costs, under, false, watch),
        (ScheduleDialect::LogGopsV1, None) => loggops::run(schedule, costs, watch),
        (ScheduleDialect::LogGopsV1, Some(_)) => {
            let why = "loggops-v1 has no network";
            Err(Refusal::new("dialect", why, "the dialect causal, or no network").into())
        }
    }
}

/// A run of the dialect `causal` with a trace, and what follows from the trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedRunResult {
    /// The result of the run.
    pub found: ScheduleRunResult,
    /// The critical path, in order of time, to the end of the rank that is done last (the first
    /// such rank, if several are). Empty if the schedule deadlocks.
    pub path: Vec<CriticalPathSpan>,
    /// The time spans in which processors work, rank after rank, each in order of time.
    pub spans: Vec<ProcessorBusySpan>,
    /// The messages, each with the spans of its sending and its receiving.
    pub messages: Vec<MessageWorkSpans>,
    /// The spans of the collective operations that the schedule names.
    pub collectives: Vec<CollectiveSpan>,
}

/// Runs `schedule` as [`run`] does, and finds its critical path. It needs about 400 bytes more for
/// each operation.
///
/// # Errors
/// As for [`run`]; also a refusal of the dialect `loggops-v1`.
pub fn traced(
    schedule: &Schedule,
    costs: &LogGopsParameters,
    under: Option<&NetworkWithRanks<'_>>,
    watch: &dyn ProgressWatch,
) -> Result<TracedRunResult, ComputationError> {
    let found = causal::run(schedule, costs, under, true, watch)?;
    let mut path = Vec::new();
    let mut spans = Vec::new();
    let mut messages = Vec::new();
    if let (None, Some(trace)) = (&found.left, &found.trace) {
        let mut whole = costs.picoseconds()?;
        if under.is_some() {
            whole.byte = 0;
        }
        let finder = path::CriticalPathFinder::new(schedule, &whole, trace, under.is_some());
        let last = (0..).zip(&found.finish).max_by_key(|&(rank, &t)| (t, std::cmp::Reverse(rank)));
        path = finder.path(last.map_or(0, |(rank, _)| rank));
        spans = finder.busy();
        messages = timeline::messages(schedule, trace, &spans);
    }
    let collectives = timeline::collectives(schedule, &spans);
    Ok(TracedRunResult { found, path, spans, messages, collectives })
}
