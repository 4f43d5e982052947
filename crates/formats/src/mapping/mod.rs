//! Which process is where, as files that MPI's starters and batch systems take.

mod names;
mod read;
mod write;

pub use names::{EndpointNames, hosts, pins, said_lines};
pub use read::read;
pub use write::write;

use crate::companion::kind::{CompanionFormat, ExampleFiles, one_file, one_text};
use crate::graph_file::kind::example_network;
use base::Refusal;
use base::part::Part;
use base::words::did_you_mean;

pub(crate) const MAPPING: CompanionFormat = CompanionFormat {
    part: Part::new("mapping", "the endpoint of each process, in any of the formats of mappings"),
    read: |files| {
        let on = example_network();
        let slots: Vec<u32> = (0..on.endpoints().len() as u32).collect();
        one_text(files, |text, name| {
            read(&on, text, &slots, None).map_err(|refused| refused.within(name))
        })
    },
    example: || lines("ranks", |rank, host| format!("rank {rank}={host} slot=0")),
};

pub(crate) const HOSTS: CompanionFormat = CompanionFormat {
    part: Part::new("hosts", "a list of hosts, with slots"),
    read: |files| {
        one_text(files, |text, name| {
            hosts(&example_network(), text).map_err(|refused| refused.within(name))
        })
    },
    example: || lines("hosts.txt", |_, host| format!("{host} slots=12")),
};

pub(crate) const PINS: CompanionFormat = CompanionFormat {
    part: Part::new("pins", "processes that stay where they are: a rank and its endpoint a line"),
    read: |files| {
        one_text(files, |text, name| {
            pins(&example_network(), text).map_err(|refused| refused.within(name))
        })
    },
    example: || one_file("pins.txt", "# of 12345678\n1200 3\n12340 5\n34560 11\n"),
};

/// An example with a line for each endpoint of the small network, by its number and name.
fn lines(name: &str, line: fn(usize, &str) -> String) -> ExampleFiles {
    let on = example_network();
    let lines: Vec<String> =
        on.endpoints().iter().enumerate().map(|(e, endpoint)| line(e, &endpoint.name)).collect();
    one_file(name, lines.join("\n"))
}

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
