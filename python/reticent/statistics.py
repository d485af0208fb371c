"""Means, histograms and quantiles of columns, as questions that are paid for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from . import _reticent
from ._base import payer_of, seed_of
from ._file_tables import Files, refuse_beside, refuse_named_people
from ._frames import frame
from ._owners import owners
from ._penalties import number
from ._reticent import Schema
from ._schema import _pairs, read_schema
from ._tables import column_names, from_arrow, is_pandas
from ._units import check_stand_in
from ._whole import whole
from .certificate import Certificate
from .errors import warn_beside, warn_of_weakness

if TYPE_CHECKING:
    from .budget import Budget

__all__ = ["ColumnStatistics", "histogram", "mean", "quantile"]

_KNOWN = (
    "what a column may hold must be public, and nothing is read off the data: give `bounds=(lower, "
    "upper)` for numbers, or `schema=`, a schema file, a dict or a Schema, for a data frame"
)


class ColumnStatistics:
    """Figures of columns, with noise.

    Indexing by the name of a column gives its figures as a dict.

    Attributes
    ----------
    kind : {"mean", "histogram", "quantile"}
        What was asked for.
    columns : list of str
        The columns.
    n : float or None
        The number of records, or persons: a public one, but for a mean under "add-remove" without
        ``public_n``, where it has noise. None where no number was used.
    confidence : float
        The confidence of the intervals, which are about the noise alone.
    certificate : Certificate
        What is guaranteed.
    """

    def __init__(self, kind: str, said: dict[str, Any], certificate: Certificate) -> None:
        self.kind = kind
        self._figures = {one["column"]: one for one in said["columns"]}
        self.columns = list(self._figures)
        self.n = said["n"]
        self.confidence = float(said["confidence"])
        self.certificate = certificate

    def __getitem__(self, column: str) -> dict[str, Any]:
        return dict(self._figures[column])

    def table(self) -> Any:
        """The figures as a table, a row for each mean, bin or quantile.

        Returns
        -------
        DataFrame or dict
            A dict of arrays where there is no pandas.
        """
        rows = [(name, row) for name in self.columns for row in self._rows(self._figures[name])]
        keys = [key for key in rows[0][1] if key not in ("column", "bounds", "missing")]
        return frame(
            {"column": [name for name, _ in rows], **{k: [row[k] for _, row in rows] for k in keys}}
        )

    def _rows(self, one: dict[str, Any]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = one.get("bins") or one.get("quantiles") or [one]
        return rows

    def __repr__(self) -> str:
        return f"ColumnStatistics({self.kind!r} of {', '.join(self.columns)})"


def _listed(columns: Any) -> list[str] | None:
    if columns is None or not isinstance(columns, str) and isinstance(columns, Sequence):
        return None if columns is None else [str(name) for name in columns]
    return [str(columns)]


def _asked(data: Any, columns: Any, bounds: Any, schema: Any) -> tuple[Any, ...]:
    """Schema, what is read, its names, and the columns that are asked about."""
    named = _listed(columns)
    if isinstance(data, Files):
        refuse_beside(bounds=bounds)
        if schema is None:
            raise ValueError("files need a schema that names their columns: give schema=…")
    if bounds is not None and schema is not None:
        raise ValueError("bounds and schema say the same thing: give one of them")
    if schema is not None:
        if named is None:
            raise ValueError("say which columns of the schema are asked about, with `columns`")
        x = data._request() if isinstance(data, Files) else from_arrow(data).x
        return read_schema(schema), x, None, named
    if bounds is None:
        raise ValueError(_KNOWN)
    names = column_names(data)
    if names is not None:
        if named is None and isinstance(bounds, Mapping):
            named = [name for name in names if name in bounds]
        named = names if named is None else named
        unknown = [name for name in named if name not in names]
        if unknown:
            raise ValueError(f"the table has no column {', '.join(unknown)}")
        values = (data[named] if is_pandas(data) else data.select(named)).to_numpy()
    else:
        values = np.asarray(data)
        values = values.reshape(-1, 1) if values.ndim == 1 else values
        if values.ndim != 2:
            raise ValueError(f"data must be columns, and has {values.ndim} dimensions")
        own = getattr(data, "name", None)
        usual = [str(own)] if own is not None else [str(i + 1) for i in range(values.shape[1])]
        named = usual if named is None else named
        if len(named) != values.shape[1]:
            raise ValueError(f"{len(named)} names were given for {values.shape[1]} columns")
    x = np.ascontiguousarray(values, dtype=np.float64)
    made = Schema.bounded(_pairs(bounds, len(named), named), range=(0.0, 1.0))
    target = "target"
    while target in named:
        target += "_"
    return made.renamed(named, target), x, named, named


def _ask(
    kind: str,
    data: Any,
    columns: Any,
    groups: Any,
    bounds: Any,
    schema: Any,
    budget: Any,
    random_state: Any,
    public_n: int | None,
    unit: str | None,
    own: dict[str, Any],
    **plain: Any,
) -> ColumnStatistics:
    payer = payer_of(budget, kind, groups)
    if isinstance(data, Files):
        refuse_beside(groups=groups)
        refuse_named_people(payer)
    read, x, names, asked = _asked(data, columns, bounds, schema)
    check_stand_in("groups", groups, read.user)
    question = {
        "kind": kind,
        "schema": read,
        "columns": asked,
        "bins": None,
        "edges": None,
        "at": [0.5],
        "resolution": None,
        "unit": "user" if unit is None and groups is not None else unit,
        "public_n": None if public_n is None else whole("public_n", public_n, 1),
        "seed": seed_of(random_state, kind, 4),
        "epsilon": number("epsilon", plain["epsilon"]),
        "delta": number("delta", plain["delta"]),
        "confidence": number("confidence", plain["confidence"]),
        "adjacency": plain["adjacency"],
        **own,
    }
    said, certificate, remark = _reticent.statistics(
        question, x, names=names, groups=owners(groups), budget=payer
    )
    found = ColumnStatistics(kind, json.loads(said), Certificate(certificate))
    if remark is not None:
        warn_beside(found, remark, RuntimeWarning, stacklevel=3)
    warn_of_weakness(found, certificate, stacklevel=3)
    return found


_PARAMETERS = """data : array, data frame or Files
        The table. With ``bounds`` its columns are numbers; with ``schema`` it is a data frame or files.
    columns : str or list of str, optional
        The columns to ask about, in one answer; all of them by default, where ``bounds`` are given.
    groups : array, optional
        Whose each record is; a person is then protected with all their records, and counts once.
    bounds : tuple or dict, optional
        Public bounds ``(lower, upper)`` of the numbers, or a dict of them by column. A value
        outside counts as the nearer bound.
    schema : path, dict or Schema, optional
        The public description of the table, in place of ``bounds``. A missing value counts as the
        schema says."""

_TERMS = """epsilon, delta : float
        What may be spent.
    budget : Budget, optional
        The budget of the data set, which pays.
    adjacency : {"replace-one", "add-remove"}
        Which tables are neighbours.
    unit : {"record", "user"}, optional
        What is protected; a user if there are ``groups`` or a user column, otherwise a record.
    public_n : int, optional
        A public number of records (or persons), for "add-remove".
    confidence : float
        The confidence of the intervals.
    random_state : int or RandomState, optional
        A seed for tests. The result is then NOT PRIVATE, and says so."""


_Function = TypeVar("_Function", bound=Callable[..., Any])


def _documented(function: _Function) -> _Function:
    text = function.__doc__ or ""
    function.__doc__ = text.replace("{parameters}", _PARAMETERS).replace("{terms}", _TERMS)
    return function


@_documented
def mean(
    data: Any,
    columns: Any = None,
    groups: Any = None,
    *,
    bounds: Any = None,
    schema: Any = None,
    epsilon: float,
    delta: float,
    budget: Budget | None = None,
    adjacency: str = "replace-one",
    unit: str | None = None,
    public_n: int | None = None,
    confidence: float = 0.95,
    random_state: Any = None,
) -> ColumnStatistics:
    """Give the mean of columns, within a budget.

    Under "add-remove" without ``public_n`` the records are counted in the same answer.

    Parameters
    ----------
    {parameters}
    {terms}

    Returns
    -------
    ColumnStatistics
        For each column ``value``, ``interval`` and ``deviation``, the standard deviation of the
        noise, in the units of the column.

    Examples
    --------
    >>> import numpy as np
    >>> import reticent
    >>> ages = np.random.default_rng(0).integers(20, 60, size=4000)
    >>> found = reticent.mean(ages, "age", bounds=(0, 100), epsilon=0.5, delta=1e-6)
    >>> 35 < found["age"]["value"] < 45
    True
    """
    return _ask(
        "mean", data, columns, groups, bounds, schema, budget, random_state, public_n, unit, {},
        epsilon=epsilon, delta=delta, confidence=confidence, adjacency=adjacency,
    )


@_documented
def histogram(
    data: Any,
    columns: Any = None,
    groups: Any = None,
    *,
    bounds: Any = None,
    schema: Any = None,
    bins: int | None = None,
    edges: Any = None,
    epsilon: float,
    delta: float,
    budget: Budget | None = None,
    adjacency: str = "replace-one",
    unit: str | None = None,
    public_n: int | None = None,
    confidence: float = 0.95,
    random_state: Any = None,
) -> ColumnStatistics:
    """Count the records in each category, or between public edges, within a budget.

    Parameters
    ----------
    {parameters}
    bins : int, optional
        Bins of equal width between the bounds, for columns of numbers; 10 by default.
    edges : array, optional
        Where the bins of a column of numbers part; the first begins at the lower bound, and the
        last ends at the upper. They must be public.
    {terms}

    Returns
    -------
    ColumnStatistics
        For each column ``bins``, each with ``category`` or ``range``, ``count`` and ``interval``;
        a count has noise, so that it may be negative. Behind the categories is a bin of those that
        have none.

    Examples
    --------
    >>> import numpy as np
    >>> import reticent
    >>> ages = np.random.default_rng(0).integers(20, 60, size=4000)
    >>> found = reticent.histogram(
    ...     ages, "age", bounds=(0, 100), edges=[18, 40], epsilon=0.5, delta=1e-6
    ... )
    >>> young, middle, old = found["age"]["bins"]
    >>> abs(young["count"]) < 200 < middle["count"]
    True
    """
    own = {
        "bins": None if bins is None else whole("bins", bins, 1),
        "edges": None if edges is None else [float(edge) for edge in edges],
    }
    return _ask(
        "histogram", data, columns, groups, bounds, schema, budget, random_state, public_n, unit,
        own, epsilon=epsilon, delta=delta, confidence=confidence, adjacency=adjacency,
    )


@_documented
def quantile(
    data: Any,
    columns: Any = None,
    groups: Any = None,
    *,
    at: Any = 0.5,
    resolution: float | None = None,
    bounds: Any = None,
    schema: Any = None,
    epsilon: float,
    delta: float,
    budget: Budget | None = None,
    adjacency: str = "replace-one",
    unit: str | None = None,
    public_n: int | None = None,
    confidence: float = 0.95,
    random_state: Any = None,
) -> ColumnStatistics:
    """Give quantiles of columns of numbers, within a budget. "add-remove" needs ``public_n``.

    Parameters
    ----------
    {parameters}
    at : float or list of float
        Which quantiles, from 0 to 1; 0.5 is the median.
    resolution : float, optional
        How far possible answers are apart; by default a 1023rd of the range.
    {terms}

    Returns
    -------
    ColumnStatistics
        For each column ``quantiles``, each with ``at``, ``value`` and ``fractions``: the value is a
        quantile of this table at a fraction between these two.

    Examples
    --------
    >>> import numpy as np
    >>> import reticent
    >>> ages = np.random.default_rng(0).integers(20, 60, size=4000)
    >>> found = reticent.quantile(
    ...     ages, "age", bounds=(0, 100), at=[0.25, 0.5], resolution=1, epsilon=1.0, delta=1e-6
    ... )
    >>> [20 < one["value"] < 60 for one in found["age"]["quantiles"]]
    [True, True]
    """
    fractions = [at] if np.ndim(at) == 0 else list(at)
    own = {
        "at": [number("at", one) for one in fractions],
        "resolution": None if resolution is None else number("resolution", resolution),
    }
    return _ask(
        "quantile", data, columns, groups, bounds, schema, budget, random_state, public_n, unit,
        own, epsilon=epsilon, delta=delta, confidence=confidence, adjacency=adjacency,
    )
