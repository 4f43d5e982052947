//! Tests of programs with slow interpreters: if a schedule does not deadlock, neither do its
//! programs.

use super::{RankProgramStep, sequence};
use crate::workload::collective::CollectiveOperation;
use crate::workload::{
    ANY, OperationKind, Schedule, ScheduleBuilder, ScheduleOperation, UnexpandedCollective,
};
use base::QuietWatch;
use base::seed::RandomStream;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Sizes of messages; messages above a limit wait for their receivers.
const SIZES: [u64; 3] = [1, 100, 10_000];

/// A random schedule in which every message has its own tag.
fn drawn(seed: u64) -> Schedule {
    let mut stream = RandomStream::new(seed, "schedule", 0);
    let ranks = 2 + stream.below(3) as u32;
    let mut ops: Vec<Vec<ScheduleOperation>> = vec![Vec::new(); ranks as usize];
    for tag in 0..stream.below(9) as u32 {
        let (from, to) = (stream.below(ranks.into()) as u32, stream.below(ranks.into()) as u32);
        let size = SIZES[stream.below(3) as usize];
        ops[from as usize].push(ScheduleOperation::send(size, to, tag));
        ops[to as usize].push(ScheduleOperation::recv(size, from, tag));
    }
    for rank in &mut ops {
        rank.extend(
            (0..stream.below(4))
                .map(|_| ScheduleOperation::calc([0, 7, 5000][stream.below(3) as usize])),
        );
        stream.shuffle(rank);
    }
    let mut all = ScheduleBuilder::new(ranks);
    for rank in ops {
        let mut into = all.rank();
        for (number, op) in (0..).zip(rank) {
            into.add(op).expect("it fits");
            for before in 0..number {
                match stream.below(9) {
                    0 | 1 => into.require(number, before).expect("it fits"),
                    2 => into.require_start(number, before).expect("it fits"),
                    _ => {}
                }
            }
        }
    }
    all.finish().expect("all ranks")
}

/// The dependencies of each operation: on the ends of operations, and on their starts.
fn waits(of: &Schedule) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let mut ends = vec![Vec::new(); of.ops().len()];
    let mut starts = ends.clone();
    for op in 0..of.ops().len() as u32 {
        of.require(op).iter().for_each(|&after| ends[after as usize].push(op));
        of.require_start(op).iter().for_each(|&after| starts[after as usize].push(op));
    }
    (ends, starts)
}

/// The messages that have begun at their sender, and at their receiver, by tag.
#[derive(Default)]
struct StartedMessagesByTag {
    sent: BTreeSet<u32>,
    received: BTreeSet<u32>,
}

impl StartedMessagesByTag {
    fn begin(&mut self, op: &ScheduleOperation) {
        let side = if op.kind == OperationKind::Send { &mut self.sent } else { &mut self.received };
        side.insert(op.tag);
    }

    fn is_over(&self, op: &ScheduleOperation, limit: u64) -> bool {
        let met = self.sent.contains(&op.tag) && self.received.contains(&op.tag);
        met || (op.kind == OperationKind::Send && op.size <= limit && self.sent.contains(&op.tag))
    }
}

/// Whether the schedule ends without a deadlock, if messages above `limit` wait for their
/// receivers.
fn schedule_ends(of: &Schedule, limit: u64) -> bool {
    let (ends, starts) = waits(of);
    let mut met = StartedMessagesByTag::default();
    let mut begun: BTreeSet<u32> = BTreeSet::new();
    loop {
        let over = |op: &u32, met: &StartedMessagesByTag, begun: &BTreeSet<u32>| {
            let it = &of.ops()[*op as usize];
            begun.contains(op) && (it.kind == OperationKind::Calc || met.is_over(it, limit))
        };
        let before = begun.len();
        for op in 0..of.ops().len() as u32 {
            let at = op as usize;
            if ends[at].iter().all(|one| over(one, &met, &begun))
                && starts[at].iter().all(|one| begun.contains(one))
            {
                begun.insert(op);
                if of.ops()[at].kind != OperationKind::Calc {
                    met.begin(&of.ops()[at]);
                }
            }
        }
        if begun.len() == before {
            return (0..of.ops().len() as u32).all(|op| over(&op, &met, &begun));
        }
    }
}

