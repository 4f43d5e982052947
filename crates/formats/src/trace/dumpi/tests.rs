//! Files of DUMPI by hand: read, counted, damaged.

use super::ENTRY;
use super::count::counts;
use super::layout::{ArgumentValue, Arguments, LAYOUTS, ReceiveStatus};
use super::parse::parse;
use super::record::{CALLS, DumpiCallRecord, DumpiTrace, END, FOOTER, MAGIC};
use super::write::write;
use base::QuietWatch;
use serde_json::Map;

/// A file written by hand: these records with clocks, and the footer that fits them.
fn file(version: [u8; 3], records: &[(u16, Vec<u8>)], sizes: Option<&[u32]>) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(5_i32.to_be_bytes());
    out.extend(7_i32.to_be_bytes());
    let (mut made, mut total) = ([0_u32; 291], 0);
    for (id, arguments) in records {
        out.extend(id.to_be_bytes());
        out.push(0x4f);
        out.extend([0, 0]);
        for ns in [10_u32, 20, 30, 40] {
            out.extend([0, 1]);
            out.extend(ns.to_be_bytes());
        }
        out.extend(arguments);
        made[*id as usize] += 1;
        total += 1;
    }
    made[290] = total;
    out.extend(END.to_be_bytes());
    let header = out.len() as u64;
    out.extend(version);
    let footer = out.len() as u64;
    out.extend(FOOTER.to_be_bytes());
    for one in made.iter().chain(&[0; 291]) {
        out.extend(one.to_be_bytes());
    }
    let table = if sizes.is_some() { out.len() as u64 } else { 0 };
    if let Some(sizes) = sizes {
        out.extend((sizes.len() as u32).to_be_bytes());
        for size in sizes {
            out.extend(size.to_be_bytes());
        }
    }
    out.extend(MAGIC);
    for place in [table, 0, 0, header, 8, footer, 0] {
        out.extend(place.to_be_bytes());
    }
    out
}

fn words(of: &[i32]) -> Vec<u8> {
    of.iter().flat_map(|n| n.to_be_bytes()).collect()
}

/// The record of a send: count, type, receiver, tag, communicator.
fn send(count: i32, datatype: i16, dest: i32) -> Vec<u8> {
    let mut out = words(&[count]);
    out.extend(datatype.to_be_bytes());
    out.extend(words(&[dest, 9]));
    out.extend(2_i16.to_be_bytes());
    out
}

#[test]
fn messages_are_counted_with_the_sizes_of_their_types() {
    // sends of 3 MPI_DOUBLE, of 5 vectors of 2 blocks of 4 MPI_INT each, and one to MPI_PROC_NULL
    let mut vector = words(&[2, 4, 100]);
    vector.extend(9_i16.to_be_bytes());
    vector.extend(28_i16.to_be_bytes());
    let records = [(0, send(3, 14, 1)), (36, vector), (0, send(5, 28, 1)), (0, send(7, 14, -1))];
    let content = file([1, 1, 0], &records, None);
    let trace = parse(&content, &QuietWatch).expect("it is whole");
    assert_eq!(trace.version, [1, 1, 0]);
    assert_eq!(trace.records[0].wall_ns, Some((8_000_000_030, 8_000_000_040)));
    let found = counts(&trace).expect("sizes are known");
    assert_eq!((found.messages, found.bytes), (2, 3 * 8 + 5 * 2 * 4 * 4));
    assert_eq!(found.calls["Send"], 3);
}

#[test]
fn a_prepared_message_counts_when_it_is_started() {
    let mut prepared = send(3, 2, 1);
    prepared.extend(words(&[4]));
    let all = words(&[2, 2, 4, 4]);
    let content = file([1, 1, 0], &[(26, prepared), (31, words(&[4])), (32, all)], None);
    let found = counts(&parse(&content, &QuietWatch).unwrap()).unwrap();
    assert_eq!((found.messages, found.bytes), (3, 9));
}

#[test]
fn old_versions_have_no_tag_in_a_status_and_argc_twice() {
    // MPI_Init with one argument, then MPI_Wait with one status
    let mut init = words(&[1, 1, 2]);
    init.extend(b"ab");
    let mut wait = words(&[4, 1, 64, 3]);
    wait.extend([0, 0]);
    let content = file([0, 6, 1], &[(124, init.clone()), (13, wait.clone())], None);
    let trace = parse(&content, &QuietWatch).unwrap();
    assert_eq!(
        trace.records[0].arguments[1].1,
        ArgumentValue::List(vec![ArgumentValue::Text("ab".into())])
    );
    let status = ReceiveStatus { bytes: 64, source: 3, tag: None, cancelled: false, error: 0 };
    assert_eq!(trace.records[1].arguments[1].1, ArgumentValue::Statuses(vec![status]));
    // the same bytes are no trace of a later version
    let content = file([1, 1, 0], &[(124, init), (13, wait)], None);
    parse(&content, &QuietWatch).expect_err("argc stands once there");
}

