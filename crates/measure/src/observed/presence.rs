//! Which ports and devices were reported and are not any more.

use super::matching::CountedDevice;
use fabric::counters::{CounterFile, ListedPorts};
use std::collections::{BTreeMap, BTreeSet};

/// A port of a device.
pub(super) type DevicePort = (CountedDevice, u16);

/// What earlier samples have and the last one lacks.
#[derive(Debug, Default)]
pub(super) struct LostPorts {
    /// Ports that are missing though their devices are there.
    pub(super) ports: BTreeSet<DevicePort>,
    /// Devices that are missing.
    pub(super) devices: BTreeSet<CountedDevice>,
}

/// Counts samples: of each device and port those that have it, in the order of the files.
#[derive(Debug, Default)]
struct SampleCounts {
    of_device: BTreeMap<CountedDevice, usize>,
    last_of_port: BTreeMap<DevicePort, usize>,
    of_format: usize,
    last_of_device: BTreeMap<CountedDevice, usize>,
}

/// Finds what was lost, by formats that list all ports of their devices. `placed` has the device
/// and port of every reading of each file. O(readings).
pub(super) fn lost(files: &[CounterFile], placed: &[Vec<Option<DevicePort>>]) -> LostPorts {
    let mut formats: BTreeMap<&str, SampleCounts> = BTreeMap::new();
    let mut lost = LostPorts::default();
    for (file, places) in files.iter().zip(placed) {
        if file.listed == ListedPorts::Some {
            continue;
        }
        let mut in_file: BTreeMap<DevicePort, usize> = BTreeMap::new();
        for place in places.iter().flatten() {
            *in_file.entry(*place).or_insert(0) += 1;
        }
        let mut of_device: BTreeMap<CountedDevice, usize> = BTreeMap::new();
        for (&(device, _), &times) in &in_file {
            let most = of_device.entry(device).or_insert(0);
            *most = times.max(*most);
        }
        let counts = formats.entry(file.format).or_default();
        for (&place, &times) in &in_file {
            let before = counts.of_device.get(&place.0).copied().unwrap_or(0);
            counts.last_of_port.insert(place, before + times);
        }
        let samples = of_device.values().copied().max().unwrap_or(0);
        for (device, times) in of_device {
            *counts.of_device.entry(device).or_insert(0) += times;
            counts.last_of_device.insert(device, counts.of_format + times);
        }
        counts.of_format += samples;
    }
    for file in files {
        let Some(counts) = formats.get(file.format) else { continue };
        let port_is_lost = |(place, last): (&DevicePort, &usize)| {
            (*last < counts.of_device[&place.0]).then_some(*place)
        };
        lost.ports.extend(counts.last_of_port.iter().filter_map(port_is_lost));
        if file.listed == ListedPorts::OfFabric {
            let device_is_lost = |(device, last): (&CountedDevice, &usize)| {
                (*last < counts.of_format).then_some(*device)
            };
            let devices: Vec<CountedDevice> =
                counts.last_of_device.iter().filter_map(device_is_lost).collect();
            // files of a part of the fabric each are no samples of all of it
            if 2 * devices.len() <= counts.last_of_device.len() {
                lost.devices.extend(devices);
            }
        }
    }
    let LostPorts { ports, devices } = &mut lost;
    ports.retain(|(device, _)| !devices.contains(device));
    lost
}
