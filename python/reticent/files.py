"""Models in files, as the command line writes and reads them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._base import PrivateEstimator
from ._reticent import Model

__all__ = ["load"]


def load(path: str | os.PathLike[str]) -> PrivateEstimator:
    """Read a model that ``save`` or ``reticent fit`` wrote.

    Parameters
    ----------
    path : path
        ``model.json``, or its folder.

    Returns
    -------
    estimator
        A fitted estimator. ``save`` writes the same file again, to the byte.
    """
    native = Model.read(os.fspath(path))
    estimator = _class_of(native)()
    certificate = native.certificate
    estimator.set_params(
        epsilon=certificate.epsilon if certificate.certified else None,
        delta=certificate.delta,
        adjacency=certificate.adjacency,
        unit=certificate.unit,
        algorithm=certificate.algorithm,
        schema=native.schema,
    )
    return adopt(estimator, native)


def adopt(estimator: PrivateEstimator, native: Model) -> PrivateEstimator:
    """The estimator, fitted by what a file says."""
    if native.classes is not None:
        estimator.classes_ = typed_classes(native.classes)
    names = native.schema.features
    estimator.n_features_in_ = len(names) or len(native.schema.encoded_names)
    # Columns of a matrix are called 1, 2, 3, …
    if names and names != [str(i + 1) for i in range(len(names))]:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    estimator._adopt(native)
    return estimator


def typed_classes(names: list[str]) -> Any:
    """Classes that are whole numbers as such, others as text."""
    try:
        return np.asarray([int(name) for name in names])
    except ValueError:
        return np.asarray(names)


def _class_of(native: Model) -> type[PrivateEstimator]:
    from . import generalized, huber, lasso, logistic, ridge, svc

    loss, penalty, constraint = (word.split(":")[0] for word in native.problem)
    if native.classes is not None:
        if native.has_probabilities:
            return logistic.PrivateLogisticRegression
        return svc.PrivateLinearSVC
    if loss == "huber":
        return huber.PrivateHuberRegressor
    if constraint != "identity":
        return generalized.PrivateFusedLasso
    usual = {"l1": lasso.PrivateLasso, "elastic-net": lasso.PrivateElasticNet}
    return usual.get(penalty, ridge.PrivateRidge)
