"""The package on a real Ray; python/ray_cluster.py runs them in a network namespace of their own.

Not collected by the ordinary tests: Ray is half a gigabyte, and opens ports on every interface.
"""

import os
import signal
import warnings

import numpy as np
import pytest

import ray

import reticent
from reticent import PrivateLogisticRegression
from reticent import ray as cluster
from test_shards import bits, by_command_line, fitted, model, write  # noqa: F401
from test_shards import files  # noqa: F401  (a fixture)


@pytest.fixture(scope="module", autouse=True)
def running():
    cluster.connect()
    yield
    ray.shutdown()


@pytest.fixture
def wanted(files):  # noqa: F811
    return bits(by_command_line(files, penalty=model(files)._penalty()))


def on_ray(estimator, data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cluster.fit(estimator, data, num_cpus=0.25, **options)


def test_one_two_and_four_shards_are_the_fit_of_the_command_line(files, wanted):  # noqa: F811
    for count in (1, 2, 4):
        assert bits(on_ray(model(files), files / "all.csv", shards=count)) == wanted, count
    found = on_ray(model(files), [files / "a.csv", files / "b.csv"])
    assert bits(found) == wanted
    assert "a cluster" in found.certificate_.to_json()


def test_an_actor_that_is_killed_in_mid_run_changes_no_bit(files, wanted):  # noqa: F811
    class Killing(cluster.Actors):
        asked = 0
        killed = ()

        def ask(self, requests):
            self.asked += 1
            if self.asked == 6:
                pid = ray.get(self.actors[1].pid.remote())
                os.kill(pid, signal.SIGKILL)
                self.killed = (pid,)
            return super().ask(requests)

        def stop(self):
            if self.killed:
                self.killed += (ray.get(self.actors[1].pid.remote()),)
            super().stop()

    engine = Killing(num_cpus=0.25)
    assert bits(fitted(model(files), files / "all.csv", shards=2, engine=engine)) == wanted
    assert engine.asked > 6 and engine.killed[0] != engine.killed[1]


def test_an_actor_that_reads_other_rows_when_it_is_started_anew_ends_the_run(files):  # noqa: F811
    write(files / "c.csv", 360, first=240)

    class Changing(cluster.Actors):
        asked = 0

        def ask(self, requests):
            self.asked += 1
            if self.asked == 6:
                text = (files / "c.csv").read_text()
                (files / "c.csv").write_text(text.replace(",yes,", ",no,", 1))
                os.kill(ray.get(self.actors[1].pid.remote()), signal.SIGKILL)
            return super().ask(requests)

    with pytest.raises(reticent.BudgetSpent, match="shard 1 was replaced"):
        fitted(model(files), [files / "a.csv", files / "c.csv"], engine=Changing(num_cpus=0.25))


def test_what_is_wrong_with_a_file_is_said_once(files):  # noqa: F811
    (files / "bad.csv").write_text("x,z,y,who\nnone,0,yes,1\n")
    with pytest.raises(reticent.DataError, match="bad.csv"):
        on_ray(model(files), [files / "a.csv", files / "bad.csv"])


def test_plaintext_between_machines_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(cluster, "is_local", lambda: False)
    monkeypatch.delenv("RAY_USE_TLS", raising=False)
    with pytest.raises(ValueError, match="RAY_USE_TLS"):
        cluster.Actors()
    assert cluster.Actors(allow_plaintext=True).encrypted is False
    monkeypatch.setenv("RAY_USE_TLS", "1")
    assert cluster.Actors().encrypted is True


def table():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(600, 2))
    return X, (X[:, 0] > 0).astype(int)


def test_a_sweep_is_that_of_one_process(tmp_path):
    X, y = table()
    estimator = PrivateLogisticRegression(delta=1e-6, bounds=(-1, 1), classes=[0, 1], random_state=3)
    grid = {"epsilon": [0.5, 2.0]}
    options = {"test": (X, y), "repeats": 2, "public": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = reticent.sweep(estimator, X, y, grid, **options)
        there = cluster.sweep(estimator, X, y, grid, num_cpus=0.5, **options)
    assert here.runs.equals(there.runs)


def test_every_run_of_a_paid_sweep_has_its_entry(tmp_path):
    X, y = table()
    budget = reticent.Budget.create(tmp_path / "budget", epsilon=0.9, delta=1e-6)
    paid = PrivateLogisticRegression(
        epsilon=0.5, delta=1e-6, bounds=(-1, 1), classes=[0, 1], budget=budget
    )
    with pytest.warns(reticent.PrivacyCostWarning, match="the sweep ends after"):
        found = cluster.sweep(paid, X, y, {"alpha": [1e-3, 1e-2]}, repeats=3, num_cpus=0.5)
    # As many as fit were fitted, handed back and counted, whoever came first.
    assert len(found.models) == len(budget.jobs) >= 2
    assert len({bits(one) for one in found.models}) == len(found.models)
    # Whoever called the sweep is not seen from a task, and each certificate says so.
    assert all("process of its own" in one.certificate_.to_json() for one in found.models)


def test_audits_are_those_of_one_process():
    attacks = [
        {"algorithm": name, "epsilon": 4.0, "delta": 1e-3, "runs": 400, "method": "gdp", "random_state": 1}
        for name in ("ssadmm", "dp-sgd")
    ]
    found = cluster.audit(attacks, num_cpus=0.5)
    assert [one.report for one in found] == [reticent.audit(**attack).report for attack in attacks]
