"""Fits of a table in shards: workers hold the rows, the driver has the gate.

Every worker reads its part of the table into memory and answers exact integer sums over it. Ledger,
samples and noise are the driver's, once, so that a model has the same bits as a fit of the whole
table, however many shards there are and however often a worker is started anew.

What starts workers and carries bytes is an :class:`Engine`: :class:`Processes` here, Ray in
:mod:`reticent.ray`; another one is a class with three methods.
"""

from __future__ import annotations

import abc
import glob
import multiprocessing
import os
import re
import secrets
from collections.abc import Sequence
from typing import Any

from . import _reticent
from ._base import PrivateEstimator
from ._file_jobs import adopted, payer_of, request_of
from ._shard_worker import build_digest, open_shard, serve
from ._whole import whole
from ._wrappers import warn_of_callers

__all__ = ["Engine", "Processes", "fit", "open_shard"]


class Engine(abc.ABC):
    """Starts workers and carries bytes to them and back.

    A worker makes ``open_shard(*job)`` and answers with its ``answer(request)``. Whoever loses one
    starts it anew and asks again: the same request has the same answer. What comes back is checked by
    the driver: a worker with other rows, of another build or with other arithmetic ends the run.
    """

    #: Whether what travels is encrypted, of workers on machines of a cluster; None for workers of this
    #: machine. The certificate says which.
    encrypted: bool | None = None

    @abc.abstractmethod
    def start(self, jobs: Sequence[tuple[Any, ...]]) -> None:
        """Start a worker for each job, the arguments of :func:`open_shard`."""

    @abc.abstractmethod
    def ask(self, requests: Sequence[tuple[int, bytes]]) -> list[bytes]:
        """Ask workers by number, all at the same time; answers in the order of the requests."""

    @abc.abstractmethod
    def stop(self) -> None:
        """End all workers; also after a failure, and twice."""


