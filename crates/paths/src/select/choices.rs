//! Candidates for the next hop in the form that hot loops read: a list of ports for each pair of
//! switch and destination.
#![expect(clippy::inline_always, reason = "calls in the innermost loops cost a fifth")]

use super::lists::PortLists;
use crate::wiring::{CableEnd, RouterWiring};
use base::seed::FastRandomStream;
use base::{ComputationError, Interrupted, ProgressWatch, Refusal, SwitchId};
use fabric::tables::candidates::{CandidateScheme, PacketRoutingState};
use rayon::prelude::*;

/// The ports from each switch towards each destination switch. The table holds a single port
/// itself; equal lists of several ports are stored once.
#[derive(Debug, Clone)]
pub struct PortChoicesByDestination {
    switches: usize,
    /// For each switch, then destination: a port, or [`SEVERAL`] and the number of a list. Empty
    /// where there are too many lists for 15 bits; `wide` holds the entries then.
    narrow: Vec<u16>,
    /// The same entries in 32 bits, with [`SEVERAL_WIDE`]; empty where `narrow` holds them.
    wide: Vec<u32>,
    /// The position of each list in `ports`: its begin, shifted left by 16 bits, and its length
    /// below.
    spans: Vec<u64>,
    /// First every port number, so that each single port is a list, too; then the lists.
    ports: Vec<u16>,
}

/// The bit that marks an entry as the number of a list; other entries are ports.
const SEVERAL: u16 = 1 << 15;
/// The bit that marks a wide entry as the number of a list.
const SEVERAL_WIDE: u32 = 1 << 31;

/// The number of switches whose entries are computed together. What they read about a destination
/// is then read once for all of them.
const TOGETHER: usize = 16;
/// The number of groups of `TOGETHER` switches that each thread computes before equal lists are
/// merged. It bounds the memory of lists that are not merged yet.
const AHEAD: usize = 4;

impl PortChoicesByDestination {
    /// Finds the ports of `wiring` that `scheme` offers in `state`, for every destination switch. A
    /// list is empty where there is no path. O(switches^2 * ports), in parallel; 2 bytes for each
    /// pair of switches, 4 where there are more than 32768 different lists, and the lists.
    ///
    /// # Errors
    /// When there are more than 2^31 different lists, or `watch` asks to stop.
    pub fn of(
        scheme: &impl CandidateScheme,
        state: u32,
        wiring: &RouterWiring,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        // port numbers that use the bit `SEVERAL` need wide entries, however few lists there are
        let is_narrow = wiring.most_ports() <= SEVERAL.into();
        Self::with(scheme, state, wiring, is_narrow.then_some(SEVERAL.into()), watch)
    }

    /// Like [`Self::of`], with wide entries where there are more than `most_narrow` lists, or
    /// always with `None`.
    fn with(
        scheme: &impl CandidateScheme,
        state: u32,
        wiring: &RouterWiring,
        most_narrow: Option<usize>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let switches = wiring.routers() as usize;
        let port_of = ports_of_channels(scheme.topology(), wiring);
        let (mut table, mut lists) =
            (PortChoiceTable::of(switches * switches, most_narrow), PortLists::default());
        let groups: Vec<usize> = (0..switches).step_by(TOGETHER).collect();
        for groups in groups.chunks(AHEAD * rayon::current_num_threads()) {
            let found = groups.par_iter().map(|&first| -> Result<SwitchPortChoices, Interrupted> {
                watch.tick("choices of ports", first as u64, switches as u64)?;
                let rows = first..switches.min(first + TOGETHER);
                Ok(fill(scheme, state, &port_of, rows))
            });
            for rows in found.collect::<Result<Vec<SwitchPortChoices>, _>>()? {
                table.add(rows, &mut lists)?;
            }
        }
        // every port number is also a list of one port, so that a single port can be returned as a
        // slice
        let mut ports: Vec<u16> = (0..=wiring.most_ports() as u16).collect();
        let singles = ports.len() as u64;
        let (spans, of_lists) = lists.into_parts();
        ports.extend(of_lists);
        let spans = spans.into_iter().map(|span| span + (singles << 16)).collect();
        Ok(Self { switches, narrow: table.narrow, wide: table.wide, spans, ports })
    }

