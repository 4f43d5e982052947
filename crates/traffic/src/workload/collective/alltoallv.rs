//! All-to-alls with different sizes, which are drawn or given by a matrix.

use super::exchange::{BlockExchangeAlgorithm, ExchangeMessage, ExchangeMessages};
use super::kind::AlgorithmResult;
use super::size::CollectiveSizeParameters;
use crate::workload::WorkloadRequest;
use crate::workload::parameters::{IntegerMatrixParameter, MOST_BYTES};
use base::Refusal;
use base::seed::RandomStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What sizes are drawn from, or the sizes.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AlltoallvParameters {
    #[serde(default)]
    seed: SizeSeedParameter,
    #[serde(default)]
    matrix: Option<ByteMatrix>,
}

/// Seed of what is drawn.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct SizeSeedParameter(pub(super) u64);

/// Bytes from each rank (row) to each (column).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct ByteMatrix(IntegerMatrixParameter);

impl ByteMatrix {
    /// The messages of the matrix; the diagonal, what a rank has for itself, is left out.
    ///
    /// # Errors
    /// When the matrix lacks a row or column for a rank, or has too many bytes.
    pub(super) fn messages(&self, ranks: u32) -> Result<Vec<ExchangeMessage>, Refusal> {
        let rows = self.0.square("matrix", ranks, MOST_BYTES)?;
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        let all = pairs.zip(rows).map(|((from, to), bytes)| (from, to, bytes));
        Ok(all.filter(|&(from, to, bytes)| from != to && bytes > 0).collect())
    }
}

/// Most ranks for which the sizes of all pairs are kept.
const MOST_RANKS: u32 = 4096;

/// An exchange with the requested sizes; without a matrix they are drawn from 0 to twice `bytes`.
/// Empty messages are not sent. In round i each rank sends to the rank i further.
pub(super) fn made(request: &WorkloadRequest<'_>, rounds: bool) -> AlgorithmResult {
    let (CollectiveSizeParameters { ranks, bytes }, sizes): (
        CollectiveSizeParameters,
        AlltoallvParameters,
    ) = (request.read()?, request.read()?);
    let ranks = ranks.0;
    let all = match sizes.matrix {
        Some(matrix) => matrix.messages(ranks)?,
        None if ranks > MOST_RANKS => {
            let why = format!("{ranks} ranks have too many pairs");
            return Err(Refusal::new("ranks", why, format!("1 to {MOST_RANKS}")).into());
        }
        None => drawn(ranks, bytes, sizes.seed.0),
    };
    let round = |i: usize| (all[i].1 + ranks - all[i].0) % ranks;
    let messages = Some(ExchangeMessages::new(ranks, &all, round));
    Ok(Box::new(BlockExchangeAlgorithm { messages, rounds }))
}

fn drawn(ranks: u32, bytes: u64, seed: u64) -> Vec<ExchangeMessage> {
    let mut all = Vec::new();
    for from in 0..ranks {
        let mut stream = RandomStream::new(seed, "alltoallv", from.into());
        for to in 0..ranks {
            let size = stream.below(2 * bytes + 1);
            if size > 0 && to != from {
                all.push((from, to, size));
            }
        }
    }
    all
}
