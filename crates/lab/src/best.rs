//! Decision table for a collective operation: which of its algorithms is quickest, found by running
//! each of them.

use base::stage::parameters as parameters_of;
use base::words::did_you_mean;
use base::{ComputationError, ProgressWatch, Refusal};
use fabric::network::LinkRateRange;
use fabric::tables::Routing;
use message::stage::{MessageSimulationInputs, MessageSimulationParameters};
use message::{LogGopsParameters, MessageCostOrigin};
use serde::Serialize;
use serde_json::{Map, Value};
use traffic::workload::collective::{ALGORITHMS, CollectiveAlgorithmEntry};

/// The parameters of a decision table.
#[derive(Debug, Clone, Default)]
pub struct AlgorithmTableRequest {
    /// The operation, such as `allreduce`: the start of the names of its algorithms.
    pub operation: String,
    /// The numbers of ranks to try.
    pub ranks: Vec<u64>,
    /// The numbers of bytes to try, in the meaning of each algorithm.
    pub bytes: Vec<u64>,
    /// All other parameters of the runs.
    pub run: MessageSimulationParameters,
}

impl AlgorithmTableRequest {
    /// Reads the parameters `operation`, `ranks`, `bytes`, and those of `sim.message`.
    ///
    /// # Errors
    /// When one is unknown, of the wrong type or out of range.
    pub fn read(given: &Map<String, Value>) -> Result<Self, Refusal> {
        let mut rest = given.clone();
        let mut own = |name: &str| rest.remove(name).unwrap_or_default();
        let numbers = |name: &str, value: Value| {
            serde_json::from_value::<Vec<u64>>(value)
                .map_err(|why| Refusal::new(name, why.to_string(), "a list of whole numbers"))
        };
        let operation = own("operation").as_str().unwrap_or_default().to_owned();
        let ranks = numbers("ranks", own("ranks"))?;
        let bytes = numbers("bytes", own("bytes"))?;
        Ok(Self { operation, ranks, bytes, run: parameters_of(&rest)? })
    }

    /// The parameters of the run of an algorithm.
    fn run(&self, algorithm: &str, with: Map<String, Value>) -> MessageSimulationParameters {
        MessageSimulationParameters {
            workload: algorithm.to_owned(),
            workload_options: with,
            ..self.run.clone()
        }
    }

    /// The largest run, which determines the memory needed. None where no run is possible.
    pub fn largest(&self) -> Option<MessageSimulationParameters> {
        let entry = ALGORITHMS.iter().find(|one| one.operation.name() == self.operation)?;
        let most = |all: &[u64]| all.iter().copied().max();
        let with = parameters(most(&self.ranks)?, most(&self.bytes)?);
        Some(self.run(entry.part.name, with))
    }
}

/// The results of all algorithms for one number of ranks and of bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlgorithmTableRow {
    /// The number of ranks of this row.
    pub ranks: u64,
    /// The number of bytes of this row.
    pub bytes: u64,
    /// The quickest algorithm; of several equally quick ones the first by name.
    pub algorithm: String,
    /// The time that it takes, ns.
    pub finish_ns: f64,
    /// What messages cost.
    pub parameters: LogGopsParameters,
    /// Where these costs are from.
    pub costs: MessageCostOrigin,
    /// The rates of the network's links, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<LinkRateRange>,
    /// All algorithms that were run, the quickest first.
    pub all: Vec<AlgorithmResult>,
}

/// The result of one algorithm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlgorithmResult {
    /// The algorithm's name, with its own parameter where several values of it are tried.
    pub algorithm: String,
    /// The time that it takes, ns.
    pub finish_ns: f64,
    /// The time by the formula of [`dissemination_ns`]; none for other algorithms.
    pub model_ns: Option<f64>,
}

