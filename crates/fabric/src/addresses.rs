//! Addresses of every port of a network: GUIDs and LIDs, deterministic.
//!
//! Source: `InfiniBand` Architecture Specification, volume 1, section 4.1 (unicast LIDs 0x0001 to
//! 0xBFFF, LMC 0 to 7, EUI-64 GUIDs).
//!
//! A GUID that flyloom makes is an EUI-64 with the locally-administered bit set (first octet 02),
//! which no vendor may ship: `0x02f1_ssssssss_0000` for switch `s`, `0x02f2_eeeeeeee_0000` for the
//! adapter of endpoint `e`, both counted from 1, and node GUID + rail + 1 for the adapter's ports.

pub use crate::lids::{MAX_LID, MAX_LMC};
use crate::lids::{check, check_lmc, lids};
use crate::network::Topology;
use base::Refusal;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

/// Most ports (rails) of one adapter whose port GUIDs are made from its node GUID.
const MAX_RAILS: u16 = 254;
const SWITCH_PREFIX: u64 = 0x02f1 << 48;
const NODE_PREFIX: u64 = 0x02f2 << 48;

/// Hardware and local addresses of every port of a network.
///
/// A terminal answers to the `2^lmc` LIDs from its base LID; a switch to one LID.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortAddresses {
    /// The LID mask control: each terminal has `2^lmc` LIDs.
    pub lmc: u8,
    /// GUID of each switch (of the node and of its port 0), by switch id.
    pub switch_guid: Vec<u64>,
    /// LID of each switch, by switch id.
    pub switch_lid: Vec<u16>,
    /// Node GUID of each endpoint's adapter, by endpoint id.
    pub node_guid: Vec<u64>,
    /// Port GUID of each rail, by terminal id.
    pub port_guid: Vec<u64>,
    /// Base LID of each rail, by terminal id: a multiple of `2^lmc`.
    pub lid: Vec<u16>,
}

impl PortAddresses {
    /// Addresses for `t`: the GUIDs and LIDs in `t` are kept, and the others are made.
    ///
    /// If `t` has no LID at all, the terminals get LIDs from `2^lmc` upward in the order of their
    /// ids, so that the LIDs of hosts stay small, and the switches get the next ones. If only some
    /// ports lack a LID, these get the lowest free ones. All planes share one numbering. O(ports *
    /// log ports).
    ///
    /// # Errors
    /// When `lmc` is above 7, the LIDs do not fit below 0xC000, a LID in `t` is not possible under
    /// `lmc` ([`Topology::with_new_lids`] replaces such LIDs), an endpoint has more than 254 rails,
    /// or two nodes or two ports of `t` have the same GUID.
    pub fn assign(t: &Topology, lmc: u8) -> Result<Self, Refusal> {
        check(t, lmc)?;
        let found = lids(t, lmc);
        if let Some((moved, why)) = found.moved {
            let why = format!("{moved} of {} LIDs would move: {why}", found.carried);
            let stay = (0..lmc).rev().find(|lower| lids(t, *lower).moved.is_none());
            let stay = stay.map_or_else(String::new, |lower| format!("LMC {lower} keeps all; "));
            let help = format!("{stay}--new-lids (in Python new_lids=True) allows it");
            return Err(Refusal::new("lmc", why, help));
        }
        let (switch_guid, node_guid, port_guid) = guids(t)?;
        let (switch_lid, lid) = (found.switches, found.terminals);
        Ok(Self { lmc, switch_guid, switch_lid, node_guid, port_guid, lid })
    }

