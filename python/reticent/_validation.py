"""scikit-learn's checks of tables, without the values that its messages show.

Arrays that need no conversion are looked at here: of a small fit its checks are a good part.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, column_or_1d

from .errors import DataError

try:
    from sklearn.utils.validation import validate_data

    def _remember(estimator: Any, X: Any, reset: bool) -> None:
        validate_data(estimator, X, reset=reset, skip_check_array=True)

except ImportError:  # scikit-learn 1.5

    def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        return estimator._validate_data(X, **options)

    def _remember(estimator: Any, X: Any, reset: bool) -> None:
        estimator._check_feature_names(X, reset=reset)
        estimator._check_n_features(X, reset=reset)


_FINITE = (
    "ensure_all_finite"
    if "ensure_all_finite" in inspect.signature(check_array).parameters
    else "force_all_finite"  # scikit-learn 1.5
)

# How messages of scikit-learn begin that show no value of a table.
_SAFE = (
    "A sparse matrix was passed",
    "Cannot center sparse",
    "Found array with",
    "Sparse data was passed",
    "The feature names should match",
    "X has ",
    "y should be a 1d array",
)

TEXT = (
    "X has a column that is not numbers. Text and categories need a `schema` that declares their "
    "categories, and X as a data frame (pandas, polars) or an Arrow table"
)

MISSING = (
    "An array has no missing values: fill them in, leave those records out, or give a data frame "
    "(pandas, or polars with nulls), where a missing value is encoded as the schema says, and with "
    "bounds as their middle"
)


def validated(estimator: Any, X: Any, reset: bool) -> Any:
    """X as a matrix of float64 or sparse rows, with scikit-learn's attributes of it."""
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise DataError("X is a query that was not made yet: give X.collect(), its data frame")
    _not_masked(X, "X")
    if _is_plain(X):
        _remember(estimator, X, reset)
        return X
    names = getattr(X, "columns", None)
    if names is not None and not callable(names) and len(set(names)) != len(names):
        raise DataError("X has two columns of the same name")
    try:
        return validate_data(
            estimator,
            X,
            accept_sparse="csr",
            dtype=np.float64,
            reset=reset,
            accept_large_sparse=True,
        )
    except ValueError as error:
        raise _silent(error, "X", TEXT) from None
    except TypeError as error:
        # Days and numbers have no type in common. What else scikit-learn says shows no value.
        if type(error).__name__ != "DTypePromotionError":
            raise
        raise DataError(TEXT) from None


def _not_masked(given: Any, name: str) -> None:
    """What is behind a mask would be read."""
    if np.ma.is_masked(given):
        raise DataError(f"{name} has masked values: fill them in, or leave those records out")


def _is_plain(X: Any) -> bool:
    """Whether it is a matrix that is read where it is. A sum is finite where all numbers are."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.size > 0
        and bool(np.isfinite(_sum(X)))
    )


def _sum(X: NDArray[np.float64]) -> Any:
    with np.errstate(all="ignore"):
        return X.sum()


def one_column(y: Any) -> NDArray[Any]:
    """y as one column."""
    if type(y) is np.ndarray and y.ndim == 1 and y.size > 0 and y.dtype.kind in "biufU":
        return y
    _not_masked(y, "y")
    try:
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y", **{_FINITE: False})
        return np.asarray(column_or_1d(y, warn=True))
    except ValueError as error:
        raise _silent(error, "y", "y cannot be read as one column") from None


def numbers_of(y: NDArray[Any]) -> NDArray[np.float64]:
    """y as numbers."""
    try:
        return np.ascontiguousarray(y, dtype=np.float64)
    except ValueError:
        raise DataError("y has something that is no number, and a number is needed") from None


def _silent(error: ValueError, name: str, otherwise: str) -> ValueError:
    """What scikit-learn says, or the same without the values that it shows."""
    said = str(error)
    if said.startswith(_SAFE):
        return error
    if said.startswith(f"Input {name} contains NaN"):
        return DataError(f"Input {name} contains NaN. {MISSING}")
    if said.startswith(f"Input {name} contains"):
        return DataError(f"Input {name} contains infinity, or a number too large for float64")
    if said.startswith("Complex data not supported"):
        return DataError(f"Complex data not supported: {name} has complex numbers")
    if said.startswith("Expected 2D array, got"):
        got = said.removeprefix("Expected 2D array, got").split(" instead")[0].strip()
        return DataError(
            f"Expected 2D array, got {got} instead. Reshape your data: {name}.reshape(-1, 1) if it "
            f"is one column, {name}.reshape(1, -1) if it is one record"
        )
    return DataError(otherwise)
