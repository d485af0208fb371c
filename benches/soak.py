"""Runs on a network whose members are killed at random moments, until the time is up.

    python3 benches/soak.py [--reticent PATH] [--seconds 600] [--parties 3] [--seed 1]

Each run has a lead and parties, each a process on loopback with its own journal and budget; one of them is killed (-9) every
few hundred milliseconds and started again with the same command. At the end of each run everybody has the lead's model, and each
budget has one settled job for it. Fails at the first run of which that is not true.
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

from network import World, peak


def commands(world, party=None):
    if party is None:
        return ["lead", "run.toml", "--key", "lead", "--journal", "lead.journal", "--out", "m-lead", "--force"]
    return ["join", "run.toml", "--party", f"p{party}.toml", "--force"]


def start(world, *command):
    command = [world.given.reticent, "--quiet", *command]
    return subprocess.Popen(command, cwd=world.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def prepare(world):
    for old in [*world.folder.glob("*.journal*"), *world.folder.glob("b*")]:
        old.unlink()
    for party in range(world.parties):
        world.run("budget", "new", f"b{party}", "--dataset", f"p{party}", "--epsilon", "9", "--delta", "1e-4")
        own = f'data = "p{party}.csv"\nkey = "p{party}"\njournal = "p{party}.journal"\nout = "m-{party}"\nbudget = "b{party}"\n'
        (world.folder / f"p{party}.toml").write_text(own)


def check(world):
    models = {(world.folder / name / "model.json").read_text() for name in ["m-lead", *(f"m-{i}" for i in range(world.parties))]}
    if len(models) != 1:
        raise SystemExit("not everybody has the lead's model")
    for party in range(world.parties):
        shown = subprocess.run(
            [world.given.reticent, "--json", "budget", "show", f"b{party}"], cwd=world.folder, check=True, capture_output=True, text=True
        )
        jobs = json.loads(shown.stdout)
        settled = json.dumps(jobs).count('"settled"')
        # One that was killed between reserving and joining stays counted beside it.
        if settled != 1:
            raise SystemExit(f"party {party} has {settled} settled jobs: {shown.stdout}")


def one(world, chance, until):
    """One run; how often somebody was killed, and the most memory of a member."""
    prepare(world)
    names = [None, *range(world.parties)]
    running = {name: start(world, *commands(world, name)) for name in names}
    kills, most, done = 0, 0.0, set()
    while len(done) < len(names):
        time.sleep(chance.uniform(0.02, 0.4))
        for name in names:
            process = running[name]
            code = process.poll()
            most = max(most, peak(process.pid)) if code is None else most
            if code == 0:
                done.add(name)
            elif code is not None:
                if name in done:
                    continue
                said = process.stderr.read()
                if code != -signal.SIGKILL and "did not come" not in said:
                    raise SystemExit(f"{name}: {code}: {said}")
                running[name] = start(world, *commands(world, name))
        alive = [name for name in names if name not in done and running[name].poll() is None]
        if alive and kills < 12 and time.monotonic() < until:
            running[chance.choice(alive)].kill()
            kills += 1
        if time.monotonic() > until + 120:
            raise SystemExit("a run did not come to its end within two minutes of quiet")
    check(world)
    return kills, most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--parties", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.reticent = os.path.abspath(given.reticent)
    chance, until = random.Random(given.seed), time.monotonic() + given.seconds
    runs, kills, memory = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        world = World(pathlib.Path(folder), given, given.parties, 5, 60)
        while time.monotonic() < until:
            # A party that was killed with the model on its disk does not come back to say so: the lead waits for it that long.
            world.job(chance.choice(["tls", "quic", "auto"]), patience=15)
            more, most = one(world, chance, until)
            runs, kills = runs + 1, kills + more
            memory.append(most)
    print(f"{runs} runs, {kills} kills: one model and one payment each; a member had {max(memory):.1f} MB at most, "
          f"{memory[0]:.1f} in the first run and {memory[-1]:.1f} in the last")


if __name__ == "__main__":
    main()
