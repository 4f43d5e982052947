//! Traces of DUMPI written: the file of a rank, and the text beside the files.
//!
//! The form that the format's tools and CODES read: version 1.1.0, every record with its clocks,
//! no function addresses and no counters. The clock of the processor, which [`DumpiTrace`] does not
//! have, is that on the wall.

use super::layout::{
    ArgumentType, ArgumentValue, CallArgument, CallLayout, LAYOUTS, PCONTROL, ReceiveStatus, number,
};
use super::record::{CALLS, DumpiCallRecord, DumpiTrace, END, FOOTER, MAGIC, STRIDE};
use base::{ComputationError, ProgressWatch, Refusal};
use std::fmt::Write as _;

/// The version that is written.
const VERSION: [u8; 3] = [1, 1, 0];

/// The parts that every record has: a thread, both clocks, statuses.
const MASK: u8 = 0x4f;

/// The bits of the two clocks.
const CLOCKS: u8 = 0x0c;

/// The tag of a status from a version that had none.
const NO_TAG: i32 = -1;

/// Nanoseconds in a second.
const NS: u64 = 1_000_000_000;

/// The bytes of a file. O(length).
///
/// Read back they are the same trace but for its version, which is 1.1.0, and the places of the
/// records. Seconds have 16 bits: where the run was later than that, all are counted from its first
/// one.
///
/// # Errors
/// With the call, where arguments are not those of its layout or a number does not fit; for a call
/// without layout, a run of more than 18 hours; or when the user stops it.
pub(super) fn write(
    trace: &DumpiTrace,
    watch: &dyn ProgressWatch,
) -> Result<Vec<u8>, ComputationError> {
    let mut out = DumpiRecordWriter { bytes: MAGIC.to_vec(), bias_s: 0 };
    let clocks = trace.records.iter().filter_map(|record| record.wall_ns);
    let (first, last) = clocks.fold((u64::MAX, 0), |(first, last), (start, end)| {
        (first.min(start).min(end), last.max(start).max(end))
    });
    if last / NS > u64::from(u16::MAX) {
        out.bias_s = first / NS;
    }
    let bias = i32::try_from(out.bias_s).map_err(|_| {
        let why = format!("the run begins at {} s", out.bias_s);
        Refusal::new("time", why, "seconds of 31 bits")
    })?;
    out.i32(0);
    out.i32(bias);
    let mut made = [0_u32; CALLS as usize];
    for (number, record) in trace.records.iter().enumerate() {
        if number.is_multiple_of(STRIDE) {
            watch.tick("calls", number as u64, trace.records.len() as u64)?;
        }
        out.record(record).map_err(|refused| {
            let name = LAYOUTS.get(record.id as usize).map_or("", |layout| layout.name);
            refused.within(&format!("call {number}, MPI_{name}"))
        })?;
        made[record.id as usize] += 1;
    }
    out.u16(END);
    out.u8(0);
    let header = out.bytes.len();
    out.bytes.extend(VERSION);
    // when it began, host, user, places in a mesh and its sides: none is known
    out.bytes.extend([0; 8 + 2 + 2 + 4 + 4]);
    let footer = out.bytes.len();
    out.footer(&made, &trace.left_out)?;
    let pairs = out.bytes.len();
    out.u32(0);
    let sizes = out.bytes.len();
    out.u32(trace.sizes.len() as u32);
    trace.sizes.iter().for_each(|&size| out.u32(size));
    out.bytes.extend(MAGIC);
    for place in [sizes, 0, 0, header, MAGIC.len(), footer, pairs] {
        out.bytes.extend((place as u64).to_be_bytes());
    }
    Ok(out.bytes)
}

/// The text of `PREFIX.meta`, which stands beside the files of the ranks.
pub(super) fn meta(prefix: &str, ranks: u32) -> String {
    let mut text = String::new();
    let [version, subversion, subsubversion] = VERSION;
    let lines = [
        ("hostname", "none"),
        ("numprocs", &ranks.to_string()),
        ("username", "none"),
        ("startime", "0"),
        ("fileprefix", prefix),
        ("version", &version.to_string()),
        ("subversion", &subversion.to_string()),
        ("subsubversion", &subsubversion.to_string()),
    ];
    for (key, value) in lines {
        writeln!(text, "{key}={value}").expect("strings take all");
    }
    text
}

/// A writer of records, with what is written so far.
struct DumpiRecordWriter {
    bytes: Vec<u8>,
    bias_s: u64,
}

impl DumpiRecordWriter {
    fn u8(&mut self, n: u8) {
        self.bytes.push(n);
    }

    fn u16(&mut self, n: u16) {
        self.bytes.extend(n.to_be_bytes());
    }

    fn u32(&mut self, n: u32) {
        self.bytes.extend(n.to_be_bytes());
    }

    fn i32(&mut self, n: i32) {
        self.bytes.extend(n.to_be_bytes());
    }

    fn time(&mut self, ns: u64) -> Result<(), Refusal> {
        let seconds = u16::try_from(ns / NS - self.bias_s).map_err(|_| {
            let why = format!("{ns} ns, and the run begins at {} s", self.bias_s);
            Refusal::new("time", why, "runs of 65,535 s at most")
        })?;
        self.u16(seconds);
        self.u32((ns % NS) as u32);
        Ok(())
    }

