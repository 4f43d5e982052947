//! Tables of port counters with commas, as UFM's telemetry gives them: a line a port and time.
//!
//! Columns are found by their names, with or without underscores: `node_guid` or `port_guid`,
//! `port_num`, `timestamp`, `node_description`, and counters such as `PortXmitDataExtended`.

use super::csv::PortTable;
use super::kind::{CounterFormat, CounterReadings};
use base::part::PartDescription;
use fabric::counters::ListedPorts;
use std::collections::HashMap;

pub(super) const ENTRY: CounterFormat = CounterFormat {
    part: PartDescription::new(
        "ufm-csv",
        "a table with commas as UFM gives it: node_guid, port_num, counters, a line a port",
    ),
    rank: 50,
    looks: |text| heading(text).is_some(),
    read,
    listed: ListedPorts::OfFabric,
    example: ("ufm.csv", EXAMPLE),
};

const EXAMPLE: &str = "timestamp,source_id,node_guid,port_guid,port_num,node_description,lid,\
    PortXmitDataExtended,PortRcvDataExtended,PortXmitWaitExtended,SymbolErrorCounterExtended,\
    LinkDownedCounterExtended,symbol_ber\n\
    1795860000000000,0x1234,0x0002c902000000c0,0x0002c902000000c0,3,\"leaf-11, hall 2\",179,\
    91234123412,91234123499,20123,17,4,1.5e-254\n\
    1795860000000000,0x1234,0x0002c902000000c0,0x0002c902000000c0,4,\"leaf-11, hall 2\",179,\
    71234123412,71234123499,10123,10,0,1.5e-254\n";

/// The number of the line with the names of the columns, from 0, and these.
fn heading(text: &str) -> Option<(usize, PortTable)> {
    let mut lines = text.lines().enumerate();
    let (at, line) = lines.find(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))?;
    Some((at, PortTable::of(line)?))
}

fn read(text: &str, found: &mut CounterReadings) {
    let Some((at, table)) = heading(text) else { return };
    let names = HashMap::new();
    for (line, text) in (1..).zip(text.lines()).skip(at + 1) {
        if !text.trim().is_empty() && !table.add(text, &names, found) {
            found.leave_out(line, text);
        }
    }
}
