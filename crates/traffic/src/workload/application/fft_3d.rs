//! A Fourier transform of three dimensions: transforms along the sides that a rank has whole, and
//! all-to-alls that turn the data round in between.
//!
//! Slabs: a rank has planes, all ranks exchange once. Pencils: ranks are a grid of P x Q; the P of
//! a column exchange, then the Q of a row. From one rank to another goes what the one had and the
//! other needs: of n points, part i of p has those from i n / p on, rounded down. A transform of n
//! points has 5 n log2(n) operations.
//!
//! Source: Pippig: PFFT: an extension of FFTW to massively parallel architectures, SIAM J. Sci.
//! Comput. 35 (2013), sections 2 and 3.

use super::kind::{ApplicationEntry, ProgramResult};
use crate::workload::collective::CollectiveCall;
use crate::workload::collective::exchange::{
    BlockExchangeAlgorithm, ExchangeMessage, ExchangeMessages,
};
use crate::workload::parameters::{
    ComputeRateParameter, IterationCountParameter, RankCountParameter, RankGridParameter,
};
use crate::workload::{RankProgram, RankScriptWriter, WorkloadRequest, tag};
use base::Refusal;
use base::exp::ln;
use base::fields::whole;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most ranks that exchange data in one all-to-all.
const MOST_PARTNERS: u32 = 4096;

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new("fft_3d", "a Fourier transform of a cube, in slabs or in pencils")
        .takes::<FftParameters>(),
    make: made,
};

#[derive(Deserialize, JsonSchema)]
struct FftParameters {
    ranks: RankCountParameter,
    /// Points along each side.
    #[schemars(range(min = 1, max = 1 << 20))]
    n: u64,
    /// What a rank has.
    #[serde(default)]
    decomposition: FftDecomposition,
    /// Grid of ranks, P x Q, of pencils.
    #[serde(default)]
    grid: RankGridParameter,
    /// Bytes of a point.
    #[serde(default = "whole::<16>")]
    #[schemars(range(min = 1, max = 1 << 10))]
    element_bytes: u64,
    /// How all-to-alls are done.
    #[serde(default)]
    exchange: AllToAllRounds,
    /// 1: the data is turned back at the end.
    #[serde(default)]
    #[schemars(range(max = 1))]
    back: u8,
    #[serde(default)]
    iterations: IterationCountParameter,
    #[serde(default)]
    gflops: ComputeRateParameter,
}

/// What a rank has of the cube.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Decomposition")]
enum FftDecomposition {
    /// Planes.
    #[default]
    Slab,
    /// Lines.
    Pencil,
}

/// How the messages of an all-to-all follow one another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AllToAllRounds {
    /// All at once.
    #[default]
    Linear,
    /// In rounds, in each of which a rank has one partner.
    Pairwise,
}

/// The program of a three-dimensional Fourier transform.
struct FftProgram {
    ranks: u32,
    n: u64,
    /// P and Q, the numbers of ranks of the two all-to-alls; for slabs P is 1.
    grid: [u32; 2],
    /// The all-to-alls within columns, and those within rows. The key is the number of lines of a
    /// rank in the direction that is not exchanged.
    calls: [BTreeMap<u64, CollectiveCall>; 2],
    back: bool,
    iterations: u64,
    gflops: ComputeRateParameter,
}

/// The number of points in part `i` of `parts`.
fn part(n: u64, i: u32, parts: u32) -> u64 {
    let until = |i: u32| n * u64::from(i) / u64::from(parts);
    until(i + 1) - until(i)
}

fn made(request: &WorkloadRequest<'_>) -> ProgramResult {
    let with: FftParameters = request.read()?;
    let (ranks, n) = (with.ranks.0, with.n);
    let pencils = with.decomposition == FftDecomposition::Pencil;
    let grid = if pencils { with.grid.sides(2, ranks)? } else { vec![1, ranks] };
    let grid = [grid[0], grid[1]];
    if let Some(many) = grid.iter().find(|&&side| side > MOST_PARTNERS) {
        let why = format!("{many} ranks exchange among themselves");
        return Err(Refusal::new("ranks", why, format!("at most {MOST_PARTNERS}")).into());
    }
    let (element, rounds) = (with.element_bytes, with.exchange == AllToAllRounds::Pairwise);
    let call = |side: u32, lines: u64| {
        let pairs = (0..side).flat_map(|a| (0..side).map(move |b| (a, b)));
        let bytes = |a, b| element * part(n, a, side) * part(n, b, side) * lines;
        let all: Vec<ExchangeMessage> = pairs.map(|(a, b)| (a, b, bytes(a, b))).collect();
        let all: Vec<ExchangeMessage> = all.into_iter().filter(|e| e.0 != e.1 && e.2 > 0).collect();
        let messages = ExchangeMessages::new(side, &all, |i| (all[i].1 + side - all[i].0) % side);
        CollectiveCall::of(BlockExchangeAlgorithm { messages: Some(messages), rounds }, side)
    };
    let calls = [0, 1].map(|at: usize| {
        let other = grid[1 - at];
        let mut found = BTreeMap::new();
        for i in 0..other {
            let lines = part(n, i, other);
            found.entry(lines).or_insert_with(|| call(grid[at], lines));
        }
        found
    });
    Ok(Box::new(FftProgram {
        ranks,
        n,
        grid,
        calls,
        back: with.back == 1,
        iterations: with.iterations.0,
        gflops: with.gflops,
    }))
}

/// The group of an all-to-all: the call, the index of a rank in the group, and the ranks by their
/// indices.
type AllToAllGroup<'a> = (&'a CollectiveCall, u32, &'a dyn Fn(u32) -> u32);

impl FftProgram {
    /// The time in ns of transforms along `sides` directions of all points of a rank.
    fn compute_ns(&self, points: u64, sides: u64) -> u64 {
        let flops = 5.0 * (points * sides) as f64 * (ln(self.n as f64) / ln(2.0));
        self.gflops.ns(flops.round() as u128)
    }
}

impl RankProgram for FftProgram {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let [p, q] = self.grid;
        let (i, j) = (rank / q, rank % q);
        // a column has the P ranks of one j, a row the Q ranks of one i
        let column = |other: u32| other * q + j;
        let row = |other: u32| i * q + other;
        let (of_i, of_j) = (part(self.n, i, p), part(self.n, j, q));
        let points = of_i * of_j * self.n;
        let turns: [AllToAllGroup<'_>; 2] =
            [(&self.calls[0][&of_j], i, &column), (&self.calls[1][&of_i], j, &row)];
        let mut phase = 0;
        let mut ends = Vec::new();
        let mut turn = |at: usize, to: &mut RankScriptWriter<'_>, ends: &[u32]| {
            let (call, me, named) = turns[at];
            phase += 1;
            to.collective(call, me, named, tag(phase), ends)
        };
        for _ in 0..self.iterations {
            if to.is_over() {
                return;
            }
            if p > 1 {
                ends = to.calc(self.compute_ns(points, 1), &ends);
                ends = turn(0, to, &ends);
                ends = to.calc(self.compute_ns(points, 1), &ends);
            } else {
                // with slabs, a rank has all points in two directions
                ends = to.calc(self.compute_ns(points, 2), &ends);
            }
            ends = turn(1, to, &ends);
            ends = to.calc(self.compute_ns(points, 1), &ends);
            if self.back {
                ends = turn(1, to, &ends);
                if p > 1 {
                    ends = turn(0, to, &ends);
                }
            }
        }
    }
}
