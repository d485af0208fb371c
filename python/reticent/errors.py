"""What can go wrong, and what is worth a warning."""

from __future__ import annotations

import warnings
from typing import Any

__all__ = [
    "BudgetError",
    "BudgetExceeded",
    "BudgetSpent",
    "DataError",
    "FitStopped",
    "NoiseDominatesWarning",
    "NotCertified",
    "NotPrivateWarning",
    "PrivacyCostWarning",
    "SchemaError",
    "WeakGuaranteeWarning",
]


class SchemaError(ValueError):
    """The schema is invalid or incomplete."""


class DataError(ValueError):
    """The table cannot be read under its schema. The message shows no value of the table."""


class BudgetError(RuntimeError):
    """The budget cannot be used as requested."""


class BudgetExceeded(BudgetError):
    """The job exceeds what is left. No query was made."""


class NotCertified(RuntimeError):
    """A guarantee is required, and there is none."""


class _Spent:
    """What a run cost that has no model to show."""

    args: tuple[str, float, float]

    def __init__(self, message: str, epsilon: float = 0.0, delta: float = 0.0) -> None:
        # All of it, so that it arrives whole from another process.
        super().__init__(message, epsilon, delta)  # type: ignore[call-arg]

    def __str__(self) -> str:
        return self.args[0]

    @property
    def epsilon(self) -> float:
        """What is to be counted as spent; 0 if nothing was asked."""
        return self.args[1]

    @property
    def delta(self) -> float:
        """The same."""
        return self.args[2]


class BudgetSpent(_Spent, RuntimeError):
    """A run ended without a model after its first query."""


class FitStopped(_Spent, KeyboardInterrupt):
    """Ctrl-C during a fit. ``epsilon`` and ``delta`` are the amount to count as spent."""


class NotPrivateWarning(UserWarning):
    """The result has no guarantee, for example because its noise is seeded."""


class PrivacyCostWarning(UserWarning):
    """The operation will spend the budget several times."""


class NoiseDominatesWarning(UserWarning):
    """Little is to be expected of the model: the noise is large for its records and columns."""


class WeakGuaranteeWarning(UserWarning):
    """The guarantee holds and protects little: δ is not below 1/n, or ε is large."""


def warn_of_weakness(result: Any, certificate: Any, stacklevel: int) -> None:
    """Warns of a guarantee that is worth little, as the command line does."""
    for remark in certificate.weaknesses:
        warn_beside(result, remark, WeakGuaranteeWarning, stacklevel + 1)


def warn_beside(result: Any, message: str, category: type[Warning], stacklevel: int) -> None:
    """Warns of what is there already. Where warnings are errors it is raised, and has the result,
    which may have been paid for, as ``result``."""
    warning = category(message)
    warning.result = result  # type: ignore[attr-defined]
    warnings.warn(warning, stacklevel=stacklevel + 1)
