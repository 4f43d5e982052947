"""Charts of ``flyloom congestion``: the histogram of a metric as a Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from flyloom.report.charts import svg
from flyloom.report.comparison import PALETTE, chart
from flyloom.report.figures import round_width
from flyloom.report.frame import framed
from flyloom.support.amounts import figure

#: The quantity that is counted, and the title of its axis, by metric.
AXES = {
    "bandwidth": ("runs", "mean share of a message"),
    "congestion": ("messages", "congestion of a message"),
    "time": ("runs", "sum of the largest congestions of the levels"),
    "delay": ("runs", "latest arrival"),
    "channels": ("channels", "messages carried in a run, mean"),
}
#: The approximate largest number of bars of a histogram.
BARS = 40


def spec(found: Mapping[str, Any]) -> dict[str, Any]:
    """The histogram of the metric; classes are joined where there would be too many bars."""
    counted, title = AXES[found["metric"]]
    values = found["histogram"]
    if found["metric"] == "bandwidth":
        bars = [{"low": low, "high": high, "n": n} for low, high, n in values]
        scale: dict[str, Any] = {"domain": [0, 1]}
    else:
        first, last = values[0][1], values[-1][1]
        width = round_width((last - first + 1) / BARS)
        sums: dict[int, int] = {}
        for _, high, n in values:
            # what is 0 is no bar below 0 but in the first class
            low = int(max(high - 1, 0 if width > 1 else -1) // width * width)
            sums[low] = sums.get(low, 0) + n
        # single numbers get a bar around them, classes one as wide as they are
        shift, part = (0.6, 0.8) if width == 1 else (0, width)
        bars = [{"low": low + shift, "high": low + shift + part, "n": n}
                for low, n in sorted(sums.items())]
        scale = {"domain": [bars[0]["low"], bars[-1]["high"]], "nice": False, "padding": 6}
        title += ", rounded up" if width == 1 else f", in classes of {width}"
    name = f"{found['pattern']}, {found['engine']} on {found['network']}" \
        if "network" in found else found["pattern"]
    return chart({
        "title": {"text": name, "anchor": "start", "fontSize": 13},
        "width": 420, "height": 220, "data": {"values": bars},
        "mark": {"type": "bar", "binSpacing": 0, "color": PALETTE[0]},
        "encoding": {
            "x": {"field": "low", "type": "quantitative", "scale": scale,
                  "axis": {"title": title, "tickMinStep": 0.1 if scale["domain"][1] <= 1 else 1}},
            "x2": {"field": "high"}, "y2": {"datum": 0},
            "y": {"field": "n", "type": "quantitative", "axis": {"title": counted}},
        },
    })


def page(found: Mapping[str, Any]) -> str:
    """The histogram and its figures as one HTML page that refers to nothing."""
    rows = [(key.replace("_", " "), value) for key, value in found.items()
            if isinstance(value, (str, int, float)) and not isinstance(value, bool)]
    return framed("Congestion", [
        f"<section><figure>{svg(spec(found), prefix='congestion-')}</figure></section>",
        '<section><h2>Table</h2><div class="scroll"><table><tbody>',
        *(f'<tr><th>{key}</th><td class="n">'
          f"{escape(figure(v, key))}</td></tr>" for key, v in rows),
        "</tbody></table></div></section>",
    ])
