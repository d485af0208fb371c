"""What private regressors have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ._arguments import Arguments
from ._base import PrivateEstimator
from ._penalties import Named
from ._schema import read_schema
from ._validation import numbers_of
from ._wrappers import warn_of_score
from .errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Unpack

WAYS_OUT = (
    "the range of what is predicted must be public, and is not read off the data: give "
    "`target_bounds=(lower, upper)`, or a schema whose target declares it"
)


class RegressorArguments(Arguments, total=False):
    """Of every regressor."""

    target_bounds: Any


class PrivateRegressor(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """A number within a public range."""

    coef_: NDArray[np.float64]
    intercept_: float

    _SHARED = {
        "parameters": """\
    target_bounds : (float, float), optional
        The public range of ``y``. A schema may declare it as well.
""",
        "attributes": """\
    coef_ : ndarray of shape (n_encoded,)
        Weights, in the units of the columns.
    intercept_ : float
        Prediction for a record of zeros.
""",
    }

    def __init__(self, *, target_bounds: Any = None, **others: Unpack[Arguments]) -> None:
        super().__init__(**others)
        self.target_bounds = target_bounds

    def _loss(self, outputs: int | None) -> Named:
        return "squared", []

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        """The table, its schema and the numbers to predict."""
        table = self._table(X, reset=True)
        numbers = self._targets(y)
        return table, self._ranged(table, y), numbers

    def _targets(self, y: Any) -> NDArray[np.float64]:
        numbers = numbers_of(self._checked(y))
        if not np.all(np.isfinite(numbers)):
            raise DataError("Input y contains NaN or infinity, and a number is needed")
        return numbers

    def _ranged(self, table: Any, y: Any) -> Any:
        if self.target_bounds is None:
            declared = None if self.schema is None else read_schema(self.schema).range
            if declared is None:
                raise ValueError(WAYS_OUT)
            return self._schema(table, y, classes=None, range=None)
        try:
            lower, upper = (float(end) for end in self.target_bounds)
        except (TypeError, ValueError):
            raise ValueError("target_bounds must be (lower, upper), two numbers") from None
        return self._schema(table, y, classes=None, range=(lower, upper))

    def _set_weights(self, weights: Any, intercept: Any) -> None:
        self.coef_ = weights[0]
        self.intercept_ = float(intercept[0] if len(intercept) else self.model_.offsets()[0])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² on a table, without noise: NOT PRIVATE.

        :meth:`private_score` asks with noise, and pays; its figures may be published.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            The records.
        y : array
            The true number of each.
        sample_weight : array, optional
            How much each record counts.

        Returns
        -------
        float
            1 where every number is predicted, 0 where their mean would do as well.
        """
        warn_of_score(self)
        return float(super().score(X, y, sample_weight))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the target of each record, within ``target_bounds``."""
        columns = self._asked_columns(X)
        _, numbers = self.model_.predict(columns["x"], names=columns["names"])
        return np.ascontiguousarray(numbers[:, 0])
