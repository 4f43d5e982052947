//! `receivers:N`: ranks 0 to N - 1 receive, the others send to them in turn, each with a chance.

use super::asked::PatternRequest;
use super::kind::{Entry, Form, Message};
use base::Refusal;
use base::seed::Stream;

/// What follows the colon.
pub(super) const WANTED: &str = "N[,CHANCE[,IDLE]][,linear]";

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "receivers",
    doc: "ranks from N on to ranks 0 to N - 1 in turn, with chance C; the others in a ring",
    orcs: "recvs_all_src",
    wanted: WANTED,
    make: |a| Ok(Box::new(Receivers::parse(a, false)?)),
    placed: false,
};

/// Ranks 0 to `count` - 1 receive, the others send to them in turn.
#[derive(Debug)]
pub(super) struct Receivers {
    /// How many receive.
    count: u32,
    /// One sender for each of them only.
    one_sender: bool,
    /// Chance that a sender sends to its receiver.
    chance: f64,
    /// Chance that a sender that does not send to its receiver is idle; else it sends to another
    /// such sender.
    idle: f64,
    /// Senders by rank and not in random order.
    linear: bool,
}

impl Form for Receivers {
    fn messages(&self, _: u32, ranks: u32, draw: &mut Stream) -> Vec<Message> {
        self.all(ranks, draw)
    }
}

impl Receivers {
    /// From what follows the colon.
    pub(super) fn parse(asked: &PatternRequest<'_>, one_sender: bool) -> Result<Self, Refusal> {
        let (argument, most) = (asked.argument, asked.ranks / 2);
        let help =
            || asked.bad(format!("N[,CHANCE[,IDLE]][,linear] with N 1 to {most}, chances 0 to 1"));
        let mut words: Vec<&str> = argument.unwrap_or("").split(',').collect();
        let linear = words.last() == Some(&"linear");
        if linear || words.last() == Some(&"rand") {
            words.pop();
        }
        let chance = |at: usize, unless: f64| match words.get(at) {
            None => Ok(unless),
            Some(w) => w.parse().ok().filter(|x| (0.0..=1.0).contains(x)).ok_or_else(help),
        };
        let count = words.first().and_then(|w| w.parse().ok());
        let count = count.filter(|n| (1..=most).contains(n) && words.len() <= 3);
        let (chance, idle) = (chance(1, 1.0)?, chance(2, 0.0)?);
        Ok(Self { count: count.ok_or_else(help)?, one_sender, chance, idle, linear })
    }

    fn all(&self, ranks: u32, draw: &mut Stream) -> Vec<Message> {
        let mut senders: Vec<u32> = (self.count..ranks).collect();
        if !self.linear {
            draw.shuffle(&mut senders);
        }
        if self.one_sender {
            senders.truncate(self.count as usize);
        }
        // 53 random bits make a number from 0 up to, and without, 1
        let mut happens = |chance: f64| (draw.next_u64() >> 11) as f64 / 2_f64.powi(53) < chance;
        let (mut all, mut others) = (Vec::new(), Vec::new());
        for (i, &sender) in (0..).zip(&senders) {
            if happens(self.chance) {
                all.push((sender, i % self.count));
            } else if !happens(self.idle) {
                others.push(sender);
            }
        }
        let next = others.iter().cycle().skip(1);
        all.extend(others.iter().zip(next).map(|(a, b)| (*a, *b)).filter(|(a, b)| a != b));
        all
    }
}
