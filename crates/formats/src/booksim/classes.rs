//! Traffic classes: what each sends, how long its packets are, how often, and how it is measured.

use super::note::UnusedKeyNote;
use super::settings::BookSimConfigValues;
use super::text::{call, list, split};
use super::traffic::pattern;
use ::traffic::pattern::booksim::BookSimPattern as Pattern;
use ::traffic::process::{self, InjectionProcess, OfferedLoad, PacketSizeDistribution};
use base::Refusal;

/// The keys that take a list with one item for each class.
const LISTS: [&str; 12] = [
    "traffic",
    "injection_process",
    "packet_size",
    "packet_size_rate",
    "injection_rate",
    "class_priority",
    "measure_stats",
    "latency_thres",
    "warmup_thres",
    "acc_warmup_thres",
    "stopping_thres",
    "acc_stopping_thres",
];

/// Most classes that a configuration may have.
const MOST: u32 = 1024;

/// One traffic class: its own process, queue and pattern at every endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct BookSimTrafficClass {
    /// `traffic`.
    pub pattern: Pattern,
    /// `packet_size` with `packet_size_rate`: at least one.
    pub lengths: Vec<WeightedPacketLength>,
    /// Packets that an endpoint begins in a cycle, on average: `injection_rate`, divided by the
    /// mean length where `injection_rate_uses_flits`.
    pub packet_rate: f64,
    /// `injection_process`.
    pub injection: InjectionRule,
    /// `class_priority`.
    pub priority: i32,
    /// `measure_stats`.
    pub measured: bool,
    /// `latency_thres` in cycles; none for a negative one: no limit.
    pub latency_limit: Option<f64>,
    /// `warmup_thres`; `None` where it is negative: latency is not a criterion of the warm-up.
    pub warmup_latency: Option<f64>,
    /// `acc_warmup_thres`; `None` where it is negative: accepted load is not a criterion of the
    /// warm-up.
    pub warmup_accepted: Option<f64>,
    /// `stopping_thres`; `None` where it is negative: latency is not a criterion of the end.
    pub stopping_latency: Option<f64>,
    /// `acc_stopping_thres`; `None` where it is negative: accepted load is not a criterion of the
    /// end.
    pub stopping_accepted: Option<f64>,
    /// Where `traffic` is set; empty where it has its default.
    place: String,
}

impl BookSimTrafficClass {
    /// Flits of a packet, on average.
    pub fn mean_flits(&self) -> f64 {
        mean_flits(&self.lengths)
    }

    /// The class as simulators draw it, on a network of `endpoints`. `seed` is for what is drawn
    /// once. O(endpoints log endpoints).
    ///
    /// # Errors
    /// When the pattern does not fit the endpoints, or a length or weight is above 2^20.
    pub fn drawn(
        &self,
        endpoints: u32,
        seed: u64,
    ) -> Result<process::InjectedTrafficClass, Refusal> {
        let at = |r: Refusal| if self.place.is_empty() { r } else { r.within(&self.place) };
        let lengths = self.lengths.iter().filter(|length| length.weight > 0);
        let sizes: Vec<(u32, u32)> = lengths.map(|length| (length.flits, length.weight)).collect();
        let (process, packets) = match self.injection {
            InjectionRule::Bernoulli => (InjectionProcess::Bernoulli, self.packet_rate),
            InjectionRule::OnOff { alpha, beta, r1 } => {
                let load = if r1 > 0.0 { r1 * alpha / (alpha + beta) } else { 0.0 };
                (InjectionProcess::OnOff { alpha, beta, r1: -1.0 }, load)
            }
        };
        Ok(process::InjectedTrafficClass {
            destinations: self.pattern.destinations(endpoints, seed).map_err(at)?,
            process,
            sizes: PacketSizeDistribution::new(&sizes)?,
            load: OfferedLoad::Packets(packets),
        })
    }
}

/// A length of packets and how often it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightedPacketLength {
    /// Flits.
    pub flits: u32,
    /// Weight among the lengths of the class.
    pub weight: u32,
}

/// The rule by which an endpoint begins packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InjectionRule {
    /// In each cycle with the same probability, the class's `packet_rate`.
    Bernoulli,
    /// In cycles that are on. In each cycle: off to on with `alpha`, on to off with `beta`, then,
    /// if on, a packet with `r1`.
    OnOff {
        /// Off to on.
        alpha: f64,
        /// On to off.
        beta: f64,
        /// A packet while on.
        r1: f64,
    },
}

