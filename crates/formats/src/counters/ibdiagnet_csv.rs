//! The file `ibdiagnet2.db_csv` that ibdiagnet writes: sections with commas, of which those with
//! nodes and with counters of ports are read.

use super::csv::{PortTable, cells};
use super::kind::{CounterFormat, CounterReadings, guid, running_time};
use base::part::PartDescription;
use fabric::counters::ListedPorts;
use std::collections::HashMap;

pub(super) const ENTRY: CounterFormat = CounterFormat {
    part: PartDescription::new(
        "ibdiagnet-csv",
        "ibdiagnet2.db_csv of ibdiagnet: its sections NODES and PM_INFO",
    ),
    rank: 40,
    looks: |text| text.lines().any(|line| line.trim() == "START_PM_INFO"),
    read,
    listed: ListedPorts::OfFabric,
    example: ("ibdiagnet2.db_csv", EXAMPLE),
};

const EXAMPLE: &str = "# Running timestamp : 2026-11-28 10:00:00 UTC +0000\nSTART_NODES\n\
    NodeDesc,NumPorts,NodeType,NodeGUID\n\"leaf-11\",36,2,0x0002c902000000c0\nEND_NODES\n\
    START_PM_INFO\nNodeGUID,PortGUID,PortNumber,SymbolErrorCounter,LinkDownedCounterExt,\
    PortXmitDataExtended,PortRcvDataExtended,PortXmitWaitExt\n\
    0x0002c902000000c0,0x0002c902000000c0,3,17,14,91234123412,91234123499,20123\n\
    0x0002c902000000c0,0x0002c902000000c0,4,10,0,71234123412,71234123499,-1\nEND_PM_INFO\n";

fn read(text: &str, found: &mut CounterReadings) {
    let mut names = HashMap::new();
    let mut section = "";
    let mut nodes: Option<[usize; 3]> = None;
    let mut table: Option<PortTable> = None;
    for (line, text) in (1..).zip(text.lines()) {
        let trimmed = text.trim();
        if trimmed.starts_with('#') {
            found.time_s = running_time(trimmed).or(found.time_s);
        } else if let Some(name) = trimmed.strip_prefix("START_") {
            (section, nodes, table) = (name, None, None);
        } else if trimmed.starts_with("END_") {
            section = "";
        } else if section == "NODES" {
            let cells = cells(trimmed);
            if let Some([guid_at, name_at, width]) = nodes {
                if cells.len() == width {
                    names.extend(guid(&cells[guid_at]).map(|guid| (guid, cells[name_at].clone())));
                } else {
                    found.leave_out(line, text);
                }
            } else {
                let at = |wanted: &str| cells.iter().position(|cell| cell == wanted);
                nodes = at("NodeGUID").zip(at("NodeDesc")).map(|(g, n)| [g, n, cells.len()]);
            }
        } else if section == "PM_INFO" {
            match &table {
                None => table = PortTable::of(trimmed),
                Some(table) if table.add(trimmed, &names, found) => {}
                Some(_) => found.leave_out(line, text),
            }
        }
    }
}
