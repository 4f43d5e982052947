//! Flows that share channels: max-min fair rates, from one event to the next.
//!
//! A flow uses of each channel a share of its own rate, all of it where it has one route. Rates are
//! max-min fair: all rise together until a channel is full; its flows stay at that rate, the others
//! rise on.
//!
//! Source: Bertsekas, Gallager: Data Networks, 2nd edition, 1992, section 6.5.2 (max-min flow
//! control); with shares of channels as in Radunović, Le Boudec: A unified framework for max-min
//! and min-max fairness, IEEE/ACM Transactions on Networking 15(5), 2007.

mod full;
mod settle;

use full::FullChannel;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap};

/// A channel of a flow, and the share of its rate that the flow sends over it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FlowPart {
    pub(super) channel: u32,
    pub(super) share: f64,
}

/// Parts of one flow with every channel once, where it first was: a channel that it crosses twice
/// carries both shares. O(parts).
pub(super) fn joined(parts: Vec<FlowPart>) -> Vec<FlowPart> {
    let mut places: HashMap<u32, usize> = HashMap::with_capacity(parts.len());
    let mut all: Vec<FlowPart> = Vec::with_capacity(parts.len());
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

/// The end of a flow that has no rate yet.
const NEVER: u64 = u64::MAX;
/// Rates that differ by less than this part are the same.
const SAME: f64 = 1e-12;
/// A channel whose load is within this share of its rate counts as full.
const LITTLE: f64 = 1e-9;

/// One flow.
#[derive(Debug, Clone, Default)]
struct Flow {
    parts: Vec<FlowPart>,
    /// Its place among the members of each of its channels.
    places: Vec<u32>,
    /// The largest rate that it may have, bytes a picosecond.
    most: f64,
    rate: f64,
    /// Bytes that were left at the time `since`.
    left: f64,
    since: u64,
    bytes: f64,
    /// When it ends at its present rate.
    ends: u64,
    /// Whether it has begun and not ended: others are places for flows to come.
    is_going: bool,
    /// The operation that it belongs to.
    op: u32,
    /// Its state while rates are sought.
    mark: RateState,
    /// The rate found for it.
    found: f64,
}

impl Flow {
    /// Whether it is sought from now on, and was not before.
    fn is_to_be_sought(&mut self) -> bool {
        let is_new = self.is_going && self.mark == RateState::Still;
        if is_new {
            self.mark = RateState::Sought;
        }
        is_new
    }
}

/// The state of a flow or a channel while rates are sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum RateState {
    /// Not looked at: its rate stays.
    #[default]
    Still,
    /// Its rate is sought.
    Sought,
    /// Its rate is found.
    Found,
}

/// One channel.
#[derive(Debug, Clone, Default)]
struct SharedChannel {
    /// Bytes a picosecond.
    rate: f64,
    /// Its flows, and which of their parts it is.
    members: Vec<(u32, u32)>,
    /// The sum of the shares of its flows, and of what they have of it.
    shares: f64,
    taken: f64,
    /// Bytes that have gone over it.
    bytes: f64,
    /// While rates are sought: the least rate at which all of its flows are sought, infinite where
    /// it was not looked at, and whether any of its flows is sought.
    floor: f64,
    is_met: bool,
    /// What it has for flows whose rate is not found, and the sum of their shares.
    room: f64,
    sought: f64,
}

impl SharedChannel {
    /// Whether its flows fill it.
    #[inline]
    fn is_full(&self) -> bool {
        self.taken >= self.rate * (1.0 - LITTLE)
    }

    /// The least rate of the flows that it slows down where it is full: all others of its flows are
    /// slowed down elsewhere. O(its flows).
    fn level(&self, all: &[Flow]) -> f64 {
        let rates = self.members.iter().map(|&(number, _)| all[number as usize].rate);
        rates.fold(0.0, f64::max) * (1.0 - LITTLE)
    }
}

/// What a change of rates sets out from: flows that came, full channels of those that went with
/// the least rate of the flows that they slowed down, and the least rate that can change.
#[derive(Debug, Default)]
struct RateChange {
    channels: Vec<(u32, f64)>,
    flows: Vec<u32>,
    least: f64,
    /// Whether a flow went.
    is_smaller: bool,
}

