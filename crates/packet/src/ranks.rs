//! A run over several processes, each with a part of the network.

use super::case::Case;
use super::ended::Ended;
use super::row::Row;
use super::stuck::circle;
use super::told::Ran;
use base::{Interrupted, Stop, Watch};
use des::peers::{agree, all};
use des::{Carried, Peers, sequential, windows_over};

impl Case {
    /// One run at a load, over processes that all come to this; the result is that of one.
    ///
    /// # Errors
    /// As [`Case::point`], the same at all.
    pub(super) fn point_over(
        &self,
        load: f64,
        peers: &mut dyn Peers,
        watch: &dyn Watch,
    ) -> Result<Row, Stop> {
        let (model, end_ps) = (self.model(load), self.end_ps());
        let part_of = model.parts(peers.count().min(1 << 15) as u16);
        let found = windows_over(&model, &part_of, end_ps, &mut Carried::new(peers), watch);
        // where another stops there is nothing here, and it says why
        let Some(found) = agree(peers, found)? else { return Err(Interrupted.into()) };
        let me = peers.me();
        let mine = (0..).zip(&part_of).filter(|(_, part)| usize::from(**part) == me);
        let ended = Ended::of(&model, mine.map(|(lp, _)| lp).zip(&found.states));
        let windows = found.windows;
        let told = all(peers, ((ended, found.tally), (found.events, found.last_ps)))?;
        let (mut ended, mut tally) = (Ended::default(), des::Model::tally(&model));
        let mut ran = Ran { events: 0, last_ps: 0, windows, undone: 0, efficiency: 1.0 };
        for ((other, sums), (events, last_ps)) in told {
            ended.add(&other);
            tally.merge(&sums);
            ran.events += events;
            ran.last_ps = ran.last_ps.max(last_ps);
        }
        let mut waits = Vec::new();
        if self.is_stuck(&ended) {
            // nobody has all states: one process alone finds the same circle
            let whole =
                sequential(&model, end_ps, watch).map(|found| circle(&model, &found.states));
            waits = agree(peers, whole)?;
        }
        self.row(load, &ran, &ended, &tally, &waits)
    }
}
