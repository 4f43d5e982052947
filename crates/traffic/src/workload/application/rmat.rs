//! R-MAT random graphs, in which few vertices have very many neighbours, as Graph500 draws them.
//!
//! Source: Chakrabarti, Zhan, Faloutsos: R-MAT: a recursive model for graph mining, SDM 2004; the
//! chances are those of Graph500 (Murphy, Wheeler, Barrett, Ang: Introducing the Graph 500, 2010).

use base::seed::{FastRandomStream, RandomStream};
use base::{ComputationError, ProgressWatch};

/// Probabilities in percent for a quarter of the adjacency matrix: both ends in the first half;
/// only the second end in the other half; only the first end in the other half.
const CHANCES: [u32; 3] = [57, 19, 19];

/// An undirected graph as rows of neighbours in ascending order, without loops and multiple edges.
#[derive(Debug)]
pub(super) struct RmatGraph {
    starts: Vec<usize>,
    all: Vec<u32>,
}

/// Steps between two checks for an interrupt by the user.
const STRIDE: usize = 1 << 16;

impl RmatGraph {
    /// Draws a graph of `2^scale` vertices, with `edge_factor` drawn edges for each. The vertices
    /// are numbered at random. O(edges * scale).
    pub(super) fn draw(
        scale: u32,
        edge_factor: u64,
        seed: u64,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let vertices = 1_usize << scale;
        let edges = vertices * edge_factor as usize;
        let mut names: Vec<u32> = (0..vertices as u32).collect();
        RandomStream::new(seed, "rmat names", 0).shuffle(&mut names);
        let mut draws = FastRandomStream::new(seed, "rmat edges", 0);
        let mut drawn = Vec::with_capacity(edges);
        for i in 0..edges {
            if i % STRIDE == 0 {
                watch.tick("graph", i as u64, edges as u64)?;
            }
            let (a, b) = pair(scale, &mut draws);
            if a != b {
                drawn.push((names[a as usize], names[b as usize]));
            }
        }
        Self::new(vertices, &drawn, watch)
    }

    fn new(
        vertices: usize,
        edges: &[(u32, u32)],
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let mut ends = vec![0_usize; vertices + 1];
        for &(a, b) in edges {
            ends[a as usize] += 1;
            ends[b as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let rows = ends.clone();
        let mut all = vec![0_u32; sum];
        for &(a, b) in edges {
            for (from, to) in [(a, b), (b, a)] {
                all[ends[from as usize]] = to;
                ends[from as usize] += 1;
            }
        }
        let (mut starts, mut kept) = (vec![0], 0);
        for (vertex, row) in rows.windows(2).enumerate() {
            if vertex % STRIDE == 0 {
                watch.tick("rows", vertex as u64, vertices as u64)?;
            }
            all[row[0]..row[1]].sort_unstable();
            let first = kept;
            for i in row[0]..row[1] {
                if kept == first || all[kept - 1] != all[i] {
                    all[kept] = all[i];
                    kept += 1;
                }
            }
            starts.push(kept);
        }
        all.truncate(kept);
        Ok(Self { starts, all })
    }

    /// How many vertices there are.
    pub(super) fn vertices(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// The neighbours of a vertex.
    pub(super) fn of(&self, vertex: u32) -> &[u32] {
        &self.all[self.starts[vertex as usize]..self.starts[vertex as usize + 1]]
    }
}

/// Draws the two ends of an edge: a quarter of the matrix, a quarter of that, and so on.
pub(super) fn pair(scale: u32, draws: &mut FastRandomStream) -> (u32, u32) {
    let (mut a, mut b) = (0, 0);
    for _ in 0..scale {
        let draw = draws.below(100);
        let right = (CHANCES[0]..CHANCES[0] + CHANCES[1]).contains(&draw);
        let below = draw >= CHANCES[0] + CHANCES[1];
        let both = draw >= CHANCES.iter().sum();
        a = 2 * a + u32::from(below);
        b = 2 * b + u32::from(right || both);
    }
    (a, b)
}
