"""What is worth a warning; and where warnings are errors, what was paid for is not lost."""

import warnings

import numpy as np
import pytest
from conftest import BUDGET

import reticent
from reticent import Budget, PrivateLogisticRegression, _reticent

REMARK = "job 1 stays open in the budget"


@pytest.fixture
def model(bounds):
    return PrivateLogisticRegression(
        **BUDGET, bounds=bounds, classes=[0, 1], settings={"iterations": 5}, budget=Budget(5, 1e-5)
    )


@pytest.fixture
def remarked(monkeypatch):
    """Has the library remark something about the budget after it has paid."""

    def remark(name):
        native = getattr(_reticent, name)

        def remarking(*args, **kwargs):
            *result, nothing = native(*args, **kwargs)
            assert nothing is None
            return (*result, REMARK)

        monkeypatch.setattr(_reticent, name, remarking)

    return remark


def raised(ask):
    """The warning that ends it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Warning) as found:
            ask()
    return found.value


def test_a_fit_is_adopted_before_it_warns(model, patients, remarked):
    remarked("fit")
    warning = raised(lambda: model.set_params(trace=True).fit(*patients))
    assert isinstance(warning, RuntimeWarning) and str(warning) == REMARK
    assert warning.result is model and model.certificate_.certified and model.n_iter_ == 5
    assert len(model.trace_) == 5 and len(model.budget.jobs) == 1
    # As a warning it says the same, where the caller stands.
    with pytest.warns(RuntimeWarning, match=REMARK) as told:
        model.fit(*patients)
    assert told[0].filename == __file__


def test_standard_errors_that_noise_hides_lose_no_model(patients, bounds):
    hidden = PrivateLogisticRegression(
        epsilon=0.001, delta=1e-6, bounds=bounds, classes=[0, 1], standard_errors=0.2,
        budget=Budget(5, 1e-5), trace=True,
    )
    warning = raised(lambda: hidden.fit(*patients))
    assert "no standard errors" in str(warning) and warning.result is hidden
    assert hidden.certificate_.certified and len(hidden.trace_) == hidden.n_iter_


def test_an_exact_model_that_is_not_exact_is_adopted(patients, bounds):
    exact = PrivateLogisticRegression(
        bounds=bounds, classes=[0, 1], algorithm="exact", settings={"iterations": 1}
    )
    assert "did not get to the optimum" in str(raised(lambda: exact.fit(*patients)))
    assert exact.n_iter_ == 1 and exact.predict(patients[0]).shape == (2000,)


def test_a_search_is_adopted_before_it_warns(model, patients, remarked):
    remarked("tune")
    search = reticent.PrivateSearchCV(model, {"alpha": [1e-3, 1e-2]})
    assert raised(lambda: search.fit(*patients)).result is search
    assert search.certificate_.certified and search.best_index_ in (0, 1)


def test_a_simulation_comes_with_its_warning(model, patients, remarked):
    remarked("simulate")
    model.set_params(settings=None)
    warning = raised(lambda: reticent.simulate(model, *patients, parties=4))
    assert str(warning) == REMARK and len(warning.result.certificates) == 4
    assert warning.result.model.certificate_.certified and len(model.budget.jobs) == 1


def test_an_evaluation_comes_with_its_warning(model, patients, remarked):
    model.fit(*patients)
    remarked("evaluate")
    warning = raised(lambda: model.private_score(*patients, **BUDGET))
    assert str(warning) == REMARK and 0 <= warning.result.score.value <= 1


def test_counts_come_with_their_warning(patients, remarked):
    remarked("class_counts")
    pays = {**BUDGET, "budget": Budget(5, 1e-5)}
    warning = raised(lambda: reticent.class_counts(patients[1], classes=[0, 1], **pays))
    assert str(warning) == REMARK and np.isclose(sum(warning.result.shares().values()), 1)


def test_a_sweep_that_its_budget_ends_has_its_models(model, patients):
    model.set_params(budget=Budget(4.0, 1e-5))
    warning = raised(lambda: reticent.sweep(model, *patients, {"alpha": [1e-3]}, repeats=9))
    assert isinstance(warning, reticent.PrivacyCostWarning)
    paid = len(model.budget.jobs)
    assert 0 < paid < 9 and len(warning.done.models) == len(warning.done.runs) == paid
    # What it is raised from has them too.
    assert warning.__context__.done is warning.done


def test_a_sweep_keeps_the_model_whose_fit_warns(model, patients, remarked):
    remarked("fit")
    warning = raised(lambda: reticent.sweep(model, *patients, {"alpha": [1e-3]}, repeats=2))
    assert str(warning) == REMARK and len(warning.done.models) == 1 == len(model.budget.jobs)
    assert warning.result is warning.done.models[0]


@pytest.fixture
def plain(bounds):
    return PrivateLogisticRegression(
        **BUDGET, bounds=bounds, classes=[0, 1], settings={"iterations": 5}
    )


def told(category, ask):
    """What is warned of this, and what comes of it."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = ask()
    return [str(one.message) for one in found if issubclass(one.category, category)], result


