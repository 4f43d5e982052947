//! The two kinds of line that carry a fabric: a node's and a port's.

use super::said::{DeviceLineKind, LineFault, MAX_PORT};
use base::words::did_you_mean;
use fabric::network::{Cable, InfinibandLaneSpeed, NAMES, name_fault};
use std::borrow::Cow;

/// The words that lines of nodes begin with.
pub(super) const NODES: [(&str, DeviceLineKind); 4] = [
    ("Switch", DeviceLineKind::Switch),
    ("Ca", DeviceLineKind::Adapter),
    ("Hca", DeviceLineKind::Adapter),
    ("Rt", DeviceLineKind::Router),
];
/// The keys of the next node's GUID.
pub(super) const GUIDS: [(&str, DeviceLineKind); 4] = [
    ("switchguid", DeviceLineKind::Switch),
    ("caguid", DeviceLineKind::Adapter),
    ("hcaguid", DeviceLineKind::Adapter),
    ("rtguid", DeviceLineKind::Router),
];
/// The keys of other numbers of the next node.
const IDS: [&str; 3] = ["vendid", "devid", "sysimgguid"];
/// Lanes that a cable can have.
pub(super) const WIDTHS: [u8; 5] = [1, 2, 4, 8, 12];
/// The keys of settings of a netlist of `ibsim`.
const SETTINGS: [&str; 3] = ["width", "speed", "extspeed"];
/// The words of a netlist of `ibsim` that are not read.
const SIMULATOR: [&str; 3] = ["include", "module", "do"];

/// The words that lines of nodes begin with.
fn nodes() -> impl Iterator<Item = &'static str> {
    NODES.into_iter().map(|(word, _)| word)
}

/// The keys before `=` of all lines that have one.
fn keys() -> impl Iterator<Item = &'static str> {
    IDS.into_iter().chain(GUIDS.into_iter().map(|(key, _)| key)).chain(SETTINGS)
}

/// A scanner of a line, which holds the part that is not read yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineScanner<'a>(pub &'a str);

impl<'a> LineScanner<'a> {
    pub(super) fn eat(&mut self, what: &str) -> bool {
        let rest = self.0.strip_prefix(what);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn space(&mut self) {
        self.0 = self.0.trim_start();
    }

    /// Takes everything up to `end`, which is taken as well.
    fn until(&mut self, end: char) -> Option<&'a str> {
        let (head, rest) = self.0.split_once(end)?;
        self.0 = rest;
        Some(head)
    }

    fn run(&mut self, part: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(|c| !part(c)).unwrap_or(self.0.len());
        let (head, rest) = self.0.split_at(end);
        self.0 = rest;
        head
    }

    /// A number as C's `strtoull` reads it: hexadecimal after `0x`, else decimal.
    pub(super) fn c_number(&mut self) -> Result<u64, LineFault> {
        let hexadecimal = self.eat("0x") || self.eat("0X");
        let radix = if hexadecimal { 16 } else { 10 };
        let digits = self.run(|c| c.is_digit(radix));
        u64::from_str_radix(digits, radix).map_err(|_| {
            LineFault::new("a number is missing or too large", "expected 0x and hex digits")
        })
    }

    /// A port number, its closing bracket and, from `ibnetdiscover -g`, the outer port number.
    fn port(&mut self) -> Result<u16, LineFault> {
        let digits = self.run(|c| c.is_ascii_digit());
        let port = digits.parse().ok().filter(|_| self.eat("]")).ok_or_else(|| {
            LineFault::new(format!("'[{digits}' is no port"), "expected a number in brackets")
        })?;
        if self.eat("[ext ") {
            self.until(']').ok_or_else(|| LineFault::new("'[ext' is cut off", "expected ]"))?;
        }
        Ok(port)
    }

