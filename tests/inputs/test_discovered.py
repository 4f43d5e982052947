"""Fabrics as real tools print them, of invented names: each is read completely, with what is no
compute node, no cable or no line of a fabric left out and said."""

from __future__ import annotations

import json
import re
from collections import Counter

import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from deploy_helpers import needs_fabric
from invented_fabrics import (
    FABRICS,
    HOSTS,
    Fabric,
    aggregation,
    pods,
    second_port,
    several_adapters,
    switch,
    tree,
    two_ports,
    with_devices,
)

FINDINGS = {"loops": {"extra": 2}, "unequal ends": {"degraded": 1}, "two ports": {"extra": 1},
            "host on a spine": {"unknown": 1, "extra": 1}, "second port": {"wrong": 1},
            "host on a core": {"unknown": 1, "extra": 1}}
"""The findings of each fabric compared with the plain tree as its plan; others have none."""


def nodes_of(slurm: str) -> set[str]:
    """The nodes of a topology.conf."""
    found = set()
    for word in re.findall(r"Nodes=(\S+)", slurm):
        stem, _, ranges = word.partition("[")
        for part in ranges.rstrip("]").split(",") if ranges else [""]:
            first, _, last = part.partition("-")
            numbers = range(int(first), int(last or first) + 1) if first else [""]
            found |= {f"{stem}{n}" for n in numbers}
    return found


@pytest.mark.parametrize("kind", FABRICS)
def test_a_fabric_is_read_routed_and_verified(kind, tmp_path):
    text, how, remark = FABRICS[kind]
    path = tmp_path / "found.txt"
    path.write_text(text)
    net = fl.network(path, **how)
    said = "; ".join(net.remarks)
    assert (remark in said) if remark else not said, said
    cored = kind == "host on a core"
    assert (net.switches, net.links) == ((12, 16) if cored else (4, 4))

    visitor = {"host on a spine": "visitor", "host on a core": "on-core-2"}.get(kind)
    hosts = {name.split()[0] for name in net.endpoint_names}
    assert hosts == {*HOSTS, *([visitor] if visitor else [])}
    assert net.endpoints == len(hosts), "an endpoint a host"

    assert fl.verify(fl.route(net, "ftree"))["holds"]

    written = fl.export(net, "slurm-tree", names="first-word")["text"]
    assert nodes_of(written) == hosts
    roots = fl.export(net, "opensm-roots")["text"]
    if cored:
        tops = {switch(pods(), f"core-{i}")[2:] for i in (1, 2, 3, 4)}
    else:
        tops = {switch(tree(), f"spine-{i}")[2:] for i in (1, 2)}
    assert set(re.findall(r"^0x(\w+)", roots, re.MULTILINE)) == tops

    graph = f"stencil:shape={net.endpoints},bytes=100"
    mapped = fl.map_processes(net, graph, path=tmp_path / "ranks", format="rankfile")
    assert sorted(mapped["mapping"]) == list(range(net.endpoints))
    named = re.findall(r"^rank \d+=(\S+)", (tmp_path / "ranks").read_text(), re.MULTILINE)
    assert sorted(named) == sorted(hosts)

    if "adapters" not in how:
        plan = fl.network(_written(tmp_path / "plan.txt", _plan(kind).text()))
        check = fl.verify_cables(plan, net)
        faults = Counter(finding["fault"] for finding in check["findings"])
        assert faults == FINDINGS.get(kind, {}), check["findings"]


COMMANDS = ("aggregation", "ndr", "xdr", "adapters joined", "adapters each", "routers", "warnings",
            "loops", "two ports", "full names", "host on a core")


