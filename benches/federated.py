"""What trust costs between ten parties: federated ADMM on a9a, accuracy on a9a.t.

    python3 benches/federated.py --data-dir DIR [--reticent PATH] [--seeds 3]

DIR (or RETICENT_DATA) holds a9a.xz and a9a.t.xz. The rows are dealt out evenly to ten parties, 3256 each; replace-one,
delta = 1e-5, 100 rounds. Whole commands are run: `reticent simulate` and `reticent evaluate`.
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
TRUSTS = ["central", "secure-aggregation", "local"]

JOB = """
data = "train.libsvm"
features = 123
row-norm = 3.75
out = "out"
algorithm = "federated"
iterations = 100
epsilon = {epsilon}
delta = 1e-5
unit = "record"
seed = {seed}
[parties]
split = 10
trust = "{trust}"
"""


def score(reticent, folder, **job):
    (folder / "job.toml").write_text(JOB.format(**job), encoding="utf-8")
    subprocess.run([reticent, "simulate", folder / "job.toml", "--json"], check=True, capture_output=True)
    command = [reticent, "evaluate", folder / "out", folder / "test.libsvm", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["accuracy"]


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
        print("| trust | " + " | ".join(f"ε = {epsilon:g}" for epsilon in EPSILONS) + " |")
        print("|" + " --- |" * (len(EPSILONS) + 1))
        for trust in TRUSTS:
            cells = [statistics.fmean(score(args.reticent, folder, trust=trust, epsilon=epsilon, seed=seed)
                                      for seed in range(1, args.seeds + 1)) for epsilon in EPSILONS]
            print(f"| {trust} | " + " | ".join(f"{cell:.4f}" for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
