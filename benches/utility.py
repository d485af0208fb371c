"""How good private models are: `auto` beside proximal DP-SGD on public data sets, and every algorithm on two of them.

    python3 benches/utility.py --data-dir DIR [--reticent PATH] [--sets a9a,w8a] [--seeds 10]
        [--only auto|algorithms|scale|monotone] [--epsilons 0.05,1] [--algorithms dp-cd,dp-fw]

Beside accuracy, AUC or R² stand log loss and expected calibration error (of ten bins): whether probabilities mean what
they say. `--only scale` asks how much hangs on how columns are scaled (docs/auto.md): bounds ten times as wide, the other
scale, a doubled row norm. `--only monotone` fails where the loss of an algorithm rises with ε by more than two standard
errors and 5 %, on all records or on a sample of one in 500. Two families of simulated tables are made here and were never used to choose a setting.

DIR (or RETICENT_DATA) holds the files; one that is not there is skipped with a message. Add-remove, record level,
delta = 1e-5; seeds 1 to 10; mean and standard error over them, on rows that were not trained on. Sets without a test file
are split by line number, every fifth line to the test. Whole commands are run: `reticent fit` and `reticent evaluate`.

Nothing public is computed from the rows: benches/schemas says where its bounds come from. The public number of records
that add-remove needs is the one that the sets are known by.
"""

import argparse
import copy
import concurrent.futures
import json
import lzma
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

EPSILONS = [0.05, 0.1, 0.2, 0.4, 1.0]
SCHEMAS = pathlib.Path(__file__).parent / "schemas"

# Fourteen attributes of the census and twenty-two of a mushroom, one column each that is 1; sixteen of 300 keywords.
SETS = {
    "a9a": dict(files=("a9a.xz", "a9a.t.xz"), norm=3.75, curvature=0.25, metric="accuracy",
                known=["--features", "123"]),
    "w8a": dict(files=("w8a.xz",), norm=4.0, curvature=0.25, metric="auc", known=["--features", "300"]),
    "mushrooms": dict(files=("mushrooms.xz",), norm=4.7, curvature=0.25, metric="accuracy",
                      known=["--features", "112", "--classes", "1,2"]),
    # Half a million rows: three seeds are enough for its standard errors, and ten take an hour.
    "covtype": dict(files=("covtype.csv.xz",), norm=3.0, curvature=0.25, metric="accuracy", schema="covtype.toml",
                    header=1, seeds=3),
    "breast-cancer": dict(files=("breast_cancer.csv",), norm=4.0, curvature=0.25, metric="accuracy",
                          schema="breast_cancer.toml", skip=1),
    "cal-housing": dict(files=("cal_housing.csv.xz",), norm=2.0, curvature=1.0, metric="r2",
                        schema="cal_housing.toml", header=1),
    # Six numbers of Adult: few columns, most of them skewed.
    "adult-numbers": dict(files=("adult.data.xz", "adult.test.xz"), norm=2.45, curvature=0.25, metric="auc",
                          schema="adult_numbers.toml", columns=(0, 2, 4, 10, 11, 12, 14)),
    "sim-factors": dict(files=(), norm=3.0, curvature=0.25, metric="auc", known=["--features", "24"]),
    "sim-baskets": dict(files=(), norm=3.5, curvature=0.25, metric="auc", known=["--features", "400"]),
}


def factors():
    """12,000 records of 24 numbers that hang on three factors, with units that differ up to a hundredfold."""
    draw = random.Random(20240)
    loads = [[draw.gauss(0, 1) for _ in range(3)] for _ in range(24)]
    unit = [10 ** draw.uniform(-2, 0) for _ in range(24)]
    for _ in range(12_000):
        factor = [draw.gauss(0, 1) for _ in range(3)]
        row = [sum(a * f for a, f in zip(load, factor)) + draw.gauss(0, 0.5) for load in loads]
        score = 1.2 * factor[0] - 0.8 * factor[1] + 0.9 * (row[5] - row[6]) - 0.7
        label = draw.random() < 1 / (1 + math.exp(-score))
        entries = " ".join(f"{j + 1}:{max(-1, min(1, u * v / 4)):.6f}" for j, (u, v) in enumerate(zip(unit, row)))
        yield f"{'+1' if label else '-1'} {entries}\n"


