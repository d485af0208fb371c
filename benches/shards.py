"""What a pass over a table in shards costs beyond its arithmetic: requests, answers and their checks.

    python3 python/ray_cluster.py --target target/debug --venv target/ray-venv --bench      (Ray, in a namespace)
    python3 benches/shards.py --engine processes                                            (processes alone)

A table of few rows and d columns, so that arithmetic is next to nothing; the median over the passes of a fit by dp-sgd, taken
where the driver asks. The aim: at most 10 ms at d = 10,000 with 4 shards on 2 cores.
"""

import argparse
import pathlib
import statistics
import tempfile
import time
import warnings

import numpy as np

from reticent import PrivateLogisticRegression, shards


def timed(engine_class, **options):
    """An engine that notes how long each question took, with what went and came."""

    class Timed(engine_class):
        def ask(self, requests):
            began = time.perf_counter()
            said = super().ask(requests)
            self.taken.append((time.perf_counter() - began, len(requests[0][1]), len(said[0])))
            return said

    engine = Timed(**options)
    engine.taken = []
    return engine


def table(folder, columns, rows=16):
    """A LIBSVM file of rows with a value in every column."""
    rng = np.random.default_rng(1)
    file = folder / f"{columns}.svm"
    with open(file, "w") as out:
        for i in range(rows):
            values = " ".join(f"{j + 1}:{value:.3f}" for j, value in enumerate(rng.uniform(-1, 1, columns)))
            out.write(f"{'1' if i % 2 else '-1'} {values}\n")
    schema = folder / f"{columns}.toml"
    target = '[[column]]\nname = "label"\nkind = "target"\nclasses = [-1, 1]\n'
    schema.write_text(f"row_norm = 1.0\nfeatures = {columns}\n{target}")
    return file, schema


def measure(make, columns, count, passes):
    with tempfile.TemporaryDirectory() as folder:
        file, schema = table(pathlib.Path(folder), columns)
        settings = {"iterations": passes}
        estimator = PrivateLogisticRegression(
            epsilon=1.0, delta=1e-6, schema=schema, algorithm="dp-sgd", settings=settings
        )
        engine = make()
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shards.fit(estimator, file, shards=count, engine=engine)
        whole = time.perf_counter() - began
    # The first two enrol.
    taken = engine.taken[2:]
    seconds = sorted(one for one, _, _ in taken)
    sent, came = taken[-1][1:]
    print(f"d = {columns:>7,}  {count} shards  {1e3 * statistics.median(seconds):6.1f} ms a pass (median of {len(seconds)}, "
          f"fastest {1e3 * seconds[0]:.1f}, p90 {1e3 * seconds[int(0.9 * len(seconds))]:.1f}), {sent:,} bytes to and {came:,} from a shard; "
          f"{whole:.1f} s in all", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", choices=["ray", "processes", "both"], default="both")
    parser.add_argument("--passes", type=int, default=60)
    given = parser.parse_args()
    if given.engine != "ray":
        print("processes")
        for columns, count in [(100, 4), (10_000, 2), (10_000, 4), (100_000, 4)]:
            measure(lambda: timed(shards.Processes), columns, count, given.passes)
    if given.engine != "processes":
        from reticent import ray as cluster

        cluster.connect()
        print("ray")
        for columns, count in [(100, 4), (10_000, 2), (10_000, 4), (100_000, 4)]:
            measure(lambda: timed(cluster.Actors, num_cpus=0.25), columns, count, given.passes)


if __name__ == "__main__":
    main()
