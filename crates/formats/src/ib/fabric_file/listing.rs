//! Reports of ports: `ibnetdiscover -p`, and `iblinkinfo` with `-l` and without. They tell every
//! port with what it leads to, and so all cables of a fabric.
//!
//! Source: the programs of `infiniband-diags` 44. A line of `ibnetdiscover -p`:
//!
//! ```text
//! SW   249  4 0x0002c90200000310 4x HDR - CA   196  1 0x0002c90300000c41 ( 'leaf' - 'host HCA-1' )
//! SW   249  5 0x0002c90200000310 4x SDR                                    'leaf'
//! ```
//!
//! Lines of `iblinkinfo`, below a heading `CA: NAME:` or `Switch: 0xGUID NAME:`; with `-l` each
//! begins with GUID and name of its node, and the far end has its port GUID:
//!
//! ```text
//! [0xGUID] LID PORT[EXT] ==( 4X 53.125 Gbps Active/ LinkUp)==> [0xGUID] LID PORT[EXT] "NAME" ( )
//! ```

use super::assemble::{FabricNode, FabricNodes};
use super::line::{LinkRate, NodeLine, PortLine, WIDTHS, is_message, is_talk, shown};
use super::said::{DeviceLineKind, LineFault, MAX_PORT};
use base::Refusal;
use fabric::network::InfinibandLaneSpeed;
use std::collections::{HashMap, HashSet};

/// The types of nodes that `ibnetdiscover -p` prints.
const FORMS: [(&str, DeviceLineKind); 4] = [
    ("SW", DeviceLineKind::Switch),
    ("CA", DeviceLineKind::Adapter),
    ("RT", DeviceLineKind::Router),
    ("??", DeviceLineKind::Adapter),
];
/// The words of headings of `iblinkinfo`, before a colon.
const HEADINGS: [(&str, DeviceLineKind); 5] = [
    ("Switch", DeviceLineKind::Switch),
    ("CA", DeviceLineKind::Adapter),
    ("RT", DeviceLineKind::Router),
    ("Rt", DeviceLineKind::Router),
    ("Router", DeviceLineKind::Router),
];

/// A port as a line gives it, at either end.
#[derive(Debug, Clone, Copy)]
struct ListedPort<'a> {
    /// `None` where only other lines of the report say it.
    form: Option<DeviceLineKind>,
    lid: u16,
    number: u16,
    /// A switch's own GUID, or that of an adapter's port; `None` where the line has none.
    guid: Option<u64>,
    /// Whether the GUID of an adapter is that of its port.
    is_port_guid: bool,
    name: &'a str,
}

/// A line of a report: a port, and what it leads to.
struct PortReportLine<'a> {
    line: usize,
    here: ListedPort<'a>,
    far: Option<ListedPort<'a>>,
    rate: LinkRate,
}

