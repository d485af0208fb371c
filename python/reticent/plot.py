"""Plots of certificates, budgets, evaluations, parties, audits and sweeps, with matplotlib.

Every function draws into ``ax``, by default a new figure, and returns the axes. matplotlib is
imported with the first plot.

Examples
--------
>>> from reticent import accounting as acc, plot
>>> ax = plot.trade_off(acc.gaussian(2.0), acc.gaussian(4.0), labels=["noise 2", "noise 4"])
>>> ax.get_ylabel()
'missed changes'
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._frames import column

if TYPE_CHECKING:
    from .budget import Budget
    from .evaluation import Evaluation
    from .simulation import Simulation

__all__ = [
    "audit",
    "budget",
    "coefficients",
    "column_curves",
    "curves",
    "evaluation",
    "pair_surfaces",
    "parties",
    "profile",
    "reliability",
    "trade_off",
]

# Blue, orange, green, purple, red, grey: told apart by colour-blind readers, and in print.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#555555")
QUIET = "#888888"


def _axes(ax: Any, title: str, x: str, y: str) -> Any:
    """The axes to draw into."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ModuleNotFoundError:
            raise ImportError(
                "pictures are drawn by matplotlib, which is not there: pip install matplotlib"
            ) from None
        ax = pyplot.subplots(figsize=(6.0, 4.0), layout="constrained")[1]
    ax.set(title=title, xlabel=x, ylabel=y)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _curve(thing: Any, name: str, at: Any) -> Any:
    """What a model, a certificate or a ledger says of itself."""
    from . import accounting

    source = getattr(thing, "certificate_", thing)
    if isinstance(source, accounting.Ledger):
        return getattr(accounting, name)(source, at)
    return getattr(source, name)(at)


def _labels(labels: Sequence[str] | None, things: Sequence[Any]) -> list[str | None]:
    if labels is not None:
        return list(labels)
    if len(things) == 1:
        return [None]
    return [f"{place + 1}" for place in range(len(things))]


def _legend(ax: Any, title: str | None = None) -> None:
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, title=title)


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def trade_off(*things: Any, labels: Sequence[str] | None = None, ax: Any = None) -> Any:
    """Smallest miss rate of an attacker at each false-alarm rate.

    Parameters
    ----------
    *things : models, certificates or ledgers
        One curve each. The dashed line is perfect privacy.
    labels : list of str, optional
        Labels of the curves.
    ax : matplotlib axes, optional
        Axes to draw into.
    """
    ax = _axes(ax, "What an attacker misses, at the least", "false alarms", "missed changes")
    ax.plot([0, 1], [1, 0], color=QUIET, linestyle="--", linewidth=1)
    # Finer where the curve bends: at both ends.
    levels = 0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, 201))
    for place, (thing, label) in enumerate(zip(things, _labels(labels, things))):
        drawn = _curve(thing, "trade_off", levels)
        ax.plot(drawn.false_alarms, drawn.missed, color=_colour(place), label=label)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    _legend(ax)
    return ax


def profile(
    *things: Any, epsilon: Any = None, labels: Sequence[str] | None = None, ax: Any = None
) -> Any:
    """δ as a function of ε.

    Parameters
    ----------
    *things : models, certificates or ledgers
        One curve each.
    epsilon : array, optional
        Values of ε; by default from 0 to twice the largest certified ε.
    labels : list of str, optional
        Labels of the curves.
    ax : matplotlib axes, optional
        Axes to draw into.
    """
    ax = _axes(ax, "Every pair (ε, δ) that is promised", "ε", "δ")
    sources = [getattr(thing, "certificate_", thing) for thing in things]
    if epsilon is None:
        known = [one.epsilon() for one in sources if hasattr(one, "epsilon")]
        most = max([one for one in known if np.isfinite(one)], default=5.0)
        epsilon = np.linspace(0.0, 2.0 * most, 61)
    for place, (one, label) in enumerate(zip(sources, _labels(labels, things))):
        drawn = _curve(one, "profile", epsilon)
        ax.plot(drawn.epsilon, drawn.delta, color=_colour(place), label=label)
        if hasattr(one, "epsilon") and np.isfinite(one.epsilon()):
            ax.plot([one.epsilon()], [one.delta], "o", color=_colour(place), markersize=5)
    ax.set_yscale("log")
    ax.set_xlim(left=0)
    _legend(ax)
    return ax