@needs_fabric
@pytest.mark.parametrize("kind", COMMANDS)
def test_every_command_takes_fabrics_as_they_are(kind, tmp_path):
    """Every command reads the same file with the same options. What the simulated fabric has read
    back is counted by the network: at each switch a LID of every terminal and switch, a path of
    every pair."""
    full = tree(hosts=tuple(f"{name}.cluster.example" for name in HOSTS)).text()
    more = {"full names": (full, {}, None), "adapters each": (several_adapters().text(), {}, None)}
    text, how, remark = {**FABRICS, **more}[kind]
    path = _written(tmp_path / "found.txt", text)
    words = [path, *(f"--{key}={value}" for key, value in how.items())]

    def run(*words, code=0):
        done = flyloom(*words, "--json", cwd=tmp_path)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout), done.stderr

    design, said = run("design", *words)
    assert not remark or remark in said
    switches, endpoints = design["switches"], design["endpoints"]
    net = fl.network(path, **how)
    assert (switches, endpoints) == (net.switches, net.endpoints)

    routed, said = run("route", *words, "-o", "tables")
    stands = f"HDR stands for cables of speeds that ibsim 0.10 does not know: 8 {kind.upper()}"
    assert routed["verified"] and (stands in said) == (kind in ("ndr", "xdr")), said
    assert run("verify", "tables")[0]["verified"]
    live, _ = run("deploy", "tables")
    terminals = net.terminals
    assert live["verified"] and live["deadlock_free"], live
    assert live["entries"] == switches * (terminals + switches)
    assert live["sl_entries"] == terminals * (terminals - 1)
    assert live["differing_entries"] + live["differing_sl_entries"] == 0

    plan = path  # of the plain tree where the hosts are called alike and have one adapter each
    if not kind.startswith(("adapters", "full")):
        plan = _written(tmp_path / "plan.txt", _plan(kind).text())
    found, _ = run("verify-cables", plan, *words, code=1 if kind in FINDINGS else 0)
    assert Counter(of["fault"] for of in found["findings"]) == FINDINGS.get(kind, {})
    graph = ("--graph", f"stencil:shape={endpoints},bytes=100")
    mapped, _ = run("map", *words, *graph, "--format", "rankfile", "-o", "ranks")
    again, _ = run("map-eval", *words, *graph, "--mapping", "ranks")
    assert again["mapping"] == mapped["mapping"]
    hosts = {name.split()[0] for name in net.endpoint_names}
    ranks = re.findall(r"^rank \d+=(\S+)", (tmp_path / "ranks").read_text(), re.MULTILINE)
    assert set(ranks) == hosts
    written, _ = run("export", *words, "--to", "slurm-tree")
    listed = re.findall(r"Nodes=(\S+)", written["text"])
    if kind == "full names":  # with no number at the end, so no ranges
        assert {name for names in listed for name in names.split(",")} == hosts
    else:
        assert nodes_of(written["text"]) == hosts


def _plan(kind):
    if kind == "host on a core":
        return pods()
    return tree({"ndr": "4xNDR", "xdr": "4xXDR"}.get(kind, "4xHDR"))


def _written(path, text):
    path.write_text(text)
    return path


