//! A flit as one word of 64 bits, and where its fields are.

use base::Refusal;

/// Bit of the last flit of a packet.
pub const TAIL: u64 = 1;
/// Bit of the first flit of a packet.
pub const HEAD: u64 = 2;
/// Bit of a packet that statistics count.
pub const COUNTED: u64 = 4;
const HOPS_AT: u32 = 3;
const HOPS_BITS: u32 = 8;
/// One router more.
pub const HOP: u64 = 1 << HOPS_AT;
const NOTE_AT: u32 = HOPS_AT + HOPS_BITS;
/// Bits of the note.
const NOTE_BITS: u32 = 5;
const TARGET_AT: u32 = NOTE_AT + NOTE_BITS;

/// Most routers that a packet may come through.
pub const MOST_HOPS: u32 = (1 << HOPS_BITS) - 1;

/// How many bits the fields of a network's flits have.
///
/// From the lowest: tail, head, counted (1 bit each), routers visited (8), the guide's note (5),
/// the target, the class, the router on the way where the guide has one, and the cycle of birth in
/// all that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    target_bits: u32,
    class_at: u32,
    class_bits: u32,
    via_at: u32,
    via_bits: u32,
    entry_at: u32,
    entry_bits: u32,
    birth_at: u32,
}

fn bits_for(values: u32) -> u32 {
    u32::BITS - values.saturating_sub(1).leading_zeros()
}

fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl Layout {
    /// For this many endpoints, classes of traffic and numbers that guides write as `via`, with
    /// so many bits of the cycle of entering the network.
    ///
    /// # Errors
    /// When births would be ambiguous in a run of `cycles` cycles.
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
        let birth_at = entry_at + entry_bits;
        if birth_at > 56 || cycles >> (64 - birth_at) != 0 {
            let why = format!("{cycles} cycles on {endpoints} endpoints");
            let most = 1_u64 << 64_u32.saturating_sub(birth_at).min(63);
            let help = format!("fewer than {most} cycles: births have no more bits in a flit");
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
            birth_at,
        })
    }

    /// The bits of a packet's flits: all but tail and head.
    #[inline]
    pub fn packet(&self, target: u32, class: u32, birth: u64) -> u64 {
        u64::from(target) << TARGET_AT | u64::from(class) << self.class_at | birth << self.birth_at
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

    /// Cycles from a packet's birth to `now`.
    #[inline]
    pub fn age(&self, flit: u64, now: u64) -> u64 {
        now.wrapping_sub(flit >> self.birth_at) & mask(64 - self.birth_at)
    }
}

impl Layout {
    /// The flit as one that enters the network in cycle `now`.
    pub fn entered(&self, flit: u64, now: u32) -> u64 {
        let bits = mask(self.entry_bits);
        flit & !(bits << self.entry_at) | (u64::from(now) & bits) << self.entry_at
    }

    /// Cycles since it entered the network, as far as its bits tell.
    pub fn time_inside(&self, flit: u64, now: u32) -> u32 {
        u64::from(now).wrapping_sub(flit >> self.entry_at) as u32 & mask(self.entry_bits) as u32
    }
}

/// Routers that a flit has left.
#[inline]
pub fn hops(flit: u64) -> u32 {
    (flit >> HOPS_AT & mask(HOPS_BITS)) as u32
}

/// The first flit of a packet, as guides read it and write into it.
#[derive(Debug)]
pub struct Packet<'a> {
    flit: &'a mut u64,
    layout: &'a Layout,
}

impl<'a> Packet<'a> {
    /// The packet of a first flit.
    #[inline]
    pub fn new(flit: &'a mut u64, layout: &'a Layout) -> Self {
        Self { flit, layout }
    }

    /// The endpoint that it goes to.
    #[inline]
    pub fn target(&self) -> u32 {
        self.layout.target(*self.flit)
    }

    /// Its class of traffic.
    #[inline]
    pub fn class(&self) -> u32 {
        self.layout.class(*self.flit)
    }

    /// Routers that it has left: 0 at the first.
    #[inline]
    pub fn hops(&self) -> u32 {
        hops(*self.flit)
    }

    /// What the guide wrote down last, below 32; 0 at first.
    #[inline]
    pub fn note(&self) -> u32 {
        (*self.flit >> NOTE_AT & mask(NOTE_BITS)) as u32
    }

    /// Writes a note down, below 32.
    #[inline]
    pub fn set_note(&mut self, note: u32) {
        debug_assert!(note < 1 << NOTE_BITS);
        *self.flit = *self.flit & !(mask(NOTE_BITS) << NOTE_AT) | u64::from(note) << NOTE_AT;
    }

    /// The number that the guide wrote down, below [`super::guide::Guide::vias`]; 0 at first.
    #[inline]
    pub fn via(&self) -> u32 {
        (*self.flit >> self.layout.via_at & mask(self.layout.via_bits)) as u32
    }

    /// Writes a number down: a router or an endpoint on the way.
    #[inline]
    pub fn set_via(&mut self, via: u32) {
        let at = self.layout.via_at;
        debug_assert!(u64::from(via) <= mask(self.layout.via_bits));
        *self.flit = *self.flit & !(mask(self.layout.via_bits) << at) | u64::from(via) << at;
    }
}
