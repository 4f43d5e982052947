//! The operations that a deadlocked schedule leaves over, and which of them wait for one another.

use base::Refusal;
use base::quick::QuickHashBuilder;
use std::collections::{HashMap, VecDeque};
use traffic::workload::{ANY, OperationKind, Schedule};

/// The operations that a run left over, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnfinishedOperations {
    /// Operations that never began, because their dependencies never ended.
    pub stuck: Vec<u32>,
    /// Sends that began and are not done, because no receive took their message.
    pub sends: Vec<u32>,
    /// Receives that began and got no message.
    pub receives: Vec<u32>,
    /// Messages that arrived and no receive took; the numbers are those of their sends.
    pub messages: Vec<u32>,
}

/// Most operations of each kind that are named in a refusal.
const NAMED: usize = 5;

impl UnfinishedOperations {
    /// Whether no operation is left over.
    pub fn is_empty(&self) -> bool {
        [&self.stuck, &self.sends, &self.receives, &self.messages].iter().all(|all| all.is_empty())
    }

    /// A refusal that describes what is left over of `schedule`.
    pub fn refusal(&self, schedule: &Schedule) -> Refusal {
        let mut parts = Vec::new();
        for (all, what) in [
            (&self.receives, "receives without a message"),
            (&self.messages, "messages without a receive"),
            (&self.sends, "sends that are not done"),
            (&self.stuck, "operations that never began"),
        ] {
            if !all.is_empty() {
                let some: Vec<String> =
                    all.iter().take(NAMED).map(|&op| schedule.described(op)).collect();
                let more = if all.len() > NAMED { "; ..." } else { "" };
                parts.push(format!("{} {what} ({}{more})", all.len(), some.join("; ")));
            }
        }
        let why = format!("it cannot come to its end: {}", parts.join(", "));
        let cycle = WaitGraph::of(self, schedule).cycle();
        Refusal::new("schedule", why + &in_words(&cycle, schedule), "")
    }
}

/// An operation, and whether it waits for the next one in a cycle as the other end of its message.
type WaitingFor = (u32, bool);

/// A description of a cycle of operations, each of which waits for the next; empty if there is no
/// cycle. Of consecutive operations of one rank that wait by dependencies, only the first and the
/// last are named.
fn in_words(cycle: &[WaitingFor], schedule: &Schedule) -> String {
    let by_message = cycle.iter().any(|wait| wait.1);
    let before = cycle.iter().cycle().skip(cycle.len().saturating_sub(1));
    let ends = cycle.iter().zip(before).filter(|(at, before)| !by_message || at.1 || before.1);
    let ops: Vec<String> = ends.map(|(at, _)| schedule.described(at.0)).collect();
    match &ops[..] {
        [] => String::new(),
        [alone] => format!("; {alone} waits for itself"),
        [first, others @ ..] => {
            let mut named = others[..others.len().min(2 * NAMED - 1)].to_vec();
            let last = if named.len() == others.len() {
                named.push("the first".to_owned());
                String::new()
            } else {
                format!(", and so on: {} in all", ops.len())
            };
            let then = named.join(", which waits for ");
            format!("; these wait for one another: {first} waits for {then}{last}")
        }
    }
}

/// The wait-for graph of the operations that are left over: each points to those that must end
/// before it can go on.
struct WaitGraph {
    /// The operations that began and are not done, and those that never began, in ascending order.
    ops: Vec<u32>,
    /// For each index in `ops`, the indices of the operations that it waits for, ascending.
    needs: Vec<Vec<usize>>,
    /// For each index in `ops`, the index of the other end of its message, if it waits for that.
    partner: Vec<Option<usize>>,
}

/// The oldest of the operations that never began, for each rank of the receiver, source and tag.
type OldestWaiting = HashMap<[u32; 3], u32, QuickHashBuilder>;

