"""How good and how dear `auto` is with many columns, in coordinates of its own and in those of the table: docs/auto.md.

    python3 benches/columns.py --reticent target/release/reticent [--venv DIR] [--columns 500,1500,2000] [--rows 20000] [--epsilons 4] [--seeds 3]

Two kinds of made-up tables of so many records and 5,000 test rows: columns that follow from 40 factors, and columns that are 0 or 1 and mostly
0. With several numbers of rows it says as well by what power of them the time grows, which is to be 1 (`--columns 50 --rows
50000,200000,800000 --seeds 1`). The generator has numpy, in a virtual environment as benches/wide.py has it. Printed: log loss and AUC on the test rows, processor seconds of
a fit with reading, and its peak. `--precondition` says in which coordinates.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import wide

MAKE = r"""
import sys
import numpy as np
columns, kind, folder, rows = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
test = 5_000
random = np.random.default_rng(columns)
if kind == "factors":
    weights = random.normal(size=(40, columns)) * (0.9 ** np.arange(40))[:, None]
    x = random.normal(size=(rows + test, 40)) @ weights + random.normal(size=(rows + test, columns)) * 0.7
    x = np.clip(np.round(x / x.std(0) * 1.8 + 4.5), 0, 9).astype(np.int8)
else:
    share = 0.3 / (1 + np.arange(columns)) ** 0.6 + 0.004
    x = (random.random((rows + test, columns)) < share).astype(np.int8)
truth = random.normal(size=columns) * (random.random(columns) < 0.3)
score = (x - x.mean(0)) @ truth
y = random.random(rows + test) < 1 / (1 + np.exp(-3 * score / score.std()))
for name, part in [("train", slice(0, rows)), ("test", slice(rows, None))]:
    both = np.concatenate([x[part], y[part, None].astype(np.int8)], 1) + 48
    text = np.full((len(both), 2 * (columns + 1)), ord(","), np.uint8)
    text[:, 0::2], text[:, -1] = both, ord("\n")
    with open(f"{folder}/{name}.csv", "wb") as out:
        out.write((",".join(f"x{j}" for j in range(columns)) + ",y\n").encode() + text.tobytes())
"""


def schema(columns, kind):
    top, share = (9, 0.45) if kind == "factors" else (1, 1)
    text = f"row_norm = {share * columns ** 0.5:.1f}\n"
    text += "".join(f"[[column]]\nname = 'x{j}'\nkind = 'numeric'\nlower = 0\nupper = {top}\n" for j in range(columns))
    return text + "[[column]]\nname = 'y'\nkind = 'target'\nclasses = [0, 1]\n"


def found(said, name):
    """The first number of this name, however deep it lies."""
    if isinstance(said, dict):
        inner = (found(value, name) for value in said.values())
        return said[name] if name in said else next((value for value in inner if value is not None), None)
    return None


def fit(given, folder, epsilon, seed, share):
    command = [given.reticent, "fit", "train.csv", "--schema", "s.toml", "--epsilon", epsilon, "--delta", "1e-6", "--seed", str(seed),
               "--precondition", share, "--out", "m", "--force", "--quiet"]
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"failed: {command}")
    said = subprocess.run([given.reticent, "evaluate", "m", "test.csv", "--json", "--quiet"], cwd=folder, check=True,
                          capture_output=True, text=True).stdout
    measured = json.loads(said)
    return [found(measured, "log_loss"), found(measured, "auc"), used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss / 1e6]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", required=True)
    parser.add_argument("--venv", default=str(wide.ROOT / "target" / "bench-venv"))
    parser.add_argument("--columns", default="500,1500,2000")
    parser.add_argument("--rows", type=lambda text: [int(word) for word in text.split(",")], default=[20_000])
    parser.add_argument("--epsilons", default="4")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    given.reticent = str(Path(given.reticent).resolve())
    python = wide.numpy_at(given.venv)
    for columns in map(int, given.columns.split(",")):
        for kind in ["factors", "rare"]:
            spent = [measure(given, python, columns, kind, rows) for rows in given.rows]
            for name in spent[0] if len(given.rows) > 1 else []:
                least, most = spent[0][name], spent[-1][name]
                power = math.log(most / least) / math.log(given.rows[-1] / given.rows[0])
                print(f"{columns} columns, {kind}, coordinates {name}: the time of a fit grows with the rows to the power of {power:.2f}")


def measure(given, python, columns, kind, rows):
    """All fits on one table, and the processor seconds of the last epsilon by coordinates."""
    spent = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-c", MAKE, str(columns), kind, folder, str(rows)], check=True)
        Path(folder, "s.toml").write_text(schema(columns, kind))
        for epsilon in given.epsilons.split(","):
            for share, name in [("0.1", "its own"), ("0", "the table's")]:
                runs = [fit(given, folder, epsilon, seed + 1, share) for seed in range(given.seeds)]
                loss, auc, seconds, peak = (sum(run[k] for run in runs) / len(runs) for k in range(4))
                spent[name] = seconds
                print(f"{rows} × {columns}, {kind}, epsilon {epsilon}, coordinates {name}: log loss {loss:.4f}, AUC {auc:.4f}, "
                      f"{seconds:.1f} processor seconds, {peak:.0f} MB", flush=True)
    return spent


if __name__ == "__main__":
    main()
