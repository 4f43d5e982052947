//! The two errors of a computation: the input is refused, or the user stops it.

use std::fmt::{self, Write as _};

/// Input that cannot be used: which parameter, why, and what would be valid.
///
/// `param` is the name the user typed (`q`, `endpoints`, `line 12`), `why` a clause that says what
/// is wrong with its value, `help` what would be valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    /// The parameter, field or line at fault.
    pub param: String,
    /// What is wrong with the value; the text names the value, too.
    pub why: String,
    /// The valid values; empty when `why` names them already.
    pub help: String,
}

impl Refusal {
    /// A refusal of `param` because `why`; `help` says what would be valid.
    pub fn new(param: impl Into<String>, why: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            param: param.into(),
            why: short_numbers(why.into()),
            help: short_numbers(help.into()),
        }
    }

    /// The same refusal with `outer` put before the parameter, as in `file.toml: topology.q`.
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        self.param = if self.param.is_empty() {
            outer.to_owned()
        } else {
            format!("{outer}: {}", self.param)
        };
        self
    }
}

/// The most consecutive digits that are shown unchanged.
const DIGITS: usize = 40;

/// Shortens every number of more than [`DIGITS`] digits in `text`, such as 1e300 written in full,
/// to its form with an exponent.
fn short_numbers(text: String) -> String {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(begin) = rest.find(is_part) {
        let (before, from) = rest.split_at(begin);
        let (run, after) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
        out.push_str(before);
        match run.parse::<f64>() {
            Ok(number) if run.len() > DIGITS => {
                let _ = write!(out, "{number:e}");
            }
            _ => out.push_str(run),
        }
        rest = after;
    }
    if out.is_empty() { text } else { out + rest }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.param.is_empty() {
            write!(f, "{}: ", self.param)?;
        }
        f.write_str(&self.why)?;
        if !self.help.is_empty() {
            write!(f, "; {}", self.help)?;
        }
        Ok(())
    }
}

/// The error that the user stopped a computation, by Ctrl-C or through a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// The error of a computation that ends without a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComputationError {
    /// The input or a parameter cannot be used.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The user stopped the computation.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl ComputationError {
    /// The same error; a refusal gets `outer` before its parameter.
    #[must_use]
    pub fn within(self, outer: &str) -> Self {
        match self {
            Self::Refused(refused) => Self::Refused(refused.within(outer)),
            Self::Interrupted(_) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_hundreds_of_digits_are_said_by_their_exponents() {
        let why = format!("{} makes {} cycles, 12345678901234567890 of n-007.5", 1e-300, -2.5e299);
        let refused = Refusal::new("x", why, format!("at most {}", f64::MAX));
        assert_eq!(refused.why, "1e-300 makes -2.5e299 cycles, 12345678901234567890 of n-007.5");
        assert_eq!(refused.help, "at most 1.7976931348623157e308");
        assert_eq!(Refusal::new("x", "none", "").why, "none");
    }
}
