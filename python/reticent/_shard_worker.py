"""A worker's side of a table in shards. It loads the native library and nothing else."""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import signal
from typing import Any

from . import _reticent


def open_shard(request: dict[str, Any], sharding: dict[str, Any], number: int) -> _reticent.Shard:
    """Read the rows of a shard, in the worker that will hold them."""
    # Of the library that is here, whatever the driver has.
    return _reticent.Shard(request, {**sharding, "build": build_digest()}, number)


@functools.lru_cache(maxsize=1)
def build_digest() -> bytes:
    """Stands for the compiled library: workers must have the same file."""
    file = _reticent.__file__
    assert file is not None
    return hashlib.sha256(pathlib.Path(file).read_bytes()).digest()


def serve(pipe: Any, job: tuple[Any, ...]) -> None:
    """A process's life: it reads its rows, and answers until nobody asks."""
    # Ctrl-C is the driver's.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        shard = open_shard(*job)
    except Exception as error:
        pipe.send(("refused", error))
        return
    pipe.send(("ready", None))
    while True:
        try:
            request = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            pipe.send(("answer", shard.answer(request)))
        except ValueError as error:
            pipe.send(("refused", error))


class Actor:
    """Holds a shard, wherever an object with methods can be put."""

    def __init__(self, *job: Any) -> None:
        self.refused: Exception | None = None
        try:
            self.shard = open_shard(*job)
        except Exception as error:
            # Raised by whoever waits: a worker that fails to start is started anew for nothing.
            self.refused = error

    def ready(self) -> Exception | None:
        return self.refused

    def answer(self, request: bytes) -> bytes:
        if self.refused is not None:
            raise self.refused
        return self.shard.answer(request)

    def pid(self) -> int:
        return os.getpid()
