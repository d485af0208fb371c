"""docs/benchmark.md: private models of others beside those of Reticent, on public tables.

    make bench-utility RETICENT_DATA=DIR
    python benches/benchmark.py --data-dir DIR --results FILE [--reticent PATH] [--tables adult,bio] [--seeds 10] [--write PAGE]
    python benches/benchmark.py --results FILE --write docs/benchmark.md [--edition docs/benchmark.md]

It needs an environment with interpret-core 0.7.8, diffprivlib 0.6.6, scikit-learn < 1.7 and pyarrow, which `make
bench-utility` makes. Every run adds a line to the results file, and one that is there is not done again, unless it is ours and
of another version: a benchmark that was stopped goes on, with `--budget` it stops by itself, and without data the page is made
of what is there. `--edition PAGE` takes the figures of methods of others that have no run from an edition of the page, so that a new
version of ours (`--methods 'Reticent;Reticent, `--curves auto`'`) is compared without the days that others take. Beside the files that it knows, DIR may have folders of your own, each with a `table.csv` and its
`schema.toml` (numbers with bounds, categories, and a number or two classes as the target). Tables are read once and kept in the folder of `--prepared`, which is enough on a machine that has neither the files nor pyarrow. A table whose file
is not in DIR is skipped with a message. Each method runs at the adjacency that it is proven for, with the same bounds and row
norm.
"""

import argparse
import functools
import json
import multiprocessing
import os
import pathlib
import subprocess
import tempfile
import time
import warnings

# Before NumPy is loaded: runs are side by side, each on one core.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from compared import page  # noqa: E402
from compared.methods import CURVES, EBM, LINEAR, METHODS, SETTINGS, Runs  # noqa: E402
from compared.tables import TABLES, Table, declared, folders  # noqa: E402

EPSILONS = [0.1, 0.4, 1.0, 4.0]


def identity(line):
    return line["table"], line["method"], line["setting"], line["epsilon"], line["seed"], line.get("version")


def plan(facts, version, args):
    """All runs, those first that the others are compared with; seed by seed, so that what is cut short is even."""
    first = [name for name in ("adult", "housing", "covtype", "bio") if name in facts]
    last = [name for name in facts if name not in first]
    anchors, others = (LINEAR, CURVES, EBM), [name for name in METHODS if name not in (LINEAR, CURVES, EBM)]
    runs = []
    for tables, methods in ((first, anchors), (last, anchors), ([*first, *last], others)):
        for seed in range(1, args.seeds + 1):
            # The largest first, so that the last to end is a short one.
            for table in sorted(tables, key=lambda name: -facts[name]["train"] * facts[name]["columns"]):
                for method in methods:
                    kinds = METHODS[method][1]
                    if kinds[0 if facts[table]["metric"] == "r2" else 1] and (not args.methods or method in args.methods):
                        ours = {"version": version} if method in (LINEAR, CURVES) else {}
                        runs += [{"table": table, "method": method, "setting": setting, "epsilon": epsilon, "seed": seed, **ours}
                                 for epsilon in args.epsilons for setting in range(len(SETTINGS) if method == EBM else 1)]
    return runs


@functools.lru_cache(maxsize=None)
def runs_of(folder, reticent):
    warnings.filterwarnings("ignore")
    return Runs(pathlib.Path(folder), reticent)


def perform(task):
    """One run, in a process of the pool."""
    run, folder, reticent, deadline = task
    if time.monotonic() > deadline:
        return None
    begun = time.monotonic()
    try:
        found = METHODS[run["method"]][2](runs_of(folder, reticent), run["epsilon"], run["seed"], deadline, run["setting"])
    except Exception as error:  # noqa: BLE001: a method that breaks down is a result of the benchmark
        if time.monotonic() > deadline:
            return None
        found = {"failed": f"{type(error).__name__}: {error}"[:300]}
    return {**run, **found, "seconds": round(time.monotonic() - begun, 3)}


