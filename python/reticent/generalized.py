"""Lasso along a matrix or a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._graphs import edges, entries
from ._penalties import Named, number
from ._regressor import PrivateRegressor, RegressorArguments

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["PrivateFusedLasso", "PrivateGeneralizedLasso"]


class PrivateGeneralizedLasso(PrivateRegressor):
    """Least squares with the penalty ``alpha * |A @ weights|``, and differential privacy.

    Parameters
    ----------
    A : matrix of shape (n_rows, n_encoded)
        Matrix of the penalty: ``alpha`` times the l1 norm of ``A @ weights``, on the encoded
        columns.
    alpha : float
        Strength of the penalty, relative to the mean loss of a record.

    Examples
    --------
    >>> import numpy as np
    >>> from reticent import PrivateGeneralizedLasso
    >>> X = np.random.default_rng(0).uniform(0, 90, size=(1000, 3))
    >>> y = 0.5 * X[:, 0]
    >>> model = PrivateGeneralizedLasso(
    ...     A=[[1, -1, 0], [0, 1, -1]],
    ...     epsilon=1.0, delta=1e-6, bounds=(0, 90), target_bounds=(0, 45),
    ... ).fit(X, y)
    >>> model.coef_.shape
    (3,)
    >>> model.certificate_.certified
    True
    """

    def __init__(
        self,
        A: Any = None,
        alpha: float = 1e-3,
        **others: Unpack[RegressorArguments],
    ) -> None:
        super().__init__(**others)
        self.A = A
        self.alpha = alpha

    def _penalty(self) -> Named:
        return "l1", [number("alpha", self.alpha)]

    def _constraint(self, names: list[str]) -> Any:
        if self.A is None:
            raise ValueError("A is missing: the matrix whose product with the weights is penalised")
        return entries(self.A, len(names))


class PrivateFusedLasso(PrivateRegressor):
    """Least squares with weights fused along a graph, and differential privacy.

    Parameters
    ----------
    graph : "path", "private", list of edges or matrix
        Graph of the encoded columns along which weights are fused: consecutive columns ("path"),
        pairs of names or indices with an optional weight, an adjacency matrix, or "private" for a
        graph that is learned within the budget.
    alpha : float
        Strength of the penalty, relative to the mean loss of a record.

    Examples
    --------
    >>> import numpy as np
    >>> from reticent import PrivateFusedLasso
    >>> X = np.random.default_rng(0).uniform(0, 90, size=(1000, 3))
    >>> y = 0.5 * X[:, 0]
    >>> model = PrivateFusedLasso(
    ...     graph="path", epsilon=1.0, delta=1e-6, bounds=(0, 90), target_bounds=(0, 45)
    ... ).fit(X, y)
    >>> model.coef_.shape
    (3,)
    >>> model.certificate_.certified
    True
    """

    def __init__(
        self,
        graph: Any = "path",
        alpha: float = 1e-3,
        **others: Unpack[RegressorArguments],
    ) -> None:
        super().__init__(**others)
        self.graph = graph
        self.alpha = alpha

    def _penalty(self) -> Named:
        return "l1", [number("alpha", self.alpha)]

    def _constraint(self, names: list[str]) -> Any:
        return edges(self.graph, names)
