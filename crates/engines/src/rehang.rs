//! Local search that improves routes for known traffic: one switch, with all routes that pass
//! through it, gets another next hop where that makes busy channels lighter.
//!
//! The search anneals the sum over channels of (load / largest load)^k with rising k. The k-th root
//! of the sum approaches the largest load, and the sum also tells which of two states with the same
//! largest load is closer to a better one (Kirkpatrick, Gelatt, Vecchi, "Optimization by simulated
//! annealing", Science 1983; the potential is as in the flow deviation method of Fratta, Gerla,
//! Kleinrock, 1973).

use base::seed::FastRandomStream;
use base::{ChannelId, Interrupted, ProgressWatch, SwitchId};
use fabric::network::Topology;
use fabric::tables::NO_ROUTE;
use std::collections::BTreeMap;

/// The traffic to one terminal in one layer: pairs of source switch and amount.
pub(super) type TerminalDemand = Vec<(u32, f64)>;

/// The parameters of the annealing search.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnnealingParameters {
    /// How many hops longer than the shortest a route may be.
    pub(super) slack: u32,
    /// The number of moves that are tried.
    pub(super) moves: u64,
    /// The temperatures at the start and at the end, as fractions of the quotient of the potential
    /// and its exponent.
    pub(super) heat: (f64, f64),
}

/// The index that means "none".
const NONE: u32 = u32::MAX;

/// The routing trees of all terminals that receive traffic, in all layers, with the load of every
/// channel. Each tree has one next hop per switch.
pub(super) struct LoadedRoutingTrees<'a> {
    on: &'a Topology,
    switches: usize,
    /// Where the row of each tree begins in the table.
    row_at: Vec<usize>,
    /// The terminal that each tree leads to, and the switch of that terminal.
    terminals: Vec<(u32, u32)>,
    /// The rate of each channel as a fraction of the highest rate.
    rate: Vec<f64>,
    /// For each tree, the shortest distance from every switch to the destination switch: they begin
    /// at `far_at` in `far`.
    far_at: Vec<usize>,
    far: Vec<u32>,
    /// By tree and switch: the channel that the switch forwards to, its hops to the destination,
    /// the traffic through it, and its place in the list of users of that channel.
    hop: Vec<u32>,
    hops: Vec<u32>,
    amount: Vec<f64>,
    place: Vec<u32>,
    /// For each channel, the trees in which it carries traffic.
    users: Vec<Vec<u32>>,
    load: Vec<f64>,
    powered: Vec<f64>,
    squarings: u32,
    reference: f64,
    potential: f64,
    /// The working channels.
    channels: Vec<u32>,
    /// The moves since the best state, to be undone: tree, switch, and the channel that it
    /// forwarded to before.
    undo: Vec<(u32, u32, u32)>,
    /// Scratch: the channels whose load a proposed move lowers, and those whose load it raises.
    lighter: Vec<u32>,
    heavier: Vec<u32>,
    below: Vec<u32>,
}

