//! Tests of schedules written as text and binary and read back, and of inputs that are no schedule.

use crate::trace::{goal as text, goal_binary as binary};
use base::QuietWatch;
use proptest::prelude::*;
use traffic::workload::{ANY, OperationKind, Schedule, ScheduleBuilder, ScheduleOperation};

fn op(ranks: u32) -> impl Strategy<Value = ScheduleOperation> {
    let any_or = |n: u32| prop_oneof![4 => 0..n, 1 => Just(ANY)];
    let parts = (0_u8..3, 0..ranks, any_or(ranks), any_or(9), 0_u8..4, 0..1_u64 << 57, 0_u8..3);
    parts.prop_map(|(kind, to, from, tag, cpu, size, nic)| match kind {
        0 => ScheduleOperation { nic, tag, ..ScheduleOperation::send(size, to, 0).on(cpu) },
        1 => ScheduleOperation { nic, ..ScheduleOperation::recv(size, from, tag).on(cpu) },
        _ => ScheduleOperation::calc(size).on(cpu),
    })
}

prop_compose! {
    fn schedule()(ranks in 1_u32..5)(
        ranks in proptest::collection::vec(
            (
                proptest::collection::vec(op(ranks), 0..8),
                proptest::collection::vec((any::<u32>(), any::<u32>(), any::<bool>()), 0..10),
            ),
            ranks as usize,
        )
    ) -> Schedule {
        let mut all = ScheduleBuilder::new(ranks.len() as u32);
        for (ops, edges) in ranks {
            let mut rank = all.rank();
            for op in &ops {
                rank.add(*op).expect("room");
            }
            for (a, b, start) in edges.into_iter().filter(|_| !ops.is_empty()) {
                let (a, b) = (a % ops.len() as u32, b % ops.len() as u32);
                let added = if start { rank.require_start(a, b) } else { rank.require(a, b) };
                added.expect("room");
            }
        }
        all.finish().expect("all ranks")
    }
}

