//! The load that every pair of endpoints puts on every channel: over tables, or evenly over all
//! shortest paths.

use crate::demand::capacities;
use crate::working::working;
use base::{ComputationError, EndpointId, ProgressWatch, Refusal, SwitchId, TerminalId};
use fabric::network::Topology;
use fabric::tables::Routing;
use std::collections::BTreeMap;

/// Most pairs of a place and an endpoint.
const MOST_PAIRS: u64 = 1 << 22;
/// Most places times channels for which bounds of both kinds are kept.
const MOST_BOUNDS: usize = 1 << 26;

/// A source and a receiver that use a channel, and the load on it if one endpoint sends at full
/// rate.
pub(super) type ChannelUser = (usize, usize, f64);

/// A group of endpoints that are plugged into the same switches.
#[derive(Clone)]
pub(super) struct SameSwitchEndpoints {
    rails: Vec<TerminalId>,
    /// The ranks of these endpoints.
    pub(super) ranks: Vec<u32>,
}

/// Upper bounds of the loads that permutations put on channels.
struct ChannelLoadUpperBounds {
    /// For each channel, the sum over the receivers visited so far of their largest load times
    /// their room.
    into: Vec<f64>,
    /// For each channel, the largest load from any source to the present receiver.
    most_into: Vec<f64>,
    /// The channels with an entry in `most_into` that is not 0.
    touched: Vec<usize>,
    /// For each source and channel, the largest load to any receiver.
    most_out: Vec<f32>,
}

impl ChannelLoadUpperBounds {
    fn count(&mut self, channel: usize, load: f64) {
        let most = &mut self.most_into[channel];
        if *most == 0.0 {
            self.touched.push(channel);
        }
        *most = most.max(load);
    }

    /// Ends the visit of a receiver, which has room for `room` sources.
    fn next(&mut self, room: usize) {
        for c in self.touched.drain(..) {
            self.into[c] += self.most_into[c] * room as f64;
            self.most_into[c] = 0.0;
        }
    }
}

/// A function that gets a source, a receiver, and the loads of channels between them.
type PairVisitor<'a> = dyn FnMut(usize, usize, &[(usize, f64)]) + 'a;

/// The loads that the paths between endpoints put on channels.
pub(super) struct PathChannelLoads<'a> {
    t: &'a Topology,
    tables: Option<&'a Routing>,
    /// The groups of sources with the same switches: their working rails and their ranks.
    pub(super) sources: Vec<SameSwitchEndpoints>,
    /// The groups of receivers, likewise; with tables each endpoint is a group of its own.
    pub(super) receivers: Vec<SameSwitchEndpoints>,
    /// For each channel, the time that it takes for the traffic of one endpoint at full rate.
    relative: Vec<f64>,
}

impl<'a> PathChannelLoads<'a> {
    pub(super) fn new(t: &'a Topology, tables: Option<&'a Routing>) -> Result<Self, Refusal> {
        let mut rails: BTreeMap<EndpointId, Vec<TerminalId>> = BTreeMap::new();
        for (i, terminal) in t.terminals().iter().enumerate() {
            if t.terminal_is_up(i.into()) {
                rails.entry(terminal.endpoint).or_default().push(i.into());
            }
        }
        let mut sources: BTreeMap<Vec<SwitchId>, SameSwitchEndpoints> = BTreeMap::new();
        let mut each = Vec::new();
        for (rank, e) in (0..).zip(working(t)) {
            let own = &rails[&e];
            let switches = own.iter().map(|&i| t.terminals()[i.ix()].plug.switch).collect();
            let new = || SameSwitchEndpoints { rails: own.clone(), ranks: Vec::new() };
            sources.entry(switches).or_insert_with(new).ranks.push(rank);
            each.push(SameSwitchEndpoints { rails: own.clone(), ranks: vec![rank] });
        }
        let sources: Vec<_> = sources.into_values().collect();
        let receivers = if tables.is_some() { each } else { sources.clone() };
        if sources.len() as u64 * receivers.len() as u64 > MOST_PAIRS {
            let why = format!("worst_case of {} places", sources.len());
            let help = format!("a smaller network: at most {MOST_PAIRS} pairs to look at");
            return Err(Refusal::new("pattern", why, help));
        }
        let relative = capacities(t).into_iter().map(|c| if c > 0.0 { 1.0 / c } else { 0.0 });
        Ok(Self { t, tables, sources, receivers, relative: relative.collect() })
    }

