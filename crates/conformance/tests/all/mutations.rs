//! Mutations of files, shared by all tests of readers: of bytes, of numbers within their fields,
//! and of lines.

/// A mutation of a file at a place.
#[derive(Debug, Clone)]
pub(crate) enum FileMutation {
    /// A byte becomes this one.
    Byte(u8),
    /// One bit of a byte changes.
    Bit(u8),
    /// A digit becomes this one: a number changes within its field.
    Digit(u8),
    /// A number becomes another of any length.
    Number(String),
    /// Bytes that could be a number of 32 bits become the largest one.
    Largest,
    /// A line is lost.
    DropLine,
    /// A line comes twice.
    DoubleLine,
    /// A line and another exchange their places.
    SwapLines,
    /// A line without anything is inserted.
    EmptyLine,
    /// This number of bytes is lost.
    DropBytes(u8),
    /// This number of bytes comes twice.
    DoubleBytes(u8),
    /// Everything from this place on is lost.
    Cut,
    /// Something is inserted.
    Insert(String),
}

/// Applies a mutation to a file at a place, which is taken modulo its length.
pub(crate) fn apply(good: &[u8], damage: &FileMutation, at: usize) -> Vec<u8> {
    let mut bytes = good.to_vec();
    if bytes.is_empty() {
        return bytes;
    }
    let here = at % bytes.len();
    let reach = |n: u8| (here + usize::from(n)).min(good.len());
    let digit = (0..bytes.len()).map(|i| (here + i) % bytes.len());
    let digit = || digit.clone().find(|&i| good[i].is_ascii_digit());
    match damage {
        FileMutation::Byte(b) => bytes[here] = *b,
        FileMutation::Bit(bit) => bytes[here] ^= 1 << (bit % 8),
        FileMutation::Digit(new) => {
            if let Some(i) = digit() {
                bytes[i] = b'0' + new % 10;
            }
        }
        FileMutation::Number(new) => {
            if let Some(i) = digit() {
                bytes.splice(i..=i, new.bytes());
            }
        }
        FileMutation::Largest => bytes[here..reach(4)].fill(0xff),
        FileMutation::DropBytes(n) => drop(bytes.drain(here..reach(*n))),
        FileMutation::DoubleBytes(n) => {
            let part = good[here..reach(*n)].to_vec();
            bytes.splice(here..here, part);
        }
        FileMutation::Cut => bytes.truncate(here),
        FileMutation::Insert(s) => drop(bytes.splice(here..here, s.bytes())),
        FileMutation::DropLine
        | FileMutation::DoubleLine
        | FileMutation::SwapLines
        | FileMutation::EmptyLine => {
            let mut lines: Vec<&[u8]> = good.split_inclusive(|b| *b == b'\n').collect();
            let (line, other) = (at % lines.len(), (at / 7) % lines.len());
            match damage {
                FileMutation::DropLine => drop(lines.remove(line)),
                FileMutation::DoubleLine => lines.insert(line, lines[line]),
                FileMutation::EmptyLine => lines.insert(line, b"\n"),
                _ => lines.swap(line, other),
            }
            return lines.concat();
        }
    }
    bytes
}

/// A generator of random numbers by a seed: splitmix64.
pub(crate) struct RandomGenerator(pub(crate) u64);

impl RandomGenerator {
    /// A number from 0, below `most`.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % most.max(1) as u64) as usize
    }
}

/// The fields of a file whose values may change: found by changing each place and testing whether
/// the reader accepts that.
pub(crate) struct MutableFileFields {
    /// A place, and for a binary file the bit of it that may change.
    places: Vec<(usize, u8)>,
    is_text: bool,
}

/// The largest number of places that are tried.
const TRIED: usize = 300;

impl MutableFileFields {
    /// The fields of a good file.
    pub(crate) fn of(good: &[u8], reads: impl Fn(&[u8]) -> bool) -> Self {
        let is_text = std::str::from_utf8(good).is_ok() && !good.contains(&0);
        let mut places = Vec::new();
        let all: Vec<usize> =
            (0..good.len()).filter(|&i| !is_text || good[i].is_ascii_digit()).collect();
        let step = all.len().div_ceil(TRIED).max(1);
        for &at in all.iter().step_by(step) {
            let keeps = |damage: FileMutation| reads(&apply(good, &damage, at));
            if is_text {
                let mut draw = RandomGenerator(at as u64);
                if (0..3).all(|_| keeps(FileMutation::Digit(draw.below(10) as u8))) {
                    places.push((at, 0));
                }
            } else {
                places.extend(
                    (0..8).filter(|bit| keeps(FileMutation::Bit(*bit))).map(|bit| (at, bit)),
                );
            }
        }
        Self { places, is_text }
    }

    /// The file with other values in one to three fields, or in one of four cases with damage
    /// anywhere. Mutations are gentle enough that most files are accepted, because those that fail
    /// at the first byte show nothing.
    pub(crate) fn mutated(&self, good: &[u8], draw: &mut RandomGenerator) -> Vec<u8> {
        if draw.below(4) > 0 && !self.places.is_empty() {
            let mut bytes = good.to_vec();
            for _ in 0..=draw.below(3) {
                let (place, bit) = self.places[draw.below(self.places.len())];
                let digit = FileMutation::Digit(draw.below(10) as u8);
                let damage = if self.is_text { digit } else { FileMutation::Bit(bit) };
                bytes = apply(&bytes, &damage, place);
            }
            return bytes;
        }
        let damage = match draw.below(11) {
            0 if self.is_text => FileMutation::Number("18446744073709551615".to_owned()),
            0 => FileMutation::Largest,
            1 => FileMutation::DropBytes(1 + draw.below(20) as u8),
            2 => FileMutation::DoubleBytes(1 + draw.below(20) as u8),
            3 => FileMutation::DropLine,
            4 => FileMutation::DoubleLine,
            5 => FileMutation::SwapLines,
            6 => FileMutation::Byte(draw.below(256) as u8),
            7 => FileMutation::Cut,
            8 => FileMutation::Number(draw.below(100_000).to_string()),
            9 => FileMutation::EmptyLine,
            _ if self.is_text => FileMutation::Digit(draw.below(10) as u8),
            _ => FileMutation::Bit(draw.below(8) as u8),
        };
        apply(good, &damage, draw.below(good.len() * 8))
    }
}
