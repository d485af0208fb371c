"""Least squares with sparse weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._regressor import PrivateRegressor
from ._penalties import number, penalty_word

if TYPE_CHECKING:
    from .budget import Budget

__all__ = ["PrivateElasticNet", "PrivateLasso"]


class PrivateLasso(PrivateRegressor):
    """Least squares with an l1 penalty and differential privacy.

    Parameters
    ----------
    alpha : float
        The strength of the penalty, against the mean loss of a record.
    target_bounds : (float, float), optional
        The public range of ``y``. A schema may declare it as well.
    epsilon, delta : float
        What the fit may spend. Both must be given.
    adjacency : {"replace-one", "add-remove"}
        Which tables are neighbours.
    unit : {"record", "user"}, optional
        What is protected; a user where ``groups`` are given to ``fit``, otherwise a record.
    bounds : (lower, upper) or dict, optional
        Public bounds of the columns, numbers or one for each, or by name; values are clipped.
    schema : path, dict or Schema, optional
        What is public about the table, in place of ``bounds``; categorical columns need it.
    row_norm : float, optional
        The norm that rows are scaled into; alone or beside ``bounds``.
    public_n : int, optional
        A number of records that is public; "add-remove" needs it.
    budget : Budget, optional
        The budget of the data set, which pays for the fit.
    algorithm : str
        ``"auto"``, or a name of ``reticent list algorithms``.
    settings : dict, optional
        Settings of the algorithm, for example ``{"iterations": 100}``.
    fit_intercept : bool
        Whether there is an intercept.
    random_state : int or RandomState, optional
        A seed for tests. The result is then NOT PRIVATE, and says so.

    Attributes
    ----------
    coef_ : ndarray of shape (n_encoded,)
        The weights, in the units of the columns.
    intercept_ : float
        What is predicted for a record of zeros.
    coef_names_ : list of str
        The encoded columns that the weights are for: a column, or ``column=category``.
    n_iter_ : int
        Iterations made.
    certificate_ : Certificate
        What is guaranteed.
    n_features_in_ : int
        Columns seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    Notes
    -----
    Weights and penalties are those of the encoded columns while fitting: numbers scaled by their
    bounds to -1 … 1. ``coef_`` is in the units of the caller's columns; with ``intercept_`` it
    gives the score of every record within the bounds and the row norm, and others are clipped and
    scaled down first. ``score`` is computed from the table as it is: NOT PRIVATE.

    Examples
    --------
    >>> import numpy as np
    >>> from reticent import PrivateLasso
    >>> X = np.random.default_rng(0).uniform(0, 90, size=(1000, 2))
    >>> y = 0.5 * X[:, 0]
    >>> model = PrivateLasso(
    ...     epsilon=1.0, delta=1e-6, bounds=(0, 90), target_bounds=(0, 45)
    ... ).fit(X, y)
    >>> model.coef_.shape
    (2,)
    >>> model.certificate_.certified
    True
    """

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        target_bounds: Any = None,
        epsilon: float | None = None,
        delta: float | None = None,
        adjacency: str = "replace-one",
        unit: str | None = None,
        bounds: Any = None,
        schema: Any = None,
        row_norm: float | None = None,
        public_n: int | None = None,
        budget: Budget | None = None,
        algorithm: str = "auto",
        settings: dict[str, Any] | None = None,
        fit_intercept: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            unit=unit,
            bounds=bounds,
            schema=schema,
            row_norm=row_norm,
            public_n=public_n,
            budget=budget,
            algorithm=algorithm,
            settings=settings,
            fit_intercept=fit_intercept,
            random_state=random_state,
        )
        self.alpha = alpha
        self.target_bounds = target_bounds

    def _loss(self, outputs: int | None) -> str:
        return "squared"

    def _penalty(self) -> str:
        return f"l1:{number('alpha', self.alpha)}"


class PrivateElasticNet(PrivateRegressor):
    """Least squares with an l1 and a ridge penalty, and differential privacy.

    Parameters
    ----------
    alpha : float
        The strength of the penalty, against the mean loss of a record.
    l1_ratio : float
        The share of the l1 penalty in an elastic net, from 0 to 1.
    target_bounds : (float, float), optional
        The public range of ``y``. A schema may declare it as well.
    epsilon, delta : float
        What the fit may spend. Both must be given.
    adjacency : {"replace-one", "add-remove"}
        Which tables are neighbours.
    unit : {"record", "user"}, optional
        What is protected; a user where ``groups`` are given to ``fit``, otherwise a record.
    bounds : (lower, upper) or dict, optional
        Public bounds of the columns, numbers or one for each, or by name; values are clipped.
    schema : path, dict or Schema, optional
        What is public about the table, in place of ``bounds``; categorical columns need it.
    row_norm : float, optional
        The norm that rows are scaled into; alone or beside ``bounds``.
    public_n : int, optional
        A number of records that is public; "add-remove" needs it.
    budget : Budget, optional
        The budget of the data set, which pays for the fit.
    algorithm : str
        ``"auto"``, or a name of ``reticent list algorithms``.
    settings : dict, optional
        Settings of the algorithm, for example ``{"iterations": 100}``.
    fit_intercept : bool
        Whether there is an intercept.
    random_state : int or RandomState, optional
        A seed for tests. The result is then NOT PRIVATE, and says so.

    Attributes
    ----------
    coef_ : ndarray of shape (n_encoded,)
        The weights, in the units of the columns.
    intercept_ : float
        What is predicted for a record of zeros.
    coef_names_ : list of str
        The encoded columns that the weights are for: a column, or ``column=category``.
    n_iter_ : int
        Iterations made.
    certificate_ : Certificate
        What is guaranteed.
    n_features_in_ : int
        Columns seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    Notes
    -----
    Weights and penalties are those of the encoded columns while fitting: numbers scaled by their
    bounds to -1 … 1. ``coef_`` is in the units of the caller's columns; with ``intercept_`` it
    gives the score of every record within the bounds and the row norm, and others are clipped and
    scaled down first. ``score`` is computed from the table as it is: NOT PRIVATE.

    Examples
    --------
    >>> import numpy as np
    >>> from reticent import PrivateElasticNet
    >>> X = np.random.default_rng(0).uniform(0, 90, size=(1000, 2))
    >>> y = 0.5 * X[:, 0]
    >>> model = PrivateElasticNet(
    ...     epsilon=1.0, delta=1e-6, bounds=(0, 90), target_bounds=(0, 45)
    ... ).fit(X, y)
    >>> model.coef_.shape
    (2,)
    >>> model.certificate_.certified
    True
    """

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        l1_ratio: float = 0.5,
        target_bounds: Any = None,
        epsilon: float | None = None,
        delta: float | None = None,
        adjacency: str = "replace-one",
        unit: str | None = None,
        bounds: Any = None,
        schema: Any = None,
        row_norm: float | None = None,
        public_n: int | None = None,
        budget: Budget | None = None,
        algorithm: str = "auto",
        settings: dict[str, Any] | None = None,
        fit_intercept: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            unit=unit,
            bounds=bounds,
            schema=schema,
            row_norm=row_norm,
            public_n=public_n,
            budget=budget,
            algorithm=algorithm,
            settings=settings,
            fit_intercept=fit_intercept,
            random_state=random_state,
        )
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.target_bounds = target_bounds

    def _loss(self, outputs: int | None) -> str:
        return "squared"

    def _penalty(self) -> str:
        return penalty_word("elasticnet", self.alpha, self.l1_ratio)
