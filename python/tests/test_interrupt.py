"""Ctrl-C stops a fit, and says what was spent."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from reticent import FitStopped, PrivateLogisticRegression

CODE = """
import os, signal, threading, time
import numpy as np
from reticent import Budget, FitStopped, PrivateLogisticRegression
# As at a terminal: in the background it is ignored, and nothing would stop the fit.
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(20_000, 30))
y = (X[:, 0] > 0).astype(int)
budget = Budget(2.0, 1e-6)
model = PrivateLogisticRegression(
    epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1], budget=budget, algorithm="dp-sgd",
    settings={"iterations": 1_000_000},
)
def press():
    while not budget.jobs:
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=press).start()
try:
    model.fit(X, y)
except FitStopped as stopped:
    assert isinstance(stopped, KeyboardInterrupt)
    assert (stopped.epsilon, stopped.delta) == (1.0, 1e-6), stopped
    assert "count epsilon = 1" in str(stopped), stopped
    assert [job["status"] for job in budget.jobs] == ["settled"]
    print("stopped")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_a_stopped_fit_says_what_it_spent():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.stdout.strip() == "stopped", done.stderr


def test_other_threads_go_on_during_a_fit():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(50_000, 40))
    y = (X[:, 0] > 0).astype(int)
    model = PrivateLogisticRegression(epsilon=1, delta=1e-6, bounds=(-1, 1), classes=[0, 1])
    ticks, done = [0], threading.Event()

    def tick():
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    # Whatever it is: where the tests run in the background, nobody listens to the keyboard.
    handler = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=tick)
    thread.start()
    before = ticks[0]
    model.fit(X, y)
    during = ticks[0] - before
    done.set()
    thread.join()
    # A fit that held the lock would let the other thread in a handful of times, if at all.
    assert during > 20
    assert signal.getsignal(signal.SIGINT) is handler
    assert issubclass(FitStopped, KeyboardInterrupt)
