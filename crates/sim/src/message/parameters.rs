//! The parameters of LogGOPS.

use base::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traffic::workload::{Kind, Op, Schedule};

/// What messages cost, in nanoseconds and nanoseconds a byte; the defaults are those of
/// LogGOPSim.
///
/// Source: Hoefler, Schneider, Lumsdaine: LogGOPSim, LSAP 2010, section 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(non_snake_case, reason = "the model's own letters")]
pub struct LogGops {
    /// Latency of the network, ns.
    pub L: u64,
    /// Time of a processor for a message, ns.
    pub o: u64,
    /// Time between two messages of an interface, ns.
    pub g: u64,
    /// Time of an interface for a byte, ns.
    pub G: u64,
    /// Time of a processor for a byte, ns.
    pub O: u64,
    /// Largest message, bytes, that is sent before its receive is there.
    pub S: u64,
}

impl Default for LogGops {
    fn default() -> Self {
        Self { L: 2500, o: 1500, g: 1000, G: 6, O: 0, S: 65535 }
    }
}

/// Largest of each but S.
const MOST: u64 = i32::MAX as u64;

impl LogGops {
    /// Checks the ranges.
    ///
    /// # Errors
    /// When one is out of range: 0 to 2^31 - 1, S to 2^32 - 1.
    pub fn check(&self) -> Result<(), Refusal> {
        let all = [("L", self.L), ("o", self.o), ("g", self.g), ("G", self.G), ("O", self.O)];
        let ranges = all.map(|(name, value)| (name, value, MOST));
        let small = (self.S, u64::from(u32::MAX));
        for (name, value, most) in ranges.into_iter().chain([("S", small.0, small.1)]) {
            if value > most {
                return Err(Refusal::new(
                    name,
                    format!("{value} is too large"),
                    format!("0 to {most}"),
                ));
            }
        }
        Ok(())
    }

    /// Checks that no time can be too large for 63 bits, whatever waits for what.
    ///
    /// # Errors
    /// When the sum of all that a schedule asks for is.
    pub(super) fn check_sum(&self, schedule: &Schedule) -> Result<(), Refusal> {
        let fixed = u128::from(self.L + 2 * self.o + 2 * self.g);
        let byte = u128::from(2 * self.G.max(self.O));
        let cost = |op: &Op| match op.kind {
            Kind::Calc => u128::from(op.size),
            _ => fixed + byte * u128::from(op.size),
        };
        let sum: u128 = schedule.ops().iter().map(cost).sum();
        if sum >> 63 == 0 {
            return Ok(());
        }
        let largest = schedule.ops().iter().max_by_key(|op| cost(op)).map_or(0, |op| op.size);
        let why = format!("its times add up to {sum} ns; the largest operation is of {largest}");
        Err(Refusal::new("schedule", why, "less than 2^63 ns"))
    }

    /// A processor's time for the bytes of a message after the first. Of a message of 0 bytes it is
    /// one byte's time less, as sums wrap around.
    #[inline]
    pub(super) fn cpu_bytes(&self, size: u64) -> u64 {
        size.wrapping_sub(1).wrapping_mul(self.O)
    }

    /// An interface's time for them.
    #[inline]
    pub(super) fn nic_bytes(&self, size: u64) -> u64 {
        size.wrapping_sub(1).wrapping_mul(self.G)
    }
}
