//! The grammar of the table file: what its records say, before any network is asked.
//!
//! Source: `docs/opensm.md` defines it; `runtime/opensm/tables.c` and
//! `python/flyloom/certificate_check.py` read the very same language.

use super::lft::{DROP, FabricForwardingTables};
use base::Refusal;
use fabric::addresses::{MAX_LID, MAX_LMC};
use std::collections::{BTreeMap, BTreeSet};

/// Switch GUID, in-port and out-port of an `sl2vl` record; `None` is `*`.
pub(super) type Sl2VlKey = (Option<u64>, Option<u16>, Option<u16>);

/// Marks a LID that no record gives.
const NOT_GIVEN: u16 = u16::MAX;
/// `.`: a LID that is given without a level.
const NO_LEVEL: u16 = 16;
const MAX_PORT: u16 = 254;

/// The contents of a whole file of tables.
#[derive(Debug, Default)]
pub(super) struct TableFileContents {
    pub(super) lmc: u8,
    pub(super) lfts: FabricForwardingTables,
    default: u8,
    by_switch: BTreeMap<u64, Vec<u16>>,
    by_source: BTreeMap<u16, Vec<u16>>,
    /// The records `sl2vl` in the order of the file; of several that match, the last counts.
    pub(super) sl2vl: Vec<(Sl2VlKey, [u8; 16])>,
}

impl TableFileContents {
    /// The level of paths from `source`, the base LID of a terminal on `switch`, to `lid`.
    pub(super) fn level(&self, switch: u64, source: u16, lid: u16) -> u8 {
        let of = |row: Option<&Vec<u16>>| {
            let level = row.and_then(|r| r.get(usize::from(lid))).copied();
            level.filter(|l| *l < NO_LEVEL).map(|l| l as u8)
        };
        let own = of(self.by_source.get(&source));
        own.or_else(|| of(self.by_switch.get(&switch))).unwrap_or(self.default)
    }

    /// Whether every path has the default level.
    pub(super) fn has_one_level(&self) -> bool {
        self.by_switch.is_empty() && self.by_source.is_empty()
    }

    /// The default level.
    pub(super) fn default_level(&self) -> u8 {
        self.default
    }

    /// The base LIDs that have levels of their own.
    pub(super) fn sources(&self) -> impl Iterator<Item = u16> + '_ {
        self.by_source.keys().copied()
    }
}

/// Reads the text of a table file. O(text log switches).
///
/// # Errors
/// Names the line of `file` and what was expected there.
pub(super) fn parse(text: &str, file: &str) -> Result<TableFileContents, Refusal> {
    let mut reader = TableFileReader::default();
    for (n, line) in text.split('\n').enumerate() {
        reader.line(line).map_err(|TableRecordFault { why, help }| {
            Refusal::new(format!("{file}: line {}", n + 1), why, help)
        })?;
    }
    if reader.place != TableFileSection::Behind {
        let help = match reader.place {
            TableFileSection::Before => "the first record must be `flyloom-tables 1`",
            _ => "the last record must be `end`",
        };
        return Err(Refusal::new(file, "the file is cut off", help));
    }
    Ok(reader.found)
}

/// A fault of a record: what is wrong with it, and what would be right.
struct TableRecordFault {
    why: String,
    help: &'static str,
}

fn wrong<T>(why: impl Into<String>, help: &'static str) -> Result<T, TableRecordFault> {
    Err(TableRecordFault { why: why.into(), help })
}

/// A section of a file of tables, by the kind of its records.
#[derive(Default, PartialEq, Eq)]
enum TableFileSection {
    /// Before the header.
    #[default]
    Before,
    Body,
    /// After `end`.
    Behind,
}

/// A reader of files of tables, with the tables that it has read so far.
#[derive(Default)]
struct TableFileReader {
    place: TableFileSection,
    lmc: Option<u16>,
    default: Option<u16>,
    ports: BTreeMap<u64, Vec<u16>>,
    keys: BTreeSet<Sl2VlKey>,
    found: TableFileContents,
}

