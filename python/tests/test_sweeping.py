"""Sweeps: experiments on public tables, and releases that pay on private ones."""

import numpy as np
import pytest

import reticent
from reticent import Budget, PrivateLogisticRegression


@pytest.fixture
def model(bounds):
    return PrivateLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=bounds, classes=[0, 1], settings={"iterations": 10}
    )


def test_a_public_table_is_an_experiment(model, patients):
    X, y = patients
    found = reticent.sweep(
        model, X[:1500], y[:1500], {"epsilon": [0.01, 5.0], "alpha": [1e-4]},
        test=(X[1500:], y[1500:]), repeats=4, public=True,
    )
    assert len(found.runs) == 8 and found.models == []
    assert set(found.varied) == {"alpha", "epsilon"}
    assert (found.runs["certified"] <= found.runs["epsilon"]).all()
    table = found.summary()
    mean = dict(zip(table["epsilon"], table["mean"]))
    assert mean[5.0] > 0.7 and list(table["runs"]) == [4, 4]
    # Student's t for three degrees of freedom.
    scores = found.runs["score"][found.runs["epsilon"] == 5.0]
    half = 3.182 * scores.std(ddof=1) / 2
    assert np.isclose(table["upper"].iloc[1] - table["mean"].iloc[1], half, rtol=1e-3)
    pytest.importorskip("matplotlib")
    ax = reticent.plot.curves(table, "epsilon", "mean", lower="lower", upper="upper")
    assert len(ax.get_lines()) == 1


def test_a_private_table_is_paid_for(model, patients):
    X, y = patients
    grid = {"alpha": [1e-3, 1e-2]}
    with pytest.raises(ValueError, match="4 releases"):
        reticent.sweep(model, X, y, grid, repeats=2)
    budget = Budget(2.0, 1e-6)
    model.set_params(budget=budget)
    with pytest.raises(ValueError, match="not private"):
        reticent.sweep(model, X, y, grid, test=(X, y))
    with pytest.raises(ValueError, match="public=True"):
        reticent.sweep(model, X, y, grid, public=True)
    # Three fits at 1 are within 2, and the fourth is not.
    with pytest.warns(reticent.PrivacyCostWarning, match="after 3 runs"):
        found = reticent.sweep(model, X, y, grid, repeats=2)
    assert len(found.models) == 3 == len(budget.jobs)
    with pytest.raises(ValueError, match="no scores"):
        found.summary()
    with pytest.raises(reticent.BudgetExceeded):
        reticent.sweep(model, X, y, grid)
    with pytest.raises(ValueError, match="repeats"):
        reticent.sweep(model, X, y, grid, repeats=0)


def test_no_point_of_the_grid_gets_by_without_paying(model, patients):
    budget = Budget(4.0, 1e-5)
    with pytest.raises(ValueError, match="param_grid has budget"):
        reticent.sweep(model.set_params(budget=budget), *patients, {"budget": [None]}, repeats=1)
    assert not budget.jobs


@pytest.mark.parametrize(
    "error", [OSError("the disk is full"), KeyboardInterrupt(), reticent.FitStopped("stopped", 1.0)]
)
def test_what_was_paid_for_is_not_lost_whatever_ends_a_sweep(model, patients, monkeypatch, error):
    budget = Budget(4.0, 1e-5)
    fit = PrivateLogisticRegression.fit

    def until_the_third(self, X, y, groups=None):
        if len(budget.jobs) == 2:
            raise error
        return fit(self, X, y, groups)

    monkeypatch.setattr(PrivateLogisticRegression, "fit", until_the_third)
    model.set_params(budget=budget)
    with pytest.raises(type(error)) as raised:
        reticent.sweep(model, *patients, {"alpha": [1e-3, 1e-2]}, repeats=2)
    done = raised.value.done
    assert raised.value is error and len(done.models) == len(done.runs) == 2 == len(budget.jobs)
    assert all(one.certificate_.certified for one in done.models)
    assert "`done`" in "".join(getattr(error, "__notes__", ["`done`"]))


def test_ctrl_c_right_after_a_fit_loses_nothing(model, patients, monkeypatch):
    budget = Budget(4.0, 1e-5)
    fit = PrivateLogisticRegression.fit

    def and_then(self, X, y, groups=None):
        fit(self, X, y, groups)
        raise KeyboardInterrupt

    monkeypatch.setattr(PrivateLogisticRegression, "fit", and_then)
    with pytest.raises(KeyboardInterrupt) as raised:
        reticent.sweep(model.set_params(budget=budget), *patients, {"alpha": [1e-3]}, repeats=2)
    assert len(raised.value.done.models) == 1 == len(budget.jobs)


