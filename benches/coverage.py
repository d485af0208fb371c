"""How often the 95 % intervals of `reticent fit --standard-errors` hold the coefficients that made the table.

    python3 benches/coverage.py [--reticent PATH] [--tables 400] [--share 0.3] [--only NAME]

Tables are simulated from known coefficients, one seed each for the table and for the noise, and fitted as a user would:
`reticent fit … --standard-errors SHARE --json`. A line tells the part of the intervals that held, over all coefficients
and for the worst of them, how many tables had none (`hidden`), and the width of an interval over what sampling alone
would give. With 400 tables a part of 95 % has a standard error of about 0.6 % over five coefficients that are nearly
independent, and 1.1 % for one. Nothing is read from real data.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import tempfile

# Two classes (`logistic`) or a number (`squared`): records, numeric columns, epsilon, and further flags.
CASES = {
    "logistic-5000-3-e1": ("logistic", 5000, 3, 1.0, []),
    "logistic-5000-3-e4": ("logistic", 5000, 3, 4.0, []),
    "logistic-20000-3-e1": ("logistic", 20000, 3, 1.0, []),
    "logistic-20000-8-e2": ("logistic", 20000, 8, 2.0, []),
    "logistic-20000-3-e1-add-remove": ("logistic", 20000, 3, 1.0, ["--adjacency", "add-remove", "--public-n", "18000"]),
    "logistic-20000-3-e1-penalty": ("logistic", 20000, 3, 1.0, ["--penalty", "l2:0.01"]),
    "squared-5000-3-e1": ("squared", 5000, 3, 1.0, []),
    "squared-5000-3-e4": ("squared", 5000, 3, 4.0, []),
    "squared-20000-8-e2": ("squared", 20000, 8, 2.0, []),
    "squared-20000-3-e1-add-remove": ("squared", 20000, 3, 1.0, ["--adjacency", "add-remove", "--public-n", "18000"]),
}

CATEGORIES = ["red", "green", "blue"]
BOUNDS = (0.0, 10.0)
RANGE = (-50.0, 50.0)


def norm(columns):
    """A little above the length of most rows: others are drawn again."""
    return math.sqrt(0.45 * columns + 1)


def truth(kind, columns):
    """Per unit of a column, of green and of blue against red, and at zero in red."""
    slopes = [0.35 * (-1) ** j / (1 + j / 2) for j in range(columns)]
    scale = 1.0 if kind == "logistic" else 6.0
    return ([-0.8 * scale if kind == "logistic" else 2.0] + [scale * s for s in slopes] + [0.9 * scale, -0.6 * scale])


def schema(kind, columns, folder):
    text = f"row_norm = {norm(columns):.3f}\n"
    for j in range(columns):
        text += f'[[column]]\nname = "x{j}"\nkind = "numeric"\nlower = {BOUNDS[0]}\nupper = {BOUNDS[1]}\n'
    text += '[[column]]\nname = "colour"\nkind = "categorical"\ncategories = ["red", "green", "blue"]\n'
    text += '[[column]]\nname = "y"\nkind = "target"\n'
    text += 'classes = ["no", "yes"]\n' if kind == "logistic" else f"lower = {RANGE[0]}\nupper = {RANGE[1]}\n"
    (folder / "schema.toml").write_text(text)


def table(kind, rows, columns, seed, path):
    """Rows within the bounds and the row norm; others are drawn again."""
    draw = random.Random(seed)
    coefficients = truth(kind, columns)
    lines = [",".join([f"x{j}" for j in range(columns)] + ["colour", "y"])]
    while len(lines) <= rows:
        x = [draw.uniform(*BOUNDS) for _ in range(columns)]
        if sum(((2 * v - 10) / 10) ** 2 for v in x) + 1 > norm(columns) ** 2:
            continue
        colour = draw.choice(CATEGORIES)
        score = coefficients[0] + sum(b * v for b, v in zip(coefficients[1:], x))
        score += dict(red=0, green=coefficients[-2], blue=coefficients[-1])[colour]
        if kind == "logistic":
            y = "yes" if draw.random() < 1 / (1 + math.exp(-score)) else "no"
        else:
            y = f"{draw.gauss(score, 5.0):.6f}"
        lines.append(",".join([f"{v:.6f}" for v in x] + [colour, y]))
    path.write_text("\n".join(lines) + "\n")


def one(args, name, seed, folder):
    kind, rows, columns, epsilon, flags = CASES[name]
    data, out = folder / f"{name}-{seed}.csv", folder / f"{name}-{seed}"
    table(kind, rows, columns, seed, data)
    command = [args.reticent, "fit", str(data), "--schema", str(folder / "schema.toml"), "--epsilon", str(epsilon),
               "--delta", "1e-6", "--standard-errors", str(args.share), "--seed", str(seed), "--json",
               "--algorithm", args.algorithm, "--out", str(out), *flags]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {ran.stdout} {ran.stderr}")
    data.unlink()
    for file in out.iterdir():
        file.unlink()
    out.rmdir()
    found = json.loads(ran.stdout)["standard_errors"]
    if "hidden" in found:
        return found["hidden"].split("(")[0].strip()
    return [(one["name"], one["estimate"], one["standard_error"]) for one in found["estimates"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--algorithm", default="auto")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    args.reticent = str(pathlib.Path(args.reticent).resolve())
    print("| tables | hidden | covered | worst coefficient | standard error, relative spread | |\n| --- | --- | --- | --- | --- | --- |")
    for name in [name for name in CASES if args.only in name]:
        kind, rows, columns, *_ = CASES[name]
        with tempfile.TemporaryDirectory() as place, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            folder = pathlib.Path(place)
            schema(kind, columns, folder)
            found = list(pool.map(lambda seed: one(args, name, seed, folder), range(1, args.tables + 1)))
        told = [runs for runs in found if not isinstance(runs, str)]
        hidden = len(found) - len(told)
        coefficients = truth(kind, columns)
        held = [[abs(estimate - true) <= 1.959964 * error for (_, estimate, error), true in zip(runs, coefficients)]
                for runs in told]
        if not told:
            print(f"| {name} | {hidden}/{len(found)} | – | – | – | {found[0]} |", flush=True)
            continue
        parts = [statistics.mean(column) for column in zip(*held)]
        # What the estimates spread by over what they say that they do: 1 is honest.
        spread = [statistics.stdev(column) / statistics.mean(errors)
                  for column, errors in zip(zip(*[[e for _, e, _ in runs] for runs in told]),
                                            zip(*[[s for _, _, s in runs] for runs in told]))] if len(told) > 1 else [0]
        worst = min(range(len(parts)), key=lambda j: parts[j])
        print(f"| {name} | {hidden}/{len(found)} | {100 * statistics.mean(parts):.1f} % | {told[0][worst][0]} "
              f"{100 * parts[worst]:.1f} % | {min(spread):.2f}–{max(spread):.2f} | |", flush=True)


if __name__ == "__main__":
    main()
