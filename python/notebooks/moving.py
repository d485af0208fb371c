# %% [markdown]
# # Moving from diffprivlib or Opacus
#
# The same job side by side: logistic regression at ε = 1.
# A library that is not installed is passed over, with a word.

# %%
import time
import warnings

import numpy as np

import reticent
from reticent import PrivateLogisticRegression, accounting

EPSILON, DELTA = 1.0, 1e-6
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(6_000, 8))
y = (X @ np.linspace(2, -2, 8) + rng.logistic(0, 0.5, 6_000) > 0).astype(int)
X_train, y_train, X_test, y_test = X[:4_000], y[:4_000], X[4_000:], y[4_000:]
told = []


def tell(name, score, seconds, promise):
    told.append((name, score, seconds, promise))
    print(f"{name}: accuracy {score:.3f} in {seconds:.3f} s; {promise}")


# %% [markdown]
# ## diffprivlib
#
# Objective perturbation with pure ε: noise is added to what is minimised, once.
# `data_norm` is the norm that rows are clipped to;
# left out, it is read off the data, with a warning.

# %%
try:
    from diffprivlib.models import LogisticRegression
except ImportError:
    print("diffprivlib is not here: pip install diffprivlib")
else:
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = LogisticRegression(epsilon=EPSILON, data_norm=np.sqrt(8)).fit(X_train, y_train)
    tell("diffprivlib", theirs.score(X_test, y_test), time.perf_counter() - begun,
         f"epsilon {EPSILON}, delta 0")

# %% [markdown]
# ## Opacus
#
# DP-SGD: samples, clipped gradients of each record, and noise in every step.
# Its ε is counted for somebody who is added or removed, under Poisson sampling.

# %%
try:
    import torch
    from opacus import PrivacyEngine
except ImportError:
    print("Opacus is not here: pip install opacus")
else:
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        net = torch.nn.Linear(8, 1)
        data = torch.utils.data.TensorDataset(
            torch.tensor(X_train, dtype=torch.float32),
            torch.tensor(y_train, dtype=torch.float32)[:, None],
        )
        engine = PrivacyEngine()
        net, steps, loader = engine.make_private_with_epsilon(
            module=net,
            optimizer=torch.optim.SGD(net.parameters(), lr=2.0),
            data_loader=torch.utils.data.DataLoader(data, batch_size=400),
            target_epsilon=EPSILON, target_delta=DELTA, epochs=10, max_grad_norm=1.0,
        )
        for _ in range(10):
            for rows, labels in loader:
                steps.zero_grad()
                torch.nn.functional.binary_cross_entropy_with_logits(net(rows), labels).backward()
                steps.step()
        with torch.no_grad():
            scores = net(torch.tensor(X_test, dtype=torch.float32)).numpy()[:, 0]
    tell("Opacus", float(np.mean((scores > 0) == y_test)), time.perf_counter() - begun,
         f"epsilon {engine.get_epsilon(DELTA):.3f}, delta {DELTA}, add-remove")

# %% [markdown]
# ## Here
#
# Bounds and classes are said, because both are attributes of the data;
# the rest is chosen within the budget.
# ε is for one record replaced by another, which is the dearer neighbourhood;
# `adjacency` asks for the other one.

# %%
for adjacency in ("replace-one", "add-remove"):
    begun = time.perf_counter()
    model = PrivateLogisticRegression(
        epsilon=EPSILON, delta=DELTA, bounds=(-1, 1), classes=[0, 1], alpha=1e-4,
        adjacency=adjacency, public_n=4_000 if adjacency == "add-remove" else None,
    ).fit(X_train, y_train)
    tell("reticent", model.score(X_test, y_test), time.perf_counter() - begun,
         f"epsilon {model.certificate_.epsilon():.3f}, delta {DELTA}, {adjacency}")

# %% [markdown]
# ## What is called what
#
# | there | here |
# | --- | --- |
# | diffprivlib `epsilon` | `epsilon`, with a `delta`; for δ = 0 `algorithm="amp"` and `settings={"law": "spherical-laplace"}` |
# | diffprivlib `data_norm` | `row_norm`, or `bounds` for each column |
# | diffprivlib `bounds` | `bounds`; never read off the data |
# | diffprivlib `BudgetAccountant` | `Budget`, which `clone`, joblib and processes cannot lose |
# | diffprivlib `random_state` | `random_state`; the certificate then says NOT PRIVATE |
# | Opacus `max_grad_norm` | `settings={"clip": …}`; chosen by default |
# | Opacus `noise_multiplier` | follows from `epsilon` and `delta` |
# | Opacus `target_epsilon`, `target_delta` | `epsilon`, `delta` |
# | Opacus `epochs`, `batch_size` | `settings={"iterations": …, "sampling": "poisson:0.1"}` |
# | Opacus `PrivacyEngine.get_epsilon(delta)` | `certificate_.epsilon(delta)` |
#
# ## The same account
#
# What Opacus counts can be counted again here, with both ends of what is known:

# %%
step = accounting.poisson_gaussian(1.0, rate=0.1, adjacency="add-remove")
between = accounting.epsilon(step * 100, DELTA, bounds=True)
print("100 steps of noise 1 at rate 0.1:")
print(f"here: between {between.lower:.4f} and {between.upper:.4f}")
try:
    from opacus.accountants import PRVAccountant
except ImportError:
    pass
else:
    theirs = PRVAccountant()
    theirs.history = [(1.0, 0.1, 100)]
    print(f"Opacus: {theirs.get_epsilon(DELTA):.4f}")

# %% [markdown]
# ## And what moves with you
#
# A pipeline, a search and a pickle stay as they are, because the estimators are scikit-learn's.
# What is new is the certificate, which can be checked years later:

# %%
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

steps = make_pipeline(
    FunctionTransformer(),
    PrivateLogisticRegression(epsilon=EPSILON, delta=DELTA, bounds=(-1, 1), classes=[0, 1]),
).fit(X_train, y_train)
assert isinstance(steps[-1].certificate_.verify(), reticent.Certificate)
steps[-1].certificate_
