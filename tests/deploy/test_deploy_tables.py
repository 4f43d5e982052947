"""The plug-in's table parser, alone and under sanitizers: what it takes, what it refuses."""

import random
import subprocess

import pytest
from deploy_helpers import DATA, make_tables, needs_compiler, read_net, tables_program

pytestmark = needs_compiler

GOOD = """\
# a comment
flyloom-tables 1   # and another
lmc 1

lft 0x0000000000000001 1 0 1 2 - 254
lft 0x0000000000000001 10 7
lft 0x00000000000000aB 20 3
sl 0x0000000000000001 2 1.F
sl default 4
sl from 6\t1 2.3
sl2vl * * * 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7
sl2vl * * 1 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
sl2vl 0x0000000000000001 1 * 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 15
sl2vl 0x0000000000000001 0 1 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4
end
# nothing but comments may follow
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return tables_program(tmp_path_factory.mktemp("tables"))


def run(program, *args):
    return subprocess.run(
        [program, *map(str, args)], capture_output=True, text=True, timeout=300, check=False
    )


def said(program, path, lids, ports):
    done = run(program, "read", lids, ports, path)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_a_good_file_reads_as_written(program, tmp_path):
    (tmp_path / "good").write_text(GOOD)
    one, other = "0x0000000000000001", "0x00000000000000ab"
    same = {vl: f"{vl}" * 16 for vl in range(8)}
    star, from_1 = "0123456701234567", "1" * 15 + "f"
    assert said(program, tmp_path / "good", 20, 3) == [
        "accepted",
        "lmc 1",
        f"sls {1 << 1 | 1 << 15 | 1 << 4 | 1 << 2 | 1 << 3:x}",
        f"vl endpoint 0 0 {star}",
        f"lft {one} 0 1 2 - 254 - - - - 7" + " -" * 10,
        f"sl {one} 0 414f" + "4" * 16,
        # the source's levels before the switch's, those before the default; 6 and 7 are one port's
        f"sl {one} 6 213f" + "4" * 16,
        f"sl {one} 7 213f" + "4" * 16,
        f"vl {one} 0 0 {star}",
        f"vl {one} 0 1 {same[4]}",  # of the lines that match, the last
        f"vl {one} 0 2 {star}",
        f"vl {one} 1 0 {from_1}",
        f"vl {one} 1 1 {from_1}",
        f"vl {one} 1 2 {from_1}",
        f"vl {one} 2 0 {star}",
        f"vl {one} 2 1 {same[2]}",
        f"vl {one} 2 2 {star}",
        f"lft {other}" + " -" * 19 + " 3",
        f"sl {other} 0 " + "4" * 20,
        f"sl {other} 6 243" + "4" * 17,
        f"sl {other} 7 243" + "4" * 17,
        *(f"vl {other} {i} {o} {same[2] if o == 1 else star}" for i in range(3) for o in range(3)),
    ]


def test_large_tables_read_as_made(program, tmp_path):
    net = read_net(DATA / "sf_q5.net")
    tables = make_tables(net, 1, seed=3)
    (tmp_path / "t").write_text(tables.text())
    lids = range(1, max(map(max, tables.lft.values())) + 1)
    lines = set(said(program, tmp_path / "t", len(lids), 12))
    for s in net.switches:
        ports = " ".join(str(tables.lft[s].get(lid, "-")) for lid in lids)
        assert f"lft 0x{s:016x} {ports}" in lines
        assert f"sl 0x{s:016x} 0 " + "".join(f"{tables.sl_of(s, lid):x}" for lid in lids) in lines
        for i in range(12):
            for o in range(12):
                row = tables.sl2vl.get((s, i, o), tables.endpoint_vls)
                assert f"vl 0x{s:016x} {i} {o} " + "".join(f"{vl:x}" for vl in row) in lines


def test_sl2vl_matches_a_scan_of_the_lines(program, tmp_path):
    """Against the rule in words: of the lines that match, the last; the general ones first."""
    rng = random.Random(11)
    keys = {(rng.choice("12*"), rng.choice("0123*"), rng.choice("0123*")) for _ in range(60)}
    keys.add(("*", "*", "*"))
    rows = [
        (*key, rng.randrange(16))
        for key in sorted(keys, key=lambda key: [part != "*" for part in key])
    ]
    text = "flyloom-tables 1\nlmc 0\nsl default 0\n"
    text += "".join(f"lft 0x{g:016x} 1 1\n" for g in (1, 2))
    for guid, i, o, vl in rows:
        name = "*" if guid == "*" else f"0x{int(guid):016x}"
        text += f"sl2vl {name} {i} {o} " + " ".join([str(vl)] * 16) + "\n"
    (tmp_path / "t").write_text(text + "end\n")
    wanted = []
    for g in "12":
        for i in "0123":
            for o in "0123":
                hits = [
                    v for a, b, c, v in rows if a in (g, "*") and b in (i, "*") and c in (o, "*")
                ]
                wanted.append(f"vl 0x{int(g):016x} {i} {o} {hits[-1]:x}")
    found = [line for line in said(program, tmp_path / "t", 1, 4) if line.startswith("vl 0x")]
    assert [line[:-15] for line in found] == wanted


ROW = " ".join("0" * 16)
ALL = f"sl2vl * * * {ROW}\n"
HEAD = "flyloom-tables 1\nlmc 0\nlft 0x0000000000000001 1 0 1\n"
BODY = HEAD + "sl default 0\n" + ALL


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "must start with 'flyloom-tables 1'"),
        ("lmc 0\n", 1, "starts with 'lmc', must be 'flyloom-tables 1'"),
        ("flyloom-tables 2\nend\n", 1, "version is '2', must be a decimal number 1..1"),
        ("flyloom-tables 1\nend\n", 2, "no lmc record"),
        ("flyloom-tables 1\nlmc 0\nsl default 0\n" + ALL + "end\n", 5, "no lft record"),
        (HEAD + ALL + "end\n", 5, "no 'sl default' record"),
        (HEAD + "sl default 0\nend\n", 5, "no sl2vl record"),
        (BODY + f"sl2vl * 1 1 {ROW}\n" * 2 + "end\n", 7, "comes twice"),
        (BODY + ALL + "end\n", 6, "comes twice"),
        (BODY + f"sl2vl * 1 * {ROW}\nsl2vl * * 1 {ROW}\nend\n", 7, "more general than one before"),
        (HEAD + f"sl2vl * 1 * {ROW}\nend\n", 4, "first sl2vl record must be 'sl2vl * * *'"),
        (BODY.replace("lmc 0", "lmc 2") + "sl from 6 1 0\nend\n", 7, "multiple of 4 with LMC 2"),
        (HEAD + "sl from 0 1 0\nend\n", 4, "source LID is '0'"),
        (HEAD + "sl from 4 1 0\nsl from 4 1 .\nend\n", 5, "an SL already"),
        (HEAD + "sl 0x0000000000000001 1 0.\nsl 0x0000000000000001 2 0\nend\n", 5, "an SL already"),
        (HEAD + "lft 0x0000000000000001 3 -\nlft 0x0000000000000001 3 1\nend\n", 5, "has a port"),
        (HEAD + "lft 0x0000000000000001 05 1\nend\n", 4, "first LID is '05', must be"),
        (HEAD + "# form feed \f\nend\n", 4, "a control character (byte 12)"),
        (HEAD + "# \x7f\nend\n", 4, "a control character (byte 127)"),
        ("flyloom-tables 1\nlmc 8\nend\n", 2, "LMC is '8', must be a decimal number 0..7"),
        ("flyloom-tables 1\nlmc\nend\n", 2, "LMC is 'nothing'"),
        (HEAD, 4, "truncated"),
        (BODY + "end\nend\n", 7, "'end' after the end record"),
        (HEAD + "lmc 0\nend\n", 4, "second lmc record"),
        (BODY + "end 1\n", 6, "'1' after a complete end record"),
        (HEAD + "LFT 0x0000000000000001 5 1\nend\n", 4, "must be lmc, lft, sl, sl2vl or end"),
        (HEAD + "lft 0x1 5 1\nend\n", 4, "GUID is '0x1', must be 0x and 16 hex digits"),
        (HEAD + "lft 0x0000000000000000 5 1\nend\n", 4, "not all zero"),
        (HEAD + "lft 0x0000000000000001 0 1\nend\n", 4, "first LID is '0', must be"),
        (HEAD + "lft 0x0000000000000001 49152 1\nend\n", 4, "1..49151"),
        (HEAD + "lft 0x0000000000000001 49151 1 1\nend\n", 4, "run past LID 49151"),
        (HEAD + "lft 0x0000000000000001 5\nend\n", 4, "without a port"),
        (HEAD + "lft 0x0000000000000001 5 255\nend\n", 4, "is '255', must be 0..254 or -"),
        (HEAD + "lft 0x0000000000000001 5 1x\nend\n", 4, "is '1x', must be 0..254 or -"),
        (HEAD + "lft 0x0000000000000001 5 1\r\nend\n", 4, "a control character (byte 13)"),
        (HEAD + "lft 0x0000000000000001 2 1\nend\n", 4, "LID 2 of switch 0x0000000000000001 has"),
        (HEAD + "sl 0x0000000000000001 1\nend\n", 4, "needs one hex digit or ."),
        (HEAD + "sl 0x0000000000000001 1 0g\nend\n", 4, "SL to LID 2 is not a hex digit"),
        (HEAD + "sl 0x0000000000000001 49151 00\nend\n", 4, "SLs run past LID 49151"),
        (HEAD + "sl 0x0000000000000001 1 00\nsl 0x0000000000000001 2 0\nend\n", 5, "an SL already"),
        (HEAD + "sl default 16\nend\n", 4, "default SL is '16', must be a decimal number 0..15"),
        (HEAD + "sl default 1\nsl default 1\nend\n", 5, "second 'sl default'"),
        (BODY + "sl 0x0000000000000002 1 0\nend\n", 6, "0x0000000000000002 has no lft record"),
        (BODY + f"sl2vl 0x0000000000000002 1 1 {ROW}\nend\n", 6, "has no lft record"),
        (HEAD + f"sl2vl * 255 1 {ROW}\nend\n", 4, "in-port is '255', must be 0..254 or *"),
        (HEAD + f"sl2vl * 1 256 {ROW}\nend\n", 4, "out-port is '256', must be 0..254 or *"),
        (HEAD + f"sl2vl * 1 1 {ROW[:-2]}\nend\n", 4, "VL is 'nothing', must be"),
        (
            HEAD + f"sl2vl * 1 1 {ROW[:-1]}16\nend\n",
            4,
            "VL is '16', must be a decimal number 0..15",
        ),
        (BODY + f"sl2vl * 1 1 {ROW} 0\nend\n", 6, "after a complete sl2vl record"),
    ],
)
def test_each_defect_is_reported_with_its_line(program, tmp_path, text, line, words):
    path = tmp_path / "bad"
    path.write_bytes(text.encode())
    done = run(program, "read", 1, 1, path)
    assert done.returncode == 1 and not done.stderr
    assert done.stdout.startswith(f"refused {path}:{line}: "), done.stdout
    assert words in done.stdout


def test_a_missing_file_is_reported(program, tmp_path):
    done = run(program, "read", 1, 1, tmp_path / "absent")
    assert done.returncode == 1
    assert "absent: cannot read the table file: No such file" in done.stdout


def test_a_file_cut_anywhere_is_refused(program, tmp_path):
    text = GOOD.split("# nothing")[0]
    (tmp_path / "good").write_text(text)
    done = run(program, "cuts", tmp_path / "good")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_mutated_files_never_crash_it(program, tmp_path, seed):
    (tmp_path / "good").write_text(GOOD)
    done = run(program, "fuzz", tmp_path / "good", seed, 30000)
    assert done.returncode == 0, done.stderr[-2000:]
    accepted, total = int(done.stdout.split()[0]), int(done.stdout.split()[2])
    assert 0 < accepted < total  # some mutations are harmless, most are not
