//! BookSim's input-queued router, list by list: each stage has a list of its flits in the order in
//! which they came, and looks at no more of it than BookSim does.

use super::allocator::{Allocator, AllocatorRequest};
use super::{Flit, RouteRequest, RouterKeys};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The penalty in rank of requests that yield to all others.
const BELOW: i64 = i32::MIN as i64;

/// The state of the buffers behind an output, as a router or an endpoint knows it.
#[derive(Debug, Clone)]
pub(super) struct DownstreamBuffers {
    pub(super) used: Vec<bool>,
    flits: Vec<u32>,
    tail_sent: Vec<bool>,
}

impl DownstreamBuffers {
    pub(super) fn new(keys: &RouterKeys) -> Self {
        let vcs = keys.vcs;
        Self { used: vec![false; vcs], flits: vec![0; vcs], tail_sent: vec![false; vcs] }
    }

    pub(super) fn is_full(&self, vc: usize, keys: &RouterKeys) -> bool {
        self.flits[vc] >= keys.buffer
    }

    pub(super) fn take(&mut self, vc: usize) {
        (self.used[vc], self.tail_sent[vc]) = (true, false);
    }

    pub(super) fn send(&mut self, flit: &Flit, keys: &RouterKeys) {
        self.flits[flit.vc] += 1;
        if flit.tail {
            self.tail_sent[flit.vc] = true;
            self.used[flit.vc] &= keys.wait_for_tail_credit;
        }
    }

    pub(super) fn credit(&mut self, vcs: &BTreeSet<usize>, keys: &RouterKeys) {
        for &vc in vcs {
            self.flits[vc] -= 1;
            if keys.wait_for_tail_credit && self.flits[vc] == 0 && self.tail_sent[vc] {
                self.used[vc] = false;
            }
        }
    }
}

/// The state of a virtual channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VirtualChannelState {
    Idle,
    Routing,
    Asking,
    Active,
}

/// A virtual channel of an input.
#[derive(Debug, Clone)]
struct InputVirtualChannel {
    state: VirtualChannelState,
    flits: VecDeque<Flit>,
    /// The outputs that its packet asks for.
    wants: Vec<RouteRequest>,
    /// The output port and virtual channel that it has been granted.
    out: (usize, usize),
    rank: i64,
}

impl InputVirtualChannel {
    fn update(&mut self, keys: &RouterKeys) {
        if let Some(front) = self.flits.front().filter(|_| keys.has_priorities()) {
            self.rank = front.rank;
        }
    }
}

/// The routing function of a router: it gets the input port and the head flit.
type PortRouting<'a> = &'a dyn Fn(usize, &mut Flit, &[u32]) -> Vec<RouteRequest>;

/// An input and a virtual channel of it.
type Lane = (usize, usize);

/// An entry of a stage: the virtual channel, the end of its time once that has begun, and the
/// result.
#[derive(Debug, Clone, Copy)]
struct PipelineStageEntry {
    until: Option<u64>,
    lane: Lane,
    found: Option<usize>,
}

/// Inputs, with the virtual channels in which a buffer place became free.
type FreedPlaces = Vec<(usize, BTreeSet<usize>)>;

/// Takes the first entry of a list, if it fits.
fn pop_if<T>(list: &mut VecDeque<T>, takes: impl Fn(&T) -> bool) -> Option<T> {
    if list.front().is_some_and(takes) { list.pop_front() } else { None }
}

/// A stage of the router's pipeline: its entries in the order in which they came.
#[derive(Debug, Default)]
struct PipelineStage(VecDeque<PipelineStageEntry>);

impl PipelineStage {
    fn push(&mut self, lane: Lane) {
        self.0.push_back(PipelineStageEntry { until: None, lane, found: None });
    }

    /// The entries whose time has not begun, up to the first one whose time has.
    fn fresh(&mut self) -> impl Iterator<Item = &mut PipelineStageEntry> {
        self.0.iter_mut().take_while(|entry| entry.until.is_none())
    }

    /// Takes the first entry, if its time is over.
    fn done(&mut self, now: u64) -> Option<PipelineStageEntry> {
        pop_if(&mut self.0, |entry| entry.until.is_some_and(|until| until <= now))
    }
}

/// A flit in the crossbar: until when, from where, its output, and whether its packet held the
/// switch.
struct CrossbarTransfer {
    until: Option<u64>,
    lane: Lane,
    flit: Flit,
    output: usize,
    held: bool,
    /// The step in which the flit came.
    entered: u64,
}

