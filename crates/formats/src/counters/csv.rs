//! What the readers of tables with commas share: lines to cells, and columns to readings.

use super::kind::{CounterReadings, counter_of, guid, rate_gbps, set, whole};
use super::time::time_of;
use fabric::counters::{DeviceIdentity, PortCounter, PortReading};
use std::collections::HashMap;

/// The cells of a line; a cell in quotation marks may have commas.
pub(super) fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in line.trim_end_matches(['\r', '\n']).chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            _ => cell.push(c),
        }
    }
    cells.push(cell.trim().to_owned());
    cells
}

/// What a column of a table of ports holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    NodeGuid,
    PortGuid,
    Port,
    Name,
    Lid,
    Time,
    Counter(PortCounter, bool),
    Lanes,
    Lane,
    EffectiveBer,
    SymbolBer,
    PhysicalState,
}

/// The columns of a table of ports.
#[derive(Debug)]
pub(super) struct PortTable {
    columns: Vec<(usize, Column)>,
    width: usize,
}

impl PortTable {
    /// The table whose first line is this one; `None` where it lacks a device, a port or any
    /// counter.
    pub(super) fn of(line: &str) -> Option<Self> {
        let cells = cells(line);
        let named = cells.iter().enumerate().filter_map(|(at, word)| Some((at, column(word)?)));
        let columns: Vec<(usize, Column)> = named.collect();
        let has = |wanted: &[Column]| columns.iter().any(|(_, column)| wanted.contains(column));
        let counts = columns.iter().any(|(_, column)| matches!(column, Column::Counter(..)));
        let is_one = has(&[Column::NodeGuid, Column::PortGuid]) && has(&[Column::Port]) && counts;
        is_one.then_some(Self { columns, width: cells.len() })
    }

    /// Adds the reading of a line; `false` where it is none. `names` has names by node GUID.
    pub(super) fn add(
        &self,
        line: &str,
        names: &HashMap<u64, String>,
        found: &mut CounterReadings,
    ) -> bool {
        let cells = cells(line);
        if cells.len() != self.width {
            return false;
        }
        let mut reading = PortReading { time_s: found.time_s, ..PortReading::default() };
        let mut port = None;
        let mut lanes: [&str; 2] = ["", ""];
        for &(at, column) in &self.columns {
            let cell = cells[at].as_str();
            let device = &mut reading.device;
            match column {
                Column::NodeGuid => device.guid = guid(cell).or(device.guid),
                Column::PortGuid => device.guid = device.guid.or_else(|| guid(cell)),
                Column::Port => port = whole(cell).and_then(|port| port.try_into().ok()),
                Column::Name if !cell.is_empty() => device.name = Some(cell.to_owned()),
                Column::Lid => device.lid = whole(cell).and_then(|lid| lid.try_into().ok()),
                Column::Time => reading.time_s = time_of(cell).or(reading.time_s),
                Column::Counter(counter, is_wide) => {
                    if let Some(value) = whole(cell) {
                        set(&mut reading, counter, value, is_wide);
                    }
                }
                Column::Lanes => lanes[0] = cell,
                Column::Lane => lanes[1] = cell,
                Column::SymbolBer => ber(&mut reading, cell, true),
                Column::EffectiveBer => ber(&mut reading, cell, false),
                Column::PhysicalState => reading.state.is_up = physical(cell),
                Column::Name => {}
            }
        }
        let Some(port) = port.filter(|_| reading.device != DeviceIdentity::default()) else {
            return false;
        };
        reading.port = port;
        reading.state.rate_gbps = rate_gbps(lanes[0], lanes[1]);
        if reading.device.name.is_none() {
            reading.device.name = reading.device.guid.and_then(|guid| names.get(&guid)).cloned();
        }
        if port > 0 {
            found.readings.push(reading);
        }
        true
    }
}

/// Takes the share of wrong bits; that of symbols comes after all corrections.
fn ber(reading: &mut PortReading, cell: &str, is_last: bool) {
    let rate: Option<f64> = cell.parse().ok();
    let rate = rate.filter(|rate| (0.0..=1.0).contains(rate));
    if rate.is_some() && (is_last || reading.state.bit_error_rate.is_none()) {
        reading.state.bit_error_rate = rate;
    }
}

fn physical(cell: &str) -> Option<bool> {
    let word: String =
        cell.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    match word.as_str() {
        "linkup" | "5" | "active" => Some(true),
        "polling" | "disabled" | "down" | "sleep" | "2" | "3" => Some(false),
        _ => None,
    }
}

fn column(word: &str) -> Option<Column> {
    let plain: String =
        word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    match plain.as_str() {
        "nodeguid" | "guid" => Some(Column::NodeGuid),
        "portguid" => Some(Column::PortGuid),
        "portnum" | "portnumber" | "port" => Some(Column::Port),
        "nodedescription" | "nodedesc" | "nodename" | "devicename" => Some(Column::Name),
        "lid" => Some(Column::Lid),
        "timestamp" | "sampletime" | "time" => Some(Column::Time),
        "linkwidthactive" => Some(Column::Lanes),
        "linkspeedactive" => Some(Column::Lane),
        "effectiveber" | "effber" => Some(Column::EffectiveBer),
        "symbolber" => Some(Column::SymbolBer),
        "phystate" | "physicalstate" => Some(Column::PhysicalState),
        _ => counter_of(word).map(|(counter, is_wide)| Column::Counter(counter, is_wide)),
    }
}