/// Whether the programs end without a deadlock.
fn programs_end(of: &Schedule, programs: &[Vec<RankProgramStep>], limit: u64) -> bool {
    let mut met = StartedMessagesByTag::default();
    let mut at = vec![0; programs.len()];
    loop {
        let before = at.clone();
        for (at, program) in at.iter_mut().zip(programs) {
            while let Some(step) = program.get(*at) {
                match step {
                    RankProgramStep::Begin(op) => met.begin(&of.ops()[*op as usize]),
                    RankProgramStep::Wait(all) => {
                        if !all.iter().all(|op| met.is_over(&of.ops()[*op as usize], limit)) {
                            break;
                        }
                    }
                    RankProgramStep::Compute(_) | RankProgramStep::Join(_) => {}
                }
                *at += 1;
            }
        }
        if at == before {
            return at.iter().zip(programs).all(|(at, program)| *at == program.len());
        }
    }
}

/// Checks that a program respects all dependencies and performs each operation once.
fn check_order(of: &Schedule, rank: u32, program: &[RankProgramStep]) {
    let (ends, starts) = waits(of);
    let (mut begun, mut over) = (BTreeSet::new(), BTreeSet::new());
    let mut computed = Vec::new();
    for step in program {
        match step {
            RankProgramStep::Begin(op) => {
                let is_message = |op: &&u32| of.ops()[**op as usize].kind != OperationKind::Calc;
                for before in ends[*op as usize].iter().filter(is_message) {
                    assert!(over.contains(before), "{op} before the end of {before}");
                }
                for before in starts[*op as usize].iter().filter(is_message) {
                    assert!(begun.contains(before), "{op} before the start of {before}");
                }
                assert!(begun.insert(*op), "{op} twice");
            }
            RankProgramStep::Wait(all) => {
                for op in all {
                    assert!(begun.contains(op) && over.insert(*op), "{op} is waited for once");
                }
            }
            RankProgramStep::Compute(ns) => computed.push(*ns),
            RankProgramStep::Join(_) => panic!("nothing is joined"),
        }
    }
    let mut due = (BTreeSet::new(), Vec::new());
    for op in of.of_rank(rank) {
        let it = &of.ops()[op as usize];
        if it.kind != OperationKind::Calc {
            due.0.insert(op);
        } else if it.size > 0 {
            due.1.push(it.size);
        }
    }
    due.1.sort_unstable();
    computed.sort_unstable();
    assert_eq!((&begun, &over, computed), (&due.0, &due.0, due.1));
}

