//! The values of all keys, each with the place where it is set.

use super::keys::{ConfigKey, ConfigKeyUse, ConfigValueKind, KEYS};
use super::note::UnusedKeyNote;
use super::source::SettingsSource;
use super::text::{ValueLiteral, assignments, list, split};
use base::Refusal;
use base::words::did_you_mean;

/// The values of all keys.
///
/// `BookSim` keeps the number and the list of a key apart, and reads the list where there is one:
/// a list once set wins over every number, also over one that is set later.
pub(super) struct BookSimConfigValues<'a> {
    slots: Vec<ConfigKeyList<'a>>,
}

/// The settings of one key: the last number and the last list, `BookSim` keeping both.
#[derive(Default, Clone)]
struct ConfigKeyList<'a> {
    number: Option<ConfigKeyValue<'a>>,
    text: Option<ConfigKeyValue<'a>>,
}

/// One setting of a key: its value, where it was written, and its place among all settings.
#[derive(Clone)]
struct ConfigKeyValue<'a> {
    value: &'a str,
    place: String,
    order: usize,
}

impl<'a> BookSimConfigValues<'a> {
    /// The values that `sources` set, taken in their order. O(text).
    ///
    /// # Errors
    /// Where the text is not well formed, a key is unknown, a value is of the wrong kind, or not
    /// supported.
    pub(super) fn read(sources: &[SettingsSource<'a>]) -> Result<Self, Refusal> {
        let mut this = Self { slots: vec![ConfigKeyList::default(); KEYS.len()] };
        let mut order = 0;
        for source in sources {
            let (text, open) = match source {
                SettingsSource::File { text, .. } => (*text, false),
                SettingsSource::Argument(text) => (*text, true),
            };
            let found = assignments(text, open, |line| source.place(line))?;
            for one in found {
                order += 1;
                this.set(one.key, one.value, source.place(one.line), order)?;
            }
        }
        this.check_defaults()?;
        Ok(this)
    }

    fn set(
        &mut self,
        name: &str,
        value: ValueLiteral<'a>,
        place: String,
        order: usize,
    ) -> Result<(), Refusal> {
        let here = format!("{place}: {name}");
        let Some(at) = KEYS.iter().position(|k| k.name == name) else {
            let names = KEYS.iter().map(|k| k.name);
            let help = did_you_mean(name, names) + "the keys are those of BookSim 2";
            return Err(Refusal::new(here, "there is no such key", help));
        };
        let slot = &mut self.slots[at];
        let kind = KEYS[at].kind;
        let into = match (kind, value) {
            (
                ConfigValueKind::Int(_) | ConfigValueKind::Ints(_) | ConfigValueKind::Seed(_),
                ValueLiteral::Int(text),
            ) => {
                if text.parse::<i32>().is_err() {
                    let why = format!("{text} does not fit into 32 bits");
                    return Err(Refusal::new(here, why, format!("at most {}", i32::MAX)));
                }
                &mut slot.number
            }
            (
                ConfigValueKind::Decimal(_) | ConfigValueKind::Decimals(_),
                ValueLiteral::Decimal(text),
            ) => {
                if !text.parse::<f64>().is_ok_and(f64::is_finite) {
                    let why = format!("{text} is too large");
                    return Err(Refusal::new(here, why, kind.words()));
                }
                &mut slot.number
            }
            (ConfigValueKind::Word(_), ValueLiteral::Word(_) | ValueLiteral::List(_))
            | (ConfigValueKind::Ints(_) | ConfigValueKind::Decimals(_), ValueLiteral::List(_))
            | (ConfigValueKind::Seed(_), ValueLiteral::Word("time")) => &mut slot.text,
            _ => {
                let (is, help) = (of_kind(value), in_kind(kind, value));
                return Err(Refusal::new(here, format!("{} is {is}", value.shown()), help));
            }
        };
        *into = Some(ConfigKeyValue { value: value.shown(), place, order });
        Ok(())
    }

    /// Refuses a value other than the default where only that is supported.
    fn check_defaults(&self) -> Result<(), Refusal> {
        for (key, slot) in KEYS.iter().zip(&self.slots) {
            let Some(set) = slot.wins().filter(|_| key.usage == ConfigKeyUse::Default) else {
                continue;
            };
            let default = key.default();
            let same = match key.kind {
                ConfigValueKind::Word(_) => set.value == default,
                _ => set.value.parse::<i64>().ok() == default.parse::<i64>().ok(),
            };
            if !same {
                let why = format!("{} is not supported", set.value);
                let help = if default.is_empty() {
                    "leave it out".to_owned()
                } else {
                    format!("only {default}, the default")
                };
                return Err(self.refusal(key.name, why, help));
            }
        }
        Ok(())
    }

    /// Notes on settings that have no effect.
    pub(super) fn notes(&self) -> Vec<UnusedKeyNote> {
        let mut notes = Vec::new();
        for (key, slot) in KEYS.iter().zip(&self.slots) {
            if let ConfigKeyUse::Nothing(why) = key.usage
                && let Some(set) = slot.wins()
                && set.value != key.default()
            {
                notes.push(UnusedKeyNote {
                    place: set.place.clone(),
                    key: key.name.to_owned(),
                    text: format!("{} has no effect: {why}", set.value),
                });
            }
            if let (Some(number), Some(text)) = (&slot.number, &slot.text)
                && number.order > text.order
            {
                notes.push(UnusedKeyNote {
                    place: number.place.clone(),
                    key: key.name.to_owned(),
                    text: format!(
                        "{} has no effect: {} of {} stays, as in BookSim",
                        number.value, text.value, text.place
                    ),
                });
            }
        }
        notes
    }

    /// Whether the key is set anywhere.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.slot(name).1.wins().is_some()
    }

