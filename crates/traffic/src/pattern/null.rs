//! `null`: nobody sends; a partner for another job.

use super::kind::{MessagePattern, RankMessage};
use base::seed::RandomStream;

/// The pattern without messages, for one of two jobs.
#[derive(Debug)]
pub(super) struct NullPattern;

impl MessagePattern for NullPattern {
    fn levels(&self, _: u32) -> u32 {
        0
    }

    fn messages(&self, _: u32, _: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        Vec::new()
    }
}
