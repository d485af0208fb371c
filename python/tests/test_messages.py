"""Errors are in Python's words: they name arguments, and no flag of the command line."""

import importlib
import pathlib
import pkgutil
import re

import reticent

FOLDER = pathlib.Path(reticent.__file__).parent
# What a shell would take, as in --epsilon; a dash between words is not.
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def test_no_text_of_the_package_names_a_flag():
    for module in pkgutil.iter_modules([str(FOLDER)]):
        source = FOLDER / f"{module.name}.py"
        if source.exists():
            assert not FLAG.search(source.read_text(encoding="utf-8")), module.name


def test_no_text_of_the_native_half_names_a_flag():
    """What the library says is all in it; only the command line knows flags."""
    native = pathlib.Path(importlib.import_module("reticent._reticent").__file__)
    text = native.read_bytes()
    words = (b"epsilon", b"delta", b"budget", b"schema", b"public-n", b"adjacency", b"unit",
             b"row-norm", b"target", b"seed", b"bins", b"confidence", b"split", b"user-column")
    assert b"`public_n" in text
    for word in words:
        assert b" --" + word not in text and b"`--" + word not in text, word
