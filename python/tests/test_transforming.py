"""Constants before a private estimator: they learn nothing, and mix no records."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from reticent import PublicTransform

TABLE = np.random.default_rng(3).normal(0, 50, (40, 3))
KINDS = {
    "all": PublicTransform(),
    "numbers": PublicTransform(lower=-10, upper=60, shift=5, scale=2),
    "each": PublicTransform(lower=[0, 0, -5], upper=[9, 99, 5], scale=[9, 10, 5]),
    "places": PublicTransform(columns=[2, 0], shift={0: 7}, function={2: "tanh"}),
    "bent": PublicTransform(lower=0, function=["log1p", "sqrt", "square"]),
    "abs": PublicTransform(function="abs"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_becomes_the_same_whatever_others_there_are(kind):
    step = clone(KINDS[kind]).fit(TABLE)
    whole = step.transform(TABLE)
    assert np.all(np.isfinite(whole)) and len(whole) == len(TABLE)
    for i in range(len(TABLE)):
        assert np.array_equal(step.transform(TABLE[i : i + 1])[0], whole[i])
    # Nor does it matter what it was fitted to.
    assert np.array_equal(clone(KINDS[kind]).fit(TABLE[:1] * 1e6).transform(TABLE), whole)
    again = pickle.loads(pickle.dumps(step))
    assert np.array_equal(again.transform(TABLE), whole)
    kept = {name for name in vars(step) if name.endswith("_")}
    assert kept == {"n_features_in_"}


def test_it_clips_bends_shifts_and_scales_in_this_order():
    step = PublicTransform(lower=0, upper=[3, 100], function={0: "square"}, shift=1, scale=[2, 10])
    found = step.fit_transform([[-1.0, 21.0], [5.0, 1000.0]])
    assert found.tolist() == [[-0.5, 2.0], [4.0, 9.9]]


def test_columns_have_their_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TABLE, columns=["age", "pay", "size"])
    step = PublicTransform(columns=["size", "age"], scale={"age": 10}, lower=-1e3).fit(frame)
    assert step.get_feature_names_out().tolist() == ["size", "age"]
    assert np.array_equal(step.transform(frame)[:, 1], np.maximum(TABLE[:, 0], -1e3) / 10)
    shown = step.set_output(transform="pandas").transform(frame)
    assert list(shown.columns) == ["size", "age"]
    assert PublicTransform(columns=[1]).fit(TABLE).get_feature_names_out().tolist() == ["x1"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"function": np.log1p}, "function is a function"),
        ({"scale": lambda X: X.std(0)}, "scale is a function"),
        ({"columns": lambda X: [0]}, "columns must be a list"),
        ({"function": "exp"}, "give one of"),
        ({"function": "log1p"}, "give a `lower`"),
        ({"function": "sqrt", "lower": -1}, "give a `lower` of at least 0"),
        ({"function": [np.mean, None, None]}, "give one of"),
        ({"scale": 0}, "scale is 0"),
        ({"scale": [1, 2]}, "2 constants for 3 columns"),
        ({"shift": np.nan}, "not finite"),
        ({"shift": "a"}, "no number"),
        ({"lower": 2, "upper": 1}, "lower is above upper"),
        ({"columns": ["age"]}, "no column 'age'"),
        ({"columns": [3]}, "none at place 3"),
        ({"columns": [1], "scale": {0: 2}}, "not kept"),
    ],
)
def test_what_is_no_constant_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        PublicTransform(**arguments).fit(TABLE)
