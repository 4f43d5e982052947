//! Discovered fabrics: what `ibnetdiscover` and `iblinkinfo` write, and netlists of `ibsim`.

use super::given::with_endpoints;
use super::kind::{GraphFileFormat, NetworkFileStart, example_network};
use crate::backed::NetworkFileOptions;
use crate::ib::fabric_file::{
    self, EndpointDeviceFilter, is_link_info, is_message, is_talk, write_netlist,
};
use base::part::PartDescription;
use base::{Refusal, SwitchId};
use fabric::addresses::PortAddresses;
use fabric::network::Topology;
use fabric::tree;

pub(super) const ENTRY: GraphFileFormat = GraphFileFormat {
    part: PartDescription::new("fabric", "ibnetdiscover, iblinkinfo, ibsim"),
    rank: 90,
    looks,
    read: |text, name, p| read(text, name, p, &EndpointDeviceFilter::default()),
    example: netlist,
};

fn netlist() -> String {
    let network = example_network();
    let addresses = PortAddresses::assign(&network, 0).expect("there are few");
    write_netlist(&network, &addresses, None).expect("it has one plane")
}

/// Whether a text is that of a fabric, or of a similar tool.
pub(super) fn looks(seen: &NetworkFileStart<'_>) -> bool {
    is_fabric(seen.first) || is_talk(seen.first) && seen.body.lines().any(is_node)
}

/// The network of a fabric's text, of which `choice` says which devices are endpoints.
pub(super) fn read(
    text: &str,
    name: &str,
    p: NetworkFileOptions,
    choice: &EndpointDeviceFilter,
) -> Result<Topology, Refusal> {
    let found = fabric_file::read_chosen(text, name, choice).map(with_hosts_apart)?;
    with_endpoints(found, name, p, true)
}

/// The same network. It gets a remark where only most of its hosts are on the leaves of a tree, and
/// some are on other switches.
fn with_hosts_apart(t: Topology) -> Topology {
    let Ok(levels) = tree::levels_of(&t) else { return t };
    let Some(first) = levels.apart.first().map(|s| SwitchId::from(*s)) else { return t };
    let on = |s: &usize| t.terminals_on(SwitchId::from(*s)).len();
    let hosts: usize = levels.apart.iter().map(on).sum();
    let name = &t.switches()[first.ix()].name;
    let more = match levels.apart[..] {
        [_] => String::new(),
        [_, second] => format!(" and {}", t.switches()[second].name),
        _ => format!(" and {} more", levels.apart.len() - 1),
    };
    let remark = format!(
        "{hosts} of {} endpoints on {name}{more}, no leaf: levels of the tree are by the others",
        t.terminals().len()
    );
    t.with_remarks([remark])
}

/// Whether a line is a part of the file and not a comment or a message of a program.
pub(super) fn says(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#') && !is_message(line)
}

/// Whether a line is one that only fabrics have.
fn is_node(line: &str) -> bool {
    let ids = ["vendid=0x", "switchguid=0x", "caguid=0x", "rtguid=0x", "sysimgguid=0x"];
    ids.iter().any(|id| line.starts_with(id))
}

/// Whether `line`, the first that is a part of the file, is that of a fabric (or of a similar
/// tool).
pub(super) fn is_fabric(line: &str) -> bool {
    let starts = |words: &[&str]| words.iter().any(|w| line.starts_with(w));
    let ids = ["vendid=", "devid=", "sysimgguid=", "switchguid", "caguid", "hcaguid", "rtguid"];
    let settings = ["module=", "include ", "do ", "width=", "speed=", "extspeed="];
    let headings = ["Non-Chassis Nodes", "Chassis ", "< ", "> ", "[", "@[", "Switch:", "CA:"];
    let node = starts(&["Switch", "Ca", "Hca", "Rt", "SW ", "CA ", "RT "]);
    is_link_info(line)
        || starts(&ids)
        || starts(&settings)
        || starts(&headings)
        || (node && line.contains(['"', '\'']))
}
