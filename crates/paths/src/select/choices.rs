//! Candidates in the form that hot loops read: for each switch and goal, a list of ports.
#![expect(clippy::inline_always, reason = "calls in the innermost loops cost a fifth")]

use super::lists::Lists;
use crate::wiring::{End, Wiring};
use base::seed::Fast;
use base::{Interrupted, Refusal, Stop, SwitchId, Watch};
use fabric::tables::candidates::{Candidates, Heading};
use rayon::prelude::*;

/// Ports towards goals. Where there is one, the table has it; equal lists of several are kept once.
#[derive(Debug, Clone)]
pub struct Choices {
    switches: usize,
    /// By switch, then goal: a port, or [`SEVERAL`] and the number of a list. Empty where numbers
    /// of lists have no room in it: then `wide` has the entries.
    narrow: Vec<u16>,
    /// The same with [`SEVERAL_WIDE`].
    wide: Vec<u32>,
    /// Where each list is in `ports`: its begin above 16 bits of its length.
    spans: Vec<u64>,
    /// Every port by its number, then the lists.
    ports: Vec<u16>,
}

/// The bit of a list; other entries are ports.
const SEVERAL: u16 = 1 << 15;
/// The same of wide entries.
const SEVERAL_WIDE: u32 = 1 << 31;

/// Switches whose entries are found together: what is known of a goal is read once for all.
const TOGETHER: usize = 16;
/// Such groups of switches for each thread that are found before their lists are shared: lists
/// that are not yet shared take the memory of so many alone.
const AHEAD: usize = 4;

impl Choices {
    /// What `scheme` offers in `state`, as ports of `wiring`, for goals that are switches. Lists
    /// are empty where there is no path. O(switches^2 * ports), in parallel; 2 bytes for each pair
    /// of switches, 4 where there are more than 32768 different lists, and the lists.
    ///
    /// # Errors
    /// When there are more than 2^31 different lists, or `watch` says stop.
    pub fn of(
        scheme: &impl Candidates,
        state: u32,
        wiring: &Wiring,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        // a port that has no room beside the bit of a list needs wide entries whatever the lists
        let is_narrow = wiring.most_ports() <= SEVERAL.into();
        Self::with(scheme, state, wiring, is_narrow.then_some(SEVERAL.into()), watch)
    }

    /// As [`Self::of`], with wide entries where there are more than `most_narrow` lists, or `None`.
    fn with(
        scheme: &impl Candidates,
        state: u32,
        wiring: &Wiring,
        most_narrow: Option<usize>,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        let switches = wiring.routers() as usize;
        let port_of = ports_of_channels(scheme.topology(), wiring);
        let (mut table, mut lists) =
            (Table::of(switches * switches, most_narrow), Lists::default());
        let groups: Vec<usize> = (0..switches).step_by(TOGETHER).collect();
        for groups in groups.chunks(AHEAD * rayon::current_num_threads()) {
            let found = groups.par_iter().map(|&first| -> Result<Rows, Interrupted> {
                watch.tick("choices of ports", first as u64, switches as u64)?;
                let rows = first..switches.min(first + TOGETHER);
                Ok(fill(scheme, state, &port_of, rows))
            });
            for rows in found.collect::<Result<Vec<Rows>, _>>()? {
                table.add(rows, &mut lists)?;
            }
        }
        // every port is a list as well, by its number, so that one port can be lent as a slice
        let mut ports: Vec<u16> = (0..=wiring.most_ports() as u16).collect();
        let singles = ports.len() as u64;
        let (spans, of_lists) = lists.into_parts();
        ports.extend(of_lists);
        let spans = spans.into_iter().map(|span| span + (singles << 16)).collect();
        Ok(Self { switches, narrow: table.narrow, wide: table.wide, spans, ports })
    }

    /// The ports from `at` towards `goal`.
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

    /// One of them, at random; port 0 where there is none.
    #[inline(always)]
    pub fn port(&self, at: u32, goal: u32, random: &mut Fast) -> u16 {
        let place = at as usize * self.switches + goal as usize;
        // what would be a place out of bounds is a wide entry: those in use cost nothing
        match self.narrow.get(place) {
            Some(&entry) => self.draw(entry, random),
            None => self.draw_wide(place, random),
        }
    }

