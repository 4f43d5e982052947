//! Sizing: finds the members of each family that are nearest to a wish, with exact figures.

use base::{Interrupted, ProgressWatch, Refusal};
use fabric::network::{NetworkRecipe, Topology};
use families::multi_plane::MultiPlane;
use families::{
    ConcentrationRounding, ExactFraction, Family, FamilyEntry, FamilyMemberProposal, FamilyPromise,
    NetworkNeed, NetworkWish, PromisedValue,
};
use measure::structure::by_plane;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// A member of a family with its figures. Distances are in hops, between switches that carry
/// endpoints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FamilyCandidate {
    /// The name of the family; for a network of several planes, that of one plane.
    pub family: String,
    /// The kind of member within the family (`3 levels`, `2D`); often empty.
    pub kind: String,
    /// The inline form of the network, which any other command accepts.
    pub network: String,
    /// The parameters of `network`.
    pub params: serde_json::Map<String, serde_json::Value>,
    /// Number of planes, which is the number of rails of an endpoint.
    pub planes: u32,
    /// Endpoints.
    pub endpoints: u64,
    /// Switches of all planes.
    pub switches: u64,
    /// Links between switches, of all planes.
    pub links: u64,
    /// Most ports that a switch uses.
    pub radix: u32,
    /// Most ports to other switches that a switch uses.
    pub network_radix: u32,
    /// Endpoints per switch that carries any, the mean.
    pub concentration: f64,
    /// Endpoints per switch with which uniform traffic over minimal paths loads the average channel
    /// in full ([`NetworkWish::ideal`]); `None` where some switches carry no endpoints.
    pub full_bandwidth_concentration: Option<f64>,
    /// Longest distance; an interval `[least, most]` when it is neither promised nor measured.
    pub diameter: [u32; 2],
    /// Mean distance; an interval, as the diameter.
    pub mean_distance: [f64; 2],
    /// Switches over the Moore bound for this network radix and diameter; `None` where some
    /// switches carry no endpoints, or the diameter is not known.
    pub moore_fraction: Option<f64>,
    /// Whether the distances were measured on the built network: its family has no formula.
    pub measured: bool,
}

/// The nearest members of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NearestFamilyMembers {
    /// The family's name.
    pub family: String,
    /// The kind of member within the family; often empty.
    pub kind: String,
    /// The largest member with at most as many endpoints as wished.
    pub below: Option<FamilyCandidate>,
    /// The smallest member with at least as many endpoints as wished; the same as `below` when one
    /// has exactly as many.
    pub above: Option<FamilyCandidate>,
}

/// Members whose distances have no formula are built and measured up to these sizes.
const MEASURED_LINKS: u64 = 1 << 21;
const MEASURED_SWITCHES: u64 = 1 << 15;

/// A request for members of families: conditions in addition to the wish.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SizingRequest {
    /// Number of planes, and of rails of every endpoint: members are copied to this number of
    /// planes. `None` for the number that each family has by itself.
    pub planes: Option<u32>,
    /// Whether only members with at most the wished number of endpoints are wanted.
    pub below_only: bool,
    /// Kinds to leave out, as pairs of family and kind.
    pub skipped: BTreeSet<(String, String)>,
}

/// For each of `wishes`, each of `families` and each kind in it, the nearest members below and
/// above.
///
/// Among members with equally many endpoints the one with the fewest switches is taken, then the
/// one with the fewest links. Kinds without a member on either side are left out. O(candidates),
/// and the measurement of those that have no formula, in parallel over families and wishes. A
/// member that several wishes have is measured once, or more often where they meet at the same
/// time.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn nearest(
    families: &[&FamilyEntry],
    wishes: &[NetworkWish],
    asked: &SizingRequest,
    watch: &dyn ProgressWatch,
) -> Result<Vec<Vec<NearestFamilyMembers>>, Interrupted> {
    let done = AtomicU64::new(0);
    let of_family = |entry: &&FamilyEntry| {
        let build = |params: &Map<String, Value>| entry.build(params).ok();
        let source =
            FamilyMemberSource { family: entry.part.name, build: &build, known: Mutex::default() };
        let near = |wish| source.nearest(entry.near(wish), wish, asked, watch);
        let found: Vec<_> = wishes.par_iter().map(near).collect::<Result<_, _>>()?;
        let ready = done.fetch_add(1, Ordering::Relaxed) + 1;
        watch.tick("sizing", ready, families.len() as u64)?;
        Ok(found)
    };
    let found: Vec<Vec<Vec<NearestFamilyMembers>>> =
        families.par_iter().map(of_family).collect::<Result<_, _>>()?;
    let mut by_wish = vec![Vec::new(); wishes.len()];
    for family in found {
        for (rows, found) in by_wish.iter_mut().zip(family) {
            rows.extend(found);
        }
    }
    Ok(by_wish)
}

