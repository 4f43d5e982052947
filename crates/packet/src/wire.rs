//! Byte encoding of events and statistics, for runs over several MPI ranks.

use super::ended::{BusyRouterPort, FinalRunState, PortUse};
use super::event::{ChunkSender, Event, PacketChunk};
use super::replay::ProcessTimes;
use super::tally::{ArrivalStatistics, ArrivalSums, TimeHistogram, TimeSpanArrivals};
use super::window::MeasuredWindow;
use des::WireEncodable;
use message::UnfinishedOperations;

impl WireEncodable for Event {
    #[inline]
    fn put(&self, into: &mut Vec<u8>) {
        match *self {
            Self::Arrives(packet, sender) => {
                0_u8.put(into);
                packet.put(into);
                sender.put(into);
            }
            Self::Credit { bytes, port, lane } => {
                1_u8.put(into);
                bytes.put(into);
                port.put(into);
                lane.put(into);
            }
            Self::Sends { port } => {
                2_u8.put(into);
                port.put(into);
            }
            Self::Creates(class) => (3_u8, class).put(into),
            Self::Schedules(class) => (4_u8, class).put(into),
            Self::Queues(packet, class) => {
                5_u8.put(into);
                packet.put(into);
                class.put(into);
            }
            Self::Enters(message) => (6_u8, message).put(into),
            Self::Taken(message) => (7_u8, message).put(into),
            Self::Copied(message) => (8_u8, message).put(into),
            Self::Ends(op) => (9_u8, op).put(into),
            Self::Done => 10_u8.put(into),
            Self::Over => 11_u8.put(into),
        }
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Arrives(PacketChunk::take(from)?, ChunkSender::take(from)?),
            1 => Self::Credit {
                bytes: u32::take(from)?,
                port: u16::take(from)?,
                lane: u8::take(from)?,
            },
            2 => Self::Sends { port: u16::take(from)? },
            3 => Self::Creates(u8::take(from)?),
            4 => Self::Schedules(u8::take(from)?),
            5 => Self::Queues(PacketChunk::take(from)?, u8::take(from)?),
            6 => Self::Enters(u32::take(from)?),
            7 => Self::Taken(u32::take(from)?),
            8 => Self::Copied(u32::take(from)?),
            9 => Self::Ends(u32::take(from)?),
            10 => Self::Done,
            11 => Self::Over,
            _ => return None,
        })
    }
}

impl WireEncodable for FinalRunState {
    fn put(&self, into: &mut Vec<u8>) {
        self.digest.put(into);
        self.busiest.put(into);
        self.waits.put(into);
        self.links.put(into);
        self.times.put(into);
        let UnfinishedOperations { stuck, sends, receives, messages } = &self.left;
        for operations in [stuck, sends, receives, messages] {
            operations.put(into);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let digest = WireEncodable::take(from)?;
        let busiest = WireEncodable::take(from)?;
        let waits = WireEncodable::take(from)?;
        let links = WireEncodable::take(from)?;
        let times = WireEncodable::take(from)?;
        let stuck = WireEncodable::take(from)?;
        let sends = WireEncodable::take(from)?;
        let receives = WireEncodable::take(from)?;
        let messages = WireEncodable::take(from)?;
        let left = UnfinishedOperations { stuck, sends, receives, messages };
        Some(Self { digest, busiest, waits, links, times, left })
    }
}

/// Implements [`WireEncodable`] for records: the fields are written one after the other.
macro_rules! wire_fields {
    ($($of:ty { $($field:ident),* })*) => {$(
        impl WireEncodable for $of {
            #[inline]
            fn put(&self, into: &mut Vec<u8>) {
                $(self.$field.put(into);)*
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                $(let $field = WireEncodable::take(from)?;)*
                Some(Self { $($field),* })
            }
        }
    )*};
}

wire_fields! {
    PacketChunk {
        created_ps, began_ps, word, tail_ps, from, to, bytes, message, hops, rail, is_detour,
        is_last
    }
    ChunkSender { lp, port, lane }
    BusyRouterPort { busy_ps, router, port }
    PortUse { router, port, bytes, busy_ps, most, blocked_ps, since_ps }
    ProcessTimes { rank, end_ps, communication_ps, calculated_ps }
    TimeHistogram { count, sum_ps, max_ps, buckets }
    ArrivalSums { chunks, messages, bytes, hops, detours, overtaken, last_ps }
    TimeSpanArrivals { chunks, bytes, latency_ps }
    MeasuredWindow { start_ps, end_ps }
    ArrivalStatistics { jobs, series, span_ps, arrived, window }
}