    /// The addresses of a network that was read from a fabric, its LMC included (the `lmc` of its
    /// recipe, 0 where there is none). GUIDs that it lacks are made as in [`Self::assign`].
    ///
    /// # Errors
    /// When a switch or a terminal has no LID, a LID is not unicast or not a multiple of `2^lmc`,
    /// or two ports share a LID; and as [`Self::assign`].
    pub fn from_fabric(t: &Topology) -> Result<Self, Refusal> {
        let lmc = match t.recipe().params.get("lmc") {
            None => 0,
            Some(v) => v
                .as_u64()
                .and_then(|l| u8::try_from(l).ok())
                .ok_or_else(|| Refusal::new("lmc", format!("{v} is no LMC"), "an LMC is 0 to 7"))?,
        };
        check_lmc(lmc)?;
        let (switch_guid, node_guid, port_guid) = guids(t)?;
        let mut taken = BTreeMap::new();
        let mut claim = |name: String, lid: Option<u16>, lmc: u8| {
            let lid = lid.filter(|l| *l != 0).ok_or_else(|| {
                let help = "run a subnet manager on the fabric first, or assign new LIDs";
                Refusal::new(name.clone(), "has no LID", help)
            })?;
            claim_lids(&mut taken, name, lid, lmc)
        };
        let of_switch = |s: &crate::network::Switch| format!("switch {}", s.name);
        let switch_lid = t.switches().iter().map(|s| claim(of_switch(s), s.lid, 0));
        let switch_lid = switch_lid.collect::<Result<_, _>>()?;
        let lid = t.terminals().iter().map(|x| {
            let name = &t.endpoints()[x.endpoint.ix()].name;
            claim(format!("endpoint {name} rail {}", x.rail), x.lid, lmc)
        });
        let lid = lid.collect::<Result<_, _>>()?;
        Ok(Self { lmc, switch_guid, switch_lid, node_guid, port_guid, lid })
    }

    /// The highest LID in use, with the `2^lmc - 1` LIDs behind the base LID; 0 in an empty
    /// network.
    pub fn highest_lid(&self) -> u16 {
        let offsets = (1_u16 << self.lmc) - 1;
        let terminals = self.lid.iter().map(|l| l + offsets);
        terminals.chain(self.switch_lid.iter().copied()).max().unwrap_or(0)
    }

    /// The text of `OpenSM`'s `guid2lid` cache file, which pins these LIDs: a line
    /// `0x<port guid> 0x<lowest> 0x<highest>` and an empty line for each terminal and switch.
    pub fn guid2lid(&self) -> String {
        let offsets = (1_u16 << self.lmc) - 1;
        let terminals = self.port_guid.iter().zip(&self.lid).map(|(g, l)| (g, *l, l + offsets));
        let switches = self.switch_guid.iter().zip(&self.switch_lid).map(|(g, l)| (g, *l, *l));
        let mut text = String::new();
        for (guid, low, high) in terminals.chain(switches) {
            let _ = writeln!(text, "0x{guid:016x} 0x{low:04x} 0x{high:04x}\n");
        }
        text
    }
}

/// Marks the LIDs of one port as taken. `taken` has, for the first LID of each range, the last LID
/// and the port that has the range.
fn claim_lids(
    taken: &mut BTreeMap<u16, (u16, String)>,
    name: String,
    lid: u16,
    lmc: u8,
) -> Result<u16, Refusal> {
    let size = 1_u16 << lmc;
    if !lid.is_multiple_of(size) {
        let why = format!("LID {lid} is not a multiple of {size}, as LMC {lmc} demands");
        return Err(Refusal::new(name, why, ""));
    }
    let last = lid.saturating_add(size - 1);
    if last > MAX_LID {
        let why = format!("LIDs {lid} to {last} are not unicast");
        return Err(Refusal::new(name, why, format!("unicast LIDs are 1 to {MAX_LID}")));
    }
    if let Some((_, (end, owner))) = taken.range(..=last).next_back().filter(|(_, r)| r.0 >= lid) {
        let why = format!("LID {lid} is already taken by {owner} (up to {end})");
        return Err(Refusal::new(name, why, "LIDs must differ"));
    }
    taken.insert(lid, (last, name));
    Ok(lid)
}

type GuidSet = (Vec<u64>, Vec<u64>, Vec<u64>);

