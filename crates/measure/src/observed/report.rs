//! The report on the counters of a fabric: every channel with its load, and every bad cable.

use super::change::{CounterChange, CounterRules, TimedValue};
use super::grades::{CableGrade, EndFindings, GradeLimits, grade};
use super::matching::{CableEnd, CountedDevice, PortMatcher};
use super::presence::{DevicePort, LostPorts, lost};
use base::Refusal;
use fabric::counters::{CounterFile, PortCounter, PortReading, WORD_BYTES};
use fabric::network::Topology;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What was read of a file.
#[derive(Debug, Clone, Serialize)]
pub struct CounterFileReport {
    /// Its name.
    pub file: String,
    /// The name of its format.
    pub format: String,
    /// Number of readings of ports.
    pub readings: usize,
    /// Number of lines that were not understood.
    pub left_out: u64,
    /// The first of these, with its number.
    pub first_left_out: Option<String>,
}

/// A device or ports of it that the network does not have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnmatchedDevice {
    /// The device as the file has it.
    pub device: String,
    /// Its ports that were reported.
    pub ports: Vec<u16>,
    /// Why it is here.
    pub why: &'static str,
}

/// The load of a channel.
#[derive(Debug, Clone, Serialize)]
pub struct ChannelReport {
    /// Device and port where it begins.
    pub from: String,
    /// The port.
    pub from_port: u16,
    /// Device where it ends.
    pub to: String,
    /// The port.
    pub to_port: u16,
    /// Whether it is of the cable of an endpoint.
    pub is_endpoint_cable: bool,
    /// Number of the link, or of the terminal.
    pub cable: usize,
    /// 0 from end a of a link to end b or from an endpoint to its switch, 1 back.
    pub direction: usize,
    /// What was carried, Gbit/s; none where it is not known.
    pub gbps: Option<f64>,
    /// The data rate of the link, Gbit/s: by its ports, else by the network.
    pub rate_gbps: f64,
    /// What was carried by the rate of the link.
    pub use_fraction: Option<f64>,
    /// Bytes in the time that is known; of a single reading all since counters were cleared.
    pub bytes: Option<u64>,
    /// Ticks a second in which data waited.
    pub waits_per_s: Option<f64>,
    /// Ticks of waiting for a packet.
    pub waits_per_packet: Option<f64>,
    /// Packets that were not sent in the time that is known.
    pub discards: Option<u64>,
    /// Whether the counter of data stands at its maximum.
    pub is_saturated: bool,
    /// Whether it was cleared meanwhile.
    pub is_reset: bool,
}

/// A counter of one end of a bad cable.
#[derive(Debug, Clone, Serialize)]
pub struct EndCounterReport {
    /// The device.
    pub device: String,
    /// Its port.
    pub port: u16,
    /// The counter.
    pub counter: &'static str,
    /// By how much it grew; none of a single reading, and where that is not known.
    pub growth: Option<u64>,
    /// Its last value.
    pub last: u64,
    /// Whether it stands at its maximum.
    pub is_saturated: bool,
    /// Whether it was cleared meanwhile.
    pub is_reset: bool,
}

/// A bad cable.
#[derive(Debug, Clone, Serialize)]
pub struct CableReport {
    /// How bad it is.
    pub grade: CableGrade,
    /// Why, a clause each, the worst first.
    pub reasons: Vec<String>,
    /// Whether it is the cable of an endpoint.
    pub is_endpoint_cable: bool,
    /// Number of the link, or of the terminal.
    pub cable: usize,
    /// Device at end a; of an endpoint's cable the endpoint.
    pub a: String,
    /// Its port.
    pub a_port: u16,
    /// Device at end b; of an endpoint's cable the switch.
    pub b: String,
    /// Its port.
    pub b_port: u16,
    /// Counters of faults at both ends that are not 0.
    pub counters: Vec<EndCounterReport>,
}