def test_a_point_that_cannot_be_is_refused_before_anything_is_paid(model, patients):
    budget = Budget(4.0, 1e-5)
    model.set_params(budget=budget)
    for grid in ({"alpha": [1e-3, -1.0]}, {"settings": [{"iterations": 5}, {"iterations": 0}]},
                 {"epsilon": [1.0, None]}, {"nothing": [1]}):
        with pytest.raises(ValueError):
            reticent.sweep(model, *patients, grid, repeats=1)
    assert not budget.jobs


@pytest.mark.parametrize(
    "grid",
    [
        {"algorithm": ["auto", "exact"]},
        {"random_state": [None, 1]},
        {"algorithm": ["mpadmm"], "settings": [{"iterations": 5}, {"as_published": True}]},
    ],
)
def test_what_no_budget_holds_is_refused_before_the_first_run(model, patients, grid):
    budget = Budget(4.0, 1e-5)
    model.set_params(budget=budget, settings=None)
    with pytest.raises(reticent.NotCertified, match="no budget holds this job") as raised:
        reticent.sweep(model, *patients, grid, repeats=1)
    assert not budget.jobs and not hasattr(raised.value, "done")


@pytest.mark.parametrize("public", [True, False])
def test_a_trace_of_what_has_none_is_refused_before_the_first_run(model, patients, public):
    budget = None if public else Budget(4.0, 1e-5)
    model.set_params(budget=budget, settings=None, trace=True)
    with pytest.raises(ValueError, match="trace") as raised:
        reticent.sweep(model, *patients, {"algorithm": ["auto", "exact"]}, repeats=1, public=public)
    assert not hasattr(raised.value, "done") and (public or not budget.jobs)


def test_an_experiment_that_is_stopped_has_its_rows(model, patients, monkeypatch):
    X, y = patients
    scores = iter([0.5])
    monkeypatch.setattr(PrivateLogisticRegression, "score", lambda self, X, y: next(scores))
    with pytest.raises(StopIteration) as raised:
        reticent.sweep(model, X, y, {"alpha": [1e-3]}, test=(X, y), public=True)
    done = raised.value.done
    assert done.models == [] and done.runs["score"][0] == 0.5 and np.isnan(done.runs["score"][1])


def test_a_sweep_protects_persons(model, patients):
    budget = Budget(4.0, 1e-5, unit="user").of_users("patient")
    model.set_params(budget=budget)
    found = reticent.sweep(
        model, *patients, {"alpha": [1e-3]}, groups=np.arange(2000) // 4, repeats=1
    )
    assert found.models[0].certificate_.unit == "user" and len(budget.jobs) == 1
    # Without them records would be protected, which is not what this budget promises.
    with pytest.raises(reticent.BudgetError) as raised:
        reticent.sweep(model, *patients, {"alpha": [1e-3]}, repeats=1)
    assert not hasattr(raised.value, "done") and len(budget.jobs) == 1


@pytest.mark.parametrize(
    "grid",
    [
        {"adjacency": ["add-remove", "replace-one"]},
        {"unit": ["user", "record"]},
        {"unit": ["record", "user"]},
    ],
)
def test_what_the_budget_cannot_count_is_refused_before_the_first_run(model, patients, grid):
    # The first point is what the budget promises, and the second is not.
    budget = Budget(8.0, 1e-4, **{name: values[0] for name, values in grid.items()})
    model.set_params(budget=budget.of_users("patient"), public_n=2000)
    groups = np.arange(2000) // 4 if "unit" in grid else None
    with pytest.raises(reticent.BudgetError) as raised:
        reticent.sweep(model, *patients, grid, repeats=1, groups=groups)
    assert not budget.jobs and not hasattr(raised.value, "done")


def test_a_grid_that_the_budget_can_count_is_paid_for(model, patients):
    budget = Budget(8.0, 1e-4)
    model.set_params(budget=budget, public_n=2000)
    grid = {"adjacency": ["replace-one", "add-remove"]}
    found = reticent.sweep(model, *patients, grid, repeats=1)
    assert len(found.models) == 2 == len(budget.jobs)
