//! Mutated files for all readers: each gives a result or a refusal, in little memory. Mutations are
//! gentle enough that readers accept at least half of them, because files that fail at the first
//! byte show nothing.
//!
//! 100,000 in a campaign, to be run under a limit on memory (`ulimit -v 2097152`).

use crate::mutations::{Draw, Fields};
use base::Quiet;
use formats::booksim::Source;
use formats::{booksim, chakra, communication, dumpi, goal, graph_file, ib, liballprof};
use serde_json::{Map, json};
use std::sync::Arc;
use traffic::workload::{Schedule, make};

/// A function that reads bytes, or says why it refuses them.
type ReadFn = Box<dyn Fn(&[u8]) -> Result<(), String>>;

/// A reader under test: its name, a good file, and the function that reads such bytes.
struct NamedReader {
    name: String,
    good: Vec<u8>,
    read: ReadFn,
}

fn as_text<T>(found: Result<T, impl ToString>) -> Result<(), String> {
    found.map(drop).map_err(|refused| refused.to_string())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn schedule() -> Schedule {
    let given = json!({ "ranks": 4, "bytes": 4096 });
    make("allreduce_ring", given.as_object().expect("a map"), &Quiet).expect("a schedule")
}

fn of(
    name: &str,
    good: impl Into<Vec<u8>>,
    read: impl Fn(&[u8]) -> Result<(), String> + 'static,
) -> NamedReader {
    NamedReader { name: name.to_owned(), good: good.into(), read: Box::new(read) }
}

const ALLPROF: &str = "# run on 4096 nodes of 17 racks, 2026-01-01 10:11:12\n\
    # liballprof 0.9 on 123456789 with 8 of 16 and 32 of 64\n\
    MPI_Init:139912345:1:140736123456:1000\n\
    MPI_Isend:5000:94309876:2:11,8,8:1:4:0,0,2:800:6000\n\
    MPI_Irecv:6500:94301234:2:11,8,8:1:5:0,0,2:808:6600\nMPI_Waitall:13000:2:800:94507777:14000\n\
    MPI_Barrier:15000:0,0,2:16000\n\
    MPI_Allreduce:17000:94301111:94302222:3:11,8,8:94303333:0,0,2:18000\nMPI_Finalize:20000:-\n";
const ALLPROF_OTHER: &str = "MPI_Init:-:1:2:1000\n\
    MPI_Recv:5000:9:2:11,8,8:-1:-1:0,1,2:3:6000\nMPI_Send:6100:9:2:11,8,8:0:5:0,1,2:6200\n\
    MPI_Barrier:15000:0,1,2:16000\nMPI_Allreduce:17000:9:9:3:11,8,8:3:0,1,2:18000\n\
    MPI_Finalize:20000:-\n";
/// Rank 1 of four, as the library of Protocol Buffers writes it.
const CHAKRA: &str = "\
    150a05302e302e34120c0a06736368656d61ea01017819120366776418043864520e0a0969735f\
    6370755f6f70d801003c08011202617218072201002a0100520d0a09636f6d6d5f747970654800520f0a09636f6d6d\
    5f73697a6568c0843d520c0a01781900000000000004400e0802120362776418042a0100383236080312017318052a\
    0102520c0a08636f6d6d5f6473743802520e0a09636f6d6d5f73697a65488827520c0a08636f6d6d5f746167380136\
    080412017218062a0102520c0a08636f6d6d5f7372633800520e0a09636f6d6d5f73697a65488827520c0a08636f6d\
    6d5f7461673800";
const BOOKSIM: &str = "// a run of 2026-01-01 with 8 x 8 routers, 123 of 456\ntopology = mesh; k = \
    8;\nn = 2; routing_function = dor; num_vcs = 4; vc_buf_size = 16;\nuse_noc_latency = 0; \
    alloc_iters = 4; packet_size = {1,4};\ntraffic = {uniform,transpose}; classes = 2; \
    injection_rate = {0.05,0.10};\nlatency_thres = 5123.25; sample_period = 1234; \
    warmup_periods = 2; seed = 12345;\nmax_samples = 25; credit_delay = 2; routing_delay = 1; \
    warmup_thres = 0.0525;\nstopping_thres = 0.0575; acc_stopping_thres = 0.0515;\n";
const MARKET: &str = "\
    %%MatrixMarket matrix coordinate real general\n% made 2026-01-01 by 12 of 34\n\
    9 9 5\n1 2 512.125\n2 3 71234.5\n9 1 -3.25\n4 4 1e12\n5 6 0.001234\n";
const METIS: &str = "% made 2026-01-01 by 12 of 34\n4 3 001\n2 5123\n1 5123 3 7123\n2 7123 4 8123\n\
    3 8123\n";
const SCOTCH: &str = "0\n4 6\n0 010\n1 5123 1\n2 5123 0 7123 2\n2 7123 1 8123 3\n1 8123 2\n";
const DENSE: &str = "# made 2026-01-01\n0 5123.5 0\n0.25 0 7123\n81234 0 0\n";
const PROF: &str = "# POINT TO POINT 2026\nE\t0\t1\t4123 bytes\t2123 msgs sent\t0,1\n\
    I\t0\t1\t1123 bytes\t1123 msgs sent\nE\t1\t2\t7123 bytes\t1123 msgs sent\n# COLLECTIVES\n\
    C\t0\t1\t99123 bytes\t1123 msgs sent\nD\tX procs: 0,1\n";
const GML: &str = "Creator \"a 2026-01-01\"\ngraph [\n  directed 0\n  date 20260101\n  node [ id \
    0 label \"a1234\" x 12.5 y 31.25 ]\n  node [ id 1 label \"b5678\" x 17.125 y 8.5 ] node [ id 2 \
    label \"c9012\" x 1.5 y 2.25 ]\n  edge [ source 0 target 1 weight 12.125 ]\n  edge [ source 1 \
    target 2 weight 3.25 ]\n]\n";
const NODE_LINK: &str = "{\"directed\": false, \"graph\": {\"at\": 20260101}, \"nodes\": [{\"id\": \
    \"a1\", \"x\": 12.5, \"w\": 31.25}, {\"id\": \"b2\", \"x\": 71.5, \"w\": 1234}], \"links\": \
    [{\"source\": \"a1\", \"target\": \"b2\", \"weight\": 1234.5, \"key\": 17}]}";
const SLURM: &str = "# made 2026-01-01 10:11:12 by 1234\nSwitchName=s1 Nodes=n[01-12],m[100-117] \
    LinkSpeed=100000\nSwitchName=s2 Nodes=k[0200-0217] LinkSpeed=25000\nSwitchName=s3 \
    Switches=s[1-2] LinkSpeed=400000\n";
const TOPO: &str = "Nodes 16\nTiers 2\nPodsize 16\n# 2026-01-01 10:11:12 by 123456789\nTier 0\n\
    Radix_Down 4\nRadix_Up 4\nDownlink_Latency_ns 1234.5\nSwitch_Latency_ns 0123.25\nQueue_Up \
    123456\nQueue_Down 7890123\nTier 1\nRadix_Down 4\nDownlink_Latency_ns 7123.125\n";
const IBUTILS: &str = "# made 2026-01-01 10:11:12 by 123456789 on 4096 of 17 racks\n\
    MSX6036 switch1234\n   P11 -4x-10G-> CX4 host01234567 P1\n   P12 -> CX4 host12345678 P1\n   \
    P36 -> MSX6036 switch5678 P36\n\n# 2026-01-02 13:14:15, 1234 x 5678\nMSX6036 switch5678\n   \
    P13 -> CX4 host23456789 P1\n   P14 -> CX4 host34567890 P1\n";
const IBNL: &str = "# made 2026-01-01 10:11:12 by 123456789\nSYSTEM LEAF,LEAF:4x\nNODE SW 36 \
    MT48436 U12345678\n   1 -4x-10G-> P1\n   2 -> P2\n   3 -> P3\n\nTOPSYSTEM BOX,BOX23456789\n\n\
    # 2026-01-02 13:14:15 for 1234 of 5678\nSUBSYSTEM LEAF leaf12345678\n   P1 -> L1/P1\n   \
    P2 -> leaf23456789 P2\n\nSUBSYSTEM LEAF leaf23456789\n   P1 -> L2/P1\n   P3 -> L2/P3456789\n";

const LFT: &str = "\
    Unicast lids [0x0-0xb] of switch Lid 10 guid 0x00000000000000a1 (s1):\n  Lid  Out\n\
    0x0001 001 : (Channel Adapter portguid 0x0000000000000011: 'h 1')\n\
    0x000a 000 : (Switch portguid 0x00000000000000a1: 's1')\n2 valid lids dumped \n\
    Unicast lids [0x0-0xb] of switch Lid 11 guid 0x00000000000000a2 (s2):\n0x000a 012 : (Switch \
    portguid 0x00000000000000a1: 's1')\n0x000b 000 : (Switch)\n2 valid lids dumped \n";
const SL2VL: &str = "Switch 0x0000000000000001, base LID 3\n\
    1 2 : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7\n1 3 : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7\n";
const PATHS: &str = "1 2 3\n12 34 5\n123 456 7\n1234 567 1\n12345 678 2\n";
const ANYNET: &str = "router 0 node 0 node 1 router 1 123 router 2 45\n\
    router 1 node 2 router 2 678\nrouter 2 node 3 router 0 90\n";

fn hex(digits: &str) -> Vec<u8> {
    let digit = |d: u8| (d as char).to_digit(16).expect("a digit") as u8;
    digits.as_bytes().chunks_exact(2).map(|two| digit(two[0]) << 4 | digit(two[1])).collect()
}

/// Routers of a group of CODES, and groups.
const GROUP: i32 = 6;
const GROUPS: i32 = 4;
/// The number of bytes of the links within a group.
const WITHIN: usize = (GROUP * (GROUP - 1) * 12) as usize;

/// Two link files of CODES in one: the links of all pairs within a group, with their types, and the
/// links between groups, where every router has one to its counterpart in every other group.
fn codes() -> Vec<u8> {
    let pairs = |n: i32| (0..n).flat_map(move |a| (0..n).map(move |b| (a, b)));
    let within = pairs(GROUP).filter(|(a, b)| a != b).flat_map(|(a, b)| [a, b, 0]);
    let like = |(a, b): (i32, i32)| (0..GROUP).flat_map(move |r| [a * GROUP + r, b * GROUP + r]);
    let between = pairs(GROUPS).filter(|(a, b)| a != b).flat_map(like);
    within.chain(between).flat_map(i32::to_le_bytes).collect()
}

fn graphs() -> Vec<NamedReader> {
    let given = fabric::network::parse_inline("slim_fly:q=3,p=1").expect("well formed");
    let family = families::family(&given.family).expect("a family");
    let t = family.build(&given.params).expect("a member");
    let a = fabric::addresses::Addresses::assign(&t, 1).expect("few enough");
    let netlist = ib::fabric_file::write_netlist(&t, &a, None).expect("can be written");
    let all = [
        ("netlist", netlist),
        ("edge list", graph_file::edge_list::write(&t)),
        ("GraphML", graph_file::graphml::write(&t)),
        ("JSON", graph_file::json::write(&t)),
        ("GML", GML.to_owned()),
        ("node-link", NODE_LINK.to_owned()),
        ("topology.conf", SLURM.to_owned()),
        (".topo", TOPO.to_owned()),
        (".topo of ibutils", IBUTILS.to_owned()),
    ];
    let definitions = of(".ibnl", IBNL, |bytes| {
        let topology = "BOX a\n   L1/P1 -> HCA h P1\n   L2/P1 -> HCA i P1\n";
        as_text(graph_file::ibutils::read_with(topology, "f", &[("d".to_owned(), text(bytes))]))
    });
    std::iter::once(definitions)
        .chain(all.into_iter().map(|(name, good)| {
            of(name, good, |bytes| as_text(graph_file::read_any(&text(bytes), "f.edges", None)))
        }))
        .collect()
}

fn traces() -> Vec<NamedReader> {
    let made = schedule();
    let mut said = String::new();
    goal::text::write(&made, &mut said).expect("strings take all");
    let bin = goal::binary::write(&made);
    let files = dumpi::files(&made, &Quiet).expect("files").contents;
    let dumpi_of = move |bytes: &[u8]| {
        let mut all = files.clone();
        bytes.clone_into(&mut all[0]);
        let named: Vec<(String, &[u8])> =
            all.iter().map(|one| ("d".to_owned(), one.as_slice())).collect();
        // the counts of calls need not agree with those of the other ranks
        let _ = dumpi::schedule(&named, &Map::new(), &Quiet);
        as_text(dumpi::parse(bytes, &Quiet))
    };
    let first = dumpi::files(&made, &Quiet).expect("files").contents.swap_remove(0);
    vec![
        of("GOAL", said, |bytes| as_text(goal::text::parse(&text(bytes), &Quiet))),
        of("GOAL in binary", bin, |bytes| {
            let read = goal::binary::parse(bytes, &Quiet);
            if let Ok(found) = &read {
                let mut said = String::new();
                goal::text::write(found, &mut said).expect("strings take all");
                assert_eq!(goal::text::parse(&said, &Quiet).as_ref(), Ok(found));
            }
            as_text(read)
        }),
        of("liballprof", ALLPROF, |bytes| {
            let said = text(bytes);
            let files = [("a-0".to_owned(), said.as_str()), ("a-1".to_owned(), ALLPROF_OTHER)];
            as_text(liballprof::schedule(&files, &Map::new(), &Quiet))
        }),
        of("Chakra", hex(CHAKRA), |bytes| {
            let trace = chakra::parse(bytes, &Quiet).map_err(|stop| stop.to_string())?;
            let all = vec![("r".to_owned(), trace); 4];
            let _ = chakra::schedule(&all, &Map::new(), &Quiet);
            Ok(())
        }),
        of("DUMPI", first, dumpi_of),
    ]
}

/// Readers of tables, levels, names and places on a network.
fn on_networks() -> Vec<NamedReader> {
    let given = fabric::network::parse_inline("slim_fly:q=3,p=1").expect("well formed");
    let family = families::family(&given.family).expect("a family");
    let t = Arc::new(family.build(&given.params).expect("a member"));
    let min_hop = engines::engine("min_hop").expect("an engine");
    let routing = min_hop.route(&Map::new(), &t, 1, &Quiet).expect("connected");
    let digraph = graph_file::orcs::write(&routing).expect("one layer");
    let names: Vec<String> = t.endpoints().iter().map(|e| e.name.clone()).collect();
    let ranks =
        (0..).zip(&names).map(|(rank, name): (u32, _)| format!("rank {rank}={name} slot=0"));
    let slots: Vec<u32> = (0..names.len() as u32).collect();
    let counted: Vec<String> = names.iter().map(|name| format!("{name} slots=12")).collect();
    let (hosts, pins, times) = (t.clone(), t.clone(), t.clone());
    vec![
        of("digraph", digraph, |bytes| as_text(graph_file::orcs::read_tables(&text(bytes), "f"))),
        of("dump_lfts", LFT, |bytes| as_text(ib::lft::read(&text(bytes), "f"))),
        of("SL2VL", SL2VL, |bytes| as_text(ib::sl_files::read_sl2vl(&text(bytes), "f"))),
        of("path records", PATHS, |bytes| {
            as_text(ib::sl_files::read_path_records(&text(bytes), "f"))
        }),
        of("rank file", ranks.collect::<Vec<_>>().join("\n"), move |bytes| {
            as_text(formats::mapping::read(&t, &text(bytes), &slots, None))
        }),
        of("host list", counted.join("\n"), move |bytes| {
            as_text(formats::mapping::hosts(&hosts, &text(bytes)))
        }),
        of("pins", "# of 12345678\n1200 3\n12340 5\n34560 11\n", move |bytes| {
            as_text(formats::mapping::pins(&pins, &text(bytes)))
        }),
        of("packets", "0 0 1 1234\n1234 7 2 5\n34567 11 1 12\n", move |bytes| {
            as_text(traffic::times::Injections::parse(&text(bytes), &times))
        }),
        of("anynet", ANYNET, |bytes| as_text(booksim::anynet::read(&text(bytes), "f"))),
    ]
}

fn readers() -> Vec<NamedReader> {
    let mut all = graphs();
    all.extend(on_networks());
    all.extend(traces());
    for (name, good) in [
        ("a.mtx", MARKET),
        ("a.graph", METIS),
        ("a.grf", SCOTCH),
        ("a.mat", DENSE),
        ("a.0.prof", PROF),
    ] {
        all.push(of(name, good, move |bytes| {
            let said = text(bytes);
            as_text(communication::matrix(&[(name.to_owned(), said.as_str())]))
        }));
    }
    all.push(of("BookSim", BOOKSIM, |bytes| {
        let said = text(bytes);
        as_text(booksim::read(&[Source::File { name: "a.cfg", text: &said }]))
    }));
    all.push(of("CODES", codes(), |bytes| {
        let (intra, inter) = bytes.split_at(bytes.len().min(WITHIN));
        as_text(graph_file::codes::read(("intra", intra), ("inter", inter), None))
    }));
    all
}

#[test]
fn campaign_mutated_files_are_read_or_refused() {
    let campaign = std::env::var_os("FLYLOOM_CAMPAIGN").is_some();
    let readers = readers();
    let each = if campaign { 100_000_usize.div_ceil(readers.len()) } else { 60 };
    for (number, reader) in readers.iter().enumerate() {
        (reader.read)(&reader.good).unwrap_or_else(|why| panic!("{}: {why}", reader.name));
        let fields = Fields::of(&reader.good, |bytes| (reader.read)(bytes).is_ok());
        let mut taken = 0;
        for k in 0..each {
            let mut draw = Draw((number * 1_000_000 + k) as u64);
            match (reader.read)(&fields.mutated(&reader.good, &mut draw)) {
                Ok(()) => taken += 1,
                Err(why) => assert!(!why.is_empty() && why.len() < 2000, "{}: {why}", reader.name),
            }
        }
        if campaign {
            println!("{}: {taken} of {each} read", reader.name);
        }
        assert!(2 * taken >= each, "{}: {taken} of {each} were read", reader.name);
    }
}
