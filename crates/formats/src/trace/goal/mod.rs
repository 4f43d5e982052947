//! GOAL as text.
//!
//! ```text
//! file = "num_ranks" INT { rank }
//! rank = "rank" INT "{" { line } "}"                   ranks in order, from 0
//! line = [ label ":" ] op | label ("requires" | "irequires") label
//! op   = "calc" NS [ "cpu" INT ]
//!      | "send" BYTES "b" "to" RANK     [ "tag" TAG ] [ "cpu" INT ] [ "nic" INT ]
//!      | "recv" BYTES "b" "from" RANK   [ "tag" TAG ] [ "cpu" INT ] [ "nic" INT ]
//! ```
//!
//! A line each; `-1` is any rank or any tag; comments are `//` and `/* */`. A number that is left
//! out is 0. A label that names two operations of a rank means the first. The operations
//! of a collective operation are between the comments `// collective NAME` and
//! `// end of collective`.
//! Source: the grammar of LogGOPSim's txt2bin (Hoefler, Schneider, Lumsdaine, LSAP 2010).

mod labels;
mod scan;
#[cfg(test)]
mod tests;

use super::kind::{
    self, ExampleFiles, MOST_RANKS, TraceFileNaming, TraceFormat, TraceFormatWriter,
    WorkloadFileContents, example_schedule,
};
use base::part::PartDescription;
use base::{ComputationError, ProgressWatch, Refusal};
use labels::OperationsByLabel;
use scan::{COLLECTIVE, CollectiveMarker, END, GoalScanner};
use std::fmt;
use traffic::workload::{
    ANY, OperationKind, RankScheduleBuilder, Schedule, ScheduleBuilder, ScheduleOperation,
};

pub(super) const ENTRY: TraceFormat = TraceFormat::new(
    PartDescription::new(
        "goal",
        "GOAL as text: the operations of each rank, and what waits for what",
    ),
    TraceFileNaming::One(&[".goal"]),
    |files, request| parse(kind::text(files[0].1)?, request.watch),
    example,
)
.known_by(looks)
.writes(TraceFormatWriter::file(".goal", |schedule, _, _| {
    Ok(WorkloadFileContents::one(schedule, text(schedule).into_bytes()))
}));

/// The number of first bytes of a file by which its format is recognised.
const HEAD: usize = 4096;

/// Whether a file begins as GOAL does: with the number of ranks, or a comment.
fn looks(content: &[u8]) -> bool {
    let head = &content[..content.len().min(HEAD)];
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head).trim_ascii_start();
    ["num_ranks", "//", "/*"].iter().any(|start| head.starts_with(start.as_bytes()))
}

fn example() -> ExampleFiles {
    vec![("run.goal".to_owned(), text(&example_schedule()).into_bytes())]
}

/// Bytes between two looks at whether the user wants to stop.
const STRIDE: usize = 1 << 20;

/// Reads a schedule. O(length).
///
/// # Errors
/// With the line that is not understood; or when `watch` asks to stop.
pub fn parse(text: &str, watch: &dyn ProgressWatch) -> Result<Schedule, ComputationError> {
    let mut scan = GoalScanner::new(text.trim_start_matches('\u{feff}'));
    scan.lines()?;
    if !scan.keyword("num_ranks") {
        let why = match text.trim_start_matches('\u{feff}').trim_start().chars().next() {
            Some('<') => "this is HTML or XML, and no schedule: num_ranks is not there",
            Some('{') => "this is JSON, and no schedule: num_ranks is not there",
            Some('[') => "this is TOML or JSON, and no schedule: num_ranks is not there",
            _ => "num_ranks is not there",
        };
        return Err(scan.refuse(why, "num_ranks, then the ranks").into());
    }
    let ranks = scan.number("the number of ranks", MOST_RANKS)?;
    scan.end_of_line()?;
    let mut all = ScheduleBuilder::new(ranks as u32);
    let mut labels = OperationsByLabel::default();
    let mut looked = 0;
    for rank in 0..ranks {
        scan.lines()?;
        head(&mut scan, rank, ranks)?;
        labels.clear();
        let mut into = all.rank();
        let mut open = None;
        scan.bounds();
        loop {
            scan.lines()?;
            named(&mut scan, &mut into, &mut open);
            if scan.sign(b'}') {
                break;
            }
            line(&mut scan, &mut into, &mut labels)?;
            if scan.done() > looked + STRIDE {
                looked = scan.done();
                watch.tick("reading", looked as u64, text.len() as u64)?;
            }
        }
    }
    scan.lines()?;
    if !scan.is_end() {
        let what = scan.rest_of_word();
        let help = format!("the end: num_ranks says {ranks}");
        return Err(scan.refuse(format!("'{what}' after the last rank"), help).into());
    }
    Ok(all.finish()?)
}

