//! When packets are injected: injection processes, and the clock of each source.
//!
//! Source: Jiang, Becker, Michelogiannakis et al., "A detailed and flexible cycle-accurate
//! network-on-chip simulator", ISPASS 2013 (BookSim's `bernoulli` and `on_off`); Adas, "Traffic
//! models in broadband networks", IEEE Communications Magazine 1997 (sources with two states).

mod sizes;

pub use sizes::PacketSizeDistribution;

use crate::destinations::PacketDestinations;
use base::Refusal;
use base::seed::FastRandomStream;
use base::words::did_you_mean;

/// The injection process of a source, which determines the times of its packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InjectionProcess {
    /// Each cycle has a packet with the same probability, independently of all others.
    Bernoulli,
    /// In bursts: a source is on or off. In each cycle a source that is off turns on with
    /// probability `alpha`, and one that is on turns off with probability `beta`; if it is on then,
    /// it creates a packet with probability `r1`. Exactly one of the three is negative and follows
    /// from load = r1 * alpha / (alpha + beta). The mean length of a burst is 1 / beta cycles.
    OnOff {
        /// Probability of turning on.
        alpha: f64,
        /// Probability of turning off.
        beta: f64,
        /// Probability of a packet in a cycle while on.
        r1: f64,
    },
}

/// The names of all processes.
pub const NAMES: [&str; 2] = ["bernoulli", "on_off"];

/// The load that a source offers if no other source has a higher rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OfferedLoad {
    /// Packets per cycle.
    Packets(f64),
    /// Flits per cycle.
    Flits(f64),
}

/// The cycle of an event that never happens.
pub const NEVER: u64 = u64::MAX;