/// A member that carries a need, before it is priced and before its distances are known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CarryingMember {
    /// The inline form of the network, of all planes.
    pub network: String,
    /// The parameters of one plane, by which [`described`] finds the member again.
    pub params: Map<String, Value>,
    /// Endpoints.
    pub endpoints: u64,
    /// Switches of all planes.
    pub switches: u64,
    /// Links between switches, of all planes.
    pub links: u64,
    /// Most ports that a switch uses.
    pub radix: u32,
    /// The price estimated by [`NetworkNeed::estimate`], of all planes.
    pub estimate: f64,
}

/// The members of one kind that carry a need, the least estimated price first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CarryingKind {
    /// The family's name.
    pub family: String,
    /// The kind of member within the family; often empty.
    pub kind: String,
    /// At most [`OFFERED`] members.
    pub members: Vec<CarryingMember>,
}

/// Members of a kind that are offered for a need.
pub const OFFERED: usize = 24;

/// The members of each of `families` that carry `need`, by kind: those that may be the cheapest,
/// by their estimated price. `planes` as in [`SizingRequest`]. O(members), by formulas alone, in
/// parallel over families.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn carrying(
    families: &[&FamilyEntry],
    need: &NetworkNeed,
    planes: Option<u32>,
    watch: &dyn ProgressWatch,
) -> Result<Vec<CarryingKind>, Interrupted> {
    let done = AtomicU64::new(0);
    let of_family = |entry: &&FamilyEntry| {
        let mut kinds: BTreeMap<String, Vec<CarryingMember>> = BTreeMap::new();
        for offer in entry.carrying(need) {
            let own = u64::from(offer.promise.planes);
            let times = u64::from(planes.unwrap_or(offer.promise.planes));
            let [switches, links] =
                [offer.promise.switches, offer.promise.links].map(|count| count / own * times);
            let member = CarryingMember {
                network: in_planes(&offer, planes).to_string(),
                params: offer.recipe.params,
                endpoints: offer.promise.endpoints,
                switches,
                links,
                radix: offer.promise.radix,
                estimate: need.estimate(switches, links, offer.promise.radix),
            };
            kinds.entry(offer.kind).or_default().push(member);
        }
        let cheapest = |(kind, mut members): (String, Vec<CarryingMember>)| {
            let order = |x: &CarryingMember, y: &CarryingMember| {
                x.estimate.total_cmp(&y.estimate).then_with(|| x.network.cmp(&y.network))
            };
            members.sort_by(order);
            members.dedup_by(|x, y| x.network == y.network);
            members.truncate(OFFERED);
            CarryingKind { family: entry.part.name.to_owned(), kind, members }
        };
        let found: Vec<CarryingKind> = kinds.into_iter().map(cheapest).collect();
        let ready = done.fetch_add(1, Ordering::Relaxed) + 1;
        watch.tick("sizing", ready, families.len() as u64)?;
        Ok(found)
    };
    let found: Vec<Vec<CarryingKind>> =
        families.par_iter().map(of_family).collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// A member with its figures, and in its most general form.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DescribedMember {
    /// The member.
    #[serde(flatten)]
    pub member: FamilyCandidate,
    /// The inline form of the same network as a member of the most general family that has it;
    /// equal for one network under two names.
    pub general_form: String,
}

/// The member of `entry` with these parameters of one plane, in `planes` planes. O(1), or a
/// measurement of its distances where there is no formula.
///
/// # Errors
/// A refusal where there is no such member, in the outer result; [`Interrupted`] when `watch` asks
/// to stop.
pub fn described(
    entry: &FamilyEntry,
    kind: &str,
    params: &Map<String, Value>,
    planes: Option<u32>,
    watch: &dyn ProgressWatch,
) -> Result<Result<DescribedMember, Interrupted>, Refusal> {
    let promise = entry.promise(params)?;
    let recipe = NetworkRecipe { family: entry.part.name.to_owned(), params: params.clone() };
    let offer = FamilyMemberProposal { recipe, kind: kind.to_owned(), promise };
    let recipe = entry.general_form(params)?;
    let general_form = in_planes(&FamilyMemberProposal { recipe, ..offer.clone() }, planes);
    let build = |params: &Map<String, Value>| entry.build(params).ok();
    let source =
        FamilyMemberSource { family: entry.part.name, build: &build, known: Mutex::default() };
    let member = source.candidate(&offer, planes, watch);
    let general_form = general_form.to_string();
    Ok(member.map(|member| DescribedMember { member, general_form }))
}

