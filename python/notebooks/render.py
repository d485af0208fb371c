"""Runs the notebooks and writes each as a page of Markdown, with its pictures beside it.

    python3 python/notebooks/render.py --out docs/notebooks [NAME …]

A notebook is a script in the percent format, which Jupyter (by jupytext), VS Code and Spyder open as
such. What a cell prints, the value of its last expression and its pictures stand behind it.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import os
import pathlib
import re
import sys
import types
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ("adult", "choosing_epsilon", "hospitals", "moving")


def cells(text: str) -> list[tuple[bool, str]]:
    """Whether each cell is prose, and what is in it."""
    parts = re.split(r"^# %%(.*)$", text, flags=re.MULTILINE)[1:]
    kinds, bodies = parts[::2], parts[1::2]
    return [("[markdown]" in kind, body.strip("\n")) for kind, body in zip(kinds, bodies)]


def prose(body: str) -> str:
    return "\n".join(re.sub(r"^# ?", "", line) for line in body.splitlines())


def run(body: str, names: dict[str, Any], where: str) -> tuple[str, Any]:
    """What a cell prints, and the value of its last expression."""
    tree = ast.parse(body)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(compile(tree, where, "exec"), names)
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)
    return told.getvalue(), value


def shown(value: Any) -> str:
    """A value as text; axes are a picture."""
    if value is None or type(value).__module__.startswith("matplotlib"):
        return ""
    return f"{value!r}\n"


def pictures(name: str, out: pathlib.Path, count: int) -> list[str]:
    """Saves the figures that are open, and closes them."""
    from matplotlib import pyplot

    saved = []
    for number in pyplot.get_fignums():
        file = f"{name}-{count + len(saved) + 1}.png"
        pyplot.figure(number).savefig(out / file, dpi=80)
        saved.append(file)
    pyplot.close("all")
    return saved


def render(name: str, out: pathlib.Path) -> None:
    source = HERE / f"{name}.py"
    # Where a script is its own module, what it defines can be pickled.
    module = types.ModuleType("__main__")
    page, count = [], 0
    for is_prose, body in cells(source.read_text(encoding="utf-8")):
        if is_prose:
            page.append(prose(body))
            continue
        told, value = run(body, vars(module), str(source))
        page.append(f"```python\n{body}\n```")
        text = "\n".join(line.rstrip() for line in (told + shown(value)).splitlines())
        if text:
            page.append(f"```text\n{text}\n```")
        files = pictures(name, out, count)
        count += len(files)
        page.extend(f"![a picture]({file})" for file in files)
    page.append(
        f"(Made by [python/notebooks/{name}.py](../../python/notebooks/{name}.py); the noise is "
        "fresh at every run,\nso your numbers differ a little.)"
    )
    (out / f"{name}.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("names", nargs="*", default=NAMES)
    given = parser.parse_args()
    os.environ.setdefault("MPLBACKEND", "agg")
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.names:
        render(name, given.out)
        print(given.out / f"{name}.md")


if __name__ == "__main__":
    sys.exit(main())
