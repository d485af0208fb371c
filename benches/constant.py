"""Where `auto` is worse than a constant, and whether `fit` says so before anything is spent: docs/auto.md.

    python3 benches/constant.py [--reticent PATH] [--data-dir DIR] [--tables 'NAME;NAME'] [--epsilons 0.05,0.1,0.2,0.4,1,4]
        [--runs 20] [--half search|kept] [--out FILE.jsonl]

`reticent fit` and `reticent evaluate` are run as a user types them: add-remove, delta = 1e-5, no seed. Every run has a table of its
own, made here or drawn from one of DIR (or RETICENT_DATA; what is not there is skipped by name), and fresh noise, so that standard
errors hold both. A constant knows the share of the classes of the test. Printed for each cell: the mean log loss of ours and of the
constant, two standard errors of the difference, and whether `fit` warned. A cell is worse where the difference is above .01, and
surely where it is by more than two standard errors. `fit` warns of noise (its `outlook` has `noise_dominates`) or of over-fitting
(`over_fitting`). The exit code is 1 where a cell is surely worse and `fit` did not warn. Every other table was kept aside while the warning was chosen (`--half`). `--out` keeps the cells,
one JSON object a line.
"""

import argparse
import json
import lzma
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import tomllib

EPSILONS = "0.05,0.1,0.2,0.4,1,4"
TEST = 3000
WORSE = 0.01
SCHEMA = pathlib.Path(__file__).parent / "schemas" / "covtype.toml"
# A credit has thirteen categories of so many levels, beside seven numbers: 61 columns.
LEVELS = [4, 5, 10, 5, 5, 4, 3, 4, 3, 3, 4, 2, 2]


def classes(draw, scores, share):
    """A class for each score, with the intercept that makes the share."""
    low, high = -40.0, 40.0
    for _ in range(50):
        middle = (low + high) / 2
        if statistics.fmean(1 / (1 + math.exp(-s - middle)) for s in scores) < share:
            low = middle
        else:
            high = middle
    return [draw.random() < 1 / (1 + math.exp(-s - low)) for s in scores]


def table(draw, rows, scores, share, spread):
    """Rows with their classes, where the scores have this spread."""
    mean, deviation = statistics.fmean(scores), statistics.pstdev(scores) or 1.0
    return list(zip(classes(draw, [spread * (s - mean) / deviation for s in scores], share), rows))


def loans(draw, count, share, spread):
    """Seven skewed numbers and thirteen categories, each of which says a little."""
    slopes = [draw.gauss(0, 1) for _ in range(7)]
    weights = [[1 / (k + 1) for k in range(n)] for n in LEVELS]
    effects = [[draw.gauss(0, 0.5) for _ in range(n)] for n in LEVELS]
    rows, scores = [], []
    for _ in range(count):
        row = {j: draw.random() ** 2 for j in range(7)}
        score, at = sum(slope * row[j] for j, slope in enumerate(slopes)), 7
        for size, weight, effect in zip(LEVELS, weights, effects):
            level = draw.choices(range(size), weight)[0]
            row[at + level], at, score = 1, at + size, score + effect[level]
        rows.append(row)
        scores.append(score)
    return table(draw, rows, scores, share, spread)


def factors(draw, count, share, spread, columns=60, few=6):
    """Numbers that hang on a few factors."""
    loads = [[draw.gauss(0, 0.9 ** k) for k in range(few)] for _ in range(columns)]
    rows, scores = [], []
    for _ in range(count):
        factor = [draw.gauss(0, 1) for _ in range(few)]
        rows.append({j: max(-1, min(1, (sum(a * f for a, f in zip(load, factor)) + draw.gauss(0, 0.7)) / 4))
                     for j, load in enumerate(loads)})
        scores.append(factor[0] - factor[1] + factor[few - 1])
    return table(draw, rows, scores, share, spread)


def unrelated(draw, count, share, _, columns=40):
    """Numbers that say nothing."""
    rows = [{j: draw.uniform(-1, 1) for j in range(columns)} for _ in range(count)]
    return table(draw, rows, [0.0] * count, share, 1.0)


def sensors(draw, count, share, spread, columns=22):
    """Numbers around a state of a machine, of which one is rare."""
    slopes = [draw.gauss(0, 1) if j % 3 == 0 else 0.0 for j in range(columns)]
    rows, scores = [], []
    for _ in range(count):
        state = draw.gauss(0, 1)
        row = {j: max(-1, min(1, 0.25 * (draw.gauss(0, 1) + 0.7 * state))) for j in range(columns)}
        rows.append(row)
        scores.append(sum(slope * row[j] for j, slope in enumerate(slopes)))
    return table(draw, rows, scores, share, spread)


def text(draw, count, share, spread, columns=400):
    """Forty words a text, frequent ones first; one in five says something."""
    effects = [draw.gauss(0, 1) if j % 5 == 0 else 0.0 for j in range(columns)]
    grow = math.log(columns / 20 + 1)
    rows, scores = [], []
    for _ in range(count):
        row = {min(int(20 * math.expm1(draw.random() * grow)), columns - 1): 1 for _ in range(40)}
        rows.append(row)
        scores.append(sum(effects[j] for j in row))
    return table(draw, rows, scores, share, spread)


