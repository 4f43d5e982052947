//! Virtual lanes for given routes: paths are spread so that no lane's dependencies form a cycle.
//!
//! Source: Dally & Seitz, "Deadlock-free message routing in multiprocessor interconnection
//! networks", 1987 (a lane is free of deadlock when its channel dependency graph has no cycle);
//! Skeie, Lysne, Theiss, "Layered shortest path (LASH) routing", 2002 (a path goes to the first
//! lane that it does not close a cycle in); Pearce & Kelly, "A dynamic topological sort algorithm
//! for directed acyclic graphs", 2006 (how that is found out without starting over).
//!
//! Every lane keeps an order of all channels in which each of its turns goes forward. Lane 0 starts
//! from the order of channel numbers, every further lane from its predecessor's order reversed: a
//! turn that was refused there goes forward here. So two lanes always suffice when no path has more
//! than two hops, and then the orders stay as they are, which also shares the paths out evenly.

use crate::dependencies::Dependencies;
use crate::network::Topology;
use crate::routing::{Lanes, RouteError, Routing, ServiceLevels, Sl2Vl};
use crate::verify::deadlock;
use base::{ChannelId, Refusal, SwitchId, Watch};

/// The data lanes of common hardware, which engines use unless told otherwise.
pub const fn common_lanes() -> u8 {
    8
}

/// Spreads the routes over as few lanes as the heuristic finds, service level = lane.
///
/// Paths of at most two hops: O(hops of all routes). Longer ones: besides, for each turn the part
/// of its lane's order that it spans, at most once a lane.
///
/// # Errors
/// When `max_lanes` is not 1 to 15 or not enough, or `watch` says stop.
pub fn break_cycles(
    routing: Routing,
    max_lanes: u8,
    watch: &dyn Watch,
) -> Result<Routing, RouteError> {
    if !(1..=15).contains(&max_lanes) {
        let why = format!("{max_lanes} lanes");
        return Err(Refusal::new("max_lanes", why, "1 to 15 data lanes").into());
    }
    let routing = routing.with_lanes(Lanes::single());
    if deadlock::is_free(&routing, watch)? {
        return Ok(routing);
    }
    let on = routing.topology().clone();
    let dependencies = Dependencies::new(&on);
    let mut lane_of = vec![0_u8; routing.next().len()];
    let mut longest = 0;
    each_path(&routing, &mut lane_of, 0, |_, turns| longest = longest.max(turns.count()));
    let mut order = Order::new(&on, &dependencies, longest > 1);
    for lane in 0..max_lanes {
        let mut moved = 0_u64;
        let (mut seen, mut stopped) = (0_u64, Ok(()));
        each_path(&routing, &mut lane_of, lane, |own, turns| {
            seen += 1;
            if seen.is_multiple_of(4096) && stopped.is_ok() {
                stopped = watch.tick("lanes", lane.into(), max_lanes.into());
            }
            if stopped.is_ok() && !order.take(turns) {
                *own = lane + 1;
                moved += 1;
            }
        });
        stopped?;
        if moved == 0 {
            let lanes = Lanes::new(ServiceLevels::BySwitch(lane_of), Sl2Vl::modulo(lane + 1));
            return Ok(routing.with_lanes(lanes));
        }
        order.reverse();
    }
    let why = format!("{max_lanes} lanes do not make these routes deadlock-free");
    Err(Refusal::new("max_lanes", why, "allow more lanes (up to 15), or use another engine").into())
}

/// The turns taken into a lane, and an order of the channels in which they all go forward.
struct Order<'a> {
    dependencies: &'a Dependencies,
    /// Whether the order may change for a turn that goes backward in it.
    flexible: bool,
    position: Vec<u32>,
    state: Vec<Turn>,
    after: Vec<Vec<ChannelId>>,
    before: Vec<Vec<ChannelId>>,
    mark: Vec<u32>,
    marks: u32,
}

/// What a lane knows of a turn. Turns only come in, so one that closes a cycle always will.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Unknown,
    Taken,
    Refused,
}

impl<'a> Order<'a> {
    fn new(on: &Topology, dependencies: &'a Dependencies, flexible: bool) -> Self {
        let channels = on.graph().links() * 2;
        Self {
            dependencies,
            flexible,
            position: (0..channels as u32).collect(),
            state: vec![Turn::Unknown; dependencies.count()],
            after: vec![Vec::new(); channels],
            before: vec![Vec::new(); channels],
            mark: vec![0; channels],
            marks: 0,
        }
    }

    /// Empties the lane and turns its order round.
    fn reverse(&mut self) {
        let last = self.position.len() as u32 - 1;
        self.position.iter_mut().for_each(|p| *p = last - *p);
        self.state.fill(Turn::Unknown);
        self.after.iter_mut().for_each(Vec::clear);
        self.before.iter_mut().for_each(Vec::clear);
    }

