"""A table in shards has the bits of the table, and workers that are not what they were end the run."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import warnings

import numpy as np
import pytest

import reticent
from reticent import PrivateLogisticRegression, PrivateRidge, _reticent, shards
from reticent.errors import BudgetExceeded, BudgetSpent, FitStopped

CLI = os.environ.get("RETICENT") or shutil.which("reticent")
needs_cli = pytest.mark.skipif(CLI is None, reason="RETICENT does not name the command line")
SCHEMA = """
row_norm = 1
[[column]]
name = "x"
kind = "numeric"
lower = 0
upper = 1
[[column]]
name = "z"
kind = "numeric"
lower = -1
upper = 1
[[column]]
name = "y"
kind = "target"
classes = ["no", "yes"]
"""
USERS = SCHEMA + '[[column]]\nname = "who"\nkind = "user"\n'
BUDGET = {"epsilon": 2.0, "delta": 1e-6}


def lines(count, first=0):
    """Records of invented people, two or so each."""
    rng = np.random.default_rng(3)
    for i in range(first + count):
        x, z = rng.uniform(0, 1), rng.uniform(-1, 1)
        y = "yes" if x + 0.3 * z + rng.normal(0, 0.1) > 0.5 else "no"
        if i >= first:
            yield f"{x:.6f},{z:.6f},{y},{i // 2}\n"


def write(path, count, first=0):
    path.write_text("x,z,y,who\n" + "".join(lines(count, first)))
    return path


@pytest.fixture
def files(tmp_path):
    """A table of 600 records, the same in two halves, and schemas of records and of users."""
    (tmp_path / "s.toml").write_text(SCHEMA + '[[column]]\nname = "who"\nkind = "ignored"\n')
    (tmp_path / "u.toml").write_text(USERS)
    write(tmp_path / "all.csv", 600)
    write(tmp_path / "a.csv", 240)
    write(tmp_path / "b.csv", 360, first=240)
    return tmp_path


class Here(shards.Engine):
    """Workers in this process: all that another engine has to be. ``before`` is told of every question,
    and may do something to the workers; ``after`` to the answers."""

    def __init__(self, before=None, after=None):
        self.before, self.after, self.asked = before, after, 0

    def start(self, jobs):
        self.jobs = jobs
        self.workers = [shards.open_shard(*job) for job in jobs]

    def ask(self, requests):
        self.asked += 1
        if self.before:
            self.before(self)
        said = [self.workers[number].answer(request) for number, request in requests]
        return self.after(self, said) if self.after else said

    def stop(self):
        self.workers = []


def model(folder, schema="s.toml", **more):
    given = {**BUDGET, "random_state": 5, **more}
    return PrivateLogisticRegression(schema=folder / schema, **given)


def fitted(estimator, data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return shards.fit(estimator, data, **options)


def bits(found):
    return found.coef_.tobytes() + found.intercept_.tobytes()


def by_command_line(folder, *more, table="all.csv", schema="s.toml", penalty=("none", [])):
    out = folder / "by-cli"
    name, numbers = penalty
    penalty = f"{name}:{','.join(map(repr, numbers))}" if numbers else name
    command = [CLI, "fit", folder / table, "--schema", folder / schema, "--epsilon", "2", "--delta", "1e-6",
               "--seed", "5", "--penalty", penalty, "--out", out, *more]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return reticent.load(out)


@needs_cli
@pytest.mark.parametrize("schema", ["s.toml", "u.toml"])
def test_one_two_and_four_shards_are_the_fit_of_the_command_line(files, schema):
    estimator = model(files, schema)
    wanted = bits(by_command_line(files, schema=schema, penalty=estimator._penalty()))
    for count in (1, 2, 4):
        found = fitted(model(files, schema), files / "all.csv", shards=count, engine=Here())
        assert bits(found) == wanted, count
    halves = fitted(model(files, schema), [files / "a.csv", files / "b.csv"], engine=Here())
    assert bits(halves) == wanted
    text = json.dumps(json.loads(halves.certificate_.to_json())["assumptions"])
    assert "2 shards" in text and ("one shard" in text) == (schema == "u.toml")
    assert not halves.certificate_.certified  # The seed; nothing else.


@needs_cli
def test_a_process_that_is_killed_in_mid_run_changes_no_bit(files):
    wanted = bits(by_command_line(files, penalty=model(files)._penalty()))

    class Killing(shards.Processes):
        asked = 0

        def ask(self, requests):
            self.asked += 1
            if self.asked in (5, 9):
                os.kill(self.pids[1], signal.SIGKILL)
            return super().ask(requests)

    engine = Killing()
    assert bits(fitted(model(files), files / "all.csv", shards=2, engine=engine)) == wanted
    assert engine.asked > 9 and engine.pids == []
    tired = Killing(restarts=0)
    with pytest.raises(BudgetSpent, match="RuntimeError") as why:
        fitted(model(files), files / "all.csv", shards=2, engine=tired)
    assert "ended too often" in str(why.value.__cause__) and tired.pids == []


def test_a_process_that_is_killed_while_it_reads_is_started_anew(files):
    class Falling(shards.Processes):
        fallen = False

        def _started(self, job):
            process, pipe = super()._started(job)
            if not self.fallen:
                self.fallen = True
                process.kill()
            return process, pipe

    wanted = bits(fitted(model(files), files / "all.csv", shards=1, engine=Here()))
    assert bits(fitted(model(files), files / "all.csv", shards=1, engine=Falling())) == wanted
    with pytest.raises(RuntimeError, match="ended too often"):
        fitted(model(files), files / "all.csv", shards=1, engine=Falling(restarts=0))


def test_samples_where_they_are_proven_and_nowhere_else(files):
    sampled = {"algorithm": "dp-sgd", "settings": {"sampling": "poisson:0.2", "iterations": 5}}
    one = fitted(model(files, **sampled), files / "all.csv", shards=1, engine=Here())
    two = fitted(model(files, **sampled), [files / "a.csv", files / "b.csv"], engine=Here())
    assert bits(one) == bits(two)
    for schema, more, word in [
        ("u.toml", sampled, "persons"),
        ("s.toml", {**sampled, "adjacency": "add-remove", "public_n": 600}, "add-remove"),
        ("s.toml", {"algorithm": "output-perturbation"}, "sums"),
        ("s.toml", {"algorithm": "exact"}, "sums"),
    ]:
        with pytest.raises(ValueError, match=word):
            fitted(model(files, schema, **more), files / "all.csv", shards=2, engine=None)
    added = model(files, adjacency="add-remove", public_n=600)
    again = model(files, adjacency="add-remove", public_n=600)
    assert bits(fitted(added, files / "all.csv", shards=3, engine=Here())) == bits(
        fitted(again, files / "all.csv", shards=1, engine=Here())
    )


def test_a_person_in_two_shards_is_refused(files):
    write(files / "cut-a.csv", 241)
    write(files / "cut-b.csv", 359, first=241)
    with pytest.raises(ValueError, match="a person has rows in two"):
        fitted(model(files, "u.toml"), [files / "cut-a.csv", files / "cut-b.csv"], engine=Here())
    # The same person, spelt in another way.
    text = (files / "cut-b.csv").read_text().replace(",120\n", ",120.0\n", 1)
    (files / "cut-b.csv").write_text(text)
    with pytest.raises(ValueError, match="a person has rows in two"):
        fitted(model(files, "u.toml"), [files / "cut-a.csv", files / "cut-b.csv"], engine=Here())
    # As one table it is dealt whole.
    cut = [files / "cut-a.csv", files / "cut-b.csv"]
    assert bits(fitted(model(files, "u.toml"), cut, shards=2, engine=Here())) == bits(
        fitted(model(files, "u.toml"), files / "all.csv", shards=1, engine=Here())
    )


def test_two_shards_with_the_same_file_are_refused(files):
    shutil.copy(files / "a.csv", files / "copy.csv")
    os.symlink(files / "a.csv", files / "link.csv")
    for other in ("a.csv", "copy.csv", "link.csv"):
        with pytest.raises(ValueError, match="twice"):
            fitted(model(files), [files / "a.csv", files / other], engine=Here())
        with pytest.raises(ValueError, match="twice"):
            fitted(model(files), [files / "a.csv", files / other], shards=2, engine=Here())


def test_an_empty_shard(files):
    # Of one table that has fewer records than shards some are empty, and change nothing.
    write(files / "few.csv", 6)
    many = fitted(model(files), files / "few.csv", shards=9, engine=Here())
    assert bits(many) == bits(fitted(model(files), files / "few.csv", shards=1, engine=Here()))
    (files / "none.csv").write_text("x,z,y,who\n")
    with pytest.raises(reticent.DataError):
        fitted(model(files), [files / "a.csv", files / "none.csv"], engine=Here())


def test_a_shard_that_answers_other_bits_ends_the_run(files):
    def flipped(engine, said):
        if engine.asked == 4:
            said[1] = said[1][:-1] + bytes([said[1][-1] ^ 1])
        return said

    with pytest.raises(BudgetSpent, match="shard 1 gave an answer that was changed"):
        fitted(model(files), [files / "a.csv", files / "b.csv"], engine=Here(after=flipped))


def test_a_worker_that_is_replaced_ends_the_run(files):
    """By one that has read another file under the same name, or another seat."""
    write(files / "c.csv", 360, first=240)

    def other_rows(engine):
        if engine.asked == 4:
            text = (files / "c.csv").read_text()
            (files / "c.csv").write_text(text.replace(",yes,", ",no,", 1))
            engine.workers[1] = shards.open_shard(*engine.jobs[1])

    with pytest.raises(BudgetSpent, match="shard 1 was replaced"):
        fitted(model(files), [files / "a.csv", files / "c.csv"], engine=Here(before=other_rows))

    def other_seat(engine):
        if engine.asked == 4:
            engine.workers.reverse()

    with pytest.raises(BudgetSpent, match="shard 0 was replaced"):
        fitted(model(files), [files / "a.csv", files / "b.csv"], engine=Here(before=other_seat))


def test_a_worker_of_another_build_is_refused_before_anything_is_spent(files):
    def other(engine):
        request, sharding, number = engine.jobs[1]
        engine.workers[1] = _reticent.Shard(request, {**sharding, "build": bytes(32)}, number)

    with pytest.raises(ValueError, match="shard 1 runs another build"):
        fitted(model(files), [files / "a.csv", files / "b.csv"], engine=Here(before=other))


def test_a_shard_that_lies_about_its_size_is_refused(files):
    """It enrols with the rows of one file and counts those of another."""

    def grown(engine):
        if engine.asked == 2:
            request, sharding, number = engine.jobs[1]
            more = {**sharding, "files": [sharding["files"][0], [str(files / "all.csv")]]}
            engine.workers[1] = _reticent.Shard(request, more, number)

    with pytest.raises(ValueError, match="shard 1 was replaced"):
        fitted(model(files), [files / "a.csv", files / "b.csv"], engine=Here(before=grown))


def test_what_is_paid(files, tmp_path):
    budget = reticent.Budget.create(tmp_path / "budget", epsilon=2.5, delta=1e-5)
    paid = model(files, random_state=None, budget=budget)
    fitted(paid, files / "all.csv", shards=2, engine=Here())
    assert paid.certificate_.certified and paid.certificate_.epsilon() <= 2.0
    text = json.dumps(json.loads(paid.certificate_.to_json())["assumptions"])
    assert "process of this machine" in text
    # The same table again: its files are known.
    with pytest.raises(BudgetExceeded):
        fitted(model(files, random_state=None, budget=budget), files / "all.csv", shards=4, engine=Here())
    with pytest.raises(BudgetExceeded):
        fitted(model(files, random_state=None, budget=budget), files / "all.csv", shards=1, engine=Here())


def test_a_file_that_is_changed_before_it_is_paid_for_is_refused(files, tmp_path):
    """The workers have read it, and the budget would know the table by other bytes."""

    def changed(engine):
        if engine.asked == 1:
            write(files / "all.csv", 598)

    budget = reticent.Budget.create(tmp_path / "budget", epsilon=2.5, delta=1e-5)
    paid = model(files, random_state=None, budget=budget)
    with pytest.raises(ValueError, match="changed since the workers"):
        fitted(paid, files / "all.csv", shards=2, engine=Here(before=changed))
    assert budget.jobs == []


def test_who_stops_is_told_what_was_spent(files):
    def interrupted(engine):
        if engine.asked == 4:
            raise KeyboardInterrupt

    with pytest.raises(FitStopped) as why:
        fitted(model(files), files / "all.csv", shards=2, engine=Here(before=interrupted))
    assert why.value.epsilon == 2.0


def test_what_is_said_of_data(files, tmp_path):
    with pytest.raises(ValueError, match="shards=N"):
        shards.fit(model(files), files / "all.csv")
    with pytest.raises(FileNotFoundError, match="no file"):
        shards.fit(model(files), str(files / "x*.csv"), shards=2)
    with pytest.raises(ValueError, match="schema"):
        shards.fit(PrivateLogisticRegression(**BUDGET), files / "all.csv", shards=2)
    with pytest.raises(ValueError, match="classes"):
        shards.fit(model(files, classes=["no", "yes"]), files / "all.csv", shards=2)
    with pytest.raises(TypeError, match="estimator"):
        shards.fit("logistic", files / "all.csv", shards=2)
    assert shards._files_of(str(files / "[ab].csv"), 2)[0] == [[str(files / "a.csv"), str(files / "b.csv")]] * 2
    # A file whose own name looks like a pattern is that file, and not the one that the pattern matches.
    for name in ("x1.csv", "x[1].csv"):
        shutil.copy(files / "a.csv", files / name)
    assert shards._files_of([files / "x[1].csv"], None)[0] == [[str(files / "x[1].csv")]]
    numbers = (files / "s.toml").read_text().replace('classes = ["no", "yes"]', "lower = 0\nupper = 1")
    (files / "r.toml").write_text(numbers)
    table = (files / "all.csv").read_text().replace("yes", "1").replace("no", "0")
    (files / "numbers.csv").write_text(table)
    ridge = PrivateRidge(**BUDGET, schema=files / "r.toml", random_state=1)
    again = PrivateRidge(**BUDGET, schema=files / "r.toml", random_state=1)
    first = fitted(ridge, files / "numbers.csv", shards=1, engine=Here())
    assert np.array_equal(first.coef_, fitted(again, files / "numbers.csv", shards=3, engine=Here()).coef_)
    assert list(first.feature_names_in_) == ["x", "z"]


def test_the_worker_loads_little():
    """It is started anew in the middle of a run: scikit-learn takes seconds."""
    command = "import sys, reticent._shard_worker; sys.exit('sklearn' in sys.modules)"
    done = subprocess.run([os.sys.executable, "-c", command], cwd=pathlib.Path.home())
    assert done.returncode == 0
