"""What is wrapped around an estimator. It is not told, so the callers are looked at."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from sklearn import get_config

from .errors import NotPrivateWarning, PrivacyCostWarning

if TYPE_CHECKING:
    from ._base import PrivateEstimator

try:
    from sklearn.utils import get_tags
except ImportError:  # scikit-learn 1.5
    from sklearn.utils._tags import _safe_tags

    def _requires_fit(step: Any) -> bool:
        return bool(_safe_tags(step, "requires_fit")) and not _safe_tags(step, "stateless")

else:

    def _requires_fit(step: Any) -> bool:
        return bool(get_tags(step).requires_fit)


# What fits the same estimator many times.
_MANY = {
    "cross_validate",
    "cross_val_predict",
    "learning_curve",
    "permutation_test_score",
    "validation_curve",
}

# Parts of scikit-learn that fit copies of what they are given.
_COPYING = (
    "sklearn.calibration",
    "sklearn.ensemble",
    "sklearn.feature_selection",
    "sklearn.multiclass",
    "sklearn.multioutput",
    "sklearn.semi_supervised",
)

# Picks a threshold by the records.
_TUNES = "TunedThresholdClassifierCV"

# Of a table these take the number of columns alone.
_LEARN_NOTHING = {"PolynomialFeatures"}


def _callers(package: str = "sklearn.") -> Iterator[tuple[str, str, FrameType]]:
    """The callers that are a package's, the last first: their modules, functions and frames."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(package):
            yield module, frame.f_code.co_name, frame
        frame = frame.f_back


def warn_of_many(estimator: PrivateEstimator) -> None:
    """Says before scikit-learn fits copies of an estimator that each fit is paid for.

    In the processes of a search it has been said already.
    """
    spends = f"epsilon={estimator.epsilon}, delta={estimator.delta} of the data again"
    who, copying = type(estimator).__name__, None
    for module, function, frame in _callers():
        if function == "_fit_and_score":
            return
        searches = module == "sklearn.model_selection._search" and function == "fit"
        if searches or (module == "sklearn.model_selection._validation" and function in _MANY):
            caller = _class_of(frame) if searches else function
            said = (
                f"{caller} fits {who} many times, and every fit spends {spends}; the scores that "
                "it reports are not private either. reticent.PrivateSearchCV chooses within one "
                f"budget{_lost(estimator, frame)}"
            )
            warnings.warn(said, PrivacyCostWarning, stacklevel=3)
            return
        if _class_of(frame) == _TUNES:
            said = (
                f"{_TUNES} fits copies of {who}, and every fit spends {spends}; the threshold that "
                "it picks, and its scores, are read off the table: they are NOT PRIVATE, nobody pays "
                "for them, and no certificate covers them. A threshold that is given costs nothing "
                "(FixedThresholdClassifier)"
            )
            warnings.warn(said, PrivacyCostWarning, stacklevel=3)
            return
        if module.startswith(_COPYING):
            copying = _class_of(frame) or copying or module
    if copying is not None:
        said = (
            f"{copying} fits copies of {who}, and every fit spends {spends}; no certificate is of "
            "all of them together. A budget counts them: give the estimator one"
        )
        warnings.warn(said, PrivacyCostWarning, stacklevel=3)


def _class_of(frame: FrameType) -> str | None:
    own = frame.f_locals.get("self")
    return None if own is None else type(own).__name__


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


def fitted_before() -> list[str]:
    """The steps that a pipeline has fitted to the table before this fit, which is its last."""
    found: list[str] = []
    for module, function, frame in _callers():
        if module == "sklearn.pipeline" and function.startswith("fit"):
            steps = [step for _, step in getattr(frame.f_locals.get("self"), "steps", [])[:-1]]
        elif module == "sklearn.compose._target" and function == "fit":
            steps = [getattr(frame.f_locals.get("self"), "transformer", None)]
        else:
            continue
        found = [type(step).__name__ for step in steps if _learns(step)] + found
    return list(dict.fromkeys(found))


def is_in_worker() -> bool:
    """Whether joblib has this fit done by another process or thread, which sees no caller.

    What is run where it was asked for has the `Parallel` that was asked among its callers; what is
    run elsewhere begins with the calls that were sent there.
    """
    last = None
    for _, function, frame in _callers("joblib.parallel"):
        owner = _class_of(frame)
        if function == "__call__" and owner in ("BatchedCalls", "Parallel"):
            last = owner
    return last == "BatchedCalls"


def _learns(step: Any) -> bool:
    """Whether fitting it may tell something of a table."""
    if step is None or isinstance(step, str) or type(step).__name__ in _LEARN_NOTHING:
        return False
    try:
        return _requires_fit(step)
    except (AttributeError, TypeError):
        return True


def warn_of_steps(who: str, stacklevel: int) -> None:
    """Says that what a pipeline learns before its last step is not private."""
    steps = fitted_before()
    if steps:
        warnings.warn(
            f"{', '.join(steps)}: fitted to the table before {who}, and what is learned there is "
            "neither private nor paid for; the certificate is of the last step alone, and says so. "
            "Private estimators scale by public bounds themselves: leave such steps out, or give "
            "them public constants (FunctionTransformer)",
            NotPrivateWarning,
            stacklevel=stacklevel + 1,
        )


def warn_of_score(estimator: PrivateEstimator) -> None:
    """Says that a score tells of the table what no budget pays for; of a search it is said."""
    if estimator.budget is None or any(name == "_fit_and_score" for _, name, _ in _callers()):
        return
    warnings.warn(
        "score reads the table as it is: what it says is NOT PRIVATE, and the budget does not pay "
        "for it; private_score does. If the table is public, leave the budget of the estimator out "
        "(set_params(budget=None))",
        NotPrivateWarning,
        stacklevel=3,
    )
