//! When a source creates its next packet.

use base::seed::FastStream;
use traffic::process::SourceClock as Clock;

/// Never.
pub(super) const NEVER: u32 = u32::MAX;

/// The cycle of the next packet, from a cycle on; [`NEVER`] where there is none before `end`.
#[inline]
pub(super) fn next_creation(
    clock: Option<&mut Clock>,
    from: u32,
    end: u32,
    random: &mut FastStream,
) -> u32 {
    let next = clock.and_then(|clock| clock.next_before(from.into(), end.into(), random));
    next.map_or(NEVER, |cycle| cycle as u32)
}

/// The cycle of the next packet where each cycle has one with the same chance: when the number
/// that is drawn for it is at most `most`. It draws what [`next_creation`] would. Random numbers
/// come and go by value, so that they stay in registers.
#[inline(never)]
pub(super) fn next_by_chance(
    most: u64,
    from: u32,
    end: u32,
    mut random: FastStream,
) -> (u32, FastStream) {
    for cycle in from..end {
        if random.next_u64() <= most {
            return (cycle, random);
        }
    }
    (NEVER, random)
}
