//! What ports did until all jobs were done: beside them others send, and go on for a while after.
//!
//! A router hears of the end some time after it. So each of its ports keeps what it did in the last
//! of that time, and what was done after the end is taken away.

use super::port::{NEVER_PS, Port, Spell};
use super::runs::{Change, Runs};
use super::timing::TELL_PS;
use std::collections::VecDeque;

/// A router hears that late that all jobs are done: they tell one endpoint, and that tells all.
const HEARD_PS: u64 = 2 * TELL_PS;

/// Times of a port until all jobs were done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Until {
    /// How long it was busy, ps.
    pub(super) busy_ps: u64,
    /// How long chunks waited for it while it was free, for lack of room behind it, ps.
    pub(super) blocked_ps: u64,
}

/// What the ports of a router keep.
#[derive(Debug, Clone)]
pub(super) struct Recent {
    /// Of each port what it has sent lately, in order.
    sent: Vec<VecDeque<Spell>>,
    /// Of each port its times, once all jobs are done.
    pub(super) until: Option<Vec<Until>>,
}

impl Recent {
    /// Of so many ports that have sent nothing.
    pub(super) fn new(ports: usize) -> Self {
        Self { sent: vec![VecDeque::new(); ports], until: None }
    }

    /// Takes a change back.
    pub(super) fn undo(&mut self, change: Change) {
        match change {
            Change::Kept(port) => _ = self.sent[usize::from(port)].pop_back(),
            Change::Forgot(port, was) => self.sent[usize::from(port)].push_front(was),
            Change::Ended => self.until = None,
            _ => {}
        }
    }

    /// A port, as it is before that, begins to send a chunk, which keeps it busy for a while.
    #[inline]
    pub(super) fn keeps(
        &mut self,
        (port, was): (u16, Port),
        start_ps: u64,
        time_ps: u64,
        to: &mut impl Runs,
    ) {
        if self.until.is_some() {
            return;
        }
        let sent = &mut self.sent[usize::from(port)];
        let heard_ps = to.now_ps().saturating_sub(HEARD_PS);
        while let Some(first) = sent.front().copied().filter(|first| first.end_ps < heard_ps) {
            to.note(|| Change::Forgot(port, first));
            sent.pop_front();
        }
        to.note(|| Change::Kept(port));
        let blocked_ps = was.since_ps.min(start_ps);
        sent.push_back(Spell { blocked_ps, start_ps, end_ps: start_ps + time_ps });
    }

    /// All jobs were done a while ago: what `ports` did since then is taken away.
    pub(super) fn hears(&mut self, ports: &[Port], to: &mut impl Runs) {
        let done_ps = to.now_ps().saturating_sub(HEARD_PS);
        let after = |from_ps: u64, end_ps: u64| end_ps.saturating_sub(from_ps.max(done_ps));
        let of = |(port, sent): (&Port, &VecDeque<Spell>)| {
            let busy_ps: u64 = sent.iter().map(|it| after(it.start_ps, it.end_ps)).sum();
            let blocked_ps: u64 = sent.iter().map(|it| after(it.blocked_ps, it.start_ps)).sum();
            let still_ps =
                if port.since_ps == NEVER_PS { 0 } else { done_ps.saturating_sub(port.since_ps) };
            Until {
                busy_ps: port.busy_ps - busy_ps,
                blocked_ps: port.blocked_ps - blocked_ps + still_ps,
            }
        };
        let until = ports.iter().zip(&self.sent).map(of).collect();
        to.note(|| Change::Ended);
        self.until = Some(until);
    }
}