/// What counters say of a network.
#[derive(Debug, Clone, Serialize)]
pub struct Observation {
    /// The files.
    pub files: Vec<CounterFileReport>,
    /// Most readings of a port.
    pub samples: usize,
    /// The longest time between the first and the last reading of a port; none where not known.
    pub seconds: Option<f64>,
    /// Number of cables of the network, failed ones not among them.
    pub cables: usize,
    /// Number of these cables that have a reading at an end.
    pub observed_cables: usize,
    /// Channels with a load, cable by cable.
    pub channels: Vec<ChannelReport>,
    /// Bad cables.
    pub bad_cables: Vec<CableReport>,
    /// Switches that were reported and are not any more.
    pub lost_switches: Vec<String>,
    /// Counters of faults at their maximum, by which nothing can be said.
    pub saturated: Vec<EndCounterReport>,
    /// What is of no device or cable of the network.
    pub unmatched: Vec<UnmatchedDevice>,
    /// What a reader should know, a sentence each.
    pub remarks: Vec<String>,
}

/// Why a device is not matched.
const NO_DEVICE: &str = "no such device in the network";

/// The readings of an end.
type EndReadings<'a> = Vec<(&'a str, &'a PortReading)>;

/// Reads counters beside a network. O(readings log readings).
///
/// # Errors
/// When no reading is of a device of the network.
pub fn observe(
    on: &Topology,
    files: &[CounterFile],
    rules: &CounterRules,
    bit_error_rate: f64,
) -> Result<Observation, Refusal> {
    let matcher = PortMatcher::new(on);
    let (placed, unmatched) = place(&matcher, files);
    let mut ends: BTreeMap<CableEnd, EndReadings<'_>> = BTreeMap::new();
    for (file, places) in files.iter().zip(&placed) {
        for (reading, place) in file.readings.iter().zip(places) {
            if let Some(end) = place.and_then(|(device, port)| matcher.end(device, port)) {
                ends.entry(end).or_default().push((file.format, reading));
            }
        }
    }
    if ends.is_empty() {
        let named = unmatched.first().map_or("", |one| one.device.as_str());
        let why = format!("none of their devices is in {}, such as {named}", on.recipe());
        let help = "the network that ibnetdiscover printed of the same fabric";
        return Err(Refusal::new("counters", why, help));
    }
    let gone = lost(files, &placed);
    let mut findings = BTreeMap::new();
    for (end, readings) in &ends {
        findings.insert(*end, end_findings(readings, rules));
    }
    mark_gone(&matcher, &gone, &mut findings);
    let mut found = Observation {
        files: files.iter().map(file_report).collect(),
        samples: findings.values().map(most_readings).max().unwrap_or(0),
        seconds: longest(&ends, rules),
        cables: cables(on).filter(|cable| is_up(on, *cable)).count(),
        observed_cables: 0,
        channels: channels(on, &matcher, &findings),
        bad_cables: Vec::new(),
        lost_switches: lost_switches(on, &gone),
        saturated: Vec::new(),
        unmatched,
        remarks: remarks(files),
    };
    found.observed_cables = cables(on)
        .filter(|&cable| is_up(on, cable))
        .filter(|&cable| {
            [0, 1].iter().any(|&side| findings.contains_key(&CableEnd { cable, side }))
        })
        .count();
    strangers(&mut found, &placed);
    grade_cables(on, &matcher, &findings, bit_error_rate, &mut found);
    too_fast(&mut found);
    Ok(found)
}

/// The device and port of every reading, and what the network does not have.
fn place(
    matcher: &PortMatcher<'_>,
    files: &[CounterFile],
) -> (Vec<Vec<Option<DevicePort>>>, Vec<UnmatchedDevice>) {
    let mut unknown: BTreeMap<(String, &'static str), Vec<u16>> = BTreeMap::new();
    let mut note = |reading: &PortReading, why: &'static str| {
        let ports = unknown.entry((said(reading), why)).or_default();
        if !ports.contains(&reading.port) {
            ports.push(reading.port);
        }
    };
    let mut place_one = |reading: &PortReading| {
        let Some(device) = matcher.device(&reading.device) else {
            note(reading, NO_DEVICE);
            return None;
        };
        if matcher.end(device, reading.port).is_none() {
            let carried = reading.counters.get(&PortCounter::RcvData).is_some_and(|c| c.value > 0);
            if reading.state.is_up == Some(true) || (carried && reading.state.is_up.is_none()) {
                note(reading, "no cable of the network at these ports");
            }
            return None;
        }
        Some((device, reading.port))
    };
    let placed =
        files.iter().map(|file| file.readings.iter().map(&mut place_one).collect()).collect();
    let unmatched = unknown.into_iter().map(|((device, why), mut ports)| {
        ports.sort_unstable();
        UnmatchedDevice { device, ports, why }
    });
    (placed, unmatched.collect())
}

