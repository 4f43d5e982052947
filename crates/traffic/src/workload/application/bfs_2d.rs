//! Breadth-first search of a random graph, level by level, edges distributed over a grid of ranks.
//!
//! On a grid of R x C ranks, rank i C + j has row i and column j. Vertices are in R C equal parts,
//! part k with rank k; edges from the vertices of parts c R to (c + 1) R - 1 to those of parts i C
//! to (i + 1) C - 1 are with the rank of row i and column c. In every level
//! - each rank sends its vertices of the level to the rank of their column whose turn they are:
//!   part k to row k mod R of column k / R (the vector is transposed);
//! - the ranks of a column gather all vertices of theirs (expand: an allgather);
//! - each looks through its edges of these, and tells the owner of every vertex that it finds,
//!   once, and who found it: owners are in its row (fold: messages of different sizes);
//! - all sum up how many vertices are new.
//!
//! The sizes are those of the search, which is done while the schedule is made.
//!
//! Source: Buluc, Madduri: Parallel breadth-first search on distributed memory systems, SC 2011,
//! section 3.2 and algorithm 3 (edges in two dimensions).

use super::bfs::{
    self, EdgeFactorParameter, EdgeTimeParameter, GraphScaleParameter, GraphSeedParameter,
};
use super::kind::{AllreduceAlgorithm, ApplicationEntry, ProgramResult};
use super::rmat::RmatGraph;
use crate::workload::collective::exchange::{
    BlockExchangeAlgorithm, ExchangeMessage, ExchangeMessages,
};
use crate::workload::collective::{AllgatherChoice, CollectiveCall};
use crate::workload::parameters::{RankCountParameter, RankGridParameter};
use crate::workload::{RankProgram, RankScriptWriter, WorkloadRequest, tag};
use base::fields::whole;
use base::part::PartDescription;
use base::{ComputationError, ProgressWatch};
use schemars::JsonSchema;
use serde::Deserialize;

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new(
        "bfs_2d",
        "the same search with edges over a grid: expand along columns, fold along rows",
    )
    .takes::<Bfs2dParameters>(),
    make: made,
};

#[derive(Deserialize, JsonSchema)]
struct Bfs2dParameters {
    ranks: RankCountParameter,
    /// Grid of ranks, R x C.
    #[serde(default)]
    grid: RankGridParameter,
    #[serde(default)]
    scale: GraphScaleParameter,
    #[serde(default)]
    edge_factor: EdgeFactorParameter,
    #[serde(default)]
    seed: GraphSeedParameter,
    /// Bytes of a vertex of the level in a message.
    #[serde(default = "whole::<8>")]
    #[schemars(range(min = 1, max = 1 << 10))]
    vertex_bytes: u64,
    /// Bytes of a vertex and who found it.
    #[serde(default = "whole::<16>")]
    #[schemars(range(min = 1, max = 1 << 10))]
    pair_bytes: u64,
    #[serde(default)]
    edge_ns: EdgeTimeParameter,
    /// Algorithm of expand, `allgather_...`.
    #[serde(default = "ring")]
    allgather: AllgatherChoice,
    #[serde(default)]
    allreduce: AllreduceAlgorithm,
}

fn ring() -> AllgatherChoice {
    AllgatherChoice::new("allgather_ring")
}

/// The program of a breadth-first search with the matrix divided among ranks.
struct Bfs2dProgram {
    /// The number of rows and columns of the grid of ranks.
    grid: [u32; 2],
    levels: Vec<Bfs2dLevel>,
    sum: CollectiveCall,
    edge_ns: u64,
}

/// One level of the search.
struct Bfs2dLevel {
    /// Bytes of the vertices that each rank owns in the level.
    own: Vec<u64>,
    /// The allgather of each column.
    expand: Vec<CollectiveCall>,
    /// The exchange of each row.
    fold: Vec<CollectiveCall>,
    /// The edges that each rank examines, and the vertices that are reported to each rank.
    looked: Vec<u64>,
    heard: Vec<u64>,
}

fn made(request: &WorkloadRequest<'_>) -> ProgramResult {
    let (with, watch): (Bfs2dParameters, _) = (request.read()?, request.watch);
    let ranks = with.ranks.0;
    let grid = with.grid.sides(2, ranks)?;
    let grid = [grid[0], grid[1]];
    let graph = bfs::graph(with.scale, with.edge_factor, with.seed, watch)?;
    Ok(Box::new(Bfs2dProgram {
        grid,
        levels: levels(&graph, grid, &with, watch)?,
        sum: with.allreduce.call(ranks, 8)?,
        edge_ns: with.edge_ns.0,
    }))
}

