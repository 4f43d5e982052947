//! Mutated files for all readers: each gives a result or a refusal, in little memory. Mutations are
//! gentle enough that readers accept at least half of them, because files that fail at the first
//! byte show nothing.
//!
//! 100,000 in a campaign, to be run under a limit on memory (`ulimit -v 2097152`).

use crate::mutations::{MutableFileFields, RandomGenerator};
use base::QuietWatch;
use formats::communication;
use formats::companion::{self, CompanionFileFormat};
use formats::counters;
use formats::graph_file::{self, GraphFilePairFormat};
use formats::trace::{self, TraceFormat, goal};
use serde_json::Map;

/// A function that reads bytes, or says why it refuses them.
type ReadFn = Box<dyn Fn(&[u8]) -> Result<(), String>>;

/// A reader under test: its name, a good file, and the function that reads such bytes.
struct ReaderUnderTest {
    name: String,
    good: Vec<u8>,
    read: ReadFn,
}

fn as_text<T>(found: Result<T, impl ToString>) -> Result<(), String> {
    found.map(drop).map_err(|refused| refused.to_string())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn of(
    name: &str,
    good: impl Into<Vec<u8>>,
    read: impl Fn(&[u8]) -> Result<(), String> + 'static,
) -> ReaderUnderTest {
    ReaderUnderTest { name: name.to_owned(), good: good.into(), read: Box::new(read) }
}

/// Every format of the tables with its own example.
fn of_tables() -> Vec<ReaderUnderTest> {
    let networks = graph_file::FORMATS.iter().map(|format| {
        of(format.part.name, format.example(), |bytes| {
            as_text(graph_file::read_any(&text(bytes), "f.edges", None))
        })
    });
    let graphs = communication::FORMATS.iter().map(|format| {
        let (name, good) = format.example();
        of(format.part.name, good, move |bytes| {
            as_text(communication::matrix(&[(name.clone(), text(bytes).as_str())]))
        })
    });
    let ports = counters::FORMATS.iter().map(|format| {
        let (name, good) = format.example();
        of(format.part.name, good, move |bytes| as_text(counters::read(&name, &text(bytes))))
    });
    let traces = trace::FORMATS.iter().flat_map(runs);
    let beside = companion::FORMATS.iter().flat_map(companions);
    let pairs = graph_file::PAIRS.iter().flat_map(pair);
    networks.chain(pairs).chain(graphs).chain(traces).chain(beside).chain(ports).collect()
}

/// A format of workloads: the first file of its example is damaged, and the last where there are
/// several, each beside the others.
fn runs(format: &'static TraceFormat) -> Vec<ReaderUnderTest> {
    let files = format.example();
    let last = format.of_ranks(&files).len() - 1;
    let damaged = if last == 0 { vec![0] } else { vec![0, last] };
    let one = |at: usize| {
        let all = files.clone();
        let good = all[at].1.clone();
        of(&format!("{} {at}", format.part.name), good, move |bytes| {
            let mut ranks = format.of_ranks(&all);
            ranks[at].1 = bytes;
            let read = format.read(&ranks, &Map::new(), &QuietWatch);
            if let Ok(found) = &read {
                let said = goal::text(found);
                assert_eq!(goal::parse(&said, &QuietWatch).as_ref(), Ok(found));
            }
            let counted = format.count(&ranks, &QuietWatch).transpose();
            as_text(read).and(as_text(counted))
        })
    };
    damaged.into_iter().map(one).collect()
}

/// A format of companion files: each file of its example is damaged, beside the others.
fn companions(format: &'static CompanionFileFormat) -> Vec<ReaderUnderTest> {
    let files = format.example();
    let one = |at: usize| {
        let all = files.clone();
        of(&format!("{} {at}", format.part.name), all[at].1.clone(), move |bytes| {
            let mut given: Vec<_> = all.iter().map(|(n, good)| (n.as_str(), &good[..])).collect();
            given[at].1 = bytes;
            as_text(format.check(&given))
        })
    };
    (0..files.len()).map(one).collect()
}

/// A format in which a network is two files: each of its example is damaged, beside the other.
fn pair(format: &'static GraphFilePairFormat) -> Vec<ReaderUnderTest> {
    let one = |at: usize| {
        let all = format.example();
        of(&format!("{} {at}", format.part.name), all[at].1.clone(), move |bytes| {
            let mut given = [0, 1].map(|i| (all[i].0.as_str(), &all[i].1[..]));
            given[at].1 = bytes;
            as_text(format.read(given, None))
        })
    };
    vec![one(0), one(1)]
}

/// Tries a reader with this number of damaged files, drawn by `number`, and returns how many it
/// takes.
fn tried(number: usize, reader: &ReaderUnderTest, each: usize) -> usize {
    (reader.read)(&reader.good).unwrap_or_else(|why| panic!("{}: {why}", reader.name));
    let fields = MutableFileFields::of(&reader.good, |bytes| (reader.read)(bytes).is_ok());
    let mut taken = 0;
    for k in 0..each {
        let mut draw = RandomGenerator((number * 1_000_000 + k) as u64);
        match (reader.read)(&fields.mutated(&reader.good, &mut draw)) {
            Ok(()) => taken += 1,
            Err(why) => assert!(!why.is_empty() && why.len() < 2000, "{}: {why}", reader.name),
        }
    }
    assert!(2 * taken >= each, "{}: {taken} of {each} were read", reader.name);
    taken
}

#[test]
fn campaign_mutated_files_are_read_or_refused() {
    let campaign = std::env::var_os("FLYLOOM_CAMPAIGN").is_some();
    let readers = of_tables();
    let each = if campaign { 100_000_usize.div_ceil(readers.len()) } else { 200 };
    for (number, reader) in readers.iter().enumerate() {
        let taken = tried(number, reader, each);
        if campaign {
            println!("{}: {taken} of {each} read", reader.name);
        }
    }
}

#[test]
#[should_panic(expected = "a fault that was planted")]
fn a_planted_fault_in_a_format_is_found() {
    for mut reader in runs(trace::format("liballprof").expect("it has a row")) {
        let read = reader.read;
        reader.read = Box::new(move |bytes| {
            // stands for a reader that indexes without a check: it panics at one value of a field
            assert!(!text(bytes).contains("MPI_Barrier:15007"), "a fault that was planted");
            read(bytes)
        });
        tried(0, &reader, 2000);
    }
}
