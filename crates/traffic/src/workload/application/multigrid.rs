//! Cycles over the levels of a multigrid solver: halos between ever fewer ranks, then back.
//!
//! Ranks are a cube, x the slowest. A cycle visits the levels 0, 1, ... and back to 0. On level l
//! take part the ranks whose coordinates all are multiples of 2^l, and their neighbours are 2^l
//! away in the box. A level receives and sends all its halos at once and waits for all of them. A
//! cycle ends with a sum of one double over all ranks.

use super::kind::{AllreduceAlgorithm, ProgramResult};
use crate::workload::collective::CollectiveCall;
use crate::workload::parameters::{MOST_BYTES, MOST_RANKS};
use crate::workload::{RankProgram, RankScriptWriter, ScriptMessage, WorkloadRequest, tag};
use base::Refusal;
use base::fields::whole;
use schemars::JsonSchema;
use serde::Deserialize;

/// Most levels: on a cube of 2^8 ranks a side, the last level has one rank.
const MOST_LEVELS: u64 = 9;

/// Most cycles.
const MOST_CYCLES: u64 = 1 << 20;

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct MultigridParameters {
    /// Ranks on a side of the cube.
    #[schemars(range(min = 1, max = 256))]
    p: u32,
    /// Levels of grids, each of half the side.
    #[schemars(range(min = 1, max = MOST_LEVELS))]
    levels: u32,
    /// Cycles from the finest grid to the coarsest and back.
    #[serde(default = "whole::<1>")]
    #[schemars(range(min = 1, max = MOST_CYCLES))]
    cycles: u64,
    /// Bytes to a neighbour on a face, on the finest grid.
    #[schemars(range(max = MOST_BYTES))]
    base_bytes: u64,
    #[serde(default)]
    allreduce: AllreduceAlgorithm,
}

/// The direction of a neighbour, a step of -1, 0 or 1 along each side.
pub(super) type NeighbourDirection = [i32; 3];

/// The neighbours of a rank, in the order of their messages, and the bytes for each.
pub(super) struct HaloNeighbours {
    /// Directions of all neighbours.
    pub(super) directions: Vec<NeighbourDirection>,
    /// Bytes of a message in a direction on a level; `base` is the size for a face on the finest
    /// level.
    pub(super) bytes: fn(base: u64, direction: NeighbourDirection, level: u32) -> u64,
}

/// The program of a geometric multigrid solver.
struct MultigridProgram {
    halos: HaloNeighbours,
    p: u32,
    levels: u32,
    cycles: u64,
    base_bytes: u64,
    sum: CollectiveCall,
}

/// The multigrid solver with these halos.
pub(super) fn made(halos: HaloNeighbours, request: &WorkloadRequest<'_>) -> ProgramResult {
    let MultigridParameters { p, levels, cycles, base_bytes, allreduce } = request.read()?;
    let ranks = p.pow(3);
    if u64::from(ranks) > MOST_RANKS {
        let help = format!("{MOST_RANKS} ranks at most");
        return Err(Refusal::new("p", format!("{ranks} ranks"), help).into());
    }
    let sum = allreduce.call(ranks, 8)?;
    Ok(Box::new(MultigridProgram { halos, p, levels, cycles, base_bytes, sum }))
}

impl MultigridProgram {
    /// The messages of a rank on a level to its neighbours, and those from them.
    fn messages(
        &self,
        rank: u32,
        level: u32,
        first: u32,
    ) -> (Vec<ScriptMessage>, Vec<ScriptMessage>) {
        let p = self.p;
        let at = [rank / p / p, rank / p % p, rank % p];
        let distance = 1_i64 << level;
        let (mut to, mut from) = (Vec::new(), Vec::new());
        if at.iter().any(|&x| i64::from(x) % distance != 0) {
            return (to, from);
        }
        for (number, &direction) in (0..).zip(&self.halos.directions) {
            let mut there = Some(0_u32);
            for (&x, step) in at.iter().zip(direction) {
                let x = i64::from(x) + i64::from(step) * distance;
                let x = u32::try_from(x).ok().filter(|&x| x < p);
                there = there.zip(x).map(|(rank, x)| rank * p + x);
            }
            let Some(there) = there else { continue };
            let bytes = (self.halos.bytes)(self.base_bytes, direction, level);
            let back = direction.map(|step| -step);
            let opposite = self.halos.directions.iter().position(|&direction| direction == back);
            to.push((there, bytes, first + number));
            // the message from there has the tag of the opposite direction
            from.push((there, bytes, first + opposite.map_or(0, |number| number as u32)));
        }
        (to, from)
    }
}

impl RankProgram for MultigridProgram {
    fn ranks(&self) -> u32 {
        self.p.pow(3)
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let everybody = |rank: u32| rank;
        let (mut ends, mut phase) = (Vec::new(), 0);
        for _ in 0..self.cycles {
            for level in (0..self.levels).chain((0..self.levels - 1).rev()) {
                if to.is_over() {
                    return;
                }
                let (leaving, coming) = self.messages(rank, level, tag(phase));
                phase += 1;
                if !leaving.is_empty() {
                    ends = to.exchange(&leaving, &coming, &ends);
                }
            }
            let after = to.join(&ends);
            ends = to.collective(&self.sum, rank, &everybody, tag(phase), &after);
            phase += 1;
        }
    }
}
