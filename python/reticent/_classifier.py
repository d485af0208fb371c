"""What private classifiers have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from ._arguments import Arguments
from ._base import PrivateEstimator
from ._numbering import labels_by_number, refuse_unseen
from ._numbering import spelt as name_of
from ._penalties import number
from ._schema import read_schema
from ._wrappers import warn_of_score
from .errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Unpack

WAYS_OUT = (
    "which classes there are must be public, and is not read off the data: give `classes=[...]`, "
    "or a schema whose target declares them; if the labels that occur in y are known to everybody "
    "anyway, say so with classes='public'"
)

BALANCED = (
    "class_weight='balanced' needs the shares of the classes, which are private, and are not read "
    "off the data: give public ones with `class_prior={class: share}`, or the weights themselves "
    "with `class_weight={class: weight}`; where nothing is public, pay for noisy ones first with "
    "`reticent.class_counts`"
)

PUBLIC_CLASSES = (
    "which classes occur among the records is public: they were read off the labels, because "
    "classes='public' says so"
)


class ClassifierArguments(Arguments, total=False):
    """Of every classifier."""

    classes: Any
    class_weight: Any
    class_prior: Any


class PrivateClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """Classes, scores and probabilities."""

    classes_: NDArray[Any]
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    #: The labels behind the numbers of a wrapper, while it fits.
    _numbered: NDArray[Any] | None = None

    _SHARED = {
        "parameters": """\
    classes : list or "public", optional
        The classes. They are not inferred from ``y``. "public" declares the set of labels in ``y``
        public and takes it from there; the certificate lists this as an assumption. A schema may
        declare them as well.
    class_weight : dict or "balanced", optional
        Weight of a record of each class; default 1. "balanced" weights classes inversely to their
        ``class_prior``. The largest weight multiplies the noise.
    class_prior : dict or array, optional
        Shares of the classes, by class or in the order of ``classes_``. They must be public: they
        are not computed from ``y``.
""",
        "attributes": """\
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_encoded) or (n_classes, n_encoded)
        Weights, in the units of the columns.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Score of a record of zeros.
