"""The members of a run on a rough network: their folders, their processes, and what must be true of them at the end."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

PARTIES = 3
NAMES = ["lead", *(f"party-{party}" for party in range(PARTIES))]
PORT = 7431


# What is run, by its name and the trust: a token among persons, and steps of nodes to one another and for a server.
WALK = {"unit": '"user"', "epsilon": "8.0", "gamma": "1.0", "penalty": '"l2:1e-2"', "iterations": "60"}
GRAPH = {"topology": '"ring"'}


class Fault(Exception):
    """What is not as it must be."""


class World:
    """Keys, a roster that all have signed, tables; and the members of one run at a time."""

    def __init__(self, folder, given, network):
        self.folder, self.given, self.network = pathlib.Path(folder), given, network
        self.running = {}
        self.base = self.folder / "base"
        self.base.mkdir()
        columns = "".join(f'[[column]]\nname = "{name}"\nkind = "numeric"\nlower = -1\nupper = 1\n' for name in "abc")
        target = '[[column]]\nname = "y"\nkind = "target"\nclasses = ["no", "yes"]\n'
        (self.base / "schema.toml").write_text("row_norm = 1\n" + columns + target)
        for name in NAMES:
            self.reticent("identity", "new", f"{name}.key")
        place = f"{network.address(0)}:{PORT}"
        self.reticent("roster", "new", "roster.toml", "--study", "rough", "--key", "lead.key.pub", "--address", place)
        for party, name in enumerate(NAMES[1:]):
            self.reticent("roster", "add", "roster.toml", "--name", name, "--key", f"{name}.key.pub")
            rows = [[((row * 37 + party * 11 + k * 17) % 41) / 20 - 1 for k in range(3)] for row in range(80 + party)]
            text = "".join(",".join(f"{x:.2f}" for x in row) + (",yes\n" if row[0] > 0.1 else ",no\n") for row in rows)
            (self.base / f"{name}.csv").write_text("a,b,c,y\n" + text)
        for name in NAMES:
            self.reticent("roster", "sign", "roster.toml", "--key", f"{name}.key")

    def reticent(self, *command, at=None):
        done = subprocess.run(
            [self.given.reticent, "--quiet", *command], cwd=at or self.base, check=True, capture_output=True, text=True
        )
        return done.stdout

    def begin(self, patience):
        """New folders for a run: each member has its own."""
        self.run = self.folder / f"{self.name}-{self.algorithm}-{self.trust}"
        self.out = self.run / "out"
        self.out.mkdir(parents=True)
        keys = {"epsilon": "2.0", "delta": "1e-5", "iterations": str(self.given.iterations)}
        keys |= WALK if self.algorithm == "walk" else {}
        job = f'schema = "schema.toml"\nalgorithm = "{self.algorithm}"\n' + "".join(f"{key} = {text}\n" for key, text in keys.items())
        between = {"trust": f'"{self.trust}"'} | (GRAPH if self.algorithm == "r-admm" else {})
        job += "[parties]\n" + "".join(f"{key} = {text}\n" for key, text in between.items())
        job += f'[network]\nroster = "roster.toml"\npatience = {patience}\n'
        for name in NAMES:
            self.at(name).mkdir()
        for name in NAMES:
            self.furnish(name, job)

    def furnish(self, name, job):
        for file in ["schema.toml", "roster.toml", f"{name}.key", f"{name}.csv"]:
            if (self.base / file).exists():
                shutil.copy(self.base / file, self.at(name))
        (self.at(name) / "run.toml").write_text(job)
        if name != "lead":
            promise = ["--dataset", name, "--epsilon", "9", "--delta", "1e-4"]
            if self.algorithm == "walk":
                promise += ["--unit", "user", "--view", "network"]
            self.reticent("budget", "new", f"{name}.budget", *promise, at=self.at(name))

    def at(self, name):
        return self.run / name

    def start(self, name, before=(), more=None):
        (self.out / f"{name}.end").unlink(missing_ok=True)
        own = {"RETICENT_ROUGH_FOLDER": str(self.at(name)), "RETICENT_ROUGH_ROLE": name, "RETICENT_ROUGH_OUT": str(self.out)}
        command = ["ip", "netns", "exec", name, *before, self.given.member, "--exact", "rough::member", "--nocapture"]
        with open(self.out / f"{name}.log", "a") as log:
            self.running[name] = subprocess.Popen(
                command, cwd=self.at(name), env={**os.environ, **own, **(more or {})}, stdout=log, stderr=log, start_new_session=True
            )

    def start_all(self):
        for name in NAMES:
            self.start(name)

    def wait(self, names=NAMES, limit=240.0):
        """How each of them ended, in its own words."""
        until = time.monotonic() + limit
        for name in names:
            try:
                self.running[name].wait(max(until - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                raise Fault(f"{name} does not end") from None
        return {name: self.end(name) for name in names}

    def end(self, name):
        file = self.out / f"{name}.end"
        return file.read_text() if file.exists() else f"no word; {(self.out / f'{name}.log').read_text()[-400:]}"

    def stop(self):
        for process in self.running.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.running = {}

    def said(self, name):
        """What a party has said in the run, by rounds, and of words to others that they were said."""
        file, rounds = self.out / f"{name}.wire", {}
        for line in file.read_text().splitlines() if file.exists() else []:
            number, digest = line.split()
            rounds.setdefault(int(number), set()).add(digest)
        return rounds

    def until_said(self, name, count, limit=60.0):
        """Waits until a party is in the middle of the run."""
        until = time.monotonic() + limit
        while len(self.said(name)) < count:
            if time.monotonic() > until or self.running[name].poll() is not None:
                raise Fault(f"{name} has said {len(self.said(name))} things only: {self.end(name)}")
            time.sleep(0.01)

    def budget(self, name):
        """What a party's budget says."""
        command = [self.given.reticent, "--json", "budget", "show", f"{name}.budget"]
        return json.loads(subprocess.run(command, cwd=self.at(name), check=True, capture_output=True, text=True).stdout)

    def jobs(self, name):
        """The states of the jobs in a party's budget."""
        return [job["state"] for job in self.budget(name)["jobs"]]

    def check_one_answer(self):
        for name in NAMES[1:]:
            twice = [number for number, said in self.said(name).items() if len(said) > 1]
            if twice:
                raise Fault(f"{name} has said two things in rounds {twice}")

    def check_done(self, ends):
        """Everybody has its model, and has paid once; the bits of all."""
        wrong = {name: why for name, why in ends.items() if why != "done"}
        if wrong:
            raise Fault(str(wrong))
        models = {name: (self.out / f"{name}.model").read_text() for name in NAMES}
        # The lead between peers on a graph has none; whom a token came to last is the walk's own affair.
        models = {name: bits(json.loads(text)) for name, text in models.items() if text}
        numbers = {json.dumps(json.loads(text)[:2]) for text in models.values()}
        if self.algorithm not in ("r-admm", "walk") and len(numbers) > 1:
            raise Fault("not everybody has the same numbers")
        for name in NAMES[1:]:
            if self.jobs(name).count("settled") != 1 or set(self.jobs(name)) - {"settled", "released"}:
                raise Fault(f"the budget of {name} has {self.jobs(name)}")
        self.check_one_answer()
        return models


def bits(model):
    """The numbers of a model and what was counted for them; JSON has every digit."""
    return json.dumps([model["coefficients"], model.get("intercept"), model["certificate"]["ledger"]], sort_keys=True)
