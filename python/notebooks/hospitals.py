# %% [markdown]
# # Five hospitals
#
# Five hospitals want one model of who will have a stroke, and none may show a record to another.
# They trust a server with sums, or with nothing, or do without one.
# All of it runs in this process, with the messages that would travel between them.

# %%
import numpy as np
import pandas as pd

import reticent
from reticent import PrivateLogisticRegression, plot

HOSPITALS = ["east", "harbour", "north", "south", "west"]


def patients(count, seed):
    """Invented patients, the hospital that each is at, and who had a stroke."""
    rng = np.random.default_rng(seed)
    hospital = rng.choice(HOSPITALS, count)
    # The one at the harbour sees the young alone.
    oldest = np.where(hospital == "harbour", 35, 90)
    table = pd.DataFrame({
        "age": rng.uniform(18, oldest),
        "pressure": np.clip(rng.normal(130, 20, count), 80, 200),
        "hospital": hospital,
    })
    score = 0.08 * (table["age"] - 60) + 0.04 * (table["pressure"] - 130)
    table["stroke"] = (score + rng.logistic(0, 1, count) > 0).astype(int)
    return table


table, later = patients(5_000, 1), patients(4_000, 2)
table.groupby("hospital").size()

# %%
FEATURES = ["age", "pressure"]
model = PrivateLogisticRegression(
    epsilon=1.0, delta=1e-6, unit="record", classes=[0, 1],
    bounds={"age": (18, 90), "pressure": (80, 200)},
    algorithm="federated", settings={"iterations": 40},
)

# %% [markdown]
# ## Whom do they trust?
#
# The same model at the same ε, against a server that sees every message (`local`), one that sees
# masked sums alone (`secure-aggregation`), and whoever sees the result (`central`).
# One run says little, so here are ten: their mean accuracy, and how much noise moves a weight.
# (Behind masks and with a trusted server the noise goes by the party with the fewest records:
# a small one among large ones had better join another.)

# %%
runs, accuracy, noise = {}, {}, {}
for trust in ("local", "secure-aggregation", "central"):
    scores, weights = [], []
    for _ in range(10):
        run = reticent.simulate(
            model, table[FEATURES], table["stroke"], table["hospital"], trust=trust
        )
        scores.append(run.model.score(later[FEATURES], later["stroke"]))
        weights.append(run.model.coef_[0, 0])
    runs[trust], accuracy[trust], noise[trust] = run, np.mean(scores), np.std(weights)
pd.DataFrame({
    "accuracy": accuracy,
    "noise of age": noise,
    "messages": {trust: run.messages for trust, run in runs.items()},
    "bytes": {trust: run.bytes for trust, run in runs.items()},
}).round(4)

# %% [markdown]
# Each hospital has its own books and its own certificate:

# %%
runs["secure-aggregation"].to_frame()

# %%
print(runs["secure-aggregation"].model.certificate_.meaning)

# %% [markdown]
# ## One of them has a smaller budget
#
# It stops when that is spent, and the others go on.

# %%
cautious = reticent.simulate(
    model, table[FEATURES], table["stroke"], table["hospital"],
    trust="local", party_epsilon={"harbour": 0.4},
)
plot.parties(cautious)

# %% [markdown]
# ## When messages are lost
#
# What was sent and lost is spent nevertheless, and the certificate does not change.

# %%
for lost in (0.0, 0.3):
    run = reticent.simulate(
        model, table[FEATURES], table["stroke"], table["hospital"],
        trust="local", failures={"after": lost},
    )
    accuracy = run.model.score(later[FEATURES], later["stroke"])
    print(f"{100 * lost:3.0f} % lost: accuracy {accuracy:.3f}, "
          f"epsilon {run.model.certificate_.epsilon():.3f}")

# %% [markdown]
# ## Without a server
#
# Peers that talk to their neighbours on a ring, by decentralised ADMM.

# %%
peers = model.__class__(**{**model.get_params(), "algorithm": "r-admm", "epsilon": 4.0})
ring = reticent.simulate(
    peers, table[FEATURES], table["stroke"], table["hospital"], topology="ring"
)
print(ring)
print("accuracy", round(ring.model.score(later[FEATURES], later["stroke"]), 3))

# %% [markdown]
# ## And each alone?
#
# The hospital at the harbour has records of the young; what does its own model, at the same ε, make
# of everybody?

# %%
own = table[table["hospital"] == "harbour"]
alone = PrivateLogisticRegression(
    epsilon=1.0, delta=1e-6, classes=[0, 1], bounds={"age": (18, 90), "pressure": (80, 200)}
)
scores = []
for _ in range(10):
    alone.fit(own[FEATURES], own["stroke"])
    scores.append(alone.score(later[FEATURES], later["stroke"]))
print("alone:", round(np.mean(scores), 3))
