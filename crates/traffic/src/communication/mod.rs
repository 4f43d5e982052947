//! Communication graphs: how many bytes, in how many messages, each process sends to each other.

mod made;

pub use made::{KINDS, made};

use crate::workload::{OperationKind, Schedule};
use base::Refusal;

/// The most processes of a communication graph.
pub const MOST_PROCESSES: u32 = 1 << 24;

/// All bytes of a graph are fewer than these: what is reckoned of them is finite.
pub const MOST_BYTES: f64 = 9_223_372_036_854_775_808.0;

/// The traffic from one process to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessTraffic {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Bytes, 0 or more.
    pub bytes: f64,
    /// Messages, 0 or more; where a source counts none, one a pair.
    pub messages: f64,
}

/// A directed graph of processes as compressed rows: senders in order, receivers in order, each
/// pair once, no process with itself.
#[derive(Debug, Clone, PartialEq)]
pub struct CommunicationGraph {
    offsets: Vec<u32>,
    to: Vec<u32>,
    bytes: Vec<f64>,
    messages: Vec<f64>,
}

impl CommunicationGraph {
    /// The graph of this number of processes. Amounts that are given for one pair several times add
    /// up in that order, and what a process sends to itself is left out. O(sent log sent).
    ///
    /// # Errors
    /// When there are no processes or more than [`MOST_PROCESSES`], or a process is not below their
    /// number, an amount is negative or not finite, or all bytes are [`MOST_BYTES`] or more.
    pub fn new(processes: u32, mut sent: Vec<ProcessTraffic>) -> Result<Self, Refusal> {
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

    /// What the ranks of a schedule send to one another.
    ///
    /// # Errors
    /// When there are more than [`MOST_PROCESSES`].
    pub fn of_schedule(schedule: &Schedule) -> Result<Self, Refusal> {
        let mut sent = Vec::new();
        for rank in 0..schedule.ranks() {
            let own = schedule.of_rank(rank);
            let ops = &schedule.ops()[own.start as usize..own.end as usize];
            sent.extend(ops.iter().filter(|op| op.kind == OperationKind::Send).map(|op| {
                ProcessTraffic { from: rank, to: op.peer, bytes: op.size as f64, messages: 1.0 }
            }));
        }
        Self::new(schedule.ranks(), sent)
    }

    /// How many processes there are.
    pub fn processes(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// How many ordered pairs communicate.
    pub fn pairs(&self) -> usize {
        self.to.len()
    }

    /// What one process sends: receiver, bytes, messages.
    pub fn of(&self, process: u32) -> impl Iterator<Item = (u32, f64, f64)> + '_ {
        let p = process as usize;
        let row = self.offsets[p] as usize..self.offsets[p + 1] as usize;
        row.map(|i| (self.to[i], self.bytes[i], self.messages[i]))
    }

    /// All that is sent, in order of senders and receivers.
    pub fn sent(&self) -> impl Iterator<Item = ProcessTraffic> + '_ {
        (0..self.processes()).flat_map(move |from| {
            self.of(from).map(move |(to, bytes, messages)| ProcessTraffic {
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

/// Refuses numbers of processes that there cannot be, before anything is made of that size.
///
/// # Errors
/// When it is 0 or more than [`MOST_PROCESSES`].
pub fn check_processes(count: u64) -> Result<u32, Refusal> {
    let fits = u32::try_from(count).ok().filter(|n| (1..=MOST_PROCESSES).contains(n));
    fits.ok_or_else(|| {
        Refusal::new("processes", format!("{count} processes"), format!("1 to {MOST_PROCESSES}"))
    })
}

/// A rank below the number of processes.
///
/// # Errors
/// When it is not; the refusal says of which `what`.
pub fn check_rank(what: &str, rank: u64, processes: u32) -> Result<u32, Refusal> {
    if rank < u64::from(processes) {
        return Ok(rank as u32);
    }
    let why = format!("there is no process {rank} among {processes}");
    Err(Refusal::new(what, why, format!("0 to {}", processes.saturating_sub(1))))
}

/// An amount of bytes or messages.
///
/// # Errors
/// When it is negative or not finite; the refusal says of which `what`.
pub fn check_amount(what: &str, amount: f64) -> Result<f64, Refusal> {
    if amount.is_finite() && amount >= 0.0 {
        return Ok(amount);
    }
    Err(Refusal::new(what, format!("{amount} is no amount"), "0 or more, finite"))
}

/// A sum of bytes or messages of a whole graph.
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
    use base::Quiet;

    fn sent(from: u32, to: u32, bytes: f64) -> ProcessTraffic {
        ProcessTraffic { from, to, bytes, messages: 1.0 }
    }

    #[test]
    fn pairs_add_up_and_nobody_sends_to_itself() {
        let all = vec![sent(2, 0, 4.0), sent(0, 1, 3.0), sent(1, 1, 9.0), sent(0, 1, 2.0)];
        let graph = CommunicationGraph::new(3, all).expect("a graph");
        let rows: Vec<ProcessTraffic> = graph.sent().collect();
        assert_eq!(rows[0], ProcessTraffic { from: 0, to: 1, bytes: 5.0, messages: 2.0 });
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
        let schedule = make("alltoall_linear", &given, &Quiet).expect("a schedule");
        let graph = CommunicationGraph::of_schedule(&schedule).expect("a graph");
        assert_eq!(graph.pairs(), 12);
        assert!(graph.sent().all(|one| (one.bytes, one.messages) == (100.0, 1.0)));
    }
}