#[test]
fn every_layout_is_known() {
    assert_eq!(LAYOUTS.len(), CALLS as usize);
    assert_eq!(LAYOUTS[124].name, "Init");
    assert_eq!(LAYOUTS[289].name, "MPIO_Testsome");
}

/// Every cut and every changed byte ends in a refusal or in a trace, never otherwise.
#[test]
fn damage_is_refused() {
    let mut prepared = send(3, 2, 1);
    prepared.extend(words(&[4]));
    let mut grid = 2_i16.to_be_bytes().to_vec();
    grid.extend(words(&[1, 1, 1, 1, 0, 0]));
    grid.extend(4_i16.to_be_bytes());
    let barrier = 4_i16.to_be_bytes().to_vec();
    let records = [
        (0, send(3, 14, -1)),
        (26, prepared),
        (32, words(&[2, 2, 4, 4])),
        (99, grid),
        (52, barrier),
    ];
    let whole = file([1, 1, 0], &records, Some(&[0, 0, 1, 1, 1, 1, 4]));
    for end in 0..whole.len() {
        parse(&whole[..end], &QuietWatch).expect_err("it is cut");
    }
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut hurt = whole.clone();
            hurt[at] ^= 1 << bit;
            if let Ok(trace) = parse(&hurt, &QuietWatch) {
                let _ = counts(&trace);
                written_again(&trace);
                let _ = ENTRY.read(&[("it".to_owned(), &hurt)], &Map::new(), &QuietWatch);
            }
        }
    }
}

/// What can be read can be written, but for numbers of old versions that do not fit, and is the
/// same trace then.
fn written_again(trace: &DumpiTrace) {
    let Ok(content) = write(trace, &QuietWatch) else { return };
    let mut found = parse(&content, &QuietWatch).expect("it was written");
    if trace.version < [0, 6, 3] {
        return; // its statuses have no tags
    }
    found.records.iter_mut().zip(&trace.records).for_each(|(new, old)| new.at = old.at);
    assert_eq!(&DumpiTrace { version: trace.version, ..found }, trace);
}

#[test]
fn a_call_without_layout_is_named() {
    let content = file([1, 1, 0], &[(128, Vec::new())], None);
    let why = parse(&content, &QuietWatch).expect_err("there is no layout").to_string();
    assert!(why.contains("Pcontrol"), "{why}");
}

#[test]
fn a_type_of_unknown_size_is_named() {
    let content = file([1, 1, 0], &[(0, send(3, 40, 1))], None);
    let why = counts(&parse(&content, &QuietWatch).unwrap()).expect_err("no size").to_string();
    assert!(why.contains("MPI_Send at byte 16") && why.contains("type 40"), "{why}");
}

#[test]
fn groups_have_no_more_ranks_than_the_run() {
    use super::groups::DumpiGroups;
    let of = |name: &str, arguments: Arguments| {
        let id = LAYOUTS.iter().position(|layout| layout.name == name).expect("a call") as u16;
        DumpiCallRecord { id, at: 0, wall_ns: None, arguments }
    };
    let n = |name, n: i64| (name, ArgumentValue::Number(n));
    let mut groups = DumpiGroups::new(2, 4);
    groups.learn(&of("Comm_group", vec![n("comm", 2), n("group", 7)]));
    assert_eq!(groups.ranks(7, 2), Ok(vec![0, 1, 2, 3]));
    // a communicator of 2^31 - 1 ranks, and ranges of millions: unknown, and never listed
    groups.learn(&of("Comm_size", vec![n("comm", 5), n("size", 0x7fff_ffff)]));
    groups.learn(&of("Comm_group", vec![n("comm", 5), n("group", 8)]));
    groups.ranks(8, 5).expect_err("no communicator has 2^31 - 1 ranks");
    for (ranges, ranks) in [
        (vec![[0, 3, 2]], Some(vec![0, 2])),
        (vec![[3, 2, -1], [0, 1, 1]], Some(vec![3, 2, 0, 1])),
        (vec![[0, 16_777_215, 1]], None),
        (vec![[0, 3, 1], [0, 0, 1]], None),
    ] {
        let count = ranges.len() as i64;
        let ranges =
            ranges.into_iter().map(|range| ArgumentValue::Numbers(range.to_vec())).collect();
        let ranges = ("ranges", ArgumentValue::List(ranges));
        groups.learn(&of(
            "Group_range_incl",
            vec![n("group", 7), n("count", count), ranges, n("newgroup", 9)],
        ));
        assert_eq!(groups.ranks(9, 2).ok(), ranks);
    }
}
