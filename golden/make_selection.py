#!/usr/bin/env python3
"""Outside values for the best of a random number of runs. Needs mpmath 1.4.1:

    python3 -m venv .venv && .venv/bin/pip install mpmath==1.4.1
    .venv/bin/python golden/make_selection.py

Writes golden/accountant/selection.json. One run answers x + N(0, 1), the score is the answer itself, and the neighbour moves the
mean by mu. The largest of K answers has the density f(t) g'(F(t)), with F the law of one answer and g the generating
function of K. So its privacy profile is an integral, which is done here to six digits (`truth`: what any accountant must
stay above), beside the bound of Papernot and Steinke (2022), Theorem 2 (truncated negative binomial K) or Theorem 6 with the
output "no run" (Poisson K), minimised over its orders by golden section (`theorem`: what the accountant should say).
"""
import json
import pathlib

import mpmath as mp

mp.mp.dps = 20
OUT = pathlib.Path(__file__).parent / "accountant" / "selection.json"


def slope(law, value):
    """g'(y) of the law's generating function."""
    if law["law"] == "poisson":
        m = mp.mpf(value["mean"])
        return lambda y: m * mp.exp(m * (y - 1))
    eta, gamma = mp.mpf(value["eta"]), mp.mpf(value["gamma"])
    # g(y) = ((1 - (1-gamma) y)^-eta - 1) / (gamma^-eta - 1), and for eta = 0 its limit.
    if eta == 0:
        return lambda y: (1 - gamma) / (1 - (1 - gamma) * y) / -mp.log(gamma)
    return lambda y: eta * (1 - gamma) * (1 - (1 - gamma) * y) ** (-eta - 1) / (gamma**-eta - 1)


def truth(mu, law, epsilon):
    """The profile of the largest answer, in the worse of the two directions."""
    g = slope(law, law)
    density = lambda t, at: mp.npdf(t - at) * g(mp.ncdf(t - at))
    worst = mp.mpf(0)
    for one, other in ((0, mu), (mu, 0)):
        gap = lambda t: max(density(t, one) - mp.exp(epsilon) * density(t, other), mp.mpf(0))
        # The density ratio crosses e^epsilon somewhere: pieces short enough that the kink does no harm.
        worst = max(worst, mp.quad(gap, mp.linspace(-6, 8, 57), maxdegree=4))
    return worst


def theorem(mu, law, delta):
    """epsilon at delta by the theorem and the conversion of Canonne, Kamath and Steinke (2020), Prop. 12."""
    renyi = lambda a: a * mu**2 / 2
    if law["law"] == "poisson":
        m = mp.mpf(law["mean"])

        def curve(a):
            e = mp.log(1 + 1 / (a - 1))
            hat = mp.ncdf(-e / mu + mu / 2) - mp.exp(e) * mp.ncdf(-e / mu - mu / 2)
            some = m * mp.exp((a - 1) * (renyi(a) + m * hat))
            return mp.log(mp.exp(-m) + some) / (a - 1)
    else:
        eta, gamma = mp.mpf(law["eta"]), mp.mpf(law["gamma"])
        mean = (1 / gamma - 1) / -mp.log(gamma) if eta == 0 else eta * (1 - gamma) / (gamma * (1 - gamma**eta))
        second = least(lambda b: (1 - 1 / b) * renyi(b) + mp.log(1 / gamma) / b)

        def curve(a):
            return renyi(a) + (1 + eta) * second + mp.log(mean) / (a - 1)

    return least(lambda a: curve(a) + mp.log(1 - 1 / a) - (mp.log(delta) + mp.log(a)) / (a - 1))


def least(of):
    """The smallest value over the orders: a sweep in ln(order - 1), then golden section."""
    at = lambda u: of(1 + mp.exp(u))
    u = min((mp.mpf(k) / 4 for k in range(-16, 49)), key=at)
    low, high, golden = u - mp.mpf(1) / 4, u + mp.mpf(1) / 4, (mp.sqrt(5) - 1) / 2
    for _ in range(60):
        a, b = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, b) if at(a) < at(b) else (a, high)
    return at((low + high) / 2)


def main():
    laws = [
        dict(law="truncated-negative-binomial", eta=1.0, gamma=0.1),
        dict(law="truncated-negative-binomial", eta=0.0, gamma=0.1),
        dict(law="poisson", mean=10.0),
    ]
    cases = []
    for law in laws:
        for mu in (mp.mpf(1) / 10, mp.mpf(1) / 2):
            for delta in (mp.mpf("1e-6"),):
                epsilon = theorem(mu, law, delta)
                cases.append(dict(mu=float(mu), repetitions=law, delta=float(delta), theorem=float(epsilon),
                                  truth_at=float(epsilon / 3), truth=float(truth(mu, law, epsilon / 3))))
    OUT.write_text("[\n" + ",\n".join(" " + json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
