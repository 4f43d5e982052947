//! A row of the table of families: the functions of one family behind one type.

use crate::family::Family;
use crate::need::NetworkNeed;
use crate::promise::FamilyPromise;
use crate::wish::NetworkWish;
use base::Refusal;
use base::part::PartDescription;
use fabric::geometry::NetworkGeometry;
use fabric::network::{GBPS, NetworkRecipe, Topology, take_gbps};
use serde_json::{Map, Value};

/// A row of the table of families: one family with its functions.
pub struct FamilyEntry {
    /// The family's name, description and parameters.
    pub part: PartDescription,
    examples: fn() -> Vec<NetworkRecipe>,
    geometry: fn(Value) -> Result<NetworkGeometry, Refusal>,
    promise: fn(Value) -> Result<FamilyPromise, Refusal>,
    counts: fn(Value) -> Result<FamilyPromise, Refusal>,
    build: fn(Value) -> Result<Topology, Refusal>,
    notes: fn(Value) -> Result<Vec<String>, Refusal>,
    general_form: fn(Value) -> Result<Option<NetworkRecipe>, Refusal>,
    near: fn(&NetworkWish) -> Vec<FamilyMemberProposal>,
    carrying: fn(&NetworkNeed) -> Vec<FamilyMemberProposal>,
}

/// A member of a family that is offered to somebody who wishes for a network.
#[derive(Debug, Clone)]
pub struct FamilyMemberProposal {
    /// The family and the parameters of the member.
    pub recipe: NetworkRecipe,
    /// The kind of the member within the family, such as `3 levels`; often empty.
    pub kind: String,
    /// The promise of the member.
    pub promise: FamilyPromise,
}

impl FamilyEntry {
    /// The row of family `F`.
    pub const fn of<F: Family>() -> Self {
        Self {
            part: PartDescription::of::<F>(F::NAME),
            examples: || F::examples().iter().map(recipe).collect(),
            geometry: |params| Ok(parse::<F>(&params)?.geometry()),
            promise: |params| parse::<F>(&params)?.promise(),
            build: |params| {
                let family = parse::<F>(&params)?;
                let promise = family.promise()?;
                within_limits(&promise)?;
                let built = family.build()?.finish(recipe(&family))?;
                let built = built.with_geometry(family.geometry());
                Ok(if promise.vertex_transitive {
                    built.declared_vertex_transitive()
                } else {
                    built
                })
            },
            notes: |params| Ok(parse::<F>(&params)?.notes()),
            general_form: |params| Ok(parse::<F>(&params)?.general_form()),
            counts: |params| parse::<F>(&params)?.counts(),
            near: |wish| proposals(&F::near(wish), F::promise),
            carrying: |need| proposals(&F::carrying(need), F::counts),
        }
    }

    /// Small members of every kind of the family.
    pub fn examples(&self) -> Vec<NetworkRecipe> {
        (self.examples)()
    }

    /// The geometry of the member with these parameters: what its coordinates, groups and levels
    /// mean.
    ///
    /// # Errors
    /// When a parameter is unknown, missing or of the wrong type.
    pub fn geometry(&self, params: &Map<String, Value>) -> Result<NetworkGeometry, Refusal> {
        self.apply(params, self.geometry).map(|(geometry, _)| geometry)
    }

    /// The promise of the member with these parameters.
    ///
    /// # Errors
    /// When a parameter is unknown, missing, of the wrong type, or names no member.
    pub fn promise(&self, params: &Map<String, Value>) -> Result<FamilyPromise, Refusal> {
        self.apply(params, self.promise).map(|(promise, _)| promise)
    }

    /// The network with these parameters, with cables of the rate `gbps` where that is among them.
    ///
    /// # Errors
    /// As [`FamilyEntry::promise`].
    pub fn build(&self, params: &Map<String, Value>) -> Result<Topology, Refusal> {
        let (built, gbps) = self.apply(params, self.build)?;
        let Some(gbps) = gbps else { return Ok(built) };
        built.with_gbps(gbps).map_err(|r| r.within(self.part.name))
    }

    /// What a user should know of the member with these parameters: [`Family::notes`].
    ///
    /// # Errors
    /// When a parameter is unknown, missing or of the wrong type.
    pub fn notes(&self, params: &Map<String, Value>) -> Result<Vec<String>, Refusal> {
        self.apply(params, self.notes).map(|(notes, _)| notes)
    }

