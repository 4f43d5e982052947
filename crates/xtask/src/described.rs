//! A part as the compiled tables describe it, and text that is cut to lines: what all generated
//! files are made of.

use serde_json::Value;

pub(crate) const COLUMNS: usize = 96;

/// A part of the product as the compiled table describes it.
pub(crate) struct DescribedPart {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) params: Vec<DescribedParam>,
    /// What an engine promises, in words; empty for other kinds.
    pub(crate) promise: Vec<&'static str>,
    /// The columns of a measure.
    pub(crate) columns: Vec<DescribedColumn>,
    /// What a measure is run on.
    pub(crate) input: String,
    /// The classes of a measure's record: its own, then those inside it.
    pub(crate) records: Vec<RecordClass>,
    /// The parameters of a measure that had other names: old and new name of each.
    pub(crate) renamed: Vec<(String, String)>,
}

/// A column of a measure.
pub(crate) struct DescribedColumn {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) meaning: String,
    pub(crate) better: String,
}

/// A parameter of a part.
pub(crate) struct DescribedParam {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) required: bool,
    pub(crate) default: Value,
    pub(crate) doc: String,
    /// Whether all parts of the kind have it.
    pub(crate) shared: bool,
}

pub(crate) fn python_value(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(python_value).collect();
            let comma = if items.len() == 1 { "," } else { "" };
            format!("({}{comma})", items.join(", "))
        }
        other => other.to_string(),
    }
}

pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn indented(line: &str, by: usize) -> String {
    if line.is_empty() { "\n".to_owned() } else { format!("{:by$}{line}\n", "") }
}

/// Breaks a text at spaces into lines of at most `width` characters, where words allow.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A class of a record.
pub(crate) struct RecordClass {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) fields: Vec<RecordField>,
}

/// A field of a record.
pub(crate) struct RecordField {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) doc: String,
    /// Whether every record has it.
    pub(crate) always: bool,
}

/// Code as docstrings mark it: between two backticks.
pub(crate) fn doubled(text: &str) -> String {
    text.replace('`', "``")
}
