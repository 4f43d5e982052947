//! A run of DUMPI in the form that is written today, whatever version it is of.

use super::layout::{ArgumentValue, CallArgument, LAYOUTS};
use super::parse::parse;
use super::programs::DumpiTraceFiles;
use super::record::DumpiCallRecord;
use super::write::write;
use crate::trace::kind::NamedFile;
use base::{ComputationError, ProgressWatch};

/// The files of a run as [`write()`] writes them: those of old versions, too. Functions that the
/// program entered, counters, and what the header says are left out.
///
/// # Errors
/// With the file, as [`parse`] and [`write()`].
pub(super) fn rewritten(
    files: &[NamedFile<'_>],
    watch: &dyn ProgressWatch,
) -> Result<DumpiTraceFiles, ComputationError> {
    let mut all = DumpiTraceFiles::default();
    for (name, content) in files {
        let mut trace = parse(content, watch).map_err(|stop| stop.within(name))?;
        trace.records.iter_mut().for_each(lengthen);
        all.calls += trace.records.len() as u64;
        all.contents.push(write(&trace, watch).map_err(|stop| stop.within(name))?);
    }
    Ok(all)
}

/// Replaces single numbers of old versions by lists of one number.
fn lengthen(record: &mut DumpiCallRecord) {
    let Some(layout) = LAYOUTS.get(record.id as usize) else { return };
    for (name, value) in &mut record.arguments {
        let is_list = |one: &CallArgument| one.name == *name && one.lists == 1;
        if let ArgumentValue::Number(n) = *value
            && layout.arguments.iter().any(is_list)
        {
            *value = ArgumentValue::Numbers(vec![n]);
        }
    }
}
