//! The trait of families of networks: parameters, promise and construction.

use crate::need::NetworkNeed;
use crate::promise::FamilyPromise;
use crate::wish::NetworkWish;
use base::Refusal;
use fabric::geometry::NetworkGeometry;
use fabric::network::{NetworkRecipe, TopologyBuilder};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A family of networks; its value holds the parameters of one member.
///
/// The struct's doc comment and its fields' become the reference page, the Python function and the
/// schema. Unknown parameters are refused (`#[serde(deny_unknown_fields)]`).
pub trait Family: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The name users type.
    const NAME: &'static str;

    /// The meaning of the coordinates, groups and levels of its switches. By default, switches of
    /// one group belong together.
    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::default()
    }

    /// The members that the conformance tests build: small, and one of every kind.
    fn examples() -> Vec<Self>;

    /// The properties of this member, by formula.
    ///
    /// # Errors
    /// When no such member exists; the refusal names the parameter and what would be valid.
    fn promise(&self) -> Result<FamilyPromise, Refusal>;

    /// The promise with bounds in place of distances that take counting; the counts are those of
    /// [`Family::promise`], which it is by default.
    ///
    /// # Errors
    /// As [`Family::promise`].
    fn counts(&self) -> Result<FamilyPromise, Refusal> {
        self.promise()
    }

    /// The network's switches, links and endpoints.
    ///
    /// # Errors
    /// As [`Family::promise`].
    fn build(&self) -> Result<TopologyBuilder, Refusal>;

    /// Members that may fit a wish; the sizing command chooses among them by their promises.
    ///
    /// Among the members with at most the wished ports and with the wished concentration, the list
    /// must contain, if they exist, the largest one with at most as many endpoints as wished and
    /// the smallest one with at least as many; where the wish names no number of endpoints, the
    /// largest of all. Members that do not fit are dropped later, so a family may simply list its
    /// members along their natural parameter. Families that are not built for bandwidth (rings,
    /// trees) offer none, which is the default.
    fn near(_wish: &NetworkWish) -> Vec<Self> {
        Vec::new()
    }

    /// Members among which the cheapest that carries a need is.
    ///
    /// All that the family's rule of bandwidth admits may be offered, also with fewer endpoints a
    /// switch than the rule allows; a parameter `p` that is larger than needed is reduced later,
    /// and members that do not carry the need are dropped. By default those of [`Family::near`];
    /// families with parameters beside their natural one search all of them.
    fn carrying(need: &NetworkNeed) -> Vec<Self> {
        Self::near(&need.wish)
    }

    /// The same network as a member of the most general family that has it, in one form: members
    /// of two families that have equal general forms are one network under two names. `None` where
    /// no other family has it.
    fn general_form(&self) -> Option<NetworkRecipe> {
        None
    }

    /// What a user should know of this member beside its figures, a sentence each: that parameters
    /// leave ports without links, for example. Empty by default, and where there is no such member.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The kind of member within the family, where the sizing command should distinguish kinds: `3
    /// levels`, `2D`. Empty by default.
    fn kind(&self) -> String {
        String::new()
    }
}
