//! Allocators by their definition: all requests in a map, searched from end to end.

use std::collections::{BTreeMap, BTreeSet};

/// The kind of allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllocatorKind {
    /// `separable_input_first`.
    Separable,
    /// `islip(n)`.
    Islip(u32),
}

/// A request of an input for an output, with its purpose and its rank at both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AllocatorRequest {
    pub(crate) label: usize,
    pub(crate) at_input: i64,
    pub(crate) at_output: i64,
}

/// An allocator with its round-robin pointers.
#[derive(Debug)]
pub(crate) struct Allocator {
    kind: AllocatorKind,
    inputs: usize,
    outputs: usize,
    requests: BTreeMap<(usize, usize), AllocatorRequest>,
    input_turn: Vec<usize>,
    output_turn: Vec<usize>,
    given: BTreeMap<usize, usize>,
}

impl Allocator {
    pub(crate) fn new(kind: AllocatorKind, inputs: usize, outputs: usize) -> Self {
        let (input_turn, output_turn) = (vec![0; inputs], vec![0; outputs]);
        let (requests, given) = (BTreeMap::new(), BTreeMap::new());
        Self { kind, inputs, outputs, requests, input_turn, output_turn, given }
    }

    pub(crate) fn clear(&mut self) {
        self.requests.clear();
        self.given.clear();
    }

    pub(crate) fn read(&self, from: usize, to: usize) -> Option<AllocatorRequest> {
        self.requests.get(&(from, to)).copied()
    }

    /// Adds a request, which replaces one of the same input and output.
    pub(crate) fn set(&mut self, from: usize, to: usize, request: AllocatorRequest) {
        self.requests.insert((from, to), request);
    }

    /// The output that an input was granted.
    pub(crate) fn output_of(&self, input: usize) -> Option<usize> {
        self.given.get(&input).copied()
    }

    pub(crate) fn allocate(&mut self) {
        match self.kind {
            AllocatorKind::Separable => self.separable(),
            AllocatorKind::Islip(rounds) => (0..rounds).for_each(|round| self.round(round == 0)),
        }
    }

    /// The distance from `turn` to `number` in round-robin order, among `of` numbers.
    fn far(number: usize, turn: usize, of: usize) -> usize {
        (number + of - turn) % of
    }

    fn separable(&mut self) {
        let mut chosen = Vec::new();
        for input in 0..self.inputs {
            let own = self.requests.range((input, 0)..(input + 1, 0));
            let key = |to: usize, r: &AllocatorRequest| {
                (-r.at_input, Self::far(to, self.input_turn[input], self.outputs))
            };
            chosen.extend(own.min_by_key(|&(&(_, to), r)| key(to, r)).map(|(pair, r)| (*pair, *r)));
        }
        for output in 0..self.outputs {
            let own = chosen.iter().filter(|((_, to), _)| *to == output);
            let key = |from: usize, r: &AllocatorRequest| {
                (-r.at_output, Self::far(from, self.output_turn[output], self.inputs))
            };
            if let Some(&((from, to), _)) = own.min_by_key(|((from, _), r)| key(*from, r)) {
                self.give(from, to, true);
            }
        }
    }

    /// Every output that is left makes an offer to an input that is left, and every input accepts
    /// one.
    fn round(&mut self, first: bool) {
        let taken: BTreeSet<usize> = self.given.values().copied().collect();
        let mut offers: Vec<(usize, usize)> = Vec::new();
        for output in (0..self.outputs).filter(|output| !taken.contains(output)) {
            let asks = |input: &usize| {
                self.requests.contains_key(&(*input, output)) && !self.given.contains_key(input)
            };
            let key = |input: &usize| Self::far(*input, self.output_turn[output], self.inputs);
            offers.extend((0..self.inputs).filter(asks).min_by_key(key).map(|i| (i, output)));
        }
        for input in 0..self.inputs {
            let own = offers.iter().filter(|(i, _)| *i == input).map(|(_, output)| *output);
            let key = |output: &usize| Self::far(*output, self.input_turn[input], self.outputs);
            if let Some(output) = own.min_by_key(key) {
                self.give(input, output, first);
            }
        }
    }

    fn give(&mut self, input: usize, output: usize, turns: bool) {
        self.given.insert(input, output);
        if turns {
            self.input_turn[input] = (output + 1) % self.outputs;
            self.output_turn[output] = (input + 1) % self.inputs;
        }
    }
}
