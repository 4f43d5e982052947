//! Rows of the files that say where processes are, or may be: mappings, host lists, pinned ranks.

use super::names::{hosts, pins};
use super::read::read;
use crate::companion::kind::{CompanionFileFormat, ExampleFiles, beside_network, one_file};
use crate::graph_file::kind::example_network;
use base::part::PartDescription;

pub(crate) const MAPPING: CompanionFileFormat = CompanionFileFormat {
    part: PartDescription::new(
        "mapping",
        "the endpoint of each process, in any of the formats of mappings",
    ),
    read: |files| {
        beside_network(files, |on, text| {
            let slots: Vec<u32> = (0..on.endpoints().len() as u32).collect();
            read(on, text, &slots, None)
        })
    },
    example: || lines("ranks", |rank, host| format!("rank {rank}={host} slot=0")),
};

pub(crate) const HOSTS: CompanionFileFormat = CompanionFileFormat {
    part: PartDescription::new("hosts", "a list of hosts, with slots"),
    read: |files| beside_network(files, hosts),
    example: || lines("hosts.txt", |_, host| format!("{host} slots=12")),
};

pub(crate) const PINS: CompanionFileFormat = CompanionFileFormat {
    part: PartDescription::new(
        "pins",
        "processes that stay where they are: a rank and its endpoint a line",
    ),
    read: |files| beside_network(files, pins),
    example: || one_file("pins.txt", "# of 12345678\n1200 3\n12340 5\n34560 11\n"),
};

/// An example with a line for each endpoint of the small network, by its number and name.
fn lines(name: &str, line: fn(usize, &str) -> String) -> ExampleFiles {
    let on = example_network();
    let lines: Vec<String> =
        on.endpoints().iter().enumerate().map(|(e, endpoint)| line(e, &endpoint.name)).collect();
    one_file(name, lines.join("\n"))
}
