//! Addresses of every port of a network: GUIDs and LIDs, deterministic.
//!
//! Source: `InfiniBand` Architecture Specification, volume 1, section 4.1 (unicast LIDs 0x0001 to
//! 0xBFFF, LMC 0 to 7, EUI-64 GUIDs).
//!
//! Made GUIDs are EUI-64 with the locally-administered bit set (first octet 02), which no vendor
//! may ship: `0x02f1_ssssssss_0000` for switch `s`, `0x02f2_eeeeeeee_0000` for the adapter of
//! endpoint `e`, both counted from 1, and node GUID + rail + 1 for the adapter's ports.

use crate::network::Topology;
use base::Refusal;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

/// The highest unicast LID.
pub const MAX_LID: u16 = 0xBFFF;
/// The highest LMC: a port answers to at most 2^7 LIDs.
pub const MAX_LMC: u8 = 7;
/// Most ports (rails) of one adapter whose port GUIDs are made from its node GUID.
const MAX_RAILS: u16 = 254;
const SWITCH_PREFIX: u64 = 0x02f1 << 48;
const NODE_PREFIX: u64 = 0x02f2 << 48;

/// Hardware and local addresses of every port of a network.
///
/// A terminal answers to the `2^lmc` LIDs from its base LID; a switch to one LID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// Each terminal has `2^lmc` LIDs.
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

impl Addresses {
    /// Addresses for `t`: GUIDs that it carries are kept, the others are made; LIDs are made.
    ///
    /// Terminals come first, in order of their ids, from `2^lmc` upward, so that the LIDs of hosts
    /// stay small; switches follow. LIDs that `t` carries are not kept ([`Self::from_fabric`] uses
    /// them). All planes share one numbering. O(ports * log ports).
    ///
    /// # Errors
    /// When `lmc` is above 7, the LIDs do not fit below 0xC000, an endpoint has more than 254
    /// rails, or two nodes or two ports of `t` carry the same GUID.
    pub fn assign(t: &Topology, lmc: u8) -> Result<Self, Refusal> {
        check_lmc(lmc)?;
        let (terminals, switches) = (t.terminals().len(), t.switches().len());
        check_room(terminals, switches, lmc)?;
        let (switch_guid, node_guid, port_guid) = guids(t)?;
        let base = |i: usize| ((i + 1) << lmc) as u16;
        Ok(Self {
            lmc,
            switch_guid,
            switch_lid: (0..switches).map(|s| base(terminals) + s as u16).collect(),
            node_guid,
            port_guid,
            lid: (0..terminals).map(base).collect(),
        })
    }

    /// The addresses that a network read from a fabric carries, its LMC included (the `lmc` of its
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

