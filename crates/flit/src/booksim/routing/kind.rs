//! The trait of `BookSim`'s routing functions: a guide that lists every step that it could choose.

use base::Refusal;
use base::words::did_you_mean;
use paths::guide::{OutputRequest, RoutingGuide, lanes};
use paths::wiring::{CableEnd, EndpointAttachment, RouterWiring};

/// The position of a packet, as far as a guide needs it to list all possible steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutingSearchPosition {
    /// The router that the packet is at.
    pub router: u32,
    /// The port that it came in by; none at its first router.
    pub in_port: Option<u16>,
    /// The virtual channels on which it may have come in, a bit each.
    pub lanes: u32,
    /// The note that the guide keeps with the packet.
    pub note: u32,
    /// The router that it goes to, with this note: the last one or an intermediate one.
    pub goal: u32,
}

/// A step that a packet may take next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PossibleRoutingStep {
    /// The channels, a bit each: the step is possible for a packet that came in on one of them.
    pub on: u32,
    /// The output that the packet requests.
    pub want: OutputRequest,
    /// The packet's note after the step.
    pub note: u32,
}

/// A guide that lists every step that it could choose, whatever is drawn and however full buffers
/// are.
///
/// A packet always has a note. Some notes mean that it goes to an intermediate router, its goal,
/// where it gets another note; the other notes mean that it goes to its last router.
pub trait EnumerableRouting: RoutingGuide {
    /// Appends the notes that a packet at `source` may start with when it goes to `goal`, another
    /// router.
    fn starts(&self, source: u32, goal: u32, found: &mut Vec<u32>);

    /// The note that a packet gets when it reaches its goal; none if the goal was its last router.
    fn then(&self, note: u32) -> Option<u32> {
        let _ = note;
        None
    }

    /// Appends all steps that are possible at a router that is not the goal.
    fn steps(&self, at: &RoutingSearchPosition, found: &mut Vec<PossibleRoutingStep>);
}

/// The refusal of a name that is not one of `names`.
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

/// The virtual channels and their two halves; if their number is odd, both halves contain the
/// middle one.
#[derive(Debug, Clone, Copy)]
pub(super) struct VirtualChannelHalves {
    pub(super) count: u8,
    pub(super) all: u32,
    pub(super) lower: u32,
    pub(super) upper: u32,
}

impl VirtualChannelHalves {
    pub(super) fn new(count: u8) -> Self {
        let half = count / 2;
        let (all, lower) = (lanes(0, count - 1), lanes(0, count - 1 - half));
        Self { count, all, lower, upper: lanes(half, count - 1) }
    }

    /// Whether a channel is below the upper half: later routers know by this what the first router
    /// chose.
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
pub(super) struct EndpointAttachments {
    pub(super) at: Vec<EndpointAttachment>,
    pub(super) on: Vec<u16>,
}

impl EndpointAttachments {
    pub(super) fn of(wiring: &RouterWiring) -> Self {
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
