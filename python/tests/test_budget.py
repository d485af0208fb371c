"""A budget is not lost, whatever wraps the fits that it pays for."""

import copy
import os
import pickle
import re
import stat
import subprocess
import sys
import warnings

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import reticent
from reticent import Budget, BudgetExceeded, PrivateLogisticRegression

CEILING = (2.0, 1e-6)
# How many fits at (1, 1e-6) are composed to at most that.
FIT = 3


def estimator(budget, **more):
    return PrivateLogisticRegression(
        epsilon=1.0,
        delta=1e-6,
        bounds=([20, 80], [90, 200]),
        classes=[0, 1],
        budget=budget,
        settings={"iterations": 5},
        **more,
    )


@pytest.fixture(params=["memory", "file"])
def budget(request, tmp_path):
    if request.param == "memory":
        return Budget(*CEILING)
    return Budget.create(tmp_path / "clinic.budget", *CEILING)


def paid(budget):
    jobs = budget.check()["jobs"]
    assert all(job["status"] == "settled" for job in jobs)
    return len(jobs)


def ten_times(fit):
    done = 0
    for _ in range(10):
        try:
            fit()
            done += 1
        except BudgetExceeded:
            pass
    return done


def quietly(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run()


def test_plain_fits(budget, patients):
    model = estimator(budget)
    assert ten_times(lambda: model.fit(*patients)) == FIT == paid(budget)
    assert 0 < budget.counted <= 2.0 and budget.left < 1.0
    with pytest.raises(BudgetExceeded, match="fits up to epsilon"):
        model.fit(*patients)


def test_clones_copies_and_pickles(budget, patients):
    model = estimator(budget)
    ways = [clone, copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))] * 3
    rest = iter(ways)
    assert ten_times(lambda: next(rest)(model).fit(*patients)) == FIT == paid(budget)
    assert clone(model).budget == budget


def test_cross_validation(budget, patients):
    model = estimator(budget)
    scores = quietly(lambda: cross_val_score(model, *patients, cv=10))
    assert np.isfinite(scores).sum() == FIT == paid(budget)


def test_grid_search(budget, patients):
    search = GridSearchCV(estimator(budget), {"alpha": [1e-3, 1e-2]}, cv=5, refit=False)
    quietly(lambda: search.fit(*patients))
    scores = np.array([search.cv_results_[f"split{k}_test_score"] for k in range(5)])
    assert np.isfinite(scores).sum() == FIT == paid(budget)


def test_pipelines(budget, patients):
    steps = make_pipeline(FunctionTransformer(), estimator(budget))
    assert ten_times(lambda: clone(steps).fit(*patients)) == FIT == paid(budget)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(budget, patients, backend):
    model = estimator(budget)

    # Within the test: the processes cannot import it.
    def fit_once(model, X, y):
        try:
            model.fit(X, y)
            return 1
        except BudgetExceeded:
            return 0

    done = Parallel(n_jobs=2, backend=backend)(
        delayed(fit_once)(clone(model), *patients) for _ in range(10)
    )
    assert sum(done) == FIT == paid(budget)


FORKED = """
import multiprocessing, warnings
import numpy as np
from reticent import Budget, BudgetExceeded, PrivateLogisticRegression
X = np.random.default_rng(0).uniform(0, 1, size=(2000, 3))
y = (X[:, 0] > 0.5).astype(int)
budget = Budget(2.0, 1e-6)
model = PrivateLogisticRegression(
    epsilon=1.0, delta=1e-6, bounds=(0, 1), classes=[0, 1], budget=budget
).fit(X, y)

def again(_):
    try:
        model.fit(X, y)
    except BudgetExceeded:
        return None
    assert len(model.predict(X)) == 2000
    return tuple(model.coef_.ravel())

warnings.simplefilter("ignore")  # that a process with threads is forked
with multiprocessing.get_context("fork").Pool(2) as pool:
    found = [one for one in pool.map(again, range(4), chunksize=1) if one]
assert len(budget.jobs) == 3 and len(found) == 2 == len(set(found)), found
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is forked there")
def test_a_forked_process_pays_draws_noise_of_its_own_and_does_not_wait_for_ever():
    """The threads that the first fit has started are not in it."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "done\n", done.stderr


