"""The page that steps through a deadlock: what it shows is what flyloom finds."""

from __future__ import annotations

from pathlib import Path

import browser
import flyloom as fl
import pytest
from browser_session import Session
from checkout import ROOT

PAGE = ROOT / "docs" / "explained" / "deadlock-steps.html"
RING = "ring:n=5,p=1"
STEPS = """(lanes => {
  document.getElementById("lanes").value = lanes;
  document.getElementById("lanes").dispatchEvent(new Event("change"));
  const button = document.getElementById("step");
  let steps = 0;
  while (!button.disabled && steps < 100) { button.click(); steps += 1; }
  return [steps, document.getElementById("said").textContent,
          [...document.querySelectorAll("#cycle li")].map(line => line.textContent)];
})"""


@browser.NEEDS
def test_the_ring_fills_as_the_verifier_says() -> None:
    """With one lane the page ends in the cycle of the verifier; with two all packets arrive."""
    cycle = fl.verify(fl.route(RING, "min_hop")).deadlock.cycle
    waits = []
    for one, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        here, there, then = (name.removeprefix("ring-")
                             for name in (one["from"], one["to"], after["to"]))
        goal = int(one.route.split("-")[-1])
        waits.append(f"the packet to host {goal} fills {here}→{there},"
                     f" and waits for {there}→{then}")
    with Session() as session:
        session.window(1280, 900, dark=False)
        assert session.open(PAGE.as_uri()) == []
        steps, said, lines = session.value(f"{STEPS}('1')")
        assert (steps, sorted(lines)) == (6, sorted(waits)) and said.endswith("Deadlock.")
        # five packets are sent, move once and arrive
        steps, said, lines = session.value(f"{STEPS}('2')")
        assert (steps, lines) == (15, []) and said.endswith("All five packets have arrived.")


def test_lanes_are_those_of_the_engine() -> None:
    """The page's lanes are what dfsssp assigns to the five routes of two hops."""
    levels = fl.route(RING, "dfsssp").service_levels
    assert levels is not None
    lanes = [int(levels[0][host][(host + 2) % 5]) for host in range(5)]
    assert f"const LANES_OF_TWO = {lanes};" in PAGE.read_text(encoding="utf-8")


@browser.NEEDS
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width_px", [390, 1280])
def test_it_is_readable(*, dark: bool, width_px: int) -> None:
    """Nothing is cut off, wider than the window or too pale, at the start and at the end."""
    script = (Path(__file__).parent / "readable.js").read_text(encoding="utf-8")
    with Session() as session:
        session.window(width_px, 900, dark=dark)
        assert session.open(PAGE.as_uri()) == []
        assert session.value(script) == []
        session.value(f"{STEPS}('1')")
        assert session.value(script) == []
