"""How fast tables are read and how much memory that takes, as ratios within one run.

    python3 benches/reading.py --measure target/release/examples/measure [--reticent target/release/reticent]

`measure` is `cargo build --release -p reticent-data --example measure`. Promised: CSV at 150 MB/s a core or more; memory of
reading, and of `fit`, at most 1.2 times the encoded table and 50 MB; wide tables in seconds.
"""

import argparse
import os
import random
import re
import resource
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


def measure(program, file, schema_file):
    said = subprocess.run([program, file, schema_file], check=True, capture_output=True, text=True).stdout
    seconds, encoded = float(re.search(r"in ([\d.]+) s", said)[1]), float(re.search(r"table ([\d.]+) MB", said)[1])
    peak = int(re.search(r"VmHWM:\s+(\d+)", said)[1]) * 1024 / 1e6
    return seconds, encoded, peak


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
            seconds, encoded, peak = measure(given.measure, file, description)
            size = os.path.getsize(file) / 1e6
            share = (peak - 50) / encoded
            print(f"CSV, {name:15} {size:5.0f} MB at {size / seconds:4.0f} MB/s (promised 150); "
                  f"peak less 50 MB is {share:.2f} of the table (promised 1.2)")
            if given.reticent and digits == 2:
                start, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
                line = ["fit", file, "--schema", description, "--epsilon", "1", "--delta", "1e-9", "--out"]
                subprocess.run([given.reticent, *line, str(Path(folder, "m"))], check=True, capture_output=True)
                peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
                share = (peak - 50) / encoded
                print(f"fit  of that table in {time.time() - start:.1f} s; peak less 50 MB is {share:.2f} of the table "
                      f"(promised 1.2; {'measured' if peak * 1e6 > before * 1024 else 'hidden by an earlier run'})")
        for columns in [40_000, 1_000_000]:
            table(file, 1000, 1, 0)
            header = ",".join(f"x{j}" for j in range(columns)) + ",y\n"
            Path(file).write_text(header + ("1," * columns + "1\n") * 3)
            Path(description).write_text(schema(columns))
            seconds, _, peak = measure(given.measure, file, description)
            print(f"{columns} columns, 3 records: {seconds:.2f} s without the schema, peak {peak:.0f} MB")


if __name__ == "__main__":
    main()
