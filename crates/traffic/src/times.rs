//! Lists of packets with their times, read from text.

use crate::destinations::PacketDestinations;
use crate::sending::{WeightedMessage, working};
use base::words::did_you_mean;
use base::{EndpointId, Refusal};
use fabric::network::Topology;
use std::collections::{BTreeMap, BTreeSet};

/// A packet of one source, with the time of its injection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedPacket {
    /// The cycle in which it is injected.
    pub time_cycles: u64,
    /// The number of the endpoint that receives it.
    pub destination: u32,
    /// Its size in flits.
    pub size_flits: u32,
}

/// The packets of every source, sorted by time; packets of the same time are in the order of their
/// lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedPacketLists {
    starts: Vec<u32>,
    all: Vec<TimedPacket>,
}

/// The words of an optional first line.
const HEADER: [&str; 4] = ["time_cycles", "source", "destination", "size_flits"];
/// The most packets of a list.
const MOST_PACKETS: usize = 1 << 28;
/// Largest size of a packet in flits, and latest cycle.
const MOST_FLITS: u64 = 1 << 20;
const LATEST: u64 = 1 << 48;

impl TimedPacketLists {
    /// Reads lines of `time_cycles source destination size_flits`, separated by blanks or commas,
    /// in any order. Endpoints are names, or numbers from 0. Empty lines and those that begin with
    /// `#` are skipped. O(lines * log(lines)).
    ///
    /// # Errors
    /// When a line is not of this form, or an endpoint does not work; the refusal has the line's
    /// number.
    pub fn parse(text: &str, t: &Topology) -> Result<Self, Refusal> {
        let endpoints = EndpointNameIndex::of(t);
        let mut found: Vec<(u32, TimedPacket)> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let split = |c: char| c == ',' || c.is_whitespace();
            let words: Vec<&str> = line.split(split).filter(|word| !word.is_empty()).collect();
            if found.is_empty() && words == HEADER {
                continue;
            }
            let packet = endpoints.packet(&words);
            found.push(packet.map_err(|r| r.within(&format!("line {number}")))?);
            if found.len() > MOST_PACKETS {
                let why = format!("more than {MOST_PACKETS} packets");
                return Err(Refusal::new("times", why, "a shorter file"));
            }
        }
        if found.is_empty() {
            let help = HEADER.join(" ") + " in every line";
            return Err(Refusal::new("times", "there is no packet", help));
        }
        found.sort_by_key(|(source, packet)| (*source, packet.time_cycles));
        let mut starts = vec![0; t.endpoints().len() + 1];
        for (source, _) in &found {
            starts[*source as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        Ok(Self { starts, all: found.into_iter().map(|(_, packet)| packet).collect() })
    }

    /// The packets of `source`.
    ///
    /// # Panics
    /// When there is no such endpoint.
    pub fn of(&self, source: u32) -> &[TimedPacket] {
        let at = source as usize;
        &self.all[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The number of endpoints that send.
    pub fn senders(&self) -> u32 {
        self.starts.windows(2).filter(|two| two[0] < two[1]).count() as u32
    }

    /// The mean load from cycle 0 to the last injection, in flits per sender and cycle.
    pub fn load(&self) -> f64 {
        let cycles = TimeScaledPackets { packets: self, stretch: 1.0 }.last() + 1;
        self.flits() as f64 / f64::from(self.senders()) / cycles as f64
    }

    /// The distribution of destinations that has the same rates and loads as these packets.
    ///
    /// # Errors
    /// As [`PacketDestinations::of_messages`].
    pub fn destinations(&self) -> Result<PacketDestinations, Refusal> {
        let of = |source: u32| self.of(source).iter().map(move |packet| (source, packet));
        let weighted = |(source, packet): (u32, &TimedPacket)| {
            let (a, b) = (EndpointId(source), EndpointId(packet.destination));
            (a, b, f64::from(packet.size_flits))
        };
        let all: Vec<WeightedMessage> = (0..self.endpoints()).flat_map(of).map(weighted).collect();
        PacketDestinations::of_messages(self.endpoints(), &all)
    }

    /// How many endpoints there are.
    pub fn endpoints(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// How many packets there are.
    pub fn packets(&self) -> usize {
        self.all.len()
    }

    /// The number of flits of all packets.
    pub fn flits(&self) -> u64 {
        self.all.iter().map(|packet| u64::from(packet.size_flits)).sum()
    }
}

/// The packets of a run, with all times multiplied by one factor.
#[derive(Debug, Clone, Copy)]
pub struct TimeScaledPackets<'a> {
    /// The packets.
    pub packets: &'a TimedPacketLists,
    /// The factor: a packet of time t is injected in cycle t times this factor, rounded down.
    pub stretch: f64,
}

impl TimeScaledPackets<'_> {
    /// The cycle in which a packet is injected.
    pub fn cycle(&self, packet: &TimedPacket) -> u64 {
        (packet.time_cycles as f64 * self.stretch) as u64
    }

    /// The cycle of the last injection.
    pub fn last(&self) -> u64 {
        self.packets.all.iter().map(|packet| self.cycle(packet)).max().unwrap_or(0)
    }

    /// The number of flits of all packets that are injected in these cycles. O(packets).
    pub fn flits_injected(&self, cycles: std::ops::Range<u64>) -> u64 {
        let injected =
            self.packets.all.iter().filter(|packet| cycles.contains(&self.cycle(packet)));
        injected.map(|packet| u64::from(packet.size_flits)).sum()
    }
}

/// The endpoints of a network by name.
struct EndpointNameIndex<'a> {
    by_name: BTreeMap<&'a str, u32>,
    working: BTreeSet<EndpointId>,
    count: usize,
}

impl<'a> EndpointNameIndex<'a> {
    fn of(t: &'a Topology) -> Self {
        let names = t.endpoints().iter().map(|e| e.name.as_str());
        let working = working(t).into_iter().collect();
        Self { by_name: names.zip(0..).collect(), working, count: t.endpoints().len() }
    }

