"""What a pass over a table in shards costs beyond its arithmetic: requests, answers and their checks.

    python3 python/ray_cluster.py --target target/debug --venv target/ray-venv --bench      (Ray, in a namespace)
    python3 benches/shards.py --engine processes                                            (processes alone)
    python3 benches/shards.py --rows 4000000                                                (whole passes, in 1, 4 and 16 processes)

A table of few rows and d columns, so that arithmetic is next to nothing; the median over the passes of a fit by dp-sgd, taken
where the driver asks. The aim: at most 10 ms at d = 10,000 with 4 shards on 2 cores.
"""

import argparse
import os
import pathlib
import resource
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


def large(folder, rows, columns, files):
    """A CSV table in files, of lines that are repeated within each."""
    rng = np.random.default_rng(2)
    names = [f"c{j}" for j in range(columns)]
    made = []
    for k in range(files):
        values = rng.integers(0, 10_000, size=(2_000, columns))
        lines = "".join(",".join(map(str, row)) + (",yes\n" if row[0] > 5_000 else ",no\n") for row in values.tolist())
        file = folder / f"{k}.csv"
        with open(file, "w") as out:
            out.write(",".join([*names, "y"]) + "\n")
            for _ in range(rows // files // 2_000):
                out.write(lines)
        made.append(file)
    numeric = "".join(f'[[column]]\nname = "{name}"\nkind = "numeric"\nlower = 0\nupper = 10000\n' for name in names)
    target = '[[column]]\nname = "y"\nkind = "target"\nclasses = ["no", "yes"]\n'
    schema = folder / "schema.toml"
    schema.write_text(f"row_norm = 1\n{numeric}{target}")
    return made, schema


def fitted(files, schema, count, passes):
    """The engine of a fit that is over, its seconds, and the processor seconds of its workers."""
    estimator = PrivateLogisticRegression(
        epsilon=1.0, delta=1e-6, schema=schema, algorithm="dp-sgd", settings={"iterations": passes}
    )
    engine = timed(shards.Processes)
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shards.fit(estimator, [files[k::count] for k in range(count)], engine=engine)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return engine, time.perf_counter() - began, busy


def whole_passes(rows, columns, passes, counts):
    """A pass over a table of some size, and what it takes to get there. Processor seconds are those of the workers: they
    hold on a busy machine too."""
    with tempfile.TemporaryDirectory() as folder:
        files, schema = large(pathlib.Path(folder), rows, columns, max(counts))
        size = sum(file.stat().st_size for file in files)
        print(f"{rows:,} records of {columns} columns, {size / 1e6:,.0f} MB of CSV, {os.cpu_count()} processors")
        for count in counts:
            _, _, few = fitted(files, schema, count, 2)
            engine, whole, many = fitted(files, schema, count, passes)
            seconds = sorted(one for one, _, _ in engine.taken[2:])
            each = (many - few) / (passes - 2)
            print(f"{count:>3} shards: {1e3 * statistics.median(seconds):7.1f} ms a pass (fastest {1e3 * seconds[0]:.1f}, of processors "
                  f"{1e3 * each:.1f}); {whole - sum(seconds):.1f} s to start and to read, of processors {few - 2 * each:.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", choices=["ray", "processes", "both"], default="both")
    parser.add_argument("--passes", type=int, default=60)
    parser.add_argument("--rows", type=int, help="measure whole passes over so many records instead")
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 4, 16], help="how many, with --rows")
    given = parser.parse_args()
    if given.rows is not None:
        return whole_passes(given.rows, 100, given.passes, given.shards)
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
