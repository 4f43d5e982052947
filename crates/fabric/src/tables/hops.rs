//! The next hop of every switch towards one destination.

use super::ForwardingTree;
use crate::Topology;
use base::{ChannelId, SwitchId};

/// The hops of all switches towards one terminal.
#[derive(Default)]
pub struct TerminalNextHops {
    /// The channel by which each switch forwards; [`TerminalNextHops::NONE`] where it delivers or
    /// drops.
    pub channel: Vec<u32>,
    /// The switch that this channel leads to.
    pub next: Vec<u32>,
}

impl TerminalNextHops {
    /// The mark of a switch that forwards by no channel.
    pub const NONE: u32 = u32::MAX;

    /// Recomputes the hops for `tree`, a row of the table, and reuses the memory. O(switches).
    pub fn resolve(&mut self, on: &Topology, tree: ForwardingTree<'_>) {
        self.channel.clear();
        self.next.clear();
        for (v, port) in tree.ports().enumerate() {
            let (channel, next) = Self::hop(on, v, port);
            self.channel.push(channel);
            self.next.push(next);
        }
    }

    /// Recomputes the hops of these switches alone.
    pub fn resolve_at(&mut self, on: &Topology, tree: ForwardingTree<'_>, switches: &[u32]) {
        for v in switches.iter().map(|&v| v as usize) {
            (self.channel[v], self.next[v]) = Self::hop(on, v, tree.port(v));
        }
    }

    #[inline]
    fn hop(on: &Topology, v: usize, port: u16) -> (u32, u32) {
        on.hop(SwitchId::from(v), port).map_or((Self::NONE, 0), |(c, to)| (c.0, to.0))
    }

    /// The turn that a path through switch `v` takes at the next switch, and that switch.
    #[inline]
    pub fn turn(&self, v: usize) -> Option<(ChannelId, ChannelId, usize)> {
        let (from, at) = (self.channel[v], self.next[v] as usize);
        if from == Self::NONE || self.channel[at] == Self::NONE {
            return None;
        }
        Some((ChannelId(from), ChannelId(self.channel[at]), at))
    }

    /// The turns of the path from switch `v`.
    pub fn turns(&self, v: usize) -> impl Iterator<Item = (ChannelId, ChannelId)> + Clone {
        let first = self.turn(v);
        let all = std::iter::successors(first, |&(_, _, at)| self.turn(at));
        all.map(|(from, to, _)| (from, to))
    }
}
