"""Least squares with a ridge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._penalties import number
from ._regressor import PrivateRegressor

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._arguments import RegressorArguments

__all__ = ["PrivateRidge"]


class PrivateRidge(PrivateRegressor):
    """Least squares with a ridge penalty and differential privacy.

    Parameters
    ----------
    alpha : float
        The strength of the penalty, against the mean loss of a record.

    Examples
    --------
    >>> import numpy as np
    >>> from reticent import PrivateRidge
    >>> X = np.random.default_rng(0).uniform(0, 90, size=(1000, 2))
    >>> y = 0.5 * X[:, 0]
    >>> model = PrivateRidge(
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

    def _penalty(self) -> str:
        return f"l2:{number('alpha', self.alpha)}"
