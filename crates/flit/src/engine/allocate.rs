//! Allocators: of all requests, some that share neither input nor output.

use crate::router::Allocator;

/// Nobody.
const NONE: u32 = u32::MAX;

/// A request of an input for an output; there is one of a pair at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct AllocationRequest {
    /// The input.
    pub(super) from: u32,
    /// The output.
    pub(super) to: u32,
    /// Rank among requests of the same input.
    pub(super) rank: i64,
    /// Rank among requests for the same output.
    pub(super) urgency: i64,
    /// The input lane that asks.
    pub(super) lane: u32,
}

/// The state of an allocator; the next in turn is kept by input and output.
#[derive(Debug, Default)]
pub(super) struct AllocatorState {
    /// By input and by output: the best request so far, by its place in the list.
    best_in: Vec<u32>,
    best_out: Vec<u32>,
    /// Whether an input, an output has been given.
    done_in: Vec<bool>,
    done_out: Vec<bool>,
    given: Vec<u32>,
}

/// How far `number` is behind the turn: what is before it comes last.
fn behind(number: u32, turn: u16) -> u16 {
    (number as u16).wrapping_sub(turn)
}

impl AllocatorState {
    pub(super) fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            best_in: vec![NONE; inputs],
            best_out: vec![NONE; outputs],
            done_in: vec![false; inputs],
            done_out: vec![false; outputs],
            given: Vec::new(),
        }
    }

    /// Places of the requests that are given; `turns` of inputs and outputs move on.
    pub(super) fn allocate(
        &mut self,
        by: Allocator,
        rounds: u8,
        asked: &[AllocationRequest],
        turns: (&mut [u16], &mut [u16]),
    ) -> &[u32] {
        self.given.clear();
        match by {
            Allocator::SeparableInputFirst => self.separable(asked, turns),
            Allocator::Islip => self.islip(asked, rounds, turns),
        }
        for r in asked {
            (self.best_in[r.from as usize], self.best_out[r.to as usize]) = (NONE, NONE);
            (self.done_in[r.from as usize], self.done_out[r.to as usize]) = (false, false);
        }
        &self.given
    }

    fn separable(&mut self, asked: &[AllocationRequest], (ins, outs): (&mut [u16], &mut [u16])) {
        let by_input = |r: &AllocationRequest| (-r.rank, behind(r.to, ins[r.from as usize]));
        for (k, r) in (0..).zip(asked) {
            let best = &mut self.best_in[r.from as usize];
            if *best == NONE || by_input(r) < by_input(&asked[*best as usize]) {
                *best = k;
            }
        }
        let by_output = |r: &AllocationRequest| (-r.urgency, behind(r.from, outs[r.to as usize]));
        for (k, r) in (0..).zip(asked) {
            let best = &mut self.best_out[r.to as usize];
            let is_better = *best == NONE || by_output(r) < by_output(&asked[*best as usize]);
            if self.best_in[r.from as usize] == k && is_better {
                *best = k;
            }
        }
        for (k, r) in (0..).zip(asked) {
            if self.best_out[r.to as usize] == k {
                self.given.push(k);
                ins[r.from as usize] = r.to as u16 + 1;
                outs[r.to as usize] = r.from as u16 + 1;
            }
        }
    }

    fn islip(
        &mut self,
        asked: &[AllocationRequest],
        rounds: u8,
        (ins, outs): (&mut [u16], &mut [u16]),
    ) {
        for round in 0..rounds {
            for r in asked {
                (self.best_in[r.from as usize], self.best_out[r.to as usize]) = (NONE, NONE);
            }
            let offer = |r: &AllocationRequest| behind(r.from, outs[r.to as usize]);
            for (k, r) in (0..).zip(asked) {
                let taken = self.done_in[r.from as usize] || self.done_out[r.to as usize];
                let best = &mut self.best_out[r.to as usize];
                if !taken && (*best == NONE || offer(r) < offer(&asked[*best as usize])) {
                    *best = k;
                }
            }
            let accept = |r: &AllocationRequest| behind(r.to, ins[r.from as usize]);
            for (k, r) in (0..).zip(asked) {
                let best = &mut self.best_in[r.from as usize];
                let is_better = *best == NONE || accept(r) < accept(&asked[*best as usize]);
                if self.best_out[r.to as usize] == k && is_better {
                    *best = k;
                }
            }
            let before = self.given.len();
            for (k, r) in (0..).zip(asked) {
                if self.best_in[r.from as usize] == k {
                    self.given.push(k);
                    self.done_in[r.from as usize] = true;
                    self.done_out[r.to as usize] = true;
                    if round == 0 {
                        ins[r.from as usize] = r.to as u16 + 1;
                        outs[r.to as usize] = r.from as u16 + 1;
                    }
                }
            }
            if self.given.len() == before {
                break;
            }
        }
    }
}