/// All classes, and notes on values that `BookSim` takes for something else than they say.
pub(super) fn classes(
    s: &BookSimConfigValues<'_>,
) -> Result<(Vec<BookSimTrafficClass>, Vec<UnusedKeyNote>), Refusal> {
    let count = s.at_least("classes", 1)?;
    if count > MOST {
        return Err(s.refusal("classes", format!("{count} classes"), format!("at most {MOST}")));
    }
    let count = count as usize;
    let (traffic, processes) = (s.each("traffic", count)?, s.each("injection_process", count)?);
    let (sizes, weights) = (s.each("packet_size", count)?, s.each("packet_size_rate", count)?);
    let loads = s.decimals("injection_rate", count)?;
    let (priorities, measured) =
        (s.ints("class_priority", count)?, s.ints("measure_stats", count)?);
    let limit = |name: &str| -> Result<Vec<Option<f64>>, Refusal> {
        Ok(s.decimals(name, count)?.into_iter().map(|x| (x >= 0.0).then_some(x)).collect())
    };
    let latency = limit("latency_thres")?;
    let (warm, acc_warm) = (limit("warmup_thres")?, limit("acc_warmup_thres")?);
    let (stop, acc_stop) = (limit("stopping_thres")?, limit("acc_stopping_thres")?);
    let flits = s.flag("injection_rate_uses_flits")?;
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    for key in LISTS {
        let cut = s.items(key).filter(|items| *items > count);
        notes.extend(cut.map(|items| UnusedKeyNote {
            place: s.place(key),
            key: key.to_owned(),
            text: format!("of {items} items the first {count} are taken, as in BookSim"),
        }));
    }
    for c in 0..count {
        let lengths = lengths(s, sizes[c], weights[c])?;
        let per_packet = if flits { mean_flits(&lengths) } else { 1.0 };
        let packet_rate = loads[c] / per_packet;
        if !(0.0..=1.0).contains(&packet_rate) {
            let why = format!("{packet_rate} packets a cycle and endpoint");
            return Err(s.refusal("injection_rate", why, "from 0.0 to 1.0"));
        }
        let mut note = |key: &str, text: Option<String>| {
            let note = |text| UnusedKeyNote { place: s.place(key), key: key.to_owned(), text };
            notes.extend(text.map(note));
        };
        let (injection, remark) = injection(s, processes[c], packet_rate)?;
        note("injection_process", remark);
        let (pattern, remark) = pattern(s, traffic[c])?;
        note("traffic", remark);
        if !(0..=1).contains(&measured[c]) {
            let why = format!("{} is neither yes nor no", measured[c]);
            return Err(s.refusal("measure_stats", why, "0 or 1"));
        }
        found.push(BookSimTrafficClass {
            pattern,
            lengths,
            packet_rate,
            injection,
            priority: priorities[c],
            measured: measured[c] == 1,
            latency_limit: latency[c],
            warmup_latency: warm[c],
            warmup_accepted: acc_warm[c],
            stopping_latency: stop[c],
            stopping_accepted: acc_stop[c],
            place: s.place("traffic"),
        });
    }
    if found.iter().all(|class| !class.measured) {
        let help = "1 for one of the classes at least";
        return Err(s.refusal("measure_stats", "no class is measured", help));
    }
    Ok((found, notes))
}

fn mean_flits(lengths: &[WeightedPacketLength]) -> f64 {
    let weights: f64 = lengths.iter().map(|l| f64::from(l.weight)).sum();
    lengths.iter().map(|l| f64::from(l.flits) * f64::from(l.weight)).sum::<f64>() / weights
}

