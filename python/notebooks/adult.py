# %% [markdown]
# # Adult, from raw CSV to certificate and report
#
# A table of a census: who earns more than 50,000 dollars a year?
# From the file as it is downloaded to a model that may be published,
# a score that may stand beside it, and a page for whoever answers for the data.
#
# With `RETICENT_DATA` naming a folder that holds `adult.data.xz` and `adult.test.xz`,
# the real table is read; without, one of the same form is made up, so that every cell runs.

# %%
import os
import pathlib
import tempfile

import numpy as np
import pandas as pd

import reticent
from reticent import Budget, PrivateLogisticRegression, plot

NUMBERS = {
    "age": (17, 90),
    "education_num": (1, 16),
    "capital_gain": (0, 20_000),
    "capital_loss": (0, 3_000),
    "hours": (1, 80),
}
CATEGORIES = {
    "workclass": "Federal-gov Local-gov Never-worked Private Self-emp-inc Self-emp-not-inc "
    "State-gov Without-pay",
    "marital_status": "Divorced Married-AF-spouse Married-civ-spouse Married-spouse-absent "
    "Never-married Separated Widowed",
    "occupation": "Adm-clerical Armed-Forces Craft-repair Exec-managerial Farming-fishing "
    "Handlers-cleaners Machine-op-inspct Other-service Priv-house-serv Prof-specialty "
    "Protective-serv Sales Tech-support Transport-moving",
    "relationship": "Husband Not-in-family Other-relative Own-child Unmarried Wife",
    "sex": "Female Male",
}
NAMES = [
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours", "country", "income",
]


# %% [markdown]
# ## The raw file
#
# No header, `", "` between fields, `?` where something is missing,
# and a full stop behind the labels of the second file.

# %%
def invented(rows, seed):
    """A table of the same form, of nobody."""
    rng = np.random.default_rng(seed)
    table = {name: rng.choice(words.split(), rows) for name, words in CATEGORIES.items()}
    table["age"] = rng.integers(17, 91, rows)
    table["education_num"] = np.clip(rng.normal(10, 2.6, rows).round(), 1, 16).astype(int)
    table["hours"] = np.clip(rng.normal(40, 12, rows).round(), 1, 99).astype(int)
    table["capital_gain"] = np.where(rng.random(rows) < 0.08, rng.integers(100, 30_000, rows), 0)
    table["capital_loss"] = np.where(rng.random(rows) < 0.05, rng.integers(100, 3_000, rows), 0)
    married = np.isin(table["marital_status"], ["Married-civ-spouse", "Married-AF-spouse"])
    score = (
        -6.5 + 0.04 * table["age"] + 0.3 * table["education_num"] + 0.03 * table["hours"]
        + 1.5 * married + 2e-4 * table["capital_gain"] - 2.0
    )
    rich = rng.random(rows) < 1 / (1 + np.exp(-score))
    table["income"] = np.where(rich, ">50K", "<=50K")
    for name in ("fnlwgt", "education", "race", "country"):
        table[name] = np.full(rows, "?")
    return pd.DataFrame(table)[NAMES]


def read(name, rows, seed):
    """The file of this name, or a made-up one, as it would be downloaded."""
    folder = os.environ.get("RETICENT_DATA")
    if folder and pathlib.Path(folder, name).exists():
        source = pathlib.Path(folder, name)
    else:
        source = pathlib.Path(tempfile.mkdtemp(), "table.csv")
        invented(rows, seed).to_csv(source, header=False, index=False)
    table = pd.read_csv(
        source, names=NAMES, skipinitialspace=True, na_values="?", comment="|"
    )
    table["income"] = table["income"].str.rstrip(".")
    return table


train, test = read("adult.data.xz", 12_000, 1), read("adult.test.xz", 6_000, 2)
print(f"{len(train)} records to train on, {len(test)} held out")
train[["age", "workclass", "education_num", "marital_status", "hours", "income"]].head(3)

# %% [markdown]
# ## What is public
#
# Nothing is read off the records: the bounds come from the questionnaire, and so do the categories.
# What is outside is clipped, and what is missing is a row of zeros.

# %%
schema = {
    "row_norm": 2.0,
    "column": [
        {"name": name, "kind": "numeric", "lower": lower, "upper": upper}
        for name, (lower, upper) in NUMBERS.items()
    ]
    + [
        {"name": name, "kind": "categorical", "categories": words.split(),
         "missing": "ignore", "unknown": "ignore"}
        for name, words in CATEGORIES.items()
    ]
    + [{"name": "income", "kind": "target", "classes": ["<=50K", ">50K"]}],
}
columns = [*NUMBERS, *CATEGORIES]

# %% [markdown]
# ## A budget for the data set, and a fit
#
# All that is ever asked of these people together stays within ε = 2, at δ = 10⁻⁶.
# The fit is given half of it.

# %%
budget = Budget(2.0, 1e-6, dataset="adult")
model = PrivateLogisticRegression(
    epsilon=1.0, delta=1e-6, schema=schema, alpha=1e-4, budget=budget
).fit(train[columns], train["income"])
model.certificate_

# %%
print(model.certificate_.meaning)
print("\nIt relies on this:")
for line in model.certificate_.assumptions:
    print("-", line)

# %% [markdown]
# What an attacker can make of the model at the most, and what the model says:

# %%
plot.trade_off(model)

# %%
plot.coefficients(model, most=12)

# %% [markdown]
# ## A score that may be published
#
# `score` computes it from the table as it is, which is NOT PRIVATE.
# `private_score` asks once, with noise, and pays; every figure comes with an interval.

# %%
held_out = Budget(1.0, 1e-6, dataset="adult, held out")
quality = model.private_score(
    test[columns], test["income"], epsilon=0.5, delta=1e-7, budget=held_out
)
quality

# %%
plot.evaluation(quality)

# %% [markdown]
# For this page alone, because the table is public: without noise the accuracy is

# %%
print(round((model.predict(test[columns]) == test["income"]).mean(), 4))
low, high = quality.score.interval
print(f"private: {quality.score.value:.4f}, between {low:.4f} and {high:.4f}")

# %% [markdown]
# ## What is left, and the report
#
# The model goes to a folder as the command line writes it, and from there everywhere:
# `reticent predict`, `reticent export --to onnx`.
# `report` is one page for whoever answers for the data:
# what is promised, what the model says, and which job of the budget paid for it.

# %%
plot.budget(budget)

# %%
folder = pathlib.Path(tempfile.mkdtemp())
model.save(folder / "model")
page = model.report(folder / "report.html")
print(f"{page.name}: {page.stat().st_size // 1000} kB, loads nothing")
again = reticent.load(folder / "model")
assert (again.predict(test[columns]) == model.predict(test[columns])).all()
again.certificate_.verify().certified