def budget(budget: Budget, ax: Any = None) -> Any:
    """Counted ε over time, and the limit.

    Parameters
    ----------
    budget : Budget
        The budget.
    ax : matplotlib axes, optional
        Axes to draw into.
    """
    course = budget.course()
    times, counted = column(course, "time"), column(course, "counted")
    # Seconds tell nothing: a budget that was spent by a script is shown change by change.
    brief = (times[-1] - times[0]) < np.timedelta64(60, "s")
    ax = _axes(ax, "The budget over time", "change" if brief else "", "ε counted")
    if brief:
        times = np.arange(len(counted))
        ax.xaxis.get_major_locator().set_params(integer=True)
    ax.step(times, counted, where="post", color=COLOURS[0])
    ax.plot(times, counted, "o", color=COLOURS[0], markersize=3)
    ax.axhline(budget.epsilon, color=COLOURS[1], linestyle="--", linewidth=1)
    ax.annotate("ceiling", (0.01, budget.epsilon), xycoords=("axes fraction", "data"),
                xytext=(0, 3), textcoords="offset points", color=COLOURS[1])
    ax.set_ylim(0, 1.12 * max(budget.epsilon, float(np.max(counted))))
    if not brief:
        from matplotlib import dates

        short: Any = dates.ConciseDateFormatter
        ax.xaxis.set_major_formatter(short(ax.xaxis.get_major_locator()))
    return ax


def evaluation(evaluation: Evaluation, ax: Any = None) -> Any:
    """The metrics of an evaluation that lie between 0 and 1, with their intervals.

    Thick bars are about the table, thin ones about the population that it was drawn from.

    Parameters
    ----------
    evaluation : Evaluation
        What :func:`reticent.evaluate` gave.
    ax : matplotlib axes, optional
        Axes to draw into.
    """
    shares = [
        (name, one) for name, one in evaluation.figures.items()
        if name in ("accuracy", "auc", "calibration_error", "r2")
    ]
    told = evaluation.certificate
    ax = _axes(ax, f"Worth on a private table, ε = {told.epsilon():.3g}", "", "")
    for place, (_, one) in enumerate(reversed(shares)):
        if one.population is not None:
            ax.plot(one.population, [place, place], color=COLOURS[0], linewidth=1.5)
        ax.plot(one.interval, [place, place], color=COLOURS[0], linewidth=5, alpha=0.45,
                solid_capstyle="butt")
        ax.plot([one.value], [place], "o", color=COLOURS[0])
    ax.set_yticks(range(len(shares)), [name.replace("_", " ") for name, _ in reversed(shares)])
    ax.set(xlim=(0, 1), ylim=(-0.6, len(shares) - 0.4))
    ax.set_xlabel(f"{100 * evaluation.confidence:g} % intervals")
    return ax


def reliability(evaluation: Evaluation, of: Any = None, ax: Any = None) -> Any:
    """Observed frequency by predicted probability.

    Parameters
    ----------
    evaluation : Evaluation
        What :func:`reticent.evaluate` gave.
    of : label, optional
        Class of the probability; default the last.
    ax : matplotlib axes, optional
        Axes to draw into.
    """
    table = evaluation.reliability()
    said = column(table, "class")
    if not len(said):
        raise ValueError("this model says no probabilities, so there is no reliability to draw")
    shown = (said == (said[-1] if of is None else of)) & ~np.isnan(column(table, "share"))
    low, high = (column(table, f"probability_{end}")[shown] for end in ("lower", "upper"))
    share, bottom, top = (column(table, name)[shown] for name in ("share", "lower", "upper"))
    ax = _axes(ax, "Said, and observed", "probability that was said", "share that was observed")
    ax.plot([0, 1], [0, 1], color=QUIET, linestyle="--", linewidth=1)
    off = np.maximum(np.vstack([share - bottom, top - share]), 0.0)
    ax.errorbar(0.5 * (low + high), share, yerr=off, xerr=0.5 * (high - low), fmt="o",
                color=COLOURS[0], markersize=4, linewidth=1)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    return ax