    /// The narrow entries, by switch, then goal, for [`Self::draw`], where entries are narrow; they
    /// are not kept here.
    pub(super) fn take_entries(&mut self) -> Option<Vec<u16>> {
        self.wide.is_empty().then(|| std::mem::take(&mut self.narrow))
    }

    /// The port of a narrow entry.
    #[inline(always)]
    pub(super) fn draw(&self, entry: u16, random: &mut Fast) -> u16 {
        if entry & SEVERAL == 0 {
            return entry;
        }
        let port;
        (port, *random) = self.one_of(usize::from(entry ^ SEVERAL), *random);
        port
    }

    /// The port of a wide entry.
    #[inline(never)]
    fn draw_wide(&self, place: usize, random: &mut Fast) -> u16 {
        let (is_list, number) = self.wide_entry(place);
        if !is_list {
            return number as u16;
        }
        let port;
        (port, *random) = self.one_of(number, *random);
        port
    }

    /// Whether a wide entry is a list, and the number of the list or port.
    fn wide_entry(&self, place: usize) -> (bool, usize) {
        let entry = self.wide[place];
        (entry & SEVERAL_WIDE != 0, (entry & !SEVERAL_WIDE) as usize)
    }

    /// One of the ports of a list, at random; port 0 where there is none. The random numbers come
    /// and go as a value: those of a loop that asks this now and then stay in a register.
    #[inline(never)]
    fn one_of(&self, list: usize, mut random: Fast) -> (u16, Fast) {
        let (begin, length) = self.span(list);
        let drawn = begin + random.below(length) as usize;
        (if length == 0 { 0 } else { self.ports[drawn] }, random)
    }

    /// Begin and length of a list in `ports`.
    #[inline(always)]
    fn span(&self, list: usize) -> (usize, u32) {
        let span = self.spans[list];
        ((span >> 16) as usize, span as u32 & 0xffff)
    }
}

/// Entries of some switches, wide, and the lists that they name by number.
struct Rows {
    entries: Vec<u32>,
    lists: Lists,
}

/// All entries, narrow while the numbers of lists have room there.
struct Table {
    narrow: Vec<u16>,
    wide: Vec<u32>,
    /// Most lists of narrow entries; none where entries are wide.
    most_narrow: Option<usize>,
}

impl Table {
    /// Room for so many entries.
    fn of(entries: usize, most_narrow: Option<usize>) -> Self {
        let (mut narrow, mut wide) = (Vec::new(), Vec::new());
        if most_narrow.is_some() {
            narrow.reserve_exact(entries);
        } else {
            wide.reserve_exact(entries);
        }
        Self { narrow, wide, most_narrow }
    }

    /// Appends the entries of the next switches; `lists` are those of all.
    fn add(&mut self, rows: Rows, lists: &mut Lists) -> Result<(), Refusal> {
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

/// The entries of the switches `rows`.
fn fill(
    scheme: &impl Candidates,
    state: u32,
    port_of: &[u16],
    rows: std::ops::Range<usize>,
) -> Rows {
    let switches = scheme.topology().switches().len();
    let (mut entries, mut lists) = (vec![0; rows.len() * switches], Lists::default());
    let (mut found, mut ports) = (Vec::new(), Vec::new());
    for goal in 0..switches {
        for (at, row) in rows.clone().zip(entries.chunks_exact_mut(switches)) {
            found.clear();
            if at != goal {
                let heading = Heading { goal: goal as u32, state };
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
    Rows { entries, lists }
}

/// The wiring's port by which each channel leaves.
fn ports_of_channels(on: &fabric::Topology, wiring: &Wiring) -> Vec<u16> {
    let mut port_of = vec![u16::MAX; on.links().len() * 2];
    for s in 0..wiring.routers() {
        let seats = Wiring::seats(on, SwitchId(s));
        for (port, (p, seat)) in wiring.ports(s).iter().zip(&seats).enumerate() {
            if let (End::Router { .. }, Some((channel, _))) = (p.end, on.hop(SwitchId(s), *seat)) {
                port_of[channel.ix()] = port as u16;
            }
        }
    }
    port_of
}

/// All of so many lanes, a bit each.
pub(super) fn all(lanes: u8) -> u32 {
    crate::guide::lanes(0, lanes - 1)
}

#[cfg(test)]
#[path = "choices_tests.rs"]
mod tests;
