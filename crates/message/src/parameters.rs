//! The parameters of LogGOPS.

use base::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traffic::workload::{OperationKind, Schedule, ScheduleOperation};

/// What messages cost, in nanoseconds and nanoseconds a byte; the defaults are those of LogGOPSim.
///
/// Source: Hoefler, Schneider, Lumsdaine: LogGOPSim, LSAP 2010, section 2.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(non_snake_case, reason = "the model's own letters")]
#[schemars(rename = "LogGops")]
pub struct LogGopsParameters {
    /// Latency of the network, ns.
    pub L: f64,
    /// Time of a processor for a message, ns.
    pub o: f64,
    /// Time between two messages of an interface, ns.
    pub g: f64,
    /// Time of an interface for a byte, ns.
    pub G: f64,
    /// Time of a processor for a byte, ns.
    pub O: f64,
    /// Largest message, bytes, that is sent before its receive is there.
    pub S: u64,
}

impl Default for LogGopsParameters {
    fn default() -> Self {
        Self { L: 2500.0, o: 1500.0, g: 1000.0, G: 6.0, O: 0.0, S: 65535 }
    }
}

/// Largest value of each parameter except `S`: about two seconds, in nanoseconds.
const MOST: f64 = 2_147_483_647.0;

impl LogGopsParameters {
    /// The parameters in whole nanoseconds.
    ///
    /// # Errors
    /// When one is out of range (0 to 2^31 - 1, `S` to 2^32 - 1) or not a whole number.
    pub(super) fn whole(&self) -> Result<ScaledLogGopsParameters, Refusal> {
        let whole = |name: &str, value: f64| {
            if value.fract() == 0.0 {
                return Ok(ranged(name, value)? as u64);
            }
            let help = "whole nanoseconds in the dialect loggops-v1, or the dialect causal";
            Err(Refusal::new(name, format!("{value} is no whole number"), help))
        };
        Ok(ScaledLogGopsParameters {
            latency: whole("L", self.L)?,
            overhead: whole("o", self.o)?,
            gap: whole("g", self.g)?,
            byte: whole("G", self.G)?,
            cpu_byte: whole("O", self.O)?,
            eager: self.eager()?,
            divisor: 1,
        })
    }

    /// The parameters in picoseconds, and in femtoseconds for each byte, rounded.
    ///
    /// # Errors
    /// When one is out of range, as for [`LogGopsParameters::whole`].
    pub(super) fn picoseconds(&self) -> Result<ScaledLogGopsParameters, Refusal> {
        let times = |name: &str, value: f64, unit: f64| {
            Ok::<u64, Refusal>((ranged(name, value)? * unit).round() as u64)
        };
        Ok(ScaledLogGopsParameters {
            latency: times("L", self.L, 1e3)?,
            overhead: times("o", self.o, 1e3)?,
            gap: times("g", self.g, 1e3)?,
            byte: times("G", self.G, 1e6)?,
            cpu_byte: times("O", self.O, 1e6)?,
            eager: self.eager()?,
            divisor: 1000,
        })
    }

    fn eager(&self) -> Result<u64, Refusal> {
        if self.S > u64::from(u32::MAX) {
            let why = format!("{} is too large", self.S);
            return Err(Refusal::new("S", why, format!("0 to {}", u32::MAX)));
        }
        Ok(self.S)
    }
}

fn ranged(name: &str, value: f64) -> Result<f64, Refusal> {
    if (0.0..=MOST).contains(&value) {
        return Ok(value);
    }
    Err(Refusal::new(name, format!("{value} is out of range"), format!("0 to {MOST} ns")))
}

/// The parameters as whole numbers of one unit of time; those of a byte in units of 1 / `divisor`
/// of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScaledLogGopsParameters {
    pub(super) latency: u64,
    pub(super) overhead: u64,
    pub(super) gap: u64,
    pub(super) byte: u64,
    pub(super) cpu_byte: u64,
    /// Size in bytes of the largest message that is sent before its receive is posted.
    pub(super) eager: u64,
    pub(super) divisor: u64,
}

impl ScaledLogGopsParameters {
    /// Checks that no time can exceed 63 bits, in whatever order operations run.
    ///
    /// # Errors
    /// When the sum of the times of all operations does.
    pub(super) fn check_sum(&self, schedule: &Schedule) -> Result<(), Refusal> {
        let fixed = u128::from(3 * self.latency + 4 * self.overhead + 4 * self.gap);
        let byte = u128::from(self.byte.max(self.cpu_byte));
        let divisor = u128::from(self.divisor);
        // the time of a message's bytes is a 64-bit product before it is divided
        let bytes = |op: &ScheduleOperation| match op.kind {
            OperationKind::Calc => 0,
            _ => byte * u128::from(op.size),
        };
        let cost = |op: &ScheduleOperation| match op.kind {
            OperationKind::Calc => u128::from(op.size) * divisor,
            _ => fixed + 2 * (bytes(op) / divisor + 1),
        };
        let sum: u128 = schedule.ops().iter().map(cost).sum();
        if sum >> 63 == 0 && schedule.ops().iter().all(|op| bytes(op) >> 63 == 0) {
            return Ok(());
        }
        let largest = schedule.ops().iter().max_by_key(|op| cost(op)).map_or(0, |op| op.size);
        let why = format!("the largest operation is of {largest}, and times add up to {sum}");
        Err(Refusal::new("schedule", why, "less than 2^63 of the simulator's units of time"))
    }

    /// The time of a processor for the bytes of a message after the first. For 0 bytes it is minus
    /// the time of one byte: the sum wraps around, as in LogGOPSim.
    #[inline]
    pub(super) fn wrapped_cpu(&self, size: u64) -> u64 {
        size.wrapping_sub(1).wrapping_mul(self.cpu_byte)
    }

    /// The time of an interface for the bytes of a message after the first, which wraps around
    /// likewise.
    #[inline]
    pub(super) fn wrapped_nic(&self, size: u64) -> u64 {
        size.wrapping_sub(1).wrapping_mul(self.byte)
    }

    /// The highest rate at which a processor sends or receives, in bytes per unit of time.
    pub(super) fn cpu_rate(&self) -> f64 {
        self.divisor as f64 / self.cpu_byte as f64
    }

    /// The time of a processor for the bytes of a message after the first.
    #[inline]
    pub(super) fn cpu_bytes(&self, size: u64) -> u64 {
        size.saturating_sub(1) * self.cpu_byte / self.divisor
    }

    /// The time of an interface for the bytes of a message after the first.
    #[inline]
    pub(super) fn nic_bytes(&self, size: u64) -> u64 {
        size.saturating_sub(1) * self.byte / self.divisor
    }
}