    /// `(HEX)`, the GUID of a port, when it comes next.
    fn port_guid(&mut self) -> Result<Option<u64>, LineFault> {
        if !self.eat("(") {
            return Ok(None);
        }
        let digits = self.run(|c| c.is_ascii_hexdigit());
        let guid = u64::from_str_radix(digits, 16).ok().filter(|_| self.eat(")"));
        let bad =
            || LineFault::new(format!("'({digits}' is no port GUID"), "expected (hex digits)");
        Ok(Some(guid.ok_or_else(bad)?).filter(|g| *g != 0))
    }

    /// `"ID"`.
    fn id(&mut self) -> Result<&'a str, LineFault> {
        self.space();
        let id = if self.eat("\"") { self.until('"') } else { None };
        id.filter(|i| !i.is_empty() && !i.contains(['#', '@'])).ok_or_else(|| {
            let why = "the id of a node is missing or has # or @ in it";
            LineFault::new(why, "expected a name in quotes: \"S-...\", \"H-...\" or \"R-...\"")
        })
    }
}

/// `PORTS "ID" # "NAME" enhanced port 0 lid N lmc N`, after the word that starts it.
pub(super) struct NodeLine<'a> {
    pub(super) ports: u16,
    pub(super) id: Cow<'a, str>,
    pub(super) name: Option<&'a str>,
    pub(super) lid: Option<u16>,
}

impl<'a> NodeLine<'a> {
    pub(super) fn parse(rest: &'a str) -> Result<Self, LineFault> {
        let mut scan = LineScanner(rest.trim_start());
        if scan.0.starts_with(": 0x") {
            let help = "use the output of ibnetdiscover without -l";
            return Err(LineFault::new("a list of nodes has no cables", help));
        }
        let digits = scan.run(|c| c.is_ascii_digit());
        let ports =
            digits.parse().ok().filter(|p| (1..=MAX_PORT).contains(p)).ok_or_else(|| {
                let why = format!("'{digits}' is no number of ports");
                LineFault::new(why, format!("expected 1 to {MAX_PORT}"))
            })?;
        let id = scan.id()?;
        shown(id)?;
        let Some((_, remark)) = scan.0.split_once('#') else {
            return Ok(Self { ports, id: id.into(), name: None, lid: None });
        };
        let (name, tail) = match quoted(remark.trim_start())? {
            Some((name, tail)) => (name, tail),
            None => (remark.trim(), ""),
        };
        shown(name)?;
        let lid = number_after(tail, "lid")?;
        Ok(Self { ports, id: id.into(), name: Some(name), lid })
    }
}

/// Refuses names with characters that cannot be printed.
pub(super) fn shown(name: &str) -> Result<(), LineFault> {
    name_fault(name).map_or(Ok(()), |why| Err(LineFault::new(why, NAMES)))
}

/// `"NAME" TAIL`, where the name may hold quotes.
fn quoted(text: &str) -> Result<Option<(&str, &str)>, LineFault> {
    let Some(rest) = text.strip_prefix('"') else { return Ok(None) };
    let cut_off = || LineFault::new("the name is cut off", "expected a closing quote");
    rest.rsplit_once('"').map(Some).ok_or_else(cut_off)
}

/// The number after the word `key`, when the word is there.
fn number_after<T: std::str::FromStr>(text: &str, key: &str) -> Result<Option<T>, LineFault> {
    let mut words = text.split_whitespace().skip_while(|w| *w != key);
    if words.next().is_none() {
        return Ok(None);
    }
    let value = words.next().unwrap_or_default();
    let bad = |_| LineFault::new(format!("'{value}' is no {key}"), "expected a number");
    value.parse().map(Some).map_err(bad)
}

/// Width and speed as one end of a cable states them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct LinkRate {
    pub(super) width: Option<u8>,
    pub(super) speed: Option<InfinibandLaneSpeed>,
    /// Whether it is given as `4xHDR`. Otherwise it comes from masks of the enabled widths and
    /// speeds, of which the fastest are used.
    pub(super) exact: bool,
}

