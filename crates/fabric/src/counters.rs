//! Counters of ports as tools report them: which there are, how wide they are, and readings.
//!
//! Source: InfiniBand Architecture Specification, volume 1, section 16.1.3 (`PortCounters`,
//! `PortCountersExtended`): names, widths, and that counters stay at their maximum. Data is counted
//! in words of 4 bytes.

use std::collections::BTreeMap;

/// Bytes of a word in which ports count the data that they send and receive.
pub const WORD_BYTES: u64 = 4;

/// A counter of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PortCounter {
    /// Words sent.
    XmitData,
    /// Words received.
    RcvData,
    /// Packets sent.
    XmitPackets,
    /// Packets received.
    RcvPackets,
    /// Ticks in which data waited because the receiver had no room or another lane was served.
    XmitWait,
    /// Errors on a lane.
    SymbolErrors,
    /// Link trainings after errors that succeeded.
    LinkErrorRecoveries,
    /// Link trainings after errors that failed, after which the link went down.
    LinkDowned,
    /// Packets received with an error.
    RcvErrors,
    /// Packets received that a switch further back had marked as bad.
    RcvRemotePhysicalErrors,
    /// Packets received that a switch could not pass on.
    RcvSwitchRelayErrors,
    /// Packets not sent, because the port was down or congested.
    XmitDiscards,
    /// Packets not sent for a partition or a rate.
    XmitConstraintErrors,
    /// Packets not received for a partition or a rate.
    RcvConstraintErrors,
    /// Times that local physical errors exceeded their limit.
    LocalLinkIntegrityErrors,
    /// Times that buffers overran several times in a row.
    ExcessiveBufferOverruns,
    /// Management packets dropped for lack of room.
    Vl15Dropped,
}

impl PortCounter {
    /// All counters.
    pub const ALL: [Self; 17] = [
        Self::XmitData,
        Self::RcvData,
        Self::XmitPackets,
        Self::RcvPackets,
        Self::XmitWait,
        Self::SymbolErrors,
        Self::LinkErrorRecoveries,
        Self::LinkDowned,
        Self::RcvErrors,
        Self::RcvRemotePhysicalErrors,
        Self::RcvSwitchRelayErrors,
        Self::XmitDiscards,
        Self::XmitConstraintErrors,
        Self::RcvConstraintErrors,
        Self::LocalLinkIntegrityErrors,
        Self::ExcessiveBufferOverruns,
        Self::Vl15Dropped,
    ];

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::XmitData => "xmit_data",
            Self::RcvData => "rcv_data",
            Self::XmitPackets => "xmit_packets",
            Self::RcvPackets => "rcv_packets",
            Self::XmitWait => "xmit_wait",
            Self::SymbolErrors => "symbol_errors",
            Self::LinkErrorRecoveries => "link_error_recoveries",
            Self::LinkDowned => "link_downed",
            Self::RcvErrors => "rcv_errors",
            Self::RcvRemotePhysicalErrors => "rcv_remote_physical_errors",
            Self::RcvSwitchRelayErrors => "rcv_switch_relay_errors",
            Self::XmitDiscards => "xmit_discards",
            Self::XmitConstraintErrors => "xmit_constraint_errors",
            Self::RcvConstraintErrors => "rcv_constraint_errors",
            Self::LocalLinkIntegrityErrors => "local_link_integrity_errors",
            Self::ExcessiveBufferOverruns => "excessive_buffer_overruns",
            Self::Vl15Dropped => "vl15_dropped",
        }
    }

    /// The width in bits of the counter in the attribute `PortCounters`.
    pub fn classic_bits(self) -> u8 {
        match self {
            Self::XmitData
            | Self::RcvData
            | Self::XmitPackets
            | Self::RcvPackets
            | Self::XmitWait => 32,
            Self::SymbolErrors
            | Self::RcvErrors
            | Self::RcvRemotePhysicalErrors
            | Self::RcvSwitchRelayErrors
            | Self::XmitDiscards
            | Self::Vl15Dropped => 16,
            Self::LinkErrorRecoveries
            | Self::LinkDowned
            | Self::XmitConstraintErrors
            | Self::RcvConstraintErrors => 8,
            Self::LocalLinkIntegrityErrors | Self::ExcessiveBufferOverruns => 4,
        }
    }

    /// Whether the counter counts words or packets rather than faults and waits.
    pub fn is_traffic(self) -> bool {
        matches!(self, Self::XmitData | Self::RcvData | Self::XmitPackets | Self::RcvPackets)
    }
}

/// The value of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterValue {
    /// What the counter shows; words for data.
    pub value: u64,
    /// The width of the counter.
    pub bits: u8,
}

impl CounterValue {
    /// A value of a counter of 64 bits.
    pub fn wide(value: u64) -> Self {
        Self { value, bits: 64 }
    }

    /// A value of a counter whose width the source does not say: the width of `PortCounters`,
    /// unless the value is larger.
    pub fn classic(counter: PortCounter, value: u64) -> Self {
        let bits = counter.classic_bits();
        Self { value, bits: if value > largest(bits) { 64 } else { bits } }
    }

    /// Whether the counter stands at its maximum, where it counts no further.
    pub fn is_saturated(self) -> bool {
        self.value == largest(self.bits)
    }
}

/// The largest value of a counter of this width.
pub fn largest(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// What tells which device a reading is of; what the source does not say is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceIdentity {
    /// GUID of the node or of the port.
    pub guid: Option<u64>,
    /// LID of the port; of a switch that of its port 0.
    pub lid: Option<u16>,
    /// Name of the device.
    pub name: Option<String>,
}

/// What a source says of a link beside its counters; what it does not say is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PortState {
    /// Whether the link is up.
    pub is_up: Option<bool>,
    /// Data rate of one direction, Gbit/s.
    pub rate_gbps: Option<f64>,
    /// The share of wrong bits after all corrections.
    pub bit_error_rate: Option<f64>,
}

/// The counters of a port at one time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PortReading {
    /// The device.
    pub device: DeviceIdentity,
    /// The port of the device.
    pub port: u16,
    /// Time of the reading, seconds since 1970; `None` where the source has none.
    pub time_s: Option<f64>,
    /// The counters.
    pub counters: BTreeMap<PortCounter, CounterValue>,
    /// The link.
    pub state: PortState,
}

/// Which ports a source lists: what the absence of one means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedPorts {
    /// Those that somebody asked for or that have errors: a port that is absent may be well.
    Some,
    /// All of every device that it lists.
    OfDevices,
    /// All of the fabric.
    OfFabric,
}

/// The readings of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterFile {
    /// The name of the file.
    pub name: String,
    /// The name of its format.
    pub format: &'static str,
    /// Which ports it lists.
    pub listed: ListedPorts,
    /// The readings in the order of the file; later ones of a port are later in time.
    pub readings: Vec<PortReading>,
    /// Number of lines that were not understood.
    pub left_out: u64,
    /// The first of these: number of the line, and its beginning.
    pub first_left_out: Option<(usize, String)>,
    /// What a reader should know of the file, a sentence each.
    pub remarks: Vec<String>,
}
