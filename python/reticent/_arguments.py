"""The arguments that all estimators have in common, for type checkers and searches.

What they are is said where they are kept, in ``_base``. Those of classifiers are in ``_classifier``, those of
regressors in ``_regressor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from .budget import Budget


WEIGHTS = (
    "sample_weight is not offered in a search: nothing is proven and audited for a choice among fits "
    "of weighted records. Fit one estimator with it; public weights by class are class_weight, in the "
    "constructor"
)


def refuse_others(others: dict[str, Any]) -> None:
    """Refuses arguments of ``fit`` that there are not."""
    if "sample_weight" in others:
        raise ValueError(WEIGHTS)
    if others:
        raise TypeError(f"fit() got an unexpected keyword argument {next(iter(others))!r}")


class Arguments(TypedDict, total=False):
    """Of every estimator."""

    epsilon: float | None
    delta: float | None
    adjacency: str
    unit: str | None
    bounds: Any
    schema: Any
    row_norm: float | None
    curves: str | int | None
    public_n: int | None
    budget: Budget | None
    algorithm: str
    settings: dict[str, Any] | None
    fit_intercept: bool
    max_sample_weight: float | None
    trace: bool
    random_state: Any
