"""Runs between a lead and three parties over a rough network, on a full disk and with clocks that differ: the same bits.

    RETICENT_BUILD="--locked --workspace ..." python3 benches/rough.py --reticent PATH [--member PATH] [--only NAME,NAME]

Each member is a process in a network namespace of its own, with a folder of its own. `rough_network.py` carries packets between
them, and loses, delays, repeats and holds them back. Each kind of trouble is met by `auto` under each trust; the walk, a graph
(r-admm) and `federated` under each trust lose packets, have them late, and are cut off.
The members are those of the tests of crate `host` (`rough::member`): they take part by what `reticent lead` and `reticent join`
do, with a seed, so that the model has the bits of a run without trouble. Each budget is paid once; each round is answered with
one thing. Without the right to make namespaces it says that it is skipped.
"""

import argparse
import glob
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime

from rough_network import RoughNetwork, Trouble
from rough_world import NAMES, Fault, World

ALL = [("auto", "central"), ("auto", "secure-aggregation"), ("auto", "local")]
OTHERS = [("r-admm", "local"), ("walk", "network")]
OTHERS += [("federated", trust) for trust in ["central", "secure-aggregation", "local"]]
FAKETIME = "/usr/lib/*/faketime/libfaketime.so.1"


def skip(what, why):
    print(f"skipped: {what}, because {why}", flush=True)


# What each kind of trouble does between the start and the end of a run; returns how the members ended.


def plain(world):
    world.begin(60)
    world.start_all()
    return world.wait()


def healed(world):
    """Cut off for longer than a connection lives (15 s over QUIC), and shorter than anybody is waited for."""
    world.begin(90)
    world.start_all()
    world.until_said("party-1", 4)
    world.network.cut = frozenset(["party-1"])
    time.sleep(20)
    world.network.cut = frozenset()
    return world.wait()


def udp_dies(world):
    """UDP goes through at first: parties have come by QUIC, and come back by TLS."""
    world.begin(90)
    world.start_all()
    world.until_said("party-1", 4)
    world.network.trouble = Trouble(no_udp=True)
    return world.wait()


def moved(world):
    """A party has another address from a moment on."""
    world.begin(60)
    world.start_all()
    world.until_said("party-1", 4)
    world.network.move("party-1", 101)
    try:
        return world.wait()
    finally:
        world.network.move("party-1", 3)


def too_long(world):
    """Cut off for longer than anybody is waited for: a named end, nothing given back or paid twice; typed again, it goes on."""
    world.begin(5)
    world.start_all()
    world.until_said("party-2", 4)
    world.network.cut = frozenset(["party-2"])
    ends = world.wait()
    absent = {"lead": "party-2 did not come", "party-2": "lead did not come"}
    for name, words in absent.items():
        if words not in ends[name]:
            raise Fault(f"{name} ended with: {ends[name]}")
    for name in NAMES[1:]:
        if ends[name] == "done" or world.jobs(name) != ["open"]:
            raise Fault(f"{name}: {ends[name]}; its budget has {world.jobs(name)}")
    world.network.cut = frozenset()
    world.start_all()
    return world.wait()


def clocks(world):
    """The clocks of two parties are an hour off, one ahead and one behind; the machine of the third was started an hour earlier."""
    library = glob.glob(FAKETIME)
    world.begin(60)
    for name, offset in [("party-0", "+3600"), ("party-1", "-3600")]:
        more = {"LD_PRELOAD": library[0], "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        world.start(name, more=more)
    world.start("party-2", before=["unshare", "--time", "--monotonic", "3600", "--fork", "--kill-child"])
    world.start("lead")
    ends = world.wait()
    ahead, behind = (world.budget(name)["jobs"][0]["time"] for name in ["party-0", "party-1"])
    apart = (datetime.fromisoformat(ahead) - datetime.fromisoformat(behind)).total_seconds()
    if not 7100 < apart < 7300:
        raise Fault(f"the clocks were not apart: {ahead}, {behind}")
    return ends


def full_disk(who):
    """The disk of a member is full in the middle of the run: it ends by name and says nothing; with room, it goes on."""

    def run(world):
        world.begin(60)
        disk(world, who, "size=2m")
        world.start_all()
        world.until_said("party-0", 4)
        fill(world.at(who) / "filling")
        ends = world.wait([who])
        check_silence(world, who, ends[who], "full")
        (world.at(who) / "filling").unlink()
        world.start(who)
        return world.wait()

    return run


def read_only(world):
    """The disk of a party is read-only from a moment on, as after an error of the disk."""
    who = "party-0"
    world.begin(60)
    disk(world, who, "size=2m")
    world.start_all()
    world.until_said(who, 4)
    # Files that are open for writing keep a mount busy: the process is stopped, and comes back to a journal that it may not write.
    os.killpg(world.running[who].pid, signal.SIGKILL)
    world.running[who].wait()
    before = world.said(who)
    subprocess.run(["mount", "-o", "remount,ro", str(world.at(who))], check=True)
    world.start(who)
    ends = world.wait([who])
    if ends[who] == "done" or world.said(who) != before:
        raise Fault(f"{who} spoke with a journal that takes nothing: {ends[who]}")
    check_silence(world, who, ends[who], "journal")
    subprocess.run(["mount", "-o", "remount,rw", str(world.at(who))], check=True)
    world.start(who)
    return world.wait()


def disk(world, who, size):
    """A small disk of its own for a member's folder."""
    kept = {file.name: file.read_bytes() for file in world.at(who).iterdir()}
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(world.at(who))], check=True)
    for name, content in kept.items():
        (world.at(who) / name).write_bytes(content)
        (world.at(who) / name).chmod(0o600)


