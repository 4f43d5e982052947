//! Conjugate gradients on a grid of 27 points, with multigrid as HPCG has it or without.
//!
//! An iteration has a halo exchange and sparse product, two dot products (two allreduces of 8
//! bytes) and three vector updates. With `preconditioner=multigrid` it also has HPCG's V-cycle: on
//! each level but the coarsest two sweeps and a residual, each with a halo exchange, there one
//! sweep; and a third dot product, the norm of the residual. Floating-point operations as HPCG
//! counts them: 2 a nonzero of a product, 4 of a sweep, 2 a row of a dot product or an update;
//! every row is taken to have 27 nonzeros.
//!
//! Source: Hestenes, Stiefel: Methods of conjugate gradients for solving linear systems, J. Res.
//! NBS 49 (1952), section 3; Dongarra, Heroux, Luszczek: High-performance conjugate-gradient
//! benchmark, IJHPCA 30 (2016), section 3.

use super::halo::HaloRankGrid;
use super::kind::{AllreduceAlgorithm, ApplicationEntry};
use crate::workload::collective::CollectiveCall;
use crate::workload::parameters::{
    ComputeRateParameter, IterationCountParameter, RankCountParameter, RankGridParameter,
};
use crate::workload::{RankProgram, RankScriptWriter, tag};
use base::Refusal;
use base::fields::whole;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most cells of a rank in each direction.
const MOST_CELLS: u64 = 1 << 16;

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new(
        "conjugate_gradient",
        "conjugate gradients of 27 points, as HPCG or without its multigrid",
    )
    .takes::<ConjugateGradientParameters>(),
    make: |request| Ok(Box::new(ConjugateGradientProgram::new(&request.read()?)?)),
};

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GradientParameters")]
struct ConjugateGradientParameters {
    ranks: RankCountParameter,
    /// Sides of the grid of ranks.
    #[serde(default)]
    grid: RankGridParameter,
    /// Cells of a rank along x.
    #[serde(default = "whole::<104>")]
    #[schemars(range(min = 1, max = MOST_CELLS))]
    nx: u64,
    /// Cells of a rank along y.
    #[serde(default = "whole::<104>")]
    #[schemars(range(min = 1, max = MOST_CELLS))]
    ny: u64,
    /// Cells of a rank along z.
    #[serde(default = "whole::<104>")]
    #[schemars(range(min = 1, max = MOST_CELLS))]
    nz: u64,
    /// What an iteration begins with.
    #[serde(default)]
    preconditioner: Preconditioner,
    /// Grids of the multigrid.
    #[serde(default = "whole::<4>")]
    #[schemars(range(min = 1, max = 16))]
    levels: u64,
    #[serde(default)]
    allreduce: AllreduceAlgorithm,
    #[serde(default)]
    iterations: IterationCountParameter,
    #[serde(default)]
    gflops: ComputeRateParameter,
}

/// What an iteration begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Preconditioner {
    /// Nothing.
    #[default]
    None,
    /// A V-cycle of HPCG's multigrid.
    Multigrid,
}

/// The program of the conjugate gradient method.
struct ConjugateGradientProgram {
    halo: HaloRankGrid,
    ranks: u32,
    /// Number of cells of a rank in each direction.
    cells: [u64; 3],
    /// Number of grids of the multigrid preconditioner; none without it.
    levels: Option<u32>,
    sum: CollectiveCall,
    iterations: u64,
    gflops: ComputeRateParameter,
}

impl ConjugateGradientProgram {
    fn new(with: &ConjugateGradientParameters) -> Result<Self, base::ComputationError> {
        let ranks = with.ranks.0;
        let halo =
            HaloRankGrid { sides: with.grid.sides(3, ranks)?, periodic: false, diagonal: true };
        let cells = [with.nx, with.ny, with.nz];
        let has_levels = with.preconditioner == Preconditioner::Multigrid;
        let levels = has_levels.then_some(with.levels as u32);
        let halves = levels.map_or(1, |levels| 1_u64 << (levels - 1));
        for (name, n) in ["nx", "ny", "nz"].into_iter().zip(cells) {
            if !n.is_multiple_of(halves) {
                let help = format!("a multiple of {halves}, or fewer levels");
                return Err(Refusal::new(name, n.to_string(), help).into());
            }
        }
        let sum = with.allreduce.call(ranks, 8)?;
        let (iterations, gflops) = (with.iterations.0, with.gflops);
        Ok(Self { halo, ranks, cells, levels, sum, iterations, gflops })
    }
}

/// A writer of the phases of a rank, one after the other.
struct RankPhaseWriter<'g, 't, 's> {
    of: &'g ConjugateGradientProgram,
    me: u32,
    to: &'t mut RankScriptWriter<'s>,
    ends: Vec<u32>,
    phase: u64,
}

impl RankPhaseWriter<'_, '_, '_> {
    fn rows(&self, level: u32) -> u128 {
        self.of.cells.iter().map(|&n| u128::from(n >> level)).product()
    }

    fn compute(&mut self, flops: u128) {
        self.ends = self.to.calc(self.of.gflops.ns(flops), &self.ends);
    }

    /// A halo exchange on a level, then `flops` operations for each nonzero of the rank's rows.
    fn sweep(&mut self, level: u32, flops: u128) {
        let bytes = |direction: &[i32]| {
            let side = |(&n, &step): (&u64, &i32)| if step == 0 { n >> level } else { 1 };
            8 * self.of.cells.iter().zip(direction).map(side).product::<u64>()
        };
        self.ends = self.of.halo.exchange(self.me, tag(self.phase), &bytes, self.to, &self.ends);
        self.phase += 1;
        self.compute(27 * flops * self.rows(level));
    }

    fn dot(&mut self) {
        self.compute(2 * self.rows(0));
        let call = &self.of.sum;
        self.ends = self.to.collective(call, self.me, &|r| r, tag(self.phase), &self.ends);
        self.phase += 1;
    }

    fn multigrid(&mut self, levels: u32) {
        for level in 0..levels - 1 {
            self.sweep(level, 4);
            self.sweep(level, 2);
        }
        self.sweep(levels - 1, 4);
        for level in (0..levels - 1).rev() {
            self.sweep(level, 4);
        }
    }
}

impl RankProgram for ConjugateGradientProgram {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let mut script = RankPhaseWriter { of: self, me: rank, to, ends: Vec::new(), phase: 0 };
        let update = 2 * script.rows(0);
        for _ in 0..self.iterations {
            if script.to.is_over() {
                return;
            }
            if let Some(levels) = self.levels {
                script.multigrid(levels);
            }
            script.dot();
            script.compute(update);
            script.sweep(0, 2);
            script.dot();
            script.compute(2 * update);
            if self.levels.is_some() {
                script.dot();
            }
        }
    }
}
