"""How good private models are: `auto` beside proximal DP-SGD on public data sets, and every algorithm on two of them.

    python3 benches/utility.py --data-dir DIR [--reticent PATH] [--sets a9a,w8a] [--seeds 10] [--only auto|algorithms]

DIR (or RETICENT_DATA) holds the files; one that is not there is skipped with a message. Add-remove, record level,
delta = 1e-5; seeds 1 to 10; mean and standard error over them, on rows that were not trained on. Sets without a test file
are split by line number, every fifth line to the test. Whole commands are run: `reticent fit` and `reticent evaluate`.

Nothing public is computed from the rows: benches/schemas says where its bounds come from. The public number of records
that add-remove needs is the one that the sets are known by.
"""

import argparse
import concurrent.futures
import json
import lzma
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

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
}

# Proximal DP-SGD with public settings: all records, nothing clipped, so many iterations and a constant step in units of
# 1/L. The best of the seven is taken for each cell with the test in view, which flatters it.
GRID = [(20, 1), (20, 5), (60, 1), (60, 5), (60, 25), (200, 1), (200, 5)]


def lines(path):
    opened = lzma.open(path, "rt") if path.suffix == ".xz" else open(path, encoding="utf-8")
    with opened as file:
        return [line for line in file if line.strip()]


class Bench:
    def __init__(self, name, args, folder):
        self.name, self.args, self.folder = name, args, pathlib.Path(folder)
        self.set = SETS[name]
        self.seeds = min(args.seeds, self.set.get("seeds", args.seeds))
        self.metric = self.set["metric"]
        ending = "csv" if "schema" in self.set else "libsvm"
        self.train, self.test = (self.folder / f"{name}-{part}.{ending}" for part in ("train", "test"))
        files = [args.data / file for file in self.set["files"]]
        rows = lines(files[0])[self.set.get("skip", 0):]
        head, rows = rows[:self.set.get("header", 0)], rows[self.set.get("header", 0):]
        train = rows if len(files) > 1 else [row for i, row in enumerate(rows) if i % 5]
        test = lines(files[1]) if len(files) > 1 else rows[::5]
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
        """The score of one fit; None where it is refused."""
        adjacency = [] if "--adjacency" in settings else self.adjacency
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            fitted = self.command("fit", self.train, *self.common, *adjacency, "--epsilon", epsilon, "--seed", seed,
                                  "--out", out, *settings)
            quality = fitted and self.command("evaluate", out, self.test)
        return quality and quality[self.metric]

    def mean(self, epsilon, settings):
        """Mean and standard error over the seeds."""
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            scores = list(pool.map(lambda seed: self.score(epsilon, seed, settings), range(1, self.seeds + 1)))
        if any(score is None for score in scores):
            return float("nan"), 0.0
        error = statistics.stdev(scores) / len(scores) ** 0.5 if len(scores) > 1 else 0.0
        return statistics.fmean(scores), error

    def head(self, first):
        print(f"| {first} | " + " | ".join(f"ε = {epsilon:g}" for epsilon in EPSILONS) + " |")
        print("|" + " --- |" * (len(EPSILONS) + 1))

    def row(self, name, cells):
        shown = ["–" if mean != mean else f"{mean:.4f} ± {error:.4f}" for mean, error in cells]
        print(f"| {name} | " + " | ".join(shown) + " |", flush=True)

    def constant(self):
        """The score of a model that knows the targets of the test and nothing else."""
        if self.metric == "accuracy":
            last = [row.strip().split(",")[-1] if "schema" in self.set else row.split()[0] for row in lines(self.test)]
            last = last[self.set.get("header", 0):]
            positive = {"covtype": "2", "mushrooms": "2"}.get(self.name, last[0])
            share = sum(label == positive for label in last) / len(last)
            return max(share, 1 - share)
        return 0.5 if self.metric == "auc" else 0.0

    def auto(self):
        start = time.monotonic()
        print(f"**{self.name}**, {self.metric}, {self.count} records, {self.seeds} seeds; "
              f"a constant has {self.constant():.4f}\n")
        self.head("")
        self.row("`auto`", [self.mean(epsilon, ["--algorithm", "auto"]) for epsilon in EPSILONS])
        # The constant behind the intercept is 0.3 of the row norm.
        smooth = self.set["curvature"] * self.set["norm"] ** 2 * (1 + 0.3 ** 2)
        best, which = [], []
        for epsilon in EPSILONS:
            tried = [self.mean(epsilon, ["--algorithm", "dp-sgd", "--iterations", iterations, "--step",
                                         f"constant:{step / smooth}"]) for iterations, step in GRID]
            number = max(range(len(GRID)), key=lambda i: tried[i][0] if tried[i][0] == tried[i][0] else -1e9)
            best.append(tried[number])
            which.append(GRID[number])
        self.row("proximal DP-SGD", best)
        print("| its iterations, step·L | " + " | ".join(f"{t}, {step}" for t, step in which) + " |")
        print(f"\n{time.monotonic() - start:.0f} s\n", flush=True)

    def algorithms(self):
        print(f"**Every algorithm on {self.name}** at its own settings, {self.metric}, {self.seeds} seeds\n")
        self.head("algorithm")
        listed = self.command("list", "algorithms")
        for entry in listed["algorithms"]:
            if not entry["private"]:
                continue
            # The release of a minimiser needs strong convexity; the others do without. Two are for replace-one only.
            name = entry["name"]
            penalty = ["--penalty", "l2:0.01"] if name in ("output-perturbation", "amp") else []
            replace = ["--adjacency", "replace-one"] if name in ("output-perturbation", "general") else []
            settings = ["--algorithm", name, *penalty, *replace]
            label = f"{name} (replace-one)" if replace else name
            self.row(label, [self.mean(epsilon, settings) for epsilon in EPSILONS])
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", dest="data", default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time; each has threads of its own")
    parser.add_argument("--only", choices=["auto", "algorithms"])
    args = parser.parse_args()
    if not args.data:
        print("skipped: no data; give --data-dir DIR or set RETICENT_DATA")
        return
    args.data = pathlib.Path(args.data)
    for name in args.sets.split(","):
        missing = [file for file in SETS[name]["files"] if not (args.data / file).exists()]
        if missing:
            print(f"skipped: {name}, as {', '.join(missing)} is not there\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(name, args, folder)
            if args.only != "algorithms":
                bench.auto()
            if args.only != "auto" and name in ("a9a", "w8a"):
                bench.algorithms()


if __name__ == "__main__":
    main()
