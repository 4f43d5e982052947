//! Written traces read back as they were, with calls of every layout.

use super::layout::{
    ArgumentType, ArgumentValue, Arguments, CallArgument, LAYOUTS, PCONTROL, ReceiveStatus,
};
use super::parse::parse;
use super::record::{CALLS, DumpiCallRecord, DumpiTrace};
use super::rewritten::rewritten;
use super::write::{meta, write};
use base::QuietWatch;
use base::seed::RandomStream;
use proptest::prelude::*;

fn bits(stream: &mut RandomStream, bits: u32) -> i64 {
    (stream.next_u64() as i64) >> (64 - bits)
}

fn number(is: ArgumentType, stream: &mut RandomStream) -> i64 {
    match is {
        ArgumentType::I8 => bits(stream, 8),
        ArgumentType::I16 => bits(stream, 16),
        ArgumentType::I64 => bits(stream, 64),
        _ => bits(stream, 32),
    }
}

fn text(stream: &mut RandomStream) -> ArgumentValue {
    let words = ["", "a", "MPI_COMM_WORLD", "two words", "Größe"];
    ArgumentValue::Text(words[stream.below(words.len() as u64) as usize].to_owned())
}

fn status(stream: &mut RandomStream) -> ReceiveStatus {
    ReceiveStatus {
        bytes: bits(stream, 32) as i32,
        source: bits(stream, 32) as i32,
        tag: Some(bits(stream, 32) as i32),
        cancelled: stream.below(2) == 1,
        error: stream.below(256) as u8,
    }
}

fn value(is: ArgumentType, lists: u8, stream: &mut RandomStream) -> ArgumentValue {
    let count = stream.below(4);
    match (is, lists) {
        (ArgumentType::Status, _) => {
            ArgumentValue::Statuses((0..count).map(|_| status(stream)).collect())
        }
        (ArgumentType::Text | ArgumentType::Texts, 0) => text(stream),
        (_, 0) => ArgumentValue::Number(number(is, stream)),
        (ArgumentType::I8 | ArgumentType::I16 | ArgumentType::I32 | ArgumentType::I64, 1) => {
            ArgumentValue::Numbers((0..count).map(|_| number(is, stream)).collect())
        }
        _ => ArgumentValue::List((0..count).map(|_| value(is, lists - 1, stream)).collect()),
    }
}

/// Arguments of a call, as its row of the table names them.
fn arguments(of: &[CallArgument], stream: &mut RandomStream) -> Arguments {
    let mut all = Arguments::new();
    let at_root = stream.below(2) == 1;
    let argc = stream.below(3);
    for argument in of {
        let value = match argument.name {
            // the root where it is to be one
            "commrank" | "oldcommrank" => ArgumentValue::Number(3),
            "root" => ArgumentValue::Number(if at_root { 3 } else { 4 }),
            "argc" => ArgumentValue::Number(argc as i64),
            _ if argument.is == ArgumentType::Texts => {
                ArgumentValue::List((0..argc).map(|_| text(stream)).collect())
            }
            _ => value(argument.is, argument.lists, stream),
        };
        if argument.is_there(&all) {
            all.push((argument.name, value));
        }
    }
    all
}