impl LinkRate {
    /// Takes what the line does not say from the defaults of the file.
    pub(super) fn fall_back(&mut self, width: Option<u8>, speed: Option<InfinibandLaneSpeed>) {
        self.width = self.width.or(width);
        self.speed = self.speed.or(speed);
    }
}

/// `[PORT](GUID) "PEER"[PORT](GUID) # ...`
pub(super) struct PortLine<'a> {
    pub(super) port: u16,
    pub(super) guid: Option<u64>,
    pub(super) peer: Cow<'a, str>,
    pub(super) peer_port: u16,
    pub(super) peer_guid: Option<u64>,
    pub(super) peer_name: Option<&'a str>,
    pub(super) lid: Option<u16>,
    pub(super) lmc: Option<u8>,
    pub(super) rate: LinkRate,
}

impl<'a> PortLine<'a> {
    /// Parses a port line; those of an adapter (`own_lid`) tell the port's own LID and LMC first.
    pub(super) fn parse(line: &'a str, own_lid: bool) -> Result<Self, LineFault> {
        let mut scan = LineScanner(line);
        scan.eat("[");
        let port = scan.port()?;
        let guid = scan.port_guid()?;
        let peer = scan.id()?;
        let peer_port = if scan.eat("[") { scan.port()? } else { 1 };
        scan.space();
        let peer_guid = scan.port_guid()?;
        let (before, remark) = scan.0.split_once('#').unwrap_or((scan.0, ""));
        let remark = remark.trim_start();
        let (own, rest) = match remark.find('"') {
            Some(quote) => remark.split_at(quote),
            None if own_lid => (remark, ""),
            None => ("", remark),
        };
        let name = quoted(rest)?;
        let tail = name.map_or(rest, |(_, tail)| tail);
        let peer_name = name.map(|(name, _)| name);
        let lmc = number_after(own, "lmc")?;
        if let Some(lmc) = lmc.filter(|l| *l > fabric::addresses::MAX_LMC) {
            return Err(LineFault::new(format!("{lmc} is no LMC"), "an LMC is 0 to 7"));
        }
        let lid = number_after(own, "lid")?;
        let rate = rate(before.split_whitespace().chain(tail.split_whitespace()))?;
        Ok(Self { port, guid, peer: peer.into(), peer_port, peer_guid, peer_name, lid, lmc, rate })
    }
}

/// Width and speed from the words after the name: `lid 204 4xHDR s=4 w=2 v=3 e=4 slot 3 (scp)`.
fn rate<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<LinkRate, LineFault> {
    let mut rate = LinkRate::default();
    let (mut width_mask, mut speed_mask, mut extended_mask) = (0, 0, 0);
    while let Some(word) = words.next() {
        if word == "lid" || word == "slot" {
            let value = words.next().unwrap_or_default();
            let bad = |_| LineFault::new(format!("'{value}' is no {word}"), "expected a number");
            value.parse::<u16>().map_err(bad)?;
        } else if let Some((key @ ("s" | "w" | "v" | "e"), value)) = word.split_once('=') {
            let value = LineScanner(value).c_number()?;
            match key {
                "s" => speed_mask = value,
                "w" => width_mask = value,
                "e" => extended_mask = value,
                _ => {}
            }
        } else if word != "(scp)" {
            (rate.width, rate.speed) = width_and_speed(word)?;
            rate.exact = true;
        }
    }
    if !rate.exact {
        rate.width = widest(width_mask);
        rate.speed = fastest_extended(extended_mask).or(fastest(speed_mask));
    }
    Ok(rate)
}

