"""The budget of a data set, which all fits of it pay from."""

from __future__ import annotations

import atexit
import html
import math
import os
import pathlib
import shutil
import tempfile
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from ._frames import frame
from ._penalties import number
from ._reticent import Store

__all__ = ["Budget"]

# Folders of budgets in memory, with the process that made them.
_FOLDERS: list[tuple[int, str]] = []


def _remove() -> None:
    for process, folder in _FOLDERS:
        if process == os.getpid():
            shutil.rmtree(folder, ignore_errors=True)


atexit.register(_remove)


# The columns of its jobs.
_JOB = ("job", "label", "time", "ε", "δ", "status")


def _up(value: float) -> str:
    """Four digits, rounded up: what is spent is never shown as less."""
    return _digits(value, math.ceil)


def _down(value: float) -> str:
    """Four digits, rounded down: what is left is never shown as more."""
    return _digits(value, math.floor)


def _digits(value: float, rounded: Callable[[float], int]) -> str:
    if not math.isfinite(value) or value == 0.0:
        return f"{value:g}"
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 3)
    return f"{rounded(round(value / step, 9)) * step:.4g}"


class Budget:
    """Privacy budget of a data set, shared by all its fits.

    Every fit reserves the cost of its plan before the first noise is drawn; a fit that would exceed
    the budget is refused. Costs are composed exactly, by a filter that is valid when the next fit
    is chosen after seeing earlier models.

    A ``Budget`` is a handle. ``clone``, ``copy.deepcopy``, pickling and the processes of joblib all
    share the same budget, never a copy of its balance.

    Parameters
    ----------
    epsilon, delta : float
        Guarantee for all fits together. ``delta`` must be above 0.
    adjacency : {"replace-one", "add-remove"}
        Neighbouring relation.
    unit : {"record", "user"}
        What is protected.
    rows_per_user : int, optional
        Public bound on the rows of one user, for counting a fit that protects records.
    dataset : str
        Name of the data set.

    Notes
    -----
    Without a file (see :meth:`create` and :meth:`open`) it lives as long as this process, in a
    folder that only its owner can read; other processes find it by its path.

    A table in memory does not identify its people: a fold, a sample and the whole table are of the
    same people. A query of one is charged to everybody in the budget, unless its people are
    declared to be in no other table (:meth:`for_disjoint_people`).
    The budget records the name of the user ids: that of the ``groups`` (a Series), or :meth:`of_users`.

    Examples
    --------
    >>> from reticent import Budget
    >>> budget = Budget(epsilon=2.0, delta=1e-6)
    >>> budget.counted
    0.0
    """

    _path: str
    _disjoint_people: str | None = None
    _users: str | None = None

    def __init__(
        self,
        epsilon: float,
        delta: float,
        *,
        adjacency: str = "replace-one",
        unit: str = "record",
        rows_per_user: int | None = None,
        dataset: str = "a table in memory",
    ) -> None:
        folder = tempfile.mkdtemp(prefix="reticent-")
        _FOLDERS.append((os.getpid(), folder))
        made = Budget.create(
            os.path.join(folder, "memory.budget"),
            epsilon,
            delta,
            adjacency=adjacency,
            unit=unit,
            rows_per_user=rows_per_user,
            dataset=dataset,
        )
        self._path = made._path

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        epsilon: float,
        delta: float,
        *,
        adjacency: str = "replace-one",
        unit: str = "record",
        rows_per_user: int | None = None,
        dataset: str | None = None,
    ) -> Budget:
        """Create a budget in a new file, which the command line can use as well.

        Raises
        ------
        FileExistsError
            If there is a file of that name.
        """
        Store.create(
            os.fspath(path),
            dataset=dataset if dataset is not None else pathlib.Path(path).stem,
            epsilon=number("epsilon", epsilon),
            delta=number("delta", delta),
            adjacency=adjacency,
            unit=unit,
            rows_per_user=rows_per_user,
        )
        return cls._at(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Budget:
        """Open the budget in a file, created here or by ``reticent budget new``."""
        budget = cls._at(path)
        budget.summary()
        return budget

    @classmethod
    def _at(
        cls,
        path: str | os.PathLike[str],
        disjoint_people: str | None = None,
        users: str | None = None,
    ) -> Budget:
        budget = cls.__new__(cls)
        budget._path = os.path.abspath(os.fspath(path))
        budget._disjoint_people = disjoint_people
        budget._users = users
        return budget

    @property
    def path(self) -> str:
        """The file."""
        return self._path

    @property
    def disjoint_people(self) -> str | None:
        """Name under which this handle declares the people of its tables disjoint."""
        return self._disjoint_people

    @property
    def users(self) -> str | None:
        """Name of the user ids of this handle."""
        return self._users

    def for_disjoint_people(self, name: str) -> Budget:
        """The same budget for people who are in no other table of it.

        Taken as given, and recorded, as the same statement is on the command line. These people then
        have a budget of the same size of their own. ``name`` is what the budget knows them by, such
        as "south": whatever is asked under it adds up, the whole table, its folds, other columns.
        Rows that the budget knows under another name count for everybody; that a table was read from
        a file of the budget it does not see.
        """
        if not isinstance(name, str) or not name.strip():
            raise ValueError("name must say who these people are, such as 'south'")
        # Two spellings of one name would be two budgets of the same people.
        name = unicodedata.normalize("NFC", name).strip()
        return Budget._at(self._path, disjoint_people=name, users=self._users)

    def of_users(self, name: str) -> Budget:
        """The same budget for groups without a name, such as an array.

        ``name`` says who a user is, such as "patient". The first job that protects users binds it,
        and one that goes by another name is refused: visits are no patients.
        """
        if not isinstance(name, str) or not name.strip():
            raise ValueError("name must say who a user is, such as 'patient'")
        return Budget._at(self._path, disjoint_people=self._disjoint_people, users=name)

    def summary(self) -> dict[str, Any]:
        """Guarantee, counted and remaining ε, and every job."""
        return Store(self._path).summary(False)

    def check(self) -> dict[str, Any]:
        """Recompute everything from the ledgers, and return the summary.

        Raises
        ------
        BudgetError
            If the history does not fit together; it names the first line that does not.
        """
        return Store(self._path).summary(True)

    def forfeit(self, job: int) -> None:
        """Close a job that never came back; it stays counted."""
        Store(self._path).forfeit(job)

    @property
    def epsilon(self) -> float:
        """What is promised."""
        return float(self.summary()["epsilon"])

    @property
    def delta(self) -> float:
        """What is promised."""
        return float(self.summary()["delta"])

    @property
    def counted(self) -> float:
        """The ε counted so far."""
        return float(self.summary()["counted"])

    @property
    def left(self) -> float:
        """Largest ε of a further fit with Gaussian noise."""
        return float(self.summary()["left"])

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """All jobs, in order."""
        return list(self.summary()["jobs"])

    def course(self, at_most: int = 200) -> Any:
        """Spending over time: the counted ε after each change, one row each, in order.

        Parameters
        ----------
        at_most : int
            So many rows; of a longer history some are left out.

        Returns
        -------
        pandas.DataFrame
            ``time`` and ``counted``; a dict of arrays without pandas.
        """
        moments = Store(self._path).course(at_most)
        times = np.asarray([time.removesuffix("Z") for time, _ in moments], dtype="datetime64[ms]")
        return frame({"time": times, "counted": [counted for _, counted in moments]})

    def _repr_html_(self) -> str:
        try:
            now = self.summary()
        except Exception:
            return f"<p>{html.escape(repr(self))}</p>"
        cell = "<td style='text-align:left'>{}</td>"
        said = [
            ("data set", now["dataset"]),
            ("promised", f"ε = {now['epsilon']:g}, δ = {now['delta']:g}"),
            ("neighbours", f"{now['adjacency']}, {now['unit']}"),
            ("counted", f"ε = {_up(now['counted'])}"),
            ("left", f"ε = {_down(now['left'])}"),
        ]
        rows = "".join(
            f"<tr><th style='text-align:left'>{name}</th>{cell.format(html.escape(str(text)))}</tr>"
            for name, text in said
        )
        jobs = "".join(
            "<tr>"
            + "".join(
                cell.format(html.escape(str(text)))
                for text in (
                    job["number"], job["label"], job["time"], _up(job["epsilon"]),
                    f"{job['delta']:g}", job["status"],
                )
            )
            + "</tr>"
            for job in now["jobs"]
        )
        head = "".join(f"<th style='text-align:left'>{name}</th>" for name in _JOB)
        return (
            f"<table>{rows}</table><details><summary>Jobs ({len(now['jobs'])})</summary>"
            f"<table><tr>{head}</tr>{jobs}</table></details>"
        )

    def __copy__(self) -> Budget:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Budget:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Budget._at, (self._path, self._disjoint_people, self._users))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Budget) and other.__reduce__() == self.__reduce__()

    def __hash__(self) -> int:
        return hash(self._path)

    def __repr__(self) -> str:
        try:
            now = self.summary()
        except Exception:
            return f"Budget.open({self._path!r})"
        return (
            f"Budget(epsilon={now['epsilon']:g}, delta={now['delta']:g}, "
            f"counted={now['counted']:.4g}, left={now['left']:.4g})"
        )