    /// Calls `each(source, receiver, loads)` for every pair of groups, with receivers in the outer
    /// loop. `loads` are sorted by channel, each once.
    fn every(
        &self,
        each: &mut PairVisitor<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<(), ComputationError> {
        let mut sum = vec![0.0; self.relative.len()];
        let (mut loads, mut room) = (Vec::new(), EvenSplitScratch::default());
        for (r, to) in self.receivers.iter().map(|place| &place.rails).enumerate() {
            let spread =
                if self.tables.is_none() { EvenSplitLinks::all(self.t, to) } else { Vec::new() };
            for (s, from) in self.sources.iter().map(|place| &place.rails).enumerate() {
                watch.tick("receivers", r as u64, self.receivers.len() as u64)?;
                let mut touched: Vec<usize> = Vec::new();
                let mut add = |channel: usize, x: f64| {
                    if sum[channel] == 0.0 {
                        touched.push(channel);
                    }
                    sum[channel] += x;
                };
                self.pair(from, to, (&spread, &mut room), &mut add)?;
                touched.sort_unstable();
                loads.clear();
                loads.extend(touched.iter().map(|&c| (c, sum[c] * self.relative[c])));
                for &c in &touched {
                    sum[c] = 0.0;
                }
                each(s, r, &loads);
            }
        }
        Ok(())
    }

    /// The load on each channel if one endpoint sends at full rate from `from` to `to`.
    fn pair(
        &self,
        from: &[TerminalId],
        to: &[TerminalId],
        (spread, room): (&[EvenSplitLinks], &mut EvenSplitScratch),
        add: &mut dyn FnMut(usize, f64),
    ) -> Result<(), Refusal> {
        let switch = |i: TerminalId| self.t.terminals()[i.ix()].plug.switch;
        let meets = |a: TerminalId, b: TerminalId| self.t.plane_of(a) == self.t.plane_of(b);
        let both = || from.iter().flat_map(|&a| to.iter().map(move |&b| (a, b)));
        let common = both().filter(|&(a, b)| meets(a, b)).count();
        if common == 0 {
            let help = "endpoints that all share a plane";
            return Err(Refusal::new("pattern", "two endpoints share no plane", help));
        }
        for (a, b) in both().filter(|&(a, b)| meets(a, b)) {
            let Some(tables) = self.tables else {
                let of = to.iter().position(|&x| x == b).map(|i| &spread[i]);
                if let Some(spread) = of {
                    let sent = (switch(a), 1.0 / common as f64);
                    spread.from(self.t, sent, room, add)?;
                }
                continue;
            };
            let share = 1.0 / (common as f64 * f64::from(tables.layers()));
            for layer in 0..tables.layers() {
                let mut walk = tables.walk(layer, b, switch(a));
                let mut hops = 0;
                for hop in walk.by_ref() {
                    add(hop.channel.ix(), share);
                    hops += 1;
                    if hops > self.t.switches().len() {
                        break;
                    }
                }
                if walk.at() != switch(b) {
                    let name = &self.t.switches()[switch(a).ix()].name;
                    let why = format!("the route from {name} does not arrive");
                    return Err(Refusal::new("pattern", why, "verify the tables first"));
                }
            }
        }
        Ok(())
    }

    /// For each channel an upper bound of the load of a permutation. It is the smaller of two sums:
    /// of the sources, each with its heaviest receiver, and of the receivers, each with its
    /// heaviest source.
    pub(super) fn bounds(&self, watch: &dyn ProgressWatch) -> Result<Vec<f64>, ComputationError> {
        let channels = self.relative.len();
        let mut all = ChannelLoadUpperBounds {
            into: vec![0.0; channels],
            most_into: vec![0.0; channels],
            touched: Vec::new(),
            most_out: Vec::new(),
        };
        let places = self.sources.len();
        let dense = places * channels <= MOST_BOUNDS;
        if dense {
            all.most_out = vec![0.0; places * channels];
        }
        let mut at = 0;
        self.every(
            &mut |s, r, loads| {
                if r != at {
                    all.next(self.receivers[at].ranks.len());
                    at = r;
                }
                for &(c, x) in loads {
                    all.count(c, x);
                    if dense {
                        let out = &mut all.most_out[s * channels + c];
                        *out = out.max((x as f32).next_up());
                    }
                }
            },
            watch,
        )?;
        all.next(self.receivers[at].ranks.len());
        if !dense {
            return Ok(all.into);
        }
        let mut out = vec![0.0; channels];
        for (place, row) in self.sources.iter().zip(all.most_out.chunks(channels.max(1))) {
            for (sum, &x) in out.iter_mut().zip(row) {
                *sum += f64::from(x) * place.ranks.len() as f64;
            }
        }
        Ok(all.into.iter().zip(&out).map(|(a, b): (&f64, &f64)| a.min(*b)).collect())
    }

    /// The pairs that use each of the wanted channels, by the index of the channel among them.
    pub(super) fn crossing(
        &self,
        wanted: &BTreeMap<usize, usize>,
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<Vec<ChannelUser>>, ComputationError> {
        let mut all = vec![Vec::new(); wanted.len()];
        self.every(
            &mut |s, r, loads| {
                for (c, x) in loads {
                    if let Some(&i) = wanted.get(c) {
                        all[i].push((s, r, *x));
                    }
                }
            },
            watch,
        )?;
        Ok(all)
    }
}

/// The links from each switch that lead nearer to one switch, for paths that split evenly at every
/// switch.
struct EvenSplitLinks {
    distance: Vec<u32>,
    starts: Vec<usize>,
    /// For each such link, its channel and the switch that it leads to; those of switch v start at
    /// `starts[v]`.
    nearer: Vec<(usize, usize)>,
}

/// Scratch memory for following split traffic: the amount at each switch, and the switches reached.
#[derive(Default)]
struct EvenSplitScratch {
    amount: Vec<f64>,
    now: Vec<usize>,
    next: Vec<usize>,
}

impl EvenSplitLinks {
    /// The even splits towards the switch of each of these rails. O(rails * links).
    fn all(t: &Topology, to: &[TerminalId]) -> Vec<Self> {
        to.iter().map(|i| Self::new(t, t.terminals()[i.ix()].plug.switch)).collect()
    }

    fn new(t: &Topology, to: SwitchId) -> Self {
        let distance = t.graph().distances_from(to.ix());
        let (mut starts, mut nearer) = (vec![0], Vec::new());
        for v in 0..distance.len() {
            let row = t.graph().channels(v).iter().zip(t.graph().neighbours(v));
            let row = row.map(|(c, &w)| (c.ix(), w as usize));
            nearer.extend(row.filter(|&(_, w)| distance[w] < distance[v]));
            starts.push(nearer.len());
        }
        Self { distance, starts, nearer }
    }

    /// The load on each channel if `amount` is sent from a switch. O(links that it is spread over).
    fn from(
        &self,
        t: &Topology,
        (from, amount): (SwitchId, f64),
        room: &mut EvenSplitScratch,
        add: &mut dyn FnMut(usize, f64),
    ) -> Result<(), Refusal> {
        if self.distance[from.ix()] == u32::MAX {
            let why = format!("there is no path from {}", t.switches()[from.ix()].name);
            return Err(Refusal::new("pattern", why, "a connected network"));
        }
        room.amount.resize(self.distance.len(), 0.0);
        room.amount[from.ix()] = amount;
        room.now.push(from.ix());
        while !room.now.is_empty() {
            for v in room.now.drain(..) {
                let row = &self.nearer[self.starts[v]..self.starts[v + 1]];
                let share = std::mem::take(&mut room.amount[v]) / row.len() as f64;
                for &(channel, w) in row {
                    add(channel, share);
                    if room.amount[w] == 0.0 {
                        room.next.push(w);
                    }
                    room.amount[w] += share;
                }
            }
            std::mem::swap(&mut room.now, &mut room.next);
        }
        Ok(())
    }
}
