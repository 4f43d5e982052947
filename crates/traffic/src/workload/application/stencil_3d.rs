//! A stencil of 7 or 27 points on a grid of 3 dimensions.
//!
//! An iteration: a message to every neighbour and one from each, the part of the computation that
//! needs no halo meanwhile, then the rest of it.

use super::kind::ApplicationEntry;
use super::stencil::{StencilParameters, made};
use crate::workload::parameters::MOST_BYTES;
use base::fields::{whole, word};
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new(
        "stencil_3d",
        "halos to the neighbours on a grid, 7 or 27 points, and computation",
    )
    .takes::<StencilParameters>()
    .takes::<Stencil3dParameters>(),
    make: |request| {
        let own: Stencil3dParameters = request.read()?;
        made(&request.read()?, Some(own.edge_bytes), own.points == Stencil3dPoints::TwentySeven)
    },
};

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Stencil3d")]
struct Stencil3dParameters {
    /// Points of the stencil.
    #[serde(default, deserialize_with = "word")]
    points: Stencil3dPoints,
    /// Bytes to a rank across an edge.
    #[serde(default = "whole::<1024>")]
    #[schemars(range(max = MOST_BYTES))]
    edge_bytes: u64,
}

/// Points of the stencil.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Points3d")]
enum Stencil3dPoints {
    /// A cell and those next to it along an axis.
    #[default]
    #[serde(rename = "7")]
    Seven,
    /// A cell and all those around it.
    #[serde(rename = "27")]
    TwentySeven,
}