impl TableFileReader {
    fn line(&mut self, line: &str) -> Result<(), TableRecordFault> {
        if let Some(c) = line.chars().find(|c| c.is_ascii_control() && *c != '\t') {
            let why = format!("a control character (byte {})", u32::from(c));
            return wrong(why, "printable ASCII, blanks and tabs, lines that end with \\n alone");
        }
        let record = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = record.split([' ', '\t']).filter(|w| !w.is_empty()).collect();
        if words.is_empty() {
            return Ok(());
        }
        match self.place {
            TableFileSection::Body => self.record(&words),
            TableFileSection::Before if words == ["flyloom-tables", "1"] => {
                self.place = TableFileSection::Body;
                Ok(())
            }
            TableFileSection::Before => wrong(shown(&words), "`flyloom-tables 1` first"),
            TableFileSection::Behind => wrong(shown(&words), "nothing after `end`"),
        }
    }

    fn record(&mut self, words: &[&str]) -> Result<(), TableRecordFault> {
        match *words {
            ["end"] => self.finish(),
            ["lmc", lmc] => {
                let lmc = number(lmc, 0, MAX_LMC.into());
                once(&mut self.lmc, lmc, words, "lmc 0 to 7", "one lmc record")
            }
            ["sl", "default", level] => {
                let (level, help) = (number(level, 0, 15), "sl default 0 to 15");
                once(&mut self.default, level, words, help, "one `sl default` record")
            }
            ["lft", guid, first, ref ports @ ..] => {
                let help = "lft 0x<16 hex digits> <first LID> <port 0 to 254, or -> ...";
                let port =
                    |w: &&str| if *w == "-" { Some(DROP.into()) } else { number(w, 0, MAX_PORT) };
                let ports: Option<Vec<u16>> = ports.iter().map(port).collect();
                let all = (guid_of(guid), number(first, 1, MAX_LID), ports);
                let (Some(guid), Some(first), Some(ports)) = all else {
                    return wrong(shown(words), help);
                };
                put(self.ports.entry(guid).or_default(), first, &ports, words)
            }
            ["sl", guid, first, digits] => {
                let help = "sl 0x<16 hex digits> <first LID> <hex digit or . for each LID>";
                let all = (guid_of(guid), number(first, 1, MAX_LID), levels(digits));
                let (Some(guid), Some(first), Some(levels)) = all else {
                    return wrong(shown(words), help);
                };
                put(self.found.by_switch.entry(guid).or_default(), first, &levels, words)
            }
            ["sl", "from", source, first, digits] => {
                let help = "sl from <source LID> <first LID> <hex digit or . for each LID>";
                let lid = |word| number(word, 1, MAX_LID);
                let (Some(source), Some(first), Some(levels)) =
                    (lid(source), lid(first), levels(digits))
                else {
                    return wrong(shown(words), help);
                };
                put(self.found.by_source.entry(source).or_default(), first, &levels, words)
            }
            ["sl2vl", guid, input, output, ref lanes @ ..] => {
                let help = "sl2vl 0x<16 hex digits>|* <in-port>|* <out-port>|* and 16 lanes";
                let lanes: Option<Vec<u8>> =
                    lanes.iter().map(|w| number(w, 0, 15).map(|l| l as u8)).collect();
                let lanes: Option<[u8; 16]> = lanes.and_then(|l| l.try_into().ok());
                let port = |word| star(word, |w| number(w, 0, MAX_PORT));
                let (Ok(guid), Ok(input), Ok(output), Some(lanes)) =
                    (star(guid, guid_of), port(input), port(output), lanes)
                else {
                    return wrong(shown(words), help);
                };
                self.sl2vl((guid, input, output), lanes, words)
            }
            _ => wrong(shown(words), "lmc, lft, sl, sl2vl or end"),
        }
    }

    fn sl2vl(
        &mut self,
        key: Sl2VlKey,
        lanes: [u8; 16],
        words: &[&str],
    ) -> Result<(), TableRecordFault> {
        match self.found.sl2vl.last() {
            None if form(&key) != 0 => return wrong(shown(words), "`sl2vl * * *` before others"),
            Some((before, _)) if form(before) > form(&key) => {
                let help = "sl2vl records in the order * * *, * * O, * I *, * I O, G * *, ...";
                return wrong(format!("{} is more general than those before", shown(words)), help);
            }
            _ => {}
        }
        if !self.keys.insert(key) {
            return wrong(format!("{} comes twice", shown(words)), "each switch and ports once");
        }
        self.found.sl2vl.push((key, lanes));
        Ok(())
    }

