"""The page about Python: its code runs as it is printed, from the first block to the last."""

import pathlib
import re
import warnings

import numpy as np
import pytest

import reticent

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_the_code_of_the_page_runs_in_sequence_as_printed(tmp_path, monkeypatch):
    """Blocks had names that nothing defined, and an ellipsis in place of arguments."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) > 8
    names = {}
    with warnings.catch_warnings():
        # What a reader meets without a word on the page would be an error here.
        warnings.simplefilter("error")
        for number, block in enumerate(blocks):
            try:
                exec(compile(block, f"block {number} of {PAGE.name}", "exec"), names)
            except Warning as warning:
                pytest.fail(f"block {number} warns: {warning}")
    accuracy = np.mean(names["run"].model.predict(names["X_test"]) == names["y_test"])
    # Whole hospitals were protected, and .326 of the patients told apart.
    assert names["run"].model.certificate_.unit == "record" and accuracy > 0.8
    assert names["budget"].counted <= 4.0


def test_a_simulation_that_protects_few_whole_holders_says_so(patients, bounds):
    X, y = patients
    model = reticent.PrivateLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=bounds, classes=[0, 1], settings={"iterations": 3}
    )
    holders = np.array(["north", "south", "east"])[np.arange(2000) % 3]
    with pytest.warns(reticent.NoiseDominatesWarning, match="each of the 3 holders"):
        reticent.simulate(model, X, y, holders, trust="secure-aggregation")
    with warnings.catch_warnings():
        warnings.simplefilter("error", reticent.NoiseDominatesWarning)
        reticent.simulate(model.set_params(unit="record"), X, y, holders, trust="secure-aggregation")
