"""The same values give the same model, whatever they come in."""

import datetime
import decimal
import json
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse
from conftest import BUDGET
from sklearn.base import clone

import reticent
from reticent import PrivateLogisticRegression, PrivateRidge

SCHEMA = {
    "row_norm": 2.0,
    "column": [
        {"name": "age", "kind": "numeric", "lower": 18, "upper": 90},
        {"name": "smoker", "kind": "categorical", "categories": ["no", "yes"]},
        {"name": "stroke", "kind": "target", "classes": ["no", "yes"]},
    ],
}


def seeded(model, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", reticent.NotPrivateWarning)
        return model.set_params(random_state=3).fit(X, y, **more)


def model(bounds, **more):
    return PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1], **more)


def test_every_dense_table_gives_the_same_model(patients, bounds):
    X, y = patients
    base = seeded(model(bounds), X, y)
    named = {"age": X[:, 0], "pressure": X[:, 1]}
    tables = [
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        pandas.DataFrame(named),
        polars.DataFrame(named),
        pyarrow.table(named),
    ]
    for table in tables:
        other = seeded(model(bounds), table, y)
        assert np.array_equal(other.coef_, base.coef_), type(table)
        assert np.array_equal(other.predict(table), base.predict(X))
        if not isinstance(table, np.ndarray):
            assert list(other.feature_names_in_) == ["age", "pressure"]
            assert other.coef_names_ == ["age", "pressure"]
    by_name = {"pressure": (80, 200), "age": (20, 90)}
    other = seeded(model(by_name), pandas.DataFrame(named), y)
    assert np.array_equal(other.coef_, base.coef_)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows_give_the_model_of_dense_ones(index):
    rng = np.random.default_rng(5)
    dense = rng.uniform(0, 1, size=(1000, 20)) * (rng.uniform(size=(1000, 20)) < 0.1)
    y = (dense[:, 0] + dense[:, 1] > 0).astype(int)
    X = scipy.sparse.csr_matrix(dense)
    X.indptr, X.indices = X.indptr.astype(index), X.indices.astype(index)
    sparse = PrivateLogisticRegression(**BUDGET, row_norm=1.0, classes=[0, 1])
    one, two = seeded(sparse, X, y), seeded(sparse, scipy.sparse.csr_array(X), y)
    other = seeded(sparse, dense, y)
    assert np.array_equal(one.coef_, two.coef_) and one.coef_.shape == (1, 20)
    assert np.allclose(one.coef_, other.coef_)
    assert np.allclose(one.decision_function(X), other.decision_function(dense))


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_categories_come_from_a_schema(frame, tmp_path):
    rng = np.random.default_rng(6)
    smoker = np.where(rng.uniform(size=1000) < 0.3, "yes", "no")
    age = rng.uniform(18, 90, 1000)
    y = np.where(age + 30 * (smoker == "yes") > 70, "yes", "no")
    X = frame({"smoker": smoker, "age": age})
    path = tmp_path / "schema.toml"
    path.write_text(reticent.Schema.from_json(json.dumps(SCHEMA)).to_toml())
    for schema in (SCHEMA, path, str(path), reticent.Schema.read(path)):
        fitted = PrivateLogisticRegression(**BUDGET, schema=schema).fit(X, y)
        assert fitted.score(X, y) > 0.7
        assert fitted.coef_names_ == ["age", "smoker=no", "smoker=yes"]
        assert list(fitted.classes_) == ["no", "yes"] and fitted.n_features_in_ == 2


def test_pandas_categories_and_missing_values():
    X = pandas.DataFrame(
        {"age": [20.0, None, 60.0, 80.0] * 50, "smoker": pandas.Categorical(["no", "yes"] * 100)}
    )
    y = np.array(["no", "no", "yes", "yes"] * 50)
    assert PrivateLogisticRegression(**BUDGET, schema=SCHEMA).fit(X, y).n_features_in_ == 2


def test_numbers_as_classes_of_a_schema(patients):
    X, y = patients
    schema = reticent.Schema.bounded([(20, 90), (80, 200)], classes=["0", "1"])
    fitted = PrivateLogisticRegression(**BUDGET, schema=schema).fit(X, y)
    assert fitted.classes_.tolist() == [0, 1] and fitted.score(X, y) > 0.8


