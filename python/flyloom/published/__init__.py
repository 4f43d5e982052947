"""Published tables and figures, beside what flyloom computes."""

from flyloom.published.tables import fit_fly_table, resilience_table

__all__ = ["fit_fly_table", "resilience_table"]
