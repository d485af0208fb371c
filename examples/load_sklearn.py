"""A model of Reticent as a scikit-learn pipeline.

    reticent export MODEL --to sklearn-json --out model.sklearn.json

    import load_sklearn
    pipeline = load_sklearn.load("model.sklearn.json")
    pipeline.predict(rows)

`rows` is a list of dictionaries, one for each record, or anything with named columns that has `to_dict("records")`, such
as a data frame. A value that is absent, None, NaN or one of the missing tokens is missing. `predict_proba` exists for
a loss that has probabilities, `decision_function` for every model of classes. The last step is a fitted estimator of
scikit-learn itself; docs/export.md describes the file.
"""

import importlib
import json
import math

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.pipeline import Pipeline


class Encode(TransformerMixin, BaseEstimator):
    """Records to rows: numbers clipped and scaled, a 0/1 column for each category or their place in an order, long rows
    scaled down, and behind them the hats of curves and the products of pairs."""

    def __init__(self, spec):
        self.spec = spec

    def fit(self, rows, targets=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def transform(self, rows):
        records = rows.to_dict("records") if hasattr(rows, "to_dict") else rows
        table = np.array([self.row(record) for record in records])
        length = np.sqrt((table * table).sum(axis=1, keepdims=True))
        norm = self.spec["row_norm"]
        table = np.where(length > norm, table * (norm / np.where(length > 0, length, 1)), table)
        # Hats of curves come last, and are not scaled down.
        hats = np.array([self.hats(record) for record in records])
        return np.hstack([table, hats]) if hats.size > 0 else table

    def row(self, record):
        row = []
        for number in self.spec["numbers"]:
            value = self.meant(record.get(number["name"]))
            row.append(number["missing"] if value is None else scale(number, float(value)))
        for category in self.spec["categories"]:
            at = self.place(category, record)
            if "order" in category:
                row.append(0.0 if at is None else category["order"]["line"][at])
            else:
                row += [float(at == i) for i in range(len(category["categories"]))]
        return row

    def place(self, category, record):
        """The number of the category that a record is in; None for no category."""
        value = self.meant(record.get(category["name"]))
        return category["missing"] if value is None else category["words"].get(str(value), category["unknown"])

    def hats(self, record):
        hats = []
        for number in self.spec["numbers"]:
            value = self.meant(record.get(number["name"]))
            for start, top, end in number.get("hats", []):
                at = None if value is None else scale(number, float(value))
                hats.append(0.0 if at is None else max(0.0, min((at - start) / (top - start), (end - at) / (end - top))))
        for category in self.spec["categories"]:
            at = self.place(category, record)
            hats += [0.0 if at is None else hat[at] for hat in category.get("order", {}).get("hats", [])]
        for first, second in self.spec.get("pairs", []):
            hats += [u * v for u in self.functions(first, record) for v in self.functions(second, record)]
        return hats

    def functions(self, member, record):
        """What a column of a pair is multiplied as; zeros where it is missing."""
        if "category" in member:
            category = next(one for one in self.spec["categories"] if one["name"] == member["category"])
            at, functions = self.place(category, record), member["functions"]
            return [0.0] * len(functions[0]) if at is None else functions[at]
        number = next(one for one in self.spec["numbers"] if one["name"] == member["number"])
        value = self.meant(record.get(number["name"]))
        if value is None:
            return [0.0] * (1 + member["bends"])
        s = member["slope"] * scale(number, float(value)) + member["shift"]
        return [s, 1 - abs(s)] if member["bends"] else [s]

    def meant(self, value):
        """The value without spaces around it; None where it stands for nothing."""
        if value is None or isinstance(value, float) and math.isnan(value):
            return None
        if isinstance(value, str):
            value = value.strip() if self.spec["trim"] else value
            return None if value in self.spec["missing_tokens"] else value
        return value


def scale(number, x):
    x = x if number["low"] is None else max(x, number["low"])
    x = x if number["high"] is None else min(x, number["high"])
    if number.get("log"):
        return math.log1p(x - number["start"]) / number["width"]
    return ((x - number["start"]) - number["mirror"] * (number["end"] - x)) / number["width"]


class InRange(RegressorMixin, BaseEstimator):
    """A regressor whose -1 to 1 stand for the range of the target."""

    def __init__(self, regressor, low, high):
        self.regressor, self.low, self.high = regressor, low, high

    def fit(self, table, targets):
        raise NotImplementedError("it is fitted already")

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, table):
        number = self.low + (self.regressor.predict(table) + 1) / 2 * (self.high - self.low)
        return np.clip(number, self.low, self.high)


def load(path):
    """The pipeline in a file that `reticent export --to sklearn-json` wrote."""
    with open(path, encoding="utf-8") as file:
        spec = json.load(file)
    if spec["format"] != "reticent-sklearn" or spec["version"] not in (1, 2, 3, 4):
        raise ValueError(f"{path} is not an export of this version")
    module, name = spec["estimator"]["class"].rsplit(".", 1)
    estimator = getattr(importlib.import_module(module), name)()
    for attribute, value in spec["estimator"]["attributes"].items():
        setattr(estimator, attribute, np.array(value) if isinstance(value, list) else value)
    if spec["range"] is not None:
        estimator = InRange(estimator, *spec["range"])
    return Pipeline([("encode", Encode(spec)), ("model", estimator)])
