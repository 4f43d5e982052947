//! Proposals of swaps that may help: a process, and another one that is on or near the site of one
//! of its partners.

use crate::arrangement::ProcessArrangement;
use crate::near::NearSiteLists;
use crate::problem::MappingProblem;
use base::seed::FastRandomStream;

/// The generator of swap proposals.
pub struct SwapProposalGenerator<'a> {
    /// The mapping problem.
    pub problem: &'a MappingProblem<'a>,
    /// The sites around each site.
    pub near: &'a NearSiteLists,
    /// Processes that may move and have partners.
    movers: Vec<u32>,
}

impl<'a> SwapProposalGenerator<'a> {
    /// Proposals for a problem.
    pub fn new(problem: &'a MappingProblem<'a>, near: &'a NearSiteLists) -> Self {
        let moves = |p: &u32| !problem.is_pinned(*p) && !problem.row(*p).is_empty();
        let movers = (0..problem.processes as u32).filter(moves).collect();
        Self { problem, near, movers }
    }

    /// The processes that may move and have partners.
    pub fn movers(&self) -> &[u32] {
        &self.movers
    }

    /// Whether no process may move.
    pub fn is_empty(&self) -> bool {
        self.movers.is_empty()
    }

    /// A random process that may move.
    #[inline]
    pub fn mover(&self, draw: &mut FastRandomStream) -> u32 {
        self.movers[draw.below(self.movers.len() as u32) as usize]
    }

    /// A process that `u` might swap with: one on or near the site of one of its partners.
    #[inline]
    pub fn other(
        &self,
        at: &ProcessArrangement,
        u: u32,
        draw: &mut FastRandomStream,
    ) -> Option<u32> {
        let row = self.problem.row(u);
        let bits = draw.next_u64();
        let pick = |bits: u64, count: usize| (((bits & 0xffff) * count as u64) >> 16) as usize;
        let x = if row.len() < 1 << 16 {
            row[pick(bits, row.len())].0
        } else {
            row[draw.below(row.len() as u32) as usize].0
        };
        let mut site = at.site(x);
        let around = self.near.of(site);
        let stays = self.problem.slots.of_site(site).len() > 1 && bits >> 62 == 0;
        if !stays && !around.is_empty() {
            site = around[pick(bits >> 16, around.len())];
        }
        let slots = self.problem.slots.of_site(site);
        let v = at.process(slots[pick(bits >> 32, slots.len())]);
        (v != u && site != at.site(u) && !self.problem.is_pinned(v)).then_some(v)
    }
}
