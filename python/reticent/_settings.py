"""Settings of an algorithm, from Python's values to the words of the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def in_words(settings: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Every setting by its name."""
    given = {} if settings is None else settings
    if not isinstance(given, Mapping):
        raise ValueError(f"settings={given!r}: a dict is needed, such as {{'iterations': 100}}")
    return [(str(name), _words(str(name), value)) for name, value in given.items()]


def _words(name: str, value: Any) -> str:
    """One of them; several numbers are a list with commas."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        return _word(value)
    if any(np.ndim(one) > 0 for one in value):
        raise ValueError(f"settings: {name} must be a number or a list of numbers, not one of lists")
    return ",".join(map(_word, value))


def _word(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
