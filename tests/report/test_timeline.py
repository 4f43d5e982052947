"""Timelines: the page with messages and collectives, and trace events for Perfetto.

Schedules are counted by a reader that shares nothing with flyloom, and events are judged by the
rules of the Trace Event Format.
"""

from __future__ import annotations

import array
import base64
import json
import re

import browser
import flyloom as fl
import goal_helpers
import pytest
from cli_helpers import flyloom
from flyloom._core import Workload
from flyloom.report import timeline_data, timeline_page, trace_events
from flyloom.report.on_path import on_path
from message_runs import message

COSTS = {"L": 1000, "o": 300, "g": 40, "G": 0.4, "O": 0.01, "S": 1000}
FORMATS = {"Int8Array": "b", "Int16Array": "h", "Int32Array": "i", "Uint8Array": "B",
           "Uint16Array": "H", "Uint32Array": "I", "Float64Array": "d"}

ANY = """num_ranks 3
rank 0 {
a: recv 70b from -1 tag -1
b: recv 5000b from -1 tag 4
b requires a
c: calc 250 cpu 1
c irequires b
}
rank 1 {
s: send 70b to 0 tag 9
}
rank 2 {
w: calc 9000
s: send 5000b to 0 tag 4
s requires w
}
"""
ACROSS = """num_ranks 2
rank 0 {
// collective one
l1: calc 100
l2: calc 100
// end of collective
// collective other
l3: calc 100
l4: calc 100
// end of collective
l3 requires l1
l2 requires l3
l4 requires l2
}
rank 1 {
}
"""
"""Two collectives of a rank, each of which has an operation between those of the other."""


def made(name, **given):
    return fl.make_workload(name, **given)


def schedules():
    yield "ring", made("allreduce_ring", ranks=6, bytes=40000)
    yield "solver", made("conjugate_gradient", ranks=8, nx=8, ny=8, nz=8, iterations=2)
    yield "overlap", made("allreduce_tree", ranks=5, bytes=900, overlap_ns=5000, chunks=3,
                          overlap_cpu=1)
    yield "any source", Workload.read(ANY.encode(), None)
    yield "across", Workload.read(ACROSS.encode(), None)


@pytest.fixture(scope="module", params=[pytest.param(one, id=name) for name, one in schedules()])
def run(request):
    """A schedule as text, and what its traced run found."""
    found = message(request.param, costs=COSTS, critical_path=True)
    return request.param.text(), found.to_dict()


def events_of(found):
    return json.loads(trace_events.text(found))["traceEvents"]


def picoseconds(us):
    """Times have six decimals: they are read exactly."""
    assert us == pytest.approx(round(us * 1e6) / 1e6, abs=0)
    return round(us * 1e6)


def test_slices_of_a_track_nest(run):
    tracks = {}
    for event in events_of(run[1]):
        if event["ph"] == "X":
            begin = picoseconds(event["ts"])
            assert event["dur"] >= 0
            tracks.setdefault((event["pid"], event["tid"]), []).append(
                (begin, begin + picoseconds(event["dur"])))
    for spans in tracks.values():
        for i, (begin, end) in enumerate(spans):
            for other, until in spans[i + 1:]:  # as they stand in the file: the outer one first
                assert other >= begin
                assert other >= end or until <= end


def test_flows_are_the_messages_and_bind_to_their_slices(run):
    text, found = run
    ranks = goal_helpers.read(text)
    sends = sum(op.kind == "send" for ops in ranks for op in ops)
    events = events_of(found)
    slices = [event for event in events if event["ph"] == "X" and event["cat"] != "collective"]
    ends = {"s": {}, "f": {}}
    for place, event in enumerate(events):
        if event["ph"] in ends:
            assert event["id"] not in ends[event["ph"]]
            ends[event["ph"]][event["id"]] = (place, event)
    assert ends["s"].keys() == ends["f"].keys() and len(ends["s"]) == sends == found["messages"]
    for number, (sent, start) in ends["s"].items():
        came, finish = ends["f"][number]
        assert sent < came and start["ts"] <= finish["ts"] and finish["bp"] == "e"
        assert start["name"] == finish["name"] and start["cat"] == finish["cat"]
        both = []
        for event, doing, place in ((start, "sends", sent), (finish, "receives", came)):
            [bound] = [
                one for one in slices
                if (one["pid"], one["tid"], one["ts"], one["cat"])
                == (event["pid"], event["tid"], event["ts"], doing)
            ]
            assert events.index(bound) < place
            both.append(bound)
        send, receive = both
        of_send = ranks[send["pid"]][send["args"]["operation"] - 1]
        of_receive = ranks[receive["pid"]][receive["args"]["operation"] - 1]
        assert (of_send.kind, of_send.peer, of_receive.kind) == ("send", receive["pid"], "recv")
        assert of_receive.peer in (send["pid"], goal_helpers.ANY)
        assert of_receive.tag in (of_send.tag, goal_helpers.ANY)
        assert receive["args"]["peer"] == send["pid"]
        assert send["args"]["bytes"] == of_send.size


