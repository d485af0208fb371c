"""Whose each record is.

Which spellings of an id are one person is said by the library, for files and for Python alike
(docs/schema.md). Here ids of every kind that Python has become what it reads: arrays of integers and
of float64 as they are, anything else as text or numbers, each once, with the place of each row's.
"""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Callable
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from .errors import DataError

#: What the library takes: numbers, or labels with the place of each row's among them.
Ids = Union[NDArray[Any], tuple[list[Union[str, float]], NDArray[np.uint32]]]

# What can be told apart, and of which it is known what is missing. Text with a word of its own for
# that (numpy.dtypes.StringDType) is not among it.
_KINDS = "biufUSMO"


def owners(groups: Any) -> Ids | None:
    """Whose each row is."""
    return None if groups is None else ids("groups", groups)


def ids(name: str, given: Any) -> Ids:
    """Whose each row is, as the library takes it.

    A row that is nobody's is refused: whoever it belongs to would be protected with a part of what
    is theirs.
    """
    column = _column(given)
    if column.ndim != 1:
        raise ValueError(f"{name} must be one column, and has {column.ndim} dimensions")
    if column.dtype.kind not in _KINDS:
        raise ValueError(
            f"{name} must be integers, text, truth values or days, and is of the type "
            f"{type(column.dtype).__name__}: give astype(object) of it"
        )
    if np.ma.is_masked(given) or _any_missing(column):
        raise DataError(
            f"{name} does not say of every record whose it is: fill in what is missing, or leave "
            "those records out"
        )
    kind = column.dtype.kind
    if kind in "iu":
        wide = np.int64 if kind == "i" else np.uint64
        return np.ascontiguousarray(column, dtype=wide)
    if kind == "f":
        return _exact(name, column)
    if kind == "O":
        return _coded(name, column)
    if kind == "M":
        column = _days(name, column)
    labels, places = np.unique(column, return_inverse=True)
    text = [_label(name, one) for one in labels.tolist()]
    return text, np.ascontiguousarray(places.ravel(), dtype=np.uint32)


def _column(given: Any) -> NDArray[Any]:
    """The owners as they are: NumPy makes text of a list of text and NaN, and a person of "nan"."""
    if not isinstance(given, (list, tuple)):
        return np.asarray(given)
    # One that is masked would be taken for a number.
    column = np.empty(len(given), dtype=object)
    for i, one in enumerate(given):
        column[i] = None if one is np.ma.masked else one
    return column


def _any_missing(column: NDArray[Any]) -> bool:
    if column.dtype.kind == "f":
        return bool(np.isnan(column).any())
    if column.dtype.kind == "M":
        return bool(np.isnat(column).any())
    return column.dtype.kind == "O" and any(_is_missing(one) for one in column)


def _is_missing(one: Any) -> bool:
    if one is None:
        return True
    try:
        return bool(one != one)
    except (ArithmeticError, TypeError, ValueError):  # pandas.NA says neither yes nor no
        return True


def _two_persons(name: str, what: str) -> DataError:
    return DataError(
        f"{name} has {what}, which may be one person or two: give integers, text, truth values or "
        "days"
    )


def _exact(name: str, column: NDArray[Any]) -> NDArray[np.float64]:
    """Floating-point numbers that stand for no other: the library refuses the rest of float64."""
    exact = 2.0 ** (np.finfo(column.dtype).nmant + 1)
    wide = np.ascontiguousarray(column, dtype=np.float64)
    if bool((np.abs(column) >= exact).any()) or bool((wide != column).any()):
        raise _two_persons(name, "floating-point numbers that are not exact")
    return wide


def _days(name: str, column: NDArray[Any]) -> NDArray[Any]:
    days = column.astype("datetime64[D]")
    if bool((days != column).any()):
        raise _two_persons(name, "points in time that are no whole days")
    return np.datetime_as_string(days)


def _coded(name: str, column: NDArray[Any]) -> Ids:
    """Objects, by type and value: Python takes 1, 1.0 and True for one, and the library may not."""
    places: dict[tuple[type, Any], int] = {}
    numbers: dict[str | float, int] = {}
    found = np.empty(len(column), dtype=np.uint32)
    try:
        for i, one in enumerate(column):
            # Two that are midnight in different zones are equal to Python.
            timed = isinstance(one, datetime.datetime)
            place = None if timed else places.get((type(one), one))
            if place is None:
                place = numbers.setdefault(_label(name, one), len(numbers))
                places[type(one), one] = place
            found[i] = place
    except TypeError:
        raise ValueError(f"{name} must be integers, text, truth values or days") from None
    return list(numbers), found


def _label(name: str, one: Any) -> str | float:
    """An id as the library reads it. An integer is its digits, whatever their number."""
    for kinds, label in _LABELS:
        if isinstance(one, kinds):
            return label(name, one)
    raise ValueError(f"{name} must be integers, text, truth values or days")


def _text(name: str, one: str) -> str:
    text = str.__str__(one)
    try:
        # What Python says of half a pair of surrogates shows it, and where it is.
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} has text that is not UTF-8") from None
    return text


def _bytes(name: str, one: bytes) -> str:
    try:
        return one.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{name} has text that is not UTF-8") from None


def _float(name: str, one: Any) -> float:
    return float(_exact(name, np.asarray([one]))[0])


def _decimal(name: str, one: decimal.Decimal) -> str:
    if not one.is_finite() or one != one.to_integral_value():
        raise _two_persons(name, "decimal numbers that are not whole")
    return str(int(one))


def _moment(name: str, one: datetime.datetime) -> str:
    # A pandas.Timestamp has nanoseconds beside what a datetime has.
    midnight = one.time() == datetime.time() and not getattr(one, "nanosecond", 0)
    if not midnight or one.utcoffset() not in (None, datetime.timedelta()):
        raise _two_persons(name, "points in time that are no whole days")
    return one.date().isoformat()


def _day64(name: str, one: np.datetime64) -> str:
    return str(_days(name, np.asarray([one]))[0])


# A truth value is an int to Python, a datetime is a date, and NumPy's float64 is a float.
_LABELS: list[tuple[Any, Callable[[str, Any], str | float]]] = [
    ((bool, np.bool_), lambda _, one: "true" if one else "false"),
    ((int, np.integer), lambda _, one: str(int(one))),
    (np.floating, _float),
    (float, _float),
    (str, _text),
    (bytes, _bytes),
    (datetime.datetime, _moment),
    (datetime.date, lambda _, one: one.isoformat()),
    (np.datetime64, _day64),
    (decimal.Decimal, _decimal),
    (uuid.UUID, lambda _, one: str(one)),
]