def parties(simulation: Simulation, ax: Any = None) -> Any:
    """Budget of each party.

    Parameters
    ----------
    simulation : Simulation
        What :func:`reticent.simulate` gave.
    ax : matplotlib axes, optional
        Axes to draw into.
    """
    table = simulation.to_frame()
    names, spent = column(table, "party"), column(table, "epsilon")
    view = simulation.model.certificate_.view
    ax = _axes(ax, f"What each party spends ({view} view)", "", "ε")
    ax.bar(range(len(names)), spent, color=COLOURS[0], width=0.6)
    if len(names) <= 20:
        ax.set_xticks(range(len(names)), [str(name) for name in names])
    return ax


def coefficients(model: Any, most: int = 20, ax: Any = None) -> Any:
    """The largest coefficients, of the first output of a model, for encoded columns.

    Parameters
    ----------
    model : estimator
        A fitted private estimator.
    most : int
        Number of coefficients.
    ax : matplotlib axes, optional
        Axes to draw into.
    """
    names, weights, _ = model.model_.weights(True)
    order = np.argsort(-np.abs(weights[0]))[:most][::-1]
    ax = _axes(ax, "What moves the score", "weight, of the encoded column", "")
    bars = [COLOURS[0] if weights[0][place] >= 0 else COLOURS[1] for place in order]
    ax.barh(range(len(order)), weights[0][order], color=bars, height=0.6)
    ax.set_yticks(range(len(order)), [names[place] for place in order])
    ax.axvline(0, color=QUIET, linewidth=1)
    return ax


