//! Invariants between cycles: no flit or credit is lost or created, and some packet can move on.

use super::board::SharedRouterState;
use super::context::next_place;
use super::unit::RouterState;
use crate::router::RouterDesign;
use paths::wiring::{CableEnd, RouterWiring};

/// A packet that waits, and the channel whose buffer it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedPacket {
    /// The router that it is at.
    pub router: u32,
    /// The port that it came in by.
    pub port: u16,
    /// The virtual channel of that port on which it came in.
    pub lane: u8,
    /// The endpoint that it goes to.
    pub target: u32,
}

/// All routers between two cycles, and the state that they share.
pub(super) struct AuditedRouterStates<'a, const N: usize, const W: usize, const M: usize> {
    pub(super) units: Vec<&'a RouterState<N, W, M>>,
    pub(super) board: &'a SharedRouterState,
    pub(super) wiring: &'a RouterWiring,
    pub(super) router: &'a RouterDesign,
    pub(super) stride: u32,
    /// Number of virtual channels of a port.
    pub(super) lanes: u8,
    pub(super) full: u32,
}

impl<const N: usize, const W: usize, const M: usize> AuditedRouterStates<'_, N, W, M> {
    /// Checks that the flits in every buffer, those in flight to it, the credits in flight and the
    /// credits at the sender add up to what the buffer holds.
    ///
    /// # Errors
    /// The first buffer whose sum is wrong.
    pub(super) fn credits(&self) -> Result<(), String> {
        let in_flight = self.in_flight();
        for unit in &self.units {
            let words = unit.words as usize;
            let of = |kind: usize, lane: usize| {
                in_flight[(unit.word as usize + kind * words) * 64 + lane]
            };
            for lane in self.lanes_of(unit) {
                let (port, v) = self.port_of(lane);
                let (what, sum) = match self.wiring.ports(unit.router)[port].end {
                    CableEnd::Empty => continue,
                    // a flit for an endpoint and the credit for it share one bit of the calendar
                    CableEnd::Endpoint(_) => {
                        let inside = u32::from(unit.count[lane]) + of(0, lane);
                        let room = u32::from(unit.room[lane]) + of(2, lane);
                        if inside + room == self.full {
                            ("out", u32::from(unit.credits[lane]) + of(1, lane))
                        } else {
                            ("in", inside + room)
                        }
                    }
                    CableEnd::Router { router, port } => {
                        let to = self.units[router as usize];
                        let far = (usize::from(port) << self.stride) + v;
                        let arriving = in_flight[to.word as usize * 64 + far];
                        let inside = u32::from(to.count[far]) + arriving;
                        ("out", inside + u32::from(unit.credits[lane]) + of(1, lane))
                    }
                };
                if sum != self.full {
                    let (r, full) = (unit.router, self.full);
                    let why = format!("{sum} flits and credits where there are {full}");
                    return Err(format!("router {r}, port {port} {what}, channel {v}: {why}"));
                }
            }
        }
        Ok(())
    }

    /// Flits in buffers and in flight to buffers.
    pub(super) fn flits(&self) -> u64 {
        let in_flight = self.in_flight();
        let of = |unit: &&RouterState<N, W, M>| {
            let lanes = self.lanes_of(unit);
            let first = unit.word as usize * 64;
            lanes.map(|i| u64::from(unit.count[i]) + u64::from(in_flight[first + i])).sum::<u64>()
        };
        self.units.iter().map(of).sum()
    }

    /// Calls `see` with every flit in a buffer or in flight to one.
    pub(super) fn each_flit(&self, ring_mask: u32, mut see: impl FnMut(u64)) {
        let in_flight = self.in_flight();
        for unit in &self.units {
            for i in self.lanes_of(unit) {
                let mut at = unit.head[i];
                let arriving = in_flight[unit.word as usize * 64 + i];
                for _ in 0..u32::from(unit.count[i]) + arriving {
                    see(self.board.rings.get(at as usize));
                    at = next_place(at, ring_mask);
                }
            }
        }
    }

    /// Whether no flit or credit is in flight, between routers or between routers and endpoints.
    pub(super) fn is_still(&self) -> bool {
        self.in_flight().iter().all(|&marks| marks == 0)
    }

    /// For every bit of the calendars' words, the number of slots in which it is set.
    fn in_flight(&self) -> Vec<u32> {
        let mut sum = Vec::new();
        for calendar in &self.board.calendars {
            calendar.count(&mut sum);
        }
        sum
    }

    fn lanes_of(&self, unit: &RouterState<N, W, M>) -> impl Iterator<Item = usize> {
        let (stride, lanes) = (self.stride, usize::from(self.lanes));
        (0..unit.ports as usize).flat_map(move |p| (p << stride)..(p << stride) + lanes)
    }

    fn port_of(&self, lane: usize) -> (usize, usize) {
        (lane >> self.stride, lane & ((1 << self.stride) - 1))
    }

    /// Packets that wait for one another in a cycle and can never move on; none if there are none.
    ///
    /// Source: detection of knots. It starts from the packets that can move at once; a packet can
    /// also move if one of the lanes that it requests is free, or held by a packet that can move.
    /// O(lanes) for each of a few rounds.
    pub(super) fn deadlock(&self) -> Option<Vec<BlockedPacket>> {
        let mut goes: Vec<Vec<bool>> = self.units.iter().map(|_| vec![false; N]).collect();
        let holders = self.holders();
        loop {
            let mut changed = false;
            for (r, unit) in self.units.iter().enumerate() {
                for i in self.lanes_of(unit) {
                    if !goes[r][i]
                        && self.waits_for(r, i, &holders).iter().any(|w| match w {
                            Some((s, j)) => goes[*s][*j],
                            None => true,
                        })
                    {
                        goes[r][i] = true;
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let stuck = |&(r, i): &(usize, usize)| !goes[r][i];
        let all =
            (0..self.units.len()).flat_map(|r| self.lanes_of(self.units[r]).map(move |i| (r, i)));
        let mut at = { all }.find(|x| stuck(x) && self.units[x.0].count[x.1] > 0)?;
        let mut seen = Vec::new();
        while !seen.contains(&at) {
            seen.push(at);
            let next = self.waits_for(at.0, at.1, &holders).into_iter().flatten().find(stuck);
            at = next?;
        }
        let first = seen.iter().position(|x| *x == at)?;
        Some(seen[first..].iter().map(|&(r, i)| self.waiting(r, i)).collect())
    }

    fn waiting(&self, r: usize, i: usize) -> BlockedPacket {
        let unit = self.units[r];
        let (port, v) = self.port_of(i);
        let target = self.board.layout.target(self.board.rings.get(unit.head[i] as usize));
        BlockedPacket { router: unit.router, port: port as u16, lane: v as u8, target }
    }

    /// For each router and output lane, the input lane whose packet holds it.
    fn holders(&self) -> Vec<Vec<Option<usize>>> {
        let of = |unit: &&RouterState<N, W, M>| {
            let mut holders = vec![None; N];
            for i in self.lanes_of(unit).filter(|&i| unit.has_lane(i)) {
                holders[usize::from(unit.out[i])] = Some(i);
            }
            holders
        };
        self.units.iter().map(of).collect()
    }

    /// The input lane at the next router that an output lane leads to; none if it leads to an
    /// endpoint.
    fn next_lane(&self, r: usize, x: usize) -> Option<(usize, usize)> {
        let (port, v) = self.port_of(x);
        match self.wiring.ports(self.units[r].router)[port].end {
            CableEnd::Router { router, port } => {
                Some((router as usize, (usize::from(port) << self.stride) + v))
            }
            _ => None,
        }
    }

    /// The input lane that [`AuditedRouterStates::next_lane`] finds, if its buffer is full.
    fn full_lane(&self, r: usize, x: usize) -> Option<(usize, usize)> {
        self.next_lane(r, x).filter(|far| self.flits_in(*far) == self.full)
    }

    /// Flits in the buffer of an input lane.
    fn flits_in(&self, (r, i): (usize, usize)) -> u32 {
        u32::from(self.units[r].count[i])
    }

    /// What an input lane waits for: one of these lanes must move on first. `None` in the list
    /// means that it need not wait.
    fn waits_for(
        &self,
        r: usize,
        i: usize,
        holders: &[Vec<Option<usize>>],
    ) -> Vec<Option<(usize, usize)>> {
        let unit = self.units[r];
        let ports = self.wiring.ports(unit.router);
        if unit.count[i] == 0 {
            // the rest of its packet is in the lane before this one, if that packet holds this lane
            let (port, v) = self.port_of(i);
            let CableEnd::Router { router, port } = ports[port].end else { return vec![None] };
            let before = (usize::from(port) << self.stride) + v;
            let holder = holders[router as usize][before].filter(|_| unit.has_lane(i));
            return vec![holder.map(|j| (router as usize, j))];
        }
        if unit.has_lane(i) {
            let x = usize::from(unit.out[i]);
            return vec![self.full_lane(r, x).filter(|_| unit.credits[x] == 0)];
        }
        if unit.asking[i / 64] >> (i & 63) & 1 == 0 {
            return vec![None];
        }
        let mut found = Vec::new();
        for want in unit.wants_of(i) {
            let first = usize::from(want.port) << self.stride;
            let lanes = (0..self.lanes).filter(|v| want.lanes >> v & 1 == 1);
            found.extend(lanes.map(|v| {
                let x = first + usize::from(v);
                let is_free = unit.free[x / 64] >> (x & 63) & 1 == 1;
                let kind = self.router;
                match holders[r][x] {
                    Some(j) if !is_free => Some((r, j)),
                    // the last packet that used it holds it until that packet has left the next
                    // buffer
                    None if !is_free => self.next_lane(r, x).filter(|far| self.flits_in(*far) > 0),
                    _ if kind.vc_busy_when_full && unit.credits[x] == 0 => self.full_lane(r, x),
                    _ => None,
                }
            }));
        }
        found
    }
}
