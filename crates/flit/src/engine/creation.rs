//! The times at which a source creates packets.

use base::seed::FastRandomStream;
use traffic::process::SourceInjectionClock as Clock;

/// Never.
pub(super) const NEVER: u32 = u32::MAX;

/// The cycle in which the next packet is created, not before a given cycle; [`NEVER`] if none is
/// created before `end`.
#[inline]
pub(super) fn next_creation(
    clock: Option<&mut Clock>,
    from: u32,
    end: u32,
    random: &mut FastRandomStream,
) -> u32 {
    let next = clock.and_then(|clock| clock.next_before(from.into(), end.into(), random));
    next.map_or(NEVER, |cycle| cycle as u32)
}

/// The cycle in which the next packet is created if every cycle has the same probability: a packet
/// is created when the number drawn for the cycle is at most `most`. It draws the same numbers as
/// [`next_creation`]. The random state is passed by value so that it stays in registers.
#[inline(never)]
pub(super) fn next_by_chance(
    most: u64,
    from: u32,
    end: u32,
    mut random: FastRandomStream,
) -> (u32, FastRandomStream) {
    for cycle in from..end {
        if random.next_u64() <= most {
            return (cycle, random);
        }
    }
    (NEVER, random)
}
