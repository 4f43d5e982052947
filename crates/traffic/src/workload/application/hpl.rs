//! High-performance Linpack: LU factorisation with pivots of a matrix distributed in blocks of
//! `nb` columns and rows over a grid of P x Q ranks, panel after panel, without look-ahead.
//!
//! A panel of w columns:
//! - the P ranks of its column find the pivot of each column: an allreduce by recursive doubling of
//!   2 nb + 4 numbers, the row and its place;
//! - each sends its part of the panel, of m rows below the block, around its row of Q ranks:
//!   m w + w^2 + w + 1 numbers;
//! - the P ranks of each column that still has c columns to the right swap rows: their parts of w c
//!   numbers are gathered along a binomial tree, scattered along it, and handed around a ring;
//! - they update: a triangular solve of w^2 c operations, a product of 2 m c w.
//!
//! Numbers are of 8 bytes. The solve at the end, of O(n^2), is left out.
//!
//! Source: Petitet, Whaley, Dongarra, Cleary: HPL, a portable implementation of the
//! high-performance Linpack benchmark, netlib.org/benchmark/hpl, "Algorithm" and "Scalability".

use super::kind::{ApplicationEntry, ProgramResult};
use crate::workload::collective::CollectiveCall;
use crate::workload::parameters::{ComputeRateParameter, RankCountParameter, RankGridParameter};
use crate::workload::{RankProgram, RankScriptWriter, WorkloadRequest, tag};
use base::fields::whole;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::Deserialize;

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new("hpl", "LU factorisation of a matrix over a grid of ranks, as HPL")
        .takes::<HplParameters>(),
    make: made,
};

#[derive(Deserialize, JsonSchema)]
struct HplParameters {
    ranks: RankCountParameter,
    /// Grid of ranks, P x Q.
    #[serde(default)]
    grid: RankGridParameter,
    /// Rows and columns of the matrix.
    #[schemars(range(min = 1, max = 1 << 24))]
    n: u64,
    /// Columns of a panel.
    #[serde(default = "whole::<256>")]
    #[schemars(range(min = 1, max = 1 << 12))]
    nb: u64,
    #[serde(default)]
    gflops: ComputeRateParameter,
}

/// The program of High-Performance Linpack.
struct LinpackProgram {
    grid: [u32; 2],
    n: u64,
    nb: u64,
    pivot: CollectiveCall,
    gather: CollectiveCall,
    spread: CollectiveCall,
    gflops: ComputeRateParameter,
}

fn made(request: &WorkloadRequest<'_>) -> ProgramResult {
    let HplParameters { ranks, grid, n, nb, gflops } = request.read()?;
    let grid = grid.sides(2, ranks.0)?;
    let p = grid[0];
    Ok(Box::new(LinpackProgram {
        grid: [p, grid[1]],
        n,
        nb,
        pivot: CollectiveCall::new("allreduce_recursive_doubling", p, 8 * (2 * nb + 4))?,
        gather: CollectiveCall::new("gather_binomial", p, 0)?,
        spread: CollectiveCall::new("broadcast_scatter_allgather", p, 0)?,
        gflops,
    }))
}

impl LinpackProgram {
    /// The number of rows, or columns, from `first` on that process row (or column) `at` of `side`
    /// holds.
    fn local(&self, first: u64, at: u32, side: u32) -> u64 {
        let cycle = self.nb * u64::from(side);
        let below = |x: u64| {
            let rest = (x % cycle).saturating_sub(u64::from(at) * self.nb);
            x / cycle * self.nb + rest.min(self.nb)
        };
        below(self.n) - below(first.min(self.n))
    }

    fn ns(&self, flops: u64) -> u64 {
        self.gflops.ns(flops.into())
    }
}

impl RankProgram for LinpackProgram {
    fn ranks(&self) -> u32 {
        self.grid[0] * self.grid[1]
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let [p, q] = self.grid;
        let (i, j) = (rank / q, rank % q);
        let mut ends: Vec<u32> = Vec::new();
        let mut phase = 0;
        for panel in 0..self.n.div_ceil(self.nb) {
            if to.is_over() {
                return;
            }
            let first = panel * self.nb;
            let width = self.nb.min(self.n - first);
            let (row, column) = ((panel % u64::from(p)) as u32, (panel % u64::from(q)) as u32);
            if j == column {
                let rows = self.local(first, i, p);
                for left in (0..width).rev() {
                    ends = to.calc(self.ns(rows * (1 + 2 * left)), &ends);
                    let at = tag(phase + left);
                    ends = to.collective(&self.pivot, i, &|other| other * q + j, at, &ends);
                }
            }
            phase += width;
            let (rows, columns) =
                (self.local(first + width, i, p), self.local(first + width, j, q));
            if q > 1 {
                let bytes = 8 * (rows * width + width * width + width + 1);
                let place = (j + q - column) % q;
                let message = |j: u32| [(i * q + j, bytes, tag(phase))];
                if place > 0 {
                    ends = to.exchange(&[], &message((j + q - 1) % q), &ends);
                }
                if place + 1 < q {
                    ends = to.exchange(&message((j + 1) % q), &[], &ends);
                }
            }
            if columns > 0 && p > 1 {
                let bytes = 8 * width * columns;
                let me = (i + p - row) % p;
                let named = |other: u32| (other + row) % p * q + j;
                let gather = self.gather.with_bytes(bytes.div_ceil(p.into()));
                ends = to.collective(&gather, me, &named, tag(phase + 1), &ends);
                let spread = self.spread.with_bytes(bytes);
                ends = to.collective(&spread, me, &named, tag(phase + 2), &ends);
            }
            phase += 3;
            ends = to.calc(self.ns(width * columns * (width + 2 * rows)), &ends);
        }
    }
}
