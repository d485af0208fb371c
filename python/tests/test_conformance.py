"""scikit-learn's own checks, with what is expected to fail and why."""

import warnings

import pytest
import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks

from reticent import (
    PrivateElasticNet,
    PrivateFusedLasso,
    PrivateHuberRegressor,
    PrivateLasso,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
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
]

# Check → why it fails.
EXPECTED: dict[str, str] = {}


def expected(estimator):
    return EXPECTED


NEW = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 6)


@parametrize_with_checks(
    ESTIMATORS, **({"expected_failed_checks": expected} if NEW else {})
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks(estimator, check):
    check(estimator)
