//! Neighbour exchanges: on a torus, with random neighbours, or by a matrix.

use super::alltoallv::{ByteMatrix, SizeSeedParameter};
use super::exchange::{BlockExchangeAlgorithm, ExchangeMessage, ExchangeMessages, coloured};
use super::kind::AlgorithmResult;
use super::size::CollectiveSizeParameters;
use crate::workload::WorkloadRequest;
use crate::workload::parameters::RankGridParameter;
use base::fields::whole;
use base::seed::RandomStream;
use base::{ComputationError, ProgressWatch, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parameters of these exchanges.
#[derive(Deserialize, JsonSchema)]
pub(super) struct NeighbourExchangeParameters {
    /// Who sends to whom.
    #[serde(default)]
    graph: NeighbourGraphKind,
    /// Sides of the torus.
    #[serde(default)]
    grid: RankGridParameter,
    /// How many sides the torus has.
    #[serde(default = "whole::<3>")]
    #[schemars(range(min = 1, max = 8))]
    dimensions: u64,
    /// To how many each rank sends, at random.
    #[serde(default = "whole::<4>")]
    #[schemars(range(min = 1, max = 4096))]
    degree: u64,
    #[serde(default)]
    seed: SizeSeedParameter,
    #[serde(default)]
    matrix: Option<ByteMatrix>,
}

/// Who sends to whom.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "NeighbourGraph")]
enum NeighbourGraphKind {
    /// To the next and the one before in every dimension of a torus.
    #[default]
    Torus,
    /// To as many at random as each hears from.
    Random,
    /// As a matrix says.
    Matrix,
}

/// An exchange along the requested graph: all messages at once, or in rounds by edge colouring.
pub(super) fn made(request: &WorkloadRequest<'_>, rounds: bool) -> AlgorithmResult {
    let (CollectiveSizeParameters { ranks, bytes }, with): (
        CollectiveSizeParameters,
        NeighbourExchangeParameters,
    ) = (request.read()?, request.read()?);
    let (ranks, watch) = (ranks.0, request.watch);
    let given = with.matrix.as_ref().map(|matrix| matrix.messages(ranks)).transpose()?;
    let refuse_matrix = |graph: &str| {
        let why = format!("it is given, but graph is {graph}");
        Err(Refusal::new("matrix", why, "graph=matrix"))
    };
    let all = match (with.graph, given) {
        (NeighbourGraphKind::Matrix, Some(all)) => all,
        (NeighbourGraphKind::Matrix, None) => {
            let help = "the matrix, or graph=torus, graph=random";
            return Err(Refusal::new("matrix", "it is not given", help).into());
        }
        (NeighbourGraphKind::Torus, Some(_)) => refuse_matrix("torus")?,
        (NeighbourGraphKind::Random, Some(_)) => refuse_matrix("random")?,
        (NeighbourGraphKind::Torus, None) => {
            torus(&with.grid.sides(with.dimensions as usize, ranks)?, bytes)
        }
        (NeighbourGraphKind::Random, None) => random(&with, ranks, bytes, watch)?,
    };
    let colours = if rounds { coloured(ranks, &all, watch)? } else { Vec::new() };
    let messages = ExchangeMessages::new(ranks, &all, |i| colours.get(i).copied().unwrap_or(0));
    Ok(Box::new(BlockExchangeAlgorithm { messages: Some(messages), rounds }))
}

/// Messages from every rank to the next and the previous one in every dimension; the first
/// dimension varies slowest.
fn torus(sides: &[u32], bytes: u64) -> Vec<ExchangeMessage> {
    let ranks: u32 = sides.iter().product();
    let mut all = Vec::new();
    for rank in 0..ranks {
        let mut near = Vec::new();
        let mut stride = ranks;
        for &side in sides {
            stride /= side;
            let at = rank / stride % side;
            for step in [1, side - 1] {
                let to = rank - at * stride + (at + step) % side * stride;
                if to != rank && !near.contains(&to) {
                    near.push(to);
                }
            }
        }
        all.extend(near.into_iter().map(|to| (rank, to, bytes)));
    }
    all
}

/// Number of swaps for each message, which is enough to remove the order of the initial graph.
const MIXED: u64 = 10;

/// A random graph in which every rank sends to `degree` others and receives from as many. It is
/// made from a circulant graph by swapping the receivers of two messages at a time.
fn random(
    with: &NeighbourExchangeParameters,
    ranks: u32,
    bytes: u64,
    watch: &dyn ProgressWatch,
) -> Result<Vec<ExchangeMessage>, ComputationError> {
    let degree = with.degree;
    if degree >= u64::from(ranks) {
        let help = if ranks > 1 { format!("1 to {}", ranks - 1) } else { "more ranks".to_owned() };
        return Err(Refusal::new("degree", format!("{degree} of {ranks} ranks"), help).into());
    }
    let degree = degree as usize;
    let row = |rank: u32| (1..=degree as u32).map(move |i| (rank + i) % ranks);
    let mut to: Vec<u32> = (0..ranks).flat_map(row).collect();
    let edges = to.len() as u64;
    let mut stream = RandomStream::new(with.seed.0, "neighbour", 0);
    for i in 0..MIXED * edges {
        if i % (1 << 16) == 0 {
            watch.tick("drawing", i, MIXED * edges)?;
        }
        let [one, other] = [0; 2].map(|_: u8| stream.below(edges) as usize);
        let fits = |from: usize, end: u32| {
            let from = from / degree;
            from as u32 != end && !to[from * degree..(from + 1) * degree].contains(&end)
        };
        if fits(one, to[other]) && fits(other, to[one]) {
            to.swap(one, other);
        }
    }
    let from = (0..ranks).flat_map(|rank| std::iter::repeat_n(rank, degree));
    Ok(from.zip(to).map(|(from, to)| (from, to, bytes)).collect())
}
