"""What a model is worth on a table, as a question that is paid for."""

from __future__ import annotations

import html
import json
import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _reticent
from ._base import PrivateEstimator, payer_of, seed_of
from ._file_tables import Files, refuse_beside, refuse_named_people
from ._frames import frame
from ._owners import owners
from ._units import check_stand_in
from ._penalties import number
from ._whole import whole
from .certificate import Certificate
from .errors import warn_beside, warn_of_weakness

if TYPE_CHECKING:
    from .budget import Budget

__all__ = ["Estimate", "Evaluation", "evaluate"]

# The figures of a model of classes and of a number, the first of each being what `score` computes.
_CLASSES = ("accuracy", "auc", "log_loss", "calibration_error")
_NUMBERS = ("r2", "mae", "mse", "rmse")


class Estimate(NamedTuple):
    """A metric computed from a noisy answer, with its intervals."""

    #: The figure; NaN where the noise leaves nothing to say.
    value: float
    #: Where the same figure without noise is: about this table.
    interval: tuple[float, float]
    #: Where the figure of the population is, with the sampling error; None where it is not known.
    population: tuple[float, float] | None
    #: The standard deviation of the noise in it.
    noise: float

    def __float__(self) -> float:
        return self.value

    @staticmethod
    def _of(said: dict[str, Any]) -> Estimate:
        value, noise, population = said["value"], said["noise"], said["population"]
        return Estimate(
            math.nan if value is None else float(value),
            _ends(said["interval"]),
            None if population is None else _ends(population),
            math.inf if noise is None else float(noise),
        )


def _ends(pair: list[float | None]) -> tuple[float, float]:
    """The ends of an interval. JSON has no infinity: an end that is missing is one."""
    lower, upper = pair
    return (
        -math.inf if lower is None else float(lower),
        math.inf if upper is None else float(upper),
    )


class Evaluation:
    """Noisy metrics of a model on a table.

    Attributes
    ----------
    score : Estimate
        The metric of ``score``, with noise: the accuracy of a classifier, R² of a regressor.
    figures : dict of Estimate
        All metrics by name: accuracy, auc, log_loss and calibration_error of a classifier; r2, mae,
        mse and rmse of a regressor. Metrics that do not apply to the model are left out.
    confusion : ndarray of shape (n_classes, n_classes) or None
        Noisy confusion matrix, one row per true class.
    confusion_margin : float or None
        Margin of error of each entry of it, at the confidence.
    classes : ndarray or None
        The classes, in its order.
    n : float
        Number of records, or of persons; noisy if it is private.
    confidence : float
        The confidence of all intervals.
    certificate : Certificate
        Guarantee for the people of this table.
    """

    def __init__(
        self, said: dict[str, Any], certificate: Certificate, confidence: float, classes: Any
    ) -> None:
        ((kind, quality),) = said.items()
        names = _CLASSES if kind == "classes" else _NUMBERS
        there = [name for name in names if quality.get(name) is not None]
        self.figures = {name: Estimate._of(quality[name]) for name in there}
        self.score = self.figures[names[0]]
        self.n = float(quality["n"])
        self.confidence = confidence
        self.certificate = certificate
        self.classes = classes
        confusion = quality.get("confusion")
        self.confusion: NDArray[np.float64] | None = (
            None if confusion is None else np.asarray(confusion, dtype=np.float64)
        )
        self.confusion_margin: float | None = quality.get("confusion_margin")
        self._reliability: list[dict[str, Any]] = quality.get("reliability", [])

    def to_frame(self) -> Any:
        """The metrics and their intervals, one row each."""
        rows = list(self.figures.items())
        ends = [one.population or (math.nan, math.nan) for _, one in rows]
        return frame(
            {
                "figure": [name for name, _ in rows],
                "value": [one.value for _, one in rows],
                "lower": [one.interval[0] for _, one in rows],
                "upper": [one.interval[1] for _, one in rows],
                "population_lower": [low for low, _ in ends],
                "population_upper": [high for _, high in ends],
            },
            index="figure",
        )

    def reliability(self) -> Any:
        """Observed frequency by predicted probability, one row per group and class.

        Empty where the model says no probabilities.
        """
        rows = self._reliability
        names = [str(row["class"]) if self.classes is None else self.classes[row["class"]]
                 for row in rows]
        return frame(
            {
                "class": names,
                "probability_lower": [row["probability"][0] for row in rows],
                "probability_upper": [row["probability"][1] for row in rows],
                "n": [row["n"] for row in rows],
                "share": [math.nan if row["share"] is None else row["share"] for row in rows],
                "lower": [row["interval"][0] for row in rows],
                "upper": [row["interval"][1] for row in rows],
            }
        )

    def _rows(self) -> list[tuple[str, str, str]]:
        def ends(pair: tuple[float, float] | None) -> str:
            return "–" if pair is None else f"{pair[0]:.4g} to {pair[1]:.4g}"

        return [
            (name, f"{one.value:.4g}", f"{ends(one.interval)} (population {ends(one.population)})")
            for name, one in self.figures.items()
        ]

    def _repr_html_(self) -> str:
        cell = "<td style='text-align:left'>{}</td>"
        rows = "".join(
            "<tr>" + "".join(cell.format(html.escape(text)) for text in row) + "</tr>"
            for row in self._rows()
        )
        said = f"{100 * self.confidence:g} % intervals. {self.certificate.meaning}"
        return f"<table>{rows}</table><p>{html.escape(said)}</p>"

    def __repr__(self) -> str:
        lines = [f"  {name:18}{value:>10}  {ends}" for name, value, ends in self._rows()]
        promised = f"epsilon={self.certificate.epsilon():.4g}, delta={self.certificate.delta:g}"
        return "\n".join([f"Evaluation({promised}, {100 * self.confidence:g} % intervals)", *lines])


