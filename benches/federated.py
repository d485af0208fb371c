"""What trust costs between ten parties, on a9a: accuracy and log loss on a9a.t.

    python3 benches/federated.py --data-dir DIR [--reticent PATH] [--seeds 3] [--only auto]

DIR (or RETICENT_DATA) holds a9a.xz and a9a.t.xz. The rows are dealt out evenly to ten parties, 3256 each; replace-one,
delta = 1e-5; `federated` (FP23) with 100 rounds under each trust, `auto` under each trust (with `central` it has the
bits of the pooled fit), `auto` on the pooled table with as much noise as a sum between parties has, and on the records of one
party alone. Whole commands are run: `reticent simulate` or
`reticent fit`, and `reticent evaluate`.

The ε that the noise of a sum amounts to is `reticent account`'s, of the certificate's events with the noise that the
sum has: √(m/(T − c)) times what is counted behind masks (ten members, T = 8, c = 2), √m locally.
"""

import argparse
import json
import lzma
import math
import os
import pathlib
import statistics
import subprocess
import tempfile

EPSILONS = [0.1, 0.4, 1.0, 4.0]
FEDERATED = "algorithm = \"federated\"\niterations = 100\n"
BETWEEN = "[parties]\nsplit = 10\ntrust = \"{}\"\n"
# What a row is called, the table, the keys of the job, and who takes part.
ROWS = [
    *(
        (f"auto, {trust}", "train", "algorithm = \"auto\"\n", BETWEEN.format(trust))
        for trust in ("central", "secure-aggregation", "local")
    ),
    ("auto, pooled", "train", "", ""),
    ("auto, pooled, 24 steps", "train", "algorithm = \"auto\"\niterations = 24\n", ""),
    ("auto, one party alone", "one", "", ""),
    *((f"federated, {trust}", "train", FEDERATED, BETWEEN.format(trust)) for trust in ("central", "secure-aggregation", "local")),
]

# Rows of the pooled table at the ε that the noise of a sum between ten parties amounts to, and that noise over what is counted.
AS_NOISY = [("secure-aggregation", math.sqrt(10 / 6)), ("local", math.sqrt(10))]

JOB = """
data = "{data}.libsvm"
features = 123
row-norm = 3.75
out = "out"
epsilon = {epsilon}
delta = 1e-5
unit = "record"
seed = {seed}
{keys}{parties}"""


def run(reticent, folder, **job):
    (folder / "job.toml").write_text(JOB.format(**job), encoding="utf-8")
    command = ["simulate"] if job["parties"] else ["fit", "--spec"]
    subprocess.run([reticent, *command, folder / "job.toml", "--json", "--force"], check=True, capture_output=True)


def noise_of(mechanism):
    """The noise of a Gaussian event, or of one that costs as much, where a record is replaced by another."""
    return mechanism["noise_multiplier"] if mechanism["kind"] == "gaussian" else math.sqrt(2 / mechanism["rho"])


def amounts_to(reticent, folder, trust, excess, epsilon):
    """The ε of one table with the noise that a sum between parties has at this ε."""
    run(reticent, folder, data="train", keys="algorithm = \"auto\"\n", parties=BETWEEN.format(trust), epsilon=epsilon, seed=0)
    entries = json.loads((folder / "out" / "certificate.json").read_text())["ledger"]["entries"]
    for entry in entries:
        noise = excess * noise_of(entry["event"]["mechanism"])
        entry["event"]["mechanism"] = {"kind": "gaussian", "noise_multiplier": noise}
        entry["event"]["view"] = "central"
    (folder / "ledger.json").write_text(json.dumps({"version": 1, "entries": entries, "taints": []}))
    command = [reticent, "account", "--ledger", folder / "ledger.json", "--delta", "1e-5", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["epsilon"]["upper"]


def score(reticent, folder, **job):
    run(reticent, folder, **job)
    command = [reticent, "evaluate", folder / "out", folder / "test.libsvm", "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found["accuracy"], found["log_loss"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="rows whose names begin so")
    args = parser.parse_args()
    files = {"train.libsvm": "a9a.xz", "test.libsvm": "a9a.t.xz"}
    if not args.data_dir or not all((pathlib.Path(args.data_dir) / name).exists() for name in files.values()):
        print("skipped: no data; give --data-dir DIR or set RETICENT_DATA, with a9a.xz and a9a.t.xz in it")
        return
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, packed in files.items():
            (folder / name).write_bytes(lzma.open(pathlib.Path(args.data_dir) / packed).read())
        lines = (folder / "train.libsvm").read_bytes().splitlines(keepends=True)
        (folder / "one.libsvm").write_bytes(b"".join(lines[::10]))
        print("| accuracy / log loss | " + " | ".join(f"ε = {epsilon:g}" for epsilon in EPSILONS) + " |")
        print("|" + " --- |" * (len(EPSILONS) + 1))
        rows = [(*row, None) for row in ROWS]
        for trust, excess in AS_NOISY:
            for steps, keys in (("", ""), (", 24 steps", "algorithm = \"auto\"\niterations = 24\n")):
                rows.append((f"auto, pooled with the noise of {trust}{steps}", "train", keys, "", (trust, excess)))
        for name, data, keys, parties, noisy in rows:
            if not name.startswith(args.only):
                continue
            cells = []
            for epsilon in EPSILONS:
                amount = amounts_to(args.reticent, folder, *noisy, epsilon) if noisy else epsilon
                job = {"data": data, "keys": keys, "parties": parties, "epsilon": amount}
                found = [score(args.reticent, folder, seed=seed, **job) for seed in range(args.seeds)]
                accuracy, log_loss = (statistics.mean(column) for column in zip(*found))
                cell = f"{accuracy:.3f} / {log_loss:.4f}".replace("0.", ".")
                cells.append(cell if noisy is None else f"{cell} (ε = {amount:.3f})")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
