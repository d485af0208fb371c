"""When Laplacian smoothing helps: sadmm and vradmm at nu = 0, 2 and 20 on columns with an order and without one (docs/auto.md).

    python3 benches/smoothing.py [--reticent PATH] [--seeds 5]

No files are needed: 5000 records of 100 Gaussian columns, cut to norm 1, with logistic labels, and as many for the test. The
true coefficient is a sum of two waves along the columns, or the same numbers shuffled. Add-remove, delta = 1e-5.
"""

import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import tempfile

COLUMNS, RECORDS = 100, 5000
EPSILONS = [0.2, 0.5, 1.0]


def write(path, truth, rng):
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(RECORDS):
            row = [rng.gauss(0, 1) for _ in range(COLUMNS)]
            norm = max(math.sqrt(COLUMNS), math.hypot(*row))
            row = [value / norm for value in row]
            score = sum(value * weight for value, weight in zip(row, truth))
            label = "+1" if rng.random() < 1 / (1 + math.exp(-score)) else "-1"
            file.write(label + "".join(f" {j}:{value:.6f}" for j, value in enumerate(row, 1)) + "\n")


def command(reticent, *words):
    done = subprocess.run([reticent, *map(str, words), "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def accuracy(reticent, folder, *settings):
    common = ["--features", COLUMNS, "--row-norm", 1, "--delta", 1e-5, "--adjacency", "add-remove"]
    command(reticent, "fit", folder / "train.libsvm", *common, "--public-n", RECORDS, "--out", folder / "model", *settings)
    return command(reticent, "evaluate", folder / "model", folder / "test.libsvm")["accuracy"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    rng = random.Random(5)
    turns = [2 * math.pi * j / COLUMNS for j in range(COLUMNS)]
    ordered = [4 * math.sin(turn) + 3 * math.cos(2 * turn) for turn in turns]
    print("| columns | algorithm | ν | " + " | ".join(f"ε = {epsilon:g}" for epsilon in EPSILONS) + " |")
    print("|" + " --- |" * (len(EPSILONS) + 3))
    for name, truth in ("in order", ordered), ("shuffled", rng.sample(ordered, COLUMNS)):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            write(folder / "train.libsvm", truth, rng)
            write(folder / "test.libsvm", truth, rng)
            for algorithm in "sadmm", "vradmm":
                for nu in 0, 2, 20:
                    cells = []
                    for epsilon in EPSILONS:
                        fit = ["--algorithm", algorithm, "--nu", nu, "--epsilon", epsilon]
                        scores = [accuracy(given.reticent, folder, *fit, "--seed", 1 + i) for i in range(given.seeds)]
                        cells.append(f"{statistics.fmean(scores):.3f}")
                    print(f"| {name} | `{algorithm}` | {nu} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