impl InjectionProcess {
    /// Parses `bernoulli`, `on_off` (`alpha` and `beta` are 0.5, and `r1` follows from the load),
    /// or `on_off:ALPHA,BETA[,R1]`, where one of the numbers is -1.
    ///
    /// # Errors
    /// When there is no such process, or the numbers are not two probabilities and a negative one.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        let refuse = |why: String, help: &str| Refusal::new("injection", why, help);
        match (name, argument) {
            ("bernoulli", None) => Ok(Self::Bernoulli),
            ("bernoulli", Some(given)) => {
                Err(refuse(format!("'{given}' for bernoulli"), "bernoulli takes none"))
            }
            ("on_off", given) => {
                let words: Vec<&str> = given.unwrap_or("0.5,0.5").split(',').collect();
                let numbers: Option<Vec<f64>> = words.iter().map(|w| w.parse().ok()).collect();
                let (alpha, beta, r1) = match numbers.as_deref() {
                    Some(&[alpha, beta]) => (alpha, beta, -1.0),
                    Some(&[alpha, beta, r1]) => (alpha, beta, r1),
                    _ => {
                        let why = format!("'{}' for on_off", given.unwrap_or(""));
                        return Err(refuse(why, "ALPHA,BETA[,R1], such as 0.05,0.05"));
                    }
                };
                let process = Self::OnOff { alpha, beta, r1 };
                process.check()?;
                Ok(process)
            }
            _ => {
                let help = did_you_mean(name, NAMES) + &NAMES.join(", ");
                Err(refuse(format!("there is no '{name}'"), &help))
            }
        }
    }

    /// Checks that two of the three numbers are probabilities and one is negative.
    fn check(&self) -> Result<(), Refusal> {
        let Self::OnOff { alpha, beta, r1 } = *self else { return Ok(()) };
        let all = [alpha, beta, r1];
        let open = all.iter().filter(|&&x| x < 0.0).count();
        let turns = alpha != 0.0 && !(alpha < 0.0 && beta == 0.0);
        if open == 1 && all.iter().all(|&x| x <= 1.0) && turns {
            return Ok(());
        }
        let shown = if r1 < 0.0 { String::new() } else { format!(", r1 {r1}") };
        let why = format!("on_off: alpha {alpha}, beta {beta}{shown}");
        let help = "chances from 0 to 1, of which one follows from the load and is left out or \
                    -1; alpha is not 0, nor is beta where alpha follows";
        Err(Refusal::new("injection", why, help))
    }

    /// The thresholds of the process at this number of packets per cycle.
    ///
    /// # Errors
    /// When it cannot have this load.
    fn trials(&self, packets: f64) -> Result<InjectionThresholds, Refusal> {
        if packets != 0.0 {
            self.check()?; // who sends nothing needs no chances
        }
        if !(0.0..=1.0).contains(&packets) {
            let why = format!("{packets} packets a cycle");
            return Err(Refusal::new("load", why, "0 to 1 packets a cycle"));
        }
        let (alpha, beta, r1) = match *self {
            Self::Bernoulli => (1.0, 0.0, packets),
            Self::OnOff { .. } if packets == 0.0 => (1.0, 0.0, 0.0),
            Self::OnOff { alpha, beta, r1 } if r1 < 0.0 => {
                (alpha, beta, packets * (alpha + beta) / alpha)
            }
            Self::OnOff { alpha, beta, r1 } if alpha < 0.0 => {
                (packets * beta / (r1 - packets), beta, r1)
            }
            Self::OnOff { alpha, r1, .. } => (alpha, alpha * (r1 - packets) / packets, r1),
        };
        let chances = [("alpha", alpha), ("beta", beta), ("r1", r1)];
        // a value slightly above 1 is due to rounding
        if let Some((name, x)) = chances.iter().find(|(_, x)| !(0.0..=1.0 + 1e-12).contains(x)) {
            let why = format!("{packets} packets a cycle make {name} {x}, which is no chance");
            return Err(Refusal::new("load", why, self.reach()));
        }
        Ok(InjectionThresholds {
            on: FastRandomStream::threshold(alpha),
            off: FastRandomStream::threshold(beta),
            packet: FastRandomStream::threshold(r1),
            first_on: FastRandomStream::threshold(alpha / (alpha + beta)),
            bursts: matches!(self, Self::OnOff { .. }),
        })
    }

    /// The range of loads that the process can have, in words.
    fn reach(&self) -> String {
        let Self::OnOff { alpha, beta, r1 } = *self else { return "0 to 1".to_owned() };
        let (low, high) = if r1 < 0.0 {
            (0.0, alpha / (alpha + beta))
        } else if alpha < 0.0 {
            (0.0, r1 / (1.0 + beta))
        } else {
            (r1 * alpha / (alpha + 1.0), r1)
        };
        format!("{low} to {high} packets a cycle with these chances")
    }
}

impl OfferedLoad {
    /// The load in packets per cycle, for packets of these sizes.
    pub fn packets(self, sizes: &PacketSizeDistribution) -> f64 {
        match self {
            Self::Packets(x) => x,
            Self::Flits(x) => x / sizes.mean(),
        }
    }
}

/// The probabilities of a process at a load, as thresholds of random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InjectionThresholds {
    on: u64,
    off: u64,
    packet: u64,
    first_on: u64,
    bursts: bool,
}

/// The clock of one source, which determines the cycles in which its packets are injected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceInjectionClock {
    trials: InjectionThresholds,
    on: bool,
    /// The first cycle that has not been tried yet.
    next: u64,
    /// The cycle of the latest injection; [`NEVER`] before the first.
    latest: u64,
}

impl SourceInjectionClock {
    /// The clock of a source of `process` at this number of packets per cycle, from cycle 0 on.
    /// Whether the source is on at first is drawn with its long-term probability.
    ///
    /// # Errors
    /// When the process cannot have this load.
    pub fn new(
        process: &InjectionProcess,
        packets: f64,
        random: &mut FastRandomStream,
    ) -> Result<Self, Refusal> {
        let trials = process.trials(packets)?;
        let on = !trials.bursts || random.chance(trials.first_on);
        Ok(Self { trials, on, next: 0, latest: NEVER })
    }

