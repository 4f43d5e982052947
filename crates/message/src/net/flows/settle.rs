//! Settlement: the rates of flows are recomputed after flows began or ended.

use super::full::SaturationRate;
use super::{FlowRateState, FlowSet, LITTLE, NEVER, PendingFlowChanges, SAME};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of settlements that examine all flows at once, after a settlement that changed more than
/// half of them.
const WIDE: u32 = 8;

impl FlowSet {
    /// Sets the max-min fair rate of every flow from `now` on. O(c log c), with c the channels of
    /// the flows that are examined.
    pub(crate) fn settle(&mut self, now: u64) {
        self.next = now + self.pause;
        let mut change = std::mem::take(&mut self.change);
        // a flow that began and has ended again is left out, also if its entry is in use by another
        change.flows.retain(|&number| self.all[number as usize].is_to_be_sought());
        let going = self.all.len() - self.free.len();
        if self.wide > 0 && going > self.channels.len() / 4 {
            self.wide -= 1;
            self.settle_all(&mut change.flows, now);
        } else {
            self.settle_tied(&mut change, now);
            if change.flows.len() > going / 2 {
                self.wide = WIDE;
            }
        }
        if self.ends.len() > 64 + 3 * going {
            self.order_ends();
        }
        for &channel in self.seen.iter().chain(&self.met) {
            let c = &mut self.channels[channel as usize];
            (c.floor, c.is_met) = (f64::INFINITY, false);
        }
        self.seen.clear();
        self.met.clear();
        change.flows.clear();
        change.channels.clear();
        self.change = PendingFlowChanges { least: f64::INFINITY, is_smaller: false, ..change };
    }

    /// Settles the flows whose rate can change; these are added to `change.flows`.
    fn settle_tied(&mut self, change: &mut PendingFlowChanges, now: u64) {
        let least = change.least * (1.0 - SAME);
        let (mut known, mut filled) = (0, usize::MAX);
        loop {
            self.tie(least, change, &mut known);
            if change.flows.len() == filled {
                break;
            }
            filled = change.flows.len();
            self.weigh(&change.flows);
            self.fill(filled);
            // channels that are now full may have other flows that are above the fair rate
            self.crowded(&mut change.channels);
        }
        for &number in &change.flows {
            self.give(number, now);
        }
    }

    /// Settles all flows at once, which is faster if most of them change.
    fn settle_all(&mut self, flows: &mut Vec<u32>, now: u64) {
        flows.clear();
        self.full.clear();
        for (number, flow) in (0..).zip(&mut self.all) {
            if flow.is_going {
                flow.mark = FlowRateState::Sought;
                flows.push(number);
                if flow.most < f64::INFINITY {
                    self.full.push(Reverse(SaturationRate {
                        rate: flow.most,
                        number,
                        is_flow: true,
                    }));
                }
            }
        }
        for (number, c) in (0..).zip(&mut self.channels) {
            if !c.members.is_empty() {
                (c.room, c.sought) = (c.rate, c.shares);
                let rate = c.room / c.sought;
                self.full.push(Reverse(SaturationRate { rate, number, is_flow: false }));
            }
        }
        self.fill(flows.len());
        for &number in &*flows {
            self.give(number, now);
        }
        for c in self.channels.iter_mut().filter(|c| !c.members.is_empty()) {
            c.taken = c.rate - c.room;
        }
    }

    /// Marks the flows of `change.channels` for a new rate, unless their rate is below the given
    /// least one; then also the flows that are limited by full channels of marked flows, and so on.
    /// `known` is the number of flows whose channels have been examined.
    fn tie(&mut self, least: f64, change: &mut PendingFlowChanges, known: &mut usize) {
        let PendingFlowChanges { flows, channels, .. } = change;
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
                    if flow.mark == FlowRateState::Still && flow.rate >= floor {
                        flow.mark = FlowRateState::Sought;
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

    /// Computes, for every channel of these flows, the capacity left for them and the rate at which
    /// they fill it.
    fn weigh(&mut self, flows: &[u32]) {
        for &channel in &self.met {
            let c = &mut self.channels[channel as usize];
            (c.room, c.sought) = (c.rate - c.taken, 0.0);
        }
        let mut full = std::mem::take(&mut self.full).into_vec();
        full.clear();
        for &number in flows {
            let flow = &mut self.all[number as usize];
            flow.mark = FlowRateState::Sought;
            for part in &flow.parts {
                let c = &mut self.channels[part.channel as usize];
                c.room += part.share * flow.rate;
                c.sought += part.share;
            }
            if flow.most < f64::INFINITY {
                full.push(Reverse(SaturationRate { rate: flow.most, number, is_flow: true }));
            }
        }
        for &number in &self.met {
            let c = &self.channels[number as usize];
            let rate = (c.room / c.sought).max(0.0);
            full.push(Reverse(SaturationRate { rate, number, is_flow: false }));
        }
        self.full = BinaryHeap::from(full);
    }

    /// Raises the rates of all marked flows together until each is stopped by a full channel or by
    /// its own limit; `left` is the number of these flows.
    fn fill(&mut self, mut left: usize) {
        let mut full = std::mem::take(&mut self.full);
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
                full.push(Reverse(SaturationRate { rate, ..next }));
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

    /// Fixes the rate of a marked flow, which reduces the capacity that its channels have left.
    /// Returns whether the flow was marked.
    fn stop(&mut self, number: u32, rate: f64) -> bool {
        let flow = &mut self.all[number as usize];
        if flow.mark != FlowRateState::Sought {
            return false;
        }
        flow.mark = FlowRateState::Found;
        flow.found = rate.min(flow.most);
        for part in &flow.parts {
            let c = &mut self.channels[part.channel as usize];
            c.room -= part.share * flow.found;
            c.sought -= part.share;
        }
        true
    }

    /// Finds the channels that are full now and carry a flow without a new rate that is faster than
    /// all flows with a new rate.
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
                    FlowRateState::Still => still = still.max(flow.rate),
                    _ => found = found.max(flow.found),
                }
            }
            if still > found * (1.0 + SAME) {
                channels.push((channel, found * (1.0 + SAME)));
            }
        }
    }

    /// Removes outdated entries from the end times of flows. O(all flows).
    fn order_ends(&mut self) {
        let mut ends = std::mem::take(&mut self.ends).into_vec();
        ends.clear();
        let all = (0..).zip(&self.all).filter(|(_, flow)| flow.ends != NEVER);
        ends.extend(all.map(|(number, flow)| Reverse((flow.ends, number))));
        self.ends = BinaryHeap::from(ends);
    }
}
