"""How fast tables are read and how much memory that takes, as ratios within one run.

    python3 benches/reading.py --measure target/release/examples/measure [--reticent target/release/reticent]

`measure` is `cargo build --release -p reticent-data --example measure`. Promised: CSV at 150 MB/s a core or more; memory of
reading, and of `fit`, at most 1.2 times the encoded table and 50 MB; wide tables in seconds. Rates are of processor seconds,
which a busy machine changes less than the time on the wall; both are printed.
"""

import argparse
import os
import random
import re
import subprocess
import tempfile
import time
from pathlib import Path


def schema(columns, kind="kind = 'numeric'\nlower = 0\nupper = 1000\n"):
    text = "row_norm = 1\n" + "".join(f"[[column]]\nname = 'x{j}'\n{kind}" for j in range(columns))
    return text + "[[column]]\nname = 'y'\nkind = 'target'\nclasses = [0, 1]\n"


def table(path, rows, columns, digits):
    random.seed(1)
    number = lambda: f"{random.uniform(0, 1000):.{digits}f}"
    lines = [",".join(number() for _ in range(columns)) + f",{i % 2}\n" for i in range(1000)]
    with open(path, "w") as out:
        out.write(",".join(f"x{j}" for j in range(columns)) + ",y\n")
        for i in range(rows // 1000):
            out.writelines(lines)


def run(command, threads):
    """Wall seconds, processor seconds and peak megabytes of a command, and what it says."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             env={**os.environ, "RAYON_NUM_THREADS": str(threads)})
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"failed: {command}")
    return time.monotonic() - start, used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss / 1e6, said


def measure(program, file, schema_file, threads):
    wall, cpu, peak, said = run([program, file, schema_file], threads)
    return wall, cpu, peak, float(re.search(r"table ([\d.]+) MB", said)[1])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--measure", required=True)
    arguments.add_argument("--reticent")
    arguments.add_argument("--megabytes", type=int, default=200)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file, description = str(Path(folder, "t.csv")), str(Path(folder, "s.toml"))
        for name, columns, digits in [("whole numbers", 40, 0), ("two decimals", 40, 2), ("fifteen digits", 40, 12)]:
            rows = given.megabytes * 1_000_000 // (columns * (5 + digits)) // 1000 * 1000
            table(file, rows, columns, digits)
            Path(description).write_text(schema(columns))
            size = os.path.getsize(file) / 1e6
            for threads in [1, 2]:
                wall, cpu, peak, encoded = measure(given.measure, file, description, threads)
                print(f"CSV, {name:15} {size:5.0f} MB, {threads} thread(s): {size / cpu:4.0f} MB per processor second "
                      f"(promised 150), {size / wall:4.0f} MB/s on the wall; "
                      f"peak {peak:.0f} MB, promised {1.2 * encoded + 50:.0f}")
            if given.reticent and digits == 2:
                line = ["fit", file, "--schema", description, "--epsilon", "1", "--delta", "1e-9", "--out"]
                wall, cpu, peak, _ = run([given.reticent, *line, str(Path(folder, "m"))], 2)
                print(f"fit of that table: {wall:.1f} s on the wall, {cpu:.1f} processor seconds; "
                      f"peak {peak:.0f} MB, promised {1.2 * encoded + 50:.0f}")
        for columns in [40_000, 1_000_000]:
            header = ",".join(f"x{j}" for j in range(columns)) + ",y\n"
            Path(file).write_text(header + ("1," * columns + "1\n") * 3)
            Path(description).write_text(schema(columns))
            wall, cpu, peak, _ = measure(given.measure, file, description, 2)
            print(f"{columns} columns, 3 records, with the schema: {cpu:.2f} processor seconds, {wall:.2f} s on the wall, "
                  f"peak {peak:.0f} MB")


if __name__ == "__main__":
    main()
