//! The best routing of given traffic that may be split over any paths: an approximation, with a
//! lower bound.
//!
//! Source: Frank & Wolfe, "An algorithm for quadratic programming", Naval Research Logistics 1956,
//! as used for flows by Fratta, Gerla, Kleinrock, "The flow deviation method", Networks 1973: it
//! minimises the sum over channels of (load / capacity)^k, with k rising. Paths are at most `slack`
//! hops longer than the shortest; so the search runs over states of a switch and the number of hops
//! left.

use crate::capacity::capacities;
use crate::slots::unreachable;
use base::{ChannelId, ComputationError, ProgressWatch, Refusal};
use fabric::Topology;
use std::collections::VecDeque;

/// Traffic between switches: for each destination switch, the source switches and their bytes.
pub type SwitchDemand = Vec<Vec<(u32, f64)>>;

/// The largest number of entries of all path tables that are kept; traffic is split over these
/// tables.
const MOST_ENTRIES: usize = 1 << 27;

/// The exponents of the potential in the first and the last step.
const POWERS: (f64, f64) = (8.0, 60.0);

/// The entry of a state that leaves a hop unused: its path is that of the same switch with one hop
/// less left.
const SAME: u16 = u16::MAX;

/// A routing that splits traffic over several paths from every switch to every other, each with its
/// share.
pub struct FractionalRouting<'a> {
    on: &'a Topology,
    capacity: Vec<f64>,
    slack: u32,
    /// The destination switches; `number` holds the index of each switch among them.
    homes: Vec<u32>,
    number: Vec<u32>,
    /// Hops from every switch to each destination.
    far: Vec<Vec<u32>>,
    /// The most hops of any path.
    hops: usize,
    kept: VecDeque<WeightedPaths>,
    /// The load of each channel, in bytes.
    loads: Vec<f64>,
    /// Lower bound of the maximum congestion of any routing of this traffic.
    bound: f64,
}

/// One path from every state, and the share of traffic that takes these paths.
struct WeightedPaths {
    share: f64,
    /// The index of the next channel among those of the switch, for each destination, hops left
    /// less one, and switch.
    choice: Vec<u16>,
}

impl<'a> FractionalRouting<'a> {
    /// Routes the traffic in `steps` steps over paths of at most `slack` hops more than the
    /// shortest. O(steps * destinations * hops * channels).
    ///
    /// # Errors
    /// When the network is too large, some traffic has no path, or `watch` says stop.
    pub fn new(
        on: &'a Topology,
        demand: &SwitchDemand,
        slack: u32,
        steps: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let mut routing = Self::empty(on, slack)?;
        routing.check(demand)?;
        for step in 0..steps.max(1) {
            watch.tick("fractional routing", step.into(), steps.into())?;
            let part = f64::from(step) / f64::from(steps.max(2) - 1);
            routing.step(demand, POWERS.0 * (POWERS.1 / POWERS.0).powf(part));
        }
        Ok(routing)
    }

    fn empty(on: &'a Topology, slack: u32) -> Result<Self, Refusal> {
        let homes = on.edge_switches();
        let mut number = vec![u32::MAX; on.switches().len()];
        (0..).zip(&homes).for_each(|(i, &home)| number[home as usize] = i);
        let far: Vec<Vec<u32>> =
            homes.iter().map(|&home| on.graph().distances_from(home as usize)).collect();
        let reached = |own: &Vec<u32>| own.iter().copied().filter(|&d| d < u32::MAX).max();
        let hops = (far.iter().filter_map(reached).max().unwrap_or(0) + slack) as usize;
        let entries = homes.len() * hops * on.switches().len();
        if entries > MOST_ENTRIES {
            let why = format!("{entries} states of switches with hops left to each destination");
            let help = format!("at most {MOST_ENTRIES}: a smaller network, or less slack");
            return Err(Refusal::new("network", why, help));
        }
        let loads = vec![0.0; 2 * on.links().len()];
        let (capacity, kept) = (capacities(on), VecDeque::new());
        Ok(Self { on, capacity, slack, homes, number, far, hops, kept, loads, bound: 0.0 })
    }

