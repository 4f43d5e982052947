//! The compiled module `flyloom._core`: classes and functions of the Rust crates, without logic.
#![allow(missing_docs, unreachable_pub, clippy::needless_pass_by_value, clippy::missing_errors_doc)]

mod cables;
mod classes;
mod cost;
mod enter;
mod export;
mod fault;
mod file_formats;
mod identify;
mod lab_face;
mod mapping;
mod message;
mod observed;
mod packet;
mod pickling;
mod plugins;
mod ranks;
mod routing;
mod search;
mod sim;
mod sizing;
mod stage;
mod throughput;
mod topology;
mod views;
mod workload;

use pyo3::prelude::*;

#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("__build__", env!("FLYLOOM_BUILD"))?;
    m.add("__sources__", env!("FLYLOOM_SOURCES"))?;
    fault::listen();
    m.add("FaultError", m.py().get_type::<fault::FaultError>())?;
    m.add_function(wrap_pyfunction!(enter::plant_fault, m)?)?;
    m.add("RefusalError", m.py().get_type::<enter::RefusalError>())?;
    m.add_class::<topology::Topology>()?;
    m.add_class::<routing::Routing>()?;
    m.add_class::<throughput::Traffic>()?;
    m.add_class::<ranks::Ranks>()?;
    m.add_function(wrap_pyfunction!(ranks::map_library, m)?)?;
    m.add_class::<cost::Shop>()?;
    m.add_class::<workload::Workload>()?;
    m.add_function(wrap_pyfunction!(cables::qr_code, m)?)?;
    m.add_function(wrap_pyfunction!(cost::check_floor_rules, m)?)?;
    m.add_function(wrap_pyfunction!(cost::study_of_2014, m)?)?;
    m.add_function(wrap_pyfunction!(export::export_formats, m)?)?;
    m.add_function(wrap_pyfunction!(export::export_text, m)?)?;
    m.add_function(wrap_pyfunction!(export::export_beside, m)?)?;
    m.add_class::<search::Search>()?;
    m.add_function(wrap_pyfunction!(search::search_bounds, m)?)?;
    m.add_function(wrap_pyfunction!(search::search_random, m)?)?;
    m.add_function(wrap_pyfunction!(search::search_designs, m)?)?;
    m.add_function(wrap_pyfunction!(search::search_host_distances, m)?)?;
    m.add_function(wrap_pyfunction!(pickling::kept_topology, m)?)?;
    m.add_function(wrap_pyfunction!(pickling::kept_routing, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::expand, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::point_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::point_need, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::simulation_fits, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::traffic_fits, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::over_seeds, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::registry, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::kinds, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::parts, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::mappings, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::opensm_engines, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::routes_asked, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::experiment_schema, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::simulators, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::renewed, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::experiment_place, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::experiment_plugins, m)?)?;
    m.add_function(wrap_pyfunction!(lab_face::check_choice, m)?)?;
    m.add_function(wrap_pyfunction!(plugins::plugin_parameters, m)?)?;
    m.add_function(wrap_pyfunction!(plugins::parse_inline, m)?)?;
    m.add_function(wrap_pyfunction!(plugins::meant, m)?)?;
    m.add_function(wrap_pyfunction!(plugins::did_you_mean, m)?)?;
    m.add_function(wrap_pyfunction!(plugins::table_with, m)?)?;
    m.add_function(wrap_pyfunction!(plugins::whole_amount, m)?)?;
    m.add_function(wrap_pyfunction!(plugins::tables_of_hops, m)?)?;
    m.add_function(wrap_pyfunction!(plugins::tables_of_paths, m)?)?;
    simulators(m)
}

/// Adds what simulates and maps to the module.
fn simulators(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(sim::flit_schema, m)?)?;
    m.add_function(wrap_pyfunction!(sim::simulate_flit, m)?)?;
    m.add_function(wrap_pyfunction!(sim::booksim_names, m)?)?;
    m.add_function(wrap_pyfunction!(sim::simulate_booksim, m)?)?;
    m.add_function(wrap_pyfunction!(message::simulate_message, m)?)?;
    m.add_function(wrap_pyfunction!(message::message_schema, m)?)?;
    m.add_class::<mapping::Communication>()?;
    m.add_function(wrap_pyfunction!(mapping::map_processes, m)?)?;
    m.add_function(wrap_pyfunction!(mapping::map_with_routing, m)?)?;
    m.add_function(wrap_pyfunction!(mapping::evaluate_mapping, m)?)?;
    m.add_function(wrap_pyfunction!(mapping::mapping_loads, m)?)?;
    m.add_function(wrap_pyfunction!(mapping::hosts_of, m)?)?;
    m.add_function(wrap_pyfunction!(mapping::pins_of, m)?)?;
    m.add_function(wrap_pyfunction!(mapping::mapping_of, m)?)?;
    m.add_function(wrap_pyfunction!(mapping::mapping_text, m)?)?;
    m.add_function(wrap_pyfunction!(mapping::mapping_names, m)?)?;
    m.add_function(wrap_pyfunction!(packet::packet_schema, m)?)?;
    m.add_function(wrap_pyfunction!(packet::simulate_packet, m)?)?;
    m.add_function(wrap_pyfunction!(workload::workload_list, m)?)?;
    m.add_function(wrap_pyfunction!(workload::noise_keys, m)?)?;
    m.add_function(wrap_pyfunction!(workload::recorded_schedule, m)?)?;
    m.add_function(wrap_pyfunction!(workload::workload_best, m)?)?;
    m.add_function(wrap_pyfunction!(file_formats::trace_formats, m)?)?;
    m.add_function(wrap_pyfunction!(file_formats::trace_format_of, m)?)?;
    m.add_function(wrap_pyfunction!(file_formats::trace_looks, m)?)?;
    m.add_function(wrap_pyfunction!(file_formats::trace_ranks, m)?)?;
    m.add_function(wrap_pyfunction!(file_formats::trace_read, m)?)?;
    m.add_function(wrap_pyfunction!(file_formats::trace_counts, m)?)?;
    m.add_function(wrap_pyfunction!(file_formats::trace_written, m)?)?;
    m.add_function(wrap_pyfunction!(file_formats::trace_made, m)?)?;
    m.add_function(wrap_pyfunction!(file_formats::trace_rewritten, m)?)?;
    m.add_function(wrap_pyfunction!(file_formats::format_examples, m)?)?;
    m.add_function(wrap_pyfunction!(file_formats::network_pair, m)?)?;
    m.add_function(wrap_pyfunction!(observed::observe_counters, m)?)?;
    m.add_function(wrap_pyfunction!(observed::predicted_loads, m)?)?;
    m.add_function(wrap_pyfunction!(observed::estimated_traffic, m)?)?;
    m.add_function(wrap_pyfunction!(identify::identify, m)?)?;
    m.add_function(wrap_pyfunction!(sizing::nearest, m)?)?;
    m.add_function(wrap_pyfunction!(sizing::carrying, m)?)?;
    m.add_function(wrap_pyfunction!(sizing::described_member, m)?)?;
    m.add_function(wrap_pyfunction!(sizing::nearest_members, m)?)?;
    m.add_function(wrap_pyfunction!(sizing::address_table, m)?)?;
    Ok(())
}
