//! Tests of the readers of communication graphs.

use super::*;
use proptest::prelude::*;

fn rows(graph: &CommunicationGraph) -> Vec<(u32, u32, f64)> {
    graph.sent().map(|s| (s.from, s.to, s.bytes)).collect()
}

fn read_one(name: &str, text: &str) -> Result<CommunicationGraph, Refusal> {
    read(&[(name.to_owned(), text)])
}

/// Three processes: 0 sends 5 to 1, 1 sends 7 to 2; and the same graph without directions.
const ONE_SEND: [(u32, u32, f64); 2] = [(0, 1, 5.0), (1, 2, 7.0)];
const BOTH: [(u32, u32, f64); 4] = [(0, 1, 5.0), (1, 0, 5.0), (1, 2, 7.0), (2, 1, 7.0)];

const MARKET: &str = "%%MatrixMarket matrix coordinate integer general\n% x\n3 3 2\n1 2 5\n2 3 7\n";
const HALF: &str = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 5\n3 2 7\n3 3 9\n";
const ARRAY: &str = "%%MatrixMarket matrix array real general\n3 3\n0\n0\n0\n5\n0\n0\n0\n7\n0\n";
const DENSE: &str = "0 5 0\n0 0 7\n0 0 0\n";
const METIS: &str = "% x\n3 2 001\n2 5\n1 5 3 7\n2 7\n";
const SCOTCH: &str = "0\n3 4\n0 010\n1 5 1\n2 5 0 7 2\n1 7 1\n";
const PROF: &str = "# POINT TO POINT\nE\t0\t1\t4 bytes\t2 msgs sent\t0,1\n\
    I\t0\t1\t1 bytes\t1 msgs sent\nE\t1\t2\t7 bytes\t1 msgs sent\n# COLLECTIVES\n\
    C\t0\t1\t99 bytes\t1 msgs sent\nD\tX procs: 0,1\n";

#[test]
fn every_format_says_the_same_graph() {
    for (name, text, expect) in [
        ("a.mtx", MARKET, &ONE_SEND[..]),
        ("a", MARKET, &ONE_SEND[..]),
        ("a.mtx", HALF, &BOTH[..]),
        ("a.mtx", ARRAY, &ONE_SEND[..]),
        ("a.mat", DENSE, &ONE_SEND[..]),
        ("a", DENSE, &ONE_SEND[..]),
        ("a.graph", METIS, &BOTH[..]),
        ("a", METIS, &BOTH[..]),
        ("a.grf", SCOTCH, &BOTH[..]),
        ("a", SCOTCH, &BOTH[..]),
        ("a.0.prof", PROF, &ONE_SEND[..]),
        ("a", PROF, &ONE_SEND[..]),
    ] {
        let graph = read_one(name, text).expect(name);
        assert_eq!(rows(&graph), expect, "{name}");
        assert_eq!(graph.processes(), 3, "{name}");
    }
}

#[test]
fn files_of_ranks_are_one_graph_and_what_is_got_goes_back() {
    let files = [
        ("p.0.prof".to_owned(), "E 0 1 5 bytes 1 msgs sent\n"),
        ("p.1.prof".to_owned(), "# none\n"),
        ("p.2.prof".to_owned(), "R 2 1 7 bytes 1 msgs sent\n"),
    ];
    assert_eq!(rows(&read(&files).expect("a graph")), ONE_SEND);
}

#[test]
fn patterns_and_unweighted_edges_are_one_byte() {
    let text = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n";
    assert_eq!(rows(&read_one("a.mtx", text).expect("a graph")), [(1, 0, 1.0)]);
    let text = "2 1\n2\n1\n";
    assert_eq!(rows(&read_one("a.graph", text).expect("a graph")), [(0, 1, 1.0), (1, 0, 1.0)]);
}

/// The pairs of a matrix, and the refusal of its values where they are no numbers of bytes; else
/// empty.
fn pattern(name: &str, text: &str) -> (Vec<(u32, u32)>, String) {
    let found = matrix(&[(name.to_owned(), text)]).expect(text);
    let pairs = found.pattern.sent().map(|one| (one.from, one.to)).collect();
    (pairs, found.unfit.map_or_else(String::new, |refused| refused.to_string()))
}

