//! The file `ibdiagnet2.net_dump` that ibdiagnet writes: state, width and speed of every port.
//!
//! `"name", Vendor, 0xGUID, LID 10` begins a switch; below the names of the columns is a line a
//! port, with colons between the values.

use super::kind::{CounterFormat, CounterReadings, guid, rate_gbps, running_time};
use base::part::PartDescription;
use fabric::counters::{DeviceIdentity, ListedPorts, PortReading};

pub(super) const ENTRY: CounterFormat = CounterFormat {
    part: PartDescription::new(
        "ibdiagnet-net-dump",
        "ibdiagnet2.net_dump of ibdiagnet: state, width and speed of every port, no counters",
    ),
    rank: 35,
    looks: |text| text.lines().any(|line| columns(line).is_some()),
    read,
    listed: ListedPorts::OfFabric,
    example: ("ibdiagnet2.net_dump", EXAMPLE),
};

const EXAMPLE: &str = "# Running timestamp   : 2026-11-28 10:00:00 UTC +0000\n\
    \"MF0;leaf-11:MQM8700/U1\", Mellanox, 0x0002c902000000c0, LID 179\n\
    \x20 #   : IB# : Sta  : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid : N# : \
    NLID : Neighbor Description\n\
    \x20 1   : 1   : ACT  : LINK UP : 5 : 4x : 50 : MLNX_RS_271_257_PLR : NO-RTR : \
    0x2c90300000c91 : 1 : 120 : \"host-0198\"\n\
    \x20 2   : 12  : DOWN : POLL    : N/A : N/A : N/A : N/A : N/A : : : :\n";

/// Where the columns IB#, Sta, LWA and LSA are.
fn columns(line: &str) -> Option<[usize; 4]> {
    let names: Vec<&str> = line.split(':').map(str::trim).collect();
    let at = |wanted: &[&str]| names.iter().position(|name| wanted.contains(name));
    Some([at(&["IB#", "#IB"])?, at(&["Sta"])?, at(&["LWA"])?, at(&["LSA"])?])
}

/// The device that a line begins.
fn device(line: &str) -> Option<DeviceIdentity> {
    let (name, rest) = line.trim().strip_prefix('"')?.split_once('"')?;
    let mut words = rest.split(',').map(str::trim).filter(|word| !word.is_empty());
    let found = words.find_map(|word| word.strip_prefix("0x"))?;
    let lid = rest.rsplit_once("LID ").and_then(|(_, lid)| lid.trim().parse().ok());
    Some(DeviceIdentity { guid: guid(found), lid, name: Some(name.to_owned()) })
}

fn read(text: &str, found: &mut CounterReadings) {
    let mut current: Option<DeviceIdentity> = None;
    let mut at: Option<[usize; 4]> = None;
    for (line, text) in (1..).zip(text.lines()) {
        if let Some(device) = device(text) {
            current = Some(device);
        } else if let Some(columns) = columns(text) {
            at = Some(columns);
        } else if text.trim_start().starts_with('#') || text.trim().is_empty() {
            found.time_s = running_time(text).or(found.time_s);
        } else if let Some(reading) = port(text, current.as_ref(), at) {
            let reading = PortReading { time_s: found.time_s, ..reading };
            found.readings.push(reading);
        } else {
            found.leave_out(line, text);
        }
    }
}

fn port(
    line: &str,
    device: Option<&DeviceIdentity>,
    at: Option<[usize; 4]>,
) -> Option<PortReading> {
    let (device, [port, state, lanes, lane]) = (device?.clone(), at?);
    let cells: Vec<&str> = line.split(':').map(str::trim).collect();
    let mut reading = PortReading {
        device,
        port: cells.get(port)?.parse().ok().filter(|port| *port > 0)?,
        ..PortReading::default()
    };
    reading.state.is_up = match *cells.get(state)? {
        "ACT" | "ACTIVE" | "INI" | "INIT" | "ARM" | "ARMED" => Some(true),
        "DOWN" => Some(false),
        _ => None,
    };
    reading.state.rate_gbps = rate_gbps(cells.get(lanes)?, cells.get(lane)?);
    Some(reading)
}
