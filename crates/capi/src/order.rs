//! Rank reordering: a communication graph is mapped to the hosts on which its processes already
//! run.

use base::{ComputationError, QuietWatch, Refusal};
use fabric::Topology;
use fabric::network::parse_inline;
use fabric::size::NetworkSize;
use formats::mapping::{EndpointNameIndex, said_lines};
use mapping::evaluate::{MappingFigures, evaluate};
use mapping::map::{MappingObjective, MappingRequest, SearchEffort, map};
use mapping::paths::TrafficPathRule;
use mapping::slots::ProcessSlots;
use std::collections::{HashMap, HashSet};
use traffic::communication::{CommunicationGraph, ProcessPairTraffic};

/// The part by which hop-bytes may exceed the least found, for less congestion.
const HOPS_LIMIT: f64 = 0.05;

/// The source of the network.
#[derive(Debug, Clone, Copy)]
pub enum NetworkSource<'a> {
    /// A family of networks with its parameters.
    Inline(&'a str),
    /// A file that describes the network.
    File {
        /// The name of the file, for messages.
        name: &'a str,
        /// The text of the file.
        text: &'a str,
    },
}

/// A request to reorder ranks: the network, the hosts of the processes, and what they send.
#[derive(Debug, Clone)]
pub struct RankReorderRequest<'a> {
    /// The network.
    pub source: NetworkSource<'a>,
    /// The name and text of a file with lines of a host and its endpoint.
    pub table: Option<(&'a str, &'a str)>,
    /// `congestion` or `hops`.
    pub objective: Option<&'a str>,
    /// `fast`, `normal` or `best`.
    pub effort: Option<&'a str>,
    /// The seed of all random numbers.
    pub seed: Option<&'a str>,
    /// The host of each process.
    pub hosts: Vec<String>,
    /// The sender, receiver and weight of each edge.
    pub edges: &'a [[i32; 3]],
    /// Bytes of memory that may be used; 0 where unknown.
    pub memory: u64,
}

/// The result of a reordering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankReorderResult {
    /// The new rank of each process; none where the given order is at least as good.
    pub ranks: Option<Vec<u32>>,
    /// The improvement of hop-bytes and congestion, in words.
    pub words: String,
}

/// Finds the new rank of each process, so that messages travel less far or share fewer links.
/// Processes stay on their hosts; ranks whose host does not change keep their process.
///
/// # Errors
/// When the network, the table or a word is invalid, a host is not in the network, no path connects
/// two hosts, or an edge is not between ranks.
pub fn order(asked: &RankReorderRequest<'_>) -> Result<RankReorderResult, ComputationError> {
    let (objective, effort) = (objective(asked.objective)?, effort(asked.effort)?);
    let seed = seed(asked.seed)?;
    let on = network(asked.source, asked.memory)?;
    let now = places(&on, asked)?;
    let graph = graph(now.len(), asked.edges)?;
    let threads = rayon::ThreadPoolBuilder::new().build();
    let threads = threads.map_err(|why| Refusal::new("threads", why.to_string(), ""))?;
    threads.install(|| {
        let slots = ProcessSlots::new(&on, Some(&now), None)?;
        let request = MappingRequest {
            graph: &graph,
            paths: TrafficPathRule::Shortest(&on),
            slots: &slots,
            pins: &[],
            start: None,
            steps: &[],
            objective,
            hops_limit: HOPS_LIMIT,
            effort,
            seed,
        };
        let places = map(&request, &QuietWatch)?.places;
        let worth =
            |places: &[u32]| evaluate(TrafficPathRule::Shortest(&on), &graph, places, &QuietWatch);
        let (before, after) = (worth(&now)?.figures, worth(&places)?.figures);
        let better = key(&after, objective) < key(&before, objective);
        let (ranks, compared) = if better {
            (Some(ranks(&now, &places)), [&before, &after])
        } else {
            (None, [&before, &before])
        };
        let hosts = now.iter().collect::<HashSet<_>>().len();
        let words = words(&on, now.len(), hosts, compared);
        Ok(RankReorderResult { ranks, words })
    })
}

/// The figures by which mappings are compared, the most important first.
fn key(of: &MappingFigures, objective: MappingObjective) -> [f64; 3] {
    match objective {
        MappingObjective::Congestion => {
            [of.maximum_congestion, of.hop_bytes, of.endpoint_congestion]
        }
        MappingObjective::Hops => [of.hop_bytes, of.maximum_congestion, of.endpoint_congestion],
    }
}

fn words(
    on: &Topology,
    processes: usize,
    hosts: usize,
    [before, after]: [&MappingFigures; 2],
) -> String {
    format!(
        "{processes} processes on {hosts} hosts of {}: hop-bytes {} to {}, maximum congestion {} \
         to {}",
        on.recipe(),
        before.hop_bytes,
        after.hop_bytes,
        before.maximum_congestion,
        after.maximum_congestion
    )
}

