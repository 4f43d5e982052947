//! Traces read, cut and changed: a schedule, or a refusal that names the file.

use super::ENTRY;
use super::parameters::LiballprofParameters;
use super::parse::parse;
use crate::trace::kind::GivenParameters;
use base::{ComputationError, QuietWatch};
use proptest::prelude::*;
use serde_json::Map;
use std::collections::BTreeMap;
use traffic::workload::calls::{CallAction, CallPeer};

const FIRST: &str = "# a comment
MPI_Init:-:1:2:1.000000
MPI_Comm_rank:2.5:0,0,2:7:3
MPI_Isend:5:9:2:11,8,8:1:4:0,0,2:800:6
MPI_Comm_split:7:0,0,2:0:1:64:8
MPI_Barrier:9:5,1,2:10
MPI_Gatherv:11:9:1:11,8,8:9:9:1,2:9:0,8:11,8,8:0:0,0,2:12
MPI_Waitall:13:1:800:0:14
MPI_Iallreduce:14:9:9:1:11,8,8:3:0,0,2:808:15
MPI_Test:15:808:7:0:16
MPI_Finalize:20:-
";
const SECOND: &str = "MPI_Init:-:1:2:1.000000
MPI_Recv:5:9:2:11,8,8:-1:-1:0,1,2:3:6
MPI_Comm_split:7:0,1,2:0:0:64:8
MPI_Barrier:9:5,0,2:10
MPI_Gatherv:11:9:2:11,8,8:9:9:9:11,8,8:0:0,1,2:12
MPI_Iallreduce:14:9:9:1:11,8,8:3:0,1,2:808:15
MPI_Wait:15:808:0:16
MPI_Finalize:20:-
";

fn schedule(
    files: &[(String, &str)],
    given: &GivenParameters,
) -> Result<traffic::workload::Schedule, ComputationError> {
    let files: Vec<_> = files.iter().map(|(name, text)| (name.clone(), text.as_bytes())).collect();
    ENTRY.read(&files, given, &QuietWatch)
}

fn tried(first: &str, second: &str) -> Result<traffic::workload::Schedule, ComputationError> {
    let files = [("a-0.txt".to_owned(), first), ("a-1.txt".to_owned(), second)];
    schedule(&files, &Map::new())
}

#[test]
fn calls_are_read_with_their_times() {
    let files = [("a-0.txt", FIRST), ("a-1.txt", SECOND)]
        .map(|(name, text)| (name.to_owned(), text.as_bytes()));
    let trace = parse(&files, &LiballprofParameters::default(), &QuietWatch).expect("a trace");
    let send = &trace.processes[0].calls[2];
    assert_eq!((send.line, send.start_ns, send.end_ns), (4, 5000, 6000));
    assert_eq!(trace.processes[0].calls[1].start_ns, 2500);
    let CallAction::Recv(message, _) = &trace.processes[1].calls[1].what else {
        panic!("a receive")
    };
    assert_eq!((message.peer, message.tag, message.bytes), (CallPeer::Any, None, 16));
}

#[test]
fn messages_are_those_of_the_calls() {
    let made = tried(FIRST, SECOND).expect("a schedule");
    // a message of 16 bytes, two of a barrier, 16 bytes to the root, 8 in each direction
    let mut sizes: Vec<u64> =
        made.ops().iter().filter(|op| op.kind as u8 == 1).map(|op| op.size).collect();
    sizes.sort_unstable();
    assert_eq!(sizes.len(), 6);
    assert_eq!(sizes[2..], [8, 8, 16, 16]);
    assert_eq!(made.cycle(), None);
}

