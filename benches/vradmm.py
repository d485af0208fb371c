"""What shrinking the clip of the correction buys VRADMM (erratum E5): docs/vradmm.svg and the table in docs/errata.md.

    python3 benches/vradmm.py --data-dir DIR [--reticent PATH] [--out docs/vradmm.svg]

DIR (or RETICENT_DATA) holds a9a.xz and a9a.t.xz. Needs matplotlib. Two runs at the same certified ε (δ = 1e-5,
replace-one, record level), all settings at their defaults, the same seeds: corrections clipped at
min(2C, L‖x − x̃‖) with noise in proportion, and corrections with noise in proportion to 2C throughout, which is the
published noise made sound by noise on the snapshot as well.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

EPSILONS = [0.1, 0.2, 0.4, 1.0, 2.0]
KINDS = {"shrinking clip (ours)": [], "clip 2C (published noise, made sound)": ["--shrink=false"]}


def command(reticent, *words):
    done = subprocess.run([reticent, *map(str, words), "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return json.loads(done.stdout)


def quality(reticent, folder, data, fit):
    """Log loss on the training table and accuracy on the test table of one fit."""
    model = pathlib.Path(folder) / "model"
    table = ["--features", 123, "--row-norm", 4, "--penalty", "l2:1e-4", "--out", model]
    command(reticent, "fit", data / "a9a.xz", *table, *fit)
    return (
        command(reticent, "evaluate", model, data / "a9a.xz")["log_loss"],
        command(reticent, "evaluate", model, data / "a9a.t.xz")["accuracy"],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=pathlib.Path, default=os.environ.get("RETICENT_DATA"))
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/vradmm.svg"))
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    data = pathlib.Path(given.data_dir or ".")
    if not (data / "a9a.xz").exists():
        print(f"skipped: no a9a.xz in {data}")
        return
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        best, _ = quality(given.reticent, folder, data, ["--algorithm", "exact"])
        for name, flags in KINDS.items():
            for epsilon in EPSILONS:
                budget = ["--algorithm", "vradmm", "--epsilon", epsilon, "--delta", 1e-5]
                runs = [
                    quality(given.reticent, folder, data, [*budget, "--seed", seed, *flags])
                    for seed in range(given.seeds)
                ]
                losses, accuracies = zip(*runs)
                gaps = [loss - best for loss in losses]
                found[name, epsilon] = gaps
                error = statistics.stdev(gaps) / len(gaps) ** 0.5
                print(
                    f"{name:40} ε = {epsilon:<4} excess log loss {statistics.mean(gaps):.4f} ± {error:.4f}"
                    f"  test accuracy {statistics.mean(accuracies):.4f}",
                    flush=True,
                )
    draw(found, given.out, given.seeds)


def draw(found, out, seeds):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "vradmm", "font.size": 10})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 4))
    for (name, marker) in zip(KINDS, "os"):
        means = [statistics.mean(found[name, epsilon]) for epsilon in EPSILONS]
        spread = [statistics.stdev(found[name, epsilon]) for epsilon in EPSILONS]
        axes.errorbar(EPSILONS, means, yerr=spread, marker=marker, capsize=3, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(EPSILONS, [str(epsilon) for epsilon in EPSILONS])
    axes.minorticks_off()
    axes.set_xlabel("certified ε (δ = 1e-5, replace-one)")
    axes.set_ylabel("log loss above the non-private optimum")
    axes.set_title(f"VRADMM on a9a, mean and standard deviation of {seeds} seeds")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    main()