def test_what_is_not_finite_is_refused_without_being_shown(patients, bounds):
    X, y = patients
    for bad in (np.nan, np.inf):
        Z = X.copy()
        Z[3, 1] = bad
        with pytest.raises(ValueError):
            model(bounds).fit(Z, y)
    t = y.astype(float)
    t[7] = np.nan
    with pytest.raises(ValueError):
        PrivateRidge(**BUDGET, bounds=bounds, target_bounds=(0, 1)).fit(X, t)


MEMORY = """
import resource, sys
import numpy as np
from reticent import PrivateLogisticRegression
kind = sys.argv[1]
n, d = 100_000, 100
y = np.zeros(n, dtype=np.uint32); y[::2] = 1
model = PrivateLogisticRegression(
    epsilon=1.0, delta=1e-6, row_norm=1.0, classes=[0, 1],
    settings={"iterations": 1, "precondition": 0},  # which makes a copy of its own, by design
)
if kind == "dense":
    X = np.full((n, d), 0.5)
    size = X.nbytes
else:
    import scipy.sparse
    X = scipy.sparse.csr_matrix(
        (np.full(n * d, 0.5), np.tile(np.arange(d, dtype=np.int32), n), np.arange(0, n * d + 1, d)),
        shape=(n, d), copy=False,
    )
    size = X.data.nbytes + X.indices.nbytes
small = np.full((10, d), 0.5)
model.fit(small, y[:10])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.fit(X, y)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) * 1024 / size)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is counted otherwise here")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_nothing_is_copied_but_into_the_encoded_table(kind):
    """The encoded table is one copy; a second one of X would be another 80 MB."""
    code = textwrap.dedent(MEMORY)
    done = subprocess.run(
        [sys.executable, "-c", code, kind], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 1.4, done.stdout


MISSING = {
    "nan": lambda: np.where(np.arange(2000) % 7 == 0, np.nan, np.arange(2000) // 4),
    "None": lambda: [None if i % 7 == 0 else f"p{i // 4}" for i in range(2000)],
    "NaT": lambda: np.full(2000, "NaT", dtype="datetime64[D]"),
    "masked": lambda: np.ma.masked_equal(np.arange(2000) // 4, 3),
    "Int64": lambda: pytest.importorskip("pandas").Series([None, 1] * 1000, dtype="Int64"),
    "polars": lambda: pytest.importorskip("polars").Series([None, "a"] * 1000),
    "nan in a list of text": lambda: NAMED,
    "nan in a tuple of text": lambda: tuple(NAMED),
    "nan in a list of numbers": lambda: [float("nan"), 1] * 1000,
    "NaT in a list": lambda: [np.datetime64("NaT"), np.datetime64("2020-01-01")] * 1000,
    "NA in a list": lambda: [pandas.NA, "a"] * 1000,
    "sNaN in a list": lambda: [decimal.Decimal("sNaN"), decimal.Decimal(1)] * 1000,
    "masked in a list": lambda: [np.ma.masked, 1] * 1000,
    "pandas string": lambda: pandas.Series([None, "a"] * 1000, dtype="string"),
    "pandas category": lambda: pandas.Series([None, "a"] * 1000, dtype="category"),
    "arrow": lambda: pyarrow.array([None, "a"] * 1000),
    "arrow dictionary": lambda: pyarrow.array([None, "a"] * 1000).dictionary_encode(),
}

NAMED = [float("nan") if i % 7 == 0 else f"p{i // 4}" for i in range(2000)]


@pytest.mark.parametrize("kind", MISSING)
def test_a_record_that_is_nobodys_is_refused(kind, patients, bounds):
    """Whoever it belongs to would be protected with a part of their records alone."""
    groups = MISSING[kind]()
    usual = {"epsilon": 1.0, "delta": 1e-6}
    model = PrivateLogisticRegression(**usual, bounds=bounds, classes=[0, 1])
    budget = reticent.Budget(4.0, 1e-5, unit="user")
    with pytest.raises(reticent.DataError, match="whose it is"):
        model.set_params(budget=budget).fit(*patients, groups)
    with pytest.raises(reticent.DataError, match="whose it is"):
        reticent.class_counts(patients[1], groups, classes=[0, 1], budget=budget, **usual)
    with pytest.raises(reticent.DataError, match="whose it is"):
        reticent.simulate(model.set_params(budget=None), *patients, groups)
    assert not budget.jobs


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 1 has no such text")
def test_text_that_may_say_nan_is_no_name(patients, bounds):
    """NumPy compares its missing text as if it were a name."""
    groups = np.array(NAMED, dtype=np.dtypes.StringDType(na_object=np.nan))
    usual = {"epsilon": 1.0, "delta": 1e-6}
    model = PrivateLogisticRegression(**usual, bounds=bounds, classes=[0, 1])
    for ask in (
        lambda: model.fit(*patients, groups),
        lambda: reticent.class_counts(patients[1], groups, classes=[0, 1], **usual),
        lambda: reticent.simulate(model, *patients, groups),
    ):
        with pytest.raises(ValueError, match="StringDType.*object"):
            ask()
    with pytest.raises(reticent.DataError, match="whose it is"):
        model.fit(*patients, groups.astype(object))


PERSONS = np.arange(2000) // 4

SPELLINGS = {
    "integers": lambda: PERSONS,
    "small integers": lambda: PERSONS.astype(np.uint16),
    "floats": lambda: PERSONS.astype(float),
    "single precision": lambda: PERSONS.astype(np.float32),
    "text": lambda: np.array([f"{p:05}" for p in PERSONS]),
    "bytes": lambda: PERSONS.astype("S"),
    "all of them": lambda: [
        (int(p), str(p), float(p), f"{p}.0", np.int8(p % 100) if p < 100 else p)[i % 5]
        for i, p in enumerate(PERSONS)
    ],
    "pandas": lambda: pandas.Series(PERSONS),
    "pandas with gaps elsewhere": lambda: pandas.Series(PERSONS).astype("Int64"),
    "categories": lambda: pandas.Series(PERSONS).astype("category"),
    "categories of text": lambda: pandas.Series(PERSONS).astype(str).astype("category"),
    "polars": lambda: polars.Series(PERSONS.astype(str)),
    "arrow": lambda: pyarrow.array(PERSONS),
    "arrow dictionary": lambda: pyarrow.array(PERSONS.astype(str)).dictionary_encode(),
}


@pytest.mark.parametrize("kind", SPELLINGS)
def test_a_person_is_the_same_in_every_spelling(kind, patients, bounds):
    """Two persons made of one would each be protected with a part of what is theirs."""
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1], random_state=7)
    found, expected = clone(model).fit(*patients, SPELLINGS[kind]()), model.fit(*patients, PERSONS)
    assert found.certificate_.population == 500
    assert found.coef_.tolist() == expected.coef_.tolist()


def test_days_truth_values_and_numbers_are_told_apart(patients, bounds):
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1])

    def persons(*given):
        return model.fit(*patients, list(given) * (2000 // len(given))).certificate_.population

    day, midnight = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29)
    assert persons("2024-02-29", day, midnight, np.datetime64("2024-02-29"), "a") == 2
    assert persons(True, "True", 1, "1.0") == 2
    assert persons("ann", "ann ", "Ann", "a\u0301", "\u00e1") == 3
    assert persons(10**30, f"{10**30}.0", 10**30 + 1, "b") == 3
    assert persons(decimal.Decimal("7.00"), 7, "b", "c") == 3
    days = np.array(["2024-02-29", "2024-03-01"] * 1000, dtype="datetime64[ns]")
    assert model.fit(*patients, days).certificate_.population == 2


@pytest.mark.parametrize(
    "odd",
    [
        7.5,
        2.0**53,
        float("inf"),
        np.float32(2**24),
        decimal.Decimal("7.5"),
        datetime.datetime(2024, 2, 29, 12),
        "2024-02-29 12:00:00",
        np.datetime64("2024-02-29T12"),
    ],
)
def test_an_id_that_may_be_two_persons_is_refused(odd, patients, bounds):
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1])
    for groups in ([odd, 1] * 1000, np.array([odd] * 2000)):
        with pytest.raises(reticent.DataError) as error:
            model.fit(*patients, groups)
        assert str(odd) not in str(error.value)
    for groups in ([(1, 2), "a"] * 1000, np.zeros((2000, 2)), [[1], [2]] * 1000):
        with pytest.raises(ValueError, match="groups must be"):
            model.fit(*patients, groups)


def test_ids_in_a_column_of_a_frame_are_not_made_floats(patients, tmp_path):
    """All other columns are numbers, and a matrix of them would be one of floats."""
    schema = tmp_path / "s.toml"
    columns = [
        'name = "age"\nkind = "numeric"\nlower = 20\nupper = 90',
        'name = "who"\nkind = "user"',
        'name = "ill"\nkind = "target"\nclasses = ["0", "1"]',
    ]
    schema.write_text("row_norm = 1.0\n" + "".join(f"[[column]]\n{one}\n" for one in columns))
    X, y = patients
    model = PrivateLogisticRegression(**BUDGET, schema=schema)

    def persons(*ids):
        who = pandas.Series(list(ids) * (2000 // len(ids)))
        frame = pandas.DataFrame({"age": X[:, 0], "who": who})
        return model.fit(frame, y).certificate_.population

    assert persons("1e3", "1000", "1_000", "1001") == 4
    assert persons(2**60, 2**60 + 1) == 2
    assert len(model.predict(pandas.DataFrame({"age": X[:3, 0]}))) == 3, "nobody's id is needed"
    schema.write_text(schema.read_text().replace('"user"', '"user"\nas = "text"'))
    assert persons("7", "007") == 2


def test_a_time_of_another_zone_is_refused_wherever_it_stands(patients, bounds):
    """Python takes it for equal to the midnight that came before."""
    midnight = datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc)
    early = midnight.astimezone(datetime.timezone(datetime.timedelta(hours=1)))
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1])
    for groups in ([midnight, early] * 1000, [early, midnight] * 1000):
        with pytest.raises(reticent.DataError, match="no whole days"):
            model.fit(*patients, groups)


def test_a_message_shows_nothing_of_an_id_that_is_no_text(patients, bounds):
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1])
    for groups in (["ann\udc80", "b"] * 1000, np.array(["ann\udc80", "b"] * 1000)):
        with pytest.raises(ValueError, match="groups has text that is not UTF-8$"):
            model.fit(*patients, groups)


def test_sparse_rows_of_the_caller_stay_as_they_are(patients):
    from scipy.sparse import csr_matrix

    n = 2000
    values = np.concatenate([[0.25, 0.25], np.full(n - 1, 0.5)])
    columns = np.concatenate([[0, 0], np.ones(n - 1, dtype=int)])
    rows = csr_matrix((values, columns, np.concatenate([[0], np.arange(2, n + 2)])), shape=(n, 2))
    for part in (rows.data, rows.indices, rows.indptr):
        part.flags.writeable = False
    model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, row_norm=1.0, classes=[0, 1])
    model.fit(rows, patients[1])
    assert rows.nnz == n + 1
    # Where SciPy was told that there is no column twice, it is refused and not believed.
    rows.has_canonical_format = True
    with pytest.raises(reticent.DataError, match="twice"):
        model.fit(rows, patients[1])


def test_what_is_no_table_yet_and_columns_of_one_name_are_refused(patients, bounds):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = patients
    model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, bounds=bounds, classes=[0, 1])
    with pytest.raises(reticent.DataError, match="collect"):
        model.fit(polars.DataFrame(X, schema=["a", "b"]).lazy(), y)
    with pytest.raises(reticent.DataError, match="same name"):
        model.fit(pandas.DataFrame(X, columns=["a", "a"]), y)


class Stream:
    """Speaks Arrow, and says nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Batch:
    """One batch, and no stream."""

    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


