//! Records of programs whose schedules are known by hand.

use super::*;
use base::QuietWatch;
use serde_json::json;
use traffic::workload::{OperationKind, ScheduleOperation};

fn read(
    files: &[Vec<u8>],
    given: &serde_json::Value,
) -> Result<(Schedule, RecordingRemarks), ComputationError> {
    let names: Vec<NamedFile<'_>> =
        (0..).zip(files).map(|(i, file)| (format!("run-{i}.calls"), file.as_slice())).collect();
    schedule_with(&names, given.as_object().expect("a table"), &QuietWatch)
}

/// Operations of a rank: kind, size, peer.
fn of(schedule: &Schedule, rank: u32) -> Vec<(OperationKind, u64, u32)> {
    let it = |op: u32| schedule.ops()[op as usize];
    schedule
        .of_rank(rank)
        .map(it)
        .map(|ScheduleOperation { kind, size, peer, .. }| (kind, size, peer))
        .collect()
}

#[test]
fn calls_become_messages_and_computing() {
    let (found, remarks) =
        read(&[file(0, &FIRST), file(1, &SECOND)], &json!({})).expect("it is whole");
    // 600 ns between two calls; an event that describes a communicator is a call of its own here
    let calc = |n: u64| (OperationKind::Calc, 600 * n, 0);
    assert_eq!(
        of(&found, 0),
        [
            calc(2),
            (OperationKind::Send, 100, 1),
            calc(1),
            (OperationKind::Send, 8, 1),
            (OperationKind::Recv, 8, 1),
            calc(1)
        ]
    );
    assert_eq!(
        of(&found, 1),
        [
            calc(2),
            (OperationKind::Recv, 100, 0),
            calc(1),
            calc(1),
            (OperationKind::Send, 8, 0),
            (OperationKind::Recv, 8, 0),
            calc(1)
        ]
    );
    assert_eq!((remarks.cut.len(), remarks.sends, remarks.receives), (0, 0, 0));
    assert_eq!(remarks.measured_ns, 4600);
}

#[test]
fn a_record_that_ends_early_keeps_what_is_whole() {
    let second = file(1, &SECOND[..4]);
    let (found, remarks) = read(&[file(0, &FIRST), second], &json!({})).expect("it is kept");
    assert_eq!((remarks.cut, remarks.collectives), (vec![1], 1));
    assert_eq!(found.messages(), 1);
    let (found, remarks) =
        read(&[file(0, &FIRST), file(1, &SECOND[..3])], &json!({})).expect("it is kept");
    assert_eq!((remarks.sends, remarks.receives, found.messages()), (1, 1, 0));
}

#[test]
fn ranks_that_call_something_else_are_refused_with_both_places() {
    let mut other = SECOND;
    other[4] = (7, 0, &[1, 0, 3, u64::MAX, 16]);
    let stop = read(&[file(0, &FIRST), file(1, &other)], &json!({})).expect_err("8 and 16 bytes");
    let ComputationError::Refused(refused) = stop else { panic!("{stop:?}") };
    let said = refused.to_string();
    for words in ["run-1.calls: byte 224", "16 bytes", "run-0.calls: byte 176", "8 bytes"] {
        assert!(said.contains(words), "{said}");
    }
}

/// The events of a rank that begins with a runtime of libflyloom of both ranks.
fn with_library(events: &[EventWords]) -> Vec<EventWords> {
    let begin: [EventWords; 2] = [(1, 0, &[]), (4, 2, &[0, 2, 0, 0, 1])];
    let end: [EventWords; 1] = [(2, 0, &[])];
    [&begin[..], events, &end].concat()
}

/// Rank 0 puts 64 bytes with tag 7 and 32 without a notification, then 16 with tag 7; rank 1 waits
/// for both notifications by one request, and sends rank 0 a packet.
#[test]
fn a_wait_for_a_notification_is_one_for_all_that_came_before_it() {
    let puts = with_library(&[
        (16, 0, &[0, 3, 1, 7, 5, 64, 0]),
        (16, 0, &[0, 3, 1, 9, 5, 32, 0]),
        (16, 0, &[0, 3, 1, 7, 5, 16, 0]),
        (16, 0, &[0, 2, 1, 8, 5, 1, 0]),
    ]);
    let waits = with_library(&[
        (16, 0, &[0, 7, 0, 7, 5, 1, 0]),
        (16, 0, &[0, 7, 0, 7, 5, 1, 0]),
        (16, 0, &[0, 8, u64::MAX, 0, 0, 1, 0]),
        (16, 0, &[0, 1, 0, 8, 5, 1, 0]),
    ]);
    let files = [file(0, &puts), file(1, &waits)];
    let (found, remarks) = read(&files, &json!({ "scale_compute": 0 })).expect("it is whole");
    let put = |bytes| (OperationKind::Send, bytes, 1);
    assert_eq!(of(&found, 0), [put(64), put(32), put(16), (OperationKind::Recv, 1, 1)]);
    let came = |bytes| (OperationKind::Recv, bytes, 0);
    assert_eq!(of(&found, 1), [came(64), came(32), came(16), (OperationKind::Send, 1, 0)]);
    let ops: Vec<u32> = found.of_rank(1).collect();
    for arrival in &ops[..3] {
        assert_eq!(found.require(*arrival), &ops[3..], "the packet comes behind what it waits for");
    }
    assert_eq!((remarks.puts, remarks.transfers, remarks.sends, remarks.receives), (3, 0, 0, 0));
}

#[test]
fn files_that_are_none_are_refused() {
    let whole = [file(0, &FIRST), file(1, &SECOND)];
    for (files, why) in [
        (vec![whole[1].clone(), whole[0].clone()], "rank 1 of 2"),
        (vec![b"FLCALLS2".to_vec(), whole[1].clone()], "does not begin"),
        (vec![whole[0].clone()], "rank 0 of 2"),
        (vec![file(0, &[(99, 0, &[])]), whole[1].clone()], "kind 99"),
        (vec![file(0, &[(16, 0, &[0, 15, 1, 0, 0, 0, 0])]), whole[1].clone()], "no event 15"),
        (vec![file(0, &[(5, 0, &[0, 0])]), whole[1].clone()], "too few"),
        (vec![file(0, &[(5, 0, &[0, 0, 1, 1, 1])]), whole[1].clone()], "no communicator 0"),
    ] {
        let stop = read(&files, &json!({})).expect_err(why);
        assert!(format!("{stop:?}").contains(why), "{stop:?}: {why}");
    }
    assert!(read(&whole, &json!({ "allreduce": "none" })).is_err());
}
