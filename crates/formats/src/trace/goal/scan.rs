//! Words and numbers of a text, with the line that they are in.

use base::Refusal;

/// A scanner of a text, at the place where the reader is.
pub(super) struct GoalScanner<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
    /// What comments said of collective operations since [`GoalScanner::bounds`] was called.
    bounds: Vec<CollectiveMarker<'a>>,
}

/// A comment that says where the operations of a collective operation begin or end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CollectiveMarker<'a> {
    /// The operations begin; with the name of the collective operation.
    Begin(&'a str),
    /// The operations end.
    End,
}

/// How a comment begins that gives the operations after it the name of a collective operation.
pub(super) const COLLECTIVE: &str = "// collective ";
/// The comment after the last operation of a collective operation.
pub(super) const END: &str = "// end of collective";

impl<'a> GoalScanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, line: 1, bounds: Vec::new() }
    }

    /// A refusal that names the line.
    pub(super) fn refuse(&self, why: impl Into<String>, help: impl Into<String>) -> Refusal {
        Refusal::new(format!("line {}", self.line), why, help)
    }

    /// How many bytes have been read.
    pub(super) fn done(&self) -> usize {
        self.at
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Passes over blanks.
    #[inline]
    pub(super) fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Passes over blanks, comments and ends of lines.
    ///
    /// # Errors
    /// A comment without end.
    pub(super) fn lines(&mut self) -> Result<(), Refusal> {
        loop {
            self.gaps()?;
            match self.peek() {
                Some(b'\n') => {
                    self.at += 1;
                    self.line += 1;
                }
                Some(b'\r') if self.bytes.get(self.at + 1) == Some(&b'\n') => self.at += 1,
                _ => return Ok(()),
            }
        }
    }

    /// Passes over blanks and comments within a line; a `/* */` may be several lines long.
    fn gaps(&mut self) -> Result<(), Refusal> {
        loop {
            self.blanks();
            match self.bytes.get(self.at..self.at + 2) {
                Some(b"//") => {
                    let rest = &self.bytes[self.at..];
                    let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                    self.bounds.extend(bound(&rest[..end]));
                    self.at += end;
                }
                Some(b"/*") => self.block()?,
                _ => return Ok(()),
            }
        }
    }

    fn block(&mut self) -> Result<(), Refusal> {
        let rest = &self.bytes[self.at..];
        let Some(end) = rest[2..].windows(2).position(|w| w == b"*/") else {
            return Err(self.refuse("a comment does not end", "*/ after /*"));
        };
        self.line += rest[..end + 4].iter().map(|&b| u64::from(b == b'\n')).sum::<u64>();
        self.at += end + 4;
        Ok(())
    }

    /// What comments have said of collective operations since the last call of this function.
    pub(super) fn bounds(&mut self) -> Vec<CollectiveMarker<'a>> {
        std::mem::take(&mut self.bounds)
    }

    /// The end of a line, after blanks and comments.
    ///
    /// # Errors
    /// When something else is there.
    pub(super) fn end_of_line(&mut self) -> Result<(), Refusal> {
        self.gaps()?;
        match self.peek() {
            None | Some(b'\n' | b'\r') => Ok(()),
            Some(_) => {
                let what = self.rest_of_word();
                Err(self.refuse(format!("'{what}' after the operation"), "the end of the line"))
            }
        }
    }

    /// A word of letters, digits and `_` that begins with a letter, after blanks; empty where there
    /// is none.
    #[inline]
    pub(super) fn word(&mut self) -> &'a [u8] {
        self.blanks();
        let from = self.at;
        if self.peek().is_some_and(|b| b.is_ascii_alphabetic()) {
            while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
                self.at += 1;
            }
        }
        &self.bytes[from..self.at]
    }

    /// Goes on past `sign`, after blanks, where it is next.
    #[inline]
    pub(super) fn sign(&mut self, sign: u8) -> bool {
        self.blanks();
        let is_next = self.peek() == Some(sign);
        self.at += usize::from(is_next);
        is_next
    }

    /// Goes on past `word` where it is next.
    #[inline]
    pub(super) fn keyword(&mut self, word: &str) -> bool {
        self.blanks();
        let rest = &self.bytes[self.at..];
        let ends = rest.get(word.len()).is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_');
        let is_next = rest.starts_with(word.as_bytes()) && ends;
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    /// A whole number up to `most`, after blanks.
    ///
    /// # Errors
    /// When there is none, or a larger one; `what` says of what.
    #[inline]
    pub(super) fn number(&mut self, what: &str, most: u64) -> Result<u64, Refusal> {
        self.blanks();
        let (from, mut value) = (self.at, 0_u64);
        let mut is_small = true;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            let more = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit - b'0')));
            is_small &= more.is_some();
            value = more.unwrap_or(u64::MAX);
            self.at += 1;
        }
        if from == self.at {
            let found = self.rest_of_word();
            return Err(self.refuse(format!("'{found}' where {what} should be"), "a whole number"));
        }
        if !is_small || value > most {
            let said = String::from_utf8_lossy(&self.bytes[from..self.at]);
            return Err(self.refuse(format!("{what}: {said} is too large"), format!("0 to {most}")));
        }
        Ok(value)
    }

    /// As [`GoalScanner::number`], or -1, which is [`u32::MAX`].
    #[inline]
    pub(super) fn number_or_any(&mut self, what: &str) -> Result<u32, Refusal> {
        self.blanks();
        if self.bytes[self.at..].starts_with(b"-1") {
            self.at += 2;
            return Ok(u32::MAX);
        }
        self.number(what, u64::from(u32::MAX) - 1).map(|n| n as u32)
    }

    /// What is next, up to a blank, for messages.
    pub(super) fn rest_of_word(&self) -> String {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        String::from_utf8_lossy(&rest[..end.min(40)]).into_owned()
    }

    /// Whether everything has been read.
    pub(super) fn is_end(&self) -> bool {
        self.at == self.bytes.len()
    }
}

/// What a comment says of collective operations; nothing where it is any other comment.
fn bound(comment: &[u8]) -> Option<CollectiveMarker<'_>> {
    let comment = std::str::from_utf8(comment).ok()?.trim_end();
    if comment == END {
        return Some(CollectiveMarker::End);
    }
    let name = comment.strip_prefix(COLLECTIVE)?;
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let is_name = !name.is_empty() && name.bytes().all(is_word);
    is_name.then_some(CollectiveMarker::Begin(name))
}
