"""Questions about files have the figures of the table in memory, in memory and in a cache file."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

import reticent
from reticent import Files, _reticent
from test_shards import CLI, files, model, needs_cli  # noqa: F401

pandas = pytest.importorskip("pandas")
linux = pytest.mark.skipif(sys.platform != "linux", reason="a cache is kept on Linux alone")
ASKED = {"epsilon": 1.0, "delta": 1e-6, "random_state": 5}


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    return folder


def quietly(function, *given, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*given, **options)


def frame(folder):
    return pandas.read_csv(folder / "all.csv", dtype={"who": str})


def statistics(data, schema, **asked):
    yield reticent.mean(data, ["x", "z"], schema=schema, **asked)._figures
    yield reticent.histogram(data, ["x", "y"], schema=schema, edges=None, bins=7, **asked)._figures
    yield reticent.quantile(data, "z", schema=schema, at=[0.25, 0.5], **asked)._figures


def figures(found):
    return found.figures, found.confusion.tolist(), found.n, found.certificate.epsilon()


def counts(found):
    return list(found.classes), found.counts.tobytes(), found.deviation


@pytest.mark.parametrize("schema", ["s.toml", "u.toml"])
def test_statistics_of_files_are_those_of_the_table_in_memory(files, cache, schema):  # noqa: F811
    wanted = quietly(list, statistics(frame(files), files / schema, **ASKED))
    parts = [files / "a.csv", files / "b.csv"]
    for data in [Files(files / "all.csv"), Files(parts, cache=cache), Files(f"{files}/[ab].csv", cache=cache)]:
        assert quietly(list, statistics(data, files / schema, **ASKED)) == wanted, data
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("schema", ["s.toml", "u.toml"])
def test_an_evaluation_and_a_count_of_files_are_those_of_the_table_in_memory(files, cache, schema):  # noqa: F811
    table = frame(files)
    persons = table["who"] if schema == "u.toml" else None
    fitted = quietly(reticent.fit_files, model(files, schema), Files(files / "all.csv", cache=cache))
    wanted = figures(quietly(reticent.evaluate, fitted, table[["x", "z"]], table["y"], persons, **ASKED))
    counted = counts(quietly(reticent.class_counts, table["y"], persons, classes=["no", "yes"], **ASKED))
    for data in [Files(files / "all.csv"), Files([files / "a.csv", files / "b.csv"], cache=cache)]:
        assert figures(quietly(reticent.evaluate, fitted, data, **ASKED)) == wanted, data
        assert counts(quietly(reticent.class_counts, data, schema=files / schema, **ASKED)) == counted, data
    assert list(cache.iterdir()) == []


def test_the_table_goes_into_the_cache(files, monkeypatch):  # noqa: F811
    asked = []
    for name in ("statistics", "class_counts", "evaluate", "fit_files"):
        own = getattr(_reticent, name)
        monkeypatch.setattr(_reticent, name, lambda *given, own=own, **more: asked.append(given) or own(*given, **more))
    gone = Files(files / "all.csv", cache=files / "gone")
    fitted = quietly(reticent.fit_files, model(files), files / "all.csv")
    for ask in [
        lambda: list(statistics(gone, files / "s.toml", **ASKED)),
        lambda: reticent.class_counts(gone, schema=files / "s.toml", **ASKED),
        lambda: reticent.evaluate(fitted, gone, **ASKED),
    ]:
        with pytest.raises(reticent.DataError, match="cache file cannot be written"):
            quietly(ask)
    assert len(asked) == 4


@needs_cli
@pytest.mark.parametrize("schema", ["s.toml", "u.toml"])
def test_the_figures_are_those_of_the_command_line(files, cache, schema):  # noqa: F811
    def said(command, *more):
        words = [CLI, command, "all.csv", "--schema", schema, "--epsilon", "1", "--delta", "1e-6", "--seed", "5", "--json",
                 "--cache", cache, *more]
        done = subprocess.run([str(word) for word in words], cwd=files, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    data = Files(files / "all.csv", cache=cache)
    found = quietly(reticent.mean, data, "x", schema=files / schema, **ASKED)
    assert said("mean", "--column", "x")["columns"][0]["value"] == found["x"]["value"]
    found = quietly(reticent.class_counts, data, schema=files / schema, **ASKED)
    assert [one["count"] for one in said("count", "--by-class")["classes"]] == list(found.counts)


@linux
def test_a_kept_cache_is_used_again(files, cache):  # noqa: F811
    data = Files(files / "all.csv", cache=cache, keep_cache=True)
    asked = [quietly(reticent.mean, data, "x", schema=files / "s.toml", **ASKED)["x"] for _ in range(2)]
    (kept,) = cache.iterdir()
    assert asked[0] == asked[1] and kept.suffix == ".cache" and kept.stat().st_mode & 0o777 == 0o600


def test_a_budget_pays_for_files_and_knows_them_again(files, cache):  # noqa: F811
    budget = reticent.Budget.create(files / "b.budget", epsilon=3.0, delta=1e-5)
    asked = {"schema": files / "s.toml", "delta": 1e-6, "budget": budget}
    for folder in (cache, None):
        reticent.mean(Files(files / "all.csv", cache=folder), "x", epsilon=1.0, **asked)
    with pytest.raises(reticent.BudgetExceeded):
        reticent.quantile(Files(files / "all.csv", cache=cache), "x", epsilon=2.9, **asked)
    with pytest.raises(reticent.BudgetExceeded):
        reticent.class_counts(Files(files / "all.csv"), epsilon=2.9, **asked)
    assert len(budget.jobs) == 2
    asked["budget"] = budget.for_disjoint_people("test")
    with pytest.raises(ValueError, match="for tables in memory: files are known"):
        reticent.mean(Files(files / "all.csv"), "x", epsilon=0.1, **asked)


def test_what_cannot_be_is_refused_by_name(files, cache):  # noqa: F811
    data, schema = Files(files / "none.csv", cache=cache), files / "s.toml"
    fitted = quietly(reticent.fit_files, model(files), files / "all.csv")
    asked = {"epsilon": 1.0, "delta": 1e-6}
    labels = np.array(["no", "yes"])
    bare = {"row_norm": 1, "column": [{"name": "x", "kind": "numeric", "lower": 0, "upper": 1}]}
    for name, ask in {
        "keep_cache": lambda: reticent.mean(Files(files / "all.csv", keep_cache=True), "x", schema=schema, **asked),
        "bounds is for": lambda: reticent.mean(data, "x", bounds=(0, 1), **asked),
        "groups is for": lambda: reticent.histogram(data, "x", [1, 2], schema=schema, **asked),
        "files need a schema": lambda: reticent.quantile(data, "x", **asked),
        "say which columns": lambda: reticent.mean(data, schema=schema, **asked),
        "classes is for": lambda: reticent.class_counts(data, classes=["no", "yes"], schema=schema, **asked),
        "declares the classes": lambda: reticent.class_counts(data, **asked),
        "no target with classes": lambda: reticent.class_counts(data, schema=bare, **asked),
        "schema is for files": lambda: reticent.class_counts(labels, classes=labels, schema=schema, **asked),
        "classes must be public": lambda: reticent.class_counts(labels, **asked),
        "y is for": lambda: reticent.evaluate(fitted, data, labels, **asked),
        "y is missing": lambda: reticent.evaluate(fitted, labels, **asked),
        "twice": lambda: reticent.mean(Files([files / "a.csv"] * 2), "x", schema=schema, **asked),
        "those of the Files": lambda: reticent.fit_files(model(files), data, cache=cache),
    }.items():
        with pytest.raises(ValueError, match=name):
            quietly(ask)
    (files / "again.csv").hardlink_to(files / "a.csv")
    with pytest.raises(ValueError, match="twice"):
        quietly(reticent.mean, Files([files / "a.csv", files / "again.csv"]), "x", schema=schema, **asked)
    with pytest.raises(reticent.DataError):
        quietly(reticent.mean, data, "x", schema=schema, **asked)
    assert repr(Files(["/a.csv", "/b.csv"], cache="/c", keep_cache=True)) == (
        "Files(['/a.csv', '/b.csv'], cache='/c', keep_cache=True)"
    )
