//! Prometheus text: what `node_exporter` says of a host's adapters, and what exporters of switches
//! and adapters say of a fabric.
//!
//! On hosts the labels `device` and `port` name a port; `node_uname_info`, a label such as
//! `instance` or the name of the file names the host. Exporters of fabrics have `guid` and `port`.
//! The time is that of `node_time_seconds`, or the one behind a value.

use super::kind::{CounterFormat, CounterReadings, counter_of, guid, set};
use base::part::PartDescription;
use fabric::counters::{DeviceIdentity, ListedPorts, PortCounter, PortReading, WORD_BYTES};
use std::collections::{HashMap, HashSet};

pub(super) const ENTRY: CounterFormat = CounterFormat {
    part: PartDescription::new(
        "prometheus",
        "Prometheus text of node_exporter's InfiniBand collector, or of exporters of fabrics",
    ),
    rank: 60,
    looks: |text| {
        let mut metrics = text.lines().filter_map(Metric::of);
        metrics.any(|metric| metric.port().is_some() && metric.counter().is_some())
    },
    read,
    listed: ListedPorts::OfDevices,
    example: ("prometheus.txt", EXAMPLE),
};

const EXAMPLE: &str = "# HELP node_infiniband_port_data_transmitted_bytes_total Data octets\n\
    # TYPE node_infiniband_port_data_transmitted_bytes_total counter\n\
    node_infiniband_port_data_transmitted_bytes_total{device=\"mlx5_0\",\
    port=\"1\"} 2.2031403016e+10\n\
    node_infiniband_symbol_error_total{device=\"mlx5_0\",port=\"1\"} 17\n\
    node_infiniband_link_downed_total{device=\"mlx5_0\",port=\"1\"} 3\n\
    node_infiniband_rate_bytes_per_second{device=\"mlx5_0\",port=\"1\"} 2.5e+10\n\
    node_infiniband_physical_state_id{device=\"mlx5_0\",port=\"1\"} 5\n\
    node_uname_info{machine=\"x86_64\",nodename=\"host-0200\"} 1\n\
    node_time_seconds 1.7958600001234e+09\n\
    infiniband_switch_port_transmit_data_bytes_total{guid=\"0x0002c902000000c0\",port=\"3\",\
    switch=\"leaf-11\"} 178791657177236 1795860000123\n\
    infiniband_switch_port_transmit_wait_total{guid=\"0x0002c902000000c0\",port=\"3\",\
    switch=\"leaf-11\"} 1233\n";

/// A line with a value.
#[derive(Debug)]
struct Metric<'a> {
    name: &'a str,
    labels: Vec<(&'a str, String)>,
    value: f64,
    time_s: Option<f64>,
}

impl<'a> Metric<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let end = line.find(|c: char| c == '{' || c.is_whitespace())?;
        let (name, rest) = line.split_at(end);
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(rest) => labels(rest)?,
            None => (Vec::new(), rest),
        };
        let mut words = rest.split_whitespace();
        let value = words.next()?.parse().ok()?;
        let milliseconds: Option<f64> = words.next().and_then(|word| word.parse().ok());
        Some(Self { name, labels, value, time_s: milliseconds.map(|time| time / 1000.0) })
    }

    /// The first label that has one of these names and a value.
    fn label(&self, names: &[&str]) -> Option<&str> {
        let find = |name: &&str| {
            let mut labels = self.labels.iter();
            labels.find(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_empty())
        };
        names.iter().find_map(find).map(|(_, value)| value.as_str())
    }

    fn port(&self) -> Option<u16> {
        self.label(&["port", "port_num", "port_number"])?.parse().ok()
    }

    /// The name without what exporters put before it.
    fn plain(&self) -> &str {
        let starts = ["node_infiniband_", "infiniband_switch_", "infiniband_hca_", "infiniband_"];
        let rest = starts.iter().find_map(|start| self.name.strip_prefix(start));
        rest.unwrap_or(self.name)
    }

    fn counter(&self) -> Option<(PortCounter, bool)> {
        counter_of(self.plain())
    }

    /// The device: by GUID, or a host's adapter.
    fn device(&self, host: &str) -> DeviceIdentity {
        let named = self.label(&["switch", "hca", "node_description", "node_desc", "name"]);
        let lid = self.label(&["lid"]).and_then(|lid| lid.parse().ok());
        let guid = self.label(&["guid", "node_guid", "port_guid"]).and_then(guid);
        let adapter = self.label(&["device"]);
        let name = match (named, adapter) {
            (Some(name), _) => Some(name.to_owned()),
            (None, Some(adapter)) if guid.is_none() => {
                let said = self.label(&["nodename", "hostname", "host", "instance", "node"]);
                // an instance is host:port
                let host = said.map_or(host, |word| word.split(':').next().unwrap_or(word));
                Some(format!("{host} {adapter}"))
            }
            _ => None,
        };
        DeviceIdentity { guid, lid, name }
    }
}

