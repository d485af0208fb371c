"""From the arguments of an estimator to a schema: nothing about the values is guessed."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._reticent import Schema
from .errors import SchemaError

WAYS_OUT = (
    "what the columns may hold must be public, and nothing is read off the data: give "
    "`bounds=(lower, upper)`, numbers or one for each column; or `schema=`, a schema file, a dict "
    "or a Schema; or `row_norm=`, the norm that rows are scaled into"
)


def read_schema(given: Any) -> Schema:
    """A schema, whatever it was given as."""
    if isinstance(given, Schema):
        return given
    if isinstance(given, Mapping):
        return Schema.from_json(json.dumps(dict(given)))
    if isinstance(given, (str, os.PathLike)):
        return Schema.read(os.fspath(given))
    raise SchemaError(
        f"schema is a {type(given).__name__}: a path, a dict or a reticent.Schema is needed"
    )


def _pairs(bounds: Any, columns: int, names: list[str] | None) -> list[tuple[float, float]]:
    """``(lower, upper)`` of each column."""
    if isinstance(bounds, Mapping):
        if names is None:
            raise ValueError(
                "bounds is a dict, and the columns have no names: give X as a data frame, or "
                "bounds=(lower, upper)"
            )
        missing = [name for name in names if name not in bounds]
        if missing:
            raise ValueError(f"bounds has nothing for the columns {', '.join(missing)}")
        return _ordered([_pair(bounds[name], name) for name in names], names)
    try:
        lower, upper = bounds
        ends = [np.asarray(end, dtype=np.float64) for end in (lower, upper)]
        lower, upper = (np.broadcast_to(end, (columns,)) for end in ends)
    except (TypeError, ValueError):
        raise ValueError(
            f"bounds must be (lower, upper), each a number or one number for each of the {columns} "
            "columns, or a dict from names of columns to pairs"
        ) from None
    return _ordered(list(zip(lower.tolist(), upper.tolist())), names)


def _pair(given: Any, name: str) -> tuple[float, float]:
    try:
        lower, upper = given
        return float(lower), float(upper)
    except (TypeError, ValueError):
        raise ValueError(f"bounds of {name!r} must be (lower, upper), two numbers") from None


def _ordered(
    pairs: list[tuple[float, float]], names: list[str] | None
) -> list[tuple[float, float]]:
    """The pairs, if each is two ends."""
    for place, (lower, upper) in enumerate(pairs):
        if not (-math.inf < lower < upper < math.inf):
            which = f"column {place}" if names is None else repr(names[place])
            raise ValueError(
                f"bounds of {which} are {lower:g} and {upper:g}: two finite numbers are needed, the "
                "lower one first"
            )
    return pairs


def schema_for(
    *,
    bounds: Any,
    schema: Any,
    row_norm: float | None,
    columns: int,
    names: list[str] | None,
    sparse: bool,
    target: str,
    classes: list[str] | None,
    range: tuple[float, float] | None,
) -> Schema:
    """The schema of a table with so many columns."""
    kind: dict[str, Any] = {"classes": classes, "range": range}
    if bounds is not None and schema is not None:
        raise ValueError("bounds and schema say the same thing: give one of them")
    if schema is not None:
        read = read_schema(schema)
        if row_norm is not None:
            read = read.with_row_norm(float(row_norm))
        if classes is None and range is None:
            return read
        return read.with_target(target if read.target is None else read.target, **kind)
    if bounds is not None:
        made = Schema.bounded(_pairs(bounds, columns, names), **kind)
        if row_norm is not None:
            made = made.with_row_norm(float(row_norm))
    elif row_norm is not None:
        if sparse:
            return Schema.sparse(columns, float(row_norm), **kind)
        made = Schema.of_norm(columns, float(row_norm), **kind)
    else:
        raise ValueError(WAYS_OUT)
    if names is not None and target in names:
        target = next(name for name in _others(target) if name not in names)
    return made.renamed(names, target)


def _others(name: str) -> Any:
    while True:
        name = f"{name}_"
        yield name
