"""The package itself: what it loads, what it exports, its types and its examples."""

import doctest
import importlib
import inspect
import pathlib
import pkgutil
import subprocess
import sys
import warnings

import pytest

import reticent

FOLDER = pathlib.Path(reticent.__file__).parent


def modules():
    names = [module.name for module in pkgutil.iter_modules([str(FOLDER)])]
    return [importlib.import_module(f"reticent.{name}") for name in names] + [reticent]


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_scikit_learn_is_loaded_when_it_is_needed():
    code = "import sys, reticent; print('sklearn' in sys.modules, 'pandas' in sys.modules)"
    assert run(code).stdout.split() == ["False", "False"]
    code = "import sys; from reticent import PrivateRidge; print('sklearn' in sys.modules)"
    assert run(code).stdout.strip() == "True"


def test_everything_that_is_named_is_there_and_documented():
    assert set(dir(reticent)) == set(reticent.__all__)
    for name in reticent.__all__:
        thing = getattr(reticent, name)
        assert inspect.getdoc(thing), name
    with pytest.raises(AttributeError):
        reticent.nothing  # noqa: B018
    assert (FOLDER / "py.typed").exists() and (FOLDER / "_reticent.pyi").exists()


def test_the_examples_run():
    tried = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for module in modules():
            failed, count = doctest.testmod(module)
            assert failed == 0, module
            tried += count
    assert tried > 20


def test_the_types_are_strict(tmp_path):
    pytest.importorskip("mypy")
    use = tmp_path / "use.py"
    use.write_text(
        "import numpy as np\n"
        "from reticent import Budget, Certificate, PrivateLogisticRegression, load\n"
        "budget: Budget = Budget(1.0, 1e-6)\n"
        "model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, bounds=(0, 1), budget=budget)\n"
        "certificate: Certificate = model.certificate_\n"
        "epsilon: float = certificate.epsilon(1e-5)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports",
         "--cache-dir", str(tmp_path / "cache"), "-p", "reticent", str(use)][:-1],
        capture_output=True, text=True, cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports",
         "--cache-dir", str(tmp_path / "cache"), str(use)],
        capture_output=True, text=True, cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout


def test_stubs_name_what_is_there():
    text = (FOLDER / "_reticent.pyi").read_text()
    native = importlib.import_module("reticent._reticent")
    for name in ("Schema", "Certificate", "Model", "Store"):
        own = {n for n in vars(getattr(native, name)) if not n.startswith("_")}
        stub = text.split(f"class {name}:")[1].split("\nclass ")[0].split("\ndef ")[0]
        said = {line.split("def ")[1].split("(")[0] for line in stub.splitlines() if "def " in line}
        assert own == {n for n in said if not n.startswith("_")}, name