impl<'a> LoadedRoutingTrees<'a> {
    /// The trees of a table with `layers` layers, one row per layer and terminal, for traffic by
    /// terminal.
    pub(super) fn new(
        on: &'a Topology,
        layers: usize,
        traffic: &[TerminalDemand],
        rate: &[f64],
        next: &[u16],
    ) -> Self {
        let (switches, count) = (on.switches().len(), on.terminals().len());
        let mut own = Self {
            on,
            switches,
            row_at: Vec::new(),
            terminals: Vec::new(),
            rate: rate.to_vec(),
            far_at: Vec::new(),
            far: Vec::new(),
            hop: Vec::new(),
            hops: Vec::new(),
            amount: Vec::new(),
            place: Vec::new(),
            users: vec![Vec::new(); rate.len()],
            load: vec![0.0; rate.len()],
            powered: vec![0.0; rate.len()],
            squarings: 3,
            reference: 1.0,
            potential: 0.0,
            channels: (0..rate.len() as u32)
                .filter(|&c| on.link_is_up(ChannelId(c).link()))
                .collect(),
            undo: Vec::new(),
            lighter: Vec::new(),
            heavier: Vec::new(),
            below: Vec::new(),
        };
        let mut known: BTreeMap<u32, usize> = BTreeMap::new();
        for layer in 0..layers {
            for (t, sources) in traffic.iter().enumerate() {
                let home = on.terminals()[t].plug.switch;
                let row = (layer * count + t) * switches;
                if !sources.iter().any(|flow| is_routed(&next[row..row + switches], flow, home)) {
                    continue;
                }
                let far = *known.entry(home.0).or_insert_with(|| {
                    own.far.extend(on.graph().distances_from(home.ix()));
                    own.far.len() - switches
                });
                own.far_at.push(far);
                own.row_at.push(row);
                own.terminals.push((t as u32, home.0));
                let entries = next[row..row + switches].iter().enumerate();
                // the port of the destination switch itself leads to the terminal, not to another
                // switch
                let hop = |(v, &port): (usize, &u16)| on.hop(SwitchId(v as u32), port);
                own.hop.extend(entries.map(|entry| hop(entry).map_or(NONE, |(c, _)| c.0)));
            }
        }
        own.hops = vec![0; own.hop.len()];
        own.amount = vec![0.0; own.hop.len()];
        own.place = vec![NONE; own.hop.len()];
        for k in 0..own.terminals.len() {
            own.begin(k, &traffic[own.terminals[k].0 as usize]);
        }
        own
    }

    /// Computes hops and traffic of a tree, and adds the traffic to the loads of the channels.
    fn begin(&mut self, k: usize, sources: &TerminalDemand) {
        let row = k * self.switches;
        for v in 0..self.switches {
            let mut at = v;
            while let Some(c) = self.channel(row + at) {
                self.hops[row + v] += 1;
                at = self.on.head(c).switch.ix();
            }
        }
        for &(source, amount) in sources {
            let mut at = source as usize;
            while let Some(c) = self.channel(row + at) {
                self.amount[row + at] += amount;
                self.load[c.ix()] += amount;
                at = self.on.head(c).switch.ix();
            }
        }
        for v in 0..self.switches {
            if self.amount[row + v] > 0.0 {
                self.enter(k, v);
            }
        }
    }

    fn channel(&self, at: usize) -> Option<ChannelId> {
        let c = self.hop[at];
        (c != NONE).then_some(ChannelId(c))
    }

    /// Adds a switch of a tree to the users of its channel.
    fn enter(&mut self, k: usize, v: usize) {
        let at = k * self.switches + v;
        let users = &mut self.users[self.hop[at] as usize];
        self.place[at] = users.len() as u32;
        users.push(k as u32);
    }

    /// Removes a switch of a tree from the users of its channel.
    fn leave(&mut self, k: usize, v: usize) {
        let at = k * self.switches + v;
        let c = self.hop[at] as usize;
        let place = std::mem::replace(&mut self.place[at], NONE) as usize;
        self.users[c].swap_remove(place);
        if let Some(&moved) = self.users[c].get(place) {
            self.place[moved as usize * self.switches + v] = place as u32;
        }
    }

    /// The largest quotient of load and rate of a channel, and the number of channels that have it.
    fn worst(&self) -> (f64, usize) {
        let over = |c: usize| self.load[c] / self.rate[c];
        let all = || self.channels.iter().map(|&c| over(c as usize));
        let most = all().fold(0.0, f64::max);
        (most, all().filter(|&load| load >= most * (1.0 - 1e-9)).count())
    }

    fn power(&self, load: f64, c: usize) -> f64 {
        let mut x = (load / self.rate[c] / self.reference).max(0.0);
        for _ in 0..self.squarings {
            x *= x;
        }
        x
    }

    fn sharpen(&mut self, squarings: u32) {
        self.squarings = squarings;
        self.reference = self.worst().0.max(f64::MIN_POSITIVE);
        self.potential = 0.0;
        for i in 0..self.channels.len() {
            let c = self.channels[i] as usize;
            self.powered[c] = self.power(self.load[c], c);
            self.potential += self.powered[c];
        }
    }