def column_curves(model: Any, most: int = 9) -> Any:
    """The curves of the columns of a model, the widest range first.

    Parameters
    ----------
    model : estimator
        A fitted private estimator with ``curves``.
    most : int
        Number of columns.

    Returns
    -------
    matplotlib.figure.Figure
        One picture per column.
    """
    table = getattr(model, "curves_", None)
    if table is None:
        raise ValueError("no column of the model is curved: fit it with curves='auto'")
    names, x, value = (column(table, name) for name in ("column", "x", "value"))
    outputs = column(table, "of")
    scales = {curve["column"]: curve for curve in json.loads(model.model_.curves())}
    shown = list(dict.fromkeys(names.tolist()))[:most]
    wide = min(3, len(shown))
    high = -(-len(shown) // wide)
    first = _axes(None, "", "", "")
    figure = first.figure
    figure.clear()
    figure.set_size_inches(4.0 * wide, 3.0 * high)
    for place, name in enumerate(shown):
        ax = _axes(figure.add_subplot(high, wide, place + 1), "", name, "")
        for k, of in enumerate(dict.fromkeys(outputs.tolist())):
            at = (names == name) & (outputs == of)
            across = _across(ax, x[at].astype(float), scales[name])
            ax.plot(across, value[at], color=_colour(k), label=str(of))
            if "estimate" in table:
                ends = (column(table, end)[at] for end in ("lower", "upper"))
                ax.fill_between(across, *ends, color=_colour(k), alpha=0.15, linewidth=0)
        if "category" in table:
            at = (names == name) & (outputs == outputs[0])
            words = column(table, "category")[at]
            if words[0] is not None:
                ax.set_xticks(x[at], [str(word) for word in words], rotation=45, ha="right")
        ax.axhline(0, color=QUIET, linewidth=0.5)
        if place == 0:
            _legend(ax)
    return figure


def _across(ax: Any, x: Any, curve: dict[str, Any]) -> Any:
    """The values of a column on an axis of their kind: dates, or a logarithm where they have one."""
    if curve["days"]:
        ax.tick_params(axis="x", labelrotation=45)
        return np.datetime64(0, "s") + np.round(x * 86_400).astype("timedelta64[s]")
    # A lower bound of 0 has none, and is left out.
    if curve["log"] and x[0] >= 0:
        ax.set_xscale("log", nonpositive="mask")
    return x


def pair_surfaces(model: Any, most: int = 9) -> Any:
    """What pairs of columns do together, the widest range first.

    Parameters
    ----------
    model : estimator
        A fitted private estimator whose schema declares ``pairs``.
    most : int
        Number of pairs.

    Returns
    -------
    matplotlib.figure.Figure
        One picture per pair and output.
    """
    table = getattr(model, "pairs_", None)
    if table is None:
        raise ValueError("the model has no pairs: declare `pairs` in its schema")
    keys = list(zip(*(column(table, name).tolist() for name in ("first", "second", "of"))))
    shown = list(dict.fromkeys(keys))
    shown = [key for key in shown if key[:2] in list(dict.fromkeys(key[:2] for key in shown))[:most]]
    wide = min(3, len(shown))
    high = -(-len(shown) // wide)
    figure = _axes(None, "", "", "").figure
    figure.clear()
    figure.set_size_inches(4.6 * wide, 3.8 * high)
    for place, key in enumerate(shown):
        at = [other == key for other in keys]
        x, y, value = (column(table, name)[at] for name in ("x", "y", "value"))
        rows, columns = (list(dict.fromkeys(values.tolist())) for values in (x, y))
        ax = figure.add_subplot(high, wide, place + 1)
        cells = value.astype(float).reshape(len(rows), len(columns))
        most_moved = max(abs(cells).max(), 1e-12)
        drawn = ax.imshow(cells, cmap="RdBu_r", vmin=-most_moved, vmax=most_moved, aspect="auto", origin="lower")
        across, up = (
            [one if isinstance(one, str) else f"{one:.3g}" for one in values] for values in (columns, rows)
        )
        ax.set_xticks(range(len(columns)), across, rotation=45, ha="right")
        ax.set_yticks(range(len(rows)), up)
        ax.set_xlabel(key[1])
        ax.set_ylabel(key[0])
        ax.set_title(f"added to the {key[2]}", fontsize=9)
        figure.colorbar(drawn, ax=ax)
    return figure


def audit(table: Any, ax: Any = None) -> Any:
    """Lower bounds of attacks beside the certified ε.

    Parameters
    ----------
    table : data frame
        What :func:`reticent.audit_all` gave, or ``to_frame()`` of an audit.
    ax : matplotlib axes, optional
        Axes to draw into.
    """
    names = [str(name) for name in column(table, "algorithm")]
    ax = _axes(ax, "Certified, and found by attacks", "ε", "")
    rows = range(len(names))
    ax.barh(rows, column(table, "epsilon_lower"), color=COLOURS[0], height=0.5, label="at least")
    ax.plot(column(table, "epsilon_certified"), rows, "|", color=COLOURS[1], markersize=16,
            markeredgewidth=2, label="certified")
    ax.set_yticks(rows, names)
    ax.invert_yaxis()
    _legend(ax)
    return ax


def curves(
    table: Any,
    x: str,
    y: str,
    by: str | None = None,
    *,
    lower: str | None = None,
    upper: str | None = None,
    log_x: bool = False,
    ax: Any = None,
) -> Any:
    """One column of a table against another: the curves of a sweep.

    Parameters
    ----------
    table : data frame
        One row per point; several rows of one ``x`` are shown as their mean.
    x, y : str
        The columns.
    by : str, optional
        One curve per value of this column.
    lower, upper : str, optional
        The columns of a band around it.
    log_x : bool
        Whether the horizontal axis is logarithmic.
    ax : matplotlib axes, optional
        Axes to draw into.
    """
    ax = _axes(ax, "", x.replace("_", " "), y.replace("_", " "))
    across, up = column(table, x), column(table, y)
    kinds = np.asarray([None] * len(across)) if by is None else column(table, by)
    for place, kind in enumerate(dict.fromkeys(kinds.tolist())):
        chosen = kinds == kind
        at = np.unique(across[chosen])

        def means(values: Any, at: Any = at, chosen: Any = chosen) -> Any:
            return np.asarray([values[chosen & (across == one)].mean() for one in at])

        label = None if kind is None else str(kind)
        ax.plot(at, means(up), "o-", color=_colour(place), markersize=4, label=label)
        if lower is not None and upper is not None:
            ends = (means(column(table, lower)), means(column(table, upper)))
            ax.fill_between(at, *ends, color=_colour(place), alpha=0.15, linewidth=0)
    if log_x:
        ax.set_xscale("log")
    _legend(ax, by)
    return ax