impl WaitGraph {
    /// Takes O(operations that are left over and their dependencies), and a sort.
    fn of(left: &UnfinishedOperations, schedule: &Schedule) -> Self {
        let mut ops = [&left.stuck[..], &left.sends, &left.receives].concat();
        ops.sort_unstable();
        ops.dedup();
        let place = |op: u32| ops.binary_search(&op).ok();
        let mut needs = vec![Vec::new(); ops.len()];
        for (at, &op) in ops.iter().enumerate() {
            let began = left.stuck.binary_search(&op).is_err();
            let starts = if began { &[][..] } else { schedule.require_start(op) };
            for waiting in schedule.require(op).iter().chain(starts) {
                if let Some(waiting) = place(*waiting) {
                    needs[waiting].push(at);
                }
            }
        }
        let (sends, receives) = others(left, schedule);
        let mut partner = vec![None; ops.len()];
        let began = left.sends.iter().chain(&left.receives);
        for &op in began {
            let (it, rank) = (schedule.ops()[op as usize], schedule.rank_of(op));
            let other = match it.kind {
                OperationKind::Recv => sends.get(&[rank, it.peer, it.tag]).copied(),
                OperationKind::Send => takers(it.peer, rank, it.tag)
                    .filter_map(|key| receives.get(&key).copied())
                    .min(),
                OperationKind::Calc => None,
            };
            let (Some(at), Some(other)) = (place(op), other.and_then(place)) else { continue };
            partner[at] = Some(other);
            needs[at].push(other);
        }
        for all in &mut needs {
            all.sort_unstable();
        }
        Self { ops, needs, partner }
    }

    /// A cycle of operations that wait for one another, a shortest one through one of its
    /// operations; empty if there is none.
    fn cycle(&self) -> Vec<WaitingFor> {
        let Some(on) = self.on_cycle() else { return Vec::new() };
        let mut before = vec![None; self.ops.len()];
        let mut reached = VecDeque::from([on]);
        while let Some(at) = reached.pop_front().filter(|_| before[on].is_none()) {
            for &next in &self.needs[at] {
                if before[next].is_none() {
                    before[next] = Some(at);
                    reached.push_back(next);
                }
            }
        }
        let (mut found, mut at) = (Vec::new(), on);
        while let Some(from) = before[at] {
            found.push((self.ops[from], self.partner[from] == Some(at)));
            at = from;
            if at == on {
                break;
            }
        }
        found.reverse();
        found
    }

    /// The index of some operation on a cycle; none if there is no cycle.
    fn on_cycle(&self) -> Option<usize> {
        /// Whether the search for a cycle has visited an operation.
        #[derive(Clone, Copy, PartialEq)]
        enum VisitState {
            Not,
            Open,
            Closed,
        }
        let mut seen = vec![VisitState::Not; self.ops.len()];
        for start in 0..self.ops.len() {
            if seen[start] != VisitState::Not {
                continue;
            }
            seen[start] = VisitState::Open;
            let mut path = vec![(start, 0)];
            while let Some((at, done)) = path.last_mut() {
                let Some(&next) = self.needs[*at].get(*done) else {
                    seen[*at] = VisitState::Closed;
                    path.pop();
                    continue;
                };
                *done += 1;
                match seen[next] {
                    VisitState::Open => return Some(next),
                    VisitState::Not => {
                        seen[next] = VisitState::Open;
                        path.push((next, 0));
                    }
                    VisitState::Closed => {}
                }
            }
        }
        None
    }
}

/// The sends that never began, by every source and tag that a receive of theirs may have, and the
/// receives that never began.
fn others(left: &UnfinishedOperations, schedule: &Schedule) -> (OldestWaiting, OldestWaiting) {
    let (mut sends, mut receives) = (OldestWaiting::default(), OldestWaiting::default());
    for &op in &left.stuck {
        let (it, rank) = (schedule.ops()[op as usize], schedule.rank_of(op));
        match it.kind {
            OperationKind::Send => {
                for key in takers(it.peer, rank, it.tag) {
                    sends.entry(key).or_insert(op);
                }
            }
            OperationKind::Recv => {
                receives.entry([rank, it.peer, it.tag]).or_insert(op);
            }
            OperationKind::Calc => {}
        }
    }
    (sends, receives)
}

/// The combinations of source and tag, with wildcards, that a receive at `to` may have to take a
/// message of this source and tag.
fn takers(to: u32, source: u32, tag: u32) -> impl Iterator<Item = [u32; 3]> {
    let tags = [tag, ANY];
    [source, ANY].into_iter().flat_map(move |source| tags.map(|tag| [to, source, tag]))
}
