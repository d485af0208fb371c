"""docs/benchmark.md: private models of others beside those of Reticent, on public tables.

    make bench-utility RETICENT_DATA=DIR
    python benches/benchmark.py --data-dir DIR [--reticent PATH] [--tables adult,bio] [--seeds 10] [--write docs/benchmark.md]

It needs an environment with interpret-core 0.7.8, diffprivlib 0.6.6, scikit-learn < 1.7 and pyarrow, which `make
bench-utility` makes. A table whose file is not in DIR is skipped with a message. Each method runs at the adjacency that it is
proven for, with the same bounds and row norm; settings are those that a user gets, and none was chosen by its result.
"""

import argparse
import concurrent.futures
import csv
import json
import lzma
import os
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy as np

import published

EPSILONS = [0.1, 0.4, 1.0, 4.0]
DELTA = 1e-5
ADULT = {"age": (17, 90), "workclass": None, "fnlwgt": (0, 1500000), "education": None, "education-num": (1, 16),
         "marital-status": None, "occupation": None, "relationship": None, "race": None, "sex": None,
         "capital-gain": (0, 100000), "capital-loss": (0, 5000), "hours-per-week": (0, 100), "native-country": None}
HOUSING = {"longitude": (-125, -114), "latitude": (32, 42), "housingMedianAge": (0, 55), "totalRooms": (0, 20000),
           "totalBedrooms": (0, 4000), "population": (0, 10000), "households": (0, 4000), "medianIncome": (0, 16)}
COVTYPE = [(1800, 3900), (0, 360), (0, 70), (0, 1400), (-200, 610), (0, 7200), (0, 255), (0, 255), (0, 255), (0, 7200)]


def lines(path):
    with lzma.open(path, "rt") if path.suffix == ".xz" else open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def cells(path, skip=0):
    return [[cell.strip().rstrip(".") for cell in line.split(",")] for line in lines(path)[skip:] if "," in line]


def split(rows):
    """Every fifth row to the test."""
    return [row for i, row in enumerate(rows) if i % 5], rows[::5]


class Table:
    """Columns with bounds, or with categories (None: those in the file), or flags (0, 1); the target is the last of a row."""

    def __init__(self, name, columns, norm, parts, target):
        self.name, self.columns, self.norm, self.target = name, columns, norm, target
        self.train, self.test = parts
        every = self.train + self.test
        self.values = {at: sorted({row[at] for row in every}) for at, bounds in enumerate(columns.values()) if bounds is None}
        self.number = not isinstance(target, str)
        self.metric = "r2" if self.number else "auc"

    def y(self, rows):
        if self.number:
            return np.array([float(row[-1]) for row in rows])
        return np.array([row[-1] == self.target for row in rows], float)

    def flags(self):
        return [bounds == (0, 1) for bounds in self.columns.values()]

    def encoded(self, rows):
        """Numbers to [-1, 1], flags as they are, categories one-hot, a constant of 0.3 of the norm; all over the norm."""
        parts = []
        for at, bounds in enumerate(self.columns.values()):
            column = [row[at] for row in rows]
            if bounds is None:
                parts.append(np.array(column)[:, None] == np.array(self.values[at])[None, :])
            else:
                unit = np.clip((np.array(column, float) - bounds[0]) / (bounds[1] - bounds[0]), 0, 1)
                parts.append((unit if bounds == (0, 1) else 2 * unit - 1)[:, None])
        X = np.hstack(parts).astype(float)
        X *= np.minimum(1, self.norm / np.maximum(np.linalg.norm(X, axis=1), 1e-300))[:, None]
        X = np.hstack([X, np.full((len(X), 1), 0.3 * self.norm)])
        return X / (self.norm * np.sqrt(1.09))

    def raw(self, rows):
        """As DP-EBM takes it: a number for each cell, categories by their place."""
        place = {at: {value: i for i, value in enumerate(values)} for at, values in self.values.items()}
        return np.array([[place[at][cell] if at in place else float(cell) for at, cell in enumerate(row[:-1])] for row in rows])

    def schema(self):
        text = [f"row_norm = {self.norm}", "header = false"]
        for at, (name, bounds) in enumerate(self.columns.items()):
            text += ["[[column]]", f"name = {json.dumps(name)}"]
            if bounds is None:
                text += ['kind = "categorical"', f"categories = {json.dumps(self.values[at])}"]
            else:
                text += ['kind = "numeric"', f"lower = {bounds[0]}", f"upper = {bounds[1]}"]
                text += ['scale = "zero_to_one"'] * (bounds == (0, 1))
        text += ["[[column]]", 'name = "target"', 'kind = "target"']
        text += [f"lower = {self.target[0]}", f"upper = {self.target[1]}"] if self.number else ['classes = ["no", "yes"]']
        return "\n".join(text) + "\n"

    def write(self, path, rows):
        with open(path, "w", encoding="utf-8", newline="") as file:
            for row in rows:
                last = row[-1] if self.number else ("yes" if row[-1] == self.target else "no")
                csv.writer(file).writerow([*row[:-1], last])


