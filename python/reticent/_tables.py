"""From what users have (NumPy, SciPy, pandas, polars, Arrow) to what the library reads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .errors import DataError


class Columns(NamedTuple):
    """A table as the library takes it."""

    x: Any
    names: list[str] | None
    width: int
    sparse: bool


def speaks_arrow(X: Any) -> bool:
    """Whether it is a table that is not NumPy's and not pandas', and can be had through Arrow."""
    speaks = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    return speaks and not is_pandas(X)


def is_pandas(X: Any) -> bool:
    """Whether it is a data frame of pandas; without loading pandas."""
    return type(X).__module__.split(".")[0] == "pandas"


def column_names(X: Any) -> list[str] | None:
    """The names of its columns, if it has any and they are text."""
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(X, "column_names", None)
    if names is None or callable(names):
        return None
    names = list(names)
    # pyarrow's `columns` are the columns themselves.
    if not all(isinstance(name, str) for name in names):
        names = list(getattr(X, "column_names", [None]))
    return names if all(isinstance(name, str) for name in names) else None


def has_missing(X: Any) -> bool:
    """Whether it is a data frame of pandas with a missing value; to pandas NaN is one."""
    return is_pandas(X) and getattr(X, "ndim", 0) == 2 and bool(X.isna().to_numpy().any())


def _refuse_nan(X: Any) -> None:
    """Polars tells NaN from null, and null is its missing value."""
    if type(X).__module__.split(".")[0] != "polars" or not hasattr(X, "get_columns"):
        return
    if any(one.dtype.is_float() and bool(one.is_nan().any()) for one in X.get_columns()):
        raise DataError(
            "Input X contains NaN. In polars a null is a missing value: give X.fill_nan(None) if "
            "NaN stands for one"
        )


def from_arrow(X: Any) -> Columns:
    """A table through Arrow's C interface."""
    if not (is_pandas(X) or speaks_arrow(X)):
        raise DataError(
            "the schema has columns that are not numbers: give X as a data frame (pandas, polars) "
            "or an Arrow table"
        )
    if is_pandas(X) and column_names(X) is None and X.columns.is_unique:
        # As the columns of a matrix are called.
        X = X.set_axis([str(place + 1) for place in range(X.shape[1])], axis=1)
    _refuse_nan(X)
    names = None if is_pandas(X) else column_names(X)
    if names is None or not hasattr(X, "__arrow_c_stream__"):
        X = _arrow_table(X)
        names = column_names(X)
    if names is None:
        raise DataError("the columns of an Arrow table need names")
    return Columns(X, None, len(names), False)


def _arrow_table(X: Any) -> Any:
    """Pandas, or something that speaks Arrow and does not say what its columns are called."""
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise ImportError(
            f"a {type(X).__name__} goes through Arrow where its columns are not all numbers, or "
            "have names that only Arrow knows: pip install pyarrow"
        ) from None
    try:
        # The index is no column.
        pandas = is_pandas(X)
        return pyarrow.Table.from_pandas(X, preserve_index=False) if pandas else pyarrow.table(X)
    except (pyarrow.ArrowException, TypeError, ValueError):
        # What Arrow says shows the value that it stumbled over.
        raise DataError(
            "X cannot be read as an Arrow table: make every column all numbers, all text or "
            "categories, and give all of them names"
        ) from None


def from_matrix(X: Any, names: list[str] | None) -> Columns:
    """A dense or sparse matrix that scikit-learn has looked at; neither is copied."""
    if hasattr(X, "indptr"):
        # A column twice in a row is one number; the caller's matrix stays as it is.
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        parts = (X.indptr, X.indices, X.data, X.shape[1])
        return Columns(parts, names, X.shape[1], True)
    if not (X.flags.aligned and (X.flags.c_contiguous or X.flags.f_contiguous)):
        X = np.require(X, requirements=["A", "C"])
    return Columns(X, names, X.shape[1], False)
