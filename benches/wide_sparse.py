"""A wide and sparse table: `stagewise`, whose steps touch the records of one column, beside `dp-fw`, whose steps touch all of it.

    python3 benches/wide_sparse.py [--reticent PATH] [--rows 100000] [--columns 1000000] [--entries 100]
        [--algorithms stagewise,dp-fw] [--epsilon 1] [--seed 1] [--set NAME=VALUE] [--folder DIR]

Makes a LIBSVM table of words that are there or not, frequent ones first as in a text, of which one in seven among the first
2,000 says something about the class, and another one of 20,000 rows for the test. Runs `reticent fit`, add-remove,
delta = 1e-6, and prints for each algorithm the seconds of the whole command, those of the processors, its peak memory, and AUC
and log loss on the test, beside the log loss of a constant that knows the share of the test. `--folder` keeps the tables and
uses them again. Generated tables are the same for the same numbers; nothing of them is from people. Linux.

Goal, at these numbers or less: `stagewise` in under 120 seconds and 2,000 MB (`--seconds`, `--memory`), on two cores; the exit code
is 1 where it misses one of them, or fails.
"""

import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

TEST = 20_000


def words(count, columns, chance):
    """Columns of a row: the frequency of column j goes with 1/(j + 50)."""
    grow = math.log(columns / 50 + 1)
    return sorted({min(int(50 * math.expm1(chance() * grow)), columns - 1) for _ in range(count)})


def make(path, rows, columns, entries, seed):
    """A table; the scores of its classes come from few of the columns."""
    draw = random.Random(seed)
    weight = {j: 1.0 if i % 2 == 0 else -1.0 for i, j in enumerate(range(3, min(2000, columns), 7))}
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(rows):
            row = words(entries, columns, draw.random)
            score = sum(weight.get(j, 0.0) for j in row) - 1.0
            label = "+1" if draw.random() < 1 / (1 + math.exp(-score)) else "-1"
            file.write(label + "".join(f" {j + 1}:1" for j in row) + "\n")


def constant(path):
    """The log loss of the share of the first class."""
    with open(path, encoding="utf-8") as file:
        labels = [line.startswith("+") for line in file]
    share = sum(labels) / len(labels)
    return -share * math.log(share) - (1 - share) * math.log(1 - share)


def measured(command):
    """Seconds, those of the processors, the peak memory in MB, the exit code, and what was said."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen([str(word) for word in command], stdout=said, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        spent = usage.ru_utime + usage.ru_stime
        return time.monotonic() - start, spent, usage.ru_maxrss / 1024, process.returncode, said.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=1_000_000)
    parser.add_argument("--entries", type=int, default=100)
    parser.add_argument("--algorithms", default="stagewise,dp-fw")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a further flag of each fit")
    parser.add_argument("--folder")
    parser.add_argument("--seconds", type=float, default=120, help="what `stagewise` may take")
    parser.add_argument("--memory", type=float, default=2000, help="its peak, in MB")
    args = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory() as other:
        folder = pathlib.Path(args.folder or other)
        sizes = (args.columns, args.entries)
        train, test = (folder / f"{part}-{rows}-{args.columns}-{args.entries}.libsvm"
                       for part, rows in [("train", args.rows), ("test", TEST)])
        for path, rows, seed in [(train, args.rows, 1), (test, TEST, 2)]:
            if not path.exists():
                make(path, rows, *sizes, seed)
        print(f"{args.rows} rows × {args.columns} columns, at most {args.entries} entries a row; ε = {args.epsilon}; a constant "
              f"has a log loss of {constant(test):.4f}\n", flush=True)
        print("| algorithm | seconds | of processors | peak MB | AUC | log loss |\n| --- | --- | --- | --- | --- | --- |", flush=True)
        flags = [word for given in args.set for word in ("--" + given.split("=")[0], given.split("=", 1)[1])]
        for algorithm in args.algorithms.split(","):
            out = folder / f"model-{algorithm}"
            seconds, spent, peak, code, said = measured([
                args.reticent, "fit", train, "--features", args.columns, "--row-norm", math.sqrt(args.entries), "--epsilon",
                args.epsilon, "--delta", "1e-6", "--adjacency", "add-remove", "--public-n", args.rows, "--algorithm", algorithm,
                "--seed", args.seed, "--out", out, "--force", *flags])
            if algorithm == "stagewise" and (code != 0 or seconds > args.seconds or peak > args.memory):
                missed.append(f"`stagewise` is to take at most {args.seconds:.0f} seconds and {args.memory:.0f} MB: it took "
                              f"{seconds:.0f} and {peak:.0f}" + (", and failed" if code != 0 else ""))
            if code != 0:
                print(f"| `{algorithm}` | {seconds:.0f} | {spent:.0f} | {peak:.0f} | – | – |\n\n{said}", flush=True)
                continue
            told = subprocess.run([args.reticent, "evaluate", out, test, "--json"], capture_output=True, text=True, check=True)
            quality = json.loads(told.stdout)
            print(f"| `{algorithm}` | {seconds:.1f} | {spent:.1f} | {peak:.0f} | {quality['auc']:.4f} | "
                  f"{quality['log_loss']:.4f} |", flush=True)
    print("".join(f"\n{words}" for words in missed), flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
