"""What a courier does, whatever engine it uses. An engine has four functions; another engine is another file.

At the lead, an `Engine`:

    nodes()               whom it reaches
    send(node, parcel)    carries a parcel to a node; a ticket
    collect(tickets)      what has come back, by ticket; None where it was lost

and at a party, for each parcel that comes:

    visit(socket, parcel, wait)   hands it in, and takes along what is to be said

Parcels are closed end to end, by the keys of the roster. They may be lost, carried twice and in any order: each says
from where on its bytes are, and what did not come is carried again. So a courier that dies, or is started again, has
nothing to remember.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

# A parcel's head (its mark, its channel, from where on, how much came, whether it is the end); bytes follow.
HEAD = 37
LONGEST = HEAD + (1 << 22)


class Gone(Exception):
    """Nobody is at the socket."""


class Engine(Protocol):
    """What carries parcels between the lead's machine and the parties'."""

    def nodes(self) -> Iterable[int]: ...

    def send(self, node: int, parcel: bytes) -> str: ...

    def collect(self, tickets: list[str]) -> Mapping[str, bytes | None]: ...


def visit(path: str, parcel: bytes, wait: float) -> bytes:
    """Hands a parcel (or none: b"") in at a socket of Reticent, and takes along what there is within `wait` seconds."""
    try:
        found = os.lstat(path)
        if not stat.S_ISSOCK(found.st_mode) or not _is_for_us(found, os.stat(os.path.dirname(path) or ".")):
            raise PermissionError(f"{path} is not a socket of this user, or of a group of this user")
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(wait + 30)
            line.connect(path)
            line.sendall(struct.pack("<II", round(1000 * wait), len(parcel)) + parcel)
            (length,) = struct.unpack("<I", _read(line, 4))
            if length > LONGEST:
                raise Gone(f"what is at {path} does not speak as Reticent does")
            return _read(line, length)
    except PermissionError:
        raise
    except OSError as error:
        raise Gone(f"nobody is at {path}: {error}") from error


def _is_for_us(found: os.stat_result, folder: os.stat_result) -> bool:
    """Whether a socket is this user's, or was put there for a group of this user by the owner of its folder."""
    if found.st_uid == os.geteuid():
        return True
    of_group = found.st_gid in {os.getegid(), *os.getgroups()} and bool(found.st_mode & stat.S_IWGRP)
    return of_group and folder.st_uid == found.st_uid and not folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read(line: socket.socket, length: int) -> bytes:
    read = bytearray()
    while len(read) < length:
        more = line.recv(min(1 << 16, length - len(read)))
        if not more:
            raise Gone("it was left in the middle of a word")
        read += more
    return bytes(read)


def says_something(parcel: bytes) -> bool:
    """Whether a parcel has bytes, or is the last of its channel."""
    return len(parcel) > HEAD or (len(parcel) == HEAD and parcel[HEAD - 1] == 1)


@dataclass
class Desk:
    """Where the talk with one node stands."""

    parcel: bytes = b""
    """What the party has last said; handed in at the lead as often as need be."""
    ticket: str | None = None
    """A parcel is on its way to the node."""
    again: float = 0.0
    """When the node is asked even if the lead has nothing to say."""


def carry(
    engine: Engine,
    lead: Callable[[bytes], bytes],
    *,
    patience: float = 60.0,
    quiet: float = 20.0,
    pause: float = 0.05,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Carries until the lead is gone for longer than `patience`; returns why it ended.

    `lead` is a visit at the lead's socket. A node that has said something is not asked again for `quiet` seconds: the
    lead waits for the others then.
    """
    desks: dict[int, Desk] = {}
    seen = clock()
    while True:
        for node in engine.nodes():
            desks.setdefault(node, Desk())
        _collect(engine, desks, clock() + quiet)
        for node, desk in desks.items():
            if desk.ticket is not None:
                continue
            say = b""
            if desk.parcel:
                try:
                    say = lead(desk.parcel)
                    seen = clock()
                except Gone as gone:
                    if clock() - seen > patience:
                        return str(gone)
                    continue
            if says_something(say) or clock() >= desk.again:
                desk.ticket = engine.send(node, say)
        if clock() - seen > patience and not _is_there(lead):
            return "the lead is gone"
        sleep(pause)


def _is_there(lead: Callable[[bytes], bytes]) -> bool:
    try:
        lead(b"")
    except Gone:
        return False
    return True


def _collect(engine: Engine, desks: dict[int, Desk], later: float) -> None:
    waiting = {desk.ticket: desk for desk in desks.values() if desk.ticket is not None}
    if not waiting:
        return
    for ticket, parcel in engine.collect(list(waiting)).items():
        desk = waiting[ticket]
        desk.ticket, desk.again = None, 0.0
        if parcel:
            # What says nothing new is said at once again; who has spoken waits for an answer.
            desk.again = later if says_something(parcel) else 0.0
            desk.parcel = parcel
