//! Slots: the places for processes in an allocation, and the sites that group equivalent ones.

use base::{EndpointId, Refusal, TerminalId};
use fabric::Topology;
use std::collections::HashMap;

/// The largest number of slots of an allocation.
const MOST_SLOTS: u64 = 1 << 24;

/// The slots on the endpoints of an allocation, in the order in which processes take them by
/// default.
///
/// Endpoints whose rails are on the same switches form one *site*: distances do not depend on which
/// of them a process is on.
#[derive(Debug, Clone)]
pub struct ProcessSlots {
    /// The endpoint of each slot.
    endpoint: Vec<u32>,
    /// The site of each slot.
    site: Vec<u32>,
    /// The working rails of the first endpoint on each site.
    rails: Vec<Vec<TerminalId>>,
    /// The slots of each site as compressed rows: where each row begins, then the slots.
    offsets: Vec<u32>,
    members: Vec<u32>,
}

impl ProcessSlots {
    /// Makes `per_endpoint` slots on each of these endpoints, or on all working ones if none are
    /// named. Without a number, an endpoint has a slot for each time that it is named; its slots
    /// are consecutive, at the position of its first naming. O(slots).
    ///
    /// # Errors
    /// When an endpoint does not exist or has no working rail; when there are no slots, or too
    /// many.
    pub fn new(
        on: &Topology,
        hosts: Option<&[u32]>,
        per_endpoint: Option<u32>,
    ) -> Result<Self, Refusal> {
        let rails = working_rails(on);
        let all = || (0..).zip(&rails).filter(|(_, own)| !own.is_empty()).map(|(e, _)| e);
        let named: Vec<u32> = hosts.map_or_else(|| all().collect(), <[u32]>::to_vec);
        let counts = counted(on, &rails, &named)?;
        let count = match per_endpoint {
            Some(each) => counts.len() as u64 * u64::from(each),
            None => named.len() as u64,
        };
        if !(1..=MOST_SLOTS).contains(&count) {
            let why = format!("{} endpoints with {count} slots in all", counts.len());
            return Err(Refusal::new("slots", why, format!("1 to {MOST_SLOTS} slots in all")));
        }
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut of_sites: Vec<Vec<TerminalId>> = Vec::new();
        let (mut endpoint, mut site) = (Vec::new(), Vec::new());
        for (e, times) in counts {
            let own = &rails[e as usize];
            let switches: Vec<u32> = own.iter().map(|t| switch_of(on, *t)).collect();
            let here = *known.entry(switches).or_insert_with(|| {
                of_sites.push(own.clone());
                of_sites.len() as u32 - 1
            });
            let slots = per_endpoint.unwrap_or(times) as usize;
            endpoint.extend(std::iter::repeat_n(e, slots));
            site.extend(std::iter::repeat_n(here, slots));
        }
        let (offsets, members) = rows(&site, of_sites.len());
        Ok(Self { endpoint, site, rails: of_sites, offsets, members })
    }

    /// The number of slots.
    pub fn count(&self) -> usize {
        self.endpoint.len()
    }

    /// The number of sites.
    pub fn sites(&self) -> usize {
        self.rails.len()
    }

    /// The endpoint of a slot.
    pub fn endpoint(&self, slot: u32) -> u32 {
        self.endpoint[slot as usize]
    }

    /// The site of a slot.
    #[inline]
    pub fn site(&self, slot: u32) -> u32 {
        self.site[slot as usize]
    }

    /// The slots of a site, in order.
    #[inline]
    pub fn of_site(&self, site: u32) -> &[u32] {
        let s = site as usize;
        &self.members[self.offsets[s] as usize..self.offsets[s + 1] as usize]
    }

    /// The working rails of a site.
    pub fn rails(&self, site: u32) -> &[TerminalId] {
        &self.rails[site as usize]
    }

    /// The switches that the rails of a site are on.
    pub fn switches<'a>(&'a self, on: &'a Topology, site: u32) -> impl Iterator<Item = u32> + 'a {
        self.rails(site).iter().map(|t| switch_of(on, *t))
    }
}

/// The working rails of every endpoint.
pub(crate) fn working_rails(on: &Topology) -> Vec<Vec<TerminalId>> {
    let mut rails = vec![Vec::new(); on.endpoints().len()];
    for (i, terminal) in (0..).zip(on.terminals()) {
        if on.terminal_is_up(TerminalId(i)) {
            rails[terminal.endpoint.ix()].push(TerminalId(i));
        }
    }
    rails
}

/// The switch that a terminal is plugged into.
pub(crate) fn switch_of(on: &Topology, terminal: TerminalId) -> u32 {
    on.terminals()[terminal.ix()].plug.switch.0
}

/// Groups items by their key as compressed rows: where the items of each key begin, and the items.
fn rows(keys: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0_u32; count + 1];
    for &key in keys {
        offsets[key as usize + 1] += 1;
    }
    for k in 0..count {
        offsets[k + 1] += offsets[k];
    }
    let mut fill = offsets.clone();
    let mut items = vec![0; keys.len()];
    for (i, &key) in (0..).zip(keys) {
        items[fill[key as usize] as usize] = i;
        fill[key as usize] += 1;
    }
    (offsets, items)
}

/// The named endpoints in the order of their first naming, and how often each is named.
fn counted(
    on: &Topology,
    rails: &[Vec<TerminalId>],
    named: &[u32],
) -> Result<Vec<(u32, u32)>, Refusal> {
    let mut place = vec![usize::MAX; rails.len()];
    let mut found: Vec<(u32, u32)> = Vec::new();
    for &e in named {
        let Some(own) = rails.get(e as usize) else {
            let why = format!("there is no endpoint {e}");
            let help = format!("0 to {}", rails.len().saturating_sub(1));
            return Err(Refusal::new("hosts", why, help));
        };
        if own.is_empty() {
            let name = &on.endpoints()[EndpointId(e).ix()].name;
            let why = format!("endpoint {name} has no rail that works");
            return Err(Refusal::new("hosts", why, "endpoints that are reached"));
        }
        let at = &mut place[e as usize];
        if *at == usize::MAX {
            *at = found.len();
            found.push((e, 0));
        }
        found[*at].1 += 1;
    }
    Ok(found)
}

/// The refusal of two switches that no path connects.
pub(crate) fn unreachable(on: &Topology, from: u32, to: u32) -> Refusal {
    let name = |s: u32| &on.switches()[s as usize].name;
    let why = format!("there is no path from {} to {}", name(from), name(to));
    Refusal::new("network", why, "endpoints of one connected part, by their names in --hosts")
}
