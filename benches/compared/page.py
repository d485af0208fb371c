"""docs/benchmark.md, made of a file of results."""

import json

import numpy as np

from compared.methods import CURVES, EBM, LINEAR, METHODS, SETTINGS

FIGURES = {"auc": "AUC", "log_loss": "log loss", "r2": "R²"}
BEST = f"{EBM}, best setting"
# The tables on which curves are to be at least as good as DP-EBM, and no worse than a line by more than this.
ANCHORS, LOSS = ("adult", "housing", "covtype", "bio"), 0.003
# What changed after the version of the results, by its commit: results of another version do not have the note.
SINCE = {
    "86d5cfda863d": """It is of 18 November 2026. Since then `auto` has `--shrinkage 0.3` for the logistic loss of two classes
([auto](auto.md#scores-that-are-drawn-together)): the log loss of Reticent changes, its AUC and its R² do not.
""",
}

HEAD = """# Benchmark: private models of others

`make bench-utility` makes this page of its results (benches/benchmark.py); no figure here comes from anywhere else.
δ = 1e-5, mean and standard error over the seeds, on rows that were not trained on.
Bounds, categories and row norms are the same for all, and public: benches/compared/tables.py has them.
Each method is run at the adjacency that it is proven for, which is our reading of its paper or code.
A record that is replaced is one removed and one added, so `replace` at ε protects more than `add or remove` at ε,
and pure ε more than (ε, δ): read those rows with that in mind.

| method | what it is |
| --- | --- |
| Reticent | `reticent fit` with [`auto`](auto.md), a linear model |
| Reticent, `--curves auto` | the same with [curves](curves.md) where public numbers allow them |
| DP-EBM | interpret-core 0.7.8: boosted shapes (Nori, Caruana, Bu, Shen and Kulkarni 2021) |
| diffprivlib | 0.6.6: logistic regression by objective perturbation (Chaudhuri, Monteleoni and Sarwate 2011), linear regression by the functional mechanism (Zhang, Zhang, Xiao, Yang and Winslett 2012) |
| objective perturbation | Kifer, Smith and Thakurta 2012, Algorithm 1 with Gaussian noise (benches/published.py) |
| DP-Newton | Ganesh, Haghifam, Steinke and Thakurta 2023, Algorithm 3, ten steps (benches/published.py) |
| AdaSSP | Wang 2018, Algorithm 2 (benches/published.py) |

Every method has the settings that a user gets without tuning; DP-EBM has others too, among the parameters that its
documentation names, and the best of them by its mean on the test rows counts in every cell by itself.
That choice costs privacy which is not counted here, so it favours DP-EBM. All but setting 0 were chosen among 40 because
they were best somewhere on Adult or housing in one or two runs.
`composition="classic"` adds more noise for the same promise and was left out.

"""


def read(path):
    """What is known about each table, and the runs."""
    facts, runs = {}, {}
    if path.exists():
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if "facts" in line:
                facts[line["table"]] = line["facts"]
            else:
                runs[line["table"], line["method"], line["setting"], line["epsilon"], line["seed"]] = line
    return facts, list(runs.values())


class Cell:
    """One figure of one method at one ε: all seeds."""

    def __init__(self, runs, figure, setting=None):
        self.values = [run[figure] for run in runs if figure in run]
        self.failed, self.setting = len(runs) - len(self.values), setting
        self.mean = float(np.mean(self.values)) if self.values else None
        self.error = float(np.std(self.values, ddof=1) / len(self.values) ** 0.5) if len(self.values) > 1 else 0.0

    def text(self):
        if self.mean is None:
            return "failed" if self.failed else "–"
        digits = ".4f" if abs(self.mean) < 100 else ".1e"
        failed = f", {self.failed} failed" if self.failed else ""
        chosen = f" ({self.setting})" if self.setting is not None else ""
        return f"{self.mean:{digits}} ± {self.error:{digits}}{chosen}{failed}"


