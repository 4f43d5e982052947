//! Distances between sites: a table of bytes or words, or a formula where the network is a grid.

use crate::paths::TrafficPathRule;
use crate::slots::{ProcessSlots, switch_of, unreachable};
use base::{ComputationError, ProgressWatch, Refusal, SwitchId};
use fabric::Topology;
use fabric::geometry::{GridRowLinks, NetworkGeometry, PlaneStructure};
use std::collections::BTreeMap;

/// Distances between sites, in fractions of a hop so that means are whole numbers; symmetric.
pub trait SiteMetric: Sync {
    /// The distance from one site to another; 0 from a site to itself.
    fn hops(&self, a: u32, b: u32) -> i32;
}

/// A table of the distances of all pairs of sites.
pub struct DistanceTable<T> {
    sites: usize,
    hops: Vec<T>,
}

impl<T: Copy + Into<i32> + Sync> SiteMetric for DistanceTable<T> {
    #[inline]
    fn hops(&self, a: u32, b: u32) -> i32 {
        self.hops[a as usize * self.sites + b as usize].into()
    }
}

/// Distances in a grid network: the sum over dimensions.
pub struct GridDistances {
    /// The coordinates of each site, padded to [`GridDistances::MOST`] dimensions.
    at: Vec<[u8; GridDistances::MOST]>,
    /// The distances along each dimension, in rows of 256 for each coordinate.
    along: Vec<Vec<u8>>,
}

impl GridDistances {
    /// The largest number of dimensions for which the formula is used.
    const MOST: usize = 4;
}

impl SiteMetric for GridDistances {
    #[inline]
    fn hops(&self, a: u32, b: u32) -> i32 {
        let (from, to) = (self.at[a as usize], self.at[b as usize]);
        let mut sum = 0;
        for (d, along) in self.along.iter().enumerate() {
            sum += i32::from(along[usize::from(from[d]) << 8 | usize::from(to[d])]);
        }
        sum
    }
}

/// The distances between sites, in the smallest form that holds them.
pub enum SiteDistances {
    /// A table of distances of at most 255 units.
    Bytes(DistanceTable<u8>),
    /// A table of larger distances.
    Words(DistanceTable<u16>),
    /// The formula of a grid.
    Grid(GridDistances),
}

impl SiteMetric for SiteDistances {
    fn hops(&self, a: u32, b: u32) -> i32 {
        match self {
            Self::Bytes(table) => table.hops(a, b),
            Self::Words(table) => table.hops(a, b),
            Self::Grid(grid) => grid.hops(a, b),
        }
    }
}

/// The largest number of units of a hop; units make means over rails and layers whole.
const MOST_UNITS: u32 = 64;

/// The number of sites from which the formula of a grid replaces the table.
const LARGE: usize = 2048;

/// The distances between all sites, and the number of units of a hop.
///
/// With tables, a distance is the mean length of the routes in both directions, over layers and
/// rails. O(sites * channels), by formula O(sites).
///
/// # Errors
/// When no path connects two sites, or `watch` says stop.
pub fn distances(
    paths: TrafficPathRule<'_>,
    slots: &ProcessSlots,
    watch: &dyn ProgressWatch,
) -> Result<(SiteDistances, i32), ComputationError> {
    let paths = paths.of_distances();
    let on = paths.topology();
    if let (TrafficPathRule::Shortest(_), true) = (paths, slots.sites() >= LARGE)
        && let Some(grid) = grid(on, slots)
    {
        return Ok((SiteDistances::Grid(grid), 1));
    }
    let unit = unit(paths, on, slots);
    let sites = slots.sites();
    let mut hops = vec![0_u16; sites * sites];
    let mut far: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for a in 0..sites as u32 {
        watch.tick("distances", u64::from(a), sites as u64)?;
        if let TrafficPathRule::Shortest(_) = paths {
            far =
                slots.switches(on, a).map(|s| (s, on.graph().distances_from(s as usize))).collect();
        }
        for b in (0..sites as u32).filter(|&b| b != a) {
            let (sum, pairs) = between(paths, on, slots, a, b, &far)?;
            let units = (f64::from(unit) * f64::from(sum) / f64::from(pairs)).round();
            hops[a as usize * sites + b as usize] = units.min(32_000.0) as u16;
        }
    }
    if let TrafficPathRule::Tables(_) = paths {
        for a in 0..sites {
            for b in 0..a {
                let both = hops[a * sites + b] + hops[b * sites + a];
                (hops[a * sites + b], hops[b * sites + a]) = (both, both);
            }
        }
    }
    let unit = if let TrafficPathRule::Tables(_) = paths { 2 * unit } else { unit };
    if hops.iter().all(|&h| h < 256) {
        let hops = hops.iter().map(|&h| h as u8).collect();
        return Ok((SiteDistances::Bytes(DistanceTable { sites, hops }), unit as i32));
    }
    Ok((SiteDistances::Words(DistanceTable { sites, hops }), unit as i32))
}