def test_whatever_speaks_arrow_is_read(patients, bounds):
    X, y = patients
    table = pyarrow.table({"age": X[:, 0], "pressure": X[:, 1]})
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1])
    for given in (Stream(table), Batch(table.to_batches()[0]), table.to_reader()):
        fitted = model.fit(given, y)
        assert fitted.feature_names_in_.tolist() == ["age", "pressure"] == fitted.coef_names_
        assert (fitted.predict(Stream(table)) == fitted.predict(table)).all()
    with pytest.raises(reticent.DataError):
        model.fit(Stream(polars.Series([0.5] * 2000)), y)


def test_what_is_masked_is_not_read(patients, bounds):
    X, y = patients
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1])
    with pytest.raises(reticent.DataError, match="X has masked"):
        model.fit(np.ma.masked_greater(X, 100), y)
    with pytest.raises(reticent.DataError, match="y has masked"):
        model.fit(X, np.ma.masked_equal(y, 1))


def test_days_without_a_schema_and_arrays_out_of_step(patients, bounds):
    X, y = patients
    model = PrivateLogisticRegression(**BUDGET, bounds=bounds, classes=[0, 1])
    days = pandas.DataFrame({"a": X[:, 0], "b": pandas.Timestamp("2020-01-01")})
    with pytest.raises(reticent.DataError, match="schema"):
        model.fit(days, y)
    odd = np.frombuffer(b"\0" + X.tobytes(), dtype=np.float64, offset=1).reshape(X.shape)
    assert model.fit(odd, y).score(X, y) > 0.7


