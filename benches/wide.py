"""Wide tables against BLAS: the private second moment and the change of coordinates, as ratios within one run.

    python3 benches/wide.py [--venv DIR] [--records 20000] [--columns 800]

Makes the virtual environment with numpy (and the OpenBLAS that comes with it) if it is not there, builds the Rust side in release
mode, and runs both by turns with one thread and with two. The second moment is compared with XᵀX, for which numpy computes
a triangle as we do, the change of coordinates with XP. What is measured is processor time, the least of several runs.
Promised: at most three times as much.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

THEIRS = r"""
import json, sys, time
import numpy as np
records, columns, runs = map(int, sys.argv[1:])
x = np.random.default_rng(1).random((records, columns)) - .5
p = np.random.default_rng(2).random((columns, columns)) - .5
for what, call in [("moment", lambda: x.T @ x), ("images", lambda: x @ p)]:
    best = [float("inf")] * 2
    for _ in range(runs):
        start = time.process_time(), time.perf_counter()
        call()
        best = [min(best[0], time.process_time() - start[0]), min(best[1], time.perf_counter() - start[1])]
    print(json.dumps({"what": what, "processor": best[0], "wall": best[1]}))
"""


def numpy_at(folder):
    """The Python of a virtual environment that has numpy."""
    python = pathlib.Path(folder) / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode != 0:
        subprocess.run([python, "-m", "pip", "install", "-q", "numpy"], check=True)
    return str(python)


def bench(name):
    """The program of a benchmark of the gate."""
    built = subprocess.run(["cargo", "bench", "--locked", "-q", "-p", "reticent-oracle", "--bench", name, "--no-run",
                            "--message-format", "json"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = [json.loads(line) for line in built.splitlines()]
    return next(m["executable"] for m in found if m.get("executable") and m["target"]["name"] == name)


def said(command, threads):
    """What a program says that has so many threads."""
    variables = {**os.environ, "RAYON_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    return subprocess.run(command, env=variables, check=True, capture_output=True, text=True).stdout


def spent(command, threads):
    """Its seconds, by what they were spent on."""
    return {line["what"]: line for line in map(json.loads, said(command, threads).splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", default=str(ROOT / "target" / "bench-venv"))
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=800)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--wide", help="the benchmark, if it is built already")
    given = parser.parse_args()
    python, ours = numpy_at(given.venv), given.wide or bench("wide")
    sizes = [str(given.records), str(given.columns), str(given.runs)]
    names = {"moment": "second moment, of XᵀX", "images": "change of coordinates, of XP"}
    print(f"{given.records} records × {given.columns} columns")
    for threads in [1, 2]:
        theirs = spent([python, "-c", THEIRS, *sizes], threads)
        mine = spent([ours, *sizes], threads)
        for what, name in names.items():
            own, other = mine[what], theirs[what]
            print(f"{name}, {threads} thread(s): {own['processor'] / other['processor']:.2f} times the processor time "
                  f"(promised 3): {own['processor']:.2f} of {other['processor']:.2f} s; "
                  f"{own['wall']:.2f} of {other['wall']:.2f} s on the wall")


if __name__ == "__main__":
    main()
