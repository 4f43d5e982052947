//! The paths of a routing and their turns, one after the other in a fixed order.

use base::{ChannelId, Interrupted, SwitchId, TerminalId, Watch};
use fabric::tables::{Routing, Tree};

/// Calls `visit` with every path on `lane`, in a fixed order: its place in `lane_of`, its entry
/// there and its turns.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub(super) fn each_path(
    routing: &Routing,
    lane_of: &mut [u8],
    lane: u8,
    watch: &dyn Watch,
    mut visit: impl FnMut(usize, &mut u8, Turns<'_>),
) -> Result<(), Interrupted> {
    let on = routing.topology();
    let sources = routing.sources();
    let switches = on.switches().len();
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    for (i, (layer, t)) in routing.destinations().enumerate() {
        watch.tick("lanes", i as u64, total)?;
        let row = (layer as usize * on.terminals().len() + t.ix()) * switches;
        let tree = routing.tree(layer, t);
        let home = on.terminals()[t.ix()].plug.switch;
        for &(s, _) in sources.of_plane(on.plane_of(t)) {
            if s == home || lane_of[row + s.ix()] != lane {
                continue;
            }
            let path = row + s.ix();
            visit(path, &mut lane_of[path], Turns::of(routing, tree, s));
        }
    }
    Ok(())
}

/// The turns of the path with entry `path`.
pub(super) fn turns_of(routing: &Routing, path: usize) -> Turns<'_> {
    let on = routing.topology();
    let (row, source) = (path / on.switches().len(), path % on.switches().len());
    let (layer, terminal) = (row / on.terminals().len(), row % on.terminals().len());
    let tree = routing.tree(layer as u32, TerminalId::from(terminal));
    Turns::of(routing, tree, SwitchId::from(source))
}

/// The turns of one path: pairs of channels held one after the other.
#[derive(Clone)]
pub(crate) struct Turns<'a> {
    routing: &'a Routing,
    tree: Tree<'a>,
    held: Option<(ChannelId, SwitchId)>,
}

impl<'a> Turns<'a> {
    /// The turns of the path from `source` along `tree`.
    pub(crate) fn of(routing: &'a Routing, tree: Tree<'a>, source: SwitchId) -> Self {
        Self { routing, tree, held: routing.step(tree, source) }
    }
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
