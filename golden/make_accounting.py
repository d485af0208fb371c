#!/usr/bin/env python3
"""Reference values for the accountant. Needs dp_accounting 0.6.0 and mpmath 1.3.0:

    python3 -m venv .venv && .venv/bin/pip install dp-accounting==0.6.0 mpmath==1.3.0
    .venv/bin/python golden/make_accounting.py

Writes golden/accountant/grid.json (random cases) and golden/accountant/gaussian.json (closed form, 60 digits).
The cases come from a fixed seed, so a rerun gives the same file.
"""
import importlib.metadata
import json
import math
import pathlib
import random
import time

import mpmath
from dp_accounting.pld import privacy_loss_distribution as pld

HERE = pathlib.Path(__file__).parent / "accountant"
DP_ACCOUNTING = importlib.metadata.version("dp-accounting")
MPMATH = importlib.metadata.version("mpmath")
mpmath.mp.dps = 60


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def gaussian_epsilon(mu, delta):
    """The root of the closed form, bracketed and bisected with 60 digits."""
    mu, delta = mpmath.mpf(mu), mpmath.mpf(delta)

    def profile(eps):
        first = mpmath.erfc((eps / mu - mu / 2) / mpmath.sqrt(2)) / 2
        return first - mpmath.exp(eps) * mpmath.erfc((eps / mu + mu / 2) / mpmath.sqrt(2)) / 2

    if profile(mpmath.mpf(0)) <= delta:
        return 0.0
    low, high = mpmath.mpf(0), mu * (mpmath.sqrt(-2 * mpmath.log(delta)) + mu)
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if profile(middle) > delta else (low, middle)
    return float(low)


def fine_enough(q, z, steps, delta, epsilon):
    """The interval at which connecting the dots raises epsilon by at most 2e-7 of itself: (s + 1) * steps * h^2 / 12."""
    deviation = q * math.sqrt(steps * math.expm1(1 / z**2))
    tilt = math.sqrt(2 * math.log(1 / delta)) / deviation
    return math.sqrt(12 * 2e-7 * epsilon / (steps * (tilt + 1)))


def poisson_add_remove(q, z, steps, delta, interval):
    one = pld.from_gaussian_mechanism(
        standard_deviation=z,
        sensitivity=1.0,
        sampling_prob=q,
        value_discretization_interval=interval,
        use_connect_dots=True,
    )
    return one.self_compose(steps).get_epsilon_for_delta(delta)


def main():
    rng = random.Random(20240611)
    cases = []
    while len(cases) < 300:
        full = len(cases) % 3 == 0
        adjacency = rng.choice(["add-remove", "replace-one"])
        z = log_uniform(rng, 0.5, 30.0)
        steps = int(log_uniform(rng, 1, 2000))
        delta = log_uniform(rng, 1e-8, 1e-2)
        if full:
            mu = (1.0 if adjacency == "add-remove" else 2.0) / z * math.sqrt(steps)
            cases.append(dict(q=1.0, z=z, steps=steps, delta=delta, adjacency=adjacency,
                              epsilon=gaussian_epsilon(mu, delta), reference="closed form"))
            continue
        # dp_accounting's PLD knows Poisson sampling under add-remove only.
        q = log_uniform(rng, 1e-4, 0.9)
        deviation = q * math.sqrt(steps * math.expm1(1 / z**2))
        # A step at which the reference's own error stays below 2e-7; cases that would need a very fine one are left out.
        interval = min(1e-4, fine_enough(q, z, steps, delta, deviation))
        if interval < 3e-5 or deviation > 3:
            continue
        start = time.time()
        epsilon = poisson_add_remove(q, z, steps, delta, interval)
        if not 1e-3 < epsilon < 50:
            continue
        if fine_enough(q, z, steps, delta, epsilon) < interval / 2:
            continue
        cases.append(dict(q=q, z=z, steps=steps, delta=delta, adjacency="add-remove", epsilon=epsilon, interval=interval,
                          reference=f"dp_accounting {DP_ACCOUNTING} PLD", seconds=round(time.time() - start, 3)))
    HERE.mkdir(exist_ok=True)
    (HERE / "grid.json").write_text(json.dumps(cases, indent=0) + "\n")

    gaussian = [dict(mu=mu, delta=delta, epsilon=gaussian_epsilon(mu, delta), reference=f"mpmath {MPMATH}, 60 digits")
                for mu in (1e-6, 1e-3, 0.01, 0.06, 0.3, 1.0, 3.0, 30.0, 200.0)
                for delta in (1e-300, 1e-100, 1e-30, 1e-12, 1e-7, 1e-5, 1e-3, 0.05, 0.4)]
    (HERE / "gaussian.json").write_text(json.dumps(gaussian, indent=0) + "\n")


if __name__ == "__main__":
    main()
