"""Fits on files, also on tables larger than the memory."""

from __future__ import annotations

import os
from typing import Any

from . import _reticent
from ._base import PrivateEstimator
from ._file_jobs import adopted, payer_of, request_of
from ._file_tables import Files
from ._wrappers import warn_of_callers

__all__ = ["fit_files"]


def fit_files(
    estimator: PrivateEstimator,
    data: Any,
    *,
    cache: str | os.PathLike[str] | None = None,
    keep_cache: bool = False,
) -> PrivateEstimator:
    """Fit an estimator to files, as ``reticent fit`` does.

    With ``cache`` the table is never in memory: it is read into a file in that folder, and every question
    about it is a scan of the file. The model has the same bits. What is offered is in docs/scale.md.

    Parameters
    ----------
    estimator : a private estimator
        It is fitted and returned. It needs a ``schema`` that declares the target, and the column of users
        if there is one.
    data : path, list of paths, or Files
        CSV, TSV, LIBSVM or Parquet files of one table, folders of them, or patterns with ``*`` and ``?``;
        each in byte order of the names.
    cache : path, optional
        Folder for a cache file in place of memory. The file has no name, and nothing of it is left.
    keep_cache : bool
        Keep that file, and use it again for the same table. It has all rows; the folder must be one that
        nobody else may write to. Linux only.

    Returns
    -------
    estimator
        The fitted estimator.

    Raises
    ------
    ValueError
        If ``cache`` is given for a fit that needs the rows in memory, ``keep_cache`` without ``cache``, or
        a file twice.
    DataError
        If the table cannot be read under the schema, or the cache file not be written.
    """
    request = request_of(estimator)
    if not isinstance(data, Files):
        data = Files(data, cache=cache, keep_cache=keep_cache)
    elif cache is not None or keep_cache:
        raise ValueError("cache and keep_cache are those of the Files: leave them out here")
    warn_of_callers(estimator, stacklevel=2)
    made = _reticent.fit_files(request, data._request(), budget=payer_of(estimator))
    native, iterations, converged, outlook, remark = made
    return adopted(estimator, native, (iterations, converged), outlook, remark)
