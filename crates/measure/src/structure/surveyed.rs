//! The measure `structure`: the requested sections in one record.

use super::bisection::bisection_with;
use super::{
    BisectionInterval, DisjointPathCounts, DisjointPathParameters, GraphSpectrum,
    MinimalPathChannelLoads, PathCounts, StructureFigures,
};
use super::{disjoint_paths, minimal_load, short_paths, spectrum, structure};
use base::stage::{BetterDirection, ColumnType};
use base::{ComputationError, ExperimentStage, ProgressWatch, RecordColumn, ResourceNeed};
use fabric::Topology;
use fabric::size::{NetworkSize, RequestedStructureSections};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts, distances, girth and the Moore bound of a network, with the requested sections.
///
/// The figures are explained in docs/structure.md.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::struct_excessive_bools)]
pub struct StructureParams {
    /// Numbers of minimal and almost minimal paths.
    pub paths: bool,
    /// Numbers of link-disjoint paths.
    pub disjoint: bool,
    /// Load of channels under uniform traffic over all minimal paths.
    pub load: bool,
    /// Eigenvalues.
    pub spectrum: bool,
    /// Fewest links between two halves.
    pub bisection: bool,
    /// Bounds of the hops of disjoint paths; by default the diameter and one more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hops: Option<Vec<u32>>,
    /// Number of pairs for disjoint paths, drawn at random where there are more.
    pub pairs: u64,
    /// Number of runs of the search for a bisection.
    pub starts: u32,
    /// Seed of the random draws.
    pub seed: u64,
}

impl Default for StructureParams {
    fn default() -> Self {
        Self {
            paths: false,
            disjoint: false,
            load: false,
            spectrum: false,
            bisection: false,
            hops: None,
            pairs: 100_000,
            starts: 16,
            seed: 0,
        }
    }
}

/// The structure of a network. A section that was not requested is left out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StructureRecord {
    /// Counts, distances, girth and the Moore bound.
    #[serde(flatten)]
    pub structure: StructureFigures,
    /// The network, in the inline form.
    pub recipe: String,
    /// Shortest paths of each ordered pair of switches with endpoints; with `paths`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimal_paths: Option<PathCounts>,
    /// Paths at most one hop longer than the shortest, these included; with `paths`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub almost_minimal_paths: Option<PathCounts>,
    /// Link-disjoint paths of each pair of switches; with `disjoint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disjoint_paths: Option<DisjointPathCounts>,
    /// Load of the channels under uniform traffic over all minimal paths; with `load`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel_load: Option<MinimalPathChannelLoads>,
    /// Eigenvalues; with `spectrum`, null where no switch works.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("nullable" = true))]
    pub spectrum: Option<Option<GraphSpectrum>>,
    /// Fewest links between two halves; with `bisection`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bisection: Option<BisectionInterval>,
}

impl ExperimentStage for StructureParams {
    const NAME: &'static str = "structure";
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "mean_minimal_paths",
            "/minimal_paths/mean",
            ColumnType::Real,
            "",
            "mean number of shortest paths of a pair of switches",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "mean_disjoint_paths",
            "/disjoint_paths/any_length/mean",
            ColumnType::Real,
            "",
            "mean number of link-disjoint paths of a pair of switches",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "uniform_saturation",
            "/channel_load/uniform_saturation",
            ColumnType::Real,
            "fraction",
            "offered load at which the fullest channel is full",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "spectral_gap",
            "/spectrum/spectral_gap",
            ColumnType::Real,
            "",
            "largest less second eigenvalue",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "bisection_low",
            "/bisection/low",
            ColumnType::Whole,
            "links",
            "least links between two halves, proved",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "bisection_high",
            "/bisection/high",
            ColumnType::Whole,
            "links",
            "fewest links between two halves that were found",
            BetterDirection::Higher,
        ),
    ];

    type Input<'a> = &'a Topology;
    type Record = StructureRecord;

    fn examples() -> Vec<Self> {
        let all = Self {
            paths: true,
            disjoint: true,
            load: true,
            spectrum: true,
            bisection: true,
            starts: 2,
            ..Self::default()
        };
        vec![Self::default(), all]
    }

    fn need(&self, on: &Topology, threads: usize) -> ResourceNeed {
        let bounds = self.hops.as_ref().map_or(2, |hops| hops.len() as u32 + 1);
        NetworkSize::of(on, threads).structure(&RequestedStructureSections {
            paths: self.paths,
            disjoint: if self.disjoint { (bounds, self.pairs) } else { (0, 0) },
            load: self.load,
            spectrum: self.spectrum,
            starts: if self.bisection { self.starts } else { 0 },
        })
    }

    fn run(
        &self,
        on: &Topology,
        watch: &dyn ProgressWatch,
    ) -> Result<StructureRecord, ComputationError> {
        let structure = structure(on, watch)?;
        let short = self.paths.then(|| short_paths(on, watch)).transpose()?;
        let (minimal_paths, almost_minimal_paths) =
            short.map(|found| (found.minimal, found.almost_minimal)).unzip();
        let rules =
            DisjointPathParameters { hops: self.hops.clone(), pairs: self.pairs, seed: self.seed };
        let channel_load = self.load.then(|| minimal_load(on, watch)).transpose()?;
        let unit = channel_load.as_ref().map(|load| &load.unit.by_channel[..]);
        let cut = || bisection_with(on, self.starts, self.seed, unit, watch);
        Ok(StructureRecord {
            structure,
            recipe: on.recipe().to_string(),
            minimal_paths,
            almost_minimal_paths,
            disjoint_paths: self.disjoint.then(|| disjoint_paths(on, &rules, watch)).transpose()?,
            spectrum: self.spectrum.then(|| spectrum(on, watch)).transpose()?,
            bisection: self.bisection.then(cut).transpose()?,
            channel_load,
        })
    }
}
