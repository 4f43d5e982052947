//! `receivers:COUNT`: ranks 0 to COUNT - 1 receive, the others send to them in turn, each with a
//! chance.

use super::asked::PatternRequest;
use super::kind::{MessagePattern, PatternKindEntry, RankMessage};
use base::Refusal;
use base::part::PartDescription;
use base::seed::RandomStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "receivers",
        "the other ranks to the first `count` in turn, with a chance; those without in a ring",
    )
    .takes::<ReceiverPatternParameters>(),
    orcs: "recvs_all_src",
    make: |a| Ok(Box::new(ReceiverPattern::parse(a, false)?)),
    placed: false,
};

/// The parameters of receivers.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ReceiverParameters")]
pub(super) struct ReceiverPatternParameters {
    /// How many receive: the first ranks, at most half of all.
    #[schemars(range(min = 1))]
    count: u32,
    /// Chance that a sender sends to its receiver.
    #[serde(default = "certain")]
    #[schemars(range(min = 0.0, max = 1.0))]
    chance: f64,
    /// Chance that a sender that does not send to its receiver is idle; else it sends to another
    /// such sender.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    idle: f64,
    /// In which order senders get their receivers.
    #[serde(default)]
    order: ReceiverAssignmentOrder,
}

fn certain() -> f64 {
    1.0
}

/// The order in which senders get their receivers.
#[derive(Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SenderOrder")]
enum ReceiverAssignmentOrder {
    /// At random.
    #[default]
    Rand,
    /// By rank.
    Linear,
}

/// The pattern in which ranks 0 to `count` - 1 receive, and the others send to them in turn.
#[derive(Debug)]
pub(super) struct ReceiverPattern {
    /// Number of ranks that receive.
    count: u32,
    /// Whether each receiver has only one sender.
    one_sender: bool,
    /// Probability that a sender sends to its receiver.
    chance: f64,
    /// Probability that a sender that does not send to its receiver is idle; otherwise it sends to
    /// another such sender.
    idle: f64,
    /// Whether senders are in the order of ranks, rather than in random order.
    linear: bool,
}

impl MessagePattern for ReceiverPattern {
    fn messages(&self, _: u32, ranks: u32, draw: &mut RandomStream) -> Vec<RankMessage> {
        self.all(ranks, draw)
    }
}

impl ReceiverPattern {
    /// The pattern with the requested parameters.
    pub(super) fn parse(asked: &PatternRequest<'_>, one_sender: bool) -> Result<Self, Refusal> {
        let ReceiverPatternParameters { count, chance, idle, order } = asked.read()?;
        let count = asked.within("count", count, 1, asked.ranks / 2)?;
        Ok(Self {
            count,
            one_sender,
            chance,
            idle,
            linear: order == ReceiverAssignmentOrder::Linear,
        })
    }

    fn all(&self, ranks: u32, draw: &mut RandomStream) -> Vec<RankMessage> {
        let mut senders: Vec<u32> = (self.count..ranks).collect();
        if !self.linear {
            draw.shuffle(&mut senders);
        }
        if self.one_sender {
            senders.truncate(self.count as usize);
        }
        // 53 random bits are a number from 0 to 1, excluding 1
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