/// Names the operations that are between the comments of a collective operation; `open` has the
/// first operation and the name of the last one that began. One that has no closing comment when
/// its rank ends gets no name.
fn named<'a>(
    scan: &mut GoalScanner<'a>,
    into: &mut RankScheduleBuilder<'_>,
    open: &mut Option<(u32, &'a str)>,
) {
    for bound in scan.bounds() {
        if let Some((first, name)) = open.take() {
            into.name_from(first, name);
        }
        if let CollectiveMarker::Begin(name) = bound {
            *open = Some((into.len(), name));
        }
    }
}

fn head(scan: &mut GoalScanner<'_>, rank: u64, ranks: u64) -> Result<(), Refusal> {
    if scan.is_end() {
        let why = format!("the text ends before rank {rank}");
        return Err(scan.refuse(why, format!("{ranks} ranks, as num_ranks says")));
    }
    if !scan.keyword("rank") {
        let what = scan.rest_of_word();
        return Err(scan.refuse(format!("'{what}'"), format!("rank {rank} {{")));
    }
    let said = scan.number("the rank", MOST_RANKS)?;
    if said != rank {
        return Err(scan.refuse(format!("rank {said}"), format!("rank {rank}: they are in order")));
    }
    scan.lines()?;
    if scan.sign(b'{') { Ok(()) } else { Err(scan.refuse(format!("rank {rank} without {{"), "")) }
}

fn line<'a>(
    scan: &mut GoalScanner<'a>,
    into: &mut RankScheduleBuilder<'_>,
    labels: &mut OperationsByLabel<'a>,
) -> Result<(), Refusal> {
    if scan.is_end() {
        return Err(scan.refuse("the text ends within a rank", "} after its last line"));
    }
    let first = scan.word();
    if scan.sign(b':') && !first.is_empty() {
        let name = scan.word();
        let op = operation(scan, name)?;
        labels.add(first, added(scan, into, op)?);
    } else if scan.keyword("requires") {
        let (after, before) = (known(scan, labels, first)?, second(scan, labels)?);
        into.require(after, before)?;
    } else if scan.keyword("irequires") {
        let (after, before) = (known(scan, labels, first)?, second(scan, labels)?);
        into.require_start(after, before)?;
    } else {
        let op = operation(scan, first)?;
        added(scan, into, op)?;
    }
    scan.end_of_line()
}

fn second<'a>(scan: &mut GoalScanner<'a>, labels: &OperationsByLabel<'a>) -> Result<u32, Refusal> {
    let label = scan.word();
    known(scan, labels, label)
}

fn added(
    scan: &GoalScanner<'_>,
    into: &mut RankScheduleBuilder<'_>,
    op: ScheduleOperation,
) -> Result<u32, Refusal> {
    into.add(op).map_err(|r| scan.refuse(r.why, r.help))
}

fn known(
    scan: &GoalScanner<'_>,
    labels: &OperationsByLabel<'_>,
    label: &[u8],
) -> Result<u32, Refusal> {
    labels.get(label).ok_or_else(|| {
        let label = String::from_utf8_lossy(label);
        let help = "a label that stands before an operation of this rank, in a line above";
        scan.refuse(format!("there is no '{label}'"), help)
    })
}

