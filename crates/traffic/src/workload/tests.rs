//! Tests of schedules against lists kept by hand.

use super::*;
use base::QuietWatch;
use proptest::prelude::*;
use serde_json::json;

/// For each rank, its number of operations and its dependencies `(after, before, start)`, in order.
type RankEdges = Vec<(u32, Vec<(u32, u32, bool)>)>;

fn said() -> impl Strategy<Value = RankEdges> {
    let rank = (1_u32..9).prop_flat_map(|ops| {
        let edge = (0..ops, 0..ops, any::<bool>());
        (Just(ops), proptest::collection::vec(edge, 0..14))
    });
    proptest::collection::vec(rank, 1..5)
}

fn built(said: &RankEdges) -> Schedule {
    let mut all = ScheduleBuilder::new(said.len() as u32);
    for (ops, edges) in said {
        let mut rank = all.rank();
        for i in 0..*ops {
            rank.add(ScheduleOperation::calc(i.into())).expect("room");
        }
        for &(after, before, start) in edges {
            let added =
                if start { rank.require_start(after, before) } else { rank.require(after, before) };
            added.expect("room");
        }
    }
    all.finish().expect("all ranks")
}

/// Whether `from` reaches itself by the dependencies of a rank, by slow matrix squaring.
fn has_cycle(ops: u32, edges: &[(u32, u32, bool)]) -> bool {
    let n = ops as usize;
    let mut reach = vec![vec![false; n]; n];
    for &(after, before, _) in edges {
        reach[before as usize][after as usize] = true;
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                reach[i][j] |= reach[i][k] && reach[k][j];
            }
        }
    }
    (0..n).any(|i| reach[i][i])
}

proptest! {
    #[test]
    fn lists_are_those_that_were_said(said in said()) {
        let schedule = built(&said);
        let mut first = 0;
        for (rank, (ops, edges)) in (0..).zip(&said) {
            prop_assert_eq!(schedule.of_rank(rank), first..first + ops);
            for op in 0..*ops {
                let of = |start| -> Vec<u32> {
                    let mine = edges.iter().filter(|e| e.1 == op && e.2 == start);
                    mine.map(|e| first + e.0).collect()
                };
                prop_assert_eq!(schedule.require(first + op), of(false));
                prop_assert_eq!(schedule.require_start(first + op), of(true));
                let count = edges.iter().filter(|e| e.0 == op).count() as u32;
                prop_assert_eq!(schedule.counts()[(first + op) as usize], count);
                prop_assert_eq!(schedule.rank_of(first + op), rank);
            }
            first += ops;
        }
    }

    /// In a merged schedule the operations of each job depend on one another as in the job alone,
    /// on ends and on starts.
    #[test]
    fn merged_schedules_wait_as_each_alone(one in said(), other in said()) {
        let both = merge(&[&built(&one), &built(&other)], &QuietWatch).expect("both");
        let wanted = built(&one.into_iter().chain(other).collect());
        prop_assert_eq!(both.ops(), wanted.ops());
        for op in 0..wanted.ops().len() as u32 {
            prop_assert_eq!(both.require(op), wanted.require(op));
            prop_assert_eq!(both.require_start(op), wanted.require_start(op));
        }
    }

    #[test]
    fn cycles_are_found(said in said()) {
        let schedule = built(&said);
        let expected = said.iter().any(|(ops, edges)| has_cycle(*ops, edges));
        let found = schedule.cycle();
        prop_assert_eq!(found.is_some(), expected);
        if let Some(cycle) = found {
            for (i, &op) in cycle.iter().enumerate() {
                let next = cycle[(i + 1) % cycle.len()];
                let waits = schedule.require(op).contains(&next);
                prop_assert!(waits || schedule.require_start(op).contains(&next));
            }
        }
    }
}

#[test]
fn ranks_that_there_are_not_are_refused() {
    let mut all = ScheduleBuilder::new(2);
    let mut rank = all.rank();
    assert_eq!(rank.add(ScheduleOperation::send(8, 1, 0)), Ok(0));
    assert!(
        rank.add(ScheduleOperation::send(8, 2, 0)).expect_err("2 ranks").help.contains("0 to 1")
    );
    assert!(rank.add(ScheduleOperation::send(8, ANY, 0)).is_err());
    assert_eq!(rank.add(ScheduleOperation::recv(8, ANY, ANY).on(3)), Ok(1));
    drop(rank);
    assert!(all.finish().expect_err("1 rank is missing").why.contains("1 ranks"));
}

#[test]
fn collective_operations_are_named_by_their_algorithms() {
    let given = json!({ "ranks": 4, "nx": 8, "ny": 8, "nz": 8, "iterations": 1 });
    let of =
        make("conjugate_gradient", given.as_object().expect("a table"), &QuietWatch).expect("made");
    for rank in 0..4 {
        let all: Vec<_> = of.collectives_of(rank).collect();
        assert!(!all.is_empty());
        for steps in all {
            assert_eq!(steps.name, "allreduce_recursive_doubling");
            let ops = &of.ops()[steps.first as usize..steps.end as usize];
            // two rounds of four ranks, with 8 bytes in each direction
            let sends = ops.iter().filter(|op| op.kind == OperationKind::Send);
            assert_eq!(sends.map(|op| op.size).collect::<Vec<_>>(), [8, 8]);
        }
    }
    let counted: usize = (0..4).map(|rank| of.collectives_of(rank).count()).sum();
    assert_eq!(of.collectives().count(), counted);
}
