//! Loads of channels while processes change places, and a potential that stands in for the largest
//! load.
//!
//! The potential is the sum over channels of (load / reference)^k, with k rising. Its k-th root
//! approaches the maximum and, unlike the maximum, it also distinguishes states with the same
//! maximum by how near they are to a better one.

use crate::arrangement::ProcessArrangement;
use crate::lists::ChannelListsByPair;
use crate::paths::TrafficPathRule;
use crate::proposals::SwapProposalGenerator;
use base::seed::FastRandomStream;
use traffic::communication::CommunicationGraph;

/// The traffic between a process and one of its partners, in both directions.
#[derive(Debug, Clone, Copy)]
struct PartnerTraffic {
    with: u32,
    out: f32,
    into: f32,
}

/// The loads of the channels under an arrangement that changes swap by swap.
pub struct ChannelLoads<'a> {
    lists: ChannelListsByPair<'a>,
    offsets: Vec<u32>,
    rows: Vec<PartnerTraffic>,
    load: Vec<f64>,
    /// The power (load / reference)^k of each channel.
    powered: Vec<f64>,
    potential: f64,
    reference: f64,
    squarings: u32,
    /// The change of each channel's load by the proposed swap.
    delta: Vec<f64>,
    stamp: Vec<u32>,
    now: u32,
    touched: Vec<u32>,
    /// The channels that work.
    channels: Vec<u32>,
    /// The sites at each channel's tail and head; [`u32::MAX`] where there is none.
    ends: Vec<[u32; 2]>,
}

/// The values by which arrangements are compared: maximum load, number of channels that have it,
/// and hop-bytes.
pub type ArrangementMerit = (f64, usize, i64);

/// Whether the first arrangement is better.
pub fn is_better(a: ArrangementMerit, b: ArrangementMerit) -> bool {
    let close = 1e-9 * b.0;
    if (a.0 - b.0).abs() > close {
        return a.0 < b.0;
    }
    (a.1, a.2) < (b.1, b.2)
}

impl<'a> ChannelLoads<'a> {
    /// The loads of the graph's traffic, all 0 until [`Self::count`] is called.
    pub fn new(
        paths: TrafficPathRule<'a>,
        proposals: &SwapProposalGenerator<'a>,
        graph: &CommunicationGraph,
    ) -> Self {
        let slots = proposals.problem.slots;
        let mut all: Vec<(u32, PartnerTraffic)> = Vec::with_capacity(2 * graph.pairs());
        for one in graph.sent().filter(|one| one.bytes > 0.0) {
            let bytes = one.bytes as f32;
            all.push((one.from, PartnerTraffic { with: one.to, out: bytes, into: 0.0 }));
            all.push((one.to, PartnerTraffic { with: one.from, out: 0.0, into: bytes }));
        }
        all.sort_by_key(|(p, e)| (*p, e.with));
        let (mut offsets, mut rows) = (vec![0; slots.count() + 1], Vec::new());
        for same in all.chunk_by(|a, b| (a.0, a.1.with) == (b.0, b.1.with)) {
            let out = same.iter().map(|(_, e)| e.out).sum();
            let into = same.iter().map(|(_, e)| e.into).sum();
            rows.push(PartnerTraffic { with: same[0].1.with, out, into });
            offsets[same[0].0 as usize + 1] += 1;
        }
        for p in 0..slots.count() {
            offsets[p + 1] += offsets[p];
        }
        let on = paths.topology();
        let count = 2 * on.links().len();
        let mut site_on = vec![u32::MAX; on.switches().len()];
        for site in 0..slots.sites() as u32 {
            slots.switches(on, site).for_each(|s| site_on[s as usize] = site);
        }
        let works = |c: &u32| on.link_is_up(base::ChannelId(*c).link());
        let channels: Vec<u32> = (0..count as u32).filter(works).collect();
        let end = |c: u32| {
            let c = base::ChannelId(c);
            [on.tail(c), on.head(c)].map(|plug| site_on[plug.switch.ix()])
        };
        Self {
            lists: ChannelListsByPair::new(paths, slots),
            offsets,
            rows,
            load: vec![0.0; count],
            powered: vec![0.0; count],
            potential: 0.0,
            reference: 1.0,
            squarings: 3,
            delta: vec![0.0; count],
            stamp: vec![0; count],
            now: 0,
            touched: Vec::new(),
            channels,
            ends: (0..count as u32).map(end).collect(),
        }
    }

    fn row(&self, p: u32) -> std::ops::Range<usize> {
        self.offsets[p as usize] as usize..self.offsets[p as usize + 1] as usize
    }

    /// Counts the loads of an arrangement from scratch.
    pub fn count(&mut self, at: &ProcessArrangement) {
        self.load.fill(0.0);
        for p in 0..self.offsets.len() as u32 - 1 {
            for i in self.row(p) {
                let PartnerTraffic { with, out, .. } = self.rows[i];
                if out > 0.0 {
                    let target = self.lists.target(at.slot(with));
                    for &(c, share) in self.lists.of(at.site(p), target) {
                        self.load[c as usize] += f64::from(out) * f64::from(share);
                    }
                }
            }
        }
    }