    fn check(&self, demand: &SwitchDemand) -> Result<(), Refusal> {
        for (home, sources) in (0..).zip(demand) {
            for &(source, _) in sources {
                let known = self.number[home as usize];
                let far = self.far.get(known as usize).map_or(u32::MAX, |far| far[source as usize]);
                if far == u32::MAX {
                    return Err(unreachable(self.on, source, home));
                }
            }
        }
        Ok(())
    }

    /// One step: finds the cheapest paths by the prices of the loads, and moves the best part of
    /// the traffic to them.
    fn step(&mut self, demand: &SwitchDemand, power: f64) {
        let (most, prices) = self.prices(power);
        let (choice, loads, cost) = self.cheapest(demand, &prices);
        let paid: f64 = prices.iter().zip(&self.capacity).map(|(y, c)| y * c).sum();
        if paid > 0.0 {
            self.bound = self.bound.max(cost / paid);
        }
        let part = if most == 0.0 { 1.0 } else { self.part(&loads, power) };
        for (load, new) in self.loads.iter_mut().zip(&loads) {
            *load += part * (new - *load);
        }
        for paths in &mut self.kept {
            paths.share *= 1.0 - part;
        }
        self.kept.push_back(WeightedPaths { share: part, choice });
        let room = (MOST_ENTRIES / self.kept[0].choice.len().max(1)).max(1);
        if self.kept.len() > room {
            self.kept.pop_front();
        }
    }

    /// The largest load over capacity, and the price of every channel: the derivative of the
    /// potential by its load, in units of the busiest channel's price.
    fn prices(&self, power: f64) -> (f64, Vec<f64>) {
        let over = |(load, capacity): (&f64, &f64)| load / capacity.max(f64::MIN_POSITIVE);
        let most = self.loads.iter().zip(&self.capacity).map(over).fold(0.0, f64::max);
        let price = |(load, capacity): (&f64, &f64)| {
            if *capacity == 0.0 {
                return 0.0;
            }
            // while nothing is carried, all channels count as equally full
            let filled = if most > 0.0 { load / capacity / most } else { 1.0 };
            filled.powf(power - 1.0).max(1e-9) / capacity
        };
        (most, self.loads.iter().zip(&self.capacity).map(price).collect())
    }

    /// The cheapest paths, the loads when all traffic takes them, and the price that it pays.
    fn cheapest(&self, demand: &SwitchDemand, prices: &[f64]) -> (Vec<u16>, Vec<f64>, f64) {
        let switches = self.on.switches().len();
        let one = self.hops * switches;
        let mut choice = vec![SAME; self.homes.len() * one];
        let mut loads = vec![0.0; prices.len()];
        let mut paid = 0.0;
        let mut cost = vec![f64::INFINITY; (self.hops + 1) * switches];
        let mut amount = vec![0.0; (self.hops + 1) * switches];
        for (i, &home) in self.homes.iter().enumerate() {
            let own = &mut choice[i * one..(i + 1) * one];
            self.search(home, prices, &mut cost, own);
            let Some(sources) = demand.get(home as usize).filter(|s| !s.is_empty()) else {
                continue;
            };
            for &(source, bytes) in sources {
                let left = (self.far[i][source as usize] + self.slack) as usize;
                amount[left * switches + source as usize] += bytes;
                paid += bytes * cost[left * switches + source as usize];
            }
            self.send(home, own, &mut amount, &mut loads);
        }
        (choice, loads, paid)
    }

