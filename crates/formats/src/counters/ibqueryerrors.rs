//! What ibqueryerrors of infiniband-diags prints, also with `-r`, `--data` and `--counters`.
//!
//! `Errors for 0x... "name"` begins a device, `GUID 0x... port 3: [Name == value (words)] ...` is a
//! port, and `Link info:` after it says where its cable leads and at which speed.

use super::kind::{CounterFormat, CounterReadings, counter_of, guid, rate_gbps, set, whole};
use base::part::PartDescription;
use fabric::counters::{DeviceIdentity, ListedPorts, PortReading};

pub(super) const ENTRY: CounterFormat = CounterFormat {
    part: PartDescription::new(
        "ibqueryerrors",
        "lines of ibqueryerrors: ports with errors, or with their data (--data, --counters)",
    ),
    rank: 20,
    looks: |text| text.lines().any(|line| port_line(line).is_some()),
    read,
    listed: ListedPorts::Some,
    example: ("ibqueryerrors.txt", EXAMPLE),
};

const EXAMPLE: &str = "Errors for 0x2c902000000c0 \"leaf-11\"\n\
    \x20  GUID 0x2c902000000c0 port ALL: [SymbolErrorCounter == 77] [LinkDownedCounter == 14]\n\
    \x20  GUID 0x2c902000000c0 port 3: [SymbolErrorCounter == 77] [LinkDownedCounter == 14] \
    [PortXmitData == 115212 (450.047KB)]\n\
    \x20      Link info:    179   3[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>  \
    0x0002c90300000c91    150    1[  ] \"host-0200\" ( )\n\
    Data Counters for 0x2c90300000d80 \"host-0215\"\n\
    \x20  GUID 0x2c90300000d80 port 1: [PortXmitData == 144012 (5.625KB)] [PortRcvPkts == 2112 \
    (21.000)]\n\
    ## Summary: 234 nodes checked, 1 bad nodes found\n";

/// The GUID, the port (`None` for all ports together) and the counters of a line.
fn port_line(line: &str) -> Option<(u64, Option<u16>, &str)> {
    let rest = line.trim_start().strip_prefix("GUID ")?;
    let (device, rest) = rest.split_once(" port ")?;
    let (port, counters) = rest.split_once(':')?;
    let port = if port == "ALL" { None } else { Some(port.trim().parse().ok()?) };
    Some((guid(device.trim())?, port, counters))
}

fn read(text: &str, found: &mut CounterReadings) {
    let mut name: Option<String> = None;
    let mut is_port = false;
    for (line, text) in (1..).zip(text.lines()) {
        let trimmed = text.trim();
        if let Some((guid, port, counters)) = port_line(text) {
            is_port = port.is_some_and(|port| port > 0);
            if let Some(port) = port.filter(|port| *port > 0) {
                let device = DeviceIdentity { guid: Some(guid), lid: None, name: name.clone() };
                let mut reading = PortReading { device, port, ..PortReading::default() };
                add(counters, &mut reading);
                found.readings.push(reading);
            }
        } else if trimmed.starts_with("Errors for") || trimmed.starts_with("Data Counters for") {
            name = quoted(trimmed).map(str::to_owned);
            is_port = false;
        } else if let Some(link) = trimmed.strip_prefix("Link info:") {
            let reading = found.readings.last_mut().filter(|_| is_port);
            if let (Some(reading), Some(state)) = (reading, between(link, "==(", ")==>")) {
                let is_down = state.contains("Down") || state.contains("Polling");
                reading.state.is_up = Some(!is_down);
                let words: Vec<&str> = state.split_whitespace().collect();
                if let [lanes, lane, "Gbps", ..] = words[..] {
                    reading.state.rate_gbps = rate_gbps(lanes, lane);
                }
            }
        } else if trimmed.starts_with('[') {
            // more of the port before: what --details adds
            if let Some(reading) = found.readings.last_mut().filter(|_| is_port) {
                add(trimmed, reading);
            }
        } else if !trimmed.is_empty() && !trimmed.starts_with('#') {
            found.leave_out(line, text);
        }
    }
}

/// Adds the counters `[Name == value]` of a line.
fn add(counters: &str, reading: &mut PortReading) {
    for part in counters.split('[').skip(1) {
        let Some((name, value)) = part.split_once("==") else { continue };
        let value = value.trim().split([' ', ']']).next().and_then(whole);
        if let (Some((counter, _)), Some(value)) = (counter_of(name), value) {
            set(reading, counter, value, false);
        }
    }
}

/// What stands in the first pair of quotation marks.
fn quoted(text: &str) -> Option<&str> {
    between(text, "\"", "\"")
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    Some(rest.split_once(to)?.0)
}
