"""What all private estimators have in common."""

from __future__ import annotations

import json
import os
import pathlib
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _reticent, _tables
from ._arguments import refuse_others
from ._documented import complete
from ._frames import frame
from ._owners import owners
from ._units import check_stand_in, name_of
from ._penalties import Named, number
from ._reticent import Model
from ._schema import read_schema, schema_for
from ._settings import handed_over
from ._validation import one_column, validated
from ._weights import FORGOTTEN, warn_of_normalised, weights_of
from ._whole import whole
from ._wrappers import assumed_of, warn_of_callers, warn_of_learning, warn_of_many
from .budget import Budget
from .certificate import Certificate
from .errors import (
    NoiseDominatesWarning,
    NotPrivateWarning,
    warn_beside,
    warn_of_weakness,
)

if TYPE_CHECKING:
    from typing_extensions import Self

    from .evaluation import Evaluation


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """Privacy arguments, tables, fitting and files; the rest is for its heirs."""

    model_: Model
    certificate_: Certificate
    coef_names_: list[str]
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    _SHARED = {
        "parameters": """\
    epsilon, delta : float
        Budget of the fit. Both are required.
    adjacency : {"replace-one", "add-remove"}
        Neighbouring relation.
    unit : {"record", "user", "party"}, optional
        Unit of protection; default a user if ``groups`` are passed to ``fit``, otherwise a record.
        "party" is for ``simulate`` alone.
    bounds : (lower, upper) or dict, optional
        Public bounds of the columns: numbers, one per column, or by name; values are clipped.
    schema : path, dict or Schema, optional
        Public schema of the table, instead of ``bounds``; required for categorical columns.
    row_norm : float, optional
        Norm that rows are scaled to; alone or with ``bounds``.
    curves : {"auto", "off"} or int, optional
        Knots of the piecewise-linear curve of each numeric column: a number, or ``"auto"`` by public
        numbers; by default as the schema says, a line. Columns bounded by 0 and 1 stay lines.
    public_n : int, optional
        Public number of records; required for "add-remove".
    budget : Budget, optional
        Budget of the data set, which pays for the fit.
    algorithm : str
        ``"auto"``, or a name of ``reticent list algorithms``.
    settings : dict, optional
        Settings of the algorithm, for example ``{"iterations": 100}``; give several numbers as a
        list.
    fit_intercept : bool
        Whether to fit an intercept.
    max_sample_weight : float, optional
        Largest weight of a record, which must be public; required for ``sample_weight``.
    trace : bool
        Whether to keep ``trace_``: what the run releases, iteration by iteration. It costs no
        budget.
    random_state : int or RandomState, optional
        A seed for tests. The result is then NOT PRIVATE, and says so.
""",
        "attributes": """\
    coef_names_ : list of str
        Names of the encoded columns: a column, ``column=category``, or ``column@knot``.
    curves_ : pandas.DataFrame
        If columns are curved: what a value ``x`` of a ``column`` adds to the score or the predicted
        number (``value``, less its mean over the knots), the widest range first; with
        ``standard_errors`` also ``estimate`` and the pointwise 95 % interval from ``lower`` to
        ``upper``. ``coef_`` is NaN for them: one unit is not the same everywhere. A dict of arrays
        without pandas. Categories with an order have a ``category`` too; ``x`` is its number.
    pairs_ : pandas.DataFrame
        If the schema declares ``pairs``: what a value ``x`` of the column ``first`` and a value ``y``
        of the column ``second`` add together (``value``, less its mean over all of them), the pair
        that moves most first; with ``standard_errors`` also ``estimate`` and the pointwise 95 %
        interval from ``lower`` to ``upper``. A dict of arrays without pandas.
    n_iter_ : int
        Number of iterations.
    certificate_ : Certificate
        What is guaranteed.
    trace_ : pandas.DataFrame
        With ``trace=True``: one row per iteration, with the norms of what was released and the ε of
        a run planned to end there. The certificate covers it like the model, at the ε of the whole
        run. A dict of arrays without pandas.
    n_features_in_ : int
        Columns seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.
""",
        "notes": """\
    While fitting, weights and penalties refer to the encoded columns: numbers scaled by their
    bounds to -1 … 1. ``coef_`` is in the units of the caller's columns; with ``intercept_`` it
    gives the score of every record within the bounds and the row norm; others are clipped and
    scaled down first. ``score`` is computed without noise and is NOT PRIVATE; ``private_score``
    spends budget.
""",
    }

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        complete(cls, PrivateEstimator)

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        adjacency: str = "replace-one",
        unit: str | None = None,
        bounds: Any = None,
        schema: Any = None,
        row_norm: float | None = None,
        curves: str | int | None = None,
        public_n: int | None = None,
        budget: Any = None,
        algorithm: str = "auto",
        settings: dict[str, Any] | None = None,
        fit_intercept: bool = True,
        max_sample_weight: float | None = None,
        trace: bool = False,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.unit = unit
        self.bounds = bounds
        self.schema = schema
        self.row_norm = row_norm
        self.curves = curves
        self.public_n = public_n
        self.budget = budget
        self.algorithm = algorithm
        self.settings = settings
        self.fit_intercept = fit_intercept
        self.max_sample_weight = max_sample_weight
        self.trace = trace
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None, **others: Any) -> Self:
        """Fit within the budget.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            The records. Dense float64 and CSR are not copied on their way into the encoded table.
        y : array
            What is to be predicted of each: its class, or a number, which is clipped to
            ``target_bounds``.
        groups : array, optional
            User id of each record; a person is then protected with all their records.
        **others
            ``sample_weight``, array: how much each record counts, from 0 to ``max_sample_weight``,
            beyond which it is clipped. Weights are private. Each must follow from its own record:
            weights that are balanced or normalised by the table void the guarantee.

        Returns
        -------
        object
            Itself.
        """
        # No parameter of its own: wrappers of scikit-learn would hand on weights that they made up
        # from other records.
        weights = weights_of(others.pop("sample_weight", None), self.max_sample_weight)
        refuse_others(others)
        before = dict(self.__dict__)
        try:
            table, schema, target = self._prepared(X, y)
            if weights is not None:
                schema = schema.with_weight(self.max_sample_weight)
            self._fit(table, schema, target, groups, weights)
        except BaseException:
            # A fit that was refused leaves the model of the fit before it, whole.
            if self.__dict__.get("model_") is before.get("model_"):
                self.__dict__.clear()
                self.__dict__.update(before)
            raise
        return self

    # What its heirs say.

    def _prepared(self, X: Any, y: Any) -> tuple[_tables.Columns, Any, Any]:
        """The table, its schema and what is to be predicted."""
        raise NotImplementedError

    def _loss(self, outputs: int | None) -> Named | None:
        """The loss, for so many classes."""
        raise NotImplementedError

    def _penalty(self) -> Named:
        raise NotImplementedError

    def _constraint(self, names: list[str]) -> Any:
        """What ties the encoded columns together, if anything does."""
        return None

    def _assumptions(self) -> list[str]:
        """What the caller takes as given, for the certificate."""
        return []

    def _share(self) -> float | None:
        """The share of the budget that standard errors get."""
        return None

    def _calibration(self) -> float | None:
        """The share of the budget that a recalibration gets."""
        return None

    # Fitting.

    def _table(self, X: Any, *, reset: bool) -> _tables.Columns:
        """X as the library takes it, with scikit-learn's attributes of it."""
        declared = None if self.schema is None else read_schema(self.schema)
        by_arrow = declared is not None and not declared.numeric and not isinstance(X, np.ndarray)
        # An id is no floating-point number on its way: `1e3` is text, and long ones lose digits.
        by_arrow |= declared is not None and declared.user is not None and _tables.is_pandas(X)
        # To pandas NaN is a missing value, whatever the other columns are.
        by_arrow = by_arrow or _tables.has_missing(X)
        if by_arrow or _tables.speaks_arrow(X):
            table = _tables.from_arrow(X)
            if reset:
                self.n_features_in_ = table.width
                self.__dict__.pop("feature_names_in_", None)
                named = not _tables.is_pandas(X) or _tables.column_names(X) is not None
                if named:
                    names = _tables.column_names(table.x)
                    self.feature_names_in_ = np.asarray(names, dtype=object)
            return table
        matrix = validated(self, X, reset)
        names = _tables.column_names(X)
        if names is None and not reset and hasattr(self, "feature_names_in_"):
            names = list(self.feature_names_in_)
        return _tables.from_matrix(matrix, names)

    def _checked(self, y: Any) -> Any:
        """y as one column."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        return one_column(y)

    def _seed(self) -> int | None:
        return seed_of(self.random_state, type(self).__name__, stacklevel=5)

    def _request(self, schema: Any, grouped: bool, seed: int | None) -> dict[str, Any]:
        """The job, in the words of the library."""
        if self.epsilon is None and self.algorithm != "exact":
            raise ValueError("epsilon is missing: say how much may be spent, such as epsilon=1.0")
        if self.delta is None and self.algorithm != "exact":
            raise ValueError(
                "delta is missing: the additive slack of the guarantee, well below one over the "
                "number of records, for example delta=1e-6"
            )
        if self.max_sample_weight is not None and schema.weight is None:
            raise ValueError(FORGOTTEN)
        unit = self.unit
        if unit is None and grouped:
            unit = "user"
        if unit == "user" and not grouped and schema.user is None:
            raise ValueError(
                "unit='user' needs to know whose each row is: give `groups` to fit, or a column of "
                "kind 'user' in the schema"
            )
        outputs = None if schema.classes is None else len(schema.classes)
        return {
            "schema": schema,
            "loss": self._loss(outputs),
            "penalty": self._penalty(),
            "constraint": self._constraint(schema.encoded_names),
            "intercept": bool(self.fit_intercept),
            "algorithm": self.algorithm,
            "settings": handed_over(self.settings),
            "epsilon": None if self.epsilon is None else number("epsilon", self.epsilon),
            "delta": None if self.delta is None else number("delta", self.delta),
            "adjacency": self.adjacency,
            "unit": unit,
            "public_n": self._public_n(),
            "seed": seed,
            "assumptions": self._assumptions() + assumed_of(self),
            "standard_errors": self._share(),
            "calibrate": self._calibration(),
            "trace": bool(self.trace),
        }

    def _public_n(self) -> int | None:
        return None if self.public_n is None else whole("public_n", self.public_n, 1)

    def _schema(self, table: _tables.Columns, y: Any, **kind: Any) -> Any:
        names = table.names if table.names is not None else _tables.column_names(table.x)
        target = getattr(y, "name", None)
        made = schema_for(
            bounds=self.bounds,
            schema=self.schema,
            row_norm=self.row_norm,
            columns=table.width,
            names=names,
            sparse=table.sparse,
            target=target if isinstance(target, str) and target else "target",
            **kind,
        )
        return made if self.curves is None else self._bent(made, len(y))

    def _bent(self, schema: Any, records: int | None) -> Any:
        """The schema with curves, whose number of knots may follow from the records where that is public."""
        guarantee = {
            "epsilon": None if self.epsilon is None else number("epsilon", self.epsilon),
            "delta": None if self.delta is None else number("delta", self.delta),
            "adjacency": self.adjacency,
            "unit": self.unit,
            "public_n": self._public_n(),
            "seed": None,
        }
        return schema.bent(str(self.curves), guarantee, records, bool(self.fit_intercept))

    def _payer(self, groups: Any = None) -> dict[str, Any] | None:
        return payer_of(self.budget, type(self).__name__, groups)

    def _fit(
        self, table: _tables.Columns, schema: Any, y: Any, groups: Any, weights: Any
    ) -> None:
        check_stand_in("groups", groups, schema.user)
        if self.curves == "auto" and self.public_n is None and groups is not None:
            raise ValueError(
                "curves='auto' goes by the number of persons: give public_n, or a number of knots"
            )
        request = self._request(schema, groups is not None, self._seed())
        warn_of_callers(self, stacklevel=3)
        native, iterations, converged, trace, outlook, remark = _reticent.fit(
            request,
            table.x,
            names=table.names if schema.features else None,
            y=y,
            groups=owners(groups),
            weights=weights,
            budget=self._payer(groups),
        )
        self.n_iter_ = int(iterations)
        self._adopt(native)
        self._keep_trace(trace)
        # Last: where warnings are errors, what was paid for is there all the same.
        if remark is not None:
            warn_beside(self, remark, RuntimeWarning, stacklevel=3)
        if converged is False:
            slow = (
                f"the exact solver did not get to the optimum in {iterations} iterations: give it "
                "more with settings={'iterations': N}"
            )
            warn_beside(self, slow, UserWarning, stacklevel=3)
        hidden = None if native.standard_errors is None else native.standard_errors[1]
        if hidden is not None:
            spent = "there are no standard errors, though their share of the budget is spent"
            warn_beside(self, f"{spent}: {hidden}", RuntimeWarning, stacklevel=3)
        if outlook is not None:
            warn_beside(self, outlook, NoiseDominatesWarning, stacklevel=3)
        warn_of_weakness(self, native.certificate, stacklevel=3)
        warn_of_normalised(self, weights, stacklevel=3)

    def _keep_trace(self, columns: Any) -> None:
        """Keeps what a run came to, and nothing of one before it."""
        self.__dict__.pop("trace_", None)
        if columns is not None:
            self.trace_ = traced(columns)

    def _adopt(self, native: Model) -> None:
        """Takes a model for its own."""
        self.model_ = native
        self.certificate_ = Certificate(native.certificate, native)
        names, weights, intercept = native.weights(False)
        self.coef_names_ = names
        self._set_weights(weights, intercept)
        for of_a_fit_before in ("standard_errors_", "calibration_", "curves_", "pairs_"):
            self.__dict__.pop(of_a_fit_before, None)
        if native.recalibration is not None:
            self.calibration_ = native.recalibration
        if native.standard_errors is not None:
            self.standard_errors_ = errors_of(native.standard_errors[2])
        curves = json.loads(native.curves())
        if curves:
            self.curves_ = curves_of(curves)
        surfaces = json.loads(native.surfaces())
        if surfaces:
            self.pairs_ = pairs_of(surfaces)

    def _set_weights(self, weights: Any, intercept: Any) -> None:
        raise NotImplementedError

    def _asked_columns(self, X: Any) -> dict[str, Any]:
        """What predictions are asked of, which somebody may learn from."""
        warn_of_learning(self)
        return self._native_columns(X)

    def _native_columns(self, X: Any) -> dict[str, Any]:
        check_is_fitted(self, "model_")
        table = self._table(X, reset=False)
        names = table.names if self.model_.schema.features else None
        return {"x": table.x, "names": names}

    def _targets(self, y: Any) -> Any:
        """What is to be predicted, as the model has it."""
        raise NotImplementedError

    def private_score(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        *,
        epsilon: float,
        delta: float,
        budget: Budget | Literal["model"] | None = "model",
        **options: Any,
    ) -> Evaluation:
        """Evaluate the model privately; spends budget.

        ``score`` reads the table as it is, and what it says is NOT PRIVATE. This asks with noise,
        and gives every figure with an interval: ``private_score(...).score.value`` is the accuracy
        of a classifier, or R² of a regressor. It is paid from the ``budget`` of the estimator where
        nothing else is said. Parameters and result are those of :func:`reticent.evaluate`.
        """
        from .evaluation import evaluate

        return evaluate(
            self, X, y, groups, epsilon=epsilon, delta=delta, budget=budget, **options
        )

    # Files.

    def save(
        self, folder: str | os.PathLike[str], *, overwrite: bool = False
    ) -> pathlib.Path:
        """Write ``model.json`` and ``certificate.json``, as the command line does.

        Parameters
        ----------
        folder : path
            Where to; it is made if it is not there.
        overwrite : bool
            Whether another model in it is written over. If that one was seen by anybody, what both
            reveal adds up.

        Returns
        -------
        pathlib.Path
            The model file, for :func:`reticent.load` and ``reticent predict``.

        Raises
        ------
        FileExistsError
            If another model, or a file that is none, is there, and nothing is said of writing over
            it.
        """
        check_is_fitted(self, "model_")
        return pathlib.Path(self.model_.write(os.fspath(folder), bool(overwrite)))

    def export(
        self,
        to: str,
        path: str | os.PathLike[str] | None = None,
        *,
        table: str = "data",
        keep: Sequence[str] = (),
        overwrite: bool = False,
    ) -> bytes:
        """Export the model to a format of other tools, preprocessing included.

        Predictions are those of :meth:`predict` to twelve digits. The certificate stays with the
        model: :meth:`save` writes it.

        Parameters
        ----------
        to : {"onnx", "pmml", "sklearn-json", "sql"}
            The format.
        path : path, optional
            The file to write; by default none.
        table : str
            SQL: the table to score.
        keep : list of str
            SQL: columns to put before the prediction, such as a key.
        overwrite : bool
            Whether a file that is there is written over.

        Returns
        -------
        bytes
            What the file has.

        Raises
        ------
        FileExistsError
            If there is a file of that name, and nothing is said of writing over it.
        """
        check_is_fitted(self, "model_")
        if to != "sql" and len(keep) > 0:
            raise ValueError(
                "keep is for to='sql': the other formats are models and read no table; leave it out"
            )
        written = self.model_.export(to, table, list(keep))
        if path is not None:
            with open(path, "wb" if overwrite else "xb") as file:
                file.write(written)
        return written

    def plot_curves(self, most: int = 9) -> Any:
        """Plot the curves of the columns, the widest range first, with matplotlib.

        Parameters
        ----------
        most : int
            Number of columns.

        Returns
        -------
        matplotlib.figure.Figure
            One picture per column, with the pointwise 95 % band if ``standard_errors`` was given.

        Raises
        ------
        ValueError
            If no column is curved.
        """
        from .plot import column_curves

        check_is_fitted(self, "model_")
        return column_curves(self, most)

    def plot_pairs(self, most: int = 9) -> Any:
        """Plot what pairs of columns do together, the widest range first, with matplotlib.

        Parameters
        ----------
        most : int
            Number of pairs.

        Returns
        -------
        matplotlib.figure.Figure
            One picture per pair and output.

        Raises
        ------
        ValueError
            If the schema declares no pairs.
        """
        from .plot import pair_surfaces

        check_is_fitted(self, "model_")
        return pair_surfaces(self, most)

    def report(
        self, path: str | os.PathLike[str] = "report.html", *, overwrite: bool = False
    ) -> pathlib.Path:
        """Write a report: the guarantee, the state of the budget, and the weights.

        The page stands alone: it loads nothing, needs no script and can be passed on as it is. The
        command line writes the same. The ``budget`` of the estimator is on it, if it has one, and
        the job that paid for this model, if it was this budget that did.

        Parameters
        ----------
        path : path
            The file.
        overwrite : bool
            Whether a file that is there is written over.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        FileExistsError
            If there is a file of that name, and nothing is said of writing over it.
        """
        check_is_fitted(self, "model_")
        page = pathlib.Path(path)
        budget = None if self.budget is None else self.budget.path
        _reticent.report(self.model_, type(self).__name__, budget, page, bool(overwrite))
        return page

    # scikit-learn's ways.

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_clone__(self) -> Any:
        from sklearn.base import _clone_parametrized

        warn_of_many(self)
        return _clone_parametrized(self)


def payer_of(budget: Any, label: str, groups: Any = None) -> dict[str, Any] | None:
    """Who pays, for what, and what the budget is told of the table."""
    if budget is None:
        return None
    if not isinstance(budget, Budget):
        raise ValueError(
            f"budget is a {type(budget).__name__}: a reticent.Budget is needed; Budget.open(path) is "
            "the one in a file"
        )
    users = budget.users
    given = name_of(groups)
    if users is not None and given is not None and users != given:
        raise ValueError(
            f"groups are named {given!r}, and budget.of_users says {users!r}: leave one of them out, or "
            "rename the groups if they are the same people"
        )
    return {
        "path": budget.path,
        "label": label,
        "disjoint_people": budget.disjoint_people,
        "users": given if users is None else users,
    }


def seed_of(random_state: Any, who: str, stacklevel: int = 3) -> int | None:
    """The seed of all noise, if there is one, which is worth a warning."""
    if random_state is None:
        return None
    warnings.warn(
        f"{who} draws its noise from random_state: the result is NOT PRIVATE, and its certificate "
        "says so; leave random_state out for a private one",
        NotPrivateWarning,
        stacklevel=stacklevel,
    )
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise ValueError(f"random_state={random_state}: it must be 0 or greater")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def curves_of(curves: list[dict[str, Any]]) -> Any:
    """Curves as a table: a row for each point of each output."""
    rows = [
        (curve["column"], of, at["x"], at["values"][k], at.get("band"))
        for curve in curves
        for k, of in enumerate(curve["of"])
        for at in curve["points"]
    ]
    columns = dict(zip(("column", "of", "x", "value"), zip(*(row[:4] for row in rows))))
    points = [at for curve in curves for _ in curve["of"] for at in curve["points"]]
    if any("category" in at for at in points):
        columns["category"] = tuple(at.get("category") for at in points)
    if all(row[4] is not None for row in rows):
        for name, key in (("estimate", "estimate"), ("lower", "from"), ("upper", "to")):
            columns[name] = tuple(row[4][key] for row in rows)
    return frame(columns)


def pairs_of(surfaces: list[dict[str, Any]]) -> Any:
    """What pairs of columns do together as a table: a row for each two values of each output."""
    rows = [
        (
            *(side["column"] for side in surface["sides"]),
            of,
            *(point.get("category", point["x"]) for point in (x, y)),
            value,
            surface["bands"][i][j] if "bands" in surface else None,
        )
        for surface in surfaces
        for k, of in enumerate(surface["of"])
        for i, (x, row) in enumerate(zip(surface["sides"][0]["points"], surface["values"][k]))
        for j, (y, value) in enumerate(zip(surface["sides"][1]["points"], row))
    ]
    columns = dict(zip(("first", "second", "of", "x", "y", "value"), zip(*rows)))
    if all(row[6] is not None for row in rows):
        for name, key in (("estimate", "estimate"), ("lower", "from"), ("upper", "to")):
            columns[name] = tuple(row[6][key] for row in rows)
    return frame(columns)


def errors_of(rows: list[Any]) -> Any:
    """Estimates with their standard errors as a table."""
    return frame(
        {
            "coefficient": [row[0] for row in rows],
            "estimate": [row[1] for row in rows],
            "standard_error": [row[2] for row in rows],
            "lower": [row[3][0] for row in rows],
            "upper": [row[3][1] for row in rows],
            "against": [row[4] for row in rows],
            "encoded": [row[5] for row in rows],
        },
        index="coefficient",
    )


def traced(columns: list[tuple[str, list[float | None]]]) -> Any:
    """The columns of a trace as a table; NaN where there is nothing to say."""
    return frame({name: np.asarray(cells, dtype=np.float64) for name, cells in columns})
