//! Tables as bytes: numbers and arrays of them, written and read.

/// A writer of tables as bytes.
pub(super) struct ByteWriter(pub(super) Vec<u8>);

impl ByteWriter {
    /// Writes an array: its length, then each element as `bytes` converts it.
    pub(super) fn array<T, const N: usize>(&mut self, all: &[T], bytes: impl Fn(&T) -> [u8; N]) {
        self.0.extend((all.len() as u64).to_le_bytes());
        self.0.reserve(all.len() * N);
        self.0.extend(all.iter().flat_map(bytes));
    }
}

/// A reader of the remaining bytes; its methods return `None` where these are too few.
pub(super) struct ByteReader<'b>(pub(super) &'b [u8]);

impl ByteReader<'_> {
    /// The next `N` bytes.
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    /// Reads an array; `of` converts the bytes of each element.
    pub(super) fn array<T, const N: usize>(&mut self, of: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
        let len = usize::try_from(u64::from_le_bytes(self.take()?)).ok()?;
        let (all, rest) = self.0.split_at_checked(len.checked_mul(N)?)?;
        self.0 = rest;
        Some(all.as_chunks().0.iter().map(|bytes| of(*bytes)).collect())
    }
}
