//! The destinations of packets: a distribution for each source, whatever pattern it comes from.

mod alias;
mod named;

pub(crate) use alias::AliasTable;
use alias::SourceAliasTables;
use base::seed::FastRandomStream;
use base::{EndpointId, Refusal};

/// A message: who sends, who receives, and its amount in units of an endpoint's full rate.
pub type WeightedMessage = (EndpointId, EndpointId, f64);

/// The random destinations of packets, for each source.
///
/// Endpoints are numbered from 0. With several rails, each rail is a source and a destination of
/// its own. Some distributions can draw the source itself; such a packet passes the switch of its
/// endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct PacketDestinations {
    endpoints: u32,
    law: DestinationDistribution,
    /// Whether each source sends; `None` if all do.
    active: Option<Box<[bool]>>,
    /// The rate of each source relative to the busiest one; `None` if all are equal.
    rates: Option<Box<[f64]>>,
    largest_load: Option<f64>,
    /// Number of rails of an endpoint.
    rails: u32,
}

/// The distribution of a packet's destination.
#[derive(Debug, Clone, PartialEq)]
enum DestinationDistribution {
    /// Always the same one for each source; an idle source has itself.
    Fixed(Box<[u32]>),
    /// Any of this number of endpoints, including the source, with equal probability.
    Uniform(u32),
    /// Any of this number of endpoints except the source, with equal probability.
    Others(u32),
    /// Any of these endpoints, with equal probability.
    Among(Box<[u32]>),
    /// Any of these endpoints, in proportion to its weight.
    Weighted(AliasTable),
    /// Any endpoint of the next block after that of the source; there are `count` blocks of `size`,
    /// and the first follows the last.
    NextBlock { size: u32, count: u32 },
    /// The source's number plus one of `steps`, modulo `around`.
    Steps { steps: Box<[u32]>, around: u32 },
    /// The first distribution if a random number is below the threshold, else the second.
    Mixture(Box<(u64, DestinationDistribution, DestinationDistribution)>),
    /// Any endpoint, in proportion to weights that each source has of its own.
    Rows(SourceAliasTables),
    /// Destinations among ranks, which are some of the endpoints.
    Placed(Box<RankDestinationDistribution>),
    /// Destinations among endpoints with this number of rails; a packet stays on the rail with its
    /// number.
    Rails(Box<(u32, DestinationDistribution)>),
}

/// A distribution among ranks, which are placed on some of the endpoints.
#[derive(Debug, Clone, PartialEq)]
struct RankDestinationDistribution {
    /// The rank of each endpoint; [`NOBODY`] for endpoints without a rank.
    rank: Box<[u32]>,
    /// The endpoint of each rank.
    at: Box<[u32]>,
    law: DestinationDistribution,
}

/// No rank.
const NOBODY: u32 = u32::MAX;

impl DestinationDistribution {
    fn draw(&self, source: u32, random: &mut FastRandomStream) -> u32 {
        match self {
            Self::Fixed(to) => to[source as usize],
            Self::Uniform(n) => random.below(*n),
            Self::Others(n) => {
                let other = random.below(n - 1);
                other + u32::from(other >= source)
            }
            Self::Among(set) => set[random.below(set.len() as u32) as usize],
            Self::Weighted(alias) => alias.draw(random),
            Self::NextBlock { size, count } => {
                (source / size + 1) % count * size + random.below(*size)
            }
            Self::Steps { steps, around } => {
                let sum = source + steps[random.below(steps.len() as u32) as usize];
                if sum < *around { sum } else { sum - around }
            }
            Self::Mixture(parts) => {
                let (chance, first, second) = &**parts;
                let of = if random.chance(*chance) { first } else { second };
                of.draw(source, random)
            }
            Self::Rows(rows) => rows.draw(source, random),
            Self::Placed(among) => match among.rank[source as usize] {
                NOBODY => source,
                rank => among.at[among.law.draw(rank, random) as usize],
            },
            Self::Rails(of) => {
                let (rails, law) = &**of;
                law.draw(source / rails, random) * rails + source % rails
            }
        }
    }
}

impl PacketDestinations {
    fn of(endpoints: u32, law: DestinationDistribution) -> Self {
        Self { endpoints, law, active: None, rates: None, largest_load: None, rails: 1 }
    }

    /// A distribution in which every source always has its destination in `to`; sources with `None`
    /// are idle. O(endpoints).
    pub fn fixed_to(to: &[Option<u32>]) -> Self {
        let own = (0..).zip(to).map(|(source, to)| to.unwrap_or(source)).collect();
        let mut all = Self::of(to.len() as u32, DestinationDistribution::Fixed(own));
        all.only(to.iter().map(Option::is_some));
        all
    }

