"""Scores as questions that are paid for."""

import json
import subprocess
import warnings

import numpy as np
import pytest
from conftest import BUDGET

import reticent
from reticent import Budget, PrivateLinearSVC, PrivateLogisticRegression, PrivateRidge


@pytest.fixture
def model(patients, bounds):
    X, y = patients
    return PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1]).fit(X, y)


def test_figures_come_with_intervals_and_a_certificate(model, patients):
    X, y = patients
    found = model.private_score(X, y, **BUDGET)
    assert set(found.figures) == {"accuracy", "auc", "log_loss", "calibration_error"}
    assert found.certificate.certified and found.certificate.epsilon() <= 2.0
    assert found.certificate.verify().delta == 1e-6
    # Within five times the half width of an interval of 95 %, the chance that the truth is not is
    # below 1e-20.
    truth, (low, high) = model.score(X, y), found.score.interval
    assert abs(found.score.value - truth) < 5 * (high - low) / 2 and high - low < 0.2
    assert found.confusion.shape == (2, 2) and abs(found.confusion.sum() - 2000) < 300
    assert found.n == 2000 and list(found.classes) == [0, 1]
    table = found.to_frame()
    assert list(table.index) == list(found.figures) and table.loc["accuracy", "lower"] == low
    assert set(found.reliability()["class"]) <= {0, 1}
    assert "accuracy" in repr(found) and "<table>" in found._repr_html_()


def test_the_same_seed_is_the_same_answer_as_on_the_command_line(model, patients, tmp_path):
    import os

    if "RETICENT" not in os.environ:
        pytest.skip("there is no command line here")
    X, y = patients
    with pytest.warns(reticent.NotPrivateWarning):
        ours = reticent.evaluate(model, X, y, **BUDGET, random_state=5)
    assert not ours.certificate.certified
    path = model.save(tmp_path / "model")
    rows = [",".join([*(repr(float(v)) for v in row), str(label)]) for row, label in zip(X, y)]
    (tmp_path / "table.csv").write_text("\n".join(["1,2,target", *rows]) + "\n")
    command = [os.environ["RETICENT"], "evaluate", path, tmp_path / "table.csv", "--epsilon", "2",
               "--delta", "1e-6", "--seed", "5", "--json"]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    text = json.dumps(said)
    assert repr(ours.figures["auc"].value)[:12] in text
    assert repr(ours.score.value)[:12] in text


def test_a_regressor_and_a_model_without_probabilities(patients, bounds):
    X, y = patients
    ridge = PrivateRidge(**BUDGET, bounds=bounds, target_bounds=(0, 100)).fit(X, X[:, 0])
    found = ridge.private_score(X, X[:, 0], **BUDGET)
    assert set(found.figures) == {"r2", "mae", "mse", "rmse"} and found.confusion is None
    assert found.score is found.figures["r2"] and found.score.value > 0.5
    machine = PrivateLinearSVC(**BUDGET, bounds=bounds, classes=[0, 1]).fit(X, y)
    found = machine.private_score(X, y, **BUDGET)
    assert set(found.figures) == {"accuracy", "auc"} and len(found.reliability()) == 0


def test_it_pays(model, patients):
    X, y = patients
    budget = Budget(1.0, 1e-6)
    reticent.evaluate(model, X, y, epsilon=0.6, delta=1e-7, budget=budget)
    assert 0.0 < budget.counted <= 1.0 and budget.jobs[0]["label"] == "evaluate"
    with pytest.raises(reticent.BudgetExceeded):
        reticent.evaluate(model, X, y, epsilon=1.0, delta=1e-6, budget=budget)
    with pytest.raises(reticent.NotCertified), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reticent.evaluate(model, X, y, epsilon=0.1, delta=1e-7, budget=budget, random_state=1)
    assert len(budget.jobs) == 1
    course = budget.course()
    assert list(course["counted"]) == sorted(course["counted"]) and len(course) >= 2
    assert course["counted"].iloc[-1] == budget.counted


