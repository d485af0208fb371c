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
    # Noise can leave no standard errors. In 150 runs at epsilon = 8 the least precision was a sixth of the usual; at 40 its
    # deviation is a tenth, and 0 is ten of them away.
    ridge = PrivateRidge(
        0.0, epsilon=40.0, delta=1e-6, bounds=(0, 10), target_bounds=(-12, 12), curves=1, standard_errors=0.5
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


def test_auto_does_not_go_by_rows_where_persons_are_protected(tmp_path):
    """The number of knots told how many rows there were, and one person may have more than another."""
    pandas = pytest.importorskip("pandas")
    schema = """
row_norm = 1
[[column]]
name = "age"
kind = "numeric"
lower = 20
upper = 90
[[column]]
name = "who"
kind = "user"
[[column]]
name = "ill"
kind = "target"
classes = ["no", "yes"]
"""
    (tmp_path / "s.toml").write_text(schema, encoding="utf-8")
    own = {"epsilon": 1.0, "delta": 1e-5, "schema": tmp_path / "s.toml", "curves": "auto"}
    table = pandas.DataFrame({"age": np.linspace(20, 90, 4000), "who": np.arange(4000) % 2000})
    ill = pandas.Series(np.where(table["age"] > 55, "yes", "no"), name="ill")
    for unit in (None, "user"):
        with pytest.raises(ValueError, match="persons where these are protected"):
            PrivateLogisticRegression(**own, unit=unit).fit(table, ill)
    assert hasattr(PrivateLogisticRegression(**own, public_n=2000).fit(table, ill), "curves_")
    assert hasattr(PrivateLogisticRegression(**own, unit="record").fit(table, ill), "curves_")


def test_several_runs_and_parties_take_a_number():
    X, y = hill(400)
    with pytest.raises(ValueError, match="part of the budget"):
        PrivateSearchCV(model(curves="auto"), {"alpha": [1e-3, 1e-2]}).fit(X, y)
    with pytest.raises(ValueError, match="between parties"):
        simulate(model(curves="auto"), X, y, parties=4)


SHAPES = """
row_norm = 2
pairs = [["age", "grade"]]
[[column]]
name = "age"
kind = "numeric"
lower = 0
upper = 100
[[column]]
name = "grade"
kind = "categorical"
categories = ["low", "fair", "good", "high"]
ordered = true
[[column]]
name = "ill"
kind = "target"
classes = ["no", "yes"]
"""


def test_an_order_and_a_pair_are_found_and_shown(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("agg")
    (tmp_path / "s.toml").write_text(SHAPES, encoding="utf-8")
    i = np.arange(3000)
    age, grade = i * 37 % 101, i // 3 % 4
    X = pandas.DataFrame({"age": age, "grade": np.array(["low", "fair", "good", "high"])[grade]})
    y = np.where((age > 50) == (grade > 1), "yes", "no")
    fitted = PrivateLogisticRegression(epsilon=4.0, delta=1e-6, schema=tmp_path / "s.toml")
    fitted.fit(X, y)
    assert fitted.score(X, y) > 0.8
    assert fitted.coef_names_ == ["age", "grade", "grade@good", "age*grade", "age*grade@middle",
                                  "age@middle*grade", "age@middle*grade@middle"]
    assert list(fitted.curves_["category"]) == ["low", "fair", "good", "high"]
    table = fitted.pairs_
    at = {(x, y): value for x, y, value in zip(table["x"], table["y"], table["value"])}
    assert at[0.0, "low"] > at[100.0, "low"] and at[0.0, "high"] < at[100.0, "high"]
    assert len(fitted.plot_pairs().axes) == 2  # the picture and its scale
    assert "lower" not in table
    assert fitted.plot_curves().axes[0].get_xticklabels()[0].get_text() == "low"
    with pytest.raises(ValueError, match="no pairs"):
        model().fit(*hill()).plot_pairs()


def test_a_pair_has_intervals_where_they_are_paid_for(tmp_path):
    pandas = pytest.importorskip("pandas")
    schema = SHAPES.replace('classes = ["no", "yes"]', "lower = -20\nupper = 20")
    schema = schema.replace("row_norm = 2", "row_norm = 1.5").replace("ordered = true", "ordered = true\ncurve = 0")
    (tmp_path / "s.toml").write_text(schema, encoding="utf-8")
    i = np.arange(12_120)
    age, grade = i * 37 % 101, i // 3 % 4
    X = pandas.DataFrame({"age": age, "grade": np.array(["low", "fair", "good", "high"])[grade]})
    y = (age - 50) * (grade - 1.5) / 15 + i % 5 / 10
    ridge = PrivateRidge(
        0.0, epsilon=40.0, delta=1e-6, schema=tmp_path / "s.toml", standard_errors=0.5, random_state=5
    )
    table = ridge.fit(X, y).pairs_
    assert len(table["lower"]) == 12
    assert (table["lower"] < table["estimate"]).all() and (table["estimate"] < table["upper"]).all()


def test_pictures_have_the_axes_of_their_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("agg")
    (tmp_path / "s.toml").write_text(
        """
row_norm = 2
[[column]]
name = "amount"
kind = "numeric"
lower = 0
upper = 999
scale = "log"
curve = 2
[[column]]
name = "day"
kind = "date"
lower = "2020-01-01"
upper = "2020-12-31"
curve = 1
[[column]]
name = "age"
kind = "numeric"
lower = 0
upper = 90
curve = 1
[[column]]
name = "ill"
kind = "target"
classes = ["no", "yes"]
""",
        encoding="utf-8",
    )
    i = np.arange(600)
    days = [f"2020-{k % 12 + 1:02}-10" for k in i]
    X = pandas.DataFrame({"amount": i * 3 % 1000, "day": days, "age": i * 7 % 90})
    fitted = PrivateLogisticRegression(epsilon=4.0, delta=1e-6, schema=tmp_path / "s.toml")
    figure = fitted.fit(X, np.where(i % 3 == 0, "yes", "no")).plot_curves()
    axes = {ax.get_xlabel(): ax for ax in figure.axes}
    assert axes["amount"].get_xscale() == "log" and axes["age"].get_xscale() == "linear"
    ends = np.asarray(axes["day"].get_lines()[0].get_xdata())[[0, -1]].astype("datetime64[D]")
    assert [str(end) for end in ends] == ["2020-01-01", "2020-12-31"]
    figure.canvas.draw()
    assert axes["day"].get_xticklabels()[0].get_text().startswith("2020")
    assert axes["age"].get_lines()[0].get_xdata()[-1] == 90.0
