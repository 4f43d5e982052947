//! The ports that an engine chose in one layer, at the switches that have several next hops.
//! Switches with a single next hop are in the trees already.

use super::tree_cache::{NextHopChoices, NextHopTreeCache};
use super::trees::NextHopTree;
use base::SwitchId;
use fabric::network::Topology;
use fabric::tables::{ForwardingTableDraft, NO_ROUTE};

/// A switch and consecutive terminals attached to it, as [`super::tree_cache::runs`] lists them.
pub(super) type TerminalRun = (SwitchId, Vec<usize>);

/// The chosen ports towards the terminals of all runs.
#[derive(Clone, Default)]
pub(super) struct ChosenPorts {
    /// The index in `ports` at which the ports of each run begin.
    first: Vec<usize>,
    /// For each terminal of a run, the ports of the switches with several next hops, in the order
    /// of the tree.
    ports: Vec<u16>,
}

impl ChosenPorts {
    /// Makes room for the next run, with this number of terminals and of switches with several next
    /// hops.
    pub(super) fn begin_run(&mut self, terminals: usize, switches: usize) {
        self.first.push(self.ports.len());
        self.ports.resize(self.ports.len() + terminals * switches, NO_ROUTE);
    }

    /// The index in `ports` at which the ports towards the `i`-th terminal of run `r` begin.
    /// `switches` is the number of switches of the tree with several next hops.
    pub(super) fn place(&self, r: usize, i: usize, switches: usize) -> usize {
        self.first[r] + i * switches
    }

    /// The ports from index `place` on, `switches` of them.
    pub(super) fn at(&mut self, place: usize, switches: usize) -> &mut [u16] {
        &mut self.ports[place..place + switches]
    }

    /// The port at index `place`.
    #[inline]
    pub(super) fn port(&self, place: usize) -> u16 {
        self.ports[place]
    }

    /// The whole table of the layer, one row per terminal.
    pub(super) fn table<W: Fn(&mut NextHopTree, SwitchId)>(
        &self,
        on: &Topology,
        runs: &[TerminalRun],
        trees: &mut NextHopTreeCache<'_, W>,
    ) -> Vec<u16> {
        let switches = on.switches().len();
        let mut next = vec![NO_ROUTE; on.terminals().len() * switches];
        for (r, (home, run)) in runs.iter().enumerate() {
            let choices = trees.towards(*home);
            for (ports, &t) in self.of_run(r, run, choices).zip(run) {
                let entries = &mut next[t * switches..(t + 1) * switches];
                choices.write_settled(entries);
                choices.write_open(ports, entries);
                entries[home.ix()] = on.terminals()[t].plug.port;
            }
        }
        next
    }

    /// Stores the routes of the layer in `laying`. A row that the terminals of a switch share is
    /// stored once.
    pub(super) fn lay<W: Fn(&mut NextHopTree, SwitchId)>(
        &self,
        on: &Topology,
        runs: &[TerminalRun],
        trees: &mut NextHopTreeCache<'_, W>,
        layer: usize,
        laying: &mut ForwardingTableDraft<'_>,
    ) {
        let (mut row, mut open, mut own) = (vec![0; on.switches().len()], Vec::new(), Vec::new());
        for (r, (home, run)) in runs.iter().enumerate() {
            let choices = trees.towards(*home);
            row.fill(NO_ROUTE);
            choices.write_settled(&mut row);
            open.clear();
            open.push(home.0);
            open.extend(&choices.open.order);
            own.clear();
            for (ports, &t) in self.of_run(r, run, choices).zip(run) {
                own.push(on.terminals()[t].plug.port);
                own.extend_from_slice(ports);
            }
            laying.put(layer, *home, run, &row, (&open, &own));
        }
    }

    /// The ports towards each terminal of a run.
    fn of_run(
        &self,
        r: usize,
        run: &[usize],
        choices: &NextHopChoices,
    ) -> impl Iterator<Item = &[u16]> {
        let switches = choices.open.order.len();
        (0..run.len()).map(move |i| {
            let place = self.place(r, i, switches);
            &self.ports[place..place + switches]
        })
    }
}