def part(file):
    """A table of DIR in LIBSVM; the smaller label is the second class."""
    def drawn(draw, count, lines):
        head = min(line.split()[0] for line in lines[:1000])
        chosen = draw.sample(lines, min(count + TEST, len(lines)))
        return [(line.split()[0] == head, {int(e.split(":")[0]) - 1: float(e.split(":")[1]) for e in line.split()[1:]})
                for line in chosen]
    return file, drawn


def covtype(draw, count, lines):
    """The first cover type against the others, with the bounds of the schema."""
    columns = [c for c in tomllib.loads(SCHEMA.read_text(encoding="utf-8"))["column"] if c["kind"] == "numeric"]
    found = []
    for line in draw.sample(lines[1:], count + TEST):
        cells = line.strip().split(",")
        row = {j: (float(cell) - c["lower"]) / (c["upper"] - c["lower"]) for j, (cell, c) in enumerate(zip(cells, columns))}
        found.append((cells[-1] == "1", row))
    return found


# name: what makes it, records, columns, share of the rarer class, spread of the scores, bound of the norm of a row. In turn
# for the search and kept aside.
MADE = {
    "loans 15 %, 600": (loans, 600, 61, 0.157, 1.2, 4.0), "loans 12 %, 400": (loans, 400, 61, 0.13, 1.2, 4.0),
    "loans 30 %, 1000": (loans, 1000, 61, 0.3, 1.0, 4.0), "loans 32 %, 750": (loans, 750, 61, 0.32, 1.2, 4.0),
    "loans 30 %, 3000": (loans, 3000, 61, 0.3, 1.0, 4.0), "loans weak 40 %, 400": (loans, 400, 61, 0.4, 0.6, 4.0),
    "loans 20 %, 8000": (loans, 8000, 61, 0.2, 1.2, 4.0), "loans weak 20 %, 2000": (loans, 2000, 61, 0.2, 0.6, 4.0),
    "factors 30 %, 1500": (factors, 1500, 60, 0.3, 0.6, 3.5), "factors 40 %, 600": (factors, 600, 60, 0.4, 1.0, 3.5),
    "factors 20 %, 5000": (factors, 5000, 60, 0.2, 0.6, 3.5), "factors 30 %, 2500": (factors, 2500, 60, 0.3, 1.0, 3.5),
    "no relation, 1000": (unrelated, 1000, 40, 0.5, 0, 3.7), "no relation, 2000": (unrelated, 2000, 40, 0.5, 0, 3.7),
    "no relation, 500": (unrelated, 500, 40, 0.5, 0, 3.7), "no relation, 4000": (unrelated, 4000, 40, 0.3, 0, 3.7),
    "sensors 4 %, 4000": (sensors, 4000, 22, 0.04, 1.5, 1.5), "sensors 10 %, 1000": (sensors, 1000, 22, 0.1, 1.5, 1.5),
    "sensors 10 %, 10000": (sensors, 10000, 22, 0.1, 1.5, 1.5), "sensors 2 %, 3000": (sensors, 3000, 22, 0.02, 1.5, 1.5),
    "text 30 %, 2000": (text, 2000, 400, 0.3, 1.5, 6.4), "text 5 %, 4000": (text, 4000, 400, 0.05, 1.5, 6.4),
    "text 13 %, 6000": (text, 6000, 400, 0.13, 1.5, 6.4), "text 30 %, 8000": (text, 8000, 400, 0.3, 1.0, 6.4),
}
PARTS = {
    "a9a, 400": (part("a9a.xz"), 400, 123, 3.75), "a9a, 750": (part("a9a.xz"), 750, 123, 3.75),
    "a9a, 1500": (part("a9a.xz"), 1500, 123, 3.75), "a9a, 3450": (part("a9a.xz"), 3450, 123, 3.75),
    "mushrooms, 800": (part("mushrooms.xz"), 800, 112, 4.7), "mushrooms, 400": (part("mushrooms.xz"), 400, 112, 4.7),
    "w8a, 4000": (part("w8a.xz"), 4000, 300, 4.0), "w8a, 8000": (part("w8a.xz"), 8000, 300, 4.0),
    "covtype 1, 1000": (("covtype.csv.xz", covtype), 1000, 54, 3.0), "covtype 1, 3000": (("covtype.csv.xz", covtype), 3000, 54, 3.0),
}
KEPT = {name for made in (MADE, PARTS) for name in list(made)[1::2]}


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for yes, row in rows:
            entries = "".join(f" {j + 1}:{row[j]:.6g}" for j in sorted(row) if row[j] != 0)
            file.write(("+1" if yes else "-1") + entries + "\n")


