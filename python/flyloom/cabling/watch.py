"""A fabric looked at again and again while people wire it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from flyloom._core import RefusalError
from flyloom.cabling.checked import STEPS, words
from flyloom.support import ending
from flyloom.support.words import clean, moves, unguarded

if TYPE_CHECKING:
    import rich.live
    import rich.table
    import rich.text

RACKS_SHOWN, FINDINGS_SHOWN = 24, 12


class FabricCheckHistory:
    """What each look at the fabric found, and what has changed since the one before.

    The wiring is done when a check is ``complete``; until then cables that are not yet laid are no
    findings.

    ``look`` returns the document of a check, ``keep`` writes what is to be written of it. A look
    that raises ``RefusalError``, ``DeployError`` or ``OSError`` (no answer, or a file that is just
    being written) is one without a result: its words are in ``error``, and what was known before
    stays.
    """

    def __init__(
        self, look: Callable[[], dict[str, Any]], keep: Callable[[dict[str, Any]], None]
    ) -> None:
        self.look = look
        self.keep = keep
        self.count = 0
        self.found: dict[str, Any] | None = None
        self.error: str | None = None
        self.new: list[dict[str, Any]] = []
        self.repaired: list[dict[str, Any]] = []

    def again(self) -> bool:
        """Looks once more; returns whether every cable that is due is laid right."""
        from flyloom.support.errors import DeployError

        self.count += 1
        self.error, self.new, self.repaired = None, [], []
        try:
            found = self.look()
        except (RefusalError, DeployError, OSError) as error:
            self.error = str(error)
            return False
        self.keep(found)
        before = {f["what"]: f for f in self.found["findings"]} if self.found else {}
        now = {f["what"]: f for f in found["findings"]}
        self.new = [f for what, f in now.items() if what not in before]
        self.repaired = [f for what, f in before.items() if what not in now]
        self.found = found
        return bool(found["complete"])

    def document(self) -> dict[str, Any]:
        """The look as one JSON document."""
        if self.error is not None:
            return {"look": self.count, "error": self.error}
        news = {"new": [f["what"] for f in self.new], "mended": [f["what"] for f in self.repaired]}
        return {"look": self.count, **(self.found or {}), **news}


def watch(
    looks: FabricCheckHistory, every_s: float, as_json: bool,
    sleep: Callable[[float], None] = time.sleep,
) -> bool:
    """Looks until the fabric is as planned or Ctrl-C is pressed; whether it is as planned.

    Ctrl-C before the first result is KeyboardInterrupt.
    """
    try:
        with ending.in_order(answers=True), _FabricCheckDisplay(as_json) as show:
            while True:
                complete = looks.again()
                show(looks)
                if complete:
                    return True
                sleep(every_s)
    except KeyboardInterrupt:
        if looks.found is None:  # nothing is known of the fabric
            raise
        return False


class _FabricCheckDisplay:
    """Shows looks one below the other, or on a terminal in one place."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.live: rich.live.Live | None = None

    def __enter__(self) -> Callable[[FabricCheckHistory], None]:
        from rich.console import Console
        from rich.live import Live

        if self.as_json:
            return lambda looks: print(json.dumps(looks.document()), flush=True)
        console = Console(file=unguarded(sys.stdout))
        if not moves(sys.stdout):
            return lambda looks: console.print(*screen(looks), sep="\n", soft_wrap=True)
        live = self.live = Live(console=console, auto_refresh=False)
        live.start()

        def show(looks: FabricCheckHistory) -> None:
            from rich.console import Group

            live.update(Group(*screen(looks, whole=True)), refresh=True)

        return show

    def __exit__(self, *why: object) -> None:
        if self.live is not None:
            self.live.stop()


def screen(
    looks: FabricCheckHistory, whole: bool = False
) -> Iterator[rich.text.Text | rich.table.Table]:
    """What one look shows: progress by rack and step, then what is new and what is repaired; with
    ``whole`` also what else is still to be done."""
    from rich.text import Text

    found = looks.found
    if looks.error is not None:
        yield Text(clean(f"look {looks.count}: {looks.error}; looking again"))
    if found is None:
        return
    if looks.error is None:
        correct, planned = found["correct"], found["planned"]
        count = len(found["findings"])
        findings = "1 finding" if count == 1 else f"{count:,} findings"
        unlaid = f"{found['unlaid']:,} not yet laid, " if found["unlaid"] else ""
        yield Text(f"look {looks.count}: {correct:,} of {planned:,} cables as planned, "
                   f"{unlaid}{findings}")
    if found["progress"]:
        yield _table(found["progress"])
    new = {f["what"] for f in looks.new}
    still = [f for f in found["findings"] if f["what"] not in new] if whole else []
    for word, listed in (("mended", looks.repaired), ("new", looks.new), ("still", still)):
        for finding in listed[:FINDINGS_SHOWN]:
            lines = [finding["what"]] if word == "mended" else words(finding)
            yield Text(clean(f"{word}: {lines[0]}"))
            yield from (Text(clean(line)) for line in lines[1:])
        if len(listed) > FINDINGS_SHOWN:
            yield Text(f"{word}: {len(listed) - FINDINGS_SHOWN:,} more")


def _table(progress: dict[str, Any]) -> rich.table.Table:
    from rich.table import Table

    steps = [i for i, step in enumerate(progress["steps"]) if step["planned"]]
    table = Table(box=None, pad_edge=False, header_style=None)
    table.add_column("rack")
    for i in steps:
        table.add_column(STEPS[i], justify="right")
    racks = progress["racks"]
    if len(racks) > RACKS_SHOWN:
        racks = [r for r in racks if any(s["correct"] < s["planned"] for s in r["steps"])]
    for rack in racks[:RACKS_SHOWN]:
        table.add_row(rack["rack"], *(_cell(rack["steps"][i]) for i in steps))
    if len(racks) > RACKS_SHOWN:
        table.add_row(f"{len(racks) - RACKS_SHOWN:,} more racks")
    table.add_row("all", *(_cell(progress["steps"][i]) for i in steps))
    return table


def _cell(step: dict[str, int]) -> str:
    bad = step["laid"] - step["correct"]
    words = f"{step['correct']:,}/{step['planned']:,}"
    return f"{words} ({bad:,} wrong)" if bad else words