#[test]
fn of_matrices_that_are_no_bytes_the_pattern_counts() {
    let all = [(0, 1), (1, 0), (1, 2), (2, 1)];
    let half = "3 3 2\n2 1 -5\n3 2 7\n";
    let complex = "3 3 2\n2 1 0 -5\n3 2 7.5d+0 1E2\n";
    for (head, body, says) in [
        ("coordinate real symmetric", half, "line 3: bytes: -5"),
        ("coordinate integer skew-symmetric", "3 3 2\n2 1 5\n3 2 7\n", "line 3: bytes: -5"),
        ("coordinate complex symmetric", complex, "line 1: complex"),
        ("coordinate Complex Hermitian", complex, "line 1: complex"),
        ("coordinate complex skew-symmetric", complex, "line 1: complex"),
        // the lower half column by column; that of the skew-symmetric matrix lacks the diagonal
        ("array real symmetric", "3 3\n9\n-5\n0\n9\n7\n9\n", "bytes: -5"),
        ("array complex hermitian", "3 3\n9 0\n0 -5\n0 0\n9 0\n7 0\n9 0\n", "line 1: complex"),
        ("array real skew-symmetric", "3 3\n5\n0\n7\n", "bytes: -5"),
        ("array real general", "3 3\n0 5 0 -1 0 7 0 2 0\n", "bytes: -1"),
        ("coordinate real symmetric", "3 3 2\n2 1 1.7e308\n3 2 1.7e308\n", "in all"),
    ] {
        let text = format!("%%MatrixMarket matrix {head}\n{body}");
        let (pairs, said) = pattern("a.mtx", &text);
        assert_eq!(pairs, all, "{head}");
        assert!(said.starts_with("a.mtx: line") && said.contains(says), "{head}: {said}");
        assert!(said.contains("--partition"), "{said}");
        let refused = read_one("a.mtx", &text).expect_err("no bytes").to_string();
        assert_eq!(refused, said);
    }
    // the same pattern, whose values are bytes
    let symmetric =
        format!("%%MatrixMarket matrix coordinate pattern symmetric\n{}", "3 3 2\n2 1\n3 2\n");
    assert_eq!(pattern("a.mtx", &symmetric), (all.to_vec(), String::new()));
    assert_eq!(pattern("a.mat", "0 -1 0\n2 0 1\n0 .5 0\n").0, all);
    for (head, body, says) in [
        ("array pattern general", "1 1\n", "there is no matrix array pattern"),
        ("coordinate real hermitian", "1 1 0\n", "there is no matrix"),
        ("coordinate pattern skew-symmetric", "1 1 0\n", "there is no matrix"),
        ("coordinate complex general", "1 1 1\n1 1 5\n", "nothing: no value"),
        ("coordinate real skew-symmetric", "2 2 1\n1 1 5\n", "diagonal"),
    ] {
        let text = format!("%%MatrixMarket matrix {head}\n{body}");
        let refused = matrix(&[("a.mtx".to_owned(), text.as_str())]).expect_err(head).to_string();
        assert!(refused.contains(says), "{head}: {refused}");
    }
}

#[test]
fn more_processes_than_bytes_are_a_small_number() {
    let head = "%%MatrixMarket matrix coordinate pattern general\n";
    let sparse = |count: u32| read_one("a.mtx", &format!("{head}{count} {count} 1\n1 2\n"));
    assert_eq!(sparse(65_536).expect("few").processes(), 65_536);
    let refused = sparse(65_537).expect_err("many in 65 bytes").to_string();
    assert!(refused.contains("line 2: 65537 processes; 1 to 65536"), "{refused}");
    assert!(read_one("a.prof", "E 0 65536 5 bytes 1 msgs\n").is_err());
    let blanks = "%\n".repeat(40_000);
    let long = format!("{head}{blanks}70000 70000 1\n1 2\n");
    assert_eq!(read_one("a.mtx", &long).expect("as many as its bytes").processes(), 70_000);
}

#[test]
fn flags_of_scotch_are_a_number() {
    // "0", "00" and "000" are one number, "10" is "010"
    for flags in ["0", "00", "000"] {
        let text = format!("0\n2 2\n0 {flags}\n1 1\n1 0\n");
        assert_eq!(rows(&read_one("a.grf", &text).expect(flags)), [(0, 1, 1.0), (1, 0, 1.0)]);
    }
    for flags in ["10", "010"] {
        let text = SCOTCH.replace("0 010", &format!("0 {flags}"));
        assert_eq!(rows(&read_one("a.grf", &text).expect(flags)), BOTH);
    }
    // weights of vertices alone, labels alone: a number before the degree
    for flags in ["1", "100"] {
        let text = format!("0\n2 2\n0 {flags}\n7 1 1\n8 1 0\n");
        assert_eq!(rows(&read_one("a.grf", &text).expect(flags)), [(0, 1, 1.0), (1, 0, 1.0)]);
    }
    for flags in ["112", "x", "-1"] {
        let text = SCOTCH.replace("0 010", &format!("0 {flags}"));
        assert!(read_one("a.grf", &text).is_err(), "{flags}");
    }
}

