//! Following an algorithm with symbols for data.

use super::call::Call;
use super::kind::{Blocks, How, Operation, Step, Steps};
use std::collections::{BTreeMap, BTreeSet};

/// What a block holds: whose blocks were added up in it.
type Held = BTreeSet<u32>;

#[derive(Debug, Clone)]
struct Recorded {
    peer: u32,
    tag: u32,
    blocks: Vec<u64>,
    /// None for a send.
    how: Option<How>,
    after: Vec<usize>,
}

#[derive(Debug, Default)]
struct Listener(Vec<Recorded>);

impl Steps for Listener {
    fn send(&mut self, to: u32, tag: u32, blocks: Blocks<'_>) -> Step {
        let (blocks, after) = (blocks.collect(), Vec::new());
        self.0.push(Recorded { peer: to, tag, blocks, how: None, after });
        self.0.len() as Step - 1
    }

    fn recv(&mut self, from: u32, tag: u32, blocks: Blocks<'_>, how: How) -> Step {
        let (blocks, after) = (blocks.collect(), Vec::new());
        self.0.push(Recorded { peer: from, tag, blocks, how: Some(how), after });
        self.0.len() as Step - 1
    }

    fn after(&mut self, step: Step, before: Step) {
        assert!(before < step, "steps wait for earlier ones");
        self.0[step as usize].after.push(before as usize);
    }
}

/// A step: rank, number.
type At = (u32, usize);
/// Messages between two ranks with a tag.
type Pair = (u32, u32, u32);

struct Following<'a> {
    operation: Operation,
    root: u32,
    ranks: u32,
    blocks: u64,
    call: &'a Call,
    recorded: &'a [Vec<Recorded>],
    /// The send that each receive gets: rank, step.
    partner: BTreeMap<At, At>,
    sent: BTreeMap<At, BTreeMap<u64, Held>>,
}

/// Follows a call: every rank ends with what the operation says.
///
/// # Panics
/// Where one does not.
pub(super) fn follow(name: &str, call: &Call, operation: Operation, root: u32) {
    let ranks = call.ranks();
    let recorded: Vec<Vec<Recorded>> = (0..ranks)
        .map(|rank| {
            let mut listener = Listener::default();
            call.tell(rank, &mut listener);
            listener.0
        })
        .collect();
    let mut all = Following {
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

/// Which send each receive gets; of one pair and tag they must come in an order that is sure.
fn matched(recorded: &[Vec<Recorded>]) -> BTreeMap<At, At> {
    let mut sides: [BTreeMap<Pair, Vec<At>>; 2] = Default::default();
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
            let blocks = |at: &At| &recorded[at.0 as usize][at.1].blocks;
            assert_eq!(blocks(receive), blocks(send), "{key:?}: both sides name the same blocks");
            partner.insert(*receive, *send);
        }
    }
    partner
}

/// All steps that `step` waits for, itself or through others.
fn ancestors(steps: &[Recorded], step: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = steps[step].after.clone();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(&steps[next].after);
        }
    }
    found
}

impl Following<'_> {
    /// What a rank holds once these of its steps are done, ascending.
    fn memory(&mut self, rank: u32, steps: &[usize]) -> BTreeMap<u64, Held> {
        let mut held = self.initial(rank);
        for &step in steps {
            let Some(how) = self.recorded[rank as usize][step].how else { continue };
            let (sender, send) = self.partner[&(rank, step)];
            for (block, value) in self.content(sender, send) {
                if how == How::Store {
                    held.insert(block, value);
                    continue;
                }
                let into = held.entry(block).or_default();
                let barrier = self.operation == Operation::Barrier;
                assert!(barrier || into.is_disjoint(&value), "block {block} is added twice");
                into.extend(value);
            }
        }
        held
    }

    /// What a message carries.
    fn content(&mut self, rank: u32, step: usize) -> BTreeMap<u64, Held> {
        if let Some(known) = self.sent.get(&(rank, step)) {
            return known.clone();
        }
        let steps: Vec<usize> =
            ancestors(&self.recorded[rank as usize], step).into_iter().collect();
        let held = self.memory(rank, &steps);
        let blocks = &self.recorded[rank as usize][step].blocks;
        let value =
            |b: &u64| held.get(b).cloned().unwrap_or_else(|| panic!("no block {b} to send"));
        let content: BTreeMap<u64, Held> = blocks.iter().map(|b| (*b, value(b))).collect();
        self.sent.insert((rank, step), content.clone());
        content
    }

    fn initial(&self, rank: u32) -> BTreeMap<u64, Held> {
        let (n, mine) = (u64::from(self.ranks), u64::from(rank));
        let blocks: Vec<u64> = match self.operation {
            Operation::Broadcast | Operation::Scatter if rank != self.root => Vec::new(),
            Operation::Allgather | Operation::Gather => vec![mine],
            Operation::Scatter => (0..n).collect(),
            Operation::Alltoall | Operation::Alltoallv | Operation::Neighbours => {
                (0..n).map(|to| mine * n + to).collect()
            }
            _ => (0..self.blocks).collect(),
        };
        blocks.into_iter().map(|block| (block, Held::from([rank]))).collect()
    }

    /// What a rank must end with.
    fn wanted(&self, rank: u32) -> BTreeMap<u64, Held> {
        let (n, mine) = (u64::from(self.ranks), u64::from(rank));
        let sum: Held = (0..self.ranks).collect();
        let all = |held: Held| (0..self.blocks).map(|b| (b, held.clone())).collect();
        let own = || (0..n).map(|b| (b, Held::from([b as u32]))).collect();
        match self.operation {
            Operation::Barrier | Operation::Allreduce => all(sum),
            Operation::Broadcast => all(Held::from([self.root])),
            Operation::Reduce if rank == self.root => all(sum),
            Operation::Gather if rank == self.root => own(),
            Operation::Reduce | Operation::Gather => BTreeMap::new(),
            Operation::Allgather => own(),
            Operation::ReduceScatter => BTreeMap::from([(mine, sum)]),
            Operation::Alltoall => {
                (0..n).map(|from| (from * n + mine, Held::from([from as u32]))).collect()
            }
            Operation::Alltoallv | Operation::Neighbours => (0..n)
                .filter(|&from| {
                    from != mine && self.call.size(&mut [from * n + mine].into_iter()) > 0
                })
                .map(|from| (from * n + mine, Held::from([from as u32])))
                .collect(),
            Operation::Scan => all((0..=rank).collect()),
            Operation::Exscan if rank == 0 => BTreeMap::new(),
            Operation::Exscan => all((0..rank).collect()),
            Operation::Scatter => BTreeMap::from([(mine, Held::from([self.root]))]),
        }
    }
}
