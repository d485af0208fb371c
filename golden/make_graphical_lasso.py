"""Solutions of the graphical lasso for the tests: golden/graphical_lasso.json.

Made with Python 3.11, numpy 2.4.6, scikit-learn 1.9.1:

    python golden/make_graphical_lasso.py

Each case holds a covariance, the penalty on the entries off the diagonal, and the precision matrix that scikit-learn
finds with a tolerance of 1e-8.
"""

import json
import pathlib

import numpy as np
import sklearn
from sklearn.covariance import graphical_lasso


def case(seed, n, d, lam):
    rng = np.random.default_rng(seed)
    link = np.eye(d) + np.diag(np.full(d - 1, 0.45), 1) + np.diag(np.full(d - 1, 0.45), -1)
    x = rng.multivariate_normal(np.zeros(d), np.linalg.inv(link), size=n)
    x /= x.std(axis=0)
    s = np.round(x.T @ x / n, 6)
    _, precision = graphical_lasso(s, lam, tol=1e-8, enet_tol=1e-8, max_iter=1000)
    return {"covariance": s.tolist(), "lambda": lam, "precision": np.round(precision, 6).tolist()}


cases = [case(1, 400, 5, 0.05), case(2, 400, 8, 0.2), case(3, 60, 8, 0.01), case(4, 2000, 12, 0.1)]
made = f"numpy {np.__version__}, scikit-learn {sklearn.__version__}"
text = {"about": "graphical lasso, diagonal not penalised", "made_with": made, "cases": cases}
(pathlib.Path(__file__).parent / "graphical_lasso.json").write_text(json.dumps(text) + "\n")
