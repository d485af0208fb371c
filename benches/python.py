"""The Python package, measured where it is installed: import, size, small fits, and a fit against the command line's.

    make bench-python

The wheel of `make wheel`, installed with scikit-learn and pyarrow. The command line reads the same table from Parquet;
its time is that of the whole command, and beside it stands what of a fit from NumPy is spent outside the library.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import reticent
from reticent import PrivateLogisticRegression, _reticent


def best(run, times=5):
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begun)
    return min(taken)


def importing():
    code = "import time; t = time.perf_counter(); import reticent; print(time.perf_counter() - t)"
    runs = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(7)]
    print(f"import reticent            {statistics.median(runs):8.3f} s   (promised: below 0.3)")


def size():
    folder = pathlib.Path(reticent.__file__).parent
    total = sum(path.stat().st_size for path in folder.glob("**/*") if "__pycache__" not in path.parts)
    print(f"installed                  {total / 1e6:8.1f} MB  (promised: below 30)")


def small(count=1000):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(100, 3))
    y = (X[:, 0] > 0).astype(int)
    model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1])
    begun = time.perf_counter()
    for _ in range(count):
        model.fit(X, y)
    print(f"{count} fits of 100 × 3       {count / (time.perf_counter() - begun):8.0f} /s  (promised: 500)")


def large(command, rows=200_000, columns=50):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(rows, columns))
    y = (X[:, 0] > 0).astype(int)
    model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1])
    whole = best(lambda: model.fit(X, y))
    table, schema, codes = model._prepared(X, y)
    request = model._request(schema, False, None)
    inside = best(lambda: _reticent.fit(request, table.x, y=codes))
    print(f"fit of {rows} × {columns}         {whole:8.3f} s   of which {100 * (whole / inside - 1):.1f} % outside the library")
    if command is None:
        return
    import pyarrow
    import pyarrow.parquet

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        names = [str(i + 1) for i in range(columns)]
        columns = {name: X[:, i] for i, name in enumerate(names)}
        pyarrow.parquet.write_table(pyarrow.table({**columns, "target": y}), folder / "table.parquet")
        (folder / "schema.toml").write_text(schema.to_toml())
        arguments = ["fit", "table.parquet", "--schema", "schema.toml", "--epsilon", "1", "--delta", "1e-6",
                     "--penalty", "l2:1e-3", "--out", "model"]
        command = [pathlib.Path(command).resolve(), *arguments]
        taken = best(lambda: subprocess.run(command, cwd=folder, check=True, capture_output=True), 3)
        print(f"the same by the command    {taken:8.3f} s   reading included")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reticent")
    given = parser.parse_args()
    importing()
    size()
    small()
    large(given.reticent)
