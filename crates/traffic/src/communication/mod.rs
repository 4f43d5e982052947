//! Communication graphs: how many bytes, in how many messages, each process sends to each other.

mod made;

pub use made::{KINDS, made};

use crate::workload::{OperationKind, Schedule};
use base::Refusal;

/// The most processes of a communication graph.
pub const MOST_PROCESSES: u32 = 1 << 24;

/// Upper bound of all bytes of a graph, so that everything computed from them is finite.
pub const MOST_BYTES: f64 = 9_223_372_036_854_775_808.0;

/// The traffic from one process to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessPairTraffic {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Bytes, 0 or more.
    pub bytes: f64,
    /// Messages, 0 or more; one for each pair if the source of the graph does not count them.
    pub messages: f64,
}

/// A directed graph of processes as compressed rows, sorted by sender, then receiver. Each pair
/// occurs once, and no process sends to itself.
#[derive(Debug, Clone, PartialEq)]
pub struct CommunicationGraph {
    offsets: Vec<u32>,
    to: Vec<u32>,
    bytes: Vec<f64>,
    messages: Vec<f64>,
}

impl CommunicationGraph {
    /// The graph of this number of processes. Amounts of the same pair are added, in the given
    /// order; what a process sends to itself is left out. O(sent log sent).
    ///
    /// # Errors
    /// When there are no processes or more than [`MOST_PROCESSES`], a process has too high a
    /// number, an amount is negative or not finite, or all bytes together are [`MOST_BYTES`] or
    /// more.
    pub fn new(processes: u32, mut sent: Vec<ProcessPairTraffic>) -> Result<Self, Refusal> {
        check_processes(u64::from(processes))?;
        for one in &sent {
            check_rank("sender", u64::from(one.from), processes)?;
            check_rank("receiver", u64::from(one.to), processes)?;
            check_amount("bytes", one.bytes)?;
            check_amount("messages", one.messages)?;
        }
        check_total(sent.iter().map(|one| one.bytes).sum())?;
        check_total(sent.iter().map(|one| one.messages).sum())?;
        sent.retain(|one| one.from != one.to);
        sent.sort_by_key(|one| (one.from, one.to));
        let mut rows = Self {
            offsets: vec![0; processes as usize + 1],
            to: Vec::new(),
            bytes: Vec::new(),
            messages: Vec::new(),
        };
        for pair in sent.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to)) {
            let bytes: f64 = pair.iter().map(|one| one.bytes).sum();
            let messages: f64 = pair.iter().map(|one| one.messages).sum();
            if bytes > 0.0 || messages > 0.0 {
                rows.offsets[pair[0].from as usize + 1] += 1;
                rows.to.push(pair[0].to);
                rows.bytes.push(bytes);
                rows.messages.push(messages);
            }
        }
        for p in 0..processes as usize {
            rows.offsets[p + 1] += rows.offsets[p];
        }
        Ok(rows)
    }

    /// The graph of what the ranks of a schedule send to one another.
    ///
    /// # Errors
    /// When there are more than [`MOST_PROCESSES`] ranks.
    pub fn of_schedule(schedule: &Schedule) -> Result<Self, Refusal> {
        let mut sent = Vec::new();
        for rank in 0..schedule.ranks() {
            let own = schedule.of_rank(rank);
            let ops = &schedule.ops()[own.start as usize..own.end as usize];
            sent.extend(ops.iter().filter(|op| op.kind == OperationKind::Send).map(|op| {
                ProcessPairTraffic { from: rank, to: op.peer, bytes: op.size as f64, messages: 1.0 }
            }));
        }
        Self::new(schedule.ranks(), sent)
    }

    /// How many processes there are.
    pub fn processes(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// The number of ordered pairs that communicate.
    pub fn pairs(&self) -> usize {
        self.to.len()
    }

    /// The messages of one process: receiver, bytes, number of messages.
    pub fn of(&self, process: u32) -> impl Iterator<Item = (u32, f64, f64)> + '_ {
        let p = process as usize;
        let row = self.offsets[p] as usize..self.offsets[p + 1] as usize;
        row.map(|i| (self.to[i], self.bytes[i], self.messages[i]))
    }

    /// All traffic, sorted by sender, then receiver.
    pub fn sent(&self) -> impl Iterator<Item = ProcessPairTraffic> + '_ {
        (0..self.processes()).flat_map(move |from| {
            self.of(from).map(move |(to, bytes, messages)| ProcessPairTraffic {
                from,
                to,
                bytes,
                messages,
            })
        })
    }

    /// Bytes of all pairs.
    pub fn total_bytes(&self) -> f64 {
        self.bytes.iter().sum()
    }
}

