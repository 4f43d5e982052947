//! A flit as one word of 64 bits, and the positions of its fields.

use base::Refusal;

/// The bit that marks the last flit of a packet.
pub const TAIL: u64 = 1;
/// The bit that marks the first flit of a packet.
pub const HEAD: u64 = 2;
/// The bit that marks the flits of a packet that statistics count.
pub const COUNTED: u64 = 4;
const HOPS_AT: u32 = 3;
const HOPS_BITS: u32 = 8;
/// The number to add to a flit for one more router that it has visited.
pub const HOP: u64 = 1 << HOPS_AT;
const NOTE_AT: u32 = HOPS_AT + HOPS_BITS;
/// The number of bits of the note.
const NOTE_BITS: u32 = 5;
const TARGET_AT: u32 = NOTE_AT + NOTE_BITS;

/// The largest number of routers that a packet may visit.
pub const MOST_HOPS: u32 = (1 << HOPS_BITS) - 1;

/// The widths and positions of the fields of a flit.
///
/// The fields from the lowest bit on: tail, head, counted (1 bit each), routers visited (8), the
/// guide's note (5), the target, the class, the intermediate router where the guide uses one, the
/// cycle of entering the network, and the cycle of injection in all remaining bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlitLayout {
    target_bits: u32,
    class_at: u32,
    class_bits: u32,
    via_at: u32,
    via_bits: u32,
    entry_at: u32,
    entry_bits: u32,
    injected_at: u32,
}

fn bits_for(values: u32) -> u32 {
    u32::BITS - values.saturating_sub(1).leading_zeros()
}

fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl FlitLayout {
    /// The layout for these numbers of endpoints, of traffic classes and of values that guides
    /// write as `via`, with `entry_bits` bits for the cycle of entering the network.
    ///
    /// # Errors
    /// When the bits left for cycles of injection are too few for a run of `cycles` cycles.
    pub fn new(
        endpoints: u32,
        classes: u32,
        vias: u32,
        entry_bits: u32,
        cycles: u64,
    ) -> Result<Self, Refusal> {
        let (target_bits, class_bits, via_bits) =
            (bits_for(endpoints), bits_for(classes), bits_for(vias));
        let class_at = TARGET_AT + target_bits;
        let via_at = class_at + class_bits;
        let entry_at = via_at + via_bits;
        let injected_at = entry_at + entry_bits;
        if injected_at > 56 || cycles >> (64 - injected_at) != 0 {
            let why = format!("{cycles} cycles on {endpoints} endpoints");
            let most = 1_u64 << 64_u32.saturating_sub(injected_at).min(63);
            let help = format!("fewer than {most} cycles: a flit has bits for no more");
            return Err(Refusal::new("run", why, help));
        }
        Ok(Self {
            target_bits,
            class_at,
            class_bits,
            via_at,
            via_bits,
            entry_at,
            entry_bits,
            injected_at,
        })
    }

    /// The word for the flits of a packet, without the bits of tail and head; `injected` is the
    /// cycle of injection.
    #[inline]
    pub fn packet(&self, target: u32, class: u32, injected: u64) -> u64 {
        u64::from(target) << TARGET_AT
            | u64::from(class) << self.class_at
            | injected << self.injected_at
    }

    /// The endpoint that a flit goes to.
    #[inline]
    pub fn target(&self, flit: u64) -> u32 {
        (flit >> TARGET_AT & mask(self.target_bits)) as u32
    }

    /// The class of traffic of a flit.
    #[inline]
    pub fn class(&self, flit: u64) -> u32 {
        (flit >> self.class_at & mask(self.class_bits)) as u32
    }

    /// The number of cycles from a packet's injection to `now`.
    #[inline]
    pub fn age(&self, flit: u64, now: u64) -> u64 {
        now.wrapping_sub(flit >> self.injected_at) & mask(64 - self.injected_at)
    }
}

impl FlitLayout {
    /// The flit with `now` as its cycle of entering the network.
    pub fn entered(&self, flit: u64, now: u32) -> u64 {
        let bits = mask(self.entry_bits);
        flit & !(bits << self.entry_at) | (u64::from(now) & bits) << self.entry_at
    }

    /// The number of cycles since the flit entered the network, modulo 2^`entry_bits`.
    pub fn time_inside(&self, flit: u64, now: u32) -> u32 {
        u64::from(now).wrapping_sub(flit >> self.entry_at) as u32 & mask(self.entry_bits) as u32
    }
}

/// The number of routers that a flit has left.
#[inline]
pub fn hops(flit: u64) -> u32 {
    (flit >> HOPS_AT & mask(HOPS_BITS)) as u32
}

/// A view of the first flit of a packet, which guides read and write.
#[derive(Debug)]
pub struct PacketHeader<'a> {
    flit: &'a mut u64,
    layout: &'a FlitLayout,
}

impl<'a> PacketHeader<'a> {
    /// The view of a packet's first flit.
    #[inline]
    pub fn new(flit: &'a mut u64, layout: &'a FlitLayout) -> Self {
        Self { flit, layout }
    }

    /// The endpoint that the packet goes to.
    #[inline]
    pub fn target(&self) -> u32 {
        self.layout.target(*self.flit)
    }

    /// The packet's class of traffic.
    #[inline]
    pub fn class(&self) -> u32 {
        self.layout.class(*self.flit)
    }

    /// The number of routers that the packet has left: 0 at the first.
    #[inline]
    pub fn hops(&self) -> u32 {
        hops(*self.flit)
    }

    /// The note that the guide wrote last, below 32; 0 at first.
    #[inline]
    pub fn note(&self) -> u32 {
        (*self.flit >> NOTE_AT & mask(NOTE_BITS)) as u32
    }

    /// Writes the guide's note, below 32.
    #[inline]
    pub fn set_note(&mut self, note: u32) {
        debug_assert!(note < 1 << NOTE_BITS);
        *self.flit = *self.flit & !(mask(NOTE_BITS) << NOTE_AT) | u64::from(note) << NOTE_AT;
    }

    /// The `via` that the guide wrote, below [`super::guide::RoutingGuide::vias`]; 0 at first.
    #[inline]
    pub fn via(&self) -> u32 {
        (*self.flit >> self.layout.via_at & mask(self.layout.via_bits)) as u32
    }

    /// Writes the guide's `via`: an intermediate router, or an endpoint.
    #[inline]
    pub fn set_via(&mut self, via: u32) {
        let at = self.layout.via_at;
        debug_assert!(u64::from(via) <= mask(self.layout.via_bits));
        *self.flit = *self.flit & !(mask(self.layout.via_bits) << at) | u64::from(via) << at;
    }
}