    /// The approximate number of channels whose load a swap of two processes changes.
    pub fn mean_work(&mut self, at: &ProcessArrangement) -> u64 {
        let (mut channels, mut pairs) = (0, 0);
        for p in 0..self.offsets.len() as u32 - 1 {
            for i in self.row(p) {
                let target = self.lists.target(at.slot(self.rows[i].with));
                channels += 1 + self.lists.of(at.site(p), target).len() as u64;
                pairs += 1;
            }
        }
        let processes = self.offsets.windows(2).filter(|w| w[0] < w[1]).count() as u64;
        if pairs == 0 { 1 } else { 2 * channels / processes.max(1) }
    }

    /// Whether the network has no working channel.
    pub(crate) fn is_empty(&self) -> bool {
        self.channels.is_empty()
    }

    /// The sum over channels of (load / reference)^k.
    pub(crate) fn potential(&self) -> f64 {
        self.potential
    }

    /// The loads by channel.
    pub fn loads(&self) -> &[f64] {
        &self.load
    }

    /// The largest load, and the number of channels that have it.
    pub fn worst(&self) -> (f64, usize) {
        let most = self.load.iter().copied().fold(0.0, f64::max);
        (most, self.load.iter().filter(|&&l| l >= most * (1.0 - 1e-9)).count())
    }

    fn power(&self, load: f64) -> f64 {
        let mut x = (load / self.reference).max(0.0);
        for _ in 0..self.squarings {
            x *= x;
        }
        x
    }

    /// Sets the exponent of the potential to 2^squarings and its reference to the largest load.
    pub fn sharpen(&mut self, squarings: u32) {
        self.squarings = squarings;
        self.reference = self.worst().0.max(f64::MIN_POSITIVE);
        for i in 0..self.channels.len() {
            let c = self.channels[i] as usize;
            self.powered[c] = self.power(self.load[c]);
        }
        self.potential = self.channels.iter().map(|&c| self.powered[c as usize]).sum();
    }

    #[inline]
    fn add(&mut self, from: u32, target: u32, bytes: f32) {
        if bytes == 0.0 {
            return;
        }
        let (stamp, delta, touched, now) =
            (&mut self.stamp, &mut self.delta, &mut self.touched, self.now);
        for &(c, share) in self.lists.of(from, target) {
            let at = c as usize;
            if stamp[at] != now {
                stamp[at] = now;
                delta[at] = 0.0;
                touched.push(c);
            }
            delta[at] += f64::from(bytes) * f64::from(share);
        }
    }

    /// The change of the potential when two processes exchange places. O(channels of their
    /// traffic).
    pub fn gain(&mut self, at: &ProcessArrangement, u: u32, v: u32) -> f64 {
        self.now = self.now.wrapping_add(1);
        if self.now == 0 {
            self.stamp.fill(0);
            self.now = 1;
        }
        self.touched.clear();
        for (p, q) in [(u, v), (v, u)] {
            let (a, b) = (at.site(p), at.site(q));
            let (ta, tb) = (self.lists.target(at.slot(p)), self.lists.target(at.slot(q)));
            for i in self.row(p) {
                let PartnerTraffic { with, out, into } = self.rows[i];
                if with == q {
                    // the rows of both processes hold both directions of the pair, so each row
                    // handles one of them
                    self.add(a, tb, -out);
                    self.add(b, ta, out);
                } else {
                    let (s, t) = (at.site(with), self.lists.target(at.slot(with)));
                    self.add(a, t, -out);
                    self.add(b, t, out);
                    self.add(s, ta, -into);
                    self.add(s, tb, into);
                }
            }
        }
        let change = |&c: &u32| {
            let c = c as usize;
            self.power(self.load[c] + self.delta[c]) - self.powered[c]
        };
        self.touched.iter().map(change).sum()
    }

    /// Makes the swap whose gain was computed last.
    pub fn commit(&mut self, gain: f64) {
        for i in 0..self.touched.len() {
            let c = self.touched[i] as usize;
            self.load[c] = (self.load[c] + self.delta[c]).max(0.0);
            self.powered[c] = self.power(self.load[c]);
        }
        self.potential += gain;
    }

    /// A process at one end of a busy channel: the busiest of several drawn channels.
    pub(crate) fn at_busy(
        &self,
        proposals: &SwapProposalGenerator<'_>,
        at: &ProcessArrangement,
        draw: &mut FastRandomStream,
    ) -> Option<u32> {
        let mut busiest = self.channels[draw.below(self.channels.len() as u32) as usize];
        for _ in 1..12 {
            let c = self.channels[draw.below(self.channels.len() as u32) as usize];
            if self.load[c as usize] > self.load[busiest as usize] {
                busiest = c;
            }
        }
        let bits = draw.next_u64();
        let site = self.ends[busiest as usize][(bits >> 63) as usize];
        if site == u32::MAX {
            return None;
        }
        let problem = proposals.problem;
        let slots = problem.slots.of_site(site);
        let p = at.process(slots[(((bits & 0xffff) * slots.len() as u64) >> 16) as usize]);
        (!problem.is_pinned(p) && !problem.row(p).is_empty()).then_some(p)
    }
}
