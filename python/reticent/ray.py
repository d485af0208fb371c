"""Fits, sweeps and audits on a Ray cluster. ``pip install reticent[ray]``.

An actor holds each shard of a table and answers exact sums; ledger, samples and noise stay with the
driver (:mod:`reticent.shards`). Whoever may run code in the cluster can read what its actors hold: the
cluster is trusted with the table, and the certificate says so.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import ray  # pyright: ignore[reportMissingImports]

from . import shards as _shards
from . import sweeping
from ._base import PrivateEstimator
from ._shard_worker import Actor
from ._whole import whole
from .auditing import Audit
from .auditing import audit as _audit
from .sweeping import Sweep

__all__ = ["Actors", "audit", "fit", "sweep"]

PLAIN = (
    "exact sums of the table travel in this cluster in the clear: start it with RAY_USE_TLS=1 (and RAY_TLS_SERVER_CERT, "
    "RAY_TLS_SERVER_KEY, RAY_TLS_CA_CERT) on every machine, or say allow_plaintext=True if its network is yours alone; "
    "the certificate then says so"
)


class Actors(_shards.Engine):
    """Workers in actors of a Ray cluster.

    A lost actor is started anew by Ray, reads its files again, and the question is asked again: the
    answer has the same bits.

    Parameters
    ----------
    restarts : int
        How often each actor is started anew if it is lost.
    num_cpus : float
        Processors of each actor; its threads are as many.
    memory : int, optional
        Bytes that Ray keeps for each actor; about those of its part of the encoded table, and with
        ``shards=N`` of the whole table, which it reads first.
    allow_plaintext : bool
        Whether sums may travel between machines without encryption.
    address : str, optional
        Of the cluster, as for ``ray.init``; by default the one that is connected, or a new one on this
        machine.
    """

    def __init__(
        self,
        restarts: int = 3,
        num_cpus: float = 1,
        memory: int | None = None,
        allow_plaintext: bool = False,
        address: str | None = None,
    ) -> None:
        self.restarts = whole("restarts", restarts, 0)
        self.num_cpus = float(num_cpus)
        self.memory = memory
        connect(address)
        tls = is_encrypted()
        if not tls and not allow_plaintext and not is_local():
            raise ValueError(PLAIN)
        self.encrypted: bool | None = tls or is_local()
        self._actors: list[Any] = []

    @property
    def actors(self) -> list[Any]:
        """The handles of the actors."""
        return list(self._actors)

    def start(self, jobs: Sequence[tuple[Any, ...]]) -> None:
        threads = str(max(1, int(self.num_cpus)))
        options: dict[str, Any] = {
            "num_cpus": self.num_cpus,
            "max_restarts": self.restarts,
            "max_task_retries": self.restarts,
            "runtime_env": {"env_vars": {"RAYON_NUM_THREADS": threads}},
        }
        if self.memory is not None:
            options["memory"] = whole("memory", self.memory, 1)
        actor = ray.remote(Actor).options(**options)
        self._actors = [actor.remote(*job) for job in jobs]
        for answer in ray.get([one.ready.remote() for one in self._actors]):
            if answer is not None:
                raise answer

    def ask(self, requests: Sequence[tuple[int, bytes]]) -> list[bytes]:
        asked = [self._actors[number].answer.remote(request) for number, request in requests]
        return list(ray.get(asked))

    def stop(self) -> None:
        for actor in self._actors:
            ray.kill(actor)
        self._actors = []


def connect(address: str | None = None) -> None:
    """Connect to a cluster, or start one on this machine that opens no page and reports nothing."""
    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is not None or os.environ.get("RAY_ADDRESS"):
        ray.init(address=address, log_to_driver=False)
    else:
        ray.init(include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)


def is_encrypted() -> bool:
    """Whether the cluster uses TLS, as its variable in the environment of this process says."""
    return os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true")


def is_local() -> bool:
    """Whether all of the cluster is this machine, and its processes talk over loopback."""
    nodes = [node for node in ray.nodes() if node["Alive"]]
    return len(nodes) == 1 and nodes[0]["NodeManagerAddress"] in ("127.0.0.1", "::1")


def fit(
    estimator: PrivateEstimator, data: Any, *, shards: int | None = None, **options: Any
) -> PrivateEstimator:
    """Fit files in shards, each held by an actor of a Ray cluster.

    Parameters
    ----------
    estimator, data, shards
        As for :func:`reticent.shards.fit`. Files must be readable by the driver and by every worker.
    **options
        Of :class:`Actors`.

    Returns
    -------
    estimator
        The fitted estimator.
    """
    return _shards.fit(estimator, data, shards=shards, engine=Actors(**options))


def sweep(
    estimator: PrivateEstimator,
    X: Any,
    y: Any,
    param_grid: Any,
    *,
    groups: Any = None,
    test: tuple[Any, Any] | None = None,
    repeats: int = 5,
    public: bool = False,
    num_cpus: float = 1,
    address: str | None = None,
) -> Sweep:
    """Fit every point of a grid several times, the runs spread over a Ray cluster.

    The runs, what is refused and what each pays are those of :func:`reticent.sweep`: every run that is
    not public has its own entry in the budget, which must be on a disk of this machine, so that a paid
    sweep needs a cluster of this machine alone.

    Parameters
    ----------
    estimator, X, y, param_grid, groups, test, repeats, public
        As for :func:`reticent.sweep`.
    num_cpus : float
        Processors of each run.
    address : str, optional
        Of the cluster, as for ``ray.init``.

    Returns
    -------
    Sweep
        One row per run, and their means.
    """
    connect(address)
    if not public and not is_local():
        raise ValueError(
            "a budget is a file of one machine, and this cluster has others: run a paid sweep with "
            "reticent.sweep, or on a cluster of this machine alone"
        )
    threads = str(max(1, int(num_cpus)))
    environment = {"env_vars": {"RAYON_NUM_THREADS": threads}}
    # What was begun and paid is not begun again: a lost run stays counted.
    run = ray.remote(sweeping.fitted).options(
        num_cpus=num_cpus, max_retries=0, runtime_env=environment
    )
    shared = ray.put((X, y) if groups is None else (X, y, groups))

    def carry(models: list[PrivateEstimator]) -> Any:
        waiting = [run.remote(model, shared) for model in models]
        try:
            for one in waiting:
                try:
                    yield ray.get(one)
                except ray.exceptions.RayTaskError as error:
                    yield error.cause
                except ray.exceptions.RayError as error:
                    yield error
        finally:
            for one in waiting:
                ray.cancel(one, force=False)

    return sweeping.swept(
        estimator,
        (X, y, groups),
        param_grid,
        carry,
        test=test,
        repeats=repeats,
        public=public,
    )


def audit(
    attacks: Sequence[dict[str, Any]], *, num_cpus: float = 1, address: str | None = None
) -> list[Audit]:
    """Attack several algorithms, each attack a task of a Ray cluster.

    An audit uses no table of yours.

    Parameters
    ----------
    attacks : list of dict
        Arguments of :func:`reticent.audit`, a dict for each attack.
    num_cpus : float
        Processors of each attack.
    address : str, optional
        Of the cluster, as for ``ray.init``.

    Returns
    -------
    list of Audit
        In the order of the attacks; the same as :func:`reticent.audit` gives with the same
        ``random_state``.
    """
    connect(address)
    threads = str(max(1, int(num_cpus)))
    task = ray.remote(_attack).options(
        num_cpus=num_cpus, runtime_env={"env_vars": {"RAYON_NUM_THREADS": threads}}
    )
    reports = ray.get([task.remote(attack) for attack in attacks])
    return [Audit(report) for report in reports]


def _attack(attack: dict[str, Any]) -> dict[str, Any]:
    return _audit(**attack).report
