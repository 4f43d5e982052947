//! htsim's connection matrices, `.cm`: a line for each flow, with its bytes and when it starts.
//!
//! Source: csg-htsim, `connection_matrix.cpp`.

use super::kind::{ExampleFiles, NamedFile, TraceFileNaming, TraceFormat, text};
use base::fields::whole;
use base::part::PartDescription;
use base::{ComputationError, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use traffic::workload::{Schedule, ScheduleBuilder, ScheduleOperation, WorkloadRequest};

pub(super) const ENTRY: TraceFormat = TraceFormat::new(
    PartDescription::new("htsim-flows", "htsim's connection matrix, .cm: a line for each flow")
        .takes::<HtsimParameters>(),
    TraceFileNaming::One(&[".cm"]),
    read,
    example,
)
.known_by(looks);

/// What the numbers of a file mean.
#[derive(Debug, Deserialize, JsonSchema)]
struct HtsimParameters {
    /// A unit of the starts of flows, ns.
    #[serde(default = "whole::<1000>")]
    #[schemars(range(min = 1, max = 1_048_576))]
    unit_ns: u64,
}

const EXAMPLE: &str = "Nodes 16\nConnections 3\n0->11 id 1 start 0 size 2000000\n\
    11->10 id 2 start 25 size 1500000\n0->12 id 3 start 125 size 400000\n";

/// Most nodes, as each takes room whether it has flows or none.
const MOST_NODES: u64 = 1 << 20;

/// A message, and when it may begin.
struct Flow {
    from: u32,
    to: u32,
    start_ns: u64,
    bytes: u64,
}

fn looks(content: &[u8]) -> bool {
    let mut lines = content.split(|b| *b == b'\n');
    let mut begins = |word: &[u8]| lines.next().is_some_and(|line| line.starts_with(word));
    begins(b"Nodes ") && begins(b"Connections ")
}

/// Every rank sends its flows by its clock, whatever it receives.
fn read(
    files: &[NamedFile<'_>],
    request: &WorkloadRequest<'_>,
) -> Result<Schedule, ComputationError> {
    let with: HtsimParameters = request.read()?;
    let (nodes, mut flows) = flows(text(files[0].1)?, with.unit_ns)?;
    flows.sort_by_key(|flow| flow.start_ns);
    let (mut sent, mut received) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
    for (tag, flow) in (0_u32..).zip(&flows) {
        sent[flow.from as usize].push((tag, flow));
        received[flow.to as usize].push((tag, flow));
    }
    let mut all = ScheduleBuilder::new(nodes as u32);
    for (sent, received) in sent.iter().zip(&received) {
        let mut rank = all.rank();
        let (mut now_ns, mut clock) = (0, None);
        for (tag, flow) in sent {
            if flow.start_ns > now_ns {
                let wait = rank.add(ScheduleOperation::calc(flow.start_ns - now_ns))?;
                if let Some(before) = clock.replace(wait) {
                    rank.require(wait, before)?;
                }
                now_ns = flow.start_ns;
            }
            let send = rank.add(ScheduleOperation::send(flow.bytes, flow.to, *tag))?;
            if let Some(before) = clock {
                rank.require(send, before)?;
            }
        }
        for (tag, flow) in received {
            rank.add(ScheduleOperation::recv(flow.bytes, flow.from, *tag))?;
        }
    }
    Ok(all.finish()?)
}

/// The number of nodes, and the flows in the order of the file.
fn flows(text: &str, unit_ns: u64) -> Result<(usize, Vec<Flow>), Refusal> {
    let (mut nodes, mut flows) = (0, Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = |refused: Refusal| refused.within(&format!("line {number}"));
        match words.as_slice() {
            [] | ["Connections", _] => {}
            ["Nodes", count] => nodes = parsed("Nodes", count, MOST_NODES).map_err(at)?,
            _ => flows.push(flow(&words, nodes, unit_ns).map_err(at)?),
        }
    }
    if nodes == 0 {
        return Err(Refusal::new("Nodes", "there is no node", "Nodes N in the first line"));
    }
    Ok((nodes as usize, flows))
}

fn flow(words: &[&str], nodes: u64, unit_ns: u64) -> Result<Flow, Refusal> {
    let help = "S->D start TIME size BYTES";
    let Some((from, to)) = words[0].split_once("->") else {
        return Err(Refusal::new("", format!("'{}' is no flow", words[0]), help));
    };
    let most = nodes.saturating_sub(1);
    let [from, to] = [parsed("source", from, most)?, parsed("destination", to, most)?];
    let (mut start, mut bytes) = (0, 0);
    for pair in words[1..].chunks(2) {
        match *pair {
            ["start", value] => start = parsed("start", value, u64::MAX >> 22)?,
            ["size", value] => bytes = parsed("size", value, 1 << 40)?,
            ["id" | "prio", _] => {}
            _ => {
                let why = format!("'{}' cannot be kept", pair.join(" "));
                return Err(Refusal::new("", why, help));
            }
        }
    }
    Ok(Flow { from: from as u32, to: to as u32, start_ns: start * unit_ns, bytes })
}

fn parsed(what: &str, word: &str, most: u64) -> Result<u64, Refusal> {
    word.parse().ok().filter(|n| *n <= most).ok_or_else(|| {
        Refusal::new(what, format!("'{word}'"), format!("a whole number, 0 to {most}"))
    })
}

fn example() -> ExampleFiles {
    vec![("run.cm".to_owned(), EXAMPLE.as_bytes().to_vec())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::QuietWatch;

    #[test]
    fn flows_begin_by_the_clock_of_their_source() {
        let given = serde_json::Map::from_iter([("unit_ns".to_owned(), 10.into())]);
        let found =
            ENTRY.read(&ENTRY.of_ranks(&example()), &given, &QuietWatch).expect("it is whole");
        // a flow at once, and one that waits for the 125th unit of time
        let waits = |op| (found.ops()[op as usize].size, found.require(op).len());
        let operations: Vec<(u64, usize)> = found.of_rank(0).map(waits).collect();
        assert_eq!(operations, [(2_000_000, 0), (1250, 1), (400_000, 0)]);
        assert_eq!((found.ranks(), found.sent_bytes()), (16, 3_900_000.0));
    }
}
