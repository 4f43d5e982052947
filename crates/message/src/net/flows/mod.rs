//! Flows that share channels with max-min fair rates, advanced from one event to the next.
//!
//! A flow sends a share of its rate over each of its channels; the share is 1 if it has only one
//! route. Max-min fair rates are found by raising all rates together. When a channel is full, its
//! flows keep the rate reached, and the other rates are raised further.
//!
//! Source: Bertsekas, Gallager: Data Networks, 2nd edition, 1992, section 6.5.2 (max-min flow
//! control); with shares of channels as in Radunović, Le Boudec: A unified framework for max-min
//! and min-max fairness, IEEE/ACM Transactions on Networking 15(5), 2007.

mod full;
mod settle;

use full::SaturationRate;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap};

/// A channel of a flow, and the share of the flow's rate that goes over it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FlowChannelShare {
    pub(super) channel: u32,
    pub(super) share: f64,
}

/// The parts of a flow with duplicates of a channel merged into its first part, whose share is then
/// their sum. O(parts).
pub(super) fn joined(parts: Vec<FlowChannelShare>) -> Vec<FlowChannelShare> {
    let mut places: HashMap<u32, usize> = HashMap::with_capacity(parts.len());
    let mut all: Vec<FlowChannelShare> = Vec::with_capacity(parts.len());
    for part in parts {
        match places.entry(part.channel) {
            Entry::Occupied(known) => all[*known.get()].share += part.share,
            Entry::Vacant(new) => {
                new.insert(all.len());
                all.push(part);
            }
        }
    }
    all
}

/// The end time of a flow that has no rate yet.
const NEVER: u64 = u64::MAX;
/// Rates whose relative difference is smaller than this count as equal.
const SAME: f64 = 1e-12;
/// A channel counts as full if its load is within this fraction of its rate.
const LITTLE: f64 = 1e-9;

/// One flow.
#[derive(Debug, Clone, Default)]
struct NetworkFlow {
    parts: Vec<FlowChannelShare>,
    /// For each part, the index of the flow in its channel's `members`.
    places: Vec<u32>,
    /// The flow's own limit of its rate, in bytes per picosecond.
    most: f64,
    rate: f64,
    /// Bytes that had not been sent at the time `since`.
    left: f64,
    since: u64,
    bytes: f64,
    /// The time at which the flow ends at its present rate.
    ends: u64,
    /// Whether the flow has begun and not ended; if not, the entry can be reused.
    is_going: bool,
    /// The operation that it belongs to.
    op: u32,
    /// Its state during a settlement.
    mark: FlowRateState,
    /// The rate found for it in a settlement.
    found: f64,
}

impl NetworkFlow {
    /// Marks the flow as [`FlowRateState::Sought`]; returns whether it is active and was not marked
    /// before.
    fn is_to_be_sought(&mut self) -> bool {
        let is_new = self.is_going && self.mark == FlowRateState::Still;
        if is_new {
            self.mark = FlowRateState::Sought;
        }
        is_new
    }
}

/// The state of a flow during a settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum FlowRateState {
    /// The flow is not examined and keeps its rate.
    #[default]
    Still,
    /// The rate is to be found.
    Sought,
    /// The rate has been found.
    Found,
}

/// A channel that flows share.
#[derive(Debug, Clone, Default)]
struct ChannelFlows {
    /// Its capacity in bytes per picosecond.
    rate: f64,
    /// Its flows, and for each the index of the flow's part that is this channel.
    members: Vec<(u32, u32)>,
    /// The sum of the shares of its flows, and the sum of their rates over it.
    shares: f64,
    taken: f64,
    /// Bytes that have been sent over it.
    bytes: f64,
    /// For a settlement: the rate from which on the channel's flows are marked for a new rate,
    /// infinite if the channel was not visited; and whether any of its flows is marked.
    floor: f64,
    is_met: bool,
    /// For a settlement: the capacity left for flows whose rate is not found yet, and the sum of
    /// their shares.
    room: f64,
    sought: f64,
}

impl ChannelFlows {
    /// Whether its flows use its whole rate.
    #[inline]
    fn is_full(&self) -> bool {
        self.taken >= self.rate * (1.0 - LITTLE)
    }