def test_durations_are_those_of_the_schedule_and_the_costs(run):
    """A calculation takes its time, a sending o and O for each byte after the first; a large
    message has a question of a byte before and an answer of o; ranks end when the run says, or
    before where the interface still sends a large message."""
    text, found = run
    sums = {}
    lasts = [0] * found["ranks"]
    for event in events_of(found):
        if event["ph"] == "X" and event["cat"] != "collective":
            sums[event["cat"]] = sums.get(event["cat"], 0) + picoseconds(event["dur"])
            end = picoseconds(event["ts"]) + picoseconds(event["dur"])
            lasts[event["pid"]] = max(lasts[event["pid"]], end)
    ops = [op for ops in goal_helpers.read(text) for op in ops]
    large = sum(op.kind == "send" and op.size > COSTS["S"] for op in ops)
    o, byte = 300_000, 10
    expected = {
        "computes": sum(op.size * 1000 for op in ops if op.kind == "calc"),
        "sends": sum(o + (op.size - 1) * byte for op in ops if op.kind == "send") + large * o,
        "answers": large * o,
    }
    assert {name: sums.get(name, 0) for name in expected} == expected
    ends = [round(ns * 1000) for ns in found["rank_finish_ns"]]
    assert all(last <= end for last, end in zip(lasts, ends, strict=True))
    assert large or lasts == ends
    assert max(lasts) == round(found["finish_ns"] * 1000)


def test_every_track_has_a_name(run):
    events = events_of(run[1])
    used = {(event["pid"], event["tid"]) for event in events if event["ph"] != "M"}
    named = {(event["pid"], event["tid"]): event["args"]["name"] for event in events
             if event["name"] == "thread_name"}
    ranks = {event["pid"]: event["args"]["name"] for event in events
             if event["name"] == "process_name"}
    assert named.keys() == used
    assert ranks == {pid: f"rank {pid}" for pid, _ in used}


def test_collectives_enclose_their_operations():
    found = message(made("conjugate_gradient", ranks=8, nx=8, ny=8, nz=8, iterations=2),
                    critical_path=True).to_dict()
    events = [event for event in events_of(found) if event["ph"] == "X"]
    around = [event for event in events if event["cat"] == "collective"]
    # an iteration has sums of 8 bytes over all ranks, and no other collective
    assert {event["name"] for event in around} == {"allreduce_recursive_doubling"}
    per_rank = {rank: sum(event["pid"] == rank for event in around) for rank in range(8)}
    assert len(set(per_rank.values())) == 1 and per_rank[0] >= 4
    inside = sum(
        any(one["ts"] <= event["ts"] and event["ts"] + event["dur"] <= one["ts"] + one["dur"] + 1e-9
            for one in around if one["pid"] == event["pid"] and one["tid"] == event["tid"])
        for event in events if event["cat"] == "sends" and event["args"]["bytes"] == 8)
    # a sum of 8 bytes by doubling sends log2(8) times on every rank
    assert inside == per_rank[0] * 3 * 8


def test_collectives_across_one_another_are_on_tracks_of_their_own():
    found = message(Workload.read(ACROSS.encode(), None), critical_path=True).to_dict()
    around = [event for event in events_of(found) if event.get("cat") == "collective"]
    spans = {event["name"]: (event["ts"], event["dur"], event["tid"]) for event in around}
    assert spans["one"] == (0, 0.3, 0)
    assert spans["other"][:2] == (0.1, 0.3) and spans["other"][2] != 0


