//! DUMPI: what every process of a run of MPI called, a binary file a rank.
//!
//! A file has a magic number, then its sections, found by the index at its very end. Records of the
//! body have no length, so that the layout of every call must be known: `calls.csv`.
//! Source: the format as SST's sst-dumpi library writes it (github.com/sstsimulator/sst-dumpi).

mod bytes;
mod convert;
mod count;
mod groups;
mod joint;
mod layout;
mod programs;
#[cfg(test)]
mod tests;
mod types;
mod write;
#[cfg(test)]
mod write_tests;

pub use convert::schedule;
pub use count::{Counts, RunCounts, counts, run_counts};
pub use layout::{Arguments, Status, Value};
pub use programs::{Files, files, made};
pub use write::{meta, rewritten, write};

use base::{Refusal, Stop, Watch};
use bytes::{Bytes, FILE};
use layout::{LAYOUTS, PCONTROL, Way};

/// How a file and its index begin.
const MAGIC: [u8; 8] = [0xff, 0xaa, 0xdd, 0x44, 0x55, 0x4d, 0x50, 0x49];

/// Numbers of calls are below this one; from it on, records are marks.
const CALLS: u16 = 290;

/// The mark at the end of the body.
const END: u16 = 293;

/// How a footer begins.
const FOOTER: u64 = 0xf007_fee7;

/// Records between two looks at whether the user wants to stop.
const STRIDE: usize = 1 << 14;

/// Sizes of the types from number 2 on, of files without their section.
const SIZES: [u32; 18] = [1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1];

/// The number of the type `MPI_LONG_LONG_INT`, whose size real files give as 0.
const LONG_LONG_INT: usize = 16;

/// What one process called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The version of the format.
    pub version: [u8; 3],
    /// All calls, in order.
    pub records: Vec<Record>,
    /// Calls that the run made and the file leaves out, as its footer says: number and how often.
    pub left_out: Vec<(u16, u32)>,
    /// Bytes of the types of data by their numbers; 0 where they are not known.
    pub sizes: Vec<u32>,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number in `calls.csv`.
    pub id: u16,
    /// The byte of the file where it stands.
    pub at: u64,
    /// When it began and ended by the clock on the wall, ns; none where the file does not say it.
    pub wall_ns: Option<(u64, u64)>,
    /// What it was called with.
    pub arguments: Arguments,
}

impl Record {
    /// The call, without `MPI_`.
    pub fn name(&self) -> &'static str {
        LAYOUTS[self.id as usize].name
    }

    /// The number that an argument is.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.arguments.iter().find_map(|(known, value)| match value {
            Value::Number(n) if *known == name => Some(*n),
            _ => None,
        })
    }

    /// The numbers that an argument has.
    pub fn numbers(&self, name: &str) -> Option<&[i64]> {
        self.arguments.iter().find_map(|(known, value)| match value {
            Value::Numbers(all) if *known == name => Some(all.as_slice()),
            _ => None,
        })
    }

    /// The lists that an argument has.
    fn list(&self, name: &str) -> Option<&[Value]> {
        self.arguments.iter().find_map(|(known, value)| match value {
            Value::List(all) if *known == name => Some(all.as_slice()),
            _ => None,
        })
    }
}

/// Where the sections of a file begin; 0 for those that it lacks.
struct Index {
    sizes: usize,
    header: usize,
    body: usize,
    footer: usize,
}

/// The file of one rank. O(length).
///
/// # Errors
/// With the byte, when it is no such file, was cut, has a call whose layout is not known, or holds
/// another number of calls than its footer says; or when the user stops it.
pub fn parse(content: &[u8], watch: &dyn Watch) -> Result<Trace, Stop> {
    let index = index(content)?;
    let mut header = Bytes::from(content, index.header);
    let version = [header.u8()?, header.u8()?, header.u8()?];
    let records = body(content, index.body, version, watch)?;
    let left_out = footer(content, index.footer, &records)?;
    Ok(Trace { version, records, left_out, sizes: sizes(content, index.sizes)? })
}

