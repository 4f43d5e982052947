//! The halo exchange of a partitioned sparse matrix: each part sends one value for each of its
//! vertices that another part needs.

use crate::method::partition::partition;
use base::{ComputationError, ProgressWatch, Refusal};
use traffic::communication::{CommunicationGraph, ProcessPairTraffic};

/// Length of a value, in bytes.
const VALUE: f64 = 8.0;

/// The communication of a matrix-vector product. The rows of the matrix are split into `parts`
/// parts of equal size (up to one row) with few nonzeros between parts. Part i sends part j 8 bytes
/// for each vertex k of part i for which some row of part j has a nonzero in column k.
///
/// The matrix is given as a communication graph, in which an entry (row, column) is a pair.
/// O(nonzeros log parts) for each pass of the partitioner.
///
/// # Errors
/// When there are no parts or more parts than rows, or `watch` says stop.
pub fn halo(
    matrix: &CommunicationGraph,
    parts: u32,
    seed: u64,
    watch: &dyn ProgressWatch,
) -> Result<CommunicationGraph, ComputationError> {
    let rows = matrix.processes();
    if parts == 0 || parts > rows {
        let why = format!("{parts} parts of {rows} rows");
        return Err(Refusal::new("partition", why, format!("1 to {rows}")).into());
    }
    let mut both: Vec<Vec<(u32, u64)>> = vec![Vec::new(); rows as usize];
    for one in matrix.sent() {
        both[one.from as usize].push((one.to, 1));
        both[one.to as usize].push((one.from, 1));
    }
    for row in &mut both {
        row.sort_unstable();
        row.dedup();
    }
    let sizes: Vec<u32> = (0..parts).map(|i| rows / parts + u32::from(i < rows % parts)).collect();
    let row = |v: u32| both[v as usize].iter().copied();
    let part = partition(rows, &sizes, row, seed, watch)?;
    Ok(volume(matrix, &part, parts)?)
}

/// The halo exchange of a given partition.
///
/// # Errors
/// The errors of [`CommunicationGraph::new`].
pub fn volume(
    matrix: &CommunicationGraph,
    part: &[u32],
    parts: u32,
) -> Result<CommunicationGraph, Refusal> {
    // (part that has it, vertex, part that needs it), each once
    let mut needed: Vec<(u32, u32, u32)> = matrix
        .sent()
        .map(|one| (part[one.to as usize], one.to, part[one.from as usize]))
        .filter(|(from, _, to)| from != to)
        .collect();
    needed.sort_unstable();
    needed.dedup();
    let sent = needed.iter().map(|&(from, _, to)| ProcessPairTraffic {
        from,
        to,
        bytes: VALUE,
        messages: 0.0,
    });
    let mut graph: Vec<ProcessPairTraffic> = sent.collect();
    graph.sort_by_key(|one| (one.from, one.to));
    let mut before = None;
    for one in &mut graph {
        let pair = (one.from, one.to);
        one.messages = f64::from(u8::from(before.replace(pair) != Some(pair)));
    }
    CommunicationGraph::new(parts, graph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_is_sent_once_to_each_part_that_needs_it() {
        // rows 0, 1 | 2, 3: both rows of the second part need column 0, one needs column 1;
        // the first part needs column 3
        let entry = |from, to| ProcessPairTraffic { from, to, bytes: 1.0, messages: 1.0 };
        let entries = vec![entry(2, 0), entry(3, 0), entry(3, 1), entry(0, 3), entry(2, 3)];
        let matrix = CommunicationGraph::new(4, entries).expect("a matrix");
        let found = volume(&matrix, &[0, 0, 1, 1], 2).expect("a graph");
        let rows: Vec<ProcessPairTraffic> = found.sent().collect();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].from, rows[0].bytes, rows[0].messages), (0, 16.0, 1.0));
        assert_eq!((rows[1].from, rows[1].bytes, rows[1].messages), (1, 8.0, 1.0));
    }

    #[test]
    fn a_grid_in_two_halves_exchanges_its_seam() {
        // a 5-point matrix of 8 x 32 rows in 4 parts of 64: three seams of 8 rows, each in both
        // directions
        let given = serde_json::json!({ "shape": [32, 8], "bytes": 1 });
        let matrix = traffic::communication::made("stencil", given.as_object().expect("one"));
        let matrix = matrix.expect("a matrix");
        let found = halo(&matrix, 4, 1, &base::QuietWatch).expect("a graph");
        assert!((found.total_bytes() - 3.0 * 2.0 * 8.0 * 8.0).abs() < 1e-9);
        assert!(halo(&matrix, 257, 1, &base::QuietWatch).is_err());
    }
}
