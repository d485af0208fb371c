"""What an estimator does with its arguments."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from conftest import BUDGET
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import reticent
from reticent import (
    PrivateElasticNet,
    PrivateFusedLasso,
    PrivateGeneralizedLasso,
    PrivateHuberRegressor,
    PrivateLasso,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
)

CLASSIFIERS = [PrivateLogisticRegression, PrivateLinearSVC]
REGRESSORS = [
    PrivateRidge,
    PrivateLasso,
    PrivateElasticNet,
    PrivateHuberRegressor,
    PrivateFusedLasso,
]


@pytest.mark.parametrize("Estimator", CLASSIFIERS)
def test_a_classifier_learns_within_its_budget(Estimator, patients, bounds):
    X, y = patients
    model = Estimator(**BUDGET, bounds=bounds, classes=[0, 1]).fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.certificate_.certified and model.certificate_.epsilon() <= 2.0
    assert model.certificate_.noise == "secure"
    assert model.coef_.shape == (1, 2) and model.intercept_.shape == (1,)
    assert model.n_iter_ > 0 and model.n_features_in_ == 2
    scores = model.decision_function(X)
    assert np.allclose(scores, X @ model.coef_[0] + model.intercept_[0])
    assert np.array_equal(model.predict(X), model.classes_[(scores > 0).astype(int)])


def test_probabilities_belong_to_the_scores(patients, bounds):
    X, y = patients
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1]).fit(X, y)
    p = model.predict_proba(X)
    assert np.allclose(p.sum(axis=1), 1)
    assert np.allclose(p[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))
    assert np.allclose(model.predict_log_proba(X), np.log(p))


def test_three_classes_by_their_names(bounds):
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(3000, 2))
    y = np.array(["left", "middle", "right"])[np.digitize(X[:, 0], [-0.33, 0.33])]
    model = PrivateLogisticRegression(
        epsilon=4, delta=1e-6, bounds=(-1, 1), classes=["right", "left", "middle"]
    ).fit(X, y)
    assert list(model.classes_) == ["left", "middle", "right"]
    assert model.coef_.shape == (3, 2) and model.score(X, y) > 0.7
    assert np.array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])
    assert np.allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_)


@pytest.mark.parametrize("Estimator", REGRESSORS)
def test_a_regressor_learns_in_the_units_of_its_columns(Estimator, patients, bounds):
    X, _ = patients
    y = 3 * X[:, 0] - X[:, 1]
    model = Estimator(
        epsilon=8, delta=1e-6, alpha=1e-5, bounds=bounds, target_bounds=(-140, 190)
    ).fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.coef_.shape == (2,) and isinstance(model.intercept_, float)
    inside = (model.predict(X) > -140) & (model.predict(X) < 190)
    assert np.allclose(model.predict(X)[inside], (X @ model.coef_ + model.intercept_)[inside])


def test_a_matrix_ties_coefficients_together():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(3000, 3))
    y = X.sum(axis=1)
    model = PrivateGeneralizedLasso(
        A=[[1, -1, 0], [0, 1, -1]], alpha=0.5, epsilon=8, delta=1e-6, bounds=(-1, 1),
        target_bounds=(-3, 3),
    ).fit(X, y)
    assert np.ptp(model.coef_) < 0.05 and model.coef_.min() > 0.5
    with pytest.raises(ValueError, match="3 columns is needed"):
        PrivateGeneralizedLasso(
            A=[[1, -1]], **BUDGET, bounds=(-1, 1), target_bounds=(-3, 3)
        ).fit(X, y)


@pytest.mark.parametrize(
    "graph", ["path", [(0, 1), (1, 2, 0.5)], np.ones((3, 3)) - np.eye(3), "private"]
)
def test_graphs_in_every_form(graph):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(2000, 3))
    model = PrivateFusedLasso(
        graph=graph, epsilon=8, delta=1e-6, bounds=(-1, 1), target_bounds=(-3, 3)
    ).fit(X, X.sum(axis=1))
    assert model.certificate_.certified and model.model_.problem[2].startswith("graph")
    learned = isinstance(graph, str) and graph == "private"
    assert (model.model_.graph is not None) == learned


def test_without_an_intercept_the_bounds_still_move_the_score(patients, bounds):
    X, y = patients
    model = PrivateLogisticRegression(
        **BUDGET, bounds=bounds, classes=[0, 1], fit_intercept=False
    ).fit(X, y)
    assert np.allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_)


def test_nothing_is_guessed(patients, bounds):
    X, y = patients
    with pytest.raises(ValueError) as error:
        PrivateLogisticRegression(**BUDGET, classes=[0, 1]).fit(X, y)
    assert all(way in str(error.value) for way in ("bounds=", "schema=", "row_norm="))
    with pytest.raises(ValueError) as error:
        PrivateLogisticRegression(**BUDGET, bounds=bounds).fit(X, y)
    assert all(way in str(error.value) for way in ("classes=[", "schema", "'public'"))
    with pytest.raises(ValueError, match="target_bounds="):
        PrivateRidge(**BUDGET, bounds=bounds).fit(X, y)
    with pytest.raises(ValueError, match="epsilon is missing"):
        PrivateRidge(bounds=bounds, target_bounds=(0, 1)).fit(X, y)
    with pytest.raises(ValueError, match="delta is missing"):
        PrivateRidge(epsilon=1, bounds=bounds, target_bounds=(0, 1)).fit(X, y)
    with pytest.raises(reticent.DataError, match="none of the declared classes"):
        PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 2]).fit(X, y)


def test_messages_name_parameters_and_no_flags(patients, bounds):
    X, y = patients
    wrong = [
        {"epsilon": -1.0},
        {"delta": 2.0},
        {"adjacency": "neighbours"},
        {"adjacency": "add-remove"},
        {"algorithm": "magic"},
        {"settings": {"magic": 1}},
        {"settings": {"iterations": "many"}},
        {"settings": {"outer": 2}},
        {"alpha": -1.0},
        {"penalty": "l7"},
        {"bounds": (1, 0)},
        {"bounds": ([0, 0, 0], 1)},
        {"row_norm": -1.0},
        {"unit": "user"},
        {"classes": [0, 0, 1]},
        {"random_state": -4},
    ]
    for params in wrong:
        model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1])
        with pytest.raises(ValueError) as error, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.set_params(**params).fit(X, y)
        assert "--" not in str(error.value), params


def test_a_seed_taints(patients, bounds):
    X, y = patients
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1], random_state=7)
    with pytest.warns(reticent.NotPrivateWarning, match="NOT PRIVATE"):
        first = clone(model).fit(X, y)
    with pytest.warns(reticent.NotPrivateWarning):
        second = clone(model).fit(X, y)
    assert np.array_equal(first.coef_, second.coef_)
    assert not first.certificate_.certified and first.certificate_.epsilon() == np.inf
    assert "NOT PRIVATE" in first.certificate_.noise
    secure = clone(model).set_params(random_state=None)
    assert not np.array_equal(secure.fit(X, y).coef_, clone(secure).fit(X, y).coef_)


def test_groups_protect_persons(patients, bounds):
    X, y = patients
    groups = np.arange(2000) // 4
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1])
    assert clone(model).fit(X, y, groups=groups).certificate_.unit == "user"
    assert clone(model).fit(X, y).certificate_.unit == "record"
    named = np.array([f"p{g}" for g in groups])
    assert clone(model).fit(X, y, groups=named).certificate_.population == 500
    with pytest.raises(ValueError, match="groups"):
        clone(model).set_params(unit="user").fit(X, y)


def test_add_remove_needs_a_public_number(patients, bounds):
    X, y = patients
    model = PrivateLogisticRegression(
        **BUDGET, bounds=bounds, classes=[0, 1], adjacency="add-remove", public_n=2000
    ).fit(X, y)
    assert model.certificate_.adjacency == "add-remove"


def test_it_travels(patients, bounds):
    X, y = patients
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1]).fit(X, y)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.decision_function(X), model.decision_function(X))
        assert other.certificate_ == model.certificate_
        assert other.model_.to_json() == model.model_.to_json()


def test_pipelines_and_outputs(patients, bounds):
    X, y = patients
    steps = make_pipeline(
        FunctionTransformer(),
        PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1]),
    ).set_output(transform="pandas")
    assert steps.fit(X, y).score(X, y) > 0.7


def test_groups_are_routed(patients, bounds):
    import sklearn

    X, y = patients
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1])
    with sklearn.config_context(enable_metadata_routing=True):
        steps = make_pipeline(FunctionTransformer(), model.set_fit_request(groups=True))
        steps.fit(X, y, groups=np.arange(2000) // 4)
    assert steps[-1].certificate_.unit == "user"


def test_an_algorithm_by_name(patients, bounds):
    X, y = patients
    model = PrivateLogisticRegression(
        **BUDGET, bounds=bounds, classes=[0, 1], algorithm="ssadmm", settings={"iterations": 30}
    ).fit(X, y)
    assert model.n_iter_ == 30 and model.certificate_.algorithm == "ssadmm"
    exact = PrivateLogisticRegression(bounds=bounds, classes=[0, 1], algorithm="exact").fit(X, y)
    assert not exact.certificate_.certified
    with pytest.raises(reticent.NotCertified):
        exact.certificate_.verify()


def test_a_choice_is_made_within_one_budget(patients, bounds):
    X, y = patients
    model = PrivateLogisticRegression(
        **BUDGET, bounds=bounds, classes=[0, 1], settings={"iterations": 20}
    )
    search = reticent.PrivateSearchCV(model, {"alpha": [1e-4, 10.0]}).fit(X, y)
    assert search.certificate_.certified and search.certificate_.epsilon() <= 2.0
    assert search.best_params_ in [{"alpha": 1e-4}, {"alpha": 10.0}]
    assert search.best_estimator_.alpha == search.best_params_["alpha"]
    assert search.predict(X).shape == (2000,) and list(search.classes_) == [0, 1]
    assert search.predict_proba(X).shape == (2000, 2)


def test_a_fit_that_is_refused_leaves_the_model_before_it_whole(patients, bounds):
    X, y = patients
    budget = reticent.Budget(1.5, 1e-6)
    model = PrivateLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=bounds, classes=[0, 1], budget=budget
    ).fit(X, y)
    before = model.predict(X)
    model.set_params(classes=["a", "b", "c"], bounds=(0, 200), epsilon=1.4)
    with pytest.raises(reticent.BudgetExceeded):
        model.fit(np.column_stack([X, X]), np.where(y == 1, "b", "a"))
    assert model.classes_.tolist() == [0, 1] and model.n_features_in_ == 2
    assert (model.predict(X) == before).all() and model.certificate_.verify()


def test_a_private_search_refuses_a_grid_that_it_cannot_choose_from(patients, bounds):
    budget = reticent.Budget(4.0, 1e-5)
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1], budget=budget)
    for grid, said in (
        ({"alpha": [1e-3]}, "1 point"),
        ({"epsilon": [1.0, 2.0]}, "varies epsilon"),
        ({"classes": [[0, 1], [0, 1, 2]]}, "varies classes"),
        # Its winner would not be what its settings say: one seed is for all runs.
        ({"random_state": [None, 1]}, "varies random_state"),
        ({"class_weight": [None, {0: 1, 1: 2}]}, "varies class_weight"),
        ({"calibrate": [None, 0.1]}, "varies calibrate"),
        ([{"alpha": [1e-3]}, {"unit": ["user"]}], "varies unit"),
    ):
        with pytest.raises(ValueError, match=said):
            reticent.PrivateSearchCV(model, grid).fit(*patients)
    with pytest.raises(ValueError, match="runs"):
        reticent.PrivateSearchCV(model, {"alpha": [1e-3, 1e-2]}, runs=2.5).fit(*patients)
    assert not budget.jobs