def shown(command):
    done = subprocess.run([*map(str, command), "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"failed: {command}\n{done.stderr}")
    return json.loads(done.stdout)


def run(args, folder, rows, known):
    """For each ε the loss of a fit above that of a constant, the constant, and what was said before."""
    train, test = rows[:known["records"]], rows[known["records"]:]
    write(folder / "train.libsvm", train)
    write(folder / "test.libsvm", test)
    share = min(max(statistics.fmean(yes for yes, _ in test), 1e-9), 1 - 1e-9)
    constant = -share * math.log(share) - (1 - share) * math.log(1 - share)
    found = {}
    for epsilon in args.epsilons:
        outlook = shown([args.reticent, "fit", folder / "train.libsvm", "--features", known["columns"], "--row-norm", known["norm"],
                         "--epsilon", epsilon, "--delta", "1e-5", "--adjacency", "add-remove", "--public-n", known["records"],
                         "--out", folder / "model", "--force", "--quiet"])["outlook"]
        loss = shown([args.reticent, "evaluate", folder / "model", folder / "test.libsvm"])["log_loss"]
        found[epsilon] = loss - constant, constant, outlook
    return found


def source(args, name, kept):
    """What draws the rows of a run, and what is public of them; None where a file is not there."""
    if name in MADE:
        make, records, columns, share, spread, norm = MADE[name]
        return lambda draw: make(draw, records + TEST, share, spread), dict(records=records, columns=columns, norm=norm)
    (file, drawn), records, columns, norm = PARTS[name]
    if not args.data or not (pathlib.Path(args.data) / file).exists():
        return None
    if file not in kept:
        kept.clear()
        with lzma.open(pathlib.Path(args.data) / file, "rt") as opened:
            kept[file] = [line for line in opened if line.strip()]
    return lambda draw: drawn(draw, records, kept[file]), dict(records=records, columns=columns, norm=norm)


def measure(args, folder, name, kept):
    """The cells of a table, and their lines."""
    found = source(args, name, kept)
    if found is None:
        print(f"skipped: {name}, as its file is not there")
        return []
    draws, known = found
    runs = [run(args, folder, draws(random.Random(f"{name} {i}")), known) for i in range(args.runs)]
    cells = []
    for epsilon in args.epsilons:
        above, constants, outlooks = zip(*(one[epsilon] for one in runs))
        cell = dict(table=name, kept=name in KEPT, epsilon=epsilon, **known, signal=outlooks[0]["signal"],
                    warned=warning(outlooks[0]), above=statistics.fmean(above), constant=statistics.fmean(constants),
                    error=statistics.stdev(above) / len(above) ** 0.5)
        cells.append(cell)
        ours = cell["constant"] + cell["above"]
        print(f"| {name} × {known['columns']} | {epsilon:g} | {ours:.4f} | {cell['constant']:.4f} | {2 * cell['error']:.4f} | "
              f"{cell['warned'] or 'no'} | {verdict(cell)} |", flush=True)
    if args.out:
        with open(args.out, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(cell) + "\n" for cell in cells)
    return cells


def warning(outlook):
    """What `fit` warned of, if anything."""
    return "noise" if outlook["noise_dominates"] else "over-fitting" if outlook.get("over_fitting") else ""


def verdict(cell):
    if cell["above"] <= WORSE:
        return ""
    return "worse" if cell["above"] > WORSE + 2 * cell["error"] else "worse, perhaps"


def summary(cells, half):
    """How many of the warned cells are worse than a constant, and of the others."""
    for warned in ["noise", "over-fitting", ""]:
        those = [cell for cell in cells if cell["warned"] == warned]
        worse = sum(cell["above"] > WORSE for cell in those)
        surely = sum(verdict(cell) == "worse" for cell in those)
        gained = sum(cell["above"] < 0 for cell in those)
        words = f"warned of {warned}" if warned else "not warned"
        print(f"{half}, {words}: of {len(those)} cells {worse} are worse than a constant by more than {WORSE} ({surely} surely), "
              f"{gained} better than it")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--data-dir", dest="data", default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--tables", type=lambda names: names.split(";"), help="of all tables these, with a semicolon between")
    parser.add_argument("--epsilons", type=lambda text: [float(word) for word in text.split(",")], default=EPSILONS)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--half", choices=["search", "kept"])
    parser.add_argument("--out")
    args = parser.parse_args()
    names = [name for name in args.tables or [*MADE, *PARTS] if args.half in (None, "kept" if name in KEPT else "search")]
    cells, kept = [], {}
    print("| table (records × columns) | ε | ours | a constant | two standard errors | warned | |\n| --- | --- | --- | --- | --- | --- | --- |")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            cells += measure(args, pathlib.Path(folder), name, kept)
    print()
    summary([cell for cell in cells if not cell["kept"]], "searched on")
    summary([cell for cell in cells if cell["kept"]], "kept aside")
    missed = [cell for cell in cells if verdict(cell) == "worse" and not cell["warned"]]
    for cell in missed:
        print(f"not warned, and surely worse than a constant: {cell['table']} at ε = {cell['epsilon']:g}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
