//! What perfquery of infiniband-diags prints, of one port or of many in a row, also with `-x`.
//!
//! A block begins with `# Port counters: Lid 179 port 3` or `# Port extended counters: ...`. A line
//! `timestamp N` after a block, or a date before it, is its time. A port that comes again is a
//! later reading; extended counters of a port complete the block before.

use super::kind::{CounterFormat, CounterReadings, counter_of, set, whole};
use super::time::time_of;
use base::part::PartDescription;
use fabric::counters::{DeviceIdentity, ListedPorts, PortReading};
use std::collections::HashMap;

pub(super) const ENTRY: CounterFormat = CounterFormat {
    part: PartDescription::new(
        "perfquery",
        "blocks of perfquery, of one port or of many in a row, also with -x",
    ),
    rank: 10,
    looks: |text| text.lines().any(|line| header(line).is_some()),
    read,
    listed: ListedPorts::Some,
    example: ("perfquery.txt", EXAMPLE),
};

const EXAMPLE: &str = "# Port counters: Lid 179 port 3 (CapMask: 0x1300)\n\
    PortSelect:......................3\nCounterSelect:...................0x0000\n\
    SymbolErrorCounter:..............17\nLinkErrorRecoveryCounter:........1\n\
    LinkDownedCounter:...............4\nPortRcvErrors:...................12\n\
    PortXmitDiscards:................0\nPortXmitData:....................93612\n\
    PortRcvData:.....................93622\nPortXmitPkts:....................1312\n\
    PortRcvPkts:.....................1333\nPortXmitWait:....................20\n\
    timestamp 1795860000.110014\n\
    # Port extended counters: Lid 179 port 3 (CapMask: 0x1300 CapMask2: 0x0000000)\n\
    PortSelect:......................3\nCounterSelect:...................0x0000\n\
    PortXmitData:....................4372366170488\n\
    PortRcvData:.....................4395837050794\n\
    PortXmitPkts:....................15541365352\n";

/// The port that stands for all ports of a device.
const ALL_PORTS: u16 = 255;

/// LID, port, and whether the counters are extended, of the first line of a block.
fn header(line: &str) -> Option<(u16, u16, bool)> {
    let rest = line.trim_start().strip_prefix("# Port ")?;
    let (extended, rest) = match rest.strip_prefix("extended ") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let mut words = rest.strip_prefix("counters:")?.split_whitespace();
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some("Lid"), Some(lid), Some("port"), Some(port)) => {
            Some((lid.parse().ok()?, port.parse().ok()?, extended))
        }
        _ => None,
    }
}

fn read(text: &str, found: &mut CounterReadings) {
    // the last reading of each port, and whether it has the classic and the extended block
    let mut last: HashMap<(u16, u16), (usize, [bool; 2])> = HashMap::new();
    let mut block: Option<(usize, bool)> = None;
    for (line, text) in (1..).zip(text.lines()) {
        if let Some((lid, port, extended)) = header(text) {
            block = None;
            // port 0 is the switch itself, 255 the sum of all ports
            if port == 0 || port == ALL_PORTS {
                continue;
            }
            let has = last.entry((lid, port)).or_insert((usize::MAX, [true; 2]));
            if has.1[usize::from(extended)] {
                *has = (found.readings.len(), [false; 2]);
                found.readings.push(PortReading {
                    device: DeviceIdentity { lid: Some(lid), ..DeviceIdentity::default() },
                    port,
                    time_s: found.time_s,
                    ..PortReading::default()
                });
            }
            has.1[usize::from(extended)] = true;
            block = Some((has.0, extended));
            continue;
        }
        let line_text = text.trim();
        let plain = line_text.trim_start_matches(['#', ' ']);
        if let Some(time) = plain.strip_prefix("timestamp").and_then(time_of) {
            if let Some((at, _)) = block {
                found.readings[at].time_s = Some(time);
            }
            continue;
        }
        if let Some(time) = time_of(plain) {
            found.time_s = Some(time);
            continue;
        }
        let Some((name, value)) = line_text.split_once(':') else {
            if !line_text.is_empty() && !line_text.starts_with('#') {
                found.leave_out(line, text);
            }
            continue;
        };
        let value = whole(value.trim_start_matches('.').trim());
        match (counter_of(name), value, block) {
            (Some((counter, _)), Some(value), Some((at, extended))) => {
                set(&mut found.readings[at], counter, value, extended);
            }
            (Some(_), Some(_), None) => {} // of port 0 or of the sum of all ports
            _ if is_known(name) => {}
            _ => found.leave_out(line, text),
        }
    }
}

/// Whether a line is one that blocks have beside the counters that are read.
fn is_known(name: &str) -> bool {
    let other = ["PortSelect", "CounterSelect", "PortUnicast", "PortMulticast", "QP1Dropped"];
    other.iter().any(|start| name.starts_with(start)) || name.starts_with('#')
}