    /// The threshold of a source with the same probability in every cycle: it injects if 64 random
    /// bits are at most this. `None` for sources that turn on and off, or that never send.
    pub fn most(&self) -> Option<u64> {
        let chance = self.trials.packet;
        let most =
            if chance == FastRandomStream::ALWAYS { chance } else { chance.checked_sub(1)? };
        (!self.trials.bursts).then_some(most)
    }

    /// The first cycle from `cycle` on in which a packet is injected; [`NEVER`] if there is none.
    /// Each cycle is tried once and in order, so that the draws do not depend on when, or how
    /// often, this is called. Injections before `cycle` that no call returned are skipped.
    /// O(cycles).
    #[inline]
    pub fn next_from(&mut self, cycle: u64, random: &mut FastRandomStream) -> u64 {
        self.next_before(cycle, NEVER, random).unwrap_or(NEVER)
    }

    /// As [`SourceInjectionClock::next_from`], but cycles from `end` on are not tried. `None` if
    /// there is no injection before `end`.
    #[inline]
    pub fn next_before(
        &mut self,
        cycle: u64,
        end: u64,
        random: &mut FastRandomStream,
    ) -> Option<u64> {
        if self.latest != NEVER && self.latest >= cycle {
            return (self.latest < end).then_some(self.latest);
        }
        if self.trials.packet == 0 {
            return None;
        }
        if self.trials.bursts {
            return self.try_bursts(cycle, end, random);
        }
        // copies of the fields used in the loop, for speed
        let (mut now, mut own) = (self.next, *random);
        let most = self.most().unwrap_or(0);
        while now < end.min(cycle) {
            own.next_u64();
            now += 1;
        }
        let mut found = None;
        while now < end && found.is_none() {
            found = (own.next_u64() <= most).then_some(now);
            now += 1;
        }
        (self.next, *random) = (now, own);
        self.latest = found.unwrap_or(self.latest);
        found
    }

    /// The next injection from `cycle` on and before `end`, for a source that turns on and off.
    fn try_bursts(&mut self, cycle: u64, end: u64, random: &mut FastRandomStream) -> Option<u64> {
        while self.next < end {
            self.next += 1;
            if self.turn(random) && random.chance(self.trials.packet) && self.next > cycle {
                self.latest = self.next - 1;
                return Some(self.latest);
            }
        }
        None
    }

    /// Draws whether a source that turns on and off is on in the next cycle.
    fn turn(&mut self, random: &mut FastRandomStream) -> bool {
        let InjectionThresholds { on, off, .. } = self.trials;
        self.on ^= random.chance(if self.on { off } else { on });
        self.on
    }
}

/// One class of traffic: its destinations, injection process, sizes and load. Several classes are
/// independent of one another.
#[derive(Debug, Clone, PartialEq)]
pub struct InjectedTrafficClass {
    /// The distribution of destinations.
    pub destinations: PacketDestinations,
    /// The injection process.
    pub process: InjectionProcess,
    /// The sizes of packets.
    pub sizes: PacketSizeDistribution,
    /// The load of a source with the highest rate; other sources send in proportion to their rates.
    pub load: OfferedLoad,
}

impl InjectedTrafficClass {
    /// The clock of an endpoint; `None` if the endpoint is idle.
    ///
    /// # Errors
    /// When the process cannot have this load.
    pub fn source(
        &self,
        endpoint: u32,
        random: &mut FastRandomStream,
    ) -> Result<Option<SourceInjectionClock>, Refusal> {
        if !self.destinations.is_active(endpoint) {
            return Ok(None);
        }
        let packets = self.load.packets(&self.sizes) * self.destinations.rate(endpoint);
        SourceInjectionClock::new(&self.process, packets, random).map(Some)
    }
}

#[cfg(test)]
mod tests;