    /// The value as it is written, or the default.
    pub(super) fn shown(&self, name: &str) -> &'a str {
        let (key, slot) = self.slot(name);
        slot.wins().map_or(key.default_text(), |set| set.value)
    }

    /// The integer of a key that takes one.
    pub(super) fn int(&self, name: &str) -> i32 {
        let (key, slot) = self.slot(name);
        let (ConfigValueKind::Int(default)
        | ConfigValueKind::Ints(default)
        | ConfigValueKind::Seed(default)) = key.kind
        else {
            return 0;
        };
        let number = slot.number.as_ref().and_then(|set| set.value.parse().ok());
        number.unwrap_or(default)
    }

    /// The decimal of a key that takes one.
    pub(super) fn decimal(&self, name: &str) -> f64 {
        let (key, slot) = self.slot(name);
        let (ConfigValueKind::Decimal(default) | ConfigValueKind::Decimals(default)) = key.kind
        else {
            return 0.0;
        };
        let number = slot.number.as_ref().and_then(|set| set.value.parse().ok());
        number.unwrap_or(default)
    }

    /// The integer, which is at least `least`.
    pub(super) fn at_least(&self, name: &str, least: i32) -> Result<u32, Refusal> {
        let value = self.int(name);
        if value < least {
            let help = format!("at least {least}");
            return Err(self.refusal(name, format!("{value} is too small"), help));
        }
        Ok(value.unsigned_abs())
    }

    /// The integer of a key as a boolean: 0 or 1; anything else is refused.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Refusal> {
        match self.int(name) {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.refusal(name, format!("{other} is neither yes nor no"), "0 or 1")),
        }
    }

    /// The seed; the word `time` is refused, because a run must be reproducible.
    pub(super) fn seed(&self, name: &str) -> Result<i32, Refusal> {
        if self.slot(name).1.text.is_some() {
            let help = "an integer: a result is to be the same the next time";
            return Err(self.refusal(name, "time is not supported", help));
        }
        Ok(self.int(name))
    }

    /// An item for each of `count` classes: of the list, whose last item holds for the classes
    /// after it and which is cut where it is longer, as `BookSim` does; or the one value for all.
    pub(super) fn each(&self, name: &str, count: usize) -> Result<Vec<&'a str>, Refusal> {
        let text = match &self.slot(name).1.text {
            None => return Ok(vec![self.shown(name); count]),
            Some(set) => set.value,
        };
        let Some(mut items) = list(text) else {
            let why = format!("the brackets of {text} do not match, or an item is empty");
            return Err(self.refusal(name, why, "a list like {1,4} or {{1,5},2}"));
        };
        if items != split(text) {
            let why = format!("BookSim splits {text} at commas inside of parentheses");
            return Err(self.refusal(name, why, "several parameters in braces: {a({1,2}),b}"));
        }
        let last = items.last().copied().unwrap_or_default();
        items.resize(count, last);
        Ok(items)
    }

    /// How many items the list of a key has; none where it is no list.
    pub(super) fn items(&self, name: &str) -> Option<usize> {
        let set = self.slot(name).1.text.as_ref()?;
        list(set.value).map(|items| items.len())
    }

    /// A decimal for each of `count` classes.
    pub(super) fn decimals(&self, name: &str, count: usize) -> Result<Vec<f64>, Refusal> {
        if self.slot(name).1.text.is_none() {
            return Ok(vec![self.decimal(name); count]);
        }
        let parsed = |item: &str| match item.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(self.refusal(name, format!("{item} is no number"), "a list like {0.1,0.2}")),
        };
        self.each(name, count)?.into_iter().map(parsed).collect()
    }

    /// An integer for each of `count` classes.
    pub(super) fn ints(&self, name: &str, count: usize) -> Result<Vec<i32>, Refusal> {
        if self.slot(name).1.text.is_none() {
            return Ok(vec![self.int(name); count]);
        }
        let parsed = |item: &str| {
            let wrong = || self.refusal(name, format!("{item} is no integer"), "a list like {1,4}");
            item.parse::<i32>().map_err(|_| wrong())
        };
        self.each(name, count)?.into_iter().map(parsed).collect()
    }

    /// The place where a key is set; empty where it has its default.
    pub(super) fn place(&self, name: &str) -> String {
        self.slot(name).1.wins().map_or(String::new(), |set| set.place.clone())
    }

    /// A refusal of the key's value, at the place where it is set.
    pub(super) fn refusal(
        &self,
        name: &str,
        why: impl Into<String>,
        help: impl Into<String>,
    ) -> Refusal {
        let place = match self.slot(name).1.wins() {
            Some(set) => format!("{}: {name}", set.place),
            None => name.to_owned(),
        };
        let mut why = why.into();
        if !self.is_set(name) {
            why.push_str(" (the default)");
        }
        Refusal::new(place, why, help)
    }

    fn slot(&self, name: &str) -> (&'static ConfigKey, &ConfigKeyList<'a>) {
        let at = KEYS.iter().position(|k| k.name == name).expect("only keys of the table are read");
        (&KEYS[at], &self.slots[at])
    }
}

