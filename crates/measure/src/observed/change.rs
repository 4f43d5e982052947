//! How a counter changed between its readings.

use fabric::counters::{CounterValue, PortCounter};

/// One reading of a counter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimedValue {
    /// Seconds since 1970; `None` where the source has no times.
    pub time_s: Option<f64>,
    /// The value.
    pub value: CounterValue,
}

/// How counters are read.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CounterRules {
    /// Seconds between readings that have no times.
    pub seconds: Option<f64>,
    /// Whether counters of 32 bits begin again at 0 rather than stay at their maximum.
    pub wraps: bool,
}

/// The change of a counter over all its readings.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CounterChange {
    /// Number of readings.
    pub readings: usize,
    /// The last value.
    pub last: u64,
    /// By how much the counter grew in the intervals that are known.
    pub growth: u64,
    /// Seconds of these intervals; 0 where no time is known.
    pub seconds: f64,
    /// Number of intervals whose growth is known, at least in part.
    pub known: usize,
    /// Whether the counter grew by more than `growth`, it is not known by how much.
    pub is_least: bool,
    /// Whether the counter stands at its maximum, where it counts no further.
    pub is_saturated: bool,
    /// Whether the counter became smaller: somebody cleared it, or its device began anew.
    pub is_reset: bool,
}

impl CounterChange {
    /// The change over readings in the order of time.
    ///
    /// A counter that stays at its maximum has an unknown growth. Where a counter became smaller,
    /// traffic in that interval is unknown, and faults are at least what it shows now.
    pub fn of(counter: PortCounter, all: &[TimedValue], rules: &CounterRules) -> Self {
        let mut found = Self { readings: all.len(), ..Self::default() };
        let Some(last) = all.last() else { return found };
        found.last = last.value.value;
        for pair in all.windows(2) {
            let is_known = found.add(counter, pair[0], pair[1], rules);
            found.known += usize::from(is_known);
        }
        let wraps = |value: CounterValue| rules.wraps && value.bits == 32;
        found.is_saturated |= last.value.is_saturated() && !wraps(last.value);
        found
    }

    /// Adds an interval; returns whether its growth is known, at least in part.
    fn add(
        &mut self,
        counter: PortCounter,
        from: TimedValue,
        to: TimedValue,
        rules: &CounterRules,
    ) -> bool {
        let between = from.time_s.zip(to.time_s).map(|(from, to)| to - from);
        let seconds = between.or(rules.seconds).filter(|s| *s > 0.0).unwrap_or(0.0);
        let wraps = rules.wraps && from.value.bits == 32 && to.value.bits == 32;
        let (old, new) = (from.value.value, to.value.value);
        if to.value.is_saturated() && !wraps {
            self.is_saturated = true;
            if counter.is_traffic() || from.value.is_saturated() {
                return false;
            }
            self.is_least = true;
            self.growth += new - old.min(new);
        } else if new >= old {
            self.growth += new - old;
        } else if wraps {
            self.growth += new + (1 << 32) - old;
        } else {
            self.is_reset = true;
            if counter.is_traffic() || counter == PortCounter::XmitWait {
                return false;
            }
            self.is_least = true;
            self.growth += new;
        }
        self.seconds += seconds;
        true
    }

    /// Whether the growth is known in no interval.
    pub fn is_unknown(&self) -> bool {
        self.known == 0
    }

    /// Growth a second; `None` where time or growth is unknown.
    pub fn per_second(&self) -> Option<f64> {
        (!self.is_unknown() && self.seconds > 0.0).then(|| self.growth as f64 / self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(counter: PortCounter, values: &[(u64, u8)], wraps: bool) -> CounterChange {
        let times = (0..).map(|i: u32| Some(f64::from(i) * 10.0));
        let timed = values.iter().zip(times).map(|(&(value, bits), time_s)| TimedValue {
            time_s,
            value: CounterValue { value, bits },
        });
        let all: Vec<TimedValue> = timed.collect();
        CounterChange::of(counter, &all, &CounterRules { seconds: None, wraps })
    }

    const MOST: u64 = u32::MAX as u64;

    #[test]
    fn a_counter_that_stays_at_its_maximum_is_saturated_and_has_no_rate() {
        for values in [[(MOST, 32), (MOST, 32)], [(5, 32), (MOST, 32)]] {
            let found = change(PortCounter::XmitData, &values, false);
            assert!(found.is_saturated && found.is_unknown() && !found.is_reset);
            assert_eq!(found.per_second(), None);
        }
        // one below the maximum still counts
        let found = change(PortCounter::XmitData, &[(5, 32), (MOST - 1, 32)], false);
        assert_eq!((found.is_saturated, found.growth), (false, MOST - 6));
        // the same value in 64 bits is one like any other
        let found = change(PortCounter::XmitData, &[(5, 64), (MOST, 64)], false);
        assert_eq!(
            (found.is_saturated, found.per_second()),
            (false, Some((MOST - 5) as f64 / 10.0))
        );
        // errors: at least up to the maximum, then unknown
        let found = change(PortCounter::LinkDowned, &[(250, 8), (255, 8)], false);
        assert_eq!((found.growth, found.is_least, found.is_saturated), (5, true, true));
        let found = change(PortCounter::LinkDowned, &[(255, 8), (255, 8)], false);
        assert!(found.is_unknown() && found.is_saturated);
    }

    #[test]
    fn a_smaller_value_is_a_reset_unless_counters_wrap() {
        let values = [(MOST - 99, 32), (900, 32)];
        let found = change(PortCounter::XmitData, &values, false);
        assert_eq!((found.is_reset, found.is_unknown(), found.per_second()), (true, true, None));
        let found = change(PortCounter::XmitData, &values, true);
        // 100 up to 0, and 900
        assert_eq!((found.is_reset, found.growth, found.per_second()), (false, 1000, Some(100.0)));
        // a counter of 64 bits never wraps
        let found = change(PortCounter::XmitData, &[(MOST - 99, 64), (900, 64)], true);
        assert!(found.is_reset && found.is_unknown());
        // with wraps a value of the maximum is one like any other
        let found = change(PortCounter::XmitData, &[(5, 32), (MOST, 32)], true);
        assert_eq!((found.is_saturated, found.growth), (false, MOST - 5));
        // what a counter of errors shows after a reset has happened since
        let found = change(PortCounter::SymbolErrors, &[(500, 16), (7, 16)], false);
        assert_eq!((found.growth, found.is_least, found.is_reset), (7, true, true));
    }

    #[test]
    fn an_interval_with_a_reset_counts_neither_growth_nor_seconds_of_traffic() {
        let values = [(0, 64), (1000, 64), (200, 64), (1200, 64)];
        let found = change(PortCounter::XmitData, &values, false);
        assert_eq!((found.growth, found.seconds, found.is_reset), (2000, 20.0, true));
        assert_eq!(found.per_second(), Some(100.0));
    }

    #[test]
    fn without_times_the_seconds_given_are_those_of_every_interval() {
        let all =
            [3, 13, 23].map(|value| TimedValue { time_s: None, value: CounterValue::wide(value) });
        let rate = |seconds| {
            CounterChange::of(PortCounter::RcvData, &all, &CounterRules { seconds, wraps: false })
        };
        assert_eq!(rate(Some(5.0)).per_second(), Some(2.0));
        assert_eq!((rate(None).per_second(), rate(None).growth), (None, 20));
    }
}
