//! The program of stencils on a grid: iterations of a halo exchange and a computation of every
//! cell.

use super::halo::HaloRankGrid;
use super::kind::ProgramResult;
use crate::workload::parameters::{
    IterationCountParameter, MOST_BYTES, MOST_NS, RankCountParameter, RankGridParameter,
};
use crate::workload::{RankProgram, RankScriptWriter, tag};
use base::fields::whole;
use schemars::JsonSchema;
use serde::Deserialize;

/// The parameters of every stencil.
#[derive(Deserialize, JsonSchema)]
pub(super) struct StencilParameters {
    ranks: RankCountParameter,
    /// Sides of the grid of ranks.
    #[serde(default)]
    grid: RankGridParameter,
    /// Bytes of the halo of a side, or of a face.
    #[schemars(range(max = MOST_BYTES))]
    bytes: u64,
    /// Bytes to a rank across a corner.
    #[serde(default = "whole::<8>")]
    #[schemars(range(max = MOST_BYTES))]
    corner_bytes: u64,
    /// 1: the last is next to the first.
    #[serde(default)]
    #[schemars(range(max = 1))]
    periodic: u8,
    #[serde(default)]
    iterations: IterationCountParameter,
    /// Computation of an iteration, ns.
    #[serde(default)]
    #[schemars(range(max = MOST_NS))]
    compute_ns: u64,
    /// Part of the computation that needs no halo and goes on meanwhile, %.
    #[serde(default)]
    #[schemars(range(max = 100))]
    overlap_percent: u64,
}

/// The program of a stencil.
struct StencilProgram {
    halo: HaloRankGrid,
    ranks: u32,
    /// Bytes sent to a neighbour that differs in one, two or three coordinates.
    bytes: [u64; 3],
    iterations: u64,
    inner_ns: u64,
    border_ns: u64,
}

/// A stencil in two dimensions, or in three if `edge_bytes` is given: the bytes to a rank across an
/// edge. If `diagonal`, ranks across edges and corners are neighbours, too.
pub(super) fn made(
    with: &StencilParameters,
    edge_bytes: Option<u64>,
    diagonal: bool,
) -> ProgramResult {
    let ranks = with.ranks.0;
    let dimensions = if edge_bytes.is_some() { 3 } else { 2 };
    let inner_ns = with.compute_ns * with.overlap_percent / 100;
    let halo = HaloRankGrid {
        sides: with.grid.sides(dimensions, ranks)?,
        periodic: with.periodic == 1,
        diagonal,
    };
    Ok(Box::new(StencilProgram {
        halo,
        ranks,
        bytes: [with.bytes, edge_bytes.unwrap_or(with.corner_bytes), with.corner_bytes],
        iterations: with.iterations.0,
        inner_ns,
        border_ns: with.compute_ns - inner_ns,
    }))
}

impl RankProgram for StencilProgram {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let bytes =
            |direction: &[i32]| self.bytes[direction.iter().filter(|&&step| step != 0).count() - 1];
        let mut ends = Vec::new();
        for iteration in 0..self.iterations {
            if to.is_over() {
                return;
            }
            let before = to.join(&ends);
            ends = self.halo.exchange(rank, tag(iteration), &bytes, to, &before);
            if self.inner_ns > 0 {
                ends.extend(to.calc(self.inner_ns, &before));
            }
            ends = to.calc(self.border_ns, &ends);
        }
    }
}
