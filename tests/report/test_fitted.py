"""Charts of a given width: as wide as that on paper, with letters between 8 and 10.5 points."""

import re

import flyloom as fl
import pytest
from cli_helpers import flyloom
from flyloom._core import RefusalError

PT_OF_MM = 72 / 25.4
SETTINGS = {"run.measure_cycles": 200, "run.warmup_cycles": 100, "switch.virtual_channels": 8}


def simulated(selections, traffics):
    return fl.simulate("slim_fly:q=5,p=4", "flit", selection=selections, traffic=traffics,
                       load="0.2:0.8:0.3", settings=SETTINGS)


TWO = simulated(["minimal", "ugal_l"], "uniform")
SIX = simulated(["minimal", "ugal_l", "valiant"], ["uniform", "worst_case"])


@pytest.mark.parametrize("width_mm", [89, 120, 180])
@pytest.mark.parametrize("found", [TWO, SIX], ids=["two", "six"])
def test_the_picture_has_the_width_and_letters_keep_their_size(tmp_path, found, width_mm):
    file = tmp_path / "a"
    for end in ("svg", "pdf", "png"):
        found.plot().save(file.with_suffix(f".{end}"), width_mm=width_mm)
    text = file.with_suffix(".svg").read_text("utf-8")
    width, height, box = re.search(
        r'<svg[^>]*width="([\d.]+)pt" height="([\d.]+)pt" viewBox="0 0 ([\d. ]+)"', text).groups()
    assert float(width) == pytest.approx(width_mm * PT_OF_MM, abs=0.01)
    # a unit of the drawing is a point, so letters have the size on paper that they say
    assert [float(one) for one in box.split()] == pytest.approx([float(width), float(height)],
                                                                rel=0.002)
    sizes = [float(one) for one in re.findall(r'font-size="([\d.]+)px"', text)]
    assert len(sizes) > 20 and min(sizes) >= 8 and max(sizes) <= 10.5
    page = re.search(rb"MediaBox ?\[0 0 ([\d.]+)", file.with_suffix(".pdf").read_bytes())
    assert float(page[1]) == pytest.approx(width_mm * PT_OF_MM, abs=0.01)
    # an inch has 300 dots
    dots = int.from_bytes(file.with_suffix(".png").read_bytes()[16:20], "big")
    assert dots == pytest.approx(width_mm / 25.4 * 300, abs=2)


@pytest.mark.parametrize(("width_mm", "columns"), [(89, 1), (130, 2), (180, 3)])
def test_as_many_figures_stand_beside_one_another_as_have_room(tmp_path, width_mm, columns):
    from flyloom.report import flit_page

    spec = flit_page.spec(TWO.to_dict(), width_pt=width_mm * PT_OF_MM)
    panels, legend = spec["vconcat"]
    assert panels["columns"] == columns and len(panels["concat"]) == 3
    drawn = [layer["mark"]["text"] for layer in legend["layer"] if layer["mark"]["type"] == "text"]
    assert drawn == [["minimal"], ["ugal_l"]]


def test_widths_that_cannot_be_are_refused(tmp_path):
    for width, why in ((10, "10 mm; 40 to 1000 mm"), (5000, "5000 mm; 40 to 1000 mm")):
        with pytest.raises(RefusalError, match=why):
            TWO.plot().save(tmp_path / "a.pdf", width_mm=width)
    with pytest.raises(RefusalError, match="a page is as wide as its window"):
        TWO.plot().save(tmp_path / "a.html", width_mm=89)
    with pytest.raises(RefusalError, match="has the size of what it shows"):
        fl.network("slim_fly:q=5,p=4").plot("floor").save(tmp_path / "a.svg", width_mm=89)
    words = ["sim", "flit", "slim_fly:q=5,p=4", "--width", 89]
    for more in ([], ["-o", tmp_path / "a.json"], ["-o", tmp_path / "a.html"]):
        refused = flyloom(*words, *more)
        assert refused.returncode == 2 and "--width: of charts; -o FILE that ends in" in \
            refused.stderr


@pytest.mark.parametrize("words", [
    ["congestion", "slim_fly:q=5,p=4", "--pattern", "bisect", "--samples", 20],
    ["compare-routing", "slim_fly:q=3,p=1", "--engines", "min_hop,dfsssp", "--samples", 5],
    ["sim", "message", "--workload", "allreduce_ring ranks=8 bytes=1000"],
    ["sim", "packet", "slim_fly:q=5,p=4", "--load", "0.2,0.5"],
    ["sim", "packet", "slim_fly:q=3,p=1", "--workload", "allreduce_ring ranks=8 bytes=1000"],
])
def test_all_commands_that_draw_charts_take_a_width(tmp_path, words):
    file = tmp_path / "a.svg"
    done = flyloom(*words, "-o", file, "--width", 150)
    assert done.returncode == 0, done.stderr
    width = re.search(r'<svg[^>]*width="([\d.]+)pt"', file.read_text("utf-8"))
    assert float(width[1]) == pytest.approx(150 * PT_OF_MM, abs=0.01)