DATED = {
    "row_norm": 1.0,
    "column": [
        {"name": "seen", "kind": "date", "lower": "2020-01-01", "upper": "2024-01-01"},
        {"name": "age", "kind": "numeric", "lower": 20, "upper": 90},
    ],
}


def test_timestamps_are_dates_in_memory_as_they_are_in_a_parquet_file(patients, tmp_path):
    """A column of pandas' own type for days was refused, and the command line read its Parquet."""
    X, y = patients
    seen = pandas.Timestamp("2020-06-01") + pandas.to_timedelta(np.arange(2000) % 900, unit="D")
    days = pandas.DataFrame({"seen": seen, "age": X[:, 0]})
    noon = days.assign(seen=days.seen + pandas.Timedelta("12h"))

    def fitted(table):
        return seeded(PrivateLogisticRegression(**BUDGET, schema=DATED, classes=[0, 1]), table, y)

    base = fitted(polars.from_pandas(days).with_columns(polars.col("seen").cast(polars.Date)))
    tables = [days, noon, polars.from_pandas(days), pyarrow.Table.from_pandas(days)]
    tables += [days.assign(seen=days.seen.dt.tz_localize("UTC"))]
    tables += [days.astype({"seen": f"datetime64[{unit}]"}) for unit in ("s", "ms", "us", "ns")]
    for table in tables:
        assert np.array_equal(fitted(table).coef_, base.coef_)
    # A day that is missing is encoded as the schema says.
    part = days.copy()
    part.loc[3, "seen"] = pandas.NaT
    assert np.isfinite(base.predict_proba(part)).all()


