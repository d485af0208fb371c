"""Privacy profiles for the tests of the second accountant: golden/accountant/second.json.

Made with Python 3.11 and mpmath 1.3.0, about two minutes:

    python golden/make_second_accountant.py

Each case is one direction of one pair: the sum of the squares of the Gaussian events' ratios, other laws with counts,
epsilon, and ln of the true delta(epsilon). Three ways that have nothing to do with each other nor with the Rust code:
the closed form for Gaussian events and for one event of any kind; all values added up for randomised responses and
for two Poisson events (a quadrature over the first of the second's closed form); and, for many events, the inversion
of the moments along a vertical line with mpmath's own quadrature for both integrals, the
step halved until nothing changes.
"""

import json
import pathlib

import mpmath as mp

OUT = pathlib.Path(__file__).parent / "accountant" / "second.json"
mp.mp.dps = 40


def ncdf(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def gaussian(mu, eps):
    mu, eps = mp.mpf(mu), mp.mpf(eps)
    mp.mp.dps = 400 if mu < 1e-3 or eps > 1000 else 40
    value = ncdf(mu / 2 - eps / mu) - mp.exp(eps) * ncdf(-mu / 2 - eps / mu)
    out = mp.log(value)
    mp.mp.dps = 40
    return out


def one_mixture(kind, q, mu, eps):
    """P(L > eps) - e^eps Q(L > eps), L monotone in x."""
    q, mu, eps = mp.mpf(q), mp.mpf(mu), mp.mpf(eps)
    where = lambda l: mu / 2 + mp.log((mp.exp(l) - 1 + q) / q) / mu
    if kind in ("removal", "symmetric"):
        x = where(eps)
        return (1 - q) * ncdf(-x) + q * ncdf(mu - x) - mp.exp(eps) * ncdf(-x)
    if kind == "addition":
        if mp.exp(-eps) <= 1 - q:
            return mp.mpf(0)
        x = where(-eps)
        return ncdf(x) - mp.exp(eps) * ((1 - q) * ncdf(x) + q * ncdf(x - mu))
    # exchange: a quadratic in y = e^{mu x}
    k = q * mp.exp(-mu * mu / 2)
    b = (1 - q) * (1 - mp.exp(eps))
    y = (-b + mp.sqrt(b * b + 4 * k * k * mp.exp(eps))) / (2 * k)
    x = mp.log(y) / mu
    p = lambda m: (1 - q) * ncdf(-x) + q * ncdf(m - x)
    return p(mu) - mp.exp(eps) * p(-mu)


def two_removals(q, mu, eps):
    """E over the first loss of the second's profile at what is left."""
    q, mu, eps = mp.mpf(q), mp.mpf(mu), mp.mpf(eps)
    low = mp.log(1 - q)

    def inner(x):
        l = mp.log(1 - q + q * mp.exp(mu * x - mu * mu / 2))
        density = (1 - q) * mp.npdf(x) + q * mp.npdf(x, mu)
        left = eps - l
        if mp.exp(left) <= 1 - q + mp.mpf(10) ** -30:
            return density * (1 - mp.exp(left))
        return density * one_mixture("removal", q, mu, left)

    kink = mu / 2 + mp.log((mp.exp(eps - low) - 1 + q) / q) / mu
    points = sorted([mp.mpf(x) for x in (-12, -4, 0, 2, 4, 8)] + [kink, mu, mu + 4, mu + 12, kink + 12])
    return mp.quad(inner, points)


def responses(e, n, eps):
    e, eps = mp.mpf(e), mp.mpf(eps)
    yes = 1 / (1 + mp.exp(-e))
    total = mp.mpf(0)
    for k in range(n + 1):
        l = (2 * k - n) * e
        if l > eps:
            total += mp.binomial(n, k) * yes**k * (1 - yes) ** (n - k) * (1 - mp.exp(eps - l))
    return total


def moments(law, s):
    kind = law["kind"]
    if kind == "laplace":
        r = mp.mpf(law["r"])
        return (mp.exp(s * r) + mp.exp(-(s + 1) * r)) / 2 + (mp.exp(s * r) - mp.exp(-(s + 1) * r)) / (2 * (2 * s + 1))
    if kind == "response":
        e = mp.mpf(law["e"])
        return (mp.exp((s + 1) * e) + mp.exp(-s * e)) / (1 + mp.exp(e))
    q, mu = mp.mpf(law["q"]), mp.mpf(law["mu"])
    w = lambda x: 1 - q + q * mp.exp(mu * x - mu * mu / 2)
    a = s + 1 if kind == "removal" else -s
    far = mp.re(a) * mu
    points = sorted({mp.mpf(-14), mp.mpf(0), mu, 2 * mu, far, far + 14, mp.mpf(14), mu / 2 + mp.log((1 - q) / q) / mu})
    if kind in ("removal", "addition"):
        return mp.quad(lambda x: mp.npdf(x) * w(x) ** a, points)
    if kind == "symmetric":
        inside = [x for x in points if x > mu / 2]
        both = lambda x: mp.npdf(x) * (w(x) ** (s + 1) + w(x) ** (-s))
        return mp.quad(both, [mu / 2] + inside) + (1 - q) * (ncdf(mu / 2) - ncdf(-mu / 2))
    m = lambda x: 1 - q + q * mp.exp(-mu * x - mu * mu / 2)
    reach = (2 * mp.re(s) + 1) * mu + 14
    return mp.quad(lambda x: mp.npdf(x) * w(x) ** (s + 1) * m(x) ** (-s), [-14, -4, 0, 4, reach])


def line(case, eps, c, step):
    """The trapezoidal rule on Re s = c, with half the step again until nothing changes."""
    mp.mp.dps = 20
    known = {}

    def value(t):
        if t not in known:
            s = mp.mpc(c, t)
            k = mp.mpf(case["gaussian"]) * s * (s + 1) / 2
            for law in case["laws"]:
                k += law["count"] * mp.log(moments(law, s))
            known[t] = mp.exp(k - s * eps) / (s * (s + 1))
        return known[t]

    def rule(h):
        total = value(mp.mpf(0)) / 2
        for k in range(1, 4000):
            term = value(k * h)
            total += term
            if abs(term) < abs(total) * mp.mpf(10) ** -15:
                break
        return mp.re(total) * h / mp.pi

    h = mp.mpf(step)
    coarse, fine = rule(h), rule(h / 2)
    while abs(coarse - fine) > abs(fine) * mp.mpf(10) ** -11:
        h /= 2
        coarse, fine = fine, rule(h / 2)
    mp.mp.dps = 40
    return fine if c > 0 else 1 + fine


def mixture(kind, q, mu, count):
    return {"kind": kind, "q": q, "mu": mu, "count": count}


def main():
    cases = []

    def add(gauss, laws, eps, ln_delta):
        cases.append({"gaussian": gauss, "laws": laws, "epsilon": eps, "ln_delta": float(ln_delta)})
        print(cases[-1], flush=True)

    for mu, eps in [(1, 1), (0.5, 2), (1e-3, 0.02), (1e-6, 3e-5), (30, 400), (1000, 5e5), (1000, 4.7e5), (3e3, 4.6e6), (5, 60),
                    (0.1, 3.6), (2, 0), (1e-6, 1e-6)]:
        add(mu * mu, [], eps, gaussian(mp.sqrt(mp.mpf(mu * mu)), eps))
    for kind, q, mu, eps in [
        ("removal", 0.01, 1, 1), ("addition", 0.3, 2, 0.3), ("exchange", 0.2, 1, 0.7), ("symmetric", 0.1, 2, 2),
        ("removal", 1e-5, 1000, 499987), ("symmetric", 1e-5, 200, 19369), ("exchange", 1e-3, 30, 800),
        ("removal", 1e-9, 20, 10), ("removal", 0.5, 0.01, 0.05), ("exchange", 0.9, 3, 0.01),
    ]:
        mp.mp.dps = 60
        add(0, [mixture(kind, q, mu, 1)], eps, mp.log(one_mixture(kind, q, mu, eps)))
        mp.mp.dps = 40
    for q, mu, eps in [(0.5, 1, 1), (0.01, 30, 400), (0.1, 5, 30), (0.001, 10, 60)]:
        add(0, [mixture("removal", q, mu, 2)], eps, mp.log(two_removals(q, mu, eps)))
    for e, n, eps in [(1, 5, 2), (70, 100, 601), (70, 100, 6901), (0.01, 3000, 1.5), (0.5, 40, 19.9), (228, 9, 1000)]:
        mp.mp.dps = 400
        value = mp.log(responses(e, n, eps))
        mp.mp.dps = 40
        add(0, [{"kind": "response", "e": e, "count": n}], eps, value)
    for gauss, laws, eps, c, step in [
        (0, [mixture("removal", 0.01, 1, 10000)], 6.1877, 3.0, 0.4),
        (0, [mixture("addition", 0.01, 1, 10000)], 6.1877, 4.0, 0.4),
        (0, [mixture("exchange", 0.01, 1, 10000)], 6.1877, 1.1, 0.25),
        (0, [mixture("symmetric", 0.01, 1, 10000)], 6.1877, 2.0, 0.3),
        (0, [mixture("removal", 0.5, 2, 400)], 500.0, 0.15, 0.02),
        (4.0, [mixture("removal", 0.1, 0.5, 300)], 12.0, 1.0, 0.2),
        (1.0, [{"kind": "laplace", "r": 0.3, "count": 30}], 6.0, 2.0, 0.4),
        (0.25, [{"kind": "response", "e": 1.0, "count": 8}], 7.0, 2.0, 0.2),
        (0, [{"kind": "laplace", "r": 0.1, "count": 1000}], 10.0, 0.75, 0.2),
        (0, [mixture("removal", 1e-4, 2, 1000000)], 3.0, 2.0, 0.4),
    ]:
        case = {"gaussian": gauss, "laws": laws}
        add(gauss, laws, eps, mp.log(line(case, eps, c, step)))
    OUT.write_text(json.dumps({"made_with": f"mpmath {mp.__version__}", "cases": cases}, indent=1) + "\n")


main()