    fn record(&mut self, record: &DumpiCallRecord) -> Result<(), Refusal> {
        let known = LAYOUTS.get(record.id as usize).filter(|_| record.id != PCONTROL);
        let layout = known.ok_or_else(|| {
            Refusal::new("", format!("call {} has no known layout", record.id), "another call")
        })?;
        self.u16(record.id);
        self.u8(if record.wall_ns.is_some() { MASK } else { MASK & !CLOCKS });
        self.u16(0);
        if let Some((start, end)) = record.wall_ns {
            // the processor's clock has no bias of its own, and counts from the first second on
            for _ in 0..2 {
                self.time(start)?;
                self.time(end)?;
            }
        }
        self.arguments(layout, record)
    }

    fn arguments(&mut self, layout: &CallLayout, record: &DumpiCallRecord) -> Result<(), Refusal> {
        let mut given = record.arguments.iter();
        for argument in layout.arguments.iter().filter(|one| one.is_there(&record.arguments)) {
            let Some((name, value)) = given.next() else {
                return Err(Refusal::new(argument.name, "it is not there", "all arguments"));
            };
            if *name != argument.name {
                let help = format!("{} in this place", argument.name);
                return Err(Refusal::new(*name, "it is no such argument", help));
            }
            let argc = number(&record.arguments, &["argc"]);
            self.argument(argument, value, argc).ok_or_else(|| {
                let help = "a value of its type, numbers within their bits";
                Refusal::new(*name, format!("{value:?}"), help)
            })?;
        }
        match given.next() {
            Some((name, _)) => Err(Refusal::new(*name, "it is one too many", "those of the call")),
            None => Ok(()),
        }
    }

    /// Writes an argument; `None` where its value is not of its type.
    fn argument(
        &mut self,
        argument: &CallArgument,
        value: &ArgumentValue,
        argc: Option<i64>,
    ) -> Option<()> {
        match (argument.is, value) {
            (ArgumentType::Texts, ArgumentValue::List(all))
                if i64::try_from(all.len()).ok() == argc =>
            {
                all.iter().try_for_each(|one| self.value(ArgumentType::Text, 0, one))
            }
            (ArgumentType::Texts, _) => None,
            (is, value) => self.value(is, argument.lists, value),
        }
    }

    fn value(&mut self, is: ArgumentType, lists: u8, value: &ArgumentValue) -> Option<()> {
        match (is, lists, value) {
            (ArgumentType::Status, 0, ArgumentValue::Statuses(all)) => {
                self.u32(u32::try_from(all.len()).ok()?);
                for status in all {
                    self.status(status);
                }
                Some(())
            }
            (ArgumentType::Text, 0, ArgumentValue::Text(text)) => {
                self.u32(u32::try_from(text.len()).ok()?);
                self.bytes.extend(text.as_bytes());
                Some(())
            }
            (
                ArgumentType::I8 | ArgumentType::I16 | ArgumentType::I32 | ArgumentType::I64,
                0,
                ArgumentValue::Number(n),
            ) => self.number(is, *n),
            (
                ArgumentType::I8 | ArgumentType::I16 | ArgumentType::I32 | ArgumentType::I64,
                1,
                ArgumentValue::Numbers(all),
            ) => {
                self.u32(u32::try_from(all.len()).ok()?);
                all.iter().try_for_each(|&n| self.number(is, n))
            }
            (_, 1.., ArgumentValue::List(all)) if is == ArgumentType::Text || lists > 1 => {
                self.u32(u32::try_from(all.len()).ok()?);
                all.iter().try_for_each(|one| self.value(is, lists - 1, one))
            }
            _ => None,
        }
    }

    fn number(&mut self, is: ArgumentType, n: i64) -> Option<()> {
        match is {
            ArgumentType::I8 => self.bytes.extend(i8::try_from(n).ok()?.to_be_bytes()),
            ArgumentType::I16 => self.bytes.extend(i16::try_from(n).ok()?.to_be_bytes()),
            ArgumentType::I64 => self.bytes.extend(n.to_be_bytes()),
            _ => self.i32(i32::try_from(n).ok()?),
        }
        Some(())
    }

    fn status(&mut self, status: &ReceiveStatus) {
        self.i32(status.bytes);
        self.i32(status.source);
        self.u8(status.cancelled.into());
        self.u8(status.error);
        self.i32(status.tag.unwrap_or(NO_TAG));
    }

    /// How often each call was made and was left out, with their sums.
    fn footer(&mut self, written: &[u32], left_out: &[(u16, u32)]) -> Result<(), Refusal> {
        let mut ignored = [0_u32; CALLS as usize];
        for &(id, times) in left_out {
            let one = ignored.get_mut(id as usize).ok_or_else(|| {
                Refusal::new("left_out", format!("call {id}"), "numbers of calls, below 290")
            })?;
            *one = times;
        }
        let made: Option<Vec<u32>> =
            written.iter().zip(&ignored).map(|(a, b)| a.checked_add(*b)).collect();
        let total = |all: &[u32]| all.iter().try_fold(0_u32, |sum, &n| sum.checked_add(n));
        let sums = made.and_then(|made| Some((total(&made)?, total(&ignored)?, made)));
        let Some((sum, sum_ignored, made)) = sums else {
            return Err(Refusal::new("left_out", "more than 2^32 calls", "fewer"));
        };
        self.bytes.extend(FOOTER.to_be_bytes());
        made.iter().chain([&sum]).for_each(|&n| self.u32(n));
        ignored.iter().chain([&sum_ignored]).for_each(|&n| self.u32(n));
        Ok(())
    }
}