def test_what_a_pipeline_learns_before_its_last_step_is_said_to_be_unpaid(plain, patients):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

    plain.set_params(bounds=(-1000, 1000))
    steps = make_pipeline(StandardScaler(), plain)
    said, steps = told(reticent.NotPrivateWarning, lambda: steps.fit(*patients))
    assert len(said) == 1 and said[0].startswith("StandardScaler: fitted to the table")
    assert any("StandardScaler" in line for line in steps[-1].certificate_.assumptions)
    # And it goes with the certificate, which holds as it stands.
    steps[-1].certificate_.verify()
    for harmless in (FunctionTransformer(), PolynomialFeatures(1), "passthrough"):
        steps = make_pipeline(harmless, plain)
        said, steps = told(reticent.NotPrivateWarning, lambda: steps.fit(*patients))
        assert not said
        assert not any("pipeline" in line for line in steps[-1].certificate_.assumptions)


def test_so_it_is_of_a_search_and_of_targets(plain, patients):
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    plain.set_params(bounds=(-1000, 1000))
    search = reticent.PrivateSearchCV(plain, {"alpha": [1e-3, 1e-2]})
    steps = make_pipeline(StandardScaler(), search)
    said, steps = told(reticent.NotPrivateWarning, lambda: steps.fit(*patients))
    assert len(said) == 1 and "PrivateSearchCV" in said[0]
    assert any("StandardScaler" in line for line in steps[-1].certificate_.assumptions)
    ridge = reticent.PrivateRidge(**BUDGET, bounds=(0, 200), target_bounds=(-3, 3))
    whole = TransformedTargetRegressor(ridge, transformer=StandardScaler())
    said, _ = told(reticent.NotPrivateWarning, lambda: whole.fit(*patients))
    assert len(said) == 1 and said[0].startswith("StandardScaler")


def test_wrappers_that_fit_copies_say_what_each_costs(plain, patients):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import VotingClassifier
    from sklearn.multiclass import OneVsRestClassifier

    for wrapped in (
        OneVsRestClassifier(plain),
        VotingClassifier([("one", plain), ("two", plain)]),
        CalibratedClassifierCV(plain, cv=2),
    ):
        said, _ = told(reticent.PrivacyCostWarning, lambda: wrapped.fit(*patients))
        assert said and said[0].startswith(f"{type(wrapped).__name__} fits copies of")


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_do_not_see_the_pipeline_and_their_certificates_say_so(backend, plain, patients):
    import joblib
    from sklearn.ensemble import VotingClassifier
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    plain.set_params(bounds=(-5, 5))
    X, y = patients
    y = np.where(X[:, 0] < 30, 2, y)
    for jobs in (None, 2):
        for wrapped, target in (
            (OneVsRestClassifier(plain, n_jobs=jobs), y),
            (VotingClassifier([("one", plain), ("two", plain)], n_jobs=jobs), patients[1]),
        ):
            steps = make_pipeline(StandardScaler(), wrapped)
            with joblib.parallel_config(backend, n_jobs=1):
                told(Warning, lambda: steps.fit(X, target))
            for one in steps[-1].estimators_:
                said = one.certificate_.assumptions
                word = "StandardScaler" if jobs is None else "are not seen"
                assert any(word in line for line in said), (jobs, said)
                one.certificate_.verify()
    # Where all is seen, nothing is taken as given.
    _, alone = told(Warning, lambda: OneVsRestClassifier(plain).fit(X, y))
    assert not any("seen" in line for line in alone.estimators_[0].certificate_.assumptions)


def test_a_threshold_that_is_picked_by_the_records_is_said_to_be_not_private(plain, patients):
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    tuned = TunedThresholdClassifierCV(plain, cv=2)
    said, _ = told(reticent.PrivacyCostWarning, lambda: tuned.fit(*patients))
    assert said and said[0].startswith("TunedThresholdClassifierCV fits copies of")
    assert "threshold that it picks" in said[0] and "NOT PRIVATE" in said[0]
    # One that is given is no question.
    fixed = FixedThresholdClassifier(plain, threshold=0.3)
    said, _ = told(reticent.PrivacyCostWarning, lambda: fixed.fit(*patients))
    assert not said


