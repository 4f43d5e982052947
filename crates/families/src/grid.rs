//! The points of a grid, from which tori, meshes, `HyperX` and related networks are built.

use super::GridShape;
use base::{Refusal, SwitchId};
use fabric::network::{Switch, TopologyBuilder};

/// The points of a grid in row-major order: the last coordinate runs fastest.
pub(super) struct GridPoints<'a> {
    /// Size of each dimension, none of them 0.
    pub(super) sizes: &'a [u32],
    /// The number of points, at most [`GridPoints::MOST`].
    pub(super) places: u64,
}

impl<'a> GridPoints<'a> {
    /// The most points that a grid may have.
    const MOST: u64 = 1 << 30;
    /// The most dimensions a grid may have.
    const DIMENSIONS: usize = 32;

    /// The grid of this shape.
    ///
    /// # Errors
    /// Refuses `shape` when it has no dimension or more than 32, a size of 0, or over 2^30 points.
    pub(super) fn new(shape: &'a GridShape) -> Result<Self, Refusal> {
        let sizes = &shape.0[..];
        let refuse = |why: String, help: String| Err(Refusal::new("shape", why, help));
        if sizes.is_empty() || sizes.len() > Self::DIMENSIONS {
            let why = format!("{} dimensions", sizes.len());
            return refuse(why, format!("1 to {} dimensions", Self::DIMENSIONS));
        }
        if let Some(d) = sizes.iter().position(|&s| s == 0) {
            let why = format!("dimension {} has size 0", d + 1);
            return refuse(why, "every size is at least 1".into());
        }
        let places = sizes
            .iter()
            .try_fold(1_u64, |n, &s| n.checked_mul(u64::from(s)).filter(|&n| n <= Self::MOST));
        match places {
            Some(places) => Ok(Self { sizes, places }),
            None => refuse("too many switches".into(), format!("at most {}", Self::MOST)),
        }
    }

    /// The dimensions of size 2 or more, with their size; only these have neighbours.
    pub(super) fn wide(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.sizes.iter().enumerate().map(|(d, &s)| (d, u64::from(s))).filter(|&(_, s)| s > 1)
    }

    /// The difference of the numbers of two points that differ by one along dimension `d`.
    pub(super) fn stride(&self, d: usize) -> u32 {
        self.sizes[d + 1..].iter().product()
    }

    /// The coordinates of point number `id`.
    pub(super) fn at(&self, id: u32) -> Vec<u32> {
        (0..self.sizes.len()).map(|d| id / self.stride(d) % self.sizes[d]).collect()
    }

    /// Adds a switch for every point, named `prefix-x-y-...`, with its coordinates, then `p`
    /// endpoints on each.
    pub(super) fn populate(&self, b: &mut TopologyBuilder, prefix: &str, p: u32) {
        let places = self.places as u32;
        for id in 0..places {
            let coordinates = self.at(id);
            let place: Vec<String> = coordinates.iter().map(u32::to_string).collect();
            let name = format!("{prefix}-{}", place.join("-"));
            b.switch(Switch::new(name).at(0, coordinates));
        }
        b.endpoints_on((0..places).map(SwitchId), p);
    }
}