/// The number of units of a hop that makes the means over rails and layers whole, where possible.
fn unit(paths: TrafficPathRule<'_>, on: &Topology, slots: &ProcessSlots) -> u32 {
    let layers = if let TrafficPathRule::Tables(routing) = paths { routing.layers() } else { 1 };
    let mut unit = layers;
    let mut known = Vec::new();
    for site in 0..slots.sites() as u32 {
        let planes: Vec<u16> = slots.rails(site).iter().map(|t| on.plane_of(*t)).collect();
        if !known.contains(&planes) && known.len() < 8 {
            known.push(planes);
        }
    }
    for a in &known {
        for b in &known {
            let pairs = a.iter().flat_map(|p| b.iter().filter(move |q| p == *q)).count() as u32;
            if pairs > 0 && unit % pairs > 0 {
                unit *= pairs;
            }
        }
    }
    unit.min(MOST_UNITS)
}

/// The sum of the distances over all pairs of rails of two sites, and the number of these pairs.
fn between(
    paths: TrafficPathRule<'_>,
    on: &Topology,
    slots: &ProcessSlots,
    a: u32,
    b: u32,
    far: &BTreeMap<u32, Vec<u32>>,
) -> Result<(u32, u32), Refusal> {
    let (mut sum, mut pairs) = (0, 0);
    for &from in slots.rails(a) {
        for &to in slots.rails(b).iter().filter(|&&to| on.plane_of(to) == on.plane_of(from)) {
            let source = SwitchId(switch_of(on, from));
            match paths {
                TrafficPathRule::Shortest(_) => {
                    let hops = far[&source.0][switch_of(on, to) as usize];
                    if hops == u32::MAX {
                        return Err(unreachable(paths.topology(), source.0, switch_of(on, to)));
                    }
                    sum += hops;
                    pairs += 1;
                }
                TrafficPathRule::Tables(routing) => {
                    for layer in 0..routing.layers() {
                        sum += paths.route(layer, source, to)?.len() as u32;
                        pairs += 1;
                    }
                }
                TrafficPathRule::Split(_) => unreachable!("distances are those of shortest paths"),
            }
        }
    }
    if pairs == 0 {
        let name = |site: u32| &on.switches()[switch_of(on, slots.rails(site)[0]) as usize].name;
        let why = format!("endpoints on {} and on {} share no plane", name(a), name(b));
        return Err(Refusal::new("hosts", why, "endpoints of a common plane"));
    }
    Ok((sum, pairs))
}

/// The distance formula of a network that is a complete grid; it is checked from some switches.
fn grid(on: &Topology, slots: &ProcessSlots) -> Option<GridDistances> {
    let NetworkGeometry { form: PlaneStructure::Grid(row), planes: 0 } = on.geometry() else {
        return None;
    };
    let of = |s: u32| &on.switches()[s as usize].coordinates;
    let dimensions = of(0).len();
    let single = (0..slots.sites() as u32).all(|site| slots.rails(site).len() == 1);
    if !single || !(1..=GridDistances::MOST).contains(&dimensions) || row == GridRowLinks::Other {
        return None;
    }
    let sides: Vec<u32> = (0..dimensions)
        .map(|d| on.switches().iter().map(|s| s.coordinates[d] + 1).max().unwrap_or(1))
        .collect();
    if sides.iter().any(|&side| side > 256) {
        return None;
    }
    let along = sides.iter().map(|&side| along(row, side)).collect();
    let at = (0..slots.sites() as u32).map(|site| {
        let own = of(switch_of(on, slots.rails(site)[0]));
        std::array::from_fn(|d| own.get(d).map_or(0, |x| *x as u8))
    });
    let grid = GridDistances { at: at.collect(), along };
    is_right(on, slots, row, &sides, &grid).then_some(grid)
}

fn along(row: GridRowLinks, side: u32) -> Vec<u8> {
    let mut along = vec![0; 256 * side as usize];
    for x in 0..side {
        for y in 0..side {
            let gap = x.abs_diff(y);
            let hops = match row {
                GridRowLinks::Ring => gap.min(side - gap),
                GridRowLinks::Line | GridRowLinks::Other => gap,
                GridRowLinks::Complete => gap.min(1),
            };
            along[(x << 8 | y) as usize] = hops as u8;
        }
    }
    along
}

/// Whether the network has as many links as the complete grid, and the distances from three sites
/// agree with the formula.
fn is_right(
    on: &Topology,
    slots: &ProcessSlots,
    row: GridRowLinks,
    sides: &[u32],
    grid: &GridDistances,
) -> bool {
    let all: u64 = sides.iter().map(|&side| u64::from(side)).product();
    let links = |side: u64| match row {
        GridRowLinks::Ring if side > 2 => side,
        GridRowLinks::Ring | GridRowLinks::Line | GridRowLinks::Other => side - 1,
        GridRowLinks::Complete => side * (side - 1) / 2,
    };
    let expected: u64 = sides.iter().map(|&n| all / u64::from(n) * links(u64::from(n))).sum();
    let whole = all == on.switches().len() as u64 && on.graph().arcs() as u64 == 2 * expected;
    let sites = slots.sites() as u32;
    whole
        && [0, sites / 3, sites - 1].iter().all(|&a| {
            let far = on.graph().distances_from(switch_of(on, slots.rails(a)[0]) as usize);
            (0..sites)
                .all(|b| far[switch_of(on, slots.rails(b)[0]) as usize] == grid.hops(a, b) as u32)
        })
}
