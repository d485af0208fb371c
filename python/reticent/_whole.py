"""Whole numbers that are given as arguments."""

from __future__ import annotations

import operator
from typing import Any


def whole(name: str, value: Any, least: int) -> int:
    """A whole number that is at least so large, in the words of the caller."""
    try:
        number = operator.index(value)
    except TypeError:
        if not (isinstance(value, float) and value.is_integer()):
            raise ValueError(f"{name}={value!r}: a whole number is needed") from None
        number = int(value)
    if not least <= number < 2**63:
        raise ValueError(f"{name}={value!r}: it must be {least} or greater, and below 2**63")
    return number
