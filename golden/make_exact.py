"""Optimal values for the tests of the exact solver: golden/exact/*.json.

Made with Python 3.11, numpy 2.4.6, scikit-learn 1.9.1:

    python golden/make_exact.py

Each file holds the data, so that the test needs no generator of its own, and the optimal value of

    (1/n) sum loss + penalty

with the penalties as the catalogue writes them: l1:λ is λ|x|, l2:λ is (λ/2)|x|², elastic-net is their sum,
nuclear:λ is λ times the sum of the singular values. The intercept is not penalised.
"""

import json
import pathlib

import numpy as np
import sklearn
from sklearn.linear_model import Lasso, LogisticRegression

OUT = pathlib.Path(__file__).parent / "exact"


def table(seed, n, d):
    rng = np.random.default_rng(seed)
    x = np.round(rng.standard_normal((n, d)) / np.sqrt(d), 3)
    return rng, x


def save(name, about, x, y, fits):
    made = f"numpy {np.__version__}, scikit-learn {sklearn.__version__}"
    text = {"about": about, "made_with": made, "rows": x.tolist(), "targets": y.tolist(), "fits": fits}
    (OUT / f"{name}.json").write_text(json.dumps(text) + "\n")


def fit(loss, penalty, intercept, optimum):
    return {"loss": loss, "penalty": penalty, "intercept": intercept, "optimum": float(optimum)}


def logistic():
    rng, x = table(1, 200, 10)
    n = len(x)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-(x @ rng.normal(0, 4, 10) + 0.5))), 1.0, -1.0)
    fits = []
    for intercept in (False, True):
        for l1, l2 in ((0.01, 0.0), (0.0, 0.01), (0.005, 0.02)):
            # scikit-learn minimises C * sum + l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2.
            model = LogisticRegression(
                C=1 / (n * (l1 + l2)), l1_ratio=l1 / (l1 + l2), solver="saga", tol=1e-13, max_iter=1_000_000,
                fit_intercept=intercept, random_state=0,
            ).fit(x, y)
            w, b = model.coef_[0], model.intercept_[0] if intercept else 0.0
            value = np.logaddexp(0, -y * (x @ w + b)).mean() + l1 * np.abs(w).sum() + l2 / 2 * w @ w
            penalty = f"elastic-net:{l1},{l2}" if l1 and l2 else f"l1:{l1}" if l1 else f"l2:{l2}"
            fits.append(fit("logistic", penalty, intercept, value))
    save("logistic", "scikit-learn LogisticRegression, saga, tol 1e-13", x, y, fits)


def lasso():
    rng, x = table(2, 200, 15)
    y = np.round(x @ (rng.normal(0, 2, 15) * (rng.random(15) < 0.4)) + 0.3 + 0.1 * rng.standard_normal(200), 3)
    y = np.round(y / np.abs(y).max(), 6)  # within ±1, as a gate wants targets
    fits = []
    for intercept in (False, True):
        for l1 in (0.001, 0.01):
            model = Lasso(alpha=l1, fit_intercept=intercept, tol=1e-14, max_iter=1_000_000).fit(x, y)
            value = 0.5 * ((x @ model.coef_ + model.intercept_ - y) ** 2).mean() + l1 * np.abs(model.coef_).sum()
            fits.append(fit("squared", f"l1:{l1}", intercept, value))
    save("lasso", "scikit-learn Lasso, tol 1e-14", x, y, fits)


def nuclear():
    """Accelerated proximal gradient with restarts; the optimum is certified by a duality gap.

    With G the gradient at W, convexity gives F(W') + λ|W'|_* >= F(W) + <G, W' - W> + λ|W'|_* for every W', so the
    gap is at most <G, W> + λ|W|_* plus what the spectral norm of G exceeds λ by, times a bound of |W'|_*; at the
    optimum the latter is at most (F(W) + λ|W|_*)/λ because F >= 0. Intercepts are taken to be below 100.
    """
    rng, x = table(3, 150, 8)
    k = 4
    truth = rng.normal(0, 3, (8, 2)) @ rng.normal(0, 1, (2, k))
    scores = x @ truth + rng.gumbel(size=(150, k))
    y = scores.argmax(1)
    fits = []
    for intercept in (False, True):
        for lam in (0.01, 0.04):
            a = np.hstack([x, np.ones((150, 1))]) if intercept else x
            d = 8

            def loss(w):
                s = a @ w
                top = s.max(1, keepdims=True)
                lse = np.log(np.exp(s - top).sum(1)) + top[:, 0]
                p = np.exp(s - lse[:, None])
                value = (lse - s[np.arange(150), y]).mean()
                p[np.arange(150), y] -= 1
                return value, a.T @ p / 150

            step = 1 / (0.5 * np.linalg.norm(a.T @ a / 150, 2))
            w = np.zeros((a.shape[1], k))
            v, t = w, 1.0
            for _ in range(200_000):
                new = v - step * loss(v)[1]
                u, s, vt = np.linalg.svd(new[:d], full_matrices=False)
                new[:d] = (u * np.maximum(s - step * lam, 0)) @ vt
                change = new - w
                if np.sum((v - new) * change) > 0:
                    t = 1.0
                t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
                v, w, t = new + (t - 1) / t_new * change, new, t_new
                if np.abs(change).max() < 1e-15:
                    break
            value, g = loss(w)
            size = np.linalg.norm(w[:d], "nuc")
            total = value + lam * size
            excess = max(0.0, np.linalg.norm(g[:d], 2) - lam)
            gap = np.sum(g * w) + lam * size + excess * total / lam
            if intercept:
                gap += np.abs(g[d:]).sum() * 100
            print("nuclear", intercept, lam, total, "relative gap", gap / total)
            assert gap <= 1e-9 * total
            fits.append(fit("multinomial:4", f"nuclear:{lam}", intercept, total))
    save("nuclear", "numpy, accelerated proximal gradient, relative duality gap below 1e-9", x, y.astype(float), fits)


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    logistic()
    lasso()
    nuclear()
