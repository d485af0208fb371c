"""Many fits over a grid of settings, each several times, and what they come to."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from . import _reticent
from ._base import PrivateEstimator
from ._frames import frame
from ._owners import owners
from ._units import check_stand_in
from ._whole import whole
from .errors import BudgetExceeded, PrivacyCostWarning

__all__ = ["Sweep", "sweep"]


class Sweep:
    """The runs of a sweep.

    Attributes
    ----------
    runs : pandas.DataFrame
        One row per run: the varied settings, the number of the repetition, the certified ε, the
        iterations and, on public data, the score. A dict of arrays without pandas.
    varied : list of str
        The varied settings.
    models : list of estimators
        The fitted models of a paid sweep, in the order of the rows; empty on public data.
    """

    def __init__(self, varied: list[str], rows: list[dict[str, Any]], models: list[Any]) -> None:
        names = list(rows[0]) if rows else varied
        self.runs = frame({name: [row[name] for row in rows] for name in names})
        self.varied = varied
        self.models = models
        self._rows = rows

    def summary(self, confidence: float = 0.95) -> Any:
        """Mean score of each point of the grid, with a Student t interval.

        Parameters
        ----------
        confidence : float
            Confidence of the intervals. They are about the noise of the fits alone.

        Returns
        -------
        pandas.DataFrame
            The settings that were varied, ``runs``, ``mean``, ``lower`` and ``upper``; a dict of
            arrays without pandas.
        """
        if not self._rows or "score" not in self._rows[0]:
            raise ValueError("this sweep has no scores: give test=(X, y) of a public table")
        points: dict[Any, list[float]] = {}
        for row in self._rows:
            points.setdefault(tuple(row[name] for name in self.varied), []).append(row["score"])
        found: dict[str, list[Any]] = {name: [] for name in self.varied}
        found |= {"runs": [], "mean": [], "lower": [], "upper": []}
        for point, scores in points.items():
            mean, half = _mean(np.asarray(scores), confidence)
            values = (*point, len(scores), mean, mean - half, mean + half)
            for name, value in zip(found, values):
                found[name].append(value)
        return frame(found)

    def __repr__(self) -> str:
        return f"Sweep({len(self._rows)} runs over {', '.join(self.varied)})"


def sweep(
    estimator: PrivateEstimator,
    X: Any,
    y: Any,
    param_grid: Any,
    *,
    groups: Any = None,
    test: tuple[Any, Any] | None = None,
    repeats: int = 5,
    public: bool = False,
) -> Sweep:
    """Fit every point of a grid several times, each with its own noise.

    For experiments on public or made-up tables: the quality of a model at each ε. On a private
    table every run is a release, and pays; :class:`reticent.PrivateSearchCV` chooses among settings
    within the budget of one fit.

    Parameters
    ----------
    estimator : a private estimator
        It is left as it is.
    X, y : data frame or array, array
        The table.
    param_grid : dict or list of dict
        Lists of settings, as for ``GridSearchCV``: the privacy arguments may be among them.
    groups : array, optional
        User id of each record; a person is then protected with all their records.
    test : (X, y), optional
        Public table that every model is scored on.
    repeats : int
        Number of runs of every point.
    public : bool
        Whether the tables are public. Otherwise the estimator needs a ``budget``, which pays for
        every run; a sweep that exceeds it ends with a warning, and keeps the finished runs.

    Returns
    -------
    Sweep
        One row per run, and their means.

    Raises
    ------
    Exception
        What a run raises; an invalid point of the grid, or one that no budget accepts, is refused
        before the first. Whatever ends a sweep early, including Ctrl-C and a warning raised as an
        error, has the finished runs as ``done``, a ``Sweep``.

    Examples
    --------
    >>> import numpy as np
    >>> import reticent
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(3000, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> model = reticent.PrivateLogisticRegression(delta=1e-6, bounds=(-1, 1), classes=[0, 1])
    >>> found = reticent.sweep(
    ...     model, X[:2000], y[:2000], {"epsilon": [0.1, 1.0]},
    ...     test=(X[2000:], y[2000:]), repeats=3, public=True,
    ... )
    >>> found
    Sweep(6 runs over epsilon)
    >>> len(found.summary()["mean"])
    2
    """
    return swept(
        estimator, (X, y, groups), param_grid, None, test=test, repeats=repeats, public=public
    )


def fitted(model: PrivateEstimator, table: tuple[Any, ...]) -> PrivateEstimator:
    """The model, fitted where this is called."""
    return model.fit(*table)


def swept(
    estimator: PrivateEstimator,
    data: tuple[Any, Any, Any],
    param_grid: Any,
    carry: Callable[[list[PrivateEstimator]], Iterable[PrivateEstimator | BaseException]] | None,
    *,
    test: tuple[Any, Any] | None,
    repeats: int,
    public: bool,
) -> Sweep:
    """A sweep whose models are fitted one behind the other here, or by whom ``carry`` hands them to.

    It gives them back in their order; in place of one that failed, why.
    """
    X, y, groups = data
    if not isinstance(estimator, PrivateEstimator):
        raise TypeError(f"estimator is a {type(estimator).__name__}: a private estimator is needed")
    points = list(ParameterGrid(param_grid))
    if any("budget" in point for point in points):
        raise ValueError("param_grid has budget: one pays for all runs, and the estimator has it")
    repeats = whole("repeats", repeats, 1)
    _payable(estimator, len(points) * repeats, test is not None, public)
    # What cannot be is found out before anything is paid.
    settings = [clone(estimator).set_params(**point) for point in points]
    _check(settings, X, y, groups, public)
    # The first table imports pandas, which may warn: not after something was paid.
    frame({})
    runs = _Runs(list(dict.fromkeys(name for point in points for name in point)), public)
    table = (X, y) if groups is None else (X, y, groups)
    numbered = [
        (point, repeat, clone(model))
        for point, model in zip(points, settings)
        for repeat in range(repeats)
    ]
    try:
        if carry is None:
            for point, repeat, model in numbered:
                runs.add(model, table, point, repeat, test)
        else:
            carried = carry([model for _, _, model in numbered])
            failures = []
            for (point, repeat, _), outcome in zip(numbered, carried):
                if isinstance(outcome, BaseException):
                    failures.append(outcome)
                else:
                    runs.take(outcome, point, repeat, test)
            # After all: what was fitted beside a run that failed was paid for too.
            if failures:
                raise failures[0]
    except BaseException as error:
        # What was done and paid for is not lost, whatever ended it.
        done = runs.sweep()
        error.done = done  # type: ignore[attr-defined]
        if isinstance(error, BudgetExceeded) and done.models:
            ends = PrivacyCostWarning(f"the sweep ends after {len(done.models)} runs: {error}")
            # Where warnings are errors it is raised, and is then what ends the sweep.
            ends.done = done  # type: ignore[attr-defined]
            warnings.warn(ends, stacklevel=3)
            return done
        if runs.rows and hasattr(error, "add_note"):
            error.add_note(f"{len(runs.rows)} runs of the sweep were done: `done` of this error")
        raise
    return runs.sweep()


class _Runs:
    """The runs of a sweep so far."""

    def __init__(self, varied: list[str], public: bool) -> None:
        self.varied = varied
        self.public = public
        self.rows: list[dict[str, Any]] = []
        self.models: list[Any] = []

    def add(
        self,
        model: PrivateEstimator,
        table: tuple[Any, ...],
        point: dict[str, Any],
        repeat: int,
        test: tuple[Any, Any] | None,
    ) -> None:
        """Fits, and keeps what came of it."""
        try:
            model.fit(*table)
        finally:
            # Ctrl-C may come when the fit is done, and before this line is.
            if hasattr(model, "certificate_"):
                self._keep(model, point, repeat, test is not None)
        if test is not None:
            self.rows[-1]["score"] = float(model.score(*test))

    def take(
        self,
        model: PrivateEstimator,
        point: dict[str, Any],
        repeat: int,
        test: tuple[Any, Any] | None,
    ) -> None:
        """Keeps a model that was fitted elsewhere."""
        self._keep(model, point, repeat, test is not None)
        if test is not None:
            self.rows[-1]["score"] = float(model.score(*test))

    def _keep(
        self, model: PrivateEstimator, point: dict[str, Any], repeat: int, tested: bool
    ) -> None:
        if not self.public:
            self.models.append(model)
        row = {name: point.get(name) for name in self.varied}
        row |= {
            "repeat": repeat,
            "certified": model.certificate_.epsilon(),
            "iterations": model.n_iter_,
        }
        self.rows.append(row | ({"score": math.nan} if tested else {}))

    def sweep(self) -> Sweep:
        return Sweep(self.varied, self.rows, self.models)


def _check(
    settings: list[PrivateEstimator], X: Any, y: Any, groups: Any, public: bool
) -> None:
    """Refuses a sweep of which one run cannot be, or cannot be counted by its budget."""
    prepared, requests = [], []
    for model in settings:
        prepared.append(model._prepared(X, y))
        # Any seed stands for the one of the run, which is not drawn yet.
        seed = None if model.random_state is None else 0
        check_stand_in("groups", groups, prepared[-1][1].user)
        requests.append(model._request(prepared[-1][1], groups is not None, seed))
    _reticent.check(requests, not public)
    if public:
        return
    for model, request, (table, schema, target) in zip(settings, requests, prepared):
        payer = model._payer(groups)
        assert payer is not None  # `_payable` has seen to it
        _reticent.check_budget(
            request,
            table.x,
            names=table.names if schema.features else None,
            y=target,
            groups=owners(groups),
            budget=payer,
        )


def _payable(estimator: PrivateEstimator, runs: int, tested: bool, public: bool) -> None:
    """Refuses a sweep that nobody pays for, and scores that tell of a private table."""
    if public:
        if estimator.budget is not None:
            raise ValueError(
                "public=True says that nobody has to be protected, and the estimator has a budget: "
                "leave one of them out"
            )
        return
    if estimator.budget is None:
        raise ValueError(
            f"{runs} runs are {runs} releases of the table: say public=True if it is public or "
            "made up, or give the estimator a budget that pays for every run; PrivateSearchCV "
            "chooses among settings within the budget of one fit"
        )
    if tested:
        raise ValueError(
            "scores on a private table are not private: leave test out, and use private_score on "
            "the models, or say public=True if the tables are public"
        )


def _mean(scores: Any, confidence: float) -> tuple[float, float]:
    """The mean, and half the width of its interval."""
    from scipy.stats import t

    if len(scores) < 2:
        return float(scores.mean()), math.inf
    deviation = scores.std(ddof=1) / math.sqrt(len(scores))
    return float(scores.mean()), float(t.ppf(0.5 + 0.5 * confidence, len(scores) - 1) * deviation)
