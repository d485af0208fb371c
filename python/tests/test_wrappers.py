"""What is learned around a certified fit is named: in a warning, and in the certificate.

``test_every_meta_estimator_has_a_verdict`` goes through all that scikit-learn has, so that a new
release adds none in silence.
"""

import inspect
import math
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from conftest import BUDGET
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.impute import IterativeImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RANSACRegressor
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_validate,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import (
    ClassifierChain,
    MultiOutputClassifier,
    MultiOutputRegressor,
    RegressorChain,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, scale
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils import all_estimators
from sklearn.utils.validation import has_fit_parameter

import reticent
from reticent import PrivateLogisticRegression, PrivateRidge, PublicTransform
from reticent._verdicts import LEARNED_AFTER, VERDICTS, Does, verdict_of

FEW = {"iterations": 3}
CLASSIFIER = PrivateLogisticRegression(
    **BUDGET, bounds=(-500, 500), classes=[0, 1], settings=FEW
)
REGRESSOR = PrivateRidge(**BUDGET, bounds=(-500, 500), target_bounds=(-500, 500), settings=FEW)


def told(ask, category=reticent.NotPrivateWarning):
    """What is warned of this, and what comes of it."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = ask()
    return [str(one.message) for one in found if issubclass(one.category, category)], result


def assumed(model, words):
    """The lines of its certificate with these words."""
    model.certificate_.verify()
    return [line for line in model.certificate_.assumptions if words in line]


def both(y):
    return np.column_stack([y, 1 - y])


# Every meta-estimator, what is said of it, and the kinds of assumption of one of its fits.

WRAPPED = {
    "AdaBoostRegressor": (lambda: AdaBoostRegressor(REGRESSOR, n_estimators=2), "dealt after"),
    "BaggingClassifier": (lambda: BaggingClassifier(CLASSIFIER, 2), "dealt labels"),
    "CalibratedClassifierCV": (lambda: CalibratedClassifierCV(CLASSIFIER, cv=2), "dealt after"),
    "ClassifierChain": (lambda: ClassifierChain(CLASSIFIER), "before"),
    "FixedThresholdClassifier": (lambda: FixedThresholdClassifier(CLASSIFIER, threshold=0.3), ""),
    "GridSearchCV": (lambda: GridSearchCV(CLASSIFIER, {"alpha": [1e-3]}, cv=2), "chosen"),
    "HalvingGridSearchCV": (
        lambda: HalvingGridSearchCV(CLASSIFIER, {"alpha": [1e-3]}, cv=2, min_resources=500),
        "chosen",
    ),
    "HalvingRandomSearchCV": (
        lambda: HalvingRandomSearchCV(
            CLASSIFIER, {"alpha": [1e-3]}, n_candidates=1, cv=2, min_resources=500
        ),
        "chosen",
    ),
    "IterativeImputer": (lambda: IterativeImputer(REGRESSOR, max_iter=1), "before"),
    "MultiOutputClassifier": (lambda: MultiOutputClassifier(CLASSIFIER), ""),
    "MultiOutputRegressor": (lambda: MultiOutputRegressor(REGRESSOR), ""),
    "OneVsOneClassifier": (lambda: OneVsOneClassifier(CLASSIFIER), "dealt labels"),
    "OneVsRestClassifier": (lambda: OneVsRestClassifier(CLASSIFIER), "labels"),
    "OutputCodeClassifier": (
        # The seed is of the codes: of some, every class has the same, and nothing is fitted.
        lambda: OutputCodeClassifier(
            clone(CLASSIFIER).set_params(classes=[-1, 1]), code_size=4, random_state=1
        ),
        "labels",
    ),
    "Pipeline": (lambda: make_pipeline(StandardScaler(), CLASSIFIER), "before"),
    "RANSACRegressor": (
        lambda: RANSACRegressor(REGRESSOR, min_samples=0.5, residual_threshold=1e3),
        "dealt after",
    ),
    "RFE": (lambda: RFE(CLASSIFIER, n_features_to_select=1), ""),
    "RFECV": (lambda: RFECV(CLASSIFIER, cv=2), "dealt chosen"),
    "RandomizedSearchCV": (
        lambda: RandomizedSearchCV(CLASSIFIER, {"alpha": [1e-3]}, n_iter=1, cv=2),
        "chosen",
    ),
    "RegressorChain": (lambda: RegressorChain(REGRESSOR), "before"),
    "SelectFromModel": (lambda: SelectFromModel(CLASSIFIER), ""),
    "SelfTrainingClassifier": (lambda: SelfTrainingClassifier(CLASSIFIER), "dealt"),
    "SequentialFeatureSelector": (lambda: SequentialFeatureSelector(CLASSIFIER, cv=2), "dealt"),
    "StackingClassifier": (
        lambda: StackingClassifier([("tree", LogisticRegression())], CLASSIFIER, cv=2),
        "before labels",
    ),
    "StackingRegressor": (
        lambda: StackingRegressor([("line", LinearRegression())], REGRESSOR, cv=2),
        "before",
    ),
    "TransformedTargetRegressor": (
        lambda: TransformedTargetRegressor(REGRESSOR, transformer=StandardScaler()),
        "before",
    ),
    "TunedThresholdClassifierCV": (
        lambda: TunedThresholdClassifierCV(CLASSIFIER, cv=2),
        "dealt after",
    ),
    "VotingClassifier": (lambda: VotingClassifier([("one", CLASSIFIER)]), "labels"),
}

# Not fitted here: those that need `sample_weight`, hold transformers alone, or fit nothing, and one
# that is its sister's twin.
NOT_FITTED = {
    "AdaBoostClassifier",
    "BaggingRegressor",
    "ColumnTransformer",
    "FeatureUnion",
    "FrozenEstimator",
    "VotingRegressor",
}

WORDS = {
    "before": "before this fit is public",
    "function": "works on each record by itself",
    "unknown": "is not known here",
    "chosen": "by scores of the records",
    "dealt": "dealt out the records",
    "after": "with the predictions of this model",
    "labels": "numbered the classes",
}

PARAMETERS = {
    "base_estimator", "estimator", "estimators", "final_estimator", "regressor", "steps",
    "transformer_list", "transformers",
}  # fmt: skip


def meta_estimators():
    """All of scikit-learn that take something to be fitted."""
    return {
        name: cls
        for name, cls in all_estimators()
        if PARAMETERS & set(inspect.signature(cls.__init__).parameters)
    }


class Foreign(BaseEstimator):
    """A wrapper that nobody here knows, and that fits and asks what it was given."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        self.estimator_ = clone(self.estimator).fit(X, y)
        return self


def test_every_meta_estimator_has_a_verdict(patients):
    """In the table, or else named: shown by one that is moved out of it."""
    found = meta_estimators()
    assert len(found) > 25
    unknown = [name for name, cls in found.items() if verdict_of(cls) is None]
    for name in unknown:
        # A release of scikit-learn with one more: it is named as any other caller is.
        made = type(name, (Foreign,), {"__module__": found[name].__module__})
        said, model = told(lambda: made(CLASSIFIER).fit(*patients))
        assert any(line.startswith(f"{name}: calls the fit") for line in said), name
        assert assumed(model.estimator_, WORDS["unknown"]), name
    assert set(WRAPPED) | NOT_FITTED == set(VERDICTS)
    for name, does in VERDICTS.items():
        assert (Does.AFTER in does) == (name in LEARNED_AFTER), name


def test_one_that_scikit_learn_adds_is_named(patients, monkeypatch):
    for name in ("VotingClassifier", "FixedThresholdClassifier"):
        wrapped = WRAPPED[name][0]()
        monkeypatch.delitem(VERDICTS, name)
        said, _ = told(lambda: wrapped.fit(*patients))
        assert said and all(line.startswith(f"{name}: ") for line in said), (name, said)


@pytest.fixture
def kept(monkeypatch):
    """The estimators of this package that were fitted, in order."""
    fitted = []
    adopt = PrivateLogisticRegression._adopt

    def adopting(self, native):
        adopt(self, native)
        fitted.append(self)

    for cls in (PrivateLogisticRegression, PrivateRidge):
        monkeypatch.setattr(cls, "_adopt", adopting)
    return fitted


@pytest.mark.parametrize("name", WRAPPED)
def test_what_a_wrapper_does_is_said_and_certified(name, patients, kept):
    make, kinds = WRAPPED[name]
    X, y = patients
    wrapped, does = make(), VERDICTS[name]
    if name.startswith(("MultiOutput", "ClassifierChain", "RegressorChain")):
        y = both(y)
    if name == "SelfTrainingClassifier":
        y = np.where(np.arange(len(y)) % 7 == 0, -1, y)
    if name == "IterativeImputer":
        X = np.where(np.arange(X.size).reshape(X.shape) % 17 == 0, np.nan, X)
    said, _ = told(lambda: wrapped.fit(X, y), Warning)
    assert kept, name
    lines = [line for one in kept for line in one.certificate_.assumptions]
    for kind, words in WORDS.items():
        named = [line for line in lines if words in line and "cross_" not in line]
        assert bool(named) == (kind in kinds.split()), (kind, named)
    public = [line for line in said if "NOT PRIVATE" in line or "neither private" in line]
    public = [line for line in public if "random_state" not in line]
    assert bool(public) == bool({"before", "after", "chosen"} & set(kinds.split())), public
    costs = [line for line in said if "every fit spends" in line]
    if Does.COPIES in does and "Stacking" not in name:
        assert costs and costs[0].startswith(name), said


def test_one_that_numbers_the_classes_that_it_finds_is_named(patients, kept):
    """All labels but one are 1. Without that one they are all 0 to the estimator, and its certificate
    is of one record less: that is refused, and what a fit rests on is said."""
    X = patients[0]
    almost = np.ones(len(X), dtype=int)
    almost[0] = 0
    whole = VotingClassifier([("one", CLASSIFIER)]).fit(X, almost)
    assert whole.estimators_[0].predict(X).mean() > 0.9
    with pytest.raises(reticent.DataError, match="VotingClassifier numbers the classes"):
        VotingClassifier([("one", CLASSIFIER)]).fit(X, almost | 1)
    assert all(assumed(one, "every class is public, and in each of two tables") for one in kept)
    said, _ = told(lambda: whole.fit(X, almost), reticent.PrivacyCostWarning)
    assert "numbers the classes" in said[0]


# Stacks.


def test_a_stack_below_a_certified_fit_is_named(patients):
    """Certified 1, and an attacker finds 2.9: what the others learned was nowhere in it."""
    X, y = patients
    knn = KNeighborsClassifier(1)
    for stack in (
        StackingClassifier([("near", knn)], CLASSIFIER, cv=2),
        StackingClassifier([("near", clone(knn).fit(X, y))], CLASSIFIER, cv="prefit"),
        StackingClassifier([("near", knn)], make_pipeline(PublicTransform(), CLASSIFIER), cv=2),
        StackingClassifier(
            [("near", knn)], reticent.PrivateSearchCV(CLASSIFIER, {"alpha": [1e-3, 1e-2]}), cv=2
        ),
    ):
        said, stack = told(lambda: stack.fit(X, y))
        assert [line for line in said if line.startswith("KNeighborsClassifier in Stacking")]
        last = stack.final_estimator_
        last = last[-1] if isinstance(last, Pipeline) else last
        assert assumed(last, "what KNeighborsClassifier in StackingClassifier learned")


def test_a_stack_above_a_certified_fit_is_named(patients):
    stack = StackingClassifier([("ours", CLASSIFIER)], LogisticRegression(), cv=2)
    said, stack = told(lambda: stack.fit(*patients))
    assert any(line.startswith("StackingClassifier: NOT PRIVATE") for line in said)
    assert assumed(stack.estimators_[0], WORDS["after"])
    ready = clone(CLASSIFIER).fit(*patients)
    prefit = StackingClassifier([("ours", ready)], LogisticRegression(), cv="prefit")
    said, _ = told(lambda: prefit.fit(*patients))
    assert any(line.startswith("StackingClassifier: NOT PRIVATE") for line in said)
    # Predictions of what was fitted are nothing that is learned.
    assert told(lambda: prefit.predict(patients[0]))[0] == []


def test_a_stack_of_private_estimators_pays_for_all_that_it_learns(patients):
    ours = make_pipeline(PublicTransform(), CLASSIFIER)
    stack = StackingClassifier([("ours", ours)], ours, cv=2)
    said, stack = told(lambda: stack.fit(*patients))
    assert not said
    for one in (stack.estimators_[0][-1], stack.final_estimator_[-1]):
        assert not assumed(one, WORDS["before"]) and not assumed(one, WORDS["after"])


def limits(hits, runs, level=0.975):
    """One-sided Clopper-Pearson limits, for all runs or none alike."""
    assert hits in (0, runs)
    share = (1 - level) ** (1 / runs)
    return (0.0, 1 - share) if hits == 0 else (share, 1.0)


def test_the_attack_on_a_stack_finds_more_than_is_certified():
    """All records look alike, so that one of them is everybody's nearest, and lends its label.

    Seeds are fixed. Of an attack without a leak at this ε the limits would be wrong in 5 % of all
    choices of seeds.
    """
    runs, n = 60, 200
    X, y = np.zeros((n, 1)), np.ones(n, dtype=int)
    y[: n // 4] = 0
    victim = KNeighborsClassifier(1).fit(X, y).kneighbors(X[:1], return_distance=False)[0, 0]

    def positive(first, seed):
        labels = y.copy()
        labels[victim] = first
        near = KNeighborsClassifier(1).fit(X, labels)
        final = PrivateLogisticRegression(
            epsilon=1.0, delta=1e-6, bounds=(0, 1), classes=[0, 1], fit_intercept=False,
            settings={"iterations": 5}, random_state=seed,
        )
        stack = StackingClassifier([("near", near)], final, cv="prefit")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stack.fit(X, labels)
        assert stack.final_estimator_.certificate_.delta == 1e-6
        return bool(stack.final_estimator_.coef_[0, -1] > 0)

    ones = limits(sum(positive(1, seed) for seed in range(runs)), runs)
    zeros = limits(sum(positive(0, 1000 + seed) for seed in range(runs)), runs)
    found = math.log((max(ones[0], zeros[0]) - 1e-6) / min(ones[1], zeros[1]))
    assert found > 2.5


# What is learned afterwards, of which no certificate can know.


def test_calibrators_of_a_frozen_estimator_are_named(patients):
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator
    ready = clone(CLASSIFIER).fit(*patients)
    steps = make_pipeline(PublicTransform().fit(patients[0]), ready)
    for wrapped in (
        CalibratedClassifierCV(frozen(ready), cv=2),
        TunedThresholdClassifierCV(frozen(ready), cv=2),
        CalibratedClassifierCV(frozen(steps), cv=2),
    ):
        said, wrapped = told(lambda: wrapped.fit(*patients))
        name = type(wrapped).__name__
        assert any(line.startswith(f"{name}: NOT PRIVATE") for line in said), (name, said)
        assert told(lambda: wrapped.predict(patients[0]))[0] == []


def test_a_threshold_of_a_fitted_estimator_is_named(patients):
    ready = clone(CLASSIFIER).fit(*patients)
    tuned = TunedThresholdClassifierCV(ready, cv="prefit", refit=False)
    said, _ = told(lambda: tuned.fit(*patients))
    assert any(line.startswith("TunedThresholdClassifierCV: NOT PRIVATE") for line in said)


def test_a_score_out_of_the_bag_is_named(patients):
    bag = BaggingClassifier(CLASSIFIER, 6, oob_score=True)
    said, _ = told(lambda: bag.fit(*patients))
    assert any(line.startswith("BaggingClassifier: NOT PRIVATE") for line in said)


# Callers that nobody knows.


class Asking(Foreign):
    def fit(self, X, y):
        self.estimator_ = self.estimator
        self.estimator_.predict(X)
        return self


class Centred(PrivateLogisticRegression):
    def fit(self, X, y, groups=None):
        return super().fit(X - X.mean(0), y, groups)


class Chosen(VotingClassifier):
    def fit(self, X, y, **params):
        return super().fit(X - X.mean(0), y, **params)


class Sampler(BaseEstimator):
    """As imbalanced-learn has them."""

    def fit_resample(self, X, y):
        model = clone(CLASSIFIER).fit(X, y)
        return X, model.certificate_.assumptions


def test_a_caller_that_is_not_known_is_named(patients):
    said, model = told(lambda: Foreign(CLASSIFIER).fit(*patients))
    assert len(said) == 1 and said[0].startswith("Foreign: calls the fit of PrivateLogisticRegression")
    assert assumed(model.estimator_, "Foreign called this fit")
    said, (_, lines) = told(lambda: Sampler().fit_resample(*patients))
    assert len(said) == 1 and said[0].startswith("Sampler: calls the fit")
    assert any("Sampler called this fit" in line for line in lines)
    said, model = told(lambda: Chosen([("one", CLASSIFIER)]).fit(*patients))
    assert said and said[0].startswith("Chosen: calls the fit")
    assert assumed(model.estimators_[0], "Chosen called this fit")
    centred = Centred(**BUDGET, bounds=(-99, 99), classes=[0, 1], settings=FEW)
    said, centred = told(lambda: centred.fit(*patients))
    assert len(said) == 1 and assumed(centred, "Centred called this fit")


def test_one_that_asks_for_predictions_in_its_fit_is_named(patients):
    ready = clone(CLASSIFIER).fit(*patients)
    said, _ = told(lambda: Asking(ready).fit(*patients))
    assert len(said) == 1 and said[0].startswith("Asking: asks PrivateLogisticRegression")


def test_what_imbalanced_learn_does_is_named(patients):
    pytest.importorskip("imblearn")
    from imblearn.ensemble import BalancedBaggingClassifier
    from imblearn.pipeline import make_pipeline as make
    from imblearn.under_sampling import InstanceHardnessThreshold, RandomUnderSampler

    said, steps = told(lambda: make(RandomUnderSampler(), CLASSIFIER).fit(*patients))
    assert len(said) == 1 and said[0].startswith("RandomUnderSampler: fitted to the table before")
    assert assumed(steps[-1], "what RandomUnderSampler learned")
    said, _ = told(lambda: make(PublicTransform(), CLASSIFIER).fit(*patients))
    assert not said
    sampler = InstanceHardnessThreshold(estimator=CLASSIFIER, cv=2)
    said, _ = told(lambda: sampler.fit_resample(*patients))
    assert any(line.startswith("InstanceHardnessThreshold: calls the fit") for line in said)
    bag = BalancedBaggingClassifier(CLASSIFIER, n_estimators=2)
    said, _ = told(lambda: bag.fit(*patients))
    assert any("BalancedBaggingClassifier" in line and ": calls the fit" in line for line in said)


# And who is not to be named.


class TestWithAFitOfItsOwn:
    def fit(self, table):
        return clone(CLASSIFIER).fit(*table)

    def test_a_test_is_no_wrapper(self, patients):
        said, model = told(lambda: self.fit(patients))
        assert not said and not assumed(model, WORDS["unknown"])
        assert told(lambda: model.predict(patients[0]))[0] == []


def test_nor_is_one_of_unittest(patients):
    heard = []

    class Case(unittest.TestCase):
        def fit(self):
            return clone(CLASSIFIER).fit(*patients)

        def test_it(self):
            heard.append(told(self.fit))

    assert Case("test_it").run().wasSuccessful()
    (said, model), = heard
    assert not said and not assumed(model, WORDS["unknown"])


def test_functions_threads_and_our_own_are_not_named(patients):
    def fit():
        return clone(CLASSIFIER).fit(*patients)

    said, (model,) = told(lambda: joblib.Parallel()([joblib.delayed(fit)()]))
    assert not said and not assumed(model, "taken as given")
    search = reticent.PrivateSearchCV(CLASSIFIER, {"alpha": [1e-3, 1e-2]})
    said, search = told(lambda: search.fit(*patients))
    assert not said and not assumed(search, "taken as given")
    grid = {"alpha": [1e-3]}
    paid = clone(CLASSIFIER).set_params(budget=reticent.Budget(9, 1e-3))
    said, done = told(lambda: reticent.sweep(paid, *patients, grid))
    assert not said and not assumed(done.models[0], "taken as given")


def test_a_thread_does_not_see_its_caller_and_the_certificate_says_so(patients):
    class Elsewhere(Foreign):
        def fit(self, X, y):
            with ThreadPoolExecutor(1) as pool:
                self.estimator_ = pool.submit(self.estimator.fit, X, y).result()
            return self

    _, model = told(lambda: Elsewhere(clone(CLASSIFIER)).fit(*patients))
    assert assumed(model.estimator_, "are not seen")
    assert not assumed(clone(CLASSIFIER).fit(*patients), "are not seen")


def test_a_task_of_ray_does_not_see_its_caller_and_the_certificate_says_so(patients):
    """Its loop is in the main thread of a process, and none of joblib's."""
    loop = {"__name__": "ray._private.worker"}
    exec("def main_loop(task):\n    return task()", loop)
    model = loop["main_loop"](lambda: clone(CLASSIFIER).fit(*patients))
    assert assumed(model, "are not seen")


def test_folds_are_said_to_be_taken_as_given(patients):
    _, done = told(lambda: cross_validate(CLASSIFIER, *patients, cv=2, return_estimator=True))
    assert assumed(done["estimator"][0], "cross_validate dealt out the records")


# Functions, and constants in their place.


def test_a_function_of_ones_own_is_named(patients):
    """Certified 1, and an attacker finds 3.3 with `scale`, which reads all records."""
    for step, name in (
        (FunctionTransformer(scale), "FunctionTransformer(scale)"),
        (FunctionTransformer(lambda X: X - X.mean(0)), "FunctionTransformer(<lambda>)"),
        (FeatureUnion([("f", FunctionTransformer(scale))]), "FunctionTransformer(scale)"),
        (
            ColumnTransformer([("f", FunctionTransformer(scale), [0])]),
            "FunctionTransformer(scale)",
        ),
    ):
        said, steps = told(lambda: make_pipeline(step, CLASSIFIER).fit(*patients))
        assert len(said) == 1 and said[0].startswith(f"{name}: nobody can look into a function")
        assert "PublicTransform" in said[0]
        assert assumed(steps[-1], f"{name} works on each record by itself")
    whole = TransformedTargetRegressor(REGRESSOR, func=lambda y: y + 1, inverse_func=np.negative)
    said, _ = told(lambda: whole.set_params(check_inverse=False).fit(*patients))
    assert len(said) == 1 and said[0].startswith("TransformedTargetRegressor(<lambda>)")


class Stateless(TransformerMixin, BaseEstimator):
    """Says that it needs no fit, and has a function of its own."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X - X.mean(0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def _more_tags(self):
        return {"stateless": True}


def test_a_step_of_ones_own_is_named_whatever_it_says_of_itself(patients):
    said, steps = told(lambda: make_pipeline(Stateless(), CLASSIFIER).fit(*patients))
    assert len(said) == 1 and said[0].startswith("Stateless: ")
    assert assumed(steps[-1], "Stateless works on each record by itself")


class LearnedShift(PublicTransform):
    def fit(self, X, y=None):
        self.shift = X.mean(0)
        return super().fit(X, y)


class LearnedFunction(FunctionTransformer):
    def transform(self, X):
        return X - X.mean(0)


class LearnedSteps(Pipeline):
    """What it learned is over before the base calls the fit."""

    def _fit(self, X, *args, **kwargs):
        return super()._fit(X - X.mean(0), *args, **kwargs)


class Renamed(PublicTransform):
    """Nothing of its own."""


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (LearnedShift(), "LearnedShift"),
        (LearnedFunction(), "LearnedFunction"),
        (LearnedSteps([("own", PublicTransform())]), "LearnedSteps"),
        (FunctionTransformer(np.frompyfunc(lambda x: x - 3.0, 1, 1)), "FunctionTransformer"),
        (ColumnTransformer([("own", LearnedShift(), [0])]), "LearnedShift"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_one_that_inherits_from_what_is_harmless_is_named(step, name, patients):
    X = patients[0].astype(object) if name == "FunctionTransformer" else patients[0]
    said, steps = told(lambda: make_pipeline(step, CLASSIFIER).fit(X, patients[1]))
    assert len(said) == 1 and said[0].startswith(name), said
    assert assumed(steps[-1], name)


def test_a_name_alone_makes_no_step_harmless(patients):
    class FrozenEstimator(LearnedShift):
        estimator = PublicTransform()

    said, _ = told(lambda: make_pipeline(FrozenEstimator(), CLASSIFIER).fit(*patients))
    assert len(said) == 1 and said[0].startswith("FrozenEstimator")


def test_a_frozen_function_is_named(patients):
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator
    step = frozen(FunctionTransformer(scale).fit(patients[0]))
    said, steps = told(lambda: make_pipeline(step, CLASSIFIER).fit(*patients))
    assert len(said) == 1 and said[0].startswith("FunctionTransformer(scale)")
    assert assumed(steps[-1], "FunctionTransformer(scale)")


def test_a_pipeline_with_code_of_its_own_is_named(patients):
    said, steps = told(lambda: LearnedSteps([("ours", CLASSIFIER)]).fit(*patients))
    assert len(said) == 1 and said[0].startswith("LearnedSteps: calls the fit")
    assert assumed(steps[-1], "LearnedSteps called this fit")


def test_a_function_that_chooses_columns_is_named(patients):
    def widest(X):
        return [int(X.std(0).argmax())]

    steps = ColumnTransformer([("own", SelectFromModel(CLASSIFIER), widest)])
    said, steps = told(lambda: steps.fit(*patients))
    assert len(said) == 1 and said[0].startswith("ColumnTransformer(widest)")
    assert assumed(steps.transformers_[0][1].estimator_, "ColumnTransformer(widest)")


def test_an_object_that_does_not_call_itself_self_is_named(patients):
    class Odd(BaseEstimator):
        def fit(this, X, y):  # noqa: N805
            this.model = clone(CLASSIFIER).fit(X - X.mean(0), y)
            return this

    said, odd = told(lambda: Odd().fit(*patients))
    assert len(said) == 1 and said[0].startswith("Odd: calls the fit")
    assert assumed(odd.model, "Odd called this fit")


def test_functions_of_one_number_and_constants_are_not_named(patients):
    for step in (
        FunctionTransformer(np.log1p),
        PublicTransform(lower=0, upper=200, scale=100),
        ColumnTransformer([("own", PublicTransform(scale=9), [0])], remainder="passthrough"),
        FeatureUnion([("own", PublicTransform(columns=[1]))]),
        make_pipeline(PublicTransform(), PublicTransform(shift=1)),
        Renamed(scale=9),
    ):
        said, steps = told(lambda: make_pipeline(step, CLASSIFIER).fit(*patients))
        assert not said, step
        assert not assumed(steps[-1], "learned") and not assumed(steps[-1], "works on each")


def test_steps_behind_the_estimator_are_not_named(patients):
    steps = make_pipeline(SelectFromModel(CLASSIFIER), StandardScaler(), LogisticRegression())
    said, steps = told(lambda: steps.fit(*patients))
    assert not [line for line in said if line.startswith("StandardScaler")]




def test_a_step_of_another_package_is_named(patients):
    steps = Pipeline([("other", SelectFromModel(LogisticRegression())), ("ours", CLASSIFIER)])
    said, _ = told(lambda: steps.fit(*patients))
    assert len(said) == 1 and said[0].startswith("SelectFromModel: fitted")


def text_labels(patients, **more):
    X, y = patients
    usual = {**BUDGET, "bounds": ([20, 80], [90, 200]), "settings": FEW, **more}
    return X, np.where(y == 1, "ill", "well"), PrivateLogisticRegression(**usual)


SCHEMA = {
    "row_norm": 1.5,
    "column": [
        {"name": "age", "kind": "numeric", "lower": 20, "upper": 90},
        {"name": "pressure", "kind": "numeric", "lower": 80, "upper": 200},
        {"name": "state", "kind": "target", "classes": ["well", "ill"]},
    ],
}


@pytest.mark.parametrize("declared", ["classes", "schema"])
def test_labels_of_text_reach_an_estimator_that_a_wrapper_gives_numbers(declared, patients):
    """Voting, Bagging and Stacking number the labels, and declared text was refused there."""
    ways = {"classes": {"classes": ["well", "ill"]}, "schema": {"schema": SCHEMA, "bounds": None}}
    X, y, model = text_labels(patients, **ways[declared])
    if declared == "schema":
        pandas = pytest.importorskip("pandas")
        X = pandas.DataFrame(X, columns=["age", "pressure"])
    alone = told(lambda: model.fit(X, y))[1].predict(X)
    wrappers = [
        VotingClassifier([("a", model), ("b", model)]),
        VotingClassifier([("a", model), ("b", model)], voting="soft"),
        BaggingClassifier(model, n_estimators=2, random_state=0),
        StackingClassifier([("a", model)], model_on_one(), cv=2),
    ]
    nested = BaggingClassifier(VotingClassifier([("a", model)]), n_estimators=2, random_state=0)
    if has_fit_parameter(nested.estimator, "sample_weight"):
        # An older scikit-learn: a vote takes weights, and is given counts of rows in place of rows.
        with pytest.raises(ValueError, match="max_sample_weight"):
            told(lambda: nested.fit(X, y), Warning)
    else:
        wrappers.append(nested)
    for wrapper in wrappers:
        _, fitted = told(lambda: wrapper.fit(X, y), Warning)
        agreed = np.mean(fitted.predict(X) == alone)
        assert set(fitted.predict(X)) <= {"ill", "well"} and agreed > 0.9, (wrapper, agreed)


def model_on_one():
    """A private estimator of what one other predicts."""
    return PrivateLogisticRegression(**BUDGET, bounds=(0, 1), classes=["ill", "well"])


def test_weights_of_classes_are_by_label_where_a_wrapper_numbers_them(patients):
    X, y, model = text_labels(patients, classes=["ill", "well"], class_weight={"ill": 3.0})
    _, fitted = told(lambda: VotingClassifier([("a", model)]).fit(X, y), Warning)
    assert fitted.estimators_[0].model_.classes == ["ill", "well"]
    shares = np.mean(fitted.predict(X) == "ill"), np.mean(y == "ill")
    assert shares[0] > shares[1]


def test_a_wrapper_that_numbers_other_classes_than_the_declared_is_refused(patients):
    """With declared 0, 1, 2 and labels 1 and 2 it handed on 0 and 1, which were taken for others."""
    X, y, _ = text_labels(patients)
    three = PrivateLogisticRegression(
        **BUDGET, bounds=([20, 80], [90, 200]), classes=[0, 1, 2], settings=FEW
    )
    with pytest.raises(reticent.DataError, match="VotingClassifier numbers the classes"):
        told(lambda: VotingClassifier([("a", three)]).fit(X, patients[1] + 1), Warning)
    text = three.set_params(classes=["ill", "well", "dead"])
    with pytest.raises(reticent.DataError, match="every declared class must be among"):
        told(lambda: VotingClassifier([("a", text)]).fit(X, y), Warning)


def test_labels_of_text_in_a_worker_are_refused_with_a_way_out(patients):
    X, y, model = text_labels(patients, classes=["ill", "well"])
    voting = VotingClassifier([("a", model), ("b", model)], n_jobs=2)
    with joblib.parallel_config("threading"):
        with pytest.raises(reticent.DataError, match="n_jobs=None"):
            told(lambda: voting.fit(X, y), Warning)


def test_a_frozen_estimator_in_a_calibrator_or_a_stack_is_said_to_be_not_private(patients):
    """Calibrators and final estimators learned from raw labels without a word."""
    frozen = pytest.importorskip("sklearn.frozen")
    X, y = patients
    _, model = told(lambda: clone(CLASSIFIER).fit(X, y), Warning)
    for wrapper in (
        CalibratedClassifierCV(frozen.FrozenEstimator(model)),
        StackingClassifier([("a", frozen.FrozenEstimator(model))], LogisticRegression(), cv="prefit"),
        StackingClassifier([("a", model)], LogisticRegression(), cv="prefit"),
    ):
        said, _ = told(lambda: wrapper.fit(X, y))
        assert any("NOT PRIVATE" in line for line in said), wrapper