fn objective(given: Option<&str>) -> Result<MappingObjective, Refusal> {
    let name = given.filter(|text| !text.is_empty()).unwrap_or("congestion");
    MappingObjective::named("FLYLOOM_OBJECTIVE", name)
}

fn effort(given: Option<&str>) -> Result<SearchEffort, Refusal> {
    let name = given.filter(|text| !text.is_empty()).unwrap_or("normal");
    SearchEffort::named("FLYLOOM_EFFORT", name)
}

fn seed(given: Option<&str>) -> Result<u64, Refusal> {
    let Some(text) = given.filter(|text| !text.is_empty()) else { return Ok(0) };
    let bad = |_| Refusal::new("FLYLOOM_SEED", format!("{text:?} is no seed"), "0 to 2^64 - 1");
    text.parse().map_err(bad)
}

fn network(source: NetworkSource<'_>, memory: u64) -> Result<Topology, Refusal> {
    let room = |what: &str, bytes: f64| {
        if memory > 0 && bytes > memory as f64 {
            let why = format!("it takes {:.0} MB, {} MB are free", bytes / 1e6, memory / 1_000_000);
            return Err(Refusal::new(what, why, "a smaller network"));
        }
        Ok(())
    };
    match source {
        NetworkSource::Inline(text) => {
            let build = || {
                let recipe = parse_inline(text)?;
                let entry = families::family(&recipe.family)?;
                room("", entry.promise(&recipe.params)?.size(1).build().bytes)?;
                entry.build(&recipe.params)
            };
            build().map_err(|refused: Refusal| refused.within(text))
        }
        NetworkSource::File { name, text } => {
            room(name, NetworkSize::read(text.len(), text.lines().count()).bytes)?;
            formats::graph_file::read_any(text, name, None).map(families::recognised)
        }
    }
}

/// The endpoint of each process, by its host's name: the one in the table, else the endpoint of
/// that name or of its part before the first dot; of several adapters the first.
fn places(on: &Topology, asked: &RankReorderRequest<'_>) -> Result<Vec<u32>, Refusal> {
    let names = EndpointNameIndex::new(on);
    let listed = asked.table.map(|(file, text)| table(&names, file, text)).transpose()?;
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut found = Vec::with_capacity(asked.hosts.len());
    for (rank, host) in asked.hosts.iter().enumerate() {
        if let Some(&e) = known.get(host.as_str()) {
            found.push(e);
            continue;
        }
        let of = |name: &str| listed.as_ref().and_then(|listed| listed.get(name)).copied();
        let e = match of(host).or_else(|| of(&short(host))) {
            Some(e) => e,
            None => names.find_at(0, host, 0).map_err(|refused| Refusal {
                param: format!("host {host} of rank {rank}"),
                help: format!(
                    "{}; hosts that are no endpoints get one by lines 'HOST ENDPOINT' in a file \
                     (--host-endpoints of flyloom reorder), ranks of one host by FLYLOOM_HOST",
                    refused.help
                ),
                ..refused
            })?,
        };
        known.insert(host, e);
        found.push(e);
    }
    Ok(found)
}

/// Reads lines of a host and its endpoint; `#` begins a comment.
fn table(
    names: &EndpointNameIndex<'_>,
    file: &str,
    text: &str,
) -> Result<HashMap<String, u32>, Refusal> {
    let mut found = HashMap::new();
    for (line, said) in said_lines(text) {
        let Some((host, endpoint)) = said.split_once(char::is_whitespace) else {
            let why = format!("{:?} names no endpoint", said.chars().take(60).collect::<String>());
            return Err(Refusal::new(format!("{file}: line {line}"), why, "lines 'HOST ENDPOINT'"));
        };
        let e = names.find_at(line, endpoint.trim(), 0).map_err(|refused| refused.within(file))?;
        if found.insert(host.to_owned(), e).is_some_and(|before| before != e) {
            let why = format!("host {host} has two endpoints");
            return Err(Refusal::new(format!("{file}: line {line}"), why, "one each"));
        }
    }
    Ok(found)
}

fn graph(processes: usize, edges: &[[i32; 3]]) -> Result<CommunicationGraph, Refusal> {
    let mut sent = Vec::with_capacity(edges.len());
    for &[from, to, weight] in edges {
        let rank = |rank: i32| {
            let fits = u32::try_from(rank).ok().filter(|rank| (*rank as usize) < processes);
            let help = format!("0 to {}", processes.saturating_sub(1));
            fits.ok_or_else(|| Refusal::new("edges", format!("{rank} is no rank"), help))
        };
        let bytes = f64::from(weight);
        sent.push(ProcessPairTraffic { from: rank(from)?, to: rank(to)?, bytes, messages: 1.0 });
    }
    CommunicationGraph::new(processes as u32, sent)
}