fn operation(scan: &mut GoalScanner<'_>, name: &[u8]) -> Result<ScheduleOperation, Refusal> {
    let (kind, towards) = match name {
        b"calc" => (OperationKind::Calc, ""),
        b"send" => (OperationKind::Send, "to"),
        b"recv" => (OperationKind::Recv, "from"),
        _ => {
            let said = String::from_utf8_lossy(name);
            let what = if name.is_empty() { scan.rest_of_word() } else { said.into_owned() };
            let help = "calc, send, recv, label: before one, or LABEL requires LABEL";
            return Err(scan.refuse(format!("'{what}' is no operation"), help));
        }
    };
    let size = scan.number("the size", u64::MAX)?;
    let mut op = ScheduleOperation { kind, ..ScheduleOperation::calc(size) };
    if kind != OperationKind::Calc {
        for word in ["b", towards] {
            if !scan.keyword(word) {
                let what = scan.rest_of_word();
                let help = if word == "b" { "b after the bytes" } else { "to or from a rank" };
                return Err(scan.refuse(format!("'{what}' where {word} should be"), help));
            }
        }
        op.peer = if kind == OperationKind::Recv {
            scan.number_or_any("the rank")?
        } else {
            scan.number("the rank", u64::from(u32::MAX) - 1)? as u32
        };
        if scan.keyword("tag") {
            op.tag = scan.number_or_any("the tag")?;
        }
    }
    if scan.keyword("cpu") {
        op.cpu = scan.number("the cpu", 255)? as u8;
    }
    if kind != OperationKind::Calc && scan.keyword("nic") {
        op.nic = scan.number("the nic", 255)? as u8;
    }
    Ok(op)
}

/// A schedule as text: [`parse`] of it is the same schedule.
pub fn text(schedule: &Schedule) -> String {
    let mut out = String::new();
    write(schedule, &mut out).expect("strings take all");
    out
}

fn write(schedule: &Schedule, out: &mut impl fmt::Write) -> fmt::Result {
    writeln!(out, "num_ranks {}", schedule.ranks())?;
    for rank in 0..schedule.ranks() {
        writeln!(out, "\nrank {rank} {{")?;
        let ops = schedule.of_rank(rank);
        let label = |op: u32| op - ops.start + 1;
        let mut named = schedule.collectives_of(rank).peekable();
        for op in ops.clone() {
            if let Some(steps) = named.peek().filter(|steps| steps.first == op) {
                writeln!(out, "{COLLECTIVE}{}", steps.name)?;
            }
            write!(out, "l{}: ", label(op))?;
            written(&schedule.ops()[op as usize], out)?;
            if named.next_if(|steps| steps.end == op + 1).is_some() {
                writeln!(out, "{END}")?;
            }
        }
        for op in ops.clone() {
            for &after in schedule.require(op) {
                writeln!(out, "l{} requires l{}", label(after), label(op))?;
            }
            for &after in schedule.require_start(op) {
                writeln!(out, "l{} irequires l{}", label(after), label(op))?;
            }
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

fn written(op: &ScheduleOperation, out: &mut impl fmt::Write) -> fmt::Result {
    match op.kind {
        OperationKind::Calc => write!(out, "calc {}", op.size)?,
        OperationKind::Send => write!(out, "send {}b to {}", op.size, op.peer)?,
        OperationKind::Recv if op.peer == ANY => write!(out, "recv {}b from -1", op.size)?,
        OperationKind::Recv => write!(out, "recv {}b from {}", op.size, op.peer)?,
    }
    let is_message = op.kind != OperationKind::Calc;
    if is_message && op.tag == ANY {
        write!(out, " tag -1")?;
    } else if is_message {
        write!(out, " tag {}", op.tag)?;
    }
    if op.cpu != 0 {
        write!(out, " cpu {}", op.cpu)?;
    }
    if is_message && op.nic != 0 {
        write!(out, " nic {}", op.nic)?;
    }
    writeln!(out)
}
