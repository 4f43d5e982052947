//! Detours of messages: paths over a drawn intermediate switch, beside the least loaded shortest
//! paths.

use super::flows::{FlowChannelShare, FlowSet};
use base::SwitchId;
use base::seed::FastRandomStream;
use fabric::Topology;
use fabric::tables::candidates::{
    CandidateHop, CandidateScheme, MinimalAdaptiveRouting, PacketRoutingState,
};

/// A message that has no more bytes than this is not divided: the largest packet of InfiniBand.
const PACKET_BYTES: f64 = 4096.0;

/// A message, or the part of it on one rail, between the switches of two terminals.
pub(super) struct DetourRequest {
    pub(super) from: SwitchId,
    pub(super) to: SwitchId,
    /// The load of the two terminals with this message, the larger one.
    pub(super) ends: f64,
    /// The part of the message.
    pub(super) part: f64,
    /// Bytes of the whole message after the first.
    pub(super) bytes: f64,
    /// The random numbers of the message.
    pub(super) draw: FastRandomStream,
}

/// A candidate: its channels, and what it would cost to send a part of a message over them.
#[derive(Debug, Clone, Default)]
struct CandidatePath {
    channels: Vec<u32>,
    /// By how much the sum of the fourth powers of the loads of the channels would grow.
    growth: f64,
    /// The time until the last byte would have arrived, in picoseconds, if the rates stayed.
    arrives: f64,
}

/// The chooser between shortest paths and detours.
///
/// The load of a channel is the time per byte of the flows on it, if all of them had equal rates
/// and none were limited elsewhere. A message is divided into equal parts, which choose one after
/// the other. Each compares the least loaded shortest path with detours over drawn switches. It
/// takes the path for which the sum of the fourth powers of the loads grows least; loads below
/// those of the message's own terminals do not count, as these limit it anyway. A detour must also
/// let the message be complete earlier.
///
/// Source: Singh, "Load-balanced routing in interconnection networks", thesis, Stanford 2005
/// (UGAL-G: the sum of the queues on a path, by which the sum of squares of loads grows); Awerbuch,
/// Azar, Grove, Kao, Krishnan, Vitter, "Load balancing in the Lp norm", FOCS 1995 (greedy choice by
/// the growth of a sum of powers); Valiant, SIAM Journal on Computing 11(2), 1982.
#[derive(Debug)]
pub(super) struct DetourChooser {
    candidates: u32,
    parts: u32,
    /// Whether every part takes a detour, unseen.
    always: bool,
    /// The switches that may be intermediate switches (those with endpoints), for each plane; the
    /// plane of each switch; and its index among those of its plane.
    between: Vec<Vec<u32>>,
    plane: Vec<u16>,
    place: Vec<u32>,
    /// For each link, the latency of a hop over it in picoseconds.
    hop_ps: Vec<u64>,
    /// For each channel, the share of the parts that have chosen so far; and the channels where
    /// that is not 0.
    own: Vec<f64>,
    touched: Vec<u32>,
    /// Scratch memory: the candidates for the next hop, and the paths that are compared.
    next: Vec<CandidateHop>,
    best: CandidatePath,
    other: CandidatePath,
}

impl DetourChooser {
    /// A chooser that compares `candidates` detours for each of `parts` parts of a message, or
    /// takes the first of them if `always`. `hop_ps` has the latency of a hop over each link.
    pub(super) fn new(
        on: &Topology,
        (candidates, parts, always): (u32, u32, bool),
        hop_ps: Vec<u64>,
    ) -> Self {
        let plane: Vec<u16> = on.switches().iter().map(|s| s.plane).collect();
        let mut place = vec![u32::MAX; plane.len()];
        let mut between = vec![Vec::new(); usize::from(on.planes())];
        for s in on.edge_switches() {
            let among: &mut Vec<u32> = &mut between[usize::from(plane[s as usize])];
            place[s as usize] = among.len() as u32;
            among.push(s);
        }
        Self {
            candidates,
            parts,
            always,
            between,
            plane,
            place,
            own: vec![0.0; 2 * hop_ps.len()],
            hop_ps,
            touched: Vec::new(),
            next: Vec::new(),
            best: CandidatePath::default(),
            other: CandidatePath::default(),
        }
    }

    /// The channels of a message with their shares, and the latency of the slowest path over them
    /// in picoseconds; `None` if there is no path. O(parts * candidates * hops * degree).
    pub(super) fn route(
        &mut self,
        minimal: &MinimalAdaptiveRouting,
        flows: &FlowSet,
        mut it: DetourRequest,
    ) -> Option<(Vec<FlowChannelShare>, u64)> {
        let parts = (it.bytes / PACKET_BYTES).ceil().clamp(1.0, f64::from(self.parts));
        let share = it.part / parts;
        let mut latency = 0;
        for _ in 0..parts as u32 {
            if self.always {
                self.over_drawn(minimal, flows, &mut it)?;
            } else {
                self.best_of(minimal, flows, &mut it, share)?;
            }
            latency = latency.max(self.latency(&self.best.channels));
            for &channel in &self.best.channels {
                let own = &mut self.own[channel as usize];
                if *own <= 0.0 {
                    self.touched.push(channel);
                }
                *own += share;
            }
        }
        let share = |channel: u32| self.own[channel as usize] / it.part;
        let route: Vec<FlowChannelShare> = self
            .touched
            .iter()
            .map(|&channel| FlowChannelShare { channel, share: share(channel) })
            .collect();
        for channel in self.touched.drain(..) {
            self.own[channel as usize] = 0.0;
        }
        Some((route, latency))
    }

