"""Weights of records: private, up to a largest one that is public, clipped after weighting."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
import reticent
from scipy import sparse
from sklearn.ensemble import AdaBoostClassifier
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

PUBLIC = {"epsilon": 2.0, "delta": 1e-6, "bounds": (0, 1), "classes": [0, 1], "random_state": 3}


def table(n=400):
    generator = np.random.default_rng(1)
    X = generator.random((n, 2))
    y = (X[:, 0] + 0.3 * generator.standard_normal(n) > 0.5).astype(int)
    return X, y, generator.uniform(0.0, 4.0, n)


def fitted(X, y, weights=None, largest=None, **others):
    model = reticent.PrivateLogisticRegression(**{**PUBLIC, **others}, max_sample_weight=largest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y) if weights is None else model.fit(X, y, sample_weight=weights)


def test_the_largest_weight_is_no_weight_to_the_bit():
    X, y, weights = table()
    # Scores of weighted records are not shrunk.
    plain = fitted(X, y, settings={"shrinkage": 0}).coef_
    assert (fitted(X, y, np.full(len(y), 4.0), 4.0).coef_ == plain).all()
    # What is above it is clipped to it.
    assert (fitted(X, y, np.full(len(y), 1e9), 4.0).coef_ == plain).all()
    assert (fitted(X, y, weights, 4.0).coef_ != plain).any()
    # Sparse rows and data frames are weighted as matrices are.
    public = {"bounds": None, "row_norm": 1.0}
    dense = fitted(X, y, weights, 4.0, **public).coef_
    assert np.allclose(fitted(sparse.csr_matrix(X), y, weights, 4.0, **public).coef_, dense)


def test_records_of_weight_zero_say_nothing():
    X, y, _ = table()
    keep = np.arange(len(y)) % 2 == 0
    other = np.where(keep, y, 1 - y)
    weights = keep.astype(float)
    # Balanced by construction, and so remarked on; the table does not matter here.
    weights[0] = 0.5
    models = [fitted(X, labels, weights, 1.0).coef_ for labels in (y, other)]
    assert (models[0] == models[1]).all()


def test_the_certificate_says_what_it_takes_as_given_of_weights():
    X, y, weights = table()
    model = fitted(X, y, weights, 4.0)
    said = [text for text in json.loads(model.certificate_.to_json())["assumptions"] if "weight" in text]
    assert len(said) == 1 and "not from other records" in said[0] and "4" in said[0]
    # A model knows nothing of weights: it predicts, and is evaluated, without them.
    assert model.predict(X).shape == y.shape
    assert model.model_.schema.weight is None


def test_weights_that_are_none_are_refused():
    X, y, weights = table(40)
    model = reticent.PrivateLogisticRegression(**PUBLIC)
    with pytest.raises(ValueError, match="needs max_sample_weight="):
        model.fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="sample_weight is not"):
        model.set_params(max_sample_weight=2.0).fit(X, y)
    for wrong in (0.0, -1.0, np.inf, "2"):
        with pytest.raises(ValueError, match="max_sample_weight"):
            model.set_params(max_sample_weight=wrong).fit(X, y, sample_weight=weights)
    model.set_params(max_sample_weight=2.0)
    with pytest.raises(ValueError, match="one of the weights for each row"):
        model.fit(X, y, sample_weight=weights[1:])
    with pytest.raises(ValueError, match="finite"):
        model.fit(X, y, sample_weight=np.where(np.arange(40) == 7, np.nan, weights))


def test_what_is_not_proven_with_weights_is_refused_by_name():
    X, y, weights = table(40)
    for others in (
        {"algorithm": "consensus"},
        {"algorithm": "output-perturbation", "penalty": "l2", "alpha": 0.1},
        {"algorithm": "exact", "epsilon": None, "delta": None},
        {"calibrate": 0.2},
        {"standard_errors": 0.2},
        {"settings": {"clip_share": 0.1}},
    ):
        with pytest.raises(ValueError, match="weight|clip_share"):
            fitted(X, y, weights, 4.0, **others)


def test_weights_that_the_table_made_are_remarked_on():
    X, y, weights = table()
    model = reticent.PrivateLogisticRegression(**PUBLIC, max_sample_weight=4.0)
    for made in (compute_sample_weight("balanced", y), weights * len(y) / weights.sum()):
        with pytest.warns(reticent.NotPrivateWarning, match="balanced or normalised"):
            model.fit(X, y, sample_weight=made)


def test_wrappers_that_make_weights_up_do_not_hand_them_on():
    """Boosting weighs every record by all the others."""
    X, y, _ = table()
    model = reticent.PrivateLogisticRegression(**PUBLIC, max_sample_weight=1.0)
    assert not has_fit_parameter(model, "sample_weight")
    with pytest.raises(ValueError, match="sample_weight"):
        AdaBoostClassifier(model).fit(X, y)