    /// The highest rate of its flows. If the channel is full, it limits the flows with this rate;
    /// lower rates are limited elsewhere. O(its flows).
    fn level(&self, all: &[NetworkFlow]) -> f64 {
        let rates = self.members.iter().map(|&(number, _)| all[number as usize].rate);
        rates.fold(0.0, f64::max) * (1.0 - LITTLE)
    }
}

/// The start of a settlement: new flows; full channels that ended flows used, each with its
/// `level`; and a lower bound of the rates that can change.
#[derive(Debug, Default)]
struct PendingFlowChanges {
    channels: Vec<(u32, f64)>,
    flows: Vec<u32>,
    least: f64,
    /// Whether a flow ended.
    is_smaller: bool,
}

/// All flows, and the channels that they share.
///
/// Flows begin and end; [`FlowSet::settle`] then updates the rates. A settlement examines only
/// flows whose rate can change. These are the flows that are limited by a full channel on which a
/// flow begins, ends or changes, and the flows whose rate is above the fair rate of such a channel
/// afterwards.
#[derive(Debug)]
pub(super) struct FlowSet {
    channels: Vec<ChannelFlows>,
    all: Vec<NetworkFlow>,
    free: Vec<u32>,
    /// End times of flows with their numbers; an entry is outdated if the flow has another `ends`.
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    change: PendingFlowChanges,
    /// Scratch memory of settlements: channels whose flows are all examined, channels of any of
    /// these flows, and the heap of what becomes full first.
    seen: Vec<u32>,
    met: Vec<u32>,
    full: BinaryHeap<Reverse<SaturationRate>>,
    /// Number of coming settlements that examine all flows at once, without a test whether fewer
    /// suffice.
    wide: u32,
    /// The least time between settlements, and the earliest time of the next one, in picoseconds.
    pause: u64,
    next: u64,
    /// Length of the time spans of [`FlowSet::used`], in picoseconds; 0 if use over time is not
    /// recorded.
    span: u64,
    used: Vec<Vec<f64>>,
}

impl FlowSet {
    /// An instance without flows, on channels of these rates in bytes per picosecond. Settlements
    /// are at least `pause` picoseconds apart. Use over time is recorded in spans of `span`
    /// picoseconds, or not at all if that is 0.
    pub(super) fn new(rates: impl Iterator<Item = f64>, pause: u64, span: u64) -> Self {
        let one = ChannelFlows { floor: f64::INFINITY, ..ChannelFlows::default() };
        let channels = rates.map(|rate| ChannelFlows { rate, ..one.clone() });
        let change = PendingFlowChanges { least: f64::INFINITY, ..PendingFlowChanges::default() };
        Self {
            channels: channels.collect(),
            all: Vec::new(),
            free: Vec::new(),
            ends: BinaryHeap::new(),
            change,
            seen: Vec::new(),
            met: Vec::new(),
            full: BinaryHeap::new(),
            wide: 0,
            pause,
            next: 0,
            span,
            used: Vec::new(),
        }
    }

    /// A lower bound of a new flow's rate on a channel, in bytes per picosecond.
    pub(super) fn room(&self, channel: u32) -> f64 {
        let c = &self.channels[channel as usize];
        c.rate / (c.shares + 1.0)
    }

    /// The time per byte on a channel, in picoseconds, if `more` is added to the shares of its
    /// flows and all of them have equal rates.
    #[inline]
    pub(super) fn load(&self, channel: u32, more: f64) -> f64 {
        let c = &self.channels[channel as usize];
        (c.shares + more) / c.rate
    }

    /// The rate of a flow if no other flow uses its channels.
    pub(super) fn alone(&self, parts: &[FlowChannelShare]) -> f64 {
        let rates = parts.iter().map(|p| self.channels[p.channel as usize].rate / p.share);
        rates.fold(f64::INFINITY, f64::min)
    }

