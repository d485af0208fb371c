"""A table in files, in place of one in memory."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["Files"]


class Files:
    """The files of one table, to ask about in place of a table in memory.

    :func:`mean`, :func:`histogram`, :func:`quantile`, :func:`class_counts`, :func:`evaluate` and
    :func:`fit_files` take it. The figures are the same for a table in memory, in files and in a cache file.

    Parameters
    ----------
    paths : path, or list of paths
        CSV, TSV, LIBSVM or Parquet files of one table, folders of them, or patterns with ``*`` and ``?``;
        each in byte order of the names.
    cache : path, optional
        Folder for a cache file in place of memory. The file has no name, and nothing of it is left.
    keep_cache : bool
        Keep that file, and use it again for the same table. It has all rows; the folder must be one that
        nobody else may write to. Linux only.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import reticent
    >>> folder = tempfile.TemporaryDirectory()
    >>> written = pathlib.Path(folder.name, "ages.csv").write_text("age\\n" + "40\\n" * 4000)
    >>> ages = reticent.Files(f"{folder.name}/*.csv", cache=folder.name)
    >>> age = {"name": "age", "kind": "numeric", "lower": 0, "upper": 100}
    >>> schema = {"row_norm": 1, "column": [age]}
    >>> found = reticent.mean(ages, "age", schema=schema, epsilon=0.5, delta=1e-6)
    >>> 35 < found["age"]["value"] < 45
    True
    >>> folder.cleanup()
    """

    def __init__(
        self,
        paths: Any,
        *,
        cache: str | os.PathLike[str] | None = None,
        keep_cache: bool = False,
    ) -> None:
        listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        # By whole names: a file that is called as standard input is on the command line is a file.
        self.paths = [os.path.abspath(path) for path in listed]
        self.cache = None if cache is None else os.path.abspath(cache)
        self.keep_cache = bool(keep_cache)

    def _request(self) -> dict[str, Any]:
        """The same for the library."""
        return {"paths": self.paths, "cache": self.cache, "keep_cache": self.keep_cache}

    def __repr__(self) -> str:
        paths = self.paths[0] if len(self.paths) == 1 else self.paths
        kept = ", keep_cache=True" if self.keep_cache else ""
        cache = "" if self.cache is None else f", cache={self.cache!r}"
        return f"Files({paths!r}{cache}{kept})"


def refuse_beside(**given: Any) -> None:
    """Refuses what says of files what their schema says."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} is for tables in memory: declare it in the schema of the files, or leave it out")


def refuse_named_people(payer: dict[str, Any] | None) -> None:
    """Refuses a budget that knows a table by the name of its people."""
    if payer is not None and payer["disjoint_people"] is not None:
        raise ValueError("budget.for_disjoint_people is for tables in memory: files are known by their content")
