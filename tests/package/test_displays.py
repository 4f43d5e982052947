"""What people see of results: numbers, headings, names of classes, notebooks, and pictures."""

from __future__ import annotations

import html.parser
import inspect
import io
from xml.etree import ElementTree

import flyloom as fl
import pytest
from flyloom.support import displays, verb_results
from flyloom.support.amounts import dollars, figure, heading, number


@pytest.mark.parametrize(("value", "wanted"), [
    (12345, "12,345"), (0, "0"), (9765625, "9,765,625"), (2.0, "2"), (1 / 3, "0.3333"),
    (12345.6, "12,350"), (1567540.3, "1,568,000"), (99999.9, "100,000"), (0.99999, "1"),
    (-0.05, "-0.05"), (1.23456e-7, "1.235e-07"), (1e20, "1e+20"), (float("inf"), "inf"),
    (123.456, "123.5"), (1234.0, "1,234"),
])
def test_numbers_are_as_people_write_them(value, wanted):
    assert number(value) == wanted


@pytest.mark.parametrize(("value", "wanted"), [
    (1567540, "1.57 M$"), (28847900.0, "28.8 M$"), (2.5e9, "2.50 G$"), (999_999, "1.00 M$"),
    (45612.4, "45,612 $"), (3747.2, "3,747 $"), (7.934, "7.93 $"), (99.999, "100 $"), (0, "0 $"),
    (288e6, "288 M$"),
])
def test_money_is_as_people_write_it(value, wanted):
    assert dollars(value) == wanted


@pytest.mark.parametrize(("name", "unit", "wanted"), [
    ("usd_per_endpoint", "US$", "cost per endpoint (US$)"),
    ("accepted_gib_per_s", "GiB/s", "accepted (GiB/s)"), ("cost_usd", "", "cost (US$)"),
    ("power_w_per_endpoint", "W", "power per endpoint (W)"), ("hop_bytes", "", "hop bytes"),
    ("mean_latency_ns", "ns", "mean latency (ns)"), ("mean_hops", "hops", "mean hops"),
    ("cost_usd_low", "", "cost low (US$)"), ("accepted_gbps", "", "accepted (Gbit/s)"),
    ("saturated", "", "saturated"), ("deadlock.lanes", "", "deadlock lanes"),
])
def test_headings_are_words_with_units(name, unit, wanted):
    assert heading(name, unit) == wanted


def test_figures_take_money_from_names_and_units():
    assert figure(1567540.0, "cost_usd") == figure(1567540.0, "x", "US$") == "1.57 M$"
    assert figure(2026, "year") == "2026" and figure(None) == "–" and figure(True) == "yes"


# --- names ---------------------------------------------------------------------------------------


def test_every_verb_says_what_it_returns_by_a_name_of_its_own():
    plain = []
    for name in dir(fl):
        function = getattr(fl, name)
        if not inspect.isfunction(function):
            continue
        returned = str(inspect.signature(function).return_annotation)
        if returned in ("Result", "list[Result]", "Result | None", "tuple[Result, Routing]"):
            plain.append(name)
    assert plain == []


def test_named_results_are_results_with_words():
    known = inspect.getmembers(verb_results, inspect.isclass)
    classes = [of for _, of in known if of is not fl.Result]
    assert len(classes) > 30
    for of in classes:
        assert issubclass(of, fl.Result) and of.__doc__ and getattr(fl, of.__name__) is of


