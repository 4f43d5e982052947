//! The structure of a network as a measure: the sections asked for, in one record.

use super::{DisjointRules, PathCounts};
use super::{bisection, disjoint_paths, minimal_load, short_paths, spectrum, structure};
use base::stage::{Better, Kind};
use base::{Frame, Metric, Need, Stage, Stop, Watch};
use fabric::Topology;
use fabric::size::{Measures, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Counts, distances, girth and the Moore bound of a network, with the sections asked for.
///
/// The record: see docs/measures.md.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::struct_excessive_bools)]
pub struct Params {
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
    /// Of disjoint paths: most hops, one or more bounds; the diameter and one more unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hops: Option<Vec<u32>>,
    /// Of disjoint paths: so many pairs are drawn where there are more.
    pub pairs: u64,
    /// Of the bisection: runs of the search.
    pub starts: u32,
    /// Seed of the random draws.
    pub seed: u64,
}

impl Default for Params {
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

impl Stage for Params {
    const NAME: &'static str = "structure";
    const COLUMNS: &'static [Metric] = &[
        Metric::new(
            "mean_minimal_paths",
            "/minimal_paths/mean",
            Kind::Real,
            "",
            "mean number of shortest paths of a pair of switches",
            Better::Higher,
        ),
        Metric::new(
            "mean_disjoint_paths",
            "/disjoint_paths/any_length/mean",
            Kind::Real,
            "",
            "mean number of link-disjoint paths of a pair of switches",
            Better::Higher,
        ),
        Metric::new(
            "uniform_saturation",
            "/channel_load/uniform_saturation",
            Kind::Real,
            "fraction",
            "offered load at which the fullest channel is full",
            Better::Higher,
        ),
        Metric::new(
            "spectral_gap",
            "/spectrum/spectral_gap",
            Kind::Real,
            "",
            "largest less second eigenvalue",
            Better::Higher,
        ),
        Metric::new(
            "bisection_low",
            "/bisection/low",
            Kind::Whole,
            "links",
            "least links between two halves, proved",
            Better::Higher,
        ),
        Metric::new(
            "bisection_high",
            "/bisection/high",
            Kind::Whole,
            "links",
            "fewest links between two halves that were found",
            Better::Higher,
        ),
    ];

    type On<'a> = &'a Topology;

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

    fn need(&self, on: &Topology, threads: usize) -> Need {
        let bounds = self.hops.as_ref().map_or(2, |hops| hops.len() as u32 + 1);
        Size::of(on, threads).structure(&Measures {
            paths: self.paths,
            disjoint: if self.disjoint { (bounds, self.pairs) } else { (0, 0) },
            load: self.load,
            spectrum: self.spectrum,
            starts: if self.bisection { self.starts } else { 0 },
        })
    }

    fn run(&self, on: &Topology, watch: &dyn Watch) -> Result<Frame, Stop> {
        let s = structure(on, watch)?;
        let mut all = json!(s);
        all["mean_distance"] = s.mean_distance_hops().into();
        all["mean_distance_endpoints"] = s.mean_distance_endpoints_hops().into();
        all["mean_distance_all_switches"] = s.mean_distance_all_switches_hops().into();
        all["recipe"] = on.recipe().to_string().into();
        if self.paths {
            let found = short_paths(on, watch)?;
            all["minimal_paths"] = counts(&found.minimal);
            all["almost_minimal_paths"] = counts(&found.almost_minimal);
        }
        if self.disjoint {
            let rules =
                DisjointRules { hops: self.hops.clone(), pairs: self.pairs, seed: self.seed };
            let found = disjoint_paths(on, &rules, watch)?;
            all["disjoint_paths"] = json!(found);
            all["disjoint_paths"]["any_length"] = counts(&found.any_length);
            for (i, bound) in found.bounded.iter().enumerate() {
                let part = &mut all["disjoint_paths"]["bounded"][i];
                part["counts"] = counts(&bound.counts);
                part["at_most"] = counts(&bound.at_most);
            }
        }
        if self.load {
            all["channel_load"] = json!(minimal_load(on, watch)?);
        }
        if self.spectrum {
            all["spectrum"] = json!(spectrum(on, watch)?);
        }
        if self.bisection {
            all["bisection"] = json!(bisection(on, self.starts, self.seed, watch)?);
        }
        Ok(Frame::of(all))
    }
}

fn counts(found: &PathCounts) -> Value {
    let mut all = json!(found);
    all["mean"] = found.mean().into();
    all
}