/// The nodes of such a report; `None` where the text is not one.
///
/// # Errors
/// When a line is not understood, or ends contradict each other.
pub(super) fn read<'a>(text: &'a str, file: &'a str) -> Result<Option<FabricNodes<'a>>, Refusal> {
    let said = |line: &&str| !line.is_empty() && !line.starts_with('#') && !is_message(line);
    let Some(first) = text.lines().map(str::trim).find(said) else { return Ok(None) };
    let is_report = is_ports_report(first);
    if !is_report && !is_link_info(first) {
        return Ok(None);
    }
    let mut reader = ListingReader { nodes: FabricNodes::new(file), lines: Vec::new(), open: None };
    let last = text.lines().count();
    for (i, line) in text.lines().enumerate() {
        let (number, line) = (i + 1, line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if is_message(line) {
            reader.nodes.talk(number, line);
            continue;
        }
        let read = if is_report {
            ports_line(&mut reader, number, line)
        } else {
            link_line(&mut reader, number, line)
        };
        let is_cut = number == last && !text.ends_with('\n');
        read.map_err(|w| if is_cut { w.in_a_line_cut_off() } else { w }.at(file, number))?;
    }
    reader.nodes(file).map(Some)
}

/// Whether a line is one of `ibnetdiscover -p`.
fn is_ports_report(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or_default();
    let form = FORMS.iter().any(|(known, _)| *known == word) && line.len() > word.len();
    form && line.contains('\'') && line.contains(" 0x")
}

/// Whether a line is one of `iblinkinfo`.
pub(crate) fn is_link_info(line: &str) -> bool {
    let word = line.split_once(':').map_or("", |(word, _)| word);
    let heading = HEADINGS.iter().any(|(known, _)| *known == word);
    heading && line.ends_with(':') || line.contains("==>") && line.contains("==")
}

/// A reader of listings of links, with the nodes that it has read so far.
struct ListingReader<'a> {
    nodes: FabricNodes<'a>,
    lines: Vec<PortReportLine<'a>>,
    /// The node of the heading above: form, GUID of a switch, name.
    open: Option<(DeviceLineKind, Option<u64>, &'a str)>,
}

fn number<T: std::str::FromStr>(word: Option<&str>, what: &str) -> Result<T, LineFault> {
    let word = word.unwrap_or_default();
    let bad = |_| LineFault::new(format!("'{word}' is no {what}"), "expected a number");
    word.parse().map_err(bad)
}

fn guid_of(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

fn port_number(word: Option<&str>) -> Result<u16, LineFault> {
    let port: u16 = number(word, "port")?;
    if (1..=MAX_PORT).contains(&port) || port == 0 {
        return Ok(port);
    }
    Err(LineFault::new(format!("{port} is no port"), format!("expected 1 to {MAX_PORT}")))
}

fn form_of(word: Option<&str>) -> Result<DeviceLineKind, LineFault> {
    let word = word.unwrap_or_default();
    let found = FORMS.iter().find(|(known, _)| *known == word).map(|(_, form)| *form);
    found.ok_or_else(|| {
        let words = FORMS.map(|(word, _)| word).join(", ");
        LineFault::new(format!("'{word}' is no type of node"), format!("expected one of {words}"))
    })
}

/// `SW 249 4 0x0002c90200000310`, and the words behind it.
fn ports_end<'a, 'w>(
    words: &mut impl Iterator<Item = &'w str>,
    name: &'a str,
) -> Result<ListedPort<'a>, LineFault> {
    let form = Some(form_of(words.next())?);
    let lid = number(words.next(), "lid")?;
    let port = port_number(words.next())?;
    let word = words.next().unwrap_or_default();
    let guid = guid_of(word).ok_or_else(|| {
        LineFault::new(format!("'{word}' is no GUID"), "expected 0x and hexadecimal digits")
    })?;
    shown(name)?;
    Ok(ListedPort { form, lid, number: port, guid: Some(guid), is_port_guid: true, name })
}

fn ports_line<'a>(
    reader: &mut ListingReader<'a>,
    number: usize,
    line: &'a str,
) -> Result<(), LineFault> {
    if !is_ports_report(line) {
        if is_talk(line) {
            reader.nodes.talk(number, line);
            return Ok(());
        }
        let why = "no line of ibnetdiscover -p, as those before are";
        let words = FORMS.map(|(word, _)| word).join(", ");
        return Err(LineFault::new(why, format!("expected one of {words}, LID, port and GUID")));
    }
    let (numbers, names) = line.split_once('\'').unwrap_or((line, ""));
    let cut_off = || LineFault::new("the names are cut off", "expected ( 'NAME' - 'NAME' )");
    let mut words = numbers.split_whitespace();
    let joined = numbers.trim_end().ends_with('(');
    let (name, far_name) = if joined {
        let names = names.trim_end().strip_suffix(')').map(str::trim_end);
        let names = names.and_then(|names| names.strip_suffix('\'')).ok_or_else(cut_off)?;
        names.split_once("' - '").ok_or_else(cut_off)?
    } else {
        (names.trim_end().strip_suffix('\'').ok_or_else(cut_off)?, "")
    };
    let here = ports_end(&mut words, name)?;
    let width = words.next().unwrap_or_default().trim_end_matches(['x', 'X']);
    let rate = LinkRate {
        width: width.parse().ok().filter(|width| WIDTHS.contains(width)),
        speed: words.next().and_then(InfinibandLaneSpeed::from_name),
        exact: true,
    };
    let far = if joined {
        let dash = words.next();
        if dash != Some("-") {
            return Err(LineFault::new("no - before the far end", "expected width, speed and -"));
        }
        Some(ports_end(&mut words, far_name)?)
    } else {
        None
    };
    reader.lines.push(PortReportLine { line: number, here, far, rate });
    Ok(())
}

