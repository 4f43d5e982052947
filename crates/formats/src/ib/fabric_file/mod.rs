//! Fabrics as `ibnetdiscover` prints them and `ibsim` reads them: one grammar, read and written.
//!
//! Source: the manual pages and behaviour of `infiniband-diags` 44 and `ibsim` 0.10. The grammar:
//!
//! ```text
//! file   = { comment | blank | heading | ids | switch | ca }
//! ids    = "vendid=0x" HEX | "devid=0x" HEX | "sysimgguid=0x" HEX
//!        | ( "switchguid" | "caguid" | "hcaguid" | "rtguid" ) "=0x" HEX [ "(" HEX ")" ]
//! switch = "Switch" PORTS '"' ID '"' '# "' NAME '"' ["enhanced"|"base"] "port 0 lid" N "lmc" N
//!          { "[" PORT "]" '"' ID '"[' PORT "]" [ "(" HEX ")" ] '# "' NAME '" lid' N RATE }
//! ca     = ( "Ca" | "Hca" | "Rt" ) PORTS '"' ID '"' '# "' NAME '"'
//!          { "[" PORT "](" HEX ")" '"' ID '"[' PORT ']# lid' N "lmc" N '"' NAME '" lid' N RATE }
//! RATE   = ( "1x" | "2x" | "4x" | "8x" | "12x" | "??" ) ( "SDR" ... "XDR" | "???" ) { OPTION }
//! OPTION = ( "s" | "w" | "v" | "e" ) "=" N
//! ```
//!
//! `-g` output (headings, chassis remarks, `[ext N]`) and `-f` output (options) are read as well.

//! Messages that programs printed between the lines are passed over, a node that is given several
//! times alike is one node, and a cable whose ends differ runs at the lower rate: each of these
//! gets a remark. [`EndpointDeviceFilter`] says which devices are endpoints. The reports of ports
//! of [`listing`] make the same nodes.

mod assemble;
mod device;
mod line;
mod listing;
mod netlist;
mod rehearsal;
mod said;

pub use device::{DeviceKind, EndpointDeviceFilter};
pub(crate) use line::{is_message, is_talk};
pub(crate) use listing::is_link_info;
pub use netlist::{slower_here, write_netlist};
pub use rehearsal::rehearsal;

use assemble::{FabricNode, FabricNodes};
use base::Refusal;
use fabric::network::{InfinibandLaneSpeed, Topology};
use line::{LineScanner, NodeLine, PortLine};
use said::{DeviceLineKind, LineFault};

/// Reads a fabric as [`read_chosen`], with the adapters of hosts as endpoints.
///
/// # Errors
/// As [`read_chosen`].
pub fn read(text: &str, name: &str) -> Result<Topology, Refusal> {
    read_chosen(text, name, &EndpointDeviceFilter::default())
}

/// Reads the output of `ibnetdiscover` (also of `-p`) or of `iblinkinfo`, or an `ibsim` netlist;
/// `name` stands for the file in the recipe and in refusals.
///
/// Adapters that `choice` takes become endpoints, their ports rails (port - 1); others are left out
/// and counted in a remark. Names, GUIDs, LIDs, widths and speeds are kept; a name that is empty or
/// not unique is replaced by the node's id. Without any word of its width or speed a cable is 4x
/// HDR. The common LMC of the adapters, where it is not 0, is the recipe's `lmc`. The GUID of port
/// 0 of a switch is taken to be the switch's own. O(file log ports).
///
/// # Errors
/// When a line is not understood, a node is given twice and not alike, a GUID is of two nodes, a
/// port is above the node's number of ports, or a cable is given at one end only; always with the
/// line.
pub fn read_chosen(
    text: &str,
    name: &str,
    choice: &EndpointDeviceFilter,
) -> Result<Topology, Refusal> {
    let text = text.trim_start_matches('\u{feff}');
    if let Some(nodes) = listing::read(text, name)? {
        return nodes.build(choice);
    }
    let mut file = FabricFileReader::new(name);
    let last = text.lines().count();
    for (i, line) in text.lines().enumerate() {
        file.nodes.ends = i + 1;
        file.line(i + 1, line.trim_end()).map_err(|wrong| {
            let is_cut = i + 1 == last && !text.ends_with('\n');
            let wrong = if is_cut { wrong.in_a_line_cut_off() } else { wrong };
            wrong.at(name, i + 1)
        })?;
    }
    if file.nodes.all.is_empty() {
        let help = "expected the output of ibnetdiscover or an ibsim netlist";
        return Err(Refusal::new(name, "there is no node in it", help));
    }
    file.nodes.build(choice)
}

