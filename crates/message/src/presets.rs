//! Presets of LogGOPS: what messages cost on systems of a kind, each figure with its source.

use super::parameters::LogGopsParameters;
use base::Refusal;
use base::words::did_you_mean;

/// A preset: parameters of LogGOPS for systems of a kind.
#[derive(Debug, Clone, Copy)]
pub struct LogGopsPreset {
    /// The name by which users select it.
    pub name: &'static str,
    /// The systems that it represents, as a clause.
    pub about: &'static str,
    /// A short citation of the source of its figures.
    pub source: &'static str,
    /// Its parameters: times with a precision of a picosecond, times of a byte of a femtosecond.
    pub parameters: LogGopsParameters,
    /// For each parameter, its letter and a clause that derives it from the figures.
    pub from: [(&'static str, &'static str); 6],
}

/// The default preset.
pub const USUAL: &str = "hdr";
/// The default preset of the dialect `loggops-v1`, which accepts only whole nanoseconds.
pub(super) const USUAL_V1: &str = "loggopsim";

const BAND_O: &str = "half of what MPI and UCX take to post (26.56 + 175.42 ns) and to progress \
                      (61.63 + 224.66 ns) a message of 8 bytes: Breaking Band (arXiv 2002.02563)";
const BAND_G: &str = "injection overhead of a process, 264.97 ns a message: Breaking Band";
const ADAPTER_O: &str = "0: the adapter reads and writes the bytes of a message itself";
const EAGER: &str = "default of LogGOPSim; what an MPI library asks for depends on how it is set";

