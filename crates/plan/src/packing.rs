//! Packing: what a rack holds, and which switches share one when they do not all fit.
//!
//! Source of the search: Simon & Teng, "How good is recursive bisection?", SIAM J. Sci. Comput.
//! 1997, on the halves of [`base::partition`].

use super::rules::{FloorRules, ServerPlacement};
use base::partition::{GraphBisection, WeightedGraph, halve_best_of};
use base::seed::RandomStream;
use base::{Interrupted, ProgressWatch, Refusal, SwitchId, TerminalId};
use fabric::network::Topology;

/// The load of a rack: the switches and endpoints that are in it or are to be put in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RackLoad {
    pub(super) switches: u64,
    pub(super) endpoints: u64,
}

impl RackLoad {
    pub(super) fn and(self, more: Self) -> Self {
        Self { switches: self.switches + more.switches, endpoints: self.endpoints + more.endpoints }
    }

    pub(super) fn less(self, gone: Self) -> Self {
        Self { switches: self.switches - gone.switches, endpoints: self.endpoints - gone.endpoints }
    }

    fn times(self, many: u64) -> Self {
        Self { switches: self.switches * many, endpoints: self.endpoints * many }
    }
}

/// The limits of a rack: units of height, and watts where its power is limited.
pub(super) struct RackLimits<'a> {
    rules: &'a FloorRules,
    switch_w: f64,
}

/// The most watts of one device.
const MOST_W: f64 = 1e9;

impl<'a> RackLimits<'a> {
    /// The limits of `rules`.
    ///
    /// # Errors
    /// Refuses watts out of range, and a power that does not suffice for one switch.
    pub(super) fn new(rules: &'a FloorRules) -> Result<Self, Refusal> {
        let switch_w = rules.switch_w.unwrap_or(0.0);
        for (name, watts) in [("switch_w", switch_w), ("endpoint_w", rules.endpoint_w)] {
            if !(0.0..=MOST_W).contains(&watts) {
                return Err(Refusal::new(name, format!("{watts} W"), format!("0 to {MOST_W}")));
            }
        }
        if let Some(kw) = rules.rack_kw
            && !(kw > 0.0 && kw <= MOST_W)
        {
            let help = format!("above 0, at most {MOST_W}; leave it out for no limit");
            return Err(Refusal::new("rack_kw", format!("{kw} kW"), help));
        }
        let limits = Self { rules, switch_w };
        let one = limits.watts(RackLoad { switches: 1, endpoints: 0 });
        if one > limits.budget_w() {
            let why = format!("a switch draws {one} W");
            return Err(Refusal::new("rack_kw", why, format!("at least {}", one / 1000.0)));
        }
        Ok(limits)
    }

    /// Refuses a server that no rack holds, where there are this number of `endpoints`.
    pub(super) fn check_server(&self, endpoints: u64) -> Result<(), Refusal> {
        let one =
            RackLoad { switches: 0, endpoints: self.rules.endpoints_a_server().min(endpoints) };
        let watts = self.watts(one);
        if watts > self.budget_w() {
            let why = match one.endpoints {
                1 => format!("a server draws {watts} W"),
                n => format!("a server of {n} endpoints draws {watts} W"),
            };
            return Err(Refusal::new("rack_kw", why, format!("at least {}", watts / 1000.0)));
        }
        Ok(())
    }

