"""Whether peers on a graph should bother: their models beside the pooled fit and beside what each has alone, on a9a.

    python3 benches/graphs.py --data-dir DIR [--reticent PATH] [--seeds 3] [--jobs 2] [--peers 10,50] [--algorithms r-admm]
        [--graphs ring,complete] [--set "iterations = 20"] [--no-references]

DIR (or RETICENT_DATA) holds a9a.xz and a9a.t.xz. The rows are dealt out evenly to the peers; records are protected, replace-one,
delta = 1e-5; every algorithm with its own defaults, or with the keys of `--set`. A walk needs the complete graph, and has `trust = "local"`,
where records are protected. Log loss and accuracy on a9a.t of the model that a
run writes, mean over seeds. A cell whose log loss is above that of a peer alone is marked with an asterisk. Whole commands are run:
`reticent simulate` or `reticent fit`, and `reticent evaluate`.
"""

import argparse
import concurrent.futures
import json
import lzma
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

EPSILONS = [0.1, 1.0, 4.0]
GRAPHS = ["ring", "grid", "erdos-renyi:0.3", "complete"]
ALGORITHMS = ["r-admm", "mr-admm", "dvp", "m-admm", "walk"]
# Of what is not for every graph: the graph, and what else is said of the parties.
WALKS = {"walk": ("complete", 'trust = "local"\n')}

JOB = """
data = "{data}"
features = 123
row-norm = 3.75
out = "{out}/model"
epsilon = {epsilon}
delta = 1e-5
unit = "record"
seed = {seed}
{keys}
"""


class Graphs:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.train, self.test = folder / "train.libsvm", folder / "test.libsvm"
        for path, packed in [(self.train, "a9a.xz"), (self.test, "a9a.t.xz")]:
            path.write_bytes(lzma.open(args.data / packed).read())

    def one(self, data, epsilon, seed, keys):
        """Log loss and accuracy of one run; None where it is refused."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            job = pathlib.Path(out) / "job.toml"
            job.write_text(JOB.format(data=data, out=out, epsilon=epsilon, seed=seed, keys=keys), encoding="utf-8")
            command = ["simulate", job] if "[parties]" in keys else ["fit", "--spec", job]
            done = subprocess.run([self.args.reticent, *command, "--json"], capture_output=True, text=True, check=False)
            if done.returncode:
                print(done.stderr.strip().splitlines()[:1], file=sys.stderr)
                return None
            command = [self.args.reticent, "evaluate", f"{out}/model", self.test, "--json"]
            found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            return found["log_loss"], found["accuracy"]

    def asked(self, pool, data, keys):
        return [[pool.submit(self.one, data, epsilon, seed, keys) for seed in range(1, self.args.seeds + 1)]
                for epsilon in EPSILONS]

    def table(self, peers):
        alone = self.folder / f"alone-{peers}.libsvm"
        alone.write_bytes(b"".join(self.train.read_bytes().splitlines(keepends=True)[::peers]))
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            rows = []
            if self.args.references:
                rows += [("pooled, `auto`", self.asked(pool, self.train, "")), ("a peer alone, `auto`", self.asked(pool, alone, ""))]
            for algorithm in self.args.algorithms:
                only, more = WALKS.get(algorithm, (None, ""))
                for graph in [only] if only else self.args.graphs:
                    parties = f'[parties]\nsplit = {peers}\ntopology = "{graph}"\n{more}'
                    keys = f'algorithm = "{algorithm}"\n{self.args.set}\n{parties}'
                    rows.append((f"`{algorithm}`, {graph}", self.asked(pool, self.train, keys)))
            print(f"{peers} peers, log loss / accuracy, {self.args.seeds} seeds\n")
            print("| | " + " | ".join(f"ε = {epsilon:g}" for epsilon in EPSILONS) + " |")
            print("|" + " --- |" * (len(EPSILONS) + 1))
            limit = None
            for name, runs in rows:
                means = [self.mean([run.result() for run in cell]) for cell in runs]
                limit = [mean and mean[0] for mean in means] if "alone" in name else limit
                marks = [mean and limit and "peer" not in name and mean[0] > most for mean, most in zip(means, limit or EPSILONS)]
                cells = [f"{mean[0]:.3f} / {mean[1]:.3f}".replace("0.", ".") + " *" * bool(mark) if mean else "refused"
                         for mean, mark in zip(means, marks)]
                print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
            print()

    def mean(self, found):
        return None if None in found else [statistics.fmean(column) for column in zip(*found)]


def main():
    words = lambda text: text.split(",")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", dest="data", default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time; each has threads of its own")
    parser.add_argument("--peers", type=words, default=["10", "50"])
    parser.add_argument("--graphs", type=words, default=GRAPHS)
    parser.add_argument("--algorithms", type=words, default=ALGORITHMS)
    parser.add_argument("--no-references", dest="references", action="store_false", help="no pooled fit, and no peer alone")
    parser.add_argument("--set", default="", help="keys of a job, for all algorithms")
    args = parser.parse_args()
    args.data = args.data and pathlib.Path(args.data)
    if not args.data or not all((args.data / name).exists() for name in ("a9a.xz", "a9a.t.xz")):
        print("skipped: no data; give --data-dir DIR or set RETICENT_DATA, with a9a.xz and a9a.t.xz in it")
        return
    args.set = args.set.replace(";", "\n")
    with tempfile.TemporaryDirectory() as folder:
        graphs = Graphs(args, pathlib.Path(folder))
        for peers in args.peers:
            graphs.table(int(peers))


if __name__ == "__main__":
    main()
