"""Least squares with a ridge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._penalties import Named, number, share_of
from ._regressor import PrivateRegressor, RegressorArguments

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["PrivateRidge"]


class PrivateRidge(PrivateRegressor):
    """Least squares with a ridge penalty and differential privacy.

    Parameters
    ----------
    alpha : float
        Strength of the penalty, relative to the mean loss of a record.
    standard_errors : float, optional
        Share of the budget, above 0 and below 1, for estimates of the population's coefficients
        with their standard errors.

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

    _SHARED = {
        "attributes": """\
    standard_errors_ : pandas.DataFrame
        With ``standard_errors``: ``estimate``, ``standard_error`` and the 95 % interval from
        ``lower`` to ``upper`` for each column, in its units, the intercept first.
        ``against`` is the reference category; ``encoded`` marks an estimate for the encoded column.
        Empty, with a warning, if the noise hides them. They differ from ``coef_``, which clipping,
        penalty and noise have moved. A dict of arrays without pandas.
""",
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        standard_errors: float | None = None,
        **others: Unpack[RegressorArguments],
    ) -> None:
        super().__init__(**others)
        self.alpha = alpha
        self.standard_errors = standard_errors

    def _share(self) -> float | None:
        return share_of("standard_errors", self.standard_errors)

    def _penalty(self) -> Named:
        return "l2", [number("alpha", self.alpha)]
