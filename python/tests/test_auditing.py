"""Attacks from Python."""

import os
import signal
import subprocess
import sys
import time

import pytest

import reticent


def test_a_bound_is_found_below_what_is_certified():
    found = reticent.audit(
        "ssadmm", epsilon=4.0, delta=1e-3, runs=1000, method="gdp", random_state=3
    )
    assert 1.0 < found.epsilon_lower <= found.epsilon_certified <= 4.0 and not found.exceeded
    again = reticent.audit(
        "ssadmm", epsilon=4.0, delta=1e-3, runs=1000, method="gdp", random_state=3
    )
    assert again.epsilon_lower == found.epsilon_lower
    table = found.to_frame()
    assert len(table) == 1 and table["algorithm"][0] == "ssadmm" and "certified" in repr(found)


def test_the_combinations_of_an_algorithm():
    table = reticent.audit_all(["output-perturbation"], runs=200, random_state=1)
    assert len(table) > 0 and set(table["algorithm"]) == {"output-perturbation"}
    assert (table["share"] <= 1.0).all() and not table["exceeded"].any()


def test_what_cannot_be_is_refused():
    for options in [{"method": "magic"}, {"runs": 1}, {"epsilon": -1.0}, {"sampling": "some"},
                    {"trust": "network"}, {"step": "big"}, {"runs": -1}, {"random_state": -1}]:
        with pytest.raises(ValueError) as error:
            reticent.audit(**{"epsilon": 1.0, "delta": 1e-3, **options})
        assert "--" not in str(error.value), options


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send")
def test_it_can_be_stopped():
    code = (
        "import signal\n"
        "import reticent\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "print('begun', flush=True)\n"
        "try:\n"
        "    reticent.audit(epsilon=1.0, delta=1e-3, runs=100_000_000)\n"
        "except KeyboardInterrupt as stop:\n"
        "    print(type(stop).__name__)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "begun\n"
        time.sleep(3.0)
        run.send_signal(signal.SIGINT)
        assert run.stdout.read().strip() == "FitStopped"