/// A member of a user's family, with the figures of the built network.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct UserFamilyMember {
    /// The parameters of the member.
    pub params: Map<String, Value>,
    /// Whether each switch carries `p` endpoints, where `p` is free: the member was built with one
    /// endpoint per switch.
    pub any_p: bool,
    /// Switches.
    pub switches: u64,
    /// Switches with endpoints.
    pub edge_switches: u64,
    /// Endpoints.
    pub endpoints: u64,
    /// Links between switches.
    pub links: u64,
    /// Most ports that a switch uses.
    pub radix: u32,
    /// Most ports to other switches that a switch uses.
    pub network_radix: u32,
    /// Planes.
    pub planes: u32,
    /// Number of ordered pairs of switches with endpoints for each distance, from 0 hops.
    pub histogram: Vec<u64>,
}

impl UserFamilyMember {
    /// The member as an offer for `wish`. Where `p` is free, it gets as many endpoints as it has
    /// room for.
    fn offer(&self, family: &str, wish: &NetworkWish) -> Option<FamilyMemberProposal> {
        let hops = || self.histogram.iter().enumerate().skip(1).filter(|(_, pairs)| **pairs > 0);
        let num = hops().map(|(hops, pairs)| hops as u64 * pairs).sum();
        let den = hops().map(|(_, pairs)| *pairs).sum::<u64>().max(1);
        let diameter = hops().next_back().map_or(0, |(hops, _)| hops as u32);
        let mut promise = FamilyPromise {
            switches: self.switches,
            endpoints: self.endpoints,
            links: self.links,
            network_radix: self.network_radix,
            diameter: PromisedValue::Exact(diameter),
            mean_distance: PromisedValue::Exact(ExactFraction { num, den }),
            edge_switches: self.edge_switches,
            radix: self.radix,
            planes: self.planes,
            vertex_transitive: false,
        };
        let mut params = self.params.clone();
        if self.any_p {
            let p = wish.endpoints_of(&promise)?;
            promise.endpoints = self.switches * u64::from(p);
            promise.radix = self.network_radix + p;
            params.insert("p".into(), p.into());
        }
        let recipe = NetworkRecipe { family: family.to_owned(), params };
        Some(FamilyMemberProposal { recipe, kind: String::new(), promise })
    }
}

/// As [`nearest`], among these `members` of a user's family.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn nearest_members(
    family: &str,
    members: &[UserFamilyMember],
    wish: &NetworkWish,
    watch: &dyn ProgressWatch,
) -> Result<Vec<NearestFamilyMembers>, Interrupted> {
    let offers = members.iter().filter_map(|member| member.offer(family, wish)).collect();
    let source = FamilyMemberSource { family, build: &|_| None, known: Mutex::default() };
    source.nearest(offers, wish, &SizingRequest::default(), watch)
}

/// A measured diameter and mean distance.
type MeasuredLengths = (u32, ExactFraction);

/// A family to take members from: its name, the function that builds a member without a formula for
/// its distances, and the distances already measured.
struct FamilyMemberSource<'a> {
    family: &'a str,
    build: &'a (dyn Fn(&Map<String, Value>) -> Option<Topology> + Sync),
    known: Mutex<BTreeMap<String, Option<MeasuredLengths>>>,
}