def test_names_go_along_with_schedules(tmp_path):
    """As text, merged, and with noise; the binary form has none, and is the same schedule."""
    one = made("allgather_ring", ranks=3, bytes=10)
    two = made("barrier_tree", ranks=2)
    noisy = one.noisy({"kind": "exponential", "on": "all"})
    for job, names in ((one, ["allgather_ring"] * 3), (noisy, ["allgather_ring"] * 3),
                       (Workload.merge([one, two]),
                        ["allgather_ring"] * 3 + ["barrier_tree"] * 2)):
        assert re.findall(r"// collective (\w+)\n", job.text()) == names
        again = Workload.read(job.text().encode(), None)
        assert again.text() == job.text() and again == job
        bare = Workload.read(job.binary(), None)
        assert bare == job and "collective" not in bare.text()
    # noise comes before an operation, within its collective
    assert noisy.text().count("// end of collective\n}") == 0
    found = message(noisy, critical_path=True).to_dict()["critical_path"]["collectives"]
    assert found["begin_ns"] == [0, 0, 0]


def held(page):
    """The data of a page, its arrays as lists."""
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1]
    data = json.loads(text)

    def opened(packed):
        return array.array(FORMATS[packed[0]], base64.b64decode(packed[1])).tolist()

    spans = {name: opened(packed) for name, packed in data["spans"].items()}
    return {**data, "spans": spans,
            **{name: opened(data[name]) for name in ("first", "send", "receive")}}


def test_a_page_holds_all_work_and_messages(run):
    found = run[1]
    work = found["critical_path"]["work"]
    data = held(timeline_page.page(found))
    spans = data["spans"]
    ends = zip(data["first"], data["first"][1:], strict=False)
    rows = [row for row, (low, high) in enumerate(ends) for _ in range(low, high)]
    shown = sorted(
        (data["rows"][row], data["doing"][doing], begin, end, number, size, peer)
        for row, doing, begin, end, number, size, peer in zip(
            rows, *(spans[name] for name in ("doing", "begin_ns", "end_ns", "number", "bytes",
                                             "peer")), strict=True))
    names = [f"{rank}" if cpu == 0 else f"{rank}, processor {cpu}"
             for rank, cpu in zip(work["rank"], work["cpu"], strict=True)]
    assert shown == sorted(zip(names, *(list(work[name]) for name in (
        "doing", "begin_ns", "end_ns", "number", "bytes", "peer")), strict=True))
    assert len(data["send"]) == found["messages"]
    for send, receive in zip(data["send"], data["receive"], strict=True):
        assert data["doing"][spans["doing"][send]] == "sends"
        assert data["doing"][spans["doing"][receive]] == "receives"
        assert spans["end_ns"][receive] > spans["begin_ns"][send]


