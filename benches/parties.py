"""Seconds of runs between many parties in one process, of 10 records with 100 columns each.

    python3 benches/parties.py [--reticent PATH] [--iterations 24] [--only central]

A generated table is dealt to 10,000 parties who entrust their sums to the server (`trust = central`), and to 1,000 behind
masks (`trust = secure-aggregation`). `dp-sgd` asks for one sum of 100 gradients a round. Whole commands are run, reading and
writing included, once; the promise is at most 10 and 150 seconds on two free cores.
"""

import argparse
import pathlib
import random
import resource
import subprocess
import tempfile
import time

COLUMNS = 100
EACH = 10
RUNS = [("central", 10_000, 10), ("secure-aggregation", 1_000, 150)]

JOB = """
data = "{rows}.csv"
out = "out"
epsilon = 1
delta = 1e-6
unit = "record"
seed = 1
algorithm = "dp-sgd"
iterations = {iterations}
schema = "schema.toml"
[parties]
split = {parties}
trust = "{trust}"
"""


def write_table(folder, rows):
    """Numbers between 0 and 1, and a class that follows from the first two."""
    draw = random.Random(rows)
    names = [f"x{j}" for j in range(COLUMNS)]
    with open(folder / f"{rows}.csv", "w", encoding="ascii") as file:
        file.write(",".join([*names, "y"]) + "\n")
        for _ in range(rows):
            numbers = [draw.random() for _ in names]
            file.write(",".join(f"{x:.3f}" for x in numbers) + f",{int(numbers[0] > numbers[1])}\n")
    columns = "".join(f'[[column]]\nname = "{name}"\nkind = "numeric"\nlower = 0\nupper = 1\n' for name in names)
    target = '[[column]]\nname = "y"\nkind = "target"\nclasses = ["0", "1"]\n'
    (folder / "schema.toml").write_text(f"row_norm = 5\n{columns}{target}", encoding="ascii")


def spent():
    """Processor seconds of the commands so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--iterations", type=int, default=24)
    parser.add_argument("--only", choices=[trust for trust, _, _ in RUNS])
    args = parser.parse_args()
    program = str(pathlib.Path(args.reticent).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for trust, parties, promised in RUNS:
            if args.only not in (None, trust):
                continue
            write_table(folder, parties * EACH)
            job = JOB.format(rows=parties * EACH, parties=parties, trust=trust, iterations=args.iterations)
            (folder / "job.toml").write_text(job, encoding="utf-8")
            start, before = time.monotonic(), spent()
            done = subprocess.run([program, "simulate", "job.toml", "--json", "--force"], cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(done.stderr)
            print(
                f"{trust}, {parties:,} parties of {EACH} records, {args.iterations} rounds: "
                f"{time.monotonic() - start:.1f} s (promised {promised}), {spent() - before:.1f} processor seconds",
                flush=True,
            )


if __name__ == "__main__":
    main()