    /// The ports from switch `at` towards switch `goal`.
    #[inline]
    pub fn ports(&self, at: u32, goal: u32) -> &[u16] {
        let place = at as usize * self.switches + goal as usize;
        let (is_list, number) = match self.narrow.get(place) {
            Some(&entry) => (entry & SEVERAL != 0, usize::from(entry & !SEVERAL)),
            None => self.wide_entry(place),
        };
        if !is_list {
            return &self.ports[number..=number];
        }
        let (begin, length) = self.span(number);
        &self.ports[begin..begin + length as usize]
    }

    /// One of the ports from `at` towards `goal`, drawn at random; port 0 where there is none.
    #[inline(always)]
    pub fn port(&self, at: u32, goal: u32, random: &mut FastRandomStream) -> u16 {
        let place = at as usize * self.switches + goal as usize;
        // a failed bounds check means that entries are wide, so that narrow ones need no check of
        // their own
        match self.narrow.get(place) {
            Some(&entry) => self.draw(entry, random),
            None => self.draw_wide(place, random),
        }
    }

    /// Takes the narrow entries out of the table, in the order of switches, then destinations. They
    /// are read with [`Self::draw`]. `None` where entries are wide.
    pub(super) fn take_entries(&mut self) -> Option<Vec<u16>> {
        self.wide.is_empty().then(|| std::mem::take(&mut self.narrow))
    }

    /// The port of a narrow entry, drawn at random where it names a list.
    #[inline(always)]
    pub(super) fn draw(&self, entry: u16, random: &mut FastRandomStream) -> u16 {
        if entry & SEVERAL == 0 {
            return entry;
        }
        let port;
        (port, *random) = self.one_of(usize::from(entry ^ SEVERAL), *random);
        port
    }

    /// The port of a wide entry, drawn at random where it names a list.
    #[inline(never)]
    fn draw_wide(&self, place: usize, random: &mut FastRandomStream) -> u16 {
        let (is_list, number) = self.wide_entry(place);
        if !is_list {
            return number as u16;
        }
        let port;
        (port, *random) = self.one_of(number, *random);
        port
    }

    /// Whether a wide entry is a list, and the number of that list or the port.
    fn wide_entry(&self, place: usize) -> (bool, usize) {
        let entry = self.wide[place];
        (entry & SEVERAL_WIDE != 0, (entry & !SEVERAL_WIDE) as usize)
    }

    /// One of the ports of a list, drawn at random; port 0 where the list is empty. The stream is
    /// passed and returned by value, so that the caller's loop can keep it in a register.
    #[inline(never)]
    fn one_of(&self, list: usize, mut random: FastRandomStream) -> (u16, FastRandomStream) {
        let (begin, length) = self.span(list);
        let drawn = begin + random.below(length) as usize;
        (if length == 0 { 0 } else { self.ports[drawn] }, random)
    }

    /// Start and length of a list in `ports`.
    #[inline(always)]
    fn span(&self, list: usize) -> (usize, u32) {
        let span = self.spans[list];
        ((span >> 16) as usize, span as u32 & 0xffff)
    }
}

/// The wide entries of some switches, and the lists that they name by number.
struct SwitchPortChoices {
    entries: Vec<u32>,
    lists: PortLists,
}

/// The entries of all switches, narrow as long as the numbers of lists fit in 15 bits.
struct PortChoiceTable {
    narrow: Vec<u16>,
    wide: Vec<u32>,
    /// The largest number of lists that narrow entries can name; `None` when entries have become
    /// wide.
    most_narrow: Option<usize>,
}

