"""Every flag of the command line has a twin in Python, or a written reason (docs/python-flags.md)."""

import inspect
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import reticent

CLI = os.environ.get("RETICENT") or shutil.which("reticent")
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python-flags.md"
EVERYWHERE = {"help", "version", "quiet", "json"}


def rows():
    """Commands, flags and what the page says of them."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and "`--" in line:
            commands, flags, said = (cell.strip() for cell in line.strip("|").split("|"))
            for command in commands.split(", "):
                yield command, re.findall(r"`--([a-z-]+)`", flags), said


def helped(*command):
    done = subprocess.run([CLI, *command, "--help"], capture_output=True, text=True, check=True)
    return done.stdout


def commands(*before):
    """Every command, with those below it."""
    text = helped(*before)
    if "<COMMAND>" not in text:
        return
    # Under one heading or under several.
    names = re.findall(r"^  ([a-z][a-z-]*)(?:\s|$)", text.split("\nOptions:")[0], re.MULTILINE)
    for name in names:
        if name != "help":
            yield (*before, name)
            yield from commands(*before, name)


@pytest.mark.skipif(CLI is None, reason="RETICENT does not name the command line")
def test_every_flag_of_the_command_line_is_on_the_page_and_no_other():
    offered = set()
    for command in commands():
        flags = re.findall(r"^ {2,6}(?:-\w, )?--([a-z][a-z0-9-]*)", helped(*command), re.MULTILINE)
        offered |= {(" ".join(command), flag) for flag in flags if flag not in EVERYWHERE}
    told = [(command, flag) for command, flags, _ in rows() for flag in flags]
    assert len(offered) > 150
    assert sorted(told) == sorted(set(told)), "a flag is on the page twice"
    assert not offered - set(told), "these have neither a twin nor a reason"
    assert not set(told) - offered, "there are no such flags"


def thing(path):
    found = reticent
    for name in path.removeprefix("reticent.").split("."):
        found = getattr(found, name)
    return found


def test_every_twin_is_there_with_its_arguments_and_every_reason_has_words():
    for command, flags, said in rows():
        if said.startswith("– "):
            assert len(said.split()) >= 5, (command, flags)
            continue
        twins = re.findall(r"`([\w.]+)\(([^)]*)\)`", said)
        assert twins, (command, flags, said)
        for path, given in twins:
            signature = inspect.signature(thing(path)).parameters
            missing = [one for one in given.replace(" ", "").split(",") if one not in signature]
            assert not given or not missing, (path, missing)
