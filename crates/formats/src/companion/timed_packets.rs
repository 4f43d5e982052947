//! Lists of packets with the times of their injection, whose reader is in the crate of traffic.

use super::kind::{CompanionFormat, one_file, one_text};
use crate::graph_file::kind::example_network;
use base::part::Part;
use traffic::times::TimedPackets;

pub(crate) const PACKETS: CompanionFormat = CompanionFormat {
    part: Part::new("packets", "packets with the cycle, source, destination and size of each"),
    read: |files| {
        one_text(files, |text, name| {
            let found = TimedPackets::parse(text, &example_network());
            found.map_err(|refused| refused.within(name))
        })
    },
    example: || one_file("packets.txt", "0 0 1 1234\n1234 7 2 5\n34567 11 1 12\n"),
};
