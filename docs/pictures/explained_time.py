"""The pictures of docs/explained that show time: flits and credits, messages, notified access."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path

import flyloom as fl
from flyloom.draw.svg import FAR, GREY, INK, MIDDLE, NEAR, PALE, PAPER, TINTS, SvgDrawing
from flyloom.report import comparison, flit
from flyloom.report.charts import svg

networks = runpy.run_path(str(Path(__file__).with_name("explained_networks.py")))
sheet, arrow, label = networks["sheet"], networks["arrow"], networks["label"]

ROUND_TRIP = 6
"""Cycles from a flit to the credit for it, with cables of one cycle and the default switches."""
COSTS = {"L": 1000, "o": 300, "g": 400, "G": 0.01, "O": 0}
BYTES = 40_000


def pictures() -> dict[str, str]:
    """File name and SVG text of every picture."""
    return {
        "explained_credits.svg": credits_in_time(),
        "explained_credit_rates.svg": svg(credit_rates(), prefix="rates-"),
        "explained_head_of_line.svg": head_of_line(),
        "explained_load_curve.svg": svg(load_curve(), prefix="load-"),
        "explained_message.svg": message(),
        "explained_noise.svg": svg(noise(), prefix="noise-"),
        "explained_notified.svg": notified(),
        "explained_two_places.svg": two_places(),
    }


# --- flits-and-credits.md ------------------------------------------------------------------------


def sending_times(buffer_flits: int, until: int) -> list[int]:
    """When flits leave a sender that has as many credits as the buffer has room."""
    times: list[int] = []
    while not times or times[-1] < until:
        earliest = times[-1] + 1 if times else 0
        if len(times) >= buffer_flits:
            earliest = max(earliest, times[-buffer_flits] + ROUND_TRIP)
        times.append(earliest)
    return [time for time in times if time <= until]


def credits_in_time() -> str:
    """Flits and credits between two switches, with a buffer that is too small and one that is
    large enough."""
    cycles, step, left = 18, 29, 88
    drawing = sheet(660, 330, "Flits and credits in time, with room for two flits and for six")
    for top, room in ((34, 2), (192, 6)):
        times = sending_times(room, cycles)
        sent = sum(time < cycles for time in times)
        high, low = top + 24, top + 92
        drawing.text(12, top, f"buffer of {room} flits: {sent} flits in {cycles} cycles", 12.5,
                     font_weight=600)
        for name, y in (("sender", high), ("receiver", low)):
            drawing.text(12, y + 4, name, 12)
            drawing.add("line", x1=left, y1=y, x2=left + step * cycles, y2=y, stroke=GREY,
                        stroke_width=1)
        for time in times:
            ends = [left + step * (time + later) for later in (0, 2, 4, 6)]
            if time + 2 <= cycles:
                arrow(drawing, (ends[0], high), (ends[1], low), NEAR, width=2)
            if time + 4 <= cycles:
                arrow(drawing, (ends[1], low), (ends[2], high), FAR, width=1.4, dashes="4 3")
            if time + 6 <= cycles:
                drawing.add("line", x1=ends[2], y1=high, x2=ends[3] - 3, y2=high, stroke=FAR,
                            stroke_width=3)
        for cycle in range(0, cycles + 1, 6):
            text = f"cycle {cycle}" if cycle == 0 else str(cycle)
            label(drawing, (left + step * cycle, low + 18), text, 11, fill=GREY)
    drawing.text(12, 322, "blue: a flit; dashes: the credit for it; thick: until the credit counts",
                 11.5, fill=GREY)
    return drawing.render()


def credit_rate(cable_cycles: int, buffer_flits: int) -> float:
    """Flits a cycle over one cable, with one virtual channel and packets of 64 flits."""
    return fl.simulate(
        "star:n=2,p=1", "flit", load=1, traffic="shift:1",
        settings={
            "switch.virtual_channels": 1, "switch.buffer_flits": buffer_flits, "packet_flits": 64,
            "link_latency_cycles": cable_cycles, "run.warmup_cycles": 1000,
            "run.measure_cycles": 4000,
        },
    ).points[0]["accepted_load"]


def credit_rates() -> dict:
    """What is accepted against the size of the buffer, and the formula, for two cables."""
    rows, line = [], []
    for cable in (1, 10):
        name = f"cables of {cable} cycle{'s' * (cable > 1)}"
        trip = 2 * (cable + 1) + 2
        line += [{"cable": name, "room": room / 2, "rate": min(1, room / 2 / trip)}
                 for room in range(65)]
        rows += [{"cable": name, "room": room, "rate": credit_rate(cable, room)}
                 for room in (1, 2, 4, 6, 8, 12, 16, 20, 24, 32)]
    encoding = {
        "x": {"field": "room", "type": "quantitative", "title": "buffer, flits"},
        "y": {"field": "rate", "type": "quantitative", "title": "flits a cycle"},
        "color": comparison.colour(["cables of 1 cycle", "cables of 10 cycles"], "cable"),
    }
    return comparison.chart({"width": 460, "height": 230, "layer": [
        {"data": {"values": line}, "mark": {"type": "line", "strokeWidth": 1.3},
         "encoding": encoding},
        {"data": {"values": rows}, "mark": {"type": "point", "filled": True, "size": 42},
         "encoding": encoding},
    ]})


def head_of_line() -> str:
    """A switch with one queue an input, and the same with two virtual channels."""
    drawing = sheet(660, 250, "A packet that waits behind another one, and one that passes it")
    for left, title, lanes in ((0, "one queue: P waits, though output 2 is idle", 1),
                               (330, "two virtual channels: P passes Q", 2)):
        label(drawing, (left + 165, 20), title, 12.5, font_weight=600)
        drawing.add("rect", x=left + 30, y=40, width=250, height=180, rx=6, fill=PAPER,
                    stroke=GREY)
        queues = [(80, "Q→1", FAR), (170, "Q→1", FAR)]
        for y, text, colour in queues:
            for lane in range(lanes):
                at = y + (22 * lane - 11 if lanes == 2 else 0)
                drawing.add("rect", x=left + 42, y=at - 9, width=88, height=18, fill=PALE)
                if lane == 0:
                    box(drawing, (left + 86, at), text, colour)
                if y == 170 and lane == lanes - 1:
                    box(drawing, (left + (44 if lanes == 1 else 86), at), "P→2", NEAR)
            arrow(drawing, (left + 6, y), (left + 40, y), GREY)
        for number, y in ((1, 80), (2, 170)):
            drawing.text(left + 290, y + 4, f"out {number}", 11.5)
        arrow(drawing, (left + 132, 80 - 11 * (lanes - 1)), (left + 284, 78), FAR, width=2.2)
        arrow(drawing, (left + 132, 170 - 11 * (lanes - 1)), (left + 276, 86), PALE, width=2.2)
        if lanes == 2:
            arrow(drawing, (left + 132, 181), (left + 284, 172), NEAR, width=2.2)
        label(drawing, (left + 165, 236),
              "the first packet of each input wants output 1" if lanes == 1
              else "each virtual channel has a queue of its own", 11.5, fill=GREY)
    return drawing.render()


def box(drawing: SvgDrawing, at: tuple[float, float], text: str, colour: str) -> None:
    """A packet in a queue, with its output."""
    drawing.add("rect", x=at[0], y=at[1] - 8, width=42, height=16, rx=3, fill=PAPER,
                stroke=colour, stroke_width=1.6)
    label(drawing, (at[0] + 21, at[1]), text, 11)


def load_curve() -> dict:
    """Latency and accepted load of the deployed Slim Fly against load, by its buffers."""
    return flit.curves_spec([
        {"label": f"{flits} flits", "points": fl.simulate(
            "slim_fly:q=5,p=4", "flit", load=[round(0.05 + 0.1 * i, 2) for i in range(10)],
            settings={"switch.virtual_channels": 2, "switch.buffer_flits": flits,
                      "run.warmup_cycles": 300, "run.measure_cycles": 500},
        ).points}
        for flits in (2, 4, 16)
    ], rows=(flit.ROWS[0], flit.ROWS[2]))


# --- loggops.md ----------------------------------------------------------------------------------


def message() -> str:
    """One message of 40,000 bytes, eager and by rendezvous: who works when."""
    latency, overhead, gap = COSTS["L"], COSTS["o"], COSTS["g"]
    long = (BYTES - 1) * COSTS["G"]
    drawing = sheet(660, 340, "A message under LogGOPS, eager and by rendezvous")
    scale, left = 0.12, 84

    def bar(rank_y: float, begin: float, end: float, text: str, colour: str,
            down: float = 0) -> None:
        drawing.add("rect", x=left + scale * begin, y=rank_y - 9 + down,
                    width=scale * (end - begin), height=18, fill=colour, stroke=GREY,
                    stroke_width=0.6)
        label(drawing, (left + scale * (begin + end) / 2, rank_y + down), text, 11)

    def flight(begin: float, high: float, low: float, bytes_ns: float, *,
               back: bool = False) -> None:
        ends = [begin, begin + bytes_ns, begin + bytes_ns + latency, begin + latency]
        ys = (low, low, high, high) if back else (high, high, low, low)
        points = " ".join(f"{left + scale * x:.1f},{y}" for x, y in zip(ends, ys, strict=True))
        drawing.add("polygon", points=points, fill=TINTS[2], stroke=MIDDLE, stroke_width=1.4)
        label(drawing, (left + scale * (begin + (bytes_ns + latency) / 2), (high + low) / 2), "L",
              11)

    for top, ahead in ((24, 0.0), (184, 2.0 * (overhead + latency))):
        high, low = top + 44, top + 112
        done = ahead + 2 * overhead + latency + long
        kind = "rendezvous: it asks first" if ahead else "eager: it sends at once"
        drawing.text(12, top, f"{kind}; done after {done:,.0f} ns", 12.5,
                     font_weight=600)
        for name, y in (("sender", high), ("receiver", low)):
            drawing.text(12, y + 4, name, 12)
        if ahead:
            bar(high, 0, overhead, "o", TINTS[0])
            flight(overhead, high + 9, low - 9, 0)
            bar(low, overhead + latency, 2 * overhead + latency, "o", TINTS[0])
            flight(2 * overhead + latency, high + 9, low - 9, 0, back=True)
        bar(high, ahead, ahead + overhead, "o", TINTS[0])
        bar(high, ahead, ahead + gap + long, "g + (s - 1) G", TINTS[1], -18)
        flight(ahead + overhead, high + 9, low - 9, long)
        bar(low, done - overhead, done, "o", TINTS[0])
    drawing.text(12, 326, "blue: a processor works; orange: the interface is taken;"
                 " green: bytes in the network", 11.5, fill=GREY)
    return drawing.render()


def noise() -> dict:
    """How much longer a solver takes when every rank loses 1 % of its time to detours."""
    rows = []
    for ranks in (2, 8, 32, 128):
        quiet = fl.make_workload("conjugate_gradient", ranks=ranks, nx=8, ny=8, nz=8, gflops=1,
                                 iterations=20)
        noisy = fl.noisy_workload(quiet, kind="periodic", mean_ns=2000, period_ns=200_000)
        one, other = (fl.simulate(made, "message", costs=COSTS).finish_ns
                      for made in (quiet, noisy))
        rows.append({"ranks": ranks, "longer": round(100 * (other / one - 1), 2)})
    x = {"field": "ranks", "type": "quantitative", "title": "ranks",
         "scale": {"type": "log", "base": 2}, "axis": {"values": [row["ranks"] for row in rows]}}
    y = {"field": "longer", "type": "quantitative", "title": "longer by, %"}
    marks = {"encoding": {"x": x, "y": y}, "data": {"values": rows},
             "mark": {"type": "line", "color": NEAR, "strokeWidth": 1.6,
                      "point": {"size": 42, "color": NEAR}}}
    cost = {"data": {"values": [{"longer": 1}]},
            "mark": {"type": "rule", "color": FAR, "strokeDash": [5, 4]},
            "encoding": {"y": y}}
    said = {"data": {"values": [{"ranks": 128, "longer": 1}]},
            "mark": {"type": "text", "color": INK, "align": "right", "dy": 12,
                     "text": "the time that detours take of each rank"},
            "encoding": {"x": x, "y": y}}
    return comparison.chart({"width": 460, "height": 220, "layer": [cost, marks, said]})


# --- notified-access.md --------------------------------------------------------------------------


def notified() -> str:
    """Four sequences that hand data over, in units of the latency."""
    drawing = sheet(660, 426, "Four sequences that hand data over, and when the data can be used")
    unit, left = 120, 196
    for i, (name, steps, copy) in enumerate(SEQUENCES):
        high = 40 + 100 * i
        low = high + 46
        drawing.text(12, high + 6, name[0], 12.5, font_weight=600)
        drawing.text(12, high + 24, name[1], 11.5, fill=GREY)
        for text, y in (("producer", high), ("consumer", low)):
            drawing.text(left - 8, y + 4, text, 11, text_anchor="end", fill=GREY)
            drawing.add("line", x1=left, y1=y, x2=left + 3.35 * unit, y2=y, stroke=PALE,
                        stroke_width=1.4)
        for at, (text, forth) in enumerate(steps):
            ends = ((left + unit * at, high if forth else low),
                    (left + unit * (at + 1), low if forth else high))
            data = "data" in text
            arrow(drawing, *ends, NEAR if data else GREY, width=2.4 if data else 1.4)
            middle = ((ends[0][0] + ends[1][0]) / 2, (high + low) / 2)
            label(drawing, middle, text, 11, stroke=PAPER, stroke_width=5, paint_order="stroke")
        end = left + unit * len(steps)
        if copy:
            drawing.add("rect", x=end, y=low - 7, width=48, height=14, fill=TINTS[1], stroke=FAR)
            label(drawing, (end + 24, low), "copy", 10.5)
            end += 48
        drawing.add("ellipse", cx=end, cy=low, rx=4.5, ry=4.5, fill=MIDDLE)
        times = f"{len(steps)} latenc{'y' if len(steps) == 1 else 'ies'}" + " + copy" * copy
        drawing.text(end + 8, low + 18, times, 11.5)
    return drawing.render()


SEQUENCES: Sequence[tuple[tuple[str, str], Sequence[tuple[str, bool]], bool]] = (
    (("send and receive", "a short message"), [("data", True)], True),
    (("send and receive", "a long message"),
     [("may I?", True), ("yes", False), ("data", True)], False),
    (("put, flush, flag", "one-sided"),
     [("data", True), ("is there", False), ("flag", True)], False),
    (("notified put", "fly_put_notify"), [("data and tag", True)], False),
)


def two_places() -> str:
    """Steps of two neighbours that put into two places in turn."""
    drawing = sheet(660, 236, "Two neighbours put into each other's even and odd place in turn")
    left, wide = 84, 134
    high, low = 62, 168
    for name, y in (("rank 0", high), ("rank 1", low)):
        drawing.text(12, y + 4, name, 12)
    for step in range(4):
        odd = step % 2
        colour = FAR if odd else NEAR
        for y, late in ((high, 0), (low, 18)):
            begin = left + wide * step + late
            drawing.add("rect", x=begin, y=y - 11, width=56, height=22, fill=TINTS[odd],
                        stroke=colour)
            label(drawing, (begin + 28, y), f"step {step}", 11)
            other = low if y == high else high
            near, far = (11, -11) if y == high else (-11, 11)
            arrow(drawing, (begin + 10, y + near),
                  (left + wide * (step + 1) - 20 + late / 2, other + far), colour, width=1.8)
    label(drawing, (330, 22), "blue: puts into the even place; orange: into the odd one", 12)
    label(drawing, (330, 222), "Step 2 writes the even place again: the put of step 1 has come,"
          " so the neighbour has read it.", 11.5, fill=GREY)
    return drawing.render()