/// The lengths of one class; the last weight holds for the lengths after it, and weights without a
/// length are cut.
fn lengths(
    s: &BookSimConfigValues<'_>,
    sizes: &str,
    weights: &str,
) -> Result<Vec<WeightedPacketLength>, Refusal> {
    let whole = |name: &str, text: &str, least: i32| -> Result<Vec<u32>, Refusal> {
        let text = if text.is_empty() { s.int(name).to_string() } else { text.to_owned() };
        let parsed = list(&text).and_then(|items| {
            let one = |i: &str| i.parse::<i32>().ok().filter(|n| *n >= least);
            items.into_iter().map(|i| one(i).map(i32::unsigned_abs)).collect::<Option<Vec<_>>>()
        });
        parsed.ok_or_else(|| {
            let why = format!("{text} has something else than integers of at least {least}");
            s.refusal(name, why, "a list like {1,5}; for the lengths of one class {{1,5}}")
        })
    };
    let flits = whole("packet_size", sizes, 1)?;
    let mut weights = whole("packet_size_rate", weights, 0)?;
    let last = weights.last().copied().unwrap_or(1);
    weights.resize(flits.len(), last);
    let total: u64 = weights.iter().map(|w| u64::from(*w)).sum();
    if total == 0 || total > i32::MAX as u64 {
        let why = format!("weights {weights:?} choose no length");
        return Err(s.refusal("packet_size_rate", why, "integers from 0, one of them above 0"));
    }
    let both = flits.into_iter().zip(weights);
    Ok(both.map(|(flits, weight)| WeightedPacketLength { flits, weight }).collect())
}

/// The injection process of one class, and a remark where it cannot make the load that the
/// configuration asks for.
fn injection(
    s: &BookSimConfigValues<'_>,
    text: &str,
    load: f64,
) -> Result<(InjectionRule, Option<String>), Refusal> {
    let name = "injection_process";
    let known = "bernoulli, on_off or on_off({alpha,beta,r1}), in braces";
    let shown = match call(text) {
        Some(("bernoulli", shown)) if shown.is_empty() => {
            return Ok((InjectionRule::Bernoulli, None));
        }
        Some(("on_off", shown)) if shown.len() == 1 && split(shown[0]).len() <= 3 => shown[0],
        Some(("on_off", shown)) if shown.is_empty() => "",
        Some(("on_off", shown)) => {
            let why = format!("BookSim reads on_off({}) for {text}", shown[0]);
            return Err(s.refusal(name, why, known));
        }
        _ => return Err(s.refusal(name, format!("{text} is no process"), known)),
    };
    let arguments = split(shown);
    let parameter = |at: usize, key: &str| -> Result<f64, Refusal> {
        let (value, key) = match arguments.get(at) {
            None => (Some(s.decimal(key)), key),
            Some(text) => (text.parse::<f64>().ok().filter(|x| x.is_finite()), name),
        };
        let given = value.unwrap_or(f64::NAN);
        if given.is_nan() || given > 1.0 {
            let why = format!("{text} of on_off is no probability");
            return Err(s.refusal(key, why, "from 0 to 1, or negative to follow from the others"));
        }
        Ok(given)
    };
    let alpha = parameter(0, "burst_alpha")?;
    let beta = parameter(1, "burst_beta")?;
    let r1 = parameter(2, "burst_r1")?;
    let open = [alpha, beta, r1].iter().filter(|x| **x < 0.0).count();
    if open != 1 {
        let why = format!("{open} of alpha {alpha}, beta {beta} and r1 {r1} are negative");
        let help = "one is negative and follows from the load: load = r1 alpha / (alpha + beta)";
        return Err(s.refusal(name, why, help));
    }
    // A class that sends nothing needs no rate of bursts.
    let (alpha, beta, r1) = match () {
        () if load == 0.0 => (alpha.max(0.0), beta.max(0.0), 0.0),
        () if alpha < 0.0 => (beta * load / (r1 - load), beta, r1),
        () if beta < 0.0 => (alpha, alpha * (r1 - load) / load, r1),
        () => (alpha, beta, load * (alpha + beta) / alpha),
    };
    let possible = |x: f64| (0.0..=1.0).contains(&x);
    if !possible(alpha) || !possible(beta) || r1.is_nan() || r1.is_infinite() {
        let why = format!("a load of {load} packets a cycle needs alpha {alpha}, beta {beta}");
        return Err(s.refusal(name, why, "probabilities from 0 to 1 that can make the load"));
    }
    let remark = (r1 > 1.0).then(|| {
        let most = alpha / (alpha + beta);
        format!(
            "a load of {load} packets a cycle is offered as {most}, as in BookSim: no bursts \
                 with these probabilities have more"
        )
    });
    Ok((InjectionRule::OnOff { alpha, beta, r1: r1.min(1.0) }, remark))
}