impl PortChoiceTable {
    /// An empty table with memory for `entries` entries.
    fn of(entries: usize, most_narrow: Option<usize>) -> Self {
        let (mut narrow, mut wide) = (Vec::new(), Vec::new());
        if most_narrow.is_some() {
            narrow.reserve_exact(entries);
        } else {
            wide.reserve_exact(entries);
        }
        Self { narrow, wide, most_narrow }
    }

    /// Appends the entries of the next switches and merges their lists into `lists`.
    fn add(&mut self, rows: SwitchPortChoices, lists: &mut PortLists) -> Result<(), Refusal> {
        let places: Vec<u32> = rows.lists.iter().map(|list| lists.number(list)).collect();
        if lists.len() > SEVERAL_WIDE as usize {
            let why = format!("more than {SEVERAL_WIDE} different choices of ports");
            return Err(Refusal::new("network", why, "fewer switches"));
        }
        if self.most_narrow.is_some_and(|most| lists.len() > most) {
            self.most_narrow = None;
            self.wide.reserve_exact(self.narrow.capacity());
            let wide = |entry: u16| match entry & SEVERAL {
                0 => entry.into(),
                _ => SEVERAL_WIDE | u32::from(entry ^ SEVERAL),
            };
            self.wide.extend(std::mem::take(&mut self.narrow).into_iter().map(wide));
        }
        let place = |entry: u32| places[(entry ^ SEVERAL_WIDE) as usize];
        if self.most_narrow.is_none() {
            self.wide.extend(rows.entries.into_iter().map(|entry| match entry & SEVERAL_WIDE {
                0 => entry,
                _ => SEVERAL_WIDE | place(entry),
            }));
        } else {
            self.narrow.extend(rows.entries.into_iter().map(|entry| match entry & SEVERAL_WIDE {
                0 => entry as u16,
                _ => SEVERAL | place(entry) as u16,
            }));
        }
        Ok(())
    }
}

/// Computes the entries of the switches `rows`.
fn fill(
    scheme: &impl CandidateScheme,
    state: u32,
    port_of: &[u16],
    rows: std::ops::Range<usize>,
) -> SwitchPortChoices {
    let switches = scheme.topology().switches().len();
    let (mut entries, mut lists) = (vec![0; rows.len() * switches], PortLists::default());
    let (mut found, mut ports) = (Vec::new(), Vec::new());
    for goal in 0..switches {
        for (at, row) in rows.clone().zip(entries.chunks_exact_mut(switches)) {
            found.clear();
            if at != goal {
                let heading = PacketRoutingState { goal: goal as u32, state };
                scheme.next(SwitchId::from(at), heading, &mut found);
            }
            ports.clear();
            ports.extend(found.iter().map(|c| port_of[c.channel.ix()]));
            row[goal] = match &ports[..] {
                &[one] => one.into(),
                several => SEVERAL_WIDE | lists.number(several),
            };
        }
    }
    SwitchPortChoices { entries, lists }
}

/// For every channel, the port of the wiring by which it leaves its switch.
fn ports_of_channels(on: &fabric::Topology, wiring: &RouterWiring) -> Vec<u16> {
    let mut port_of = vec![u16::MAX; on.links().len() * 2];
    for s in 0..wiring.routers() {
        let seats = RouterWiring::seats(on, SwitchId(s));
        for (port, (p, seat)) in wiring.ports(s).iter().zip(&seats).enumerate() {
            if let (CableEnd::Router { .. }, Some((channel, _))) =
                (p.end, on.hop(SwitchId(s), *seat))
            {
                port_of[channel.ix()] = port as u16;
            }
        }
    }
    port_of
}

/// The bit mask of all of `lanes` lanes.
pub(super) fn all(lanes: u8) -> u32 {
    crate::guide::lanes(0, lanes - 1)
}

#[cfg(test)]
#[path = "choices_tests.rs"]
mod tests;
