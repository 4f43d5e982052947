//! Who exchanges with whom, where most do not: on a torus, at random, or as a matrix says.

use super::alltoallv::{MATRIX, SEED, matrix};
use super::exchange::{Edge, Exchange, Messages, coloured};
use super::rooted::Made;
use crate::workload::keys::{Asked, Key, Takes};
use base::seed::Stream;
use base::{Refusal, Stop};

/// The parameters of these exchanges.
pub(super) const KEYS: &[Key] = &[
    Key::word("graph", "who sends to whom", &["torus", "random", "matrix"]),
    Key { name: "grid", doc: "sides of the torus", takes: Takes::Grid },
    Key::whole("dimensions", "how many sides the torus has", 3, (1, 8)),
    Key::whole("degree", "to how many each rank sends, at random", 4, (1, 4096)),
    SEED,
    MATRIX,
];

/// An exchange along the graph of the keys, everything at once or in rounds by colours.
pub(super) fn made(asked: &Asked<'_>, rounds: bool) -> Made {
    let (ranks, bytes) = (asked.ranks()?, asked.whole("bytes")?);
    let given = matrix(asked, ranks)?;
    let all = match (asked.word("graph")?, given) {
        ("matrix", Some(all)) => all,
        ("matrix", None) => {
            let help = "the matrix, or graph=torus, graph=random";
            return Err(Refusal::new("matrix", "it is not given", help).into());
        }
        (graph, Some(_)) => {
            let why = format!("it is given, but graph is {graph}");
            return Err(Refusal::new("matrix", why, "graph=matrix").into());
        }
        ("torus", None) => {
            let sides = asked.whole("dimensions")? as usize;
            torus(&asked.grid(sides, ranks)?, bytes)
        }
        _ => random(asked, ranks, bytes)?,
    };
    let colours = if rounds { coloured(ranks, &all, asked.watch)? } else { Vec::new() };
    let messages = Messages::new(ranks, &all, |i| colours.get(i).copied().unwrap_or(0));
    Ok(Box::new(Exchange { messages: Some(messages), rounds }))
}

/// Everybody to the next and the one before in every dimension, the first the slowest.
fn torus(sides: &[u32], bytes: u64) -> Vec<Edge> {
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

/// Exchanges of ends for each message, after which nothing is left of the order at the beginning.
const MIXED: u64 = 10;

/// Every rank sends to `degree` others and hears from as many: from a circulant graph by exchanges
/// of the ends of two messages.
fn random(asked: &Asked<'_>, ranks: u32, bytes: u64) -> Result<Vec<Edge>, Stop> {
    let degree = asked.whole("degree")?;
    if degree >= u64::from(ranks) {
        let help = if ranks > 1 { format!("1 to {}", ranks - 1) } else { "more ranks".to_owned() };
        return Err(Refusal::new("degree", format!("{degree} of {ranks} ranks"), help).into());
    }
    let degree = degree as usize;
    let row = |rank: u32| (1..=degree as u32).map(move |i| (rank + i) % ranks);
    let mut to: Vec<u32> = (0..ranks).flat_map(row).collect();
    let edges = to.len() as u64;
    let mut stream = Stream::new(asked.whole("seed")?, "neighbour", 0);
    for i in 0..MIXED * edges {
        if i % (1 << 16) == 0 {
            asked.watch.tick("drawing", i, MIXED * edges)?;
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
