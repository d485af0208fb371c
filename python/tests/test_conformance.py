"""scikit-learn's own checks. None is expected to fail.

``PrivateGeneralizedLasso`` is not among the estimators: its matrix has a width, and the checks fit
tables of many widths. ``PrivateFusedLasso`` differs from it by the matrix alone.
"""

import warnings

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from reticent import (
    PrivateElasticNet,
    PrivateFusedLasso,
    PrivateHuberRegressor,
    PrivateLasso,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
    PublicTransform,
)

warnings.simplefilter("ignore")

# Tables of the checks are small; their bounds are wide, and so is the budget.
COMMON = {"epsilon": 200.0, "delta": 1e-3, "bounds": (-4, 4), "settings": {"iterations": 100}}
CLASSES = {"classes": "public"}
NUMBERS = {"target_bounds": (-3, 3)}

ESTIMATORS = [
    PrivateLogisticRegression(**COMMON, **CLASSES),
    PrivateLinearSVC(**COMMON, **CLASSES),
    PrivateRidge(**COMMON, **NUMBERS),
    PrivateLasso(**COMMON, **NUMBERS),
    PrivateElasticNet(**COMMON, **NUMBERS),
    PrivateHuberRegressor(**COMMON, **NUMBERS),
    PrivateFusedLasso(**COMMON, **NUMBERS),
    PublicTransform(lower=-4, upper=4, function="tanh", shift=0.5, scale=2.0),
]


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks(estimator, check):
    check(estimator)
