"""Numbers, and losses and penalties by name and numbers, as the library takes them."""

from __future__ import annotations

from typing import Any

import numpy as np


# A loss or a penalty: its name, and the numbers of its parameters.
Named = tuple[str, list[float]]


def number(name: str, value: Any) -> float:
    """A number, which text or a truth value is not."""
    if not isinstance(value, (str, bytes, bytearray, bool, np.bool_)):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise ValueError(f"{name}={value!r}: a number is needed") from None


def share_of(name: str, share: Any) -> float | None:
    """A share of the budget; the library says which are allowed."""
    return None if share is None else number(name, share)


def penalty_of(penalty: Any, alpha: Any, l1_ratio: Any) -> Named:
    """The penalty of this name."""
    if penalty is None:
        return "none", []
    if penalty in ("l1", "l2"):
        return penalty, [number("alpha", alpha)]
    if penalty != "elasticnet":
        raise ValueError(f"penalty={penalty!r}: use 'l2', 'l1', 'elasticnet' or None")
    share = number("l1_ratio", l1_ratio)
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"l1_ratio={l1_ratio!r}: a number from 0 to 1 is needed")
    strength = number("alpha", alpha)
    return "elastic-net", [strength * share, strength * (1.0 - share)]
