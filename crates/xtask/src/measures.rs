//! The Python module of the measures: a function each, and a class for each record.

use std::fmt::Write as _;

use crate::described::{
    COLUMNS, DescribedParam, DescribedPart, RecordClass, RecordField, doubled, indented, one_line,
    python_value, wrap,
};

/// Fields that a class cannot name: words of Python, and what every mapping has.
const NO_NAMES: &[&str] = &["from", "get", "is", "items", "keys", "values"];

/// The module of `parts`. Functions that a verb written by hand replaces, `by_hand`, are there but
/// not offered.
pub(crate) fn module(parts: &[&DescribedPart], by_hand: &[String]) -> String {
    let mut body = String::new();
    for part in parts {
        for record in inside_out(&part.records) {
            body.push_str(&class(record));
        }
    }
    for part in parts {
        body.push_str(&function(part));
    }
    body.push_str("\n\nRECORDS: dict[str, type[Record]] = {\n");
    for part in parts {
        let _ = writeln!(body, "    \"{}\": {},", part.name, part.records[0].name);
    }
    body.push_str("}\n\"\"\"The class of each measure's record.\"\"\"\n");
    let mut offered: Vec<&str> = parts.iter().map(|p| p.records[0].name.as_str()).collect();
    offered
        .extend(parts.iter().map(|p| p.name.as_str()).filter(|n| !by_hand.iter().any(|h| h == n)));
    let offered = offered.iter().fold(String::new(), |all, name| all + "    \"" + name + "\",\n");
    let used = |word: &str| body.contains(word);
    let abc: Vec<&str> =
        ["Iterable", "Mapping"].into_iter().filter(|w| used(&format!("{w}["))).collect();
    let mut head = String::from(
        "\"\"\"One function per measure, and its record; written by `cargo xtask gen`, never \
         edited.\"\"\"\n\nfrom __future__ import annotations\n\n",
    );
    if !abc.is_empty() {
        let _ = writeln!(head, "from collections.abc import {}", abc.join(", "));
    }
    match (used("Wanted"), used("Any]")) {
        (true, true) => head.push_str("from typing import TYPE_CHECKING, Any\n"),
        (true, false) => head.push_str("from typing import TYPE_CHECKING\n"),
        (false, true) => head.push_str("from typing import Any\n"),
        (false, false) => {}
    }
    if !head.ends_with("\n\n") {
        head.push('\n');
    }
    head.push_str("from flyloom.inputs.measured import measured\n");
    if used(": Source,") {
        head.push_str("from flyloom.inputs.networks import Source\n");
    }
    if used(": Tables,") {
        head.push_str("from flyloom.inputs.tables import Tables\n");
    }
    if used("@renamed") {
        head.push_str("from flyloom.support import renamed\n");
    }
    head.push_str(
        "from flyloom.support.progress import Progress\n\
         from flyloom.support.records import Record\n",
    );
    if used("Wanted") {
        head.push_str("\nif TYPE_CHECKING:\n    from flyloom.inputs.traffic import Wanted\n");
    }
    format!("{head}\n__all__ = [\n{offered}]\n{body}")
}

/// The records, each after those that it has inside.
fn inside_out(records: &[RecordClass]) -> Vec<&RecordClass> {
    let mut left: Vec<&RecordClass> = records.iter().collect();
    let mut found = Vec::new();
    let waits = |record: &RecordClass, left: &[&RecordClass]| {
        let inside = record.fields.iter().filter_map(|field| part_of(&field.kind));
        inside.into_iter().any(|part| left.iter().any(|other| other.name == part))
    };
    while let Some(next) = left.iter().position(|record| !waits(record, &left)) {
        found.push(left.remove(next));
    }
    found.extend(left); // records that contain one another; there are none
    found
}