    /// Takes a path with all its turns, or refuses it and leaves the lane as it was.
    fn take(&mut self, turns: Turns<'_>) -> bool {
        let refused = |(a, b)| self.state[self.dependencies.of(a, b)] == Turn::Refused;
        if turns.clone().any(refused) {
            return false;
        }
        let mut fresh: Vec<(ChannelId, ChannelId)> = Vec::new();
        for (a, b) in turns {
            let turn = self.dependencies.of(a, b);
            if self.state[turn] == Turn::Taken {
                continue;
            }
            if !self.make_forward(a, b) {
                self.state[turn] = Turn::Refused;
                for (a, b) in fresh.into_iter().rev() {
                    self.state[self.dependencies.of(a, b)] = Turn::Unknown;
                    self.after[a.0 as usize].pop();
                    self.before[b.0 as usize].pop();
                }
                return false;
            }
            self.state[turn] = Turn::Taken;
            if self.flexible {
                self.after[a.0 as usize].push(b);
                self.before[b.0 as usize].push(a);
            }
            fresh.push((a, b));
        }
        true
    }

    /// Changes the order so that `a` comes before `b`; false when turns taken lead from `b` to `a`.
    fn make_forward(&mut self, a: ChannelId, b: ChannelId) -> bool {
        let (low, high) = (self.position[b.0 as usize], self.position[a.0 as usize]);
        if high < low {
            return true;
        }
        if !self.flexible {
            return false;
        }
        let Some(mut behind) = self.reach(b, a, |own, c| &own.after[c.0 as usize], |p| p <= high)
        else {
            return false;
        };
        let ahead = self.reach(a, b, |own, c| &own.before[c.0 as usize], |p| p >= low);
        let mut ahead = ahead.expect("no way from b to a was found, so there is none");
        // what leads to a, then what b leads to, on the places that both held
        ahead.sort_unstable_by_key(|c| self.position[c.0 as usize]);
        behind.sort_unstable_by_key(|c| self.position[c.0 as usize]);
        ahead.append(&mut behind);
        let mut places: Vec<u32> = ahead.iter().map(|c| self.position[c.0 as usize]).collect();
        places.sort_unstable();
        for (place, c) in places.into_iter().zip(ahead) {
            self.position[c.0 as usize] = place;
        }
        true
    }

    /// The channels that `next` leads to from `start` within `inside`; `None` when it meets `goal`.
    fn reach(
        &mut self,
        start: ChannelId,
        goal: ChannelId,
        next: impl Fn(&Self, ChannelId) -> &Vec<ChannelId>,
        inside: impl Fn(u32) -> bool,
    ) -> Option<Vec<ChannelId>> {
        self.marks += 1;
        let mut found = vec![start];
        self.mark[start.0 as usize] = self.marks;
        let mut head = 0;
        while let Some(&c) = found.get(head) {
            head += 1;
            for i in 0..next(self, c).len() {
                let to = next(self, c)[i];
                let (ix, marks) = (to.0 as usize, self.marks);
                if to == goal {
                    return None;
                }
                if self.mark[ix] != marks && inside(self.position[ix]) {
                    self.mark[ix] = marks;
                    found.push(to);
                }
            }
        }
        Some(found)
    }
}

/// Calls `visit` with every path on `lane`, in a fixed order: its entry in `lane_of` and its turns.
fn each_path(
    routing: &Routing,
    lane_of: &mut [u8],
    lane: u8,
    mut visit: impl FnMut(&mut u8, Turns<'_>),
) {
    let on = routing.topology();
    let sources = routing.sources();
    let switches = on.switches().len();
    for (layer, t) in routing.destinations() {
        let row = (layer as usize * on.terminals().len() + t.ix()) * switches;
        let tree = routing.tree(layer, t);
        let home = on.terminals()[t.ix()].plug.switch;
        for &(s, _) in sources.of_plane(on.plane_of(t)) {
            if s == home || lane_of[row + s.ix()] != lane {
                continue;
            }
            let turns = Turns { routing, tree, held: routing.step(tree, s) };
            visit(&mut lane_of[row + s.ix()], turns);
        }
    }
}

/// The turns of one path: pairs of channels held one after the other.
#[derive(Clone)]
struct Turns<'a> {
    routing: &'a Routing,
    tree: &'a [u16],
    held: Option<(ChannelId, SwitchId)>,
}

impl Iterator for Turns<'_> {
    type Item = (ChannelId, ChannelId);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (from, at) = self.held?;
        self.held = self.routing.step(self.tree, at);
        self.held.map(|(to, _)| (from, to))
    }
}