def baskets():
    """15,000 baskets of up to 12 of 400 goods, some of them much more frequent; one in eight customers comes back."""
    draw = random.Random(40402)
    weight = [1 / (j + 4) for j in range(400)]
    effect = [draw.gauss(0, 1.2) if draw.random() < 0.4 else 0.0 for _ in range(400)]
    for _ in range(15_000):
        goods = sorted(set(draw.choices(range(400), weight, k=12)))
        score = sum(effect[j] for j in goods) - 2.6
        label = draw.random() < 1 / (1 + math.exp(-score))
        yield f"{'+1' if label else '-1'} {' '.join(f'{j + 1}:1' for j in goods)}\n"


SIMULATED = {"sim-factors": factors, "sim-baskets": baskets}

# Proximal DP-SGD with public settings: all records, nothing clipped, so many iterations and a constant step in units of
# 1/L. The best of the seven is taken for each cell with the test in view, which flatters it.
GRID = [(20, 1), (20, 5), (60, 1), (60, 5), (60, 25), (200, 1), (200, 5)]


def lines(path):
    opened = lzma.open(path, "rt") if path.suffix == ".xz" else open(path, encoding="utf-8")
    with opened as file:
        return [line for line in file if line.strip()]


def cells(row):
    return [cell.strip().rstrip(".") for cell in row.split(",")]


