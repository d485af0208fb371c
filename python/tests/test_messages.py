"""Errors are in Python's words: they name arguments, and no flag of the command line."""

import importlib
import pathlib
import pkgutil
import re
import traceback

import numpy as np
import pytest

import reticent
from reticent._settings import handed_over

FOLDER = pathlib.Path(reticent.__file__).parent
# What a shell would take, as in --epsilon; a dash between words is not.
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def test_no_text_of_the_package_names_a_flag():
    for module in pkgutil.iter_modules([str(FOLDER)]):
        source = FOLDER / f"{module.name}.py"
        if source.exists():
            assert not FLAG.search(source.read_text(encoding="utf-8")), module.name


def test_no_text_of_the_native_half_names_a_flag():
    """What the library says is all in it; only the command line knows flags."""
    native = pathlib.Path(importlib.import_module("reticent._reticent").__file__)
    text = native.read_bytes()
    words = (b"epsilon", b"delta", b"budget", b"schema", b"public-n", b"adjacency", b"unit",
             b"row-norm", b"target", b"seed", b"bins", b"confidence", b"split", b"user-column")
    assert b"`public_n" in text
    for word in words:
        assert b" --" + word not in text and b"`--" + word not in text, word


SECRET = "Ms Secret"
NUMBER = 0.123456789


def _tables():
    pandas = pytest.importorskip("pandas")
    numbers = np.full(20, NUMBER)
    text = np.full(20, SECRET)
    mixed = pandas.DataFrame({"a": numbers, "b": [1, SECRET] * 10}, dtype=object)
    yield "a column of text", pandas.DataFrame({"a": numbers, "b": text}), {}
    yield "categories", pandas.DataFrame({"a": numbers, "b": pandas.Categorical(text)}), {}
    yield "an array of objects", np.column_stack([numbers.astype(object), text]), {}
    yield "one dimension", numbers, {}
    yield "three dimensions", numbers.reshape(5, 2, 2), {}
    yield "complex numbers", np.full((20, 2), NUMBER + 1j), {}
    schema = {
        "row_norm": 1.0,
        "column": [
            {"name": "a", "kind": "numeric", "lower": 0, "upper": 1},
            {"name": "b", "kind": "categorical", "categories": ["x"]},
        ],
    }
    yield "several types", mixed, {"schema": schema, "bounds": None}
    yield "no data frame", np.column_stack([text, text]), {"schema": schema, "bounds": None}


def _said(ask):
    """The whole traceback that a user sees, without the lines of code in it."""
    with pytest.raises((ValueError, TypeError)) as raised:
        ask()
    return "".join(traceback.format_exception_only(raised.value)), raised.value


def test_no_message_shows_a_value_of_the_table():
    usual = {"epsilon": 1.0, "delta": 1e-6, "bounds": (0, 1)}
    classes, range_ = {"classes": ["x", "y"]}, {"target_bounds": (0, 1)}
    y = np.array(["x", "y"] * 10)
    for name, X, other in _tables():
        model = reticent.PrivateLogisticRegression(**{**usual, **other}, **classes)
        said, error = _said(lambda: model.fit(X, y))
        assert SECRET not in said and str(NUMBER) not in said, name
        # Nor is what scikit-learn or Arrow said before printed above it.
        assert error.__cause__ is None and error.__suppress_context__, name
    X = np.full((20, 2), 0.5)
    for estimator, target in (
        (reticent.PrivateRidge(**usual, **range_), np.full(20, SECRET)),
        (reticent.PrivateRidge(**usual, **range_), np.full(20, NUMBER + 1j)),
        (reticent.PrivateRidge(**usual, **range_), np.full((20, 2), NUMBER)),
        (reticent.PrivateLogisticRegression(**usual, **classes), np.full(20, SECRET)),
        (reticent.PrivateLogisticRegression(**usual, classes="public"), np.full(20, NUMBER)),
    ):
        said, _ = _said(lambda: estimator.fit(X, target))
        assert SECRET not in said and str(NUMBER) not in said


def test_arguments_that_cannot_be_are_named():
    X, y = np.full((20, 2), 0.5), np.array([0, 1] * 10)
    usual = {"epsilon": 1.0, "delta": 1e-6, "bounds": (0, 1), "classes": [0, 1]}
    for wrong in (
        {"epsilon": "much"},
        {"epsilon": "1"},
        {"epsilon": True},
        {"alpha": "1"},
        {"delta": [1e-6]},
        {"bounds": (1, 0)},
        {"bounds": (0, np.nan)},
        {"settings": ["iterations"]},
        {"budget": "clinic.budget"},
        {"public_n": 1.5},
    ):
        (name,) = wrong
        with pytest.raises(ValueError, match=name):
            reticent.PrivateLogisticRegression(**{**usual, **wrong}).fit(X, y)
    for wrong in ({"epsilon": "1", "delta": 1e-6}, {"epsilon": 1.0, "delta": "1e-6"}):
        with pytest.raises(ValueError, match="a number is needed"):
            reticent.Budget(**wrong)
    # Numbers of NumPy are numbers, in settings too.
    settings = {"iterations": np.float64(4), "average": np.bool_(False)}
    model = reticent.PrivateLogisticRegression(**usual, settings=settings)
    assert handed_over(model.settings) == [("iterations", 4.0), ("average", False)]


def test_arguments_of_fit_that_there_are_not_are_refused_with_a_reason():
    """TypeError named the argument, and nothing said why there is none."""
    X, y = np.full((20, 2), 0.5), np.array([0, 1] * 10)
    model = reticent.PrivateLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=(0, 1), classes=[0, 1]
    )
    for one in (model, reticent.PrivateSearchCV(model, {"alpha": [1e-3, 1e-2]})):
        with pytest.raises(ValueError, match="max_sample_weight=|in a search.*class_weight"):
            one.fit(X, y, sample_weight=np.ones(20))
        with pytest.raises(TypeError, match="'weights'"):
            one.fit(X, y, weights=np.ones(20))
