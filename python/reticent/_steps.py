"""What steps before an estimator take from a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer

from ._verdicts import code_of, is_known_module

try:
    from sklearn.utils import get_tags
except ImportError:  # scikit-learn 1.5
    from sklearn.utils._tags import _safe_tags

    def _requires_fit(step: Any) -> bool:
        return bool(_safe_tags(step, "requires_fit")) and not _safe_tags(step, "stateless")

else:

    def _requires_fit(step: Any) -> bool:
        return bool(get_tags(step).requires_fit)


# Of a table these take the number of columns alone.
_LEARN_NOTHING = {"PolynomialFeatures"}

LEARNS = "before"
FUNCTION = "function"


def taken(step: Any) -> Iterator[tuple[str, str]]:
    """What of a step may tell something of a table: ``LEARNS`` or ``FUNCTION``, and its name."""
    if step is None or isinstance(step, str) or is_ours(step):
        return
    if not is_known_module(code_of(type(step)).__module__):
        # One that inherits from what is known here has code of its own.
        yield LEARNS if _claims_to_learn(step) else FUNCTION, type(step).__name__
    elif type(step).__name__ == "FrozenEstimator":
        yield from taken(step.estimator)
    elif isinstance(step, Pipeline):
        for _, one in step.steps:
            yield from taken(one)
    elif isinstance(step, FeatureUnion):
        for _, one in step.transformer_list:
            yield from taken(one)
    elif isinstance(step, ColumnTransformer):
        yield from _of_columns(step)
    elif isinstance(step, FunctionTransformer):
        if not (_is_elementwise(step.func) and not step.kw_args):
            yield FUNCTION, f"{type(step).__name__}({name_of(step.func)})"
    elif _claims_to_learn(step):
        yield LEARNS, type(step).__name__


def function_of(function: Any, where: str) -> Iterator[tuple[str, str]]:
    """The same of a function that is applied to a table."""
    if not _is_elementwise(function):
        yield FUNCTION, f"{where}({name_of(function)})"


def is_ours(step: Any) -> bool:
    """Whether it is an estimator of this package, frozen or not: it pays for what it learns."""
    if type(step).__name__ == "FrozenEstimator" and _is_of_sklearn(step):
        return is_ours(step.estimator)
    return code_of(type(step)).__module__.startswith("reticent.")


def pays(step: Any) -> bool:
    """Whether all that it learns is paid for: one of ours, alone or behind constants."""
    if isinstance(step, Pipeline):
        steps = [one for _, one in step.steps]
        return pays(steps[-1]) and not any(True for one in steps[:-1] for _ in taken(one))
    return is_ours(step)


def name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def columns_of(step: ColumnTransformer) -> Iterator[tuple[str, str]]:
    """The functions that choose columns after a look at the table."""
    for _, _, columns in step.transformers:
        if callable(columns) and type(columns) is not make_column_selector:
            yield from function_of(columns, type(step).__name__)


def _of_columns(step: ColumnTransformer) -> Iterator[tuple[str, str]]:
    for _, one, _ in step.transformers:
        yield from taken(one)
    yield from columns_of(step)
    yield from taken(step.remainder)


def _is_elementwise(function: Any) -> bool:
    """Whether each of its numbers is of one number: those of numpy that have no signature.

    One that was made of a function (``numpy.frompyfunc``) knows whatever that function knows.
    """
    if function is None:
        return True
    if not isinstance(function, np.ufunc) or function.signature is not None:
        return False
    modules = [np, sys.modules.get("scipy.special")]
    return any(getattr(module, function.__name__, None) is function for module in modules)


def _is_of_sklearn(step: Any) -> bool:
    return type(step).__module__.startswith("sklearn.")


def _claims_to_learn(step: Any) -> bool:
    if type(step).__name__ in _LEARN_NOTHING and _is_of_sklearn(step):
        return False
    if hasattr(step, "fit_resample"):
        return True
    try:
        return _requires_fit(step)
    except (AttributeError, TypeError):
        return True