    fn packet(&self, words: &[&str]) -> Result<(u32, TimedPacket), Refusal> {
        let &[time, source, destination, size] = words else {
            let why = format!("{} values", words.len());
            return Err(Refusal::new("", why, HEADER.join(" ")));
        };
        let whole = |name: &str, word: &str, least: u64, most: u64| {
            let number = word.parse().ok().filter(|n| (least..=most).contains(n));
            number.ok_or_else(|| {
                Refusal::new(
                    name,
                    format!("'{word}'"),
                    format!("a whole number, {least} to {most}"),
                )
            })
        };
        let time_cycles = whole(HEADER[0], time, 0, LATEST)?;
        let source = self.endpoint(HEADER[1], source)?;
        let destination = self.endpoint(HEADER[2], destination)?;
        let size_flits = whole(HEADER[3], size, 1, MOST_FLITS)? as u32;
        Ok((source, TimedPacket { time_cycles, destination, size_flits }))
    }

    fn endpoint(&self, place: &str, word: &str) -> Result<u32, Refusal> {
        let digits = word.bytes().all(|b| b.is_ascii_digit());
        let number = word.parse().ok().filter(|&n: &u32| digits && (n as usize) < self.count);
        let Some(e) = number.or_else(|| self.by_name.get(word).copied()) else {
            let meant = did_you_mean(word, self.by_name.keys().copied());
            let help = format!("{meant}names, or numbers 0 to {}", self.count.saturating_sub(1));
            return Err(Refusal::new(place, format!("there is no endpoint '{word}'"), help));
        };
        if !self.working.contains(&EndpointId(e)) {
            let why = format!("endpoint '{word}' has no working cable");
            return Err(Refusal::new(place, why, "an endpoint that works"));
        }
        Ok(e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::SwitchId;
    use proptest::prelude::*;
    use serde_json::json;

    fn ring() -> Topology {
        let params = json!({ "n": 4, "p": 1 });
        let params = params.as_object().expect("a table");
        families::family("ring").and_then(|f| f.build(params)).expect("a ring")
    }

    #[test]
    fn packets_are_sorted_by_source_and_time() {
        let t = ring();
        let name = t.endpoints()[3].name.clone();
        let text = format!(
            "time_cycles source destination size_flits\n# a comment\n9 0 1 4\n\n  3,0,2,1\n\
             5 {name} 0 2\r\n3 0 3 7\n"
        );
        let all = TimedPacketLists::parse(&text, &t).expect("packets");
        let packet = |time_cycles, destination, size_flits| TimedPacket {
            time_cycles,
            destination,
            size_flits,
        };
        assert_eq!(all.of(0), [packet(3, 2, 1), packet(3, 3, 7), packet(9, 1, 4)]);
        assert_eq!(all.of(3), [packet(5, 0, 2)]);
        assert!(all.of(1).is_empty() && all.of(2).is_empty());
        assert_eq!((all.endpoints(), all.packets(), all.flits()), (4, 4, 14));
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_line() {
        let t = ring();
        for (text, place) in [
            ("1 0 1", "line 1"),
            ("1 0 1 1\n2 0 4 1", "line 2: destination"),
            ("# x\n-1 0 1 1", "line 2: time_cycles"),
            ("1 nobody 1 1", "line 1: source"),
            ("1 0 1 0", "line 1: size_flits"),
            ("1 0 1 9999999", "line 1: size_flits"),
            ("1 0 1 1 1", "line 1"),
            ("", "times"),
            ("time_cycles source destination size_flits", "times"),
        ] {
            let refused = TimedPacketLists::parse(text, &t).expect_err(text);
            assert!(refused.param == place && !refused.help.is_empty(), "{text}: {refused}");
        }
        let cut = t.with_failures(&[], &[SwitchId(2)]).expect("a failure");
        let refused = TimedPacketLists::parse("1 0 2 1", &cut).expect_err("it failed");
        assert!(refused.why.contains("no working cable"), "{refused}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn any_text_is_read_or_refused(text in "([0-9 ,#x-]{0,12}\n){0,4}") {
            let _ = TimedPacketLists::parse(&text, &ring());
        }
    }
}
