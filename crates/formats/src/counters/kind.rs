//! What a format of port counters is, and what its readers share.

use super::time::time_of;
use base::part::PartDescription;
use fabric::counters::{CounterFile, CounterValue, ListedPorts, PortCounter, PortReading};
use fabric::network::InfinibandLaneSpeed;

/// A row of the table of formats.
#[derive(Debug)]
pub struct CounterFormat {
    /// Its name, and what its files hold.
    pub part: PartDescription,
    /// Formats of small numbers are asked first whether a text is theirs.
    pub(super) rank: u32,
    /// Whether a text looks like this format.
    pub(super) looks: fn(&str) -> bool,
    /// Reads a text into the readings.
    pub(super) read: fn(&str, &mut CounterReadings),
    /// Which ports its files list.
    pub(super) listed: ListedPorts,
    /// The name and the text of a small file that it reads: tests damage it.
    pub(super) example: (&'static str, &'static str),
}

impl CounterFormat {
    /// A small file that it reads, by name and content.
    pub fn example(&self) -> (String, String) {
        (self.example.0.to_owned(), self.example.1.to_owned())
    }
}

/// What a reader has found so far.
#[derive(Debug, Default)]
pub(super) struct CounterReadings {
    /// The name of the file without folders and ending, for sources that do not name their host.
    pub(super) stem: String,
    pub(super) readings: Vec<PortReading>,
    /// The time that the file stated last.
    pub(super) time_s: Option<f64>,
    pub(super) remarks: Vec<String>,
    left_out: u64,
    first_left_out: Option<(usize, String)>,
}

/// The number of characters that are shown of a line that was not understood.
const SHOWN: usize = 60;

impl CounterReadings {
    /// No readings yet, of a file with this name.
    pub(super) fn of_file(stem: String) -> Self {
        Self { stem, ..Self::default() }
    }

    /// Counts a line that was not understood.
    pub(super) fn leave_out(&mut self, line: usize, text: &str) {
        self.left_out += 1;
        if self.first_left_out.is_none() {
            let start = text.trim().chars().filter(|c| !c.is_control()).take(SHOWN).collect();
            self.first_left_out = Some((line, start));
        }
    }

    /// The file of these readings.
    pub(super) fn file(self, name: &str, format: &'static str, listed: ListedPorts) -> CounterFile {
        CounterFile {
            name: name.to_owned(),
            format,
            listed,
            readings: self.readings,
            left_out: self.left_out,
            first_left_out: self.first_left_out,
            remarks: self.remarks,
        }
    }
}

/// The counter that a word of a tool names, and whether the word says that it is of 64 bits.
///
/// Tools differ in capitals, underscores and abbreviations: `SymbolErrorCounter`, `SymbolErrors`,
/// `symbol_error_counter`, `symbol_error_total` are one counter.
pub(super) fn counter_of(word: &str) -> Option<(PortCounter, bool)> {
    let mut word: String =
        word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let mut is_wide = false;
    for end in ["total", "extended", "ext", "counter", "bytes"] {
        if let Some(rest) = word.strip_suffix(end) {
            is_wide |= end.starts_with("ext");
            word = rest.to_owned();
        }
    }
    for (long, short) in [
        ("transmitted", "xmit"),
        ("transmit", "xmit"),
        ("xmt", "xmit"),
        ("received", "rcv"),
        ("receive", "rcv"),
        ("packets", "pkts"),
    ] {
        word = word.replace(long, short);
    }
    let word = word.strip_prefix("port").unwrap_or(&word);
    let counter = match word {
        "xmitdata" | "dataxmit" => PortCounter::XmitData,
        "rcvdata" | "datarcv" => PortCounter::RcvData,
        "xmitpkts" | "pktsxmit" => PortCounter::XmitPackets,
        "rcvpkts" | "pktsrcv" => PortCounter::RcvPackets,
        "xmitwait" => PortCounter::XmitWait,
        "symbolerror" | "symbolerrors" => PortCounter::SymbolErrors,
        "linkerrorrecovery" | "linkrecovers" => PortCounter::LinkErrorRecoveries,
        "linkdowned" | "linkdown" => PortCounter::LinkDowned,
        "rcverrors" | "errorsrcv" => PortCounter::RcvErrors,
        "rcvremotephysicalerrors" | "rcvremotephyserrors" => PortCounter::RcvRemotePhysicalErrors,
        "rcvswitchrelayerrors" | "rcvswrelayerrors" => PortCounter::RcvSwitchRelayErrors,
        "xmitdiscards" | "xmitdiscard" | "discardsxmit" => PortCounter::XmitDiscards,
        "xmitconstrainterrors" | "constrainterrorsxmit" => PortCounter::XmitConstraintErrors,
        "rcvconstrainterrors" | "constrainterrorsrcv" => PortCounter::RcvConstraintErrors,
        "locallinkintegrityerrors" | "linkintegrityerrors" => PortCounter::LocalLinkIntegrityErrors,
        "excessivebufferoverrunerrors" | "excessivebuffererrors" | "excbufoverrunerrors" => {
            PortCounter::ExcessiveBufferOverruns
        }
        "vl15dropped" => PortCounter::Vl15Dropped,
        _ => return None,
    };
    Some((counter, is_wide))
}

/// Sets a counter of a reading; a value of 64 bits takes the place of a narrower one, and not the
/// reverse.
pub(super) fn set(reading: &mut PortReading, counter: PortCounter, value: u64, is_wide: bool) {
    let new =
        if is_wide { CounterValue::wide(value) } else { CounterValue::classic(counter, value) };
    let old = reading.counters.get(&counter);
    if old.is_none_or(|old| new.bits >= old.bits) {
        reading.counters.insert(counter, new);
    }
}

/// A whole number, in decimal or with `0x` in hexadecimal.
pub(super) fn whole(word: &str) -> Option<u64> {
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// A GUID: hexadecimal, with or without `0x`.
pub(super) fn guid(word: &str) -> Option<u64> {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
    u64::from_str_radix(digits, 16).ok().filter(|guid| *guid != 0)
}

/// The time that a comment of ibdiagnet states: `# Running timestamp : 2026-01-01 10:00:00 UTC`.
pub(super) fn running_time(line: &str) -> Option<f64> {
    let (_, time) = line.split_once("Running timestamp")?;
    time_of(time.trim_start_matches([' ', ':', '\t']))
}

/// The data rate of `lanes` lanes, Gbit/s, by the rate of a lane as tools print it: the rate on the
/// wire, a round number or the name of the speed.
pub(super) fn rate_gbps(lanes: &str, lane: &str) -> Option<f64> {
    let lanes: u8 = lanes.trim_end_matches(['x', 'X']).parse().ok()?;
    let speed = InfinibandLaneSpeed::from_name(lane).or_else(|| {
        let wire: f64 = lane.parse().ok()?;
        InfinibandLaneSpeed::from_wire_gbps(wire).or_else(|| round(wire))
    })?;
    Some(speed.lane_gbps() * f64::from(lanes))
}

fn round(gbps: f64) -> Option<InfinibandLaneSpeed> {
    use InfinibandLaneSpeed::{EDR, FDR, HDR, NDR, XDR};
    match gbps.round() as u32 {
        14 => Some(FDR),
        25 | 26 => Some(EDR),
        50 | 53 => Some(HDR),
        100 | 106 => Some(NDR),
        200 | 212 | 213 => Some(XDR),
        _ => None,
    }
}
