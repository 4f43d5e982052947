//! What a routing function of `BookSim` is: a guide that says all that it could want.

use base::Refusal;
use base::words::did_you_mean;
use paths::guide::{Guide, OutputRequest, lanes};
use paths::wiring::{Attachment, CableEnd, Wiring};

/// The position of a packet, as far as a guide needs it to list all possible steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExploredPosition {
    /// The router.
    pub router: u32,
    /// The port that it came in by; none at its first router.
    pub in_port: Option<u16>,
    /// The virtual channels that it may have come in on.
    pub lanes: u32,
    /// The guide's note.
    pub note: u32,
    /// The router that it goes to, with this note: the last one or an intermediate one.
    pub goal: u32,
}

/// A step that a packet may take next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PossibleStep {
    /// The channels on which the packet may have come in where this follows, a bit each.
    pub on: u32,
    /// What it wants.
    pub want: OutputRequest,
    /// The note that it leaves with.
    pub note: u32,
}

/// A guide that says all that it could want, whatever is drawn and however full buffers are.
///
/// A packet has a note all along. With some notes it goes to an intermediate router, its goal, and
/// takes another note there; with the others it goes to its last router.
pub trait ExploredGuide: Guide {
    /// Appends the notes with which a packet may start at `source` for `goal`, another router.
    fn starts(&self, source: u32, goal: u32, found: &mut Vec<u32>);

    /// The note that a packet goes on with at its goal; none where that is its last router.
    fn then(&self, note: u32) -> Option<u32> {
        let _ = note;
        None
    }

    /// Appends all that may follow at a router that is not the goal.
    fn steps(&self, at: &ExploredPosition, found: &mut Vec<PossibleStep>);
}

/// A refusal of a name that is none of `names`.
pub(super) fn unknown(name: &str, names: &[&str]) -> Refusal {
    let help =
        did_you_mean(name, names.iter().copied()) + &format!("there are {}", names.join(", "));
    Refusal::new("routing_function", format!("there is no {name} here"), help)
}

pub(super) fn few(vcs: u8, least: u32, name: &str) -> Result<(), Refusal> {
    if u32::from(vcs) < least {
        let why = format!("{vcs} are too few for {name}");
        return Err(Refusal::new("num_vcs", why, format!("at least {least}")));
    }
    Ok(())
}

/// The virtual channels and their two halves; of an odd number both have the middle one.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChannelHalves {
    pub(super) count: u8,
    pub(super) all: u32,
    pub(super) lower: u32,
    pub(super) upper: u32,
}

impl ChannelHalves {
    pub(super) fn new(count: u8) -> Self {
        let half = count / 2;
        let (all, lower) = (lanes(0, count - 1), lanes(0, count - 1 - half));
        Self { count, all, lower, upper: lanes(half, count - 1) }
    }

    /// Whether a channel is below the upper half: how later routers read what the first chose.
    pub(super) fn is_low(self, lane: u8) -> bool {
        lane < self.count / 2
    }

    /// The channels that [`Self::is_low`].
    pub(super) fn low(self) -> u32 {
        self.all & !self.upper
    }
}

/// The router and port of each endpoint, and the number of endpoints on each router.
#[derive(Debug, Clone)]
pub(super) struct EndpointPlaces {
    pub(super) at: Vec<Attachment>,
    pub(super) on: Vec<u16>,
}

impl EndpointPlaces {
    pub(super) fn of(wiring: &Wiring) -> Self {
        let mine =
            |r: u32| wiring.ports(r).iter().filter(|p| matches!(p.end, CableEnd::Endpoint(_)));
        let on = (0..wiring.routers()).map(|r| mine(r).count() as u16).collect();
        Self { at: wiring.endpoints().to_vec(), on }
    }

    #[inline]
    pub(super) fn router(&self, endpoint: u32) -> u32 {
        self.at[endpoint as usize].router
    }

    #[inline]
    pub(super) fn port(&self, endpoint: u32) -> u16 {
        self.at[endpoint as usize].port
    }
}

#[inline]
pub(super) fn want(port: u16, lanes: u32) -> OutputRequest {
    OutputRequest { port, lanes, rank: 0 }
}
