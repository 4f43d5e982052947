//! The parameters of what makes schedules: how they are named, and the values that are given.

use base::words::did_you_mean;
use base::{Refusal, Watch};
use serde_json::{Map, Value};

/// Most ranks of a schedule that is made.
pub const MOST_RANKS: u64 = 1 << 24;
/// Most bytes of a message.
pub const MOST_BYTES: u64 = 1 << 40;
/// Most nanoseconds of a calculation: about 18 minutes.
pub const MOST_NS: u64 = 1 << 40;

/// A parameter.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it is, with its unit.
    pub doc: &'static str,
    /// What it takes.
    pub takes: Takes,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy)]
pub enum Takes {
    /// A whole number.
    Whole {
        /// Its value where none is given; without one it must be given.
        default: Option<u64>,
        /// Its least value and its largest.
        range: (u64, u64),
    },
    /// A number.
    Decimal {
        /// Its value where none is given.
        default: f64,
        /// Its least value and its largest.
        range: (f64, f64),
    },
    /// One of some words.
    Word {
        /// The one where none is given.
        default: &'static str,
        /// All of them.
        words: &'static [&'static str],
    },
    /// Sides of a grid of ranks, as `4x4x2`; or how many, as near to one another as can be.
    Grid,
    /// Rows of whole numbers; none where it is not given.
    Rows,
    /// Ranks, as `3,5`; none where it is not given.
    Ranks,
}

impl Key {
    /// A whole number of `range` with a default.
    pub const fn whole(
        name: &'static str,
        doc: &'static str,
        default: u64,
        range: (u64, u64),
    ) -> Self {
        Self { name, doc, takes: Takes::Whole { default: Some(default), range } }
    }

    /// A whole number of `range` that must be given.
    pub const fn needed(name: &'static str, doc: &'static str, range: (u64, u64)) -> Self {
        Self { name, doc, takes: Takes::Whole { default: None, range } }
    }

    /// A number of `range` with a default.
    pub const fn decimal(
        name: &'static str,
        doc: &'static str,
        default: f64,
        range: (f64, f64),
    ) -> Self {
        Self { name, doc, takes: Takes::Decimal { default, range } }
    }

    /// One of `words`; the first where none is given.
    pub const fn word(
        name: &'static str,
        doc: &'static str,
        words: &'static [&'static str],
    ) -> Self {
        Self { name, doc, takes: Takes::Word { default: words[0], words } }
    }

    /// Its value where none is given, as it is typed; null where one must be.
    pub fn default(&self) -> Value {
        match self.takes {
            Takes::Whole { default, .. } => default.map_or(Value::Null, Value::from),
            Takes::Decimal { default, .. } => default.into(),
            Takes::Word { default, .. } => default.into(),
            Takes::Grid => "auto".into(),
            Takes::Rows | Takes::Ranks => "none".into(),
        }
    }
}

/// How many ranks there are.
pub const RANKS: Key = Key::needed("ranks", "processes", (1, MOST_RANKS));
/// How often all is done.
pub const ITERATIONS: Key = Key::whole("iterations", "how often", 1, (1, 1 << 20));
/// The rate of a device.
pub const GFLOPS: Key =
    Key::whole("gflops", "rate of a rank, Gflop/s; 0: computing takes no time", 0, (0, 1 << 40));

/// Values of the parameters.
pub struct Asked<'a> {
    given: &'a Map<String, Value>,
    keys: Vec<Key>,
    /// What long preparations report to.
    pub watch: &'a dyn Watch,
}

impl<'a> Asked<'a> {
    /// Checks what is given.
    ///
    /// # Errors
    /// When a name is unknown or a value out of range.
    pub fn new(
        given: &'a Map<String, Value>,
        keys: Vec<Key>,
        watch: &'a dyn Watch,
    ) -> Result<Self, Refusal> {
        let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
        if let Some(strange) = given.keys().find(|key| !names.contains(&key.as_str())) {
            let near = did_you_mean(strange, names.iter().copied());
            let help = format!("{near}{}", names.join(", "));
            return Err(Refusal::new(strange, "there is no such parameter", help));
        }
        let asked = Self { given, keys, watch };
        for key in &asked.keys {
            match key.takes {
                Takes::Whole { .. } => drop(asked.whole(key.name)?),
                Takes::Decimal { .. } => drop(asked.decimal(key.name)?),
                Takes::Word { .. } => drop(asked.word(key.name)?),
                Takes::Grid | Takes::Rows | Takes::Ranks => {}
            }
        }
        Ok(asked)
    }

