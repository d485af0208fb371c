"""How far a regression is from a model of zeros, which is the middle of the target's range: every algorithm that clips.

    python3 benches/regression.py --data-dir DIR [--reticent PATH] [--seeds 10] [--jobs 2] [--sets housing,radius]

Mean squared error on rows that were not trained on (every fifth line), over that of zeros; replace-one, record level,
delta = 1e-5, seeds 1 to 10, mean and standard error. A cell above 1.15 is named at the end, and the program fails.

DIR (or RETICENT_DATA) holds the files; one that is not there is skipped with a message. Bounds are those of benches/schemas:
the target of each set is one of the columns there, and the others are what it is predicted from.
"""

import argparse
import concurrent.futures
import json
import lzma
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import tomllib

SCHEMAS = pathlib.Path(__file__).parent / "schemas"
EPSILONS = [0.01, 0.08, 0.63, 5.0]
ALGORITHMS = ["auto", "dp-sgd", "consensus", "ssadmm", "sadmm", "vradmm", "mpadmm", "dp-cd", "dp-fw"]
WORST = 1.15
# The file, the lines before its rows, every how many of them are taken, its schema, the target, and the columns before it that
# are in the file and not in the schema (Adult has texts among its numbers).
SETS = {
    "housing": dict(file="cal_housing.csv.xz", skip=1, schema="cal_housing.toml", target="medianHouseValue"),
    "hours": dict(file="adult.data.xz", schema="adult_numbers.toml", columns=(0, 2, 4, 10, 11, 12), target="hours-per-week"),
    "elevation": dict(file="covtype.csv.xz", skip=1, every=20, schema="covtype.toml", first=10, target="Elevation"),
    "radius": dict(file="breast_cancer.csv", skip=1, schema="breast_cancer.toml", first=30, target="mean_radius"),
}


def rows_of(path, known):
    opened = lzma.open(path, "rt") if path.suffix == ".xz" else open(path, encoding="utf-8")
    with opened as file:
        lines = [line.strip() for line in file if line.count(",") > 2][known.get("skip", 0)::known.get("every", 1)]
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    return [[row[i] for i in known["columns"]] for row in rows] if "columns" in known else rows


class Regression:
    def __init__(self, name, args, folder):
        self.args, self.folder, known = args, folder, SETS[name]
        schema = tomllib.loads((SCHEMAS / known["schema"]).read_text(encoding="utf-8"))
        rows = rows_of(args.data / known["file"], known)
        columns = schema["column"][:known.get("first", len(rows[0]))]
        self.train, self.test, toml = folder / "train.csv", folder / "test.csv", folder / "schema.toml"
        text = [f"row_norm = {min(schema['row_norm'], (len(columns) - 1) ** 0.5)}", "header = false"]
        for i, column in enumerate(columns):
            kind = "target" if column["name"] == known["target"] else "numeric"
            text.append(f'[[column]]\nname = "{column["name"]}"\nkind = "{kind}"\n'
                        f'lower = {column["lower"]}\nupper = {column["upper"]}')
            if kind == "target":
                place, middle = i, (column["lower"] + column["upper"]) / 2
        toml.write_text("\n".join(text), encoding="utf-8")
        split = {self.train: [row for i, row in enumerate(rows) if i % 5], self.test: rows[::5]}
        for path, part in split.items():
            path.write_text("".join(",".join(row[:len(columns)]) + "\n" for row in part), encoding="utf-8")
        self.zeros = statistics.fmean((float(row[place]) - middle) ** 2 for row in split[self.test])
        self.about = f"{name}, {known['target']} from {len(columns) - 1} numbers, {len(split[self.train])} records"
        self.known = ["--schema", str(toml), "--delta", "1e-5", "--adjacency", "replace-one"]

    def command(self, *words):
        done = subprocess.run([self.args.reticent, *map(str, words), "--json"], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def one(self, algorithm, epsilon, seed):
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            self.command("fit", self.train, *self.known, "--algorithm", algorithm, "--loss", "squared",
                         "--epsilon", epsilon, "--seed", seed, "--out", out)
            return self.command("evaluate", out, self.test)["rmse"] ** 2 / self.zeros

    def table(self):
        print(f"**{self.about}**; {self.args.seeds} seeds\n")
        print("| algorithm | " + " | ".join(f"ε = {epsilon:g}" for epsilon in EPSILONS) + " |")
        print("|" + " --- |" * (len(EPSILONS) + 1), flush=True)
        above = []
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            for algorithm in ALGORITHMS:
                asked = [[pool.submit(self.one, algorithm, epsilon, seed) for seed in range(1, self.args.seeds + 1)]
                         for epsilon in EPSILONS]
                cells = []
                for epsilon, runs in zip(EPSILONS, asked):
                    found = [run.result() for run in runs]
                    mean, error = statistics.fmean(found), statistics.stdev(found) / len(found) ** 0.5
                    cells.append(f"{mean:.3f} ± {error:.3f}")
                    above += [f"{self.about}: {algorithm}, ε = {epsilon:g}: {mean:.3f}"] if mean > WORST else []
                print(f"| {algorithm} | " + " | ".join(cells) + " |", flush=True)
        print()
        return above


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", dest="data", default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time; each has threads of its own")
    args = parser.parse_args()
    if not args.data:
        print("skipped: no data; give --data-dir DIR or set RETICENT_DATA")
        return
    args.data = pathlib.Path(args.data)
    above = []
    for name in args.sets.split(","):
        if not (args.data / SETS[name]["file"]).exists():
            print(f"skipped: {name}, as {SETS[name]['file']} is not there\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            above += Regression(name, args, pathlib.Path(folder)).table()
    for cell in above:
        print(f"worse than zeros: {cell}")
    sys.exit(1 if above else 0)


if __name__ == "__main__":
    main()