def test_nan_of_pandas_is_missing_whatever_the_other_columns_are(patients):
    """It was refused among numbers, and a missing value beside a column of text."""
    X, y = patients
    numbers = {"row_norm": 2.0, "column": [
        {"name": "age", "kind": "numeric", "lower": 20, "upper": 90},
        {"name": "pressure", "kind": "numeric", "lower": 80, "upper": 200},
    ]}
    table = pandas.DataFrame(X, columns=["age", "pressure"])
    table.loc[::7, "age"] = np.nan
    nulls = polars.from_pandas(table)
    usual = {**BUDGET, "classes": [0, 1]}
    for way in ({"schema": numbers}, {"bounds": ([20, 80], [90, 200])}):
        ours = seeded(PrivateLogisticRegression(**usual, **way), table, y)
        theirs = seeded(PrivateLogisticRegression(**usual, **way), nulls, y)
        assert np.array_equal(ours.coef_, theirs.coef_)
        assert np.array_equal(ours.predict(table), theirs.predict(nulls))
        assert list(ours.feature_names_in_) == ["age", "pressure"]
    # Columns without names are those of a matrix, with NaN or without.
    plain = PrivateLogisticRegression(**usual, bounds=([20, 80], [90, 200]))
    bare = table.set_axis([0, 1], axis=1)
    assert np.array_equal(seeded(plain, bare, y).coef_, ours.coef_)
    assert seeded(plain, X, y).predict(bare).shape == (2000,)


def test_nan_of_an_array_is_refused_in_our_own_words(patients, bounds):
    """scikit-learn's message advised other estimators, which are not private."""
    X, y = patients
    X = X.copy()
    X[3, 0] = np.nan
    with pytest.raises(reticent.DataError, match="contains NaN") as refused:
        model(bounds).fit(X, y)
    assert "HistGradientBoosting" not in str(refused.value)
    assert "data frame" in str(refused.value)
    with pytest.raises(reticent.DataError, match=r"contains NaN.*fill_nan\(None\)"):
        model(bounds).fit(polars.DataFrame({"age": X[:, 0], "pressure": X[:, 1]}), y)
    X[3, 0] = np.inf
    with pytest.raises(reticent.DataError, match="contains infinity"):
        model(bounds).fit(X, y)
