"""`reticent predict` on two million rows: wall time, processor time and peak memory.

    python3 benches/predict.py [--reticent PATH] [--rows N]

The table is made here: six numbers and two categories, one in twenty values missing, as CSV and, through the program itself
(predictions that keep every column), as Parquet. Promised are a million rows a second on two cores from Parquet, and 100 MB.
"""

import argparse
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

NUMBERS = [f"x{i}" for i in range(6)]
SCHEMA = "row_norm = 2\n" + "".join(
    f'[[column]]\nname = "{name}"\nkind = "numeric"\nlower = -3\nupper = 3\n' for name in NUMBERS
) + """[[column]]
name = "town"
kind = "categorical"
categories = ["north", "south", "east", "west"]
[[column]]
name = "kind"
kind = "categorical"
categories = ["a", "b", "c"]
[[column]]
name = "y"
kind = "target"
classes = ["no", "yes"]
"""


def table(path, rows, draw):
    """Blocks of the same thousand records, so that making it does not take longer than measuring."""
    def line(_):
        fields = ["" if draw.random() < 0.05 else f"{draw.gauss(0, 1.5):.4f}" for _ in NUMBERS]
        fields += [draw.choice(["north", "south", "east", "west", "elsewhere"]), draw.choice("abc")]
        return ",".join(fields + [draw.choice(["no", "yes"])])
    block = "\n".join(map(line, range(1000))) + "\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(NUMBERS + ["town", "kind", "y"]) + "\n")
        for _ in range(rows // 1000):
            file.write(block)


def run(command, **more):
    """Wall seconds, processor seconds and peak bytes of a command, in a process whose children are its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        start = time.monotonic()
        done = subprocess.run(command, check=False, **more)
        wall = time.monotonic() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        line = f"{wall} {used.ru_utime + used.ru_stime} {1024 * used.ru_maxrss} {done.returncode}"
        os.write(writer, line.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        wall, cpu, peak, code = pipe.read().split()
    os.waitpid(child, 0)
    if code != "0":
        raise SystemExit(f"failed: {command}")
    return float(wall), float(cpu), int(peak)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--rows", type=int, default=2_000_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "s.toml").write_text(SCHEMA, encoding="utf-8")
        draw = random.Random(1)
        table(folder / "small.csv", 5000, draw)
        table(folder / "big.csv", args.rows, draw)
        reticent = [args.reticent]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        run(reticent + ["fit", folder / "small.csv", "--schema", folder / "s.toml", "--algorithm", "exact",
                        "--penalty", "l2:1e-3", "--out", folder / "m"], **quiet)
        predict = reticent + ["predict", folder / "m"]
        columns = [word for column in NUMBERS + ["town", "kind"] for word in ("--keep", column)]
        # Numbers of a CSV are texts there, which is the harder table to read.
        run(predict + [folder / "big.csv", "--out", folder / "text.parquet"] + columns, **quiet)
        # In a process of its own: what is measured below starts as a copy of this one.
        convert = ("import sys, pyarrow.csv as c, pyarrow.parquet as p\n"
                   "p.write_table(c.read_csv(sys.argv[1]), sys.argv[2])")
        made = subprocess.run([sys.executable, "-c", convert, folder / "big.csv", folder / "big.parquet"], check=False,
                              **quiet)
        source = "big.parquet" if made.returncode == 0 else "text.parquet"
        if made.returncode != 0:
            print("no pyarrow: the Parquet table has its numbers as text")
        cases = [
            ("Parquet to CSV", [folder / source, "--out", folder / "p.csv", "--force"]),
            ("Parquet to Parquet", [folder / source, "--out", folder / "p.parquet", "--force"]),
            ("Parquet to standard output", [folder / source]),
            ("CSV to standard output", [folder / "big.csv"]),
        ]
        for what, flags in cases:
            wall, cpu, peak = run(predict + flags, **quiet)
            million = args.rows / 1e6
            print(f"{what}: {million / wall:.2f} million rows/s, {cpu / million:.2f} processor seconds per million rows, "
                  f"{peak / 1e6:.0f} MB (promised: 1 million rows/s on two cores from Parquet, 100 MB)")


if __name__ == "__main__":
    main()
