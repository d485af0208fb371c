"""What ties coefficients together, in the words of the library."""

from __future__ import annotations

from typing import Any

import numpy as np

# The tie between columns that are worth an edge, on the scale of correlations.
TIE = 0.1


def _triplets(matrix: Any) -> tuple[list[int], list[int], list[float]]:
    """The entries of a dense or sparse matrix that are not 0."""
    if hasattr(matrix, "tocoo"):
        coo = matrix.tocoo()
        rows, columns, values = coo.row, coo.col, coo.data
    else:
        dense = np.asarray(matrix, dtype=np.float64)
        rows, columns = np.nonzero(dense)
        values = dense[rows, columns]
    return rows.tolist(), columns.tolist(), np.asarray(values, dtype=np.float64).tolist()


def entries(matrix: Any, columns: int) -> tuple[str, int, Any]:
    """A matrix whose product with the weights is penalised."""
    shape = matrix.shape if hasattr(matrix, "shape") else np.asarray(matrix).shape
    if len(shape) != 2 or shape[1] != columns:
        raise ValueError(
            f"A has the shape {tuple(shape)}: a matrix with {columns} columns is needed, one for "
            "each encoded column"
        )
    return ("matrix", int(shape[0]), _triplets(matrix))


def edges(graph: Any, names: list[str]) -> Any:
    """A graph of the encoded columns."""
    if isinstance(graph, str):
        if graph == "path":
            ends = list(range(len(names)))
            return ("graph", (ends[:-1], ends[1:], [1.0] * (len(ends) - 1)))
        if graph == "private":
            return ("private", TIE)
        raise ValueError(f"graph={graph!r}: use 'path', 'private', edges or an adjacency matrix")
    if hasattr(graph, "shape") or hasattr(graph, "tocoo"):
        if tuple(graph.shape) != (len(names), len(names)):
            raise ValueError(
                f"graph has the shape {tuple(graph.shape)}: an adjacency matrix of {len(names)} "
                "encoded columns is needed"
            )
        rows, columns, values = _triplets(graph)
        above = [(i, j, w) for i, j, w in zip(rows, columns, values) if i < j]
        return ("graph", tuple(map(list, zip(*above))) if above else ([], [], []))
    places = {name: place for place, name in enumerate(names)}
    found: tuple[list[int], list[int], list[float]] = ([], [], [])
    for edge in graph:
        if len(edge) not in (2, 3):
            raise ValueError("an edge is (one, other) or (one, other, weight)")
        for list_, end in zip(found[:2], edge[:2]):
            if isinstance(end, str) and end not in places:
                raise ValueError(f"graph names {end!r}, which is no encoded column")
            list_.append(places[end] if isinstance(end, str) else int(end))
        found[2].append(float(edge[2]) if len(edge) == 3 else 1.0)
    return ("graph", found)
