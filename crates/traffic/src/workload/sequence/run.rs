//! The nominal run of a schedule, which determines the order of each rank's operations.

use super::matching::MessageMatcher;
use crate::workload::{ANY, OperationKind, Schedule, UnexpandedCollective};
use base::{ComputationError, ProgressWatch, Refusal};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// The nominal time of a message: this latency in ns, plus a nanosecond for each of this number of
/// bytes.
const MESSAGE_NS: u64 = 1000;
const BYTES_A_NS: u64 = 10;

/// Ended operations between two checks for an interrupt by the user.
const STRIDE: u64 = 1 << 16;

/// The state of a rank in the run.
#[derive(Debug, Default)]
struct NominalRankState {
    /// The operations that may begin: messages, calculations, and collective operations by their
    /// number.
    messages: BinaryHeap<Reverse<u32>>,
    calculations: BinaryHeap<Reverse<u32>>,
    meetings: BinaryHeap<Reverse<(u32, u32)>>,
    /// Whether the rank computes, or waits for others in a collective operation.
    busy: bool,
    /// The number of operations that it has begun.
    begun: u32,
}

/// The nominal run of a schedule, in which every operation begins in its turn.
struct NominalScheduleRun<'a> {
    of: &'a Schedule,
    joined: HashMap<u32, UnexpandedCollective>,
    ranks: Vec<NominalRankState>,
    /// For each operation, the number of dependencies that it still waits for.
    left: Vec<u32>,
    ended: Vec<bool>,
    order: Vec<u32>,
    matching: MessageMatcher,
    /// The sends that have not ended and that no receive has taken: size, serial number, operation.
    open: BTreeSet<(u64, u64, u32)>,
    /// For each of these sends, its serial number.
    numbers: HashMap<u32, u64>,
    /// For each collective operation, the operations of the ranks that have come to it.
    came: HashMap<u32, Vec<u32>>,
    /// The pending ends of operations, by time.
    events: BinaryHeap<Reverse<(u64, u64, u32)>>,
    next: u64,
    now: u64,
}

/// Determines the order in which each rank begins its operations.
pub(super) fn order(
    of: &Schedule,
    joined: &[UnexpandedCollective],
    watch: &dyn ProgressWatch,
) -> Result<Vec<u32>, ComputationError> {
    let mut run = NominalScheduleRun {
        of,
        joined: joined.iter().map(|one| (one.op, *one)).collect(),
        ranks: (0..of.ranks()).map(|_| NominalRankState::default()).collect(),
        left: of.counts(),
        ended: vec![false; of.ops().len()],
        order: vec![0; of.ops().len()],
        matching: MessageMatcher::default(),
        open: BTreeSet::new(),
        numbers: HashMap::new(),
        came: HashMap::new(),
        events: BinaryHeap::new(),
        next: 0,
        now: 0,
    };
    for rank in 0..of.ranks() {
        for op in of.of_rank(rank) {
            let it = &of.ops()[op as usize];
            if it.kind == OperationKind::Recv && (it.peer == ANY || it.tag == ANY) {
                run.matching.takes_any(rank);
            }
            if run.left[op as usize] == 0 {
                run.ready(rank, op);
            }
        }
    }
    for rank in 0..of.ranks() {
        run.go_on(rank);
    }
    let mut ends = 0_u64;
    loop {
        while let Some(Reverse((now, _, op))) = run.events.pop() {
            if ends.is_multiple_of(STRIDE) {
                watch.tick("operations in order", ends, of.ops().len() as u64)?;
            }
            ends += 1;
            run.now = now;
            run.end(op);
        }
        if !run.let_go() {
            break;
        }
    }
    run.check()?;
    Ok(run.order)
}

