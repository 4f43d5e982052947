//! Flows that share channels: max-min fair rates, from one event to the next.
//!
//! A flow uses of each channel a share of its own rate, all of it where it has one route. Rates are
//! max-min fair: all rise together until a channel is full; its flows stay at that rate, the others
//! rise on.
//!
//! Source: Bertsekas, Gallager: Data Networks, 2nd edition, 1992, section 6.5.2 (max-min flow
//! control); with shares of channels as in Radunović, Le Boudec: A unified framework for max-min
//! and min-max fairness, IEEE/ACM Transactions on Networking 15(5), 2007.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Of a channel, the part of its own rate that a flow sends over it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    pub(super) channel: u32,
    pub(super) share: f64,
}

/// The end of a flow that has no rate yet.
const NEVER: u64 = u64::MAX;
/// Rates that differ by less than this part are the same.
const SAME: f64 = 1e-12;
/// Of its rate this part more or less is nothing for a channel.
const LITTLE: f64 = 1e-9;

/// One flow.
#[derive(Debug, Clone, Default)]
struct Flow {
    parts: Vec<Part>,
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
    /// The operation that it belongs to.
    op: u32,
    /// Its state while rates are sought.
    mark: Mark,
    /// The rate found for it.
    found: f64,
}

/// Where a flow or a channel stands while rates are sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mark {
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
struct Channel {
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

impl Channel {
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
struct Change {
    channels: Vec<(u32, f64)>,
    flows: Vec<u32>,
    least: f64,
    /// Whether a flow went.
    is_smaller: bool,
}

/// A rate at which a channel is full, or a flow can rise no more; the least is first.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Full {
    rate: f64,
    /// A channel, or a flow where `is_flow`.
    number: u32,
    is_flow: bool,
}

impl Eq for Full {}

impl PartialOrd for Full {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Full {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |f: &Self| (f.is_flow, f.number);
        self.rate.total_cmp(&other.rate).then(key(self).cmp(&key(other)))
    }
}

/// All flows, and the channels that they share.
///
/// Flows come and go; what they get follows with [`Flows::settle`]. A settlement looks only at
/// flows whose rate can change. Those are the flows that a full channel slows down of which a flow
/// comes, goes or changes; and those that are quicker than what such a channel has for each then.
#[derive(Debug)]
pub(super) struct Flows {
    channels: Vec<Channel>,
    all: Vec<Flow>,
    free: Vec<u32>,
    /// When flows end, with their number; what a flow's own end does not agree with is out of date.
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    change: Change,
    /// Kept between settlements: channels all of whose flows are sought, channels of any of these,
    /// and what fills first.
    seen: Vec<u32>,
    met: Vec<u32>,
    full: BinaryHeap<Reverse<Full>>,
    /// Width of the spans of time of [`Flows::used`], picoseconds; 0 where nobody asks.
    span: u64,
    used: Vec<Vec<f64>>,
}

impl Flows {
    /// No flows, on channels of these rates, bytes a picosecond. `span` picoseconds are the width
    /// of the spans that use over time is counted in, 0 where it is not.
    pub(super) fn new(rates: impl Iterator<Item = f64>, span: u64) -> Self {
        let one = Channel { floor: f64::INFINITY, ..Channel::default() };
        let channels = rates.map(|rate| Channel { rate, ..one.clone() });
        let change = Change { least: f64::INFINITY, ..Change::default() };
        Self {
            channels: channels.collect(),
            all: Vec::new(),
            free: Vec::new(),
            ends: BinaryHeap::new(),
            change,
            seen: Vec::new(),
            met: Vec::new(),
            full: BinaryHeap::new(),
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
    pub(super) fn alone(&self, parts: &[Part]) -> f64 {
        let rates = parts.iter().map(|p| self.channels[p.channel as usize].rate / p.share);
        rates.fold(f64::INFINITY, f64::min)
    }

    /// A flow of so many bytes, more than 0, begins at `now` for the operation `op`; its rate, no
    /// more than `most`, follows with the next settlement. O(channels of the flow).
    pub(super) fn begin(&mut self, now: u64, op: u32, bytes: f64, parts: &[Part], most: f64) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.all.push(Flow::default());
            self.all.len() as u32 - 1
        });
        let flow = &mut self.all[number as usize];
        flow.parts.clear();
        flow.parts.extend_from_slice(parts);
        flow.places.clear();
        (flow.rate, flow.left, flow.bytes) = (0.0, bytes, bytes);
        (flow.since, flow.ends, flow.op) = (now, NEVER, op);
        let alone = self.alone(parts);
        let flow = &mut self.all[number as usize];
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
    }

    /// Whether flows came or went since the last settlement.
    pub(super) fn is_changed(&self) -> bool {
        self.change.is_smaller || !self.change.flows.is_empty()
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
        flow.ends = NEVER;
        self.all[number as usize] = flow;
        self.free.push(number);
        Some(op)
    }

