//! Numbers and texts of a file, taken from the front, the most significant byte first.

use base::Refusal;

/// What a valid file is, for refusals.
pub(super) const FILE: &str = "the whole file of a rank, as libdumpi writes it";

/// The bytes of a file, and the position up to which they are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteCursor<'a> {
    pub(super) all: &'a [u8],
    pub(super) at: usize,
}

impl<'a> ByteCursor<'a> {
    /// The bytes of a file from `at` on.
    pub(super) fn from(all: &'a [u8], at: usize) -> Self {
        Self { all, at }
    }

    /// A refusal that names the byte where the cursor is.
    pub(super) fn refuse(&self, why: impl Into<String>) -> Refusal {
        Refusal::new(format!("byte {}", self.at), why.into(), FILE)
    }

    /// Takes the next `length` bytes.
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Refusal> {
        let end = self.at.checked_add(length);
        let Some(taken) = end.and_then(|end| self.all.get(self.at..end)) else {
            let left = self.all.len().saturating_sub(self.at);
            return Err(self.refuse(format!("{length} bytes are due and {left} are left")));
        };
        self.at += length;
        Ok(taken)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        self.take(N).map(|taken| taken.try_into().expect("N bytes were taken"))
    }

    pub(super) fn u8(&mut self) -> Result<u8, Refusal> {
        self.number::<1>().map(|[byte]| byte)
    }

    pub(super) fn i8(&mut self) -> Result<i8, Refusal> {
        self.number().map(i8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Refusal> {
        self.number().map(u16::from_be_bytes)
    }

    pub(super) fn i16(&mut self) -> Result<i16, Refusal> {
        self.number().map(i16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Refusal> {
        self.number().map(u32::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32, Refusal> {
        self.number().map(i32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Refusal> {
        self.number().map(u64::from_be_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, Refusal> {
        self.number().map(i64::from_be_bytes)
    }

    /// Reads the number of items that follow, each of at least `size` bytes.
    pub(super) fn count(&mut self, size: usize) -> Result<usize, Refusal> {
        let here = *self;
        let count = self.u32()? as usize;
        if count.checked_mul(size).is_none_or(|due| due > self.all.len() - self.at) {
            let left = self.all.len() - self.at;
            return Err(here.refuse(format!("{count} items are due and {left} bytes are left")));
        }
        Ok(count)
    }

    /// Reads a text that follows its length.
    pub(super) fn text(&mut self) -> Result<&'a [u8], Refusal> {
        let length = self.count(1)?;
        self.take(length)
    }
}