/// An input-queued router.
pub(super) struct Router {
    channels: Vec<Vec<InputVirtualChannel>>,
    ahead: Vec<DownstreamBuffers>,
    routing: PipelineStage,
    asking: PipelineStage,
    moving: PipelineStage,
    held: PipelineStage,
    crossbar: VecDeque<CrossbarTransfer>,
    lanes: Allocator,
    switch: Allocator,
    /// For each crossbar input: the first virtual channel of the round-robin order.
    turn: Vec<usize>,
    /// For each crossbar input the output and virtual channel that hold it; for each output whether
    /// it is held.
    hold_in: Vec<Option<(usize, usize)>>,
    hold_out: Vec<bool>,
    /// Flits behind the crossbar, for each port.
    behind: Vec<VecDeque<Flit>>,
    /// Credits of this step, for each input, and credits that wait to be sent.
    freed: BTreeMap<usize, BTreeSet<usize>>,
    credits: Vec<VecDeque<BTreeSet<usize>>>,
    /// Flits that came in this cycle, for each input, and credits by the cycle in which they count.
    pub(super) comes: BTreeMap<usize, Flit>,
    pub(super) credited: VecDeque<(u64, usize, BTreeSet<usize>)>,
    steps: f64,
    /// The number of steps simulated so far.
    number: u64,
}

impl Router {
    pub(super) fn new(ports: usize, keys: &RouterKeys) -> Self {
        let idle = InputVirtualChannel {
            state: VirtualChannelState::Idle,
            flits: VecDeque::new(),
            wants: vec![],
            out: (0, 0),
            rank: 0,
        };
        let (all, ins, outs) =
            (ports * keys.vcs, ports * keys.input_speedup, ports * keys.output_speedup);
        Self {
            channels: vec![vec![idle; keys.vcs]; ports],
            ahead: vec![DownstreamBuffers::new(keys); ports],
            routing: PipelineStage::default(),
            asking: PipelineStage::default(),
            moving: PipelineStage::default(),
            held: PipelineStage::default(),
            crossbar: VecDeque::new(),
            lanes: Allocator::new(keys.vc_allocator, all, all),
            switch: Allocator::new(keys.sw_allocator, ins, outs),
            turn: (0..ins).map(|i| i % keys.input_speedup).collect(),
            hold_in: vec![None; ins],
            hold_out: vec![false; outs],
            behind: vec![VecDeque::new(); ports],
            freed: BTreeMap::new(),
            credits: vec![VecDeque::new(); ports],
            comes: BTreeMap::new(),
            credited: VecDeque::new(),
            steps: 0.0,
            number: 0,
        }
    }

    /// Simulates one cycle; `route` gives the port towards an endpoint.
    pub(super) fn cycle(&mut self, now: u64, keys: &RouterKeys, route: PortRouting<'_>) {
        self.steps += keys.internal_speedup;
        while self.steps >= 1.0 {
            self.step(now, keys, route);
            self.steps -= 1.0;
        }
    }

    /// What leaves at the end of a cycle: flits for each output, credits for each input.
    pub(super) fn leaves(&mut self) -> (Vec<(usize, Flit)>, FreedPlaces) {
        let flits = self.behind.iter_mut().enumerate();
        let flits = flits.filter_map(|(port, queue)| Some((port, queue.pop_front()?))).collect();
        let credits = self.credits.iter_mut().enumerate();
        (flits, credits.filter_map(|(port, queue)| Some((port, queue.pop_front()?))).collect())
    }

    fn step(&mut self, now: u64, keys: &RouterKeys, route: PortRouting<'_>) {
        self.take_in(now, keys, route);
        let until = (now + keys.routing_delay).saturating_sub(1);
        self.routing.fresh().for_each(|entry| entry.until = Some(until));
        self.ask_lanes(now, keys);
        self.ask_held(now, keys);
        self.ask_switch(now, keys);
        let until = now + keys.prepare_delay + keys.final_delay - 1;
        for one in self.crossbar.iter_mut().take_while(|one| one.until.is_none()) {
            one.until = Some(until);
        }

        while let Some(PipelineStageEntry { lane, .. }) = self.routing.done(now) {
            self.routed(lane, keys, route);
        }
        self.give_lanes(now, keys);
        self.give_held(now, keys, route);
        while let Some(PipelineStageEntry { lane, found, .. }) = self.moving.done(now) {
            match found {
                Some(output) => self.send(lane, output, false, keys, route),
                None => self.moving.push(lane),
            }
        }
        if keys.together_by_lane {
            let all = self.crossbar.make_contiguous();
            let first = all.iter().position(|one| one.until.is_none()).unwrap_or(all.len());
            all[first..].sort_by_key(|one| (one.entered, !one.held, one.lane));
        }
        let through = |one: &CrossbarTransfer| one.until.is_some_and(|until| until <= now);
        while let Some(CrossbarTransfer { flit, output, .. }) = pop_if(&mut self.crossbar, through)
        {
            self.behind[output / keys.output_speedup].push_back(flit);
        }
        self.number += 1;
        for (input, vcs) in std::mem::take(&mut self.freed) {
            self.credits[input].push_back(vcs);
        }
    }

