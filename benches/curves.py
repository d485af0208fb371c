"""What curves cost in time: a fit with 8 knots beside one with lines, in CPU seconds of the whole command, and as a part of
the ratio of their columns. Goal: at most 1.2 times that ratio.

    python3 benches/curves.py [--reticent PATH] [--records 100000] [--columns 10] [--knots 8] [--runs 3]

The table is made here: numbers from 0 to 1 and a target that depends on two of them. Reading the table is a part of both
commands; `--algorithm` is what the two are fitted by. The ratio is one inside one run, of the least of `--runs` times each.
"""

import argparse
import pathlib
import random
import resource
import subprocess
import sys
import tempfile


def table(folder, records, columns):
    draw = random.Random(5)
    names = [f"x{j}" for j in range(columns)]
    with open(folder / "t.csv", "w", encoding="utf-8") as file:
        file.write(",".join(names + ["y"]) + "\n")
        for _ in range(records):
            row = [draw.random() for _ in names]
            yes = abs(row[0] - 0.5) + 0.3 * row[1] + draw.gauss(0, 0.2) > 0.4
            file.write(",".join(f"{10 * x:.5f}" for x in row) + (",yes\n" if yes else ",no\n"))
    kind = 'kind = "numeric"\nlower = 0\nupper = 10\n'
    text = f"row_norm = {columns ** 0.5 * (1 + 1e-9)}\n" + "".join(f'[[column]]\nname = "{name}"\n{kind}' for name in names)
    (folder / "s.toml").write_text(text + '[[column]]\nname = "y"\nkind = "target"\nclasses = ["no", "yes"]\n', encoding="utf-8")


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--knots", type=int, default=8)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--algorithm", default="auto")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        table(folder, args.records, args.columns)
        fit = [args.reticent, "fit", str(folder / "t.csv"), "--schema", str(folder / "s.toml"), "--epsilon", "1", "--delta",
               "1e-6", "--public-n", str(args.records), "--algorithm", args.algorithm, "--out", str(folder / "m"), "--force", "--quiet"]
        lines = min(seconds(fit + ["--curves", "off"]) for _ in range(args.runs))
        bent = min(seconds(fit + ["--curves", str(args.knots)]) for _ in range(args.runs))
    columns = (args.columns * (args.knots + 1) + 1) / (args.columns + 1)
    print(f"lines {lines:.2f} s, {args.knots} knots {bent:.2f} s of CPU: {bent / lines:.2f} times, columns {columns:.2f} times; "
          f"part {bent / lines / columns:.2f} (goal: at most 1.2)")
    sys.exit(bent / lines > 1.2 * columns)


if __name__ == "__main__":
    main()
