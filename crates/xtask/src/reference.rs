//! What follows from the compiled tables: Python functions and reference pages.

use std::fmt::Write as _;

use serde_json::Value;

use crate::described::{
    COLUMNS, DescribedColumn, DescribedParam, DescribedPart, RecordClass, RecordField, indented,
    one_line, python_value, wrap,
};
use crate::{mappings, measures, simulators};

const PYTHON: &str = "python/flyloom/_generated.py";
const MEASURES: &str = "python/flyloom/_measures.py";
const SIMULATORS: &str = "python/flyloom/_simulators.py";
const MAPPINGS: &str = "python/flyloom/_mappings.py";

/// The generated files, as (path from the root, text), made from the JSON array that the
/// registry example prints: objects of `kind` ("topology", "engine", "measure", "simulator" or
/// "mapping"), `name`, `doc`,
/// `params`, each with `name`, `type`, `required`, `default` and `doc`; measures have `input`,
/// `columns` and `records` too. `by_hand` are the verbs that Python has by hand.
///
/// # Errors
/// JSON that is not of that form, with the place.
pub(crate) fn files(json: &str, by_hand: &[String]) -> Result<Vec<(&'static str, String)>, String> {
    let parts = parse(json).map_err(|why| format!("the registry's JSON: {why}"))?;
    let of = |kind: &str| parts.iter().filter(|p| p.kind == kind).collect::<Vec<_>>();
    let (topologies, engines, stages) = (of("topology"), of("engine"), of("measure"));
    Ok(vec![
        (PYTHON, python(&topologies)),
        (MEASURES, measures::module(&stages, by_hand)),
        (SIMULATORS, simulators::module(&of("simulator"))),
        (MAPPINGS, mappings::module(&of("mapping"))),
        ("docs/topologies.md", page("Topologies", TOPOLOGIES_HEAD, &topologies)),
        ("docs/engines.md", page("Routing engines", ENGINES_HEAD, &engines)),
        ("docs/measure-reference.md", page("Measures", MEASURES_HEAD, &stages)),
    ])
}