/// `4xHDR`, where either half may be unknown: `?????`.
fn width_and_speed(word: &str) -> Result<(Option<u8>, Option<InfinibandLaneSpeed>), LineFault> {
    let mut scan = LineScanner(word);
    let width = if scan.eat("??") {
        Some(None)
    } else {
        let digits = scan.run(|c| c.is_ascii_digit());
        let width = digits.parse().ok().filter(|w| WIDTHS.contains(w));
        if scan.eat("x") { width.map(Some) } else { None }
    };
    let speed =
        if scan.0 == "???" { Some(None) } else { InfinibandLaneSpeed::from_name(scan.0).map(Some) };
    width.zip(speed).ok_or_else(|| {
        let speeds: Vec<String> =
            InfinibandLaneSpeed::ALL.iter().map(InfinibandLaneSpeed::to_string).collect();
        let help = format!("expected 1x, 2x, 4x, 8x or 12x and one of {}", speeds.join(", "));
        LineFault::new(format!("'{word}' is no width and speed"), help)
    })
}

/// The widest of a mask of link widths.
pub(super) fn widest(mask: u64) -> Option<u8> {
    let widths = [(8, 12), (4, 8), (2, 4), (16, 2), (1, 1)];
    widths.into_iter().find(|(bit, _)| mask & bit != 0).map(|(_, width)| width)
}

/// The fastest of a mask of link speeds.
pub(super) fn fastest(mask: u64) -> Option<InfinibandLaneSpeed> {
    let speeds = [
        (4, InfinibandLaneSpeed::QDR),
        (2, InfinibandLaneSpeed::DDR),
        (1, InfinibandLaneSpeed::SDR),
    ];
    speeds.into_iter().find(|(bit, _)| mask & bit != 0).map(|(_, speed)| speed)
}

/// The fastest of a mask of extended link speeds.
pub(super) fn fastest_extended(mask: u64) -> Option<InfinibandLaneSpeed> {
    let speeds = [
        (16, InfinibandLaneSpeed::XDR),
        (8, InfinibandLaneSpeed::NDR),
        (4, InfinibandLaneSpeed::HDR),
        (2, InfinibandLaneSpeed::EDR),
        (1, InfinibandLaneSpeed::FDR),
    ];
    speeds.into_iter().find(|(bit, _)| mask & bit != 0).map(|(_, speed)| speed)
}

/// Why a line that is no part of a network is refused.
pub(super) fn foreign(line: &str) -> LineFault {
    let starts = |words: &[&str]| words.iter().any(|w| line.starts_with(w));
    let plain = "use the output of ibnetdiscover without options, or with -f or -g";
    if starts(&["<", ">"]) {
        return LineFault::new("a line of ibnetdiscover --diff: differences are no network", plain);
    }
    if starts(&["SW ", "CA ", "RT "]) {
        return LineFault::new("a line of ibnetdiscover -p among those of nodes", plain);
    }
    if starts(&["Switch:", "CA:", "RT:"]) {
        return LineFault::new("a line of iblinkinfo among those of nodes", plain);
    }
    let written_out = "write the whole network into this one file";
    if starts(&SIMULATOR) {
        let word = line.split([' ', '=', '\t']).next().unwrap_or(line);
        let why = format!("'{word}' belongs to the simulator and changes the network as it runs");
        return LineFault::new(why, written_out);
    }
    if line.starts_with('@') {
        return LineFault::new("port aliases are not read", "name the node and the port instead");
    }
    let shown: String = line.chars().take(40).collect();
    let words: Vec<String> =
        keys().map(|key| format!("{key}=")).chain(nodes().map(str::to_owned)).collect();
    let typed = line.split([' ', '\t', '"']).next().unwrap_or_default();
    let typed = typed.split_inclusive('=').next().unwrap_or_default();
    let near = did_you_mean(typed, words.iter().map(String::as_str));
    let help = format!("{near}expected {}, a [port] line or a # comment", words.join(", "));
    LineFault::new(format!("'{shown}' is not understood"), help)
}

impl LinkRate {
    /// The cable that both ends describe, with the lower width and speed where they differ; and
    /// whether they differ.
    pub(super) fn agree(&self, other: &Self) -> (Cable, bool) {
        let default = Cable::default();
        let differ = self.exact
            && other.exact
            && (differ(self.width.as_ref(), other.width.as_ref())
                || differ(self.speed.as_ref(), other.speed.as_ref()));
        let cable = Cable {
            width: lesser(self.width, other.width).unwrap_or(default.width),
            speed: lesser(self.speed, other.speed).unwrap_or(default.speed),
            ..default
        };
        (cable, differ)
    }

