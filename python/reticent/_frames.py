"""Results as tables: data frames of pandas where it is there, dicts of arrays where it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def frame(columns: Mapping[str, Sequence[Any] | NDArray[Any]], index: str | None = None) -> Any:
    """A ``pandas.DataFrame`` of these columns, or a dict of arrays without pandas."""
    try:
        import pandas
    except ModuleNotFoundError:
        return {name: np.asarray(values) for name, values in columns.items()}
    table = pandas.DataFrame({name: list(values) for name, values in columns.items()})
    return table if index is None else table.set_index(index)


def column(table: Any, name: str) -> Any:
    """A column of what :func:`frame` makes, or of its index."""
    if not isinstance(table, dict) and name in table.index.names:
        return table.index.get_level_values(name).to_numpy()
    return np.asarray(table[name])
