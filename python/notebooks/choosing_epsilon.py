# %% [markdown]
# # Choosing ε
#
# ε is not a matter of taste alone.
# It says what an attacker can learn at the most, and it decides how much noise there is.
# Both can be looked at before anything is asked of the data.

# %%
import numpy as np
import pandas as pd

import reticent
from reticent import PrivateLogisticRegression, accounting, plot

EPSILONS = [0.1, 0.3, 1.0, 3.0]
DELTA = 1e-6

# %% [markdown]
# ## What it promises
#
# Somebody wants to know whether a person is in the table, and decides by looking at the model.
# They may sound the alarm wrongly in so many cases of a hundred; what do they miss, at the least?

# %%
ledgers = []
for epsilon in EPSILONS:
    noise = accounting.calibrate(epsilon, DELTA, accounting.gaussian).value
    ledgers.append(accounting.gaussian(noise))
plot.trade_off(*ledgers, labels=[f"ε = {epsilon:g}" for epsilon in EPSILONS])

# %%
print("with 5 false alarms in 100, of 100 who are there are found at the most:")
for epsilon, ledger in zip(EPSILONS, ledgers):
    missed = accounting.trade_off(ledger, 0.05).missed[0]
    print(f"  ε = {epsilon:<4g} {100 * (1 - missed):5.1f}")

# %% [markdown]
# ## What it costs
#
# The same job on made-up people of the same kind, at each ε and with several draws of the noise.
# A sweep like this on the private table itself would spend its budget many times:
# use public or made-up data of the same shape.


# %%
def people(count, seed):
    """Twelve numbers of invented people, and who is ill."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(count, 12))
    return X, (X @ np.linspace(1.5, -1.5, 12) + rng.logistic(0, 0.5, count) > 0).astype(int)


X_test, y_test = people(4_000, 0)
model = PrivateLogisticRegression(delta=DELTA, bounds=(-1, 1), classes=[0, 1])
tables = []
for count in (1_000, 10_000):
    found = reticent.sweep(
        model, *people(count, 1), {"epsilon": EPSILONS}, test=(X_test, y_test), public=True
    )
    tables.append(found.summary().assign(records=count))
sweep = pd.concat(tables, ignore_index=True)
plot.curves(sweep, "epsilon", "mean", by="records", lower="lower", upper="upper", log_x=True)

# %% [markdown]
# Ten times the people are worth about ten times the ε:
# the noise is the same, however many there are.

# %%
exact = PrivateLogisticRegression(bounds=(-1, 1), classes=[0, 1], algorithm="exact")
print("without any noise:", round(exact.fit(*people(10_000, 1)).score(X_test, y_test), 3))
sweep.pivot(index="epsilon", columns="records", values="mean").round(3)

# %% [markdown]
# ## What adds up
#
# ε of several releases from the same people composes, and a `Budget` composes it exactly: not one
# and one and one to three.

# %%
X, y = people(10_000, 1)
budget = reticent.Budget(2.0, DELTA)
model = PrivateLogisticRegression(
    epsilon=1.0, delta=DELTA, bounds=(-1, 1), classes=[0, 1], budget=budget
)
made = 0
try:
    while made < 10:
        model.fit(X, y)
        made += 1
except reticent.BudgetExceeded as refused:
    print(f"{made} fits at ε = 1 under a ceiling of 2:", refused)
plot.budget(budget)

# %% [markdown]
# ## A rule of thumb
#
# - δ well below one over the number of people: it is the chance that the promise does not hold.
# - ε ≤ 1 where a single row is delicate: nobody is found with more than a small advantage.
# - From ε = 5 on the curve says little against an attacker who knows much.
# - Whatever you choose, choose it *before* looking, and for all releases together.