impl FamilyMemberSource<'_> {
    /// The nearest of the `offers`, by kind.
    fn nearest(
        &self,
        offers: Vec<FamilyMemberProposal>,
        wish: &NetworkWish,
        asked: &SizingRequest,
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<NearestFamilyMembers>, Interrupted> {
        let mut found = Vec::new();
        let mut kinds: BTreeMap<String, Vec<FamilyMemberProposal>> = BTreeMap::new();
        let skipped = |o: &FamilyMemberProposal| {
            let kind = |(family, kind): &(String, String)| family == self.family && *kind == o.kind;
            asked.skipped.iter().any(kind)
        };
        for offer in offers {
            let promise = offer.promise;
            if promise.radix <= wish.radix && promise.endpoints > 0 && !skipped(&offer) {
                kinds.entry(offer.kind.clone()).or_default().push(offer);
            }
        }
        for (kind, offers) in kinds {
            let wished = wish.endpoints.unwrap_or(u64::MAX);
            let small = |o: &&FamilyMemberProposal| (o.promise.switches, o.promise.links);
            let below = offers
                .iter()
                .filter(|o| o.promise.endpoints <= wished)
                .min_by_key(|o| (u64::MAX - o.promise.endpoints, small(o)));
            let above = offers
                .iter()
                .filter(|o| o.promise.endpoints >= wished && !asked.below_only)
                .min_by_key(|o| (o.promise.endpoints, small(o)));
            let figures = |offer: Option<&FamilyMemberProposal>| {
                offer.map(|o| self.candidate(o, asked.planes, watch)).transpose()
            };
            found.push(NearestFamilyMembers {
                family: self.family.to_owned(),
                kind,
                below: figures(below)?,
                above: figures(above)?,
            });
        }
        found.retain(|nearest| nearest.below.is_some() || nearest.above.is_some());
        Ok(found)
    }

    /// Measures diameter and mean distance; `None` for a member that is too large, or is not built
    /// here.
    fn measured(
        &self,
        offer: &FamilyMemberProposal,
        watch: &dyn ProgressWatch,
    ) -> Result<Option<MeasuredLengths>, Interrupted> {
        let promise = &offer.promise;
        if promise.links > MEASURED_LINKS || promise.switches > MEASURED_SWITCHES {
            return Ok(None);
        }
        let name = offer.recipe.to_string();
        let known = |known: &Mutex<BTreeMap<_, Option<MeasuredLengths>>>| {
            known.lock().ok().and_then(|known| known.get(&name).copied())
        };
        if let Some(lengths) = known(&self.known) {
            return Ok(lengths);
        }
        let mut lengths = None;
        if let Some(built) = (self.build)(&offer.recipe.params) {
            let distances = by_plane(&built, &built.edge_switches(), watch)?;
            let (num, den) = distances.sum_and_pairs();
            lengths = Some((distances.diameter(), ExactFraction { num, den: den.max(1) }));
        }
        if let Ok(mut known) = self.known.lock() {
            known.insert(name, lengths);
        }
        Ok(lengths)
    }

    fn candidate(
        &self,
        offer: &FamilyMemberProposal,
        planes: Option<u32>,
        watch: &dyn ProgressWatch,
    ) -> Result<FamilyCandidate, Interrupted> {
        let mut promise = offer.promise;
        let claims = (promise.diameter, promise.mean_distance);
        let exact = matches!(claims, (PromisedValue::Exact(_), PromisedValue::Exact(_)));
        let measured = if exact { None } else { self.measured(offer, watch)? };
        if let Some((diameter, mean)) = measured {
            promise.diameter = PromisedValue::Exact(diameter);
            promise.mean_distance = PromisedValue::Exact(mean);
        }
        let value = |r: ExactFraction| r.num as f64 / r.den as f64;
        let (mean_distance, mean) = match promise.mean_distance {
            PromisedValue::Exact(r) => ([value(r); 2], Some(r)),
            PromisedValue::Between(low, high) => ([value(low), value(high)], None),
        };
        let direct = promise.edge_switches == promise.switches;
        let own = u64::from(promise.planes);
        let per_plane = promise.switches / own;
        let ideal = mean.filter(|_| direct && promise.switches > 1);
        let recipe = in_planes(offer, planes);
        let planes = planes.unwrap_or(promise.planes);
        Ok(FamilyCandidate {
            family: self.family.to_owned(),
            kind: offer.kind.clone(),
            network: recipe.to_string(),
            params: recipe.params,
            planes,
            endpoints: promise.endpoints,
            switches: per_plane * u64::from(planes),
            links: promise.links / own * u64::from(planes),
            radix: promise.radix,
            network_radix: promise.network_radix,
            concentration: promise.endpoints as f64 / (promise.edge_switches / own) as f64,
            full_bandwidth_concentration: ideal
                .map(|mean| NetworkWish::ideal(promise.network_radix, per_plane, mean)),
            diameter: match promise.diameter {
                PromisedValue::Exact(d) => [d; 2],
                PromisedValue::Between(low, high) => [low, high],
            },
            mean_distance,
            moore_fraction: promise.moore_fraction(),
            measured: measured.is_some(),
        })
    }
}

