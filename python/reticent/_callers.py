"""Who called a fit or a prediction. An estimator is not told, so the stack is looked at.

What cannot be seen there: other processes and threads begin a stack of their own
(``is_in_worker``), and what a function did before it called a fit has left no frame.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from ._verdicts import Does, code_of, is_known_module, verdict_of

_FITS = {"fit", "fit_predict", "fit_resample", "fit_transform", "partial_fit"}

# Whoever is called by these is a test that happens to have a `fit`.
_TESTERS = ("_pytest.", "unittest.")


@dataclass
class Caller:
    """An object that can be fitted, and stands among the callers."""

    owner: Any
    child: Any
    """The object that was called from here, which may be the estimator itself."""
    is_known: bool = True
    functions: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        return type(self.owner).__name__

    @property
    def kind(self) -> str:
        """The class of the table that it is or inherits from; its own name where there is none."""
        found = verdict_of(type(self.owner))
        return self.name if found is None else found[0]

    @property
    def does(self) -> Does | None:
        """The verdict of the table; None where nothing is known of it, or of its code."""
        found = verdict_of(type(self.owner))
        known = self.is_known and is_known_module(code_of(type(self.owner)).__module__)
        return found[1] if known and found is not None else None

    @property
    def is_fitting(self) -> bool:
        return bool(_FITS & self.functions)


def frames(package: str = "") -> Iterator[tuple[str, str, FrameType]]:
    """The callers in a package, the last first: their modules, functions and frames."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(package):
            yield module, frame.f_code.co_name, frame
        frame = frame.f_back


def callers(estimator: Any) -> list[Caller]:
    """The objects with ``fit`` or ``fit_resample`` that this was called by, the last first.

    Left out are this package, and tests.
    """
    found: dict[int, Caller] = {}
    tests: set[int] = set()
    child = estimator
    for module, function, frame in frames():
        own = self_of(frame)
        if own is None or not _can_be_fitted(own):
            continue
        if module.startswith("reticent."):
            child = own
            continue
        if own is estimator and is_known_module(module):
            continue  # What it inherits.
        behind = frame.f_back
        if behind is not None and _module(behind).startswith(_TESTERS):
            tests.add(id(own))
        one = found.setdefault(id(own), Caller(own, child))
        one.functions.add(function)
        one.is_known = one.is_known and is_known_module(module)
        child = own
    return [one for key, one in found.items() if key not in tests]


def self_of(frame: FrameType) -> Any:
    """The object whose method it is, if it is one."""
    code = frame.f_code
    if "self" in code.co_varnames:
        return frame.f_locals.get("self")
    # Whatever it calls itself.
    own = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    method = inspect.getattr_static(type(own), code.co_name, None)
    if not callable(method):
        return None
    return own if getattr(inspect.unwrap(method), "__code__", None) is code else None


def is_in_worker() -> bool:
    """Whether this is done in another process or thread, which sees no caller.

    Of joblib, what is run where it was asked for has the `Parallel` that was asked among its
    callers; what is run elsewhere begins with the calls that were sent there.
    """
    last = None
    for module, function, frame in frames():
        if function == "_bootstrap" and module in ("threading", "multiprocessing.process"):
            return True
        # The loop of a worker, or whatever of Ray's runs a task or a trial.
        if module.startswith("ray."):
            return True
        if module != "joblib.parallel":
            continue
        owner = type(self_of(frame)).__name__
        if function == "__call__" and owner in ("BatchedCalls", "Parallel"):
            last = owner
    return last == "BatchedCalls"


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _can_be_fitted(thing: Any) -> bool:
    # Without running anything of the object: it may make up any attribute.
    missing = object()
    names = ("fit", "fit_resample")
    return any(inspect.getattr_static(thing, name, missing) is not missing for name in names)
