"""The Python package in a fresh virtual environment, as a user installs it, and its tests there.

    python3 python/test.py --target target/debug --venv target/python-venv [--keep] [--oldest] [pytest's arguments]

The wheel is packed from what cargo has built. The tests run with the newest scikit-learn that there is for this Python; with
--oldest, scikit-learn's own checks and the tests of what it wraps around an estimator run with the oldest that is supported.
What pip cannot get is skipped, and it says so.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

from pack import pack

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = ["matplotlib", "mypy", "numpy", "pandas", "polars", "pyarrow", "pytest", "scikit-learn", "scipy"]
# Each brings what cannot be had everywhere; where it is missing, the tests that need it are skipped.
OPTIONAL = ["pyright[nodejs]", "imbalanced-learn"]
OLDEST = ["numpy<2.3", "pytest", "scikit-learn==1.5.*", "scipy<1.16"]


def environment(folder, libraries, wheel, keep):
    """A virtual environment with these libraries and the wheel; None where pip cannot get them."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (keep and python.exists()):
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        got = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *libraries])
        if got.returncode != 0:
            return None
        kept = subprocess.run([python, "-m", "pip", "freeze"], capture_output=True, text=True, check=True).stdout
        (folder / "kept.txt").write_text(kept)
        for one in OPTIONAL:
            # Not at the price of an older scikit-learn.
            options = ["--quiet", "--disable-pip-version-check", "--constraint", folder / "kept.txt"]
            subprocess.run([python, "-m", "pip", "install", *options, one])
    install = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall", wheel]
    subprocess.run([python, "-m", "pip", *install], check=True)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", type=pathlib.Path, required=True)
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    parser.add_argument("--keep", action="store_true", help="use environments that are there")
    parser.add_argument("--oldest", action="store_true", help="with the oldest supported scikit-learn")
    given, rest = parser.parse_known_args()
    if sys.version_info < (3, 10):
        print("skipped: the Python package, because it needs Python 3.10 and this is older")
        return 0
    names = ["lib_reticent.so", "lib_reticent.dylib", "_reticent.dll"]
    library = next(given.target / name for name in names if (given.target / name).exists())
    wheel = pack(library, given.target / "wheels")
    command = given.target.resolve() / ("reticent.exe" if os.name == "nt" else "reticent")
    variables = {**os.environ, **({"RETICENT": str(command)} if command.exists() else {})}
    # Not from beside the sources, which would be found first: what is tested is what is installed.
    variables.pop("PYTHONPATH", None)

    def tests(python, *arguments):
        command = [python, "-m", "pytest", "-c", HERE / "pyproject.toml", *(arguments or ["."])]
        return subprocess.run(command, cwd=HERE / "tests", env=variables).returncode

    if given.oldest:
        python = environment(given.venv.absolute(), OLDEST, wheel, given.keep)
        if python is None:
            print("skipped: the oldest scikit-learn, because there is none for this Python")
            return 0
        return tests(python, *(rest or ["test_conformance.py", "test_transforming.py", "test_wrappers.py"]))
    python = environment(given.venv.absolute(), LIBRARIES, wheel, given.keep)
    if python is None:
        print("skipped: the Python package, because pip cannot get what its tests need")
        return 0
    return tests(python, *rest)


if __name__ == "__main__":
    sys.exit(main())