    /// Gives every flow its rate from `now` on. O(channels of the flows that are looked at, times
    /// the logarithm of how many channels these are).
    pub(super) fn settle(&mut self, now: u64) {
        let change = std::mem::take(&mut self.change);
        self.change.least = f64::INFINITY;
        let least = change.least * (1.0 - SAME);
        let (mut flows, mut channels) = (change.flows, change.channels);
        for &number in &flows {
            self.all[number as usize].mark = Mark::Sought;
        }
        let mut known = 0;
        loop {
            self.tie(least, &mut flows, &mut channels, &mut known);
            self.fill(&flows);
            // what is full may have flows that are too quick for it now
            self.crowded(&mut channels);
            if channels.is_empty() {
                break;
            }
        }
        for &number in &flows {
            self.give(number, now);
        }
        for &channel in self.seen.iter().chain(&self.met) {
            let c = &mut self.channels[channel as usize];
            (c.floor, c.is_met) = (f64::INFINITY, false);
        }
        self.seen.clear();
        self.met.clear();
        flows.clear();
        self.change.flows = flows;
        self.change.channels = channels;
    }

    /// Seeks the rates of the flows of `channels` from a least rate on; and of those that a full
    /// channel of such a flow slows down. `known` are the flows whose channels were looked at
    /// before.
    fn tie(
        &mut self,
        least: f64,
        flows: &mut Vec<u32>,
        channels: &mut Vec<(u32, f64)>,
        known: &mut usize,
    ) {
        loop {
            while let Some((channel, floor)) = channels.pop() {
                let c = &mut self.channels[channel as usize];
                if floor >= c.floor {
                    continue;
                }
                if c.floor.is_infinite() {
                    self.seen.push(channel);
                }
                c.floor = floor;
                let floor = floor.max(least);
                let mut taken = 0.0;
                for &(number, i) in &c.members {
                    let flow = &mut self.all[number as usize];
                    taken += flow.parts[i as usize].share * flow.rate;
                    if flow.mark == Mark::Still && flow.rate >= floor {
                        flow.mark = Mark::Sought;
                        flows.push(number);
                    }
                }
                c.taken = taken;
            }
            let Some(&number) = flows.get(*known) else { break };
            *known += 1;
            for part in &self.all[number as usize].parts {
                let c = &mut self.channels[part.channel as usize];
                if !std::mem::replace(&mut c.is_met, true) {
                    self.met.push(part.channel);
                    if c.floor.is_infinite() && c.is_full() {
                        channels.push((part.channel, c.level(&self.all)));
                    }
                }
            }
        }
    }

    /// Raises all rates that are sought together, until each is stopped by a channel that is full,
    /// or by the most that it may be.
    fn fill(&mut self, flows: &[u32]) {
        for &channel in &self.met {
            let c = &mut self.channels[channel as usize];
            (c.room, c.sought) = (c.rate - c.taken, 0.0);
        }
        let mut full = std::mem::take(&mut self.full).into_vec();
        full.clear();
        for &number in flows {
            let flow = &mut self.all[number as usize];
            flow.mark = Mark::Sought;
            for part in &flow.parts {
                let c = &mut self.channels[part.channel as usize];
                c.room += part.share * flow.rate;
                c.sought += part.share;
            }
            if flow.most < f64::INFINITY {
                full.push(Reverse(Full { rate: flow.most, number, is_flow: true }));
            }
        }
        for &number in &self.met {
            let c = &self.channels[number as usize];
            let rate = (c.room / c.sought).max(0.0);
            full.push(Reverse(Full { rate, number, is_flow: false }));
        }
        let mut full = BinaryHeap::from(full);
        let mut left = flows.len();
        while let (Some(Reverse(next)), 1..) = (full.pop(), left) {
            if next.is_flow {
                left -= usize::from(self.stop(next.number, next.rate));
                continue;
            }
            let c = &self.channels[next.number as usize];
            if c.sought <= SAME {
                continue;
            }
            let rate = (c.room / c.sought).max(0.0);
            if rate > next.rate * (1.0 + SAME) {
                full.push(Reverse(Full { rate, ..next }));
                continue;
            }
            let members = std::mem::take(&mut self.channels[next.number as usize].members);
            for &(number, _) in &members {
                left -= usize::from(self.stop(number, next.rate));
            }
            let c = &mut self.channels[next.number as usize];
            (c.members, c.sought, c.room) = (members, 0.0, 0.0);
        }
        self.full = full;
    }

    /// A flow that is sought rises no more: its channels have less for the others. Whether it was
    /// sought.
    fn stop(&mut self, number: u32, rate: f64) -> bool {
        let flow = &mut self.all[number as usize];
        if flow.mark != Mark::Sought {
            return false;
        }
        flow.mark = Mark::Found;
        flow.found = rate.min(flow.most);
        for part in &flow.parts {
            let c = &mut self.channels[part.channel as usize];
            c.room -= part.share * flow.found;
            c.sought -= part.share;
        }
        true
    }

