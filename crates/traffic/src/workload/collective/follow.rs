//! A symbolic execution of collective algorithms, for tests.

use super::call::CollectiveCall;
use super::kind::{
    AlgorithmStepSink, BlockNumbers, CollectiveOperation, ReceivedBlockEffect, StepNumber,
};
use std::collections::{BTreeMap, BTreeSet};

/// The contents of a block: the ranks whose blocks were added up in it.
type BlockContents = BTreeSet<u32>;

/// A step of a rank, recorded.
#[derive(Debug, Clone)]
struct RecordedAlgorithmStep {
    peer: u32,
    tag: u32,
    blocks: Vec<u64>,
    /// The update by a receive; none for a send.
    how: Option<ReceivedBlockEffect>,
    after: Vec<usize>,
}

/// A recorder of the steps of one rank.
#[derive(Debug, Default)]
struct RankStepRecorder(Vec<RecordedAlgorithmStep>);

impl AlgorithmStepSink for RankStepRecorder {
    fn send(&mut self, to: u32, tag: u32, blocks: BlockNumbers<'_>) -> StepNumber {
        let (blocks, after) = (blocks.collect(), Vec::new());
        self.0.push(RecordedAlgorithmStep { peer: to, tag, blocks, how: None, after });
        self.0.len() as StepNumber - 1
    }

    fn recv(
        &mut self,
        from: u32,
        tag: u32,
        blocks: BlockNumbers<'_>,
        how: ReceivedBlockEffect,
    ) -> StepNumber {
        let (blocks, after) = (blocks.collect(), Vec::new());
        self.0.push(RecordedAlgorithmStep { peer: from, tag, blocks, how: Some(how), after });
        self.0.len() as StepNumber - 1
    }

    fn after(&mut self, step: StepNumber, before: StepNumber) {
        assert!(before < step, "steps wait for earlier ones");
        self.0[step as usize].after.push(before as usize);
    }
}

/// A step: the rank, and the number of the step.
type RankStep = (u32, usize);
/// The sender, the receiver and the tag of messages, by which they are matched.
type TaggedPair = (u32, u32, u32);

/// The tracking of all blocks through an operation.
struct CollectiveBlockTracker<'a> {
    operation: CollectiveOperation,
    root: u32,
    ranks: u32,
    blocks: u64,
    call: &'a CollectiveCall,
    recorded: &'a [Vec<RecordedAlgorithmStep>],
    /// For each receive, the send that it matches, by rank and step.
    partner: BTreeMap<RankStep, RankStep>,
    sent: BTreeMap<RankStep, BTreeMap<u64, BlockContents>>,
}

/// Executes a call symbolically, and checks that every rank ends with what the operation defines.
///
/// # Panics
/// When a rank ends with something else.
pub(super) fn follow(name: &str, call: &CollectiveCall, operation: CollectiveOperation, root: u32) {
    let ranks = call.ranks();
    let recorded: Vec<Vec<RecordedAlgorithmStep>> = (0..ranks)
        .map(|rank| {
            let mut listener = RankStepRecorder::default();
            call.tell(rank, &mut listener);
            listener.0
        })
        .collect();
    let mut all = CollectiveBlockTracker {
        operation,
        root,
        ranks,
        blocks: call.algorithm.blocks(ranks),
        call,
        recorded: &recorded,
        partner: matched(&recorded),
        sent: BTreeMap::new(),
    };
    for rank in 0..ranks {
        let steps: Vec<usize> = (0..recorded[rank as usize].len()).collect();
        let found = all.memory(rank, &steps);
        for (block, wanted) in all.wanted(rank) {
            let held = found.get(&block);
            assert_eq!(held, Some(&wanted), "{name}: rank {rank} of {ranks}, block {block}");
        }
    }
}

/// The send that each receive matches; sends of the same ranks and tag must have a definite order.
fn matched(recorded: &[Vec<RecordedAlgorithmStep>]) -> BTreeMap<RankStep, RankStep> {
    let mut sides: [BTreeMap<TaggedPair, Vec<RankStep>>; 2] = Default::default();
    for (rank, steps) in (0..).zip(recorded) {
        for (i, step) in steps.iter().enumerate() {
            assert!(step.peer < recorded.len() as u32 && step.peer != rank, "to another rank");
            let is_send = step.how.is_none();
            let pair = if is_send { (rank, step.peer) } else { (step.peer, rank) };
            let key = (pair.0, pair.1, step.tag);
            sides[usize::from(is_send)].entry(key).or_default().push((rank, i));
        }
    }
    let [receives, sends] = sides;
    assert!(receives.keys().eq(sends.keys()), "every message has a receive");
    let mut partner = BTreeMap::new();
    for (key, receives) in receives {
        let sends = &sends[&key];
        assert_eq!(receives.len(), sends.len(), "{key:?}");
        for side in [&receives, sends] {
            for pair in side.windows(2) {
                let steps = &recorded[pair[0].0 as usize];
                let (a, b) = (pair[0].1, pair[1].1);
                let ordered = ancestors(steps, b).contains(&a) || steps[a].after == steps[b].after;
                assert!(ordered, "{key:?}: messages {a} and {b} may overtake one another");
            }
        }
        for (receive, send) in receives.iter().zip(sends) {
            let blocks = |at: &RankStep| &recorded[at.0 as usize][at.1].blocks;
            assert_eq!(blocks(receive), blocks(send), "{key:?}: both sides name the same blocks");
            partner.insert(*receive, *send);
        }
    }
    partner
}

