"""Writes docs/python-api.md from the docstrings of the package that is installed.

    python3 python/api.py docs/python-api.md

A test compares the page with what this makes.
"""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re
import sys
import textwrap
from typing import Any

HEAD = """# The Python package, name by name

Made from the docstrings (`help(reticent.Budget)` says the same);
how the parts belong together is in [python.md](python.md).
"""

GROUPS = {
    "Estimators": [
        "PrivateLogisticRegression", "PrivateLinearSVC", "PrivateRidge", "PrivateLasso",
        "PrivateElasticNet", "PrivateHuberRegressor", "PrivateGeneralizedLasso",
        "PrivateFusedLasso", "PrivateSearchCV", "PublicTransform",
    ],
    "Budgets, certificates, schemas and files": ["Budget", "Certificate", "Schema", "Files", "fit_files", "load"],
    "Statistics of columns": ["mean", "histogram", "quantile", "ColumnStatistics"],
    "Private evaluation": ["evaluate", "Evaluation", "Estimate"],
    "Many parties": ["simulate", "Simulation"],
    "Sweeps": ["sweep", "Sweep"],
    "Papers": ["experiments", "reproduce", "Reproduction"],
    "Audits": ["audit", "audit_all", "Audit"],
    "Errors and warnings": [],  # all that is left
}

MODULES = ["accounting", "plot", "shards"]

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def markdown(text: str) -> str:
    """Words of a docstring as Markdown has them."""
    text = re.sub(r":\w+:`([^`]*)`", r"`\1`", text)
    return text.replace("``", "`")


def sections(text: str) -> list[tuple[str, str]]:
    parts = SECTION.split(text)
    return [("", parts[0].strip()), *zip(parts[1::2], (part.strip("\n") for part in parts[2::2]))]


def entries(body: str) -> list[tuple[str, str]]:
    """Names with their types, and what is said of each."""
    found: list[tuple[str, str]] = []
    for line in body.splitlines():
        if line and not line.startswith(" "):
            found.append((line, ""))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}".strip())
    return found


def described(text: str, known: str = "") -> list[str]:
    """A docstring; entries of ``known`` are said once for all."""
    lines = []
    for name, body in sections(text):
        if not name:
            lines += [markdown(body), ""]
        elif name == "Examples":
            lines += ["```pycon", body, "```", ""]
        elif name == "Notes":
            lines += [markdown(body), ""]
        else:
            shown = [(head, said) for head, said in entries(body) if f"{head}\n" not in known]
            lines += [f"*{name}*", ""]
            lines += [f"- `{head}`: {markdown(said)}" if said else f"- `{head}`"
                      for head, said in shown]
            if len(shown) < len(entries(body)):
                lines.append("- and those of [every estimator](#every-estimator)")
            lines.append("")
    return lines


def signature(name: str, thing: Any) -> str:
    """Names and defaults; types are in the sources."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return name
    bare = [one.replace(annotation=one.empty) for one in parameters if one.name != "self"]
    return f"{name}{inspect.Signature(bare)}"


def methods(cls: type) -> list[str]:
    """The public methods and properties that the package itself defines, a line each."""
    found: dict[str, Any] = {}
    for each in cls.__mro__:
        if each.__module__.startswith("reticent"):
            for name, thing in vars(each).items():
                if not name.startswith("_"):
                    found.setdefault(name, thing)
    lines = []
    for name, thing in sorted(found.items()):
        said = inspect.getdoc(getattr(cls, name, thing)) or ""
        first = markdown(" ".join(said.split("\n\n")[0].split()))
        if callable(getattr(cls, name)) and inspect.isroutine(getattr(cls, name)):
            lines.append(f"- `{signature(name, getattr(cls, name))}`: {first}")
        elif isinstance(thing, property) and said:
            lines.append(f"- `{name}`: {first}")
    return lines


def one(name: str, thing: Any, known: str = "") -> list[str]:
    title = signature(name, thing) if inspect.isroutine(thing) or known else name
    lines = [f"### {name}", "", "```python", title, "```", ""]
    lines += described(inspect.getdoc(thing) or "", known)
    if inspect.isclass(thing) and not issubclass(thing, BaseException) and not known:
        own = methods(thing)
        lines += ["*Methods*", "", *own, ""] if own else []
    return lines


def page() -> str:
    reticent = importlib.import_module("reticent")
    base = importlib.import_module("reticent._base").PrivateEstimator
    heirs = [importlib.import_module(f"reticent.{name}") for name in ("_classifier", "_regressor")]
    shared = {name: textwrap.dedent(text).strip() for name, text in base._SHARED.items()}
    known = "\n".join(shared.values()) + "\n"
    named = {name for names in GROUPS.values() for name in names}
    rest = sorted(set(reticent.__all__) - named)
    lines = [HEAD]
    for group, names in GROUPS.items():
        lines += [f"## {group}", ""]
        for name in names or rest:
            thing = getattr(reticent, name)
            is_heir = inspect.isclass(thing) and issubclass(thing, base)
            lines += one(name, thing, known if is_heir else "")
        if group == "Estimators":
            lines += ["### Every estimator", ""]
            text = f"Parameters\n----------\n{shared['parameters']}\n\n"
            text += f"Attributes\n----------\n{shared['attributes']}\n"
            lines += described(text)[2:]
            lines += [markdown(shared["notes"]), "", "*Methods*", ""]
            both = [vars(module)[name] for module, name in
                    zip(heirs, ("PrivateClassifier", "PrivateRegressor"))]
            lines += sorted({line for cls in both for line in methods(cls)}) + [""]
    for name in MODULES:
        module = importlib.import_module(f"reticent.{name}")
        lines += [f"## reticent.{name}", "", *described(inspect.getdoc(module) or "")]
        for each in module.__all__:
            lines += one(each, getattr(module, each))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


if __name__ == "__main__":
    # What is installed, and not the sources beside this file, which have no native half.
    sys.path.remove(str(pathlib.Path(__file__).resolve().parent))
    pathlib.Path(sys.argv[1]).write_text(page(), encoding="utf-8")
