//! Finds an order of channels in which as much traffic as possible turns forward.
//!
//! Source: the turns that go backward are a feedback arc set of the dependency graph. Channels are
//! moved one by one to their best place ("sifting": Rudell, "Dynamic variable ordering for ordered
//! binary decision diagrams", ICCAD 1993). The best place of a channel is where the most traffic to
//! and from it turns forward.

use super::turns::TurnTraffic;
use base::ChannelId;
use base::seed::RandomStream;
use fabric::network::Topology;

/// The initial distance between the places of neighbours in the order. It leaves room to insert
/// channels between them, and is small enough that a place and the number of a turn fit into one
/// word.
const SPACING: u64 = 1 << 30;

/// The places of all channels in an order. A turn goes forward when it leads to a later place; a
/// turn between equal places does not.
pub(super) struct ChannelOrder<'a> {
    on: &'a Topology,
    places: Vec<u64>,
    turns: TurnTraffic,
    /// Whether the turns from and into each channel must stay forward where the other channel is
    /// marked, too.
    kept: Vec<bool>,
    /// Channels with turns, in the order in which they are moved.
    moving: Vec<u32>,
    /// The switch that each channel leads to.
    head: Vec<u32>,
    /// The traffic that turns backward, by the switch at the end of the channel that it turns into.
    /// `lost * scale` is that traffic as a multiple of the mean over all switches.
    lost: Vec<f64>,
    scale: f64,
    /// Scratch for the channel that is moved: the places of the channels that it turns into or
    /// from, each with the number of the turn in the last `bits` bits; and how much more traffic
    /// turns forward when the channel moves past each of them.
    around: Vec<u64>,
    gains: Vec<f64>,
    bits: u32,
}

/// Places by the ranks of switches: first the channels that go up, those from the lowest switch
/// first, then those that go down, those from the uppermost switch first.
pub(super) fn up_then_down(on: &Topology, rank: &[u32]) -> Vec<u64> {
    let n = rank.len() as u64;
    let place = |c: usize| {
        let channel = ChannelId::from(c);
        let (from, to) = (on.tail(channel).switch.ix(), on.head(channel).switch.ix());
        let up = rank[to] < rank[from];
        let step = if up { n - u64::from(rank[from]) } else { n + 1 + u64::from(rank[to]) };
        (step + 1) * SPACING
    };
    (0..on.graph().links() * 2).map(place).collect()
}

impl<'a> ChannelOrder<'a> {
    /// Starts from these places. In them, all turns from one `kept` channel into another go
    /// forward, and they will stay forward.
    pub(super) fn new(
        on: &'a Topology,
        places: Vec<u64>,
        kept: &[ChannelId],
        turns: TurnTraffic,
        random: &mut RandomStream,
    ) -> Self {
        let channels = 0..places.len();
        let around = |c: usize| turns.into.of(c).len() + turns.out_of.of(c).len();
        let mut moving: Vec<u32> =
            (0..channels.end as u32).filter(|c| around(*c as usize) > 0).collect();
        random.shuffle(&mut moving);
        let most = channels.clone().map(around).max().unwrap_or(0) as u64;
        let head = channels.map(|c| on.head(ChannelId::from(c)).switch.0).collect();
        let mut own = Self {
            on,
            kept: vec![false; places.len()],
            places,
            turns,
            moving,
            head,
            lost: Vec::new(),
            scale: 0.0,
            around: Vec::new(),
            gains: Vec::new(),
            bits: u64::BITS - most.leading_zeros(),
        };
        for c in kept {
            own.kept[c.0 as usize] = true;
        }
        own.count();
        own
    }

    /// Sums the traffic that turns backward, by switch.
    fn count(&mut self) {
        self.lost.clear();
        self.lost.resize(self.on.switches().len(), 0.0);
        let mut total = 0.0;
        for c in 0..self.places.len() {
            for &(to, traffic) in self.turns.out_of.of(c) {
                total += traffic;
                if self.places[c] >= self.places[to as usize] {
                    self.lost[self.head[to as usize] as usize] += traffic;
                }
            }
        }
        self.scale = self.lost.len() as f64 / total;
    }

    /// Moves every channel to its best place, one after the other. O(turns * log(network radix)).
    pub(super) fn improve(&mut self) {
        for i in 0..self.moving.len() {
            self.sift(self.moving[i] as usize);
        }
    }

    /// The rank of every channel's place, from 0; channels with equal places have equal ranks.
    pub(super) fn places(&self) -> Vec<u32> {
        let mut order: Vec<(u64, u32)> = self.places.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let mut places = vec![0; order.len()];
        let (mut last, mut count) = (None, 0);
        for (place, c) in order {
            count += u32::from(last.replace(place).is_some_and(|last| last != place));
            places[c as usize] = count;
        }
        places
    }

