//! The state of a router that is not a plain one: what its options and delays need.

use super::allocate::{AllocationRequest, AllocatorState};
use super::batch::PipelineStageBatchTimes;
use crate::router::RouterDesign;
use paths::guide::OutputRequest;
use std::collections::VecDeque;

/// No lane and no input.
pub(super) const NONE: u32 = u32::MAX;

/// The state that a full router has in addition to that of a plain one.
#[derive(Debug, Default)]
pub(super) struct AdditionalRouterState {
    /// By input lane: the cycle in which its packet is routed or, after that, its output lane takes
    /// effect.
    pub(super) ready: Vec<u32>,
    /// By input lane: all outputs that its packet requests, if it may request several.
    pub(super) wants: Vec<Vec<OutputRequest>>,
    /// Input lanes whose output lane has been granted but has not taken effect yet.
    pub(super) pending: Vec<u64>,
    /// Input lanes that keep their connection through the crossbar.
    pub(super) holding: Vec<u64>,
    /// By crossbar input the lane that holds it, and by crossbar output the input that holds it.
    pub(super) held_in: Vec<u32>,
    pub(super) held_out: Vec<u32>,
    /// By crossbar input and by crossbar output: where its round-robin turn starts.
    pub(super) in_turn: Vec<u16>,
    pub(super) out_turn: Vec<u16>,
    /// By crossbar input: where the round-robin turn among its lanes starts.
    pub(super) lane_turn: Vec<u8>,
    /// By output: lanes whose tail flit has left but whose credits have not all returned, a bit
    /// each.
    pub(super) tail_sent: Vec<u32>,
    /// By output: flits behind the crossbar. For each, the step after which it counts there, and
    /// the cycle in which it may leave.
    pub(super) behind: Vec<VecDeque<(u64, u32)>>,
    /// The batches of routing and of the crossbar, if these stages are not pipelined.
    pub(super) routed: PipelineStageBatchTimes,
    pub(super) crossing: PipelineStageBatchTimes,
    /// By input: the step of the last credit message, which carries all credits of that step.
    pub(super) credit_step: Vec<u64>,
    /// The requests of a step; the vector is kept to reuse its memory.
    pub(super) asked: Vec<AllocationRequest>,
    pub(super) desk: AllocatorState,
}

impl AdditionalRouterState {
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
            routed: PipelineStageBatchTimes::default(),
            crossing: PipelineStageBatchTimes::default(),
            credit_step: vec![u64::MAX; ports],
            asked: Vec::new(),
            desk: AllocatorState::new(lanes.max(inputs), lanes.max(outputs)),
        }
    }

    /// Input lanes of a word that have a flit and an output lane but do not request the crossbar,
    /// because the output lane has no effect yet or they hold their connection.
    pub(super) fn with_lane(&self, word: usize) -> u64 {
        let of = |masks: &[u64]| masks.get(word).copied().unwrap_or(0);
        of(&self.pending) | of(&self.holding)
    }

    /// All outputs that the packet of an input lane requests; none if it can request only one.
    pub(super) fn wants_of(&self, i: usize) -> Option<Vec<OutputRequest>> {
        self.wants.get(i).cloned()
    }
}
