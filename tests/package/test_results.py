"""Results as tables: rows, Arrow, polars, pandas, and what notebooks show."""

from __future__ import annotations

import html
import html.parser
import pickle
import sys

import flyloom as fl
import pyarrow
import pyarrow.parquet
import pytest
from flyloom import RefusalError, Result

NESTED = Result({
    "a": 1, "b": {"c": 2.5, "d": {"e": "x"}, "none": {}}, "list": [1, 2], "nothing": None,
})
MANY = Result({"first": [{"x": 1}, {"y": 2}], "second": [{"z": {"w": [3]}}], "n": 0})


def test_a_record_is_a_row_with_dots_in_its_names():
    row = {"a": 1, "b.c": 2.5, "b.d.e": "x", "b.none": None, "list": [1, 2], "nothing": None}
    assert NESTED.to_rows() == [row]
    assert NESTED.to_arrow().to_pylist() == [row]


def test_lists_of_records_are_rows():
    assert Result({"only": [{"x": 1}, {"x": 2}], "n": 5}).to_rows() == [{"x": 1}, {"x": 2}]
    assert MANY.to_rows("first") == [{"x": 1}, {"y": 2}]
    assert MANY.to_arrow("first").to_pylist() == [{"x": 1, "y": None}, {"x": None, "y": 2}]
    assert MANY.to_rows(of="second") == [{"z.w": [3]}]
    assert Result({"rows": [{"x": 1}], "others": [{"y": 1}]}).to_rows() == [{"x": 1}]
    inside = Result({"deep": {"down": [{"x": 1}]}})
    assert inside.to_rows("deep.down") == [{"x": 1}]


@pytest.mark.parametrize(("of", "why"), [
    (None, "several lists of records; lists here: first, second"),
    ("n", "'n' is no list of records; lists here: first, second"),
    ("third", "'third' is no list of records"), ("n.x", "'n.x' is no list of records"),
])
def test_what_are_no_rows_is_refused(of, why):
    for method in (MANY.to_rows, MANY.to_arrow, MANY.to_polars, MANY.to_pandas):
        with pytest.raises(RefusalError, match=why):
            method(of)


def test_columns_of_mixed_kinds_are_json():
    table = Result({"r": [{"v": 1, "w": 2**64 - 1, "x": 1}, {"v": "x", "w": 0, "x": 0.5},
                          {"v": [1], "w": None, "x": None}]}).to_arrow()
    assert table["v"].to_pylist() == ["1", '"x"', "[1]"]
    assert table["w"].to_pylist() == [2**64 - 1, 0, None]
    assert table["x"].to_pylist() == [1.0, 0.5, None]


RECORDS = {
    "structure": lambda: fl.structure("slim_fly:q=3", paths=True),
    "verify": lambda: fl.verify(fl.route("ring:n=5", "sssp")),
    "compare": lambda: fl.compare(["slim_fly:q=3", "torus:shape=3x3"]),
}


@pytest.mark.parametrize("name", RECORDS)
def test_polars_has_the_same_rows(name):
    pytest.importorskip("polars", reason="polars is not installed")
    found = RECORDS[name]()
    assert found.to_polars().to_dicts() == found.to_arrow().to_pylist()


@pytest.mark.parametrize("name", RECORDS)
def test_pandas_has_the_same_rows(name):
    pytest.importorskip("pandas", reason="pandas is not installed")
    found = RECORDS[name]()
    rows, frame = found.to_rows(), found.to_pandas()
    assert list(frame.columns) == list(dict.fromkeys(name for row in rows for name in row))
    assert len(frame) == len(rows)


@pytest.mark.parametrize("name", ["polars", "pandas"])
def test_a_package_that_is_missing_is_named(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(RefusalError) as caught:
        getattr(NESTED, f"to_{name}")()
    assert str(caught.value) == f"to_{name}: {name} is not installed; pip install 'flyloom[{name}]'"


class Ebb(Result):
    """A typed record."""

    patterns: int


def test_a_typed_record_stays_one():
    found = Ebb({"samples": 3, "inside": {"x": 1}})
    back = pickle.loads(pickle.dumps(found))
    assert type(back) is Ebb and back == found and back.samples == 3
    assert type(back.inside) is Result
    assert repr(found) == "Ebb(samples=3, inside=Result(x=1))"


class Cells(html.parser.HTMLParser):
    """The texts of a page's cells, and its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_notebooks_see_a_small_table():
    evil = "<img src=x onerror=alert(1)>"
    page = Cells()
    found = Result({"name": evil, evil: 1, "b": {"c": 1 / 3}, "l": list(range(99)), "no": None})
    page.feed(found._repr_html_())
    assert set(page.tags) == {"div", "table", "b", "tbody", "tr", "th", "td", "details", "summary",
                              "p"}
    assert page.texts == ["Result", "name", evil, evil, "1", "b", "b.c"[2:], "0.3333", "l",
                          "99 values"]
    long = Result({f"k{i}": "x" * 10_000 for i in range(500)})._repr_html_()
    assert len(long) < 120_000 and long.index("<details>") < 5_000


def test_a_text_counts_what_is_long():
    text = repr(Result({"points": [{"x": 1}] * 9, "numbers": list(range(99)), "word": "y" * 99,
                        "inside": {str(i): i for i in range(50)}, "x": 1.5}))
    assert text == ("Result(points=[9 records], numbers=[99 values], word='" + "y" * 39 +
                    "…', inside=Result(50 fields), x=1.5)")
    assert repr(Result({f"f{i}": i for i in range(25)})).endswith("f19=19, and 5 more fields)")


def test_a_run_has_a_row_for_each_point(tmp_path):
    file = tmp_path / "two.toml"
    file.write_text("""schema = 1
name = "two"
topology = { family = "slim_fly", q = 3 }
ebb = { samples = 4 }
[sweep.grid]
"routing.engine" = ["min_hop", "dfsssp"]
""")
    found = fl.run(file, out=tmp_path, workers=1)
    saved = pyarrow.parquet.read_table(tmp_path / "two" / "rows.parquet")
    assert found.to_arrow() == saved and found.to_rows() == saved.to_pylist()
    assert [row["engine"] for row in found.to_rows()] == ["min_hop", "dfsssp"]
    series = found.to_arrow("series").filter(pyarrow.compute.field("series") == "ebb_by_pattern")
    assert series.num_rows == 2 * 4
    assert found.points == 2 and pickle.loads(pickle.dumps(found)).to_rows() == found.to_rows()
    with pytest.raises(RefusalError, match="'other' is no list of records; .*rows, series"):
        found.to_arrow("other")
