//! Breadth-first search of a random graph, level by level, vertices in equal parts: as Graph500.
//!
//! In every level each rank looks through the edges of its vertices of the level; for each edge to
//! a vertex of another rank it tells that rank both ends. So ranks exchange messages of different
//! sizes, then they sum up how many vertices are new. The sizes are those of the search, which is
//! done while the schedule is made.
//!
//! Source: Buluc, Madduri: Parallel breadth-first search on distributed memory systems, SC 2011,
//! section 3.1 (vertices in one dimension).

use super::kind::{AllreduceAlgorithm, ApplicationEntry, ProgramResult};
use super::rmat::RmatGraph;
use crate::workload::collective::CollectiveCall;
use crate::workload::collective::exchange::{
    BlockExchangeAlgorithm, ExchangeMessage, ExchangeMessages,
};
use crate::workload::parameters::RankCountParameter;
use crate::workload::{RankProgram, RankScriptWriter, WorkloadRequest, tag};
use base::fields::whole;
use base::part::PartDescription;
use base::seed::RandomStream;
use base::{ComputationError, ProgressWatch, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most edges that are drawn.
const MOST_EDGES: u64 = 1 << 26;

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new("bfs", "breadth-first search of an R-MAT graph, level by level")
        .takes::<BfsParameters>(),
    make: made,
};

#[derive(Deserialize, JsonSchema)]
struct BfsParameters {
    ranks: RankCountParameter,
    #[serde(default)]
    scale: GraphScaleParameter,
    #[serde(default)]
    edge_factor: EdgeFactorParameter,
    #[serde(default)]
    seed: GraphSeedParameter,
    /// Bytes of an edge's ends in a message.
    #[serde(default = "whole::<16>")]
    #[schemars(range(min = 1, max = 1 << 10))]
    pair_bytes: u64,
    #[serde(default)]
    edge_ns: EdgeTimeParameter,
    #[serde(default)]
    allreduce: AllreduceAlgorithm,
}

/// Number of vertices: 2^scale.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct GraphScaleParameter(#[schemars(range(min = 1, max = 26))] u32);

impl Default for GraphScaleParameter {
    fn default() -> Self {
        Self(14)
    }
}

/// Edges drawn for each vertex.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct EdgeFactorParameter(#[schemars(range(min = 1, max = 1 << 10))] u64);

impl Default for EdgeFactorParameter {
    fn default() -> Self {
        Self(16)
    }
}

/// Seed of the graph, and of where the search begins.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct GraphSeedParameter(pub(super) u64);

/// Time to look at an edge, ns.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct EdgeTimeParameter(#[schemars(range(max = 1 << 20))] pub(super) u64);

/// The program of a breadth-first search with vertices divided among ranks.
struct BfsProgram {
    ranks: u32,
    levels: Vec<BfsLevelTraffic>,
    sum: CollectiveCall,
    edge_ns: u64,
}

/// One level of the search.
struct BfsLevelTraffic {
    exchange: CollectiveCall,
    /// The edges that each rank examines, and the edges that are reported to each rank.
    looked: Vec<u64>,
    heard: Vec<u64>,
}

fn made(request: &WorkloadRequest<'_>) -> ProgramResult {
    let with: BfsParameters = request.read()?;
    let (ranks, watch) = (with.ranks.0, request.watch);
    let graph = graph(with.scale, with.edge_factor, with.seed, watch)?;
    let first = first(&graph, with.seed.0);
    Ok(Box::new(BfsProgram {
        ranks,
        levels: levels(&graph, first, &with, watch)?,
        sum: with.allreduce.call(ranks, 8)?,
        edge_ns: with.edge_ns.0,
    }))
}

/// Draws the graph that the parameters describe.
///
/// # Errors
/// When the graph is too large, or `watch` says stop.
pub(super) fn graph(
    scale: GraphScaleParameter,
    edge_factor: EdgeFactorParameter,
    seed: GraphSeedParameter,
    watch: &dyn ProgressWatch,
) -> Result<RmatGraph, ComputationError> {
    let edges = edge_factor.0 << scale.0;
    if edges > MOST_EDGES {
        let help = format!("at most {MOST_EDGES}: edge_factor times 2^scale");
        return Err(Refusal::new("scale", format!("{edges} edges"), help).into());
    }
    RmatGraph::draw(scale.0, edge_factor.0, seed.0, watch)
}

/// The start vertex of the search, drawn among vertices with neighbours; vertex 0 if there are
/// none.
pub(super) fn first(graph: &RmatGraph, seed: u64) -> u32 {
    let all: Vec<u32> = (0..graph.vertices()).filter(|&v| !graph.of(v).is_empty()).collect();
    let mut stream = RandomStream::new(seed, "bfs", 0);
    if all.is_empty() { 0 } else { all[stream.below(all.len() as u64) as usize] }
}

/// The rank that owns a vertex; `vertices` are divided into equal parts.
pub(super) fn owner(vertex: u32, vertices: u32, ranks: u32) -> u32 {
    (u64::from(vertex) * u64::from(ranks) / u64::from(vertices)) as u32
}

fn levels(
    graph: &RmatGraph,
    first: u32,
    with: &BfsParameters,
    watch: &dyn ProgressWatch,
) -> Result<Vec<BfsLevelTraffic>, ComputationError> {
    let (ranks, pair) = (with.ranks.0, with.pair_bytes);
    let rank = |v: u32| owner(v, graph.vertices(), ranks);
    let mut seen = vec![false; graph.vertices() as usize];
    seen[first as usize] = true;
    let (mut found, mut now) = (Vec::new(), vec![first]);
    let mut counts = vec![0_u64; ranks as usize];
    while !now.is_empty() {
        let (mut looked, mut heard) = (vec![0; ranks as usize], vec![0; ranks as usize]);
        let (mut all, mut next): (Vec<ExchangeMessage>, Vec<u32>) = (Vec::new(), Vec::new());
        // in ascending order, so that the vertices of a rank are consecutive
        now.sort_unstable();
        for (i, of_rank) in now.chunk_by(|a, b| rank(*a) == rank(*b)).enumerate() {
            if i % 16 == 0 {
                watch.tick("search", found.len() as u64, 0)?;
            }
            let from = rank(of_rank[0]);
            let mut owners = Vec::new();
            for &to in of_rank.iter().flat_map(|&v| graph.of(v)) {
                looked[from as usize] += 1;
                let owner = rank(to);
                if owner != from {
                    heard[owner as usize] += 1;
                    if counts[owner as usize] == 0 {
                        owners.push(owner);
                    }
                    counts[owner as usize] += 1;
                }
                if !std::mem::replace(&mut seen[to as usize], true) {
                    next.push(to);
                }
            }
            for to in owners {
                all.push((from, to, pair * std::mem::take(&mut counts[to as usize])));
            }
        }
        let messages = Some(ExchangeMessages::new(ranks, &all, |_| 0));
        let exchange =
            CollectiveCall::of(BlockExchangeAlgorithm { messages, rounds: false }, ranks);
        found.push(BfsLevelTraffic { exchange, looked, heard });
        now = next;
    }
    Ok(found)
}

impl RankProgram for BfsProgram {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let mut ends = Vec::new();
        for (phase, level) in (0..).step_by(2).zip(&self.levels) {
            let at = rank as usize;
            ends = to.calc(level.looked[at] * self.edge_ns, &ends);
            ends = to.collective(&level.exchange, rank, &|r| r, tag(phase), &ends);
            ends = to.calc(level.heard[at] * self.edge_ns, &ends);
            ends = to.collective(&self.sum, rank, &|r| r, tag(phase + 1), &ends);
        }
    }
}
