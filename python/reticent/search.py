"""Choosing settings within one budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _reticent
from ._arguments import refuse_others
from ._base import PrivateEstimator
from ._classifier import ClassifierArguments
from ._owners import owners
from ._regressor import RegressorArguments
from ._units import check_stand_in
from ._whole import whole
from ._wrappers import warn_of_callers
from .certificate import Certificate
from .errors import (
    BudgetExceeded,
    NoiseDominatesWarning,
    PrivacyCostWarning,
    warn_beside,
    warn_of_weakness,
)
if TYPE_CHECKING:
    from .evaluation import Evaluation

__all__ = ["PrivateSearchCV"]


def _has(name: str) -> Any:
    def check(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


# Of the arguments that estimators have in common, those that may differ between points. The others are what is
# promised, what is public and what is predicted.
_VARIED = ("algorithm", "settings", "trace", "budget")
_COMMON = {**ClassifierArguments.__annotations__, **RegressorArguments.__annotations__}
_SHARED = [*(name for name in _COMMON if name not in _VARIED), "calibrate"]

# A search that a budget counts for so many times its ε is remarked on.
_DEAR = 1.25

DEARER = (
    "A budget can count more for a search than its certificate says: what comes next is not known, so "
    "a budget compares Rényi divergences at a few orders that its own epsilon and delta fix, and the "
    "best of several runs is dear at low orders; a certificate takes the order that is best for this "
    "search alone. A budget of an epsilon near that of the search counts less"
)


def _points(param_grid: Any) -> list[dict[str, Any]]:
    """The points of a grid, of which one can be chosen."""
    points = list(ParameterGrid(param_grid))
    if any("budget" in point for point in points):
        raise ValueError("param_grid has budget: one pays for the search, and the estimator has it")
    if len(points) < 2:
        raise ValueError(
            f"param_grid has {len(points)} point: at least 2 are needed to choose among; fit the "
            "estimator itself where there is nothing to choose"
        )
    for name in _SHARED:
        if len({repr(point.get(name, "as the estimator has it")) for point in points}) > 1:
            raise ValueError(
                f"param_grid varies {name}: it is the same for all points, so that their runs can "
                "be compared within one budget; set it in the estimator"
            )
    return points


class PrivateSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Private selection among settings, within the ε and δ of the estimator.

    A random number of runs, each with a setting drawn from the grid and its own noise, are scored
    with noise; only the best is released (Papernot and Steinke, 2022). The runs, their scores and
    the selection together are within the budget of one fit. There are no folds, because every fold
    of an ordinary search spends the budget again.

    Parameters
    ----------
    estimator : a private estimator
        Its ``epsilon`` and ``delta`` are for the whole search.
    param_grid : dict or list of dict
        Lists of settings, as for ``GridSearchCV``. The privacy arguments cannot be among them.
    runs : int, optional
        Expected number of runs; default the number of points.

    Attributes
    ----------
    best_estimator_ : estimator
        The winner, fitted.
    best_params_ : dict
        Its settings.
    best_index_ : int
        Its index among the points of the grid.
    best_score_ : float
        Its noisy score: minus the mean squared error of its predictions, on the scale 0 … 1.
    certificate_ : Certificate
        What is guaranteed.

    Examples
    --------
    >>> import numpy as np
    >>> from reticent import PrivateLogisticRegression, PrivateSearchCV
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> model = PrivateLogisticRegression(
    ...     epsilon=2.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1], settings={"iterations": 20}
    ... )
    >>> search = PrivateSearchCV(model, {"alpha": [1e-3, 1e-1]}).fit(X, y)
    >>> search.certificate_.epsilon() <= 2.0
    True
    """

    best_estimator_: PrivateEstimator
    best_params_: dict[str, Any]
    best_index_: int
    best_score_: float
    certificate_: Certificate

    def __init__(self, estimator: Any, param_grid: Any, *, runs: int | None = None) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.runs = runs

    def fit(self, X: Any, y: Any, groups: Any = None, **others: Any) -> PrivateSearchCV:
        """Select and fit within the budget."""
        refuse_others(others)
        if not isinstance(self.estimator, PrivateEstimator):
            raise TypeError(
                f"estimator is a {type(self.estimator).__name__}: PrivateSearchCV chooses among "
                "settings of a private estimator, which pays for the choice itself"
            )
        points = _points(self.param_grid)
        prepared = []
        seed: int | None = None
        for place, params in enumerate(points):
            one = clone(self.estimator).set_params(**params)
            if place == 0:
                seed = one._seed()
            table, schema, target = one._prepared(X, y)
            prepared.append((one, table, schema, target))
        first, table, schema, target = prepared[0]
        check_stand_in("groups", groups, schema.user)
        if first.curves == "auto":
            raise ValueError(
                "curves='auto': each of several runs has a part of the budget alone; give a number of knots"
            )
        requests = [one._request(under, groups is not None, seed) for one, _, under, _ in prepared]
        if any(request["trace"] for request in requests):
            raise ValueError(
                "trace=True: of a search only the best run is released; trace a fit of its own"
            )
        warn_of_callers(self, stacklevel=2)
        payer = first._payer(groups)
        before = 0.0 if payer is None else first.budget.counted
        try:
            native, iterations, winner, score, expected, outlook, remark = _reticent.tune(
                requests,
                None if self.runs is None else whole("runs", self.runs, 1),
                table.x,
                names=table.names if schema.features else None,
                y=target,
                groups=owners(groups),
                budget=payer,
            )
        except BudgetExceeded as error:
            raise BudgetExceeded(f"{error}. {DEARER}") from None
        best = prepared[winner][0]
        best.n_iter_ = int(iterations)
        best._adopt(native)
        self.best_estimator_ = best
        self.best_params_ = points[winner]
        self.best_index_ = int(winner)
        self.best_score_ = -float(score)
        self.expected_runs_ = float(expected)
        self.certificate_ = best.certificate_
        self.n_features_in_ = best.n_features_in_
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
        if remark is not None:
            warn_beside(self, remark, RuntimeWarning, stacklevel=2)
        counted = 0.0 if payer is None else first.budget.counted - before
        if counted > _DEAR * float(first.epsilon):
            said = f"the budget counts {counted:.3g} for this search at epsilon={first.epsilon}. {DEARER}"
            warn_beside(self, said, PrivacyCostWarning, stacklevel=2)
        if outlook is not None:
            warn_beside(self, outlook, NoiseDominatesWarning, stacklevel=2)
        warn_of_weakness(self, native.certificate, stacklevel=2)
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of the winner."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.classes_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the winner."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict(X))

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probabilities of the winner."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict_proba(X))

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[Any]:
        """The scores of the winner."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.decision_function(X))

    def score(self, X: Any, y: Any) -> float:
        """Score of the winner on a table, without noise: NOT PRIVATE."""
        check_is_fitted(self, "best_estimator_")
        return float(np.asarray(self.best_estimator_.score(X, y)))

    def private_score(
        self, X: Any, y: Any, groups: Any = None, **options: Any
    ) -> Evaluation:
        """Evaluate the winner privately; spends budget."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.private_score(X, y, groups, **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.input_tags = inner.input_tags
        return tags

    @property
    def _estimator_type(self) -> Any:  # scikit-learn 1.5
        return getattr(self.estimator, "_estimator_type", None)