/// Speed of a lane by what `iblinkinfo` prints of it, Gbit/s on the wire.
fn on_wire(word: &str) -> Option<InfinibandLaneSpeed> {
    word.parse().ok().and_then(InfinibandLaneSpeed::from_wire_gbps)
}

/// `LID PORT[EXT]`, and what follows.
fn lid_and_port(text: &str) -> Result<(u16, u16, &str), LineFault> {
    let (before, rest) = text.split_once('[').unwrap_or((text, ""));
    let (_, rest) = rest.split_once(']').unwrap_or(("", ""));
    let mut words = before.split_whitespace();
    Ok((number(words.next(), "lid")?, port_number(words.next())?, rest))
}

/// A heading: the form, the GUID where it has one, the name.
fn heading(line: &str) -> Option<(DeviceLineKind, Option<u64>, &str)> {
    let (word, rest) = line.split_once(':')?;
    let form = HEADINGS.iter().find(|(known, _)| *known == word).map(|(_, form)| *form)?;
    let name = rest.trim().strip_suffix(':')?;
    let (first, behind) = name.split_once(' ').unwrap_or((name, ""));
    Some(match guid_of(first) {
        Some(guid) => (form, Some(guid), behind.trim()),
        None => (form, None, name),
    })
}

fn link_line<'a>(
    reader: &mut ListingReader<'a>,
    number: usize,
    line: &'a str,
) -> Result<(), LineFault> {
    if let Some(head) = heading(line) {
        shown(head.2)?;
        reader.open = Some(head);
        return Ok(());
    }
    let Some((near, rest)) = line.split_once("==") else {
        if is_talk(line) {
            reader.nodes.talk(number, line);
            return Ok(());
        }
        let why = "no line of iblinkinfo, as those before are";
        return Err(LineFault::new(why, "expected LID, port, ==(...)==> and the far end"));
    };
    if line.starts_with(['<', '>']) {
        let why = "a line of iblinkinfo --diff: differences are no network";
        return Err(LineFault::new(why, "use iblinkinfo, also with -l"));
    }
    let cut_off = || LineFault::new("the line is cut off", "expected ==(...)==> and the far end");
    let (link, far) = rest.split_once("==>").ok_or_else(cut_off)?;
    let (first, behind) = near.trim().split_once(' ').unwrap_or((near.trim(), ""));
    let guid = guid_of(first);
    let behind = if guid.is_some() { behind.trim() } else { near.trim() };
    let (form, guid, name, place) = if let Some(named) = behind.strip_prefix('"') {
        let (name, place) = named.split_once('"').ok_or_else(cut_off)?;
        (None, guid, name.trim(), place)
    } else {
        let Some((form, own, name)) = reader.open else {
            let words = HEADINGS.map(|(word, _)| format!("{word}:")).join(", ");
            let help = format!("expected a heading before: {words}");
            return Err(LineFault::new("a port outside of a node", help));
        };
        (Some(form), guid.or(own), name, behind)
    };
    let (lid, port, _) = lid_and_port(place)?;
    let here = ListedPort { form, lid, number: port, guid, is_port_guid: form.is_some(), name };
    let mut rate = LinkRate { width: None, speed: None, exact: true };
    for word in link.split(['(', ')', ' ']).filter(|word| !word.is_empty()) {
        match word.strip_suffix('X').and_then(|width| width.parse().ok()) {
            Some(width) => rate.width = Some(width).filter(|width| WIDTHS.contains(width)),
            // a name behind a number says more: "10.0 Gbps (FDR10)"
            None => {
                rate.speed =
                    InfinibandLaneSpeed::from_name(word).or(rate.speed).or_else(|| on_wire(word));
            }
        }
    }
    let far = far.trim();
    let far = if far.starts_with('[') || link.contains("Down/") {
        None
    } else {
        let (first, behind) = far.split_once(' ').unwrap_or((far, ""));
        let guid = guid_of(first);
        let (lid, port, rest) = lid_and_port(if guid.is_some() { behind } else { far })?;
        let named = rest.trim().strip_prefix('"').ok_or_else(cut_off)?;
        let (name, _) = named.split_once('"').ok_or_else(cut_off)?;
        shown(name)?;
        Some(ListedPort { form: None, lid, number: port, guid, is_port_guid: true, name })
    };
    shown(name)?;
    reader.lines.push(PortReportLine { line: number, here, far, rate });
    Ok(())
}

