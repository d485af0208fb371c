"""Class weights, standard errors and traces: what the library has beyond a plain fit."""

import json
import pickle
import re
import warnings

import numpy as np
import pytest
from conftest import BUDGET
from sklearn.base import clone

import reticent
from reticent import PrivateLinearSVC, PrivateLogisticRegression, PrivateRidge


def kept(model):
    return json.loads(model.model_.to_json())


def seeded(model, X, y):
    """A fit whose noise is the same every time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", reticent.NotPrivateWarning)
        return model.set_params(random_state=3).fit(X, y)


def test_weights_of_classes_in_the_words_of_scikit_learn(patients, bounds):
    X, y = patients
    labels = np.where(y == 1, "ill", "well")
    arguments = {**BUDGET, "bounds": bounds, "classes": ["well", "ill"]}
    model = PrivateLogisticRegression(**arguments, class_weight={"ill": 5.0}).fit(X, labels)
    assert list(model.classes_) == ["ill", "well"] and kept(model)["class_weights"] == [5.0, 1.0]
    assert model.certificate_.verify().certified
    for prior in ({"well": 0.8, "ill": 0.2}, [0.2, 0.8], np.array([0.2, 0.8])):
        model = PrivateLinearSVC(**arguments, class_weight="balanced", class_prior=prior)
        said = kept(clone(model).fit(X, labels))
        assert np.allclose(said["class_weights"], [2.5, 0.625])
        assert np.allclose(said["class_prior"], [0.2, 0.8])


def test_weights_are_of_numbers_and_of_the_classes_of_a_schema_too(patients, bounds):
    X, y = patients
    weights = {0: 0.5, 1: 2.0}
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1], class_weight=weights)
    assert kept(model.fit(X, y))["class_weights"] == [0.5, 2.0]
    assert kept(model.fit(X, y.astype(float)))["class_weights"] == [0.5, 2.0]
    # At the optimum the weighted share of the second class is its weighted mean probability.
    exact = PrivateLogisticRegression(
        bounds=bounds, classes=[0, 1], class_weight=weights, algorithm="exact", penalty=None
    ).fit(X, y)
    own = np.where(y == 1, 2.0, 0.5)
    mean = np.average(exact.predict_proba(X)[:, 1], weights=own)
    assert abs(mean - np.average(y, weights=own)) < 1e-3


def test_shares_are_not_counted_for_free(patients, bounds):
    X, y = patients
    arguments = {**BUDGET, "bounds": bounds, "classes": [0, 1]}
    wrong = [
        ({"class_weight": "balanced"}, "class_prior={class: share}"),
        ({"class_weight": "heavy"}, "'balanced', or a dict"),
        ({"class_weight": [1.0, 2.0]}, "a dict by class"),
        ({"class_weight": {7: 1.0}}, "none of the classes"),
        ({"class_weight": {1: 0.0}}, "between 1e-6 and 1e6"),
        ({"class_weight": {1: "much"}}, "a number is needed"),
        ({"class_prior": {1: 0.5}}, "no number for the class 0"),
        ({"class_prior": [0.5]}, "1 shares"),
        ({"class_prior": [0.5, 0.7]}, "add up to 1"),
    ]
    for options, word in wrong:
        with pytest.raises(ValueError, match=word) as error:
            PrivateLogisticRegression(**arguments, **options).fit(X, y)
        assert "--" not in str(error.value)
    with pytest.raises(ValueError, match="no weights"):
        model = PrivateLogisticRegression(**arguments, class_weight={1: 2.0}, algorithm="federated")
        reticent.simulate(model, X, y, 5)


def test_standard_errors_are_in_the_units_of_the_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    X = pandas.DataFrame({"age": rng.uniform(20, 90, 20_000), "dose": rng.uniform(0, 2, 20_000)})
    y = 3.0 + 0.5 * X["age"] - 4.0 * X["dose"] + rng.normal(0, 2, 20_000)
    bounds = {"age": (20, 90), "dose": (0, 2)}
    model = PrivateRidge(
        epsilon=8, delta=1e-6, bounds=bounds, target_bounds=(0, 60), standard_errors=0.4
    )
    seeded(model, X, y)
    table = model.standard_errors_
    assert list(table.index) == ["(intercept)", "age", "dose"] and not table["encoded"].any()
    # Six standard errors, of one draw that is always the same.
    truth = np.array([3.0, 0.5, -4.0])
    assert (abs(table["estimate"] - truth) < 6 * table["standard_error"]).all()
    assert (table["standard_error"] < [1.0, 0.02, 0.5]).all()
    width = table["upper"] - table["lower"]
    assert np.allclose(width, 2 * 1.959964 * table["standard_error"])
    path = model.save(tmp_path / "model")
    for same in (pickle.loads(pickle.dumps(model)), reticent.load(path)):
        assert same.standard_errors_.equals(table)
    assert not hasattr(clone(model), "standard_errors_")
    plain = model.set_params(standard_errors=None, random_state=None).fit(X, y)
    assert not hasattr(plain, "standard_errors_")


def test_standard_errors_that_the_noise_hides_are_said_to_be(patients, bounds):
    X, y = patients
    model = PrivateLogisticRegression(
        epsilon=0.05, delta=1e-6, bounds=bounds, classes=[0, 1], standard_errors=0.3
    )
    with pytest.warns(RuntimeWarning, match="no standard errors"):
        model.fit(X, y)
    assert len(model.standard_errors_) == 0 and model.certificate_.epsilon() <= 0.05


def test_where_there_are_no_standard_errors_it_is_said_before_anything_is_asked(patients, bounds):
    X, y = patients
    arguments = {**BUDGET, "bounds": bounds, "classes": [0, 1], "standard_errors": 0.3}
    budget = reticent.Budget(4.0, 1e-5)
    wrong = [
        ({"standard_errors": 1.0}, "a share of the budget"),
        ({"standard_errors": "some"}, "a number is needed"),
        ({"class_weight": {1: 2.0}}, "standard_errors"),
        ({"algorithm": "ssadmm"}, "standard_errors"),
        ({"classes": [0, 1, 2]}, "standard_errors"),
    ]
    for options, word in wrong:
        with pytest.raises(ValueError, match=word):
            PrivateLogisticRegression(**{**arguments, **options}, budget=budget).fit(X, y)
    peers = PrivateLogisticRegression(**arguments, budget=budget, algorithm="r-admm")
    with pytest.raises(ValueError, match="an algorithm of one table"):
        reticent.simulate(peers, X, y, 5)
    search = reticent.PrivateSearchCV(
        PrivateLogisticRegression(**arguments, budget=budget), {"alpha": [1e-3, 1e-2]}
    )
    with pytest.raises(ValueError, match="standard_errors"):
        search.fit(X, y)
    assert not budget.jobs


def test_a_trace_is_of_what_is_released(patients, bounds):
    X, y = patients
    arguments = {**BUDGET, "bounds": bounds, "classes": [0, 1], "algorithm": "dp-sgd",
                 "settings": {"iterations": 12}}
    model = seeded(PrivateLogisticRegression(**arguments, trace=True), X, y)
    table = model.trace_
    assert list(table["iteration"]) == list(range(1, 13))
    assert (table["epsilon"].diff()[1:] > 0).all()
    assert table["epsilon"].iloc[-1] <= 2.0 and table["released_norm"].notna().all()
    assert not [name for name in table if name.startswith("nonprivate")]
    # Nobody can tell from the model that it was watched.
    plain = seeded(PrivateLogisticRegression(**arguments), X, y)
    assert np.array_equal(plain.coef_, model.coef_) and not hasattr(plain, "trace_")
    assert not hasattr(model.set_params(trace=False, random_state=None).fit(X, y), "trace_")
    federated = PrivateLogisticRegression(
        **{**arguments, "algorithm": "federated"}, trace=True, unit="record"
    )
    run = reticent.simulate(federated, X, y, 4)
    assert len(run.model.trace_) == run.rounds


def test_what_cannot_be_traced_is_refused(patients, bounds):
    X, y = patients
    arguments = {"bounds": bounds, "classes": [0, 1], "trace": True}
    with pytest.raises(ValueError, match="no noise"):
        PrivateLogisticRegression(**arguments, algorithm="exact").fit(X, y)
    search = reticent.PrivateSearchCV(
        PrivateLogisticRegression(**BUDGET, **arguments), {"alpha": [1e-3, 1e-2]}
    )
    with pytest.raises(ValueError, match="only the best run is released"):
        search.fit(X, y)


def test_counts_of_classes_are_paid_for(patients, bounds):
    X, y = patients
    labels = np.where(y == 1, "ill", "well")
    classes, budget = ["well", "ill"], reticent.Budget(2.0, 1e-5)
    found = reticent.class_counts(labels, classes=classes, epsilon=0.5, delta=1e-6, budget=budget)
    assert list(found.classes) == ["ill", "well"] and found.certificate.verify().certified
    # Eight deviations: the chance of more is below 1e-14.
    assert abs(found.counts[0] - y.sum()) < 8 * found.deviation < 200
    # Under replace-one the number of all is public.
    assert np.isclose(found.counts.sum(), 2000)
    shares = found.shares()
    assert np.isclose(sum(shares.values()), 1.0) and abs(shares["ill"] - y.mean()) < 0.1
    model = PrivateLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=bounds, classes=classes, budget=budget,
        class_weight="balanced", class_prior=shares,
    ).fit(X, labels)
    weights = 0.5 / np.array([shares["ill"], shares["well"]])
    assert np.allclose(kept(model)["class_weights"], weights)
    assert [job["label"] for job in budget.jobs] == ["class_counts", "PrivateLogisticRegression"]
    with pytest.raises(reticent.BudgetExceeded):
        reticent.class_counts(labels, classes=classes, epsilon=2.0, delta=1e-6, budget=budget)
    assert "ill" in repr(found)


def test_counts_of_persons_of_three_classes_and_of_tables_whose_size_is_private(patients):
    labels = np.arange(2000) // 2 % 3
    groups = np.arange(2000) // 2
    found = reticent.class_counts(labels, groups, classes=[0, 1, 2], epsilon=1.0, delta=1e-6)
    assert found.certificate.unit == "user" and np.isclose(found.counts.sum(), 1000)
    assert (abs(found.counts - 1000 / 3) < 8 * np.sqrt(2) * found.deviation).all()
    found = reticent.class_counts(
        labels, classes=[0, 1, 2], epsilon=1.0, delta=1e-6, adjacency="add-remove"
    )
    assert found.certificate.adjacency == "add-remove" and found.counts.sum() != 2000
    # A class that is behind the noise is not taken for smaller than the noise.
    found = reticent.class_counts(np.zeros(50, int), classes=[0, 1], epsilon=0.01, delta=1e-6)
    assert min(found.shares().values()) > 1e-3


def test_counts_that_cannot_be_are_refused():
    labels = np.array(["a", "b", "SECRET"])
    usual = {"classes": ["a", "b"], "epsilon": 1.0, "delta": 1e-6}
    with pytest.raises(reticent.DataError) as error:
        reticent.class_counts(labels, **usual)
    assert "SECRET" not in str(error.value)
    for option in ({"classes": ["a", "a"]}, {"classes": ["a"]}, {"epsilon": 0.0}, {"delta": 0.0},
                   {"adjacency": "near"}):
        with pytest.raises(ValueError):
            reticent.class_counts(labels[:2], **{**usual, **option})
    with pytest.raises(ValueError, match="one column"):
        reticent.class_counts(labels[:2].reshape(1, 2), **usual)
    with pytest.warns(reticent.NotPrivateWarning):
        found = reticent.class_counts(labels[:2], **usual, random_state=1)
    assert not found.certificate.certified


def test_a_page_about_a_model_and_its_budget(patients, bounds, tmp_path):
    X, y = patients
    budget = reticent.Budget(2.0, 1e-5, dataset="the clinic")
    model = PrivateLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=bounds, classes=[0, 1], budget=budget
    ).fit(X, y)
    page = model.report(tmp_path / "page.html")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and "PrivateLogisticRegression" in text
    assert "The budget of" in text and "the clinic" in text and "<script" not in text
    with pytest.raises(FileExistsError):
        model.report(page)
    alone = model.set_params(budget=None).report(page, overwrite=True)
    assert "The budget of" not in alone.read_text(encoding="utf-8")


def test_a_budget_that_came_later_is_not_said_to_have_paid(patients, bounds, tmp_path):
    budget = reticent.Budget(4.0, 1e-5)
    usual = {"epsilon": 1.0, "delta": 1e-6, "bounds": bounds, "classes": [0, 1]}
    first, second, unpaid = (
        PrivateLogisticRegression(**usual, budget=pays).fit(*patients)
        for pays in (budget, budget, None)
    )

    def job_of(model):
        text = model.report(tmp_path / "page.html", overwrite=True).read_text(encoding="utf-8")
        assert "The budget of" in text
        found = re.search(r"Job (\d+) of the budget paid for it", text)
        return None if found is None else int(found[1])

    # All three have the same plan, and each paid model has a job of its own.
    # Pages count jobs from 1.
    numbers = [1, 2]
    assert [job_of(first), job_of(second)] == numbers
    assert len({job["number"] for job in budget.jobs}) == 2
    assert job_of(unpaid.set_params(budget=budget)) is None
    assert job_of(pickle.loads(pickle.dumps(first))) == numbers[0]
    # Nor is another budget.
    other = reticent.Budget(4.0, 1e-5)
    PrivateLogisticRegression(**usual, budget=other).fit(*patients)
    assert job_of(first.set_params(budget=other)) is None
    # The budget names what it paid for, so that a model is known again that was in a file.
    first.save(tmp_path / "model")
    assert job_of(reticent.load(tmp_path / "model").set_params(budget=budget)) == numbers[0]
    assert job_of(second.set_params(budget=None).fit(*patients).set_params(budget=budget)) is None


def test_a_certificate_says_that_class_weights_are_taken_for_public(patients, bounds):
    usual = {"epsilon": 1.0, "delta": 1e-6, "bounds": bounds, "classes": [0, 1]}
    for said, wanted in (
        ({}, []),
        ({"class_weight": {1: 3}}, ["the weights of the classes"]),
        ({"class_weight": "balanced", "class_prior": {0: 0.4, 1: 0.6}},
         ["the weights and the shares of the classes"]),
    ):
        model = PrivateLogisticRegression(**usual, **said).fit(*patients)
        lines = [line for line in model.certificate_.assumptions if "classes are public" in line]
        assert [line.split(" are public")[0] for line in lines] == wanted
        model.certificate_.verify()
