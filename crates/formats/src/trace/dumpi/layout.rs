//! The layout of the record of each call: the rows of `calls.csv`.

use super::bytes::ByteCursor;
use base::Refusal;
use std::sync::LazyLock;

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentType {
    I8,
    I16,
    I32,
    I64,
    Text,
    /// As many texts as the argument before says.
    Texts,
    Status,
}

/// An argument in the record of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallArgument {
    pub(super) name: &'static str,
    pub(super) is: ArgumentType,
    /// How deep its lists are: 0 for a value.
    pub(super) lists: u8,
    /// Whether only the root has it.
    root: bool,
}

/// The arguments of a call.
#[derive(Debug)]
pub(super) struct CallLayout {
    pub(super) name: &'static str,
    pub(super) arguments: Vec<CallArgument>,
}

/// The layouts of all calls by their numbers.
pub(super) static LAYOUTS: LazyLock<Vec<CallLayout>> =
    LazyLock::new(|| include_str!("calls.csv").lines().skip(1).map(layout).collect());

/// The only call whose record has no known layout.
pub(super) const PCONTROL: u16 = 128;

fn layout(row: &'static str) -> CallLayout {
    let mut columns = row.splitn(3, ',').skip(1);
    let (name, said) = (columns.next().unwrap_or(""), columns.next().unwrap_or(""));
    CallLayout { name, arguments: said.split_whitespace().map(argument).collect() }
}

fn argument(said: &'static str) -> CallArgument {
    let (root, said) = said.strip_prefix("root?").map_or((false, said), |rest| (true, rest));
    let (name, kind) = said.split_once(':').expect("a row of calls.csv has NAME:TYPE");
    let plain = kind.trim_end_matches("[]");
    let is = match plain {
        "i8" => ArgumentType::I8,
        "i16" => ArgumentType::I16,
        "i32" => ArgumentType::I32,
        "i64" => ArgumentType::I64,
        "str" => ArgumentType::Text,
        "str*argc" => ArgumentType::Texts,
        "status" => ArgumentType::Status,
        _ => unreachable!("{kind} is no type of calls.csv"),
    };
    CallArgument { name, is, lists: ((kind.len() - plain.len()) / 2) as u8, root }
}

/// A value of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ArgumentValue {
    /// A number.
    Number(i64),
    /// Numbers.
    Numbers(Vec<i64>),
    /// A text.
    Text(String),
    /// Several texts, or lists.
    List(Vec<ArgumentValue>),
    /// What was received, of each request.
    Statuses(Vec<ReceiveStatus>),
}

/// The status of a receive: the message that it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReceiveStatus {
    /// Bytes received.
    pub bytes: i32,
    /// Who sent them, in the communicator.
    pub source: i32,
    /// The tag; none in traces before version 0.6.3.
    pub tag: Option<i32>,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// The error, of which there is one byte.
    pub error: u8,
}

/// Arguments by their names, in the order of the record.
pub(super) type Arguments = Vec<(&'static str, ArgumentValue)>;

/// The form of the records of a file: all that their layout depends on apart from the call.
#[derive(Debug, Clone, Copy)]
pub(super) struct DumpiRecordFormat {
    pub(super) version: [u8; 3],
    /// Whether records have statuses.
    pub(super) statuses: bool,
}

/// The value of the first argument with one of these names that is a number.
pub(super) fn number(found: &Arguments, names: &[&str]) -> Option<i64> {
    found.iter().find_map(|(name, value)| match value {
        ArgumentValue::Number(n) if names.contains(name) => Some(*n),
        _ => None,
    })
}

impl CallArgument {
    /// Whether a record has the argument, by those before it: some arguments only the root has.
    pub(super) fn is_there(&self, before: &Arguments) -> bool {
        !self.root || number(before, &["commrank", "oldcommrank"]) == number(before, &["root"])
    }
}

impl CallLayout {
    /// The arguments of a record of this call.
    pub(super) fn read(
        &self,
        from: &mut ByteCursor<'_>,
        form: DumpiRecordFormat,
    ) -> Result<Arguments, Refusal> {
        let mut found: Arguments = Vec::with_capacity(self.arguments.len());
        for argument in &self.arguments {
            if !argument.is_there(&found) {
                continue;
            }
            if argument.is == ArgumentType::Texts {
                // before version 0.6.2, records have the number of arguments twice
                let argc = number(&found, &["argc"]).unwrap_or(0);
                let argc = if form.version < [0, 6, 2] { from.i32()?.into() } else { argc };
                let mut all = Vec::new();
                for _ in 0..argc {
                    all.push(text(from)?);
                }
                found.push((argument.name, ArgumentValue::List(all)));
                continue;
            }
            // arrays of these calls were one number in old versions
            let single = match (self.name, argument.name) {
                ("Cart_get", "coords") => form.version < [0, 6, 8],
                ("Type_struct", "indices") => form.version < [0, 6, 9],
                _ => false,
            };
            let lists = if single { 0 } else { argument.lists };
            found.push((argument.name, value(argument.is, lists, from, form)?));
        }
        Ok(found)
    }
}

fn value(
    is: ArgumentType,
    lists: u8,
    from: &mut ByteCursor<'_>,
    form: DumpiRecordFormat,
) -> Result<ArgumentValue, Refusal> {
    Ok(match (is, lists) {
        (ArgumentType::Status, _) => ArgumentValue::Statuses(statuses(from, form)?),
        (ArgumentType::Text | ArgumentType::Texts, 0) => text(from)?,
        (_, 0) => ArgumentValue::Number(number_of(is, from)?),
        (ArgumentType::I8 | ArgumentType::I16 | ArgumentType::I32 | ArgumentType::I64, 1) => {
            let count = from.count(1)?;
            let all: Result<_, _> = (0..count).map(|_| number_of(is, from)).collect();
            ArgumentValue::Numbers(all?)
        }
        _ => {
            let count = from.count(1)?;
            let all: Result<_, _> = (0..count).map(|_| value(is, lists - 1, from, form)).collect();
            ArgumentValue::List(all?)
        }
    })
}

fn text(from: &mut ByteCursor<'_>) -> Result<ArgumentValue, Refusal> {
    Ok(ArgumentValue::Text(String::from_utf8_lossy(from.text()?).into_owned()))
}

fn number_of(is: ArgumentType, from: &mut ByteCursor<'_>) -> Result<i64, Refusal> {
    Ok(match is {
        ArgumentType::I8 => from.i8()?.into(),
        ArgumentType::I16 => from.i16()?.into(),
        ArgumentType::I64 => from.i64()?,
        _ => from.i32()?.into(),
    })
}

fn statuses(
    from: &mut ByteCursor<'_>,
    form: DumpiRecordFormat,
) -> Result<Vec<ReceiveStatus>, Refusal> {
    if !form.statuses {
        return Ok(Vec::new());
    }
    let has_tag = form.version >= [0, 6, 3];
    let count = from.count(if has_tag { 14 } else { 10 })?;
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let (bytes, source) = (from.i32()?, from.i32()?);
        let (cancelled, error) = (from.u8()? != 0, from.u8()?);
        let tag = if has_tag { Some(from.i32()?) } else { None };
        all.push(ReceiveStatus { bytes, source, tag, cancelled, error });
    }
    Ok(all)
}