def test_groups_that_reach_no_fit_are_told(plain, patients):
    from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

    groups = np.arange(2000) // 4
    search = GridSearchCV(plain, {"alpha": [1e-3]}, cv=GroupKFold(2))
    for ask in (
        lambda: search.fit(*patients, groups=groups),
        lambda: cross_val_score(plain, *patients, cv=GroupKFold(2), groups=groups),
    ):
        said, _ = told(reticent.PrivacyCostWarning, ask)
        assert "reach no fit" in said[0]
    said, _ = told(reticent.PrivacyCostWarning, lambda: cross_val_score(plain, *patients, cv=2))
    assert said and "reach no fit" not in said[0]


def test_a_score_that_a_budget_does_not_pay_for_says_so(model, plain, patients):
    paid = model.fit(*patients)
    said, _ = told(reticent.NotPrivateWarning, lambda: paid.score(*patients))
    assert len(said) == 1 and "private_score" in said[0]
    assert len(paid.budget.jobs) == 1
    # Without a budget nobody said that there is something to be paid from; the docstring says it.
    said, _ = told(reticent.NotPrivateWarning, lambda: plain.fit(*patients).score(*patients))
    assert not said
    for kind in (PrivateLogisticRegression, reticent.PrivateRidge, reticent.PrivateSearchCV):
        assert "NOT PRIVATE" in kind.score.__doc__


def test_few_records_at_a_small_epsilon_are_warned_of_as_on_the_command_line(patients, bounds):
    """epsilon = .05 with 50 rows was fitted without a word."""
    X, y = patients
    model = PrivateLogisticRegression(epsilon=0.05, delta=1e-6, bounds=bounds, classes=[0, 1])
    said, fitted = told(reticent.NoiseDominatesWarning, lambda: model.fit(X[:50], y[:50]))
    assert len(said) == 1 and "with 50 records and 2 columns at epsilon = 0.05" in said[0]
    assert raised(lambda: model.fit(X[:50], y[:50])).result is model
    search = reticent.PrivateSearchCV(model, {"alpha": [1e-3, 1e-2]})
    said, _ = told(reticent.NoiseDominatesWarning, lambda: search.fit(X[:50], y[:50]))
    assert len(said) == 1
    said, _ = told(Warning, lambda: model.set_params(epsilon=1.0).fit(X, y))
    assert not said


def test_a_delta_above_one_over_n_and_a_large_epsilon_are_warned_of(patients, bounds):
    X, y = patients
    usual = {"bounds": bounds, "classes": [0, 1]}
    for wrong, words in (
        ({"epsilon": 1.0, "delta": 1e-2}, "delta = 1e-2 is not below one over the number of records"),
        ({"epsilon": 50.0, "delta": 1e-6}, "epsilon = 5"),
    ):
        model = PrivateLogisticRegression(**usual, **wrong)
        asked = {
            "fit": lambda: model.fit(X, y),
            "evaluate": lambda: model.private_score(X, y, **wrong),
            "class_counts": lambda: reticent.class_counts(y, classes=[0, 1], **wrong),
            "mean": lambda: reticent.mean(X[:, 0], "age", bounds=(0, 100), **wrong),
            "simulate": lambda: reticent.simulate(model, X, y, parties=4),
        }
        for name, ask in asked.items():
            said, _ = told(reticent.WeakGuaranteeWarning, ask)
            assert len(said) == 1 and words in said[0], (name, said)


def test_a_search_that_its_budget_counts_for_more_than_its_epsilon_says_why(patients, bounds):
    """A search at epsilon = .3 counted 1.48 in a budget where a fit counted .27, without a word."""
    budget = Budget(5, 1e-5)
    model = PrivateLogisticRegression(
        epsilon=0.3, delta=1e-6, bounds=bounds, classes=[0, 1], budget=budget
    )
    search = reticent.PrivateSearchCV(model, {"alpha": [1e-3, 1e-2]})
    said, _ = told(reticent.PrivacyCostWarning, lambda: search.fit(*patients))
    assert len(said) == 1 and f"counts {budget.counted:.3g} for this search" in said[0]
    assert search.certificate_.epsilon() <= 0.3 < budget.counted
    model.set_params(budget=Budget(0.3, 1e-6))
    with pytest.raises(reticent.BudgetExceeded, match="count more for a search"):
        search.fit(*patients)