/// The recipe of an offer with this number of planes. A family that has planes by itself gets the
/// number as a parameter.
fn in_planes(offer: &FamilyMemberProposal, planes: Option<u32>) -> NetworkRecipe {
    let Some(planes) = planes.filter(|&planes| planes != offer.promise.planes) else {
        return offer.recipe.clone();
    };
    if offer.promise.planes > 1 {
        let mut params = offer.recipe.params.clone();
        params.insert("planes".into(), planes.into());
        return NetworkRecipe { params, ..offer.recipe.clone() };
    }
    let mut params = Map::new();
    params.insert("planes".into(), planes.into());
    params.insert("of".into(), offer.recipe.to_string().into());
    NetworkRecipe { family: MultiPlane::NAME.to_owned(), params }
}

/// The most unicast LIDs of a subnet: 0x0001 to 0xBFFF (InfiniBand architecture, volume 1, 4.1.3).
pub const UNICAST_LIDS: u64 = 0xBFFF;

/// The largest member of a family with `radix` ports, where an endpoint needs `addresses` LIDs and
/// a switch one: endpoints * addresses + switches <= [`UNICAST_LIDS`].
///
/// Source: the rule behind Table 2 of Blach et al., "A high-performance design, implementation,
/// deployment, and evaluation of the Slim Fly network", NSDI 2024. `None` when no member fits.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn largest_addressed(
    entry: &FamilyEntry,
    radix: u32,
    addresses: u32,
    concentration: ConcentrationRounding,
    watch: &dyn ProgressWatch,
) -> Result<Option<FamilyCandidate>, Interrupted> {
    let most = UNICAST_LIDS / u64::from(addresses.max(1));
    let wish = NetworkWish { endpoints: Some(most), radix, concentration, oversubscription: 1.0 };
    let fits = |o: &FamilyMemberProposal| {
        let lids = o.promise.endpoints.saturating_mul(addresses.into());
        o.promise.radix <= radix
            && o.promise.endpoints > 0
            && lids.saturating_add(o.promise.switches) <= UNICAST_LIDS
    };
    let offers = entry.near(&wish);
    let best = offers
        .iter()
        .filter(|o| fits(o))
        .max_by_key(|o| (o.promise.endpoints, u64::MAX - o.promise.switches));
    let build = |params: &Map<String, Value>| entry.build(params).ok();
    let source =
        FamilyMemberSource { family: entry.part.name, build: &build, known: Mutex::default() };
    best.map(|o| source.candidate(o, None, watch)).transpose()
}

/// A row of a published table of Slim Fly sizes, in which `q` may be any whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PublishedSlimFlySize {
    /// Any whole number; a Slim Fly exists only where it is a prime power other than 2.
    pub q: u32,
    /// Switches, 2 q^2.
    pub switches: u64,
    /// Endpoints.
    pub endpoints: u64,
    /// Network radix, (3 q - d) / 2.
    pub network_radix: u32,
    /// Endpoints per switch, half the network radix rounded up.
    pub concentration: u32,
    /// Whether a Slim Fly of this q exists.
    pub exists: bool,
}

/// As [`largest_addressed`] for Slim Fly, by the rule of the published table: q may be any whole
/// number except those of the form 4 w + 2, where the formula counts as if q were even (d = 0).
pub fn paper_cell(radix: u32, addresses: u32) -> Option<PublishedSlimFlySize> {
    let cell = |q: u32| {
        let d = match q % 4 {
            1 => 1,
            3 => -1,
            _ => 0,
        };
        let network_radix = ((3 * i64::from(q) - d) / 2) as u32;
        let (switches, concentration) =
            (2 * u64::from(q) * u64::from(q), network_radix.div_ceil(2));
        PublishedSlimFlySize {
            q,
            switches,
            endpoints: switches * u64::from(concentration),
            network_radix,
            concentration,
            exists: q > 2 && q % 4 != 2 && base::field::prime_power(q).is_some(),
        }
    };
    let fits = |c: &PublishedSlimFlySize| {
        c.network_radix + c.concentration <= radix
            && c.endpoints * u64::from(addresses) + c.switches <= UNICAST_LIDS
    };
    (2..=256).rev().map(cell).find(fits)
}

/// The families called `names`, or all of them when there is none.
///
/// # Errors
/// When there is no family of a name; the refusal lists those that exist.
pub fn chosen(names: &[String]) -> Result<Vec<&'static FamilyEntry>, Refusal> {
    if names.is_empty() {
        return Ok(families::FAMILIES.iter().collect());
    }
    names.iter().map(|name| families::family(name)).collect()
}