    /// Any of `endpoints`, including the source, with equal probability: BookSim's `uniform`.
    pub fn uniform(endpoints: u32) -> Self {
        Self::of(endpoints, DestinationDistribution::Uniform(endpoints))
    }

    /// Any of `endpoints` (2 or more) except the source, with equal probability.
    pub fn others(endpoints: u32) -> Self {
        Self::of(endpoints, DestinationDistribution::Others(endpoints))
    }

    /// Any endpoint of `set` (one or more of `endpoints`), with equal probability.
    pub fn among(endpoints: u32, set: &[u32]) -> Self {
        Self::of(endpoints, DestinationDistribution::Among(set.into()))
    }

    /// Any of the endpoints in `weighted` (one or more of `endpoints`), in proportion to its weight
    /// above 0.
    pub fn weighted(endpoints: u32, weighted: &[(u32, f64)]) -> Self {
        Self::of(endpoints, DestinationDistribution::Weighted(AliasTable::new(weighted)))
    }

    /// Any endpoint of the next block of `size` endpoints after that of the source; the first block
    /// follows the last. `endpoints` is a multiple of `size`.
    pub(crate) fn next_block(endpoints: u32, size: u32) -> Self {
        Self::of(endpoints, DestinationDistribution::NextBlock { size, count: endpoints / size })
    }

    /// The source's number plus one of `steps`, modulo `endpoints` (at most 2^31), with equal
    /// probability; steps are below `endpoints`.
    pub fn steps(endpoints: u32, steps: &[u32]) -> Self {
        Self::of(
            endpoints,
            DestinationDistribution::Steps { steps: steps.into(), around: endpoints },
        )
    }

    /// The distribution `first` with this probability, else `second`; both have the same number of
    /// endpoints, and all send.
    #[must_use]
    pub fn mixture(probability: f64, first: Self, second: Self) -> Self {
        let parts = (FastRandomStream::threshold(probability), first.law, second.law);
        Self::of(first.endpoints, DestinationDistribution::Mixture(Box::new(parts)))
    }