/// The key that distinguishes a node from the others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum NodeKey<'a> {
    Switch(u64),
    /// The name, and the GUID of the port less its number: the same for all ports of an adapter.
    Adapter(&'a str, u64),
    /// The GUID of an adapter itself.
    Node(u64),
    Lid(u16),
}

impl<'a> ListingReader<'a> {
    /// The nodes, with the ports that have a line and those that only the far ends name.
    fn nodes(self, file: &str) -> Result<FabricNodes<'a>, Refusal> {
        let Self { mut nodes, lines, .. } = self;
        let forms = forms(&lines);
        // a report of switches alone has no lines of devices
        let mut has_devices = false;
        let mut ends: HashSet<(String, u16)> = HashSet::new();
        let mut most: HashMap<String, u16> = HashMap::new();
        let mut every: Vec<(String, DeviceLineKind, ListedPort<'a>, usize)> = Vec::new();
        let mut ports: Vec<(String, usize, PortLine<'a>)> = Vec::new();
        for t in &lines {
            let at = |w: LineFault| w.at(file, t.line);
            let (id, form) = named(&forms, &t.here).map_err(at)?;
            has_devices |= form != DeviceLineKind::Switch;
            every.push((id.clone(), form, t.here, t.line));
            let Some(far) = &t.far else { continue };
            let (far_id, far_form) = named(&forms, far).map_err(at)?;
            every.push((far_id.clone(), far_form, *far, t.line));
            ends.insert((id.clone(), t.here.number));
            ports.push((id, t.line, port_line(&t.here, form, far, &far_id, far_form, &t.rate)));
        }
        let mut one_sided = Vec::new();
        for t in lines.iter().filter(|t| t.far.is_some()) {
            let Some(far) = &t.far else { continue };
            let (id, form) = named(&forms, &t.here).map_err(|w| w.at(file, t.line))?;
            let (far_id, far_form) = named(&forms, far).map_err(|w| w.at(file, t.line))?;
            if ends.insert((far_id.clone(), far.number)) {
                if has_devices || far_form == DeviceLineKind::Switch {
                    one_sided.push((t.line, far.name));
                }
                let mirrored = port_line(far, far_form, &t.here, &id, form, &t.rate);
                ports.push((far_id, t.line, mirrored));
            }
        }
        if let Some((line, far)) = one_sided.first() {
            let count = one_sided.len();
            let cables = if count == 1 { "cable is" } else { "cables are" };
            nodes.notes.push(format!(
                "{count} {cables} given at one end only, the first in line {line}, and not by \
                 '{far}': the file looks cut off"
            ));
        }
        for (id, _, port, _) in &every {
            let most = most.entry(id.clone()).or_default();
            *most = (*most).max(port.number).max(1);
        }
        let mut number: HashMap<String, usize> = HashMap::new();
        for (id, form, port, line) in every {
            let guid = port.guid.filter(|_| form == DeviceLineKind::Switch);
            if let Some(&at) = number.get(&id) {
                let known: &mut FabricNode = &mut nodes.all[at];
                known.guid = known.guid.or(guid); // the line of a far end may lack it
                continue;
            }
            let lid = Some(port.lid).filter(|_| form == DeviceLineKind::Switch);
            let name = Some(port.name);
            let head = NodeLine { ports: most[&id], id: id.clone().into(), name, lid };
            let node = FabricNode { form, line, head, guid, device: None, ports: Vec::new() };
            let at = nodes.add(node).map_err(|w| w.at(file, line))?;
            number.insert(id, at);
        }
        for (id, line, port) in ports {
            nodes.all[number[&id]].ports.push((line, port));
        }
        Ok(nodes)
    }
}

/// The form and the id of every node that lines begin with, by GUID and by LID.
///
/// `iblinkinfo -l` tells no form: a node whose ports have one LID is a switch.
fn forms<'a>(lines: &[PortReportLine<'a>]) -> HashMap<NodeKey<'a>, (String, DeviceLineKind)> {
    let mut ports: HashMap<u64, (u16, u16, bool)> = HashMap::new();
    for ListedPort { guid, number: port, lid, .. } in lines.iter().map(|t| &t.here) {
        let Some(guid) = guid else { continue };
        let (first, own, many) = ports.entry(*guid).or_insert((*port, *lid, false));
        *many |= first != port && own == lid;
    }
    let mut found = HashMap::new();
    for here in lines.iter().map(|t| &t.here) {
        let (key, entry) = match (here.form, here.guid) {
            (Some(form), _) => {
                let (key, id) = key(form, here);
                (key, (id, form))
            }
            (None, Some(guid)) if ports[&guid].2 => {
                (NodeKey::Switch(guid), (format!("S-{guid:016x}"), DeviceLineKind::Switch))
            }
            // the GUID of the node, not of its port
            (None, Some(guid)) => {
                (NodeKey::Node(guid), (format!("H-{guid:016x}"), DeviceLineKind::Adapter))
            }
            (None, None) => continue,
        };
        if here.lid != 0 {
            found.insert(NodeKey::Lid(here.lid), entry.clone());
        }
        found.insert(key, entry);
    }
    found
}

