//! Why packets of CODES' dialects never wait in a circle: their channels are of few kinds, and a
//! packet in a channel of one kind wants next one of a later kind.
//!
//! Source: Dally & Seitz, "Deadlock-free message routing in multiprocessor interconnection
//! networks", IEEE Transactions on Computers C-36(5), 1987.

use super::event::Sender;
use super::plant::{Class, Plant};
use super::route::Route;
use base::Refusal;

/// What a channel between routers is, besides its virtual channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leads {
    /// Anywhere.
    On,
    /// To another router of the group; of two levels, up.
    Near,
    /// Down to a router with endpoints.
    Down,
    /// To another group.
    Across,
}

/// A kind of channels between routers: where they lead, and their virtual channel.
pub(super) type Kind = (Leads, u8);

/// Which kinds a packet may want next, by the kind that it is in.
pub(super) type Steps = &'static [(Kind, &'static [Kind])];

impl Route {
    /// The steps of a dialect, and the kinds of its first channels; none of guides, which are
    /// proved elsewhere.
    fn steps(&self) -> Option<(&'static [Kind], Steps)> {
        match self {
            Self::Guided(_) => None,
            Self::SlimFly(_) => Some((super::slim_fly::FIRST, super::slim_fly::STEPS)),
            Self::Dally(_) => Some((super::dally::FIRST, super::dally::STEPS)),
            Self::DfPlus(_) => Some((super::dfplus::FIRST, super::dfplus::STEPS)),
        }
    }

    /// The kind of a channel that leaves a router; none where it leads to an endpoint.
    fn kind(&self, plant: &Plant, router: u32, port: u16, lane: u8) -> Option<Kind> {
        let leads = match (self, plant.behind(router, port).class) {
            (_, Class::Endpoint) => return None,
            (Self::Guided(_) | Self::SlimFly(_), _) => Leads::On,
            (_, Class::Global) => Leads::Across,
            (Self::DfPlus(route), Class::Local) if !route.is_leaf(router) => Leads::Down,
            (_, Class::Local) => Leads::Near,
        };
        Some((leads, lane))
    }

    /// Whether a packet that came from `sender` may go on by this channel, as the steps have it.
    pub(super) fn follows(&self, plant: &Plant, sender: Sender, at: u32, to: (u16, u8)) -> bool {
        let Some((first, steps)) = self.steps() else { return true };
        let Some(next) = self.kind(plant, at, to.0, to.1) else { return true };
        if sender.lp >= plant.routers {
            return first.contains(&next);
        }
        let last = self.kind(plant, sender.lp, sender.port, sender.lane);
        steps.iter().any(|(kind, after)| Some(*kind) == last && after.contains(&next))
    }
}

/// Proves that the steps of a route have no circle, and that routers have all virtual channels
/// that they need.
///
/// # Errors
/// When routers have fewer.
///
/// # Panics
/// When there is a circle: the steps are constants of a dialect.
pub(super) fn check_order(route: &Route, plant: &Plant) -> Result<(), Refusal> {
    let Some((first, steps)) = route.steps() else { return Ok(()) };
    let mut ended: Vec<Kind> = Vec::new();
    // kinds whose next ones have all ended end too; all end where there is no circle
    loop {
        let ends = |kinds: &[Kind]| kinds.iter().all(|kind| ended.contains(kind));
        let next = steps.iter().find(|(kind, after)| !ended.contains(kind) && ends(after));
        match next {
            Some((kind, _)) => ended.push(*kind),
            None => break,
        }
    }
    let all = steps.iter().all(|(kind, _)| ended.contains(kind));
    assert!(all && first.iter().all(|kind| ended.contains(kind)), "a circle among {steps:?}");
    let lanes = steps.iter().map(|((_, lane), _)| u32::from(*lane) + 1).max().unwrap_or(1);
    if plant.lanes >= lanes {
        return Ok(());
    }
    let why = format!("{} virtual channels", plant.lanes);
    Err(Refusal::new("router.virtual_channels", why, format!("{lanes} or more in this dialect")))
}