/// All steps that `step` depends on, directly or through others.
fn ancestors(steps: &[RecordedAlgorithmStep], step: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = steps[step].after.clone();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(&steps[next].after);
        }
    }
    found
}

impl CollectiveBlockTracker<'_> {
    /// The contents of a rank's blocks once these of its steps are done; steps are ascending.
    fn memory(&mut self, rank: u32, steps: &[usize]) -> BTreeMap<u64, BlockContents> {
        let mut held = self.initial(rank);
        for &step in steps {
            let Some(how) = self.recorded[rank as usize][step].how else { continue };
            let (sender, send) = self.partner[&(rank, step)];
            for (block, value) in self.content(sender, send) {
                if how == ReceivedBlockEffect::Store {
                    held.insert(block, value);
                    continue;
                }
                let into = held.entry(block).or_default();
                let barrier = self.operation == CollectiveOperation::Barrier;
                assert!(barrier || into.is_disjoint(&value), "block {block} is added twice");
                into.extend(value);
            }
        }
        held
    }

    /// The contents of the blocks in a message.
    fn content(&mut self, rank: u32, step: usize) -> BTreeMap<u64, BlockContents> {
        if let Some(known) = self.sent.get(&(rank, step)) {
            return known.clone();
        }
        let steps: Vec<usize> =
            ancestors(&self.recorded[rank as usize], step).into_iter().collect();
        let held = self.memory(rank, &steps);
        let blocks = &self.recorded[rank as usize][step].blocks;
        let value =
            |b: &u64| held.get(b).cloned().unwrap_or_else(|| panic!("no block {b} to send"));
        let content: BTreeMap<u64, BlockContents> = blocks.iter().map(|b| (*b, value(b))).collect();
        self.sent.insert((rank, step), content.clone());
        content
    }

    fn initial(&self, rank: u32) -> BTreeMap<u64, BlockContents> {
        let (n, mine) = (u64::from(self.ranks), u64::from(rank));
        let blocks: Vec<u64> = match self.operation {
            CollectiveOperation::Broadcast | CollectiveOperation::Scatter if rank != self.root => {
                Vec::new()
            }
            CollectiveOperation::Allgather | CollectiveOperation::Gather => vec![mine],
            CollectiveOperation::Scatter => (0..n).collect(),
            CollectiveOperation::Alltoall
            | CollectiveOperation::Alltoallv
            | CollectiveOperation::Neighbours => (0..n).map(|to| mine * n + to).collect(),
            _ => (0..self.blocks).collect(),
        };
        blocks.into_iter().map(|block| (block, BlockContents::from([rank]))).collect()
    }

    /// The contents that a rank must end with.
    fn wanted(&self, rank: u32) -> BTreeMap<u64, BlockContents> {
        let (n, mine) = (u64::from(self.ranks), u64::from(rank));
        let sum: BlockContents = (0..self.ranks).collect();
        let all = |held: BlockContents| (0..self.blocks).map(|b| (b, held.clone())).collect();
        let own = || (0..n).map(|b| (b, BlockContents::from([b as u32]))).collect();
        match self.operation {
            CollectiveOperation::Barrier | CollectiveOperation::Allreduce => all(sum),
            CollectiveOperation::Broadcast => all(BlockContents::from([self.root])),
            CollectiveOperation::Reduce if rank == self.root => all(sum),
            CollectiveOperation::Gather if rank == self.root => own(),
            CollectiveOperation::Reduce | CollectiveOperation::Gather => BTreeMap::new(),
            CollectiveOperation::Allgather => own(),
            CollectiveOperation::ReduceScatter => BTreeMap::from([(mine, sum)]),
            CollectiveOperation::Alltoall => {
                (0..n).map(|from| (from * n + mine, BlockContents::from([from as u32]))).collect()
            }
            CollectiveOperation::Alltoallv | CollectiveOperation::Neighbours => (0..n)
                .filter(|&from| {
                    from != mine && self.call.size(&mut [from * n + mine].into_iter()) > 0
                })
                .map(|from| (from * n + mine, BlockContents::from([from as u32])))
                .collect(),
            CollectiveOperation::Scan => all((0..=rank).collect()),
            CollectiveOperation::Exscan if rank == 0 => BTreeMap::new(),
            CollectiveOperation::Exscan => all((0..rank).collect()),
            CollectiveOperation::Scatter => {
                BTreeMap::from([(mine, BlockContents::from([self.root]))])
            }
        }
    }
}