    /// Whether an end gives a rate such as `4xHDR`, but no end the width, or no end the speed.
    pub(super) fn leaves_open(&self, other: &Self) -> bool {
        (self.exact || other.exact)
            && (self.width.or(other.width).is_none() || self.speed.or(other.speed).is_none())
    }

    /// Merges with the rate in a second line about the same port: the lower width and speed stay.
    pub(super) fn merge(&mut self, other: &Self) {
        self.exact |= other.exact;
        self.width = lesser(self.width, other.width);
        self.speed = lesser(self.speed, other.speed);
    }
}

impl std::fmt::Display for LinkRate {
    /// `4xHDR`, with `?` for what is not known.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.width.map_or_else(|| "?".to_owned(), |width| width.to_string());
        let speed = self.speed.map_or_else(|| "?".to_owned(), |speed| speed.to_string());
        write!(f, "{width}x{speed}")
    }
}

fn differ<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
    a.is_some() && b.is_some() && a != b
}

/// The lower one of both, or the one that is known.
fn lesser<T: Copy + Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        _ => a.or(b),
    }
}

/// Whether a line was printed by a program in between: a warning, an error, a prompt, a time.
///
/// Such lines are `program: ...`, `file.c:N; ...`, `-W- ...`, `[root@head ~]# ...`, and any of
/// several words, of which no first one begins a line of a fabric.
pub(crate) fn is_talk(line: &str) -> bool {
    if is_message(line) {
        return true;
    }
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let foreign = ["SW ", "CA ", "RT ", "CA:", "RT:", "Unicast lids", "0x", "<", ">", "@"];
    if foreign.iter().any(|f| line.starts_with(f)) || line.contains("==(") {
        return false;
    }
    let known = nodes().chain(keys()).chain(SIMULATOR).any(|key| first.starts_with(key));
    words.next().is_some() && !known && !line.contains('"')
}

/// Whether a line is without doubt a program's message.
pub(crate) fn is_message(line: &str) -> bool {
    let line = line.trim_start();
    let first = line.split_whitespace().next().unwrap_or_default();
    let program = first.strip_suffix([':', ';']).is_some_and(|name| {
        let named = |c: char| c.is_ascii_alphanumeric() || "-_./[]():".contains(c);
        name.starts_with("ib") || name.contains(['/', '.', '[']) && name.chars().all(named)
    });
    let lower = line.to_lowercase();
    // lines that `ibnetdiscover -s` prints during the discovery
    let shows = line.starts_with("DR path ") || line.starts_with("LID path ");
    let troubles = ["warning", "error:", "timed out", "timeout", "failed", "bad status", "umad"];
    let marked = ["-", "==", "**", "sim>", "$ ", "% ", "WARN", "ERR"];
    let prompt = line.starts_with('[')
        && !line[1..].starts_with(|c: char| c.is_ascii_digit() && line.contains('"'))
        && (line.contains("]#") || line.contains("]$") || line.contains(": "));
    program
        || prompt
        || shows && line.contains("-> ")
        || marked.iter().any(|m| line.starts_with(m))
        || !line.contains('"') && troubles.iter().any(|t| lower.contains(t))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ports of which nothing is known come with a GUID of 0, which means none.
    #[test]
    fn a_port_guid_of_0_is_none() {
        for (text, wanted) in [("(0)", None), ("(000)", None), ("(1a)", Some(0x1a)), ("[1]", None)]
        {
            assert_eq!(LineScanner(text).port_guid().ok(), Some(wanted), "{text}");
        }
        for text in ["()", "(x)", "(1", "(12345678901234567)"] {
            assert!(LineScanner(text).port_guid().is_err(), "{text}");
        }
    }
}