/// All flows, and the channels that they share.
///
/// Flows come and go; what they get follows with [`Flows::settle`]. A settlement looks only at
/// flows whose rate can change. Those are the flows that a full channel slows down of which a flow
/// comes, goes or changes; and those that are quicker than what such a channel has for each then.
#[derive(Debug)]
pub(super) struct Flows {
    channels: Vec<SharedChannel>,
    all: Vec<Flow>,
    free: Vec<u32>,
    /// When flows end, with their number; what a flow's own end does not agree with is out of date.
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    change: RateChange,
    /// Kept between settlements: channels all of whose flows are sought, channels of any of these,
    /// and what fills first.
    seen: Vec<u32>,
    met: Vec<u32>,
    full: BinaryHeap<Reverse<FullChannel>>,
    /// How many settlements are to look at all flows without a look whether fewer would do.
    wide: u32,
    /// Least time between settlements, picoseconds, and when the next may be.
    pause: u64,
    next: u64,
    /// Width of the spans of time of [`Flows::used`], picoseconds; 0 where nobody asks.
    span: u64,
    used: Vec<Vec<f64>>,
}

impl Flows {
    /// No flows, on channels of these rates, bytes a picosecond. Between settlements are at least
    /// `pause` picoseconds; `span` picoseconds are the width of the spans that use over time is
    /// counted in, 0 where it is not.
    pub(super) fn new(rates: impl Iterator<Item = f64>, pause: u64, span: u64) -> Self {
        let one = SharedChannel { floor: f64::INFINITY, ..SharedChannel::default() };
        let channels = rates.map(|rate| SharedChannel { rate, ..one.clone() });
        let change = RateChange { least: f64::INFINITY, ..RateChange::default() };
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

    /// What a flow that came now would get of a channel at least, bytes a picosecond.
    pub(super) fn room(&self, channel: u32) -> f64 {
        let c = &self.channels[channel as usize];
        c.rate / (c.shares + 1.0)
    }

    /// The rate that a flow has with these channels to itself.
    pub(super) fn alone(&self, parts: &[FlowPart]) -> f64 {
        let rates = parts.iter().map(|p| self.channels[p.channel as usize].rate / p.share);
        rates.fold(f64::INFINITY, f64::min)
    }

    /// A flow of `bytes`, more than 0, begins at `now` for the operation `op`; its rate, no
    /// more than `most`, follows with the next settlement. Every channel is among its `parts` once:
    /// see [`joined`]. O(channels of the flow).
    pub(super) fn begin(&mut self, now: u64, op: u32, bytes: f64, parts: &[FlowPart], most: f64) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.all.push(Flow::default());
            self.all.len() as u32 - 1
        });
        let alone = self.alone(parts);
        let flow = &mut self.all[number as usize];
        flow.parts.clear();
        flow.parts.extend_from_slice(parts);
        flow.places.clear();
        (flow.rate, flow.left, flow.bytes) = (0.0, bytes, bytes);
        (flow.since, flow.ends, flow.op, flow.is_going) = (now, NEVER, op, true);
        // the channels themselves see to what they have
        flow.most = if most < alone { most } else { f64::INFINITY };
        let mut least = most;
        for (i, part) in (0..).zip(parts) {
            let c = &mut self.channels[part.channel as usize];
            flow.places.push(c.members.len() as u32);
            c.members.push((number, i));
            c.shares += part.share;
            // no channel fills before all its flows have an even part of it
            least = least.min(c.rate / c.shares);
        }
        self.change.flows.push(number);
        self.change.least = self.change.least.min(least);
        if self.pause > 0 {
            self.give_what_is_left(number, now);
        }
    }

    /// Gives a flow that has come what its channels have left, until the next settlement.
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

    /// Gives a flow the rate that was found for it.
    fn give(&mut self, number: u32, now: u64) {
        let flow = &mut self.all[number as usize];
        flow.mark = RateState::Still;
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

    /// When the next settlement is due: some flows came or went since the last.
    pub(super) fn is_due(&self, now: u64) -> Option<u64> {
        let is_changed = self.change.is_smaller || !self.change.flows.is_empty();
        is_changed.then_some(now.max(self.next))
    }

    /// When the next flow ends, at the rates of now.
    pub(super) fn next_end(&mut self) -> Option<u64> {
        while let Some(&Reverse((time, number))) = self.ends.peek() {
            if self.all[number as usize].ends == time {
                return Some(time);
            }
            self.ends.pop();
        }
        None
    }

    /// Takes out a flow that ends at `now` or before: its operation. Of several the one with the
    /// least number is first.
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

    /// Counts what a flow has sent up to `now`.
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

    /// The rate of each channel, bytes a picosecond, and the bytes that have gone over it.
    pub(super) fn channels(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.channels.iter().map(|c| (c.rate, c.bytes))
    }

    /// Bytes over each channel in each span of time.
    pub(super) fn used(&self) -> &[Vec<f64>] {
        &self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::seed::FastStream;
    use proptest::prelude::*;

    /// Flows with their parts and bytes, when they begin, and the rates of channels. A flow may
    /// have a channel several times, which the slow computation counts as often.
    struct FlowCase {
        rates: Vec<f64>,
        flows: Vec<(u64, f64, Vec<FlowPart>)>,
    }

    fn case(seed: u64, most: u32) -> FlowCase {
        let mut draw = FastStream::new(seed, "test flows", 0);
        let channels = 2 + draw.below(6);
        let rates = (0..channels).map(|_| f64::from(1 + draw.below(4)) / 1000.0).collect();
        let some = |draw: &mut FastStream| {
            let mut parts: Vec<FlowPart> = Vec::new();
            for channel in 0..channels {
                if draw.below(3) == 0 {
                    let share = [1.0, 1.0, 0.5, 0.25][draw.below(4) as usize];
                    parts.push(FlowPart { channel, share });
                }
            }
            if parts.is_empty() {
                parts.push(FlowPart { channel: draw.below(channels), share: 1.0 });
            }
            while draw.below(3) == 0 {
                let again = parts[draw.below(parts.len() as u32) as usize];
                let share = [again.share, 0.5][draw.below(2) as usize];
                parts.insert(draw.below(parts.len() as u32) as usize, FlowPart { share, ..again });
            }
            parts
        };
        let mut time = 0;
        let flows = (0..=draw.below(most)).map(|_| {
            time += u64::from(draw.below(3)) * u64::from(draw.below(4_000_000));
            (time, f64::from(1 + draw.below(9000)), some(&mut draw))
        });
        FlowCase { rates, flows: flows.collect() }
    }

    /// Max-min fair rates by raising all flows together, channel by channel, over all of them.
    fn fair(rates: &[f64], flows: &[&[FlowPart]]) -> Vec<f64> {
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

    /// When each flow ends: all rates anew at every event.
    fn slow(case: &FlowCase) -> Vec<f64> {
        let mut left: Vec<f64> = case.flows.iter().map(|f| f.1).collect();
        let mut ends = vec![f64::INFINITY; left.len()];
        let mut now = 0.0;
        loop {
            let going: Vec<usize> = (0..left.len())
                .filter(|&i| ends[i].is_infinite() && case.flows[i].0 as f64 <= now)
                .collect();
            let parts: Vec<&[FlowPart]> = going.iter().map(|&i| &case.flows[i].2[..]).collect();
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

    /// Checks that the flows that are going have the rates that are fair.
    fn check_rates(case: &FlowCase, flows: &Flows) {
        let going: Vec<&Flow> = flows.all.iter().filter(|f| f.is_going).collect();
        let parts: Vec<&[FlowPart]> = going.iter().map(|f| &f.parts[..]).collect();
        for (flow, fair) in going.iter().zip(fair(&case.rates, &parts)) {
            assert!((flow.rate - fair).abs() <= 1e-9 * fair, "{} for {fair}", flow.rate);
        }
    }

    /// When each flow ends, and the bytes over each channel, with `pause` between settlements;
    /// none looks at all flows where they are `tied`.
    fn quick(case: &FlowCase, pause: u64, tied: bool) -> (Vec<f64>, Vec<f64>) {
        let mut flows = Flows::new(case.rates.iter().copied(), pause, 1_000_000);
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

    /// The bytes that go over a channel.
    fn over(case: &FlowCase, channel: u32) -> f64 {
        let of = |f: &(u64, f64, Vec<FlowPart>)| {
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
