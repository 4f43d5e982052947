//! The use of ports until all jobs were done, without what background jobs sent after that.
//!
//! A router is informed of the end only some time after it. So each of its ports keeps its
//! transmissions of the most recent such time, and those after the end are subtracted.

use super::port::{ChunkTransmission, NEVER_PS, Port};
use super::runs::{EventHandlerContext, NodeStateChange};
use super::timing::TELL_PS;
use std::collections::VecDeque;

/// Delay after which a router is informed that all jobs are done, ps: endpoints inform one
/// endpoint, which informs all routers.
const HEARD_PS: u64 = 2 * TELL_PS;

/// The times of a port until all jobs were done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PortTimesUntilJobsEnd {
    /// How long the port was busy, ps.
    pub(super) busy_ps: u64,
    /// How long chunks waited, for lack of room, for a port that was free, ps.
    pub(super) blocked_ps: u64,
}

/// The recent transmissions of the ports of a router.
#[derive(Debug, Clone)]
pub(super) struct RecentPortTransmissions {
    /// The recent transmissions of each port, in order.
    sent: Vec<VecDeque<ChunkTransmission>>,
    /// The times of each port until all jobs were done; none before that.
    pub(super) until: Option<Vec<PortTimesUntilJobsEnd>>,
}

impl RecentPortTransmissions {
    /// The record of a router whose ports have sent nothing.
    pub(super) fn new(ports: usize) -> Self {
        Self { sent: vec![VecDeque::new(); ports], until: None }
    }

    /// Undoes a change.
    pub(super) fn undo(&mut self, change: NodeStateChange) {
        match change {
            NodeStateChange::Kept(port) => _ = self.sent[usize::from(port)].pop_back(),
            NodeStateChange::Forgot(port, was) => self.sent[usize::from(port)].push_front(was),
            NodeStateChange::Ended => self.until = None,
            _ => {}
        }
    }

    /// Records the transmission of a chunk that a port begins; `was` is the port's state before it.
    #[inline]
    pub(super) fn keeps(
        &mut self,
        (port, was): (u16, Port),
        start_ps: u64,
        time_ps: u64,
        to: &mut impl EventHandlerContext,
    ) {
        if self.until.is_some() {
            return;
        }
        let sent = &mut self.sent[usize::from(port)];
        let heard_ps = to.now_ps().saturating_sub(HEARD_PS);
        while let Some(first) = sent.front().copied().filter(|first| first.end_ps < heard_ps) {
            to.note(|| NodeStateChange::Forgot(port, first));
            sent.pop_front();
        }
        to.note(|| NodeStateChange::Kept(port));
        let blocked_ps = was.since_ps.min(start_ps);
        sent.push_back(ChunkTransmission { blocked_ps, start_ps, end_ps: start_ps + time_ps });
    }

    /// Handles the event that tells a router, with a delay, that all jobs are done: what `ports`
    /// did after the end is subtracted.
    pub(super) fn hears(&mut self, ports: &[Port], to: &mut impl EventHandlerContext) {
        let done_ps = to.now_ps().saturating_sub(HEARD_PS);
        let after = |from_ps: u64, end_ps: u64| end_ps.saturating_sub(from_ps.max(done_ps));
        let of = |(port, sent): (&Port, &VecDeque<ChunkTransmission>)| {
            let busy_ps: u64 = sent.iter().map(|it| after(it.start_ps, it.end_ps)).sum();
            let blocked_ps: u64 = sent.iter().map(|it| after(it.blocked_ps, it.start_ps)).sum();
            let still_ps =
                if port.since_ps == NEVER_PS { 0 } else { done_ps.saturating_sub(port.since_ps) };
            PortTimesUntilJobsEnd {
                busy_ps: port.busy_ps - busy_ps,
                blocked_ps: port.blocked_ps - blocked_ps + still_ps,
            }
        };
        let until = ports.iter().zip(&self.sent).map(of).collect();
        to.note(|| NodeStateChange::Ended);
        self.until = Some(until);
    }
}