    /// Finds the costs and first channels of the cheapest paths to a destination, for each number
    /// of hops left.
    fn search(&self, home: u32, prices: &[f64], cost: &mut [f64], choice: &mut [u16]) {
        let (graph, switches) = (self.on.graph(), self.on.switches().len());
        cost[..switches].fill(f64::INFINITY);
        cost[home as usize] = 0.0;
        for left in 1..=self.hops {
            let (before, now) = cost.split_at_mut(left * switches);
            let before = &before[(left - 1) * switches..];
            let chosen = &mut choice[(left - 1) * switches..left * switches];
            for v in 0..switches {
                let (mut least, mut arc) = (before[v], SAME);
                for (i, (&w, c)) in (0..).zip(graph.neighbours(v).iter().zip(graph.channels(v))) {
                    let through = before[w as usize] + prices[c.ix()];
                    if through < least {
                        (least, arc) = (through, i);
                    }
                }
                (now[v], chosen[v]) = (least, arc);
            }
        }
    }

    /// Carries all amounts to a destination along the chosen paths.
    fn send(&self, home: u32, choice: &[u16], amount: &mut [f64], loads: &mut [f64]) {
        let (graph, switches) = (self.on.graph(), self.on.switches().len());
        for left in (1..=self.hops).rev() {
            for v in 0..switches {
                let bytes = std::mem::take(&mut amount[left * switches + v]);
                if bytes == 0.0 || v == home as usize {
                    continue;
                }
                let to = match choice[(left - 1) * switches + v] {
                    SAME => v,
                    arc => {
                        loads[graph.channels(v)[arc as usize].ix()] += bytes;
                        graph.neighbours(v)[arc as usize] as usize
                    }
                };
                amount[(left - 1) * switches + to] += bytes;
            }
        }
        amount[..switches].fill(0.0);
    }

    /// The part of the traffic to move to paths with these loads. The potential is convex, so
    /// bisection finds the zero of its derivative.
    fn part(&self, loads: &[f64], power: f64) -> f64 {
        let over = |load: f64, c: usize| load / self.capacity[c].max(f64::MIN_POSITIVE);
        let busiest = |of: &[f64]| (0..of.len()).map(|c| over(of[c], c)).fold(0.0, f64::max);
        let most = busiest(&self.loads).max(f64::MIN_POSITIVE);
        let rises = |part: f64| {
            let of = |c: usize| {
                let (old, new) = (over(self.loads[c], c) / most, over(loads[c], c) / most);
                (old + part * (new - old)).powf(power - 1.0) * (new - old)
            };
            (0..loads.len()).filter(|&c| self.capacity[c] > 0.0).map(of).sum::<f64>() > 0.0
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..24 {
            let middle = 0.5 * (low + high);
            if rises(middle) { high = middle } else { low = middle }
        }
        0.5 * (low + high)
    }

    /// The network that is routed.
    pub fn topology(&self) -> &'a Topology {
        self.on
    }

    /// The largest load of a channel over its capacity.
    pub fn congestion(&self) -> f64 {
        self.prices(2.0).0
    }

    /// Lower bound of the congestion of any routing of the traffic over such paths: the sum of the
    /// prices that all traffic pays on the cheapest paths, divided by the sum of capacity times
    /// price.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Adds what every channel carries of an amount between two switches; returns the hops of the
    /// longest path.
    pub(crate) fn collect(
        &self,
        source: u32,
        home: u32,
        amount: f64,
        found: &mut Vec<(u32, f64)>,
    ) -> u32 {
        let (graph, switches) = (self.on.graph(), self.on.switches().len());
        let own = self.number[home as usize] as usize;
        let all: f64 = self.kept.iter().map(|paths| paths.share).sum();
        let mut longest = 0;
        for paths in &self.kept {
            let choice = &paths.choice[own * self.hops * switches..];
            let mut left = (self.far[own][source as usize] + self.slack) as usize;
            let (mut v, mut hops) = (source as usize, 0);
            while v != home as usize {
                let arc = choice[(left - 1) * switches + v];
                left -= 1;
                if arc != SAME {
                    let channel: ChannelId = graph.channels(v)[arc as usize];
                    found.push((channel.0, amount * paths.share / all));
                    v = graph.neighbours(v)[arc as usize] as usize;
                    hops += 1;
                }
            }
            longest = longest.max(hops);
        }
        longest
    }
}