fn class(record: &RecordClass) -> String {
    let mut out = format!("\n\nclass {}(Record):\n    \"\"\"{}", record.name, prose(&record.doc));
    if !record.fields.is_empty() {
        out.push_str("\n    Attributes\n    ----------\n");
    }
    for field in &record.fields {
        let note = if field.always { "" } else { ", not always there" };
        let note = if unnamed(field) { ", by its key alone" } else { note };
        let _ = writeln!(out, "    {} : {}{note}", field.name, field.kind);
        for line in wrap(&doubled(&one_line(&field.doc)), COLUMNS - 8) {
            out.push_str(&indented(&line, 8));
        }
    }
    out.push_str("    \"\"\"\n\n    __slots__ = ()\n");
    let parts: Vec<String> = record
        .fields
        .iter()
        .filter_map(|f| part_of(&f.kind).map(|part| format!("\"{}\": {part}", f.name)))
        .collect();
    if !parts.is_empty() {
        out.push_str("    _parts = {\n");
        for part in parts {
            let _ = writeln!(out, "        {part},");
        }
        out.push_str("    }\n");
    }
    for field in record.fields.iter().filter(|f| !unnamed(f)) {
        let _ = writeln!(out, "    {}: {}", field.name, field.kind);
    }
    out
}

fn unnamed(field: &RecordField) -> bool {
    NO_NAMES.contains(&field.name.as_str())
}

/// The record inside a type: `list[EbbPart]` has `EbbPart`.
fn part_of(kind: &str) -> Option<&str> {
    const KNOWN: [&str; 3] = ["None", "Mapping", "Any"];
    let words = kind.split(|c: char| !c.is_alphanumeric());
    words.filter(|w| w.starts_with(char::is_uppercase)).find(|w| !KNOWN.contains(w))
}

fn function(part: &DescribedPart) -> String {
    let record = &part.records[0].name;
    let (on, about) = if part.input == "routing" {
        ("Tables", "Tables of any origin, or a network, which is routed as on the command line.")
    } else {
        ("Source", "A network, as for ``network``, or tables for it.")
    };
    let mut out = String::from("\n\n");
    if !part.renamed.is_empty() {
        let names: Vec<String> =
            part.renamed.iter().map(|(old, new)| format!("{old}=\"{new}\"")).collect();
        let _ = writeln!(out, "@renamed.keywords(\"{}\", {})", part.name, names.join(", "));
    }
    let _ = write!(out, "def {}(\n    on: {on},\n    *,\n", part.name);
    for p in &part.params {
        let _ = writeln!(out, "    {}: {},", p.name, annotation(p));
    }
    let _ = write!(out, "    progress: Progress | None = None,\n) -> {record}:\n    \"\"\"");
    out.push_str(&prose(&part.doc));
    let _ = write!(out, "\n    Parameters\n    ----------\n    on : {on}\n        {about}\n");
    for p in &part.params {
        let kind = annotation(p);
        let kind = kind.split(" = ").next().unwrap_or_default();
        let _ = writeln!(out, "    {} : {kind}, optional", p.name);
        for line in wrap(&doubled(&one_line(&p.doc)), COLUMNS - 8) {
            out.push_str(&indented(&line, 8));
        }
    }
    let _ = write!(
        out,
        "    progress : callable, optional\n        Called with ``(what, done, total)`` ten times \
         a second.\n\n    Returns\n    -------\n    {record}\n\n    Raises\n    ------\n    \
         RefusalError\n        When a parameter is not one that the measure has a use for.\n    \
         \"\"\"\n"
    );
    if part.params.is_empty() {
        let _ =
            writeln!(out, "    return {record}(measured(on, \"{}\", {{}}, progress))", part.name);
        return out;
    }
    out.push_str("    given = {\n");
    for p in &part.params {
        let _ = writeln!(out, "        \"{0}\": {0},", p.name);
    }
    let _ = writeln!(
        out,
        "    }}\n    return {record}(measured(on, \"{}\", given, progress))",
        part.name
    );
    out
}