def adult(data):
    parts = [cells(data / name) for name in ("adult.data.xz", "adult.test.xz")]
    return Table("Adult", ADULT, 3.75, [[row for row in part if len(row) == 15] for part in parts], ">50K")


def housing(data):
    return Table("California housing", HOUSING, 2.0, split(cells(data / "cal_housing.csv.xz", 1)), (0, 500001))


def covtype(data):
    rows = [line.split(",") for line in lines(data / "covtype.csv.xz")[1:]]
    columns = {f"c{at}": COVTYPE[at] if at < 10 else (0, 1) for at in range(54)}
    # One row in 29 is a test row, and five are to learn from: 100,174 of 581,012.
    parts = [[row for i, row in enumerate(rows) if i % 29 in (1, 7, 13, 19, 25)], rows[::29]]
    return Table("covtype, class 2", columns, 3.0, parts, "2")


def bio(data):
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(data / "bio_train.parquet")
    names = [name for name in table.column_names if name not in ("EXAMPLE_ID", "BLOCK_ID", "target")]
    numbers = np.column_stack([table[name].to_numpy() for name in names])
    # Nobody published bounds: these are the file's own, which is public.
    columns = {f"f{name}": (float(low), float(max(high, low + 1))) for name, low, high in zip(names, numbers.min(0), numbers.max(0))}
    target = table["target"].to_pylist()
    rows = [[*map(str, row), str(int(label))] for row, label in zip(numbers.tolist(), target)]
    return Table("bio_train", columns, 5.0, split(rows), "1")


def cancer(data):
    rows = [line.split(",") for line in lines(data / "breast_cancer.csv")[1:]]
    import tomllib

    schema = tomllib.loads((pathlib.Path(__file__).parent / "schemas" / "breast_cancer.toml").read_text(encoding="utf-8"))
    columns = {c["name"]: (c["lower"], c["upper"]) for c in schema["column"] if c["kind"] == "numeric"}
    return Table("breast cancer", columns, 4.0, split(rows), "1")


def flagged(name, files, width, norm, target):
    """A LIBSVM table of flags."""

    def read(data):
        parts = []
        for file in files:
            rows = []
            for line in lines(data / file):
                label, *entries = line.split()
                row = ["0"] * width
                for entry in entries:
                    row[int(entry.split(":")[0]) - 1] = "1"
                rows.append([*row, label])
            parts.append(rows)
        parts = parts if len(parts) == 2 else split(parts[0])
        return Table(name, {f"c{at}": (0, 1) for at in range(width)}, norm, parts, target)

    return read


TABLES = {
    "adult": (("adult.data.xz", "adult.test.xz"), adult),
    "housing": (("cal_housing.csv.xz",), housing),
    "covtype": (("covtype.csv.xz",), covtype),
    "bio": (("bio_train.parquet",), bio),
    "cancer": (("breast_cancer.csv",), cancer),
    "mushrooms": (("mushrooms.xz",), flagged("mushrooms", ["mushrooms.xz"], 112, 4.7, "2")),
    "a9a": (("a9a.xz", "a9a.t.xz"), flagged("a9a", ["a9a.xz", "a9a.t.xz"], 123, 3.75, "+1")),
    "w8a": (("w8a.xz",), flagged("w8a", ["w8a.xz"], 300, 4.0, "+1")),
}


def auc(y, score):
    order = np.argsort(score, kind="stable")
    _, first, count = np.unique(score[order], return_index=True, return_counts=True)
    ranks = np.empty(len(y))
    ranks[order] = np.repeat(first + (count + 1) / 2, count)
    ones = y.sum()
    return (ranks[y > 0.5].sum() - ones * (ones + 1) / 2) / (ones * (len(y) - ones))


def quality(table, predicted):
    """Of scores (log-odds) or predicted numbers on the test rows."""
    y = table.y(table.test)
    if not np.isfinite(predicted).all():
        return {}
    if table.number:
        return {"r2": 1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum()}
    return {"auc": auc(y, predicted), "log_loss": float((np.logaddexp(0, predicted) - y * predicted).mean())}


