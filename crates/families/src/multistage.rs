//! Consecutive stages of equal switches, from which butterflies and Benes networks are built.

use base::SwitchId;
use fabric::network::{Switch, TopologyBuilder};

/// Stages of k^digits switches each, with k links from every switch to the next stage.
pub(super) struct ButterflyStages {
    /// The number of links of a switch to each neighbouring stage.
    pub(super) k: u32,
    /// The number of digits that name a switch of a stage, the most significant first; digits are
    /// below k.
    pub(super) digits: u32,
    /// For every two consecutive stages, the digit that the links between them change; 0 is the
    /// most significant.
    pub(super) changes: Vec<u32>,
}

impl ButterflyStages {
    /// Builds the network. A switch is named `prefix-stage-digits`; stage and digits are its
    /// coordinates, the stage is its group, and the distance to the nearer outer stage its level.
    /// There are k endpoints on every switch of the first stage, then on every switch of the last.
    pub(super) fn build(&self, prefix: &str) -> TopologyBuilder {
        let (k, width, gaps) = (self.k, self.k.pow(self.digits), self.changes.len() as u32);
        let place = |digit: u32| k.pow(self.digits - 1 - digit);
        let mut b = TopologyBuilder::new();
        for stage in 0..=gaps {
            for w in 0..width {
                let word: Vec<u32> = (0..self.digits).map(|digit| w / place(digit) % k).collect();
                let name: Vec<String> = word.iter().map(u32::to_string).collect();
                let name = format!("{prefix}-{stage}-{}", name.join("-"));
                let coordinates = std::iter::once(stage).chain(word).collect();
                let mut switch = Switch::new(name).at(stage, coordinates);
                switch.level = stage.min(gaps - stage) as u8;
                b.switch(switch);
            }
        }
        b.endpoints_on((0..width).map(SwitchId), k);
        b.endpoints_on((0..width).map(|w| SwitchId(gaps * width + w)), k);
        for (stage, &digit) in (0..).zip(&self.changes) {
            let stride = place(digit);
            for w in 0..width {
                let others = w - w / stride % k * stride;
                for value in 0..k {
                    let next = (stage + 1) * width + others + value * stride;
                    b.link(SwitchId(stage * width + w), SwitchId(next));
                }
            }
        }
        b
    }
}
