//! What one process called, record by record, and the numbers that frame a file of records.

use super::layout::{ArgumentValue, Arguments, LAYOUTS};

/// How a file and its index begin.
pub(super) const MAGIC: [u8; 8] = [0xff, 0xaa, 0xdd, 0x44, 0x55, 0x4d, 0x50, 0x49];

/// Numbers of calls are below this one; from it on, records are marks.
pub(super) const CALLS: u16 = 290;

/// The mark at the end of the body.
pub(super) const END: u16 = 293;

/// How a footer begins.
pub(super) const FOOTER: u64 = 0xf007_fee7;

/// Records between two looks at whether the user wants to stop.
pub(super) const STRIDE: usize = 1 << 14;

/// Sizes of the types from number 2 on, of files without their section.
pub(super) const SIZES: [u32; 18] = [1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1];

/// The trace of one process: its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DumpiTrace {
    /// The version of the format.
    pub version: [u8; 3],
    /// All calls, in order.
    pub records: Vec<DumpiCallRecord>,
    /// Calls that the run made and the file leaves out, as its footer says: number and how often.
    pub left_out: Vec<(u16, u32)>,
    /// Bytes of the types of data by their numbers; 0 where they are not known.
    pub sizes: Vec<u32>,
}

/// One call that a process made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DumpiCallRecord {
    /// Its number in `calls.csv`.
    pub id: u16,
    /// The byte of the file where it stands.
    pub at: u64,
    /// When it began and ended by the clock on the wall, ns; none where the file does not say it.
    pub wall_ns: Option<(u64, u64)>,
    /// What it was called with.
    pub arguments: Arguments,
}

impl DumpiCallRecord {
    /// The call, without `MPI_`.
    pub(super) fn name(&self) -> &'static str {
        LAYOUTS[self.id as usize].name
    }

    /// The argument of this name as a number; `None` where it is none.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.arguments.iter().find_map(|(known, value)| match value {
            ArgumentValue::Number(n) if *known == name => Some(*n),
            _ => None,
        })
    }

    /// The argument of this name as numbers; `None` where it is none.
    pub(super) fn numbers(&self, name: &str) -> Option<&[i64]> {
        self.arguments.iter().find_map(|(known, value)| match value {
            ArgumentValue::Numbers(all) if *known == name => Some(all.as_slice()),
            _ => None,
        })
    }

    /// The argument of this name as lists; `None` where it is none.
    pub(super) fn list(&self, name: &str) -> Option<&[ArgumentValue]> {
        self.arguments.iter().find_map(|(known, value)| match value {
            ArgumentValue::List(all) if *known == name => Some(all.as_slice()),
            _ => None,
        })
    }
}
