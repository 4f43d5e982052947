//! Visits the paths of a routing and their turns, one after the other in a fixed order.

use base::{Interrupted, ProgressWatch, SwitchId, TerminalId};
use fabric::tables::{RouteTurns, Routing};

/// Calls `visit` with every path on `lane`, in a fixed order. `visit` gets the index of the path in
/// `lane_of`, the entry of `lane_of` at that index, and the turns of the path.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub(super) fn each_path(
    routing: &Routing,
    lane_of: &mut [u8],
    lane: u8,
    watch: &dyn ProgressWatch,
    mut visit: impl FnMut(usize, &mut u8, RouteTurns<'_>),
) -> Result<(), Interrupted> {
    let on = routing.topology();
    let sources = routing.sources();
    let switches = on.switches().len();
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    for (i, (layer, t)) in routing.destinations().enumerate() {
        watch.tick("lanes", i as u64, total)?;
        let row = (layer as usize * on.terminals().len() + t.ix()) * switches;
        let home = on.terminals()[t.ix()].plug.switch;
        for &(s, _) in sources.of_plane(on.plane_of(t)) {
            if s == home || lane_of[row + s.ix()] != lane {
                continue;
            }
            let path = row + s.ix();
            visit(path, &mut lane_of[path], routing.walk(layer, t, s).turns());
        }
    }
    Ok(())
}

/// The turns of the path with index `path`.
pub(super) fn turns_of(routing: &Routing, path: usize) -> RouteTurns<'_> {
    let on = routing.topology();
    let (row, source) = (path / on.switches().len(), path % on.switches().len());
    let (layer, terminal) = (row / on.terminals().len(), row % on.terminals().len());
    routing.walk(layer as u32, TerminalId::from(terminal), SwitchId::from(source)).turns()
}
