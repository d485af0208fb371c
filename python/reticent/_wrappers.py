"""What is wrapped around an estimator, and what is to be said of it.

One walk over the callers (``_callers``), one table of what they do (``_verdicts``), and a default:
a caller that is not in the table is named.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from sklearn import get_config

from ._callers import Caller, callers, frames, is_in_worker, self_of
from ._steps import LEARNS, columns_of, function_of, pays, taken
from ._verdicts import LEARNED_AFTER, Does, verdict_of
from .errors import NotPrivateWarning, PrivacyCostWarning

if TYPE_CHECKING:
    from ._base import PrivateEstimator

# What fits the same estimator many times.
_MANY = {
    "cross_validate",
    "cross_val_predict",
    "learning_curve",
    "permutation_test_score",
    "validation_curve",
}

# What was found, by its kind: what a certificate rests on then.
_ASSUMED = {
    "before": "what {} learned from the records before this fit is public: it is no part of what is "
    "counted",
    "function": "{} works on each record by itself, with public constants: nobody can look into a "
    "function, and nothing that it took from the records is counted",
    "unknown": "{} called this fit and is not known here: that it learned nothing from the records, "
    "and handed them on as they are, is taken as given",
    "chosen": "what {} chose by scores of the records is public: it is no part of what is counted",
    "dealt": "{} dealt out the records of this fit: that tables which differ in what is protected "
    "once still do so afterwards is taken as given",
    "labels": "{} numbered the classes that it found in the labels: that every class is public, and in "
    "each of two tables that differ in what is protected, is taken as given",
    "after": "what {} learns from the records with the predictions of this model is no part of what "
    "is counted",
}

# What is taken as given where nobody can look for callers.
_UNSEEN = (
    "fitted in a thread or process of its own, such as a worker of joblib (n_jobs), from where callers "
    "and the steps of their pipelines are not seen: that none has learned from the records is taken as "
    "given"
)

_SAID = {
    "before": "{}: fitted to the table before {who}, and what is learned there is neither private nor "
    "paid for; the certificate is of {who} alone, and says so. Private estimators scale by public "
    "bounds themselves: leave such steps out, or give public constants (reticent.PublicTransform)",
    "function": "{}: nobody can look into a function, and if it reads more than one record at a time, "
    "what it takes from the table before {who} is neither private nor paid for; the certificate says "
    "that this is taken as given. reticent.PublicTransform takes public constants in its place",
    "unknown": "{}: calls the fit of {who}, and what it learns from the table itself is not known here; that would "
    "be neither private nor paid for, and the certificate says that it is taken as given that there "
    "is nothing",
    "chosen": "{}: what it chose by scores of the table before this fit of {who} is neither private "
    "nor paid for, and the certificate says so. reticent.PrivateSearchCV chooses within one budget",
    "after": "{}: NOT PRIVATE. It learns from the table as it is, with what {who} predicts; nobody "
    "pays for that, and no certificate covers it",
}


def found_around(estimator: Any) -> dict[str, list[str]]:
    """What its callers do around a fit, by kind, the outermost first."""
    found: dict[str, list[str]] = {}
    for caller in reversed(callers(estimator)):
        for kind, name in _found(caller):
            if name not in found.setdefault(kind, []):
                found[kind].append(name)
    for module, function, _ in frames("sklearn.model_selection._validation"):
        if function in _MANY and function not in found.setdefault("dealt", []):
            found["dealt"].append(function)
    if any(name == "_fit_and_score" for _, name, _ in frames("sklearn.")):
        # One of the runs that it chooses among, which it says itself.
        found.pop("chosen", None)
    return found


def assumed_of(estimator: Any) -> list[str]:
    """What a certificate of this fit rests on because of its callers."""
    found = found_around(estimator)
    lines = [_ASSUMED[kind].format(name) for kind in _ASSUMED for name in found.get(kind, [])]
    return [*lines, _UNSEEN] if is_in_worker() else lines


def warn_of_callers(estimator: Any, stacklevel: int) -> None:
    """Says what around a fit is not private."""
    found, who = found_around(estimator), type(estimator).__name__
    for kind, said in _SAID.items():
        if found.get(kind):
            message = said.format(", ".join(found[kind]), who=who)
            warnings.warn(message, NotPrivateWarning, stacklevel=stacklevel + 1)


def _found(caller: Caller) -> Iterator[tuple[str, str]]:
    """What one caller does, by kind and name."""
    does = caller.does
    if does is None:
        yield "unknown", caller.name
        return
    if Does.BEFORE in does:
        yield from _before(caller)
    if caller.kind == "ColumnTransformer":
        yield from columns_of(caller.owner)
    if Does.DEALS in does and not _is_final(caller):
        yield "dealt", caller.name
    if Does.LABELS in does:
        yield "labels", caller.name
    if Does.CHOOSES in does:
        yield "chosen", caller.name
    if _learns_after(caller):
        yield "after", caller.name


def _before(caller: Caller) -> Iterator[tuple[str, str]]:
    """What has learned from the records before that which was called."""
    owner, child = caller.owner, caller.child
    if caller.kind == "Pipeline":
        steps = [step for _, step in owner.steps]
        place = next((i for i, step in enumerate(steps) if step is child), len(steps) - 1)
        for step in steps[:place]:
            yield from taken(step)
    elif caller.kind == "TransformedTargetRegressor":
        yield from taken(owner.transformer)
        yield from function_of(owner.func, caller.name)
    elif caller.kind.startswith("Stacking"):
        if _is_final(caller):
            for step in _bases(owner):
                if not pays(step):
                    yield LEARNS, f"{type(step).__name__} in {caller.name}"
    elif caller.kind.endswith("Chain"):
        links = getattr(owner, "estimators_", [])
        if not (links and links[0] is child):
            yield LEARNS, f"the links before it in {caller.name}"
    else:
        yield LEARNS, caller.name


def _bases(owner: Any) -> list[Any]:
    return [step for _, step in owner.estimators if not isinstance(step, str)]


def _is_final(caller: Caller) -> bool:
    """Whether it is fitted by a stack to what others predict."""
    final = getattr(caller.owner, "final_estimator_", None)
    return caller.kind.startswith("Stacking") and final is not None and final is caller.child


def _learns_after(caller: Caller) -> bool:
    """Whether the caller learns from the records with what the estimator predicts."""
    does, owner = caller.does, caller.owner
    if does is None:
        return False
    if caller.kind.startswith("Stacking"):
        return not (_is_final(caller) or pays(owner.final_estimator))
    return Does.AFTER in does or bool(caller.kind.startswith("Bagging") and owner.oob_score)


def warn_of_learning(estimator: Any) -> None:
    """Says that predictions are asked for by something that learns from the table with them.

    A certificate is written by then. The runs of a search are scored, which it says itself.
    """
    around = [one for one in callers(estimator) if one.is_fitting]
    if not around or any(name == "_fit_and_score" for _, name, _ in frames("sklearn.")):
        return
    for one in around:
        if one.does is None or _learns_after(one):
            said = _SAID["after"] if one.does is not None else _MAY_LEARN
            message = said.format(one.name, who=type(estimator).__name__)
            warnings.warn(message, NotPrivateWarning, stacklevel=4)


_MAY_LEARN = (
    "{}: asks {who} for predictions in its own fit, and is not known here; what it learns from the "
    "table with them is NOT PRIVATE, nobody pays for it, and no certificate covers it"
)


def warn_of_many(estimator: PrivateEstimator) -> None:
    """Says before scikit-learn fits copies of an estimator that each fit is paid for.

    In the processes of a search it has been said already.
    """
    spends = f"epsilon={estimator.epsilon}, delta={estimator.delta} of the data again"
    who, said = type(estimator).__name__, None
    for module, function, frame in frames("sklearn."):
        if function == "_fit_and_score":
            return
        owner = self_of(frame)
        searches = module == "sklearn.model_selection._search" and function == "fit"
        if searches or (module == "sklearn.model_selection._validation" and function in _MANY):
            caller = type(owner).__name__ if searches else function
            said = (
                f"{caller} fits {who} many times, and every fit spends {spends}; the scores that "
                "it reports are not private either. reticent.PrivateSearchCV chooses within one "
                f"budget{_lost(estimator, frame)}"
            )
            break
        found = None if owner is None else verdict_of(type(owner))
        if found is not None and Does.COPIES in found[1]:
            said = _of_copies(owner, found, who, spends)
            if Does.AFTER in found[1]:
                break
    if said is not None:
        warnings.warn(said, PrivacyCostWarning, stacklevel=3)


def _of_copies(owner: Any, found: tuple[str, Does], who: str, spends: str) -> str:
    """What is to be said of a class that fits copies."""
    (kind, does), name = found, type(owner).__name__
    said = f"{name} fits copies of {who}, and every fit spends {spends}"
    stacked = kind.startswith("Stacking") and pays(owner.final_estimator)
    if Does.AFTER in does and not stacked:
        said += (
            f"; {LEARNED_AFTER[kind]}, and its scores, are read off the table: they are NOT PRIVATE, "
            "nobody pays for them, and no certificate covers them"
        )
        if kind == "TunedThresholdClassifierCV":
            said += ". A threshold that is given costs nothing (FixedThresholdClassifier)"
        return said
    said += "; no certificate is of all of them together. A budget counts them: give the estimator one"
    if Does.DEALS in does:
        said += ". It deals out the records itself, which every certificate takes as given"
    if Does.LABELS in does:
        said += (
            ". It numbers the classes that it finds in the labels: every certificate takes as given "
            "that no class has one record or none"
        )
    return said


def _lost(estimator: PrivateEstimator, frame: FrameType) -> str:
    """What is to be said of groups that go to the folds, and to no fit."""
    given = {**frame.f_locals, **(frame.f_locals.get("params") or {})}.get("groups")
    if given is None or estimator.unit is not None or get_config()["enable_metadata_routing"]:
        return ""
    return (
        ". Its groups make the folds and reach no fit: every fit protects a record, and not a "
        "person; for persons call sklearn.set_config(enable_metadata_routing=True) and "
        "set_fit_request(groups=True) of the estimator"
    )


def warn_of_score(estimator: PrivateEstimator) -> None:
    """Says that a score tells of the table what no budget pays for; of a search it is said."""
    scored = any(name == "_fit_and_score" for _, name, _ in frames("sklearn."))
    if estimator.budget is None or scored:
        return
    warnings.warn(
        "score reads the table as it is: what it says is NOT PRIVATE, and the budget does not pay "
        "for it; private_score does. If the table is public, leave the budget of the estimator out "
        "(set_params(budget=None))",
        NotPrivateWarning,
        stacklevel=3,
    )
