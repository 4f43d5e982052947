//! The Python module of the simulators: a function each, with every parameter of its stage.

use std::fmt::Write as _;

use crate::described::{
    COLUMNS, DescribedParam, DescribedPart, doubled, indented, one_line, python_value, wrap,
};

/// Types of Python that parameters of these names may have besides those that JSON has.
const OWN_TYPES: &[(&str, &str)] = &[
    ("costs", "Mapping[str, Any] | str | os.PathLike[str]"),
    ("placement", "Placed"),
    ("traffic", "Wanted"),
    ("workload", "Scheduled | Sequence[Scheduled]"),
];

/// Parameters of which several values may be given: each is run with every other.
const SEVERAL: &[&str] = &["selection", "traffic"];

const HEAD: &str = "\
\"\"\"One function per simulator; written by `cargo xtask gen`, never edited.\"\"\"

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flyloom.support.progress import Progress
from flyloom.verbs.simulation import simulate
from flyloom.verbs.tidy import Simulation

if TYPE_CHECKING:
    from flyloom.inputs.placements import Placed
    from flyloom.inputs.tables import Tables
    from flyloom.inputs.traffic import Wanted
    from flyloom.inputs.workloads import Scheduled
";

/// What every function takes besides the parameters of its stage, with its type and what it is.
const SHARED: &[(&str, &str, &str)] = &[
    ("engine", "str | None", "Routes are those of this engine's tables."),
    ("lmc", "int | None", "LID mask control of these, 0 to 7."),
    ("layers", "int | None", "Routes of these to every endpoint."),
    ("engine_options", "Mapping[str, Any] | None", "Options of the engine."),
    ("settings", "Mapping[str, Any] | None", "Parameters of tables by their dotted names."),
    ("threads", "int | None", "Processors to use; the result is the same with any number."),
];

/// The rate, for the levels that have one: the name, its type and what it is.
const RATE: (&str, &str, &str) = (
    "gbps",
    "float | None",
    "Rate of the network's cables, Gbit/s: the fastest have it, slower ones keep their part of it.",
);

/// What the function of a level takes besides the parameters of its stage.
fn shared(
    level: &str,
) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    SHARED.iter().chain((level != "flit").then_some(&RATE))
}

/// The module of `parts`, the stages of simulators.
pub(crate) fn module(parts: &[&DescribedPart]) -> String {
    let names: Vec<&str> = parts.iter().map(|part| level(part)).collect();
    let offered = names.iter().fold(String::new(), |all, name| all + "    \"" + name + "\",\n");
    let functions: String = parts.iter().map(|part| function(part)).collect();
    format!("{HEAD}\n__all__ = [\n{offered}]\n{functions}")
}

/// The level of a simulator: `flit` of `sim.flit`.
fn level(part: &DescribedPart) -> &str {
    part.name.rsplit('.').next().unwrap_or(&part.name)
}

fn function(part: &DescribedPart) -> String {
    let level = level(part);
    let is_alone = level == "message";
    let on = if is_alone { "Tables | None" } else { "Tables" };
    let mut out = format!("\n\ndef {level}(\n    source: {on},\n    *,\n");
    for p in &part.params {
        let _ = writeln!(out, "    {}: {} | None = None,", p.name, annotation(p));
    }
    for (name, kind, _) in shared(level) {
        let _ = writeln!(out, "    {name}: {kind} = None,");
    }
    if is_alone {
        out.push_str("    critical_path: bool = False,\n");
    }
    out.push_str("    progress: Progress | None = None,\n) -> Simulation:\n    \"\"\"");
    for (n, line) in wrap(&doubled(&one_line(&part.doc)), COLUMNS - 7).iter().enumerate() {
        out.push_str(&indented(line, if n == 0 { 0 } else { 4 }));
    }
    let about = if is_alone {
        "A network or tables that messages go over; None: they take ``L`` and ``G`` of ``costs``."
    } else {
        "A network, as for ``network``, or tables."
    };
    let _ = write!(out, "\n    Parameters\n    ----------\n    source : {on}\n");
    describe(&mut out, about);
    for p in &part.params {
        let _ = writeln!(out, "    {} : {}, optional", p.name, annotation(p));
        let usual = python_value(&p.default);
        let mut doc = doubled(&one_line(&p.doc));
        if SEVERAL.contains(&p.name.as_str()) || is_alone && p.name == "workload" {
            doc = format!("{} Of several, each is run.", sentence(&doc));
        }
        if matches!(usual.as_str(), "None" | "{}" | "()" | "[]") || p.kind == "dict" {
            describe(&mut out, &doc);
        } else {
            describe(&mut out, &format!("{} Default: {usual}.", sentence(&doc)));
        }
    }
    for (name, kind, doc) in shared(level) {
        let _ = writeln!(out, "    {name} : {kind}, optional");
        describe(&mut out, doc);
    }
    if is_alone {
        out.push_str("    critical_path : bool, optional\n");
        describe(&mut out, "Finds, too, what the end of the run waited for.");
    }
    let _ = write!(
        out,
        "    progress : callable, optional\n        Called with ``(what, done, total)`` ten times \
         a second.\n\n    Returns\n    -------\n    Simulation\n        As of \
         :func:`flyloom.simulate`, see docs/{level}.md.\n\n    Raises\n    ------\n    \
         RefusalError\n        For parameters that do not fit, and for routing that is not proved \
         free of\n        deadlock.\n    \"\"\"\n    return simulate(\n        source, \
         \"{level}\", \
         engine=engine, lmc=lmc, layers=layers, engine_options=engine_options,\n        \
         settings=settings, threads=threads, progress=progress"
    );
    if is_alone {
        out.push_str(",\n        critical_path=critical_path");
    }
    if level != "flit" {
        out.push_str(", gbps=gbps");
    }
    out.push_str(",\n");
    for p in &part.params {
        let _ = writeln!(out, "        {0}={0},", p.name);
    }
    out.push_str("    )\n");
    out
}

/// The text of a parameter, indented below its name.
pub(crate) fn describe(out: &mut String, text: &str) {
    for line in wrap(text, COLUMNS - 8) {
        out.push_str(&indented(&line, 8));
    }
}

/// `text` with a full stop at its end.
pub(crate) fn sentence(text: &str) -> String {
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

/// A parameter's type.
fn annotation(p: &DescribedParam) -> String {
    if p.name == "selection" {
        // a selection of the user's own is a table, where the level takes one
        let one = p.kind.replace("dict", "Mapping[str, Any]");
        return format!("{one} | Sequence[{one}]");
    }
    match OWN_TYPES.iter().find(|(name, _)| *name == p.name) {
        Some((_, kind)) => (*kind).to_owned(),
        None => p.kind.replace("list[", "Sequence[").replace("dict", "Mapping[str, Any]"),
    }
}
