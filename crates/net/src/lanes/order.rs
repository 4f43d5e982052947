//! An order of channels that grows with the turns taken: tells at once what would close a cycle.
//!
//! Source: Marchetti-Spaccamela, Nanni, Rohnert, "Maintaining a topological order under edge
//! insertions", Information Processing Letters 59, 1996, with the search in both directions of
//! Bender, Fineman, Gilbert, Tarjan, "A new approach to incremental cycle detection and related
//! problems", ACM Transactions on Algorithms 12(2), 2016.

use crate::dependencies::Dependencies;
use crate::network::Topology;
use base::ChannelId;
use std::ops::RangeInclusive;

/// A channel, and the lane on it.
pub(crate) type Held = (ChannelId, u8);

/// The turns taken, and an order of the (channel, lane) pairs in which they all go forward.
pub(crate) struct Order<'a> {
    dependencies: &'a Dependencies,
    lanes: usize,
    /// By pair: `channel * lanes + lane`.
    position: Vec<u32>,
    /// The pair at each position.
    at: Vec<u32>,
    state: Vec<Turn>,
    after: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
    mark: Vec<u32>,
    marks: u32,
    /// What was taken and refused since it was settled, in order.
    taken: Vec<(Held, Held)>,
    refused: Vec<usize>,
}

/// What is known of a turn. Turns only come in, so one that closes a cycle always will.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Unknown,
    Taken,
    Refused,
}

impl<'a> Order<'a> {
    /// No turns yet on one lane, channels in the order of their numbers.
    pub(crate) fn new(on: &Topology, dependencies: &'a Dependencies) -> Self {
        let position = (0..on.graph().links() as u32 * 2).collect();
        Self::with_positions(dependencies, 1, position)
    }

    /// No turns yet, on several lanes: pair `channel * lanes + lane` at `position`.
    pub(crate) fn with_positions(
        dependencies: &'a Dependencies,
        lanes: usize,
        position: Vec<u32>,
    ) -> Self {
        let pairs = position.len();
        let mut at = vec![0; pairs];
        for (v, &place) in (0..).zip(&position) {
            at[place as usize] = v;
        }
        Self {
            dependencies,
            lanes,
            position,
            at,
            state: vec![Turn::Unknown; dependencies.count() * lanes * lanes],
            after: vec![Vec::new(); pairs],
            before: vec![Vec::new(); pairs],
            mark: vec![0; pairs],
            marks: 0,
            taken: Vec::new(),
            refused: Vec::new(),
        }
    }

    #[inline]
    fn pair(&self, (channel, lane): Held) -> usize {
        channel.0 as usize * self.lanes + usize::from(lane)
    }

    #[inline]
    fn turn(&self, a: Held, b: Held) -> usize {
        let dependency = self.dependencies.of(a.0, b.0);
        (dependency * self.lanes + usize::from(a.1)) * self.lanes + usize::from(b.1)
    }

    /// Empties the lane and turns its order round.
    pub(crate) fn reverse(&mut self) {
        let last = self.position.len() as u32 - 1;
        self.position.iter_mut().for_each(|p| *p = last - *p);
        self.at.reverse();
        self.state.fill(Turn::Unknown);
        self.after.iter_mut().for_each(Vec::clear);
        self.before.iter_mut().for_each(Vec::clear);
        self.settle();
    }

    /// Takes a path with all its turns, or refuses it and leaves the lane as it was.
    pub(crate) fn take(&mut self, turns: impl Iterator<Item = (Held, Held)> + Clone) -> bool {
        if turns.clone().any(|(a, b)| self.is_refused(a, b)) {
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
    pub(crate) fn take_turn(&mut self, a: Held, b: Held) -> bool {
        let turn = self.turn(a, b);
        match self.state[turn] {
            Turn::Taken => return true,
            Turn::Refused => return false,
            Turn::Unknown => {}
        }
        if !self.make_forward(a, b) {
            self.state[turn] = Turn::Refused;
            self.refused.push(turn);
            return false;
        }
        self.state[turn] = Turn::Taken;
        let (from, to) = (self.pair(a), self.pair(b));
        self.after[from].push(to as u32);
        self.before[to].push(from as u32);
        self.taken.push((a, b));
        true
    }

    /// Whether the turn was refused before.
    #[inline]
    pub(crate) fn is_refused(&self, a: Held, b: Held) -> bool {
        self.state[self.turn(a, b)] == Turn::Refused
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
            self.state[turn] = Turn::Unknown;
        }
    }

    /// Gives back the turns from the `begun`-th taken on.
    fn give_back(&mut self, begun: usize) {
        while self.taken.len() > begun {
            let Some((a, b)) = self.taken.pop() else { break };
            let turn = self.turn(a, b);
            self.state[turn] = Turn::Unknown;
            let (from, to) = (self.pair(a), self.pair(b));
            self.after[from].pop();
            self.before[to].pop();
        }
    }

    /// Changes the order so that `a` comes before `b`; false when turns taken lead from `b` to `a`.
    ///
    /// What `b` leads to and what leads to `a`, both between them in the order, are searched in
    /// turn, so that a cycle is found halfway and the smaller of the two is known first; that one
    /// moves past the other end, and what stood between closes ranks.
    fn make_forward(&mut self, a: Held, b: Held) -> bool {
        let (a, b) = (self.pair(a) as u32, self.pair(b) as u32);
        let (low, high) = (self.position[b as usize], self.position[a as usize]);
        if high < low {
            return true;
        }
        self.marks += 2;
        let (behind, ahead) = (self.marks - 1, self.marks);
        let mut sides = [Side::new(b, behind), Side::new(a, ahead)];
        self.mark[b as usize] = behind;
        self.mark[a as usize] = ahead;
        while sides.iter().all(|side| side.head < side.found.len()) {
            let forth = sides[0].work <= sides[1].work;
            let side = &mut sides[usize::from(!forth)];
            let v = side.found[side.head] as usize;
            let next = if forth { &self.after[v] } else { &self.before[v] };
            side.head += 1;
            side.work += next.len() + 1;
            for &to in next {
                let (mark, at) = (self.mark[to as usize], self.position[to as usize]);
                if mark == behind + ahead - side.mark {
                    return false;
                }
                if mark != side.mark && (low..=high).contains(&at) {
                    self.mark[to as usize] = side.mark;
                    side.found.push(to);
                }
            }
        }
        let whole = sides[0].head == sides[0].found.len();
        self.shift(low as usize..=high as usize, if whole { behind } else { ahead }, whole);
        true
    }

    /// Moves the marked pairs of a range of places to its end, or its beginning, in their order.
    fn shift(&mut self, range: RangeInclusive<usize>, mark: u32, to_end: bool) {
        let (low, high) = (*range.start(), *range.end());
        let marked = |own: &Self, v: u32| own.mark[v as usize] == mark;
        let (mut moved, mut kept) = (Vec::new(), Vec::with_capacity(high - low + 1));
        for &v in &self.at[range] {
            if marked(self, v) { moved.push(v) } else { kept.push(v) }
        }
        let (first, last) = if to_end { (kept, moved) } else { (moved, kept) };
        for (place, v) in (low..).zip(first.into_iter().chain(last)) {
            self.at[place] = v;
            self.position[v as usize] = place as u32;
        }
    }
}

/// One of the two searches for a cycle.
struct Side {
    found: Vec<u32>,
    head: usize,
    work: usize,
    mark: u32,
}

impl Side {
    fn new(start: u32, mark: u32) -> Self {
        Self { found: vec![start], head: 0, work: 0, mark }
    }
}
