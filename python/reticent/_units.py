"""What the unit of protection is called: a statement of the caller's, which a budget keeps."""

from __future__ import annotations

from typing import Any


def name_of(groups: Any) -> str | None:
    """The name of a column that somebody has as a Series; an array has none."""
    name = getattr(groups, "name", None)
    return name if isinstance(name, str) and name.strip() else None


def check_stand_in(what: str, groups: Any, column: str | None) -> None:
    """Refuses owners beside a table whose schema has a column for them, unless they are that column.

    The certificate and the budget name the column of the schema, and would speak of other people.
    """
    if groups is None or column is None or name_of(groups) == column:
        return
    raise ValueError(
        f"{what} would stand in for the column {column!r} of the schema, which says whose each row "
        f"is: leave {what} out, or give a Series that is named {column!r} if they are the same people"
    )