proptest! {
    #[test]
    fn changed_traces_are_read_or_refused(
        changes in proptest::collection::vec(
            (any::<prop::sample::Index>(), "[0-9:,.a-zA-Z_\n-]{0,3}"), 1..5),
        which in any::<bool>(),
    ) {
        let mut said: Vec<char> = if which { FIRST } else { SECOND }.chars().collect();
        for (at, with) in changes {
            let at = at.index(said.len());
            said.splice(at..=at, with.chars());
        }
        let said: String = said.into_iter().collect();
        let made = if which { tried(&said, SECOND) } else { tried(FIRST, &said) };
        if let Err(ComputationError::Refused(refused)) = made {
            prop_assert!(refused.param.contains("a-"), "{}", refused);
        }
    }

    #[test]
    fn cut_traces_are_read_or_refused(at in any::<prop::sample::Index>()) {
        let _ = tried(&FIRST[..at.index(FIRST.len())], SECOND);
        let _ = tried(FIRST, &SECOND[..at.index(SECOND.len())]);
    }
}

/// The sender and the receiver of a message.
type ProcessEdge = (u32, u32);

/// The messages of a trace in which every rank makes the calls `makes`. After these, `of` gives the
/// communicators that a rank names, by handle, its rank and size; all ranks of one call `MPI_Bcast`
/// of 8 bytes by rank 0 on it.
fn named(
    ranks: u32,
    makes: &str,
    of: impl Fn(u32) -> Vec<[u32; 3]>,
) -> Result<Vec<ProcessEdge>, ComputationError> {
    let files: Vec<(String, String)> = (0..ranks)
        .map(|rank| {
            let mut text = "MPI_Init:-:1:2:1\n".to_owned();
            let world = format!("0,{rank},{ranks}");
            text += &makes.replace("WORLD", &world).replace("RANK", &rank.to_string());
            for (at, [handle, me, size]) in (100_u32..).zip(of(rank)) {
                let comm = format!("{handle},{me},{size}");
                text += &["MPI_Bcast:", &at.to_string(), ":9:1:11,8,8:0:", &comm].concat();
                text += &[":", &at.to_string(), "\n"].concat();
            }
            (format!("a-{rank}.txt"), text + "MPI_Finalize:900:-\n")
        })
        .collect();
    let files: Vec<(String, &str)> = files.iter().map(|(n, t)| (n.clone(), t.as_str())).collect();
    let given = serde_json::json!({ "broadcast": "linear" });
    let made = schedule(&files, given.as_object().expect("a map"))?;
    let sends = (0..ranks).flat_map(|rank| made.of_rank(rank).map(move |op| (rank, op)));
    let ops = made.ops();
    let sends =
        sends.filter(|&(_, op)| ops[op as usize].kind == traffic::workload::OperationKind::Send);
    let mut all: Vec<ProcessEdge> = sends.map(|(rank, op)| (rank, ops[op as usize].peer)).collect();
    all.sort_unstable();
    Ok(all)
}

/// The edges from the first rank of each group to its other ranks.
fn stars(groups: &[Vec<u32>]) -> Vec<ProcessEdge> {
    let edges = |group: &Vec<u32>| {
        let root = group[0];
        group[1..].iter().map(|&other| (root, other)).collect::<Vec<_>>()
    };
    let mut all: Vec<ProcessEdge> = groups.iter().flat_map(edges).collect();
    all.sort_unstable();
    all
}

#[test]
fn slices_of_grids_are_known_by_the_places_of_their_ranks() {
    // coordinates of rank r in a grid of 2 x 3 x 4, the last the quickest; slices by hand
    let sizes = [2, 3, 4];
    let at = |r: u32| [r / 12, r / 4 % 3, r % 4];
    for stays in 0..8_u32 {
        let kept: Vec<usize> = (0..3).filter(|axis| stays >> axis & 1 == 1).collect();
        let size: u32 = kept.iter().map(|&axis| sizes[axis]).product();
        let me = |r: u32| kept.iter().fold(0, |sum, &axis| sum * sizes[axis] + at(r)[axis]);
        let mut groups: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
        for r in 0..24 {
            let gone = (0..3).filter(|axis| !kept.contains(axis)).map(|axis| at(r)[axis]);
            groups.entry(gone.collect()).or_default().push(r);
        }
        let makes = "MPI_Cart_create:3:WORLD:3:8:8:0:64:4\nMPI_Comm_rank:5:7,RANK,24:9:6\n\
                     MPI_Cart_sub:7:7,RANK,24:8:72:8\n";
        let found = named(24, makes, |r| vec![[9, me(r), size]]).expect("a schedule");
        let groups: Vec<Vec<u32>> = groups.into_values().collect();
        assert_eq!(found, stars(&groups), "coordinates that stay: {kept:?}");
    }
}

