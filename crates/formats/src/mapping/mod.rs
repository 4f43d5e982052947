//! Which process is where, as files that MPI's starters and batch systems take.

pub(crate) mod companions;
mod names;
mod read;
mod write;

pub use names::{EndpointNameIndex, hosts, pins, said_lines};
pub use read::read;
pub use write::write;

use base::Refusal;
use base::words::did_you_mean;

/// A format of mappings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MappingFormat {
    /// The number of the endpoint of each process, a line each.
    List,
    /// Open MPI's rank file.
    Rankfile,
    /// MPICH's host file: a line a rank.
    Hydra,
    /// The host file of srun's arbitrary distribution.
    Slurm,
    /// Cray MPICH's rank order: ranks in the order of the slots.
    Cray,
    /// A permuted node file of PBS.
    Pbs,
    /// JSON: `mapping` with numbers and `hosts` with names.
    Json,
}

/// The first line of a list of endpoint numbers that are names of endpoints as well.
const NUMBERS: &str = "# numbers of endpoints";

/// All formats: the name, the format, and how its files are used.
pub const FORMATS: [(&str, MappingFormat, &str); 7] = [
    (
        "list",
        MappingFormat::List,
        "an endpoint's number a line; `flyloom sim message --placement FILE`",
    ),
    (
        "rankfile",
        MappingFormat::Rankfile,
        "mpirun --rankfile FILE (Open MPI 4), --map-by rankfile:file=FILE (5)",
    ),
    ("hydra", MappingFormat::Hydra, "mpiexec -f FILE (MPICH)"),
    ("slurm", MappingFormat::Slurm, "SLURM_HOSTFILE=FILE srun --distribution=arbitrary"),
    (
        "cray",
        MappingFormat::Cray,
        "MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=FILE (Cray MPICH)",
    ),
    ("pbs", MappingFormat::Pbs, "mpirun -machinefile FILE in a job of PBS"),
    ("json", MappingFormat::Json, "numbers and host names"),
];

/// The format of this name.
///
/// # Errors
/// When there is none.
pub fn format(name: &str) -> Result<MappingFormat, Refusal> {
    let found = FORMATS.iter().find(|(known, ..)| *known == name).map(|(_, format, _)| *format);
    found.ok_or_else(|| {
        let names = FORMATS.map(|(name, ..)| name);
        let near = did_you_mean(name, names);
        let why = format!("there is no format {name:?}");
        Refusal::new("format", why, format!("{near}{}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests;
