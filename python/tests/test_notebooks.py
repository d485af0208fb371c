"""The notebooks run from their first cell to the last, on what they make up."""

import importlib.util
import pathlib

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "notebooks"
PAGES = FOLDER.parent.parent / "docs" / "notebooks"


def renderer():
    spec = importlib.util.spec_from_file_location("render", FOLDER / "render.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", renderer().NAMES)
def test_a_notebook_runs_and_becomes_a_page(name, tmp_path, monkeypatch):
    # The real table is for the rendered page; the made-up one is smaller.
    monkeypatch.delenv("RETICENT_DATA", raising=False)
    renderer().render(name, tmp_path)
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith("# ") and "```text" in page
    # The page that is kept has the same prose and code: whoever changes one renders it again.
    kept = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    for is_prose, body in renderer().cells((FOLDER / f"{name}.py").read_text(encoding="utf-8")):
        assert (renderer().prose(body) if is_prose else body) in kept
