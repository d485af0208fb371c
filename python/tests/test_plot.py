"""Pictures: that they are drawn, and of the right numbers. What they look like is for people."""

import numpy as np
import pytest
from conftest import BUDGET

import reticent
from reticent import Budget, PrivateLogisticRegression, accounting

pyplot = pytest.importorskip("matplotlib.pyplot")
plot = reticent.plot


@pytest.fixture
def model(patients, bounds):
    X, y = patients
    return PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1]).fit(X, y)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_curves_of_certificates(model):
    ax = plot.trade_off(model, accounting.gaussian(3.0), labels=["the model", "noise 3"])
    drawn = ax.get_lines()[1].get_xydata()
    assert drawn[0, 1] > 0.99 and drawn[-1, 1] == 0.0
    ax = plot.profile(model)
    point = ax.get_lines()[1].get_xydata()[0]
    assert point[0] == model.certificate_.epsilon() and point[1] == 1e-6
    assert plot.coefficients(model).get_yticklabels()[0].get_text() in model.coef_names_


def test_a_budget_over_time(patients, bounds):
    X, y = patients
    budget = Budget(3.0, 1e-6)
    model = PrivateLogisticRegression(
        epsilon=0.5, delta=1e-7, bounds=bounds, classes=[0, 1], budget=budget
    )
    model.fit(X, y).fit(X, y)
    lines = plot.budget(budget).get_lines()
    assert lines[0].get_ydata()[-1] == budget.counted and lines[2].get_ydata()[0] == 3.0


def test_evaluations_and_parties(model, patients):
    X, y = patients
    found = model.private_score(X, y, **BUDGET)
    assert "accuracy" in [text.get_text() for text in plot.evaluation(found).get_yticklabels()]
    assert plot.reliability(found).get_xlabel()
    run = reticent.simulate(model, X, y, 3)
    heights = [bar.get_height() for bar in plot.parties(run).patches]
    assert heights == [one.epsilon() for one in run.certificates]


def test_tables_of_audits_and_sweeps():
    table = {"algorithm": np.array(["a", "b"]), "epsilon_lower": np.array([1.0, 2.0]),
             "epsilon_certified": np.array([3.0, 3.0])}
    assert plot.audit(table).patches[1].get_width() == 2.0
    sweep = {"epsilon": np.array([1, 1, 2, 1]), "accuracy": np.array([0.5, 0.7, 0.9, 0.1]),
             "algorithm": np.array(["a", "a", "a", "b"])}
    ax = plot.curves(sweep, "epsilon", "accuracy", by="algorithm", log_x=True)
    assert np.allclose(ax.get_lines()[0].get_xydata(), [[1, 0.6], [2, 0.9]])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
