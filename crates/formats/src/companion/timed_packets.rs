//! Lists of packets with the times of their injection, whose reader is in the crate of traffic.

use super::kind::{CompanionFileFormat, beside_network, one_file};
use base::part::PartDescription;
use traffic::times::TimedPacketLists;

pub(crate) const PACKETS: CompanionFileFormat = CompanionFileFormat {
    part: PartDescription::new(
        "packets",
        "packets with the cycle, source, destination and size of each",
    ),
    read: |files| beside_network(files, |on, text| TimedPacketLists::parse(text, on)),
    example: || one_file("packets.txt", "0 0 1 1234\n1234 7 2 5\n34567 11 1 12\n"),
};