def spread_adapters() -> Fabric:
    """The second adapters of hosts are on the other leaf, and come first in the file."""
    f = Fabric()
    switches = [f.node("S", name, 41, 0xD2F0)
                for name in ("leaf-1", "leaf-2", "spine-1", "spine-2")]
    for i, leaf in enumerate(switches[:2]):
        for j, spine in enumerate(switches[2:]):
            f.cable(leaf, 31 + j, spine, 1 + i)
    for adapter in (1, 0):
        for i, name in enumerate(HOSTS):
            device = f.node("H", f"{name} mlx5_{adapter}")
            f.cable(switches[(i // 2 + adapter) % 2], 1 + i + 5 * adapter, device, 1)
    return f


@pytest.mark.parametrize("how", [{}, {"adapters": "joined"}, {"adapters": "first"}])
@pytest.mark.parametrize("spread", [False, True])
def test_hosts_of_several_adapters_are_one_host_each_to_others(spread, how, tmp_path):
    """Exports for launchers and Slurm place such a host on the switch of its first adapter, and say
    so if there are others."""
    found = spread_adapters() if spread else several_adapters()
    path = _written(tmp_path / "f.txt", found.text())
    net = fl.network(path, **how)
    assert net.endpoints == (4 if how else 8)
    for to, options in (("slurm-tree", {}), ("slurm-tree", {"switches": "leaves"}),
                        ("slurm-block", {"blocks": "switches"})):
        text = fl.export(net, to, **options)["text"]
        assert nodes_of(text) == {*HOSTS}
        said = "# n1 and 3 more have cables to several switches: the switch of the first\n"
        assert (said in text) == (spread and how != {"adapters": "first"}), text
        assert "Name=leaf-1 Nodes=n[1-2]" in text and "Name=leaf-2 Nodes=n[3-4]" in text
    graph = f"stencil:shape={net.endpoints},bytes=100"
    for form in ("rankfile", "hydra", "slurm", "pbs"):
        ranks = tmp_path / form
        mapped = fl.map_processes(net, graph, path=ranks, format=form, method="random", seed=3)
        again = fl.evaluate_mapping(net, graph, ranks, format=form)
        assert again["mapping"] == mapped["mapping"]
        for key in ("hop_bytes", "maximum_congestion"):
            assert again[key] == mapped[key]
        named = re.findall(r"^(?:rank \d+=)?(\S+)", ranks.read_text(), re.MULTILINE)
        hosts = [net.endpoint_names[e].split()[0] for e in mapped["mapping"]]
        assert named == hosts and Counter(named) == dict.fromkeys(HOSTS, len(named) // 4)
    job = fl.map_processes(net, "stencil:shape=2,bytes=8", hosts=["n3", "n2"])
    names = [net.endpoint_names[e] for e in job["mapping"]]
    rest = "" if how == {"adapters": "joined"} else " mlx5_0"
    assert sorted(names) == [f"n2{rest}", f"n3{rest}"]


def rails_apart(storage: bool = False) -> Fabric:
    """Every host has its first adapter on one leaf and its second on another; or the other leaves
    have storage alone."""
    f = Fabric()
    leaves = [f.node("S", f"leaf-{i}", 41, 0xD2F0) for i in (1, 2, 3, 4)]
    spines = [f.node("S", f"spine-{i}", 41, 0xD2F0) for i in (1, 2)]
    for i, leaf in enumerate(leaves):
        for j, spine in enumerate(spines):
            f.cable(leaf, 31 + j, spine, 1 + i)
    f.cable(spines[0], 40, f.node("H", "ufm-a HCA-1"), 1)
    for i, name in enumerate(HOSTS):
        for adapter in (1, 0):
            other = f"oss{i} mlx5_0" if storage and adapter else f"{name} mlx5_{adapter}"
            f.cable(leaves[2 * (i // 2) + adapter], 1 + i % 2, f.node("H", other), 1)
    return f


@pytest.mark.parametrize("adapters", ["each", "joined", "first", "mlx5_0", "storage"])
def test_a_leaf_is_one_without_endpoints_too(adapters, tmp_path):
    """Its devices may all have been left out: to Slurm and to OpenSM it is no spine."""
    storage = adapters == "storage"
    found = rails_apart(storage)
    path = _written(tmp_path / "f.txt", found.text())
    net = fl.network(path, **({} if storage else {"adapters": adapters}))
    kept = _written(tmp_path / "kept.json", net.to_text("json"))
    for on in (net, fl.network(kept)):
        text = fl.export(on, "slurm-tree")["text"]
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        assert lines == ["SwitchName=leaf-1 Nodes=n[1-2]", "SwitchName=leaf-3 Nodes=n[3-4]",
                         "SwitchName=spine-1 Switches=leaf-[1,3]",
                         "SwitchName=spine-2 Switches=leaf-[1,3]"]
        roots = re.findall("^0x(\\w+)", fl.export(on, "opensm-roots")["text"], re.MULTILINE)
        assert roots == [switch(found, f"spine-{i}")[2:] for i in (1, 2)]
        assert fl.verify(fl.route(on, "ftree"))["holds"]


def test_how_hosts_of_several_adapters_are_counted_is_said(tmp_path):
    path = _written(tmp_path / "f.txt", several_adapters().text())
    reported = "4 hosts have several adapters (n1, ...), and each adapter is an endpoint"
    graph = ("--graph", "stencil:shape=4x2,bytes=8", "--format", "rankfile", "-o", "ranks")
    for words in (("design", path), ("map", path, *graph), ("export", path, "--to", "slurm-tree")):
        done = flyloom(*words, cwd=tmp_path)
        assert done.returncode == 0 and reported in done.stderr, done.stderr
        assert "--adapters joined, first or a name" in done.stderr
    assert not fl.network(_written(tmp_path / "g.txt", tree().text())).remarks


def test_the_first_adapter_of_a_host_is_one_with_a_cable(tmp_path):
    """The first adapter that works counts, as in the files for Slurm."""
    f = several_adapters()
    unused = switch(f, "n2 mlx5_0")
    f.cables = [cable for cable in f.cables if unused not in cable]
    path = _written(tmp_path / "f.txt", f.text())
    first = fl.network(path, adapters="first")
    assert [name for name in first.endpoint_names if name.startswith("n2")] == ["n2 mlx5_1"]
    assert first.terminals == 4
    for net in (first, fl.network(path)):
        assert nodes_of(fl.export(net, "slurm-tree")["text"]) == {*HOSTS}


def test_a_discovery_that_was_cut_off_says_so(tmp_path):
    """Wherever it is cut after its first cable: in a line, between lines, between nodes."""
    text = tree().text()
    lines = text.splitlines(keepends=True)
    first = text.index("[1]")
    whole = text.rindex('"S-')
    between = [sum(map(len, lines[:i])) for i in range(12, len(lines))]
    cuts = [*range(first + 23, whole, 23), *between]
    assert len(cuts) > 80
    for at in cuts:
        path = _written(tmp_path / "cut.txt", text[:at])
        with pytest.raises(fl.RefusalError, match="looks cut off") as refused:
            fl.network(path)
        assert re.search(r"line \d+", str(refused.value)), str(refused.value)
    missing = _written(tmp_path / "m.txt", text[:text.index(lines[20])])
    with pytest.raises(fl.RefusalError, match="nodes .* are missing, and the file, which ends in"):
        fl.network(missing)


@pytest.mark.parametrize("report", ["ports", "link info"])
def test_a_report_of_ports_that_was_cut_off_says_so(report, tmp_path):
    f = tree()
    text = f.ports_report() if report == "ports" else f.link_info(by_line=False)
    lines = text.splitlines(keepends=True)
    # the last node's own lines are gone; others tell of its cable
    net = fl.network(_written(tmp_path / "cut.txt", "".join(lines[:-3])))
    assert any("given at one end only" in said and "looks cut off" in said for said in net.remarks)
    with pytest.raises(fl.RefusalError, match="looks cut off"):
        fl.network(_written(tmp_path / "cut.txt", "".join(lines[:9]) + lines[9][:40]))


@pytest.mark.parametrize(("line", "valid"), [
    ("systemguid=0x1", ("did you mean sysimgguid=?", "vendid=", "devid=", "sysimgguid=",
                        "switchguid=", "caguid=", "hcaguid=", "rtguid=", "width=", "speed=",
                        "extspeed=", "Switch", "Ca", "Hca", "Rt", "[port]", "#")),
    ('Swich 3 "S-1"', ("did you mean Switch?",)),
    ("Switch 3 S-1", ('"S-..."', '"H-..."', '"R-..."')),
    ('[1] "S-1"[1]', ("Switch", "Ca", "Hca", "Rt")),
])
def test_all_that_is_valid_in_a_discovery_is_listed(line, valid, tmp_path):
    text = "vendid=0x2c9\n" + ("" if line.startswith("[") else tree().text()) + line + "\n"
    with pytest.raises(fl.RefusalError) as refused:
        fl.network(_written(tmp_path / "f.txt", text))
    assert not [word for word in valid if word not in str(refused.value)], str(refused.value)


def test_what_is_left_out_can_be_kept(tmp_path):
    f = with_devices(("R", "border-rt", 0x101B, "leaf-1"), ("H", "oss01 HCA-1", 0x101B, "leaf-2"),
                     ("H", "oss02 HCA-1", 0x101B, "leaf-2"), ("H", "ufm HCA-1", 0x101B, "leaf-2"))
    path = _written(tmp_path / "f.txt", f.text())

    def hosts(source=path, **how):
        return [name.split()[0] for name in fl.network(source, **how).endpoint_names]

    assert hosts() == [*HOSTS]
    assert hosts(keep="storage") == [*HOSTS, "oss01", "oss02"]
    assert hosts(keep=["oss*1", "router"]) == [*HOSTS, "border-rt", "oss01"]
    assert hosts(keep="*") == [*HOSTS, "border-rt", "oss01", "oss02", "ufm"]
    assert hosts(only=["n1", "n4 HCA-1", "managers"]) == ["n1", "n4", "ufm"]
    assert hosts(f"file:path={path},only=storage+n2") == ["n2", "oss01", "oss02"]
    spec = _written(tmp_path / "f.toml", 'file = "f.txt"\nkeep = ["manager"]\n')
    assert hosts(spec) == [*HOSTS, "ufm"]
    recipe = fl.network(path, keep="storage").recipe
    assert hosts(recipe) == [*HOSTS, "oss01", "oss02"], "a recipe says its network again"
    with pytest.raises(fl.RefusalError, match=r"keep: no device fits 'oss03'.*oss0"):
        fl.network(path, keep="oss03")
    with pytest.raises(fl.RefusalError, match=r"no adapter of a host is called 'mlx9'.*HCA-1"):
        fl.network(path, adapters="mlx9")
    ring = _written(tmp_path / "r.edges", "a b\nb c\nc a\n")
    for other in (ring, "ring:n=4"):
        with pytest.raises(fl.RefusalError, match="choose devices of discovered fabrics"):
            fl.network(other, keep="storage")


def test_the_command_line_says_what_it_leaves_out(tmp_path):
    path = _written(tmp_path / "f.txt", aggregation().text())
    plan = _written(tmp_path / "plan.txt", tree().text())
    done = flyloom("verify-cables", plan, path)
    assert (done.returncode, done.stderr.count("4 aggregation nodes left out")) == (0, 1)
    done = flyloom("verify-cables", plan, path, "--keep", "aggregation")
    assert done.returncode == 1 and "remove it" in done.stdout
    done = flyloom("design", path, "--keep", "aggregation,router", "--json")
    assert '"endpoints": 8' in done.stdout and "left out" not in done.stderr


def test_two_discoveries_that_contradict_are_refused_by_name_and_line(tmp_path):
    text = tree().text()
    lines = text.count("\n") + 1
    other = text.replace('"leaf-1" enhanced', '"leaf-9" enhanced')
    path = _written(tmp_path / "f.txt", text + "\n" + other)
    with pytest.raises(fl.RefusalError) as refused:
        fl.network(path)
    assert re.search(rf"line {lines + 8}: node \"S-\w+\" is already in line 8, as \"leaf-1\"",
                     str(refused.value)), refused.value
    swapped = text.replace('[31]\t"', '[33]\t"').replace('"[31]', '"[33]')
    path = _written(tmp_path / "f.txt", text + "\n" + swapped)
    with pytest.raises(fl.RefusalError, match=r"line \d+: "):
        fl.network(path)


def test_rails_are_counted_whichever_ports_are_in_use(tmp_path):
    """The simulators run as on the same network by first ports, or say how to choose."""
    path = _written(tmp_path / "f.txt", second_port().text())
    plain = _written(tmp_path / "plain.txt", tree().text())
    for level in ("flit", "packet"):
        rows = [document("sim", level, net, "--load", "0.2")["points"] for net in (path, plain)]
        for row in (row for points in rows for row in points):
            for wall in [key for key in row if key.endswith(("wall_s", "_s", "rss_mib"))]:
                row.pop(wall)
        assert rows[0] == rows[1]
    both = _written(tmp_path / "both.txt", two_ports().text())
    done = flyloom("sim", "flit", both, "--load", "0.2")
    assert done.returncode == 2 and "--adapters first" in done.stderr
    done = flyloom("sim", "flit", both, "--load", "0.2", "--adapters", "first")
    assert done.returncode == 0, done.stderr


def test_no_refusal_advises_what_is_given_or_cannot_be(tmp_path):
    """Adapters are chosen of discovered fabrics alone, and what is chosen is not advised again."""
    text = fl.network("ring:n=4,p=1").to_text("json")
    uneven = json.loads(text)
    uneven["switches"][2]["ports"] = 9
    uneven["endpoints"][1]["rails"].append([2, 9])
    done = flyloom("sim", "flit", _written(tmp_path / "n.json", json.dumps(uneven)),
                   "--load", "0.1")
    assert done.returncode == 2 and "rails" in done.stderr and "--" not in done.stderr
    down = fl.network("ring:n=4,p=1").with_failures([], [0, 1, 2, 3])
    with pytest.raises(fl.RefusalError, match="endpoints that work"):
        fl.export(down, "slurm-block")
    with pytest.raises(fl.RefusalError, match="-p of a file"):
        fl.export("ring:n=4,p=0", "slurm-block")
    long = ("route", "ring:n=44,p=1", "--engine", "min_hop", "--lanes")
    done = flyloom(*long, "hops:max_lanes=15", "-o", tmp_path / "t")
    assert done.returncode == 2 and "allow 22" not in done.stderr and "online" in done.stderr
    done = flyloom("route", "ring:n=8,p=1", "--engine", "min_hop", "--lanes", "hops:max_lanes=3",
                   "-o", tmp_path / "t")
    assert done.returncode == 2 and "allow 4 lanes" in done.stderr


def test_hosts_are_found_by_full_and_short_names(tmp_path):
    path = _written(tmp_path / "f.txt", tree().text())
    hosts = _written(tmp_path / "hosts", "n4.cluster.example\nn2.cluster.example slots=1\n")
    found = fl.map_processes(path, "stencil:shape=2,bytes=8", hosts=hosts)
    assert sorted(found["mapping"]) == [1, 3]
    full = tree(hosts=tuple(f"{name}.cluster.example" for name in HOSTS)).text()
    path = _written(tmp_path / "full.txt", full)
    found = fl.map_processes(path, "stencil:shape=2,bytes=8", hosts=["n4", "n2.cluster.example"])
    assert sorted(found["mapping"]) == [1, 3]
    with pytest.raises(fl.RefusalError, match=r"no endpoint .10\.0\.0\.1"):
        fl.map_processes(path, "stencil:shape=2,bytes=8", hosts=["10.0.0.1", "n2"])


def rails_of(net) -> dict[tuple[str, int], str]:
    """The switch of every rail, by its endpoint and number."""
    columns = (net.terminal_table[key].tolist() for key in ("endpoint", "rail", "switch"))
    rows = zip(*columns, strict=True)
    return {(net.endpoint_names[e], rail): net.switch_names[s] for e, rail, s in rows}


def test_discoveries_of_several_fabrics_are_planes(tmp_path):
    one = _written(tmp_path / "one.txt", tree(suffix=" mlx5_0").text())
    two = _written(tmp_path / "two.txt", tree(hosts=HOSTS[::-1], suffix=" mlx5_1").text())
    net = fl.network(f"file:planes={one}+{two}")
    assert (net.planes, net.switches, net.links, net.endpoints, net.terminals) == (2, 8, 8, 4, 8)
    assert net.endpoint_names == [*HOSTS]
    leaves = rails_of(net)
    # in the first plane n1 is on leaf-1, in the second, where they are exchanged, on leaf-2
    assert (leaves["n1", 0], leaves["n1", 1]) == ("leaf-1 plane 0", "leaf-2 plane 1")
    assert fl.network(net.recipe).terminals == 8
    with pytest.raises(fl.RefusalError, match="fewer than two"):
        fl.network(f"file:planes={one}")
    several = _written(tmp_path / "several.txt", several_adapters().text())
    with pytest.raises(fl.RefusalError, match="several endpoints of host n1"):
        fl.network(f"file:planes={one}+{several}")
    assert fl.network(f"file:planes={one}+{several},adapters=first").terminals == 8


def test_a_host_that_a_plane_lacks_has_no_rail_there(tmp_path):
    """Its rails are numbered without a gap, as those of every endpoint."""
    one = _written(tmp_path / "one.txt", tree(hosts=HOSTS[:2]).text())
    two = _written(tmp_path / "two.txt", tree(hosts=HOSTS[1:3]).text())
    net = fl.network(f"file:planes={one}+{two}")
    assert net.endpoint_names == list(HOSTS[:3])
    assert rails_of(net) == {
        ("n1", 0): "leaf-1 plane 0", ("n2", 0): "leaf-2 plane 0", ("n2", 1): "leaf-1 plane 1",
        ("n3", 0): "leaf-2 plane 1"}


def test_ports_of_several_planes_are_rails_in_them(tmp_path):
    """Fabrics of planes are discovered so: each port of an adapter leads to a part of its own, and
    no cable joins these."""
    f = Fabric()
    leaves = [[f.node("S", f"asic-{plane}-{i}", 41, 0xD2F4) for i in (1, 2)] for plane in range(4)]
    for a, b in leaves:
        f.cable(a, 40, b, 40, "1xXDR")
    for i, name in enumerate(HOSTS):
        host = f.node("H", f"{name} mlx5_0", 4)
        for plane, pair in enumerate(leaves):
            f.cable(pair[i // 2], 1 + i % 2, host, 1 + plane, "1xXDR")
    net = fl.network(_written(tmp_path / "f.txt", f.text()))
    assert (net.planes, net.endpoints, net.terminals) == (4, 4, 16)
    assert net.remarks == ["4 parts with hosts in common and no cable: 4 planes"]
    table = net.terminal_table
    rails = zip(table["rail"].tolist(), table["switch"].tolist(), strict=True)
    assert all(net.switch_names[s].startswith(f"asic-{rail}-") for rail, s in rails)
    assert fl.verify(fl.route(net, "min_hop"))["holds"]
    assert net.link_table["rate_gbps"].tolist() == [200.0] * 4
