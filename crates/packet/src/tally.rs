//! Statistics of a run, packet by packet: sums that do not depend on the order of arrivals.

use super::window::MeasuredWindow;

/// The arrival of a chunk at its destination.
#[derive(Debug, Clone, Copy)]
pub struct ChunkArrival {
    /// The time of arrival, ps.
    pub at_ps: u64,
    /// The latency of the chunk, ps.
    pub latency_ps: u64,
    /// The latency of the message that the chunk completes, ps; none if parts of it are missing.
    pub message_ps: Option<u64>,
    /// Length of the chunk, in bytes.
    pub bytes: u32,
    /// Routers that the chunk visited; 0 for a message to the endpoint itself.
    pub hops: u8,
    /// Whether its path was non-minimal.
    pub is_detour: bool,
    /// Whether a chunk that its sender sent later arrived before it.
    pub is_late: bool,
    /// The index of its job or class of traffic; 0 if there is only one.
    pub job: u16,
}

impl ChunkArrival {
    /// The arrival of a message of a class that an endpoint sends to itself, without the network.
    pub(super) fn at_sender(at_ps: u64, bytes: u32, job: u16) -> Self {
        Self {
            at_ps,
            latency_ps: 0,
            message_ps: None,
            bytes,
            hops: 0,
            is_detour: false,
            is_late: false,
            job,
        }
    }
}

/// Base-2 logarithm of the number of histogram buckets in an octave. Values in the same bucket
/// differ by less than 1/64.
const FINE: u32 = 6;

/// A histogram of times, with their sum and the largest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeHistogram {
    /// The number of times in the histogram.
    pub count: u64,
    /// The sum of the times, ps.
    pub sum_ps: u128,
    /// The largest of them, ps.
    pub(super) max_ps: u64,
    /// The number of times in each bucket, up to the last bucket that is not empty.
    pub(super) buckets: Vec<u64>,
}

/// Sums over the measured arrivals of a job or a class of traffic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArrivalSums {
    /// Latencies of chunks.
    pub chunks: TimeHistogram,
    /// Latencies of messages that arrived completely, from when they are handed to the interface.
    pub messages: TimeHistogram,
    /// Bytes that arrived in the measured time, whenever they were sent.
    pub bytes: u64,
    /// Sum over chunks of the number of routers visited.
    pub hops: u64,
    /// Number of chunks on non-minimal paths.
    pub detours: u64,
    /// Number of chunks that arrived behind one that their sender sent later.
    pub overtaken: u64,
    /// The time of the last arrival, measured or not, ps.
    pub last_ps: u64,
}

/// Statistics of all arrivals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrivalStatistics {
    /// The sums of each job or class of traffic; a single entry if there are none.
    pub jobs: Vec<ArrivalSums>,
    /// Arrivals in equal spans of time; empty unless the user asked for them.
    pub series: Vec<TimeSpanArrivals>,
    /// The number of all chunks that arrived, measured or not.
    pub(super) arrived: u64,
    /// The part of the run that is measured.
    pub(super) window: MeasuredWindow,
    /// The length of these spans, ps; 0 without spans.
    pub(super) span_ps: u64,
}

/// The arrivals of a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeSpanArrivals {
    /// Number of chunks that arrived.
    pub chunks: u64,
    /// Number of bytes that arrived.
    pub bytes: u64,
    /// Sum of their latencies, ps.
    pub latency_ps: u128,
}

/// The largest number of spans; arrivals after the last span count in it.
const MOST_SPANS: usize = 1 << 20;

/// The bucket of a value: exact below 64, then 64 buckets for each octave.
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

impl TimeHistogram {
    fn add(&mut self, ps: u64) {
        self.count += 1;
        self.sum_ps += u128::from(ps);
        self.max_ps = self.max_ps.max(ps);
        let at = bucket(ps);
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, 0);
        }
        self.buckets[at] += 1;
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_ps += other.sum_ps;
        self.max_ps = self.max_ps.max(other.max_ps);
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
    }

    /// The mean, ps; none if the histogram is empty.
    pub fn mean_ps(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ps as f64 / self.count as f64)
    }

    /// The largest time, ps; none if the histogram is empty.
    pub fn max_ps(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ps)
    }

    /// The time that a `share` of all times does not exceed, ps, at most 1/64 too large; none if
    /// the histogram is empty.
    pub fn quantile_ps(&self, share: f64) -> Option<u64> {
        let due = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let found = self.buckets.iter().position(|&count| {
            seen += count;
            seen >= due
        })?;
        Some(top(found).min(self.max_ps))
    }
}

