//! Counters of packets and flits.

use super::context::{ANY, CycleContext};
use paths::word::{COUNTED, hops};

/// Latencies below this have a bin each, in cycles.
const EXACT: u64 = 1 << 12;
/// Number of bins for each doubling of latency above that.
const PER_OCTAVE: u64 = 1 << 6;

/// Counts of latencies: exact up to 4095 cycles, 64 bins for each doubling above.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LatencyHistogram(Vec<u64>);

impl LatencyHistogram {
    /// Adds one packet of this latency.
    #[inline]
    pub(super) fn add(&mut self, cycles: u64) {
        let bin = if cycles < EXACT { cycles as usize } else { Self::bin(cycles) };
        match self.0.get_mut(bin) {
            Some(count) => *count += 1,
            None => self.grow(bin),
        }
    }

    #[cold]
    fn grow(&mut self, bin: usize) {
        self.0.resize(bin.max(63) + 1, 0);
        self.0[bin] += 1;
    }

    fn bin(cycles: u64) -> usize {
        let octave = u64::from(cycles.ilog2() - EXACT.ilog2());
        let within = (cycles >> (octave + u64::from((EXACT / PER_OCTAVE).ilog2()))) - PER_OCTAVE;
        (EXACT + octave * PER_OCTAVE + within) as usize
    }

    /// The least latency in a bin.
    fn least(bin: usize) -> u64 {
        let Some(above) = (bin as u64).checked_sub(EXACT) else { return bin as u64 };
        let (octave, within) = (above / PER_OCTAVE, above % PER_OCTAVE);
        (PER_OCTAVE + within) << (octave + u64::from((EXACT / PER_OCTAVE).ilog2()))
    }

    /// Adds the counts of another histogram.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine += theirs;
        }
    }

    /// The number of packets.
    pub fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The latency that a `share` of packets do not exceed, rounded down to its bin; 0 without
    /// packets.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = (share * self.count() as f64).ceil() as u64;
        let mut below = 0;
        let reached = |n: &u64| {
            below += n;
            below >= wanted.max(1)
        };
        self.0.iter().position(reached).map_or(0, Self::least)
    }

    /// The nonempty bins: least latency and count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let filled = self.0.iter().enumerate().filter(|(_, n)| **n > 0);
        filled.map(|(bin, n)| (Self::least(bin), *n))
    }
}

/// The counts of one class of traffic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrafficClassCounts {
    /// Packets that were staged in the measured cycles.
    pub staged: u64,
    /// Packets counted in `staged` that have arrived.
    pub arrived: u64,
    /// The sum over these arrived packets of the cycles from creation to arrival.
    pub latency: u64,
    /// The sum of cycles from creation to entering the network, over the packets in `staged` that
    /// have entered.
    pub wait: u64,
    /// Packets counted in `staged` that have entered the network.
    pub entered: u64,
    /// The sum of routers visited by the arrived packets.
    pub hops: u64,
    /// Flits that arrived in the measured cycles, whenever their packets were created.
    pub accepted: u64,
    /// Latencies of the arrived packets.
    pub latencies: LatencyHistogram,
    /// The number of arrived packets by the number of routers that they visited.
    pub by_hops: Vec<u64>,
}

impl TrafficClassCounts {
    /// Adds the counts of another tally of this class.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.staged += other.staged;
        self.arrived += other.arrived;
        self.latency += other.latency;
        self.wait += other.wait;
        self.entered += other.entered;
        self.hops += other.hops;
        self.accepted += other.accepted;
        self.latencies.merge(&other.latencies);
        for (a, b) in self.by_hops.iter_mut().zip(&other.by_hops) {
            *a += b;
        }
    }
}

/// The counts of a part of the network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrafficCounts {
    /// The counts of each class.
    pub classes: Vec<TrafficClassCounts>,
    /// Flits that entered the network.
    pub injected: u64,
    /// Flits that have left their last router.
    pub ejected: u64,
    /// Ejected flits that are not counted yet, each with the cycle of its arrival.
    pub(super) late: Vec<(u64, u32)>,
}

impl TrafficCounts {
    pub(super) fn new(classes: usize) -> Self {
        let class = TrafficClassCounts { by_hops: vec![0; 256], ..TrafficClassCounts::default() };
        Self { classes: vec![class; classes], ..Self::default() }
    }

    /// Adds the counts of another part.
    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.classes.iter_mut().zip(&other.classes) {
            mine.merge(theirs);
        }
        self.injected += other.injected;
        self.ejected += other.ejected;
        self.late.extend_from_slice(&other.late);
    }
}

/// Counts a flit that arrives at its endpoint in cycle `arrives`.
#[inline]
pub(super) fn count<G: ?Sized, const S: u32>(
    tally: &mut TrafficCounts,
    flit: u64,
    arrives: u32,
    on: &CycleContext<'_, G>,
) {
    tally.ejected += 1;
    if arrives >= on.counts_before {
        tally.late.push((flit, arrives));
        return;
    }
    count_arrived::<G, S>(tally, flit, arrives, on);
}

/// Counts a flit whose arrival need not be deferred.
#[inline]
pub(super) fn count_arrived<G: ?Sized, const S: u32>(
    tally: &mut TrafficCounts,
    flit: u64,
    arrives: u32,
    on: &CycleContext<'_, G>,
) {
    let class = if S < ANY { 0 } else { on.layout.class(flit) as usize };
    let class = &mut tally.classes[class];
    class.accepted += u64::from(on.counted.contains(&arrives));
    if (flit | on.counts_as) & (COUNTED | 1) == COUNTED | 1 {
        let latency = on.layout.age(flit, arrives.into());
        let hops = hops(flit);
        class.arrived += 1;
        class.latency += latency;
        class.hops += u64::from(hops);
        class.latencies.add(latency);
        class.by_hops[hops as usize & 255] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_what_falls_between_their_ends() {
        let mut last = 0;
        for cycles in (0..10_000).chain((14..40).flat_map(|b| [(1 << b) - 1, 1 << b, 3 << b])) {
            let mut h = LatencyHistogram::default();
            h.add(cycles);
            let least = h.quantile(0.5);
            assert!(least <= cycles && cycles - least <= cycles / 64, "{cycles} in {least}");
            assert!(cycles >= EXACT || least == cycles);
            last = last.max(least);
        }
        assert!(last > 1 << 40);
    }
}
