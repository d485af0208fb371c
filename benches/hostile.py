"""Strangers at the lead's port, by TCP and UDP: each turned away by name, memory bounded, books unchanged, the run as without them.

    python3 benches/hostile.py [--reticent PATH] [--count 1000]

A lead listens, and before any party comes there are --count connections of each kind: silent; a byte of TLS now and then (slow
loris); a record of TLS that breaks off; a record longer than TLS has; bytes that are no TLS; and over UDP datagrams without
meaning and the first packets of QUIC from nobody. Then the
parties come, more strangers than there are places at the door stay on, each back as soon as it is sent away, from an address of
their own (--at), and the run ends as it must. The lead's memory is the largest that the system has seen
(VmHWM), beside that of the same run without strangers. Loopback alone.
"""

import argparse
import json
import os
import random
import resource
import socket
import subprocess
import tempfile
import threading
import time

from network import World, peak

# The head of a record of TLS with a handshake of 512 bytes, and one that says that it has 65,535.
HANDSHAKE = bytes([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3])
TOO_LONG = bytes([22, 3, 3, 255, 255])


class Strangers:
    """Whoever comes without a key, until `close`."""

    def __init__(self, address, count, stay, at):
        host, port = address.split(":")
        self.place, self.count, self.stay, self.over = (host, int(port)), count, stay, threading.Event()
        self.at = (at, 0)
        self.open, self.refused = [], 0

    def connect(self, said=b""):
        try:
            line = socket.create_connection(self.place, timeout=5, source_address=self.at)
            line.sendall(said)
            self.open.append(line)
            return line
        except OSError:
            # The lead has closed it already, or has a full queue: that is an answer too.
            self.refused += 1
            return None

    def flood(self):
        """All kinds, mixed; the last stay open."""
        kinds = [b"", HANDSHAKE[:1], HANDSHAKE, TOO_LONG + bytes(4_000), b"GET / HTTP/1.1\r\n\r\n", bytes(random.Random(1).randbytes(300))]
        for _ in range(self.count):
            for number, said in enumerate(kinds):
                line = self.connect(said)
                # Half of a record, and gone.
                if line is not None and number == 2:
                    self.open.remove(line)
                    line.close()
        self.datagrams()

    def datagrams(self):
        chance = random.Random(2)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            for _ in range(self.count):
                line.sendto(chance.randbytes(chance.randrange(1, 1200)), self.place)
                # A long header of QUIC version 1: a first packet that nobody can decrypt.
                line.sendto(bytes([0xC3, 0, 0, 0, 1, 8]) + chance.randbytes(1194), self.place)
                # A version that nobody speaks: the answer is not longer than what came.
                line.sendto(bytes([0xC3, 10, 26, 42, 58, 8]) + chance.randbytes(1194), self.place)

    def drip(self):
        """One byte at a time to whoever listens still, and new ones in the place of who was turned away."""
        while not self.over.wait(0.05):
            for line in self.open[-self.stay:]:
                try:
                    line.sendall(b"\x01")
                except OSError:
                    self.open.remove(line)
                    line.close()
            for _ in range(self.stay - min(len(self.open), self.stay)):
                self.connect(HANDSHAKE)

    def close(self):
        self.over.set()
        for line in self.open:
            line.close()


def measured(world, count):
    """One run with so many strangers of each kind; seconds, the lead's memory, its result, and whether all budgets were paid once."""
    for old in [*world.folder.glob("*.journal*"), *world.folder.glob("b[0-9]*")]:
        old.unlink()
    command = ["lead", "run.toml", "--key", "lead", "--journal", "lead.journal", "--out", "m-lead", "--force"]
    began, lead = time.monotonic(), world.start("lead", *command)
    most, said = [0.0], []

    def watch():
        for line in lead.stderr:
            said.append(line)

    def measure():
        while lead.poll() is None:
            most[0] = max(most[0], peak(lead.pid))
            time.sleep(0.02)

    threads = [threading.Thread(target=watch), threading.Thread(target=measure)]
    for thread in threads:
        thread.start()
    strangers = Strangers(world.address, count, world.given.stay, world.given.at)
    time.sleep(0.5)
    if count:
        strangers.flood()
        threading.Thread(target=strangers.drip, daemon=True).start()
        # Who has not said hello by ten seconds is slow.
        time.sleep(11)
    joins = []
    for party in range(world.parties):
        world.run("budget", "new", f"b{party}", "--dataset", f"p{party}", "--epsilon", "9", "--delta", "1e-4")
        own = f'data = "p{party}.csv"\nkey = "p{party}"\njournal = "p{party}.journal"\nout = "m-{party}"\nbudget = "b{party}"\n'
        (world.folder / f"p{party}.toml").write_text(own)
        joins.append(world.start(f"p{party}", "join", "run.toml", "--party", f"p{party}.toml", "--force"))
    ends = [join.communicate()[1] if join.wait() else "" for join in joins]
    out = lead.stdout.read()
    lead.wait()
    for thread in threads:
        thread.join()
    strangers.close()
    if lead.returncode != 0 or any(ends):
        raise SystemExit(f"the run did not come to its end: {''.join(said)[-2000:]} {ends}")
    for party in range(world.parties):
        shown = subprocess.run(
            [world.given.reticent, "--json", "budget", "show", f"b{party}"], cwd=world.folder, check=True, capture_output=True, text=True
        )
        states = [job["state"] for job in json.loads(shown.stdout)["jobs"]]
        if states != ["settled"]:
            raise SystemExit(f"the budget of party {party} has {states}")
    return time.monotonic() - began, most[0], json.loads(out)["rejections"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--parties", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=8)
    parser.add_argument("--stay", type=int, default=80, help="strangers that come again while the run is on; the lead has 64 places at its door")
    parser.add_argument("--at", default="127.0.0.2", help="the address that strangers come from")
    parser.add_argument("--more", type=float, default=16.0, help="MB that strangers may make the lead take")
    given = parser.parse_args()
    given.reticent = os.path.abspath(given.reticent)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8 * given.count)), hard))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder, given, given.parties, 5, 100)
        world.job("auto", patience=120)
        took, alone, rejected = measured(world, 0)
        print(f"without strangers: {took:.1f} s, the lead {alone:.1f} MB, turned away: {rejected}", flush=True)
        took, most, rejected = measured(world, given.count)
        print(f"with {given.count} of each of nine kinds: {took:.1f} s, the lead {most:.1f} MB, turned away: {rejected}", flush=True)
        expected = {"too many at once", "made room", "no handshake"}
        if not expected <= set(rejected):
            raise SystemExit(f"these are not named: {expected - set(rejected)}")
        if most > alone + given.more:
            raise SystemExit(f"strangers made the lead take {most - alone:.1f} MB more")


if __name__ == "__main__":
    main()