    /// The highest LID in use, offsets included; 0 in an empty network.
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

fn check_lmc(lmc: u8) -> Result<(), Refusal> {
    if lmc <= MAX_LMC {
        return Ok(());
    }
    Err(Refusal::new("lmc", format!("{lmc} is no LMC"), format!("an LMC is 0 to {MAX_LMC}")))
}

/// The highest LID that [`Addresses::assign`] gives out.
fn last_lid(terminals: usize, switches: usize, lmc: u8) -> usize {
    ((terminals + 1) << lmc) + switches - usize::from(switches > 0)
}

fn check_room(terminals: usize, switches: usize, lmc: u8) -> Result<(), Refusal> {
    let fits = |lmc: u8| last_lid(terminals, switches, lmc) <= usize::from(MAX_LID);
    if fits(lmc) {
        return Ok(());
    }
    let why = format!(
        "{terminals} terminals with {} LIDs each and {switches} switches need LIDs up to {}, \
         of {MAX_LID}",
        1 << lmc,
        last_lid(terminals, switches, lmc),
    );
    let help = match (0..lmc).rev().find(|&l| fits(l)) {
        Some(largest) => format!("the largest LMC that fits is {largest}"),
        None => "no LMC fits; split the network into planes or subnets".to_owned(),
    };
    Err(Refusal::new("lmc", why, help))
}

/// Marks the LIDs of one port as taken: `taken` maps a range's first LID to its last and its owner.
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

type Guids = (Vec<u64>, Vec<u64>, Vec<u64>);

/// GUIDs of switches, nodes and ports: those that `t` carries, and made ones for the rest.
fn guids(t: &Topology) -> Result<Guids, Refusal> {
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

/// A GUID `prefix | serial << 16` that is free together with its sums with `ports`.
///
/// The first serial tried is `index + 1`; the next ones are `count` apart.
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

/// All GUIDs that `t` carries, when no two nodes and no two ports share one.
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

/// The GUIDs of `owners`, which must all differ.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Builder, Cable, Recipe, Switch};
    use crate::topology::{family, parse_inline};
    use proptest::prelude::*;
    use serde_json::Map;

    fn built(inline: &str) -> Topology {
        let recipe = parse_inline(inline).expect("well formed");
        family(&recipe.family).expect("a family").build(&recipe.params).expect("a member")
    }

    /// `switches` switches with `hosts` endpoints of `rails` rails each, all on switch 0.
    fn plain(switches: usize, hosts: usize, rails: u16) -> Builder {
        let mut b = Builder::new();
        for i in 0..switches {
            b.switch(Switch::new(format!("s{i}")));
        }
        for i in 0..hosts {
            let e = b.endpoint(format!("h{i}"), None);
            for _ in 0..rails {
                b.attach(e, base::SwitchId(0), 0, Cable::default());
            }
        }
        b
    }

    fn finish(b: Builder) -> Topology {
        b.finish(Recipe { family: "test".into(), params: Map::new() }).expect("a valid network")
    }

    #[test]
    fn hosts_come_first_and_are_aligned() {
        let t = built("slim_fly:q=5,p=4");
        for lmc in 0..=7 {
            let a = Addresses::assign(&t, lmc).expect("fits");
            // by hand: 200 hosts of 2^lmc LIDs from 2^lmc, then 50 switches
            assert_eq!((a.lid[0], a.lid[199]), (1 << lmc, 200 << lmc));
            assert_eq!((a.switch_lid[0], a.switch_lid[49]), (201 << lmc, (201 << lmc) + 49));
            assert_eq!(a.highest_lid(), (201 << lmc) + 49);
        }
        assert_eq!(Addresses::assign(&t, 8).expect_err("no LMC 8").param, "lmc");
    }

    #[test]
    fn the_limit_is_the_last_unicast_lid() {
        // q = 19, p = 15: 10,830 hosts and 722 switches: LMC 2 needs 4 * 10,831 + 722 - 1 LIDs
        let t = built("slim_fly:q=19,p=15");
        assert_eq!(Addresses::assign(&t, 2).expect("fits").highest_lid(), 44_045);
        let refusal = Addresses::assign(&t, 3).expect_err("too many").to_string();
        assert!(
            refusal.contains("10830 terminals") && refusal.contains("largest LMC that fits is 2")
        );
        let full = |hosts| finish(plain(2, hosts, 1));
        assert_eq!(Addresses::assign(&full(49_149), 0).expect("fits").highest_lid(), MAX_LID);
        let refusal = Addresses::assign(&full(49_150), 0).expect_err("one too many");
        assert!(refusal.to_string().contains("no LMC fits"), "{refusal}");
    }

    #[test]
    fn guid2lid_has_a_line_a_port() {
        let mut b = plain(1, 1, 2);
        b.terminal_mut(base::TerminalId(1)).port_guid = Some(0x0002_c903_0000_0011);
        let a = Addresses::assign(&finish(b), 1).expect("fits");
        let expected = "0x02f2000000010001 0x0002 0x0003\n\n0x0002c90300000011 0x0004 0x0005\n\n\
                        0x02f1000000010000 0x0006 0x0006\n\n";
        assert_eq!(a.guid2lid(), expected);
    }

    #[test]
    fn from_fabric_wants_lids_that_are_there_and_differ() {
        let set = |lids: [u16; 3], lmc: u8| {
            let mut b = plain(1, 2, 1);
            for (i, lid) in lids[..2].iter().enumerate() {
                b.terminal_mut(base::TerminalId(i as u32)).lid = Some(*lid);
            }
            let mut params = Map::new();
            params.insert("lmc".into(), lmc.into());
            let mut t = b.finish(Recipe { family: "file".into(), params }).expect("valid");
            let mut with_lid = Builder::new();
            with_lid.switch(Switch { lid: Some(lids[2]), ..t.switches()[0].clone() });
            for (e, x) in t.endpoints().iter().zip(t.terminals()) {
                let e = with_lid.endpoint(e.name.clone(), e.guid);
                let id = with_lid.attach(e, x.plug.switch, x.plug.port, x.cable);
                with_lid.terminal_mut(id).lid = x.lid;
            }
            t = with_lid.finish(t.recipe().clone()).expect("valid");
            Addresses::from_fabric(&t)
        };
        let a = set([4, 8, 1], 2).expect("all differ");
        assert_eq!((a.lmc, a.lid, a.switch_lid), (2, vec![4, 8], vec![1]));
        for (lids, lmc, word) in [
            ([4, 0, 1], 2, "has no LID"),
            ([4, 6, 1], 2, "multiple of 4"),
            ([4, 8, 6], 2, "taken by switch"),
            ([4, 4, 1], 0, "taken by endpoint h0"),
            ([4, 0xC000, 1], 0, "unicast"),
            ([4, 8, 1], 9, "0 to 7"),
        ] {
            let refusal = set(lids, lmc).expect_err(word).to_string();
            assert!(refusal.contains(word), "{refusal}");
        }
    }

    #[test]
    fn equal_guids_are_refused() {
        let mut b = plain(1, 0, 0);
        for name in ["a", "b"] {
            b.switch(Switch { guid: Some(7), ..Switch::new(name) });
        }
        let refusal = Addresses::assign(&finish(b), 0).expect_err("two have GUID 7");
        assert!(refusal.to_string().contains("switch b has GUID 0x0000000000000007"), "{refusal}");
    }

    proptest! {
        #[test]
        fn made_guids_differ_from_kept_ones_and_from_one_another(
            kept in proptest::collection::vec(proptest::option::of(0_u64..6), 8),
            low in proptest::collection::vec(0_u64..4, 8),
        ) {
            // kept GUIDs lie where made ones would: serials 0 to 5 with low parts 0 to 3
            let mut b = Builder::new();
            let mut seen = HashSet::new();
            let mut guid = |i: usize, prefix: u64| {
                let g = kept[i].map(|serial| prefix + (serial << 16) + low[i]);
                g.filter(|g| seen.insert(*g))
            };
            for i in 0..2 {
                b.switch(Switch { guid: guid(i, SWITCH_PREFIX), ..Switch::new(format!("s{i}")) });
            }
            for i in 2..4 {
                let node = guid(i, NODE_PREFIX);
                let e = b.endpoint(format!("h{i}"), node);
                for rail in 0..2 {
                    let id = b.attach(e, base::SwitchId(0), 0, Cable::default());
                    b.terminal_mut(id).port_guid = guid(2 * i + rail, NODE_PREFIX);
                }
            }
            let a = Addresses::assign(&finish(b.clone()), 0).expect("kept GUIDs differ");
            let all: Vec<u64> =
                [&a.switch_guid[..], &a.node_guid, &a.port_guid].concat();
            prop_assert_eq!(all.iter().collect::<HashSet<_>>().len(), 8);
            let t = finish(b);
            for (s, g) in t.switches().iter().zip(&a.switch_guid) {
                prop_assert!(s.guid.is_none_or(|kept| kept == *g));
            }
            for (x, g) in t.terminals().iter().zip(&a.port_guid) {
                prop_assert!(x.port_guid.is_none_or(|kept| kept == *g));
            }
            prop_assert_eq!(&Addresses::assign(&t, 0).expect("again"), &a);
        }
    }
}
