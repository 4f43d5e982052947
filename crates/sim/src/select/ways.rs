//! Candidates in the form that hot loops read: for each switch and goal, a list of ports.
#![expect(clippy::inline_always, reason = "calls in the innermost loops cost a fifth")]

use crate::flit::wiring::{End, Wiring};
use base::seed::Fast;
use base::{Interrupted, Refusal, Stop, SwitchId, Watch};
use fabric::tables::candidates::{Candidates, Heading};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Ports towards goals. Where there is one, the table has it; equal lists of several are kept once.
#[derive(Debug, Clone)]
pub struct Ways {
    switches: usize,
    /// By switch, then goal: a port, or [`SEVERAL`] and a list.
    table: Vec<u16>,
    /// Where each list is in `ports`: begin, length.
    span: Vec<(u32, u32)>,
    /// Every port by its number, then the lists.
    ports: Vec<u16>,
}

/// The bit of a list; other entries are ports.
const SEVERAL: u16 = 1 << 15;

/// Switches whose entries are found together: what is known of a goal is read once for all.
const TOGETHER: usize = 16;

impl Ways {
    /// What `scheme` offers in `state`, as ports of `wiring`, for goals that are switches. Lists
    /// are empty where there is no way. O(switches^2 * ports), in parallel.
    ///
    /// # Errors
    /// When there are more than 32768 different lists, or `watch` says stop.
    pub fn of(
        scheme: &impl Candidates,
        state: u32,
        wiring: &Wiring,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        let switches = wiring.routers() as usize;
        let port_of = ports_of_channels(scheme.topology(), wiring);
        let (mut table, done) = (vec![0; switches * switches], AtomicU64::new(0));
        let rows = table.par_chunks_mut((TOGETHER * switches).max(1)).enumerate();
        let found = rows.map(|(i, rows)| -> Result<Vec<Vec<u16>>, Interrupted> {
            watch.tick("ways", done.fetch_add(TOGETHER as u64, Relaxed), switches as u64)?;
            Ok(fill(scheme, state, &port_of, i * TOGETHER, rows))
        });
        let lists: Vec<Vec<Vec<u16>>> = found.collect::<Result<_, _>>()?;
        let ports = (0..=wiring.most_ports() as u16).collect();
        let mut new = Self { switches, table, span: Vec::new(), ports };
        new.share(lists)?;
        Ok(new)
    }

    /// Keeps equal lists once; `table` has the places in those of its rows.
    fn share(&mut self, lists: Vec<Vec<Vec<u16>>>) -> Result<(), Refusal> {
        let mut known: HashMap<Vec<u16>, u16> = HashMap::new();
        let rows = self.table.chunks_mut((TOGETHER * self.switches).max(1));
        for (rows, lists) in rows.zip(lists) {
            let mut place = Vec::with_capacity(lists.len());
            for list in lists {
                let next = known.len() as u16;
                place.push(*known.entry(list).or_insert_with_key(|list| {
                    self.span.push((self.ports.len() as u32, list.len() as u32));
                    self.ports.extend_from_slice(list);
                    next
                }));
                if known.len() >= usize::from(SEVERAL) {
                    let why = format!("more than {SEVERAL} different choices of ports");
                    let help = "a network of fewer, or more regular, switches";
                    return Err(Refusal::new("network", why, help));
                }
            }
            for entry in rows.iter_mut().filter(|entry| **entry & SEVERAL != 0) {
                *entry = SEVERAL | place[usize::from(*entry ^ SEVERAL)];
            }
        }
        Ok(())
    }

    /// The ports from `at` towards `goal`.
    #[inline]
    pub fn ports(&self, at: u32, goal: u32) -> &[u16] {
        let entry = self.table[at as usize * self.switches + goal as usize];
        if entry & SEVERAL == 0 {
            return &self.ports[usize::from(entry)..=usize::from(entry)];
        }
        let (begin, length) = self.span[usize::from(entry ^ SEVERAL)];
        &self.ports[begin as usize..(begin + length) as usize]
    }

    /// One of them, at random; port 0 where there is none.
    #[inline(always)]
    pub fn port(&self, at: u32, goal: u32, random: &mut Fast) -> u16 {
        self.draw(self.table[at as usize * self.switches + goal as usize], random)
    }

    /// The entries, by switch, then goal, for [`Self::draw`]; they are not kept here.
    pub(super) fn take_entries(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.table)
    }

    /// The port of an entry.
    #[inline(always)]
    pub(super) fn draw(&self, entry: u16, random: &mut Fast) -> u16 {
        if entry & SEVERAL == 0 {
            return entry;
        }
        let port;
        (port, *random) = self.one_of(entry, *random);
        port
    }

    /// One of the ports of a list, at random; port 0 where there is none. The random numbers come
    /// and go as a value: those of a loop that asks this now and then stay in a register.
    #[inline(never)]
    fn one_of(&self, entry: u16, mut random: Fast) -> (u16, Fast) {
        let (begin, length) = self.span[usize::from(entry ^ SEVERAL)];
        let drawn = begin + random.below(length);
        (if length == 0 { 0 } else { self.ports[drawn as usize] }, random)
    }
}

/// Fills rows of the table, of the switches from `first` on, and returns the lists that their
/// entries name by place. Ends early where these are too many.
fn fill(
    scheme: &impl Candidates,
    state: u32,
    port_of: &[u16],
    first: usize,
    rows: &mut [u16],
) -> Vec<Vec<u16>> {
    let switches = scheme.topology().switches().len();
    let mut known: HashMap<Vec<u16>, u16> = HashMap::new();
    let (mut lists, mut found, mut ports) = (Vec::new(), Vec::new(), Vec::new());
    for goal in 0..switches {
        for (at, row) in (first..).zip(rows.chunks_exact_mut(switches)) {
            found.clear();
            if at != goal {
                let heading = Heading { goal: goal as u32, state };
                scheme.next(SwitchId::from(at), heading, &mut found);
            }
            ports.clear();
            ports.extend(found.iter().map(|c| port_of[c.channel.ix()]));
            row[goal] = match (&ports[..], known.get(&ports)) {
                (&[one], _) => one,
                (_, Some(place)) => SEVERAL | place,
                (_, None) => {
                    let place = lists.len() as u16;
                    known.insert(ports.clone(), place);
                    lists.push(ports.clone());
                    SEVERAL | place
                }
            };
            if lists.len() == usize::from(SEVERAL) {
                return lists;
            }
        }
    }
    lists
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
    crate::flit::guide::lanes(0, lanes - 1)
}
