"""The arguments that estimators have in common, for type checkers.

What they are is said where they are kept: in ``_base``, ``_classifier`` and ``_regressor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from .budget import Budget


class Arguments(TypedDict, total=False):
    """Of every estimator."""

    epsilon: float | None
    delta: float | None
    adjacency: str
    unit: str | None
    bounds: Any
    schema: Any
    row_norm: float | None
    public_n: int | None
    budget: Budget | None
    algorithm: str
    settings: dict[str, Any] | None
    fit_intercept: bool
    trace: bool
    random_state: Any


class ClassifierArguments(Arguments, total=False):
    """Of every classifier."""

    classes: Any
    class_weight: Any
    class_prior: Any


class RegressorArguments(Arguments, total=False):
    """Of every regressor."""

    target_bounds: Any