/// The new rank of each process: `now` has the endpoint of each process, and `places` that of each
/// new rank.
fn ranks(now: &[u32], places: &[u32]) -> Vec<u32> {
    let mut free: HashMap<u32, Vec<u32>> = HashMap::new();
    for process in (0..now.len()).rev().filter(|&p| now[p] != places[p]) {
        free.entry(now[process]).or_default().push(process as u32);
    }
    let mut ranks: Vec<u32> = (0..now.len() as u32).collect();
    for (rank, (e, wanted)) in (0..).zip(now.iter().zip(places)) {
        if e != wanted {
            let process = free.get_mut(wanted).and_then(Vec::pop);
            let process = process.expect("as many processes on an endpoint as before");
            ranks[process as usize] = rank;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked<'a>(
        network: &'a str,
        hosts: &[&str],
        edges: &'a [[i32; 3]],
    ) -> RankReorderRequest<'a> {
        RankReorderRequest {
            source: NetworkSource::Inline(network),
            table: None,
            objective: Some("hops"),
            effort: None,
            seed: None,
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            edges,
            memory: 0,
        }
    }

    fn why(asked: &RankReorderRequest<'_>) -> String {
        order(asked).expect_err("refused").to_string()
    }

    /// All orders of 0 to n - 1.
    fn permutations(n: u32) -> Vec<Vec<u32>> {
        if n == 0 {
            return vec![Vec::new()];
        }
        let mut found = Vec::new();
        for shorter in permutations(n - 1) {
            for at in 0..n as usize {
                let mut longer = shorter.clone();
                longer.insert(at, n - 1);
                found.push(longer);
            }
        }
        found
    }

    #[test]
    fn the_least_hop_bytes_are_found_with_different_numbers_of_processes_on_hosts() {
        let ring = |a: u32, b: u32| i64::from((a + 7 - b) % 7).min(i64::from((b + 7 - a) % 7));
        let edges = [
            [0, 5, 9],
            [5, 0, 9],
            [1, 3, 4],
            [3, 4, 2],
            [4, 1, 7],
            [2, 0, 1],
            [2, 4, 3],
            [0, 0, 99],
        ];
        for hosts in
            [[0, 3, 3, 5, 6, 3], [1, 1, 4, 4, 2, 0], [6, 5, 4, 3, 2, 1], [2, 2, 2, 2, 2, 5]]
        {
            let names = hosts.map(|host: u32| host.to_string());
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let cost = |ranks: &[u32]| -> i64 {
                let mut at = [0; 6];
                ranks.iter().zip(hosts).for_each(|(rank, host)| at[*rank as usize] = host);
                let far = |a: i32, b: i32| ring(at[a as usize], at[b as usize]);
                edges.iter().map(|&[a, b, bytes]| i64::from(bytes) * far(a, b)).sum()
            };
            let least = permutations(6).iter().map(|ranks| cost(ranks)).min().expect("some");
            let found = order(&asked("ring:n=7,p=1", &names, &edges)).expect("an order");
            let ranks = found.ranks.unwrap_or_else(|| (0..6).collect());
            assert_eq!(cost(&ranks), least, "{hosts:?}: {ranks:?}");
            let expected = format!("hop-bytes {} to {least},", cost(&[0, 1, 2, 3, 4, 5]));
            assert!(found.words.contains(&expected), "{}, not {expected}", found.words);
        }
    }

    /// Less congestion is paid for by a twentieth of the least hop-bytes of all orders, at most.
    #[test]
    fn what_is_sent_goes_little_farther_for_less_congestion() {
        let names = ["0", "1", "2", "3", "4", "5", "6", "7"];
        let ring = |a: u32, b: u32| i64::from((a + 8 - b) % 8).min(i64::from((b + 8 - a) % 8));
        for mut drawn in 1_u32..5 {
            let mut draw = |below: u32| {
                drawn = drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (drawn >> 16) % below
            };
            let mut edges = Vec::new();
            for (a, b) in (0..8).flat_map(|a| (0..8).map(move |b| (a, b))) {
                if a != b && draw(10) < 3 {
                    edges.push([a, b, draw(40) as i32 + 1]);
                }
            }
            let cost = |ranks: &[u32]| -> i64 {
                let mut at = [0; 8];
                ranks.iter().zip(0..).for_each(|(&rank, host)| at[rank as usize] = host);
                let far = |&[a, b, bytes]: &[i32; 3]| {
                    i64::from(bytes) * ring(at[a as usize], at[b as usize])
                };
                edges.iter().map(far).sum()
            };
            let least = permutations(8).iter().map(|ranks| cost(ranks)).min().expect("some");
            let asked =
                RankReorderRequest { objective: None, ..asked("ring:n=8,p=1", &names, &edges) };
            let ranks = order(&asked).expect("an order").ranks.expect("better than they came");
            assert!(cost(&ranks) * 20 <= least * 21, "{} for {least}", cost(&ranks));
        }
    }

    #[test]
    fn ranks_that_keep_their_host_keep_their_process() {
        assert_eq!(ranks(&[4, 4, 7, 7, 9], &[4, 7, 4, 7, 9]), [0, 2, 1, 3, 4]);
        assert_eq!(ranks(&[1, 2, 3], &[2, 3, 1]), [2, 0, 1]);
        assert_eq!(ranks(&[5; 3], &[5; 3]), [0, 1, 2]);
    }

    #[test]
    fn an_order_that_is_as_good_stays() {
        let edges = [[0, 1, 5], [1, 2, 5], [2, 3, 5], [3, 0, 5]];
        let found = order(&asked("ring:n=4,p=1", &["0", "1", "2", "3"], &edges)).expect("worked");
        assert_eq!(found.ranks, None);
        let found = order(&asked("ring:n=4,p=1", &["3", "2", "0", "1"], &[])).expect("worked");
        assert_eq!(found.ranks, None, "nothing is sent");
    }

    #[test]
    fn partners_share_a_host_where_two_are_on_one_switch() {
        let edges = [[0, 1, 5], [2, 3, 5]];
        let found = order(&asked("ring:n=3,p=2", &["0", "1", "0", "1"], &edges)).expect("worked");
        let ranks = found.ranks.expect("others");
        assert_eq!((ranks[0] / 2, ranks[1] / 2), (ranks[2] / 2, ranks[3] / 2), "{ranks:?}");
    }

    #[test]
    fn hosts_go_by_the_table_then_by_names_then_by_what_is_before_the_dot() {
        let names = ["n7", "n8.x.y", "e1"];
        let table = "# by hand\nn7 2\nn8 0 # a note\n\n e9\t1\n";
        let mut given = asked("ring:n=3,p=1", &names, &[]);
        given.table = Some(("table", table));
        let on = network(given.source, 0).expect("a ring");
        let name = &on.endpoints()[1].name;
        given.hosts[2] = format!("{name}.cluster.example");
        assert_eq!(places(&on, &given).expect("all known"), [2, 0, 1]);
        given.hosts[1] = "elsewhere".into();
        let said = why(&given);
        assert!(said.starts_with("host elsewhere of rank 1: there is no endpoint"), "{said}");
        assert!(said.contains("--host-endpoints") && said.contains("FLYLOOM_HOST"), "{said}");
        for (table, says) in [
            ("n7\n", "table: line 1: \"n7\" names no endpoint; lines 'HOST ENDPOINT'"),
            ("\nn7 9\n", "table: line 2: there is no endpoint \"9\""),
            ("n7 1\nn7 2\n", "table: line 2: host n7 has two endpoints; one each"),
        ] {
            given.table = Some(("table", table));
            assert!(why(&given).starts_with(says), "{}", why(&given));
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        let hosts = ["0", "1"];
        let with = |network, edges| asked(network, &hosts, edges);
        for (given, says) in [
            (with("ring:n=3,p=1", &[[0, 2, 1]]), "edges: 2 is no rank; 0 to 1"),
            (with("ring:n=3,p=1", &[[-1, 0, 1]]), "edges: -1 is no rank; 0 to 1"),
            (with("ring:n=3,p=1", &[[0, 1, -1]]), "bytes: "),
            (with("rong:n=3", &[]), "rong:n=3: "),
            (
                RankReorderRequest { objective: Some("hop"), ..with("ring:n=3", &[]) },
                "FLYLOOM_OBJECTIVE: ",
            ),
            (
                RankReorderRequest { effort: Some("much"), ..with("ring:n=3", &[]) },
                "FLYLOOM_EFFORT: ",
            ),
            (
                RankReorderRequest { seed: Some("-1"), ..with("ring:n=3", &[]) },
                "FLYLOOM_SEED: \"-1\" is no seed",
            ),
            (RankReorderRequest { hosts: vec![], ..with("ring:n=3", &[]) }, "processes: "),
            (
                RankReorderRequest { memory: 1000, ..with("torus:shape=64x64,p=1", &[]) },
                "torus:shape=64x64,p=1: ",
            ),
        ] {
            assert!(why(&given).starts_with(says), "{}", why(&given));
        }
        let file = NetworkSource::File { name: "net.txt", text: "" };
        assert!(
            why(&RankReorderRequest { source: file, ..with("", &[]) }).starts_with("net.txt: ")
        );
    }
}
