"""Whose each record is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import DataError


# What can be told apart, and of which it is known what is missing. Text with a word of its own for
# that (numpy.dtypes.StringDType) is not among it.
_KINDS = "biufUSMmO"


def owners(groups: Any) -> NDArray[np.uint64] | None:
    """Whose each row is, as numbers."""
    if groups is None:
        return None
    return numbered("groups", groups)[1]


def numbered(name: str, given: Any) -> tuple[list[Any], NDArray[np.uint64]]:
    """Who there is, in the order in which they first come, and the number of each row's.

    A row that is nobody's is refused: whoever it belongs to would be protected with a part of what
    is theirs.
    """
    column = _column(given)
    if column.ndim != 1:
        raise ValueError(f"{name} must be one column, and has {column.ndim} dimensions")
    if column.dtype.kind not in _KINDS:
        raise ValueError(
            f"{name} must be numbers, text or times, and is of the type {type(column.dtype).__name__}: "
            "give astype(object) of it"
        )
    if np.ma.is_masked(given) or _any_missing(column):
        raise DataError(
            f"{name} does not say of every record whose it is: fill in what is missing, or leave "
            "those records out"
        )
    if column.dtype.kind == "O":
        return _by_hash(name, column)
    labels, first, places = np.unique(column, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), dtype=np.uint64)
    number[order] = np.arange(len(order))
    return labels[order].tolist(), number[places.ravel()]


def _column(given: Any) -> NDArray[Any]:
    """The owners as they are: NumPy makes text of a list of text and NaN, and a person of "nan"."""
    if not isinstance(given, (list, tuple)):
        return np.asarray(given)
    # One that is masked would be taken for a number.
    return np.asarray([None if one is np.ma.masked else one for one in given], dtype=object)


def _any_missing(column: NDArray[Any]) -> bool:
    if column.dtype.kind == "f":
        return bool(np.isnan(column).any())
    if column.dtype.kind in "mM":
        return bool(np.isnat(column).any())
    return column.dtype.kind == "O" and any(_is_missing(one) for one in column)


def _is_missing(one: Any) -> bool:
    if one is None:
        return True
    try:
        return bool(one != one)
    except (ArithmeticError, TypeError, ValueError):  # pandas.NA says neither yes nor no
        return True


def _by_hash(name: str, column: NDArray[Any]) -> tuple[list[Any], NDArray[np.uint64]]:
    """The same of objects, which need not have an order."""
    numbers: dict[Any, int] = {}
    try:
        places = [numbers.setdefault(one, len(numbers)) for one in column]
    except TypeError:
        raise ValueError(f"{name} must be numbers or text") from None
    if len({str(one) for one in numbers}) < len(numbers):
        raise DataError(
            f"{name} has owners that read the same and are not, such as the number 7 and the text "
            "'7': whoever that is would be protected as two; make all of them text, or all numbers"
        )
    return list(numbers), np.asarray(places, dtype=np.uint64)