impl ArrivalSums {
    fn add(&mut self, arrival: &ChunkArrival, window: MeasuredWindow) {
        if window.has(arrival.at_ps) {
            self.bytes += u64::from(arrival.bytes);
        }
        if arrival.hops == 0 {
            return;
        }
        self.last_ps = self.last_ps.max(arrival.at_ps);
        if let Some(ps) =
            arrival.message_ps.filter(|ps| window.has(arrival.at_ps.saturating_sub(*ps)))
        {
            self.messages.add(ps);
        }
        if !window.has(arrival.at_ps.saturating_sub(arrival.latency_ps)) {
            return;
        }
        self.chunks.add(arrival.latency_ps);
        self.hops += u64::from(arrival.hops);
        self.detours += u64::from(arrival.is_detour);
        self.overtaken += u64::from(arrival.is_late);
    }

    fn merge(&mut self, other: &Self) {
        self.chunks.merge(&other.chunks);
        self.messages.merge(&other.messages);
        self.bytes += other.bytes;
        self.hops += other.hops;
        self.detours += other.detours;
        self.overtaken += other.overtaken;
        self.last_ps = self.last_ps.max(other.last_ps);
    }

    /// Mean number of routers visited; none if nothing arrived.
    pub fn mean_hops(&self) -> Option<f64> {
        let chunks = self.chunks.count;
        (chunks > 0).then(|| self.hops as f64 / chunks as f64)
    }
}

impl ArrivalStatistics {
    /// Empty statistics for `jobs` jobs or classes, at least 1, in spans of `span_ps`.
    pub fn of_jobs(jobs: usize, span_ps: u64, window: MeasuredWindow) -> Self {
        let jobs = vec![ArrivalSums::default(); jobs.max(1)];
        Self { jobs, span_ps, series: Vec::new(), arrived: 0, window }
    }

    fn span(&mut self, arrival: &ChunkArrival) {
        let at = ((arrival.at_ps / self.span_ps) as usize).min(MOST_SPANS - 1);
        if at >= self.series.len() {
            self.series.resize(at + 1, TimeSpanArrivals::default());
        }
        let span = &mut self.series[at];
        span.chunks += 1;
        span.bytes += u64::from(arrival.bytes);
        span.latency_ps += u128::from(arrival.latency_ps);
    }

    /// Adds an arrival.
    pub fn add(&mut self, arrival: ChunkArrival) {
        if arrival.hops > 0 {
            self.arrived += 1;
            if self.span_ps > 0 {
                self.span(&arrival);
            }
        }
        self.jobs[usize::from(arrival.job)].add(&arrival, self.window);
    }

    /// Adds the statistics of another part of the run, with the same number of jobs.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.jobs.iter_mut().zip(&other.jobs) {
            mine.merge(theirs);
        }
        self.arrived += other.arrived;
        if self.series.len() < other.series.len() {
            self.series.resize(other.series.len(), TimeSpanArrivals::default());
        }
        for (mine, theirs) in self.series.iter_mut().zip(&other.series) {
            mine.chunks += theirs.chunks;
            mine.bytes += theirs.bytes;
            mine.latency_ps += theirs.latency_ps;
        }
    }

    /// The sums over all jobs.
    pub fn all(&self) -> ArrivalSums {
        let mut all = ArrivalSums::default();
        for job in &self.jobs {
            all.merge(job);
        }
        all
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
        let mut spread = TimeHistogram::default();
        (1..=1000).for_each(|ps| spread.add(ps));
        for (share, value) in [(0.5, 500), (0.99, 990), (0.001, 1), (1.0, 1000)] {
            let found = spread.quantile_ps(share).expect("there are some");
            assert!(found >= value && found <= value + value / 64, "{share}: {found}");
        }
        assert_eq!((spread.mean_ps(), spread.max_ps()), (Some(500.5), Some(1000)));
        assert_eq!(TimeHistogram::default().quantile_ps(0.5), None);
    }

    #[test]
    fn halves_add_up_to_the_whole() {
        let arrival = |i: u64| ChunkArrival {
            at_ps: i,
            latency_ps: i * i * 7919 % 100_003,
            message_ps: i.is_multiple_of(3).then_some(i * 31),
            bytes: (i % 5) as u32,
            hops: (i % 4 + 1) as u8,
            is_detour: i.is_multiple_of(2),
            is_late: i.is_multiple_of(7),
            job: (i % 2) as u16,
        };
        let of = |range: std::ops::Range<u64>| {
            let mut tally = ArrivalStatistics::of_jobs(2, 10, MeasuredWindow::WHOLE);
            range.for_each(|i| tally.add(arrival(i)));
            tally
        };
        let mut first = of(0..400);
        first.merge(&of(400..1000));
        assert_eq!(first, of(0..1000));
        let all = first.all();
        assert_eq!((all.chunks.count, all.messages.count, all.last_ps), (1000, 334, 999));
        assert_eq!(all.overtaken, 143);
    }
}
