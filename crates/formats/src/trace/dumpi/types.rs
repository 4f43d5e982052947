//! Types of data: how many bytes an element has.

use super::record::DumpiCallRecord;
use base::Refusal;
use std::collections::HashMap;

/// The sizes of data types, bytes.
pub(super) struct DataTypeSizes<'a> {
    said: &'a [u32],
    /// Bytes of the types that the process made.
    made: HashMap<i64, u64>,
}

impl<'a> DataTypeSizes<'a> {
    /// The types of a file, whose sizes are by number; 0 where the file does not state a size.
    pub(super) fn new(said: &'a [u32]) -> Self {
        Self { said, made: HashMap::new() }
    }

    /// Bytes of an element; none where the trace does not say it.
    fn size(&self, datatype: i64) -> Option<u64> {
        let said = usize::try_from(datatype).ok().and_then(|at| self.said.get(at));
        self.made.get(&datatype).copied().or_else(|| said.copied().map(u64::from))
    }

    /// Bytes of `count` elements.
    pub(super) fn bytes(&self, count: i64, datatype: i64) -> Result<u64, Refusal> {
        let count = u64::try_from(count)
            .map_err(|_| Refusal::new("count", format!("{count}"), "0 or more"))?;
        if count == 0 {
            return Ok(0);
        }
        let size = self.size(datatype).filter(|&size| size > 0);
        size.and_then(|size| size.checked_mul(count)).ok_or_else(|| {
            let why = format!("{count} elements of type {datatype}, whose size is unknown");
            Refusal::new("datatype", why, "a type with its size in the file, or made by a call")
        })
    }

    /// Records the type that a call makes, if any; one whose size cannot be computed stays unknown.
    pub(super) fn learn(&mut self, record: &DumpiCallRecord) {
        let Some(new) = record.number("newtype") else { return };
        match self.size_made(record) {
            Some(size) => _ = self.made.insert(new, size),
            None => _ = self.made.remove(&new),
        }
    }

    fn size_made(&self, record: &DumpiCallRecord) -> Option<u64> {
        let old = record.number("oldtype").and_then(|old| self.size(old));
        let number = |name| record.number(name).and_then(|n| u64::try_from(n).ok());
        let sum = |name| {
            let all = record.numbers(name)?.iter();
            all.map(|&n| u64::try_from(n).ok()).try_fold(0_u64, |sum, n| sum.checked_add(n?))
        };
        match record.name() {
            "Type_contiguous" => old?.checked_mul(number("count")?),
            "Type_vector"
            | "Type_hvector"
            | "Type_create_hvector"
            | "Type_create_indexed_block" => {
                old?.checked_mul(number("count")?)?.checked_mul(number("blocklength")?)
            }
            "Type_indexed" | "Type_hindexed" => old?.checked_mul(sum("lengths")?),
            "Type_create_hindexed" => old?.checked_mul(sum("blocklengths")?),
            "Type_create_subarray" => {
                let sizes = record.numbers("subsizes")?;
                sizes.iter().try_fold(old?, |size, &n| size.checked_mul(u64::try_from(n).ok()?))
            }
            "Type_struct" | "Type_create_struct" => {
                let lengths = record.numbers("lengths").or(record.numbers("blocklengths"))?;
                let types = record.numbers("oldtypes")?;
                let mut each = lengths
                    .iter()
                    .zip(types)
                    .map(|(&n, &of)| self.size(of)?.checked_mul(u64::try_from(n).ok()?));
                each.try_fold(0_u64, |sum, size| sum.checked_add(size?))
            }
            "Type_dup" | "Type_create_resized" => old,
            _ => None,
        }
    }
}
