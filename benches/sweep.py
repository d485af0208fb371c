"""What many models cost that share a table: `reticent sweep` with 1 run and with 50, on sparse and on dense rows.

    python3 benches/sweep.py --data-dir DIR [--reticent PATH] [--rows N]

DIR (or RETICENT_DATA) holds a9a.xz; without it that table is skipped with a message. The dense table is made up:
200,000 rows of 100 columns. Each figure is a ratio within one run of this script: the wall time of 50 models over that of
one, reading and calibrating included, which may be at most 10.
"""

import argparse
import os
import pathlib
import random
import subprocess
import tempfile
import time

MODELS, MOST = 50, 10.0


def dense(folder, rows, columns=100):
    """A table of two classes, and its schema."""
    draw = random.Random(1)
    pool = [f"{draw.uniform(-1, 1):.3f}" for _ in range(10007)]
    with open(folder / "dense.csv", "w") as file:
        file.write(",".join(f"x{j}" for j in range(columns)) + ",y\n")
        for i in range(rows):
            start = draw.randrange(len(pool) - columns)
            cells = pool[start:start + columns]
            file.write(",".join(cells) + (",yes\n" if float(cells[0]) + float(cells[1]) > 0 else ",no\n"))
    lines = ["row_norm = 4"]
    for j in range(columns):
        lines += ["[[column]]", f'name = "x{j}"', 'kind = "numeric"', "lower = -1", "upper = 1"]
    lines += ["[[column]]", 'name = "y"', 'kind = "target"', 'classes = ["no", "yes"]']
    (folder / "dense.toml").write_text("\n".join(lines))
    return ['data = "dense.csv"', 'schema = "dense.toml"']


def seconds(reticent, folder, keys, models):
    """The wall time of a sweep of so many models."""
    epsilons = [0.1, 0.3, 1.0, 3.0, 10.0][:models]
    seeds = list(range(1, models // len(epsilons) + 1))
    job = keys + ["delta = 1e-6", 'penalty = "l2:1e-4"', 'algorithm = "dp-sgd"', "iterations = 100", "[sweep]"]
    job += [f"epsilon = {epsilons}", f"seeds = {seeds}"]
    (folder / "job.toml").write_text("\n".join(job))
    out = folder / f"out-{models}-{time.monotonic_ns()}"
    start = time.monotonic()
    command = [reticent, "sweep", folder / "job.toml", "--public-data", "--out", out, "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def main():
    """One figure for each table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    reticent = pathlib.Path(given.reticent).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tables = {f"dense, {given.rows} x 100": dense(folder, given.rows)}
        a9a = given.data_dir and pathlib.Path(given.data_dir).resolve() / "a9a.xz"
        if a9a and a9a.exists():
            tables["a9a"] = [f'data = "{a9a}"', 'format = "libsvm"', "features = 123", "row_norm = 3.75"]
        else:
            print("a9a.xz is not there: skipped")
        for table, keys in tables.items():
            one = min(seconds(reticent, folder, keys, 1) for _ in range(given.repeats))
            many = min(seconds(reticent, folder, keys, MODELS) for _ in range(given.repeats))
            said = "ok" if many <= MOST * one else "TOO SLOW"
            print(f"{table}: 1 model {one:.2f} s, {MODELS} models {many:.2f} s, {many / one:.1f} times as long ({said})")


if __name__ == "__main__":
    main()
