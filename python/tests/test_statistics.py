"""Means, histograms and quantiles of columns."""

import numpy as np
import pytest

import reticent

from conftest import BUDGET

pandas = pytest.importorskip("pandas")

SCHEMA = {
    "row_norm": 1,
    "missing_tokens": ["", "NaN"],
    "column": [
        {"name": "age", "kind": "numeric", "lower": 0, "upper": 100, "missing": 20},
        {"name": "town", "kind": "categorical", "categories": ["A", "B"]},
        {"name": "ill", "kind": "target", "classes": ["no", "yes"]},
    ],
}


@pytest.fixture
def people():
    n = 2000
    age = np.where(np.arange(n) % 2 == 0, 30.0, 50.0)
    age[::10] = np.nan
    town = np.array(["A", "B", "B", None], dtype=object)[np.arange(n) % 4]
    return pandas.DataFrame({"age": age, "town": town, "ill": ["no", "yes"] * (n // 2)})


def test_a_mean_is_near_in_the_units_of_the_column(patients):
    X, _ = patients
    found = reticent.mean(X, ["age", "pressure"], bounds=([0, 0], [100, 300]), **BUDGET)
    for at, column in enumerate(["age", "pressure"]):
        one = found[column]
        # Eight deviations: one alarm in 10¹⁴.
        assert abs(one["value"] - X[:, at].mean()) < 8 * one["deviation"]
        assert one["interval"][0] <= one["value"] <= one["interval"][1]
    assert found.n == 2000 and found.certificate.certified
    assert found.certificate.epsilon() <= BUDGET["epsilon"]
    assert list(found.table()["column"]) == ["age", "pressure"]
    assert repr(found) == "ColumnStatistics('mean' of age, pressure)"


def test_a_frame_with_a_schema_has_categories_and_missing_values(people):
    found = reticent.mean(people, "age", schema=SCHEMA, **BUDGET)
    # One in ten, all of them 30 otherwise, is missing and counts as 20.
    assert abs(found["age"]["value"] - 39) < 8 * found["age"]["deviation"]
    assert found["age"]["missing"] == 20
    found = reticent.histogram(people, ["town", "ill"], schema=SCHEMA, **BUDGET)
    counts = [one["count"] for one in found["town"]["bins"]]
    assert np.allclose(counts, [500, 1000, 500], atol=8 * found["town"]["deviation"])
    assert [one["category"] for one in found["ill"]["bins"]] == ["no", "yes", None]
    assert len(found.table()) == 6
    found = reticent.quantile(people, "age", at=[0.05, 0.4], resolution=1, schema=SCHEMA, **BUDGET)
    assert [one["value"] for one in found["age"]["quantiles"]] == [20, 30]


def test_persons_count_once_and_a_budget_pays(patients):
    X, _ = patients
    budget = reticent.Budget(2.2, 1e-5, unit="user").of_users("patient")
    groups = np.arange(2000) // 4
    found = reticent.mean(X[:, 0], "age", groups, bounds=(0, 100), budget=budget, **BUDGET)
    assert found.n == 500 and [job["label"] for job in budget.jobs] == ["mean"]
    with pytest.raises(reticent.BudgetExceeded):
        reticent.mean(X[:, 0], "age", groups, bounds=(0, 100), budget=budget, **BUDGET)
    counted = reticent.mean(X[:, 0], bounds=(0, 100), adjacency="add-remove", **BUDGET)
    assert counted.n != 2000 and abs(counted.n - 2000) < 200


def test_what_cannot_be_is_refused(patients, people):
    X, _ = patients
    for ask, word in (
        (lambda: reticent.mean(X, **BUDGET), "must be public"),
        (lambda: reticent.mean(X, bounds=(0, 1), schema=SCHEMA, **BUDGET), "the same thing"),
        (lambda: reticent.mean(people, schema=SCHEMA, **BUDGET), "which columns"),
        (lambda: reticent.mean(people, "town", schema=SCHEMA, **BUDGET), "histogram"),
        (lambda: reticent.mean(people, "height", bounds=(0, 1), **BUDGET), "no column height"),
        (lambda: reticent.mean(X, ["age"], bounds=(0, 1), **BUDGET), "2 columns"),
        (lambda: reticent.quantile(X, at=1.5, bounds=(0, 100), **BUDGET), "from 0 to 1"),
        (
            lambda: reticent.quantile(X, bounds=(0, 100), adjacency="add-remove", **BUDGET),
            "public",
        ),
        (lambda: reticent.histogram(X[:, 0], edges=[200], bounds=(0, 100), **BUDGET), "bounds"),
        (lambda: reticent.mean(people, "age", bounds=(0, 100), **BUDGET), "finite"),
    ):
        with pytest.raises(ValueError, match=word):
            ask()
    with pytest.warns(reticent.NotPrivateWarning):
        assert not reticent.mean(X, bounds=(0, 300), random_state=1, **BUDGET).certificate.certified