fn record(id: u16, late_s: u64, stream: &mut RandomStream) -> DumpiCallRecord {
    let clock =
        |stream: &mut RandomStream| late_s * 1_000_000_000 + stream.below(65_000_000_000_000);
    let wall_ns = (stream.below(8) > 0).then(|| (clock(stream), clock(stream)));
    DumpiCallRecord {
        id,
        at: 0,
        wall_ns,
        arguments: arguments(&LAYOUTS[id as usize].arguments, stream),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// One call of every layout, and more, in any order.
    #[test]
    fn what_is_written_reads_back(seed in any::<u64>(), late in 0_u64..3) {
        let stream = &mut RandomStream::new(seed, "calls", 0);
        let mut ids: Vec<u16> = (0..CALLS).filter(|&id| id != PCONTROL).collect();
        ids.extend((0..40).map(|_| stream.below(100) as u16));
        stream.shuffle(&mut ids);
        let late_s = late * 1_000_000_000;
        let records: Vec<DumpiCallRecord> =
            ids.iter().map(|&id| record(id, late_s, stream)).collect();
        let left_out: Vec<(u16, u32)> =
            (0..5).map(|i| (50 * i + 1, stream.below(1 << 28) as u32 + 1)).collect();
        let sizes = (0..40).map(|_| stream.below(1 << 32) as u32 | 1).collect();
        let trace = DumpiTrace { version: [1, 1, 0], records, left_out, sizes };
        let written = write(&trace, &QuietWatch).expect("it fits");
        let mut found = parse(&written, &QuietWatch).expect("its form");
        prop_assert!(found.records.is_sorted_by_key(|record| record.at));
        found.records.iter_mut().for_each(|record| record.at = 0);
        prop_assert_eq!(found, trace);
    }
}

fn one(id: u16, arguments: Arguments, wall_ns: (u64, u64)) -> DumpiTrace {
    let record = DumpiCallRecord { id, at: 0, wall_ns: Some(wall_ns), arguments };
    DumpiTrace {
        version: [1, 1, 0],
        records: vec![record],
        left_out: Vec::new(),
        sizes: Vec::new(),
    }
}

fn refusal(trace: &DumpiTrace) -> String {
    write(trace, &QuietWatch).expect_err("it cannot be written").to_string()
}

#[test]
fn what_does_not_fit_is_refused_with_its_call() {
    let barrier = |comm: i64| vec![("comm", ArgumentValue::Number(comm))];
    write(&one(52, barrier(32_767), (0, 0)), &QuietWatch).expect("16 bits");
    let why = refusal(&one(52, barrier(32_768), (0, 0)));
    assert!(why.contains("call 0, MPI_Barrier") && why.contains("comm"), "{why}");
    assert!(refusal(&one(52, Vec::new(), (0, 0))).contains("comm: it is not there"));
    let two = [barrier(2), barrier(2)].concat();
    assert!(refusal(&one(52, two, (0, 0))).contains("one too many"));
    let other = vec![("communicator", ArgumentValue::Number(2))];
    assert!(refusal(&one(52, other, (0, 0))).contains("communicator: it is no such argument"));
    let listed = vec![("comm", ArgumentValue::Numbers(vec![2]))];
    assert!(refusal(&one(52, listed, (0, 0))).contains("comm"));
    assert!(refusal(&one(128, Vec::new(), (0, 0))).contains("no known layout"));
    assert!(refusal(&one(290, Vec::new(), (0, 0))).contains("no known layout"));
    // 65,535 s are the most that 16 bits can hold
    let s = 1_000_000_000;
    write(&one(52, barrier(2), (0, 65_535 * s + s - 1)), &QuietWatch).expect("it fits");
    assert!(refusal(&one(52, barrier(2), (s - 1, 65_536 * s))).contains("65,535 s"));
    write(&one(52, barrier(2), (s, 65_536 * s)), &QuietWatch).expect("counted from second 1 on");
}

#[test]
fn the_text_beside_the_files_names_them() {
    assert_eq!(
        meta("app", 27),
        "hostname=none\nnumprocs=27\nusername=none\nstartime=0\nfileprefix=app\nversion=1\n\
         subversion=1\nsubsubversion=0\n"
    );
}

/// Before 0.6.8 the place in a grid was one number.
#[test]
fn old_versions_are_written_anew() {
    let grid = |coords: ArgumentValue| {
        let mut arguments =
            vec![("ndim", ArgumentValue::Number(1)), ("comm", ArgumentValue::Number(4))];
        arguments.extend([
            ("maxdims", ArgumentValue::Number(1)),
            ("dims", ArgumentValue::Numbers(vec![7])),
            ("periods", ArgumentValue::Numbers(vec![0])),
            ("coords", coords),
        ]);
        arguments
    };
    let id = LAYOUTS.iter().position(|layout| layout.name == "Cart_get").expect("a call") as u16;
    let mut old = write(&one(id, grid(ArgumentValue::Numbers(vec![5])), (1, 2)), &QuietWatch)
        .expect("it fits");
    let new = old.clone();
    // the count of one number goes, so that what lies behind the body comes 4 bytes earlier
    let at = old.windows(8).rposition(|eight| eight == [0, 0, 0, 1, 0, 0, 0, 5]).expect("there");
    old.drain(at..at + 4);
    let index = old.len() - 7 * 8;
    for place in [0, 3, 5, 6] {
        let from = index + 8 * place;
        let said = u64::from_be_bytes(old[from..from + 8].try_into().expect("eight"));
        old[from..from + 8].copy_from_slice(&(said - 4).to_be_bytes());
    }
    let header = u64::from_be_bytes(old[index + 24..index + 32].try_into().expect("eight"));
    old[header as usize..header as usize + 3].copy_from_slice(&[0, 6, 7]);
    let files = rewritten(&[("old".to_owned(), &old)], &QuietWatch).expect("it is read");
    assert_eq!((files.contents, files.calls), (vec![new], 1));
}
