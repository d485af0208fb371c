"""Tables that the tests share, all of them made up."""

import os

import numpy as np
import pytest

# Pictures are drawn without a screen.
os.environ.setdefault("MPLBACKEND", "agg")

BUDGET = {"epsilon": 2.0, "delta": 1e-6}


@pytest.fixture
def patients():
    """Age and pressure of 2,000 invented people, and who is ill."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.uniform(20, 90, 2000), rng.uniform(80, 200, 2000)])
    y = (X[:, 0] + 0.2 * X[:, 1] + rng.normal(0, 8, 2000) > 83).astype(int)
    return X, y


@pytest.fixture
def bounds():
    return ([20, 80], [90, 200])