    fn take_in(&mut self, now: u64, keys: &RouterKeys, route: PortRouting<'_>) {
        for (input, flit) in std::mem::take(&mut self.comes) {
            let lane = (input, flit.vc);
            let channel = &mut self.channels[input][flit.vc];
            channel.flits.push_back(flit);
            channel.update(keys);
            if channel.state == VirtualChannelState::Idle {
                self.begins(lane, keys, route);
            } else if channel.state == VirtualChannelState::Active && channel.flits.len() == 1 {
                let holds = self.hold_in[keys.crossbar_input(lane)].is_some_and(|h| h.1 == lane.1);
                if holds { &mut self.held } else { &mut self.moving }.push(lane);
            }
        }
        while let Some((_, output, vcs)) = pop_if(&mut self.credited, |credit| credit.0 <= now) {
            self.ahead[output].credit(&vcs, keys);
        }
    }

    /// Handles a head flit that has come to the front of a virtual channel.
    fn begins(&mut self, lane: Lane, keys: &RouterKeys, route: PortRouting<'_>) {
        if keys.routing_delay > 0 {
            self.channels[lane.0][lane.1].state = VirtualChannelState::Routing;
            self.routing.push(lane);
        } else {
            self.routed(lane, keys, route);
        }
    }

    fn routed(&mut self, lane: Lane, keys: &RouterKeys, route: PortRouting<'_>) {
        let used: Vec<u32> = self.ahead.iter().map(|ahead| ahead.flits.iter().sum()).collect();
        let channel = &mut self.channels[lane.0][lane.1];
        channel.wants = route(lane.0, &mut channel.flits[0], &used);
        channel.state = VirtualChannelState::Asking;
        if keys.speculative {
            self.moving.push(lane);
        }
        self.asking.push(lane);
    }

    fn ask_lanes(&mut self, now: u64, keys: &RouterKeys) {
        self.lanes.clear();
        let (ports, vcs) = (self.ahead.len(), keys.vcs);
        let row = |lane: Lane| {
            if keys.vc_shuffle_requests { lane.1 * ports + lane.0 } else { lane.0 * vcs + lane.1 }
        };
        for PipelineStageEntry { lane, .. } in self.asking.fresh() {
            let channel = &self.channels[lane.0][lane.1];
            for (port, range, rank) in &channel.wants {
                let ahead = &self.ahead[*port];
                for vc in range.clone().filter(|&vc| !ahead.used[vc]) {
                    if keys.vc_busy_when_full && ahead.is_full(vc, keys) {
                        continue;
                    }
                    let later = keys.vc_prioritize_empty && ahead.flits[vc] > 0;
                    let at_input = rank + if later { BELOW } else { 0 };
                    let request = AllocatorRequest { label: 0, at_input, at_output: channel.rank };
                    self.lanes.set(row(*lane), port * vcs + vc, request);
                }
            }
        }
        self.lanes.allocate();
        for entry in self.asking.fresh() {
            (entry.until, entry.found) = (Some(now), self.lanes.output_of(row(entry.lane)));
        }
    }

    fn give_lanes(&mut self, now: u64, keys: &RouterKeys) {
        while let Some(PipelineStageEntry { lane, found, .. }) = self.asking.done(now) {
            let Some(found) = found else {
                self.asking.push(lane);
                continue;
            };
            let out = (found / keys.vcs, found % keys.vcs);
            self.ahead[out.0].take(out.1);
            let channel = &mut self.channels[lane.0][lane.1];
            (channel.out, channel.state) = (out, VirtualChannelState::Active);
            if !keys.speculative {
                self.moving.push(lane);
            }
        }
    }

    fn ask_held(&mut self, now: u64, keys: &RouterKeys) {
        for entry in self.held.fresh() {
            let (input, vc) = entry.lane;
            let (port, out) = self.channels[input][vc].out;
            let output = keys.crossbar_output(input, port);
            let goes = !self.ahead[port].is_full(out, keys);
            (entry.until, entry.found) = (Some(now), goes.then_some(output));
        }
    }

    fn give_held(&mut self, now: u64, keys: &RouterKeys, route: PortRouting<'_>) {
        while let Some(PipelineStageEntry { lane, found, .. }) = self.held.done(now) {
            let input = keys.crossbar_input(lane);
            let (output, _) = self.hold_in[input].take().unwrap();
            self.hold_out[output] = false;
            match found {
                // the output is held again, or not, as after any other flit
                Some(output) if self.has_room(output / keys.output_speedup, keys) => {
                    self.send(lane, output, true, keys, route);
                }
                _ => self.moving.push(lane),
            }
        }
    }

