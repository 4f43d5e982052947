//! Background jobs: their processes send to random others at a steady rate, as long as the other
//! jobs run.

use super::super::nic::MessageInjectionProcess;
use base::Refusal;
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The parameters of a background job, each of whose processes sends to random others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "BackgroundSpec")]
pub struct BackgroundJobParameters {
    /// How many processes it has.
    pub ranks: u32,
    /// What each process sends, as part of the rate of one rail; give this or `bytes`. With 0 there
    /// is no such job.
    pub intensity: Option<f64>,
    /// Length of a message; give this or `intensity`.
    pub bytes: Option<u32>,
    /// Mean time between two messages of a process, ns.
    pub interval_ns: f64,
    /// The injection process of the messages; that of the dialect where it is not given.
    pub injection: Option<MessageInjectionProcess>,
    /// The class of traffic of the job, where there are several: the first is 1.
    pub traffic_class: u32,
}

impl Default for BackgroundJobParameters {
    fn default() -> Self {
        Self {
            ranks: 0,
            intensity: None,
            bytes: None,
            interval_ns: 100_000.0,
            injection: None,
            traffic_class: 1,
        }
    }
}

/// The parameters of background jobs: of none, one or several at once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BackgroundJobList(pub Vec<BackgroundJobParameters>);

/// The forms in which a file may give background jobs.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "WrittenBackgrounds")]
enum RawBackgroundJobList {
    /// Several jobs that run at the same time.
    Several(Vec<BackgroundJobParameters>),
    /// A single background job.
    One(BackgroundJobParameters),
}

impl<'de> Deserialize<'de> for BackgroundJobList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(BackgroundJobListVisitor).map(Self)
    }
}

/// The reader of one job or a list of jobs, whose refusals name the job's own fields.
struct BackgroundJobListVisitor;

impl<'de> Visitor<'de> for BackgroundJobListVisitor {
    type Value = Vec<BackgroundJobParameters>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a job in the background or a list of them")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Self::Value, M::Error> {
        BackgroundJobParameters::deserialize(MapAccessDeserializer::new(map)).map(|one| vec![one])
    }

    fn visit_seq<S: SeqAccess<'de>>(self, list: S) -> Result<Self::Value, S::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list))
    }
}

impl Serialize for BackgroundJobList {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => RawBackgroundJobList::One(one.clone()),
            all => RawBackgroundJobList::Several(all.to_vec()),
        }
        .serialize(to)
    }
}

impl JsonSchema for BackgroundJobList {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Backgrounds".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        RawBackgroundJobList::json_schema(generator)
    }
}

impl BackgroundJobList {
    /// The jobs whose intensity is not 0.
    pub fn some(&self) -> impl Iterator<Item = &BackgroundJobParameters> {
        self.0.iter().filter(|one| one.intensity != Some(0.0))
    }
}

impl BackgroundJobParameters {
    /// # Errors
    /// When a number is out of its range, or not one of `intensity` and `bytes` is given.
    pub fn check(&self) -> Result<(), Refusal> {
        let refuse = |name: &str, why: String, help: &str| {
            Err(Refusal::new(format!("background.{name}"), why, help))
        };
        if self.ranks < 2 {
            return refuse("ranks", format!("{} is out of range", self.ranks), "2 or more");
        }
        if !(1.0..=1e12).contains(&self.interval_ns) {
            let why = format!("{} is out of range", self.interval_ns);
            return refuse("interval_ns", why, "1 to 1000000000000");
        }
        match (self.intensity, self.bytes) {
            // endpoints may have several rails
            (Some(part), None) if !(0.0..=64.0).contains(&part) => {
                refuse("intensity", format!("{part} is out of range"), "0 to 64")
            }
            (None, Some(0)) => refuse("bytes", "0 is out of range".to_owned(), "1 or more"),
            (Some(_), None) | (None, Some(_)) => Ok(()),
            _ => refuse("intensity", "not one of intensity and bytes".to_owned(), "one of both"),
        }
    }

    /// Bytes of a message, if a rail has this rate.
    ///
    /// # Errors
    /// When a message would be too long or empty.
    pub fn message_bytes(&self, gib_per_s: f64) -> Result<u32, Refusal> {
        let rate = gib_per_s * f64::from(1 << 30);
        let bytes = match (self.bytes, self.intensity) {
            (Some(bytes), _) => f64::from(bytes),
            (None, part) => (part.unwrap_or(0.0) * rate * self.interval_ns / 1e9).round(),
        };
        if (1.0..f64::from(1 << 30)).contains(&bytes) {
            return Ok(bytes as u32);
        }
        let why = format!("messages of {bytes} bytes");
        Err(Refusal::new("background.intensity", why, "1 byte to 1 GiB: another interval_ns"))
    }
}

/// A background job whose processes have been placed on endpoints.
#[derive(Debug, Clone)]
pub struct PlacedBackgroundJob {
    /// The endpoint of each process.
    pub homes: Vec<u32>,
    /// Length of a message, in bytes.
    pub bytes: u32,
    /// Mean time between two messages of a process, ps.
    pub interval_ps: f64,
    /// The injection process of its messages.
    pub injection: MessageInjectionProcess,
    /// The class of traffic of its messages.
    pub class: u8,
}
