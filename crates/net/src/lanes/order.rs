//! An order of channels that grows with the turns taken: tells at once what would close a cycle.
//!
//! Source: Pearce & Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", ACM
//! Journal of Experimental Algorithmics 11, 2006.

use crate::dependencies::Dependencies;
use crate::network::Topology;
use base::ChannelId;

/// The turns taken into a lane, and an order of the channels in which they all go forward.
pub(crate) struct Order<'a> {
    dependencies: &'a Dependencies,
    /// Whether the order may change for a turn that goes backward in it.
    flexible: bool,
    position: Vec<u32>,
    state: Vec<Turn>,
    after: Vec<Vec<ChannelId>>,
    before: Vec<Vec<ChannelId>>,
    mark: Vec<u32>,
    marks: u32,
    /// What was taken and refused since it was settled, in order.
    taken: Vec<(ChannelId, ChannelId)>,
    refused: Vec<u32>,
}

/// What a lane knows of a turn. Turns only come in, so one that closes a cycle always will.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Unknown,
    Taken,
    Refused,
}

impl<'a> Order<'a> {
    /// An empty lane, channels in the order of their numbers.
    pub(crate) fn new(on: &Topology, dependencies: &'a Dependencies, flexible: bool) -> Self {
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
            taken: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// Empties the lane and turns its order round.
    pub(crate) fn reverse(&mut self) {
        let last = self.position.len() as u32 - 1;
        self.position.iter_mut().for_each(|p| *p = last - *p);
        self.state.fill(Turn::Unknown);
        self.after.iter_mut().for_each(Vec::clear);
        self.before.iter_mut().for_each(Vec::clear);
        self.settle();
    }

    /// Takes a path with all its turns, or refuses it and leaves the lane as it was.
    pub(crate) fn take(
        &mut self,
        turns: impl Iterator<Item = (ChannelId, ChannelId)> + Clone,
    ) -> bool {
        let refused = |(a, b)| self.is_refused(a, b);
        if turns.clone().any(refused) {
            return false;
        }
        let begun = self.taken.len();
        for (a, b) in turns {
            if !self.take_turn(a, b) {
                self.give_back(begun);
                return false;
            }
        }
        true
    }

    /// Takes one turn, unless it would close a cycle.
    #[inline]
    pub(crate) fn take_turn(&mut self, a: ChannelId, b: ChannelId) -> bool {
        let turn = self.dependencies.of(a, b);
        match self.state[turn] {
            Turn::Taken => return true,
            Turn::Refused => return false,
            Turn::Unknown => {}
        }
        if !self.make_forward(a, b) {
            self.state[turn] = Turn::Refused;
            self.refused.push(turn as u32);
            return false;
        }
        self.state[turn] = Turn::Taken;
        if self.flexible {
            self.after[a.0 as usize].push(b);
            self.before[b.0 as usize].push(a);
        }
        self.taken.push((a, b));
        true
    }

    /// Whether the turn was refused before.
    #[inline]
    pub(crate) fn is_refused(&self, a: ChannelId, b: ChannelId) -> bool {
        self.state[self.dependencies.of(a, b)] == Turn::Refused
    }

    /// Makes what was taken and refused so far final: [`Order::undo`] goes back to here.
    pub(crate) fn settle(&mut self) {
        self.taken.clear();
        self.refused.clear();
    }

    /// Gives back every turn taken since it was settled, and forgets what was refused since.
    pub(crate) fn undo(&mut self) {
        self.give_back(0);
        for turn in self.refused.drain(..) {
            self.state[turn as usize] = Turn::Unknown;
        }
    }

    /// Gives back the turns from the `begun`-th taken on.
    fn give_back(&mut self, begun: usize) {
        for (a, b) in self.taken.drain(begun..).rev() {
            self.state[self.dependencies.of(a, b)] = Turn::Unknown;
            if self.flexible {
                self.after[a.0 as usize].pop();
                self.before[b.0 as usize].pop();
            }
        }
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
