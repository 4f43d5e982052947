//! Tests of the readers of port counters.

use super::*;
use fabric::counters::{PortCounter, PortReading};

fn value(reading: &PortReading, counter: PortCounter) -> Option<u64> {
    reading.counters.get(&counter).map(|found| found.value)
}

fn example(format: &str) -> CounterFile {
    let format = FORMATS.iter().find(|one| one.part.name == format).expect("a format");
    let (name, text) = format.example();
    read(&name, &text).expect("its example")
}

#[test]
fn every_example_is_recognised_as_its_format_and_nothing_of_it_is_left_out() {
    for format in FORMATS {
        let found = example(format.part.name);
        assert_eq!((found.format, found.left_out), (format.part.name, 0), "{found:?}");
        assert!(!found.readings.is_empty());
    }
}

#[test]
fn extended_counters_of_a_port_complete_the_block_before_and_the_next_block_is_a_later_reading() {
    let block = |kind: &str, data: u64| {
        format!("# Port {kind}counters: Lid 7 port 2 (CapMask: 0x1300)\nPortXmitData:....{data}\n")
    };
    let one = block("", 4_294_967_295) + "SymbolErrors:....3\n" + &block("extended ", 1 << 40);
    let two = one.clone() + &block("", 4_294_967_295) + &block("extended ", 1 << 41);
    let found = read("a.txt", &two).expect("two readings");
    let data: Vec<_> = found.readings.iter().map(|r| value(r, PortCounter::XmitData)).collect();
    assert_eq!(data, [Some(1 << 40), Some(1 << 41)]);
    assert_eq!(value(&found.readings[0], PortCounter::SymbolErrors), Some(3));
    // without the extended block the counter stands at its maximum
    let stuck = read("a.txt", &block("", 4_294_967_295)).expect("a reading");
    assert!(stuck.readings[0].counters[&PortCounter::XmitData].is_saturated());
}

#[test]
fn the_sum_of_all_ports_and_the_port_of_a_switch_itself_are_no_ports() {
    let text = "# Port counters: Lid 7 port 0\nPortXmitData:....1\n\
        # Port counters: Lid 7 port 255 (CapMask: 0x1300)\nPortXmitData:....2\n\
        # Port counters: Lid 7 port 4 (CapMask: 0x1300)\nPortXmitData:....3\n";
    let found = read("a.txt", text).expect("one port");
    assert_eq!((found.readings.len(), found.readings[0].port, found.left_out), (1, 4, 0));
    let found = example("ibqueryerrors");
    let ports: Vec<u16> = found.readings.iter().map(|reading| reading.port).collect();
    assert_eq!(ports, [3, 1]);
}

#[test]
fn times_names_states_and_rates_are_those_of_the_files() {
    let found = example("perfquery");
    assert_eq!(found.readings[0].time_s, Some(1_795_860_000.110_014));
    let found = example("ibdiagnet-pm");
    let reading = &found.readings[0];
    assert_eq!(reading.time_s, Some(1_795_860_000.0));
    assert_eq!(reading.device.name.as_deref(), Some("leaf-11/U1"));
    assert_eq!((reading.device.lid, reading.state.bit_error_rate), (Some(179), Some(1.5e-15)));
    let found = example("ibqueryerrors");
    let state = found.readings[0].state;
    // HDR: 53.125 Gbit/s a lane on the wire, 50 of data
    assert_eq!((state.is_up, state.rate_gbps.map(f64::round)), (Some(true), Some(200.0)));
    let found = example("ibdiagnet-net-dump");
    let states: Vec<_> = found.readings.iter().map(|r| (r.port, r.state.is_up)).collect();
    assert_eq!(states, [(1, Some(true)), (12, Some(false))]);
    let found = example("ufm-csv");
    assert_eq!(found.readings[0].device.name.as_deref(), Some("leaf-11, hall 2"));
    assert_eq!(found.readings[1].time_s, Some(1_795_860_000.0));
    let found = example("ibdiagnet-csv");
    assert_eq!(found.readings[1].device.name.as_deref(), Some("leaf-11"));
    assert!(!found.readings[1].counters.contains_key(&PortCounter::XmitWait));
}

#[test]
fn bytes_become_words_unless_the_help_says_that_they_are_words() {
    let found = example("prometheus");
    let [host, switch] = &found.readings[..] else { panic!("two ports: {found:?}") };
    assert_eq!(host.device.name.as_deref(), Some("host-0200 mlx5_0"));
    assert_eq!(value(host, PortCounter::XmitData), Some(22_031_403_016 / 4));
    assert_eq!((host.time_s, host.state.is_up), (Some(1_795_860_000.123_4), Some(true)));
    assert_eq!(host.state.rate_gbps.map(f64::round), Some(200.0));
    assert_eq!(value(switch, PortCounter::XmitData), Some(178_791_657_177_236 / 4));
    assert_eq!(switch.time_s, Some(1_795_860_000.123));
    let name = "infiniband_switch_port_transmit_data_bytes_total";
    let line = format!("{name}{{guid=\"0x1\",port=\"1\"}} 4000\n");
    let words = format!("# HELP {name} Infiniband switch port PortXmitData\n{line}");
    let scaled = format!("# HELP {name} PortXmitData scaled to bytes\n{line}");
    for (text, expected, remarks) in [(line, 1000, 0), (words, 4000, 1), (scaled, 1000, 0)] {
        let found = read("a.prom", &text).expect("a port");
        assert_eq!(value(&found.readings[0], PortCounter::XmitData), Some(expected), "{text}");
        assert_eq!(found.remarks.len(), remarks);
    }
}

#[test]
fn lines_that_are_not_understood_are_counted_and_the_first_is_shown() {
    let text = "# Port counters: Lid 7 port 4 (CapMask: 0x1300)\nPortXmitData:....3\n\
        ibwarn: [123] mad_rpc_rmpp: MAD completed with error\nnonsense\n";
    let found = read("a.txt", text).expect("one port");
    assert_eq!(found.left_out, 2);
    let first = found.first_left_out.expect("a line");
    assert_eq!((first.0, &first.1[..7]), (3, "ibwarn:"));
}

#[test]
fn what_is_of_no_format_or_has_no_port_is_refused_by_name() {
    for text in ["", "hello\n", "a,b,c\n1,2,3\n", "# Port counters: Lid 7 port 0\nX: 1\n"] {
        let refused = read("f.txt", text).expect_err(text);
        assert_eq!(refused.param, "f.txt");
        assert!(!refused.why.is_empty() && !refused.help.is_empty());
    }
}