def test_grid_search_in_processes(budget, patients):
    search = GridSearchCV(estimator(budget), {"alpha": [1e-3, 1e-2]}, cv=5, refit=False, n_jobs=2)
    quietly(lambda: search.fit(*patients))
    assert FIT == paid(budget)


def test_a_search_of_scikit_learn_says_what_it_costs(patients):
    budget = Budget(10, 1e-6)
    with pytest.warns(reticent.PrivacyCostWarning, match="GridSearchCV fits.*every fit spends"):
        GridSearchCV(estimator(budget), {"alpha": [1e-3, 1e-2]}, cv=2).fit(*patients)
    assert len(budget.jobs) == 5
    with pytest.warns(reticent.PrivacyCostWarning, match="cross_validate fits"):
        cross_val_score(estimator(budget), *patients, cv=2)
    steps = make_pipeline(FunctionTransformer(), estimator(budget))
    with pytest.warns(reticent.PrivacyCostWarning):
        cross_val_score(steps, *patients, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", reticent.PrivacyCostWarning)
        clone(estimator(budget)).fit(*patients)


def test_a_private_search_is_one_job(patients):
    budget = Budget(*CEILING)
    search = reticent.PrivateSearchCV(estimator(budget), {"alpha": [1e-3, 1e-2]}).fit(*patients)
    assert paid(budget) == 1 and search.certificate_.epsilon() <= 1.0


def test_what_is_no_guarantee_is_not_paid_for(budget, patients):
    with pytest.raises(reticent.NotCertified, match="no budget holds"):
        estimator(budget, algorithm="exact").set_params(settings=None).fit(*patients)
    with pytest.raises(reticent.NotCertified), pytest.warns(reticent.NotPrivateWarning):
        estimator(budget, random_state=1).fit(*patients)
    assert paid(budget) == 0


def test_users_are_paid_for_as_such(patients):
    X, y = patients
    budget = Budget(*CEILING, unit="user").of_users("patient")
    estimator(budget).fit(X, y, groups=np.arange(2000) // 2)
    assert paid(budget) == 1
    with pytest.raises(reticent.BudgetError):
        estimator(budget).fit(X, y)


def test_visits_are_not_charged_as_patients(patients):
    """Groups had no name, and every row a user of its own was charged as if it were a person."""
    pandas = pytest.importorskip("pandas")
    X, y = patients
    budget = Budget(*CEILING, unit="user")
    patient = pandas.Series(np.arange(2000) // 4, name="patient")
    visit = pandas.Series(np.arange(2000), name="visit")
    estimator(budget).fit(X, y, groups=patient)
    model = estimator(budget)
    for groups in (visit, visit.to_numpy()):
        refused = reticent.BudgetError if groups is visit else ValueError
        with pytest.raises(refused, match="visit|no name"):
            model.fit(X, y, groups=groups)
        with pytest.raises(refused, match="visit|no name"):
            reticent.class_counts(
                y, groups, classes=[0, 1], epsilon=0.1, delta=1e-7, budget=budget
            )
        with pytest.raises(refused, match="visit|no name"):
            reticent.sweep(model, X, y, {"alpha": [1e-3]}, groups=groups, repeats=1)
        with pytest.raises(refused, match="visit|no name"):
            reticent.PrivateSearchCV(model, {"alpha": [1e-3, 1e-2]}).fit(X, y, groups)
    with pytest.raises(ValueError, match="of_users says 'patient'"):
        estimator(budget.of_users("patient")).fit(X, y, groups=visit)
    assert paid(budget) == 1
    estimator(budget.of_users("patient")).fit(X, y, groups=patient.to_numpy())
    assert paid(budget) == 2


def test_groups_do_not_stand_in_for_the_column_of_the_schema():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"age": rng.uniform(20, 90, 400)})
    y = pandas.Series((table["age"] > 50).astype(int), name="ill")
    schema = {
        "row_norm": 1.0,
        "column": [
            {"name": "age", "kind": "numeric", "lower": 20, "upper": 90},
            {"name": "patient", "kind": "user"},
            {"name": "ill", "kind": "target", "classes": ["0", "1"]},
        ]
    }
    model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, schema=schema)
    visit = pandas.Series(np.arange(400), name="visit")
    with pytest.raises(ValueError, match="stand in for the column 'patient'"):
        model.fit(table, y, groups=visit)
    model.fit(table, y, groups=visit.rename("patient") // 4)
    assert model.certificate_.unit == "user"


def test_a_table_in_memory_is_not_charged_to_another_tables_people(tmp_path, patients):
    """A in memory, B of other people, B in memory: the last was charged to A's people alone."""
    X, y = patients
    budget = Budget.create(tmp_path / "clinic.budget", *CEILING)
    north, south = slice(0, 1000), slice(1000, 2000)
    estimator(budget.for_disjoint_people("north")).fit(X[north], y[north])
    estimator(budget.for_disjoint_people("south")).fit(X[south], y[south])
    people = [job["people"] for job in budget.jobs]
    assert people == [[1], [2]]
    counted = budget.counted
    estimator(budget).fit(X[south], y[south])
    assert budget.jobs[2]["people"] is None
    assert budget.counted > counted
    # Other targets and orders are of the same people; the same rows under another name perhaps.
    small = estimator(budget.for_disjoint_people("south")).set_params(epsilon=0.3)
    small.fit(X[south], 1 - np.asarray(y[south]))
    order = np.random.default_rng(0).permutation(1000)
    other = small.set_params(budget=budget.for_disjoint_people("east"))
    other.fit(np.asarray(X[south])[order], np.asarray(y[south])[order])
    assert [job["people"] for job in budget.jobs[3:]] == [[2], None]
    assert len(budget.check()["jobs"]) == 5


def test_folds_of_disjoint_people_have_one_budget(patients):
    budget = Budget(*CEILING)
    model = estimator(budget.for_disjoint_people("south"))
    scores = quietly(lambda: cross_val_score(model, *patients, cv=10))
    assert np.isfinite(scores).sum() == FIT == paid(budget)
    assert all(job["people"] == [1] for job in budget.jobs)


def test_spellings_of_one_name_are_the_same_people(tmp_path):
    """A name whose accent stood apart had a budget of its own."""
    budget = Budget.create(tmp_path / "clinic.budget", *CEILING)
    names = ["M\u00e1laga", "Ma\u0301laga", " M\u00e1laga "]
    assert {budget.for_disjoint_people(name).disjoint_people for name in names} == {names[0]}


def test_a_statement_about_a_table_is_the_handles(tmp_path):
    budget = Budget.create(tmp_path / "clinic.budget", *CEILING)
    apart = budget.for_disjoint_people("south").of_users("patient")
    for same in (copy.deepcopy(apart), pickle.loads(pickle.dumps(apart)), clone(apart, safe=False)):
        assert same == apart and same.disjoint_people == "south" and same.users == "patient"
    assert apart != budget and not budget.disjoint_people and budget.users is None
    with pytest.raises(ValueError, match="who a user is"):
        budget.of_users(" ")
    with pytest.raises(ValueError, match="who these people are"):
        budget.for_disjoint_people(" ")


def test_a_budget_is_for_its_owner_and_opens_again(tmp_path, patients):
    path = tmp_path / "clinic.budget"
    budget = Budget.create(path, *CEILING)
    estimator(budget).fit(*patients)
    assert Budget.open(path) == budget and len(Budget.open(path).jobs) == 1
    for file in (path, Budget(*CEILING).path):
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    with pytest.raises(FileExistsError):
        Budget.create(path, *CEILING)
    with pytest.raises(reticent.BudgetError):
        Budget.open(tmp_path / "none.budget")
    with pytest.raises(ValueError):
        Budget(-1, 1e-6)
    assert "counted=" in repr(budget)


def test_a_budget_is_a_table_in_a_notebook(patients, bounds):
    budget = Budget(2.0, 1e-6, dataset="<b>clinic</b>")
    model = PrivateLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=bounds, classes=[0, 1], budget=budget
    ).fit(*patients)
    page = budget._repr_html_()
    assert "&lt;b&gt;clinic&lt;/b&gt;" in page and "<b>clinic" not in page
    assert type(model).__name__ in page and "settled" in page
    # Rounded outward: what was counted is never shown as less, what is left never as more.
    counted = float(re.search(r"counted</th><td[^>]*>ε = ([0-9.]+)", page)[1])
    left = float(re.search(r"left</th><td[^>]*>ε = ([0-9.]+)", page)[1])
    assert budget.counted <= counted < budget.counted + 1e-3
    assert budget.left - 1e-3 < left <= budget.left
    gone = Budget.open(budget.path)
    os.remove(budget.path)
    assert "Budget.open" in gone._repr_html_()
