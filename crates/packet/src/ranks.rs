//! A run over several processes, each of which simulates a part of the network.

use super::case::PreparedPacketSimulation;
use super::ended::FinalRunState;
use super::report::EngineCounts;
use super::row::LoadPointResultRow;
use super::stuck::wait_cycle;
use base::{ComputationError, Interrupted, ProgressWatch};
use des::peers::{agree, all};
use des::{PeerByteExchange, PeerEventTransport, sequential, windows_over};

impl PreparedPacketSimulation {
    /// One run at a load over several processes, all of which call this; the result is that of a
    /// single process.
    ///
    /// # Errors
    /// The errors of [`PreparedPacketSimulation::point`], the same in all processes.
    pub(super) fn point_over(
        &self,
        load: f64,
        peers: &mut dyn PeerByteExchange,
        watch: &dyn ProgressWatch,
    ) -> Result<LoadPointResultRow, ComputationError> {
        let (model, end_ps) = (self.model(load), self.end_ps());
        let part_of = model.parts(peers.count().min(1 << 15) as u16);
        let found =
            windows_over(&model, &part_of, end_ps, &mut PeerEventTransport::new(peers), watch);
        // a process without a result was stopped by another process, which reports why
        let Some(found) = agree(peers, found)? else { return Err(Interrupted.into()) };
        let me = peers.me();
        let mine = (0..).zip(&part_of).filter(|(_, part)| usize::from(**part) == me);
        let ended = FinalRunState::of(&model, mine.map(|(lp, _)| lp).zip(&found.states));
        let windows = found.windows;
        let others = all(peers, ((ended, found.tally), (found.events, found.last_ps)))?;
        let (mut ended, mut tally) =
            (FinalRunState::default(), des::SimulationModel::tally(&model));
        let mut ran = EngineCounts { events: 0, last_ps: 0, windows, undone: 0, efficiency: 1.0 };
        for ((other, sums), (events, last_ps)) in others {
            ended.add(&other, model.top);
            tally.merge(&sums);
            ran.events += events;
            ran.last_ps = ran.last_ps.max(last_ps);
        }
        let mut waits = Vec::new();
        if self.is_stuck(&ended, &ran) {
            // no process holds all states, but a sequential run finds the same cycle of waiting
            // packets
            let whole =
                sequential(&model, end_ps, watch).map(|found| wait_cycle(&model, &found.states));
            waits = agree(peers, whole)?;
        }
        self.row(load, &ran, &ended, &tally, &waits)
    }
}
