//! The routes of a layer where there is a choice; what leaves none is in the trees already.

use super::forest::{Choices, Forest};
use super::trees::MinimalTree;
use base::SwitchId;
use fabric::network::Topology;
use fabric::tables::{Laying, NO_ROUTE};

/// A run of terminals on one switch, as [`super::forest::runs`] has them.
pub(super) type Run = (SwitchId, Vec<usize>);

/// The ports that were chosen towards the terminals of all runs.
#[derive(Clone, Default)]
pub(super) struct Chosen {
    /// Where the ports of each run begin.
    first: Vec<usize>,
    /// Of each terminal of a run, those of the switches with a choice, in the order of the tree.
    ports: Vec<u16>,
}

impl Chosen {
    /// Makes room for the next run: so many terminals and switches.
    pub(super) fn begin_run(&mut self, terminals: usize, switches: usize) {
        self.first.push(self.ports.len());
        self.ports.resize(self.ports.len() + terminals * switches, NO_ROUTE);
    }

    /// Where the ports of terminal number `i` of run `r` begin, among `switches`.
    pub(super) fn place(&self, r: usize, i: usize, switches: usize) -> usize {
        self.first[r] + i * switches
    }

    /// The port at a place, and those after it.
    pub(super) fn at(&mut self, place: usize, switches: usize) -> &mut [u16] {
        &mut self.ports[place..place + switches]
    }

    /// The port at a place.
    #[inline]
    pub(super) fn port(&self, place: usize) -> u16 {
        self.ports[place]
    }

    /// The whole table of the layer, a row a terminal.
    pub(super) fn table<W: Fn(&mut MinimalTree, SwitchId)>(
        &self,
        on: &Topology,
        runs: &[Run],
        forest: &mut Forest<'_, W>,
    ) -> Vec<u16> {
        let switches = on.switches().len();
        let mut next = vec![NO_ROUTE; on.terminals().len() * switches];
        for (r, (home, run)) in runs.iter().enumerate() {
            let choices = forest.towards(*home);
            for (ports, &t) in self.of_run(r, run, choices).zip(run) {
                let entries = &mut next[t * switches..(t + 1) * switches];
                choices.write_settled(entries);
                choices.write_open(ports, entries);
                entries[home.ix()] = on.terminals()[t].plug.port;
            }
        }
        next
    }

    /// Lays the routes of the layer, those that terminals of a switch share once.
    pub(super) fn lay<W: Fn(&mut MinimalTree, SwitchId)>(
        &self,
        on: &Topology,
        runs: &[Run],
        forest: &mut Forest<'_, W>,
        layer: usize,
        laying: &mut Laying<'_>,
    ) {
        let (mut row, mut open, mut own) = (vec![0; on.switches().len()], Vec::new(), Vec::new());
        for (r, (home, run)) in runs.iter().enumerate() {
            let choices = forest.towards(*home);
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
    fn of_run(&self, r: usize, run: &[usize], choices: &Choices) -> impl Iterator<Item = &[u16]> {
        let switches = choices.open.order.len();
        (0..run.len()).map(move |i| {
            let place = self.place(r, i, switches);
            &self.ports[place..place + switches]
        })
    }
}
