//! When everything of a run happened, under the rules of the dialect `causal`.

/// A step of an operation and its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum OpStep {
    /// It begins: a send on its processor, a receive is posted, a calculation.
    Begin,
    /// The first byte of a send's message arrives, or its question.
    Arrive,
    /// A receive says that a large message may come.
    Answer,
    /// A large message begins on the processor of its sender.
    Data,
    /// The first byte of a large message arrives.
    DataArrive,
    /// A receive takes its message, or goes on with it.
    Take,
    /// A message enters the network.
    Enter,
    /// Its last byte leaves.
    Sent,
    /// When the processor of a receive begins with the bytes: with [`OpStep::Take`] or
    /// before.
    Work,
    /// When a message, its question, the answer to it, or the large message after it would arrive
    /// or begin if nothing else delayed it.
    ArriveDue,
    /// When [`OpStep::Data`] would happen if nothing else delayed it.
    DataDue,
    /// When [`OpStep::DataArrive`] would happen if nothing else delayed it.
    DataArriveDue,
    /// When [`OpStep::Enter`] would happen if nothing else delayed it.
    EnterDue,
    /// No time: how long the bytes of a message would take alone in the network.
    Alone,
}

/// How many steps there are.
const STEPS: usize = 14;
/// A time that never came.
const NEVER: u64 = u64::MAX;

/// The times of each step of each operation, picoseconds. 172 bytes an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperationTimes {
    times: Vec<[u64; STEPS]>,
    /// The place of each step among all steps of the run, from 1.
    order: Vec<[u32; STEPS]>,
    count: u32,
    partner: Vec<u32>,
}

impl OperationTimes {
    /// The trace of `ops` operations; 0 where nobody asks for one.
    pub(super) fn new(ops: usize) -> Self {
        Self {
            times: vec![[NEVER; STEPS]; ops],
            order: vec![[0; STEPS]; ops],
            count: 0,
            partner: vec![u32::MAX; ops],
        }
    }

    #[inline]
    pub(super) fn note(&mut self, step: OpStep, op: u32, now: u64) {
        if let Some(times) = self.times.get_mut(op as usize) {
            times[step as usize] = now;
            self.count += 1;
            self.order[op as usize][step as usize] = self.count;
        }
    }

    #[inline]
    pub(super) fn meet(&mut self, sent: u32, received: u32) {
        if !self.partner.is_empty() {
            self.partner[sent as usize] = received;
            self.partner[received as usize] = sent;
        }
    }

    /// When a step of an operation happened, picoseconds; `None` where it did not.
    pub fn at(&self, step: OpStep, op: u32) -> Option<u64> {
        Some(self.times[op as usize][step as usize]).filter(|&time| time != NEVER)
    }

    /// The place of a step among all steps of the run, from 1.
    pub(super) fn order(&self, step: OpStep, op: u32) -> u32 {
        self.order[op as usize][step as usize]
    }

    /// The receive of a send, or the send of a receive, if they met.
    pub fn partner(&self, op: u32) -> Option<u32> {
        Some(self.partner[op as usize]).filter(|&op| op != u32::MAX)
    }
}
