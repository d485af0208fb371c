"""What trust costs between ten parties, on a9a: accuracy and log loss on a9a.t.

    python3 benches/federated.py --data-dir DIR [--reticent PATH] [--seeds 3] [--only auto] [--jobs 2] [--epsilons 0.1,1]

DIR (or RETICENT_DATA) holds a9a.xz and a9a.t.xz. The rows are dealt out evenly to ten parties, 3256 each; replace-one,
delta = 1e-5; `federated` (FP23) with 100 rounds under each trust, `dp-admm` (DPA19) with its defaults, `auto` under each
trust, `auto` on the pooled table with as much noise as a sum between parties has, and on the records of one
party alone. Whole commands are run: `reticent simulate` or
`reticent fit`, and `reticent evaluate`. First (`--only bits` for this alone) the models of `auto` with `trust = "central"` are
compared with those of the pooled table with the same seeds, coefficient by coefficient, bit for bit.

The ε that the noise of a sum amounts to is `reticent account`'s, of the certificate's events with the noise that the
sum has: √(m/(T − c)) times what is counted behind masks (ten members, T = 8, c = 2), √m locally.
"""

import argparse
import concurrent.futures
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
    ("dp-admm, local", "train", "algorithm = \"dp-admm\"\n", BETWEEN.format("local")),
]

# Rows of the pooled table at the ε that the noise of a sum between ten parties amounts to, and that noise over what is counted.
AS_NOISY = [("secure-aggregation", math.sqrt(10 / 6)), ("local", math.sqrt(10))]

JOB = """
data = "{folder}/{data}.libsvm"
features = 123
row-norm = 3.75
out = "{out}/out"
epsilon = {epsilon}
delta = 1e-5
unit = "record"
seed = {seed}
{keys}{parties}"""


def run(reticent, folder, **job):
    """A run in a folder of its own, which is its answer."""
    out = pathlib.Path(tempfile.mkdtemp(dir=folder))
    (out / "job.toml").write_text(JOB.format(folder=folder, out=out, **job), encoding="utf-8")
    command = ["simulate"] if job["parties"] else ["fit", "--spec"]
    subprocess.run([reticent, *command, out / "job.toml", "--json"], check=True, capture_output=True)
    return out / "out"


def noise_of(mechanism):
    """The noise of a Gaussian event, or of one that costs as much, where a record is replaced by another."""
    return mechanism["noise_multiplier"] if mechanism["kind"] == "gaussian" else math.sqrt(2 / mechanism["rho"])


def amounts_to(reticent, folder, trust, excess, epsilon):
    """The ε of one table with the noise that a sum between parties has at this ε."""
    out = run(reticent, folder, data="train", keys="algorithm = \"auto\"\n", parties=BETWEEN.format(trust), epsilon=epsilon, seed=0)
    entries = json.loads((out / "certificate.json").read_text())["ledger"]["entries"]
    for entry in entries:
        noise = excess * noise_of(entry["event"]["mechanism"])
        entry["event"]["mechanism"] = {"kind": "gaussian", "noise_multiplier": noise}
        entry["event"]["view"] = "central"
    (out / "ledger.json").write_text(json.dumps({"version": 1, "entries": entries, "taints": []}))
    command = [reticent, "account", "--ledger", out / "ledger.json", "--delta", "1e-5", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["epsilon"]["upper"]


def score(reticent, folder, **job):
    out = run(reticent, folder, **job)
    command = [reticent, "evaluate", out, folder / "test.libsvm", "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found["accuracy"], found["log_loss"]


def coefficients(out):
    """Every number of a model, by its bits."""
    model = json.loads((out / "model.json").read_text())
    weights = [weight for each in model["coefficients"] for weight in each["values"]]
    return [float(number).hex() for number in [*weights, *(model["intercept"] or [])]]


def bits(args, folder, pool):
    """Whether the model of parties who trust the server is that of the pooled table."""
    keys = "algorithm = \"auto\"\n"
    asked = {}
    for epsilon in args.epsilons:
        for seed in range(args.seeds):
            for parties in (BETWEEN.format("central"), ""):
                job = {"data": "train", "keys": keys, "parties": parties, "epsilon": epsilon, "seed": seed}
                asked[epsilon, seed, parties] = pool.submit(run, args.reticent, folder, **job)
    for epsilon in args.epsilons:
        differ = 0
        for seed in range(args.seeds):
            between, pooled = (coefficients(asked[epsilon, seed, parties].result()) for parties in (BETWEEN.format("central"), ""))
            assert any(float.fromhex(number) for number in pooled) and len(pooled) == len(between)
            differ += between != pooled
        verdict = "the same bits" if not differ else f"{differ} models differ"
        print(f"central and pooled, ε = {epsilon:g}, {args.seeds} seeds: {verdict}", flush=True)
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="rows whose names begin so, or `bits`")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time; each has threads of its own")
    parser.add_argument("--epsilons", type=lambda text: [float(one) for one in text.split(",")], default=EPSILONS)
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
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            if "bits".startswith(args.only):
                bits(args, folder, pool)
            if args.only != "bits":
                table(args, folder, pool)


def table(args, folder, pool):
    rows = [(*row, None) for row in ROWS]
    for trust, excess in AS_NOISY:
        for steps, keys in (("", ""), (", 24 steps", "algorithm = \"auto\"\niterations = 24\n")):
            rows.append((f"auto, pooled with the noise of {trust}{steps}", "train", keys, "", (trust, excess)))
    print("| accuracy / log loss | " + " | ".join(f"ε = {epsilon:g}" for epsilon in args.epsilons) + " |")
    print("|" + " --- |" * (len(args.epsilons) + 1))
    for name, data, keys, parties, noisy in rows:
        if not name.startswith(args.only):
            continue
        cells = []
        for epsilon in args.epsilons:
            amount = amounts_to(args.reticent, folder, *noisy, epsilon) if noisy else epsilon
            job = {"data": data, "keys": keys, "parties": parties, "epsilon": amount}
            cells.append((amount, [pool.submit(score, args.reticent, folder, seed=seed, **job) for seed in range(args.seeds)]))
        said = []
        for amount, found in cells:
            accuracy, log_loss = (statistics.mean(column) for column in zip(*(one.result() for one in found)))
            cell = f"{accuracy:.3f} / {log_loss:.4f}".replace("0.", ".")
            said.append(cell if noisy is None else f"{cell} (ε = {amount:.3f})")
        print(f"| {name} | " + " | ".join(said) + " |", flush=True)


if __name__ == "__main__":
    main()