    /// Stores the best path for a part of a message in `best`.
    fn best_of(
        &mut self,
        minimal: &MinimalAdaptiveRouting,
        flows: &FlowSet,
        it: &mut DetourRequest,
        share: f64,
    ) -> Option<()> {
        self.shortest(minimal, flows, it)?;
        self.weigh(flows, it, share);
        let own = self.best.arrives;
        if self.best.growth <= 0.0 {
            return Some(());
        }
        for _ in 0..self.candidates {
            let Some(via) = self.draw(it) else { break };
            std::mem::swap(&mut self.best, &mut self.other);
            let leads = self.over(minimal, flows, it, via);
            if leads.is_some() {
                self.weigh(flows, it, share);
            }
            let is_better =
                leads.is_some() && self.best.arrives < own && self.best.growth < self.other.growth;
            if !is_better {
                std::mem::swap(&mut self.best, &mut self.other);
            }
        }
        Some(())
    }

    /// Stores the least loaded shortest path in `best`.
    fn shortest(
        &mut self,
        minimal: &MinimalAdaptiveRouting,
        flows: &FlowSet,
        it: &DetourRequest,
    ) -> Option<()> {
        self.best.channels.clear();
        self.walk(minimal, flows, it.from, it.to)
    }

    /// Stores a path over a drawn switch in `best`, or a shortest one where there is none.
    fn over_drawn(
        &mut self,
        minimal: &MinimalAdaptiveRouting,
        flows: &FlowSet,
        it: &mut DetourRequest,
    ) -> Option<()> {
        let via = if it.from == it.to { None } else { self.draw(it) };
        match via.and_then(|via| self.over(minimal, flows, it, via)) {
            Some(()) => Some(()),
            None => self.shortest(minimal, flows, it),
        }
    }

    /// Stores the path over `via` in `best`; `None` if there is none.
    fn over(
        &mut self,
        minimal: &MinimalAdaptiveRouting,
        flows: &FlowSet,
        it: &DetourRequest,
        via: SwitchId,
    ) -> Option<()> {
        self.best.channels.clear();
        self.walk(minimal, flows, it.from, via)?;
        self.walk(minimal, flows, via, it.to)
    }

    /// Appends the channels of a shortest path to `best`: from switch to switch, the least loaded
    /// one.
    fn walk(
        &mut self,
        minimal: &MinimalAdaptiveRouting,
        flows: &FlowSet,
        from: SwitchId,
        to: SwitchId,
    ) -> Option<()> {
        let mut at = from;
        while at != to {
            self.next.clear();
            minimal.next(at, PacketRoutingState { goal: to.0, state: 0 }, &mut self.next);
            let mut hop = self.next.first().copied()?;
            if self.next.len() > 1 {
                let mut least = f64::INFINITY;
                for other in &self.next {
                    let load = flows.load(other.channel.0, self.own[other.channel.0 as usize]);
                    if load < least {
                        (least, hop) = (load, *other);
                    }
                }
            }
            self.best.channels.push(hop.channel.0);
            at = hop.to;
        }
        Some(())
    }

    /// Computes what it would cost to send `share` of the message over the path in `best`.
    fn weigh(&mut self, flows: &FlowSet, it: &DetourRequest, share: f64) {
        let fourth = |load: f64| {
            let square = load * load;
            square * square
        };
        let (ends, mut growth, mut worst) = (it.ends, 0.0, it.ends);
        for &channel in &self.best.channels {
            let own = self.own[channel as usize];
            let (old, new) = (flows.load(channel, own), flows.load(channel, own + share));
            growth += fourth(new.max(ends)) - fourth(old.max(ends));
            worst = worst.max(new);
        }
        let latency = self.latency(&self.best.channels);
        self.best.growth = growth;
        self.best.arrives = it.bytes * worst + latency as f64;
    }

    fn latency(&self, channels: &[u32]) -> u64 {
        channels.iter().map(|&channel| self.hop_ps[channel as usize / 2]).sum()
    }

    /// Draws an intermediate switch that is neither the first nor the last; `None` where there is
    /// no other.
    fn draw(&self, it: &mut DetourRequest) -> Option<SwitchId> {
        let among = &self.between[usize::from(self.plane[it.from.ix()])];
        let taken = [it.from, it.to].map(|s| self.place[s.ix()] as usize);
        let (low, high) = (taken[0].min(taken[1]), taken[0].max(taken[1]));
        let others = (among.len() as u32).checked_sub(2).filter(|n| *n > 0)?;
        // the first and the last switch are skipped, so that all others are equally likely
        let drawn = it.draw.below(others) as usize;
        let drawn = drawn + usize::from(drawn >= low);
        Some(SwitchId(among[drawn + usize::from(drawn >= high)]))
    }
}