def fill(path):
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 12))
        except OSError:
            pass


def check_silence(world, who, end, words):
    if end == "done" or words not in end:
        raise Fault(f"{who} with a disk that takes nothing: {end}")
    # Nobody was told what its journal does not have: the others wait, and have paid nothing more.
    for name in set(NAMES) - {who}:
        if world.running[name].poll() is not None:
            raise Fault(f"{name} has ended: {world.end(name)}")
    world.check_one_answer()


# What is met by all that is run, and not by `auto` alone.
BY_ALL = ["calm", "10 % loss", "200 ms", "all of it", "cut off and healed"]

SCENES = {
    "calm": (Trouble(), plain, []),
    "10 % loss": (Trouble(loss=0.1, delay=0.01), plain, ["lost"]),
    "200 ms": (Trouble(delay=0.2), plain, []),
    "reordered and repeated": (Trouble(delay=0.005, jitter=0.04, repeat=0.3), plain, ["overtaken", "repeated"]),
    "a slow half": (Trouble(delay=0.005, slow=frozenset(["party-0", "party-1"]), slowness=0.25), plain, []),
    "all of it": (Trouble(loss=0.05, delay=0.05, jitter=0.05, repeat=0.1), plain, ["lost", "overtaken", "repeated"]),
    "no UDP": (Trouble(no_udp=True), plain, ["refused UDP"]),
    "no UDP from a moment on": (Trouble(delay=0.02), udp_dies, ["refused UDP"]),
    "another address": (Trouble(delay=0.02), moved, []),
    "cut off and healed": (Trouble(delay=0.02), healed, ["cut off"]),
    "cut off for too long": (Trouble(delay=0.02), too_long, ["cut off"]),
    "clocks an hour apart": (Trouble(), clocks, []),
    "full disk of a party": (Trouble(delay=0.02), full_disk("party-0"), []),
    "full disk of the lead": (Trouble(delay=0.02), full_disk("lead"), []),
    "read-only journal": (Trouble(delay=0.02), read_only, []),
}


def inside(given):
    """All scenes, in namespaces of our own."""
    network, faults, calm = RoughNetwork(NAMES, given.seed), 0, {}
    chosen = [name for name in SCENES if name == "calm" or not given.only or name in given.only.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder, given, network)
        for name in chosen:
            if name == "clocks an hour apart" and not glob.glob(FAKETIME):
                skip(name, "libfaketime is not here (Debian: apt install faketime)")
                continue
            trouble, scene, counted = SCENES[name]
            for world.algorithm, world.trust in ALL + (OTHERS if name in BY_ALL else []):
                of = (world.algorithm, world.trust)
                if given.runs and f"{world.algorithm}:{world.trust}" not in given.runs.split(","):
                    continue
                world.name = name.replace(" ", "-")
                network.trouble, network.cut, before, began = trouble, frozenset(), dict(network.counted), time.monotonic()
                try:
                    model = world.check_done(scene(world))
                    took = time.monotonic() - began
                    if model != calm.setdefault(of, model):
                        raise Fault("the model has other bits than without trouble")
                    met = {what: network.counted[what] - count for what, count in before.items()}
                    if any(met[what] == 0 for what in counted):
                        raise Fault(f"there was no trouble: {met}")
                    done = ", ".join(f"{count} {what}" for what, count in met.items() if count)
                    print(f"{name}, {', '.join(of)}: {took:.1f} s, the same bits, paid once ({done} packets)", flush=True)
                except Fault as fault:
                    faults += 1
                    print(f"FAULT: {name}, {', '.join(of)}: {fault}", flush=True)
                finally:
                    world.stop()
                    for party in NAMES:
                        subprocess.run(["umount", "-q", "-l", str(world.at(party))], capture_output=True)
    network.close()
    return 1 if faults else 0


def member(build):
    """The program of the tests of `host`, as cargo has built it."""
    command = ["cargo", "test", *shlex.split(build), "--no-run", "--test", "host", "--message-format=json"]
    built = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    return next(one["executable"] for one in found if one.get("executable") and one["target"]["name"] == "host")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/debug/reticent")
    parser.add_argument("--member", help="the program of the tests of crate host; default: what cargo builds with RETICENT_BUILD")
    parser.add_argument("--iterations", type=int, default=8)
    parser.add_argument("--only", default="", help=f"of: {', '.join(SCENES)}")
    parser.add_argument("--runs", default="", help="of: " + ", ".join(f"{algorithm}:{trust}" for algorithm, trust in ALL + OTHERS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        return inside(given)
    what = "runs on rough networks"
    if not all(map(shutil.which, ["unshare", "ip"])) or not os.path.exists("/dev/net/tun"):
        return skip(what, "there are no unshare, ip and /dev/net/tun here")
    enter = ["unshare", "--net", "--mount", "--propagation", "private"]
    if subprocess.run([*enter, "true"], capture_output=True).returncode != 0:
        return skip(what, "there is no right to make namespaces")
    own = given.member or member(os.environ.get("RETICENT_BUILD", "--locked -p reticent-host"))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    options = ["--reticent", os.path.abspath(given.reticent), "--member", os.path.abspath(own)]
    options += ["--iterations", str(given.iterations), "--seed", str(given.seed), "--only", given.only, "--runs", given.runs]
    return subprocess.run([*enter, sys.executable, os.path.abspath(__file__), *options, "--inside"]).returncode


if __name__ == "__main__":
    sys.exit(main())