/// GUIDs of switches, nodes and ports: those that `t` carries, and made ones for the rest.
fn guids(t: &Topology) -> Result<GuidSet, Refusal> {
    let mut used = kept_guids(t)?;
    let known = |guid: Option<u64>| guid.filter(|g| *g != 0);
    let switches = t.switches().len() as u64;
    let switch_guid = t.switches().iter().enumerate().map(|(i, s)| {
        known(s.guid).unwrap_or_else(|| make(&mut used, SWITCH_PREFIX, i as u64, switches, &[]))
    });
    let switch_guid = switch_guid.collect();
    let mut rails = vec![Vec::new(); t.endpoints().len()];
    for terminal in t.terminals().iter().filter(|x| known(x.port_guid).is_none()) {
        if terminal.rail >= MAX_RAILS {
            let name = &t.endpoints()[terminal.endpoint.ix()].name;
            let why = format!("endpoint {name} has a rail {}", terminal.rail);
            return Err(Refusal::new("rails", why, format!("at most {MAX_RAILS} rails")));
        }
        rails[terminal.endpoint.ix()].push(u64::from(terminal.rail) + 1);
    }
    let endpoints = t.endpoints().len() as u64;
    let node_guid: Vec<u64> = t
        .endpoints()
        .iter()
        .enumerate()
        .map(|(i, e)| {
            let make = |()| make(&mut used, NODE_PREFIX, i as u64, endpoints, &rails[i]);
            known(e.guid).ok_or(()).unwrap_or_else(make)
        })
        .collect();
    let port_guid = t.terminals().iter().map(|x| {
        let beside_node = node_guid[x.endpoint.ix()].wrapping_add(u64::from(x.rail) + 1);
        known(x.port_guid).unwrap_or_else(|| {
            let made_node = known(t.endpoints()[x.endpoint.ix()].guid).is_none();
            if made_node || used.insert(beside_node) {
                return beside_node;
            }
            let e = x.endpoint.0.into();
            make(&mut used, NODE_PREFIX + 1 + u64::from(x.rail), e, endpoints, &[])
        })
    });
    let port_guid = port_guid.collect();
    Ok((switch_guid, node_guid, port_guid))
}

/// A GUID `prefix | serial << 16` such that neither it nor its sum with any of `ports` is in use.
///
/// The first serial tried is `index + 1`; each next one is larger by `count`.
fn make(used: &mut HashSet<u64>, prefix: u64, index: u64, count: u64, ports: &[u64]) -> u64 {
    let mut serial = index + 1;
    loop {
        let guid = prefix + (serial << 16);
        let all = || std::iter::once(guid).chain(ports.iter().map(move |p| guid + p));
        if all().all(|g| !used.contains(&g)) {
            used.extend(all());
            return guid;
        }
        serial += count.max(1);
    }
}

/// All GUIDs in `t`.
fn kept_guids(t: &Topology) -> Result<HashSet<u64>, Refusal> {
    let switches = t.switches().iter().map(|s| (s.guid, format!("switch {}", s.name)));
    let nodes = t.endpoints().iter().map(|e| (e.guid, format!("endpoint {}", e.name)));
    let ports = t.terminals().iter().map(|x| {
        let name = &t.endpoints()[x.endpoint.ix()].name;
        (x.port_guid, format!("endpoint {name} rail {}", x.rail))
    });
    let mut used = unique(switches.clone().chain(nodes))?;
    used.extend(unique(switches.chain(ports))?);
    Ok(used)
}

/// The GUIDs of `owners`, with the name of each owner for the refusal.
fn unique(owners: impl Iterator<Item = (Option<u64>, String)>) -> Result<HashSet<u64>, Refusal> {
    let mut seen = HashSet::new();
    for (guid, owner) in owners {
        let Some(guid) = guid.filter(|g| *g != 0) else { continue };
        if !seen.insert(guid) {
            let why = format!("{owner} has GUID 0x{guid:016x}, as another node or port has");
            return Err(Refusal::new("guid", why, "GUIDs must differ"));
        }
    }
    Ok(seen)
}

/// `text` for use in a comment line: every character that is not printable ASCII becomes `_`.
pub fn remark(text: &str) -> String {
    text.chars().map(|c| if c == ' ' || c.is_ascii_graphic() { c } else { '_' }).collect()
}