def test_what_is_left_out_is_said():
    found = message(made("barrier_dissemination", ranks=100), critical_path=True).to_dict()
    shown = timeline_data.shown(found)
    assert shown.left_out == "64 of 100 ranks are shown, those of the critical path first"
    assert {rank for rank, _ in shown.rows} >= set(found["critical_path"]["path"]["rank"])
    assert len(shown.messages) and shown.messages.max() < len(shown.row)
    each = len(found["critical_path"]["work"]["rank"]) // 100
    less = timeline_data.shown(found, most=each + each // 2)
    assert len(less.rows) == 1 and "1 of 100 ranks" in less.left_out
    least = timeline_data.shown(found, most=3)
    assert len(least.row) == 3 and f"the first 3 of {each:,} spans of time" in least.left_out
    assert "are shown" in timeline_page.page(found)
    cpus = "\n".join(f"calc 5 cpu {cpu}" for cpu in range(200))
    text = "num_ranks 5\n" + "".join(f"rank {rank} {{\n{cpus}\n}}\n" for rank in range(5))
    found = message(Workload.read(text.encode(), None), critical_path=True).to_dict()
    shown = timeline_data.shown(found)
    assert len(shown.rows) == 400 and "2 of 5 ranks" in shown.left_out


def test_a_run_too_long_for_a_picture_is_saved_as_a_page(tmp_path):
    """A span of time for each calculation: one more than a picture may have."""
    text = "num_ranks 1\nrank 0 {\n" + "calc 5\n" * 20_001 + "}\n"
    made = Workload.read(text.encode(), None)
    picture = fl.simulate(made, "message", critical_path=True).plot()
    with pytest.raises(fl.RefusalError, match="20001 spans of time on 1 ranks cannot be seen"):
        picture.save(tmp_path / "t.svg")
    picture.save(tmp_path / "t.html")
    data = held((tmp_path / "t.html").read_text())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.html"]
    assert data["finish"] == 5 * 20_001


def test_ranks_that_do_nothing_have_a_timeline():
    found = message(Workload.read(b"num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n", None),
                    critical_path=True).to_dict()
    assert events_of(found) == []
    assert held(timeline_page.page(found))["first"] == [0]


def test_the_path_is_in_words():
    assert on_path({"L": 0, "o": 379, "g": 0, "G": 1, "O": 7339920}) == (
        "379 operations' overhead (o), 7,339,920 bytes' overhead (O), "
        "1 byte through an interface (G)")
    assert on_path({"L": 0, "o": 0}) == "no message"


def test_the_command_writes_both(tmp_path):
    for name in ("t.perfetto.json", "t.html"):
        done = flyloom("sim", "message", "--workload", "allreduce_ring ranks=4 bytes=4000", "-o",
                       name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert "14 operations' overhead (o)" not in done.stdout and "overhead (o)" in done.stdout
    events = json.loads((tmp_path / "t.perfetto.json").read_text())["traceEvents"]
    assert sum(event["ph"] == "s" for event in events) == 4 * 6  # 2 (P - 1) rounds
    assert "allreduce_ring" in (tmp_path / "t.html").read_text()
    several = "alltoall_linear ranks=2 bytes=8,barrier_tree ranks=2"
    for words in (["flit", "slim_fly:q=3"], ["message", "--workload", several]):
        done = flyloom("sim", *words, "-o", "no.perfetto.json", cwd=tmp_path)
        assert done.returncode == 2 and "no.perfetto.json" in done.stderr, done.stderr
        assert not (tmp_path / "no.perfetto.json").exists()


@browser.NEEDS
def test_a_browser_zooms_and_says_what_is_under_the_pointer(tmp_path):
    """Rank 0 computes for 5 us, then sends; in the middle of the first row it computes."""
    job = Workload.read(b"num_ranks 2\nrank 0 {\n// collective <spread>\n// collective spread\n"
                        b"l0: calc 5000\nl1: send 1b to 1 tag 7\n// end of collective\n"
                        b"l1 requires l0\n}\nrank 1 {\nl0: recv 1b from 0 tag 7\n}\n", None)
    found = message(job, critical_path=True, costs={"L": 1000, "o": 500, "g": 0, "G": 0, "O": 0,
                                                    "S": 100}).to_dict()
    frames = "<script>window.requestAnimationFrame = (draw) => { draw(); return 1; };</script>"
    acts = """<script>(() => {
      const c = document.getElementById("time"), box = c.getBoundingClientRect();
      const at = (x, y) => ({ clientX: box.left + 92 + (box.width - 100) * x,
                              clientY: box.top + y, cancelable: true });
      const say = (id, text) => {
        const p = document.createElement("p"); p.id = id; p.textContent = text;
        document.body.append(p);
      };
      const tip = () => document.getElementById("tip").textContent;
      c.dispatchEvent(new PointerEvent("pointermove", at(0.2, 46)));
      say("first", tip());
      c.dispatchEvent(new PointerEvent("pointermove", at(0.75, 46)));
      say("second", tip());
      const nearer = () => new WheelEvent("wheel", { deltaY: -500, ...at(1, 46) });
      for (let i = 0; i < 5; i++) c.dispatchEvent(nearer());
      c.dispatchEvent(new PointerEvent("pointermove", at(0.5, 46)));
      say("third", document.getElementById("state").textContent);
      c.dispatchEvent(new KeyboardEvent("keydown", { key: "0" }));
      say("fourth", document.getElementById("state").textContent);
    })();</script></body>"""
    page = tmp_path / "t.html"
    whole = timeline_page.page(found).replace("</body>", acts)
    page.write_text(whole.replace("<head>", f"<head>{frames}", 1))  # a frame is drawn at once
    dom, complaints = browser.dump_dom(page)
    said = dict(re.findall(r'<p id="(\w+)">(.*?)</p>', dom, re.DOTALL))
    assert complaints == []
    assert said["first"] == ("rank 0, operation 1: computes\n0 to 5,000 ns (5,000 ns)\nin spread\n"
                             "on the critical path")
    assert said["second"].startswith("rank 0, operation 2: sends 1 bytes to rank 1, tag 7\n"
                                     "5,000 to 5,500 ns (500 ns)")
    assert said["fourth"] == "0 to 7,000 ns: 3 spans of work, 1 messages"
    # at the right end, e^5 times nearer: what rank 1 does last
    assert said["third"] == "6,952.834 to 7,000 ns: 1 spans of work, 1 messages"
