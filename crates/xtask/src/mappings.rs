//! The Python module of mappings: a function for each task, with every parameter that it takes.

use std::fmt::Write as _;

use crate::described::{
    COLUMNS, DescribedParam, DescribedPart, doubled, indented, one_line, python_value, wrap,
};
use crate::simulators::{describe, sentence};

/// The Python types of parameters with these names: objects, where the command line has files or
/// words.
const OWN_TYPES: &[(&str, &str)] = &[
    ("graph", "Graph"),
    ("hosts", "Hosts | None"),
    ("mapping", "Placed | None"),
    ("new_lids", "bool | None"),
    ("path", "str | os.PathLike[str] | None"),
    ("pin", "Pins | None"),
    ("tables", "str | os.PathLike[str] | None"),
];

const HEAD: &str = "\
\"\"\"One function per task of mapping; written by `cargo xtask gen`, never edited.\"\"\"

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Any

    from flyloom._core import Routing
    from flyloom.inputs.communication import Graph
    from flyloom.inputs.networks import Source
    from flyloom.inputs.tables import Tables
    from flyloom.support.progress import Progress
    from flyloom.support.verb_results import ProcessMapping
    from flyloom.verbs.mapping import Hosts, Pins, Placed
";

const FIGURES: &str = "\
Figures of the mapping and of the linear one, lower bounds, the busiest channels, and ``mapping``, \
the endpoint of each process: docs/mapping.md#figures.";

/// A task of mapping in Python: the properties that its row in the table does not have.
struct PythonMappingTask {
    /// The function of the verbs that does it.
    verb: &'static str,
    /// What stands for the network, and what that is.
    net: (&'static str, &'static str),
    /// The type that it returns.
    returns: &'static str,
    /// What it returns besides the figures.
    more: &'static str,
}

const ON_TABLES: (&str, &str) =
    ("Tables", "A network, as for ``network``, with ``engine`` or without; or tables.");

fn face(name: &str) -> PythonMappingTask {
    match name {
        "map_with_routing" => PythonMappingTask {
            verb: "mapped_with_routing",
            net: ("Source", "A network, as for ``network``."),
            returns: "tuple[ProcessMapping, Routing]",
            more: "They are under the new tables, with ``linear`` over all shortest paths, \
                   ``verified``, ``lanes``, ``layers``, ``routing_bound`` (no routing of this \
                   mapping has a lower maximum congestion) and ``steps`` (what each step brought: \
                   docs/mapping.md#mapping-and-routing-together). And the tables.",
        },
        "evaluate_mapping" => PythonMappingTask {
            verb: "evaluated",
            net: ON_TABLES,
            returns: "ProcessMapping",
            more: "",
        },
        _ => PythonMappingTask {
            verb: "mapped",
            net: ON_TABLES,
            returns: "ProcessMapping",
            more: "After Ctrl-C the best so far, with ``interrupted`` true.",
        },
    }
}

/// The module of `parts`, the tasks of mapping.
pub(crate) fn module(parts: &[&DescribedPart]) -> String {
    let mut names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    names.sort_unstable();
    let offered = names.iter().fold(String::new(), |all, name| all + "    \"" + name + "\",\n");
    let functions: String = parts.iter().map(|part| function(part)).collect();
    format!("{HEAD}\n__all__ = [\n{offered}]\n{functions}")
}

fn function(part: &DescribedPart) -> String {
    let face = face(&part.name);
    let (needed, others): (Vec<&DescribedParam>, Vec<&DescribedParam>) =
        part.params.iter().partition(|p| p.required);
    let mut out = format!("\n\ndef {}(\n    net: {},\n", part.name, face.net.0);
    for p in &needed {
        let _ = writeln!(out, "    {}: {},", p.name, annotation(p).trim_end_matches(" | None"));
    }
    out.push_str("    *,\n");
    for p in &others {
        let _ = writeln!(out, "    {}: {} = {},", p.name, annotation(p), usual(p));
    }
    let _ =
        write!(out, "    progress: Progress | None = None,\n) -> {}:\n    \"\"\"", face.returns);
    let doc = sentence(&doubled(&one_line(&part.doc)));
    for (n, line) in wrap(&doc, COLUMNS - 7).iter().enumerate() {
        out.push_str(&indented(line, if n == 0 { 0 } else { 4 }));
    }
    let _ = write!(out, "\n    Parameters\n    ----------\n    net : {}\n", face.net.0);
    describe(&mut out, face.net.1);
    for p in needed.iter().chain(&others) {
        let note = if p.required { "" } else { ", optional" };
        let kind = annotation(p);
        let _ = writeln!(out, "    {} : {}{note}", p.name, kind.trim_end_matches(" | None"));
        describe(&mut out, &doubled(&one_line(&p.doc)));
    }
    let _ = write!(
        out,
        "    progress : callable, optional\n        Called with ``(what, done, total)`` ten times \
         a second.\n\n    Returns\n    -------\n    {}\n",
        face.returns
    );
    describe(&mut out, format!("{FIGURES} {}", face.more).trim_end());
    out.push_str(
        "\n    Raises\n    ------\n    RefusalError\n        For what does not fit, with the file \
         and the line at fault.\n    \"\"\"\n",
    );
    // The module that does the work is loaded only when the function is called, because listing the
    // names of flyloom loads this file.
    let _ = write!(out, "    from flyloom.verbs.mapping import {}\n\n    given = {{\n", face.verb);
    for p in needed.iter().skip(1).chain(&others) {
        let _ = writeln!(out, "        \"{0}\": {0},", p.name);
    }
    let _ = writeln!(out, "    }}\n    return {}(net, graph, given, progress)", face.verb);
    out
}

/// A parameter's type.
fn annotation(p: &DescribedParam) -> String {
    if let Some((_, kind)) = OWN_TYPES.iter().find(|(name, _)| *name == p.name) {
        return (*kind).to_owned();
    }
    let kind = p.kind.replace("dict", "Mapping[str, Any]");
    if usual(p) == "None" { format!("{kind} | None") } else { kind }
}

/// The default of a parameter, as Python writes it.
fn usual(p: &DescribedParam) -> String {
    match python_value(&p.default).as_str() {
        "{}" | "()" => "None".to_owned(),
        value => value.to_owned(),
    }
}
