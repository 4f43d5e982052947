//! What a run finds, packet by packet: sums that do not depend on their order.

/// A chunk that has arrived.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// When, ps.
    pub at_ps: u64,
    /// How long it took, ps.
    pub latency_ps: u64,
    /// How long its message took, of which it is the last that came, ps.
    pub message_ps: Option<u64>,
    /// Its bytes.
    pub bytes: u32,
    /// Routers visited.
    pub hops: u8,
    /// Whether its way was no shortest one.
    pub is_detour: bool,
    /// Whether one that its sender sent after it came before.
    pub is_late: bool,
    /// Its job or class of traffic; 0 where there is one alone.
    pub job: u16,
}

/// Buckets of an octave of the histogram: values of a bucket differ by less than 1/64.
const FINE: u32 = 6;

/// Times: their sum, the largest, and how many there are of each length.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// Their sum, ps.
    pub sum_ps: u128,
    /// The largest, ps.
    pub(super) max_ps: u64,
    /// How many are in each bucket, up to the last that is not empty.
    pub(super) buckets: Vec<u64>,
}

/// Sums over all arrivals of a job or class.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sums {
    /// Latencies of chunks.
    pub chunks: Spread,
    /// Latencies of messages of which all has arrived: from when they come to the interface.
    pub messages: Spread,
    /// Bytes that arrived.
    pub bytes: u64,
    /// Sum of routers visited.
    pub hops: u64,
    /// Chunks on ways that are no shortest ones.
    pub detours: u64,
    /// Chunks that came behind one that their sender sent after them.
    pub overtaken: u64,
    /// The last arrival, ps.
    pub last_ps: u64,
}

/// All that arrived.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Of each job or class; where there are none, one of all.
    pub jobs: Vec<Sums>,
    /// What arrived in equal spans of time, where that is asked for.
    pub series: Vec<Span>,
    /// How long those are, ps; 0 where they are not asked for.
    pub(super) span_ps: u64,
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

impl Spread {
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

    /// The mean, ps; none where there is nothing.
    pub fn mean_ps(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ps as f64 / self.count as f64)
    }

    /// The largest, ps; none where there is nothing.
    pub fn max_ps(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ps)
    }

    /// What a share of all does not exceed, ps, at most 1/64 too large; none where there is
    /// nothing.
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

impl Sums {
    fn add(&mut self, arrival: &Arrival) {
        self.chunks.add(arrival.latency_ps);
        if let Some(ps) = arrival.message_ps {
            self.messages.add(ps);
        }
        self.bytes += u64::from(arrival.bytes);
        self.hops += u64::from(arrival.hops);
        self.detours += u64::from(arrival.is_detour);
        self.overtaken += u64::from(arrival.is_late);
        self.last_ps = self.last_ps.max(arrival.at_ps);
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

    /// Mean routers visited; none where nothing arrived.
    pub fn mean_hops(&self) -> Option<f64> {
        let chunks = self.chunks.count;
        (chunks > 0).then(|| self.hops as f64 / chunks as f64)
    }
}

impl Tally {
    /// One of so many jobs or classes, 1 where there are none, in spans of so many ps.
    pub fn of_jobs(jobs: usize, span_ps: u64) -> Self {
        Self { jobs: vec![Sums::default(); jobs.max(1)], span_ps, series: Vec::new() }
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
        if self.span_ps > 0 {
            self.span(&arrival);
        }
        self.jobs[usize::from(arrival.job)].add(&arrival);
    }

    /// Adds all of another of as many jobs.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.jobs.iter_mut().zip(&other.jobs) {
            mine.merge(theirs);
        }
        if self.series.len() < other.series.len() {
            self.series.resize(other.series.len(), Span::default());
        }
        for (mine, theirs) in self.series.iter_mut().zip(&other.series) {
            mine.chunks += theirs.chunks;
            mine.bytes += theirs.bytes;
            mine.latency_ps += theirs.latency_ps;
        }
    }

    /// Of all jobs together.
    pub fn all(&self) -> Sums {
        let mut all = Sums::default();
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
        let mut spread = Spread::default();
        (1..=1000).for_each(|ps| spread.add(ps));
        for (share, value) in [(0.5, 500), (0.99, 990), (0.001, 1), (1.0, 1000)] {
            let found = spread.quantile_ps(share).expect("there are some");
            assert!(found >= value && found <= value + value / 64, "{share}: {found}");
        }
        assert_eq!((spread.mean_ps(), spread.max_ps()), (Some(500.5), Some(1000)));
        assert_eq!(Spread::default().quantile_ps(0.5), None);
    }

    #[test]
    fn halves_add_up_to_the_whole() {
        let arrival = |i: u64| Arrival {
            at_ps: i,
            latency_ps: i * i * 7919 % 100_003,
            message_ps: i.is_multiple_of(3).then_some(i * 31),
            bytes: (i % 5) as u32,
            hops: (i % 4) as u8,
            is_detour: i.is_multiple_of(2),
            is_late: i.is_multiple_of(7),
            job: (i % 2) as u16,
        };
        let of = |range: std::ops::Range<u64>| {
            let mut tally = Tally::of_jobs(2, 10);
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
