"""How many passes `auto` needs: its loss after 16, 24, 32 and 48 steps, beside that of the 32 that it takes (docs/auto.md).

    python3 benches/passes.py --data-dir DIR [--reticent PATH] [--sets a9a,w8a] [--steps 16,24,32,48] [--epsilons 0.1,0.4,1] [--seeds 3]

Tables, schemas and splits are those of benches/utility.py. Each number of steps has the same seeds, and what is printed beside the loss
of 32 is the mean of the differences with its standard error: the noise of a seed is then in both. Losses are log losses, and 1 − R² where
the target is a number. They do not depend on what else the machine does.
"""

import argparse
import os
import pathlib
import statistics
import tempfile

import utility

USUAL = 32


def losses(bench, epsilon, steps):
    """The loss of every seed; None where a fit is refused."""
    found = [bench.score(epsilon, seed, ["--algorithm", "auto", "--iterations", steps]) for seed in range(1, bench.seeds + 1)]
    return None if None in found else [bench.loss(quality) for quality in found]


def beside(values, usual):
    """The mean of the differences, with its standard error."""
    if values is None or usual is None:
        return "–"
    differences = [value - other for value, other in zip(values, usual)]
    error = statistics.stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else float("nan")
    return f"{statistics.fmean(differences):+.4f} ± {error:.4f}"


def table(bench, given):
    for epsilon in given.epsilons:
        found = {steps: losses(bench, epsilon, steps) for steps in given.steps}
        usual = found[USUAL]
        level = "–" if usual is None else f"{statistics.fmean(usual):.4f}"
        rest = " | ".join(beside(found[steps], usual) for steps in given.steps if steps != USUAL)
        print(f"| {bench.name}, {bench.count} records, ε = {epsilon:g} | {level} | {rest} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", dest="data", default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--sets", default=",".join(utility.SETS))
    parser.add_argument("--steps", type=lambda text: [int(word) for word in text.split(",")], default=[16, 24, 32, 48])
    parser.add_argument("--epsilons", type=lambda text: [float(word) for word in text.split(",")], default=[0.1, 0.4, 1.0])
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    if not given.data:
        print("skipped: no data; give --data-dir DIR or set RETICENT_DATA")
        return
    given.data, given.steps = pathlib.Path(given.data), sorted({USUAL, *given.steps})
    print(f"| {given.seeds} seeds | {USUAL} steps | " + " | ".join(f"{n} steps" for n in given.steps if n != USUAL) + " |")
    print("|" + " --- |" * (1 + len(given.steps)), flush=True)
    for name in given.sets.split(","):
        if any(not (given.data / file).exists() for file in utility.SETS[name]["files"]):
            print(f"skipped: {name}, whose files are not there")
            continue
        with tempfile.TemporaryDirectory() as folder:
            table(utility.Bench(name, given, folder), given)


if __name__ == "__main__":
    main()