    /// Finds the channels that are full now and have a flow whose rate was not sought, above all
    /// whose rate was.
    fn crowded(&self, channels: &mut Vec<(u32, f64)>) {
        for &channel in &self.met {
            let c = &self.channels[channel as usize];
            if c.room > LITTLE * c.rate {
                continue;
            }
            let (mut still, mut found) = (0.0_f64, 0.0_f64);
            for &(number, _) in &c.members {
                let flow = &self.all[number as usize];
                match flow.mark {
                    Mark::Still => still = still.max(flow.rate),
                    _ => found = found.max(flow.found),
                }
            }
            if still > found * (1.0 + SAME) {
                channels.push((channel, found * (1.0 + SAME)));
            }
        }
    }

    /// Gives a flow the rate that was found for it.
    fn give(&mut self, number: u32, now: u64) {
        let flow = &mut self.all[number as usize];
        flow.mark = Mark::Still;
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
        flow.ends = now + (flow.left / new).round().max(0.0) as u64;
        self.ends.push(Reverse((flow.ends, number)));
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
    use base::seed::Fast;
    use proptest::prelude::*;

    /// Flows with their parts and bytes, when they begin, and the rates of channels.
    struct Case {
        rates: Vec<f64>,
        flows: Vec<(u64, f64, Vec<Part>)>,
    }

    fn case(seed: u64) -> Case {
        let mut draw = Fast::new(seed, "test flows", 0);
        let channels = 2 + draw.below(6);
        let rates = (0..channels).map(|_| f64::from(1 + draw.below(4)) / 1000.0).collect();
        let some = |draw: &mut Fast| {
            let mut parts: Vec<Part> = Vec::new();
            for channel in 0..channels {
                if draw.below(3) == 0 {
                    let share = [1.0, 1.0, 0.5, 0.25][draw.below(4) as usize];
                    parts.push(Part { channel, share });
                }
            }
            if parts.is_empty() {
                parts.push(Part { channel: draw.below(channels), share: 1.0 });
            }
            parts
        };
        let mut time = 0;
        let flows = (0..=draw.below(12)).map(|_| {
            time += u64::from(draw.below(3)) * u64::from(draw.below(4_000_000));
            (time, f64::from(1 + draw.below(9000)), some(&mut draw))
        });
        Case { rates, flows: flows.collect() }
    }

    /// Max-min fair rates by raising all flows together, channel by channel, over all of them.
    fn fair(rates: &[f64], flows: &[&[Part]]) -> Vec<f64> {
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
    fn slow(case: &Case) -> Vec<f64> {
        let mut left: Vec<f64> = case.flows.iter().map(|f| f.1).collect();
        let mut ends = vec![f64::INFINITY; left.len()];
        let mut now = 0.0;
        loop {
            let going: Vec<usize> = (0..left.len())
                .filter(|&i| ends[i].is_infinite() && case.flows[i].0 as f64 <= now)
                .collect();
            let parts: Vec<&[Part]> = going.iter().map(|&i| &case.flows[i].2[..]).collect();
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

    fn quick(case: &Case) -> (Vec<f64>, Vec<f64>) {
        let mut flows = Flows::new(case.rates.iter().copied(), 1_000_000);
        let mut ends = vec![f64::INFINITY; case.flows.len()];
        let (mut next, mut now) = (0, 0);
        loop {
            while let Some((begin, bytes, parts)) = case.flows.get(next).filter(|f| f.0 == now) {
                let most = flows.alone(parts);
                flows.begin(*begin, next as u32, *bytes, parts, most);
                next += 1;
            }
            while let Some(op) = flows.end(now) {
                ends[op as usize] = now as f64;
            }
            flows.settle(now);
            assert!(!flows.is_changed());
            let begins = case.flows.get(next).map(|f| f.0);
            match flows.next_end().into_iter().chain(begins).min() {
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn flows_end_as_if_all_rates_were_sought_anew(seed in any::<u64>()) {
            let case = case(seed);
            let (found, bytes) = quick(&case);
            for (found, expected) in found.iter().zip(slow(&case)) {
                // times are rounded to a picosecond at every change of a rate
                prop_assert!((found - expected).abs() < 60.0, "{} for {}", found, expected);
            }
            for (channel, bytes) in (0..).zip(bytes) {
                let of = |f: &(u64, f64, Vec<Part>)| {
                    let parts = f.2.iter().filter(|p| p.channel == channel);
                    parts.map(|p| p.share * f.1).sum::<f64>()
                };
                let expected: f64 = case.flows.iter().map(of).sum();
                prop_assert!((bytes - expected).abs() < 1e-6, "{} for {}", bytes, expected);
            }
        }
    }
}
