"""The methods that benches/benchmark.py compares, each at the adjacency that it is proven for."""

import functools
import json
import subprocess
import tempfile
import time

import numpy as np

import published
from compared.tables import Table

DELTA = 1e-5
# Parameters that the documentation of DP-EBM names, around its defaults (first). All but the first were chosen because they
# were best somewhere on Adult or housing, in one or two runs each of 40 settings: that favours DP-EBM.
SETTINGS = [
    {},
    {"max_bins": 8, "max_rounds": 100, "learning_rate": 0.03},
    {"max_rounds": 100, "learning_rate": 0.05},
    {"learning_rate": 0.03, "max_leaves": 8},
    {"learning_rate": 0.1},
    {"learning_rate": 0.03, "max_bins": 64, "max_leaves": 5},
    {"learning_rate": 0.1, "max_bins": 64, "max_leaves": 8},
    {"learning_rate": 0.1, "max_bins": 64, "max_leaves": 5},
    {"learning_rate": 0.1, "max_leaves": 8},
]


def auc(y, score):
    order = np.argsort(score, kind="stable")
    _, first, count = np.unique(score[order], return_index=True, return_counts=True)
    ranks = np.empty(len(y))
    ranks[order] = np.repeat(first + (count + 1) / 2, count)
    ones = y.sum()
    return float((ranks[y > 0.5].sum() - ones * (ones + 1) / 2) / (ones * (len(y) - ones)))


def quality(table, predicted):
    """Of scores (log-odds) or predicted numbers on the test rows."""
    y = table.y["test"]
    if not np.isfinite(predicted).all():
        return {"failed": "a prediction is not finite"}
    if table.number:
        return {"r2": float(1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum())}
    return {"auc": auc(y, predicted), "log_loss": float((np.logaddexp(0, predicted) - y * predicted).mean())}


class Runs:
    """One table, prepared for every method."""

    def __init__(self, folder, reticent):
        self.folder, self.program, self.table = folder, reticent, Table.load(folder)

    @functools.cached_property
    def encoded(self):
        return self.table.encoded("train"), self.table.encoded("test")

    def reticent(self, epsilon, seed, deadline, *flags):
        def command(*words):
            left = max(1, deadline - time.monotonic())
            done = subprocess.run([self.program, *map(str, words), "--json"], capture_output=True, text=True, check=False, timeout=left)
            if done.returncode:
                raise RuntimeError(done.stderr.strip())
            return json.loads(done.stdout)

        count = len(self.table.y["train"])
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            command("fit", self.folder / "train.csv", "--schema", self.folder / "schema.toml", "--epsilon", epsilon, "--delta", DELTA,
                    "--adjacency", "add-remove", "--public-n", count, "--seed", seed, "--out", out, *flags)
            found = command("evaluate", out, self.folder / "test.csv")
        return {name: found[name] for name in ("auc", "log_loss", "r2") if found.get(name) is not None}

    def ebm(self, epsilon, seed, setting):
        from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

        table = self.table
        kinds = ["nominal" if bounds is None or bounds == (0, 1) else "continuous" for bounds in table.columns.values()]
        bounds = {at: b for at, b in enumerate(table.columns.values()) if kinds[at] == "continuous"}
        known = dict(epsilon=epsilon, delta=DELTA, feature_types=kinds, privacy_bounds=bounds, random_state=seed, n_jobs=1)
        known.update(SETTINGS[setting])
        train, test = np.array(table.rows["train"]), np.array(table.rows["test"])
        if table.number:
            low, high = table.target
            model = DPExplainableBoostingRegressor(**known, privacy_target_min=low, privacy_target_max=high)
            return quality(table, model.fit(train, table.y["train"]).predict(test))
        return quality(table, np.ravel(DPExplainableBoostingClassifier(**known).fit(train, table.y["train"]).decision_function(test)))

    def diffprivlib(self, epsilon, seed):
        from diffprivlib.models import LinearRegression, LogisticRegression

        table = self.table
        if table.number:
            bounds = tuple(np.array(side, float) for side in zip(*table.columns.values()))
            model = LinearRegression(epsilon=epsilon, bounds_X=bounds, bounds_y=table.target, random_state=seed)
            return quality(table, model.fit(np.array(table.rows["train"]), table.y["train"]).predict(np.array(table.rows["test"])))
        model = LogisticRegression(epsilon=epsilon, data_norm=1.0, max_iter=1000, random_state=seed)
        X, test = (part[:, :-1] for part in self.encoded)
        return quality(table, model.fit(X, table.y["train"]).decision_function(test))

    def published(self, method, epsilon, seed):
        draw = np.random.default_rng(seed)
        (X, test), y = self.encoded, self.table.y["train"]
        if not self.table.number:
            return quality(self.table, test @ method(X, y, epsilon, DELTA, draw))
        low, high = self.table.target
        middle, half = (low + high) / 2, (high - low) / 2
        return quality(self.table, middle + half * (test @ method(X, (y - middle) / half, epsilon, DELTA, draw)))


LINEAR, CURVES, EBM = "Reticent", "Reticent, `--curves auto`", "DP-EBM"
# The adjacency that it is proven for, whether it is for numbers and for classes, and how it is run: ε, seed, deadline, setting.
METHODS = {
    LINEAR: ("add or remove", (True, True), lambda runs, e, s, end, _: runs.reticent(e, s, end)),
    CURVES: ("add or remove", (True, True), lambda runs, e, s, end, _: runs.reticent(e, s, end, "--curves", "auto")),
    EBM: ("add or remove", (True, True), lambda runs, e, s, _, setting: runs.ebm(e, s, setting)),
    "diffprivlib": ("replace, pure ε", (True, True), lambda runs, e, s, *_: runs.diffprivlib(e, s)),
    "objective perturbation": ("add or remove", (False, True),
                               lambda runs, e, s, *_: runs.published(published.objective_perturbation, e, s)),
    "DP-Newton": ("add or remove", (False, True), lambda runs, e, s, *_: runs.published(published.dp_newton, e, s)),
    "AdaSSP": ("add or remove", (True, False), lambda runs, e, s, *_: runs.published(published.adassp, e, s)),
}