    fn key(&self, name: &str) -> &Key {
        self.keys.iter().find(|key| key.name == name).expect("it has this key")
    }

    /// A whole number.
    ///
    /// # Errors
    /// When it is out of range.
    ///
    /// # Panics
    /// When there is no such key, as all of these.
    pub fn whole(&self, name: &str) -> Result<u64, Refusal> {
        let Takes::Whole { default, range: (least, most) } = self.key(name).takes else {
            panic!("{name} is no number");
        };
        let help = format!("a whole number, {least} to {most}");
        match (self.given.get(name), default) {
            (None, Some(default)) => Ok(default),
            (None, None) => Err(Refusal::new(name, "it is not given", help)),
            (Some(value), _) => match value.as_u64().filter(|n| (least..=most).contains(n)) {
                Some(n) => Ok(n),
                None => Err(Refusal::new(name, format!("{value}"), help)),
            },
        }
    }

    /// A number.
    ///
    /// # Errors
    /// When it is out of range.
    ///
    /// # Panics
    /// When there is no such key.
    pub fn decimal(&self, name: &str) -> Result<f64, Refusal> {
        let Takes::Decimal { default, range: (least, most) } = self.key(name).takes else {
            panic!("{name} is no number");
        };
        let Some(value) = self.given.get(name) else { return Ok(default) };
        value.as_f64().filter(|n| (least..=most).contains(n)).ok_or_else(|| {
            Refusal::new(name, format!("{value}"), format!("a number, {least} to {most}"))
        })
    }

    /// How many ranks there are.
    ///
    /// # Errors
    /// As [`Asked::whole`].
    pub fn ranks(&self) -> Result<u32, Refusal> {
        Ok(self.whole("ranks")? as u32)
    }

    /// A rank, such as the root.
    ///
    /// # Errors
    /// When there is none of that number.
    pub fn rank(&self, name: &str) -> Result<u32, Refusal> {
        let (rank, ranks) = (self.whole(name)?, self.ranks()?);
        if rank < u64::from(ranks) {
            return Ok(rank as u32);
        }
        Err(Refusal::new(name, format!("{rank} is no rank"), format!("0 to {}", ranks - 1)))
    }