/// The numbers of messages in a round that are tried (parameter `ways`).
const FANOUTS: [u64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
/// The numbers of parts of a vector that are tried (parameter `segments`).
const SEGMENTS: [u64; 5] = [1, 4, 16, 64, 256];

/// Computes the decision table: for each number of ranks and of bytes, the quickest algorithm.
///
/// O(ranks * bytes * algorithms) runs, over the given network.
///
/// # Errors
/// When there is no such operation, nothing to try, a parameter is invalid, the network has fewer
/// endpoints than ranks, or `watch` says stop.
pub fn best(
    asked: &AlgorithmTableRequest,
    on: MessageSimulationInputs<'_>,
    watch: &dyn ProgressWatch,
) -> Result<Vec<AlgorithmTableRow>, ComputationError> {
    let mut names: Vec<&str> = ALGORITHMS.iter().map(|entry| entry.operation.name()).collect();
    names.dedup();
    if !names.contains(&asked.operation.as_str()) {
        let near = did_you_mean(&asked.operation, names.iter().copied());
        let why = format!("there is no '{}'", asked.operation);
        return Err(Refusal::new("operation", why, near + &names.join(", ")).into());
    }
    for (name, values) in [("ranks", &asked.ranks), ("bytes", &asked.bytes)] {
        if values.is_empty() {
            let help = format!("{name}=16, or several with commas");
            return Err(Refusal::new(name, "there is none", help).into());
        }
    }
    let pairs = asked.ranks.iter().flat_map(|&n| asked.bytes.iter().map(move |&b| (n, b)));
    let total = (asked.ranks.len() * asked.bytes.len()) as u64;
    let mut rows = Vec::new();
    for (ranks, bytes) in pairs {
        watch.tick("rows", rows.len() as u64, total)?;
        rows.push(row(asked, on, (ranks, bytes), watch)?);
    }
    Ok(rows)
}

fn row(
    asked: &AlgorithmTableRequest,
    on: MessageSimulationInputs<'_>,
    (ranks, bytes): (u64, u64),
    watch: &dyn ProgressWatch,
) -> Result<AlgorithmTableRow, ComputationError> {
    let mut all = Vec::new();
    for entry in ALGORITHMS.iter().filter(|entry| entry.operation.name() == asked.operation) {
        // an invalid number of ranks is refused when the schedule is made
        if u32::try_from(ranks).is_ok_and(|n| n > 0 && !entry.is_for(n)) {
            continue;
        }
        for own in variants(entry) {
            all.push(tried((entry, own), asked, on, (ranks, bytes), watch)?);
        }
    }
    all.sort_by(|a, b| a.finish_ns.total_cmp(&b.finish_ns));
    let Some(first) = all.first() else {
        let why = format!("no algorithm of {} is for {ranks}", asked.operation);
        return Err(Refusal::new("ranks", why, "a power of two").into());
    };
    let (parameters, costs) = asked.run.costs.resolved(asked.run.dialect)?;
    let topology = on.topology.or(on.routing.map(Routing::topology));
    Ok(AlgorithmTableRow {
        ranks,
        bytes,
        algorithm: first.algorithm.clone(),
        finish_ns: first.finish_ns,
        parameters,
        costs,
        rates: topology.map(|on| asked.run.rates(on)),
        all,
    })
}

/// A parameter of an algorithm and the value to try; none where there is nothing to vary.
type ParameterVariant = Option<(&'static str, u64)>;

fn variants(entry: &CollectiveAlgorithmEntry) -> Vec<ParameterVariant> {
    if entry.part.has("ways") {
        return FANOUTS.iter().map(|&fanout| Some(("ways", fanout))).collect();
    }
    if entry.part.has("segments") {
        return SEGMENTS.iter().map(|&parts| Some(("segments", parts))).collect();
    }
    vec![None]
}

fn parameters(ranks: u64, bytes: u64) -> Map<String, Value> {
    Map::from_iter([("ranks".to_owned(), ranks.into()), ("bytes".to_owned(), bytes.into())])
}

fn tried(
    (entry, own): (&CollectiveAlgorithmEntry, ParameterVariant),
    asked: &AlgorithmTableRequest,
    on: MessageSimulationInputs<'_>,
    (ranks, bytes): (u64, u64),
    watch: &dyn ProgressWatch,
) -> Result<AlgorithmResult, ComputationError> {
    let mut given = parameters(ranks, bytes);
    let algorithm = match own {
        None => entry.part.name.to_owned(),
        Some((name, value)) => {
            given.insert(name.to_owned(), value.into());
            format!("{} {name}={value}", entry.part.name)
        }
    };
    let ran = asked.run(entry.part.name, given).simulate(on, false, watch)?;
    let model_ns = match own {
        Some(("ways", fanout)) if on.topology.is_none() => {
            dissemination_ns(ranks, fanout, bytes, &ran.record.parameters)
        }
        _ => None,
    };
    Ok(AlgorithmResult { algorithm, finish_ns: ran.record.finish_ns, model_ns })
}

/// The time of a barrier by n-way dissemination, ns. Of the `fanout` messages of a round, one
/// leaves every m = max(o + (s-1) O, g + (s-1) G), and the last one has arrived L + 2 o + (s-1)
/// max(G, O) later. There are k rounds, the least k for which (`fanout` + 1)^k reaches the number
/// of ranks; the last round leaves out messages over a distance of that number or more.
///
/// None where messages come back before the last one has left, L < (n-1) m; where the interface is
/// not free for the next round, g + (s-1) G > L + 2 o; and for messages by rendezvous: then the
/// time is not a sum over rounds.
///
/// Source: Hoefler, Mehlan, Mietke, Rehm: Fast barrier synchronization for InfiniBand, IPDPS 2006,
/// section 3 (n messages are injected together).
pub fn dissemination_ns(
    ranks: u64,
    fanout: u64,
    bytes: u64,
    costs: &LogGopsParameters,
) -> Option<f64> {
    let more = bytes.saturating_sub(1) as f64;
    let gap = costs.g + more * costs.G;
    let apart = gap.max(costs.o + more * costs.O);
    let alone = costs.L + 2.0 * costs.o + more * costs.G.max(costs.O);
    let slow = costs.L < (fanout - 1) as f64 * apart || gap > alone || costs.O > 0.0;
    if slow || bytes > costs.S {
        return None;
    }
    let (mut reach, mut sum) = (1_u64, 0.0);
    while reach < ranks {
        let messages = fanout.min((ranks - 1) / reach);
        sum += (messages - 1) as f64 * apart + alone;
        reach = reach.saturating_mul(fanout + 1);
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::QuietWatch;

    fn asked(
        operation: &str,
        ranks: &[u64],
        bytes: &[u64],
        costs: LogGopsParameters,
    ) -> AlgorithmTableRequest {
        let (ranks, bytes) = (ranks.to_vec(), bytes.to_vec());
        let run = MessageSimulationParameters {
            costs: costs.into(),
            ..MessageSimulationParameters::default()
        };
        AlgorithmTableRequest { operation: operation.to_owned(), ranks, bytes, run }
    }

    #[test]
    fn the_barriers_model_is_what_runs_take() {
        let sets = [
            LogGopsParameters { L: 10_000.0, o: 200.0, g: 50.0, ..LogGopsParameters::default() },
            LogGopsParameters {
                L: 5000.0,
                o: 100.0,
                g: 600.0,
                G: 0.5,
                ..LogGopsParameters::default()
            },
            LogGopsParameters::default(),
        ];
        let mut compared = 0;
        for costs in sets {
            let ranks = [1, 2, 3, 5, 8, 9, 10, 27, 31, 64, 65, 100];
            let rows = best(
                &asked("barrier", &ranks, &[1, 9], costs),
                MessageSimulationInputs::default(),
                &QuietWatch,
            )
            .expect("rows");
            for row in rows {
                let is_dissemination = |one: &&AlgorithmResult| one.algorithm.contains("ways");
                let mut models: Vec<(f64, f64)> = Vec::new();
                for one in row.all.iter().filter(is_dissemination) {
                    let Some(model) = one.model_ns else { continue };
                    assert!((one.finish_ns - model).abs() < 1e-3, "{} {one:?}", row.ranks);
                    models.push((model, one.finish_ns));
                    compared += 1;
                }
                // the formula and the runs choose the same fan-out, where the formula knows all
                if models.len() == FANOUTS.len() {
                    let least = |all: &mut dyn Iterator<Item = f64>| all.fold(f64::MAX, f64::min);
                    let by_model = least(&mut models.iter().map(|m| m.0));
                    let by_run = least(
                        &mut row.all.iter().filter(is_dissemination).map(|one| one.finish_ns),
                    );
                    assert!((by_model - by_run).abs() < 1e-3);
                }
            }
        }
        assert!(compared > 300, "{compared}");
    }

    #[test]
    fn the_quickest_is_the_one_that_the_formulas_say() {
        // Thakur, Rabenseifner, Gropp, IJHPCA 2005: with a + b n a message, doubling takes
        // log p (a + b n), Rabenseifner's 2 log p a + 2 (p-1)/p b n: small vectors against large
        let costs = LogGopsParameters {
            L: 1000.0,
            o: 0.0,
            g: 0.0,
            G: 1.0,
            S: 1 << 31,
            ..LogGopsParameters::default()
        };
        let rows = best(
            &asked("allreduce", &[16], &[8, 16_000_000], costs),
            MessageSimulationInputs::default(),
            &QuietWatch,
        );
        let rows = rows.expect("rows");
        assert_eq!(rows[0].algorithm, "allreduce_recursive_doubling");
        assert!((rows[0].finish_ns - 4.0 * 1007.0).abs() < 1e-3);
        assert_eq!(rows[1].algorithm, "allreduce_rabenseifner");
        let wanted = 8.0 * 1000.0 + 2.0 * 15.0 / 16.0 * 16_000_000.0 - 8.0;
        assert!((rows[1].finish_ns - wanted).abs() < 1e-3);
        for row in &rows {
            assert!(row.all.windows(2).all(|pair| pair[0].finish_ns <= pair[1].finish_ns));
        }
        // halving is for powers of two only
        let cases = asked("reduce_scatter", &[6, 8], &[8], LogGopsParameters::default());
        let cases = best(&cases, MessageSimulationInputs::default(), &QuietWatch).expect("rows");
        let [odd, even] = [&cases[0], &cases[1]]
            .map(|case| case.all.iter().any(|one| one.algorithm == "reduce_scatter_halving"));
        assert!(!odd && even && !cases[0].all.is_empty());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let free = LogGopsParameters::default();
        for (asked, expected) in [
            (asked("allreduces", &[2], &[8], free), "did you mean allreduce?"),
            (asked("allreduce", &[], &[8], free), "ranks: there is none"),
            (asked("allreduce", &[2], &[], free), "bytes: there is none"),
            (
                asked("allreduce", &[0], &[8], free),
                "ranks: 0 is out of range; a whole number from 1 to",
            ),
            (
                asked("allreduce", &[1 << 33], &[8], free),
                "ranks: 8589934592 is out of range; a whole number",
            ),
        ] {
            let refused = best(&asked, MessageSimulationInputs::default(), &QuietWatch)
                .expect_err("refused")
                .to_string();
            assert!(refused.contains(expected), "{refused}");
        }
    }
}
