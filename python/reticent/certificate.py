"""What is guaranteed, to whom, by how much and under which assumptions."""

from __future__ import annotations

import html
import os
import pathlib
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _reticent
from .errors import NotCertified

__all__ = ["Certificate", "Profile", "TradeOff"]


class Profile(NamedTuple):
    """δ as a function of ε."""

    epsilon: NDArray[np.float64]
    delta: NDArray[np.float64]


class TradeOff(NamedTuple):
    """Smallest miss rate of any test, at each false-alarm rate."""

    false_alarms: NDArray[np.float64]
    missed: NDArray[np.float64]


class Certificate:
    """The certificate of one run, as ``model.json`` and ``certificate.json`` hold it.

    Attributes
    ----------
    certified : bool
        Whether the numbers are a guarantee.
    reasons : list of str
        Reasons if they are not.
    delta : float
        The δ of the run.
    adjacency, unit, view : str
        Neighbouring relation, unit of protection, and observer.
    meaning : str
        The guarantee in one sentence.
    noise : str
        ``"secure"``, ``"seeded, NOT PRIVATE"`` or ``"none"``.
    assumptions : list of str
        Assumptions of the guarantee.
    """

    def __init__(
        self, native: _reticent.Certificate, model: _reticent.Model | None = None
    ) -> None:
        self._native = native
        # That the model is the one that it was written for can be checked while it is there.
        self._model = model

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read the text of a certificate file."""
        return cls(_reticent.Certificate.from_json(text))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate file."""
        return cls.from_json(pathlib.Path(path).read_text(encoding="utf-8"))

    def to_json(self) -> str:
        """The certificate as its file, to the byte."""
        return self._native.to_json()

    def epsilon(self, delta: float | None = None) -> float:
        """ε at ``delta``, or at the δ of the run; infinite without a guarantee."""
        if delta is None:
            return self._native.epsilon
        return self._native.epsilons([float(delta)])[0]

    def profile(self, epsilon: ArrayLike | None = None) -> Profile:
        """δ at each ε; by default from 0 to twice the certified ε."""
        if epsilon is None:
            most = self._native.epsilon
            epsilon = np.linspace(0.0, 2.0 * most if np.isfinite(most) else 10.0, 41)
        at = np.atleast_1d(np.asarray(epsilon, dtype=np.float64))
        return Profile(at, np.asarray(self._native.deltas(at.tolist())))

    def trade_off(self, false_alarms: ArrayLike | None = None) -> TradeOff:
        """Smallest miss rate of an attacker at each false-alarm rate."""
        if false_alarms is None:
            false_alarms = np.linspace(0.0, 1.0, 101)
        at = np.atleast_1d(np.asarray(false_alarms, dtype=np.float64))
        return TradeOff(at, np.asarray(self._native.trade_off(at.tolist())))

    def verify(self) -> Certificate:
        """Recompute it from its ledger, and check its digests.

        Returns
        -------
        Certificate
            Itself.

        Raises
        ------
        NotCertified
            If it is no guarantee, or says something else than its ledger.
        """
        whole = self._native if self._model is None else self._model
        problems = whole.problems()
        if problems:
            raise NotCertified(f"the certificate does not hold: {'; '.join(problems)}")
        if not self.certified:
            raise NotCertified(self.meaning)
        return self

    @property
    def certified(self) -> bool:
        return self._native.certified

    @property
    def reasons(self) -> list[str]:
        return self._native.reasons

    @property
    def delta(self) -> float:
        return self._native.delta

    @property
    def adjacency(self) -> str:
        return self._native.adjacency

    @property
    def unit(self) -> str:
        return self._native.unit

    @property
    def view(self) -> str:
        return self._native.view

    @property
    def meaning(self) -> str:
        return self._native.meaning

    @property
    def noise(self) -> str:
        return self._native.noise

    @property
    def algorithm(self) -> str:
        return self._native.algorithm

    @property
    def population(self) -> int:
        return self._native.population

    @property
    def assumptions(self) -> list[str]:
        return self._native.assumptions

    def _rows(self) -> list[tuple[str, str]]:
        return [
            ("certified", "yes" if self.certified else "NO"),
            ("epsilon", f"{self.epsilon():.4g}"),
            ("delta", f"{self.delta:g}"),
            ("adjacency", self.adjacency),
            ("unit", self.unit),
            ("view", self.view),
            ("noise", self.noise),
            ("algorithm", self.algorithm),
        ]

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self._rows()
        )
        relies = "".join(f"<li>{html.escape(text)}</li>" for text in self.assumptions)
        return (
            f"<table>{rows}</table><p>{html.escape(self.meaning)}</p>"
            f"<details><summary>What it relies on</summary><ul>{relies}</ul></details>"
        )

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value}" for name, value in self._rows())
        return f"Certificate({inside})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and other.to_json() == self.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Certificate.from_json, (self.to_json(),))