const TOPOLOGIES_HEAD: &str = "\
Each family is a function of the Python package with the same parameters as keywords, a family of
the experiment file, and an inline network of the command line, as in `slim_fly:q=5,p=4`. Each
also takes `gbps`, the rate of its cables ([networks.md](networks.md#rates)).";

/// The parameter that every family has besides its own.
fn rate_parameter() -> DescribedParam {
    DescribedParam {
        name: "gbps".to_owned(),
        kind: "number".to_owned(),
        required: false,
        default: Value::Null,
        doc: "Rate of the cables, Gbit/s; where it is left out the network says none.".to_owned(),
        shared: false,
    }
}

const ENGINES_HEAD: &str = "\
Each engine is named by `--engine` on the command line, `engine` in the experiment file and the
second argument of `flyloom.route`.";

const MEASURES_HEAD: &str = "\
Each measure is a table of the experiment file, `[ebb]`, a command, `flyloom ebb`, and a function of
Python, `flyloom.ebb(...)`, which gives the record of the class named here; `flyloom.measure` runs
it by name. The columns go into `rows.parquet`, with the measure's name before theirs, and into the
report. What the figures mean is in [measures.md](measures.md) and [structure.md](structure.md).
[adding-a-measure.md](adding-a-measure.md) adds one.";

fn parse(json: &str) -> Result<Vec<DescribedPart>, String> {
    let value: Value = serde_json::from_str(json).map_err(|e| e.to_string())?;
    let list = value.as_array().ok_or("not an array")?;
    list.iter().enumerate().map(|(n, v)| part(v).map_err(|e| format!("[{n}]: {e}"))).collect()
}

fn part(value: &Value) -> Result<DescribedPart, String> {
    let kind = text(value, "kind")?;
    if kind == "measure" && list(value, "records").next().is_none() {
        return Err("`records` is missing or empty".to_owned());
    }
    if !["topology", "engine", "measure", "simulator", "mapping"].contains(&kind.as_str()) {
        return Err(format!("`kind` is \"{kind}\", no kind of part"));
    }
    let params = value["params"].as_array().ok_or("`params` is not an array")?;
    let params = params.iter().enumerate();
    let columns = list(value, "columns");
    let promised = |key: &str| value["promise"][key] == true;
    let words =
        [("minimal", "every route is a shortest one"), ("deadlock_free", "free of deadlock")];
    Ok(DescribedPart {
        promise: words.iter().filter(|(key, _)| promised(key)).map(|(_, say)| *say).collect(),
        columns: columns.map(column).collect::<Result<_, _>>()?,
        input: value["input"].as_str().unwrap_or_default().to_owned(),
        records: list(value, "records").map(record).collect::<Result<_, _>>()?,
        renamed: list(value, "renamed").map(renamed).collect::<Result<_, _>>()?,
        kind,
        name: text(value, "name")?,
        doc: text(value, "doc")?,
        params: params
            .map(|(n, v)| param(v).map_err(|e| format!("params[{n}]: {e}")))
            .collect::<Result<_, _>>()?,
    })
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn renamed(value: &Value) -> Result<(String, String), String> {
    match (value[0].as_str(), value[1].as_str()) {
        (Some(old), Some(new)) => Ok((old.to_owned(), new.to_owned())),
        _ => Err(format!("`renamed`: {value} is no pair of names")),
    }
}

fn record(value: &Value) -> Result<RecordClass, String> {
    let field = |value: &Value| -> Result<RecordField, String> {
        Ok(RecordField {
            name: text(value, "name")?,
            kind: text(value, "type")?,
            doc: text(value, "doc")?,
            always: value["always"] == true,
        })
    };
    Ok(RecordClass {
        name: text(value, "name")?,
        doc: text(value, "doc")?,
        fields: list(value, "fields").map(field).collect::<Result<_, _>>()?,
    })
}

fn column(value: &Value) -> Result<DescribedColumn, String> {
    Ok(DescribedColumn {
        name: text(value, "name")?,
        unit: text(value, "unit")?,
        meaning: text(value, "meaning")?,
        better: text(value, "better")?,
    })
}

fn param(value: &Value) -> Result<DescribedParam, String> {
    Ok(DescribedParam {
        name: text(value, "name")?,
        kind: text(value, "type")?,
        required: value["required"].as_bool().ok_or("`required` is not true or false")?,
        default: value["default"].clone(),
        doc: text(value, "doc")?,
        shared: value["shared"] == true,
    })
}

fn text(value: &Value, key: &str) -> Result<String, String> {
    let text = value[key].as_str().ok_or(format!("`{key}` is missing or not a string"))?;
    Ok(text.trim().to_owned())
}

/// The Python module: one keyword-only function per topology.
fn python(parts: &[&DescribedPart]) -> String {
    let mut out = String::from(
        "\"\"\"One function per topology; written by `cargo xtask gen`, never edited.\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from collections.abc import Sequence\n\n\
         from flyloom import _core\n\n__all__ = [\n",
    );
    for part in parts {
        let _ = writeln!(out, "    \"{}\",", part.name);
    }
    out.push_str("]\n");
    for part in parts {
        out.push_str(&function(part));
    }
    out.push_str(
        "\n\ndef _given(**params: object) -> dict[str, object]:\n    \
         \"\"\"Return the parameters that were given: those that are not None.\"\"\"\n    \
         return {name: value for name, value in params.items() if value is not None}\n",
    );
    // A module without a sequence parameter needs no import of it.
    if out.matches("Sequence").count() == 1 {
        out = out.replace("from collections.abc import Sequence\n\n", "");
    }
    out
}

fn function(part: &DescribedPart) -> String {
    let mut out = format!("\n\ndef {}(", part.name);
    // Python takes keyword-only arguments in any order: the required ones are shown first.
    let (required, optional): (Vec<&DescribedParam>, Vec<&DescribedParam>) =
        part.params.iter().partition(|p| p.required);
    let rate = rate_parameter();
    let ordered: Vec<&DescribedParam> =
        required.into_iter().chain(optional).chain([&rate]).collect();
    out.push_str("\n    *,\n");
    for p in &ordered {
        let _ = writeln!(out, "    {},", signature(p));
    }
    let raw = if docstring(part, &ordered).contains('\\') { "r" } else { "" };
    let _ = write!(
        out,
        ") -> _core.Topology:\n    {raw}\"\"\"{}    \"\"\"\n    return _core.Topology.from_spec(",
        docstring(part, &ordered).replace("\"\"\"", "'''"),
    );
    let _ = writeln!(out, "\n        \"{}\",\n        _given(", part.name);
    for p in &ordered {
        let _ = writeln!(out, "            {0}={0},", p.name);
    }
    out + "        ),\n    )\n"
}

fn signature(p: &DescribedParam) -> String {
    let kind = python_type(&p.kind);
    match (p.required, &p.default) {
        (true, _) => format!("{}: {kind}", p.name),
        (false, Value::Null) => format!("{}: {kind} | None = None", p.name),
        (false, value) => format!("{}: {kind} = {}", p.name, python_value(value)),
    }
}

fn docstring(part: &DescribedPart, params: &[&DescribedParam]) -> String {
    let lines = part.doc.lines().flat_map(|line| match line.trim_end() {
        long if long.chars().count() + 7 > COLUMNS => wrap(long, COLUMNS - 7),
        short => vec![short.to_owned()],
    });
    let mut out = String::new();
    for (n, line) in lines.enumerate() {
        out.push_str(&indented(&line, if n == 0 { 0 } else { 4 }));
    }
    if !params.is_empty() {
        out.push_str("\n    Parameters\n    ----------\n");
    }
    for p in params {
        let note = if p.required { "" } else { ", optional" };
        let _ = writeln!(out, "    {} : {}{note}", p.name, python_type(&p.kind));
        for line in wrap(&one_line(&p.doc), COLUMNS - 8) {
            out.push_str(&indented(&line, 8));
        }
    }
    out.push_str("\n    Returns\n    -------\n    Topology\n");
    out.push_str("\n    Raises\n    ------\n    RefusalError\n");
    out.push_str("        When a parameter is outside what the family is defined for.\n");
    out
}

fn python_type(kind: &str) -> &str {
    match kind {
        "integer" => "int",
        "number" => "float",
        "string" => "str",
        "boolean" => "bool",
        "list[int]" | "ints" => "Sequence[int]",
        other => other,
    }
}

/// The fields of a measure's record and of what is inside it.
fn records(out: &mut String, records: &[RecordClass]) {
    for record in records {
        let _ = write!(
            out,
            "\n`{}`: {}\n\n| field | type | meaning |\n|---|---|---|\n",
            record.name,
            one_line(&record.doc)
        );
        for field in &record.fields {
            let kind = field.kind.replace(" | ", " or ");
            let note = if field.always { "" } else { ", or not there" };
            let doc = one_line(&field.doc).replace('|', "\\|");
            let _ = writeln!(out, "| `{}` | {kind}{note} | {doc} |", field.name);
        }
    }
}

/// A reference page: a section a part, a table of its parameters.
fn page(title: &str, head: &str, parts: &[&DescribedPart]) -> String {
    let mut out = format!(
        "# {title}\n\n<!-- Written by `cargo xtask gen` from the code's own comments. -->\n\n\
         {head}\n"
    );
    let shared = parts.iter().map(|part| params(part, true)).max_by_key(Vec::len);
    if let Some(shared) = shared.filter(|all| !all.is_empty()) {
        out.push_str("\nAll take these parameters besides their own:\n");
        table(&mut out, &shared);
    }
    for part in parts {
        let _ = write!(out, "\n## {}\n\n{}\n", part.name, part.doc);
        if !part.promise.is_empty() {
            let _ =
                write!(out, "\nPromise, checked on all families: {}.\n", part.promise.join("; "));
        }
        columns(&mut out, &part.columns);
        records(&mut out, &part.records);
        match params(part, false).as_slice() {
            [] => out.push_str("\nNo parameters.\n"),
            own => table(&mut out, own),
        }
    }
    out
}

/// The parameters of a part that all of its kind have, or the others.
fn params(part: &DescribedPart, shared: bool) -> Vec<&DescribedParam> {
    part.params.iter().filter(|p| p.shared == shared).collect()
}

fn table(out: &mut String, params: &[&DescribedParam]) {
    out.push_str("\n| parameter | type | default | meaning |\n|---|---|---|---|\n");
    for p in params {
        let default = match (p.required, &p.default) {
            (true, _) => "required".to_owned(),
            (false, Value::Null) => "-".to_owned(),
            (false, value) => format!("`{value}`"),
        };
        let doc = one_line(&p.doc).replace('|', "\\|");
        let kind = p.kind.replace(" | ", " or ");
        let _ = writeln!(out, "| `{}` | {kind} | {default} | {doc} |", p.name);
    }
}

fn columns(out: &mut String, columns: &[DescribedColumn]) {
    if columns.is_empty() {
        return;
    }
    out.push_str("\n| column | unit | better | meaning |\n|---|---|---|---|\n");
    for c in columns {
        let dash = |word: &str| {
            if word.is_empty() || word == "neither" { "-".into() } else { word.to_owned() }
        };
        let (unit, better) = (dash(&c.unit), dash(&c.better));
        let _ = writeln!(out, "| `{}` | {unit} | {better} | {} |", c.name, c.meaning);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"[
      {"kind":"topology","name":"ring","doc":"A ring.\n\nSource: folklore.",
       "params":[{"name":"p","type":"int","required":false,"default":null,"doc":"endpoints"},
                 {"name":"n","type":"int","required":true,"default":null,"doc":"switches | a\nlot"},
                 {"name":"side","type":"str","required":false,"default":"left","doc":"w"}]},
      {"kind":"engine","name":"min_hop","doc":"Fewest hops.","params":[]}]"#;

    fn file(name: &str) -> String {
        let all = files(JSON, &[]).expect("good JSON");
        all.into_iter().find(|(n, _)| *n == name).expect("is made").1
    }

    #[test]
    fn python_shows_required_parameters_first() {
        let text = file(PYTHON);
        let [p, gbps] = ["p: int", "gbps: float"].map(|it| format!("    {it} | None = None,\n"));
        let heads = ["    n: int,\n", &p, "    side: str = \"left\",\n", &gbps];
        let places: Vec<_> = heads.iter().map(|h| text.find(*h).expect(h)).collect();
        assert!(places.is_sorted());
        assert!(text.contains("def ring(\n    *,\n") && !text.contains("def min_hop("));
        assert!(!text.contains("Sequence"), "an import nobody uses");
    }

    #[test]
    fn python_is_python() {
        let text = file(PYTHON);
        let check = "import ast, sys; ast.parse(sys.argv[1])";
        let done = std::process::Command::new("python3").args(["-c", check, &text]).status();
        assert!(done.is_ok_and(|s| s.success()), "{text}");
    }

    #[test]
    fn long_comments_are_wrapped() {
        let long = JSON.replace("A ring.", &"word ".repeat(60));
        let all = files(&long, &[]).expect("good JSON");
        let columns = all[0].1.lines().map(|l| l.chars().count()).max();
        assert!(columns <= Some(100) && columns > Some(80), "{columns:?}");
    }

    #[test]
    fn pages_hold_their_own_kind_and_escape_tables() {
        let (topologies, engines) = (file("docs/topologies.md"), file("docs/engines.md"));
        assert!(topologies.contains("| `n` | int | required | switches \\| a lot |"));
        assert!(topologies.contains("## ring") && !topologies.contains("min_hop"));
        assert!(engines.contains("## min_hop") && engines.contains("No parameters."));
    }

    #[test]
    fn bad_json_is_named() {
        for (json, part) in [
            ("{}", "not an array"),
            ("[{}]", "[0]: `kind` is missing"),
            (r#"[{"kind":"fish"}]"#, "no kind of part"),
            (r#"[{"kind":"engine","name":"a","doc":"","params":[{}]}]"#, "params[0]: `name`"),
        ] {
            let why = files(json, &[]).expect_err(json);
            assert!(why.contains(part), "{why}");
        }
    }
}
