"""Long runs on a network whose members are killed at random moments, until the time is up.

    python3 benches/soak.py [--reticent PATH] [--seconds 600] [--rounds N] [--parties 3] [--seed 1]

Each run has a lead and parties, each a process on loopback with its own journal and budget; one of them is killed (-9) every
second or so and started again with the same command. Runs take turns: sums under `central`, `local` and behind masks, the
walk (a round is a hop) and a graph (`r-admm`), by TLS, by QUIC and by what is there. At the end of each run everybody has the lead's
numbers, or, between nodes, a model of its own whose certificate holds; each budget has one settled job for it, and the memory of no
member has grown from the first third of its rounds to the last. Fails at the first run of which that is not true, and where fewer
than --rounds were asked in all.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time

from network import World

# How long the runs of a kind are. A masked round is four messages of everybody.
KINDS = {"central": 1.0, "local": 0.5, "secure-aggregation": 0.1, "walk": 2.0, "r-admm": 1.0}
# What runs between nodes say of themselves, and the budgets that pay for them.
NODES = {
    "walk": ('algorithm = "walk"\nunit = "user"\nepsilon = 8.0\ndelta = 1e-5\ngamma = 1.0\npenalty = "l2:1e-2"\n', "network"),
    "r-admm": ('algorithm = "r-admm"\nunit = "record"\nepsilon = 4.0\ndelta = 1e-5\n', "local"),
}
OF_USERS = ["--unit", "user", "--view", "network"]
LINKS = ["tls", "quic", "auto"]
# What processes of the same kind differ by, in MB.
ROOM = 4.0


def resident(process):
    """The memory of a process, in MB; nothing where it has gone."""
    try:
        text = pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return None
    found = [line.split()[1] for line in text.splitlines() if line.startswith("VmRSS")]
    return int(found[0]) / 1024 if found else None


class Members:
    """The processes of one run, and how far it is."""

    def __init__(self, world, kind):
        self.world, self.names = world, ["lead", *(f"p{i}" for i in range(world.parties))]
        # Between nodes the lead has no rounds to tell of.
        self.event, self.told = ("iteration", self.names[1:]) if kind in NODES else ("answered", ["lead"])
        self.offsets, self.round, self.memory = dict.fromkeys(self.told, 0), 0, []
        for old in [*world.folder.glob("*.journal*"), *world.folder.glob("b[0-9]*"), *world.folder.glob("*.log")]:
            old.unlink()
        for party in range(world.parties):
            more = OF_USERS if kind == "walk" else []
            world.run("budget", "new", f"b{party}", "--dataset", f"p{party}", "--epsilon", "9", "--delta", "1e-4", *more)
            own = f'data = "p{party}.csv"\nkey = "p{party}"\njournal = "p{party}.journal"\nout = "m-{party}"\nbudget = "b{party}"\n'
            (world.folder / f"p{party}.toml").write_text(own)
        self.running = {}
        for name in self.names:
            self.start(name)

    def start(self, name):
        command = ["join", "run.toml", "--party", f"{name}.toml", "--force"]
        if name == "lead":
            command = ["lead", "run.toml", "--key", "lead", "--journal", "lead.journal", "--out", "m-lead", "--force"]
        with open(self.world.folder / f"{name}.log", "a") as log:
            self.running[name] = subprocess.Popen(
                [self.world.given.reticent, "--json", *command], cwd=self.world.folder, stdout=subprocess.DEVNULL, stderr=log
            )

    def look(self):
        """Reads on in the events that tell of rounds, and notes everybody's memory at this one."""
        for name in self.told:
            with open(self.world.folder / f"{name}.log") as log:
                log.seek(self.offsets[name])
                for line in log.read().splitlines(keepends=True):
                    if not line.endswith("\n"):
                        break
                    self.offsets[name] += len(line.encode())
                    event = json.loads(line) if line.startswith('{"') else {}
                    if event.get("event") == self.event:
                        self.round = max(self.round, event.get("round", event.get("done", 0)))
        for name, process in self.running.items():
            own = resident(process.pid) if process.poll() is None else None
            if own is not None:
                self.memory.append((self.round, name, own))

    def revive(self, done):
        """Notes who is done, and starts again who was killed, or whose patience was at its end."""
        for name in self.names:
            code = self.running[name].poll()
            if code == 0:
                done.add(name)
            elif code is not None:
                said = (self.world.folder / f"{name}.log").read_text()[-2000:]
                if code != -signal.SIGKILL and "did not come" not in said:
                    raise SystemExit(f"{name}: {code}: {said}")
                self.start(name)

    def grown(self):
        """By how much the memory of a member has grown between the thirds of the run, at most, and the largest."""
        most = 0.0
        for name in self.names:
            own = [(number, size) for number, who, size in self.memory if who == name]
            early = [size for number, size in own if 0 < number <= self.round / 3]
            late = [size for number, size in own if number > 2 * self.round / 3]
            if early and late:
                most = max(most, max(late) - max(early))
        return most, max(size for _, _, size in self.memory)

    def stop(self):
        for process in self.running.values():
            process.kill()
            process.wait()


