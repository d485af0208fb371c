"""The experiments of the papers, from Python."""

import pytest

import reticent


def test_an_experiment_is_run_and_its_claims_are_told():
    names = list(reticent.experiments().index)
    assert "rdp20-rdp" in names or len(names) > 5
    # About numbers alone: no model is trained.
    name = next(one for one in names if "acct" in one)
    found = reticent.reproduce(name, quick=True)
    assert len(found.claims) > 0 and set(found.claims["verdict"]) <= {"held", "did not hold", "tie"}
    for numbers in found.figures.values():
        assert list(numbers.columns) == ["series", "x", "mean", "standard_error", "runs"]
        assert numbers["mean"].notna().all()
    assert all(text.startswith("<svg") for text in found.pictures.values())
    assert name in repr(found)


def test_what_is_not_there_is_said(monkeypatch):
    with pytest.raises(ValueError, match="there are"):
        reticent.reproduce("magic")
