"""The package itself: what it loads, what it exports, its types and its examples."""

import doctest
import importlib
import importlib.util
import inspect
import json
import pathlib
import pkgutil
import re
import subprocess
import sys
import warnings

import pytest

import reticent

FOLDER = pathlib.Path(reticent.__file__).parent


# What callers get, and the type that a checker is to know of it.
REVEALED = {
    "fitted": "PrivateLogisticRegression",
    "fitted.certificate_": "Certificate",
    "fitted.coef_": "numpy.ndarray",
    "fitted.classes_": "numpy.ndarray",
    "fitted.predict([[1, 2]])": "numpy.ndarray",
    "fitted.predict_proba([[1, 2]])": "numpy.ndarray",
    "fitted.decision_function([[1, 2]])": "numpy.ndarray",
    "fitted.score([[1, 2]], [0])": "float",
    "fitted.private_score([[1, 2]], [0], epsilon=1.0, delta=1e-6)": "Evaluation",
    "fitted.private_score([[1, 2]], [0], epsilon=1.0, delta=1e-6).score": "Estimate",
    "fitted.save('model')": "pathlib.Path",
    "fitted.export('onnx')": "bytes",
    "load('model')": "PrivateEstimator",
    "budget.left": "float",
    "reticent.__version__": "str",
    "reticent.PrivateRidge().fit([[1]], [1]).intercept_": "float",
    "reticent.PrivateRidge().fit([[1]], [1])": "PrivateRidge",
    "reticent.PrivateSearchCV(model, {}).fit([[1]], [1])": "PrivateSearchCV",
    "reticent.PrivateSearchCV(model, {}).fit([[1]], [1]).certificate_": "Certificate",
    "reticent.PrivateSearchCV(model, {}).predict([[1]])": "numpy.ndarray",
    "reticent.class_counts([0], classes=[0, 1], epsilon=1, delta=1e-6).counts": "numpy.ndarray",
    "reticent.mean([0], bounds=(0, 1), epsilon=1, delta=1e-6)": "ColumnStatistics",
}


def modules():
    names = [module.name for module in pkgutil.iter_modules([str(FOLDER)])]
    # Of an extra of half a gigabyte, which has tests of its own.
    if importlib.util.find_spec("ray") is None:
        names.remove("ray")
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


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert reticent.__version__ == version("reticent")
    manifest = (pathlib.Path(__file__).resolve().parents[2] / "Cargo.toml").read_text()
    assert f'version = "{reticent.__version__}"' in manifest


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
        "import reticent\n"
        "from reticent import Budget, Certificate, PrivateLogisticRegression, load\n"
        "budget: Budget = Budget(1.0, 1e-6)\n"
        "model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, bounds=(0, 1), budget=budget)\n"
        "certificate: Certificate = model.certificate_\n"
        "epsilon: float = certificate.epsilon(1e-5)\n"
        "fitted = model.fit(np.zeros((9, 2)), np.zeros(9))\n"
        + "".join(f"reveal_type({one})\n" for one in REVEALED)
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
    found = re.findall(r'Revealed type is "(.*)"', done.stdout)
    for (one, wanted), type_ in zip(REVEALED.items(), found, strict=True):
        assert wanted in type_ and type_ != "Any", (one, type_)


def test_the_types_are_those_of_pyright_too(tmp_path):
    pyright = pytest.importorskip("pyright")
    wanted = {"include": [str(FOLDER)], "typeCheckingMode": "standard", "pythonVersion": "3.10",
              "reportMissingModuleSource": "none", "venvPath": "", "stubPath": ""}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(wanted))
    try:
        done = pyright.run("--project", str(tmp_path), "--pythonpath", sys.executable,
                           capture_output=True, text=True)
    except Exception as error:
        pytest.skip(f"pyright has no Node to run on: {type(error).__name__}")
    if done.returncode not in (0, 1):
        pytest.skip("pyright cannot run here")
    assert done.returncode == 0, done.stdout


def test_the_page_of_names_is_current():
    root = pathlib.Path(__file__).resolve().parent.parent
    spec = importlib.util.spec_from_file_location("api", root / "api.py")
    api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(api)
    kept = (root.parent / "docs" / "python-api.md").read_text(encoding="utf-8")
    assert kept == api.page(), "make notebooks writes it anew"


def test_help_has_every_argument_once():
    for name in reticent.__all__:
        thing = getattr(reticent, name)
        if not name.startswith("Private") or not hasattr(thing, "_get_param_names"):
            continue
        text = inspect.getdoc(thing)
        parameters = text.split("Attributes\n----")[0]
        for argument in thing._get_param_names():
            lines = re.findall(rf"^(?:\w+, )?{argument}(?:, \w+)? : ", parameters, re.MULTILINE)
            assert len(lines) == 1, (name, argument)


def test_stubs_name_what_is_there():
    text = (FOLDER / "_reticent.pyi").read_text()
    native = importlib.import_module("reticent._reticent")
    for name in ("Schema", "Certificate", "Model", "Store"):
        own = {n for n in vars(getattr(native, name)) if not n.startswith("_")}
        stub = text.split(f"class {name}:")[1].split("\nclass ")[0].split("\ndef ")[0]
        said = {line.split("def ")[1].split("(")[0] for line in stub.splitlines() if "def " in line}
        assert own == {n for n in said if not n.startswith("_")}, name


def test_the_wheel_says_what_its_extras_need():
    """The wheel that is installed here, against the project file: `pip install reticent[ray]` brings Ray."""
    from importlib.metadata import metadata

    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((pathlib.Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert set(metadata("reticent").get_all("Provides-Extra")) == set(extras) >= {"ray", "sklearn", "plot"}
    named = re.compile(r"^([\w.-]+).*extra *== *['\"](\w+)['\"]")
    found = {named.match(line).groups() for line in metadata("reticent").get_all("Requires-Dist") if "extra" in line}
    wanted = {(re.match(r"[\w.-]+", one)[0], extra) for extra, needed in extras.items() for one in needed}
    assert found == wanted
