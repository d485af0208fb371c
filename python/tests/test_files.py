"""Models go to the command line and back, to the byte."""

import json
import os
import shutil
import subprocess
import warnings

import numpy as np
import pandas
import pytest
from conftest import BUDGET

import reticent
from reticent import PrivateLogisticRegression, PrivateRidge

CLI = os.environ.get("RETICENT") or shutil.which("reticent")
needs_cli = pytest.mark.skipif(CLI is None, reason="RETICENT does not name the command line")


def cli(*arguments, **more):
    done = subprocess.run([CLI, *map(str, arguments)], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def frame(patients):
    X, y = patients
    return pandas.DataFrame({"age": X[:, 0], "pressure": X[:, 1]}), pandas.Series(y, name="ill")


def test_saved_and_loaded(frame, tmp_path):
    X, y = frame
    model = PrivateLogisticRegression(**BUDGET, bounds=([20, 80], [90, 200]), classes=[0, 1])
    path = model.fit(X, y).save(tmp_path / "model")
    again = reticent.load(tmp_path / "model")
    assert type(again) is PrivateLogisticRegression
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.certificate_ == model.certificate_
    assert again.save(tmp_path / "again").read_bytes() == path.read_bytes()
    beside = [tmp_path / name / "certificate.json" for name in ("model", "again")]
    assert beside[0].read_bytes() == beside[1].read_bytes()
    assert beside[0].read_text() == model.certificate_.to_json()


def test_a_regressor_is_loaded_as_one(frame, tmp_path):
    X, y = frame
    model = PrivateRidge(**BUDGET, bounds=([20, 80], [90, 200]), target_bounds=(0, 1)).fit(X, y)
    model.save(tmp_path)
    again = reticent.load(tmp_path / "model.json")
    assert type(again) is PrivateRidge and np.array_equal(again.predict(X), model.predict(X))


def test_what_is_no_model_is_refused(tmp_path):
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(ValueError, match="not a model"):
        reticent.load(tmp_path)
    with pytest.raises(OSError):
        reticent.load(tmp_path / "nothing.json")
    fitted = PrivateRidge()
    with pytest.raises(Exception, match="not fitted"):
        fitted.save(tmp_path)


@needs_cli
def test_the_command_line_uses_a_model_of_ours(frame, tmp_path):
    X, y = frame
    model = PrivateLogisticRegression(**BUDGET, bounds=([20, 80], [90, 200]), classes=[0, 1])
    model.fit(X, y).save(tmp_path / "model")
    X.to_csv(tmp_path / "new.csv", index=False)
    cli("predict", tmp_path / "model", tmp_path / "new.csv", "--out", tmp_path / "out.csv")
    said = pandas.read_csv(tmp_path / "out.csv")
    assert np.array_equal(said["prediction"], model.predict(X))
    # The CSV has all digits, so these are the same numbers.
    ours = model.predict_proba(pandas.read_csv(tmp_path / "new.csv"))
    assert np.array_equal(said[["probability of 0", "probability of 1"]].to_numpy(), ours)
    assert json.loads(cli("inspect", tmp_path / "model", "--json"))["certified"] is True


@needs_cli
def test_a_model_of_the_command_line_is_ours(frame, tmp_path):
    X, y = frame
    X.assign(ill=y).to_csv(tmp_path / "table.csv", index=False)
    X = pandas.read_csv(tmp_path / "table.csv")[["age", "pressure"]]
    schema = reticent.Schema.bounded([(20, 90), (80, 200)], classes=["0", "1"])
    schema = schema.named(["age", "pressure"]).with_target("ill", classes=["0", "1"])
    (tmp_path / "schema.toml").write_text(schema.to_toml())
    cli(
        "fit", tmp_path / "table.csv", "--schema", tmp_path / "schema.toml", "--epsilon", 2,
        "--delta", "1e-6", "--penalty", "l2:1e-3", "--seed", 9, "--out", tmp_path / "theirs",
    )
    loaded = reticent.load(tmp_path / "theirs")
    theirs = (tmp_path / "theirs/model.json").read_bytes()
    assert loaded.save(tmp_path / "again").read_bytes() == theirs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = PrivateLogisticRegression(**BUDGET, schema=schema, random_state=9).fit(X, y)
    assert ours.model_.to_json() == loaded.model_.to_json()


@needs_cli
def test_one_budget_for_both(frame, tmp_path):
    path = tmp_path / "clinic.budget"
    cli("budget", "new", path, "--epsilon", 2, "--delta", "1e-6")
    X, y = frame
    PrivateLogisticRegression(
        epsilon=1, delta=1e-6, bounds=([20, 80], [90, 200]), classes=[0, 1],
        budget=reticent.Budget.open(path),
    ).fit(X, y)
    said = json.loads(cli("budget", "show", path, "--json"))
    assert len(said["jobs"]) == 1


def test_save_over_another_certified_model_needs_a_word(frame, tmp_path):
    """The model of another fit was replaced in silence."""
    X, y = frame
    model = PrivateLogisticRegression(**BUDGET, bounds=([20, 80], [90, 200]), classes=[0, 1])
    path = model.fit(X, y).save(tmp_path)
    kept = path.read_bytes()
    # The same model again is no other.
    assert model.save(tmp_path) == path and path.read_bytes() == kept
    other = model.fit(X, y)
    with pytest.raises(FileExistsError, match="what both reveal adds up"):
        other.save(tmp_path)
    assert path.read_bytes() == kept
    other.save(tmp_path, overwrite=True)
    assert reticent.load(tmp_path).certificate_ == other.certificate_
    # What is no model is as safe.
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "model.json").write_text("{}")
    with pytest.raises(FileExistsError):
        other.save(tmp_path / "mine")


def test_a_model_is_exported_as_the_command_line_exports_it(frame, tmp_path):
    X, y = frame
    model = PrivateLogisticRegression(**BUDGET, bounds=([20, 80], [90, 200]), classes=[0, 1])
    model.fit(X, y).save(tmp_path / "model")
    for to in ("onnx", "pmml", "sklearn-json", "sql"):
        written = model.export(to, tmp_path / to)
        assert isinstance(written, bytes) and (tmp_path / to).read_bytes() == written
        if CLI is not None:
            cli("export", tmp_path / "model", "--to", to, "--out", tmp_path / f"theirs.{to}")
            assert (tmp_path / f"theirs.{to}").read_bytes() == written, to
    with pytest.raises(FileExistsError):
        model.export("onnx", tmp_path / "onnx")
    model.export("sql", tmp_path / "sql", table="visits", keep=["id"], overwrite=True)
    assert '"visits"' in (tmp_path / "sql").read_text()
    with pytest.raises(ValueError, match="keep is for"):
        model.export("onnx", keep=["id"])
    with pytest.raises(ValueError, match="onnx"):
        model.export("xml")
