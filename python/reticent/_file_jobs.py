"""What fits on files have in common, on this machine and on workers: the job of an estimator, who pays, and the end."""

from __future__ import annotations

from typing import Any

from ._base import PrivateEstimator
from ._classifier import PrivateClassifier
from ._file_tables import refuse_named_people
from ._schema import read_schema
from .errors import NoiseDominatesWarning, warn_beside, warn_of_weakness
from .files import adopt, typed_classes

Job = dict[str, Any]

# What a classifier knows of its classes, and a wrapper of the labels behind its numbers.
_OF_CLASSES = ("classes_", "_numbered")


def request_of(estimator: PrivateEstimator) -> Job:
    """The job of an estimator that is fitted to files."""
    if not isinstance(estimator, PrivateEstimator):
        raise TypeError(f"estimator is a {type(estimator).__name__}: a private estimator is needed")
    if estimator.schema is None:
        raise ValueError("files need a schema that names their columns: give the estimator schema=…")
    for name in ("bounds", "classes", "target_bounds", "max_sample_weight"):
        if getattr(estimator, name, None) is not None:
            raise ValueError(f"{name} is for tables in memory: declare it in the schema, or leave it out")
    if estimator.trace:
        raise ValueError("trace=True is for tables in memory: leave it out")
    schema = read_schema(estimator.schema)
    if estimator.row_norm is not None:
        schema = schema.with_row_norm(float(estimator.row_norm))
    if estimator.curves is not None:
        schema = estimator._bent(schema, None)
    seed = estimator._seed()
    if not isinstance(estimator, PrivateClassifier):
        return estimator._request(schema, False, seed)
    if schema.classes is None:
        raise ValueError("the target of the schema has no classes: use an estimator of numbers")
    # Weights of classes go by them. The estimator gets them with its model: a fit that is refused leaves the model of the
    # fit before it, whole.
    before = {name: estimator.__dict__.pop(name) for name in _OF_CLASSES if name in estimator.__dict__}
    try:
        estimator.classes_ = typed_classes(schema.classes)
        return estimator._request(schema, False, seed)
    finally:
        estimator.__dict__.pop("classes_", None)
        estimator.__dict__.update(before)


def payer_of(estimator: PrivateEstimator) -> Any:
    """The budget that pays, if there is one."""
    payer = estimator._payer()
    refuse_named_people(payer)
    return payer


def adopted(
    estimator: PrivateEstimator,
    native: Any,
    course: tuple[int, bool | None],
    outlook: str | None,
    remark: str | None,
) -> PrivateEstimator:
    """The estimator, fitted; ``course`` is how many iterations there were and whether a solver got to the optimum."""
    iterations, converged = course
    estimator.__dict__.pop("trace_", None)
    estimator.__dict__.pop("feature_names_in_", None)
    estimator.__dict__.pop("_numbered", None)
    estimator.n_iter_ = int(iterations)
    adopt(estimator, native)
    # Last: where warnings are errors, what was paid for is there all the same.
    if remark is not None:
        warn_beside(estimator, remark, RuntimeWarning, stacklevel=4)
    if converged is False:
        slow = (
            f"the exact solver did not get to the optimum in {iterations} iterations: give it "
            "more with settings={'iterations': N}"
        )
        warn_beside(estimator, slow, UserWarning, stacklevel=4)
    hidden = None if native.standard_errors is None else native.standard_errors[1]
    if hidden is not None:
        spent = "there are no standard errors, though their share of the budget is spent"
        warn_beside(estimator, f"{spent}: {hidden}", RuntimeWarning, stacklevel=4)
    if outlook is not None:
        warn_beside(estimator, outlook, NoiseDominatesWarning, stacklevel=4)
    warn_of_weakness(estimator, native.certificate, stacklevel=4)
    return estimator
