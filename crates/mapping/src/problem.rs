//! The mapping problem as searches see it: the traffic of a pair in both directions is one whole
//! number.

use crate::slots::ProcessSlots;
use base::Refusal;
use traffic::communication::CommunicationGraph;

/// A process that is fixed to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PinnedProcess {
    /// The process that is fixed.
    pub process: u32,
    /// The endpoint that the process is fixed to.
    pub endpoint: u32,
}

/// The weights between processes, whose sums are less than 2^31 / the largest distance, with the
/// slots and the pins.
pub struct MappingProblem<'a> {
    /// The slots to fill.
    pub slots: &'a ProcessSlots,
    /// The number of processes, without fillers.
    pub processes: usize,
    offsets: Vec<u32>,
    rows: Vec<(u32, i32)>,
    /// The slot of each pinned process, [`u32::MAX`] for others.
    pub pinned: Vec<u32>,
}

impl<'a> MappingProblem<'a> {
    /// The problem of a communication graph. Weights are the bytes in both directions, in a unit
    /// that makes them whole where possible, else rounded. O(pairs log pairs).
    ///
    /// # Errors
    /// When there are more processes than slots, or pins that cannot be held.
    pub fn new(
        graph: &CommunicationGraph,
        slots: &'a ProcessSlots,
        pins: &[PinnedProcess],
        longest: i32,
    ) -> Result<Self, Refusal> {
        let processes = graph.processes() as usize;
        if processes > slots.count() {
            let why = format!("{processes} processes for {} slots", slots.count());
            let help = "more hosts, or more processes per endpoint";
            return Err(Refusal::new("processes", why, help));
        }
        let mut all = Vec::with_capacity(2 * graph.pairs());
        for one in graph.sent().filter(|one| one.bytes > 0.0) {
            all.push((one.from, one.to, one.bytes));
            all.push((one.to, one.from, one.bytes));
        }
        all.sort_by_key(|&(a, b, _)| (a, b));
        let mut merged: Vec<(u32, u32, f64)> = Vec::with_capacity(all.len());
        for (a, b, bytes) in all {
            match merged.last_mut().filter(|last| (last.0, last.1) == (a, b)) {
                Some(last) => last.2 += bytes,
                None => merged.push((a, b, bytes)),
            }
        }
        let mut offsets = vec![0; slots.count() + 1];
        let mut sums = vec![0.0; processes];
        for &(a, _, bytes) in &merged {
            offsets[a as usize + 1] += 1;
            sums[a as usize] += bytes;
        }
        for p in 0..slots.count() {
            offsets[p + 1] += offsets[p];
        }
        let heaviest = sums.iter().copied().fold(0.0, f64::max);
        let room = f64::from(1 << 29) / f64::from(longest.max(1));
        let factor = factor(merged.iter().map(|m| m.2), heaviest, room);
        let rows = merged.iter().map(|&(_, b, bytes)| (b, (bytes * factor).round() as i32));
        let rows = rows.collect();
        let pinned = pinned(slots, processes, pins)?;
        Ok(Self { slots, processes, offsets, rows, pinned })
    }

    /// The partners of a process with their weights.
    #[inline]
    pub fn row(&self, process: u32) -> &[(u32, i32)] {
        let p = process as usize;
        &self.rows[self.offsets[p] as usize..self.offsets[p + 1] as usize]
    }

    /// The number of entries of all rows.
    pub fn entries(&self) -> usize {
        self.rows.len()
    }

    /// Whether a process may not move.
    #[inline]
    pub fn is_pinned(&self, process: u32) -> bool {
        self.pinned[process as usize] != u32::MAX
    }

    /// The slots of each site that no process is pinned to.
    pub(crate) fn free_slots(&self) -> Vec<Vec<u32>> {
        let slots = self.slots;
        let mut taken = vec![false; slots.count()];
        for &s in self.pinned.iter().filter(|&&s| s != u32::MAX) {
            taken[s as usize] = true;
        }
        let free = |site: u32| slots.of_site(site).iter().copied().filter(|&s| !taken[s as usize]);
        (0..slots.sites() as u32).map(|site| free(site).collect()).collect()
    }

    /// Refuses pins for a method that cannot hold them.
    ///
    /// # Errors
    /// When a process is pinned.
    pub(crate) fn without_pins(&self, method: &str) -> Result<(), Refusal> {
        if (0..self.processes as u32).any(|p| self.is_pinned(p)) {
            let why = format!("{method} cannot hold pins");
            return Err(Refusal::new("method", why, "no pins, or another method"));
        }
        Ok(())
    }

    /// The sum of the weights of a process.
    pub fn weight(&self, process: u32) -> i64 {
        self.row(process).iter().map(|&(_, w)| i64::from(w)).sum()
    }
}

/// The factor that makes weights whole numbers: one over their greatest common divisor if they are
/// whole and then small enough, else the largest factor that keeps them small enough.
fn factor(weights: impl Iterator<Item = f64> + Clone, heaviest: f64, room: f64) -> f64 {
    let whole = |w: f64| w.fract() == 0.0 && w < 9e15;
    if weights.clone().all(whole) {
        let divisor = weights.fold(0, |known, w| gcd(known, w as u64)).max(1) as f64;
        if heaviest / divisor <= room {
            return 1.0 / divisor;
        }
    }
    if heaviest > 0.0 { room / heaviest } else { 1.0 }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The slot of each pinned process; fillers, which follow the processes, have none.
fn pinned(
    slots: &ProcessSlots,
    processes: usize,
    pins: &[PinnedProcess],
) -> Result<Vec<u32>, Refusal> {
    let mut found = vec![u32::MAX; slots.count()];
    let mut taken = vec![false; slots.count()];
    for pin in pins {
        let refuse = |why: String, help: String| Err(Refusal::new("pin", why, help));
        let PinnedProcess { process, endpoint } = *pin;
        if process as usize >= processes {
            let help = format!("0 to {}", processes.saturating_sub(1));
            return refuse(format!("there is no process {process}"), help);
        }
        if found[process as usize] != u32::MAX {
            return refuse(format!("process {process} is pinned twice"), "once each".into());
        }
        let all = 0..slots.count() as u32;
        let mut own = all.filter(|&s| slots.endpoint(s) == endpoint).peekable();
        if own.peek().is_none() {
            let why = format!("process {process}: endpoint {endpoint} has no slot");
            return refuse(why, "endpoints of the hosts given".into());
        }
        let Some(slot) = own.find(|&s| !taken[s as usize]) else {
            let why = format!("process {process}: all slots of endpoint {endpoint} are taken");
            return refuse(why, "no more processes than slots per endpoint".into());
        };
        taken[slot as usize] = true;
        found[process as usize] = slot;
    }
    Ok(found)
}