    /// One of some words.
    ///
    /// # Errors
    /// When it is another.
    pub fn word(&self, name: &str) -> Result<&'static str, Refusal> {
        let Takes::Word { default, words } = self.key(name).takes else {
            panic!("{name} is no word");
        };
        let Some(value) = self.given.get(name) else { return Ok(default) };
        // a word of digits is typed as a number
        let said = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        words.iter().copied().find(|word| *word == said).ok_or_else(|| {
            let near = did_you_mean(&said, words.iter().copied());
            Refusal::new(name, format!("there is no '{said}'"), near + &words.join(", "))
        })
    }

    /// Sides of a grid of `sides` dimensions that holds all ranks: as given, else as near to one
    /// another as the factors of their number allow, the largest first.
    ///
    /// # Errors
    /// When these are no sides, or hold another number of ranks.
    pub fn grid(&self, sides: usize, ranks: u32) -> Result<Vec<u32>, Refusal> {
        let given: Option<Vec<u32>> = match self.given.get(self.key("grid").name) {
            None => return Ok(balanced(sides, ranks)),
            Some(Value::String(text)) if text == "auto" => return Ok(balanced(sides, ranks)),
            Some(Value::String(text)) => text.split('x').map(|side| side.parse().ok()).collect(),
            Some(Value::Array(all)) => all.iter().map(|v| v.as_u64()?.try_into().ok()).collect(),
            Some(_) => None,
        };
        let product = |all: &[u32]| all.iter().try_fold(1_u32, |p, &side| p.checked_mul(side));
        match given {
            Some(all) if all.len() == sides && product(&all) == Some(ranks) => Ok(all),
            _ => {
                let said = self.given.get("grid").map_or_else(String::new, Value::to_string);
                let good: Vec<String> = balanced(sides, ranks).iter().map(u32::to_string).collect();
                let help = format!("{sides} sides whose product is {ranks}, as {}", good.join("x"));
                Err(Refusal::new("grid", said, help))
            }
        }
    }

    /// Some of `ranks` ranks.
    ///
    /// # Errors
    /// When these are none.
    pub fn some_ranks(&self, name: &str, ranks: u32) -> Result<Vec<u32>, Refusal> {
        let given: Option<Vec<u64>> = match self.given.get(self.key(name).name) {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) => text.split(',').map(|n| n.trim().parse().ok()).collect(),
            Some(Value::Array(all)) => all.iter().map(Value::as_u64).collect(),
            Some(value) => value.as_u64().map(|n| vec![n]),
        };
        let all = given.filter(|all| all.iter().all(|&n| n < ranks.into()));
        all.map(|all| all.into_iter().map(|n| n as u32).collect()).ok_or_else(|| {
            let said = self.given.get(name).map_or_else(String::new, Value::to_string);
            let help = format!("ranks, 0 to {}, with commas between them", ranks - 1);
            Refusal::new(name, said, help)
        })
    }

    /// Rows of whole numbers up to `most`: `ranks` of them, of as many each; `None` where they are
    /// not given.
    ///
    /// # Errors
    /// When they are not such rows.
    pub fn rows(&self, name: &str, ranks: u32, most: u64) -> Result<Option<Vec<u64>>, Refusal> {
        let Some(given) = self.given.get(self.key(name).name) else { return Ok(None) };
        let help = format!("{ranks} rows of {ranks} whole numbers, 0 to {most}");
        let refuse = |why: String| Refusal::new(name, why, help.clone());
        let rows = given.as_array().ok_or_else(|| refuse(format!("{given}")))?;
        if rows.len() != ranks as usize {
            return Err(refuse(format!("there are {} rows", rows.len())));
        }
        let mut all = Vec::with_capacity(rows.len() * rows.len());
        for (i, row) in rows.iter().enumerate() {
            let row = row.as_array().filter(|row| row.len() == rows.len());
            let row = row.ok_or_else(|| refuse(format!("row {i} is not as long")))?;
            for (j, value) in row.iter().enumerate() {
                let n = value.as_u64().filter(|&n| n <= most);
                all.push(n.ok_or_else(|| refuse(format!("row {i}, column {j}: {value}")))?);
            }
        }
        Ok(Some(all))
    }
}

/// `ranks` as a product of `sides` factors, the largest first: every prime factor, from the largest
/// down, goes to the smallest side so far. O(sqrt(ranks)).
pub fn balanced(sides: usize, ranks: u32) -> Vec<u32> {
    let mut primes = Vec::new();
    let (mut left, mut p) = (ranks, 2);
    while left > 1 {
        if u64::from(p) * u64::from(p) > u64::from(left) {
            p = left;
        }
        if left.is_multiple_of(p) {
            primes.push(p);
            left /= p;
        } else {
            p += 1;
        }
    }
    let mut all = vec![1; sides];
    for prime in primes.into_iter().rev() {
        if let Some(least) = all.iter_mut().min() {
            *least *= prime;
        }
    }
    all.sort_unstable_by(|a, b| b.cmp(a));
    all
}

/// Nanoseconds of so many floating-point operations at `gflops` Gflop/s, to the next whole one; 0
/// at a rate of 0.
pub fn flops_ns(flops: u128, gflops: u64) -> u64 {
    if gflops == 0 { 0 } else { u64::try_from(flops.div_ceil(gflops.into())).unwrap_or(u64::MAX) }
}
