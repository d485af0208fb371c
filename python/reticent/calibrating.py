"""Probabilities that are brought in line with what happens, as a fit that is paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ._classifier import PrivateClassifier
from ._penalties import number
from .certificate import Certificate
from .logistic import PrivateLogisticRegression

if TYPE_CHECKING:
    from typing_extensions import Self

    from .evaluation import Evaluation

__all__ = ["PrivateCalibrator"]

RELEASED = (
    "the model whose scores are calibrated is public: what it learned from the same people is paid "
    "for by its own certificate, and both add up"
)


class _OfScores(PrivateLogisticRegression):
    """The line through the scores of a model that is public."""

    def _assumptions(self) -> list[str]:
        return [*super()._assumptions(), RELEASED]


class PrivateCalibrator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Calibrated probabilities of a fitted private classifier of two classes.

    A private logistic regression of one public column, the score of the model, cut to ``most``:
    Platt's slope and shift, with a certificate of its own. ``CalibratedClassifierCV`` learns them
    from the exact labels, which nobody pays for.

    Parameters
    ----------
    estimator : a fitted private classifier
        Of two classes. It is left as it is.
    epsilon, delta : float
        Budget of the calibration. Both are required.
    most : float
        Scores beyond it count as it. It is public.
    budget : Budget or "model"
        Budget of the data set of the table, which pays; by default that of the estimator, if any.
    adjacency : {"replace-one", "add-remove"}
        Neighbouring relation.
    unit : {"record", "user"}, optional
        Unit of protection; default a user if ``groups`` are passed to ``fit``, otherwise a record.
    public_n : int, optional
        Public number of records; required for "add-remove".
    random_state : int or RandomState, optional
        A seed for tests. The result is then NOT PRIVATE, and says so.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes of the estimator.
    slope_, shift_ : float
        The log-odds are ``slope_ * score + shift_``, of the score cut to ``most``.
    certificate_ : Certificate
        What the calibration guarantees to the people of its table. If the model was trained on them,
        both add up; a budget counts both.

    Examples
    --------
    >>> import numpy as np
    >>> from reticent import PrivateCalibrator, PrivateLinearSVC
    >>> X = np.random.default_rng(0).uniform(0, 90, size=(2000, 2))
    >>> y = (X[:, 0] > 45).astype(int)
    >>> model = PrivateLinearSVC(epsilon=1.0, delta=1e-6, bounds=(0, 90), classes=[0, 1]).fit(X, y)
    >>> calibrated = PrivateCalibrator(model, epsilon=0.5, delta=1e-6).fit(X, y)
    >>> calibrated.predict_proba([[80, 10]]).shape
    (1, 2)
    >>> calibrated.certificate_.epsilon() <= 0.5
    True
    """

    classes_: NDArray[Any]
    slope_: float
    shift_: float
    certificate_: Certificate

    def __init__(
        self,
        estimator: Any,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        most: float = 5.0,
        budget: Any = "model",
        adjacency: str = "replace-one",
        unit: str | None = None,
        public_n: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.epsilon = epsilon
        self.delta = delta
        self.most = most
        self.budget = budget
        self.adjacency = adjacency
        self.unit = unit
        self.public_n = public_n
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Calibrate within the budget."""
        model = self.estimator
        if not isinstance(model, PrivateClassifier):
            raise TypeError(
                f"estimator is a {type(model).__name__}: PrivateCalibrator takes a fitted private "
                "classifier"
            )
        check_is_fitted(model, "model_")
        if len(model.classes_) != 2:
            raise ValueError(
                f"the estimator has {len(model.classes_)} classes: calibration is for 2"
            )
        if isinstance(self.budget, str) and self.budget != "model":
            raise ValueError(f"budget={self.budget!r}: give a Budget, 'model' or None")
        if model.certificate_.unit == "user" and groups is None and self.unit is None:
            raise ValueError(
                "the model protects users: give `groups`, whose each record is, or unit='record' to "
                "protect single records here"
            )
        most = number("most", self.most)
        if not 0.0 < most < np.inf:
            raise ValueError(f"most={self.most!r}: a finite number above 0 is needed")
        fitted = _OfScores(
            1e-6,
            epsilon=self.epsilon,
            delta=self.delta,
            bounds=(-most, most),
            classes=[0, 1],
            adjacency=self.adjacency,
            unit=self.unit,
            public_n=self.public_n,
            budget=model.budget if isinstance(self.budget, str) else self.budget,
            random_state=self.random_state,
        )
        places = model._targets(y)
        fitted.fit(self._scores(X), places, groups)
        self._line = fitted
        self.classes_ = model.classes_
        self.slope_ = float(fitted.coef_[0, 0])
        self.shift_ = float(fitted.intercept_[0])
        self.certificate_ = fitted.certificate_
        self.n_features_in_ = model.n_features_in_
        return self

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """The scores of the model, as one column."""
        columns = self.estimator._native_columns(X)
        scores = self.estimator.model_.scores(columns["x"], names=columns["names"])
        return np.ascontiguousarray(np.clip(scores, -float(self.most), float(self.most)))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Calibrated log-odds of the second class."""
        check_is_fitted(self, "certificate_")
        return self.slope_ * self._scores(X)[:, 0] + self.shift_

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Calibrated probability of each class, in the order of ``classes_``."""
        second = 1.0 / (1.0 + np.exp(-self.decision_function(X)))
        return np.column_stack([1.0 - second, second])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each record, by the calibrated probabilities."""
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(int)])

    def private_score(self, X: Any, y: Any, groups: Any = None, **options: Any) -> Evaluation:
        """Evaluate the line through the scores privately; spends budget."""
        check_is_fitted(self, "certificate_")
        places = self.estimator._targets(y)
        return self._line.private_score(self._scores(X), places, groups, **options)