#[test]
fn groups_are_known_by_the_places_of_their_ranks() {
    let makes = "MPI_Comm_create:3:WORLD:5:64:4\n";
    // ranks 4, 2, 0 in this order, the others in none
    let place = |r: u32| match r {
        0 | 2 | 4 => vec![[9, 2 - r / 2, 3]],
        _ => Vec::new(),
    };
    assert_eq!(named(6, makes, place).expect("a schedule"), [(4, 0), (4, 2)]);
    // no call uses the communicator
    assert_eq!(named(6, makes, |_| Vec::new()).expect("a schedule"), []);
    // faults: one rank does not name it, two have the same place, there are two groups
    let one = |r: u32| if r == 4 { Vec::new() } else { place(r) };
    let two = |r: u32| if r < 4 { vec![[9, r % 2, 2]] } else { Vec::new() };
    for (says, of) in [
        ("no call names the new communicator as rank 0 of its 3", &one as &dyn Fn(u32) -> _),
        ("its ranks are in several groups", &two),
    ] {
        let refused = named(6, makes, of).expect_err("it is not said who is in it");
        let ComputationError::Refused(refused) = refused else { panic!("a refusal") };
        assert!(refused.to_string().contains(says), "{refused}");
        assert!(refused.param.contains("a-"), "{refused}");
    }
}

#[test]
fn what_the_trace_lacks_is_said() {
    for (call, says) in [
        ("MPI_Alltoallw:3:9:8:8:8:9:8:8:8:WORLD:4\n", "its datatypes"),
        ("MPI_Neighbor_alltoall:3:9:1:11,8,8:9:1:11,8,8:WORLD:4\n", "neighbours"),
        ("MPI_Ineighbor_allgather:3:9:1:11,8,8:9:1:11,8,8:WORLD:70:4\n", "neighbours"),
        ("MPI_Comm_create_group:3:WORLD:5:1:64:4\n", "which ranks"),
    ] {
        let Err(ComputationError::Refused(refused)) = named(2, call, |_| Vec::new()) else {
            panic!("{call} is refused")
        };
        assert!(refused.to_string().contains(says), "{refused}");
    }
}

/// The first trace, with that many requests in the array that it waits for.
fn waits_for(count: u64, given: &str) -> Result<traffic::workload::Schedule, ComputationError> {
    let first = FIRST.replace("MPI_Waitall:13:1:", &format!("MPI_Waitall:13:{count}:"));
    let files = [("a-0.txt".to_owned(), first.as_str()), ("a-1.txt".to_owned(), SECOND)];
    let given = serde_json::json!({ "unknown_requests": given });
    schedule(&files, given.as_object().expect("a map"))
}

#[test]
fn arrays_of_requests_take_no_room_of_their_own() {
    // the array begins with the request of MPI_Isend at 800; at 808 is one that begins later
    let plain = tried(FIRST, SECOND).expect("a schedule");
    for count in [1, 2, 1 << 24] {
        // null requests are nothing: however long the array, the schedule is the same
        assert_eq!(waits_for(count, "null").as_ref(), Ok(&plain), "{count}");
    }
    let refused = waits_for(1 << 24, "refuse").expect_err("816 is no request").to_string();
    assert!(refused.contains("a-0.txt: line 8: request 816 was never begun"), "{refused}");
    let refused = waits_for(2, "refuse").expect_err("it begins later").to_string();
    assert!(refused.contains("request 808 was never begun"), "{refused}");
    // 32,768 lines of 16 million requests each: 4 TB if they were listed
    let line = "MPI_Testall:13:16777216:800:0:0:13\n";
    let text = format!("MPI_Init:-:1:2:1\n{}", line.repeat(1 << 15));
    let given = serde_json::json!({ "unknown_requests": "null" });
    let files = [("a-0.txt".to_owned(), text.as_str())];
    schedule(&files, given.as_object().expect("a map")).expect("it does nothing");
}