""",
    }

    def __init__(
        self,
        *,
        classes: Any = None,
        class_weight: Any = None,
        class_prior: Any = None,
        **others: Unpack[Arguments],
    ) -> None:
        super().__init__(**others)
        self.classes = classes
        self.class_weight = class_weight
        self.class_prior = class_prior

    def _request(self, schema: Any, grouped: bool, seed: int | None) -> dict[str, Any]:
        request = super()._request(schema, grouped, seed)
        names = schema.classes
        request["class_weight"] = self._weights(names)
        request["class_prior"] = self._prior(names)
        return request

    def _weights(self, names: list[str]) -> Any:
        """The weights by the names of the classes, or the word for them."""
        given = self.class_weight
        if given is None:
            return None
        if isinstance(given, str):
            if given != "balanced":
                raise ValueError(f"class_weight={given!r}: give 'balanced', or a dict by class")
            if self.class_prior is None:
                raise ValueError(BALANCED)
            return given
        if not isinstance(given, Mapping):
            raise ValueError("class_weight must be 'balanced', or a dict by class")
        return self._by_class("class_weight", names, given, 1.0)

    def _prior(self, names: list[str]) -> list[tuple[str, float]] | None:
        """The shares by the names of the classes."""
        given = self.class_prior
        if given is None:
            return None
        if not isinstance(given, Mapping):
            if len(given) != len(names):
                raise ValueError(
                    f"class_prior has {len(given)} shares, and there are {len(names)} classes"
                )
            given = dict(zip(self._labels().tolist(), given))
        return self._by_class("class_prior", names, given, None)

    def _by_class(
        self, name: str, names: list[str], given: Mapping[Any, Any], usual: float | None
    ) -> list[tuple[str, float]]:
        """A number for each class, by its name."""
        classes = self._labels().tolist()
        strange = [label for label in given if label not in classes]
        if strange:
            raise ValueError(f"{name} names {strange[0]!r}, which is none of the classes {classes}")
        missing = [label for label in classes if label not in given]
        if missing and usual is None:
            raise ValueError(f"{name} has no number for the class {missing[0]!r}")
        return [
            (spelt, number(name, given.get(label, usual)))
            for spelt, label in zip(names, classes)
        ]

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        """The table, its schema and the places of the labels."""
        table = self._table(X, reset=True)
        labels = self._checked(y)
        self.classes_, codes = self._classes(labels)
        names = None if self._is_declared() else [name_of(label) for label in self._labels()]
        schema = self._schema(table, y, classes=names, range=None)
        if len(schema.classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes, and there is one class"
            )
        return table, schema, codes

    def _assumptions(self) -> list[str]:
        read = isinstance(self.classes, str) and self.classes == "public"
        return [PUBLIC_CLASSES] if read else []

    def _declared(self) -> list[str] | None:
        """The classes of the schema, if it has any and nothing else is said."""
        if self.classes is not None or self.schema is None:
            return None
        return read_schema(self.schema).classes

    def _is_declared(self) -> bool:
        """Whether the classes of the schema are used as they are."""
        return self._numbered is None and bool(self._declared())

    def _labels(self) -> NDArray[Any]:
        """The classes as the caller has them, also where a wrapper has numbered them."""
        return self.classes_ if self._numbered is None else self._numbered

    def _classes(self, labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The classes, and the place of each label among them."""
        declared = self._declared()
        listed = None if isinstance(self.classes, str) else self.classes
        if declared is not None or listed is not None:
            names = declared or [name_of(label) for label in np.asarray(listed)]
            self._numbered = labels_by_number(self, names)
            if self._numbered is not None:
                numbers = np.arange(len(names))
                return numbers, places_of(numbers, labels)
            refuse_unseen(labels, names)
        if declared is not None:
            return _under(declared, labels)
        if self.classes is None:
            raise ValueError(WAYS_OUT)
        if isinstance(self.classes, str):
            if self.classes != "public":
                raise ValueError(f"classes={self.classes!r}: give a list, or 'public'")
            if not np.all(_finite(labels)):
                raise DataError("Input y contains NaN or infinity, and a label is needed")
            check_classification_targets(labels)
            classes = np.unique(labels)
        else:
            classes = np.unique(np.asarray(self.classes))
            if len(classes) != len(np.asarray(self.classes)):
                raise ValueError("classes has a class twice")
        return classes, places_of(classes, labels)

    def _targets(self, y: Any) -> NDArray[np.uint32]:
        order = np.argsort(self.classes_)
        places = places_of(self.classes_[order], self._checked(y))
        return np.ascontiguousarray(order[places], dtype=np.uint32)

    def _set_weights(self, weights: Any, intercept: Any) -> None:
        self.coef_ = weights
        self.intercept_ = intercept if len(intercept) else self.model_.offsets()

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each record: of the second of two classes, or of each class."""
        scores: NDArray[np.float64] = self.model_scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def model_scores(self, X: Any) -> Any:
        columns = self._asked_columns(X)
        return self.model_.scores(columns["x"], names=columns["names"])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy on a table, without noise: NOT PRIVATE.

        :meth:`private_score` asks with noise, and pays; its figures may be published.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            The records.
        y : array
            The true class of each.
        sample_weight : array, optional
            How much each record counts.

        Returns
        -------
        float
            The share of records whose class is predicted.
        """
        warn_of_score(self)
        return float(super().score(X, y, sample_weight))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each record."""
        columns = self._asked_columns(X)
        places, _ = self.model_.predict(columns["x"], names=columns["names"])
        return np.asarray(self.classes_[places])


def _finite(labels: NDArray[Any]) -> Any:
    return np.isfinite(labels) if labels.dtype.kind == "f" else True


def places_of(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.uint32]:
    """The place of each label; one that is no class is refused without being shown."""
    try:
        places = np.clip(np.searchsorted(classes, labels), 0, len(classes) - 1)
        known = bool(np.all(classes[places] == labels))
    except TypeError:
        known = False
    if not known:
        raise DataError("y has a label that is none of the declared classes")
    return np.ascontiguousarray(places, dtype=np.uint32)


def _under(declared: list[str], labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes of a schema, in its order and in the type of the labels."""
    names = np.asarray(declared)
    if labels.dtype.kind in "biuf":
        try:
            numbers = names.astype(np.float64)
        except ValueError:
            raise DataError("y has numbers, and the classes of the schema are none") from None
        codes = np.ascontiguousarray(labels, dtype=np.float64)
        order = np.argsort(numbers)
        places = order[places_of(numbers[order], codes)]
        return numbers.astype(labels.dtype), places.astype(np.uint32)
    order = np.argsort(names)
    texts = labels.astype(str)
    return names, order[places_of(names[order], texts)].astype(np.uint32)
