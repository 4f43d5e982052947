//! Writes a certificate: the channel numbers of a proof as text, for a checker that shares no code
//! with flyloom.

use super::VerifiedRouting;
use base::ChannelId;
use fabric::addresses::PortAddresses;
use fabric::tables::Routing;
use std::fmt::Write;

/// Returns the text of a certificate. It has a line for every port by which a working cable between
/// switches leaves, with one number per lane. The numbers rise along every route.
///
/// The lines are `flyloom-certificate 1`, `lanes N`, then `port 0x<switch GUID> <port> <N numbers>`
/// for each port, and `end`. O(channels * lanes).
pub fn text(routing: &VerifiedRouting<Routing>, addresses: &PortAddresses) -> String {
    let (on, numbering) = (routing.topology(), routing.numbering());
    let lanes = usize::from(numbering.lanes);
    let remark = fabric::addresses::remark(&on.recipe().to_string());
    let mut out = format!("flyloom-certificate 1\n# {remark}\nlanes {lanes}\n");
    for s in 0..on.graph().switches() {
        let mut row: Vec<ChannelId> = on.graph().channels(s).to_vec();
        row.sort_by_key(|&c| on.tail(c).port);
        for c in row {
            let _ = write!(out, "port 0x{:016x} {}", addresses.switch_guid[s], on.tail(c).port);
            for number in &numbering.number[c.0 as usize * lanes..(c.0 as usize + 1) * lanes] {
                let _ = write!(out, " {number}");
            }
            out.push('\n');
        }
    }
    out.push_str("end\n");
    out
}