class Bench:
    def __init__(self, name, args, folder):
        self.name, self.args, self.folder = name, args, pathlib.Path(folder)
        self.set = SETS[name]
        self.seeds = min(args.seeds, self.set.get("seeds", args.seeds))
        self.metric = self.set["metric"]
        ending = "csv" if "schema" in self.set else "libsvm"
        self.train, self.test = (self.folder / f"{name}-{part}.{ending}" for part in ("train", "test"))
        files = [args.data / file for file in self.set["files"]]
        rows = lines(files[0])[self.set.get("skip", 0):] if files else list(SIMULATED[name]())
        head, rows = rows[:self.set.get("header", 0)], rows[self.set.get("header", 0):]
        train = rows if len(files) > 1 else [row for i, row in enumerate(rows) if i % 5]
        test = lines(files[1]) if len(files) > 1 else rows[::5]
        if "columns" in self.set:
            train, test = ([",".join(cells(row)[i] for i in self.set["columns"]) + "\n" for row in part
                            if row.count(",") > 10] for part in (train, test))
        self.train.write_text("".join(head + train), encoding="utf-8")
        self.test.write_text("".join(head + test), encoding="utf-8")
        self.count = len(train)
        known = self.set.get("known", [])
        if "schema" in self.set:
            known = ["--schema", str(SCHEMAS / self.set["schema"])]
        else:
            known = [*known, "--row-norm", str(self.set["norm"])]
        self.common = [*known, "--delta", "1e-5"]
        self.adjacency = ["--adjacency", "add-remove", "--public-n", str(self.count)]

    def command(self, *words):
        done = subprocess.run([self.args.reticent, *map(str, words), "--json"], capture_output=True, text=True,
                              check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def score(self, epsilon, seed, settings):
        """The quality of one fit; None where it is refused."""
        adjacency = [] if "--adjacency" in settings else self.adjacency
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            fitted = self.command("fit", self.train, *self.common, *adjacency, "--epsilon", epsilon, "--seed", seed,
                                  "--out", out, *settings)
            return fitted and self.command("evaluate", out, self.test)

    def mean(self, epsilon, settings):
        """Mean and standard error over the seeds, of every figure; None where a fit is refused."""
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            found = list(pool.map(lambda seed: self.score(epsilon, seed, settings), range(1, self.seeds + 1)))
        if any(quality is None for quality in found):
            return None
        figures = {}
        for name in [self.metric, "log_loss", "calibration_error"]:
            values = [quality.get(name) for quality in found]
            if None not in values:
                error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
                figures[name] = statistics.fmean(values), error
        return figures

    def head(self, first):
        print(f"| {first} | " + " | ".join(f"ε = {epsilon:g}" for epsilon in self.args.epsilons) + " |")
        print("|" + " --- |" * (len(self.args.epsilons) + 1))

    def row(self, name, found, figure=None):
        found = [figures and figures.get(figure or self.metric) for figures in found]
        shown = ["–" if cell is None else f"{cell[0]:.4f} ± {cell[1]:.4f}" for cell in found]
        print(f"| {name} | " + " | ".join(shown) + " |", flush=True)

    def constant(self):
        """The score and the log loss of a model that knows the targets of the test and nothing else."""
        if self.metric == "r2":
            return 0.0, None
        last = [row.strip().split(",")[-1] if "schema" in self.set else row.split()[0] for row in lines(self.test)]
        last = last[self.set.get("header", 0):]
        positive = {"covtype": "2", "mushrooms": "2"}.get(self.name, last[0])
        share = sum(label == positive for label in last) / len(last)
        log_loss = -share * math.log(share) - (1 - share) * math.log(1 - share)
        return (max(share, 1 - share) if self.metric == "accuracy" else 0.5), log_loss

    def auto(self):
        start = time.monotonic()
        score, log_loss = self.constant()
        known = "" if log_loss is None else f" and a log loss of {log_loss:.4f}"
        print(f"**{self.name}**, {self.metric}, {self.count} records, {self.seeds} seeds; "
              f"a constant has {score:.4f}{known}\n")
        self.head("")
        epsilons = self.args.epsilons
        auto = [self.mean(epsilon, ["--algorithm", "auto"]) for epsilon in epsilons]
        self.row(f"`auto`, {self.metric}", auto)
        # The constant behind the intercept is 0.3 of the row norm.
        smooth = self.set["curvature"] * self.set["norm"] ** 2 * (1 + 0.3 ** 2)
        tried = [[self.mean(epsilon, ["--algorithm", "dp-sgd", "--iterations", iterations, "--step",
                                      f"constant:{step / smooth}"]) for iterations, step in GRID]
                 for epsilon in epsilons] if not self.args.auto_alone else []
        for figure, sign in [(self.metric, -1), ("log_loss", 1), ("calibration_error", 1)]:
            if figure != self.metric:
                if auto[0] is None or figure not in auto[0]:
                    continue
                self.row(f"`auto`, {figure.replace('_', ' ')}", auto, figure)
            best = [min((figures for figures in cell if figures), key=lambda figures: sign * figures[figure][0])
                    for cell in tried]
            if best:
                self.row(f"best proximal DP-SGD, {figure.replace('_', ' ')}", best, figure)
        print(f"\n{time.monotonic() - start:.0f} s\n", flush=True)

    def scale(self):
        """How much hangs on how the columns are scaled, at ε = 1."""
        print(f"**{self.name}**, {self.metric} at ε = 1, {self.seeds} seeds\n")
        print("| | as it is | bounds × 10 | other scale | row norm × 2 |")
        print("| --- | --- | --- | --- | --- |", flush=True)
        for label, settings in [("`auto`", ["--algorithm", "auto"]),
                                ("`auto --precondition 0`", ["--algorithm", "auto", "--precondition", "0"])]:
            found = []
            for change in [None, wider, other_scale, double_norm]:
                bench = copy.copy(self)
                known = change and changed(self, change)
                if change and known is None:
                    found.append(None)
                    continue
                bench.common = known or self.common
                found.append(bench.mean(1.0, settings))
            self.row(label, found)
        print()

    def named(self):
        """Every private algorithm with the flags that it needs here, and whether it draws samples."""
        for entry in self.command("list", "algorithms")["algorithms"]:
            name = entry["name"]
            # The release of a minimiser needs strong convexity; the others do without. Two are for replace-one only.
            minimiser = name in ("output-perturbation", "amp", "objp")
            penalty = ["--penalty", "l2:0.01"] if minimiser else []
            replace = ["--adjacency", "replace-one"] if name in ("output-perturbation", "general") else []
            if entry["private"] and (not self.args.algorithms or name in self.args.algorithms):
                yield name, ["--algorithm", name, *penalty, *replace], "sampling" in entry["settings"]

    def loss(self, quality):
        """What must not rise with the budget: the log loss, or what is not explained, or the errors."""
        value = quality.get("log_loss")
        return 1 - quality[self.metric] if value is None else value

    def monotone(self):
        """Every algorithm, and on samples those that draw them: the rises of its loss from one ε to the next."""
        rises = []
        print(f"**{self.name}**, loss by ε, {self.seeds} seeds; {self.count} records\n")
        self.head("algorithm")
        for name, settings, samples in self.named():
            for drawn in [[], ["--sampling", "poisson:0.002"]][:1 + samples]:
                found = []
                for epsilon in self.args.epsilons:
                    with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
                        run = lambda seed, epsilon=epsilon: self.score(epsilon, seed, [*settings, *drawn])
                        found.append([quality and self.loss(quality)
                                      for quality in pool.map(run, range(1, self.seeds + 1))])
                label = " ".join([name, *drawn[1:]])
                if None in [value for values in found for value in values]:
                    print(f"| {label} | refused |" + " |" * (len(found) - 1))
                    continue
                means = [(statistics.fmean(values), statistics.stdev(values) / len(values) ** 0.5) for values in found]
                print(f"| {label} | " + " | ".join(f"{mean:.4f} ± {error:.4f}" for mean, error in means) + " |", flush=True)
                for i, ((less, a), (more, b)) in enumerate(zip(means, means[1:])):
                    if more > max(less + 2 * math.hypot(a, b), 1.05 * less):
                        at = "from ε = {:g} to {:g}".format(*self.args.epsilons[i:i + 2])
                        rises.append(f"{self.name}, {label}: {less:.4f} rises to {more:.4f} {at}")
        print()
        return rises

    def algorithms(self):
        print(f"**Every algorithm on {self.name}** at its own settings, {self.metric}, {self.seeds} seeds\n")
        self.head("algorithm")
        for name, settings, _ in self.named():
            label = f"{name} (replace-one)" if "--adjacency" in settings else name
            self.row(label, [self.mean(epsilon, settings) for epsilon in self.args.epsilons])
        print()


def wider(schema):
    """The first number's bounds, ten times as wide around the same middle."""
    column = next(column for column in schema["column"] if column["kind"] == "numeric")
    middle, half = (column["lower"] + column["upper"]) / 2, (column["upper"] - column["lower"]) / 2
    column.update(lower=middle - 10 * half, upper=middle + 10 * half)


def other_scale(schema):
    for column in schema["column"]:
        if column["kind"] == "numeric":
            usual = column.get("scale", "minus_one_to_one") == "minus_one_to_one"
            column["scale"] = "zero_to_one" if usual else "minus_one_to_one"


def double_norm(schema):
    schema["row_norm"] *= 2


def changed(bench, change):
    """The flags of a table with another schema; None where there is no such change."""
    if "schema" not in bench.set:
        if change is not double_norm:
            return None
        return [str(2 * bench.set["norm"]) if before == "--row-norm" else word
                for before, word in zip(["", *bench.common], bench.common)]
    schema = tomllib.loads((SCHEMAS / bench.set["schema"]).read_text(encoding="utf-8"))
    change(schema)
    path = bench.folder / f"{change.__name__}.toml"
    toml = [f"{key} = {json.dumps(value)}" for key, value in schema.items() if key != "column"]
    for column in schema["column"]:
        toml += ["[[column]]", *(f"{key} = {json.dumps(value)}" for key, value in column.items())]
    path.write_text("\n".join(toml), encoding="utf-8")
    return ["--schema", str(path), "--delta", "1e-5"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", dest="data", default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time; each has threads of its own")
    parser.add_argument("--only", choices=["auto", "algorithms", "scale", "monotone"])
    parser.add_argument("--algorithms", type=lambda text: text.split(","), help="of all algorithms, these")
    parser.add_argument("--auto-alone", action="store_true", help="without the settings of DP-SGD")
    parser.add_argument("--epsilons", type=lambda text: [float(word) for word in text.split(",")], default=EPSILONS)
    args = parser.parse_args()
    if not args.data:
        print("skipped: no data; give --data-dir DIR or set RETICENT_DATA")
        return
    args.data = pathlib.Path(args.data)
    rises = []
    for name in args.sets.split(","):
        missing = [file for file in SETS[name]["files"] if not (args.data / file).exists()]
        if missing:
            print(f"skipped: {name}, as {', '.join(missing)} is not there\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(name, args, folder)
            if args.only in (None, "auto"):
                bench.auto()
            if args.only in (None, "scale"):
                bench.scale()
            if args.only in (None, "algorithms") and name in ("a9a", "w8a"):
                bench.algorithms()
            if args.only == "monotone":
                rises += bench.monotone()
    for rise in rises:
        print(f"more budget, a worse model: {rise}")
    if rises:
        sys.exit(1)


if __name__ == "__main__":
    main()