    /// Begins a flow of `bytes`, more than 0, at `now` for the operation `op`. Its rate, at most
    /// `most`, is set by the next settlement. Its `parts` must contain every channel once, as
    /// [`joined`] makes them. O(channels of the flow).
    pub(super) fn begin(
        &mut self,
        now: u64,
        op: u32,
        bytes: f64,
        parts: &[FlowChannelShare],
        most: f64,
    ) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.all.push(NetworkFlow::default());
            self.all.len() as u32 - 1
        });
        let alone = self.alone(parts);
        let flow = &mut self.all[number as usize];
        flow.parts.clear();
        flow.parts.extend_from_slice(parts);
        flow.places.clear();
        (flow.rate, flow.left, flow.bytes) = (0.0, bytes, bytes);
        (flow.since, flow.ends, flow.op, flow.is_going) = (now, NEVER, op, true);
        // a limit that the channels impose anyway need not be checked
        flow.most = if most < alone { most } else { f64::INFINITY };
        let mut least = most;
        for (i, part) in (0..).zip(parts) {
            let c = &mut self.channels[part.channel as usize];
            flow.places.push(c.members.len() as u32);
            c.members.push((number, i));
            c.shares += part.share;
            // no channel becomes full below an equal share for all its flows
            least = least.min(c.rate / c.shares);
        }
        self.change.flows.push(number);
        self.change.least = self.change.least.min(least);
        if self.pause > 0 {
            self.give_what_is_left(number, now);
        }
    }

    /// Gives a new flow the unused capacity of its channels until the next settlement.
    fn give_what_is_left(&mut self, number: u32, now: u64) {
        let flow = &mut self.all[number as usize];
        let mut found = flow.most;
        for part in &flow.parts {
            let c = &self.channels[part.channel as usize];
            let left = c.rate - c.taken;
            found = found.min(if left > LITTLE * c.rate { left / part.share } else { 0.0 });
        }
        if found > 0.0 {
            flow.found = found;
            self.give(number, now);
        }
    }

    /// Sets a flow's rate to the rate that was found for it.
    fn give(&mut self, number: u32, now: u64) {
        let flow = &mut self.all[number as usize];
        flow.mark = FlowRateState::Still;
        let (old, new) = (flow.rate, flow.found);
        if (new - old).abs() <= SAME * old {
            return;
        }
        for part in &flow.parts {
            self.channels[part.channel as usize].taken += part.share * (new - old);
        }
        self.account(number, now);
        let flow = &mut self.all[number as usize];
        flow.rate = new;
        flow.ends = now.saturating_add((flow.left / new).round().max(0.0) as u64);
        self.ends.push(Reverse((flow.ends, number)));
    }

    /// The time at which the next settlement is due; none if no flow began or ended since the last
    /// one.
    pub(super) fn is_due(&self, now: u64) -> Option<u64> {
        let is_changed = self.change.is_smaller || !self.change.flows.is_empty();
        is_changed.then_some(now.max(self.next))
    }

    /// The time at which the next flow ends, at the present rates.
    pub(super) fn next_end(&mut self) -> Option<u64> {
        while let Some(&Reverse((time, number))) = self.ends.peek() {
            if self.all[number as usize].ends == time {
                return Some(time);
            }
            self.ends.pop();
        }
        None
    }

    /// Removes a flow that ends at `now` or before, the earliest first, and returns its operation.
    /// If several end at the same time, the flow of the lowest number is removed.
    pub(super) fn end(&mut self, now: u64) -> Option<u32> {
        if self.next_end()? > now {
            return None;
        }
        let Reverse((_, number)) = self.ends.pop()?;
        self.account(number, now);
        let mut flow = std::mem::take(&mut self.all[number as usize]);
        for (part, &place) in flow.parts.iter().zip(&flow.places) {
            let c = &mut self.channels[part.channel as usize];
            if c.is_full() {
                let level = c.level(&self.all).max(flow.rate * (1.0 - LITTLE));
                self.change.channels.push((part.channel, level));
            }
            c.members.swap_remove(place as usize);
            if let Some(&(moved, i)) = c.members.get(place as usize) {
                self.all[moved as usize].places[i as usize] = place;
            }
            c.bytes += part.share * flow.bytes;
            c.shares -= part.share;
            c.taken -= part.share * flow.rate;
            if c.members.is_empty() {
                (c.shares, c.taken) = (0.0, 0.0);
            }
        }
        self.change.least = self.change.least.min(flow.rate);
        self.change.is_smaller = true;
        let op = flow.op;
        (flow.ends, flow.is_going) = (NEVER, false);
        self.all[number as usize] = flow;
        self.free.push(number);
        Some(op)
    }

    /// Adds what a flow has sent up to `now` to its channels.
    fn account(&mut self, number: u32, now: u64) {
        let flow = &mut self.all[number as usize];
        let sent = flow.rate * (now - flow.since) as f64;
        flow.left -= sent;
        if self.span > 0 && sent > 0.0 {
            let (first, last) = (flow.since / self.span, (now - 1) / self.span);
            for span in first..=last {
                let begin = (span * self.span).max(flow.since);
                let end = ((span + 1) * self.span).min(now);
                let bytes = flow.rate * (end - begin) as f64;
                while self.used.len() <= span as usize {
                    self.used.push(vec![0.0; self.channels.len()]);
                }
                for part in &flow.parts {
                    self.used[span as usize][part.channel as usize] += part.share * bytes;
                }
            }
        }
        flow.since = now;
    }

    /// For each channel, its rate in bytes per picosecond, and the bytes sent over it.
    pub(super) fn channels(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.channels.iter().map(|c| (c.rate, c.bytes))
    }

    /// For each time span, the bytes sent over each channel; empty if not recorded.
    pub(super) fn used(&self) -> &[Vec<f64>] {
        &self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::seed::FastRandomStream;
    use proptest::prelude::*;

    /// A test case: flows with their parts, bytes and start times, and the rates of channels. A
    /// flow may list a channel several times; then it uses the channel with each of these shares.
    struct FlowTestCase {
        rates: Vec<f64>,
        flows: Vec<(u64, f64, Vec<FlowChannelShare>)>,
    }

    fn case(seed: u64, most: u32) -> FlowTestCase {
        let mut draw = FastRandomStream::new(seed, "test flows", 0);
        let channels = 2 + draw.below(6);
        let rates = (0..channels).map(|_| f64::from(1 + draw.below(4)) / 1000.0).collect();
        let some = |draw: &mut FastRandomStream| {
            let mut parts: Vec<FlowChannelShare> = Vec::new();
            for channel in 0..channels {
                if draw.below(3) == 0 {
                    let share = [1.0, 1.0, 0.5, 0.25][draw.below(4) as usize];
                    parts.push(FlowChannelShare { channel, share });
                }
            }
            if parts.is_empty() {
                parts.push(FlowChannelShare { channel: draw.below(channels), share: 1.0 });
            }
            while draw.below(3) == 0 {
                let again = parts[draw.below(parts.len() as u32) as usize];
                let share = [again.share, 0.5][draw.below(2) as usize];
                parts.insert(
                    draw.below(parts.len() as u32) as usize,
                    FlowChannelShare { share, ..again },
                );
            }
            parts
        };
        let mut time = 0;
        let flows = (0..=draw.below(most)).map(|_| {
            time += u64::from(draw.below(3)) * u64::from(draw.below(4_000_000));
            (time, f64::from(1 + draw.below(9000)), some(&mut draw))
        });
        FlowTestCase { rates, flows: flows.collect() }
    }

    /// Max-min fair rates by definition: all flows are raised together until a channel is full,
    /// then the rest.
    fn fair(rates: &[f64], flows: &[&[FlowChannelShare]]) -> Vec<f64> {
        let mut found: Vec<Option<f64>> = vec![None; flows.len()];
        while found.iter().any(Option::is_none) {
            let mut least = (f64::INFINITY, 0);
            for (channel, rate) in (0..).zip(rates) {
                let (mut room, mut shares) = (*rate, 0.0);
                for (flow, found) in flows.iter().zip(&found) {
                    for part in flow.iter().filter(|p| p.channel == channel) {
                        match found {
                            Some(rate) => room -= rate * part.share,
                            None => shares += part.share,
                        }
                    }
                }
                if shares > 1e-9 && room / shares < least.0 {
                    least = (room / shares, channel);
                }
            }
            for (flow, found) in flows.iter().zip(&mut found) {
                if found.is_none() && flow.iter().any(|p| p.channel == least.1) {
                    *found = Some(least.0);
                }
            }
        }
        found.into_iter().flatten().collect()
    }

    /// The end time of each flow, with all rates recomputed at every event.
    fn slow(case: &FlowTestCase) -> Vec<f64> {
        let mut left: Vec<f64> = case.flows.iter().map(|f| f.1).collect();
        let mut ends = vec![f64::INFINITY; left.len()];
        let mut now = 0.0;
        loop {
            let going: Vec<usize> = (0..left.len())
                .filter(|&i| ends[i].is_infinite() && case.flows[i].0 as f64 <= now)
                .collect();
            let parts: Vec<&[FlowChannelShare]> =
                going.iter().map(|&i| &case.flows[i].2[..]).collect();
            let rates = fair(&case.rates, &parts);
            let begins = case.flows.iter().map(|f| f.0 as f64).filter(|&t| t > now);
            let ending = going.iter().zip(&rates).map(|(&i, rate)| now + left[i] / rate);
            let next = begins.chain(ending).fold(f64::INFINITY, f64::min);
            if next.is_infinite() {
                return ends;
            }
            for (&i, rate) in going.iter().zip(&rates) {
                left[i] -= rate * (next - now);
                if left[i] < 1e-6 {
                    ends[i] = next;
                }
            }
            now = next;
        }
    }

    /// Checks that all active flows have their max-min fair rates.
    fn check_rates(case: &FlowTestCase, flows: &FlowSet) {
        let going: Vec<&NetworkFlow> = flows.all.iter().filter(|f| f.is_going).collect();
        let parts: Vec<&[FlowChannelShare]> = going.iter().map(|f| &f.parts[..]).collect();
        for (flow, fair) in going.iter().zip(fair(&case.rates, &parts)) {
            assert!((flow.rate - fair).abs() <= 1e-9 * fair, "{} for {fair}", flow.rate);
        }
    }

    /// The end time of each flow, and the bytes over each channel, with `pause` between
    /// settlements. If `tied`, no settlement examines all flows at once.
    fn quick(case: &FlowTestCase, pause: u64, tied: bool) -> (Vec<f64>, Vec<f64>) {
        let mut flows = FlowSet::new(case.rates.iter().copied(), pause, 1_000_000);
        let mut ends = vec![f64::INFINITY; case.flows.len()];
        let (mut next, mut now) = (0, 0);
        loop {
            while let Some((begin, bytes, parts)) = case.flows.get(next).filter(|f| f.0 == now) {
                let parts = joined(parts.clone());
                let most = flows.alone(&parts);
                flows.begin(*begin, next as u32, *bytes, &parts, most);
                next += 1;
            }
            while let Some(op) = flows.end(now) {
                ends[op as usize] = now as f64;
            }
            if flows.is_due(now) == Some(now) {
                if tied {
                    flows.wide = 0;
                }
                flows.settle(now);
                assert_eq!(flows.is_due(now), None);
                check_rates(case, &flows);
            }
            let begins = case.flows.get(next).map(|f| f.0);
            let due = flows.is_due(now);
            match flows.next_end().into_iter().chain(begins).chain(due).min() {
                Some(time) => now = time,
                None => break,
            }
        }
        let mut sums = vec![0.0; case.rates.len()];
        for used in flows.used() {
            for (sum, bytes) in sums.iter_mut().zip(used) {
                *sum += bytes;
            }
        }
        for ((_, bytes), sum) in flows.channels().zip(sums) {
            assert!((bytes - sum).abs() <= 1e-6 * bytes + 0.1, "{bytes} bytes, in spans {sum}");
        }
        (ends, flows.channels().map(|c| c.1).collect())
    }

    /// The bytes that all flows send over a channel.
    fn over(case: &FlowTestCase, channel: u32) -> f64 {
        let of = |f: &(u64, f64, Vec<FlowChannelShare>)| {
            let parts = f.2.iter().filter(|p| p.channel == channel);
            parts.map(|p| p.share * f.1).sum::<f64>()
        };
        case.flows.iter().map(of).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn flows_end_as_if_all_rates_were_sought_anew(
            seed in any::<u64>(),
            many in any::<bool>(),
            tied in any::<bool>(),
        ) {
            let case = case(seed, if many { 60 } else { 12 });
            let (found, bytes) = quick(&case, 0, tied);
            for (found, expected) in found.iter().zip(slow(&case)) {
                // times are rounded to a picosecond at every change of a rate
                prop_assert!((found - expected).abs() < 200.0, "{} for {}", found, expected);
            }
            for (channel, bytes) in (0..).zip(bytes) {
                prop_assert!((bytes - over(&case, channel)).abs() < 1e-6);
            }
        }

        #[test]
        fn with_a_pause_rates_are_fair_after_it(
            seed in any::<u64>(),
            pause in 1_u64..4_000_000,
            tied in any::<bool>(),
        ) {
            let case = case(seed, 60);
            let (found, bytes) = quick(&case, pause, tied);
            prop_assert!(found.iter().all(|end| end.is_finite()));
            for (channel, bytes) in (0..).zip(bytes) {
                prop_assert!((bytes - over(&case, channel)).abs() < 1e-6);
            }
        }
    }
}