/// A device as the file has it.
fn said(reading: &PortReading) -> String {
    let device = &reading.device;
    let guid = device.guid.map(|guid| format!("0x{guid:016x}"));
    match (&device.name, guid, device.lid) {
        (Some(name), Some(guid), _) => format!("{name} ({guid})"),
        (Some(name), None, _) => name.clone(),
        (None, Some(guid), _) => guid,
        (None, None, lid) => format!("LID {}", lid.unwrap_or(0)),
    }
}

fn file_report(file: &CounterFile) -> CounterFileReport {
    let first = file.first_left_out.as_ref();
    CounterFileReport {
        file: file.name.clone(),
        format: file.format.to_owned(),
        readings: file.readings.len(),
        left_out: file.left_out,
        first_left_out: first.map(|(line, text)| format!("line {line}: {text}")),
    }
}

/// The counters and the state of an end. Readings of one format are compared with one another; of a
/// counter those of the format that has most of it.
fn end_findings(readings: &EndReadings<'_>, rules: &CounterRules) -> EndFindings {
    let mut series: BTreeMap<PortCounter, Vec<(&str, Vec<TimedValue>)>> = BTreeMap::new();
    let mut found = EndFindings::default();
    let mut ordered = readings.clone();
    if ordered.iter().all(|(_, reading)| reading.time_s.is_some()) {
        let time = |reading: &PortReading| reading.time_s.unwrap_or(0.0);
        ordered.sort_by(|(_, a), (_, b)| time(a).total_cmp(&time(b)));
    }
    for (format, reading) in ordered {
        for (&counter, &value) in &reading.counters {
            let formats = series.entry(counter).or_default();
            let timed = TimedValue { time_s: reading.time_s, value };
            match formats.iter_mut().find(|(name, _)| *name == format) {
                Some((_, values)) => values.push(timed),
                None => formats.push((format, vec![timed])),
            }
        }
        found.state.is_up = reading.state.is_up.or(found.state.is_up);
        found.state.rate_gbps = reading.state.rate_gbps.or(found.state.rate_gbps);
        found.state.bit_error_rate = reading.state.bit_error_rate.or(found.state.bit_error_rate);
    }
    for (counter, formats) in series {
        // the first of those with most readings
        let most = formats.iter().rev().max_by_key(|(_, values)| values.len());
        if let Some((_, values)) = most {
            found.changes.insert(counter, CounterChange::of(counter, values, rules));
        }
    }
    found
}

fn most_readings(end: &EndFindings) -> usize {
    end.changes.values().map(|change| change.readings).max().unwrap_or(1)
}

/// The longest time from the first to the last reading of an end.
fn longest(ends: &BTreeMap<CableEnd, EndReadings<'_>>, rules: &CounterRules) -> Option<f64> {
    let span = |readings: &EndReadings<'_>| {
        let times: Vec<f64> = readings.iter().filter_map(|(_, r)| r.time_s).collect();
        if times.len() == readings.len() {
            let least = times.iter().copied().fold(f64::INFINITY, f64::min);
            let most = times.iter().copied().fold(0.0, f64::max);
            return Some(most - least).filter(|s| *s > 0.0);
        }
        rules.seconds.map(|s| s * (readings.len() - 1) as f64).filter(|s| *s > 0.0)
    };
    ends.values().filter_map(span).reduce(f64::max)
}

/// Marks the ports that are reported no more, those of endpoints that are gone among them.
fn mark_gone(
    matcher: &PortMatcher<'_>,
    gone: &LostPorts,
    findings: &mut BTreeMap<CableEnd, EndFindings>,
) {
    let ports = gone.ports.iter().filter_map(|&(device, port)| matcher.end(device, port));
    let devices = gone.devices.iter().filter_map(|&device| match device {
        CountedDevice::Switch(_) => None,
        CountedDevice::Endpoint(_) | CountedDevice::Terminal(_) => matcher.end(device, 1),
    });
    for end in ports.chain(devices) {
        findings.entry(end).or_default().is_gone = true;
    }
}

