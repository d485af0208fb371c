"""Runs between parties that show each other no record: hospitals with a server, peers without."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from . import _reticent
from ._base import PrivateEstimator
from ._frames import frame
from ._owners import ids, owners
from ._units import check_stand_in
from ._whole import whole
from .certificate import Certificate
from .errors import NoiseDominatesWarning, warn_beside, warn_of_weakness

__all__ = ["Simulation", "simulate"]

# Fewer holders that are protected as a whole are remarked on.
_FEW = 100

_WHOLE_HOLDERS = (
    "each of the {} holders is protected with all of its records, as one person is, and noise that "
    "hides one of so few hides nearly everything. If holders are institutions, protect the people in "
    'their records: unit="record" in the estimator, or groups, whose each record is'
)


class Simulation:
    """A model trained between parties, with the record of its run.

    Attributes
    ----------
    model : estimator
        The fitted estimator. Its certificate is that of the party that spent most.
    parties : list
        Names of the parties: the holders' labels if records are protected; seats 0, 1, 2, … if
        records were split, or if each party is a person: the seating is drawn.
    certificates : list of Certificate
        Guarantee of each party, in the same order.
    rounds : int
        Number of rounds.
    messages, bytes : int or None
        Traffic; None if it would reveal something about a secret sample.
    rejections : dict
        Number of rejected messages, by reason.
    """

    def __init__(
        self,
        model: PrivateEstimator,
        parties: list[Any],
        certificates: list[Certificate],
        rounds: int,
        traffic: tuple[int, int] | None,
        rejections: dict[str, int],
    ) -> None:
        self.model = model
        self.parties = parties
        self.certificates = certificates
        self.rounds = rounds
        self.messages = None if traffic is None else traffic[0]
        self.bytes = None if traffic is None else traffic[1]
        self.rejections = rejections

    def to_frame(self) -> Any:
        """Budget of each party, counted in full; one row each."""
        own = self.certificates
        return frame(
            {
                "party": self.parties,
                "epsilon": [one.epsilon() for one in own],
                "delta": [one.delta for one in own],
                "unit": [one.unit for one in own],
                "view": [one.view for one in own],
                "certified": [one.certified for one in own],
                "population": [one.population for one in own],
            },
            index="party",
        )

    def __repr__(self) -> str:
        spent = self.model.certificate_
        return (
            f"Simulation({type(self.model).__name__}, parties={len(self.parties)}, "
            f"rounds={self.rounds}, epsilon={spent.epsilon():.4g}, view={spent.view})"
        )


def simulate(
    estimator: PrivateEstimator,
    X: Any,
    y: Any,
    parties: Any,
    groups: Any = None,
    *,
    trust: str | None = None,
    topology: str | None = None,
    skew: str | None = None,
    party_epsilon: Mapping[Any, float] | None = None,
    failures: Mapping[str, float] | None = None,
    public_seed: int = 0,
) -> Simulation:
    """Train between parties, in this process, with the protocol's real messages.

    Parameters
    ----------
    estimator : a private estimator
        The problem and the budget of each party: its loss, penalty, bounds, ``epsilon``,
        ``delta``, ``unit``, ``budget`` and ``settings``. Its ``algorithm`` is one of
        ``reticent list protocols``, or one of ``reticent list algorithms`` that asks for sums.
        "auto" is the default of ``reticent simulate``: "auto", and "federated" where each holder
        is a person, or with ``party_epsilon`` or ``failures`` that lose messages. It is left as it
        is.
    X, y : data frame or array, array
        All records.
    parties : int or array
        Number of parties to split the records between, or the holder of each record. Holders that
        are not persons, such as hospitals, need ``groups``, or ``unit="record"`` or
        ``unit="party"`` in the estimator; otherwise each holder is protected as one person is,
        with all of its records.
    groups : array, optional
        The person of each record, where ``parties`` has its holder: a person within a party is
        then protected. A person at k parties counts as k persons, and is covered k-fold. For
        algorithms that ask for sums.
    trust : {"local", "secure-aggregation", "central", "network"}, optional
        Trust model, who sees a party's messages: a server that sees each message, one that sees
        masked sums, anyone who sees the result, or another peer. The default depends on the
        algorithm.
    topology : str, optional
        Graph of the peers: "ring", "complete", "erdos-renyi:0.3", "file:PATH".
    skew : str, optional
        How records are split: "iid", "size:A" or "label:A". The last reads labels without spending
        budget: it is for made-up data, and taints the ledger.
    party_epsilon : dict, optional
        Smaller ε of single parties that hold records, by their label or number; they stop when it
        is spent.
    failures : dict, optional
        Probabilities of simulated failures: before, after, delay, duplicate, reorder,
        corrupt, byzantine, restart.
    public_seed : int
        Public seed of the split and of random graphs.

    Returns
    -------
    Simulation
        The model, and the guarantee of each party.

    Examples
    --------
    >>> import numpy as np
    >>> import reticent
    >>> X = np.random.default_rng(0).uniform(0, 90, size=(1000, 2))
    >>> y = (X[:, 0] > 45).astype(int)
    >>> model = reticent.PrivateLogisticRegression(
    ...     epsilon=4.0, delta=1e-5, bounds=(0, 90), classes=[0, 1], unit="record",
    ...     settings={"iterations": 3},
    ... )
    >>> hospital = np.array(["north", "south", "east", "west"])[np.arange(1000) % 4]
    >>> run = reticent.simulate(model, X, y, hospital, trust="secure-aggregation")
    >>> run.parties
    ['east', 'north', 'south', 'west']
    >>> run.model.certificate_.view
    'secure-aggregation'
    """
    if not isinstance(estimator, PrivateEstimator):
        raise TypeError(
            f"estimator is a {type(estimator).__name__}: simulate runs private estimators"
        )
    model = clone(estimator)
    table, schema, target = model._prepared(X, y)
    split = whole("parties", parties, 1) if np.ndim(parties) == 0 else None
    dealt = split is not None
    # No list yet: so many parties may be refused.
    names: Sequence[Any] = range(split or 0)
    holders = None
    if dealt and groups is not None:
        raise ValueError(
            "groups say whose each record is, and parties is a number: give the holder of each record, "
            "so that a person within a party can be protected"
        )
    if split is None:
        holders = ids("parties", parties)
        names = _called(parties, _reticent.holders(schema, table.x, holders))
    if split is None and skew is not None:
        raise ValueError(
            f"skew={skew!r}: it says how records are dealt to a number of parties, and here each "
            "record has its holder"
        )
    epsilons = {_place(names, who): float(own) for who, own in (party_epsilon or {}).items()}
    for place, small in epsilons.items():
        if not small > 0.0:
            raise ValueError(f"party_epsilon of {names[place]!r} is {small}: it must be above 0")
    if groups is not None:
        check_stand_in("groups", groups, schema.user)
    elif not dealt:
        check_stand_in("parties", parties, schema.user)
    if model.curves == "auto":
        raise ValueError(
            "curves='auto': between parties noise is not that of one table; give a number of knots"
        )
    request = model._request(schema, not dealt, model._seed())
    persons = not dealt and groups is None and request["unit"] == "user"
    if persons:
        if epsilons:
            raise ValueError(
                "party_epsilon names persons, and where each sits is drawn and told to nobody; give "
                'all the same epsilon, or protect records (unit="record"), whose holders are public'
            )
        # Who has which seat is secret, and so are names beside what a seat has done.
        names = range(len(names))
    if request["algorithm"] == "admm-network":  # without noise, as "exact" is of one table
        request["epsilon"] = None
    # A budget keeps the name of who is protected: the holders where these are, whose groups are not.
    named = parties if groups is None or request["unit"] == "party" else groups
    payers = None if dealt else named
    native, certificates, rounds, traffic, rejections, trace, outlook, remark = _reticent.simulate(
        request,
        {
            "split": split,
            "skew": skew,
            "trust": trust,
            "topology": topology,
            "public_seed": whole("public_seed", public_seed, 0),
            "failures": json.dumps(dict(failures or {})),
            "epsilons": list(epsilons.items()),
        },
        table.x,
        names=table.names if schema.features else None,
        y=target,
        owners=holders if groups is None else owners(groups),
        placed=None if groups is None else holders,
        budget=model._payer(payers),
    )
    model.n_iter_ = int(rounds)
    model._adopt(native)
    model._keep_trace(trace)
    own = [Certificate(one) for one in certificates]
    found = Simulation(model, list(names), own, int(rounds), traffic, dict(rejections))
    if remark is not None:
        warn_beside(found, remark, RuntimeWarning, stacklevel=2)
    if outlook is not None:
        warn_beside(found, outlook, NoiseDominatesWarning, stacklevel=2)
    if (persons or request["unit"] == "party") and len(names) < _FEW:
        warn_beside(found, _WHOLE_HOLDERS.format(len(names)), NoiseDominatesWarning, stacklevel=2)
    warn_of_weakness(found, native.certificate, stacklevel=2)
    return found


def _called(parties: Any, rows: Sequence[int]) -> list[Any]:
    """What the holders of these rows are called, as the caller has it."""
    column = parties if isinstance(parties, (list, tuple)) else np.asarray(parties)
    called = [column[row] for row in rows]
    return [one.item() if isinstance(one, np.generic) else one for one in called]


def _place(names: Sequence[Any], who: Any) -> int:
    """The number of a party."""
    if who not in names:
        raise ValueError(f"party_epsilon names {who!r}, and there is no such party")
    return names.index(who)
