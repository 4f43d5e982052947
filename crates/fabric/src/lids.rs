//! The LIDs of a network: which of them can stay under an LMC, and new LIDs for the other ports.

use crate::network::{Topology, TopologyBuilder};
use base::Refusal;
use std::collections::BTreeMap;

/// The highest unicast LID.
pub const MAX_LID: u16 = 0xBFFF;
/// The highest LMC: a port answers to at most 2^7 LIDs.
pub const MAX_LMC: u8 = 7;

/// LIDs for every port of a network, which keep as many of its LIDs as possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LidAssignment {
    /// Base LID of each terminal: a multiple of `2^lmc`.
    pub terminals: Vec<u16>,
    /// LID of each switch.
    pub switches: Vec<u16>,
    /// The number of ports that had a LID before.
    pub carried: usize,
    /// The number of these ports that get another LID, and the reason for the first of them; `None`
    /// where all keep theirs.
    pub moved: Option<(usize, String)>,
}

/// LIDs for `t` under `lmc`.
///
/// A terminal can keep a base LID that is a multiple of `2^lmc`; it takes the `2^lmc` LIDs from it.
/// Where several ports have the same LID, the first keeps it. Where exactly one switch has a LID
/// among those that a terminal would take, the terminal keeps its LID; where several switches have,
/// the switches keep theirs. This keeps the most LIDs, because the blocks of terminals do not
/// overlap, so that each conflict is independent of the others. The other ports get the lowest free
/// LIDs, terminals first, in the order of their numbers. If the free LIDs do not suffice for that,
/// or if `t` has no LID, all LIDs are made: terminals get them from `2^lmc` upward, then switches.
/// O(ports log ports).
pub(crate) fn lids(t: &Topology, lmc: u8) -> LidAssignment {
    let carried = carried(t);
    let count = carried.iter().flatten().count();
    let (terminals, switches) = (t.terminals().len(), t.switches().len());
    let mut kept = keep(&carried, terminals, lmc);
    let all = if count == 0 { None } else { fill(&kept, terminals, lmc) };
    let all = all.unwrap_or_else(|| {
        kept.fill(None);
        let base = |i: usize| ((i + 1) << lmc) as u16;
        let of_switches = (0..switches).map(|s| base(terminals) + s as u16);
        (0..terminals).map(base).chain(of_switches).collect()
    });
    let moves = |port: &usize| carried[*port].is_some_and(|lid| lid != all[*port]);
    let moved = (0..all.len()).filter(moves).count();
    let first = (0..all.len()).find(moves).map(|port| (moved, reason(t, &carried, port, lmc)));
    let (of_terminals, of_switches) = all.split_at(terminals);
    LidAssignment {
        terminals: of_terminals.to_vec(),
        switches: of_switches.to_vec(),
        carried: count,
        moved: first,
    }
}

/// The LIDs in `t`: those of its terminals, then those of its switches.
fn carried(t: &Topology) -> Vec<Option<u16>> {
    let terminals = t.terminals().iter().map(|x| x.lid);
    terminals.chain(t.switches().iter().map(|s| s.lid)).map(|l| l.filter(|l| *l != 0)).collect()
}

/// The LIDs that can stay, by port; `None` for ports that need another one.
fn keep(carried: &[Option<u16>], terminals: usize, lmc: u8) -> Vec<Option<u16>> {
    let offsets = (1_u16 << lmc) - 1;
    let mut blocks: BTreeMap<u16, usize> = BTreeMap::new();
    let mut single: BTreeMap<u16, usize> = BTreeMap::new();
    for (port, lid) in carried.iter().enumerate() {
        let Some(lid) = lid.filter(|l| *l <= MAX_LID) else { continue };
        if port >= terminals {
            single.entry(lid).or_insert(port);
        } else if lid & offsets == 0 && lid <= MAX_LID - offsets {
            blocks.entry(lid).or_insert(port);
        }
    }
    let mut kept = vec![None; carried.len()];
    for (&lid, &port) in &blocks {
        let rivals: Vec<u16> = single.range(lid..=lid + offsets).map(|(l, _)| *l).collect();
        if rivals.len() < 2 {
            kept[port] = Some(lid);
            for rival in rivals {
                single.remove(&rival);
            }
        }
    }
    for (&lid, &port) in &single {
        kept[port] = Some(lid);
    }
    kept
}