proptest! {
    #[test]
    fn schedules_come_back(schedule in schedule()) {
        let said = text::text(&schedule);
        prop_assert_eq!(&text::parse(&said, &QuietWatch).expect("text"), &schedule);
        let bytes = binary::write(&schedule);
        prop_assert_eq!(&binary::parse(&bytes, &QuietWatch).expect("binary"), &schedule);
        // bytes: 8 + 6, and 16 + 8 for each rank; 4 for a root, 39 for an operation, 4 for a
        // dependency
        let roots = schedule.counts().iter().filter(|n| **n == 0).count();
        let size = 14 + 24 * schedule.ranks() as usize
            + 4 * (roots + schedule.dependencies()) + 39 * schedule.ops().len();
        prop_assert_eq!(bytes.len(), size);
    }

    #[test]
    fn bytes_are_read_or_refused(
        schedule in schedule(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = binary::write(&schedule);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = binary::parse(&bytes, &QuietWatch);
    }

    #[test]
    fn texts_are_read_or_refused(
        schedule in schedule(),
        changes in proptest::collection::vec(
            (any::<prop::sample::Index>(), ".|[0-9a-z \n{}:]"), 1..4),
    ) {
        let mut said: Vec<char> = text::text(&schedule).chars().collect();
        for (at, with) in changes {
            let at = at.index(said.len());
            said.splice(at..=at, with.chars());
        }
        let said: String = said.into_iter().collect();
        let _ = text::parse(&said, &QuietWatch);
    }
}

fn rank(lines: &str) -> String {
    format!("num_ranks 2\nrank 0 {{\n{lines}\n}}\nrank 1 {{\n}}\n")
}

#[test]
fn what_may_be_left_out_is_zero() {
    let said = "/* two\n ranks */ \r\nnum_ranks 2 // and no more\r\n\n\
                rank 0 { // the first\n  a_1: send 12b to 1\n\
                recv 8 b from -1 tag -1 cpu 2 nic 1 /* any */\nb: calc 7 cpu 1\n\
                a_1: calc 9\nb requires a_1\nb irequires a_1\n}\nrank 1 {}\n// end";
    let schedule = text::parse(said, &QuietWatch).expect("a schedule");
    let marked = text::parse(&format!("\u{feff}{said}"), &QuietWatch);
    assert_eq!(marked.expect("the mark of an editor says nothing"), schedule);
    let recv = ScheduleOperation { nic: 1, ..ScheduleOperation::recv(8, ANY, ANY).on(2) };
    let ops = [
        ScheduleOperation::send(12, 1, 0),
        recv,
        ScheduleOperation::calc(7).on(1),
        ScheduleOperation::calc(9),
    ];
    assert_eq!(schedule.ops(), ops);
    // the second a_1 names nothing
    assert_eq!((schedule.require(0), schedule.require_start(0)), (&[2][..], &[2][..]));
    assert_eq!((schedule.cpus(), schedule.nics(), schedule.ranks()), (3, 2, 2));
    assert_eq!(schedule.ops()[1].kind, OperationKind::Recv);
}

#[test]
fn what_is_no_schedule_is_refused_with_its_line() {
    for (said, place, why) in [
        (String::new(), "line 1", "num_ranks"),
        ("<!DOCTYPE html>".to_owned(), "line 1", "this is HTML or XML, and no schedule"),
        ("{\"traceEvents\": []}".to_owned(), "line 1", "this is JSON, and no schedule"),
        ("[sim.flit]".to_owned(), "line 1", "this is TOML or JSON, and no schedule"),
        ("num_ranks x".to_owned(), "line 1", "'x'"),
        ("num_ranks 99999999999".to_owned(), "line 1", "too large"),
        ("num_ranks 2\nrank 0 {\n}".to_owned(), "line 3", "before rank 1"),
        ("num_ranks 1\nrank 1 {\n}".to_owned(), "line 2", "rank 1"),
        ("num_ranks 1\nrank 0 {\n}\nrank 1 {\n}".to_owned(), "line 4", "after the last rank"),
        ("num_ranks 1\nrank 0 {\ncalc 1".to_owned(), "line 3", "ends within a rank"),
        ("num_ranks 1\n/* no end".to_owned(), "line 2", "does not end"),
        (rank("calk 1"), "line 3", "'calk' is no operation"),
        (rank("calc -1"), "line 3", "'-1'"),
        (rank("\nsend 1b to 2"), "line 4", "no rank 2"),
        (rank("send 1b to -1"), "line 3", "'-1'"),
        (rank("send 1 to 1"), "line 3", "where b should be"),
        (rank("recv 1b to 1"), "line 3", "where from should be"),
        (rank("send 1b to 1 cpu 1 tag 2"), "line 3", "'tag' after the operation"),
        (rank("send 1b to 1 cpu 256"), "line 3", "too large"),
        (rank("calc 99999999999999999999"), "line 3", "too large"),
        (rank("a: calc 1\na requires b"), "line 4", "there is no 'b'"),
        (rank("a: calc 1 b: calc 2"), "line 3", "after the operation"),
    ] {
        let base::ComputationError::Refused(refused) =
            text::parse(&said, &QuietWatch).expect_err(&said)
        else {
            panic!("{said}: nobody stopped it");
        };
        assert!(refused.param == place && refused.why.contains(why), "{said}: {refused}");
    }
}

#[test]
fn bytes_that_are_none_are_refused() {
    let mut schedule = ScheduleBuilder::new(1);
    let mut first = schedule.rank();
    first.add(ScheduleOperation::calc(1)).expect("room");
    first.add(ScheduleOperation::calc(2)).expect("room");
    first.require(1, 0).expect("room");
    drop(first);
    let good = binary::write(&schedule.finish().expect("one rank"));
    assert!(binary::is_binary(&good) && !binary::is_binary(b"num_ranks 1"));
    // operation 0 is at 14 + 16 + 8 + 4, its type 4 behind, operation 1 another 39
    for (at, value, why) in [
        (0, 0, "begins with"),
        (0, 0x26, "counted down"),
        (8, 0xff, "ranks in"),
        (22, 0xff, "rank 0 is from"),
        (46, 9, "of type 9"),
        (42, 1, "number of dependencies"),
        (38, 1, "its roots"),
        // the head's largest cpu, and a calculation's peer, tag and nic
        (12, 1, "largest cpu is 1"),
        (47, 1, "peer 1, tag 0"),
        (59, 7, "tag 7"),
        (64, 1, "nic 1"),
        // the first of the lists, of 1 entry: 2 and 257 in the same bytes
        (65, 2, "2 dependencies in 4 bytes"),
        (66, 1, "257 dependencies in 4 bytes"),
    ] {
        let mut bad = good.clone();
        bad[at] = value;
        if why == "counted down" {
            bad[..8].copy_from_slice(&2342_u64.to_le_bytes());
        }
        let refused = binary::parse(&bad, &QuietWatch).expect_err(why).to_string();
        assert!(refused.contains(why), "{why}: {refused}");
    }
    for end in 0..good.len() {
        assert!(binary::parse(&good[..end], &QuietWatch).is_err(), "{end}");
    }
}

/// A schedule of one rank in binary of which each operation but the last has a list of `entries`,
/// all of them the same bytes.
fn overlapping(ops: u32, entries: u32) -> Vec<u8> {
    let mut rank = ops.to_le_bytes().to_vec();
    rank.extend((ops - 1).to_le_bytes());
    (0..ops - 1).for_each(|root| rank.extend(root.to_le_bytes()));
    for op in 0..ops {
        let is_last = op == ops - 1;
        let count = if is_last { (ops - 1).wrapping_mul(entries) } else { 0 };
        rank.extend(count.to_le_bytes());
        rank.push(3);
        rank.extend([0; 18]);
        rank.extend(if is_last { 0 } else { entries }.to_le_bytes());
        rank.extend([0; 12]);
    }
    (0..entries).for_each(|_| rank.extend((ops - 1).to_le_bytes()));
    placed(&[(22, 22 + rank.len() as u64)], &rank)
}

/// A binary file: a head with the first and last byte of each rank, then the bytes `ranks`.
fn placed(places: &[(u64, u64)], ranks: &[u8]) -> Vec<u8> {
    let mut bytes = 4223_u64.to_le_bytes().to_vec();
    bytes.extend((places.len() as u32).to_le_bytes());
    bytes.extend([0, 0]);
    for (start, end) in places {
        bytes.extend(start.to_le_bytes());
        bytes.extend(end.to_le_bytes());
    }
    bytes.extend(ranks);
    bytes
}

#[test]
fn bytes_that_are_read_twice_are_refused() {
    // one entry for one operation is a list of its own
    assert_eq!(binary::parse(&overlapping(2, 1), &QuietWatch).expect("one list").dependencies(), 1);
    for (ops, entries) in [(3, 1), (20_000, 20_000)] {
        let refused = binary::parse(&overlapping(ops, entries), &QuietWatch).expect_err("shared");
        let due = u64::from(ops - 1) * u64::from(entries);
        let why = format!("{due} dependencies in {} bytes", 4 * entries);
        assert!(refused.to_string().contains(&why), "{refused}");
    }
    // an empty rank has 8 bytes: two of them in 8 are one too many
    let (apart, same) = ([(38, 46), (46, 54)], [(38, 46), (38, 46)]);
    assert_eq!(
        binary::parse(&placed(&apart, &[0; 16]), &QuietWatch).expect("two ranks").ranks(),
        2
    );
    let refused = binary::parse(&placed(&same, &[0; 8]), &QuietWatch).expect_err("shared");
    assert!(refused.to_string().contains("rank 1 and those before it share bytes"), "{refused}");
}

/// A watch that stops at its first call in the midst of the named stage.
struct StageStoppingWatch(&'static str);

impl base::ProgressWatch for StageStoppingWatch {
    fn tick(&self, what: &str, done: u64, _total: u64) -> Result<(), base::Interrupted> {
        if what == self.0 && done > 0 { Err(base::Interrupted) } else { Ok(()) }
    }
}

#[test]
fn the_user_can_stop_it_within_a_rank() {
    let mut schedule = ScheduleBuilder::new(1);
    let mut rank = schedule.rank();
    (0..10_000).for_each(|ns| _ = rank.add(ScheduleOperation::calc(ns)).expect("room"));
    drop(rank);
    let bytes = binary::write(&schedule.finish().expect("one rank"));
    for stage in ["operations", "dependencies"] {
        assert_eq!(
            binary::parse(&bytes, &StageStoppingWatch(stage)),
            Err(base::Interrupted.into())
        );
    }
}

#[test]
fn messages_add_up_to_less_than_2_to_the_63() {
    let all = (1_u64 << 63) - 1;
    for (more, fits) in [(0, true), (1, false), (u64::MAX, false)] {
        let said = rank(&format!("send {all}b to 1\nsend {more}b to 1\ncalc {all}\ncalc {all}"));
        let read = text::parse(&said, &QuietWatch);
        assert_eq!(read.is_ok(), fits, "{more}: {read:?}");
    }
}

/// First and last operation of each named collective operation, and its name.
fn named(schedule: &Schedule) -> Vec<(u32, u32, String)> {
    let all = schedule.collectives();
    all.map(|steps| (steps.first, steps.end - 1, steps.name.to_owned())).collect()
}

#[test]
fn names_of_collective_operations_are_comments() {
    let said = "num_ranks 2\nrank 0 {\n// collective sum\nl1: send 8b to 1\n\
                l2: recv 8b from 1\n  // end of collective\nl3: calc 5 // collective 7 of them\n\
                // collective spread\n// collective sum\nl4: calc 1\n// end of collective\n}\n\
                rank 1 {\n// collective sum\nl1: recv 8b from 0\nl2: send 8b to 0\n}\n";
    let read = text::parse(said, &QuietWatch).expect("text");
    let expected = [(0, 1, "sum".to_owned()), (3, 3, "sum".to_owned())];
    assert_eq!(named(&read), expected, "a comment with more words, and one without end, is none");
    let again = text::parse(&text::text(&read), &QuietWatch).expect("text");
    assert_eq!((named(&again), &again), (named(&read), &read));
    let binary = binary::parse(&binary::write(&read), &QuietWatch).expect("binary");
    assert_eq!((named(&binary).len(), &binary), (0, &read), "the binary form has no names");
}
