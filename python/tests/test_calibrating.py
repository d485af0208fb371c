"""Probabilities that are brought in line with what happens, within a budget."""

import warnings

import numpy as np
import pytest
from conftest import BUDGET
from sklearn.metrics import log_loss

import reticent
from reticent import Budget, PrivateCalibrator, PrivateLinearSVC, PrivateLogisticRegression


@pytest.fixture
def usual(bounds):
    return {**BUDGET, "bounds": bounds, "classes": ["well", "ill"]}


@pytest.fixture
def labelled(patients):
    X, y = patients
    return X, np.where(y == 1, "ill", "well")


def seeded(ask):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", reticent.NotPrivateWarning)
        return ask()


def test_a_share_of_the_budget_calibrates_a_timid_model(usual, labelled, tmp_path):
    """calibrate= pays for what CalibratedClassifierCV reads off the labels."""
    X, y = labelled
    timid = {**usual, "epsilon": 8.0, "alpha": 0.3, "random_state": 1}
    plain = seeded(lambda: PrivateLogisticRegression(**timid).fit(X, y))
    ours = seeded(lambda: PrivateLogisticRegression(**timid, calibrate=0.3).fit(X, y))
    slope, shift = ours.calibration_
    assert slope > 1.5 and not hasattr(plain, "calibration_")
    assert log_loss(y, ours.predict_proba(X)) < log_loss(y, plain.predict_proba(X)) - 0.05
    # The line is in the weights: nothing else is needed to predict.
    assert np.allclose(ours.decision_function(X), X @ ours.coef_[0] + ours.intercept_)
    ours.save(tmp_path)
    assert reticent.load(tmp_path).calibration_ == (slope, shift)


def test_both_parts_are_within_one_certificate_and_one_job(usual, labelled):
    budget = Budget(4.0, 1e-5)
    model = PrivateLogisticRegression(**usual, calibrate=0.2, budget=budget).fit(*labelled)
    model.certificate_.verify()
    assert model.certificate_.epsilon() <= BUDGET["epsilon"] and len(budget.jobs) == 1


@pytest.mark.parametrize("wrong, words", [
    ({"calibrate": 0.0}, "a share of the budget"),
    ({"calibrate": 1.0}, "a share of the budget"),
    ({"calibrate": "0.1"}, "a number is needed"),
    ({"calibrate": 0.1, "standard_errors": 0.1}, "leave one of the two out"),
    ({"calibrate": 0.1, "class_weight": {"ill": 2.0}}, "class weights"),
])
def test_what_cannot_be_calibrated_is_refused(wrong, words, usual, labelled):
    with pytest.raises(ValueError, match=words):
        PrivateLogisticRegression(**usual, **wrong).fit(*labelled)


def test_a_calibrator_makes_probabilities_of_the_scores_of_a_hinge(usual, labelled):
    X, y = labelled
    budget = Budget(6.0, 1e-5)
    model = PrivateLinearSVC(**usual, budget=budget).fit(X, y)
    calibrated = PrivateCalibrator(model, **BUDGET).fit(X, y)
    calibrated.certificate_.verify()
    # Paid from the budget of the model, as a job of its own; what it rests on is said.
    assert len(budget.jobs) == 2
    assert any("is public" in line for line in calibrated.certificate_.assumptions)
    probabilities = calibrated.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert list(calibrated.classes_) == ["ill", "well"]
    assert log_loss(y, probabilities, labels=["ill", "well"]) < 0.45
    assert np.mean(calibrated.predict(X) == y) > 0.8
    assert calibrated.private_score(X, y, **BUDGET, budget=None).score.value > 0.8
    other = PrivateCalibrator(model, **BUDGET, budget=None).fit(X, y)
    assert len(budget.jobs) == 2 and other.slope_ > 0


def test_a_calibrator_protects_whom_its_model_protects(usual, labelled):
    X, y = labelled
    groups = np.arange(2000) // 4
    model = PrivateLogisticRegression(**usual).fit(X, y, groups)
    with pytest.raises(ValueError, match="the model protects users"):
        PrivateCalibrator(model, **BUDGET).fit(X, y)
    assert PrivateCalibrator(model, **BUDGET).fit(X, y, groups).certificate_.unit == "user"
    assert PrivateCalibrator(model, **BUDGET, unit="record").fit(X, y).certificate_.unit == "record"


def test_a_calibrator_refuses_what_it_cannot_calibrate(usual, labelled):
    X, y = labelled
    with pytest.raises(TypeError, match="a fitted private classifier"):
        PrivateCalibrator(object(), **BUDGET).fit(X, y)
    with pytest.raises(Exception, match="not fitted"):
        PrivateCalibrator(PrivateLinearSVC(**usual), **BUDGET).fit(X, y)
    three = np.where(X[:, 0] < 40, "low", y)
    model = PrivateLogisticRegression(**{**usual, "classes": ["low", "ill", "well"]}).fit(X, three)
    with pytest.raises(ValueError, match="has 3 classes"):
        PrivateCalibrator(model, **BUDGET).fit(X, three)
    two = PrivateLogisticRegression(**usual).fit(X, y)
    for wrong, words in (
        ({"most": 0.0}, "most"), ({"most": "5"}, "most"), ({"budget": "mine"}, "budget"),
        ({"epsilon": None}, "epsilon is missing"),
    ):
        with pytest.raises(ValueError, match=words):
            PrivateCalibrator(two, **{**BUDGET, **wrong}).fit(X, y)
