"""Weights of records: private, up to a largest one that is public."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._penalties import number
from ._validation import one_column
from .errors import NotPrivateWarning, warn_beside

UNBOUNDED = (
    "sample_weight needs max_sample_weight=, in the constructor: weights are private, and the largest "
    "one must be public. Weights above it are clipped to it"
)

FORGOTTEN = (
    "max_sample_weight is given, and sample_weight is not: give the weights to fit, or leave it out. A "
    "search, a sweep and a run between parties take none"
)

NORMALISED = (
    "the weights add up to the number of records, as weights do that were balanced or normalised by the "
    "table: each then changes with every other record, and the guarantee does NOT HOLD. A weight must "
    "follow from its own record and from public numbers. For classes there is class_weight with public "
    "shares"
)


def weights_of(given: Any, largest: Any) -> NDArray[np.float64] | None:
    """The weights as the library takes them, if there are any."""
    if given is None:
        return None
    if largest is None:
        raise ValueError(UNBOUNDED)
    if not 0.0 < number("max_sample_weight", largest) < np.inf:
        raise ValueError(f"max_sample_weight={largest!r}: a number above 0 is needed")
    try:
        weights = np.ascontiguousarray(one_column(given), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight is not an array of numbers, one for each record") from None
    return weights


def warn_of_normalised(
    estimator: Any, weights: NDArray[np.float64] | None, *, stacklevel: int
) -> None:
    """Warns of weights that were made from the whole table."""
    if weights is None or weights.size == 0 or np.ptp(weights) == 0.0:
        return
    if abs(float(weights.sum()) - weights.size) <= 1e-9 * weights.size:
        warn_beside(estimator, NORMALISED, NotPrivateWarning, stacklevel=stacklevel + 1)