/// The labels up to the closing brace, and what follows it.
fn labels(mut rest: &str) -> Option<(Vec<(&str, String)>, &str)> {
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((found, after));
        }
        let (key, after) = rest.split_once("=\"")?;
        let (mut value, mut is_escaped, mut end) = (String::new(), false, None);
        for (at, c) in after.char_indices() {
            match c {
                _ if is_escaped => {
                    value.push(if c == 'n' { '\n' } else { c });
                    is_escaped = false;
                }
                '\\' => is_escaped = true,
                '"' => {
                    end = Some(at + 1);
                    break;
                }
                _ => value.push(c),
            }
        }
        found.push((key.trim(), value));
        rest = &after[end?..];
    }
}

/// Metrics of data that are called bytes and count words: older exporters pass on what perfquery
/// says, and their help names its counter alone.
fn in_words(text: &str) -> HashSet<&str> {
    let helps = text.lines().filter_map(|line| line.strip_prefix("# HELP "));
    let counts_words = |(_, help): &(&str, &str)| {
        let help = help.to_ascii_lowercase();
        let named = help.contains("portxmitdata") || help.contains("portrcvdata");
        named && !["scaled", "bytes", "octets"].iter().any(|word| help.contains(word))
    };
    let named = helps.filter_map(|line| line.split_once(' '));
    named.filter(counts_words).map(|(name, _)| name).collect()
}

fn read(text: &str, found: &mut CounterReadings) {
    let all = || text.lines().filter_map(Metric::of);
    let host = all()
        .find(|metric| metric.name == "node_uname_info")
        .and_then(|metric| metric.label(&["nodename"]).map(str::to_owned))
        .unwrap_or_else(|| found.stem.clone());
    let clock = all().find(|metric| metric.name == "node_time_seconds").map(|metric| metric.value);
    let clock = clock.filter(|time| time.is_finite());
    let words = in_words(text);
    let mut used: HashSet<&str> = HashSet::new();
    let mut places: HashMap<(DeviceIdentity, u16), usize> = HashMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        let Some(metric) = Metric::of(text) else {
            if !text.trim().is_empty() && !text.trim_start().starts_with('#') {
                found.leave_out(line, text);
            }
            continue;
        };
        let Some(port) = metric.port() else { continue };
        let counter = metric.counter();
        if port == 0 || (counter.is_none() && !is_of_state(metric.plain())) {
            continue;
        }
        let device = metric.device(&host);
        if device == DeviceIdentity::default() {
            found.leave_out(line, text);
            continue;
        }
        let new = found.readings.len();
        let place = places.entry((device.clone(), port)).or_insert(new);
        let again = found.readings.get(*place).zip(counter);
        if again.is_some_and(|(reading, (counter, _))| reading.counters.contains_key(&counter)) {
            *place = new;
        }
        let at = *place;
        if at == new {
            found.readings.push(PortReading { device, port, ..PortReading::default() });
        }
        let reading = &mut found.readings[at];
        reading.time_s = metric.time_s.or(reading.time_s).or(clock);
        let Some((counter, is_wide)) = counter else {
            state(&metric, reading);
            continue;
        };
        if !(0.0..1.8e19).contains(&metric.value) {
            found.leave_out(line, text);
            continue;
        }
        let mut value = metric.value.round() as u64;
        let is_data = matches!(counter, PortCounter::XmitData | PortCounter::RcvData);
        if is_data && metric.name.contains("bytes") {
            match words.get(metric.name) {
                Some(name) => drop(used.insert(name)),
                None => value /= WORD_BYTES,
            }
        }
        set(&mut found.readings[at], counter, value, is_wide);
    }
    if !used.is_empty() {
        found.remarks.push(
            "data is called bytes and, by its help, is counted in words of 4 bytes: taken as words"
                .to_owned(),
        );
    }
}

fn is_of_state(name: &str) -> bool {
    name.ends_with("state_id")
        || name.ends_with("rate_bytes_per_second")
        || name.ends_with("_ber")
        || name.ends_with("_BER")
}

/// Takes what a metric says of the link.
fn state(metric: &Metric<'_>, reading: &mut PortReading) {
    let name = metric.plain().to_ascii_lowercase();
    let (value, state) = (metric.value, &mut reading.state);
    if name == "physical_state_id" {
        // 5 is LinkUp; 1 to 4 are sleep, polling, disabled and training
        state.is_up = Some(value.round() as i64 == 5);
    } else if name == "state_id" && state.is_up.is_none() {
        state.is_up = Some(value > 1.0);
    } else if name.ends_with("rate_bytes_per_second") && value > 0.0 {
        state.rate_gbps = Some(value * 8e-9);
    } else if name == "symbol_ber" || (name == "effective_ber" && state.bit_error_rate.is_none()) {
        state.bit_error_rate = Some(value).filter(|rate| (0.0..=1.0).contains(rate));
    }
}