    fn has_room(&self, port: usize, keys: &RouterKeys) -> bool {
        keys.output_buffer.is_none_or(|most| self.behind[port].len() < most)
    }

    fn ask_switch(&mut self, now: u64, keys: &RouterKeys) {
        self.switch.clear();
        let asks: Vec<Lane> = self.moving.fresh().map(|entry| entry.lane).collect();
        for lane in asks {
            let channel = &self.channels[lane.0][lane.1];
            if channel.state == VirtualChannelState::Active {
                let (port, vc) = channel.out;
                if !self.ahead[port].is_full(vc, keys) && self.has_room(port, keys) {
                    self.request(lane, port, keys);
                }
                continue;
            }
            for (port, range, _) in channel.wants.clone() {
                let (mut free, mut credit) = (false, false);
                if keys.spec_check_elig && self.has_room(port, keys) {
                    for vc in range.filter(|&vc| !self.ahead[port].used[vc]) {
                        free = true;
                        credit |= !keys.spec_check_cred || !self.ahead[port].is_full(vc, keys);
                    }
                }
                let hopeless = keys.spec_check_elig && !free || keys.spec_check_cred && !credit;
                if !hopeless {
                    self.request(lane, port, keys);
                }
            }
        }
        self.switch.allocate();
        let mut stage = std::mem::take(&mut self.moving);
        for entry in stage.fresh() {
            (entry.until, entry.found) = (Some(now), self.given(entry.lane, keys));
        }
        self.moving = stage;
    }

    fn request(&mut self, lane: Lane, port: usize, keys: &RouterKeys) {
        let (input, output) = (keys.crossbar_input(lane), keys.crossbar_output(lane.0, port));
        if self.hold_in[input].is_some() || self.hold_out[output] {
            return;
        }
        let channel = &self.channels[lane.0][lane.1];
        let yields = if channel.state == VirtualChannelState::Asking { BELOW } else { 0 };
        let rank = channel.rank + yields;
        let far = |vc: usize| (vc + keys.vcs - self.turn[input]) % keys.vcs;
        let before = self.switch.read(input, output);
        let wins = before.is_none_or(|old| {
            rank > old.at_input || rank == old.at_input && far(lane.1) < far(old.label)
        });
        if wins {
            let request = AllocatorRequest { label: lane.1, at_input: rank, at_output: rank };
            self.switch.set(input, output, request);
        }
    }

    /// The crossbar output that a virtual channel is granted and may use.
    fn given(&mut self, lane: Lane, keys: &RouterKeys) -> Option<usize> {
        let input = keys.crossbar_input(lane);
        let output = self.switch.output_of(input)?;
        if self.switch.read(input, output)?.label != lane.1 {
            return None;
        }
        self.turn[input] = (lane.1 + keys.input_speedup) % keys.vcs;
        let channel = &self.channels[lane.0][lane.1];
        if channel.state == VirtualChannelState::Asking {
            let asked = self.asking.0.iter().find(|entry| entry.lane == lane)?;
            let found = asked.found?;
            let (port, vc) = (found / keys.vcs, found % keys.vcs);
            let fits = port == output / keys.output_speedup && !self.ahead[port].is_full(vc, keys);
            return fits.then_some(output);
        }
        Some(output)
    }

    /// Sends the front flit of a virtual channel into the crossbar.
    fn send(
        &mut self,
        lane: Lane,
        output: usize,
        held: bool,
        keys: &RouterKeys,
        route: PortRouting<'_>,
    ) {
        let channel = &mut self.channels[lane.0][lane.1];
        let mut flit = channel.flits.pop_front().unwrap();
        channel.update(keys);
        let (port, vc) = channel.out;
        (flit.hops, flit.vc) = (flit.hops + 1, vc);
        self.ahead[port].send(&flit, keys);
        let (tail, left) = (flit.tail, channel.flits.len());
        let entered = self.number;
        self.crossbar.push_back(CrossbarTransfer {
            until: None,
            lane,
            flit,
            output,
            held,
            entered,
        });
        self.freed.entry(lane.0).or_default().insert(lane.1);
        if tail && left == 0 {
            channel.state = VirtualChannelState::Idle;
        } else if tail {
            self.begins(lane, keys, route);
        } else if left > 0 && keys.hold_switch_for_packet {
            self.hold_in[keys.crossbar_input(lane)] = Some((output, lane.1));
            self.hold_out[output] = true;
            self.held.push(lane);
        } else if left > 0 {
            self.moving.push(lane);
        }
    }
}