fn programs(of: &Schedule) -> Option<Vec<Vec<RankProgramStep>>> {
    let found = sequence(of, &[], &QuietWatch).ok()?;
    Some((0..of.ranks()).map(|rank| found.steps(rank)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn what_a_schedule_can_do_its_programs_can(seed in any::<u64>()) {
        let of = drawn(seed);
        let ends = schedule_ends(&of, u64::MAX);
        let found = programs(&of);
        prop_assert_eq!(found.is_some(), ends);
        if let Some(found) = found {
            for (rank, program) in (0..).zip(&found) {
                check_order(&of, rank, program);
            }
            for limit in [0, SIZES[0], SIZES[1], SIZES[2]] {
                let due = schedule_ends(&of, limit);
                prop_assert!(!due || programs_end(&of, &found, limit), "limit {}", limit);
            }
        }
    }
}

fn of_two(ranks: [&[ScheduleOperation]; 2]) -> Schedule {
    let mut all = ScheduleBuilder::new(2);
    for ops in ranks {
        let mut into = all.rank();
        for &op in ops {
            into.add(op).expect("it fits");
        }
    }
    all.finish().expect("both ranks")
}

/// A receive with wildcards takes the oldest message; a receive of one tag takes its own message.
#[test]
fn receives_from_anybody_are_matched() {
    let sends = [
        ScheduleOperation::send(8, 1, 3),
        ScheduleOperation::send(8, 1, 4),
        ScheduleOperation::send(8, 1, 5),
    ];
    let any = ScheduleOperation::recv(8, ANY, ANY);
    let of = of_two([
        &sends,
        &[ScheduleOperation::recv(8, 0, 4), any, ScheduleOperation::recv(8, ANY, 5)],
    ]);
    assert_eq!(
        programs(&of).expect("all have partners")[1][3],
        RankProgramStep::Wait(vec![3, 4, 5])
    );
    // the receive of any tag was posted before the one for tag 5, so it takes the message of tag 5
    let of = of_two([
        &sends,
        &[ScheduleOperation::recv(8, 0, 4), ScheduleOperation::recv(8, 0, 4), any],
    ]);
    assert!(programs(&of).is_none());
}

#[test]
fn what_never_ends_is_named() {
    let of = of_two([&[ScheduleOperation::send(8, 1, 0)], &[]]);
    let why = sequence(&of, &[], &QuietWatch).expect_err("nobody receives").to_string();
    assert!(why.contains("1 messages are never received"), "{why}");
    let of = of_two([&[], &[ScheduleOperation::calc(5), ScheduleOperation::recv(8, 0, 9)]]);
    let why = sequence(&of, &[], &QuietWatch).expect_err("nobody sends").to_string();
    assert!(why.contains("rank 1, operation 2: recv 8b from 0 tag 9 never ends"), "{why}");
}

/// Independent chains of operations are ordered by the arrival of their messages.
#[test]
fn a_rank_does_not_wait_for_a_late_message_first() {
    let mut all = ScheduleBuilder::new(2);
    {
        let mut zero = all.rank();
        let late = zero.add(ScheduleOperation::recv(8, 1, 0)).expect("it fits");
        let soon = zero.add(ScheduleOperation::recv(8, 1, 1)).expect("it fits");
        for (after, ns) in [(late, 3), (soon, 4)] {
            let calc = zero.add(ScheduleOperation::calc(ns)).expect("it fits");
            zero.require(calc, after).expect("it fits");
        }
    }
    {
        let mut one = all.rank();
        let calc = one.add(ScheduleOperation::calc(1_000_000)).expect("it fits");
        let late = one.add(ScheduleOperation::send(8, 0, 0)).expect("it fits");
        one.require(late, calc).expect("it fits");
        one.add(ScheduleOperation::send(8, 0, 1)).expect("it fits");
    }
    let of = all.finish().expect("both ranks");
    let found = &programs(&of).expect("it ends")[0];
    let due = [
        RankProgramStep::Begin(0),
        RankProgramStep::Begin(1),
        RankProgramStep::Wait(vec![1]),
        RankProgramStep::Compute(4),
        RankProgramStep::Wait(vec![0]),
        RankProgramStep::Compute(3),
    ];
    assert_eq!(found, &due);
}

/// Rank 0 answers a message, and both ranks meet; with `late`, rank 1 meets only after the answer.
fn answered(late: bool) -> (Schedule, Vec<UnexpandedCollective>) {
    let mut all = ScheduleBuilder::new(2);
    {
        let mut zero = all.rank();
        let asked = zero.add(ScheduleOperation::recv(8, 1, 0)).expect("it fits");
        let answer = zero.add(ScheduleOperation::send(8, 1, 1)).expect("it fits");
        zero.require(answer, asked).expect("it fits");
        zero.add(ScheduleOperation::calc(0)).expect("it fits");
    }
    {
        let mut one = all.rank();
        one.add(ScheduleOperation::send(8, 0, 0)).expect("it fits");
        let answered = one.add(ScheduleOperation::recv(8, 0, 1)).expect("it fits");
        let meets = one.add(ScheduleOperation::calc(0)).expect("it fits");
        if late {
            one.require(meets, answered).expect("it fits");
        }
    }
    let joined = |op| UnexpandedCollective {
        op,
        operation: CollectiveOperation::Barrier,
        root: 0,
        bytes: 0,
        meeting: 0,
    };
    (all.finish().expect("both ranks"), vec![joined(2), joined(5)])
}

#[test]
fn ranks_meet_when_nothing_else_is_left() {
    let (of, joined) = answered(false);
    let found = sequence(&of, &joined, &QuietWatch).expect("it ends");
    let zero = [
        RankProgramStep::Begin(0),
        RankProgramStep::Join(joined[0]),
        RankProgramStep::Wait(vec![0]),
        RankProgramStep::Begin(1),
        RankProgramStep::Wait(vec![1]),
    ];
    assert_eq!(found.steps(0), zero);
    let one = [
        RankProgramStep::Begin(3),
        RankProgramStep::Begin(4),
        RankProgramStep::Join(joined[1]),
        RankProgramStep::Wait(vec![3, 4]),
    ];
    assert_eq!(found.steps(1), one);
    // a process that waits in a collective operation does not answer
    let (of, joined) = answered(true);
    let why = sequence(&of, &joined, &QuietWatch).expect_err("rank 0 waits for rank 1").to_string();
    assert!(why.contains("never ends"), "{why}");
    sequence(&of, &[], &QuietWatch).expect("without the meeting it ends");
}

#[test]
fn what_comes_after_what_it_does_not_need_is_seen() {
    type Case<'a> = (&'a [ScheduleOperation], &'a [(u32, u32)], bool);
    let (send, recv, calc) = (
        ScheduleOperation::send(8, 1, 0),
        ScheduleOperation::recv(8, 1, 1),
        ScheduleOperation::calc(500),
    );
    // operations of rank 0, dependencies (later, earlier), and whether the program is narrower
    let cases: [Case<'_>; 9] = [
        (&[send, recv], &[], false),
        (&[send, recv, calc], &[(2, 0), (2, 1)], false),
        (&[send, recv, calc], &[(2, 1)], false),
        // a message that does not depend on the calculation before it, and one that does
        (&[recv, calc, send], &[(2, 0)], true),
        (&[recv, calc, send], &[(1, 0), (2, 1)], false),
        (&[calc, calc], &[], true),
        (&[calc, calc], &[(1, 0)], false),
        (&[calc, calc.on(1)], &[(1, 0)], true),
        // two separate waits: each send answers its own message
        (
            &[recv, ScheduleOperation::recv(8, 1, 2), send, ScheduleOperation::send(8, 1, 3)],
            &[(2, 0), (3, 1)],
            true,
        ),
    ];
    for (at, (ops, edges, is_lost)) in cases.into_iter().enumerate() {
        let mut all = ScheduleBuilder::new(2);
        let mut rank = all.rank();
        for op in ops {
            rank.add(*op).expect("it fits");
        }
        for &(after, before) in edges {
            rank.require(after, before).expect("it fits");
        }
        drop(rank);
        let mut rank = all.rank();
        for op in ops.iter().filter(|op| op.kind != OperationKind::Calc) {
            let back = if op.kind == OperationKind::Send {
                ScheduleOperation::recv
            } else {
                ScheduleOperation::send
            };
            rank.add(back(op.size, 0, op.tag)).expect("it fits");
        }
        drop(rank);
        let schedule = all.finish().expect("all ranks");
        let found = sequence(&schedule, &[], &QuietWatch).expect("it comes to its end");
        assert_eq!(found.is_narrower(0), is_lost, "case {at}");
        assert!(!found.is_narrower(1), "case {at}");
    }
}