    /// Whether the route of a switch, and every route that passes through the switch, may become
    /// longer by `by` hops.
    fn may_lengthen(&mut self, k: usize, v: usize, by: u32, slack: u32) -> bool {
        let (row, far) = (k * self.switches, self.far_at[k]);
        self.below.clear();
        self.below.push(v as u32);
        let mut head = 0;
        while let Some(&v) = self.below.get(head) {
            head += 1;
            if self.hops[row + v as usize] + by > self.far[far + v as usize] + slack {
                return false;
            }
            self.gather(row, v);
        }
        true
    }

    /// Adds the switches that forward to `v` to `below`.
    fn gather(&mut self, row: usize, v: u32) {
        let graph = self.on.graph();
        for (&u, c) in graph.neighbours(v as usize).iter().zip(graph.channels(v as usize)) {
            if self.hop[row + u as usize] == c.reverse().0 {
                self.below.push(u);
            }
        }
    }

    /// Prepares the move of `v` to channel `c`, and fills `lighter` and `heavier`. Returns whether
    /// the move is possible: it must close no cycle and make no route too long.
    fn propose(&mut self, k: usize, v: usize, c: ChannelId, slack: u32) -> bool {
        let row = k * self.switches;
        let to = self.on.head(c).switch.ix();
        let (was, now) = (self.hops[row + v], self.hops[row + to] + 1);
        self.heavier.clear();
        self.heavier.push(c.0);
        let mut at = to;
        while let Some(next) = self.channel(row + at) {
            if at == v {
                return false;
            }
            self.heavier.push(next.0);
            at = self.on.head(next).switch.ix();
        }
        if at == v || now > was && !self.may_lengthen(k, v, now - was, slack) {
            return false;
        }
        self.lighter.clear();
        let mut at = v;
        while let Some(next) = self.channel(row + at) {
            self.lighter.push(next.0);
            at = self.on.head(next).switch.ix();
        }
        while let (Some(a), Some(b)) = (self.lighter.last(), self.heavier.last()) {
            if a != b {
                break;
            }
            self.lighter.pop();
            self.heavier.pop();
        }
        true
    }

    /// The change of the potential by the proposed move.
    fn gain(&self, amount: f64) -> f64 {
        let by = |c: u32, amount: f64| {
            let c = c as usize;
            self.power(self.load[c] + amount, c) - self.powered[c]
        };
        let lighter = self.lighter.iter().map(|&c| by(c, -amount));
        lighter.chain(self.heavier.iter().map(|&c| by(c, amount))).sum()
    }

    /// Moves `v` to channel `c`; `lighter` and `heavier` must be those of this move.
    fn hang(&mut self, k: usize, v: usize, c: ChannelId) {
        let row = k * self.switches;
        let amount = self.amount[row + v];
        self.undo.push((k as u32, v as u32, self.hop[row + v]));
        if amount > 0.0 {
            self.leave(k, v);
            for i in 0..self.lighter.len() {
                self.carry(k, ChannelId(self.lighter[i]), v, -amount);
            }
        }
        let longer = i64::from(self.hops[row + self.on.head(c).switch.ix()]) + 1
            - i64::from(self.hops[row + v]);
        self.hop[row + v] = c.0;
        if amount > 0.0 {
            self.enter(k, v);
            for i in 0..self.heavier.len() {
                self.carry(k, ChannelId(self.heavier[i]), v, amount);
            }
        }
        if longer != 0 {
            self.below.clear();
            self.below.push(v as u32);
            let mut head = 0;
            while let Some(&v) = self.below.get(head) {
                head += 1;
                let at = row + v as usize;
                self.hops[at] = (i64::from(self.hops[at]) + longer) as u32;
                self.gather(row, v);
            }
        }
    }

