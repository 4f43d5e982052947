//! Fields of a message of Protocol Buffers.
//!
//! Source: Protocol Buffers Documentation, Encoding (protobuf.dev/programming-guides/encoding).

use base::Refusal;

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ProtobufFieldValue<'a> {
    /// A number in 7 bits a byte.
    Varint(u64),
    /// 8 bytes.
    Fixed64(u64),
    /// 4 bytes.
    Fixed32(u32),
    /// Text, bytes, packed numbers or a message; where they begin.
    Bytes(ProtobufMessageBytes<'a>),
}

/// Bytes of a trace, and where in the file they begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ProtobufMessageBytes<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> ProtobufMessageBytes<'a> {
    /// Refuses what is at the beginning of these bytes.
    pub(super) fn refuse(&self, why: &str, help: &str) -> Refusal {
        Refusal::new(format!("byte {}", self.at), why, help)
    }

    /// A number in 7 bits a byte, taken from the front.
    pub(super) fn varint(&mut self) -> Result<u64, Refusal> {
        let mut number = 0_u64;
        for (i, &byte) in self.bytes.iter().take(10).enumerate() {
            let part = u64::from(byte & 0x7f);
            if i == 9 && part > 1 {
                break;
            }
            number |= part << (7 * i);
            if byte < 0x80 {
                self.skip(i + 1);
                return Ok(number);
            }
        }
        if self.bytes.len() < 10 && self.bytes.iter().all(|byte| *byte >= 0x80) {
            return Err(self.cut());
        }
        Err(self.refuse("a number of more than 64 bits", "a Chakra execution trace"))
    }

    /// Takes the next `length` bytes.
    pub(super) fn take(&mut self, length: u64) -> Result<Self, Refusal> {
        let Some(bytes) = usize::try_from(length).ok().and_then(|n| self.bytes.get(..n)) else {
            return Err(self.cut());
        };
        let taken = Self { bytes, at: self.at };
        self.skip(bytes.len());
        Ok(taken)
    }

    fn skip(&mut self, bytes: usize) {
        self.bytes = &self.bytes[bytes..];
        self.at += bytes;
    }

    fn cut(&self) -> Refusal {
        self.refuse("the trace is cut off", "the whole file")
    }

    /// The next field: its number and what it holds; none at the end.
    pub(super) fn field(&mut self) -> Result<Option<(u32, ProtobufFieldValue<'a>)>, Refusal> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let begin = *self;
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|number| *number > 0);
        let Some(number) = number else {
            return Err(begin.refuse("a field without a number", "a Chakra execution trace"));
        };
        let value = match key & 7 {
            0 => ProtobufFieldValue::Varint(self.varint()?),
            1 => ProtobufFieldValue::Fixed64(self.take(8)?.little()),
            2 => {
                let length = self.varint()?;
                ProtobufFieldValue::Bytes(self.take(length)?)
            }
            5 => ProtobufFieldValue::Fixed32(self.take(4)?.little() as u32),
            other => {
                let why = format!("a field of the unknown kind {other}");
                return Err(begin.refuse(&why, "a Chakra execution trace"));
            }
        };
        Ok(Some((number, value)))
    }

    /// Up to 8 bytes as a number, the lowest first.
    fn little(&self) -> u64 {
        self.bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }

    /// These bytes as text.
    pub(super) fn text(&self) -> Result<&'a str, Refusal> {
        std::str::from_utf8(self.bytes).map_err(|_| self.refuse("no UTF-8", "text"))
    }
}
