//! The file `ibdiagnet2.pm` that ibdiagnet writes: all counters of all ports.
//!
//! A line `Port=3 Lid=0x00b3 GUID=0x... Device=... Port Name=leaf-11/U1/P3` begins a port; lines
//! `name=0x...` are its counters, `NA` where a device has none.

use super::kind::{CounterFormat, CounterReadings, counter_of, guid, running_time, set, whole};
use base::part::PartDescription;
use fabric::counters::{DeviceIdentity, ListedPorts, PortReading};

pub(super) const ENTRY: CounterFormat = CounterFormat {
    part: PartDescription::new(
        "ibdiagnet-pm",
        "ibdiagnet2.pm of ibdiagnet: all counters of all ports",
    ),
    rank: 30,
    looks: |text| text.lines().any(|line| header(line).is_some()),
    read,
    listed: ListedPorts::OfFabric,
    example: ("ibdiagnet2.pm", EXAMPLE),
};

const EXAMPLE: &str = "# Running timestamp   : 2026-11-28 10:00:00 UTC +0000\n\
    -----------------------------------------------------------------\n\
    Port=3 Lid=0x00b3 GUID=0x0002c902000000c0 Device=53000 Port Name=leaf-11/U1/P3\n\
    -----------------------------------------------------------------\n\
    link_down_counter=0x04\nlink_error_recovery_counter=0x01\nsymbol_error_counter=0x0011\n\
    port_rcv_errors=0x0012\nport_xmit_data=0x00016dac\nport_xmit_wait=0x00000020\n\
    port_xmit_data_extended=0x00000003fa0b1c2d\nport_rcv_data_extended=0x00000003fa0b1c2e\n\
    retransmission_per_sec=NA\nraw_ber=1.2e-10\neffective_ber=1.5e-15\n";

/// Reads the first line of a port.
fn header(line: &str) -> Option<PortReading> {
    let rest = line.trim().strip_prefix("Port=")?;
    let (words, name) = match rest.split_once("Port Name=") {
        Some((words, name)) => (words, Some(name.trim())),
        None => (rest, None),
    };
    let mut words = words.split_whitespace();
    let port = words.next()?.parse().ok()?;
    let mut device = DeviceIdentity::default();
    for word in words {
        match word.split_once('=')? {
            ("Lid", lid) => device.lid = whole(lid).and_then(|lid| lid.try_into().ok()),
            ("GUID", text) => device.guid = guid(text),
            _ => {}
        }
    }
    device.guid.or(device.lid.map(u64::from))?;
    // the name of a port ends in its number: leaf-11/U1/P3
    let end = format!("/P{port}");
    let name = name.map(|name| name.strip_suffix(end.as_str()).unwrap_or(name));
    device.name = name.filter(|name| !name.is_empty()).map(str::to_owned);
    Some(PortReading { device, port, ..PortReading::default() })
}

fn read(text: &str, found: &mut CounterReadings) {
    let (mut is_port, mut has_begun) = (false, false);
    for (line, text) in (1..).zip(text.lines()) {
        let trimmed = text.trim();
        if let Some(mut reading) = header(trimmed) {
            reading.time_s = found.time_s;
            has_begun = true;
            is_port = reading.port > 0;
            if is_port {
                found.readings.push(reading);
            }
        } else if trimmed.starts_with('#') {
            found.time_s = running_time(trimmed).or(found.time_s);
        } else if let Some((name, value)) = trimmed.split_once('=') {
            if let Some(reading) = found.readings.last_mut().filter(|_| is_port) {
                add(reading, name.trim(), value.trim());
            } else if !has_begun {
                found.leave_out(line, text);
            }
        } else if !trimmed.chars().all(|c| c == '-') {
            found.leave_out(line, text);
        }
    }
}

/// Adds a counter; what has no value or is no counter that is read is passed over.
fn add(reading: &mut PortReading, name: &str, value: &str) {
    if matches!(name, "effective_ber" | "symbol_ber") {
        let rate: Option<f64> = value.parse().ok();
        // the rate of symbols comes after all corrections
        if name == "symbol_ber" || reading.state.bit_error_rate.is_none() {
            let valid = rate.filter(|rate| (0.0..=1.0).contains(rate));
            reading.state.bit_error_rate = valid.or(reading.state.bit_error_rate);
        }
    } else if let (Some((counter, is_wide)), Some(value)) = (counter_of(name), whole(value)) {
        set(reading, counter, value, is_wide);
    }
}
