#!/usr/bin/env python3
"""Outside values for what a contribution to a random walk costs. Needs Python alone:

    python3 golden/make_iteration.py

Writes golden/accountant/iteration.json: M of proofs/iteration.md for users n and s = (order - 1) times the local divergence, by sums
over every length (no blocks), 40 runs and a root by bisection (`price` = ln M), beside ln E exp(s max(1/l, 1/n)), each contribution by
itself (`alone`). `simulated` is ln F(c)/c of c = 12 contributions over 20,000 random paths with a seed, the shifts taken off in runs,
and `error` its standard error: the theorem has F(c) <= M^c.
"""
import json
import math
import pathlib
import random

OUT = pathlib.Path(__file__).parent / "accountant" / "iteration.json"
RUNS, CONTRIBUTIONS, PATHS = 40, 12, 20_000


def excess(n, s, j):
    """E exp(s max(j²/G, j/n)) - 1, G a sum of j geometric lengths with parameter 2/n."""
    p, q = 2 / n, 1 - 2 / n
    if q == 0:
        return math.expm1(s * j)
    mass, terms, left = p**j, [], 1.0
    for g in range(j, j * n):
        terms.append(mass * math.expm1(s * j * j / g))
        left -= mass
        mass *= q * g / (g + 1 - j)
    return math.fsum(terms) + max(left, 0.0) * math.expm1(s * j / n)


def price(n, s):
    x = [excess(n, s, j) for j in range(1, RUNS + 1)]
    low, high = 0.0, x[0]
    for _ in range(80):
        m = (low + high) / 2
        left = math.fsum(x[j - 1] * (0.5 / (1 + m)) ** j / j for j in range(1, RUNS + 1))
        low, high = (low, m) if left <= math.log1p(m / (1 + m)) else (m, high)
    return math.log1p(high), math.log1p(x[0])


def cost(spans, n):
    runs = []
    for g in spans:
        m = 1
        while runs and runs[-1][0] * g > m * runs[-1][1]:
            before = runs.pop()
            m, g = m + before[0], g + before[1]
        runs.append((m, g))
    return sum(m * max(m / g, 1 / n) for m, g in runs)


def simulated(n, s, seed):
    draw = random.Random(seed)
    length = lambda p: 1 if p >= 1 else 1 + int(math.log(1 - draw.random()) / math.log1p(-p))
    values = []
    for _ in range(PATHS):
        total, spans = 0.0, []
        for k in range(CONTRIBUTIONS):
            seen, last = draw.random() < 0.5, k + 1 == CONTRIBUTIONS
            spans.append(length(2 / n) + (length(1 / n) if last and not seen else 0))
            if seen or last:
                total, spans = total + cost(spans, n), []
        values.append(math.exp(s * total))
    mean = math.fsum(values) / PATHS
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / PATHS**2)
    return math.log(mean) / CONTRIBUTIONS, spread / mean / CONTRIBUTIONS


def main():
    rows = []
    for n in (2, 3, 5, 10, 50, 200, 1000):
        for s in (0.001, 0.1, 0.5, 2.0):
            root, alone = price(n, s)
            mean, error = simulated(n, s, 1000 * n + int(1000 * s))
            rows.append({"users": n, "s": s, "price": root, "alone": alone, "simulated": mean, "error": error})
    OUT.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