    /// Moves a channel to its best place. O(d log d), d turns.
    fn sift(&mut self, c: usize) {
        let own = self.places[c];
        let here = self.head[c] as usize;
        self.around.clear();
        self.gains.clear();
        let (mut into, mut backward) = (0.0, 0.0);
        for &(from, traffic) in self.turns.into.of(c) {
            let place = self.places[from as usize];
            self.around.push(place << self.bits | self.gains.len() as u64);
            self.gains.push(traffic);
            if place < own { into += traffic } else { backward += traffic }
        }
        let factor = 1.0 + self.scale * (self.lost[here] - backward);
        self.gains.iter_mut().for_each(|gain| *gain *= factor);
        let (mut now, mut value) = (into * factor, 0.0);
        for &(to, traffic) in self.turns.out_of.of(c) {
            let (place, there) = (self.places[to as usize], self.head[to as usize] as usize);
            let lost = self.lost[there] - if own < place { 0.0 } else { traffic };
            let worth = traffic * (1.0 + self.scale * lost);
            self.around.push(place << self.bits | self.gains.len() as u64);
            self.gains.push(-worth);
            value += worth;
            if own < place {
                now += worth;
            }
        }
        self.around.sort_unstable();
        let (above, below) = if self.kept[c] { self.bounds(c) } else { (0, u64::MAX) };
        let mask = (1 << self.bits) - 1;
        let mut best: Option<(f64, u64, u64)> = None;
        let (mut before, mut i) = (0, 0);
        loop {
            let next = self.around.get(i).map_or(u64::MAX, |a| a >> self.bits);
            let (from, to) = (before.max(above), next.min(below));
            if value > best.map_or(now * (1.0 + 1e-9), |b| b.0) && to.saturating_sub(from) > 1 {
                best = Some((value, from, to));
            }
            if i == self.around.len() {
                break;
            }
            while let Some(turn) = self.around.get(i).filter(|a| *a >> self.bits == next) {
                value += self.gains[(turn & mask) as usize];
                i += 1;
            }
            before = next;
        }
        let Some((_, from, to)) = best else { return };
        let new = match (from, to) {
            (0, to) => to.saturating_sub(SPACING).max(to / 2),
            (from, u64::MAX) => from + SPACING,
            (from, to) => from + (to - from) / 2,
        };
        self.change(c, new);
    }

    fn change(&mut self, c: usize, new: u64) {
        let own = std::mem::replace(&mut self.places[c], new);
        let backward = |back: bool, traffic: f64| if back { traffic } else { 0.0 };
        for &(from, traffic) in self.turns.into.of(c) {
            let place = self.places[from as usize];
            self.lost[self.head[c] as usize] +=
                backward(place >= new, traffic) - backward(place >= own, traffic);
        }
        for &(to, traffic) in self.turns.out_of.of(c) {
            let place = self.places[to as usize];
            self.lost[self.head[to as usize] as usize] +=
                backward(new >= place, traffic) - backward(own >= place, traffic);
        }
    }

    /// The places between which a kept channel must stay.
    fn bounds(&self, c: usize) -> (u64, u64) {
        let channel = ChannelId::from(c);
        let graph = self.on.graph();
        let (mut above, mut below) = (0, u64::MAX);
        for &out in graph.channels(self.on.tail(channel).switch.ix()) {
            let from = out.reverse();
            if out != channel && self.kept[from.0 as usize] {
                above = above.max(self.places[from.0 as usize]);
            }
        }
        for &to in graph.channels(self.on.head(channel).switch.ix()) {
            if to != channel.reverse() && self.kept[to.0 as usize] {
                below = below.min(self.places[to.0 as usize]);
            }
        }
        (above, below)
    }
}

#[cfg(test)]
mod tests {
    use super::super::turns::TurnTrafficCounter;
    use super::*;
    use crate::sssp::endpoints_per_switch;
    use base::SwitchId;
    use fabric::network::parse_inline;
    use fabric::turns::ChannelDependencyNumbering;
    use families::family;

    /// The traffic of all turns that go forward.
    fn forward(order: &ChannelOrder<'_>) -> f64 {
        let all = (0..order.places.len())
            .flat_map(|c| order.turns.out_of.of(c).iter().map(move |t| (c, t.0 as usize, t.1)));
        all.filter(|(a, b, _)| order.places[*a] < order.places[*b]).map(|t| t.2).sum()
    }

    #[test]
    fn sifting_keeps_its_count_and_turns_more_forward_than_up_and_down() {
        for inline in ["slim_fly:q=5,p=1", "slim_fly:q=7,p=1", "dragonfly:h=2"] {
            let recipe = parse_inline(inline).unwrap();
            let on = family(&recipe.family).unwrap().build(&recipe.params).unwrap();
            let (dependencies, endpoints) =
                (ChannelDependencyNumbering::new(&on), endpoints_per_switch(&on));
            let mut counter = TurnTrafficCounter::new(&on, &dependencies, &endpoints);
            (0..on.switches().len()).for_each(|d| counter.add(SwitchId::from(d)));
            let rank: Vec<u32> = (0..on.switches().len() as u32).collect();
            let start = up_then_down(&on, &rank);
            let mut random = RandomStream::new(1, "test", 0);
            let mut order = ChannelOrder::new(&on, start, &[], counter.take(), &mut random);
            let before = forward(&order);
            order.improve();
            let after = forward(&order);
            assert!(after > before, "{inline}: {before} {after}");
            let lost = order.lost.clone();
            order.count();
            for (kept, counted) in lost.iter().zip(&order.lost) {
                assert!((kept - counted).abs() < 1e-6, "{inline}");
            }
        }
    }

    #[test]
    fn up_then_down_is_the_order_of_legal_turns() {
        let recipe = parse_inline("hyperx:shape=3x3,p=1").unwrap();
        let on = family(&recipe.family).unwrap().build(&recipe.params).unwrap();
        let rank: Vec<u32> = vec![4, 1, 7, 0, 8, 2, 3, 6, 5];
        let places = up_then_down(&on, &rank);
        for a in (0..on.links().len() * 2).map(ChannelId::from) {
            let at = on.head(a).switch;
            for &b in on.graph().channels(at.ix()).iter().filter(|b| **b != a.reverse()) {
                let up = |c: ChannelId| rank[on.head(c).switch.ix()] < rank[on.tail(c).switch.ix()];
                let legal = up(a) || !up(b);
                assert_eq!(places[a.0 as usize] < places[b.0 as usize], legal);
            }
        }
    }
}