/// The LIDs of all ports: those kept, and the lowest free ones for the other ports. `None` where
/// they do not fit.
fn fill(kept: &[Option<u16>], terminals: usize, lmc: u8) -> Option<Vec<u16>> {
    let size = 1_usize << lmc;
    let mut taken = vec![false; usize::from(MAX_LID) + 1];
    taken[0] = true;
    for (port, lid) in kept.iter().enumerate() {
        if let Some(lid) = lid {
            let count = if port < terminals { size } else { 1 };
            taken[usize::from(*lid)..][..count].fill(true);
        }
    }
    let (mut block, mut lone) = (size, 1);
    let mut lid_of = |port: usize| {
        let (next, count) = if port < terminals { (&mut block, size) } else { (&mut lone, 1) };
        while taken.get(*next..*next + count)?.contains(&true) {
            *next += count;
        }
        taken[*next..][..count].fill(true);
        u16::try_from(*next).ok()
    };
    kept.iter().enumerate().map(|(port, lid)| lid.or_else(|| lid_of(port))).collect()
}

/// The reason why a port cannot keep its LID.
fn reason(t: &Topology, carried: &[Option<u16>], port: usize, lmc: u8) -> String {
    let terminals = t.terminals().len();
    let name = |port: usize| {
        if let Some(s) = port.checked_sub(terminals) {
            return format!("switch {}", t.switches()[s].name);
        }
        let terminal = &t.terminals()[port];
        format!("endpoint {}", t.endpoints()[terminal.endpoint.ix()].name)
    };
    let lid = carried[port].unwrap_or_default();
    let offsets = (1_u16 << lmc) - 1;
    let last = |port: usize, lid: u16| if port < terminals { lid | offsets } else { lid };
    let said = format!("{} has LID {lid}", name(port));
    if port < terminals && lid & offsets != 0 {
        return format!("{said}, no multiple of {}, as LMC {lmc} asks for", offsets + 1);
    }
    if last(port, lid) > MAX_LID {
        return format!("{said}, and unicast LIDs end at {MAX_LID}");
    }
    let overlap = |&other: &usize| {
        let Some(theirs) = carried[other].filter(|_| other != port) else { return false };
        let aligned = other >= terminals || theirs & offsets == 0;
        aligned && theirs <= last(port, lid) && lid <= last(other, theirs)
    };
    match (0..carried.len()).find(overlap) {
        Some(other) if carried[other] == Some(lid) => format!("{said}, as {} has", name(other)),
        Some(other) => format!("{said} or LIDs from it, and {} has one of them", name(other)),
        None => format!("{said}, and there is no room for all of the others beside it"),
    }
}

/// Refuses an LMC above 7, and one under which the ports of `t` need more LIDs than there are.
pub(crate) fn check(t: &Topology, lmc: u8) -> Result<(), Refusal> {
    check_lmc(lmc)?;
    check_room(t.terminals().len(), t.switches().len(), lmc)
}

/// Refuses an LMC above 7.
pub(crate) fn check_lmc(lmc: u8) -> Result<(), Refusal> {
    if lmc <= MAX_LMC {
        return Ok(());
    }
    Err(Refusal::new("lmc", format!("{lmc} is no LMC"), format!("an LMC is 0 to {MAX_LMC}")))
}

/// The highest LID of a network of this size where none of its LIDs is kept: see [`lids`].
fn last_lid(terminals: usize, switches: usize, lmc: u8) -> usize {
    ((terminals + 1) << lmc) + switches - usize::from(switches > 0)
}

/// Refuses an LMC under which this number of ports needs more LIDs than there are.
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

impl Topology {
    /// This network with LIDs that are possible under `lmc`, as many of its own as can stay. It is
    /// unchanged where it has no LIDs, or where all of them are possible. O(network).
    ///
    /// # Errors
    /// When `lmc` is above 7 or the LIDs do not fit below 0xC000.
    pub fn with_new_lids(&self, lmc: u8) -> Result<Self, Refusal> {
        check(self, lmc)?;
        let new = lids(self, lmc);
        if new.moved.is_none() {
            return Ok(self.clone());
        }
        let mut renewed = TopologyBuilder::from(self);
        renewed.set_lids(&new.terminals, &new.switches);
        renewed.finish(self.recipe().clone())
    }
}