    /// Adds traffic to the load of a channel, and to the traffic of the switch at its begin unless
    /// that is `v`.
    fn carry(&mut self, k: usize, c: ChannelId, v: usize, amount: f64) {
        let ix = c.ix();
        self.load[ix] = (self.load[ix] + amount).max(0.0);
        let powered = self.power(self.load[ix], ix);
        self.potential += powered - self.powered[ix];
        self.powered[ix] = powered;
        let tail = self.on.tail(c).switch.ix();
        if tail == v {
            return;
        }
        let at = k * self.switches + tail;
        let before = self.amount[at];
        let mut after = before + amount;
        if after < 1e-9 * amount.abs() {
            after = 0.0;
        }
        self.amount[at] = after;
        match (before > 0.0, after > 0.0) {
            (true, false) => self.leave(k, tail),
            (false, true) => self.enter(k, tail),
            _ => {}
        }
    }

    /// Draws a tree, and a switch of it that sends traffic over a busy channel.
    fn pick(&self, draw: &mut FastRandomStream) -> Option<(usize, usize)> {
        let any = |draw: &mut FastRandomStream| {
            self.channels[draw.below(self.channels.len() as u32) as usize]
        };
        let mut busiest = any(draw);
        let over = |c: u32| self.load[c as usize] / self.rate[c as usize];
        let tries = if draw.below(4) == 0 { 1 } else { 12 };
        for _ in 1..tries {
            let c = any(draw);
            if over(c) > over(busiest) {
                busiest = c;
            }
        }
        let users = &self.users[busiest as usize];
        let k = *users.get(draw.below(users.len() as u32) as usize)? as usize;
        let mut v = self.on.tail(ChannelId(busiest)).switch.ix();
        while draw.below(2) == 0 {
            let Some(u) = self.feeder(k, v, draw) else { break };
            v = u;
        }
        Some((k, v))
    }

    /// One of the switches that forward traffic to `v`.
    fn feeder(&self, k: usize, v: usize, draw: &mut FastRandomStream) -> Option<usize> {
        let graph = self.on.graph();
        let (neighbours, channels) = (graph.neighbours(v), graph.channels(v));
        let begin = draw.below(neighbours.len() as u32) as usize;
        (0..neighbours.len()).map(|i| (begin + i) % neighbours.len()).find_map(|i| {
            let at = k * self.switches + neighbours[i] as usize;
            let feeds = self.amount[at] > 0.0 && self.hop[at] == channels[i].reverse().0;
            feeds.then_some(neighbours[i] as usize)
        })
    }

    fn any_channel(&self, v: usize, draw: &mut FastRandomStream) -> ChannelId {
        let channels = self.on.graph().channels(v);
        channels[draw.below(channels.len() as u32) as usize]
    }

    /// Tries one move.
    fn attempt(&mut self, slack: u32, heat: f64, quantiles: &[f32], draw: &mut FastRandomStream) {
        let Some((k, v)) = self.pick(draw) else { return };
        let row = k * self.switches;
        let c = self.any_channel(v, draw);
        let w = self.on.head(c).switch.ix();
        if c.0 == self.hop[row + v] {
            return;
        }
        let mut before = None;
        if self.hop[row + w] != NONE && self.amount[row + w] == 0.0 && draw.below(2) == 0 {
            // the neighbour carries no traffic: its own next hop may change first
            let d = self.any_channel(w, draw);
            let old = self.hop[row + w];
            if d.0 != old && self.propose(k, w, d, slack) {
                self.hang(k, w, d);
                before = Some(ChannelId(old));
            }
        }
        if self.propose(k, v, c, slack) {
            let gain = self.gain(self.amount[row + v]);
            let drawn = f64::from(quantiles[(draw.next_u64() >> 52) as usize]);
            if gain <= heat * self.potential * drawn {
                self.hang(k, v, c);
                return;
            }
        }
        if let Some(old) = before {
            self.propose(k, w, old, u32::MAX / 2);
            self.hang(k, w, old);
            self.undo.truncate(self.undo.len() - 2);
        }
    }

