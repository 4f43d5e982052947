"""The glossary has every heading of the tables that newcomers see first, and is in order."""

from __future__ import annotations

import re

import pytest
from checkout import ROOT
from cli_helpers import flyloom
from flyloom.cli import simulated
from flyloom.verbs import comparison, sizing

PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS, HEADINGS = PAGE.split("\n## Headings of tables\n")


def first_cells(text: str) -> list[str]:
    """The first cell of every row of the tables."""
    rows = re.findall(r"^\| (.*?) \|", text, re.MULTILINE)
    return [row for row in rows if row not in ("term", "heading")]


def explained() -> set[str]:
    """The headings that have a row; rows may have several, with commas between."""
    return {word for row in first_cells(HEADINGS) for word in row.split(", ")}


@pytest.mark.parametrize("columns", [comparison.COLUMNS, sizing.COLUMNS],
                         ids=["compare", "size"])
def test_columns_of_networks_are_explained(columns):
    assert {heading for _, heading, _ in columns} <= explained()


def test_columns_of_simulations_are_explained():
    tables = (simulated.FLIT, simulated.PACKET, simulated.JOBS, simulated.MESSAGE)
    headings = {heading for table in tables for heading, _ in table}
    # the level's unit stands behind a heading, and an accepted rate has one of its own
    known = explained() | {"accepted Gbit/s", "latency ns", "p99 latency ns"}
    assert headings <= known


def test_columns_that_are_printed_are_explained():
    choice = flyloom("choose", "--endpoints", 60, "--radix", 16, "--families", "slim_fly,fat_tree",
                     "--candidates", 2).stdout
    [heads] = re.findall(r"^Money and performance\n(.*)$", choice, re.MULTILINE)
    assert set(re.split(r"\s{2,}", heads.strip())) <= explained()
    run = flyloom("sim", "packet", "slim_fly:q=3,p=2", "--load", 0.1, "--messages", 3).stdout
    [heads] = re.findall(r"^busiest links\n(.*)$", run, re.MULTILINE)
    assert set(heads.split()) <= explained()


def test_terms_are_in_order_and_no_row_comes_twice():
    terms = first_cells(TERMS)
    assert len(terms) >= 60
    bare = [re.sub(r"[^a-z0-9 ]", "", term.casefold().replace("-", " ")) for term in terms]
    assert bare == sorted(bare) and len(set(bare)) == len(bare)
    assert len(set(first_cells(HEADINGS))) == len(first_cells(HEADINGS))
