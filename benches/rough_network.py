"""A network of namespaces whose packets a thread of this process carries: it loses, delays, repeats and holds them back.

Each member has a namespace with one interface (TUN), and an address of its own. What the interface is given is read here, and
written to the interface of whom it is for, as late and as often as `Trouble` says. These are packets of IP: TCP and QUIC see
what `tc netem` would do to them, and no module of the kernel is needed for it. It needs the right to make namespaces.
"""

import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import threading
import time
from dataclasses import dataclass, field

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
UDP = 17
FIRST = 1
"""The last number of the address of the first member."""


@dataclass
class Trouble:
    """What happens to packets; times in seconds, the rest are shares."""

    loss: float = 0.0
    delay: float = 0.0
    jitter: float = 0.0
    """Up to so much more: what is sent later may come first."""
    repeat: float = 0.0
    no_udp: bool = False
    slow: frozenset = frozenset()
    """Members whose packets, in both directions, take `slowness` more."""
    slowness: float = 0.0


@dataclass(order=True)
class Held:
    due: float
    number: int
    to: int = field(compare=False)
    packet: bytes = field(compare=False)


class RoughNetwork:
    """Namespaces `names`, in this order at 10.77.0.1, 10.77.0.2 and so on, until `close`."""

    def __init__(self, names, seed):
        self.names, self.chance = list(names), random.Random(seed)
        self.trouble, self.cut = Trouble(), frozenset()
        self.places = {number + FIRST: number for number in range(len(self.names))}
        self.counted = dict.fromkeys(["carried", "lost", "repeated", "overtaken", "cut off", "refused UDP"], 0)
        # What `ip netns` writes is in a mount of our own, and gone with it.
        os.makedirs("/run/netns", exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run/netns"], check=True)
        self.lines = [self._line(number, name) for number, name in enumerate(self.names)]
        self._over, self._thread = threading.Event(), threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def _line(self, number, name):
        line = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(line, TUNSETIFF, struct.pack("16sH", f"rough{number}".encode(), IFF_TUN | IFF_NO_PI))
        for command in (
            f"netns add {name}",
            f"link set rough{number} netns {name}",
            f"-n {name} addr add {self.address(number)}/24 dev rough{number}",
            f"-n {name} link set rough{number} up",
            f"-n {name} link set lo up",
        ):
            subprocess.run(["ip", *command.split()], check=True)
        return line

    @staticmethod
    def address(number):
        return f"10.77.0.{number + FIRST}"

    def move(self, name, last):
        """A member has another address from now on, as behind a router that was started again."""
        number = self.names.index(name)
        old = next(own for own, line in self.places.items() if line == number)
        for change in (f"del 10.77.0.{old}/24", f"add 10.77.0.{last}/24"):
            subprocess.run(["ip", "-n", name, "addr", *change.split(), "dev", f"rough{number}"], check=True)
        self.places = {**{own: line for own, line in self.places.items() if own != old}, last: number}

    def close(self):
        self._over.set()
        self._thread.join()
        for line in self.lines:
            os.close(line)

    def _carry(self):
        held, number, latest = [], 0, {}
        while not self._over.is_set():
            now = time.monotonic()
            wait = min(0.05, max(0.0, held[0].due - now)) if held else 0.05
            for line in select.select(self.lines, [], [], wait)[0]:
                came = self.lines.index(line)
                for packet in self._read(line):
                    for due, to in self._fate(came, packet, time.monotonic()):
                        number += 1
                        if due < latest.get((came, to), 0.0):
                            self.counted["overtaken"] += 1
                        latest[came, to] = max(due, latest.get((came, to), 0.0))
                        heapq.heappush(held, Held(due, number, to, packet))
            now = time.monotonic()
            while held and held[0].due <= now:
                last = heapq.heappop(held)
                self.counted["carried"] += 1
                try:
                    os.write(self.lines[last.to], last.packet)
                except BlockingIOError:
                    self.counted["lost"] += 1

    @staticmethod
    def _read(line):
        for _ in range(64):
            try:
                yield os.read(line, 1 << 16)
            except BlockingIOError:
                return

    def _fate(self, came, packet, now):
        """When, and to whom, a packet goes: not at all, once or twice."""
        # IPv4 between members alone; the system's own IPv6 announcements are nobody's.
        if len(packet) < 20 or packet[0] >> 4 != 4 or packet[16:19] != bytes([10, 77, 0]):
            return
        to, own = self.places.get(packet[19]), self.trouble
        if to is None:
            return
        if {self.names[came], self.names[to]} & self.cut:
            self.counted["cut off"] += 1
            return
        if own.no_udp and packet[9] == UDP:
            self.counted["refused UDP"] += 1
            return
        if self.chance.random() < own.loss:
            self.counted["lost"] += 1
            return
        times = 1
        if self.chance.random() < own.repeat:
            self.counted["repeated"] += 1
            times = 2
        slow = own.slowness if {self.names[came], self.names[to]} & own.slow else 0.0
        for _ in range(times):
            yield now + own.delay + slow + self.chance.uniform(0.0, own.jitter), to
