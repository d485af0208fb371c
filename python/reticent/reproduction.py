"""The experiments of the papers behind the algorithms, run again, and their claims checked."""

from __future__ import annotations

import csv
import io
import math
import os
import pathlib
from typing import Any

from . import _reticent
from ._frames import frame

__all__ = ["Reproduction", "experiments", "reproduce"]


class Reproduction:
    """Result of an experiment.

    Attributes
    ----------
    name : str
        The experiment.
    claims : pandas.DataFrame
        ``claim``, ``version``, ``verdict`` ("held", "did not hold" or "undecided"), ``numbers``,
        ``class`` ("held", "undecided", "unexplained" or why it did not hold) and ``why``, one
        sentence; a dict of arrays without pandas.
    figures : dict
        The numbers of each figure, by its name: ``series``, ``x``, ``mean``,
        ``standard_deviation``, ``standard_error`` and ``runs``.
    pictures : dict
        The same as SVG, by name.
    notes : list of str
        Remarks: what was reduced, what was not available.
    stand_ins : list of str
        Missing public tables, replaced by simulated ones; no claim is made about them.
    """

    def __init__(self, name: str, said: tuple[Any, ...]) -> None:
        claims, figures, self.notes, self.stand_ins = said
        self.name = name
        heads = ("claim", "version", "verdict", "numbers", "class", "why")
        self.claims = frame({head: [row[place] for row in claims] for place, head in enumerate(heads)})
        self.figures = {one[0]: _numbers(one[4]) for one in figures}
        self.pictures: dict[str, str] = {one[0]: one[3] for one in figures}

    def _repr_html_(self) -> str:
        table = self.claims._repr_html_() if hasattr(self.claims, "_repr_html_") else ""
        return str(table) + "".join(self.pictures.values())

    def __repr__(self) -> str:
        return f"Reproduction({self.name}, {len(self.claims)} claims, {len(self.figures)} figures)"


def experiments() -> Any:
    """The available experiments, one row each.

    Returns
    -------
    pandas.DataFrame
        ``name``, ``paper``, ``about``, ``needs`` (public tables) and ``claims``; a dict of arrays
        without pandas.

    Examples
    --------
    >>> import reticent
    >>> len(reticent.experiments()["paper"]) > 5
    True
    """
    rows = _reticent.experiments()
    return frame(
        {
            "name": [row[0] for row in rows],
            "paper": [row[1] for row in rows],
            "about": [row[2] for row in rows],
            "needs": [", ".join(row[3]) for row in rows],
            "claims": [" ".join(row[4]) for row in rows],
        },
        index="name",
    )


def reproduce(
    name: str,
    *,
    data: str | os.PathLike[str] | None = None,
    quick: bool = False,
    seeds: int | None = None,
) -> Reproduction:
    """Repeat an experiment of a paper, and check its claims.

    Parameters
    ----------
    name : str
        One of :func:`experiments`.
    data : path, optional
        Folder of the public tables; default the variable RETICENT_DATA.
    quick : bool
        A small run: few seeds, few budgets, few rows; a simulated table replaces a missing one.
    seeds : int, optional
        Number of seeds, instead of the experiment's own.

    Returns
    -------
    Reproduction
        Claims with their verdicts, and the numbers of the figures. All tables are public or
        simulated and all noise is seeded: no model of it is private.
    """
    folder = os.environ.get("RETICENT_DATA") if data is None else os.fspath(data)
    where = None if folder is None else pathlib.Path(folder)
    return Reproduction(name, _reticent.reproduce(name, where, bool(quick), seeds))


def _numbers(text: str) -> Any:
    """A figure's CSV as a table."""
    rows = list(csv.DictReader(io.StringIO(text)))

    def column(head: str) -> list[Any]:
        return [float(row[head]) if row[head] else math.nan for row in rows]

    names = ("x", "mean", "standard_deviation", "standard_error", "runs")
    return frame({"series": [row["series"] for row in rows], **{one: column(one) for one in names}})
