//! A stencil of 5 or 9 points on a grid of 2 dimensions.
//!
//! An iteration: a message to every neighbour and one from each, the part of the computation that
//! needs no halo meanwhile, then the rest of it.

use super::kind::ApplicationEntry;
use super::stencil::{StencilParameters, made};
use base::fields::word;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new(
        "stencil_2d",
        "halos to the neighbours on a grid, 5 or 9 points, and computation",
    )
    .takes::<StencilParameters>()
    .takes::<Stencil2dParameters>(),
    make: |request| {
        let own: Stencil2dParameters = request.read()?;
        made(&request.read()?, None, own.points == Stencil2dPoints::Nine)
    },
};

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Stencil2d")]
struct Stencil2dParameters {
    /// Points of the stencil.
    #[serde(default, deserialize_with = "word")]
    points: Stencil2dPoints,
}

/// Points of the stencil.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Points2d")]
enum Stencil2dPoints {
    /// A cell and those next to it along an axis.
    #[default]
    #[serde(rename = "5")]
    Five,
    /// A cell and all those around it.
    #[serde(rename = "9")]
    Nine,
}
