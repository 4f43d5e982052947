//! Traces read, cut and changed: a schedule, or a refusal that names the file.

use super::{keys, parse, schedule};
use base::{Quiet, Stop};
use proptest::prelude::*;
use serde_json::Map;
use traffic::workload::calls::{Peer, What};
use traffic::workload::keys::Asked;

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

fn tried(first: &str, second: &str) -> Result<traffic::workload::Schedule, Stop> {
    let files = [("a-0.txt".to_owned(), first), ("a-1.txt".to_owned(), second)];
    schedule(&files, &Map::new(), &Quiet)
}

#[test]
fn calls_are_read_with_their_times() {
    let given = Map::new();
    let asked = Asked::new(&given, keys(), &Quiet).expect("defaults");
    let files = [("a-0.txt".to_owned(), FIRST), ("a-1.txt".to_owned(), SECOND)];
    let trace = parse(&files, &asked).expect("a trace");
    let send = &trace.processes[0].calls[2];
    assert_eq!((send.line, send.start_ns, send.end_ns), (4, 5000, 6000));
    assert_eq!(trace.processes[0].calls[1].start_ns, 2500);
    let What::Recv(message, _) = &trace.processes[1].calls[1].what else { panic!("a receive") };
    assert_eq!((message.peer, message.tag, message.bytes), (Peer::Any, None, 16));
}

#[test]
fn messages_are_those_of_the_calls() {
    let made = tried(FIRST, SECOND).expect("a schedule");
    // a message of 16 bytes, two of a barrier, 16 bytes to the root, 8 each way
    let mut sizes: Vec<u64> =
        made.ops().iter().filter(|op| op.kind as u8 == 1).map(|op| op.size).collect();
    sizes.sort_unstable();
    assert_eq!(sizes.len(), 6);
    assert_eq!(sizes[2..], [8, 8, 16, 16]);
    assert_eq!(made.circle(), None);
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
        if let Err(Stop::Refused(refused)) = made {
            prop_assert!(refused.param.contains("a-"), "{}", refused);
        }
    }

    #[test]
    fn cut_traces_are_read_or_refused(at in any::<prop::sample::Index>()) {
        let _ = tried(&FIRST[..at.index(FIRST.len())], SECOND);
        let _ = tried(FIRST, &SECOND[..at.index(SECOND.len())]);
    }
}
