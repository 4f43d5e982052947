//! A message to and fro between the first rank and the last.
//!
//! Source: OSU Micro-Benchmarks, `osu_latency`, mvapich.cse.ohio-state.edu/benchmarks.

use super::kind::Entry;
use crate::workload::keys::{Asked, ITERATIONS, Key, MOST_BYTES, RANKS};
use crate::workload::{Program, Script, tag};
use base::{Refusal, Stop};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "ping_pong",
    doc: "a message from the first rank to the last, and back",
    keys: &[RANKS, Key::whole("bytes", "of a message", 8, (0, MOST_BYTES)), ITERATIONS],
    make: |asked| Ok(Box::new(PingPong::new(asked)?)),
};

struct PingPong {
    ranks: u32,
    bytes: u64,
    iterations: u64,
}

impl PingPong {
    fn new(asked: &Asked<'_>) -> Result<Self, Stop> {
        let ranks = asked.ranks()?;
        if ranks < 2 {
            return Err(Refusal::new("ranks", "1", "2 or more").into());
        }
        let (bytes, iterations) = (asked.whole("bytes")?, asked.whole("iterations")?);
        Ok(Self { ranks, bytes, iterations })
    }
}

impl Program for PingPong {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn tell(&self, rank: u32, to: &mut Script<'_>) {
        let last = self.ranks - 1;
        if rank != 0 && rank != last {
            return;
        }
        let mut ends = Vec::new();
        for iteration in 0..self.iterations {
            if to.is_over() {
                return;
            }
            let message = [(last - rank, self.bytes, tag(iteration))];
            for sends in [rank == 0, rank != 0] {
                let (sent, received) =
                    if sends { (&message[..], &[][..]) } else { (&[][..], &message[..]) };
                ends = to.exchange(sent, received, &ends);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::told;
    use base::Quiet;

    #[test]
    fn two_ranks_send_and_the_others_are_idle() {
        let given = serde_json::json!({"ranks": 5, "bytes": 100, "iterations": 3});
        let given = given.as_object().expect("a table");
        let asked = Asked::new(given, ENTRY.keys.to_vec(), &Quiet).expect("it may be asked");
        let made = told(&*(ENTRY.make)(&asked).expect("it is made"), &Quiet).expect("it fits");
        let operations: Vec<usize> = (0..5).map(|rank| made.of_rank(rank).len()).collect();
        assert_eq!(operations, [6, 0, 0, 0, 6]);
    }
}
