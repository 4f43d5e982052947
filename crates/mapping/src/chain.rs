//! Methods by name: one that makes a mapping, and others that improve it, as `greedy+anneal`.

use base::Refusal;
use base::words::did_you_mean;

/// One step of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// What it begins with: processes in the order of the slots, unless a mapping is given.
    Linear,
    /// At random.
    Random,
    /// [`crate::method::greedy`].
    Greedy,
    /// [`crate::method::bisection`].
    Bisection,
    /// [`crate::method::rcm`].
    Rcm,
    /// [`crate::method::fold`].
    Fold,
    /// Partition first, then [`crate::method::greedy`] for the parts.
    Multicore,
    /// [`crate::method::multilevel`], then descent by swaps.
    Multilevel,
    /// Annealing.
    Anneal,
    /// Threshold accepting.
    Threshold,
    /// Descent by swaps.
    Local,
    /// Refinement of congestion.
    Congestion,
}

/// All steps: name, step, what it does.
pub const STEPS: [(&str, Step, &str); 12] = [
    ("linear", Step::Linear, "processes in the order of the slots"),
    ("random", Step::Random, "at random"),
    ("greedy", Step::Greedy, "heaviest traffic first, to the nearest free slot"),
    ("bisection", Step::Bisection, "processes and network in halves, again and again"),
    ("rcm", Step::Rcm, "similar orders of both graphs, by reverse Cuthill-McKee"),
    ("fold", Step::Fold, "a grid of processes folded into a grid of switches"),
    ("multicore", Step::Multicore, "parts as large as an endpoint, then these greedily"),
    ("multilevel", Step::Multilevel, "heavy pairs made one again and again, mapped, taken apart"),
    ("anneal", Step::Anneal, "improves: simulated annealing of hop-bytes"),
    ("threshold", Step::Threshold, "improves: threshold accepting of hop-bytes"),
    ("local", Step::Local, "improves: swaps while one lowers hop-bytes"),
    ("congestion", Step::Congestion, "improves: maximum congestion within the hops limit"),
];

/// The name of the portfolio of all.
pub const AUTO: &str = "auto";

/// The steps of a method; none for [`AUTO`].
///
/// # Errors
/// When there is no such method, or the first of several improves nothing yet, or a later one
/// makes a mapping anew.
pub fn parse(text: &str) -> Result<Vec<Step>, Refusal> {
    if text == AUTO {
        return Ok(Vec::new());
    }
    let mut steps = Vec::new();
    for word in text.split('+').map(str::trim) {
        let known = STEPS.iter().find(|(name, ..)| *name == word);
        let Some((_, step, _)) = known else {
            let names = STEPS.map(|(name, ..)| name);
            let near = did_you_mean(word, std::iter::once(AUTO).chain(names));
            let help = format!("{near}{AUTO}, or of {}, several joined by +", names.join(", "));
            return Err(Refusal::new("method", format!("there is no {word:?}"), help));
        };
        if !steps.is_empty() && !step.improves() {
            let why = format!("{word} begins anew what stands before it");
            return Err(Refusal::new("method", why, "one that makes a mapping, then improvements"));
        }
        steps.push(*step);
    }
    Ok(steps)
}

impl Step {
    /// Whether it improves a mapping rather than makes one.
    pub fn improves(self) -> bool {
        matches!(self, Self::Anneal | Self::Threshold | Self::Local | Self::Congestion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_chains() {
        assert_eq!(parse("auto").expect("known"), []);
        assert_eq!(parse("greedy+anneal").expect("known"), [Step::Greedy, Step::Anneal]);
        assert_eq!(parse("local").expect("known"), [Step::Local]);
        for (bad, says) in
            [("gredy", "did you mean greedy"), ("anneal+greedy", "anew"), ("", "auto")]
        {
            let said = parse(bad).expect_err("no method").to_string();
            assert!(said.contains(says), "{said}");
        }
    }
}
