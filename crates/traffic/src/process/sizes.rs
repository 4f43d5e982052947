//! Sizes of packets: all equal, or drawn by weight.

use crate::destinations::AliasTable;
use base::Refusal;
use base::seed::FastRandomStream;

/// Sizes of packets in flits, each drawn in proportion to its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct PacketSizeDistribution {
    drawn: AliasTable,
    mean: f64,
    most: u32,
}

/// The largest size, and the largest weight.
const MOST: u32 = 1 << 20;

impl PacketSizeDistribution {
    /// The distribution of these sizes with these weights; all numbers are 1 to 2^20.
    ///
    /// # Errors
    /// When the list is empty, or a number is out of its range.
    pub fn new(weighted: &[(u32, u32)]) -> Result<Self, Refusal> {
        let within = |x: u32| (1..=MOST).contains(&x);
        let reason = match weighted.iter().find(|&&(s, w)| !within(s) || !within(w)) {
            Some((size, _)) if !within(*size) => Some(format!("{size} flits")),
            Some((_, weight)) => Some(format!("a weight of {weight}")),
            None => weighted.is_empty().then(|| "no size".to_owned()),
        };
        if let Some(why) = reason {
            let help = format!("sizes in flits and their weights, 1 to {MOST}: 4, or 1=3,5=1");
            return Err(Refusal::new("packet_size", why, help));
        }
        let floats: Vec<(u32, f64)> = weighted.iter().map(|&(s, w)| (s, f64::from(w))).collect();
        let sum: f64 = floats.iter().map(|x| x.1).sum();
        let mean = floats.iter().map(|&(s, w)| f64::from(s) * w).sum::<f64>() / sum;
        let most = weighted.iter().map(|x| x.0).max().unwrap_or(1);
        Ok(Self { drawn: AliasTable::new(&floats), mean, most })
    }

    /// Parses `SIZE` or `SIZE=WEIGHT,SIZE=WEIGHT`; a weight that is left out is 1.
    ///
    /// # Errors
    /// When the text is not of this form.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let one = |word: &str| {
            let (size, weight) = word.split_once('=').unwrap_or((word, "1"));
            Some((size.parse().ok()?, weight.parse().ok()?))
        };
        let all: Option<Vec<(u32, u32)>> = text.split(',').map(one).collect();
        let all = all.ok_or_else(|| {
            let help = "sizes in flits, with weights if there are several: 4, or 1=3,5=1";
            Refusal::new("packet_size", format!("'{text}'"), help)
        })?;
        Self::new(&all)
    }

    /// The size of the next packet; if there is only one size, no random number is drawn.
    #[inline]
    pub fn draw(&self, random: &mut FastRandomStream) -> u32 {
        if self.drawn.is_one() { self.most } else { self.drawn.draw(random) }
    }

    /// Mean size in flits.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Largest size in flits.
    pub fn most(&self) -> u32 {
        self.most
    }
}
