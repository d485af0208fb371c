#!/usr/bin/env python3
"""Speed of the accountant against dp_accounting 0.6.0, both on this machine, in one run.

    python3 benches/accounting.py [--venv .venv]

Makes the virtual environment if it is not there, builds the Rust side in release mode, runs both and prints the ratios.
dp_accounting runs with its default interval 1e-4 and gives an upper bound only; the Rust side gives both ends.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

THEIRS = r"""
import json, time
from dp_accounting import dp_event, mechanism_calibration
from dp_accounting.pld import pld_privacy_accountant as accountant
def step(q, z):
    return dp_event.PoissonSampledDpEvent(q, dp_event.GaussianDpEvent(z))
def count(parts):
    books = accountant.PLDAccountant()
    for q, z, steps in parts:
        books.compose(step(q, z), steps)
    return books.get_epsilon(1e-5)
def timed(call, runs):
    best = None
    for _ in range(runs):
        start = time.perf_counter(); value = call(); spent = time.perf_counter() - start
        best = spent if best is None else min(best, spent)
    return best, value
out = {}
for q, z, steps in [(.01, 1., 10000), (.005, .8, 4000), (.03, 2., 1000), (.25, 20., 160)]:
    out[f"poisson {q} {z:g} {steps}"] = timed(lambda: count([(q, z, steps)]), 3)
out["50 different"] = timed(lambda: count([(.01, .8 + .02 * k, 20) for k in range(50)]), 1)
out["calibrate"] = timed(lambda: mechanism_calibration.calibrate_dp_mechanism(
    accountant.PLDAccountant, lambda z: dp_event.SelfComposedDpEvent(step(.01, z), 10000), 1.0, 1e-5,
    mechanism_calibration.LowerEndpointAndGuess(0.5, 1.0), tol=1e-4), 1)
print(json.dumps(out))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--venv", default=str(ROOT / ".venv"))
    python = pathlib.Path(parser.parse_args().venv) / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(python.parent.parent)], check=True)
    found = subprocess.run([python, "-c", "import importlib.metadata as m; print(m.version('dp-accounting'))"],
                           capture_output=True, text=True)
    if found.stdout.strip() != "0.6.0":
        subprocess.run([python, "-m", "pip", "install", "-q", "dp-accounting==0.6.0"], check=True)
    ours = json.loads(subprocess.run(
        ["cargo", "run", "-q", "--release", "-p", "reticent-accountant", "--example", "accounting_bench"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    theirs = json.loads(subprocess.run([python, "-c", THEIRS], check=True, capture_output=True, text=True).stdout)
    print(f"{'case':26} {'ours':>10} {'dp_accounting':>14} {'ratio':>8}   ours [lower, upper]     theirs")
    for case, (seconds, value) in theirs.items():
        mine = ours[case]
        print(f"{case:26} {mine['seconds'] * 1e3:8.2f}ms {seconds * 1e3:12.1f}ms {seconds / mine['seconds']:7.0f}x"
              f"   [{mine['lower']:.5f}, {mine['upper']:.5f}]   {value:.5f}")
    print(f"calibrated noise {ours['calibrated noise']:.4f}")
    print(f"exact Gaussian   {ours['exact gaussian']['seconds'] * 1e6:.2f} µs")


if __name__ == "__main__":
    main()
