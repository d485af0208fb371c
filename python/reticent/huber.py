"""Regression that outliers move little."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._penalties import Named, number
from ._regressor import PrivateRegressor, RegressorArguments

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["PrivateHuberRegressor"]


class PrivateHuberRegressor(PrivateRegressor):
    """Huber regression with a ridge penalty and differential privacy.

    Parameters
    ----------
    alpha : float
        Strength of the penalty, relative to the mean loss of a record.
    threshold : float
        Residual from which on the loss is linear, in units of half the width of ``target_bounds``.

    Examples
    --------
    >>> import numpy as np
    >>> from reticent import PrivateHuberRegressor
    >>> X = np.random.default_rng(0).uniform(0, 90, size=(1000, 2))
    >>> y = 0.5 * X[:, 0]
    >>> model = PrivateHuberRegressor(
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
        threshold: float = 0.1,
        **others: Unpack[RegressorArguments],
    ) -> None:
        super().__init__(**others)
        self.alpha = alpha
        self.threshold = threshold

    def _loss(self, outputs: int | None) -> Named:
        return "huber", [number("threshold", self.threshold)]

    def _penalty(self) -> Named:
        return "l2", [number("alpha", self.alpha)]
