"""Columns changed by public constants, before a private estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._validation import validated
from .errors import DataError

# Each with the least value that it is defined for.
_FUNCTIONS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "abs": (np.abs, -np.inf),
    "log1p": (np.log1p, np.nextafter(-1.0, 0.0)),
    "sqrt": (np.sqrt, 0.0),
    "square": (np.square, -np.inf),
    "tanh": (np.tanh, -np.inf),
}


class PublicTransform(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Select, clip, transform, shift and scale columns by public constants.

    A pipeline step that learns nothing: ``fit`` reads no value, and the result for a record depends
    on that record and the constants only. It takes no user-defined function, which could read other
    records. A value ``x`` becomes
    ``(function(clip(x, lower, upper)) - shift) / scale``.

    Parameters
    ----------
    columns : list of int or str, optional
        Columns to keep, in this order, by index or name; default all.
    lower, upper : float, array or dict, optional
        Public bounds that values are clipped to: one for all kept columns, one per column, or by
        column; default none.
    function : str, list or dict, optional
        ``"log1p"``, ``"sqrt"``, ``"square"``, ``"abs"`` or ``"tanh"``, in the same forms. ``"log1p"``
        needs a ``lower`` above -1 and ``"sqrt"`` one of at least 0.
    shift, scale : float, array or dict, optional
        Subtracted, and then divided by; default 0 and 1.

    Attributes
    ----------
    n_features_in_ : int
        Columns seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from reticent import PublicTransform
    >>> steps = PublicTransform(lower=0, upper=[90, 1e6], function={1: "log1p"}, scale=[90, 14])
    >>> steps.fit_transform(np.array([[45.0, 0.0], [120.0, 1e9]])).round(3).tolist()
    [[0.5, 0.0], [1.0, 0.987]]
    """

    def __init__(
        self,
        *,
        columns: Any = None,
        lower: Any = None,
        upper: Any = None,
        function: Any = None,
        shift: Any = None,
        scale: Any = None,
    ) -> None:
        self.columns = columns
        self.lower = lower
        self.upper = upper
        self.function = function
        self.shift = shift
        self.scale = scale

    def fit(self, X: Any, y: Any = None) -> PublicTransform:
        """Check the constants. Only the number of columns and their names are read from the table."""
        self._matrix(X, reset=True)
        self._constants()
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Transform each record by the constants."""
        check_is_fitted(self, "n_features_in_")
        matrix = self._matrix(X, reset=False)
        places, lower, upper, functions, shift, scale = self._constants()
        changed = np.clip(matrix[:, places], lower, upper)
        for place, name in enumerate(functions):
            if name is not None:
                changed[:, place] = _FUNCTIONS[name][0](changed[:, place])
        return np.asarray((changed - shift) / scale)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the kept columns.

        Parameters
        ----------
        input_features : list of str, optional
            The names of all columns; those seen in ``fit`` by default.

        Returns
        -------
        ndarray
            The names.
        """
        check_is_fitted(self, "n_features_in_")
        names = self._names()
        if input_features is not None:
            given = np.asarray(input_features, dtype=object)
            if len(given) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(given)}"
                )
            if hasattr(self, "feature_names_in_") and list(given) != names:
                raise ValueError("input_features is not equal to feature_names_in_")
            names = list(given)
        return np.asarray([names[place] for place in self._places()], dtype=object)

    def _matrix(self, X: Any, reset: bool) -> NDArray[np.float64]:
        matrix = validated(self, X, reset)
        if not isinstance(matrix, np.ndarray):
            raise DataError("Sparse data was passed, and dense data is required: X.toarray()")
        return matrix

    def _names(self) -> list[Any]:
        named = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if named is None else list(named)

    def _places(self) -> list[int]:
        """Where the columns are that are kept."""
        if self.columns is None:
            return list(range(self.n_features_in_))
        if isinstance(self.columns, str) or callable(self.columns):
            raise ValueError("columns must be a list of places or names")
        return [self._place(column) for column in self.columns]

    def _place(self, column: Any) -> int:
        if isinstance(column, str):
            names = list(getattr(self, "feature_names_in_", []))
            if column not in names:
                raise ValueError(f"X has no column {column!r}")
            return names.index(column)
        if isinstance(column, bool) or not isinstance(column, (int, np.integer)):
            raise ValueError(f"columns has {column!r}: a place or a name is needed")
        if not 0 <= column < self.n_features_in_:
            raise ValueError(f"X has {self.n_features_in_} columns, and none at place {column}")
        return int(column)

    def _each(self, name: str, usual: Any, places: list[int]) -> list[Any]:
        """A constant for each column that is kept."""
        given = getattr(self, name)
        if given is None:
            return [usual] * len(places)
        if callable(given):
            raise ValueError(f"{name} is a function, which could read other records: give constants")
        if isinstance(given, Mapping):
            by_place = {self._place(column): value for column, value in given.items()}
            strange = [place for place in by_place if place not in places]
            if strange:
                raise ValueError(f"{name} has a column that is not kept, at place {strange[0]}")
            return [by_place.get(place, usual) for place in places]
        if isinstance(given, str) or np.ndim(given) == 0:
            return [given] * len(places)
        if len(given) != len(places):
            raise ValueError(f"{name} has {len(given)} constants for {len(places)} columns")
        return list(given)

    def _numbers(self, name: str, usual: float, places: list[int]) -> NDArray[np.float64]:
        each = self._each(name, usual, places)
        try:
            numbers = np.asarray(each, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} has something that is no number") from None
        open_end = np.isinf(numbers) if name in ("lower", "upper") else np.zeros(len(numbers), bool)
        if not np.all(np.isfinite(numbers) | open_end):
            raise ValueError(f"{name} has a number that is not finite")
        return numbers

    def _constants(self) -> tuple[Any, ...]:
        """Places, bounds, functions, shifts and scales, checked."""
        places = self._places()
        lower = self._numbers("lower", -np.inf, places)
        upper = self._numbers("upper", np.inf, places)
        if np.any(lower > upper):
            raise ValueError("lower is above upper")
        functions = self._each("function", None, places)
        for name, least in zip(functions, lower):
            if name is None:
                continue
            if not isinstance(name, str) or name not in _FUNCTIONS:
                raise ValueError(f"function={name!r}: give one of {', '.join(_FUNCTIONS)}")
            if least < _FUNCTIONS[name][1]:
                raise ValueError(
                    f"function={name!r} is not defined for all numbers: give a `lower` of at least "
                    f"{'0' if name == 'sqrt' else '-1, and above it'}"
                )
        scale = self._numbers("scale", 1.0, places)
        if np.any(scale == 0.0):
            raise ValueError("scale is 0, which nothing can be divided by")
        return places, lower, upper, functions, self._numbers("shift", 0.0, places), scale