class Found:
    """The runs of one table."""

    def __init__(self, name, facts, runs, epsilons):
        self.name, self.facts, self.epsilons, self.missed = name, facts, epsilons, 0
        self.figures = {"r2": 1} if facts["metric"] == "r2" else {"auc": 1, "log_loss": -1}
        self.runs = {}
        for run in runs:
            if run["table"] == name:
                self.runs.setdefault((run["method"], run["setting"], run["epsilon"]), []).append(run)
        self.methods = [name for name in METHODS if any(method == name for method, *_ in self.runs)]
        if EBM in self.methods:
            self.methods.insert(self.methods.index(EBM) + 1, BEST)

    def cell(self, method, figure, epsilon):
        if method != BEST:
            return Cell(self.runs.get((method, 0, epsilon), []), figure)
        cells = [Cell(self.runs.get((EBM, setting, epsilon), []), figure, setting) for setting in range(len(SETTINGS))]
        whole = [cell for cell in cells if cell.mean is not None] or cells
        return max(whole, key=lambda cell: self.figures[figure] * (cell.mean or 0))

    def seeds(self, method):
        """How many there are in a cell; for the best of several settings, of those that ran on this table."""
        own = EBM if method == BEST else method
        settings = [k for k in range(len(SETTINGS) if method == BEST else 1) if any((own, k, e) in self.runs for e in self.epsilons)]
        counts = {len(self.runs.get((own, setting, epsilon), [])) for setting in settings for epsilon in self.epsilons}
        return f"{min(counts)}" if len(counts) == 1 else f"{min(counts)}–{max(counts)}"

    def unused(self):
        """The settings of DP-EBM that did not run on this table."""
        return [k for k in range(len(SETTINGS)) if EBM in self.methods and not any((EBM, k, e) in self.runs for e in self.epsilons)]

    def section(self):
        facts = self.facts
        text = [f"## {facts['name']}, {facts['train']:,} × {facts['columns']}", ""]
        if facts["positive"] is not None:
            share = facts["positive"]
            constant = -share * np.log(share) - (1 - share) * np.log(1 - share)
            text += [f"{share:.1%} of {facts['test']:,} test rows are positive: a constant has a log loss of {constant:.4f} at best.", ""]
        for figure in self.figures:
            text += ["| " + FIGURES[figure] + " | adjacency | seeds | " + " | ".join(f"ε = {e:g}" for e in self.epsilons) + " |",
                     "|" + " --- |" * (3 + len(self.epsilons))]
            for method in self.methods:
                row = [self.cell(method, figure, epsilon).text() for epsilon in self.epsilons]
                text.append(f"| {method} | {METHODS[EBM if method == BEST else method][0]} | {self.seeds(method)} | " + " | ".join(row) + " |")
            text.append("")
        if self.unused():
            numbers = ", ".join(map(str, self.unused()))
            flags = "; they differ from setting 4 in bins and leaves alone, and columns here have two values" * facts.get("flags", False)
            text += [f"Settings {numbers} of DP-EBM did not run here{flags}.", ""]
        return text + self.behind()

    def behind(self):
        """Cells in which each of ours is worse than another's by more than two standard errors."""
        text = []
        for ours in (LINEAR, CURVES):
            if ours not in self.methods:
                continue
            lost = []
            for figure, sign in self.figures.items():
                for epsilon in self.epsilons:
                    mine = self.cell(ours, figure, epsilon)
                    for method in self.methods:
                        other = self.cell(method, figure, epsilon)
                        if mine.mean is None or other.mean is None or method in (LINEAR, CURVES, EBM):
                            continue
                        short = sign * (other.mean - mine.mean)
                        if short > 2 * np.hypot(mine.error, other.error):
                            lost.append(f"{method} in {FIGURES[figure]} at ε = {epsilon:g} by {short:.4f}")
            name = "With curves" if ours == CURVES else "Linear"
            text.append(f"- {name}: behind " + ("; ".join(lost) if lost else "nobody here by more than two standard errors") + ".")
        return [*text, ""]

    def anchored(self):
        """The rows of the table of differences: with curves less DP-EBM's best, and less a line."""
        rows = []
        for other, allowed in ((BEST, 0.0), (LINEAR, LOSS)):
            row = []
            for epsilon in self.epsilons:
                mine, theirs = (self.cell(method, self.facts["metric"], epsilon) for method in (CURVES, other))
                if mine.mean is None or theirs.mean is None:
                    row.append("–")
                    continue
                error = np.hypot(mine.error, theirs.error)
                less = mine.mean - theirs.mean
                self.missed += less + 2 * error < -allowed
                holds = "" if less + 2 * error >= -allowed else ", **no**"
                row.append(f"{less:+.4f} ± {error:.4f}{holds}")
            name = f"{self.facts['name']}, {FIGURES[self.facts['metric']]}"
            rows.append(f"| {name} | {other} | " + " | ".join(row) + " |")
        return rows


def settings():
    text = ["| | setting of DP-EBM |", "| --- | --- |"]
    for place, setting in enumerate(SETTINGS):
        text.append(f"| {place} | " + (", ".join(f"`{name}={value}`" for name, value in setting.items()) or "its defaults") + " |")
    return [*text, ""]


def text(path, names, epsilons):
    facts, runs = read(path)
    found = [Found(name, facts[name], runs, epsilons) for name in names if name in facts]
    found = [table for table in found if table.runs]
    versions = sorted({run["version"] for run in runs if "version" in run})
    anchors = [table for table in found if table.name in ANCHORS and {CURVES, EBM, LINEAR} <= set(table.methods)]
    lines = [HEAD + "\n".join(settings())] + [f"The program: {', '.join(versions)}."] * bool(versions)
    lines += [note.rstrip("\n") for commit, note in SINCE.items() if any(commit in version for version in versions)]
    lines += [""] * bool(versions)
    if anchors:
        lines += ["## Curves against the best of DP-EBM, and against a line", "",
                  f"`--curves auto` less the other, with the standard error of the difference. It is to be at least 0 against DP-EBM and at least −{LOSS}",
                  "against a line; **no** stands where it misses that by more than two standard errors.", "",
                  "| table | against | " + " | ".join(f"ε = {e:g}" for e in epsilons) + " |", "|" + " --- |" * (2 + len(epsilons))]
        rows = [row for table in anchors for row in table.anchored()]
        missed = sum(table.missed for table in anchors)
        fewer = [f"{table.facts['name']} ({', '.join(map(str, table.unused()))})" for table in anchors if table.unused()]
        lines += [*rows, "", f"{missed} of {len(rows) * len(epsilons)} comparisons are missed." if missed else "No comparison is missed.", ""]
        lines += [f"Settings of DP-EBM that did not run, so that its best may be better than is said here: {'; '.join(fewer)}.", ""] * bool(fewer)
    lines += [line for table in found for line in table.section()]
    left = [name for name in names if name not in {table.name for table in found}]
    lines += [f"Not in this edition: {', '.join(left)}."] * bool(left)
    return "\n".join(lines).rstrip() + "\n"