    /// What a function of the family says of the member with these parameters, and the rate among
    /// them, which every family has besides its own parameters.
    fn apply<T>(
        &self,
        params: &Map<String, Value>,
        of: fn(Value) -> Result<T, Refusal>,
    ) -> Result<(T, Option<f64>), Refusal> {
        let mut own = params.clone();
        let gbps = take_gbps(&mut own);
        let found = gbps.and_then(|gbps| Ok((of(Value::Object(own))?, gbps)));
        found.map_err(|r| r.within(self.part.name))
    }

    /// The member with these parameters in its most general form: [`Family::general_form`], or the
    /// member itself.
    ///
    /// # Errors
    /// When a parameter is unknown, missing or of the wrong type.
    pub fn general_form(&self, params: &Map<String, Value>) -> Result<NetworkRecipe, Refusal> {
        let form = (self.general_form)(Value::Object(params.clone()));
        let own = || NetworkRecipe { family: self.part.name.to_owned(), params: params.clone() };
        Ok(form.map_err(|r| r.within(self.part.name))?.unwrap_or_else(own))
    }

    /// The members that the family offers for a wish: [`Family::near`].
    pub fn near(&self, wish: &NetworkWish) -> Vec<FamilyMemberProposal> {
        (self.near)(wish)
    }

    /// The members that carry a need within its ports: those of [`Family::carrying`], with no more
    /// endpoints on a switch (parameter `p`) than the need takes. Their promises are those of
    /// [`Family::counts`].
    pub fn carrying(&self, need: &NetworkNeed) -> Vec<FamilyMemberProposal> {
        let fits = |offer: &FamilyMemberProposal| {
            offer.promise.radix <= need.wish.radix && offer.promise.endpoints >= need.endpoints
        };
        let offers = (self.carrying)(need).into_iter();
        offers.filter_map(|offer| self.reduced(offer, need)).filter(fits).collect()
    }

    /// The offer with as many endpoints on a switch as the need takes.
    fn reduced(
        &self,
        mut offer: FamilyMemberProposal,
        need: &NetworkNeed,
    ) -> Option<FamilyMemberProposal> {
        let Some(p) = offer.recipe.params.get("p").and_then(Value::as_u64) else {
            return Some(offer);
        };
        if p < 2 || !offer.promise.endpoints.is_multiple_of(p) {
            return Some(offer);
        }
        let least = need.per_switch(offer.promise.endpoints / p).max(1);
        if least < p {
            offer.recipe.params.insert("p".into(), least.into());
            offer.promise = (self.counts)(Value::Object(offer.recipe.params.clone())).ok()?;
        }
        Some(offer)
    }
}

/// Members with their promises; those that do not exist are left out.
fn proposals<F: Family>(
    members: &[F],
    promise: fn(&F) -> Result<FamilyPromise, Refusal>,
) -> Vec<FamilyMemberProposal> {
    let offer = |member: &F| {
        let promise = promise(member).ok()?;
        Some(FamilyMemberProposal { recipe: recipe(member), kind: member.kind(), promise })
    };
    members.iter().filter_map(offer).collect()
}

/// The most links that a network may have to be built: for larger networks memory, not time, is the
/// limit.
const MAX_LINKS: u64 = 1 << 26;

fn within_limits(promise: &FamilyPromise) -> Result<(), Refusal> {
    let most = promise.links.max(promise.endpoints).max(promise.switches);
    if most <= MAX_LINKS {
        return Ok(());
    }
    let why = format!("{} links, {} endpoints", promise.links, promise.endpoints);
    Err(Refusal::new(
        "",
        format!("the network is too large: {why}"),
        format!("at most {MAX_LINKS} of each"),
    ))
}

fn parse<F: Family>(params: &Value) -> Result<F, Refusal> {
    base::fields::typed(params).map_err(|(field, why)| {
        let own = base::taken::taken::<F>(F::NAME, &field);
        let unknown = why.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
        let help = match unknown {
            Some(word) => {
                let near = base::words::did_you_mean(word, [GBPS]);
                format!("{near}{own}; every family takes {GBPS}")
            }
            None => own,
        };
        Refusal::new(field, why, help)
    })
}

pub(crate) fn recipe<F: Family>(family: &F) -> NetworkRecipe {
    let params = match serde_json::to_value(family) {
        Ok(Value::Object(params)) => params.into_iter().filter(|(_, v)| !v.is_null()).collect(),
        _ => Map::new(),
    };
    NetworkRecipe { family: F::NAME.to_owned(), params }
}
