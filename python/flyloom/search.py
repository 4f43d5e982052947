"""``flyloom.search``: the search for graphs, by the name that users import."""

from flyloom.solve.search import bounds, decide, order_radix, search, table

__all__ = ["bounds", "decide", "order_radix", "search", "table"]
