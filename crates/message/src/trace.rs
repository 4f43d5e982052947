//! The trace of a run in the dialect `causal`: the time of each step of every operation.

/// A step of an operation or of its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum OperationStep {
    /// The operation begins: a send on its processor, a receive by being posted, or a calculation.
    Begin,
    /// The first byte of a send's message arrives, or its request to send.
    Arrive,
    /// A receive answers a request to send.
    Answer,
    /// A large message begins to be sent on its sender's processor.
    Data,
    /// The first byte of a large message arrives.
    DataArrive,
    /// A receive takes its message, or continues to take it.
    Take,
    /// A message enters the network.
    Enter,
    /// The last byte of a message leaves its sender.
    Sent,
    /// The processor of a receive begins to work on the bytes: at [`OperationStep::Take`] or
    /// before.
    Work,
    /// The time at which a message, its request, the answer, or the large message after the answer
    /// would arrive or begin if nothing else delayed it.
    ArriveDue,
    /// The time of [`OperationStep::Data`] if nothing else delayed it.
    DataDue,
    /// The time of [`OperationStep::DataArrive`] if nothing else delayed it.
    DataArriveDue,
    /// The time of [`OperationStep::Enter`] if nothing else delayed it.
    EnterDue,
    /// Not a time but a duration: that of the message's bytes in the network without other traffic.
    Alone,
}

/// The number of kinds of steps.
const STEPS: usize = 14;
/// The time of a step that did not happen.
const NEVER: u64 = u64::MAX;

/// The times of each step of each operation, picoseconds. It needs 172 bytes for each operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperationStepTimes {
    times: Vec<[u64; STEPS]>,
    /// The serial number of each step among all steps of the run, from 1.
    order: Vec<[u32; STEPS]>,
    count: u32,
    partner: Vec<u32>,
}

impl OperationStepTimes {
    /// An empty trace of `ops` operations; 0 if no trace was requested.
    pub(super) fn new(ops: usize) -> Self {
        Self {
            times: vec![[NEVER; STEPS]; ops],
            order: vec![[0; STEPS]; ops],
            count: 0,
            partner: vec![u32::MAX; ops],
        }
    }

    #[inline]
    pub(super) fn note(&mut self, step: OperationStep, op: u32, now: u64) {
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

    /// The time of a step of an operation, picoseconds; `None` if the step did not happen.
    pub fn at(&self, step: OperationStep, op: u32) -> Option<u64> {
        Some(self.times[op as usize][step as usize]).filter(|&time| time != NEVER)
    }

    /// The serial number of a step among all steps of the run, from 1.
    pub(super) fn order(&self, step: OperationStep, op: u32) -> u32 {
        self.order[op as usize][step as usize]
    }

    /// The receive of a send, or the send of a receive, if they met.
    pub fn partner(&self, op: u32) -> Option<u32> {
        Some(self.partner[op as usize]).filter(|&op| op != u32::MAX)
    }
}
