//! What Open MPI's monitoring component writes: a file a rank, `NAME.RANK.prof`.
//!
//! In lines `E|I src dst N bytes M msgs sent ...`, E are messages of the user and I those of
//! collective operations. Lines `S` and `R` are data that was put and got. All of these crossed the
//! network. Lines `C` count the collective operations as the user called them, and are passed over:
//! I has their messages.

use super::kind::{CommunicationFormat, CommunicationMatrixReader, MatrixEntries, SMALL};
use super::numbers::{amount, refuse, whole};
use base::Refusal;
use base::part::PartDescription;
use traffic::communication::{MOST_PROCESSES, ProcessPairTraffic, check_rank};

pub(super) const ENTRY: CommunicationFormat = CommunicationFormat {
    part: PartDescription::new(
        "monitoring",
        "lines of Open MPI's monitoring, E and I, a file a rank",
    ),
    ends: &[".prof"],
    rank: 10,
    is: looks,
    sure: true,
    looks: |_, _| false,
    read: CommunicationMatrixReader::All(read),
    example: ("a.0.prof", EXAMPLE),
};

const EXAMPLE: &str = "# POINT TO POINT 2026\nE\t0\t1\t4123 bytes\t2123 msgs sent\t0,1\n\
    I\t0\t1\t1123 bytes\t1123 msgs sent\nE\t1\t2\t7123 bytes\t1123 msgs sent\n# COLLECTIVES\n\
    C\t0\t1\t99123 bytes\t1123 msgs sent\nD\tX procs: 0,1\n";

/// Whether a text looks like such a file.
pub(super) fn looks(text: &str) -> bool {
    let mut lines = super::numbers::lines(text, &['#', 'D']);
    lines.next().is_some_and(|(_, line)| {
        let words: Vec<&str> = line.split_whitespace().collect();
        matches!(words[..], ["E" | "I" | "S" | "R" | "C", _, _, _, "bytes", _, "msgs", ..])
    })
}

/// Reads the files of all ranks as one graph.
pub(super) fn read(files: &[(String, &str)]) -> Result<MatrixEntries, Refusal> {
    let length: usize = files.iter().map(|(_, text)| text.len()).sum();
    let limit = SMALL.max(length as u64).min(MOST_PROCESSES.into()) as u32;
    let mut all = Vec::new();
    let mut most = None;
    for (name, text) in files {
        let found = of_file(text).map_err(|refused| refused.within(name))?;
        for (line, one) in found {
            let rank = u64::from(one.from.max(one.to));
            check_rank("rank", rank, limit)
                .map_err(|refused| refused.within(&format!("{name}: line {line}")))?;
            most = most.max(Some(one.from.max(one.to)));
            all.push((line, one));
        }
    }
    let name = files.first().map_or("", |(name, _)| name.as_str());
    let processes = most.map_or(files.len() as u32, |most| (most + 1).max(files.len() as u32));
    let mut found = MatrixEntries::new(processes);
    for (line, one) in all {
        found.add(line, one);
    }
    found.unfit = found.unfit.map(|refused| refused.within(name));
    Ok(found)
}

fn of_file(text: &str) -> Result<Vec<(usize, ProcessPairTraffic)>, Refusal> {
    let mut found = Vec::new();
    for (line, said) in super::numbers::lines(text, &['#']) {
        let mut words = said.split_whitespace();
        let kind = words.next().unwrap_or_default();
        if matches!(kind, "C" | "D" | "O2A" | "A2O" | "A2A") {
            continue;
        }
        if !matches!(kind, "E" | "I" | "S" | "R") {
            let why = format!(
                "'{}' begins no line of monitoring",
                kind.chars().take(40).collect::<String>()
            );
            return Err(refuse(line, &why, "E, I, S, R, C, D, O2A, A2O, A2A or #"));
        }
        let from = rank(line, "sender", words.next())?;
        let to = rank(line, "receiver", words.next())?;
        let bytes = amount(line, "number of bytes", words.next())?;
        let named = words.next() == Some("bytes");
        let messages = amount(line, "number of messages", words.next())?;
        if !named || words.next() != Some("msgs") {
            let help = "E|I src dst N bytes M msgs sent ...";
            return Err(refuse(line, "no line of monitoring", help));
        }
        // what a rank gets goes in the opposite direction
        let (from, to) = if kind == "R" { (to, from) } else { (from, to) };
        found.push((line, ProcessPairTraffic { from, to, bytes, messages }));
    }
    Ok(found)
}

fn rank(line: usize, what: &str, word: Option<&str>) -> Result<u32, Refusal> {
    let number = whole(line, what, word)?;
    check_rank(what, number, MOST_PROCESSES).map_err(|r| r.within(&format!("line {line}")))
}
