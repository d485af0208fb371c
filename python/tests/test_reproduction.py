"""The experiments of the papers, from Python."""

import subprocess
import sys

import pytest

import reticent


def test_an_experiment_is_run_and_its_claims_are_told():
    names = list(reticent.experiments().index)
    assert "rdp20-rdp" in names or len(names) > 5
    # About numbers alone: no model is trained.
    name = next(one for one in names if "acct" in one)
    found = reticent.reproduce(name, quick=True)
    assert len(found.claims) > 0 and set(found.claims["verdict"]) <= {
        "held",
        "did not hold",
        "undecided",
    }
    assert set(found.claims["class"]) == {"held"} and not any(found.claims["why"])
    for numbers in found.figures.values():
        spread = ["standard_deviation", "standard_error"]
        assert list(numbers.columns) == ["series", "x", "mean", *spread, "runs"]
        assert numbers["mean"].notna().all()
    assert all(text.startswith("<svg") for text in found.pictures.values())
    assert name in repr(found)


def test_what_is_not_there_is_said(monkeypatch):
    with pytest.raises(ValueError, match="there are"):
        reticent.reproduce("magic")


CODE = """
import os, signal, threading
import reticent
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    reticent.reproduce("rdp20-fig4", seeds=100)
except KeyboardInterrupt as stopped:
    print(stopped)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_stops_an_experiment():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.stdout.strip() == "the experiment was stopped", done.stderr