/// The type and the default of a parameter; the default is None where Python has no constant for
/// it.
fn annotation(p: &DescribedParam) -> String {
    let kind = match p.name.as_str() {
        "traffic" => "Wanted".to_owned(), // Python has matrices besides
        _ => p.kind.replace("list[", "Iterable[").replace("dict", "Mapping[str, Any]"),
    };
    match python_value(&p.default).as_str() {
        "None" | "{}" => format!("{kind} | None = None"),
        value => format!("{kind} = {value}"),
    }
}

/// A comment of Rust as the text of a docstring, indented by four but for its first line.
fn prose(doc: &str) -> String {
    let doc = doubled(doc);
    let (first, rest) = doc.split_once("\n\n").unwrap_or((&doc, ""));
    let first = one_line(first);
    let (summary, more) = match first.split_once(". ") {
        Some((summary, more)) => (format!("{summary}."), more.to_owned()),
        None => (first, String::new()),
    };
    let mut out = String::new();
    let paragraphs = [summary, more].into_iter().chain(rest.split("\n\n").map(one_line));
    for (n, text) in paragraphs.filter(|text| !text.is_empty()).enumerate() {
        if n > 0 {
            out.push('\n');
        }
        for (i, line) in wrap(&text, COLUMNS - 7).iter().enumerate() {
            out.push_str(&indented(line, if n == 0 && i == 0 { 0 } else { 4 }));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::reference::files;

    const JSON: &str = r#"[{"kind":"measure","name":"ebb","doc":"Shares. Of `all`.",
      "input":"routing",
      "params":[{"name":"seed","type":"int","required":false,"default":0,"doc":"Seed."},
        {"name":"only","type":"list[int]","required":false,"default":null,"doc":"These."}],
      "records":[
        {"name":"Ebb","doc":"What is found.","fields":[
          {"name":"ends","type":"list[EbbEnd]","doc":"Ends.","always":true},
          {"name":"items","type":"int","doc":"How many.","always":true}]},
        {"name":"EbbEnd","doc":"An end.","fields":[
          {"name":"why","type":"str","doc":"Why.","always":false}]}]}]"#;

    #[test]
    fn a_function_reads_old_names_of_its_parameters() {
        assert!(!made(&[]).contains("renamed"));
        let json = JSON.replace("\"params\"", "\"renamed\":[[\"luck\",\"seed\"]],\"params\"");
        let all = files(&json, &[]).expect("good JSON");
        let text =
            all.into_iter().find(|(name, _)| name.ends_with("_measures.py")).expect("made").1;
        assert!(
            text.contains("\n\n\n@renamed.keywords(\"ebb\", luck=\"seed\")\ndef ebb(\n"),
            "{text}"
        );
        assert!(text.contains("\nfrom flyloom.support import renamed\n"), "{text}");
        let odd = json.replace("[[\"luck\",", "[[3,");
        assert!(files(&odd, &[]).expect_err("no names").contains("`renamed`"));
    }

    fn made(by_hand: &[String]) -> String {
        let all = files(JSON, by_hand).expect("good JSON");
        all.into_iter().find(|(name, _)| name.ends_with("_measures.py")).expect("is made").1
    }

    #[test]
    fn a_measure_is_a_function_and_classes() {
        let text = made(&[]);
        for part in [
            "class EbbEnd(Record):",
            "    ends: list[EbbEnd]\n",
            "\"ends\": EbbEnd,",
            "why : str, not always there",
            "items : int, by its key alone",
            "    on: Tables,\n    *,\n    seed: int = 0,\n",
            "    only: Iterable[int] | None = None,\n",
            "\"\"\"Shares.\n\n    Of ``all``.\n",
            "    \"ebb\": Ebb,",
            "__all__ = [\n    \"Ebb\",\n    \"ebb\",\n]",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("items: int") && !text.contains("Source"), "{text}");
        assert!(
            text.find("class EbbEnd").expect("is there") < text.find("class Ebb(").expect("too")
        );
    }

    #[test]
    fn a_verb_by_hand_takes_the_functions_place() {
        let text = made(&["ebb".to_owned()]);
        assert!(text.contains("__all__ = [\n    \"Ebb\",\n]") && text.contains("def ebb("));
    }
}
