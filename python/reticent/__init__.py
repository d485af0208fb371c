"""Train linear models on personal data under differential privacy, with a verifiable certificate.

The estimators follow scikit-learn's conventions and are loaded, with scikit-learn, when they are
first asked for.

Examples
--------
>>> import numpy as np
>>> from reticent import PrivateLogisticRegression
>>> X = np.random.default_rng(0).uniform(0, 90, size=(1000, 2))
>>> y = (X[:, 0] > 45).astype(int)
>>> model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, bounds=(0, 90), classes=[0, 1])
>>> model.fit(X, y).certificate_.epsilon() <= 1.0
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._reticent import Schema
from .errors import (
    BudgetError,
    BudgetExceeded,
    BudgetSpent,
    DataError,
    FitStopped,
    NoiseDominatesWarning,
    NotCertified,
    NotPrivateWarning,
    PrivacyCostWarning,
    SchemaError,
    WeakGuaranteeWarning,
)

if TYPE_CHECKING:
    from .auditing import Audit, audit, audit_all
    from .budget import Budget
    from .calibrating import PrivateCalibrator
    from .certificate import Certificate
    from .counting import ClassCounts, class_counts
    from ._file_tables import Files
    from .evaluation import Estimate, Evaluation, evaluate
    from .files import load
    from .fitting import fit_files
    from .generalized import PrivateFusedLasso, PrivateGeneralizedLasso
    from .huber import PrivateHuberRegressor
    from .lasso import PrivateElasticNet, PrivateLasso
    from .logistic import PrivateLogisticRegression
    from .reproduction import Reproduction, experiments, reproduce
    from .ridge import PrivateRidge
    from .search import PrivateSearchCV
    from .simulation import Simulation, simulate
    from .statistics import ColumnStatistics, histogram, mean, quantile
    from .svc import PrivateLinearSVC
    from .sweeping import Sweep, sweep
    from .transforming import PublicTransform

# Where each name is that is loaded when it is first asked for.
_LATER = {
    "Audit": "auditing",
    "Budget": "budget",
    "Certificate": "certificate",
    "ClassCounts": "counting",
    "ColumnStatistics": "statistics",
    "Estimate": "evaluation",
    "Evaluation": "evaluation",
    "Files": "_file_tables",
    "PrivateCalibrator": "calibrating",
    "PrivateElasticNet": "lasso",
    "PrivateFusedLasso": "generalized",
    "PrivateGeneralizedLasso": "generalized",
    "PrivateHuberRegressor": "huber",
    "PrivateLasso": "lasso",
    "PrivateLinearSVC": "svc",
    "PrivateLogisticRegression": "logistic",
    "PrivateRidge": "ridge",
    "PrivateSearchCV": "search",
    "PublicTransform": "transforming",
    "Reproduction": "reproduction",
    "Simulation": "simulation",
    "Sweep": "sweeping",
    "audit": "auditing",
    "audit_all": "auditing",
    "class_counts": "counting",
    "evaluate": "evaluation",
    "experiments": "reproduction",
    "fit_files": "fitting",
    "histogram": "statistics",
    "load": "files",
    "mean": "statistics",
    "quantile": "statistics",
    "reproduce": "reproduction",
    "simulate": "simulation",
    "sweep": "sweeping",
}

# Modules that are loaded when they are first asked for.
_MODULES = {"accounting", "plot", "ray", "shards"}

__all__ = [
    "Audit",
    "Budget",
    "BudgetError",
    "BudgetExceeded",
    "BudgetSpent",
    "Certificate",
    "ClassCounts",
    "ColumnStatistics",
    "DataError",
    "Estimate",
    "Evaluation",
    "Files",
    "FitStopped",
    "NoiseDominatesWarning",
    "NotCertified",
    "NotPrivateWarning",
    "PrivacyCostWarning",
    "PrivateCalibrator",
    "PrivateElasticNet",
    "PrivateFusedLasso",
    "PrivateGeneralizedLasso",
    "PrivateHuberRegressor",
    "PrivateLasso",
    "PrivateLinearSVC",
    "PrivateLogisticRegression",
    "PrivateRidge",
    "PrivateSearchCV",
    "PublicTransform",
    "Reproduction",
    "Schema",
    "SchemaError",
    "Simulation",
    "Sweep",
    "WeakGuaranteeWarning",
    "audit",
    "audit_all",
    "class_counts",
    "evaluate",
    "experiments",
    "fit_files",
    "histogram",
    "load",
    "mean",
    "quantile",
    "reproduce",
    "simulate",
    "sweep",
]


if TYPE_CHECKING:
    __version__: str


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("reticent")
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _LATER:
        raise AttributeError(f"module 'reticent' has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if error.name != "sklearn":
            raise
        raise ImportError(
            f"reticent.{name} follows scikit-learn, which is not there: pip install scikit-learn"
        ) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
