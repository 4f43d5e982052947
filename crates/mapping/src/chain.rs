//! Methods by name: one method that makes a mapping, followed by others that improve it, such as
//! `greedy+anneal`.

use crate::arrangement::ProcessArrangement;
use crate::method::{CompiledSiteMetric, METHODS, MappingMethodEntry};
use crate::run::PreparedMappingProblem;
use base::words::did_you_mean;
use base::{ComputationError, Interrupted, Refusal};

/// The name of the portfolio, which tries several methods.
pub const AUTO: &str = "auto";

/// The steps of a method; empty for [`AUTO`].
///
/// # Errors
/// When there is no such method, or a later step would make a new mapping instead of improving one.
pub fn parse(text: &str) -> Result<Vec<&'static MappingMethodEntry>, Refusal> {
    if text == AUTO {
        return Ok(Vec::new());
    }
    let mut steps = Vec::new();
    for word in text.split('+').map(str::trim) {
        let Some(step) = METHODS.iter().find(|entry| entry.part.name == word) else {
            let names: Vec<&str> = METHODS.iter().map(|entry| entry.part.name).collect();
            let near = did_you_mean(word, std::iter::once(AUTO).chain(names.iter().copied()));
            let help = format!("{near}{AUTO}, or of {}, several joined by +", names.join(", "));
            return Err(Refusal::new("method", format!("there is no {word:?}"), help));
        };
        if !steps.is_empty() && !step.improves {
            let why = format!("{word} begins anew what stands before it");
            return Err(Refusal::new("method", why, "one that makes a mapping, then improvements"));
        }
        steps.push(step);
    }
    Ok(steps)
}

/// Runs the steps of a method one after the other. They begin with the mapping `start` or, without
/// one, with the linear mapping.
///
/// # Errors
/// When a step cannot map this problem, or `start` is not a mapping of it.
pub(crate) fn follow<M: CompiledSiteMetric>(
    run: &PreparedMappingProblem<'_, M>,
    steps: &[&MappingMethodEntry],
    start: Option<&[u32]>,
) -> Result<ProcessArrangement, Refusal> {
    let mut at = match start {
        Some(places) => ProcessArrangement::placed(run.problem, places)?,
        None => ProcessArrangement::linear(run.problem),
    };
    for (i, step) in (0..).zip(steps) {
        if run.is_over() {
            break;
        }
        match M::step(step)(run, &mut at, i) {
            Ok(()) => {}
            Err(ComputationError::Interrupted(_)) => run.note_stop(Err(Interrupted)),
            Err(ComputationError::Refused(refusal)) => return Err(refusal),
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_chains() {
        let names = |text: &str| -> Vec<&str> {
            parse(text).expect("known").iter().map(|entry| entry.part.name).collect()
        };
        assert_eq!(names("auto"), [""; 0]);
        assert_eq!(names("greedy+anneal"), ["greedy", "anneal"]);
        assert_eq!(names("local"), ["local"]);
        for (bad, says) in
            [("gredy", "did you mean greedy"), ("anneal+greedy", "anew"), ("", "auto")]
        {
            let said = parse(bad).expect_err("no method").to_string();
            assert!(said.contains(says), "{said}");
        }
    }
}
