"""The order of the files: those that take longest first.

Files are dealt out to the processes of pytest-xdist one at a time; a long one that comes last
keeps one process at work while the others have ended. In one process the order does not matter.
"""

from __future__ import annotations

#: Files that take more than twenty seconds, the longest first.
LONGEST = (
    "test_adding_a_part", "test_docs", "test_against_opensm",
    "test_fabric_deploy", "test_fabric_interrupts", "test_deploy_oracle", "test_experiment",
    "test_fabric_cables", "test_cables", "test_search", "test_deploy_engines", "test_certificate",
    "test_cost", "test_families_algebraic", "test_cli", "test_deploy_fabric",
)


def pytest_collection_modifyitems(items: list) -> None:
    """The longest files first; the others, and the tests of a file, in their order."""
    rank = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))