fn levels(
    graph: &RmatGraph,
    grid: [u32; 2],
    with: &Bfs2dParameters,
    watch: &dyn ProgressWatch,
) -> Result<Vec<Bfs2dLevel>, ComputationError> {
    let [rows, columns] = grid;
    let part = |v: u32| bfs::owner(v, graph.vertices(), rows * columns);
    let first = bfs::first(graph, with.seed.0);
    let mut seen = vec![false; graph.vertices() as usize];
    seen[first as usize] = true;
    // for each vertex, the column and level in which it was last found
    let mut reported = vec![u64::MAX; graph.vertices() as usize];
    let (mut found, mut now, mut turn) = (Vec::new(), vec![first], 0);
    while !now.is_empty() {
        let mut level = LevelSizes::new(grid);
        let mut next = Vec::new();
        // in ascending order, so that the vertices of a column are consecutive
        now.sort_unstable();
        for of_column in now.chunk_by(|a, b| part(*a) / rows == part(*b) / rows) {
            watch.tick("search", found.len() as u64, 0)?;
            let column = part(of_column[0]) / rows;
            for &from in of_column {
                level.own[part(from) as usize] += 1;
                for &to in graph.of(from) {
                    let owner = part(to);
                    level.looked[(owner / columns * columns + column) as usize] += 1;
                    if std::mem::replace(&mut reported[to as usize], turn) != turn {
                        level.counts[owner as usize] += 1;
                    }
                    if !std::mem::replace(&mut seen[to as usize], true) {
                        next.push(to);
                    }
                }
            }
            level.tell(column);
            turn += 1;
        }
        found.push(level.calls(with)?);
        now = next;
    }
    Ok(found)
}

/// The sizes of a level, which are counted while it is searched.
struct LevelSizes {
    grid: [u32; 2],
    /// The number of vertices of the level that each rank owns.
    own: Vec<u64>,
    looked: Vec<u64>,
    heard: Vec<u64>,
    /// For each rank, the number of its vertices that the present column has found.
    counts: Vec<u64>,
    /// For each row, the messages in it, column by column.
    fold: Vec<Vec<ExchangeMessage>>,
}

impl LevelSizes {
    fn new(grid: [u32; 2]) -> Self {
        let none = vec![0; (grid[0] * grid[1]) as usize];
        Self {
            grid,
            own: none.clone(),
            looked: none.clone(),
            heard: none.clone(),
            counts: none,
            fold: vec![Vec::new(); grid[0] as usize],
        }
    }

    /// Adds the messages in which a column reports what it found to the owners.
    fn tell(&mut self, column: u32) {
        let columns = self.grid[1];
        for (owner, count) in (0..).zip(&mut self.counts) {
            let count = std::mem::take(count);
            self.heard[owner as usize] += count;
            if count > 0 && owner % columns != column {
                self.fold[(owner / columns) as usize].push((column, owner % columns, count));
            }
        }
    }

    fn calls(self, with: &Bfs2dParameters) -> Result<Bfs2dLevel, ComputationError> {
        let (vertex, pair) = (with.vertex_bytes, with.pair_bytes);
        let [rows, columns] = self.grid;
        let own: Vec<u64> = self.own.into_iter().map(|count| vertex * count).collect();
        let gather = CollectiveCall::new(with.allgather.name(), rows, 0)?;
        let of_column = |sizes: &[u64]| gather.clone().with_sizes(sizes.to_vec());
        let of_row = |mut all: Vec<ExchangeMessage>| {
            for edge in &mut all {
                edge.2 *= pair;
            }
            let messages = Some(ExchangeMessages::new(columns, &all, |_| 0));
            CollectiveCall::of(BlockExchangeAlgorithm { messages, rounds: false }, columns)
        };
        Ok(Bfs2dLevel {
            expand: own.chunks(rows as usize).map(of_column).collect(),
            own,
            fold: self.fold.into_iter().map(of_row).collect(),
            looked: self.looked,
            heard: self.heard,
        })
    }
}

impl Bfs2dProgram {
    /// Sends each rank's vertices to the rank of its column that gathers them, which is the
    /// transpose step.
    fn transpose(
        &self,
        own: &[u64],
        (rank, tag): (u32, u32),
        after: &[u32],
        to: &mut RankScriptWriter<'_>,
    ) -> Vec<u32> {
        let [rows, columns] = self.grid;
        let there = rank % rows * columns + rank / rows;
        let from = rank % columns * rows + rank / columns;
        let bytes = |rank: u32| own[rank as usize];
        if there == rank {
            return after.to_vec();
        }
        to.exchange(&[(there, bytes(rank), tag)], &[(from, bytes(from), tag)], after)
    }
}

impl RankProgram for Bfs2dProgram {
    fn ranks(&self) -> u32 {
        self.grid[0] * self.grid[1]
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let columns = self.grid[1];
        let (row, column) = (rank / columns, rank % columns);
        let at = rank as usize;
        let mut ends = Vec::new();
        for (phase, level) in (0..).step_by(4).zip(&self.levels) {
            ends = self.transpose(&level.own, (rank, tag(phase)), &ends, to);
            let expand = &level.expand[column as usize];
            ends = to.collective(expand, row, &|i| i * columns + column, tag(phase + 1), &ends);
            ends = to.calc(level.looked[at] * self.edge_ns, &ends);
            let fold = &level.fold[row as usize];
            ends = to.collective(fold, column, &|j| row * columns + j, tag(phase + 2), &ends);
            ends = to.calc(level.heard[at] * self.edge_ns, &ends);
            ends = to.collective(&self.sum, rank, &|r| r, tag(phase + 3), &ends);
        }
    }
}