fn lost_switches(on: &Topology, gone: &LostPorts) -> Vec<String> {
    let name = |device: &CountedDevice| match device {
        CountedDevice::Switch(s) => Some(on.switches()[s.ix()].name.clone()),
        CountedDevice::Endpoint(_) | CountedDevice::Terminal(_) => None,
    };
    gone.devices.iter().filter_map(name).collect()
}

fn cables(on: &Topology) -> std::ops::Range<usize> {
    0..on.links().len() + on.terminals().len()
}

/// Whether a cable works by the network itself.
fn is_up(on: &Topology, cable: usize) -> bool {
    let links = on.links().len();
    if cable < links {
        on.link_is_up(cable.into())
    } else {
        on.terminal_is_up((cable - links).into())
    }
}

/// The data rate of a cable by the network, Gbit/s.
fn planned_gbps(on: &Topology, cable: usize) -> f64 {
    let links = on.links().len();
    if cable < links {
        on.links()[cable].cable.rate_gbps()
    } else {
        on.terminals()[cable - links].cable.rate_gbps()
    }
}

/// The loads of all channels with a counter of data at one of their ends. The sender's counter is
/// taken, and the receiver's where the sender has none.
fn channels(
    on: &Topology,
    matcher: &PortMatcher<'_>,
    findings: &BTreeMap<CableEnd, EndFindings>,
) -> Vec<ChannelReport> {
    let links = on.links().len();
    let mut all = Vec::new();
    for cable in cables(on) {
        for side in [0, 1] {
            let from = CableEnd { cable, side };
            let of = |end: CableEnd, counter: PortCounter| {
                findings.get(&end).and_then(|found| found.changes.get(&counter))
            };
            let sent = of(from, PortCounter::XmitData);
            let known = sent.filter(|change| change.readings < 2 || !change.is_unknown());
            let received = of(from.opposite(), PortCounter::RcvData);
            let Some(data) = known.or(received).or(sent) else { continue };
            let rates = [from, from.opposite()].map(|end| findings.get(&end)?.state.rate_gbps);
            let rate = rates[0].or(rates[1]).unwrap_or_else(|| planned_gbps(on, cable));
            let gbps = data.per_second().map(|words| words * (WORD_BYTES * 8) as f64 / 1e9);
            let wait = of(from, PortCounter::XmitWait);
            let packets = of(from, PortCounter::XmitPackets);
            let counted = |change: &CounterChange| match change.readings {
                0 | 1 => Some(change.last),
                _ => (!change.is_unknown()).then_some(change.growth),
            };
            let per_packet = wait.and_then(counted).zip(packets.and_then(counted));
            let ((from_name, from_port), (to, to_port)) =
                (matcher.named_end(from), matcher.named_end(from.opposite()));
            all.push(ChannelReport {
                from: from_name,
                from_port,
                to,
                to_port,
                is_endpoint_cable: cable >= links,
                cable: if cable < links { cable } else { cable - links },
                direction: side,
                gbps,
                rate_gbps: rate,
                use_fraction: gbps.filter(|_| rate > 0.0).map(|gbps| gbps / rate),
                bytes: counted(data).map(|words| words.saturating_mul(WORD_BYTES)),
                waits_per_s: wait.and_then(CounterChange::per_second),
                waits_per_packet: per_packet
                    .filter(|(_, packets)| *packets > 0)
                    .map(|(wait, packets)| wait as f64 / packets as f64),
                discards: of(from, PortCounter::XmitDiscards).and_then(counted),
                is_saturated: data.is_saturated,
                is_reset: data.is_reset,
            });
        }
    }
    all
}

/// Grades every cable that has a reading.
fn grade_cables(
    on: &Topology,
    matcher: &PortMatcher<'_>,
    findings: &BTreeMap<CableEnd, EndFindings>,
    bit_error_rate: f64,
    found: &mut Observation,
) {
    let links = on.links().len();
    let due = due_rates(on, findings, &mut found.remarks);
    for cable in cables(on).filter(|&cable| is_up(on, cable)) {
        let of = |side| findings.get(&CableEnd { cable, side }).cloned().unwrap_or_default();
        let ends = [of(0), of(1)];
        let places = [0, 1].map(|side| matcher.named_end(CableEnd { cable, side }));
        let names = places.clone().map(|(device, port)| format!("{device} port {port}"));
        let planned = planned_gbps(on, cable);
        let usual = due.iter().find(|(rate, _)| rate.to_bits() == planned.to_bits());
        let rate_gbps = Some(usual.map_or(planned, |(_, usual)| *usual));
        let counters = counters(&ends, &places);
        let saturated = counters.iter().filter(|one| one.is_saturated);
        found.saturated.extend(saturated.cloned());
        let limits = GradeLimits { bit_error_rate, rate_gbps };
        let Some((grade, reasons)) = grade(&ends, &names, &limits) else { continue };
        let [(a, a_port), (b, b_port)] = places;
        found.bad_cables.push(CableReport {
            grade,
            reasons,
            is_endpoint_cable: cable >= links,
            cable: if cable < links { cable } else { cable - links },
            a,
            a_port,
            b,
            b_port,
            counters,
        });
    }
}