def prepare(task):
    """The table in its folder, with the files that `reticent` reads; None where its own files are not there."""
    name, data, folder = task
    if not (folder / "table.json").exists():
        if name in TABLES:
            files, read = TABLES[name]
            if not data or any(not (data / file).exists() for file in files):
                return None
            read(data).save(folder)
        elif name in folders(data):
            declared(folders(data)[name]).save(folder)
        else:
            return None
    table = Table.load(folder)
    if not (folder / "schema.toml").exists():
        table.write(folder)
    return table.facts()


def measure(args, prepared, results):
    deadline = time.monotonic() + (args.budget or 1e6)
    with multiprocessing.Pool(args.jobs) as pool:
        made = pool.map(prepare, [(name, args.data, prepared / name) for name in args.tables], chunksize=1)
        facts = {name: fact for name, fact in zip(args.tables, made) if fact}
        for name in args.tables:
            if name not in facts:
                files = ", ".join(TABLES[name][0]) if name in TABLES else f"a folder {name} with table.csv and schema.toml"
                print(f"skipped: {name}, as {files} is not there")
        known, done = page.read(results)
        with open(results, "a", encoding="utf-8") as file:
            for name, fact in facts.items():
                if known.get(name) != fact:
                    file.write(json.dumps({"table": name, "facts": fact}, ensure_ascii=False) + "\n")
            have = {identity(line) for line in done}
            program = str(pathlib.Path(args.reticent).resolve())
            version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
            left = [run for run in plan(facts, version, args) if identity(run) not in have]
            follow(pool, [(run, str(prepared / run["table"]), program, deadline) for run in left], deadline, file)


def follow(pool, tasks, deadline, file):
    """Writes each result when it is there, and ends the pool at the deadline."""
    begun, ended, count = time.monotonic(), pool.imap_unordered(perform, tasks), 0
    try:
        for _ in tasks:
            # A moment more than the runs have, so that a program that one of them started is ended by it.
            found = ended.next(timeout=max(0.1, deadline + 3 - time.monotonic()))
            if found:
                count += 1
                file.write(json.dumps(found, ensure_ascii=False) + "\n")
                file.flush()
                if count % 50 == 0:
                    print(f"{count} of {len(tasks)} runs, {time.monotonic() - begun:.0f} s", flush=True)
    except multiprocessing.TimeoutError:
        pool.terminate()
    print(f"{count} of {len(tasks)} runs done in {time.monotonic() - begun:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", dest="data", type=pathlib.Path, default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--prepared", type=pathlib.Path, help="a folder for tables that were read [default: one that is deleted]")
    parser.add_argument("--results", type=pathlib.Path, default="target/benchmark.jsonl", help="a line for each run; what it has is not run again")
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--tables", type=lambda text: text.split(","), help="of all tables, these")
    parser.add_argument("--methods", type=lambda text: text.split(";"), help="of all methods, these, with ; between them")
    parser.add_argument("--epsilons", type=lambda text: [float(word) for word in text.split(",")], default=EPSILONS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time [default: one for each core]")
    parser.add_argument("--budget", type=float, help="stop after this many seconds")
    parser.add_argument("--edition", type=pathlib.Path, help="a page whose figures stand for methods of others that have no run")
    parser.add_argument("--write", type=pathlib.Path, help="the page to write")
    args = parser.parse_args()
    args.data = args.data and pathlib.Path(args.data)
    every = [*TABLES, *(name for name in folders(args.data) if name not in TABLES)]
    args.tables = args.tables or every
    if args.data or args.prepared:
        args.results.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            measure(args, args.prepared or pathlib.Path(folder), args.results)
    elif not args.results.exists():
        print("skipped: no data; give --data-dir DIR or set RETICENT_DATA")
        return
    if args.write:
        args.write.write_text(page.text(args.results, every, args.epsilons, args.edition), encoding="utf-8")


if __name__ == "__main__":
    main()
