"""Privacy accounting with proven bounds.

An event is one use of the data by one mechanism. Events compose to a :class:`Ledger`: ``a + b`` is
one after the other, ``a * 1000`` is a thousand times the same. :func:`epsilon` and :func:`delta`
compute the cost of a ledger, for arrays as well; every number is the upper end of an interval that
contains the exact value (``bounds=True`` returns both ends). :func:`calibrate` finds the noise for
a budget, and a :class:`Filter` keeps a budget that is spent adaptively.

A record is added or removed (``adjacency="add-remove"``) or replaced by another
(``"replace-one"``, the default in the whole package). Noise multipliers are
standard deviations over what one record can contribute, so that replacing one costs twice the
sensitivity. Others count add-remove: compare like with like.

Examples
--------
DP-SGD with noise 1 on samples of one in a hundred, ten thousand times:

>>> from reticent import accounting as acc
>>> step = acc.poisson_gaussian(1.0, rate=0.01, adjacency="add-remove")
>>> round(acc.epsilon(step * 10_000, 1e-5), 2)
6.19
>>> acc.epsilon(step * 10_000, [1e-7, 1e-6, 1e-5]).round(2)
array([7.57, 6.91, 6.19])
>>> acc.delta(step * 10_000, 8.0) < 1e-7
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _reticent
from .errors import BudgetExceeded

__all__ = [
    "Calibrated",
    "Filter",
    "Interval",
    "Ledger",
    "Profile",
    "TradeOff",
    "approximate_dp",
    "calibrate",
    "calibrate_rate",
    "calibrate_steps",
    "compose",
    "delta",
    "epsilon",
    "event",
    "gaussian",
    "gdp",
    "laplace",
    "poisson_gaussian",
    "profile",
    "pure_dp",
    "trade_off",
    "without_replacement_gaussian",
    "zcdp",
]

ADJACENCY = "replace-one"


class Interval(NamedTuple):
    """Both ends of a bound; the upper one is the guarantee."""

    lower: NDArray[np.float64] | float
    upper: NDArray[np.float64] | float


class Profile(NamedTuple):
    """δ as a function of ε."""

    epsilon: NDArray[np.float64]
    delta: NDArray[np.float64]


class TradeOff(NamedTuple):
    """Smallest miss rate of any test, at each false-alarm rate."""

    false_alarms: NDArray[np.float64]
    missed: NDArray[np.float64]


class Calibrated(NamedTuple):
    """A calibrated value, and its ε."""

    value: float
    epsilon: float


class Ledger:
    """A list of events. Immutable; made by :func:`gaussian` and the other events.

    Examples
    --------
    >>> from reticent import accounting as acc
    >>> books = acc.gaussian(10.0) * 3 + acc.laplace(20.0)
    >>> len(books)
    4
    >>> books.mu is None  # Laplace noise is not Gaussian
    True
    >>> acc.Ledger.from_json(books.to_json()) == books
    True
    """

    __slots__ = ("_native",)

    def __init__(self, native: _reticent.Ledger) -> None:
        self._native = native

    @classmethod
    def from_json(cls, text: str) -> Ledger:
        """Read a ledger as certificates hold it, under ``ledger``."""
        return cls(_reticent.Ledger.from_json(text))

    def to_json(self) -> str:
        """The ledger as text."""
        return self._native.to_json()

    @property
    def entries(self) -> list[tuple[str, int]]:
        """Descriptions of the events, and their consecutive counts."""
        return self._native.entries()

    @property
    def adjacency(self) -> str | None:
        """Which tables are neighbours; None without events."""
        return None if self._native.scope is None else self._native.scope[0]

    @property
    def unit(self) -> str | None:
        """Whether a record or a user is protected; None without events."""
        return None if self._native.scope is None else self._native.scope[1]

    @property
    def mu(self) -> float | None:
        """μ of Gaussian differential privacy, if the whole ledger is exactly that."""
        return self._native.mu

    def __add__(self, other: Ledger) -> Ledger:
        if not isinstance(other, Ledger):
            return NotImplemented
        return Ledger(_reticent.Ledger.composed([self._native, other._native]))

    def __mul__(self, count: int) -> Ledger:
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)):
            return NotImplemented
        if count < 0:
            raise ValueError(f"count = {count}: events happen 0 times or more")
        return Ledger(self._native.repeated(int(count)))

    __rmul__ = __mul__

    def __len__(self) -> int:
        return len(self._native)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and self._native == other._native

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        inside = ", ".join(f"{count} × {words}" for words, count in self.entries)
        return f"Ledger({inside})"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Ledger.from_json, (self.to_json(),))


def event(
    kind: str,
    /,
    *,
    adjacency: str = ADJACENCY,
    unit: str = "record",
    view: str = "central",
    **fields: float,
) -> Ledger:
    """One use of any mechanism, by its name and fields in ledgers.

    Parameters
    ----------
    kind : str
        As ``reticent list events`` has it, for example ``"gaussian"``.
    adjacency : {"replace-one", "add-remove"}
        Neighbouring relation.
    unit : {"record", "user"}
        What is protected.
    view : {"central", "local", "secure-aggregation", "network"}
        Trust model.
    **fields : float
        The numbers of the mechanism.

    Examples
    --------
    >>> from reticent import accounting as acc
    >>> acc.event("gaussian", noise_multiplier=2.0) == acc.gaussian(2.0)
    True
    """
    numbers = {
        name: value if isinstance(value, int) else float(value) for name, value in fields.items()
    }
    text = json.dumps({"kind": kind, **numbers})
    return Ledger(_reticent.Ledger.event(text, adjacency, unit, view))


def gaussian(
    noise_multiplier: float, *, adjacency: str = ADJACENCY, unit: str = "record"
) -> Ledger:
    """Gaussian noise on a sum over all records.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation of the noise divided by the contribution of one record (or user).
    adjacency : {"replace-one", "add-remove"}
        Neighbouring relation.
    unit : {"record", "user"}
        What is protected.
    """
    return event("gaussian", noise_multiplier=noise_multiplier, adjacency=adjacency, unit=unit)


def poisson_gaussian(
    noise_multiplier: float, rate: float, *, adjacency: str = ADJACENCY, unit: str = "record"
) -> Ledger:
    """Gaussian noise on a sum over a Poisson sample: each record is in it with probability ``rate``."""
    return event(
        "poisson-gaussian",
        noise_multiplier=noise_multiplier,
        rate=rate,
        adjacency=adjacency,
        unit=unit,
    )


def without_replacement_gaussian(
    noise_multiplier: float, size: int, population: int, *, unit: str = "record"
) -> Ledger:
    """Gaussian noise on a sum over ``size`` of ``population`` records, whose number is public."""
    return event(
        "without-replacement-gaussian",
        noise_multiplier=noise_multiplier,
        size=int(size),
        population=int(population),
        unit=unit,
    )


def laplace(noise_multiplier: float, *, adjacency: str = ADJACENCY, unit: str = "record") -> Ledger:
    """Laplace noise on a sum over all records; the multiplier is that of its scale."""
    return event("laplace", noise_multiplier=noise_multiplier, adjacency=adjacency, unit=unit)


def pure_dp(epsilon: float, *, adjacency: str = ADJACENCY, unit: str = "record") -> Ledger:
    """Anything that is ε-differentially private."""
    return event("pure-dp", epsilon=epsilon, adjacency=adjacency, unit=unit)


def approximate_dp(
    epsilon: float, delta: float, *, adjacency: str = ADJACENCY, unit: str = "record"
) -> Ledger:
    """Anything that is (ε, δ)-differentially private."""
    return event("approximate-dp", epsilon=epsilon, delta=delta, adjacency=adjacency, unit=unit)


def zcdp(rho: float, *, adjacency: str = ADJACENCY, unit: str = "record") -> Ledger:
    """Anything that is ρ-zero-concentrated differentially private."""
    return event("zcdp", rho=rho, adjacency=adjacency, unit=unit)


def gdp(mu: float, *, adjacency: str = ADJACENCY, unit: str = "record") -> Ledger:
    """Anything that is μ-Gaussian differentially private."""
    return event("gdp", mu=mu, adjacency=adjacency, unit=unit)


def compose(*ledgers: Ledger) -> Ledger:
    """All events of all ledgers, one after the other; later ones may depend on earlier results.

    Examples
    --------
    >>> from reticent import accounting as acc
    >>> both = acc.compose(acc.gaussian(3.0), acc.gaussian(4.0))
    >>> round(acc.gaussian(2.4).mu, 9) == round(both.mu, 9)  # 1/3² + 1/4² = 1/2.4²
    True
    """
    return Ledger(_reticent.Ledger.composed([ledger._native for ledger in ledgers]))


def _at(
    ask: Callable[[list[float]], tuple[list[float], list[float]]], given: ArrayLike, bounds: bool
) -> Any:
    at = np.asarray(given, dtype=np.float64)
    lower, upper = ask(at.ravel().tolist())
    if at.ndim == 0:
        return Interval(lower[0], upper[0]) if bounds else upper[0]
    ends = Interval(np.reshape(lower, at.shape), np.reshape(upper, at.shape))
    return ends if bounds else ends.upper


def _each(
    of: Callable[[Ledger, ArrayLike, bool], Any],
    ledgers: Sequence[Ledger],
    given: ArrayLike,
    bounds: bool,
) -> Any:
    at = np.asarray(given, dtype=np.float64)
    rows = [of(ledger, at, bounds) for ledger in ledgers]
    if bounds:
        lower = np.array([row.lower for row in rows])
        return Interval(lower, np.array([row.upper for row in rows]))
    return np.array(rows)


@overload
def epsilon(ledger: Ledger, delta: float) -> float: ...
@overload
def epsilon(
    ledger: Ledger | Sequence[Ledger], delta: ArrayLike, *, bounds: bool = False
) -> Any: ...
def epsilon(ledger: Ledger | Sequence[Ledger], delta: ArrayLike, *, bounds: bool = False) -> Any:
    """ε of a ledger at δ.

    Parameters
    ----------
    ledger : Ledger or sequence of Ledger
        The events. For a sequence the answer has one row per ledger.
    delta : float or array
        δ, the additive slack in probability.
    bounds : bool
        Return both ends of the bound instead of the upper one.

    Returns
    -------
    float, array or Interval
        In the shape of ``delta``; infinite without a guarantee.

    Examples
    --------
    >>> from reticent import accounting as acc
    >>> round(acc.epsilon(acc.pure_dp(0.5) * 2, 0.0), 9)  # rounded up, in the last digit
    1.0
    >>> several = [acc.gaussian(z) for z in (4.0, 8.0, 16.0)]
    >>> acc.epsilon(several, [1e-6, 1e-5]).shape
    (3, 2)
    """
    if isinstance(ledger, Ledger):
        return _at(ledger._native.epsilons, delta, bounds)
    return _each(lambda one, at, both: epsilon(one, at, bounds=both), ledger, delta, bounds)


@overload
def delta(ledger: Ledger, epsilon: float) -> float: ...
@overload
def delta(
    ledger: Ledger | Sequence[Ledger], epsilon: ArrayLike, *, bounds: bool = False
) -> Any: ...
def delta(ledger: Ledger | Sequence[Ledger], epsilon: ArrayLike, *, bounds: bool = False) -> Any:
    """δ of a ledger at ε; as :func:`epsilon`.

    Examples
    --------
    >>> from reticent import accounting as acc
    >>> acc.delta(acc.pure_dp(0.5), [0.0, 0.25, 1.0]).round(3)
    array([0.245, 0.138, 0.   ])
    """
    if isinstance(ledger, Ledger):
        return _at(ledger._native.deltas, epsilon, bounds)
    return _each(lambda one, at, both: delta(one, at, bounds=both), ledger, epsilon, bounds)


def profile(ledger: Ledger, epsilon: ArrayLike | None = None) -> Profile:
    """δ at each ε, to draw; by default from 0 to 10.

    Examples
    --------
    >>> from reticent import accounting as acc
    >>> curve = acc.profile(acc.gaussian(2.0), [0.0, 1.0, 2.0])
    >>> bool((curve.delta[1:] < curve.delta[:-1]).all())
    True
    """
    wanted = np.linspace(0.0, 10.0, 101) if epsilon is None else epsilon
    at = np.atleast_1d(np.asarray(wanted, float))
    return Profile(at, np.asarray(delta(ledger, at)))


def trade_off(ledger: Ledger, false_alarms: ArrayLike | None = None) -> TradeOff:
    """Smallest miss rate of any test, at each false-alarm rate."""
    at = np.linspace(0.0, 1.0, 101) if false_alarms is None else np.asarray(false_alarms, float)
    at = np.atleast_1d(at)
    return TradeOff(at, np.asarray(ledger._native.trade_off(at.tolist())))


def calibrate(epsilon: float, delta: float, plan: Callable[[float], Ledger]) -> Calibrated:
    """The smallest noise multiplier within a budget.

    Parameters
    ----------
    epsilon, delta : float
        The budget.
    plan : callable
        Maps a noise multiplier to the ledger of the whole plan. More noise must cost less.

    Returns
    -------
    Calibrated
        The noise multiplier as ``value``, and the ε of its ledger, which is not above the budget.

    Examples
    --------
    >>> from reticent import accounting as acc
    >>> found = acc.calibrate(1.0, 1e-6, lambda z: acc.gaussian(z) * 10)
    >>> found.epsilon <= 1.0 and found.value > 10.0
    True
    """
    return Calibrated(*_reticent.calibrate(epsilon, delta, lambda z: plan(z)._native))


def calibrate_rate(
    epsilon: float, delta: float, plan: Callable[[float], Ledger], *, largest: float = 1.0
) -> Calibrated:
    """The largest sampling rate, up to ``largest``, within a budget; as :func:`calibrate`.

    Examples
    --------
    >>> from reticent import accounting as acc
    >>> found = acc.calibrate_rate(2.0, 1e-6, lambda q: acc.poisson_gaussian(2.0, rate=q) * 100)
    >>> 0.0 < found.value < 0.2 and found.epsilon <= 2.0
    True
    """
    return Calibrated(
        *_reticent.calibrate_sampling(epsilon, delta, largest, lambda rate: plan(rate)._native)
    )


def calibrate_steps(
    epsilon: float, delta: float, ledger: Ledger, *, most: int = 1_000_000
) -> Calibrated:
    """How many times the events of a ledger fit into a budget, up to ``most`` times.

    Examples
    --------
    >>> from reticent import accounting as acc
    >>> found = acc.calibrate_steps(1.1, 0.0, acc.pure_dp(0.25))
    >>> found.value
    4
    """
    steps, spent = _reticent.calibrate_repetitions(epsilon, delta, most, ledger._native)
    return Calibrated(steps, spent)


class Filter:
    """Privacy filter: a budget for steps that are chosen after seeing earlier results.

    The bounds of :func:`epsilon` are for a plan fixed in advance; if the next step, or whether
    there is one, depends on results, use this (proofs/filter.md).

    Parameters
    ----------
    epsilon, delta : float
        Total budget.

    Examples
    --------
    >>> from reticent import accounting as acc
    >>> budget = acc.Filter(2.0, 1e-6)
    >>> step = acc.gaussian(20.0)
    >>> while budget.admits(step):
    ...     budget.spend(step)
    >>> 10 < len(budget.spent) < 60
    True
    >>> budget.spend(step)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    reticent.errors.BudgetExceeded: the step does not fit into what is left of ...
    """

    def __init__(self, epsilon: float, delta: float) -> None:
        self._native = _reticent.Filter(epsilon, delta)
        self._budget = (epsilon, delta)

    @property
    def budget(self) -> tuple[float, float]:
        """ε and δ."""
        return self._budget

    @property
    def spent(self) -> Ledger:
        """What was spent."""
        return Ledger(self._native.spent())

    def admits(self, ledger: Ledger) -> bool:
        """Whether all events of a ledger fit into the remaining budget."""
        return self._native.admits(ledger._native)

    def spend(self, ledger: Ledger) -> None:
        """Spend the events of a ledger, before they happen.

        Raises
        ------
        BudgetExceeded
            If they do not all fit; nothing is spent then.
        """
        if not self._native.spend(ledger._native):
            raise BudgetExceeded(
                f"the step does not fit into what is left of {self._budget}: "
                "stop, or use more noise"
            )

    def odometer(self, delta: float) -> float:
        """ε at δ spent so far, valid at an adaptively chosen step."""
        return self._native.odometer(delta)[1]

    def __repr__(self) -> str:
        epsilon, delta = self._budget
        return f"Filter(epsilon={epsilon}, delta={delta}, events={len(self.spent)})"
