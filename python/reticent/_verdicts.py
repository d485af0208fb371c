"""What is known of the classes that fit a private estimator for somebody: one table."""

from __future__ import annotations

from enum import Flag, auto


class Does(Flag):
    """What a class does around the fit of an estimator that it was given."""

    NOTHING = 0
    """Fits it once, to the records as they are, and learns nothing itself."""
    COPIES = auto()
    """Fits several copies, each of which pays."""
    BEFORE = auto()
    """Something else learns from the records first, and this is fitted to what came of it."""
    AFTER = auto()
    """Learns from the records, as they are, with what the fitted estimator predicts."""
    DEALS = auto()
    """Hands on some records, or some of them twice, by rules that may depend on other records."""
    LABELS = auto()
    """Numbers the classes that it finds: without the only record of one, others have other numbers."""
    CHOOSES = auto()
    """Chooses settings or columns by scores of the records."""


# By the names of scikit-learn. What is not here is not known, and named in warnings and
# certificates; python/tests/test_wrappers.py goes through all that scikit-learn has.
VERDICTS = {
    "AdaBoostClassifier": Does.COPIES | Does.DEALS | Does.AFTER,
    "AdaBoostRegressor": Does.COPIES | Does.DEALS | Does.AFTER,
    "BaggingClassifier": Does.COPIES | Does.DEALS | Does.LABELS,
    "BaggingRegressor": Does.COPIES | Does.DEALS,
    "CalibratedClassifierCV": Does.COPIES | Does.DEALS | Does.AFTER,
    "ClassifierChain": Does.COPIES | Does.BEFORE,
    "ColumnTransformer": Does.NOTHING,
    "FeatureUnion": Does.NOTHING,
    "FixedThresholdClassifier": Does.NOTHING,
    "FrozenEstimator": Does.NOTHING,
    "GridSearchCV": Does.COPIES | Does.CHOOSES,
    "HalvingGridSearchCV": Does.COPIES | Does.CHOOSES,
    "HalvingRandomSearchCV": Does.COPIES | Does.CHOOSES,
    "IterativeImputer": Does.COPIES | Does.BEFORE,
    "MultiOutputClassifier": Does.COPIES,
    "MultiOutputRegressor": Does.COPIES,
    # Records of two classes: how many there are is not public.
    "OneVsOneClassifier": Does.COPIES | Does.DEALS | Does.LABELS,
    "OneVsRestClassifier": Does.COPIES | Does.LABELS,
    "OutputCodeClassifier": Does.COPIES | Does.LABELS,
    "Pipeline": Does.BEFORE,
    "RANSACRegressor": Does.COPIES | Does.DEALS | Does.AFTER,
    # By weights of fits before, which are private and paid for.
    "RFE": Does.COPIES,
    "RFECV": Does.COPIES | Does.DEALS | Does.CHOOSES,
    "RandomizedSearchCV": Does.COPIES | Does.CHOOSES,
    "RegressorChain": Does.COPIES | Does.BEFORE,
    "SelectFromModel": Does.NOTHING,
    "SelfTrainingClassifier": Does.COPIES | Does.DEALS,
    "SequentialFeatureSelector": Does.COPIES | Does.DEALS,
    "StackingClassifier": Does.COPIES | Does.BEFORE | Does.DEALS | Does.AFTER | Does.LABELS,
    "StackingRegressor": Does.COPIES | Does.BEFORE | Does.DEALS | Does.AFTER,
    "TransformedTargetRegressor": Does.BEFORE,
    "TunedThresholdClassifierCV": Does.COPIES | Does.DEALS | Does.AFTER,
    "VotingClassifier": Does.COPIES | Does.LABELS,
    "VotingRegressor": Does.COPIES,
}

# What is learned afterwards, in words.
LEARNED_AFTER = {
    "AdaBoostClassifier": "the weights of its copies",
    "AdaBoostRegressor": "the weights of its copies",
    "CalibratedClassifierCV": "what its calibrators learn",
    "RANSACRegressor": "which records it takes for outliers",
    "StackingClassifier": "what its final estimator learns",
    "StackingRegressor": "what its final estimator learns",
    "TunedThresholdClassifierCV": "the threshold that it picks",
}

_KNOWN_PACKAGES = ("sklearn.", "imblearn.pipeline")


def verdict_of(cls: type) -> tuple[str, Does] | None:
    """The name and the verdict of the class that it is or inherits from; None of one unknown."""
    for each in cls.__mro__:
        if each.__name__ in VERDICTS and each.__module__.startswith(_KNOWN_PACKAGES):
            return each.__name__, VERDICTS[each.__name__]
    return None


# What a class has without a line of its own; scikit-learn adds to it.
_NO_CODE = {"__init__", "__module__", "__doc__", "__qualname__", "__annotations__", "__slots__"}
_NO_CODE |= {"__firstlineno__", "__static_attributes__", "__dict__", "__weakref__"}
_NO_CODE |= {"__abstractmethods__", "_abc_impl", "__parameters__", "__orig_bases__"}


def code_of(cls: type) -> type:
    """The class whose code it runs: one that adds nothing to its only base is that base.

    What a method of its own learned before the base called a fit has left no frame.
    """
    while len(cls.__bases__) == 1 and all(map(_is_no_code, vars(cls))):
        cls = cls.__bases__[0]
    return cls


def _is_no_code(name: str) -> bool:
    made = name.startswith("set_") and name.endswith("_request")
    return made or name in _NO_CODE or name.startswith("_sklearn_")


def is_known_module(module: str) -> bool:
    """Whether the code of a module is what the table is about."""
    return module.startswith(_KNOWN_PACKAGES)
