"""Labels that a wrapper has numbered before an estimator sees them.

Some of scikit-learn's wrappers replace the labels by their places among the sorted labels that they
found. An estimator whose classes are declared as text finds its own names again here: the wrapper
keeps its labels while it fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._callers import frames, is_in_worker, self_of
from ._verdicts import verdict_of
from .errors import DataError

_NUMBERING = {"BaggingClassifier", "StackingClassifier", "VotingClassifier"}

UNSEEN = (
    "y has a label that is none of the declared classes. This fit is in a thread or process of its "
    "own: if a wrapper there numbers the labels, such as VotingClassifier, its classes are not seen "
    "from here; use n_jobs=None, or give it numbers 0, 1, … as labels and as `classes`"
)


def labels_by_number(estimator: Any, names: list[str]) -> NDArray[Any] | None:
    """The labels that stand behind the numbers of this fit; None where no wrapper numbers them.

    ``names`` are the declared classes, as files spell them.
    """
    found = list(_wrappers_of(estimator))
    if not found:
        return None
    # The outermost saw the labels; those within saw its numbers.
    labels = found[-1][1]
    whole = np.arange(len(names))
    for name, theirs in found:
        own = sorted(map(spelt, theirs)) == sorted(names)
        if not (own if theirs is labels else np.array_equal(theirs, whole)):
            raise DataError(
                f"{name} numbers the classes that it finds in the labels, and they are not the "
                "declared ones: every declared class must be among its labels"
            )
    return labels


def spelt(label: Any) -> str:
    """How a class is spelt in files: 1.0 is 1, as other programs have it."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)


def refuse_unseen(labels: NDArray[Any], names: list[str]) -> None:
    """Refuses numbers where no class is one, in a place from which no wrapper is seen."""
    numbers = {str(place) for place in range(len(names))}
    if labels.dtype.kind in "iu" and not numbers & set(names) and is_in_worker():
        raise DataError(UNSEEN)


def _wrappers_of(estimator: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Those that have numbered the labels, the last first, with the labels that each has found."""
    seen: set[int] = set()
    for module, function, frame in frames("sklearn."):
        if function == "cross_val_predict" and module == "sklearn.model_selection._validation":
            encoder = frame.f_locals.get("le")
            found = getattr(encoder, "classes_", None)
            if frame.f_locals.get("encode") and isinstance(found, np.ndarray):
                yield function, found
            continue
        owner = self_of(frame)
        if owner is None or owner is estimator or id(owner) in seen:
            continue
        known = verdict_of(type(owner))
        found = getattr(owner, "classes_", None)
        if known is None or known[0] not in _NUMBERING or not isinstance(found, np.ndarray):
            continue
        seen.add(id(owner))
        yield type(owner).__name__, found