/// The key and the id of a node of known form.
fn key<'a>(form: DeviceLineKind, port: &ListedPort<'a>) -> (NodeKey<'a>, String) {
    match (form, port.guid) {
        (DeviceLineKind::Switch, Some(guid)) => (NodeKey::Switch(guid), format!("S-{guid:016x}")),
        (_, Some(guid)) => {
            let node = guid.wrapping_sub(u64::from(port.number));
            (NodeKey::Adapter(port.name, node), format!("H-{:016x}", node.wrapping_add(1)))
        }
        (_, None) => (NodeKey::Lid(port.lid), format!("L-{}", port.lid)),
    }
}

/// The id and the form of the node that a port is of.
fn named(
    forms: &HashMap<NodeKey<'_>, (String, DeviceLineKind)>,
    port: &ListedPort<'_>,
) -> Result<(String, DeviceLineKind), LineFault> {
    if let Some(form) = port.form {
        return Ok((key(form, port).1, form));
    }
    let by_guid = port.guid.and_then(|guid| {
        forms.get(&NodeKey::Switch(guid)).or_else(|| forms.get(&NodeKey::Node(guid)))
    });
    if let Some(found) = by_guid {
        return Ok(found.clone());
    }
    if port.lid == 0 && port.guid.is_some() {
        return Ok((key(DeviceLineKind::Adapter, port).1, DeviceLineKind::Adapter));
    }
    if port.lid == 0 {
        let why = "the far end has LID 0, which says nothing of who it is";
        return Err(LineFault::new(why, "use iblinkinfo -l, or ibnetdiscover"));
    }
    let by_lid = forms.get(&NodeKey::Lid(port.lid)).cloned();
    Ok(by_lid.unwrap_or_else(|| (key(DeviceLineKind::Adapter, port).1, DeviceLineKind::Adapter)))
}

fn port_line<'a>(
    here: &ListedPort<'a>,
    form: DeviceLineKind,
    far: &ListedPort<'a>,
    far_id: &str,
    far_form: DeviceLineKind,
    rate: &LinkRate,
) -> PortLine<'a> {
    let of_adapter = |port: &ListedPort, form: DeviceLineKind| {
        port.guid.filter(|_| form != DeviceLineKind::Switch)
    };
    // a line of `iblinkinfo -l` begins without a form: the GUID there is that of the node
    let own = |port: &ListedPort, form: DeviceLineKind| {
        of_adapter(port, form).filter(|_| port.is_port_guid)
    };
    PortLine {
        port: here.number.max(1),
        guid: own(here, form),
        peer: far_id.to_owned().into(),
        peer_port: far.number.max(1),
        peer_guid: own(far, far_form),
        peer_name: Some(far.name),
        lid: Some(here.lid).filter(|_| form != DeviceLineKind::Switch),
        lmc: None,
        rate: rate.clone(),
    }
}
