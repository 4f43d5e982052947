//! What a run finds, packet by packet: sums that do not depend on their order.

use super::replay::JobSums;

/// A chunk that has arrived.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// When, ps.
    pub at_ps: u64,
    /// How long it took, ps.
    pub latency_ps: u64,
    /// Its bytes.
    pub bytes: u32,
    /// Routers visited.
    pub hops: u8,
    /// Whether its way was no shortest one.
    pub is_detour: bool,
    /// Whether it ended a message.
    pub is_last: bool,
    /// Whether one that its sender sent after it came before.
    pub is_late: bool,
    /// Its job, where there are jobs.
    pub job: u16,
}

/// Buckets of an octave of the histogram: values of a bucket differ by less than 1/64.
const FINE: u32 = 6;

/// Sums over all arrivals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// Chunks that arrived.
    pub chunks: u64,
    /// Messages whose last chunk arrived.
    pub messages: u64,
    /// Bytes that arrived.
    pub bytes: u64,
    /// Sum of routers visited.
    pub hops: u64,
    /// Chunks on ways that are no shortest ones.
    pub detours: u64,
    /// Chunks that came behind one that their sender sent after them.
    pub overtaken: u64,
    /// Sum of latencies, ps.
    pub latency_ps: u128,
    /// Largest latency, ps.
    pub max_latency_ps: u64,
    /// The last arrival, ps.
    pub last_ps: u64,
    /// Of each job, where there are jobs.
    pub jobs: Vec<JobSums>,
    /// What arrived in equal spans of time, where that is asked for.
    pub series: Vec<Span>,
    /// How long those are, ps; 0 where they are not asked for.
    pub(super) span_ps: u64,
    /// Latencies by bucket.
    pub(super) buckets: Vec<u64>,
}

/// What arrived in a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Chunks.
    pub chunks: u64,
    /// Bytes.
    pub bytes: u64,
    /// Sum of latencies, ps.
    pub latency_ps: u128,
}

/// Most spans: what comes later is in the last.
const MOST_SPANS: usize = 1 << 20;

impl Default for Tally {
    fn default() -> Self {
        Self {
            chunks: 0,
            messages: 0,
            bytes: 0,
            hops: 0,
            detours: 0,
            overtaken: 0,
            latency_ps: 0,
            max_latency_ps: 0,
            last_ps: 0,
            jobs: Vec::new(),
            series: Vec::new(),
            span_ps: 0,
            buckets: vec![0; bucket(u64::MAX) + 1],
        }
    }
}

/// The bucket of a value: exact below 64, then 64 an octave.
fn bucket(value: u64) -> usize {
    let octave = value.max(1).ilog2().saturating_sub(FINE);
    ((octave as usize) << FINE) + (value >> octave) as usize
}

/// The largest value of a bucket.
fn top(bucket: usize) -> u64 {
    let octave = (bucket >> FINE).saturating_sub(1);
    let mantissa = (bucket - (octave << FINE)) as u128;
    (((mantissa + 1) << octave) - 1).min(u128::from(u64::MAX)) as u64
}

impl Tally {
    /// One of so many jobs, in spans of so many ps.
    pub fn of_jobs(jobs: usize, span_ps: u64) -> Self {
        Self { jobs: vec![JobSums::default(); jobs], span_ps, ..Self::default() }
    }

    fn span(&mut self, arrival: &Arrival) {
        let at = ((arrival.at_ps / self.span_ps) as usize).min(MOST_SPANS - 1);
        if at >= self.series.len() {
            self.series.resize(at + 1, Span::default());
        }
        let span = &mut self.series[at];
        span.chunks += 1;
        span.bytes += u64::from(arrival.bytes);
        span.latency_ps += u128::from(arrival.latency_ps);
    }

    /// Adds an arrival.
    pub fn add(&mut self, arrival: Arrival) {
        if let Some(job) = self.jobs.get_mut(usize::from(arrival.job)) {
            job.count(&arrival);
        }
        if self.span_ps > 0 {
            self.span(&arrival);
        }
        self.chunks += 1;
        self.messages += u64::from(arrival.is_last);
        self.bytes += u64::from(arrival.bytes);
        self.hops += u64::from(arrival.hops);
        self.detours += u64::from(arrival.is_detour);
        self.overtaken += u64::from(arrival.is_late);
        self.latency_ps += u128::from(arrival.latency_ps);
        self.max_latency_ps = self.max_latency_ps.max(arrival.latency_ps);
        self.last_ps = self.last_ps.max(arrival.at_ps);
        self.buckets[bucket(arrival.latency_ps)] += 1;
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &Self) {
        self.chunks += other.chunks;
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.hops += other.hops;
        self.detours += other.detours;
        self.overtaken += other.overtaken;
        self.latency_ps += other.latency_ps;
        self.max_latency_ps = self.max_latency_ps.max(other.max_latency_ps);
        self.last_ps = self.last_ps.max(other.last_ps);
        for (mine, theirs) in self.jobs.iter_mut().zip(&other.jobs) {
            mine.add(theirs);
        }
        if self.series.len() < other.series.len() {
            self.series.resize(other.series.len(), Span::default());
        }
        for (mine, theirs) in self.series.iter_mut().zip(&other.series) {
            mine.chunks += theirs.chunks;
            mine.bytes += theirs.bytes;
            mine.latency_ps += theirs.latency_ps;
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
    }

    /// The mean latency, ps; none where nothing arrived.
    pub fn mean_latency_ps(&self) -> Option<f64> {
        (self.chunks > 0).then(|| self.latency_ps as f64 / self.chunks as f64)
    }

    /// Mean routers visited; none where nothing arrived.
    pub fn mean_hops(&self) -> Option<f64> {
        (self.chunks > 0).then(|| self.hops as f64 / self.chunks as f64)
    }

    /// The latency that a share of all chunks does not exceed, ps, at most 1/64 too large; none
    /// where nothing arrived.
    pub fn quantile_ps(&self, share: f64) -> Option<u64> {
        let due = (share * self.chunks as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let found = self.buckets.iter().position(|&count| {
            seen += count;
            seen >= due
        })?;
        Some(top(found).min(self.max_latency_ps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_have_no_gaps_and_their_width() {
        let mut last = 0;
        for value in (0..5000).chain((0..58).flat_map(|i| [(1_u64 << (i + 6)) - 1, 1 << (i + 6)])) {
            let found = bucket(value);
            assert!(top(found) >= value && (found == 0 || top(found - 1) < value), "{value}");
            assert!(top(found) - value <= value / 64, "{value}: {}", top(found));
            last = last.max(found);
        }
        assert_eq!(top(bucket(u64::MAX)), u64::MAX);
    }

    #[test]
    fn quantiles_of_known_values() {
        let mut tally = Tally::default();
        for latency_ps in 1..=1000 {
            let (bytes, hops, is_detour, is_last, is_late, job) = (1, 1, false, true, false, 0);
            let at_ps = 5;
            tally.add(Arrival { at_ps, latency_ps, bytes, hops, is_detour, is_last, is_late, job });
        }
        for (share, value) in [(0.5, 500), (0.99, 990), (0.001, 1), (1.0, 1000)] {
            let found = tally.quantile_ps(share).expect("some arrived");
            assert!(found >= value && found <= value + value / 64, "{share}: {found}");
        }
        assert_eq!(Tally::default().quantile_ps(0.5), None);
    }
}