    /// Runs the search. The result is never worse than the start, also when it is interrupted.
    ///
    /// O(moves * hops of a route), and for routes that become longer, the switches behind them.
    ///
    /// # Errors
    /// When `watch` asks to stop. The trees then hold the best state so far and can be used.
    pub(super) fn search(
        &mut self,
        rules: AnnealingParameters,
        draw: &mut FastRandomStream,
        watch: &dyn ProgressWatch,
    ) -> Result<(), Interrupted> {
        let mut best = self.worst();
        self.undo.clear();
        if self.terminals.is_empty() || self.channels.is_empty() || best.0 == 0.0 {
            return Ok(());
        }
        let quantiles = base::seed::exponentials();
        let step = 256.max(self.channels.len() as u64 / 4);
        let (mut done, mut ended) = (0, Ok(()));
        while done < rules.moves && ended.is_ok() {
            ended = watch.tick("routes", done, rules.moves);
            let part = done as f64 / rules.moves as f64;
            let squarings = 3 + (4.0 * part) as u32;
            self.sharpen(squarings);
            let (from, to) = rules.heat;
            let heat = from * (to / from).powf(part) * f64::from(1_u32 << squarings);
            for _ in 0..step.min(rules.moves - done) {
                self.attempt(rules.slack, heat, &quantiles, draw);
            }
            done += step;
            let now = self.worst();
            let close = 1e-9 * best.0;
            if now.0 < best.0 - close || now.0 <= best.0 + close && now.1 < best.1 {
                best = now;
                self.undo.clear();
            }
        }
        while let Some((k, v, old)) = self.undo.pop() {
            self.hop[k as usize * self.switches + v as usize] = old;
        }
        ended
    }

    /// Writes the routes to the table: routes with traffic as found. All other switches get the
    /// shortest routes that agree with these, and keep their old port where it is one of the
    /// shortest.
    pub(super) fn write(&self, traffic: &[TerminalDemand], next: &mut [u16]) {
        for (k, &(t, home)) in self.terminals.iter().enumerate() {
            let row = self.row_at[k];
            let own = &self.hop[k * self.switches..(k + 1) * self.switches];
            let entries = &mut next[row..row + self.switches];
            self.write_one(own, &traffic[t as usize], home, entries);
        }
    }

    fn write_one(&self, hop: &[u32], sources: &TerminalDemand, home: u32, entries: &mut [u16]) {
        let graph = self.on.graph();
        let mut hops = vec![NONE; self.switches];
        hops[home as usize] = 0;
        let mut used = Vec::new();
        for flow in sources {
            if !is_routed(entries, flow, SwitchId(home)) {
                continue;
            }
            let begin = used.len();
            let mut at = flow.0 as usize;
            while hops[at] == NONE {
                used.push(at);
                at = self.on.head(ChannelId(hop[at])).switch.ix();
            }
            let far = hops[at];
            for (i, &v) in used[begin..].iter().rev().enumerate() {
                hops[v] = far + 1 + i as u32;
                entries[v] = self.on.tail(ChannelId(hop[v])).port;
            }
        }
        used.push(home as usize);
        self.least_hops(&used, &mut hops);
        for v in 0..self.switches {
            if hops[v] == NONE || used.contains(&v) {
                continue;
            }
            let leads = |c: ChannelId| hops[self.on.head(c).switch.ix()] + 1 == hops[v];
            let row = graph.channels(v);
            let before = row.iter().find(|&&c| self.on.tail(c).port == entries[v] && leads(c));
            let chosen = before.or_else(|| row.iter().find(|&&c| leads(c)));
            entries[v] = chosen.map_or(NO_ROUTE, |&c| self.on.tail(c).port);
        }
    }

    /// Computes the least hops of the switches that have no route yet, through switches that have
    /// one.
    fn least_hops(&self, settled: &[usize], hops: &mut [u32]) {
        let mut levels: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for &v in settled {
            levels.entry(hops[v]).or_default().push(v);
        }
        while let Some((far, level)) = levels.pop_first() {
            for w in level {
                for &v in self.on.graph().neighbours(w) {
                    if hops[v as usize] == NONE {
                        hops[v as usize] = far + 1;
                        levels.entry(far + 1).or_default().push(v as usize);
                    }
                }
            }
        }
    }
}

/// Whether a flow needs a route: it has traffic, comes from another switch, and the table routes
/// it.
fn is_routed(entries: &[u16], &(source, amount): &(u32, f64), home: SwitchId) -> bool {
    amount > 0.0 && source != home.0 && entries[source as usize] != NO_ROUTE
}