/// Refuses impossible numbers of processes, before memory of that size is allocated.
///
/// # Errors
/// When it is 0 or more than [`MOST_PROCESSES`].
pub fn check_processes(count: u64) -> Result<u32, Refusal> {
    let fits = u32::try_from(count).ok().filter(|n| (1..=MOST_PROCESSES).contains(n));
    fits.ok_or_else(|| {
        Refusal::new("processes", format!("{count} processes"), format!("1 to {MOST_PROCESSES}"))
    })
}

/// Checks that a rank is below the number of processes.
///
/// # Errors
/// When it is not; `what` names the rank in the refusal.
pub fn check_rank(what: &str, rank: u64, processes: u32) -> Result<u32, Refusal> {
    if rank < u64::from(processes) {
        return Ok(rank as u32);
    }
    let why = format!("there is no process {rank} among {processes}");
    Err(Refusal::new(what, why, format!("0 to {}", processes.saturating_sub(1))))
}

/// Checks an amount of bytes or messages.
///
/// # Errors
/// When it is negative or not finite; `what` names the amount in the refusal.
pub fn check_amount(what: &str, amount: f64) -> Result<f64, Refusal> {
    if amount.is_finite() && amount >= 0.0 {
        return Ok(amount);
    }
    Err(Refusal::new(what, format!("{amount} is no amount"), "0 or more, finite"))
}

/// Checks a sum of bytes or messages of a whole graph.
///
/// # Errors
/// When it is [`MOST_BYTES`] or more.
pub fn check_total(sum: f64) -> Result<f64, Refusal> {
    if sum < MOST_BYTES {
        return Ok(sum);
    }
    Err(Refusal::new("bytes", format!("{sum:e} in all"), "below 2^63 in all"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::make;
    use base::QuietWatch;

    fn sent(from: u32, to: u32, bytes: f64) -> ProcessPairTraffic {
        ProcessPairTraffic { from, to, bytes, messages: 1.0 }
    }

    #[test]
    fn pairs_add_up_and_nobody_sends_to_itself() {
        let all = vec![sent(2, 0, 4.0), sent(0, 1, 3.0), sent(1, 1, 9.0), sent(0, 1, 2.0)];
        let graph = CommunicationGraph::new(3, all).expect("a graph");
        let rows: Vec<ProcessPairTraffic> = graph.sent().collect();
        assert_eq!(rows[0], ProcessPairTraffic { from: 0, to: 1, bytes: 5.0, messages: 2.0 });
        assert_eq!(rows[1], sent(2, 0, 4.0));
        assert_eq!((graph.pairs(), graph.total_bytes()), (2, 9.0));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (processes, one, named) in [
            (0, sent(0, 1, 1.0), "processes"),
            (MOST_PROCESSES + 1, sent(0, 1, 1.0), "processes"),
            (2, sent(2, 1, 1.0), "sender"),
            (2, sent(0, 2, 1.0), "receiver"),
            (2, sent(0, 1, -1.0), "bytes"),
            (2, sent(0, 1, f64::NAN), "bytes"),
            (2, sent(0, 1, f64::INFINITY), "bytes"),
        ] {
            let refused = CommunicationGraph::new(processes, vec![one]).expect_err("no graph");
            assert_eq!(refused.param, named, "{refused}");
        }
        let most = sent(0, 1, f64::MAX);
        assert!(CommunicationGraph::new(2, vec![most, most]).is_err(), "a sum beyond all numbers");
    }

    #[test]
    fn a_schedule_sends_what_its_operations_send() {
        let given = serde_json::json!({ "ranks": 4, "bytes": 100 });
        let given = given.as_object().expect("an object").clone();
        let schedule = make("alltoall_linear", &given, &QuietWatch).expect("a schedule");
        let graph = CommunicationGraph::of_schedule(&schedule).expect("a graph");
        assert_eq!(graph.pairs(), 12);
        assert!(graph.sent().all(|one| (one.bytes, one.messages) == (100.0, 1.0)));
    }
}