#[test]
fn what_is_written_is_read() {
    let graph = read_one(
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n4 4 2\n1 2 0.1\n4 1 9.2e18\n",
    );
    let graph = graph.expect("a graph");
    let mut text = String::new();
    write_market(&graph, &mut text).expect("strings take all");
    assert_eq!(read_one("b.mtx", &text).expect("the same"), graph);
}

#[test]
fn damage_is_named_with_its_line() {
    let market = "%%MatrixMarket matrix coordinate real general\n";
    for (name, text, says) in [
        ("a.mtx", "1 2 3\n".to_owned(), "line 1"),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate complex general\n1 1 0\n".to_owned(),
            "complex",
        ),
        ("a.mtx", format!("{market}3 2 1\n1 2 5\n"), "line 2"),
        ("a.mtx", format!("{market}3 3 1\n1 4 5\n"), "line 3"),
        ("a.mtx", format!("{market}3 3 1\n0 1 5\n"), "line 3"),
        ("a.mtx", format!("{market}3 3 1\n1 2 -5\n"), "line 3"),
        ("a.mtx", format!("{market}3 3 1\n1 2 nan\n"), "line 3"),
        ("a.mtx", format!("{market}3 3 1\n1 2 inf\n"), "line 3"),
        ("a.mtx", format!("{market}3 3 2\n1 2 5\n"), "entries"),
        ("a.mtx", format!("{market}3 3 1\n1 2 5\n2 1 5\n3 1 5\n"), "entries"),
        ("a.mtx", format!("{market}99999999999 99999999999 1\n1 2 5\n"), "line 2"),
        ("a.mtx", format!("{market}0 0 0\n"), "line 2"),
        ("a.mat", "0 1\n1\n".to_owned(), "line 2"),
        ("a.mat", "0 1\n1 x\n".to_owned(), "line 2"),
        ("a.graph", "99999999999 1\n".to_owned(), "line 1"),
        ("a.graph", "2 1\n3\n1\n".to_owned(), "line 2"),
        ("a.graph", "2 2\n2\n1\n".to_owned(), "line 3"),
        ("a.graph", "2 1 7\n2\n1\n".to_owned(), "line 1"),
        ("a.grf", "0\n2 2\n0 000\n1 1\n1 5\n".to_owned(), "line 5"),
        ("a.grf", "0\n2 9\n0 000\n1 1\n1 0\n".to_owned(), "arcs"),
        ("a.grf", "1\n2 9\n".to_owned(), "version"),
        ("a.prof", "E 0 x 5 bytes 1 msgs\n".to_owned(), "line 1"),
        ("a.prof", "E 0 99999999999 5 bytes 1 msgs\n".to_owned(), "line 1"),
        ("a.prof", "E 0 1 -5 bytes 1 msgs\n".to_owned(), "line 1"),
        ("a.prof", "hello\n".to_owned(), "line 1"),
        ("a", "hello world\n".to_owned(), "known format"),
        ("a", String::new(), "known format"),
    ] {
        let said = read_one(name, &text).expect_err(&text).to_string();
        assert!(said.starts_with(&format!("{name}: ")) && said.contains(says), "{text}: {said}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn damaged_files_never_break_a_reader(
        which in 0_usize..7, at in any::<u32>(), cut in 0_usize..40, put in "[-0-9 \n%#a-z.]{0,8}",
    ) {
        let texts = [MARKET, HALF, ARRAY, DENSE, METIS, SCOTCH, PROF];
        let names = ["a.mtx", "a.mtx", "a.mtx", "a.mat", "a.graph", "a.grf", "a.prof"];
        let text = texts[which];
        let from = at as usize % (text.len() + 1);
        let to = (from + cut).min(text.len());
        let damaged = format!("{}{put}{}", &text[..from], &text[to..]);
        for name in [names[which], "a"] {
            if let Err(refused) = read_one(name, &damaged) {
                prop_assert!(refused.to_string().starts_with(&format!("{name}: ")), "{}", refused);
            }
        }
    }
}