impl NominalScheduleRun<'_> {
    /// Handles an operation that may begin.
    fn ready(&mut self, rank: u32, op: u32) {
        let to = &mut self.ranks[rank as usize];
        if let Some(joined) = self.joined.get(&op) {
            to.meetings.push(Reverse((joined.meeting, op)));
        } else if self.of.ops()[op as usize].kind == OperationKind::Calc {
            to.calculations.push(Reverse(op));
        } else {
            to.messages.push(Reverse(op));
        }
    }

    /// Decrements the number of dependencies of waiting operations.
    fn less(&mut self, rank: u32, waiting: &[u32]) {
        for &op in waiting {
            self.left[op as usize] -= 1;
            if self.left[op as usize] == 0 {
                self.ready(rank, op);
            }
        }
    }

    /// Appends an operation to those that the rank has begun.
    fn begin(&mut self, rank: u32, op: u32) {
        let it = &mut self.ranks[rank as usize];
        self.order[(self.of.of_rank(rank).start + it.begun) as usize] = op;
        it.begun += 1;
    }

    fn end_at(&mut self, time: u64, op: u32) {
        self.events.push(Reverse((time, self.next, op)));
        self.next += 1;
    }

    /// Begins all operations that a rank can begin.
    fn go_on(&mut self, rank: u32) {
        let of = self.of;
        while !self.ranks[rank as usize].busy {
            self.send_and_receive(rank);
            if let Some(Reverse(op)) = self.ranks[rank as usize].calculations.pop() {
                // messages that wait for its start are begun before it
                self.less(rank, of.require_start(op));
                self.send_and_receive(rank);
                self.begin(rank, op);
                let ns = of.ops()[op as usize].size;
                if ns == 0 {
                    self.ended[op as usize] = true;
                    self.less(rank, of.require(op));
                } else {
                    self.ranks[rank as usize].busy = true;
                    self.end_at(self.now.saturating_add(ns), op);
                }
            } else if let Some(Reverse((meeting, op))) = self.ranks[rank as usize].meetings.pop() {
                self.less(rank, of.require_start(op));
                self.send_and_receive(rank);
                self.begin(rank, op);
                self.ranks[rank as usize].busy = true;
                self.come(meeting, op);
            } else {
                return;
            }
        }
    }

    fn come(&mut self, meeting: u32, op: u32) {
        let came = self.came.entry(meeting).or_default();
        came.push(op);
        if came.len() == self.ranks.len() {
            for op in self.came.remove(&meeting).unwrap_or_default() {
                self.end_at(self.now.saturating_add(MESSAGE_NS), op);
            }
        }
    }

    /// Begins all messages of a rank that may begin.
    fn send_and_receive(&mut self, rank: u32) {
        let of = self.of;
        while let Some(Reverse(op)) = self.ranks[rank as usize].messages.pop() {
            self.begin(rank, op);
            let it = &of.ops()[op as usize];
            let other = if it.kind == OperationKind::Send {
                self.matching.send(op, it.peer, rank, it.tag)
            } else {
                self.matching.receive(op, rank, it.peer, it.tag)
            };
            match other {
                Some(other) => {
                    let (send, recv) =
                        if it.kind == OperationKind::Send { (op, other) } else { (other, op) };
                    self.meet(send, recv);
                }
                None if it.kind == OperationKind::Send => {
                    self.open.insert((it.size, self.next, op));
                    self.numbers.insert(op, self.next);
                    self.next += 1;
                }
                None => {}
            }
            self.less(rank, of.require_start(op));
        }
    }

    /// Handles a message that was matched with its receive.
    fn meet(&mut self, send: u32, recv: u32) {
        let size = self.of.ops()[send as usize].size;
        let over = self.now.saturating_add(MESSAGE_NS + size / BYTES_A_NS);
        if let Some(number) = self.numbers.remove(&send) {
            self.open.remove(&(size, number, send));
        }
        if !self.ended[send as usize] {
            self.end_at(over, send);
        }
        self.end_at(over, recv);
    }

    fn end(&mut self, op: u32) {
        let rank = self.of.rank_of(op);
        self.ended[op as usize] = true;
        if self.of.ops()[op as usize].kind == OperationKind::Calc {
            self.ranks[rank as usize].busy = false;
        }
        self.less(rank, self.of.require(op));
        self.go_on(rank);
    }

    /// If nothing else can happen, ends the shortest messages that wait for their receivers;
    /// returns false if there are none.
    fn let_go(&mut self) -> bool {
        let Some(&(size, ..)) = self.open.first() else { return false };
        while let Some(&(least, number, op)) = self.open.first().filter(|one| one.0 == size) {
            self.open.remove(&(least, number, op));
            self.numbers.remove(&op);
            self.ended[op as usize] = true;
            self.end_at(self.now, op);
        }
        true
    }

    /// Checks that all operations have ended and all messages were received.
    fn check(&self) -> Result<(), Refusal> {
        let help =
            "a schedule that comes to its end: `flyloom workload check` says what is missing";
        if let Some(op) = self.ended.iter().position(|ended| !ended) {
            let why = format!("{} never ends", self.of.described(op as u32));
            return Err(Refusal::new("schedule", why, help));
        }
        match self.matching.waiting() {
            0 => Ok(()),
            waiting => Err(Refusal::new(
                "schedule",
                format!("{waiting} messages are never received"),
                help,
            )),
        }
    }
}
