//! Stencils on a grid: halos go to the neighbours, and every cell is computed, again and again.

use super::halo::Halo;
use super::kind::Made;
use crate::workload::keys::{Asked, ITERATIONS, Key, MOST_BYTES, MOST_NS, RANKS, Takes};
use crate::workload::{Program, Script, tag};

const PERIODIC: Key = Key::whole("periodic", "1: the last is next to the first", 0, (0, 1));
const COMPUTE: Key = Key::whole("compute_ns", "computation of an iteration, ns", 0, (0, MOST_NS));
const OVERLAP: Key = Key::whole(
    "overlap_percent",
    "how much of it needs no halo and goes on meanwhile",
    0,
    (0, 100),
);
const CORNER: Key = Key::whole("corner_bytes", "to a rank across a corner", 8, (0, MOST_BYTES));
const EDGE: Key = Key::whole("edge_bytes", "to a rank across an edge", 1024, (0, MOST_BYTES));
const SIDES: Key = Key { name: "grid", doc: "sides of the grid of ranks", takes: Takes::Grid };

/// The keys of two dimensions.
pub(super) const KEYS_2D: &[Key] = &[
    RANKS,
    SIDES,
    Key::word("points", "of the stencil", &["5", "9"]),
    Key::needed("bytes", "of the halo of a side", (0, MOST_BYTES)),
    CORNER,
    PERIODIC,
    ITERATIONS,
    COMPUTE,
    OVERLAP,
];

/// The keys of three dimensions.
pub(super) const KEYS_3D: &[Key] = &[
    RANKS,
    SIDES,
    Key::word("points", "of the stencil", &["7", "27"]),
    Key::needed("bytes", "of the halo of a face", (0, MOST_BYTES)),
    EDGE,
    CORNER,
    PERIODIC,
    ITERATIONS,
    COMPUTE,
    OVERLAP,
];

struct Stencil {
    halo: Halo,
    ranks: u32,
    /// Bytes to a neighbour by how many coordinates are others, from one on.
    bytes: [u64; 3],
    iterations: u64,
    inner_ns: u64,
    border_ns: u64,
}

/// A stencil of so many dimensions.
pub(super) fn made(dimensions: usize, asked: &Asked<'_>) -> Made {
    let ranks = asked.ranks()?;
    let corner = asked.whole("corner_bytes")?;
    let edge = if dimensions == 3 { asked.whole("edge_bytes")? } else { corner };
    let compute = asked.whole("compute_ns")?;
    let inner_ns = compute * asked.whole("overlap_percent")? / 100;
    let halo = Halo {
        sides: asked.grid(dimensions, ranks)?,
        periodic: asked.whole("periodic")? == 1,
        diagonal: matches!(asked.word("points")?, "9" | "27"),
    };
    Ok(Box::new(Stencil {
        halo,
        ranks,
        bytes: [asked.whole("bytes")?, edge, corner],
        iterations: asked.whole("iterations")?,
        inner_ns,
        border_ns: compute - inner_ns,
    }))
}

impl Program for Stencil {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn tell(&self, rank: u32, to: &mut Script<'_>) {
        let bytes = |way: &[i32]| self.bytes[way.iter().filter(|&&step| step != 0).count() - 1];
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
