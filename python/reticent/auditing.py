"""Attacks on the package itself: a lower bound of ε from runs, beside what is certified."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from . import _reticent
from ._frames import frame
from ._whole import whole

__all__ = ["Audit", "audit", "audit_all"]


class Audit:
    """Result of an attack.

    Attributes
    ----------
    epsilon_certified : float
        Certified ε of these runs; the paper's claim, if they are as published.
    epsilon_lower : float
        Lower bound on ε, at the confidence.
    exceeded : bool
        Whether the lower bound is above the certified ε, which proves a defect. The converse proves
        nothing; another attack may find more.
    report : dict
        Everything: algorithm, neighbours, view, δ, confidence, runs, method, the pair of tables and
        the statistic that told them apart best.
    """

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report
        self.epsilon_certified = float(report["epsilon_certified"])
        self.epsilon_lower = float(report["epsilon_lower"])
        self.exceeded = bool(report["exceeded"])

    def to_frame(self) -> Any:
        """The report as a table of one row."""
        return frame({name: [_plain(value)] for name, value in self.report.items()})

    def __repr__(self) -> str:
        return (
            f"Audit({self.report['algorithm']}, certified={self.epsilon_certified:.4g}, "
            f"at least {self.epsilon_lower:.4g} at {100 * self.report['confidence']:g} %"
            f"{', EXCEEDED' if self.exceeded else ''})"
        )


def audit(
    algorithm: str = "ssadmm",
    *,
    epsilon: float,
    delta: float,
    runs: int = 40_000,
    method: str = "threshold",
    confidence: float = 0.95,
    adjacency: str = "replace-one",
    sampling: str = "full",
    iterations: int = 1,
    as_published: bool = False,
    step: str | None = None,
    penalty: str | None = None,
    constraint: str | None = None,
    records: int | None = None,
    trust: str | None = None,
    unit: str | None = None,
    parties: int = 2,
    walk: str | None = None,
    release: str | None = None,
    random_state: int | None = None,
) -> Audit:
    """Attack an algorithm: train thousands of models on two tables that differ in one record.

    It uses no table of yours: it searches for the worst pair of made-up tables.

    Parameters
    ----------
    algorithm : str
        A name of ``reticent list algorithms`` or ``reticent list protocols``, or "evaluation".
    epsilon, delta : float
        Budget of the attacked runs.
    runs : int
        Runs in all; for "one-run", the number of canaries.
    method : {"threshold", "gdp", "profile", "one-run"}
        Method of the bound.
    confidence : float
        The confidence of the bound.
    adjacency : {"replace-one", "add-remove"}
        Neighbouring relation.
    sampling : str
        The records of each iteration: "full", "poisson:RATE" or "wor:SIZE".
    iterations : int
        Iterations of a run.
    as_published : bool
        Attack the paper's own version; the bound is then compared with the paper's claim.
    step, penalty, constraint : str, optional
        Where they matter.
    records : int, optional
        Records of the larger table; default as few as the sampling allows.
    trust, unit, parties, walk, release : optional
        For a protocol between parties.
    random_state : int, optional
        Seed, to repeat the same runs.

    Returns
    -------
    Audit
        The lower bound, and the certified ε.

    Examples
    --------
    >>> import reticent
    >>> found = reticent.audit(
    ...     "ssadmm", epsilon=4.0, delta=1e-3, runs=1000, method="gdp", random_state=1
    ... )
    >>> 1.0 < found.epsilon_lower < found.epsilon_certified
    True
    """
    attack = {
        "algorithm": algorithm,
        "epsilon": float(epsilon),
        "delta": float(delta),
        "runs": whole("runs", runs, 1),
        "method": method,
        "confidence": float(confidence),
        "adjacency": adjacency,
        "sampling": sampling,
        "iterations": whole("iterations", iterations, 1),
        "as_published": bool(as_published),
        "step": step,
        "penalty": penalty,
        "constraint": constraint,
        "records": None if records is None else whole("records", records, 1),
        "trust": trust,
        "unit": unit,
        "parties": whole("parties", parties, 1),
        "walk": walk,
        "release": release,
        "seed": None if random_state is None else whole("random_state", random_state, 0),
    }
    return Audit(json.loads(_reticent.audit(attack)))


def audit_all(
    algorithms: Sequence[str] = (), *, runs: int = 40_000, random_state: int | None = None
) -> Any:
    """Attack every combination that is offered, at ε = 4 and δ = 0.001.

    Parameters
    ----------
    algorithms : list of str
        Only combinations of these; default all, which takes hours.
    runs : int
        Runs in each combination.
    random_state : int, optional
        Seed, to repeat the same runs.

    Returns
    -------
    pandas.DataFrame
        One row per combination: its parts, the certified ε, the lower bound and its share of the
        certified ε. A dict of arrays without pandas.
    """
    if isinstance(algorithms, str):
        algorithms = [algorithms]
    seed = None if random_state is None else whole("random_state", random_state, 0)
    cells = json.loads(_reticent.audit_all(list(algorithms), whole("runs", runs, 1), seed))
    names = ("algorithm", "version", "course", "trust", "unit", "adjacency", "sampling")
    columns: dict[str, list[Any]] = {
        name: [cell["cell"][place] for cell in cells] for place, name in enumerate(names)
    }
    for name in ("epsilon_certified", "epsilon_lower", "exceeded"):
        columns[name] = [cell["audit"][name] for cell in cells]
    both = zip(columns["epsilon_lower"], columns["epsilon_certified"])
    columns["share"] = [lower / certified for lower, certified in both]
    return frame(columns)


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (dict, list)) else value
