//! What counters say of a cable: dead, flapping, degraded or marginal, with the reasons.
//!
//! Source: InfiniBand Architecture Specification, volume 2: links have a bit error rate of at most
//! 1e-12; volume 1, section 16.1.3.5, what each counter counts. Counts without a time are held
//! against the thresholds that infiniband-diags installs, 10 for errors of a link.

use super::change::CounterChange;
use fabric::counters::{PortCounter, PortState};
use serde::Serialize;
use std::collections::BTreeMap;

/// How bad a cable is, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CableGrade {
    /// It carries nothing.
    Dead,
    /// It went down meanwhile.
    Flapping,
    /// It has fewer lanes or a lower speed than it should.
    Degraded,
    /// It has more errors than a link may have.
    Marginal,
}

/// What is known of one end of a cable.
#[derive(Debug, Clone, Default)]
pub struct EndFindings {
    /// Counters of the end.
    pub changes: BTreeMap<PortCounter, CounterChange>,
    /// The link, by the last readings.
    pub state: PortState,
    /// Whether the port was reported and is not any more.
    pub is_gone: bool,
}

/// Errors of a link that are no error of another's making.
const LINK_ERRORS: [PortCounter; 5] = [
    PortCounter::SymbolErrors,
    PortCounter::RcvErrors,
    PortCounter::LinkErrorRecoveries,
    PortCounter::LocalLinkIntegrityErrors,
    PortCounter::ExcessiveBufferOverruns,
];

/// Counts of events of which each is a fault, however long the time was.
const EVENTS: [PortCounter; 2] =
    [PortCounter::LinkErrorRecoveries, PortCounter::LocalLinkIntegrityErrors];

/// The threshold of counts whose time is not known.
pub const UNTIMED_THRESHOLD: u64 = 10;

/// What cables are held against.
#[derive(Debug, Clone, Copy)]
pub struct GradeLimits {
    /// The largest share of wrong bits.
    pub bit_error_rate: f64,
    /// The data rate that the cable should have, Gbit/s; `None` where it is not known.
    pub rate_gbps: Option<f64>,
}

/// A rate below this part of the one that a cable should have is too low: rates of one speed differ
/// by how they are rounded.
const SLOW: f64 = 0.9;

/// The grade of a cable and its reasons, a clause each, by what is known of both ends; `None` for a
/// cable without a finding. `names` are device and port of both ends.
pub fn grade(
    ends: &[EndFindings; 2],
    names: &[String; 2],
    limits: &GradeLimits,
) -> Option<(CableGrade, Vec<String>)> {
    let mut found: Vec<(CableGrade, String)> = Vec::new();
    for (end, name) in ends.iter().zip(names) {
        if end.state.is_up == Some(false) {
            found.push((CableGrade::Dead, format!("{name} is down")));
        } else if end.is_gone {
            found.push((CableGrade::Dead, format!("{name} is reported no more")));
        }
        found.extend(flaps(end, name).map(|why| (CableGrade::Flapping, why)));
        let slow = end.state.rate_gbps.zip(limits.rate_gbps).filter(|(now, due)| *now < SLOW * due);
        if let Some((now, due)) = slow.filter(|_| end.state.is_up != Some(false)) {
            let why = format!("{name} runs at {now:.0} of {due:.0} Gbit/s");
            found.push((CableGrade::Degraded, why));
        }
        errors(end, name, limits, &mut found);
    }
    let worst = found.iter().map(|(grade, _)| *grade).min()?;
    found.sort_by_key(|(grade, _)| *grade);
    Some((worst, found.into_iter().map(|(_, why)| why).collect()))
}

/// How often the link went down.
fn flaps(end: &EndFindings, name: &str) -> Option<String> {
    let change = end.changes.get(&PortCounter::LinkDowned)?;
    if change.readings > 1 {
        let least = if change.is_least { "at least " } else { "" };
        let times = if change.growth == 1 { "time" } else { "times" };
        let why = format!("{name} went down {least}{} {times}", change.growth);
        return (!change.is_unknown() && change.growth > 0).then_some(why);
    }
    let why = format!("{name} has gone down {} times since its counters were cleared", change.last);
    (change.last > UNTIMED_THRESHOLD).then_some(why)
}

/// The errors of an end that make its link marginal.
fn errors(
    end: &EndFindings,
    name: &str,
    limits: &GradeLimits,
    found: &mut Vec<(CableGrade, String)>,
) {
    let mut note = |why: String| found.push((CableGrade::Marginal, why));
    if let Some(rate) = end.state.bit_error_rate.filter(|rate| *rate > limits.bit_error_rate) {
        note(format!("{name} reports a bit error rate of {rate:.1e}"));
    }
    let rate_gbps = end.state.rate_gbps.or(limits.rate_gbps);
    for counter in LINK_ERRORS {
        let Some(change) = end.changes.get(&counter) else { continue };
        let is_first = change.readings < 2;
        if !is_first && change.is_unknown() {
            continue;
        }
        let count = if is_first { change.last } else { change.growth };
        let least = if change.is_least { "at least " } else { "" };
        let words = counter.name().replace('_', " ");
        let bits = rate_gbps.map(|gbps| gbps * 1e9 * change.seconds).filter(|bits| *bits > 0.0);
        if !is_first && EVENTS.contains(&counter) {
            if count > 0 {
                note(format!("{name} has {least}{count} new {words}"));
            }
        } else if let (false, Some(bits)) = (is_first, bits) {
            let share = count as f64 / bits;
            if share > limits.bit_error_rate {
                let why = "a bit error rate of";
                note(format!("{name} has {least}{count} new {words}, {why} {share:.1e}"));
            }
        } else if count > UNTIMED_THRESHOLD {
            let since = if is_first { " since its counters were cleared" } else { "" };
            note(format!("{name} has {least}{count} {words}{since}"));
        }
    }
}
