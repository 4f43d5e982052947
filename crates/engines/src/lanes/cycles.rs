//! Cycle by cycle: all paths over one edge of a cycle move to the next lane, until none is left.
//!
//! Source: Domke, Hoefler, Nagel, "Deadlock-free oblivious routing for arbitrary topologies", IPDPS
//! 2011, section IV: the edge is the one that fewest paths take, that most take, or a random one.

use super::method::{Found, Method, Spread, too_few};
use super::paths::{each_path, turns_of};
use base::seed::Stream;
use base::{ChannelId, Interrupted, Stop, Watch};
use fabric::network::Topology;
use fabric::tables::Routing;
use fabric::turns::Dependencies;

/// A lane for every path of `routing`.
///
/// # Errors
/// When `max_lanes` are not enough, or `watch` says stop.
pub(super) fn lanes(routing: &Routing, how: &Spread, watch: &dyn Watch) -> Result<Found, Stop> {
    let dependencies = Dependencies::new(routing.topology());
    let mut lane_of = vec![0_u8; routing.entries()];
    let mut random = Stream::new(how.seed, "edges of cycles", 0);
    for lane in 0..how.max_lanes {
        let mut users = Users::new(routing, &dependencies, &mut lane_of, lane, watch)?;
        let mut moved = 0_u64;
        let mut search = Search::new(routing.topology(), &dependencies);
        while let Some(cycle) = search.cycle(&users.count) {
            watch.tick("lanes", lane.into(), how.max_lanes.into())?;
            let edge = match how.method {
                Method::Lightest => cycle.iter().min_by_key(|e| users.count[**e]),
                Method::Heaviest => cycle.iter().rev().max_by_key(|e| users.count[**e]),
                _ => cycle.get(random.below(cycle.len() as u64) as usize),
            };
            users.leave(*edge.expect("a cycle has edges"), &mut lane_of);
            search.cut(&users.count);
            moved += 1;
        }
        if moved == 0 {
            return Ok(Found { lane_of, lanes: lane + 1 });
        }
    }
    Err(too_few(how.max_lanes).into())
}

/// Which paths of a lane take each dependency.
struct Users<'a> {
    routing: &'a Routing,
    dependencies: &'a Dependencies,
    lane: u8,
    /// Paths on the lane, by dependency.
    count: Vec<u32>,
    /// Paths that were on the lane at first: those of dependency `d` from `first[d]` on.
    first: Vec<usize>,
    paths: Vec<u32>,
}

impl<'a> Users<'a> {
    fn new(
        routing: &'a Routing,
        dependencies: &'a Dependencies,
        lane_of: &mut [u8],
        lane: u8,
        watch: &dyn Watch,
    ) -> Result<Self, Interrupted> {
        let mut count = vec![0_u32; dependencies.count()];
        each_path(routing, lane_of, lane, watch, |_, _, turns| {
            turns.for_each(|(a, b)| count[dependencies.of(a, b)] += 1);
        })?;
        let mut first = Vec::with_capacity(count.len() + 1);
        let mut total = 0;
        first.push(0);
        for &n in &count {
            total += n as usize;
            first.push(total);
        }
        let mut own = Self { routing, dependencies, lane, count, first, paths: vec![0; total] };
        let mut free = own.first.clone();
        each_path(routing, lane_of, lane, watch, |path, _, turns| {
            for (a, b) in turns {
                let at = &mut free[dependencies.of(a, b)];
                own.paths[*at] = path as u32;
                *at += 1;
            }
        })?;
        Ok(own)
    }

    /// Moves all paths over dependency `edge` to the next lane.
    fn leave(&mut self, edge: usize, lane_of: &mut [u8]) {
        for i in self.first[edge]..self.first[edge + 1] {
            let path = self.paths[i] as usize;
            if lane_of[path] == self.lane {
                lane_of[path] = self.lane + 1;
                for (a, b) in turns_of(self.routing, path) {
                    self.count[self.dependencies.of(a, b)] -= 1;
                }
            }
        }
    }
}

/// A depth-first search for cycles that goes on where dependencies vanish.
struct Search<'a> {
    on: &'a Topology,
    dependencies: &'a Dependencies,
    state: Vec<State>,
    /// The way to where it is: a channel, and which of its dependencies is looked at.
    way: Vec<(ChannelId, usize)>,
    next_root: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    OnWay,
    Done,
}

impl<'a> Search<'a> {
    fn new(on: &'a Topology, dependencies: &'a Dependencies) -> Self {
        let state = vec![State::New; on.graph().links() * 2];
        Self { on, dependencies, state, way: Vec::new(), next_root: 0 }
    }

    /// The dependencies of the next cycle, in order; `None` when there is none. After a cycle at
    /// least one of its dependencies must vanish, and [`Search::cut`] be told.
    fn cycle(&mut self, count: &[u32]) -> Option<Vec<usize>> {
        loop {
            let Some(&(at, slot)) = self.way.last() else {
                let root =
                    (self.next_root..self.state.len()).find(|&c| self.state[c] == State::New);
                self.next_root = root?;
                self.enter(ChannelId::from(self.next_root));
                continue;
            };
            let own = self.dependencies.of_channel(at);
            let Some(used) = (own.start + slot..own.end).find(|&d| count[d] > 0) else {
                self.state[at.0 as usize] = State::Done;
                self.way.pop();
                if let Some(last) = self.way.last_mut() {
                    last.1 += 1;
                }
                continue;
            };
            let slot = used - own.start;
            self.way.last_mut().expect("just seen").1 = slot;
            let to = self.on.graph().channels(self.on.head(at).switch.ix())[slot];
            match self.state[to.0 as usize] {
                State::New => self.enter(to),
                State::Done => self.way.last_mut().expect("just seen").1 += 1,
                State::OnWay => {
                    let begin = self.way.iter().position(|(c, _)| *c == to);
                    let part = &self.way[begin.expect("it is on the way")..];
                    let edge = |&(c, slot): &(ChannelId, usize)| {
                        self.dependencies.of_channel(c).start + slot
                    };
                    return Some(part.iter().map(edge).collect());
                }
            }
        }
    }

    /// Goes back to where the way is still one.
    fn cut(&mut self, count: &[u32]) {
        let broken = |(c, slot): &(ChannelId, usize)| {
            count[self.dependencies.of_channel(*c).start + slot] == 0
        };
        if let Some(at) = self.way.iter().position(broken) {
            for (c, _) in self.way.drain(at + 1..) {
                self.state[c.0 as usize] = State::New;
                self.next_root = self.next_root.min(c.0 as usize);
            }
        }
    }

    fn enter(&mut self, c: ChannelId) {
        self.state[c.0 as usize] = State::OnWay;
        self.way.push((c, 0));
    }
}
