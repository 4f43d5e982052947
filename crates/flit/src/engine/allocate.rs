//! Allocators: they grant a subset of requests such that no two share an input or an output.

use crate::router::AllocatorKind;

/// No request.
const NONE: u32 = u32::MAX;

/// A request of an input for an output; each pair of them has at most one request.
#[derive(Debug, Clone, Copy)]
pub(super) struct AllocationRequest {
    /// The input that requests.
    pub(super) from: u32,
    /// The output that is requested.
    pub(super) to: u32,
    /// Rank among requests of the same input; the highest is served first.
    pub(super) rank: i64,
    /// Rank among requests for the same output; the highest is served first.
    pub(super) urgency: i64,
    /// The input lane for which the input requests.
    pub(super) lane: u32,
}

/// The state of an allocator. The round-robin turns of inputs and outputs are kept elsewhere.
#[derive(Debug, Default)]
pub(super) struct AllocatorState {
    /// By input and by output: the best request so far, by its index in the list of requests.
    best_in: Vec<u32>,
    best_out: Vec<u32>,
    /// By input and by output: whether it has been granted.
    done_in: Vec<bool>,
    done_out: Vec<bool>,
    given: Vec<u32>,
}

/// The distance of `number` behind the round-robin turn; numbers before the turn come last.
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

    /// The indices of the requests that are granted. Advances the round-robin `turns` of inputs and
    /// outputs.
    pub(super) fn allocate(
        &mut self,
        by: AllocatorKind,
        rounds: u8,
        asked: &[AllocationRequest],
        turns: (&mut [u16], &mut [u16]),
    ) -> &[u32] {
        self.given.clear();
        match by {
            AllocatorKind::SeparableInputFirst => self.separable(asked, turns),
            AllocatorKind::Islip => self.islip(asked, rounds, turns),
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
