"""Least squares with sparse weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._penalties import Named, number, penalty_of
from ._regressor import PrivateRegressor, RegressorArguments

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["PrivateElasticNet", "PrivateLasso"]


class PrivateLasso(PrivateRegressor):
    """Least squares with an l1 penalty and differential privacy.

    Parameters
    ----------
    alpha : float
        Strength of the penalty, relative to the mean loss of a record.

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
        **others: Unpack[RegressorArguments],
    ) -> None:
        super().__init__(**others)
        self.alpha = alpha

    def _penalty(self) -> Named:
        return "l1", [number("alpha", self.alpha)]


class PrivateElasticNet(PrivateRegressor):
    """Least squares with an l1 and a ridge penalty, and differential privacy.

    Parameters
    ----------
    alpha : float
        Strength of the penalty, relative to the mean loss of a record.
    l1_ratio : float
        Share of the l1 penalty in an elastic net, from 0 to 1.

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
        **others: Unpack[RegressorArguments],
    ) -> None:
        super().__init__(**others)
        self.alpha = alpha
        self.l1_ratio = l1_ratio

    def _penalty(self) -> Named:
        return penalty_of("elasticnet", self.alpha, self.l1_ratio)