/// Counters of faults of both ends that are not 0.
fn counters(ends: &[EndFindings; 2], places: &[(String, u16); 2]) -> Vec<EndCounterReport> {
    let of = |(end, (device, port)): (&EndFindings, &(String, u16))| {
        let faults = |(counter, _): &(&PortCounter, &CounterChange)| {
            !counter.is_traffic() && **counter != PortCounter::XmitWait
        };
        let shown = end.changes.iter().filter(faults).filter(|(_, c)| c.last > 0 || c.growth > 0);
        let row = |(counter, change): (&PortCounter, &CounterChange)| EndCounterReport {
            device: device.clone(),
            port: *port,
            counter: counter.name(),
            growth: (change.readings > 1 && !change.is_unknown()).then_some(change.growth),
            last: change.last,
            is_saturated: change.is_saturated,
            is_reset: change.is_reset,
        };
        shown.map(row).collect::<Vec<_>>()
    };
    ends.iter().zip(places).flat_map(of).collect()
}

/// For each rate of the network the one that cables of it have by their ports, where most of them
/// have another than the network says: the network was planned without a rate, or for another.
fn due_rates(
    on: &Topology,
    findings: &BTreeMap<CableEnd, EndFindings>,
    remarks: &mut Vec<String>,
) -> Vec<(f64, f64)> {
    let mut seen: Vec<(f64, Vec<f64>)> = Vec::new();
    for (end, found) in findings {
        let Some(rate) = found.state.rate_gbps else { continue };
        let planned = planned_gbps(on, end.cable);
        match seen.iter_mut().find(|(known, _)| known.to_bits() == planned.to_bits()) {
            Some((_, rates)) => rates.push(rate),
            None => seen.push((planned, vec![rate])),
        }
    }
    let usual = |(planned, mut rates): (f64, Vec<f64>)| {
        rates.sort_by(f64::total_cmp);
        (planned, rates[rates.len() / 2])
    };
    let all: Vec<(f64, f64)> = seen.into_iter().map(usual).collect();
    for (planned, usual) in &all {
        if (usual / planned - 1.0).abs() > 0.1 {
            remarks.push(format!(
                "cables of {planned:.0} Gbit/s by the network run at {usual:.0}: taken as right"
            ));
        }
    }
    all
}

fn remarks(files: &[CounterFile]) -> Vec<String> {
    let of = |file: &CounterFile| {
        let name = file.name.clone();
        file.remarks.clone().into_iter().map(move |remark| format!("{name}: {remark}"))
    };
    files.iter().flat_map(of).collect()
}

/// Says where most devices are of another fabric.
fn strangers(found: &mut Observation, placed: &[Vec<Option<DevicePort>>]) {
    let known: BTreeSet<CountedDevice> =
        placed.iter().flatten().flatten().map(|(device, _)| *device).collect();
    let unknown = found.unmatched.iter().filter(|one| one.why == NO_DEVICE).count();
    if unknown > known.len() {
        found.remarks.push(format!(
            "{unknown} devices are not in the network, and {} are: the counters may be of another \
             fabric",
            known.len()
        ));
    }
}

/// Says where more was carried than links can.
fn too_fast(found: &mut Observation) {
    let is_too_fast =
        |channel: &&ChannelReport| channel.use_fraction.is_some_and(|use_| use_ > 1.1);
    let count = found.channels.iter().filter(is_too_fast).count();
    if count > 0 {
        found.remarks.push(format!(
            "{count} channels carried more than their links can: the time between the samples \
             (--seconds) or the unit of the data (words of 4 bytes) is another"
        ));
    }
}
