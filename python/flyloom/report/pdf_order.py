"""PDFs with objects in one order: what draws charts writes fonts in another order each time."""

from __future__ import annotations

import re

_ENTRIES = re.compile(rb"(?:\n +/[a-z]+\d+ \d+ 0 R){2,}(?=\n)")
"""The fonts or other resources of a page, by name, a line each."""
_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
_STREAM = b"\nstream\n"


def in_order(pdf: bytes) -> bytes:
    """The same document with its objects numbered and written in the order in which they are met
    from the root on, and the resources of pages by name. A document of another form than what
    draws charts writes (a table of references, nothing appended) is returned as it is."""
    table = re.search(rb"xref\n0 (\d+)\n((?:\d{10} \d{5} [nf][ \r]?\r?\n)+)trailer\s*(<<.*?>>)\s*"
                      rb"startxref\s*\d+\s*%%EOF\s*\Z", pdf, re.DOTALL)
    if table is None:
        return pdf
    begins = {number: int(line[:10]) for number, line in enumerate(table[2].splitlines())
              if line.split()[2] == b"n"}
    ends = sorted([*begins.values(), table.start()])
    objects = {number: _sorted(pdf[begin:ends[ends.index(begin) + 1]])
               for number, begin in begins.items()}
    numbers: dict[int, int] = {}
    waiting = [int(one) for one in reversed(_REFERENCE.findall(table[3]))]
    while waiting:
        number = waiting.pop()
        if number in objects and number not in numbers:
            numbers[number] = len(numbers) + 1
            said = objects[number].partition(_STREAM)[0]
            waiting += [int(one) for one in reversed(_REFERENCE.findall(said))]

    def renumbered(text: bytes) -> bytes:
        def of(found: re.Match[bytes]) -> bytes:
            return b"%d 0 R" % numbers.get(int(found[1]), 0)

        return _REFERENCE.sub(of, text)

    out = pdf[:ends[0]]
    places = []
    for number, new in numbers.items():
        said, stream, content = objects[number].partition(_STREAM)
        body = renumbered(said.partition(b" obj")[2])
        places.append(len(out))
        out += b"%d 0 obj" % new + body + stream + content
    start = len(out)
    trailer = re.sub(rb"/Size \d+", b"/Size %d" % (len(numbers) + 1), renumbered(table[3]))
    lines = b"".join(b"%010d 00000 n\r\n" % place for place in places)
    return (out + b"xref\n0 %d\n" % (len(numbers) + 1) + b"0000000000 65535 f\r\n" + lines
            + b"trailer\n" + trailer + b"\nstartxref\n%d\n%%%%EOF" % start)


def _sorted(text: bytes) -> bytes:
    """An object with the resources of its page by name."""
    said, stream, content = text.partition(_STREAM)
    ordered = _ENTRIES.sub(
        lambda found: b"\n" + b"\n".join(sorted(found[0][1:].split(b"\n"))), said)
    return ordered + stream + content