/// A reader of ibnetdiscover's files, with the nodes that it has read so far.
struct FabricFileReader<'a> {
    nodes: FabricNodes<'a>,
    /// The node whose ports come next.
    open: Option<usize>,
    /// GUID of the next node of each form, and the base that `+` counts from.
    guids: [(Option<u64>, u64); 3],
    /// Device id of the next node.
    device: Option<u64>,
    width: Option<u8>,
    speed: Option<InfinibandLaneSpeed>,
}

impl<'a> FabricFileReader<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            nodes: FabricNodes::new(name),
            open: None,
            guids: [(None, 0); 3],
            device: None,
            width: None,
            speed: None,
        }
    }

    fn line(&mut self, number: usize, line: &'a str) -> Result<(), LineFault> {
        if line.starts_with('#') {
            return Ok(());
        }
        if is_message(line) {
            self.nodes.talk(number, line);
            return Ok(());
        }
        if line.starts_with('[') {
            return self.port(number, line);
        }
        for (word, form) in line::NODES {
            let rest = line.strip_prefix(word).filter(|rest| rest.starts_with([' ', '\t']));
            if let Some(rest) = rest {
                return self.node(number, form, rest);
            }
        }
        for (key, form) in line::GUIDS {
            if let Some(rest) = line.strip_prefix(key) {
                self.open = None;
                return self.guid(form, rest.strip_prefix('s').unwrap_or(rest));
            }
        }
        if is_talk(line) && !Self::is_heading(line) {
            self.nodes.talk(number, line);
            return Ok(());
        }
        self.open = None;
        self.setting(line)
    }

    fn node(
        &mut self,
        number: usize,
        form: DeviceLineKind,
        rest: &'a str,
    ) -> Result<(), LineFault> {
        let head = NodeLine::parse(rest)?;
        let (next, _) = &mut self.guids[form as usize];
        let guid = next.filter(|g| *g != 0);
        // as ibsim counts: a switch takes one GUID, an adapter one for itself and one for each port
        let used = if form == DeviceLineKind::Switch { 1 } else { u64::from(head.ports) + 1 };
        *next = next.map(|g| g.wrapping_add(used));
        let device = self.device.take();
        let node = FabricNode { form, line: number, head, guid, device, ports: Vec::new() };
        self.open = Some(self.nodes.add(node)?);
        Ok(())
    }

    fn guid(&mut self, form: DeviceLineKind, rest: &str) -> Result<(), LineFault> {
        let mut scan = LineScanner(rest);
        let relative = scan.eat("+");
        if !relative && !scan.eat("=") {
            return Err(LineFault::new("a GUID is missing", "expected = and a hexadecimal number"));
        }
        let value = scan.c_number()?;
        let (next, base) = &mut self.guids[form as usize];
        if !relative {
            *base = value;
        }
        *next = Some(if relative { base.wrapping_add(value) } else { value });
        Ok(())
    }

    /// Whether a line is a heading of `ibnetdiscover -g` or for the simulator alone.
    fn is_heading(line: &str) -> bool {
        let headings = ["Non-Chassis Nodes", "Chassis ", "Hostname:", "pdebug"];
        headings.iter().any(|heading| line.starts_with(heading))
    }

    /// Lines that are neither a node, nor a port, nor a GUID.
    fn setting(&mut self, line: &str) -> Result<(), LineFault> {
        if line.is_empty() || Self::is_heading(line) {
            return Ok(());
        }
        if let Some((key, value)) = line.split_once('=') {
            let number = || LineScanner(value.trim()).c_number();
            match key.trim() {
                "devid" => return number().map(|n| self.device = Some(n)),
                "vendid" | "sysimgguid" => return number().map(|_| ()),
                "width" => return number().map(|n| self.width = line::widest(n)),
                "speed" => {
                    let speed = number().map(line::fastest)?;
                    self.speed = self.speed.filter(|s| *s >= InfinibandLaneSpeed::FDR).or(speed);
                    return Ok(());
                }
                "extspeed" => {
                    return number().map(|n| self.speed = line::fastest_extended(n).or(self.speed));
                }
                _ => {}
            }
        }
        Err(line::foreign(line))
    }

    fn port(&mut self, number: usize, line: &'a str) -> Result<(), LineFault> {
        let (width, speed) = (self.width, self.speed);
        let Some(open) = self.open else {
            let words = line::NODES.map(|(word, _)| word).join(", ");
            let help = format!("expected a line of a node before those of its ports: {words}");
            return Err(LineFault::new("a port outside of a node", help));
        };
        let node = &mut self.nodes.all[open];
        let mut port = PortLine::parse(line, node.form != DeviceLineKind::Switch)?;
        if !(1..=node.head.ports).contains(&port.port) {
            let why = format!("port {} of \"{}\" does not exist", port.port, node.head.id);
            return Err(LineFault::new(why, format!("it has ports 1 to {}", node.head.ports)));
        }
        port.rate.fall_back(width, speed);
        node.ports.push((number, port));
        Ok(())
    }
}
