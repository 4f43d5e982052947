"""The order of the objects of a PDF: the same document in any order gives the same bytes."""

import re

import pytest
from flyloom.report.pdf_order import in_order

OBJECTS = {
    1: b"<<\n  /Type /Catalog\n  /Pages 2 0 R\n>>",
    2: b"<<\n  /Type /Pages\n  /Count 1\n  /Kids [3 0 R]\n>>",
    3: b"<<\n  /Type /Page\n  /Parent 2 0 R\n  /Font <<\n    /fo0 5 0 R\n    /fo1 6 0 R\n  >>\n"
       b"  /Contents 4 0 R\n>>",
    4: b"<<\n  /Length 9\n>>\nstream\n(6 0 R) Tj\nendstream",
    5: b"<<\n  /Type /Font\n  /BaseFont /Plain\n>>",
    6: b"<<\n  /Type /Font\n  /BaseFont /Bold\n>>",
}


def written(order, numbers, swapped=False):
    """The document with its objects in this order and under these numbers."""
    def renumbered(text):
        said, stream, content = text.partition(b"\nstream\n")
        said = re.sub(rb"(\d) 0 R", lambda found: b"%d 0 R" % numbers[int(found[1])], said)
        lines = said.split(b"\n")
        fonts = [at for at, line in enumerate(lines) if line.startswith(b"    /fo")]
        if swapped and fonts:
            lines[fonts[0]], lines[fonts[1]] = lines[fonts[1]], lines[fonts[0]]
        return b"\n".join(lines) + stream + content

    out, places = b"%PDF-1.7\n\n", {}
    for one in order:
        places[numbers[one]] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n\n" % (numbers[one], renumbered(OBJECTS[one]))
    start = len(out)
    rows = b"".join(b"%010d 00000 n\r\n" % places[number] for number in sorted(places))
    return out + b"xref\n0 7\n0000000000 65535 f\r\n" + rows + (
        b"trailer\n<<\n  /Size 7\n  /Root %d 0 R\n>>\nstartxref\n%d\n%%%%EOF"
        % (numbers[1], start))


PLAIN = {number: number for number in OBJECTS}


@pytest.mark.parametrize(("order", "numbers", "swapped"), [
    ((6, 5, 4, 3, 2, 1), PLAIN, False), ((1, 2, 3, 4, 5, 6), PLAIN, True),
    ((3, 1, 6, 2, 5, 4), {1: 4, 2: 1, 3: 6, 4: 2, 5: 3, 6: 5}, True),
])
def test_any_order_gives_the_same_bytes(order, numbers, swapped):
    first, other = written(OBJECTS, PLAIN), written(order, numbers, swapped)
    assert first != other
    assert in_order(first) == in_order(other)
    assert b"(6 0 R) Tj" in in_order(other)  # what is drawn is no reference


def test_every_object_is_where_the_table_says():
    found = in_order(written((4, 6, 2, 1, 3, 5), {1: 2, 2: 3, 3: 4, 4: 5, 5: 6, 6: 1}))
    start = int(re.search(rb"startxref\n(\d+)\n", found)[1])
    rows = found[start:].split(b"\r\n")[1:7]
    assert found[start:].startswith(b"xref\n0 7\n")
    for number, row in enumerate(rows, 1):
        assert found[int(row[:10]):].startswith(b"%d 0 obj\n" % number)
    assert b"/BaseFont /Plain" in found.split(b"/fo0 ")[0] + found.split(b"/fo0 ")[1]
    fonts = dict(re.findall(rb"/(fo\d) (\d) 0 R", found))
    names = dict(re.findall(rb"(\d) 0 obj\n<<\n  /Type /Font\n  /BaseFont /(\w+)", found))
    assert {font: names[number] for font, number in fonts.items()} == {
        b"fo0": b"Plain", b"fo1": b"Bold"}


def test_another_form_stays_as_it_is():
    assert in_order(b"%PDF-1.7\nno table") == b"%PDF-1.7\nno table"