    /// The distribution of a list of messages among `endpoints`: each source sends to its
    /// destinations in proportion to the amounts, at a rate in proportion to their sum. Amounts of
    /// 0 are left out. O(messages * log(messages)).
    ///
    /// # Errors
    /// When nothing is sent, or more than 2^32 - 1 messages are.
    pub fn of_messages(endpoints: u32, messages: &[WeightedMessage]) -> Result<Self, Refusal> {
        if u32::try_from(messages.len()).is_err() {
            let why = format!("{} messages", messages.len());
            return Err(Refusal::new("traffic", why, format!("at most {}", u32::MAX)));
        }
        let mut sorted: Vec<&WeightedMessage> = messages.iter().filter(|m| m.2 > 0.0).collect();
        sorted.sort_by_key(|m| (m.0, m.1));
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); endpoints as usize];
        for of_source in sorted.chunk_by(|a, b| a.0 == b.0) {
            let row = &mut rows[of_source[0].0.ix()];
            for to in of_source.chunk_by(|a, b| a.1 == b.1) {
                row.push((to[0].1.0, to.iter().map(|m| m.2).sum()));
            }
        }
        let sums: Vec<f64> = rows.iter().map(|row| row.iter().map(|x| x.1).sum()).collect();
        let most = sums.iter().copied().fold(0.0, f64::max);
        if most == 0.0 {
            let help = "amounts above 0 between different endpoints";
            return Err(Refusal::new("traffic", "nothing is sent", help));
        }
        let mut all = if rows.iter().all(|row| row.len() <= 1) {
            let to: Vec<_> = rows.iter().map(|row| row.first().map(|x| x.0)).collect();
            Self::fixed_to(&to)
        } else {
            let law = DestinationDistribution::Rows(SourceAliasTables::new(
                rows.iter().map(Vec::as_slice),
            ));
            let mut all = Self::of(endpoints, law);
            all.only(rows.iter().map(|row| !row.is_empty()));
            all
        };
        if sums.iter().any(|&sum| sum != 0.0 && sum < most) {
            all.rates = Some(sums.iter().map(|sum| sum / most).collect());
        }
        Ok(all)
    }

    /// The same distribution, with rank r on the endpoint `places[r]` of `endpoints`. Endpoints
    /// without a rank are idle and receive nothing. O(endpoints).
    #[must_use]
    pub(crate) fn placed(self, places: &[EndpointId], endpoints: u32) -> Self {
        if places.len() == endpoints as usize {
            return self; // places are in order, so everybody is himself
        }
        let at: Box<[u32]> = places.iter().map(|e| e.0).collect();
        let mut rank = vec![NOBODY; endpoints as usize];
        for (i, &e) in (0..).zip(&at) {
            rank[e as usize] = i;
        }
        let here = |e: usize| (rank[e] != NOBODY).then_some(rank[e]);
        let active: Vec<bool> =
            (0..rank.len()).map(|e| here(e).is_some_and(|i| self.is_active(i))).collect();
        let rates = self.rates.as_ref().map(|rates| {
            (0..rank.len()).map(|e| here(e).map_or(0.0, |i| rates[i as usize])).collect()
        });
        let law = match self.law {
            DestinationDistribution::Fixed(to) => {
                let of = |e: usize| here(e).map_or(e as u32, |i| at[to[i as usize] as usize]);
                DestinationDistribution::Fixed((0..rank.len()).map(of).collect())
            }
            law => DestinationDistribution::Placed(Box::new(RankDestinationDistribution {
                rank: rank.into(),
                at,
                law,
            })),
        };
        let mut all = Self { endpoints, law, active: None, rates, ..self };
        all.only(active.into_iter());
        all
    }

    /// The same distribution with a known load of its busiest channel, or none.
    #[must_use]
    pub(crate) fn with_largest_load(mut self, load: Option<f64>) -> Self {
        self.largest_load = load;
        self
    }

    /// These destinations for endpoints with `rails` rails each. Rail r of endpoint e has the
    /// number `e * rails + r`. `share(e, r)` is the fraction of e's packets on that rail; they
    /// arrive at the rail r of their destination.
    ///
    /// # Panics
    /// When the distribution has rails already, or `rails` is 0.
    #[must_use]
    pub fn on_rails(self, rails: u32, share: impl Fn(u32, u32) -> f64) -> Self {
        assert!(self.rails == 1 && rails > 0, "endpoints have rails once");
        let all = || (0..self.endpoints).flat_map(|e| (0..rails).map(move |r| (e, r)));
        let active = self.active.is_some().then(|| all().map(|(e, _)| self.is_active(e)).collect());
        let rates = Some(all().map(|(e, r)| self.rate(e) * share(e, r)).collect());
        let endpoints = self.endpoints * rails;
        let law = DestinationDistribution::Rails(Box::new((rails, self.law)));
        Self { endpoints, law, active, rates, largest_load: self.largest_load, rails }
    }

    fn only(&mut self, active: impl ExactSizeIterator<Item = bool> + Clone) {
        if active.clone().any(|sends| !sends) {
            self.active = Some(active.collect());
        }
    }

    /// The destination of the next packet of `source`; an idle source has itself. It takes a few
    /// nanoseconds, and does not allocate.
    ///
    /// # Panics
    /// When there is no such source.
    #[inline]
    pub fn draw(&self, source: u32, random: &mut FastRandomStream) -> u32 {
        match self.law {
            DestinationDistribution::Uniform(n) => random.below(n), // where most packets are
            _ => self.law.draw(source, random),
        }
    }

    /// Whether `source` sends.
    #[inline]
    pub fn is_active(&self, source: u32) -> bool {
        self.active.as_ref().is_none_or(|sends| sends[source as usize])
    }

    /// The number of endpoints that send, each counted once however many rails it has.
    /// O(endpoints).
    pub fn active(&self) -> u32 {
        let all = |sends: &[bool]| sends.iter().filter(|&&sends| sends).count() as u32;
        self.active.as_ref().map_or(self.endpoints, |sends| all(sends)) / self.rails
    }

    /// The number of sources: endpoints, or their rails.
    pub fn endpoints(&self) -> u32 {
        self.endpoints
    }

    /// The destination of every source, if each has only one; an idle source has itself.
    pub fn fixed(&self) -> Option<&[u32]> {
        match &self.law {
            DestinationDistribution::Fixed(to) => Some(to),
            _ => None,
        }
    }

    /// The rate of `source` as a fraction of the busiest source's rate: 1 if all send equally, 0 if
    /// it is idle.
    pub fn rate(&self, source: u32) -> f64 {
        let alike = if self.is_active(source) { 1.0 } else { 0.0 };
        self.rates.as_ref().map_or(alike, |rates| rates[source as usize])
    }

    /// The load of the busiest channel if every source sends at an endpoint's full rate; only known
    /// for patterns that were constructed to maximise it.
    pub fn largest_load(&self) -> Option<f64> {
        self.largest_load
    }
}

#[cfg(test)]
mod tests;