class Processes(Engine):
    """Workers in processes of this machine.

    Parameters
    ----------
    restarts : int
        How often each worker is started anew if it ends.
    threads : int, optional
        Threads of each worker; by default the processors of this machine, shared.
    """

    def __init__(self, restarts: int = 3, threads: int | None = None) -> None:
        self.restarts = whole("restarts", restarts, 0)
        self.threads = None if threads is None else whole("threads", threads, 1)
        self._jobs: list[tuple[Any, ...]] = []
        self._workers: list[Any] = []
        self._left: list[int] = []

    @property
    def pids(self) -> list[int]:
        """The ids of the processes."""
        return [process.pid for process, _ in self._workers]

    def start(self, jobs: Sequence[tuple[Any, ...]]) -> None:
        self._jobs = list(jobs)
        self._left = [self.restarts] * len(self._jobs)
        self._workers = [self._started(job) for job in self._jobs]
        for number in range(len(self._jobs)):
            try:
                self._ready(number)
            except EOFError:
                self._anew(number)

    def ask(self, requests: Sequence[tuple[int, bytes]]) -> list[bytes]:
        for number, request in requests:
            self._send(number, request)
        return [self._receive(number, request) for number, request in requests]

    def stop(self) -> None:
        for process, pipe in self._workers:
            pipe.close()
            process.join(timeout=2)
            if process.is_alive():
                process.kill()
                process.join()
        self._workers = []

    def _started(self, job: tuple[Any, ...]) -> Any:
        # Neither the threads nor the locks of this process.
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=serve, args=(there, job), daemon=True)
        threads = self.threads or max(1, (os.cpu_count() or 1) // max(1, len(self._jobs)))
        with _variable("RAYON_NUM_THREADS", str(threads)):
            process.start()
        there.close()
        return process, here

    def _ready(self, number: int) -> None:
        kind, said = self._workers[number][1].recv()
        if kind == "refused":
            raise said

    def _anew(self, number: int) -> None:
        if self._left[number] == 0:
            raise RuntimeError(f"the worker of shard {number} has ended too often")
        self._left[number] -= 1
        process, pipe = self._workers[number]
        pipe.close()
        process.join()
        self._workers[number] = self._started(self._jobs[number])
        try:
            self._ready(number)
        except EOFError:
            self._anew(number)

    def _send(self, number: int, request: bytes) -> None:
        try:
            self._workers[number][1].send_bytes(request)
        except OSError:
            self._anew(number)
            self._send(number, request)

    def _receive(self, number: int, request: bytes) -> bytes:
        try:
            kind, said = self._workers[number][1].recv()
        except (EOFError, OSError):
            self._anew(number)
            self._send(number, request)
            return self._receive(number, request)
        if kind == "refused":
            raise said
        assert isinstance(said, bytes)
        return said


class _variable:
    """A variable of the environment, for what is started meanwhile."""

    def __init__(self, name: str, value: str) -> None:
        self.name, self.value = name, value

    def __enter__(self) -> None:
        self.before = os.environ.get(self.name)
        os.environ[self.name] = self.value

    def __exit__(self, *_: object) -> None:
        if self.before is None:
            del os.environ[self.name]
        else:
            os.environ[self.name] = self.before


class _Seam:
    """What the library asks: the engine, and what it raised last."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.error: BaseException | None = None

    def ask(self, requests: list[tuple[int, bytes]]) -> list[bytes]:
        try:
            return self.engine.ask(requests)
        except BaseException as error:
            self.error = error
            raise


def fit(
    estimator: PrivateEstimator,
    data: Any,
    *,
    shards: int | None = None,
    engine: Engine | None = None,
) -> PrivateEstimator:
    """Fit files in shards, each held by a worker.

    The model has the bits of ``reticent fit`` on the same table; the certificate names the workers
    among what is trusted. What is offered is in docs/scale.md: algorithms of sums, all units with
    ``sampling="full"``, samples where records are protected under "replace-one".

    Parameters
    ----------
    estimator : a private estimator
        It is fitted and returned. It needs a ``schema`` that declares the target.
    data : path, or list of paths
        Files that every worker can read; ``*`` and ``?`` stand for several, in byte order of their
        names. With ``shards`` they are one table; otherwise each entry of the list, a path or a list
        of them, is a shard. Of users, all rows of one must be in one shard.
    shards : int, optional
        Deal one table to so many shards: records by their order, users whole. Each worker reads all
        files and keeps its part.
    engine : Engine, optional
        Default :class:`Processes`.

    Returns
    -------
    estimator
        The fitted estimator.

    Raises
    ------
    ValueError
        If the fit is not offered on shards, or a worker is refused before anything was asked.
    BudgetSpent
        If a worker was lost for good, or was replaced by another, in the middle.
    """
    request = request_of(estimator)
    files, split = _files_of(data, shards)
    _reticent.check_shards(request)
    warn_of_callers(estimator, stacklevel=2)
    payer = payer_of(estimator)
    engine = Processes() if engine is None else engine
    sharding = {
        "files": [[os.path.abspath(file) for file in one] for one in files],
        "split": split,
        "encrypted": engine.encrypted,
        "key": secrets.token_bytes(32),
        "build": build_digest(),
    }
    seam = _Seam(engine)
    try:
        engine.start([(request, sharding, number) for number in range(len(files))])
        made = _reticent.fit_shards(request, sharding, seam, budget=payer)
    except Exception as error:
        if seam.error is not None:
            raise error from seam.error
        raise
    finally:
        engine.stop()
    native, iterations, outlook, remark = made
    return adopted(estimator, native, (iterations, None), outlook, remark)


def _files_of(data: Any, shards: int | None) -> tuple[list[list[str]], bool]:
    """The files of each shard, and whether they are one table."""
    if shards is not None:
        return [_found(data)] * whole("shards", shards, 1), True
    if isinstance(data, (str, os.PathLike)):
        raise ValueError(
            "data is one path: say by shards=N into how many shards its table is dealt, or give a "
            "list, a shard an entry"
        )
    return [_found(one) for one in data], False


def _found(data: Any) -> list[str]:
    if not isinstance(data, (str, os.PathLike)):
        return [file for one in data for file in _found(one)]
    path = os.fspath(data)
    # What is a file is no pattern, whatever its name has in it.
    if os.path.exists(path) or not any(mark in path for mark in "*?["):
        return [path]
    found = sorted((file for file in glob.glob(path) if not _is_kept(file)), key=os.fsencode)
    if not found:
        raise FileNotFoundError(f"no file is called {path!r}")
    return found


def _is_kept(file: str) -> bool:
    """Whether a file is called as a cache that ``keep_cache`` keeps: it is no part of a table."""
    return re.fullmatch(r"reticent-[0-9a-f]{32}\.cache", os.path.basename(file)) is not None
