"""Arguments and their descriptions, handed down from a class to its heirs.

scikit-learn reads the parameters of an estimator off the signature of its ``__init__``, and users
read them in ``help``. Both shall have all of them, and nothing shall be written eight times: a
class names what is its own and takes the rest as ``**others``; signature and docstring are
completed here.
"""

from __future__ import annotations

import inspect
import textwrap

EXAMPLES = "\n\nExamples\n--------\n"


def complete(cls: type, base: type) -> None:
    """Writes out the signature and the docstring of an heir of ``base``."""
    own = [each for each in cls.__mro__ if issubclass(each, base) and "__init__" in vars(each)]
    if "__init__" in vars(cls):
        setattr(vars(cls)["__init__"], "__signature__", _signature(own))
    # Without indentation, as it is everywhere from Python 3.13 on.
    text = inspect.cleandoc(vars(cls).get("__doc__") or "")
    if EXAMPLES in text:
        cls.__doc__ = _filled(text, [vars(each).get("_SHARED", {}) for each in cls.__mro__])


def _signature(classes: list[type]) -> inspect.Signature:
    """The arguments of the first of these, then those that it hands on."""
    parameters: dict[str, inspect.Parameter] = {}
    for place, each in enumerate(classes):
        declared = inspect.signature(vars(each)["__init__"]).parameters
        for name, one in declared.items():
            if one.kind is not one.VAR_KEYWORD:
                kept = one if place == 0 else one.replace(kind=one.KEYWORD_ONLY)
                parameters.setdefault(name, kept)
    return inspect.Signature(list(parameters.values()), return_annotation=None)


def _filled(text: str, parts: list[dict[str, str]]) -> str:
    """The docstring with what its class inherits: parameters, attributes, notes."""

    def shared(name: str) -> str:
        return "\n".join(textwrap.dedent(part[name]).strip() for part in parts if name in part)

    head, tail = text.split(EXAMPLES)
    sections = [
        f"{head}\n{shared('parameters')}",
        f"Attributes\n----------\n{shared('attributes')}",
        f"Notes\n-----\n{shared('notes')}",
    ]
    return "\n\n".join(sections) + EXAMPLES + tail