def evaluate(
    model: PrivateEstimator,
    X: Any,
    y: Any = None,
    groups: Any = None,
    *,
    epsilon: float,
    delta: float,
    budget: Budget | Literal["model"] | None = "model",
    adjacency: str = "replace-one",
    unit: str | None = None,
    public_n: int | None = None,
    threshold: float | None = None,
    bins: int | None = None,
    confidence: float = 0.95,
    random_state: Any = None,
) -> Evaluation:
    """Evaluate a model on a private table, within a budget.

    One noisy query is made, and every metric is computed from its answer: one of them costs as much
    as all. Every call makes, and pays for, a new query.

    Parameters
    ----------
    model : estimator
        A fitted private estimator, assumed public.
    X : array, sparse matrix, data frame or Files
        The records; files are read under the schema of the model, with their target and users.
    y : array
        True class or target of each; for files it is in them.
    groups : array, optional
        User id of each record; a person is then protected with all their records, and counts once.
    epsilon, delta : float
        Budget of the evaluation.
    budget : Budget, "model" or None
        Budget of the data set of the table, which pays. Default "model", the budget of the
        estimator, if any: test records usually belong to the data set of the training records. For
        another data set give its own budget, or None.
    adjacency : {"replace-one", "add-remove"}
        Neighbouring relation.
    unit : {"record", "user"}, optional
        Unit of protection; default a user if ``groups`` are passed, otherwise a record.
    public_n : int, optional
        Public estimate of the number of records; required for "add-remove".
    threshold : float, optional
        With two classes: the probability above which the second is predicted.
    bins : int, optional
        Number of bins of scores, from 2 to 200; default by the noise.
    confidence : float
        Confidence of the intervals.
    random_state : int or RandomState, optional
        A seed for tests. The result is then NOT PRIVATE, and says so.

    Returns
    -------
    Evaluation
        The metrics with their intervals, and a certificate. It covers the people of this table: if
        the model was trained on them, both costs add up.

    Examples
    --------
    >>> import numpy as np
    >>> import reticent
    >>> X = np.random.default_rng(0).uniform(0, 90, size=(4000, 2))
    >>> y = (X[:, 0] > 45).astype(int)
    >>> model = reticent.PrivateLogisticRegression(
    ...     epsilon=1.0, delta=1e-6, bounds=(0, 90), classes=[0, 1]
    ... ).fit(X[:2000], y[:2000])
    >>> quality = reticent.evaluate(model, X[2000:], y[2000:], epsilon=1.0, delta=1e-6)
    >>> low, high = quality.score.interval
    >>> 0.5 < low <= quality.score.value <= high <= 1.0
    True
    >>> quality.certificate.certified
    True
    """
    check_is_fitted(model, "model_")
    if unit is None and groups is not None:
        unit = "user"
    question = {
        "epsilon": number("epsilon", epsilon),
        "delta": number("delta", delta),
        "adjacency": adjacency,
        "unit": unit,
        "public_n": None if public_n is None else whole("public_n", public_n, 1),
        "threshold": None if threshold is None else float(threshold),
        "bins": None if bins is None else whole("bins", bins, 2),
        "confidence": float(confidence),
        "seed": seed_of(random_state, "evaluate"),
    }
    if isinstance(budget, str) and budget != "model":
        raise ValueError(f"budget={budget!r}: give a Budget, 'model' or None")
    pays: Budget | None = model.budget if isinstance(budget, str) else budget
    payer = payer_of(pays, "evaluate", groups)
    check_stand_in("groups", groups, model.model_.schema.user)
    table: dict[str, Any]
    if isinstance(X, Files):
        refuse_beside(y=y, groups=groups)
        refuse_named_people(payer)
        table = {"x": X._request()}
    elif y is None:
        raise ValueError("y is missing: give the true class or target of each record")
    else:
        table = {**model._native_columns(X), "y": model._targets(y), "groups": owners(groups)}
    said, certificate, remark = _reticent.evaluate(question, model.model_, **table, budget=payer)
    classes = getattr(model, "classes_", None)
    found = Evaluation(json.loads(said), Certificate(certificate), float(confidence), classes)
    if remark is not None:
        warn_beside(found, remark, RuntimeWarning, stacklevel=2)
    warn_of_weakness(found, certificate, stacklevel=2)
    return found