def numbers(file):
    return json.loads(file.read_text())["coefficients"]


def check(world, kind):
    if kind in NODES:
        for party in range(world.parties):
            world.run("verify", f"m-{party}/model.json", "--key", f"p{party}.pub")
    else:
        models = [numbers(world.folder / f"m-{name}" / "model.json") for name in ["lead", *range(world.parties)]]
        if any(model != models[0] for model in models):
            raise SystemExit("not everybody has the lead's numbers")
    for party in range(world.parties):
        shown = subprocess.run(
            [world.given.reticent, "--json", "budget", "show", f"b{party}"], cwd=world.folder, check=True, capture_output=True, text=True
        )
        states = [job["state"] for job in json.loads(shown.stdout)["jobs"]]
        # What was reserved by one that was killed before it joined is given back.
        if states.count("settled") != 1 or set(states) - {"settled", "released"}:
            raise SystemExit(f"the budget of party {party} has {states}")


def describe(world, kind, link):
    """Writes the run file."""
    # A party that was killed with the model on its disk does not come back to say so: the lead waits for it that long.
    if kind not in NODES:
        return world.job(link, patience=15, trust=kind)
    said, trust = NODES[kind]
    (world.folder / "run.toml").write_text(
        f'schema = "schema.toml"\niterations = {world.given.iterations}\n{said}[parties]\ntrust = "{trust}"\n'
        f'[network]\nroster = "roster.toml"\npatience = 15\nlink = "{link}"\n'
    )


def one(world, kind, chance, until):
    """One run; how often somebody was killed, its rounds, and by how much memory has grown, and the largest."""
    members, kills, done = Members(world, kind), 0, set()
    due = time.monotonic() + chance.uniform(0.1, 1.5)
    try:
        while len(done) < len(members.names):
            time.sleep(chance.uniform(0.01, 0.1))
            members.look()
            members.revive(done)
            alive = [name for name in members.names if name not in done and members.running[name].poll() is None]
            if alive and due < time.monotonic() < until:
                members.running[chance.choice(alive)].kill()
                kills += 1
                due = time.monotonic() + chance.uniform(0.1, 1.5)
            if time.monotonic() > until + 120:
                raise SystemExit(f"a run did not come to its end within two minutes of quiet, at round {members.round}")
        members.look()
        check(world, kind)
        grown, most = members.grown()
        if grown > ROOM:
            raise SystemExit(f"memory has grown by {grown:.1f} MB in one run: {members.memory}")
        return kills, members.round, grown, most
    finally:
        members.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rounds", type=int, help="fails with fewer in all; default: 10,000 in 600 seconds")
    parser.add_argument("--parties", type=int, default=3)
    parser.add_argument("--longest", type=int, default=2_000, help="iterations of a run under `central`")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.reticent = os.path.abspath(given.reticent)
    if given.rounds is None:
        given.rounds = round(given.seconds * 10_000 / 600)
    chance, began = random.Random(given.seed), time.monotonic()
    until, asked, runs, killed, memory = began + given.seconds, 0, 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        world = World(pathlib.Path(folder), given, given.parties, 5, 60)
        while time.monotonic() < until:
            for kind, share in KINDS.items():
                if time.monotonic() >= until:
                    break
                link = chance.choice(LINKS)
                given.iterations = round(share * given.longest)
                describe(world, kind, link)
                started = time.monotonic()
                kills, rounds, grown, most = one(world, kind, chance, until)
                runs, killed, asked = runs + 1, killed + kills, asked + rounds
                memory.append(most)
                print(f"{kind}, {link}: {rounds} rounds, {kills} kills, {time.monotonic() - started:.0f} s, "
                      f"{most:.1f} MB at most, grown by {grown:.1f}; {asked} rounds in {time.monotonic() - began:.0f} s", flush=True)
    print(f"{runs} runs, {asked} rounds, {killed} kills: one model and one payment each; a member had {max(memory):.1f} MB at most, "
          f"{memory[0]:.1f} in the first run and {memory[-1]:.1f} in the last")
    if asked < given.rounds:
        raise SystemExit(f"only {asked} rounds in {given.seconds:.0f} s; {given.rounds} are asked for")


if __name__ == "__main__":
    main()
