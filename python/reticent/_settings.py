"""Settings of an algorithm, as the library takes them: numbers as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

# What the library has whole numbers in; others are said in words.
_MOST = 2**63


def handed_over(settings: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    """Every setting by its name."""
    given = {} if settings is None else settings
    if not isinstance(given, Mapping):
        raise ValueError(f"settings={given!r}: a dict is needed, such as {{'iterations': 100}}")
    return [(str(name), _value(str(name), value)) for name, value in given.items()]


def _value(name: str, value: Any) -> Any:
    """One of them, or a list of several numbers."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        return _plain(value)
    if any(np.ndim(one) > 0 for one in value):
        raise ValueError(f"settings: {name} must be a number or a list of numbers, not one of lists")
    return [_plain(one) for one in value]


def _plain(value: Any) -> bool | int | float | str:
    """A number of Python's own, or the words of what is none."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, (int, np.integer)) and -_MOST <= value < _MOST:
        return int(value)
    return str(value)
