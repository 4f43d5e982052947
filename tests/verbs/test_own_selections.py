"""Selections of one's own: the same as built-in ones where they say the same, safe whatever they
say, and refused in one line where they say nothing."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import flyloom as fl
import pytest
from cli_helpers import flyloom

SHORT: dict[str, Any] = {"warmup_cycles": 100, "measure_cycles": 300}
NETS = ["slim_fly:q=5,p=4", "dragonfly:h=2", "torus:shape=4x4,p=2", "hyperx:shape=4x3,p=2",
        "jellyfish:n=16,k=4,p=2,seed=1"]
ROOM = {"switch": {"virtual_channels": 10}}


def flits(net: str, selection: Any, **given: Any) -> dict[str, Any]:
    """The points of a short run, and whether its paths were proved."""
    more = {"run": SHORT, "load": 0.6, "traffic": "tornado", **ROOM, **given}
    found = fl.flit(net, selection=selection, **more).to_dict()
    assert found["verified"]
    return {"points": found["points"], "lane_use": found["parameters"]["lane_use"]}


@pytest.mark.parametrize(("built_in", "choosing", "own"), [
    ("ugal_l", {"threshold": 0}, "custom score=hops*queue"),
    ("ugal_l", {"threshold": 12}, "custom score=hops*queue + if(is_minimal, 0, 12)"),
    ("ugal_l", {"threshold": 3, "candidates": 2},
     "custom score=hops*queue + 3 * (1 - is_minimal) detours=2"),
    ("par", {"threshold": 0}, "custom score=hops*queue decide=progressive"),
    ("par", {"threshold": 7, "candidates": 1},
     "custom score=hops*queue + 7 * (1 - is_minimal) detours=1 decide=progressive"),
    ("ugal_l", None, "custom score=if(is_minimal and queue <= 4, 0, hops*queue)"),
    ("par", {"least_queue": 2},
     "custom score=if(is_minimal and queue <= 2, 0, hops*queue) decide=progressive"),
    ("minimal", None, "custom score=0 detours=0"),
    ("valiant", None, "custom score=0 detours=1 minimal=0"),
])
def test_the_expression_of_a_built_in_selection_gives_its_figures_bit_by_bit(
    built_in: str, choosing: dict[str, int] | None, own: str,
) -> None:
    for net in NETS[:3]:
        expected = flits(net, built_in, choosing=choosing)
        assert flits(net, own) == expected, net


def test_they_are_the_same_with_lanes_by_groups_and_lookahead() -> None:
    for given in ({"lane_use": "groups"}, {"packet_flits": "1=3,5=1"}):
        expected = flits("dragonfly:h=2", "par", choosing={"threshold": 2}, **given)
        own = "custom score=hops*queue + 2 * (1 - is_minimal) decide=progressive"
        assert flits("dragonfly:h=2", own, **given) == expected


@pytest.mark.parametrize(("built_in", "choosing", "own"), [
    ("ugal_l", {"threshold": 0}, "custom score=hops*queue"),
    ("ugal_l", {"threshold": 4}, "custom score=hops*queue + 4 * (1 - is_minimal)"),
    ("par", {"threshold": 0}, "custom score=hops*queue decide=progressive"),
    ("par", {"threshold": 5, "candidates": 2},
     "custom score=hops*queue + if(is_minimal, 0, 5) decide=progressive detours=2"),
])
def test_packets_take_the_paths_of_the_built_in_selection(
    built_in: str, choosing: dict[str, int], own: str,
) -> None:
    given = {"load": 0.7, "traffic": "tornado", **ROOM}
    for net in NETS[:3]:
        expected = fl.packet(net, selection=built_in, choosing=choosing, **given)
        found = fl.packet(net, selection=own, **given)
        (one, other), timed = (expected.points[0], found.points[0]), ("wall_s", "peak_rss_mib")
        assert {k: one[k] for k in one if k not in timed} == {
            k: other[k] for k in other if k not in timed}, net
        assert one.nonminimal_packets > 0, net


def test_on_tables_it_compares_layers_as_ugal_l_does() -> None:
    how = {"engine": "layered", "layers": 4, "switch": {"virtual_channels": 12}}
    for choosing, own in (
        ({"threshold": 0}, "custom score=hops*queue"),
        ({"threshold": 6, "candidates": 2}, "custom score=hops*queue+6*(1-is_minimal) detours=2"),
    ):
        expected = flits(NETS[0], "ugal_l", choosing=choosing, **how)
        assert flits(NETS[0], own, **how) == expected


def expression(draw: random.Random, depth: int) -> str:
    """A random expression of at most this depth."""
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(["hops", "queue", "is_minimal", "minimal_hops", "minimal_queue",
                            "via_hops", "travelled", "3", "0.25"])
    left, right = expression(draw, depth - 1), expression(draw, depth - 1)
    return draw.choice([
        f"({left} + {right})", f"({left} - {right})", f"{left} * {right}", f"({left}) / ({right})",
        f"min({left}, {right})", f"max({left}, {right}, 1)", f"-abs({left})",
        f"if({left} < {right}, {right}, {left})", f"(({left}) >= ({right}) or not {left})",
    ])


def test_random_expressions_keep_to_proved_lanes_and_never_lock_up() -> None:
    draw = random.Random(41)
    for number in range(20):
        own = fl.Selection(
            score=expression(draw, 4), detours=draw.randrange(1, 5), minimal=draw.randrange(3),
            decide=draw.choice(["source", "progressive", "every"]),
        )
        for net in NETS:
            found = flits(net, own, load=1, traffic="uniform", seed=number,
                          run={"warmup_cycles": 0, "measure_cycles": 150})
            [point] = found["points"]
            # all that was sent arrives when no more is: nothing waits in a cycle
            assert not point["deadlocked"], (net, own)
            assert point["accepted_load"] > 0.05
            sent = fl.packet(net, selection=own, load=1, messages=2, seed=number, **ROOM)
            assert sent.verified
            assert not sent.points[0].deadlocked, (net, own)


def test_threads_and_engines_do_not_change_the_figures() -> None:
    own = fl.Selection(score="hops * queue + travelled", decide="progressive")
    assert flits(NETS[1], own, threads=1) == flits(NETS[1], own, threads=2)
    given = {"selection": own, "load": 0.8, "messages": 5, **ROOM}
    one = fl.packet(NETS[1], **given).points[0]
    for sync in ("threads", "optimistic"):
        other = fl.packet(NETS[1], sync=sync, threads=2, **given).points[0]
        for name in ("mean_latency_ns", "mean_hops", "nonminimal_packets", "end_ns"):
            assert one[name] == other[name], (sync, name)


def test_a_queue_score_spreads_over_minimal_paths() -> None:
    # a shift by half of the endpoints: paths up meet at random, and less where queues are compared,
    # at the source alone or, as in adaptive fat trees, at every switch
    own = "custom score=queue detours=0 minimal=4 decide="
    given = {"load": 0.9, "traffic": "shift:8", "packet_flits": 4, "seed": 1,
             "run": {"warmup_cycles": 300, "measure_cycles": 800}}
    blind, first, every, anca = (
        flits("fat_tree:levels=3,k=4", name, **given)["points"][0]["mean_packet_latency_cycles"]
        for name in ("minimal", f"{own}source", f"{own}every", "anca")
    )
    assert blind > 1.1 * first > 1.2 * every
    assert every < 1.2 * anca


def test_a_port_that_is_drawn_alone_is_that_of_a_minimal_path() -> None:
    given = {"traffic": "transpose", "load": 0.3}
    assert flits("torus:shape=4x4,p=1", "custom score=queue detours=0 decide=every", **given) == (
        flits("torus:shape=4x4,p=1", "minimal", **given))


def test_selections_of_ones_own_may_be_several_in_one_call() -> None:
    text = "custom score=max(hops, 2) * queue detours=2"
    found = fl.flit(NETS[0], selection=f"minimal,{text}", load=0.1, run=SHORT)
    own = fl.Selection("max(hops, 2) * queue", detours=2)
    other = fl.flit(NETS[0], selection=["minimal", own], load=0.1, run=SHORT)
    assert len(found.curves) == 2 and found.to_dict() == other.to_dict()
    assert set(found.to_arrow()["selection"].to_pylist()) == {"minimal", text}


def test_a_name_stands_in_rows_tables_and_legends(tmp_path: Path) -> None:
    text = "custom score=max(hops, 2) * queue detours=2 name=my-own_1"
    own = fl.Selection("max(hops, 2) * queue", detours=2, name="my-own_1")
    assert str(own) == text and dict(own)["name"] == "my-own_1"
    found = fl.flit(NETS[0], selection=["minimal", own], load=0.1, run=SHORT)
    assert found.to_dict() == fl.flit(
        NETS[0], selection=f"minimal,{text}", load=0.1, run=SHORT).to_dict()
    assert set(found.to_arrow()["selection"].to_pylist()) == {"minimal", "my-own_1"}
    assert found.curves[1].parameters.selection == text
    svg = found.plot().svg
    assert "my-own_1" in svg and "score" not in svg
    unnamed = flits(NETS[0], text.partition(" name=")[0])
    named = flits(NETS[0], own)
    assert named == unnamed, "a name changes nothing"
    done = flyloom("sim", "flit", NETS[0], "--selection", f"minimal,{text}", "--load", "0.1",
                   "--set", "run.measure_cycles=100")
    assert "my-own_1 " in done.stdout and "score" not in done.stdout


def test_a_selection_is_written_as_text_table_or_class() -> None:
    text = "custom score=max(hops, 2) * queue detours=2"
    expected = flits(NETS[0], text)
    table = {"score": "max(hops, 2) * queue", "detours": 2}
    own = fl.Selection(**table)
    assert str(own) == text
    assert flits(NETS[0], table) == flits(NETS[0], own) == expected
    found = fl.simulate(NETS[0], selection=own, load=0.1, run=SHORT)
    assert found.parameters.selection == text


def test_the_command_and_an_experiment_take_it(tmp_path: Path) -> None:
    text = "custom score=hops*queue detours=2"
    run = ("--set", "run.warmup_cycles=100", "run.measure_cycles=100")
    done = flyloom("sim", "flit", NETS[0], "--selection", text, "--load", "0.2", *run, "--json")
    assert done.returncode == 0, done.stderr
    assert '"selection": "custom score=hops*queue detours=2"' in done.stdout
    listed = flyloom("list", "selections")
    assert "custom" in listed.stdout and "score=" in listed.stdout
    file = tmp_path / "own.toml"
    file.write_text(
        'schema = 1\nname = "own"\ntopology = { family = "slim_fly", q = 5, p = 2 }\n'
        '[sim.flit]\nload = 0.5\ntraffic = "tornado"\n'
        "run = { warmup_cycles = 100, measure_cycles = 200 }\n[sweep.grid]\n"
        '"sim.flit.selection" = ["ugal_l", "custom score=hops*queue",'
        ' { score = "hops * queue", detours = 4 }]\n'
    )
    done = flyloom("run", str(file), "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "custom score=hops*queue" in done.stdout
    file.write_text(file.read_text().replace('"hops * queue", detours', '"hops * ", detours'))
    done = flyloom("run", str(file), "--dry-run", cwd=tmp_path)
    assert done.returncode == 2
    assert "own.toml" in done.stderr and "score 'hops * ', column 8" in done.stderr, done.stderr


@pytest.mark.parametrize(("selection", "said"), [
    ("custom score=hops*que", "score 'hops*que', column 6: 'que' is no quantity; hops, queue"),
    ("custom score=hops/0", "score 'hops/0', column 5: a division by 0 gives no score"),
    ("custom score=hops name=a.b", "name: 'a.b' is no name; 1 to 40 letters, digits, - and _"),
    ("custom score=hops*", "column 6: the end is not expected"),
    ("custom score=min(hops)", "column 1: min has 1 arguments; 2 or more"),
    ("custom score=hops detours=70", "detours: 70 is out of range; 0 to 64"),
    ("custom score=hops colour=3", "'colour' is no field: score, detours, minimal, decide, name"),
    ("custom", "custom score=hops*queue"),
    ("ugal", "there is no 'ugal', did you mean ugal_g or ugal_l"),
])
def test_what_is_no_selection_is_refused_in_one_line(selection: str, said: str) -> None:
    for level in ("flit", "packet"):
        done = flyloom("sim", level, "ring:n=4,p=1", "--selection", selection, "--load", "0.1")
        assert done.returncode == 2
        assert said in done.stderr and done.stderr.count("\n") == 1, done.stderr
        assert "selection" in done.stderr


def test_what_does_not_go_with_it_is_refused() -> None:
    own = fl.Selection(score="queue")
    with pytest.raises(fl.RefusalError, match=r"choosing: not of a selection of one's own"):
        fl.flit("ring:n=4,p=1", selection=own, choosing={"candidates": 2})
    with pytest.raises(fl.RefusalError, match="missing field `score`"):
        fl.flit("ring:n=4,p=1", selection={"detours": 2})
    turning = fl.Selection(score="queue", decide="progressive")
    with pytest.raises(fl.RefusalError, match="selection: custom on tables"):
        fl.flit("ring:n=4,p=1", selection=turning, engine="dfsssp")
    with pytest.raises(fl.RefusalError, match="selection: codes-dally-v1 has no custom"):
        fl.packet("dragonfly:h=2", selection=own, dialect="codes-dally-v1")
