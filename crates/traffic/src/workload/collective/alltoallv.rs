//! Who sends how much to whom, where sizes differ: drawn, or as a matrix says.

use super::exchange::{Edge, Exchange, Messages};
use super::rooted::Made;
use crate::workload::keys::{Asked, Key, MOST_BYTES, Takes};
use base::Refusal;
use base::seed::Stream;

/// Sizes of all messages.
pub(super) const MATRIX: Key =
    Key { name: "matrix", doc: "bytes from each rank (row) to each (column)", takes: Takes::Rows };
/// What is drawn.
pub(super) const SEED: Key = Key::whole("seed", "seed of what is drawn", 0, (0, u64::MAX));

/// Most ranks whose sizes are kept for all pairs.
const MOST_RANKS: u32 = 4096;

/// An exchange of sizes by the keys `matrix`, `seed` and `bytes`: from 0 to twice `bytes` where
/// there is no matrix. Empty messages are not sent. In rounds each rank sends to the one that is as
/// many further as the round's number.
pub(super) fn made(asked: &Asked<'_>, rounds: bool) -> Made {
    let (ranks, bytes) = (asked.ranks()?, asked.whole("bytes")?);
    let all = match matrix(asked, ranks)? {
        Some(all) => all,
        None if ranks > MOST_RANKS => {
            let why = format!("{ranks} ranks have too many pairs");
            return Err(Refusal::new("ranks", why, format!("1 to {MOST_RANKS}")).into());
        }
        None => drawn(ranks, bytes, asked.whole("seed")?),
    };
    let round = |i: usize| (all[i].1 + ranks - all[i].0) % ranks;
    let messages = Some(Messages::new(ranks, &all, round));
    Ok(Box::new(Exchange { messages, rounds }))
}

fn drawn(ranks: u32, bytes: u64, seed: u64) -> Vec<Edge> {
    let mut all = Vec::new();
    for from in 0..ranks {
        let mut stream = Stream::new(seed, "alltoallv", from.into());
        for to in 0..ranks {
            let size = stream.below(2 * bytes + 1);
            if size > 0 && to != from {
                all.push((from, to, size));
            }
        }
    }
    all
}

/// The messages that the key `matrix` says, if it is given; what a rank has for itself is none.
pub(super) fn matrix(asked: &Asked<'_>, ranks: u32) -> Result<Option<Vec<Edge>>, Refusal> {
    let Some(rows) = asked.rows("matrix", ranks, MOST_BYTES)? else { return Ok(None) };
    let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
    let all = pairs.zip(rows).map(|((from, to), bytes)| (from, to, bytes));
    Ok(Some(all.filter(|&(from, to, bytes)| from != to && bytes > 0).collect()))
}