    /// Checks what only the whole file can show: that no record is missing, and that records fit
    /// together.
    fn finish(&mut self) -> Result<(), TableRecordFault> {
        let (Some(lmc), Some(default)) = (self.lmc, self.default) else {
            let missing = if self.lmc.is_none() { "lmc" } else { "`sl default`" };
            return wrong(format!("no {missing} record before `end`"), "one lmc, one sl default");
        };
        if self.found.sl2vl.is_empty() || self.ports.is_empty() {
            return wrong("no lft or no sl2vl record before `end`", "lft, and `sl2vl * * *`");
        }
        let lanes = self.found.sl2vl.iter().filter_map(|((guid, ..), _)| guid.as_ref());
        if let Some(guid) =
            self.found.by_switch.keys().chain(lanes).find(|g| !self.ports.contains_key(g))
        {
            let why = format!("switch 0x{guid:016x} has no lft record");
            return wrong(why, "lft records of every switch");
        }
        if let Some(lid) = self.found.by_source.keys().find(|l| !l.is_multiple_of(1 << lmc)) {
            let why = format!("sl from {lid} is no multiple of {}, as LMC {lmc} demands", 1 << lmc);
            return wrong(why, "the first LID of a port");
        }
        (self.found.lmc, self.found.default) = (lmc as u8, default as u8);
        let byte = |port: u16| u8::try_from(port).unwrap_or(DROP);
        let row = |(guid, row): (u64, Vec<u16>)| (guid, row.into_iter().map(byte).collect());
        self.found.lfts.by_guid = std::mem::take(&mut self.ports).into_iter().map(row).collect();
        self.place = TableFileSection::Behind;
        Ok(())
    }
}

/// How special a record is: of two that match the same ports, the one with the higher form counts.
fn form((switch, input, output): &Sl2VlKey) -> u8 {
    u8::from(switch.is_some()) << 2 | u8::from(input.is_some()) << 1 | u8::from(output.is_some())
}

/// The first words of a record, for messages.
fn shown(words: &[&str]) -> String {
    format!("'{}'", words.join(" ").chars().take(60).collect::<String>())
}

/// A decimal number without sign, leading zeros or blanks.
fn number(word: &str, low: u16, high: u16) -> Option<u16> {
    let plain = word.bytes().all(|b| b.is_ascii_digit()) && (word == "0" || !word.starts_with('0'));
    word.parse().ok().filter(|n| plain && (low..=high).contains(n))
}

fn guid_of(word: &str) -> Option<u64> {
    let digits = word.strip_prefix("0x")?;
    let plain = digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|g| plain && *g != 0)
}

/// `None` for `*`.
fn star<T>(word: &str, value: impl Fn(&str) -> Option<T>) -> Result<Option<T>, ()> {
    if word == "*" { Ok(None) } else { value(word).map(Some).ok_or(()) }
}

fn levels(digits: &str) -> Option<Vec<u16>> {
    let digit = |c: char| {
        if c == '.' { Some(NO_LEVEL) } else { c.to_digit(16).map(|d| d as u16) }
    };
    digits.chars().map(digit).collect()
}

fn once(
    place: &mut Option<u16>,
    value: Option<u16>,
    words: &[&str],
    valid: &'static str,
    one: &'static str,
) -> Result<(), TableRecordFault> {
    if value.is_none() {
        return wrong(shown(words), valid);
    }
    if std::mem::replace(place, value).is_some() {
        return wrong(format!("{} is the second one", shown(words)), one);
    }
    Ok(())
}

/// Puts `items` at `first` of a row of LIDs, each of which is given once.
fn put(
    row: &mut Vec<u16>,
    first: u16,
    items: &[u16],
    words: &[&str],
) -> Result<(), TableRecordFault> {
    let (begin, end) = (usize::from(first), usize::from(first) + items.len());
    if items.is_empty() {
        return wrong(format!("{} has no entry", shown(words)), "one entry or more");
    }
    if end > usize::from(MAX_LID) + 1 {
        return wrong(format!("{} runs past LID {MAX_LID}", shown(words)), "LIDs 1 to 49151");
    }
    if row.len() < end {
        row.resize(end, NOT_GIVEN);
    }
    if let Some(again) = row[begin..end].iter().position(|i| *i != NOT_GIVEN) {
        let why = format!("{}: LID {} has an entry already", shown(words), begin + again);
        return wrong(why, "each LID once for each switch or source");
    }
    row[begin..end].copy_from_slice(items);
    Ok(())
}