FOUND = {
    "Sizing": lambda: fl.size(100, radix=16, families=["slim_fly", "hyperx"]),
    "Scales": lambda: fl.scale(16, families=["slim_fly", "hyperx"]),
    "Budget": lambda: fl.budget(1e6, radix=16, families=["slim_fly"], top=2),
    "Comparison": lambda: fl.compare(["slim_fly:q=3", "torus:shape=3x3"], samples=0, curves=False),
    "RoutingComparison": lambda: fl.compare_routing("ring:n=4", engines=["sssp"], samples=2),
    "Bill": lambda: fl.cost("slim_fly:q=3"),
    "FloorPlan": lambda: fl.plan("slim_fly:q=3"),
    "Throughput": lambda: fl.throughput("ring:n=4", "shift:1"),
    "ProcessMapping": lambda: fl.map_processes("slim_fly:q=3", "stencil:shape=4x4,bytes=9"),
    "Ebb": lambda: fl.ebb("slim_fly:q=3", samples=3),
    "EdgeLoad": lambda: fl.edge_load("slim_fly:q=3"),
    "Congestion": lambda: fl.congestion("slim_fly:q=3", "stencil", samples=2),
    "Resilience": lambda: fl.resilience("slim_fly:q=3", samples=3),
    "Structure": lambda: fl.structure("slim_fly:q=3"),
    "PathDiversity": lambda: fl.path_diversity("slim_fly:q=3"),
    "FlitSimulation": lambda: fl.flit("ring:n=3,p=1", load=[0.1, 0.2], selection=[
        "minimal", "valiant"], run={"measure_cycles": 50, "warmup_cycles": 10}),
    "PacketSimulation": lambda: fl.packet("ring:n=3,p=1", load=[0.1, 0.2], messages=3),
    "MessageSimulation": lambda: fl.message(
        "ring:n=3,p=1", workload="allreduce_ring ranks=3 bytes=9"),
    "Topology": lambda: fl.slim_fly(q=3),
}
PLAIN = {"Verification": lambda: fl.verify(fl.route("ring:n=5", "sssp")),
         "Catalog": lambda: fl.catalog("products-2026"),
         "Promise": lambda: fl.promise("slim_fly:q=3")}


class Shown(html.parser.HTMLParser):
    """The texts of a page, those outside of folds apart."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.depth, self.folded = [], 0, []

    def handle_starttag(self, tag, attrs):
        self.depth += tag == "details"

    def handle_endtag(self, tag):
        self.depth -= tag == "details"

    def handle_data(self, data):
        (self.folded if self.depth else self.open).append(data)


@pytest.mark.parametrize("name", FOUND)
def test_what_has_something_to_plot_plots_it(name, tmp_path):
    pytest.importorskip("vl_convert")
    pypdf = pytest.importorskip("pypdf")
    found = FOUND[name]()
    assert type(found).__name__ == name
    picture = found.plot()
    assert ElementTree.fromstring(picture._repr_svg_()).tag.endswith("svg")
    picture.save(tmp_path / "a.pdf")
    (page,) = pypdf.PdfReader(io.BytesIO((tmp_path / "a.pdf").read_bytes())).pages
    assert page.extract_text().strip() and not list(page.images)
    with pytest.raises(fl.RefusalError, match=r"\.svg, \.png, \.pdf"):
        picture.save(tmp_path / "a.gif")
    with pytest.raises(fl.RefusalError, match="no such|one picture|there is no"):
        found.plot("no such picture")
    shown = Shown()
    shown.feed(found._repr_html_())
    assert shown.depth == 0 and name in " ".join(shown.open)
    assert "e+0" not in " ".join(shown.open)


@pytest.mark.parametrize("name", PLAIN)
def test_what_has_nothing_to_plot_says_so(name):
    found = PLAIN[name]()
    assert type(found).__name__ == name
    with pytest.raises(fl.RefusalError, match=f"a {name} has nothing to plot; what has: Flit"):
        found.plot()


def test_a_simulation_shows_points_and_folds_parameters():
    shown = Shown()
    shown.feed(FOUND["PacketSimulation"]()._repr_html_())
    words = " ".join(shown.open)
    assert "mean latency (ns)" in words and "accepted load" in words
    assert "packet bytes" not in words and "packet" in " ".join(shown.folded)


def test_a_verification_is_short():
    shown = Shown()
    shown.feed(PLAIN["Verification"]()._repr_html_())
    assert shown.open == ["Verification", "holds", "no", "lanes", "1"]
    assert len(shown.folded) > 40


def test_rows_of_a_display_have_prices_in_front_and_the_rest_is_counted():
    rows = [{"network": "n", "a": 1, "b": 2, "c": 3, **{f"x{i}": i for i in range(20)},
             "cost_usd": 2e6, "params": {"q": 5}} for _ in range(30)]
    shown = Shown()
    shown.feed(displays.rows_table(rows))
    assert shown.open[:5] == ["network", "a", "b", "c", "cost (US$)"]
    assert shown.open.count("2.00 M$") == 20 and "params q" not in shown.open
    assert shown.open[-1].startswith("and 10 more rows and 9 more columns")
