"""Public tables with public bounds, as every method of benches/benchmark.py gets them."""

import csv
import json
import lzma
import pathlib

import numpy as np

ADULT = {"age": (17, 90), "workclass": None, "fnlwgt": (0, 1500000), "education": None, "education-num": (1, 16),
         "marital-status": None, "occupation": None, "relationship": None, "race": None, "sex": None,
         "capital-gain": (0, 100000), "capital-loss": (0, 5000), "hours-per-week": (0, 100), "native-country": None}
HOUSING = {"longitude": (-125, -114), "latitude": (32, 42), "housingMedianAge": (0, 55), "totalRooms": (0, 20000),
           "totalBedrooms": (0, 4000), "population": (0, 10000), "households": (0, 4000), "medianIncome": (0, 16)}
COVTYPE = [(1800, 3900), (0, 360), (0, 70), (0, 1400), (-200, 610), (0, 7200), (0, 255), (0, 255), (0, 255), (0, 7200)]
PARTS = ("train", "test")


class Table:
    """Columns with bounds, or with categories (None), or flags (0, 1), as numbers: a category is its place among its values.

    `target` has the bounds of a number, or is None where 1 is the positive class."""

    def __init__(self, name, columns, norm, target, values, parts):
        self.name, self.columns, self.norm, self.target, self.values = name, columns, norm, target, values
        self.rows, self.y = ({part: pair[at] for part, pair in zip(PARTS, parts)} for at in (0, 1))
        self.number = target is not None
        self.metric = "r2" if self.number else "auc"

    def facts(self):
        """What a page says about it."""
        share = None if self.number else float(self.y["test"].mean())
        return {"name": self.name, "train": len(self.y["train"]), "test": len(self.y["test"]), "columns": len(self.columns),
                "metric": self.metric, "positive": share, "flags": all(bounds == (0, 1) for bounds in self.columns.values())}

    def encoded(self, part):
        """Numbers to [-1, 1], flags as they are, categories one-hot, a constant of 0.3 of the norm; all over the norm."""
        parts = []
        for at, bounds in enumerate(self.columns.values()):
            column = self.rows[part][:, at]
            if bounds is None:
                parts.append(column[:, None] == np.arange(len(self.values[at]))[None, :])
            else:
                unit = np.clip((column - bounds[0]) / (bounds[1] - bounds[0]), 0, 1)
                parts.append((unit if bounds == (0, 1) else 2 * unit - 1)[:, None])
        X = np.hstack(parts).astype(float)
        X *= np.minimum(1, self.norm / np.maximum(np.linalg.norm(X, axis=1), 1e-300))[:, None]
        X = np.hstack([X, np.full((len(X), 1), 0.3 * self.norm)])
        return X / (self.norm * np.sqrt(1.09))

    def schema(self):
        text = [f"row_norm = {self.norm}", "header = false"]
        for at, (name, bounds) in enumerate(self.columns.items()):
            text += ["[[column]]", f"name = {json.dumps(name)}"]
            if bounds is None:
                text += ['kind = "categorical"', f"categories = {json.dumps(self.values[at])}"]
            else:
                text += ['kind = "numeric"', f"lower = {bounds[0]}", f"upper = {bounds[1]}"]
                text += ['scale = "zero_to_one"'] * (bounds == (0, 1))
        text += ["[[column]]", 'name = "target"', 'kind = "target"']
        text += [f"lower = {self.target[0]}", f"upper = {self.target[1]}"] if self.number else ['classes = ["no", "yes"]']
        return "\n".join(text) + "\n"

    def save(self, folder):
        """Arrays and a description, from which `load` makes the table again."""
        folder.mkdir(parents=True, exist_ok=True)
        for part in PARTS:
            np.save(folder / f"{part}.npy", self.rows[part])
            np.save(folder / f"{part}_y.npy", self.y[part])
        known = {"name": self.name, "columns": self.columns, "norm": self.norm, "target": self.target, "values": self.values}
        (folder / "table.json").write_text(json.dumps(known), encoding="utf-8")

    @staticmethod
    def load(folder):
        known = json.loads((folder / "table.json").read_text(encoding="utf-8"))
        columns = {name: bounds and tuple(bounds) for name, bounds in known["columns"].items()}
        values = {int(at): names for at, names in known["values"].items()}
        parts = [(np.load(folder / f"{part}.npy", mmap_mode="r"), np.load(folder / f"{part}_y.npy")) for part in PARTS]
        return Table(known["name"], columns, known["norm"], known["target"] and tuple(known["target"]), values, parts)

    def write(self, folder):
        """The files that `reticent fit` reads."""
        for part in PARTS:
            columns = [self.words(self.rows[part][:, at], self.values.get(at)) for at in range(len(self.columns))]
            columns.append(self.words(self.y[part], None if self.number else ["no", "yes"]))
            with open(folder / f"{part}.csv", "w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(zip(*columns))
        (folder / "schema.toml").write_text(self.schema(), encoding="utf-8")

    @staticmethod
    def words(column, names):
        if names is not None:
            return [names[int(place)] for place in column]
        return [str(int(number)) if number.is_integer() else repr(number) for number in column.tolist()]


def lines(path):
    with lzma.open(path, "rt") if path.suffix == ".xz" else open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def cells(path, skip=0):
    return [[cell.strip().rstrip(".") for cell in line.split(",")] for line in lines(path)[skip:] if "," in line]


def split(rows):
    """Every fifth row to the test."""
    return [row for i, row in enumerate(rows) if i % 5], rows[::5]


def table(name, columns, norm, parts, target):
    """Of rows of words, the target last: the bounds of a number, or the word of the positive class."""
    kinds = list(columns.values())
    values = {at: sorted({row[at] for part in parts for row in part}) for at, bounds in enumerate(kinds) if bounds is None}
    places = {at: {value: float(i) for i, value in enumerate(names)} for at, names in values.items()}
    number = not isinstance(target, str)

    def numbers(rows):
        X = np.array([[places[at][cell] if at in places else float(cell) for at, cell in enumerate(row[:-1])] for row in rows])
        return X, np.array([float(row[-1]) if number else float(row[-1] == target) for row in rows])

    return Table(name, columns, norm, target if number else None, values, [numbers(rows) for rows in parts])


def adult(data):
    parts = [cells(data / name) for name in ("adult.data.xz", "adult.test.xz")]
    return table("Adult", ADULT, 3.75, [[row for row in part if len(row) == 15] for part in parts], ">50K")


def housing(data):
    return table("California housing", HOUSING, 2.0, split(cells(data / "cal_housing.csv.xz", 1)), (0, 500001))


def covtype(data):
    rows = lines(data / "covtype.csv.xz")[1:]
    columns = {f"c{at}": COVTYPE[at] if at < 10 else (0, 1) for at in range(54)}
    # One row in 29 is a test row, and five are to learn from: 100,174 of 581,012.
    chosen = [[row for i, row in enumerate(rows) if i % 29 in (1, 7, 13, 19, 25)], rows[::29]]
    return table("covtype, class 2", columns, 3.0, [[row.split(",") for row in part] for part in chosen], "2")


def bio(data):
    import pyarrow.parquet

    file = pyarrow.parquet.read_table(data / "bio_train.parquet")
    names = [name for name in file.column_names if name not in ("EXAMPLE_ID", "BLOCK_ID", "target")]
    numbers = np.column_stack([file[name].to_numpy() for name in names]).astype(float)
    # Nobody published bounds: these are the file's own, which is public.
    columns = {f"f{name}": (float(low), float(max(high, low + 1))) for name, low, high in zip(names, numbers.min(0), numbers.max(0))}
    y = np.array(file["target"].to_pylist(), float)
    held = np.arange(len(y)) % 5 == 0
    return Table("bio_train", columns, 5.0, None, {}, [(numbers[~held], y[~held]), (numbers[held], y[held])])


def cancer(data):
    import tomllib

    rows = [line.split(",") for line in lines(data / "breast_cancer.csv")[1:]]
    path = pathlib.Path(__file__).parent.parent / "schemas" / "breast_cancer.toml"
    schema = tomllib.loads(path.read_text(encoding="utf-8"))
    columns = {c["name"]: (c["lower"], c["upper"]) for c in schema["column"] if c["kind"] == "numeric"}
    return table("breast cancer", columns, 4.0, split(rows), "1")


def newsgroups(data):
    """A hundred words, there or not, and four groups of newsgroups: the second, rec.*, against the others."""
    from scipy.io import loadmat

    found = loadmat(data / "20news_w100.mat")
    X, group = found["documents"].T.toarray().astype(float), found["newsgroups"].ravel()
    y, columns = (group == 2).astype(float), {f"c{at}": (0, 1) for at in range(X.shape[1])}
    held = np.arange(len(y)) % 5 == 0
    return Table("20 newsgroups, group 2", columns, 3.5, None, {}, [(X[~held], y[~held]), (X[held], y[held])])


def declared(folder):
    """Any table with its schema: `table.csv` and `schema.toml` of a folder; every fifth row is to test on.

    Columns are numbers with bounds and categories; the target is a number or has two classes, of which the second is the
    positive one. Whatever else a schema can say is refused by name: the other methods have no such thing."""
    import tomllib

    schema = tomllib.loads((folder / "schema.toml").read_text(encoding="utf-8"))
    refuse = lambda what: ValueError(f"{folder / 'schema.toml'}: {what} has no place in a comparison; leave it out")
    known = {"row_norm", "header", "column"}
    if more := set(schema) - known:
        raise refuse(f"`{sorted(more)[0]}`")
    if "row_norm" not in schema:
        raise ValueError(f"{folder / 'schema.toml'}: all methods take the same row norm; give `row_norm`")
    columns, values, target, order = {}, {}, None, []
    for column in schema["column"]:
        name, kind = column["name"], column["kind"]
        allowed = {"numeric": {"lower", "upper", "scale"}, "categorical": {"categories"}, "target": {"classes", "lower", "upper"}}
        if kind not in allowed:
            raise refuse(f"the kind `{kind}` of `{name}`")
        if more := set(column) - {"name", "kind"} - allowed[kind]:
            raise refuse(f"`{sorted(more)[0]}` of `{name}`")
        if column.get("scale", "minus_one_to_one") not in ("minus_one_to_one", "zero_to_one"):
            raise refuse(f"the scale of `{name}`")
        order.append(name)
        if kind == "target":
            target = column
        elif kind == "numeric":
            columns[name] = (column["lower"], column["upper"])
        else:
            values[len(columns)] = [str(value) for value in column["categories"]]
            columns[name] = None
    if target is None or len(target.get("classes", [0, 0])) != 2:
        raise ValueError(f"{folder / 'schema.toml'}: a target is needed that is a number or has two classes")
    return read_declared(folder, schema, (columns, values, target, order))


def read_declared(folder, schema, described):
    """The rows of such a table."""
    columns, values, target, order = described
    with open(folder / "table.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    head = rows.pop(0) if schema.get("header", True) else order
    at = {name: head.index(name) for name in order}
    classes = [str(name) for name in target.get("classes", [])]

    def number(row, name, names):
        cell = row[at[name]].strip()
        try:
            return float(names.index(cell)) if names is not None else float(cell)
        except ValueError:
            raise ValueError(f"{folder / 'table.csv'}: {cell!r} in `{name}` is not in its schema") from None

    def numbers(rows):
        X = [[number(row, name, values.get(k)) for k, name in enumerate(columns)] for row in rows]
        return np.array(X), np.array([number(row, target["name"], classes or None) for row in rows])

    bounds = None if classes else (target["lower"], target["upper"])
    return Table(folder.name, columns, schema["row_norm"], bounds, values, [numbers(part) for part in split(rows)])


def folders(data):
    """The folders of a folder that have a table with its schema, by name."""
    paths = sorted(data.iterdir()) if data and data.is_dir() else []
    return {path.name: path for path in paths if (path / "table.csv").exists() and (path / "schema.toml").exists()}


def flagged(name, files, width, norm, target):
    """A LIBSVM table of flags."""

    def read(data):
        parts = []
        for file in files:
            rows = []
            for line in lines(data / file):
                label, *entries = line.split()
                row = ["0"] * width
                for entry in entries:
                    row[int(entry.split(":")[0]) - 1] = "1"
                rows.append([*row, label])
            parts.append(rows)
        parts = parts if len(parts) == 2 else split(parts[0])
        return table(name, {f"c{at}": (0, 1) for at in range(width)}, norm, parts, target)

    return read


# By name: the files that it is read from, and how.
TABLES = {
    "adult": (("adult.data.xz", "adult.test.xz"), adult),
    "housing": (("cal_housing.csv.xz",), housing),
    "covtype": (("covtype.csv.xz",), covtype),
    "bio": (("bio_train.parquet",), bio),
    "cancer": (("breast_cancer.csv",), cancer),
    "mushrooms": (("mushrooms.xz",), flagged("mushrooms", ["mushrooms.xz"], 112, 4.7, "2")),
    "a9a": (("a9a.xz", "a9a.t.xz"), flagged("a9a", ["a9a.xz", "a9a.t.xz"], 123, 3.75, "+1")),
    "20news": (("20news_w100.mat",), newsgroups),
    "w8a": (("w8a.xz",), flagged("w8a", ["w8a.xz"], 300, 4.0, "+1")),
}
