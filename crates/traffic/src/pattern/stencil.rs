//! `stencil`: to the neighbours in a grid that is closed to a torus, with a number of dimensions or
//! with these sides.

use super::asked::PatternRequest;
use super::kind::{MessagePattern, PatternKindEntry, RankMessage};
use base::Refusal;
use base::part::PartDescription;
use base::seed::RandomStream;
use schemars::JsonSchema;
use serde::Deserialize;

/// Most dimensions of a grid.
const MAX_DIMENSIONS: u32 = 16;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "stencil",
        "to the neighbours in a torus of this number of dimensions, or of these sides",
    )
    .takes::<StencilPatternParameters>(),
    orcs: "neighbor2d",
    make: |a| Ok(Box::new(StencilPatternGrid::parse(a)?)),
    placed: false,
};

/// The parameter of a stencil.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "StencilParameters")]
struct StencilPatternParameters {
    /// A number of dimensions, or sides such as `4x4x2`.
    #[serde(default = "plane")]
    sides: String,
}

fn plane() -> String {
    "2".to_owned()
}

/// The grid of a stencil, by its sides.
#[derive(Debug, Clone)]
enum StencilPatternGrid {
    /// A grid with this many dimensions that is as close to a cube as possible; its last positions
    /// may be empty.
    Dimensions(u32),
    /// A grid with these sides, the first coordinate varying fastest; it has exactly as many
    /// positions as ranks.
    Given(Vec<u32>),
}

impl MessagePattern for StencilPatternGrid {
    fn most_messages(&self, ranks: u32) -> u64 {
        u64::from(ranks) * 2 * self.sides(ranks).len() as u64
    }

    fn messages(&self, _: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        self.all(ranks)
    }
}

impl StencilPatternGrid {
    fn parse(asked: &PatternRequest<'_>) -> Result<Self, Refusal> {
        let (text, ranks) = (asked.read::<StencilPatternParameters>()?.sides, asked.ranks);
        let bad = |help| asked.bad(help);
        let help = || {
            let short =
                (2..=ranks.isqrt()).rev().find(|side| ranks.is_multiple_of(*side)).unwrap_or(1);
            let long = ranks / short;
            format!("1 to {MAX_DIMENSIONS} dimensions, or sides, such as {long}x{short}")
        };
        let numbers: Option<Vec<u32>> = text.split('x').map(|w| w.parse().ok()).collect();
        let numbers = numbers.ok_or_else(|| bad(help()))?;
        if let [dimensions] = numbers[..] {
            return match dimensions {
                1..=MAX_DIMENSIONS => Ok(Self::Dimensions(dimensions)),
                _ => Err(bad(help())),
            };
        }
        let places =
            numbers.iter().try_fold(1_u64, |product, side| product.checked_mul((*side).into()));
        if places != Some(ranks.into()) || numbers.len() > MAX_DIMENSIONS as usize {
            return Err(bad(help()));
        }
        Ok(Self::Given(numbers))
    }

    /// The sides of the grid. Each is the least whose power is enough for the ranks that are left
    /// after dividing by the sides before it.
    fn sides(&self, ranks: u32) -> Vec<u32> {
        let dimensions = match self {
            Self::Dimensions(d) => *d,
            Self::Given(sides) => return sides.clone(),
        };
        let mut left = ranks;
        let mut sides = Vec::new();
        for d in (1..=dimensions).rev() {
            let mut side = (f64::from(left).powf(1.0 / f64::from(d)) as u32).max(1);
            while side > 1 && u64::from(side - 1).saturating_pow(d) >= u64::from(left) {
                side -= 1;
            }
            while u64::from(side).saturating_pow(d) < u64::from(left) {
                side += 1;
            }
            sides.push(side);
            left = left.div_ceil(side);
        }
        sides
    }

    /// The messages of every rank to its neighbours in each direction, skipping empty positions;
    /// each pair once, and none to itself.
    fn all(&self, ranks: u32) -> Vec<RankMessage> {
        let sides = self.sides(ranks);
        let mut all = Vec::new();
        for rank in 0..ranks {
            let mut to = Vec::with_capacity(2 * sides.len());
            let mut stride = 1_u64;
            for &side in &sides {
                let side = u64::from(side);
                let here = u64::from(rank) / stride % side;
                let at = |x: u64| u64::from(rank) - here * stride + x % side * stride;
                let taken = |x: &u64| at(*x) < u64::from(ranks);
                let ahead = (here + 1..=here + side).find(taken).unwrap_or(here);
                let behind = (1..=side).map(|step| here + side - step).find(taken);
                let behind = behind.unwrap_or(here);
                to.extend([at(ahead) as u32, at(behind) as u32]);
                stride *= side;
            }
            to.sort_unstable();
            to.dedup();
            all.extend(to.into_iter().filter(|&other| other != rank).map(|other| (rank, other)));
        }
        all
    }
}
