//! The state of a router that is not of the usual kind: what its options and delays need.

use super::allocate::{AllocationRequest, AllocatorState};
use super::batch::StageBatch;
use crate::router::RouterDesign;
use paths::guide::OutputRequest;
use std::collections::VecDeque;

/// Nobody, nothing.
pub(super) const NONE: u32 = u32::MAX;

/// The state that a router of any kind has besides that of a usual one.
#[derive(Debug, Default)]
pub(super) struct RouterExtras {
    /// By input lane: the cycle in which its packet is routed, or its output lane counts.
    pub(super) ready: Vec<u32>,
    /// By input lane: all that its packet wants, where it may want several outputs.
    pub(super) wants: Vec<Vec<OutputRequest>>,
    /// Input lanes whose output lane does not count yet.
    pub(super) pending: Vec<u64>,
    /// Input lanes that keep their connection through the crossbar.
    pub(super) holding: Vec<u64>,
    /// By crossbar input and output: the lane, or input, that keeps it.
    pub(super) held_in: Vec<u32>,
    pub(super) held_out: Vec<u32>,
    /// By crossbar input and output: where turns begin.
    pub(super) in_turn: Vec<u16>,
    pub(super) out_turn: Vec<u16>,
    /// By crossbar input: where the turn among its lanes begins.
    pub(super) lane_turn: Vec<u8>,
    /// By output: lanes whose tail has left and whose credits are not all back, a bit each.
    pub(super) tail_sent: Vec<u32>,
    /// By output: flits behind the crossbar: the step after which each counts, the cycle it leaves.
    pub(super) behind: Vec<VecDeque<(u64, u32)>>,
    /// What is routed, and what goes through the crossbar, where these stages are no pipelines.
    pub(super) routed: StageBatch,
    pub(super) crossing: StageBatch,
    /// By input: the step of the last credit message, which takes all that fell free in it.
    pub(super) credit_step: Vec<u64>,
    /// The requests of a step, kept for their memory.
    pub(super) asked: Vec<AllocationRequest>,
    pub(super) desk: AllocatorState,
}

impl RouterExtras {
    pub(super) fn new(
        router: &RouterDesign,
        lanes: usize,
        ports: usize,
        has_choices: bool,
    ) -> Self {
        let inputs = ports * usize::from(router.input_speedup);
        let outputs = ports * usize::from(router.output_speedup);
        Self {
            ready: vec![0; lanes],
            wants: vec![Vec::new(); if has_choices { lanes } else { 0 }],
            pending: vec![0; lanes.div_ceil(64)],
            holding: vec![0; lanes.div_ceil(64)],
            held_in: vec![NONE; inputs],
            held_out: vec![NONE; outputs],
            in_turn: vec![0; inputs],
            out_turn: vec![0; outputs],
            lane_turn: vec![0; inputs],
            tail_sent: vec![0; ports],
            behind: vec![VecDeque::new(); ports],
            routed: StageBatch::default(),
            crossing: StageBatch::default(),
            credit_step: vec![u64::MAX; ports],
            asked: Vec::new(),
            desk: AllocatorState::new(lanes.max(inputs), lanes.max(outputs)),
        }
    }

    /// Input lanes of a word, with a flit, that have an output lane and do not ask for the
    /// crossbar: it does not count yet, or they keep their connection.
    pub(super) fn with_lane(&self, word: usize) -> u64 {
        let of = |masks: &[u64]| masks.get(word).copied().unwrap_or(0);
        of(&self.pending) | of(&self.holding)
    }

    /// All that the packet of an input lane wants, where it may want several outputs.
    pub(super) fn wants_of(&self, i: usize) -> Option<Vec<OutputRequest>> {
        self.wants.get(i).cloned()
    }
}
