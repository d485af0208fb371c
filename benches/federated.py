"""What trust costs between ten parties, on a9a: accuracy and log loss on a9a.t.

    python3 benches/federated.py --data-dir DIR [--reticent PATH] [--seeds 3]

DIR (or RETICENT_DATA) holds a9a.xz and a9a.t.xz. The rows are dealt out evenly to ten parties, 3256 each; replace-one,
delta = 1e-5; `federated` (FP23) with 100 rounds under each trust, `auto` under each trust (with `central` it has the
bits of the pooled fit), `auto` on the pooled table with as much noise as a sum between parties has, and on the records of one
party alone. Whole commands are run: `reticent simulate` or
`reticent fit`, and `reticent evaluate`.
"""

import argparse
import json
import lzma
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


def score(reticent, folder, **job):
    (folder / "job.toml").write_text(JOB.format(**job), encoding="utf-8")
    command = ["simulate"] if job["parties"] else ["fit", "--spec"]
    subprocess.run([reticent, *command, folder / "job.toml", "--json", "--force"], check=True, capture_output=True)
    command = [reticent, "evaluate", folder / "out", folder / "test.libsvm", "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found["accuracy"], found["log_loss"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--seeds", type=int, default=3)
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
        for name, data, keys, parties in ROWS:
            cells = []
            for epsilon in EPSILONS:
                job = {"data": data, "keys": keys, "parties": parties, "epsilon": epsilon}
                found = [score(args.reticent, folder, seed=seed, **job) for seed in range(args.seeds)]
                accuracy, log_loss = (statistics.mean(column) for column in zip(*found))
                cells.append(f"{accuracy:.3f} / {log_loss:.3f}".replace("0.", "."))
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
