//! Topology files of ibutils (`.topo`): systems of some type, and the cables between their
//! connectors.
//!
//! ```text
//! MTS2400 S-1
//!    P1 -4x-10G-> MT23108 H-1 P1
//!    P2 -> MT23108 H-2 P1
//! ```
//!
//! Source: ibdm-topo-file(1) of ibutils, and what its reader does: an empty line ends a system, `#`
//! begins a remark, a cable may stand at both of its ends, a width or speed that is not stated is
//! 4x or 2.5G. The definition of a type ([`ibnl`]) says what is in its systems; a type without one
//! is a switch or an adapter where its connectors show which.

mod ibnl;
mod said;
mod types;

use super::given::with_endpoints;
use super::kind::{GraphFileFormat, MAX_ENDPOINTS, recipe};
use crate::companion::kind::{CompanionFileFormat, one_file, text};
use base::part::PartDescription;
use base::{Refusal, SwitchId};
use fabric::network::{
    Cable, CablePlug, InfinibandLaneSpeed, OmittedFileContents, Switch, Topology, TopologyBuilder,
};
pub(crate) use ibnl::nominal_gbps;
use ibnl::{FlattenedIbnlSystem, IbnlCableRate, IbnlDefinitions, arrow};
use said::TopologyFileContents;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

pub(super) const ENTRY: GraphFileFormat = GraphFileFormat {
    part: PartDescription::new("ibutils", ".topo of ibutils"),
    rank: 80,
    looks: |seen| looks(seen.first, seen.body),
    read: |text, name, p| with_endpoints(read(text, name)?, name, p, true),
    example: || EXAMPLE.to_owned(),
};

pub(crate) const DEFINITIONS: CompanionFileFormat = CompanionFileFormat {
    part: PartDescription::new("ibnl", ".ibnl of ibutils: what systems of a type are made of"),
    read: |files| {
        let definition = (files[1].0.to_owned(), text(files[1])?.to_owned());
        read_with(text(files[0])?, files[0].0, &[definition]).map(drop)
    },
    example: || {
        let network = "BOX a\n   L1/P1 -> HCA h P1\n   L2/P1 -> HCA i P1\n";
        [one_file("network.topo", network), one_file("BOX.ibnl", DEFINITIONS_EXAMPLE)].concat()
    },
};

const DEFINITIONS_EXAMPLE: &str = "# made 2026-01-01 10:11:12 by 123456789\n\
    SYSTEM LEAF,LEAF:4x\nNODE SW 36 \
    MT48436 U12345678\n   1 -4x-10G-> P1\n   2 -> P2\n   3 -> P3\n\nTOPSYSTEM BOX,BOX23456789\n\n\
    # 2026-01-02 13:14:15 for 1234 of 5678\nSUBSYSTEM LEAF leaf12345678\n   P1 -> L1/P1\n   \
    P2 -> leaf23456789 P2\n\nSUBSYSTEM LEAF leaf23456789\n   P1 -> L2/P1\n   P3 -> L2/P3456789\n";

const EXAMPLE: &str = "# made 2026-01-01 10:11:12 by 123456789 on 4096 of 17 racks\n\
    MSX6036 switch1234\n   P11 -4x-10G-> CX4 host01234567 P1\n   P12 -> CX4 host12345678 P1\n   \
    P36 -> MSX6036 switch5678 P36\n\n# 2026-01-02 13:14:15, 1234 x 5678\nMSX6036 switch5678\n   \
    P13 -> CX4 host23456789 P1\n   P14 -> CX4 host34567890 P1\n";

/// Whether a text is such a file: a cable to `TYPE NAME PORT` after a line of a system.
pub(super) fn looks(first: &str, text: &str) -> bool {
    let words: Vec<&str> = first.split_whitespace().collect();
    let is_system = words.len() == 2 || words.get(2).is_some_and(|word| word.starts_with("CFG:"));
    let is_cable = |line: &str| {
        arrow(line).is_some_and(|found| {
            found.is_ok_and(|(port, _, to)| {
                !port.is_empty() && to.len() == 3 && !line.contains(['"', ';', '['])
            })
        })
    };
    is_system && !first.contains("->") && text.lines().any(is_cable)
}

/// A device of the network: a switch's number, or the endpoint's.
#[derive(Clone, Copy)]
enum Device {
    Switch(SwitchId),
    Endpoint(base::EndpointId),
}

