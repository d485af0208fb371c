"""Logistic and multinomial regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._classifier import ClassifierArguments, PrivateClassifier
from ._penalties import Named, penalty_of, share_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["PrivateLogisticRegression"]


class PrivateLogisticRegression(PrivateClassifier):
    """Logistic regression of two classes, multinomial of more, with differential privacy.

    Parameters
    ----------
    alpha : float
        Strength of the penalty, relative to the mean loss of a record.
    penalty : {"l2", "l1", "elasticnet", None}
        The penalty on the encoded weights.
    l1_ratio : float
        Share of the l1 penalty in an elastic net, from 0 to 1.
    standard_errors : float, optional
        Share of the budget, above 0 and below 1, for estimates of the population's coefficients
        with their standard errors; for two classes.
    calibrate : float, optional
        Share of the budget, above 0 and below 1, for a slope and a shift of the log-odds that bring
        the probabilities in line with what happens; for two classes. The certificate covers it.

    Examples
    --------
    >>> import numpy as np
    >>> from reticent import PrivateLogisticRegression
    >>> X = np.random.default_rng(0).uniform(0, 90, size=(1000, 2))
    >>> y = np.where(X[:, 0] > 45, "ill", "well")
    >>> model = PrivateLogisticRegression(
    ...     epsilon=1.0, delta=1e-6, bounds=(0, 90), classes=["ill", "well"]
    ... ).fit(X, y)
    >>> model.predict([[80, 10]]).shape
    (1,)
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
    calibration_ : tuple of float
        With ``calibrate``: slope and shift of the log-odds, which ``coef_`` and ``intercept_`` have
        in them.
""",
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        penalty: str | None = "l2",
        l1_ratio: float = 0.5,
        standard_errors: float | None = None,
        calibrate: float | None = None,
        **others: Unpack[ClassifierArguments],
    ) -> None:
        super().__init__(**others)
        self.alpha = alpha
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.standard_errors = standard_errors
        self.calibrate = calibrate

    def _share(self) -> float | None:
        return share_of("standard_errors", self.standard_errors)

    def _calibration(self) -> float | None:
        return share_of("calibrate", self.calibrate)

    def _loss(self, outputs: int | None) -> Named:
        return "logistic" if outputs == 2 else "multinomial", []

    def _penalty(self) -> Named:
        return penalty_of(self.penalty, self.alpha, self.l1_ratio)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, in the order of ``classes_``."""
        columns = self._asked_columns(X)
        _, probabilities = self.model_.predict(columns["x"], names=columns["names"])
        return np.ascontiguousarray(probabilities)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Its logarithm."""
        return np.log(self.predict_proba(X))
