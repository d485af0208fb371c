"""What one party of a walk along the edges of a graph learns of another's contribution: the table of docs/decentralised.md.

    python3 benches/walk_pairs.py [--parties 50] [--steps 1000] [--path 300000]

Needs numpy. Metropolis weights: to each neighbour with probability 1/(1 + the larger degree), otherwise the token stays. All figures
are parts of the local divergence, for small epsilon: `alone` is E max(1/l, 1/n), l the steps from a contribution until the token is
with its maker or with who looks (proofs/iteration.md, other graphs); `runs` shares the noise among contributions that are seen
together, on one simulated path; `identity` is the exact cost of identity maps on it, if the path is known: what no proof can go
below; `formula` is H_T/n - ln(I - W + 11'/n) of arXiv 2402.07471, Theorem 3.
"""
import argparse

import numpy as np


def edges(kind, n, draw):
    a = np.zeros((n, n))
    pairs = {
        "ring": [(i, (i + 1) % n) for i in range(n)],
        "star": [(0, i) for i in range(1, n)],
        "grid": [(i, i + 1) for i in range(n) if (i + 1) % 10] + [(i, i + 10) for i in range(n - 10)],
    }
    if kind == "erdos-renyi:0.3":
        a = np.triu(draw.random((n, n)) < 0.3, 1).astype(float)
    for i, j in pairs.get(kind, []):
        a[i, j] = 1
    return a + a.T


def weights(kind, n, draw):
    if kind == "complete":
        return np.full((n, n), 1 / n)
    a = edges(kind, n, draw)
    degree = a.sum(1)
    w = a / (1 + np.maximum.outer(degree, degree))
    return w + np.diag(1 - w.sum(1))


def alone(w, u, v):
    n = len(w)
    others = [i for i in range(n) if i not in (u, v)]
    here, inside = w[u, others], w[np.ix_(others, others)]
    back = w[np.ix_(others, [u, v])].sum(1)
    total, left, ends = 0.0, 1.0, w[u, u] + w[u, v]
    for k in range(1, n):
        total, left = total + ends / k, left - ends
        ends, here = here @ back, here @ inside
    return total + left / n


def runs(spans):
    found = []
    for g in spans:
        m = 1
        while found and found[-1][0] * g > m * found[-1][1]:
            before = found.pop()
            m, g = m + before[0], g + before[1]
        found.append((m, g))
    return sum(m * m / g for m, g in found)


def on_a_path(w, u, v, steps, draw):
    to, at = w.cumsum(1), v
    shared = identity = count = hidden = 0
    spans = []
    for chance in draw.random(steps):
        at = min(int(np.searchsorted(to[at], chance)), len(w) - 1)
        if at == v:
            if spans:
                shared, identity = shared + runs(spans), identity + len(spans) ** 2 / hidden
                count += len(spans)
            spans, hidden = [], 0
            continue
        hidden += 1
        if at == u:
            spans.append(1)
        elif spans:
            spans[-1] += 1
    return shared / count, identity / count


def formula(w, steps):
    value, vector = np.linalg.eigh(w)
    log = (vector[:, :-1] * -np.log(1 - value[:-1])) @ vector[:, :-1].T
    return (1 / np.arange(1, steps + 1)).sum() / len(w) + log


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parties", type=int, default=50)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--path", type=int, default=300_000)
    given = parser.parse_args()
    n, draw = given.parties, np.random.default_rng(3)
    for kind, u in [("complete", 0), ("erdos-renyi:0.3", 0), ("grid", 0), ("ring", 0), ("star", 1)]:
        w = weights(kind, n, draw)
        said = formula(w, given.steps)
        near = int(np.nonzero((w[u] > 0) & (np.arange(n) != u))[0][0])
        for v in dict.fromkeys([near, int(np.argmin(said[u] + np.eye(n)[u]))]):
            shared, identity = on_a_path(w, u, v, given.path, draw)
            figures = f"alone {alone(w, u, v):.3f}  runs {shared:.3f}  identity {identity:.3f}  formula {said[u, v]:.3f}"
            print(f"{kind:16} {u:2} -> {v:2}  {figures}")


if __name__ == "__main__":
    main()
