//! The measure `lanes_needed`: the number of lanes that each method needs.

use super::{MethodLaneCount, needed};
use base::stage::{BetterDirection, ColumnType};
use base::{ComputationError, ExperimentStage, ProgressWatch, RecordColumn, ResourceNeed};
use fabric::size::{NetworkSize, RouteWorkKind};
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many virtual lanes each method needs to make given routes free of deadlock.
///
/// The methods are described in docs/routing.md.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LanesNeededParams {
    /// Seed of the method `random`.
    pub seed: u64,
}

/// The number of lanes that each method needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LanesNeededRecord {
    /// One row for each method.
    pub methods: Vec<LanesNeededByMethod>,
}

/// The lanes and service levels that one method needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Method")]
pub struct LanesNeededByMethod {
    /// `online`, `lightest`, `heaviest`, `random` or `hops`.
    pub method: &'static str,
    /// Data lanes; none where 15 lanes or 16 service levels are not enough.
    pub lanes: Option<u8>,
    /// Service levels; none where 15 lanes or 16 levels are not enough.
    pub service_levels: Option<u8>,
    /// Why 15 lanes or 16 service levels are not enough; only then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl From<&MethodLaneCount> for LanesNeededByMethod {
    fn from(need: &MethodLaneCount) -> Self {
        let lanes = need.lanes.as_ref();
        Self {
            method: need.method.name(),
            lanes: lanes.ok().map(|(lanes, _)| *lanes),
            service_levels: lanes.ok().map(|(_, levels)| *levels),
            why: lanes.err().map(ToString::to_string),
        }
    }
}

impl ExperimentStage for LanesNeededParams {
    const NAME: &'static str = "lanes_needed";
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "online",
            "/methods/0/lanes",
            ColumnType::Whole,
            "lanes",
            "path by path",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "lightest",
            "/methods/1/lanes",
            ColumnType::Whole,
            "lanes",
            "cycle by cycle, the lightest edge",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "heaviest",
            "/methods/2/lanes",
            ColumnType::Whole,
            "lanes",
            "cycle by cycle, the heaviest edge",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "random",
            "/methods/3/lanes",
            ColumnType::Whole,
            "lanes",
            "cycle by cycle, a random edge",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "hops",
            "/methods/4/lanes",
            ColumnType::Whole,
            "lanes",
            "a lane a hop",
            BetterDirection::Lower,
        ),
    ];

    type Input<'a> = &'a Routing;
    type Record = LanesNeededRecord;

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { seed: 3 }]
    }

    fn need(&self, on: &Routing, threads: usize) -> ResourceNeed {
        NetworkSize::of(on.topology(), threads).along(on, RouteWorkKind::Lanes)
    }

    fn run(
        &self,
        on: &Routing,
        watch: &dyn ProgressWatch,
    ) -> Result<LanesNeededRecord, ComputationError> {
        Ok(LanesNeededRecord {
            methods: needed(on, self.seed, watch)?.iter().map(LanesNeededByMethod::from).collect(),
        })
    }
}
