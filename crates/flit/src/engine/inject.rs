//! Injection: what the endpoints of a router send into it.

use super::board::BitCalendar;
use super::context::{ANY, CycleContext};
use super::source::PacketMeasurementRule;
use super::tally::TrafficCounts;
use super::unit::RouterState;
use paths::guide::RoutingGuide;

/// Sends what the endpoints of a router inject in cycle `now`.
#[inline]
pub(super) fn inject<
    G: RoutingGuide + ?Sized,
    const S: u32,
    const N: usize,
    const W: usize,
    const M: usize,
>(
    unit: &mut RouterState<N, W, M>,
    now: u32,
    on: &CycleContext<'_, G>,
    tally: &mut TrafficCounts,
    calendar: &BitCalendar,
) {
    let when = PacketMeasurementRule::new(now, on);
    for source in &mut unit.sources {
        if source.wake > now {
            continue;
        }
        let port = source.port() & (M - 1);
        let open = unit.open[port];
        let sent = if S < ANY {
            source.only::<G, S>(when, open, on, tally)
        } else {
            source.any(when, open, on, tally, &unit.enter)
        };
        let Some((v, flit)) = sent else { continue };
        let lane = (port << on.stride::<S>() | usize::from(v)) & (N - 1);
        let at = unit.enter[lane];
        on.board.rings.set(at as usize, flit);
        unit.enter[lane] = on.next_place(at);
        unit.room[lane] -= 1;
        unit.open[port] = open & !(u32::from(unit.room[lane] == 0) << v);
        let place = unit.place + (lane >> 6) as u32 * on.pitch;
        calendar.mark(now + source.delay, place, lane as u32);
        tally.injected += 1;
    }
}

/// Handles a credit that returned to an endpoint for a lane of the router: once all credits are
/// back and the tail flit has left, another packet may take the lane.
pub(super) fn lane_credited<G: ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    lane: usize,
    on: &CycleContext<'_, G>,
) {
    if u32::from(unit.room[lane]) != on.full {
        return;
    }
    let (port, channel) = (lane >> on.stride, lane & ((1 << on.stride) - 1));
    if let Some(source) = unit.sources.iter_mut().find(|s| s.port() == port) {
        source.release(channel);
    }
}