def test_groups_protect_persons_and_labels_must_be_known(model, patients):
    X, y = patients
    found = model.private_score(X, y, np.arange(2000) // 4, **BUDGET)
    assert found.certificate.unit == "user" and found.n == 500
    with pytest.raises(reticent.DataError):
        model.private_score(X, np.full(2000, 7), **BUDGET)
    wrong = [{"epsilon": -1.0}, {"delta": 0.0}, {"confidence": 2.0}, {"bins": 1},
             {"adjacency": "add-remove"}, {"adjacency": "near"}, {"unit": "user"},
             {"threshold": 3.0}, {"bins": -1}, {"adjacency": "add-remove", "public_n": -1},
             {"adjacency": "add-remove", "public_n": 3.5}, {"epsilon": float("nan")}]
    for option in wrong:
        with pytest.raises(ValueError) as error:
            reticent.evaluate(model, X, y, **{**BUDGET, **option})
        assert "--" not in str(error.value), option


def test_public_classes_are_an_assumption(patients, bounds):
    X, y = patients
    arguments = {**BUDGET, "bounds": bounds, "settings": {"iterations": 5}}
    declared = PrivateLogisticRegression(**arguments, classes=[0, 1]).fit(X, y).certificate_
    read = PrivateLogisticRegression(**arguments, classes="public").fit(X, y).certificate_
    more = [line for line in read.assumptions if line not in declared.assumptions]
    assert len(more) == 1 and "which classes occur" in more[0]
    assert read.verify().certified


def test_what_the_noise_leaves_unknown_is_said_and_not_lost_when_paid_for(patients, bounds):
    X, _ = patients
    few, number = X[:40], X[:40, 0]
    ridge = PrivateRidge(**BUDGET, bounds=bounds, target_bounds=(0, 100)).fit(X, X[:, 0])
    budget = Budget(1.0, 1e-6)
    # The noise of each sum is hundreds, and 40 records vary by 10: the chance that a variance is seen
    # behind it, five standard deviations from 0, is below 1e-6.
    found = ridge.private_score(few, number, epsilon=0.01, delta=1e-7, budget=budget)
    assert len(budget.jobs) == 1 and np.isnan(found.score.value)
    assert found.score.interval == (-np.inf, 1.0) and found.score.noise == np.inf
    assert "r2" in repr(found) and np.isneginf(found.to_frame().loc["r2", "lower"])


def test_a_score_is_paid_from_the_budget_of_the_estimator(patients, bounds):
    X, y = patients
    budget, other = Budget(2.0, 1e-5), Budget(1.0, 1e-6)
    model = PrivateLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=bounds, classes=[0, 1], budget=budget
    ).fit(X, y)
    model.private_score(X, y, epsilon=0.5, delta=1e-7)
    reticent.evaluate(model, X, y, epsilon=0.1, delta=1e-7)
    labels = ["PrivateLogisticRegression", "evaluate", "evaluate"]
    assert [job["label"] for job in budget.jobs] == labels
    with pytest.raises(reticent.BudgetExceeded):
        model.private_score(X, y, epsilon=2.0, delta=1e-6)
    # People of another data set: their own budget, or none.
    model.private_score(X, y, epsilon=0.5, delta=1e-7, budget=other)
    model.private_score(X, y, epsilon=0.5, delta=1e-7, budget=None)
    assert len(budget.jobs) == 3 and len(other.jobs) == 1
    with pytest.raises(ValueError, match="'model' or None"):
        model.private_score(X, y, epsilon=0.5, delta=1e-7, budget="mine")
    search = reticent.PrivateSearchCV(model, {"alpha": [1e-3, 1e-2]})
    with pytest.raises(ValueError, match="param_grid has budget"):
        reticent.PrivateSearchCV(model, {"budget": [None, None]}).fit(X, y)
    search.set_params(estimator__budget=Budget(3.0, 1e-5)).fit(X, y)
    search.private_score(X, y, epsilon=0.5, delta=1e-7)
    assert len(search.estimator.budget.jobs) == 2