/// All presets.
pub static PRESETS: &[LogGopsPreset] = &[
    LogGopsPreset {
        name: "hdr",
        about: "MPI over InfiniBand HDR, 200 Gbit/s, ConnectX-6",
        source: "Breaking Band (arXiv 2002.02563) for o and g; Azure HBv3, measured by OSU's \
                 tests, for L and G",
        parameters: LogGopsParameters {
            L: 711.73,
            o: 244.135,
            g: 264.97,
            G: 0.041_667,
            O: 0.0,
            S: 65535,
        },
        from: [
            ("L", "half a round trip, 1.2 us, less 2 o: Azure, HBv3-series performance"),
            ("o", BAND_O),
            ("g", BAND_G),
            ("G", "8 bits / 192 Gbit/s: Azure, HBv3-series performance"),
            ("O", ADAPTER_O),
            ("S", EAGER),
        ],
    },
    LogGopsPreset {
        name: "ndr",
        about: "MPI over InfiniBand NDR, 400 Gbit/s, ConnectX-7",
        source: "Breaking Band (arXiv 2002.02563) for o and g; Azure HBv4 for G; L as of hdr",
        parameters: LogGopsParameters {
            L: 711.73,
            o: 244.135,
            g: 264.97,
            G: 0.02,
            O: 0.0,
            S: 65535,
        },
        from: [
            (
                "L",
                "as of hdr: UCX counts one latency for EDR, HDR and NDR (ib_iface.c, 600 ns); \
                 Azure says of HBv4 no more than below 2 us",
            ),
            ("o", BAND_O),
            ("g", BAND_G),
            ("G", "8 bits / 400 Gbit/s: Azure, HBv4-series performance"),
            ("O", ADAPTER_O),
            ("S", EAGER),
        ],
    },
    LogGopsPreset {
        name: "edr",
        about: "MPI over InfiniBand EDR, 100 Gbit/s, ConnectX-4, with one switch",
        source: "Breaking Band (arXiv 2002.02563); Azure HC, measured by OSU's tests, for G",
        parameters: LogGopsParameters {
            L: 898.75,
            o: 244.135,
            g: 264.97,
            G: 0.082_645,
            O: 0.0,
            S: 65535,
        },
        from: [
            (
                "L",
                "PCIe twice 137.49, wire 274.81, switch 108, into memory 240.96 ns: Breaking Band",
            ),
            ("o", BAND_O),
            ("g", BAND_G),
            ("G", "8 bits / 96.8 Gbit/s: Azure, HC-series performance"),
            ("O", ADAPTER_O),
            ("S", EAGER),
        ],
    },
    LogGopsPreset {
        name: "roce",
        about: "MPI over Ethernet with RDMA (RoCE v2), 200 Gbit/s, ConnectX",
        source: "Breaking Band (arXiv 2002.02563) for o and g, the software being the same; hdr \
                 and UCX for L; a measured 200 Gbit/s link for G",
        parameters: LogGopsParameters {
            L: 911.73,
            o: 244.135,
            g: 264.97,
            G: 0.0408,
            O: 0.0,
            S: 65535,
        },
        from: [
            ("L", "that of hdr and 200 ns, which UCX counts more for RoCE (ib_iface.c)"),
            ("o", BAND_O),
            ("g", BAND_G),
            (
                "G",
                "8 bits / 196.08 Gbit/s, ib_write_bw over 200 Gbit/s Ethernet: capetron/\
                 gb10-cluster-guide, gb10-cluster-bandwidth-2026.csv",
            ),
            ("O", ADAPTER_O),
            ("S", EAGER),
        ],
    },
    LogGopsPreset {
        name: "slingshot",
        about: "Alps, HPE Slingshot, 200 Gbit/s; each message is asked for",
        source: "ATLAHS (arXiv 2505.08936), github.com/spcl/atlahs, demo/hpc/03_run_loggopsim.sh",
        parameters: LogGopsParameters { L: 3700.0, o: 200.0, g: 5.0, G: 0.04, O: 0.0, S: 0 },
        from: [
            ("L", "LGS_L=3700 there"),
            ("o", "LGS_o=200 there"),
            ("g", "LGS_g=5 there"),
            ("G", "LGS_G=0.04 there"),
            ("O", "LGS_O=0 there"),
            ("S", "LGS_S=0 there; give another for an MPI that sends small messages unasked"),
        ],
    },
    LogGopsPreset {
        name: "shared_memory",
        about: "MPI within a host, Open MPI 4.1.4 on two cores of an Intel Xeon with AMX",
        source: "measured by `flyloom measure --bytes 262144 -- mpirun -n 2`, medians of three \
                 runs, 2026-11-27; S is Open MPI's",
        parameters: LogGopsParameters {
            L: 127.5,
            o: 91.687,
            g: 106.93,
            G: 0.028_365,
            O: 0.082_647,
            S: 4096,
        },
        from: [
            ("L", "107.133, 162.233 and 127.5 ns measured"),
            ("o", "90.684, 93.813 and 91.687 ns measured, mean of sender and receiver"),
            ("g", "gap of the smallest messages, 106.93, 108.24 and 103.2 ns measured"),
            ("G", "0.028365, 0.024794 and 0.035692 ns a byte measured"),
            ("O", "0.08296, 0.075827 and 0.082647 ns a byte measured"),
            ("S", "btl_vader_eager_limit of Open MPI 4.1.4: 4096 (ompi_info)"),
        ],
    },
    LogGopsPreset {
        name: "loggopsim",
        about: "the defaults of LogGOPSim, figures of 2010",
        source: "Hoefler, Schneider, Lumsdaine: LogGOPSim, LSAP 2010",
        parameters: LogGopsParameters { L: 2500.0, o: 1500.0, g: 1000.0, G: 6.0, O: 0.0, S: 65535 },
        from: [
            ("L", "default of LogGOPSim"),
            ("o", "default of LogGOPSim"),
            ("g", "default of LogGOPSim"),
            ("G", "default of LogGOPSim"),
            ("O", "default of LogGOPSim"),
            ("S", "default of LogGOPSim"),
        ],
    },
];

/// The preset of this name.
///
/// # Errors
/// When there is no preset of this name.
pub fn preset(name: &str) -> Result<&'static LogGopsPreset, Refusal> {
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        let near = did_you_mean(name, names.iter().copied());
        let help = format!("{near}{}", names.join(", "));
        Refusal::new("costs", format!("there is no preset '{name}'"), help)
    })
}
