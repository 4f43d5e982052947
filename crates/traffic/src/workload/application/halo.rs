//! Neighbours in a grid of ranks, and the exchange of what lies at the borders.

use crate::workload::{Message, Script};

/// A grid of ranks, the last side the fastest.
#[derive(Debug)]
pub(super) struct Halo {
    pub(super) sides: Vec<u32>,
    /// Whether the last is a neighbour of the first.
    pub(super) periodic: bool,
    /// Whether ranks across edges and corners are neighbours too.
    pub(super) diagonal: bool,
}

/// A step of -1, 0 or 1 in each direction.
type Way = Vec<i32>;

impl Halo {
    /// All ways to neighbours: the opposite of the first is the last, and so on.
    fn ways(&self) -> Vec<Way> {
        let sides = self.sides.len() as u32;
        let way = |n: usize| -> Way {
            (0..sides).rev().map(|i| (n as i32 / 3_i32.pow(i)) % 3 - 1).collect()
        };
        let turns = |way: &Way| way.iter().filter(|&&step| step != 0).count();
        let all = (0..3_usize.pow(sides)).map(way);
        all.filter(|way| turns(way) == 1 || (self.diagonal && turns(way) > 1)).collect()
    }

    /// The rank one step that way; none beyond the border, and none where it is the same rank.
    fn neighbour(&self, rank: u32, way: &Way) -> Option<u32> {
        let (mut stride, mut found) = (1, 0);
        let mut left = rank;
        for (&side, &step) in self.sides.iter().zip(way).rev() {
            let at = i64::from(left % side) + i64::from(step);
            if !self.periodic && !(0..i64::from(side)).contains(&at) {
                return None;
            }
            found += at.rem_euclid(side.into()) as u32 * stride;
            stride *= side;
            left /= side;
        }
        (found != rank).then_some(found)
    }

    /// The messages of a rank, to and from its neighbours: `bytes` by the way.
    pub(super) fn messages(
        &self,
        rank: u32,
        tag: u32,
        bytes: &dyn Fn(&[i32]) -> u64,
    ) -> (Vec<Message>, Vec<Message>) {
        let ways = self.ways();
        let (mut to, mut from) = (Vec::new(), Vec::new());
        for (i, way) in ways.iter().enumerate() {
            if let Some(other) = self.neighbour(rank, way) {
                to.push((other, bytes(way), tag + i as u32));
                // what comes from there went the opposite way
                from.push((other, bytes(way), tag + (ways.len() - 1 - i) as u32));
            }
        }
        (to, from)
    }

    /// Exchanges with all neighbours at once.
    pub(super) fn exchange(
        &self,
        rank: u32,
        tag: u32,
        bytes: &dyn Fn(&[i32]) -> u64,
        to: &mut Script<'_>,
        after: &[u32],
    ) -> Vec<u32> {
        let (leaving, coming) = self.messages(rank, tag, bytes);
        to.exchange(&leaving, &coming, after)
    }
}
