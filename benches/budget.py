"""Kills `reticent fit --budget` at many random points and looks at the books after each.

What must hold: the books check; every model that was written is counted; a job is given back by
nobody; what is counted never falls. Prints how far the killed fits had come.

    python3 benches/budget.py --reticent target/release/reticent --kills 500
"""

import argparse
import json
import pathlib
import random
import subprocess
import tempfile
import time

SCHEMA = """row_norm = 1
[[column]]
name = "age"
kind = "numeric"
lower = 0
upper = 100
[[column]]
name = "ill"
kind = "target"
classes = ["no", "yes"]
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reticent", required=True)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    program = str(pathlib.Path(options.reticent).resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "s.toml").write_text(SCHEMA)
        rows = "".join(f"{i * 37 % 101},{'yes' if i % 3 else 'no'}\n" for i in range(2000))
        (folder / "t.csv").write_text("age,ill\n" + rows)

        def run(*words):
            return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)

        made = run("budget", "new", "b.budget", "--epsilon", "100", "--delta", "1e-6")
        assert made.returncode == 0, made.stderr
        fit = ["fit", "t.csv", "--schema", "s.toml", "--epsilon", "0.1", "--delta", "1e-6",
               "--iterations", "40", "--quiet", "--budget", "b.budget"]
        began = time.monotonic()
        assert run(*fit, "--out", "whole").returncode == 0
        whole = time.monotonic() - began
        counted, came = 0.0, {"nothing": 0, "open": 0, "settled": 0}
        for kill in range(options.kills):
            out = f"m{kill}"
            child = subprocess.Popen([program, *fit, "--out", out], cwd=folder,
                                     stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0, 1.1 * whole))
            child.kill()
            child.wait()
            checked = run("budget", "check", "b.budget")
            assert checked.returncode == 0, checked.stderr
            books = json.loads(run("budget", "show", "b.budget", "--json").stdout)
            jobs = [job for job in books["jobs"] if job["label"] == f"fit to {out}"]
            assert len(jobs) <= 1
            state = jobs[0]["state"] if jobs else "nothing"
            came[state] += 1  # a job that was given back is a KeyError
            if (folder / out / "model.json").exists():
                assert state == "settled", (out, state)
            assert books["groups"][0]["counted"] >= counted
            counted = books["groups"][0]["counted"]
        print(f"{options.kills} fits killed: {came}; books of {books['lines']} lines check, "
              f"{counted:.4f} counted")


if __name__ == "__main__":
    main()
