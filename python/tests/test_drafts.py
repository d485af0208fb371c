"""A schema that was drafted from a private file. A table in memory may be that file, so that no job
on it is a guarantee, unless the draft says that the file is public."""

import os
import shutil
import subprocess

import numpy as np
import pytest
from conftest import BUDGET

import reticent
from reticent import PrivateLogisticRegression

pandas = pytest.importorskip("pandas")

CLI = os.environ.get("RETICENT") or shutil.which("reticent")
pytestmark = pytest.mark.skipif(CLI is None, reason="the command line is not there to draft")

FEW = {"iterations": 5}

JOBS = {
    "fit": lambda model, X, y: model.fit(X, y).certificate_,
    "standard errors": lambda model, X, y: (
        model.set_params(standard_errors=0.2, settings=None).fit(X, y).certificate_
    ),
    "trace": lambda model, X, y: model.set_params(trace=True).fit(X, y).certificate_,
    "search": lambda model, X, y: (
        reticent.PrivateSearchCV(model, {"alpha": [1e-3, 1e-2]}).fit(X, y).certificate_
    ),
    "simulate": lambda model, X, y: (
        reticent.simulate(model.set_params(settings=None), X, y, parties=4).model.certificate_
    ),
    "evaluate": lambda model, X, y: (
        reticent.evaluate(model.fit(X, y), X, y, **BUDGET).certificate
    ),
    "private_score": lambda model, X, y: (
        model.fit(X, y).private_score(X, y, **BUDGET).certificate
    ),
    "mean": lambda model, X, y: reticent.mean(X, "age", schema=model.schema, **BUDGET).certificate,
    "histogram": lambda model, X, y: (
        reticent.histogram(X, "age", schema=model.schema, **BUDGET).certificate
    ),
    "quantile": lambda model, X, y: (
        reticent.quantile(X, "age", schema=model.schema, **BUDGET).certificate
    ),
}  # class_counts takes no schema, and has no draft.


@pytest.fixture
def drafted(tmp_path, patients):
    X, y = patients
    table = pandas.DataFrame(X, columns=["age", "pressure"])
    table.assign(ill=np.where(y == 1, "yes", "no")).to_csv(tmp_path / "t.csv", index=False)
    draft = tmp_path / "s.toml"
    command = [CLI, "schema", "init", tmp_path / "t.csv", "--target", "ill", "--out", draft]
    subprocess.run(command, check=True, capture_output=True)
    return table, np.where(y == 1, "yes", "no"), draft


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.filterwarnings("ignore")
def test_no_job_under_a_draft_of_a_private_file_is_a_guarantee(job, drafted):
    X, y, draft = drafted
    model = PrivateLogisticRegression(**BUDGET, schema=draft, settings=FEW)
    certificate = JOBS[job](model, X, y)
    assert not certificate.certified
    assert any("drafted from this very table" in line for line in certificate.reasons)
    draft.write_text(draft.read_text().replace("public = false", "public = true"))
    certificate = JOBS[job](PrivateLogisticRegression(**BUDGET, schema=draft, settings=FEW), X, y)
    assert certificate.certified
    assert any("drafted from, t.csv, is public" in line for line in certificate.assumptions)


def test_no_budget_pays_for_such_a_sweep(drafted):
    X, y, draft = drafted
    budget = reticent.Budget(9, 1e-3)
    model = PrivateLogisticRegression(**BUDGET, schema=draft, settings=FEW, budget=budget)
    with pytest.raises(Exception, match="used without being paid for"):
        reticent.sweep(model, X, y, {"alpha": [1e-3]}, repeats=1)
    assert not budget.jobs