/// Reads a topology file without definitions; see [`read_with`].
///
/// # Errors
/// As [`read_with`].
pub fn read(text: &str, name: &str) -> Result<Topology, Refusal> {
    read_with(text, name, &[])
}

/// Reads a topology file; `definitions` are files `.ibnl` by name and content, of which those of
/// types in the file are used. `name` stands for the file in the recipe and in refusals. A system
/// of one device is called as the system, others `SYSTEM/BOARD/DEVICE`. O(network).
///
/// # Errors
/// With the line, when it is none of such a file, a port has two cables, or a type has no
/// definition and could be anything.
pub fn read_with(
    text: &str,
    name: &str,
    definitions: &[(String, String)],
) -> Result<Topology, Refusal> {
    let text = text.trim_start_matches('\u{feff}');
    let (mut said, mut open) = (TopologyFileContents::default(), None);
    for (number, line) in (1..).zip(text.lines()) {
        said.line(line, number, &mut open)
            .map_err(|(why, help)| Refusal::new(format!("{name}: line {number}"), why, help))?;
    }
    let mut known = IbnlDefinitions::default();
    for (file, text) in definitions {
        known.add(file, text)?;
    }
    let (taken, remarks) = types::without_definition(&said, &known, name)?;
    let flats = flats(&said, &known, &taken, name)?;
    build(&said, &flats, name, remarks)
}

/// The devices of each system, and the cables inside it.
fn flats(
    said: &TopologyFileContents,
    known: &IbnlDefinitions,
    taken: &types::SystemsByType,
    name: &str,
) -> Result<Vec<Rc<FlattenedIbnlSystem>>, Refusal> {
    let mut made: HashMap<(&str, &BTreeMap<&str, &str>), Rc<FlattenedIbnlSystem>> = HashMap::new();
    let (mut all, mut devices) = (Vec::new(), 0);
    for system in &said.systems {
        let key = (system.kind, &system.boards);
        let flat = match (taken.get(system.kind), made.get(&key)) {
            (Some(flat), _) | (None, Some(flat)) => flat.clone(),
            (None, None) => {
                let boards =
                    |(place, variant): (&&str, &&str)| ((*place).to_owned(), (*variant).to_owned());
                let boards = system.boards.iter().map(boards).collect();
                let flat = known.flat(system.kind, &boards).expect("it has a definition")?;
                if let Some((device, port)) = ibnl::joined_twice(&flat) {
                    let why = format!(
                        "port {port} of {} of a {} is joined twice",
                        flat.devices[device].0, system.kind
                    );
                    return Err(Refusal::new(name, why, "a port takes one cable"));
                }
                made.entry(key).or_insert(Rc::new(flat)).clone()
            }
        };
        devices += flat.devices.len() as u64;
        if devices > MAX_ENDPOINTS {
            let help = format!("at most {MAX_ENDPOINTS}");
            return Err(Refusal::new(name, "too many devices", help));
        }
        all.push(flat);
    }
    Ok(all)
}

