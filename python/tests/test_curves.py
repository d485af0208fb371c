"""Curves of columns: found, shown and refused, from Python."""

import json

import numpy as np
import pytest

from reticent import PrivateLogisticRegression, PrivateRidge, PrivateSearchCV, load, simulate


def hill(n=3000):
    """Those in the middle are ill; the second column says nothing."""
    draw = np.random.default_rng(3)
    x = draw.uniform(0, 100, (n, 2))
    return x, np.where(np.abs(x[:, 0] - 50) < 20, "yes", "no")


def model(**options):
    arguments = {"epsilon": 4.0, "delta": 1e-6, "bounds": (0, 100), "classes": ["no", "yes"], **options}
    return PrivateLogisticRegression(**arguments)


def test_a_hill_is_found_and_shown(tmp_path):
    X, y = hill()
    bent = model(curves=3).fit(X, y)
    assert bent.score(X, y) > 0.85 > model().fit(X, y).score(X, y)
    assert bent.coef_names_[:4] == ["1", "1@25", "1@50", "1@75"]
    assert np.isnan(bent.coef_).all()
    table = bent.curves_
    first = np.asarray(table["column"]) == "1"
    values = np.asarray(table["value"])[first]
    assert len(values) == 5 and values[2] == max(values)
    # That which moves most comes first, and there is no band that nobody paid for.
    assert np.asarray(table["column"])[0] == "1" and "estimate" not in table
    bent.report(tmp_path / "page.html")
    assert "What each column does" in (tmp_path / "page.html").read_text(encoding="utf-8")
    again = load(bent.save(tmp_path / "m"))
    assert np.array_equal(np.asarray(again.curves_["value"]), np.asarray(table["value"]))
    assert b"reticent_b0" in bent.export("sql")


def test_a_band_is_paid_for_and_a_line_has_no_curve():
    pytest.importorskip("matplotlib").use("agg")
    draw = np.random.default_rng(5)
    x = draw.uniform(0, 10, (6000, 2))
    y = np.abs(x[:, 0] - 5) - 0.4 * x[:, 1] + draw.normal(size=6000)
    ridge = PrivateRidge(
        0.0, epsilon=8.0, delta=1e-6, bounds=(0, 10), target_bounds=(-12, 12), curves=1, standard_errors=0.5
    ).fit(x, y)
    lower, upper = (np.asarray(ridge.curves_[end]) for end in ("lower", "upper"))
    assert (lower < upper).all()
    assert len(ridge.plot_curves().axes) == 2
    with pytest.raises(ValueError, match="no column of the model is curved"):
        model().fit(*hill()).plot_curves()


def test_auto_goes_by_public_numbers_alone():
    X, y = hill()
    knots = lambda fitted: json.loads(fitted.model_.curves())[0]["knots"]
    assert len(knots(model(curves="auto").fit(X, y))) == 8
    assert not hasattr(model(curves="auto", epsilon=0.01).fit(X, y), "curves_")
    with pytest.raises(ValueError, match="public number of records"):
        model(curves="auto", adjacency="add-remove").fit(X, y)
    public = model(curves="auto", adjacency="add-remove", public_n=2500).fit(X, y)
    assert len(knots(public)) == 8
    with pytest.raises(ValueError, match="number of persons"):
        model(curves="auto").fit(X, y, groups=np.arange(len(y)) // 2)
    with pytest.raises(ValueError, match="auto, off, or a number"):
        model(curves="many").fit(X, y)
    assert not hasattr(model(curves="off").fit(X, y), "curves_")


def test_several_runs_and_parties_take_a_number():
    X, y = hill(400)
    with pytest.raises(ValueError, match="part of the budget"):
        PrivateSearchCV(model(curves="auto"), {"alpha": [1e-3, 1e-2]}).fit(X, y)
    with pytest.raises(ValueError, match="between parties"):
        simulate(model(curves="auto"), X, y, parties=4)
