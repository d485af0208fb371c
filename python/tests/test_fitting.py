"""Fits on files have the bits of the command line, in memory and in a cache file."""

import os
import sys
import warnings

import pytest

import reticent
from reticent import PrivateLogisticRegression, shards
from test_shards import Here, bits, by_command_line, files, model, needs_cli, write  # noqa: F401

linux = pytest.mark.skipif(sys.platform != "linux", reason="a cache is kept on Linux alone")


def fitted(estimator, data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return reticent.fit_files(estimator, data, **options)


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    return folder


@needs_cli
@pytest.mark.parametrize("schema", ["s.toml", "u.toml"])
def test_a_file_a_list_and_a_pattern_are_the_fit_of_the_command_line(files, cache, schema):  # noqa: F811
    wanted = bits(by_command_line(files, schema=schema, penalty=model(files, schema)._penalty()))
    for data in [files / "all.csv", [files / "a.csv", str(files / "b.csv")], str(files / "[ab].csv")]:
        for folder in (None, cache):
            estimator = model(files, schema)
            assert fitted(estimator, data, cache=folder) is estimator
            assert bits(estimator) == wanted, (data, folder)
    assert list(cache.iterdir()) == []


@linux
def test_a_kept_cache_is_used_again_and_is_no_part_of_its_folder(files, tmp_path):  # noqa: F811
    folder = tmp_path / "table"
    folder.mkdir(mode=0o700)
    write(folder / "t.csv", 300)
    wanted = bits(fitted(model(files), folder))
    for _ in range(2):
        assert bits(fitted(model(files), folder, cache=folder, keep_cache=True)) == wanted
    kept = [path for path in folder.iterdir() if path.suffix == ".cache"]
    assert len(kept) == 1 and kept[0].stat().st_mode & 0o777 == 0o600
    assert shards._found(str(folder / "*")) == [str(folder / "t.csv")]
    os.chmod(kept[0], 0o644)
    with pytest.raises(reticent.DataError, match="cannot be kept"):
        fitted(model(files), folder, cache=folder, keep_cache=True)


def test_what_cannot_be_is_refused_before_a_table_is_read(files, cache):  # noqa: F811
    with pytest.raises(ValueError, match="no folder to keep it in"):
        fitted(model(files), files / "none.csv", keep_cache=True)
    with pytest.raises(ValueError, match="more than sums"):
        fitted(model(files, algorithm="output-perturbation"), files / "none.csv", cache=cache)
    with pytest.raises(ValueError, match="schema"):
        fitted(PrivateLogisticRegression(epsilon=1.0, delta=1e-6), files / "all.csv")
    os.symlink(files / "a.csv", files / "link.csv")
    for twice in (["a.csv", "a.csv"], ["a.csv", "link.csv"]):
        with pytest.raises(ValueError, match="twice"):
            fitted(model(files), [files / name for name in twice])


def test_a_budget_pays_for_the_table_and_knows_it_again(files, cache):  # noqa: F811
    budget = reticent.Budget.create(files / "b.budget", epsilon=3.0, delta=1e-5)
    left = [budget.left]
    for folder in (cache, None):
        fitted(model(files, random_state=None, epsilon=1.0, budget=budget), files / "all.csv", cache=folder)
        left.append(budget.left)
    assert len(budget.jobs) == 2 and left[0] > left[1] > left[2], left
    # More than is left, and not more than the whole: the table is the one that was asked before.
    with pytest.raises(reticent.BudgetExceeded):
        fitted(model(files, random_state=None, epsilon=2.9, budget=budget), files / "all.csv", cache=cache)
    assert len(budget.jobs) == 2


@pytest.mark.parametrize("fit", [reticent.fit_files, lambda *asked: shards.fit(*asked, engine=Here())])
def test_a_fit_that_is_refused_leaves_the_model_before_it(files, fit):  # noqa: F811
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = fit(model(files), [files / "a.csv", files / "b.csv"])
        before, classes = bits(estimator), list(estimator.classes_)
        schema = (files / "s.toml").read_text().replace('["no", "yes"]', '["a", "b", "c"]')
        (files / "other.toml").write_text(schema)
        estimator.set_params(schema=files / "other.toml")
        with pytest.raises(reticent.DataError):
            fit(estimator, [files / "a.csv", files / "b.csv"])
    assert classes == ["no", "yes"]
    assert (bits(estimator), list(estimator.classes_)) == (before, classes)
