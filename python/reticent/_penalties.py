"""Numbers and penalties in the words of the library."""

from __future__ import annotations

from typing import Any

import numpy as np


def number(name: str, value: Any) -> str:
    """A number as text that loses nothing. Text is none, nor is a truth value."""
    if not isinstance(value, (str, bytes, bytearray, bool, np.bool_)):
        try:
            return repr(float(value))
        except (TypeError, ValueError):
            pass
    raise ValueError(f"{name}={value!r}: a number is needed") from None


def share_of(name: str, share: Any) -> float | None:
    """A share of the budget; the library says which are allowed."""
    return None if share is None else float(number(name, share))


def penalty_word(penalty: Any, alpha: Any, l1_ratio: Any) -> str:
    """The penalty of this name."""
    if penalty is None:
        return "none"
    if penalty in ("l1", "l2"):
        return f"{penalty}:{number('alpha', alpha)}"
    if penalty != "elasticnet":
        raise ValueError(f"penalty={penalty!r}: use 'l2', 'l1', 'elasticnet' or None")
    share = float(number("l1_ratio", l1_ratio))
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"l1_ratio={l1_ratio!r}: a number from 0 to 1 is needed")
    strength = float(number("alpha", alpha))
    return f"elastic-net:{strength * share!r},{strength * (1.0 - share)!r}"