/// Builds the network.
fn build(
    said: &TopologyFileContents,
    flats: &[Rc<FlattenedIbnlSystem>],
    name: &str,
    mut remarks: Vec<String>,
) -> Result<Topology, Refusal> {
    let mut b = TopologyBuilder::new();
    let devices = devices(said, flats, &mut b);
    let says = says_rates(said, flats);
    let cable = |rate: IbnlCableRate| {
        if !says {
            // where the file states no rate for any cable, all have the default of other formats
            return Cable::default();
        }
        let (width, speed) =
            (rate.width.unwrap_or(4), rate.speed.unwrap_or(InfinibandLaneSpeed::SDR));
        Cable { width, speed, ..Cable::default() }
    };
    let mut left = OmittedFileParts::default();
    let mut join = |a: (Device, u16), c: (Device, u16), cable: Cable| match (a, c) {
        ((Device::Switch(s), p), (Device::Switch(t), q)) if s == t => {
            left.loops.push([CablePlug { switch: s, port: p }, CablePlug { switch: t, port: q }]);
        }
        ((Device::Switch(s), p), (Device::Switch(t), q)) => {
            b.link_at(CablePlug { switch: s, port: p }, CablePlug { switch: t, port: q }, cable);
        }
        ((Device::Endpoint(e), _), (Device::Switch(s), p))
        | ((Device::Switch(s), p), (Device::Endpoint(e), _)) => {
            b.attach(e, s, p, cable);
        }
        ((Device::Endpoint(_), _), (Device::Endpoint(_), _)) => left.without_switch += 1,
    };
    for (flat, devices) in flats.iter().zip(&devices) {
        for (((d, p), (e, q)), rate) in &flat.joints {
            join((devices[*d], *p), (devices[*e], *q), cable(*rate));
        }
    }
    let mut plugged = plugs_within(flats);
    for (a, c, rate, line) in &said.cables {
        let mut ends = Vec::with_capacity(2);
        let mut rate = *rate;
        for (system, connector) in [a, c] {
            let Some(&((device, port), own)) = flats[*system].connectors.get(*connector) else {
                let of = &said.systems[*system];
                let why = format!("{}, a {}, has no connector {connector}", of.name, of.kind);
                let help = "one of its definition that leads to a device, and no removed board's";
                return Err(Refusal::new(format!("{name}: line {line}"), why, help));
            };
            if !plugged.insert((*system, device, port)) {
                let why = format!(
                    "connector {connector} of {} leads to a port in use",
                    said.systems[*system].name
                );
                let help = "a port takes one cable";
                return Err(Refusal::new(format!("{name}: line {line}"), why, help));
            }
            rate = rate.or(own);
            ends.push((devices[*system][device], port));
        }
        join(ends[0], ends[1], cable(rate));
    }
    if left.without_switch > 0 {
        let count = left.without_switch;
        remarks.push(format!("{count} cables between adapters, without a switch: left out"));
    }
    let loops = left.loops.len();
    if loops > 0 {
        let what = if loops == 1 { "cable" } else { "cables" };
        remarks.push(format!("{loops} {what} of a switch to itself left out"));
    }
    if !devices.iter().flatten().any(|device| matches!(device, Device::Switch(_))) {
        return Err(Refusal::new(name, "there is no switch in it", "a system with a switch"));
    }
    b.number_planes();
    let aside = OmittedFileContents { remarks, loops: left.loops, ..Default::default() };
    b.set_aside(aside);
    b.finish(recipe(name, "ibutils")).map_err(|refused| refused.within(name))
}

/// The devices of each system, added to `b`.
fn devices(
    said: &TopologyFileContents,
    flats: &[Rc<FlattenedIbnlSystem>],
    b: &mut TopologyBuilder,
) -> Vec<Vec<Device>> {
    let mut devices: Vec<Vec<Device>> = Vec::with_capacity(flats.len());
    for (system, flat) in said.systems.iter().zip(flats) {
        let one = |(within, is_switch, ports): &(String, bool, u16)| {
            let called = match flat.devices.len() {
                1 => system.name.to_owned(),
                _ => format!("{}/{within}", system.name),
            };
            if *is_switch {
                Device::Switch(b.switch(Switch { ports: *ports, ..Switch::new(called) }))
            } else {
                Device::Endpoint(b.endpoint(called, None))
            }
        };
        devices.push(flat.devices.iter().map(one).collect());
    }
    devices
}

/// Whether the file states the rate of any cable.
fn says_rates(said: &TopologyFileContents, flats: &[Rc<FlattenedIbnlSystem>]) -> bool {
    said.cables.iter().any(|(_, _, rate, _)| rate.is_said())
        || flats.iter().any(|flat| {
            flat.joints.values().any(|rate| rate.is_said())
                || flat.connectors.values().any(|(_, rate)| rate.is_said())
        })
}

/// The parts of a file that have no place in a network.
#[derive(Default)]
struct OmittedFileParts {
    loops: Vec<[CablePlug; 2]>,
    without_switch: usize,
}

/// Ports that are joined within systems: system, device, port.
fn plugs_within(flats: &[Rc<FlattenedIbnlSystem>]) -> BTreeSet<(usize, usize, u16)> {
    let of = |(system, flat): (usize, &Rc<FlattenedIbnlSystem>)| -> Vec<_> {
        let ends = flat.joints.keys().flat_map(|(a, b)| [*a, *b]);
        ends.map(|(device, port)| (system, device, port)).collect()
    };
    flats.iter().enumerate().flat_map(of).collect()
}