    /// Number of servers that fit in a rack above `switches`, at most those of `endpoints`.
    fn servers_above(&self, switches: u64, endpoints: u64) -> u64 {
        let each = self.rules.endpoints_a_server();
        let rack = u64::from(self.rules.rack_units);
        let (mut low, mut high) = (0, endpoints.div_ceil(each).min(rack) + 1);
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if self.hold(RackLoad { switches, endpoints: (middle * each).min(endpoints) }) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Number of racks that the `endpoints` need beside the rack of their `switches`.
    pub(super) fn racks_beside(&self, switches: u64, endpoints: u64) -> u64 {
        let above = match self.rules.endpoints {
            ServerPlacement::Beside => return 0,
            ServerPlacement::Rows => 0,
            ServerPlacement::In => self.servers_above(switches, endpoints),
        };
        let left = endpoints.div_ceil(self.rules.endpoints_a_server()) - above;
        left.div_ceil(self.servers_above(0, endpoints).max(1))
    }

    /// The number of `endpoints` in each of `racks` racks, that of the switches first: as many
    /// servers as fit above the switches where servers may be there, the others evenly.
    pub(super) fn shared_out(&self, switches: u64, endpoints: u64, racks: u64) -> Vec<u64> {
        let each = self.rules.endpoints_a_server();
        let above = match self.rules.endpoints {
            ServerPlacement::In => self.servers_above(switches, endpoints),
            ServerPlacement::Rows | ServerPlacement::Beside => 0,
        };
        let (mut servers, mut left) = (endpoints.div_ceil(each) - above, endpoints);
        let mut parts = Vec::with_capacity(racks as usize);
        for rack in 0..racks {
            let here = if rack == 0 { above } else { servers.div_ceil(racks - rack) };
            servers -= if rack == 0 { 0 } else { here };
            parts.push((here * each).min(left));
            left -= parts[rack as usize];
        }
        parts
    }

    /// Watts a rack may draw, and a little more for the rounding of sums.
    fn budget_w(&self) -> f64 {
        self.rules.rack_kw.map_or(f64::INFINITY, |kw| kw * 1000.0 * (1.0 + 1e-9))
    }

    /// Units of height that `load` takes.
    pub(super) fn units(&self, load: RackLoad) -> u64 {
        let servers = load.endpoints.div_ceil(self.rules.endpoints_a_server());
        load.switches * self.rules.switch_height() + servers * self.rules.server_height()
    }

    /// Watts that `load` draws.
    pub(super) fn watts(&self, load: RackLoad) -> f64 {
        load.switches as f64 * self.switch_w + load.endpoints as f64 * self.rules.endpoint_w
    }

    /// Whether one rack holds `load`.
    pub(super) fn hold(&self, load: RackLoad) -> bool {
        let fits = self.units(load) <= u64::from(self.rules.rack_units);
        fits && self.watts(load) <= self.budget_w()
    }

    /// How many loads like `each` one rack holds; 0 when not even one. O(log units).
    pub(super) fn most(&self, each: RackLoad) -> u64 {
        let (mut low, mut high) = (0, u64::from(self.rules.rack_units) + 1);
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if self.hold(each.times(middle)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Height in fractions `1 / endpoints_a_server()` of a unit: whole numbers, which add up
    /// exactly.
    fn slots(&self, load: RackLoad) -> u64 {
        let rules = self.rules;
        let switch = rules.switch_height() * rules.endpoints_a_server();
        load.switches * switch + load.endpoints * rules.server_height()
    }

    /// The least number of racks by height and by power, as fractions.
    fn shares(&self, load: RackLoad) -> (f64, f64) {
        let rules = self.rules;
        let rack = u64::from(rules.rack_units) * rules.endpoints_a_server();
        (self.slots(load) as f64 / rack as f64, self.watts(load) / self.budget_w())
    }
}

/// The network in pieces: sets of switches that always share a rack, mostly one switch each.
pub(super) struct RackSwitchGroups<'a> {
    pub(super) t: &'a Topology,
    pub(super) limits: &'a RackLimits<'a>,
    /// The switches of each piece, ascending.
    pub(super) switches: Vec<Vec<SwitchId>>,
    /// The load of each piece, endpoints included.
    pub(super) loads: Vec<RackLoad>,
    /// Cables between pieces; masses are not used.
    pub(super) cables: WeightedGraph,
    watch: &'a dyn ProgressWatch,
}

/// Number of halvings of which the best is taken, unless an earlier one is as even as can be.
const STARTS: u64 = 4;
/// Attempts at a small graph in each halving; moves between racks improve on what these find.
const ATTEMPTS: u64 = 2;
/// Attempts in each halving where [`ATTEMPTS`] leave more racks than are needed, and where there
/// are few pieces.
const THOROUGH: u64 = 8;
/// The largest number of pieces that counts as few.
const SMALL: usize = 384;

/// The split of a cell.
pub(super) struct SplitSwitchCell {
    loads: Vec<RackLoad>,
    cables: WeightedGraph,
    /// The positions in the cell of the pieces of each rack.
    racks: Vec<Vec<u32>>,
}

/// A cell under halving.
struct SwitchCellBisector {
    /// Attempts of each halving at a small graph.
    attempts: u64,
    /// The parts that are not halved again.
    found: Vec<Vec<u32>>,
    /// Scratch of [`RackSwitchGroups::induced`].
    places: Vec<u32>,
}

impl<'a> RackSwitchGroups<'a> {
    /// Pieces of these switches; `first` has the first rail of each endpoint, which seats it.
    ///
    /// Cables are links, working or not, and those of an endpoint's other rails, which lead from
    /// the switch of the first. O(links * log(links)).
    pub(super) fn new(
        t: &'a Topology,
        switches: Vec<Vec<SwitchId>>,
        first: &[Option<TerminalId>],
        limits: &'a RackLimits<'a>,
        watch: &'a dyn ProgressWatch,
    ) -> Self {
        let mut of = vec![0_u32; t.switches().len()];
        for (piece, all) in (0..).zip(&switches) {
            for s in all {
                of[s.ix()] = piece;
            }
        }
        let mut loads: Vec<RackLoad> =
            switches.iter().map(|s| RackLoad { switches: s.len() as u64, endpoints: 0 }).collect();
        let home = |rail: TerminalId| t.terminals()[rail.ix()].plug.switch;
        for rail in first.iter().flatten() {
            loads[of[home(*rail).ix()] as usize].endpoints += 1;
        }
        let links = t.links().iter().map(|l| (l.a.switch, l.b.switch));
        let rails = t.terminals().iter().filter_map(|terminal| {
            let first = first[terminal.endpoint.ix()]?;
            Some((home(first), terminal.plug.switch))
        });
        let pairs = links.chain(rails).map(|(a, b)| (of[a.ix()], of[b.ix()]));
        let cables = rows(switches.len(), pairs);
        Self { t, limits, switches, loads, cables, watch }
    }

    /// The load of these pieces together; endpoints are left out unless `with_endpoints`.
    pub(super) fn load(&self, pieces: &[u32], with_endpoints: bool) -> RackLoad {
        let sum =
            pieces.iter().fold(RackLoad::default(), |sum, &p| sum.and(self.loads[p as usize]));
        if with_endpoints { sum } else { RackLoad { endpoints: 0, ..sum } }
    }

    /// Number of racks that the servers of these pieces, all in one rack, need beside it.
    pub(super) fn racks_beside(&self, pieces: &[u32]) -> usize {
        let load = self.load(pieces, true);
        self.limits.racks_beside(load.switches, load.endpoints) as usize
    }

    fn hold(&self, pieces: &[u32]) -> bool {
        self.limits.hold(self.load(pieces, self.limits.rules.counts_endpoints()))
    }

    /// The largest number of switches and the largest number of endpoints of a piece, which may be
    /// two different pieces.
    pub(super) fn largest(&self, pieces: &[u32]) -> RackLoad {
        let counted = self.limits.rules.counts_endpoints();
        let each = pieces.iter().map(|&p| self.load(&[p], counted));
        each.fold(RackLoad::default(), |most, load| RackLoad {
            switches: most.switches.max(load.switches),
            endpoints: most.endpoints.max(load.endpoints),
        })
    }

    /// The first piece whose switches no rack holds.
    pub(super) fn too_large(&self) -> Option<u32> {
        (0..self.switches.len() as u32).find(|&p| !self.limits.hold(self.load(&[p], false)))
    }

    /// The pieces of `cell` in order, as many to a rack as fit, at least one. O(pieces).
    pub(super) fn in_order(&self, cell: &[u32], with_endpoints: bool) -> Vec<Vec<u32>> {
        let mut racks: Vec<Vec<u32>> = Vec::new();
        let mut load = RackLoad::default();
        for &p in cell {
            let more = self.load(&[p], with_endpoints);
            let both = load.and(more);
            if let Some(rack) = racks.last_mut().filter(|_| self.limits.hold(both)) {
                rack.push(p);
                load = both;
            } else {
                racks.push(vec![p]);
                load = more;
            }
        }
        racks
    }

    /// The racks of a cell: one when it fits, else as few and as even as can be, over few cables.
    ///
    /// The racks in order and those found by halving again and again are compared; the former are
    /// taken when as good. A cell that is wired like the `last` one is split like that.
    /// O(links * log(links)) a level of halving; there are log2(racks) levels.
    ///
    /// # Errors
    /// [`Interrupted`] when the watch says so.
    pub(super) fn split(
        &self,
        cell: &[u32],
        last: &mut Option<SplitSwitchCell>,
    ) -> Result<Vec<Vec<u32>>, Interrupted> {
        if self.hold(cell) {
            return Ok(vec![cell.to_vec()]);
        }
        let within = self.induced(cell, &vec![1; cell.len()], &mut Vec::new());
        let loads: Vec<RackLoad> = cell.iter().map(|&p| self.loads[p as usize]).collect();
        let alike = last.as_ref().filter(|last| last.loads == loads && last.cables == within);
        let racks = match alike {
            Some(last) => last.racks.clone(),
            None => self.places_in_racks(cell, &within)?,
        };
        let pieces = |rack: &Vec<u32>| rack.iter().map(|&place| cell[place as usize]).collect();
        let found = racks.iter().map(pieces).collect();
        *last = Some(SplitSwitchCell { loads, cables: within, racks });
        Ok(found)
    }

    /// The racks of a cell that needs several, as positions in it; `within` are its own cables.
    fn places_in_racks(
        &self,
        cell: &[u32],
        within: &WeightedGraph,
    ) -> Result<Vec<Vec<u32>>, Interrupted> {
        let least = self.least(cell);
        let mut best = self.evenly(cell, least);
        if !within.targets.is_empty() {
            let attempts = if self.switches.len() > SMALL { ATTEMPTS } else { THOROUGH };
            let mut found = self.halved(cell, least, attempts)?;
            if found.len() as u64 > least {
                let thorough = self.halved(cell, least, THOROUGH)?;
                if thorough.len() < found.len() {
                    found = thorough;
                }
            }
            let worth = |racks: &[Vec<u32>]| (racks.len(), cut(cell, within, racks));
            if worth(&found) < worth(&best) {
                best = found;
            }
        }
        let place = |p: u32| cell.binary_search(&p).expect("a piece of the cell") as u32;
        Ok(best.into_iter().map(|rack| rack.into_iter().map(place).collect()).collect())
    }

    /// The racks of `cell` by halving it again and again, each time the best of `attempts`.
    fn halved(
        &self,
        cell: &[u32],
        racks: u64,
        attempts: u64,
    ) -> Result<Vec<Vec<u32>>, Interrupted> {
        let mut halving = SwitchCellBisector { attempts, found: Vec::new(), places: Vec::new() };
        self.divide(cell.to_vec(), racks, &mut halving)?;
        self.relieve(&mut halving.found);
        Ok(halving.found)
    }

    /// The fewest racks, exact when all pieces are alike.
    fn least(&self, cell: &[u32]) -> u64 {
        let counted = self.limits.rules.counts_endpoints();
        let first = self.load(&cell[..1], counted);
        if cell.iter().all(|&p| self.load(&[p], counted) == first) {
            return (cell.len() as u64).div_ceil(self.limits.most(first).max(1));
        }
        let (height, power) = self.limits.shares(self.load(cell, counted));
        (height.max(power) - 1e-6).ceil().max(1.0) as u64
    }

    /// The masses that are shared out evenly: heights, or powers where these need more racks.
    fn masses(&self, cell: &[u32]) -> Vec<u64> {
        let counted = self.limits.rules.counts_endpoints();
        let (height, power) = self.limits.shares(self.load(cell, counted));
        let mass = |&p: &u32| {
            let load = self.load(&[p], counted);
            let by_power = (self.limits.watts(load) * 1000.0).round() as u64;
            if power > height { by_power.max(1) } else { self.limits.slots(load) }
        };
        cell.iter().map(mass).collect()
    }

    /// The pieces of `cell` in order in `racks` parts of about the same mass; where a part does not
    /// fit in a rack, [`Self::in_order`].
    fn evenly(&self, cell: &[u32], racks: u64) -> Vec<Vec<u32>> {
        let masses = self.masses(cell);
        let total: u128 = masses.iter().map(|&m| u128::from(m)).sum();
        let mut parts = vec![Vec::new(); racks as usize];
        let mut before = 0;
        for (&p, &mass) in cell.iter().zip(&masses) {
            let middle = 2 * before + u128::from(mass);
            parts[(middle * u128::from(racks) / (2 * total)) as usize].push(p);
            before += u128::from(mass);
        }
        parts.retain(|part| !part.is_empty());
        if parts.iter().all(|part| self.hold(part)) {
            return parts;
        }
        self.in_order(cell, self.limits.rules.counts_endpoints())
    }

    /// The cables within `cell`, which is ascending; `places` is scratch, empty at first.
    fn induced(&self, cell: &[u32], masses: &[u64], places: &mut Vec<u32>) -> WeightedGraph {
        let mut graph = WeightedGraph {
            offsets: vec![0],
            targets: Vec::new(),
            weights: Vec::new(),
            masses: masses.to_vec(),
            held: 0,
        };
        places.resize(self.switches.len(), u32::MAX);
        for (place, &p) in (0..).zip(cell) {
            places[p as usize] = place;
        }
        for &p in cell {
            for (other, cables) in self.cables.edges(p as usize) {
                if places[other] < u32::MAX {
                    graph.targets.push(places[other]);
                    graph.weights.push(cables);
                }
            }
            graph.offsets.push(graph.targets.len() as u32);
        }
        for &p in cell {
            places[p as usize] = u32::MAX;
        }
        graph
    }

    /// Halves `cell`, and the halves again, until there are `racks` parts.
    fn divide(
        &self,
        cell: Vec<u32>,
        racks: u64,
        halving: &mut SwitchCellBisector,
    ) -> Result<(), Interrupted> {
        let racks = racks.min(cell.len() as u64);
        if racks <= 1 {
            halving.found.push(cell);
            return Ok(());
        }
        let (few, many) = (racks / 2, racks - racks / 2);
        let mut graph = self.induced(&cell, &self.masses(&cell), &mut halving.places);
        // the side with fewer racks is as heavy as the other with this much added
        graph.held = graph.masses.iter().sum::<u64>() / racks * (many - few);
        let seed = self.limits.rules.seed;
        let done = halving.found.len() as u64;
        let tick = || self.watch.tick("racks", done, done + racks);
        let even = least_difference(&graph);
        let mut best: Option<GraphBisection> = None;
        for start in 0..STARTS {
            let index = (u64::from(cell[0]) << 32) | (cell.len() as u64) << 8 | start;
            let mut draw = RandomStream::new(seed, "racks", index);
            let found = halve_best_of(&graph, 0, halving.attempts, &mut draw, &tick)?;
            let worth = |h: &GraphBisection| (h.difference, h.cut);
            if best.as_ref().is_none_or(|best| worth(&found) < worth(best)) {
                best = Some(found);
            }
            if best.as_ref().is_some_and(|best| best.difference <= even)
                && self.switches.len() > SMALL
            {
                break;
            }
        }
        let side = best.expect("there is more than one start").side;
        let of = |yes: bool| -> Vec<u32> {
            cell.iter().zip(&side).filter(|s| *s.1 == yes).map(|(&p, _)| p).collect()
        };
        let mut halves = [(of(true), few), (of(false), many)];
        halves.sort_by_key(|(half, _)| half.first().copied());
        for (half, racks) in halves.into_iter().filter(|(half, _)| !half.is_empty()) {
            self.divide(half, racks, halving)?;
        }
        Ok(())
    }

    /// Moves pieces out of overfull racks: each to the rack with room where the number of cables
    /// between racks grows least, to a new rack where none has room. O(pieces * (racks + cables))
    /// at worst.
    fn relieve(&self, racks: &mut Vec<Vec<u32>>) {
        let mut of = vec![u32::MAX; self.switches.len()];
        for (rack, pieces) in (0..).zip(racks.iter()) {
            for &p in pieces {
                of[p as usize] = rack;
            }
        }
        let mut from = 0;
        while from < racks.len() {
            if racks[from].len() <= 1 || self.hold(&racks[from]) {
                from += 1;
                continue;
            }
            let (place, to) = self.best_move(racks, from, &of);
            if to == racks.len() {
                racks.push(Vec::new());
            }
            let piece = racks[from].remove(place);
            of[piece as usize] = to as u32;
            let at = racks[to].partition_point(|&p| p < piece);
            racks[to].insert(at, piece);
        }
    }

    /// Which piece of rack `from` should move, and to which rack.
    fn best_move(&self, racks: &[Vec<u32>], from: usize, of: &[u32]) -> (usize, usize) {
        let room = |to: usize, piece: u32| {
            let counted = self.limits.rules.counts_endpoints();
            let load = self.load(&racks[to], counted).and(self.load(&[piece], counted));
            to != from && self.limits.hold(load)
        };
        let bound = |piece: u32, to: usize| -> i64 {
            let edges = self.cables.edges(piece as usize);
            edges.filter(|&(q, _)| of[q] == to as u32).map(|(_, w)| i64::from(w)).sum()
        };
        let mut best: Option<((i64, bool), usize, usize)> = None;
        for (place, &piece) in racks[from].iter().enumerate() {
            let edges = self.cables.edges(piece as usize);
            let mut linked: Vec<usize> = edges.map(|(q, _)| of[q] as usize).collect();
            linked.retain(|&to| to < racks.len());
            linked.sort_unstable();
            linked.dedup();
            let near = linked.into_iter().filter(|&to| room(to, piece));
            let near = near.max_by_key(|&to| (bound(piece, to), std::cmp::Reverse(to)));
            let to = near.or_else(|| (0..racks.len()).find(|&to| room(to, piece)));
            let to = to.unwrap_or(racks.len());
            let gain = bound(piece, to) - bound(piece, from);
            if best.is_none_or(|(least, ..)| (gain, to < racks.len()) > least) {
                best = Some(((gain, to < racks.len()), place, to));
            }
        }
        let (_, place, to) = best.expect("the rack is not empty");
        (place, to)
    }

    /// The cables between these racks.
    pub(super) fn between(&self, racks: &[Vec<u32>]) -> WeightedGraph {
        let mut of = vec![0; self.switches.len()];
        for (rack, pieces) in (0..).zip(racks) {
            for &p in pieces {
                of[p as usize] = rack;
            }
        }
        let own = (0..self.switches.len()).flat_map(|p| {
            let forth = self.cables.edges(p).filter(move |&(q, _)| p < q);
            forth.flat_map(move |(q, w)| std::iter::repeat_n((p, q), w as usize))
        });
        rows(racks.len(), own.map(|(p, q)| (of[p], of[q])))
    }

    /// Number of cables between racks when the pieces are in `racks`.
    pub(super) fn crossing(&self, racks: &[Vec<u32>]) -> u64 {
        let between = self.between(racks);
        between.weights.iter().map(|&w| u64::from(w)).sum::<u64>() / 2
    }
}

/// Number of cables between the racks of `cell`, whose own cables are `within`.
fn cut(cell: &[u32], within: &WeightedGraph, racks: &[Vec<u32>]) -> u64 {
    let mut of = vec![0; cell.len()];
    for (rack, pieces) in racks.iter().enumerate() {
        for p in pieces {
            of[cell.binary_search(p).expect("a piece of the cell")] = rack;
        }
    }
    let across = |v: usize| -> u64 {
        let edges = within.edges(v).filter(|&(w, _)| of[w] != of[v]);
        edges.map(|(_, weight)| u64::from(weight)).sum()
    };
    (0..cell.len()).map(across).sum::<u64>() / 2
}

/// The graph of `size` vertices with these edges; equal edges add up, loops are left out.
fn rows(size: usize, pairs: impl Iterator<Item = (u32, u32)>) -> WeightedGraph {
    let mut both: Vec<(u32, u32)> =
        pairs.filter(|(a, b)| a != b).flat_map(|(a, b)| [(a, b), (b, a)]).collect();
    both.sort_unstable();
    let mut graph = WeightedGraph {
        offsets: vec![0; size + 1],
        targets: Vec::new(),
        weights: Vec::new(),
        masses: vec![1; size],
        held: 0,
    };
    for same in both.chunk_by(|a, b| a == b) {
        let (from, to) = same[0];
        graph.targets.push(to);
        graph.weights.push(same.len() as u32);
        graph.offsets[from as usize + 1] = graph.targets.len() as u32;
    }
    for v in 0..size {
        graph.offsets[v + 1] = graph.offsets[v + 1].max(graph.offsets[v]);
    }
    graph
}

/// The least that the masses of two sides differ by: exact where all are alike, else whether their
/// sum is odd.
fn least_difference(graph: &WeightedGraph) -> u64 {
    let first = graph.masses.first().copied().unwrap_or(0).max(1);
    let alike = graph.masses.iter().all(|&m| m == first);
    let unit = if alike { first } else { 1 };
    let rest = (graph.masses.iter().sum::<u64>() + graph.held) % (2 * unit);
    rest.min(2 * unit - rest)
}