impl<'a> ConfigKeyList<'a> {
    fn wins(&self) -> Option<&ConfigKeyValue<'a>> {
        self.text.as_ref().or(self.number.as_ref())
    }
}

impl ConfigKey {
    /// The default as it would be written.
    pub fn default(&self) -> String {
        match self.kind {
            ConfigValueKind::Int(n) | ConfigValueKind::Ints(n) | ConfigValueKind::Seed(n) => {
                n.to_string()
            }
            ConfigValueKind::Decimal(x) | ConfigValueKind::Decimals(x) => format!("{x:?}"),
            ConfigValueKind::Word(word) => word.to_owned(),
        }
    }

    fn default_text(&self) -> &'static str {
        match self.kind {
            ConfigValueKind::Word(word) => word,
            _ => "",
        }
    }
}

fn of_kind(value: ValueLiteral<'_>) -> &'static str {
    match value {
        ValueLiteral::Int(_) => "an integer",
        ValueLiteral::Decimal(_) => "a decimal",
        ValueLiteral::Word(_) => "a word",
        ValueLiteral::List(_) => "a list",
    }
}

/// What would be valid; the corrected value too where only a decimal point is missing or too much.
fn in_kind(kind: ConfigValueKind, value: ValueLiteral<'_>) -> String {
    let words = kind.words();
    match (kind, value) {
        (ConfigValueKind::Decimal(_) | ConfigValueKind::Decimals(_), ValueLiteral::Int(n)) => {
            format!("write {n}.0: it takes {words}")
        }
        (
            ConfigValueKind::Int(_) | ConfigValueKind::Ints(_) | ConfigValueKind::Seed(_),
            ValueLiteral::Decimal(x),
        ) => {
            let whole = x.parse::<f64>().ok().filter(|x| x.fract() == 0.0 && x.abs() < 1e9);
            match whole {
                Some(whole) => format!("write {whole}: it takes {words}"),
                None => format!("it takes {words}"),
            }
        }
        _ => format!("it takes {words}"),
    }
}
