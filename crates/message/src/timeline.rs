//! The parts of a timeline besides the work of processors: messages and collective operations.

use super::path::{ProcessorBusySpan, ProcessorWorkKind};
use super::trace::OperationStepTimes;
use std::collections::BTreeMap;
use traffic::workload::{OperationKind, Schedule};

/// A message, by the spans of work in which it is sent and received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageWorkSpans {
    /// The index of its sending among all spans; for a large message, the sending after the answer.
    pub send: u32,
    /// The index of its receiving among all spans.
    pub receive: u32,
}

/// A collective operation on a processor of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectiveSpan {
    /// The index of the collective operation in [`Schedule::collectives`].
    pub number: u32,
    /// The rank that takes part.
    pub rank: u32,
    /// The processor of that rank.
    pub cpu: u8,
    /// When the first of its operations on this processor begins, picoseconds.
    pub begin: u64,
    /// When the last of its operations on this processor ends, picoseconds.
    pub end: u64,
}

/// All messages, ordered by their sends. O(operations).
pub(super) fn messages(
    schedule: &Schedule,
    trace: &OperationStepTimes,
    spans: &[ProcessorBusySpan],
) -> Vec<MessageWorkSpans> {
    let mut place = vec![u32::MAX; schedule.ops().len()];
    for (at, span) in (0..).zip(spans) {
        // a large message's request precedes its sending, whose index overwrites that of the
        // request
        if matches!(span.doing, ProcessorWorkKind::Sends | ProcessorWorkKind::Receives) {
            place[span.op as usize] = at;
        }
    }
    let sends = (0..).zip(schedule.ops()).filter(|(_, op)| op.kind == OperationKind::Send);
    sends
        .filter_map(|(sent, _)| {
            let received = trace.partner(sent)?;
            let (send, receive) = (place[sent as usize], place[received as usize]);
            Some(MessageWorkSpans { send, receive })
        })
        .collect()
}

/// The named collective operations, in their order, each on every processor that takes part.
/// O(spans log collectives).
pub(super) fn collectives(schedule: &Schedule, spans: &[ProcessorBusySpan]) -> Vec<CollectiveSpan> {
    let bounds: Vec<(u32, u32)> = schedule.collectives().map(|s| (s.first, s.end)).collect();
    if bounds.is_empty() {
        return Vec::new();
    }
    let mut found: BTreeMap<(u32, u8), CollectiveSpan> = BTreeMap::new();
    for &ProcessorBusySpan { rank, op, begin, end, .. } in spans {
        let Some(number) = bounds.partition_point(|b| b.0 <= op).checked_sub(1) else { continue };
        if bounds[number].1 <= op {
            continue;
        }
        let (number, cpu) = (number as u32, schedule.ops()[op as usize].cpu);
        let new = CollectiveSpan { number, rank, cpu, begin, end };
        let all = found.entry((number, cpu)).or_insert(new);
        (all.begin, all.end) = (all.begin.min(begin), all.end.max(end));
    }
    found.into_values().collect()
}
