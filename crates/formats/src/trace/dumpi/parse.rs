//! The file of one rank, read: its index, its body of records, its footer.

use super::bytes::{ByteCursor, FILE};
use super::layout::{DumpiRecordFormat, LAYOUTS, PCONTROL};
use super::record::{CALLS, DumpiCallRecord, DumpiTrace, END, FOOTER, MAGIC, SIZES, STRIDE};
use base::{ComputationError, ProgressWatch, Refusal};

/// The number of the type `MPI_LONG_LONG_INT`, whose size real files give as 0.
const LONG_LONG_INT: usize = 16;

/// The index of a file: where its sections begin; 0 for those that it lacks.
struct DumpiSectionIndex {
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
pub(super) fn parse(
    content: &[u8],
    watch: &dyn ProgressWatch,
) -> Result<DumpiTrace, ComputationError> {
    let index = index(content)?;
    let mut header = ByteCursor::from(content, index.header);
    let version = [header.u8()?, header.u8()?, header.u8()?];
    let records = body(content, index.body, version, watch)?;
    let left_out = footer(content, index.footer, &records)?;
    Ok(DumpiTrace { version, records, left_out, sizes: sizes(content, index.sizes)? })
}

fn index(content: &[u8]) -> Result<DumpiSectionIndex, Refusal> {
    if !content.starts_with(&MAGIC) {
        return Err(Refusal::new("byte 0", "it does not begin as DUMPI does", FILE));
    }
    let last = (1..content.len().saturating_sub(MAGIC.len() - 1))
        .rev()
        .find(|&at| content[at..].starts_with(&MAGIC));
    let cut = || Refusal::new("", "there is no index at its end: it was cut", FILE);
    let mut from = ByteCursor::from(content, last.ok_or_else(cut)? + MAGIC.len());
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
    Ok(DumpiSectionIndex { sizes, header, body, footer })
}

/// Seconds and nanoseconds as ns.
fn time_ns(from: &mut ByteCursor<'_>, bias_s: i32) -> Result<u64, Refusal> {
    let here = *from;
    let (seconds, ns) = (i64::from(from.u16()?) + i64::from(bias_s), from.u32()?);
    let seconds = u64::try_from(seconds).map_err(|_| here.refuse("a time below 0"))?;
    Ok(seconds * 1_000_000_000 + u64::from(ns))
}

fn body(
    content: &[u8],
    at: usize,
    version: [u8; 3],
    watch: &dyn ProgressWatch,
) -> Result<Vec<DumpiCallRecord>, ComputationError> {
    let mut from = ByteCursor::from(content, at);
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
        let form = DumpiRecordFormat { version, statuses: mask & 3 != 0 };
        let arguments = layout.read(&mut from, form).map_err(|refused| {
            refused.within(&format!("MPI_{} at byte {}", layout.name, here.at))
        })?;
        records.push(DumpiCallRecord { id, at: here.at as u64, wall_ns, arguments });
    }
}

/// Which calls were left out; every other one must be there.
fn footer(
    content: &[u8],
    at: usize,
    records: &[DumpiCallRecord],
) -> Result<Vec<(u16, u32)>, Refusal> {
    let mut from = ByteCursor::from(content, at);
    if from.u64()? != FOOTER {
        return Err(ByteCursor::from(content, at).refuse("no footer begins so"));
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
            return Err(ByteCursor::from(content, at).refuse(why));
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
    let mut from = ByteCursor::from(content, at);
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