fn index(content: &[u8]) -> Result<Index, Refusal> {
    if !content.starts_with(&MAGIC) {
        return Err(Refusal::new("byte 0", "it does not begin as DUMPI does", FILE));
    }
    let last = (1..content.len().saturating_sub(MAGIC.len() - 1))
        .rev()
        .find(|&at| content[at..].starts_with(&MAGIC));
    let cut = || Refusal::new("", "there is no index at its end: it was cut", FILE);
    let mut from = Bytes::from(content, last.ok_or_else(cut)? + MAGIC.len());
    let left = content.len() - from.at;
    // old versions lack the first one to three of the seven
    if !left.is_multiple_of(8) || !(4..=7).contains(&(left / 8)) {
        return Err(from.refuse(format!("an index of {left} bytes is no whole one")));
    }
    let mut places = [0; 7];
    for place in &mut places[7 - left / 8..] {
        let here = from;
        let said = from.u64()?;
        *place = usize::try_from(said)
            .ok()
            .filter(|&at| at < content.len())
            .ok_or_else(|| here.refuse(format!("a section at byte {said}, behind the end")))?;
    }
    let [sizes, _, _, header, body, footer, _] = places;
    for (what, at) in [("header", header), ("body", body), ("footer", footer)] {
        if at == 0 {
            return Err(from.refuse(format!("the index has no {what}")));
        }
    }
    Ok(Index { sizes, header, body, footer })
}

/// Seconds and nanoseconds as ns.
fn time_ns(from: &mut Bytes<'_>, bias_s: i32) -> Result<u64, Refusal> {
    let here = *from;
    let (seconds, ns) = (i64::from(from.u16()?) + i64::from(bias_s), from.u32()?);
    let seconds = u64::try_from(seconds).map_err(|_| here.refuse("a time below 0"))?;
    Ok(seconds * 1_000_000_000 + u64::from(ns))
}

fn body(
    content: &[u8],
    at: usize,
    version: [u8; 3],
    watch: &dyn Watch,
) -> Result<Vec<Record>, Stop> {
    let mut from = Bytes::from(content, at);
    let (cpu_s, wall_s) = (from.i32()?, from.i32()?);
    let mut records = Vec::new();
    loop {
        if records.len().is_multiple_of(STRIDE) {
            watch.tick("bytes", from.at as u64, content.len() as u64)?;
        }
        let here = from;
        let id = from.u16()?;
        if id == END {
            return Ok(records);
        }
        if id >= CALLS + 4 || id == CALLS || id == PCONTROL {
            let name = LAYOUTS.get(id as usize).map_or("", |layout| layout.name);
            let why = format!("call {id} {name}: its record has no known layout");
            return Err(here.refuse(why).into());
        }
        let mask = from.u8()?;
        if mask & 0x40 != 0 {
            from.u16()?;
        }
        if mask & 0x04 != 0 {
            time_ns(&mut from, cpu_s)?;
            time_ns(&mut from, cpu_s)?;
        }
        let wall_ns = if mask & 0x08 == 0 {
            None
        } else {
            Some((time_ns(&mut from, wall_s)?, time_ns(&mut from, wall_s)?))
        };
        if mask & 0x80 != 0 {
            let counters = usize::from(from.u8()?);
            from.take(counters * 16)?;
        }
        if id > CALLS {
            // a function of the program was entered or left
            from.i64()?;
            continue;
        }
        let layout = &LAYOUTS[id as usize];
        let way = Way { version, statuses: mask & 3 != 0 };
        let arguments = layout.read(&mut from, way).map_err(|refused| {
            refused.within(&format!("MPI_{} at byte {}", layout.name, here.at))
        })?;
        records.push(Record { id, at: here.at as u64, wall_ns, arguments });
    }
}

/// Which calls were left out; every other one must be there.
fn footer(content: &[u8], at: usize, records: &[Record]) -> Result<Vec<(u16, u32)>, Refusal> {
    let mut from = Bytes::from(content, at);
    if from.u64()? != FOOTER {
        return Err(Bytes::from(content, at).refuse("no footer begins so"));
    }
    let mut found = [0_u32; CALLS as usize];
    for record in records {
        found[record.id as usize] += 1;
    }
    let mut made = [0_u32; CALLS as usize];
    for one in &mut made {
        *one = from.u32()?;
    }
    from.u32()?;
    let mut left_out = Vec::new();
    for (id, (made, found)) in made.iter().zip(found).enumerate() {
        let ignored = from.u32()?;
        if ignored > 0 {
            left_out.push((id as u16, ignored));
        }
        if made.checked_sub(ignored) != Some(found) {
            let name = LAYOUTS[id].name;
            let why = format!("{found} calls of MPI_{name}, and by the footer {made} - {ignored}");
            return Err(Bytes::from(content, at).refuse(why));
        }
    }
    Ok(left_out)
}

fn sizes(content: &[u8], at: usize) -> Result<Vec<u32>, Refusal> {
    let mut all = vec![0, 0];
    if at == 0 {
        all.extend(SIZES);
        return Ok(all);
    }
    let mut from = Bytes::from(content, at);
    let count = from.count(4)?;
    all.clear();
    for _ in 0..count {
        all.push(from.u32()?);
    }
    if let Some(size @ 0) = all.get_mut(LONG_LONG_INT) {
        *size = 8;
    }
    Ok(all)
}
