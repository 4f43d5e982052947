"""``flyloom.published_cost``: tables of scale and cost, by the name that users import."""

from flyloom.published.cost import cost_table, scale_table

__all__ = ["cost_table", "scale_table"]
