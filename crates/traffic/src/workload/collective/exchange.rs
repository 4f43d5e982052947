//! Exchanges of blocks between arbitrary ranks: all at once, or in rounds in which each rank sends
//! at most one block and receives at most one.

use super::kind::{AlgorithmStepSink, CollectiveAlgorithm, ReceivedBlockEffect, StepNumber};
use super::trees::AlgorithmStepChain;
use base::{ComputationError, ProgressWatch};

/// The other end of a message, as one of its ends sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ExchangePartner {
    round: u32,
    rank: u32,
    bytes: u64,
}

/// A list of partners for each rank.
#[derive(Debug, Default)]
struct ExchangePartnerLists {
    starts: Vec<usize>,
    all: Vec<ExchangePartner>,
}

impl ExchangePartnerLists {
    /// The lists from pairs `(rank, partner)`; each list is in the order of rounds.
    fn new(ranks: u32, mut of: Vec<(u32, ExchangePartner)>) -> Self {
        of.sort_by_key(|(rank, partner)| (*rank, partner.round, partner.rank));
        let from = |rank: u32| of.partition_point(|(r, _)| *r < rank);
        let starts = (0..=ranks).map(from).collect();
        Self { starts, all: of.into_iter().map(|(_, partner)| partner).collect() }
    }

    fn of(&self, rank: u32) -> &[ExchangePartner] {
        &self.all[self.starts[rank as usize]..self.starts[rank as usize + 1]]
    }
}

/// The messages of an exchange: sender, receiver, bytes and round.
#[derive(Debug, Default)]
pub(in super::super) struct ExchangeMessages {
    sent: ExchangePartnerLists,
    received: ExchangePartnerLists,
}

/// A message: sender, receiver, bytes.
pub(in super::super) type ExchangeMessage = (u32, u32, u64);

impl ExchangeMessages {
    /// The messages of a list, each in the round that `round` gives for its index. No message may
    /// be from a rank to itself, and each pair of ranks at most once. O(messages log).
    pub(in super::super) fn new(
        ranks: u32,
        all: &[ExchangeMessage],
        round: impl Fn(usize) -> u32,
    ) -> Self {
        let side = |end: fn(&ExchangeMessage) -> (u32, u32)| {
            let of = all.iter().enumerate().map(|(i, edge)| {
                let (rank, other) = end(edge);
                (rank, ExchangePartner { round: round(i), rank: other, bytes: edge.2 })
            });
            ExchangePartnerLists::new(ranks, of.collect())
        };
        Self { sent: side(|e| (e.0, e.1)), received: side(|e| (e.1, e.0)) }
    }
}

/// An exchange in which each rank has a block for each other rank, or for those that get messages.
pub(in super::super) struct BlockExchangeAlgorithm {
    /// The messages; `None` if all ranks send to all others.
    pub(in super::super) messages: Option<ExchangeMessages>,
    /// Whether the messages are sent in rounds, rather than all at once.
    pub(in super::super) rounds: bool,
}