class Runs:
    """One table, prepared for every method."""

    def __init__(self, table, args, folder):
        self.table, self.args, self.folder = table, args, pathlib.Path(folder)
        self.X, self.X_test = table.encoded(table.train), table.encoded(table.test)
        self.y = table.y(table.train)
        for part, rows in (("train", table.train), ("test", table.test)):
            table.write(self.folder / f"{part}.csv", rows)
        (self.folder / "schema.toml").write_text(table.schema(), encoding="utf-8")

    def reticent(self, epsilon, seed, *flags):
        def command(*words):
            done = subprocess.run([self.args.reticent, *map(str, words), "--json"], capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{self.table.name}: {done.stderr.strip()}")
            return json.loads(done.stdout)

        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            command("fit", self.folder / "train.csv", "--schema", self.folder / "schema.toml", "--epsilon", epsilon, "--delta", DELTA,
                    "--adjacency", "add-remove", "--public-n", len(self.y), "--seed", seed, "--out", out, *flags)
            found = command("evaluate", out, self.folder / "test.csv")
        return {name: found[name] for name in ("auc", "log_loss", "r2") if found.get(name) is not None}

    def ebm(self, epsilon, seed):
        from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

        table = self.table
        kinds = ["nominal" if bounds is None or bounds == (0, 1) else "continuous" for bounds in table.columns.values()]
        bounds = {at: b for at, b in enumerate(table.columns.values()) if kinds[at] == "continuous"}
        known = dict(epsilon=epsilon, delta=DELTA, feature_types=kinds, privacy_bounds=bounds, random_state=seed, n_jobs=1)
        train, test = table.raw(table.train), table.raw(table.test)
        if table.number:
            low, high = table.target
            model = DPExplainableBoostingRegressor(**known, privacy_target_min=low, privacy_target_max=high)
            return quality(table, model.fit(train, self.y).predict(test))
        return quality(table, np.ravel(DPExplainableBoostingClassifier(**known).fit(train, self.y).decision_function(test)))

    def diffprivlib(self, epsilon, seed):
        from diffprivlib.models import LinearRegression, LogisticRegression

        if self.table.number:
            bounds = tuple(np.array(side, float) for side in zip(*self.table.columns.values()))
            model = LinearRegression(epsilon=epsilon, bounds_X=bounds, bounds_y=self.table.target, random_state=seed)
            return quality(self.table, model.fit(self.table.raw(self.table.train), self.y).predict(self.table.raw(self.table.test)))
        model = LogisticRegression(epsilon=epsilon, data_norm=1.0, max_iter=1000, random_state=seed)
        X, test = self.X[:, :-1], self.X_test[:, :-1]
        return quality(self.table, model.fit(X, self.y).decision_function(test))

    def published(self, method, epsilon, seed):
        draw = np.random.default_rng(seed)
        if not self.table.number:
            return quality(self.table, self.X_test @ method(self.X, self.y, epsilon, DELTA, draw))
        low, high = self.table.target
        middle, half = (low + high) / 2, (high - low) / 2
        return quality(self.table, middle + half * (self.X_test @ method(self.X, (self.y - middle) / half, epsilon, DELTA, draw)))


# The name, the adjacency that it is proven for, whether it is for numbers and for classes, and how it is run.
METHODS = {
    "Reticent": ("add or remove", (True, True), lambda runs, e, s: runs.reticent(e, s)),
    "Reticent, `--curves auto`": ("add or remove", (True, True), lambda runs, e, s: runs.reticent(e, s, "--curves", "auto")),
    "DP-EBM": ("add or remove", (True, True), lambda runs, e, s: runs.ebm(e, s)),
    "diffprivlib": ("replace, pure ε", (True, True), lambda runs, e, s: runs.diffprivlib(e, s)),
    "objective perturbation": ("add or remove", (False, True),
                               lambda runs, e, s: runs.published(published.objective_perturbation, e, s)),
    "DP-Newton": ("add or remove", (False, True), lambda runs, e, s: runs.published(published.dp_newton, e, s)),
    "AdaSSP": ("add or remove", (True, False), lambda runs, e, s: runs.published(published.adassp, e, s)),
}
FIGURES = {"auc": "AUC", "log_loss": "log loss", "r2": "R²"}


def measured(runs, args, seeds):
    """By method and ε, the qualities of all seeds."""
    found = {}
    for name, (_, kinds, run) in METHODS.items():
        if kinds[0 if runs.table.number else 1] and (not args.methods or name in args.methods):
            begun = time.monotonic()
            for epsilon in args.epsilons:
                with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
                    found[name, epsilon] = list(pool.map(lambda seed: run(runs, epsilon, seed), range(1, seeds(name) + 1)))
            print(f"{runs.table.name}: {name}, {time.monotonic() - begun:.0f} s", flush=True)
    return found


def cell(found, figure):
    values = [quality[figure] for quality in found if figure in quality]
    if not values or len(values) < len(found):
        return "–" if not values else f"{len(found) - len(values)} of {len(found)} failed"
    error = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
    digits = ".4f" if abs(np.mean(values)) < 100 else ".1e"
    return f"{np.mean(values):{digits}} ± {error:{digits}}"


def section(table, found, epsilons):
    count = f"{len(table.train):,} × {len(table.columns)}"
    text = [f"## {table.name}, {count}", ""]
    if not table.number:
        text += [f"{table.y(table.test).mean():.1%} of {len(table.test):,} test rows are positive.", ""]
    names = list(dict.fromkeys(name for name, _ in found))
    for figure in [table.metric] + ["log_loss"] * (not table.number):
        text += ["| " + FIGURES[figure] + " | adjacency | seeds | " + " | ".join(f"ε = {e:g}" for e in epsilons) + " |", "|" + " --- |" * (3 + len(epsilons))]
        for name in names:
            row = [cell(found[name, epsilon], figure) for epsilon in epsilons]
            text.append(f"| {name} | {METHODS[name][0]} | {len(found[name, epsilons[0]])} | " + " | ".join(row) + " |")
        text.append("")
    return text + behind(table, found, epsilons)


def behind(table, found, epsilons):
    """Cells in which the better of ours is worse than another by more than two standard errors."""
    lost = []
    for figure, sign in [(table.metric, 1)] + [("log_loss", -1)] * (not table.number):
        for epsilon in epsilons:
            means = {}
            for name in dict.fromkeys(name for name, _ in found):
                values = [quality[figure] for quality in found[name, epsilon] if figure in quality]
                if values:
                    means[name] = sign * np.mean(values), np.std(values) / max(1, len(values) - 1) ** 0.5
            ours = max((means[name] for name in means if name.startswith("Reticent")), default=None)
            for name, (mean, error) in means.items():
                if ours and not name.startswith("Reticent") and mean > ours[0] + 2 * np.hypot(error, ours[1]):
                    lost.append(f"{name} in {FIGURES[figure]} at ε = {epsilon:g}")
    return ["Behind: " + "; ".join(lost) + "." if lost else "Behind nobody here by more than two standard errors.", ""]


HEAD = """# Benchmark: private models of others

`make bench-utility` makes this page (benches/benchmark.py); no figure here comes from anywhere else.
δ = 1e-5, mean and standard error over the seeds, on rows that were not trained on.
Bounds, categories and row norms are the same for all, and public: benches/benchmark.py has them.
Each method is run at the adjacency that it is proven for and with the settings that a user gets without tuning.
A record that is replaced is one removed and one added, so `replace` at ε protects more than `add or remove` at ε,
and pure ε more than (ε, δ): read those rows with that in mind.

| method | what it is |
| --- | --- |
| Reticent | `reticent fit` with [`auto`](auto.md), a linear model |
| Reticent, `--curves auto` | the same with [curves](curves.md) where public numbers allow them |
| DP-EBM | interpret-core 0.7.8 with its defaults: boosted shapes (Nori, Caruana, Bu, Shen and Kulkarni 2021) |
| diffprivlib | 0.6.6: logistic regression by objective perturbation (Chaudhuri, Monteleoni and Sarwate 2011), linear regression by the functional mechanism (Zhang, Zhang, Xiao, Yang and Winslett 2012) |
| objective perturbation | Kifer, Smith and Thakurta 2012, Algorithm 1 with Gaussian noise (benches/published.py) |
| DP-Newton | Ganesh, Haghifam, Steinke and Thakurta 2023, Algorithm 3, ten steps (benches/published.py) |
| AdaSSP | Wang 2018, Algorithm 2 (benches/published.py) |
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", dest="data", default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--tables", type=lambda text: text.split(","), default=list(TABLES))
    parser.add_argument("--methods", type=lambda text: text.split(";"), help="of all methods, these, with ; between them")
    parser.add_argument("--epsilons", type=lambda text: [float(word) for word in text.split(",")], default=EPSILONS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--few", type=int, help="seeds of DP-EBM, which takes the longest [default: as the others]")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--write", type=pathlib.Path, help="the page to write; without it, print")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    if not args.data:
        print("skipped: no data; give --data-dir DIR or set RETICENT_DATA")
        return
    text, done = [HEAD], []
    for name in args.tables:
        files, read = TABLES[name]
        missing = [file for file in files if not (pathlib.Path(args.data) / file).exists()]
        if missing:
            print(f"skipped: {name}, as {', '.join(missing)} is not there")
            continue
        with tempfile.TemporaryDirectory() as folder:
            table = read(pathlib.Path(args.data))
            few = args.few or args.seeds
            found = measured(Runs(table, args, folder), args, lambda method: few if method == "DP-EBM" else args.seeds)
            text += section(table, found, args.epsilons)
            done.append(name)
            left = [name for name in TABLES if name not in done]
            page = text + [f"Not in this edition: {', '.join(left)}."] * bool(left)
            # After each table, so that a run that is cut short leaves what it measured.
            if args.write:
                args.write.write_text("\n".join(page).rstrip() + "\n", encoding="utf-8")
    if not args.write:
        print("\n".join(text))


if __name__ == "__main__":
    main()
