"""How many there are of each class, as a question that is paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _reticent
from ._base import payer_of, seed_of
from ._classifier import places_of
from ._file_tables import Files, refuse_beside, refuse_named_people
from ._numbering import spelt as name_of
from ._owners import owners
from ._penalties import number
from ._reticent import Schema
from ._schema import read_schema
from .certificate import Certificate
from .errors import warn_beside, warn_of_weakness
from .files import typed_classes

if TYPE_CHECKING:
    from .budget import Budget

__all__ = ["ClassCounts", "class_counts"]


class ClassCounts:
    """Noisy counts of the classes.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    counts : ndarray of shape (n_classes,)
        Noisy number of records, or persons, of each; it may be negative.
    deviation : float
        Standard deviation of the noise of one answer; √2 times that for a class computed as a
        difference of two.
    certificate : Certificate
        What is guaranteed.
    """

    def __init__(
        self,
        classes: NDArray[Any],
        counts: NDArray[np.float64],
        deviation: float,
        certificate: Certificate,
    ) -> None:
        self.classes = classes
        self.counts = counts
        self.deviation = deviation
        self.certificate = certificate

    def shares(self) -> dict[Any, float]:
        """Share of each class, for ``class_prior``.

        No class is taken for smaller than the noise of its count: what is behind the noise is not
        known, and the weight of a class is one over its share.
        """
        least = np.maximum(self.counts, max(1.0, self.deviation))
        return dict(zip(self.classes.tolist(), (least / least.sum()).tolist()))

    def __repr__(self) -> str:
        own = ", ".join(f"{name!r}: {count:.0f}" for name, count in
                        zip(self.classes.tolist(), self.counts))
        return f"ClassCounts({{{own}}}, deviation={self.deviation:.3g})"


def _of_labels(classes: Any, groups: Any) -> tuple[NDArray[Any], Schema, str | None]:
    """The classes of labels in memory, the table that has them, and who is protected."""
    if classes is None:
        raise ValueError("classes must be public, and are not read off the labels: give classes=…")
    known = np.unique(np.asarray(classes))
    if len(known) != len(np.asarray(classes)):
        raise ValueError("classes has a class twice")
    if len(known) < 2:
        raise ValueError("classes must have at least 2 classes")
    # A table has a column, of which nothing is asked.
    table = Schema.bounded([(0.0, 1.0)], classes=[name_of(one) for one in known])
    return known, table, "record" if groups is None else "user"


def _of_files(schema: Any) -> tuple[NDArray[Any], Schema, str | None]:
    """The same of files."""
    if schema is None:
        raise ValueError("files need a schema that declares the classes of a target: give schema=…")
    table = read_schema(schema)
    if table.classes is None:
        raise ValueError("the schema declares no target with classes")
    return typed_classes(table.classes), table, None


def class_counts(
    y: Any,
    groups: Any = None,
    *,
    classes: Any = None,
    schema: Any = None,
    epsilon: float,
    delta: float,
    budget: Budget | None = None,
    adjacency: str = "replace-one",
    random_state: Any = None,
) -> ClassCounts:
    """Count the records of each class, within a budget.

    For ``class_weight="balanced"`` if the shares of the classes are not public.

    Parameters
    ----------
    y : array or Files
        Class of each record; or the files of a table, whose schema declares a target with classes.
    groups : array, optional
        User id of each record; a person is then protected with all their records, and counts once.
    classes : list
        The classes, which must be public; for files they are those of the schema.
    schema : path, dict or Schema
        For files: the public description of the table. Persons are protected if it has a column of users.
    epsilon, delta : float
        Budget of the counts: a small one suffices, as the noise is about 1/ε records.
    budget : Budget, optional
        Budget of the data set, which pays.
    adjacency : {"replace-one", "add-remove"}
        Neighbouring relation.
    random_state : int or RandomState, optional
        A seed for tests. The result is then NOT PRIVATE, and says so.

    Returns
    -------
    ClassCounts
        The counts, their noise and a certificate. It covers the people of this table: the cost of a
        fit on them adds to it, and a budget counts both.

    Examples
    --------
    >>> import numpy as np
    >>> import reticent
    >>> y = np.repeat(["well", "ill"], [9000, 1000])
    >>> found = reticent.class_counts(y, classes=["well", "ill"], epsilon=0.1, delta=1e-7)
    >>> shares = found.shares()
    >>> 0.05 < shares["ill"] < 0.15
    True
    >>> model = reticent.PrivateLogisticRegression(
    ...     epsilon=1.0, delta=1e-6, bounds=(0, 1), classes=["well", "ill"],
    ...     class_weight="balanced", class_prior=shares,
    ... )
    """
    payer = payer_of(budget, "class_counts", groups)
    x: Any
    if isinstance(y, Files):
        refuse_beside(classes=classes, groups=groups)
        refuse_named_people(payer)
        known, table, unit = _of_files(schema)
        x, places = y._request(), None
    else:
        if schema is not None:
            raise ValueError("schema is for files: give classes=… for labels in memory")
        known, table, unit = _of_labels(classes, groups)
        labels = np.asarray(y)
        if labels.ndim != 1:
            raise ValueError(f"y must be one column of labels, and has {labels.ndim} dimensions")
        x, places = np.zeros((len(labels), 1)), places_of(known, labels)
    counts, deviation, certificate, remark = _reticent.class_counts(
        {
            "schema": table,
            "epsilon": number("epsilon", epsilon),
            "delta": number("delta", delta),
            "adjacency": adjacency,
            "unit": unit,
            "public_n": None,
            "seed": seed_of(random_state, "class_counts"),
        },
        x,
        y=places,
        groups=owners(groups),
        budget=payer,
    )
    found = ClassCounts(known, np.asarray(counts), float(deviation), Certificate(certificate))
    if remark is not None:
        warn_beside(found, remark, RuntimeWarning, stacklevel=2)
    warn_of_weakness(found, certificate, stacklevel=2)
    return found