impl CollectiveAlgorithm for BlockExchangeAlgorithm {
    fn bytes(&self, block: u64, ranks: u32, bytes: u64) -> u64 {
        let Some(messages) = &self.messages else { return bytes };
        let (from, to) = ((block / u64::from(ranks)) as u32, (block % u64::from(ranks)) as u32);
        let found = messages.sent.of(from).iter().find(|p| p.rank == to);
        found.map_or(0, |partner| partner.bytes)
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let dense: [Vec<ExchangePartner>; 2];
        let (sent, received) = if let Some(messages) = &self.messages {
            (messages.sent.of(rank), messages.received.of(rank))
        } else {
            let side = |at: &dyn Fn(u32) -> u32| {
                (1..ranks).map(|i| ExchangePartner { round: i, rank: at(i), bytes: 0 }).collect()
            };
            dense = [side(&|i| (rank + i) % ranks), side(&|i| (rank + ranks - i) % ranks)];
            (&dense[0][..], &dense[1][..])
        };
        let block = |from: u32, to: u32| {
            std::iter::once(u64::from(from) * u64::from(ranks) + u64::from(to))
        };
        if !self.rounds {
            for p in received {
                to.recv(p.rank, 0, &mut block(p.rank, rank), ReceivedBlockEffect::Store);
            }
            for p in sent {
                to.send(p.rank, 0, &mut block(rank, p.rank));
            }
            return;
        }
        let (mut sent, mut received) = (sent.iter().peekable(), received.iter().peekable());
        let mut chain = AlgorithmStepChain::new(to);
        while let Some(round) =
            sent.peek().into_iter().chain(received.peek()).map(|p| p.round).min()
        {
            let out = sent.next_if(|p| p.round == round);
            let back = received.next_if(|p| p.round == round);
            let mut blocks =
                [block(rank, out.map_or(0, |p| p.rank)), block(back.map_or(0, |p| p.rank), rank)];
            let [leaving, coming] = &mut blocks;
            chain.exchange(
                out.map(|p| (p.rank, leaving as _)),
                back.map(|p| (p.rank, coming as _, ReceivedBlockEffect::Store)),
            );
        }
    }
}

/// No edge.
const NONE: u32 = u32::MAX;

/// The round of every message, such that in each round a rank sends at most one and receives at
/// most one. There are as many rounds as the largest number of messages that a rank sends, or
/// receives.
///
/// Messages are the edges of a bipartite graph of senders and receivers, whose edges can be
/// coloured with as many colours as the largest degree. If the first free colours of the two ends
/// differ, the two colours are exchanged along the path of these colours.
///
/// O(messages * ranks) at worst.
///
/// Source: König: Über Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre,
/// Mathematische Annalen 77 (1916).
///
/// # Errors
/// When `watch` says stop.
pub(in super::super) fn coloured(
    ranks: u32,
    all: &[ExchangeMessage],
    watch: &dyn ProgressWatch,
) -> Result<Vec<StepNumber>, ComputationError> {
    let n = ranks as usize;
    let mut degrees = vec![0_usize; 2 * n];
    for &(from, to, _) in all {
        degrees[from as usize] += 1;
        degrees[n + to as usize] += 1;
    }
    let colours = degrees.iter().copied().max().unwrap_or(0);
    // the edge of each colour, for each sender, then for each receiver
    let mut at = vec![NONE; 2 * n * colours];
    let mut found = vec![0_u32; all.len()];
    for (i, &(from, to, _)) in all.iter().enumerate() {
        if i % (1 << 12) == 0 {
            watch.tick("colouring", i as u64, all.len() as u64)?;
        }
        let ends = [from as usize, n + to as usize];
        let free = |at: &[u32], end: usize| {
            let row = &at[end * colours..(end + 1) * colours];
            row.iter().position(|&edge| edge == NONE).expect("a vertex has a colour for each edge")
        };
        let (a, b) = (free(&at, ends[0]), free(&at, ends[1]));
        // colour a is free at the sender; it is made free at the receiver along the path a, b, a,
        // ...
        let (mut vertex, mut colour) = (ends[1], a);
        let mut path = Vec::new();
        while at[vertex * colours + colour] != NONE {
            let edge = at[vertex * colours + colour];
            path.push(edge);
            let (one, other, _) = all[edge as usize];
            let sides = [one as usize, n + other as usize];
            vertex = if sides[0] == vertex { sides[1] } else { sides[0] };
            colour = a + b - colour;
        }
        for &edge in &path {
            let (one, other, _) = all[edge as usize];
            for vertex in [one as usize, n + other as usize] {
                at[vertex * colours + found[edge as usize] as usize] = NONE;
            }
        }
        for &edge in &path {
            let new = a + b - found[edge as usize] as usize;
            found[edge as usize] = new as u32;
            let (one, other, _) = all[edge as usize];
            for vertex in [one as usize, n + other as usize] {
                at[vertex * colours + new] = edge;
            }
        }
        found[i] = a as u32;
        for end in ends {
            at[end * colours + a] = i as u32;
        }
    }
    Ok(found)
}
