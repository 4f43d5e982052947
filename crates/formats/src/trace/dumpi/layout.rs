//! What stands in a record of each call: the rows of `calls.csv`.

use super::bytes::Bytes;
use base::Refusal;
use std::sync::LazyLock;

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    I8,
    I16,
    I32,
    I64,
    Text,
    /// As many texts as the argument before says.
    Texts,
    Status,
}

/// One argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) is: Type,
    /// How deep its lists are: 0 for a value.
    pub(super) lists: u8,
    /// Only the root has it.
    root: bool,
}

/// The arguments of a call.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) name: &'static str,
    pub(super) arguments: Vec<Argument>,
}

/// The layouts of all calls by their numbers.
pub(super) static LAYOUTS: LazyLock<Vec<Layout>> =
    LazyLock::new(|| include_str!("calls.csv").lines().skip(1).map(layout).collect());

/// The only call whose record has no known layout.
pub(super) const PCONTROL: u16 = 128;

fn layout(row: &'static str) -> Layout {
    let mut columns = row.splitn(3, ',').skip(1);
    let (name, said) = (columns.next().unwrap_or(""), columns.next().unwrap_or(""));
    Layout { name, arguments: said.split_whitespace().map(argument).collect() }
}

fn argument(said: &'static str) -> Argument {
    let (root, said) = said.strip_prefix("root?").map_or((false, said), |rest| (true, rest));
    let (name, kind) = said.split_once(':').expect("a row of calls.csv has NAME:TYPE");
    let plain = kind.trim_end_matches("[]");
    let is = match plain {
        "i8" => Type::I8,
        "i16" => Type::I16,
        "i32" => Type::I32,
        "i64" => Type::I64,
        "str" => Type::Text,
        "str*argc" => Type::Texts,
        "status" => Type::Status,
        _ => unreachable!("{kind} is no type of calls.csv"),
    };
    Argument { name, is, lists: ((kind.len() - plain.len()) / 2) as u8, root }
}

/// A value of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A number.
    Number(i64),
    /// Numbers.
    Numbers(Vec<i64>),
    /// A text.
    Text(String),
    /// Several texts, or lists.
    List(Vec<Value>),
    /// What was received, of each request.
    Statuses(Vec<Status>),
}

/// What a receive found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status {
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
pub(super) type Arguments = Vec<(&'static str, Value)>;

/// What the layout of a record depends on, beside its call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) version: [u8; 3],
    /// Whether statuses are there.
    pub(super) statuses: bool,
}

/// The number that one of these arguments is.
pub(super) fn number(found: &Arguments, names: &[&str]) -> Option<i64> {
    found.iter().find_map(|(name, value)| match value {
        Value::Number(n) if names.contains(name) => Some(*n),
        _ => None,
    })
}

impl Argument {
    /// Whether a record has it, by what stands before it: some only the root has.
    pub(super) fn is_there(&self, before: &Arguments) -> bool {
        !self.root || number(before, &["commrank", "oldcommrank"]) == number(before, &["root"])
    }
}

impl Layout {
    /// The arguments of a record of this call.
    pub(super) fn read(&self, from: &mut Bytes<'_>, way: Way) -> Result<Arguments, Refusal> {
        let mut found: Arguments = Vec::with_capacity(self.arguments.len());
        for argument in &self.arguments {
            if !argument.is_there(&found) {
                continue;
            }
            if argument.is == Type::Texts {
                // before 0.6.2 the number stands twice
                let argc = number(&found, &["argc"]).unwrap_or(0);
                let argc = if way.version < [0, 6, 2] { from.i32()?.into() } else { argc };
                let mut all = Vec::new();
                for _ in 0..argc {
                    all.push(text(from)?);
                }
                found.push((argument.name, Value::List(all)));
                continue;
            }
            // arrays of these calls were one number in old versions
            let single = match (self.name, argument.name) {
                ("Cart_get", "coords") => way.version < [0, 6, 8],
                ("Type_struct", "indices") => way.version < [0, 6, 9],
                _ => false,
            };
            let lists = if single { 0 } else { argument.lists };
            found.push((argument.name, value(argument.is, lists, from, way)?));
        }
        Ok(found)
    }
}

fn value(is: Type, lists: u8, from: &mut Bytes<'_>, way: Way) -> Result<Value, Refusal> {
    Ok(match (is, lists) {
        (Type::Status, _) => Value::Statuses(statuses(from, way)?),
        (Type::Text | Type::Texts, 0) => text(from)?,
        (_, 0) => Value::Number(number_of(is, from)?),
        (Type::I8 | Type::I16 | Type::I32 | Type::I64, 1) => {
            let count = from.count(1)?;
            let all: Result<_, _> = (0..count).map(|_| number_of(is, from)).collect();
            Value::Numbers(all?)
        }
        _ => {
            let count = from.count(1)?;
            let all: Result<_, _> = (0..count).map(|_| value(is, lists - 1, from, way)).collect();
            Value::List(all?)
        }
    })
}

fn text(from: &mut Bytes<'_>) -> Result<Value, Refusal> {
    Ok(Value::Text(String::from_utf8_lossy(from.text()?).into_owned()))
}

fn number_of(is: Type, from: &mut Bytes<'_>) -> Result<i64, Refusal> {
    Ok(match is {
        Type::I8 => from.i8()?.into(),
        Type::I16 => from.i16()?.into(),
        Type::I64 => from.i64()?,
        _ => from.i32()?.into(),
    })
}

fn statuses(from: &mut Bytes<'_>, way: Way) -> Result<Vec<Status>, Refusal> {
    if !way.statuses {
        return Ok(Vec::new());
    }
    let has_tag = way.version >= [0, 6, 3];
    let count = from.count(if has_tag { 14 } else { 10 })?;
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let (bytes, source) = (from.i32()?, from.i32()?);
        let (cancelled, error) = (from.u8()? != 0, from.u8()?);
        let tag = if has_tag { Some(from.i32()?) } else { None };
        all.push(Status { bytes, source, tag, cancelled, error });
    }
    Ok(all)
}
