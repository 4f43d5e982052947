//! Networks as DOT, for Graphviz; written only.

use super::kind::terminals_up;
use base::{LinkId, SwitchId};
use fabric::network::Topology;
use std::fmt::Write;

/// The switches and links of `t` as an undirected DOT graph.
///
/// Nodes are numbered by switch id and labelled with name and number of endpoints; switches of one
/// group share a cluster number; what has failed is dashed. O(network).
pub fn write(t: &Topology) -> String {
    let mut out = format!("graph {} {{\n  node [shape=box];\n", quote(&t.recipe().to_string()));
    for (i, s) in t.switches().iter().enumerate() {
        let endpoints = terminals_up(t, SwitchId::from(i));
        let label =
            if endpoints == 0 { s.name.clone() } else { format!("{} ({endpoints})", s.name) };
        let style = if s.up { "" } else { ", style=dashed" };
        let _ = writeln!(out, "  {i} [label={}, group=\"{}\"{style}];", quote(&label), s.group);
    }
    for (i, link) in t.links().iter().enumerate() {
        let style = if t.link_is_up(LinkId::from(i)) { "" } else { " [style=dashed]" };
        let _ = writeln!(out, "  {} -- {}{style};", link.a.switch, link.b.switch);
    }
    out.push_str("}\n");
    out
}

/// A double-quoted DOT string.
fn quote(text: &str) -> String {
    let escaped: String = text
        .chars()
        .flat_map(|c| match c {
            '"' => vec!['\\', '"'],
            '\\' => vec!['\\', '\\'],
            c if c.is_control() => vec![' '],
            c => vec![c],
        })
        .collect();
    format!("\"{escaped}\"")
}
