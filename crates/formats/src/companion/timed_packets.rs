//! Lists of packets with the times of their injection, whose reader is in the crate of traffic.

use super::kind::{CompanionFormat, beside_network, one_file};
use base::part::Part;
use traffic::times::TimedPackets;

pub(crate) const PACKETS: CompanionFormat = CompanionFormat {
    part: Part::new("packets", "packets with the cycle, source, destination and size of each"),
    read: |files| beside_network(files, |on, text| TimedPackets::parse(text, on)),
    example: || one_file("packets.txt", "0 0 1 1234\n1234 7 2 5\n34567 11 1 12\n"),
};
