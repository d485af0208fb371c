"""A run of Reticent through a real Flower, on one machine, in a network namespace that has nothing but loopback.

    python3 python/flower.py --reticent target/debug/reticent --venv target/flower-venv [--rounds 4] [--parties 2]

A SuperLink, a SuperNode for each party, and between them the two couriers of `reticent_flower`; `reticent lead` and
`reticent join` are at their sockets. The first `flwr run` is stopped in the middle, and a second goes on with the same run of
Reticent. At the end everybody has the lead's model. Without Flower, without the right to make a namespace, and without
Unix sockets it says that it is skipped.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
FLOWER = "flwr==1.41.0"
# Before anything of Flower is started: it reports nothing, asks nobody for updates, and installs nothing.
QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
    "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.1",
}
SUPERLINK = 8731


def skip(why):
    print(f"skipped: the run through Flower, because {why}")
    return 0


def environment(folder):
    """A virtual environment with Flower; None where pip cannot get it."""
    python = folder / "bin" / "python"
    if not (folder / "bin" / "flwr").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        got = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", FLOWER])
        if got.returncode != 0:
            return None
    return python


class Stage:
    """Everybody's processes, ended with this."""

    def __init__(self, folder, given):
        self.folder, self.given = pathlib.Path(folder), given
        self.running = []
        path = f"{given.venv / 'bin'}:{given.reticent.parent}:{os.environ['PATH']}"
        self.variables = {**os.environ, **QUIET, "PATH": path, "FLWR_HOME": str(self.folder / "flower")}

    def start(self, name, *command):
        log = open(self.folder / f"{name}.log", "w")
        process = subprocess.Popen(
            [str(part) for part in command], cwd=self.folder, env=self.variables, stdout=log, stderr=log, start_new_session=True
        )
        self.running.append((name, process))
        return process

    def run(self, *command):
        subprocess.run([str(part) for part in command], cwd=self.folder, env=self.variables, check=True, capture_output=True)

    def stop(self):
        for _, process in reversed(self.running):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def show(self):
        for name, process in self.running:
            text = (self.folder / f"{name}.log").read_text()
            print(f"--- {name} ({process.poll()})\n{text[-1500:]}")


def prepare(stage, parties, rounds):
    """Keys, a roster that all have signed, tables, and who is reached by which socket."""
    names = [f"clinic-{party}" for party in range(parties)]
    schema = "row_norm = 1\n[[column]]\nname = \"a\"\nkind = \"numeric\"\nlower = -1\nupper = 1\n"
    schema += "[[column]]\nname = \"y\"\nkind = \"target\"\nclasses = [\"no\", \"yes\"]\n"
    (stage.folder / "schema.toml").write_text(schema)
    for name in ["lead", *names]:
        stage.run("reticent", "--quiet", "identity", "new", name)
    stage.run(
        "reticent", "--quiet", "roster", "new", "roster.toml", "--study", "flower", "--key", "lead.pub", "--address", "127.0.0.1:1"
    )
    for party, name in enumerate(names):
        stage.run("reticent", "--quiet", "roster", "add", "roster.toml", "--name", name, "--key", f"{name}.pub")
        rows = "".join(f"{(i * 37 + party * 11) % 41 / 20 - 1:.2f},{'yes' if i % 3 else 'no'}\n" for i in range(90))
        (stage.folder / f"{name}.csv").write_text("a,y\n" + rows)
        own = f'data = "{name}.csv"\nkey = "{name}"\njournal = "{name}.journal"\nout = "{name}.model"\ncourier = "{name}.s"\n'
        (stage.folder / f"{name}.toml").write_text(own)
    for name in ["lead", *names]:
        stage.run("reticent", "--quiet", "roster", "sign", "roster.toml", "--key", name)
    job = f'schema = "schema.toml"\nalgorithm = "auto"\nepsilon = 4.0\ndelta = 1e-5\niterations = {rounds}\n'
    network = '[parties]\ntrust = "central"\n[network]\nroster = "roster.toml"\npatience = 900\n'
    (stage.folder / "run.toml").write_text(job + network)
    (stage.folder / "flower").mkdir()
    (stage.folder / "flower" / "config.toml").write_text(
        f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "127.0.0.1:{SUPERLINK}"\ninsecure = true\n'
    )
    shutil.copytree(HERE / "reticent_flower", stage.folder / "app", ignore=shutil.ignore_patterns("__pycache__"))
    return names


def answered(stage):
    """How many rounds the lead has had."""
    return (stage.folder / "lead.log").read_text().count('"answered"')


def wait(stage, until, done, what):
    while not done():
        if time.monotonic() > until:
            stage.show()
            raise SystemExit(f"{what} did not come in time")
        time.sleep(0.5)


def submitted(stage, command):
    """The number of a run of Flower; its errors have exit code 0."""
    shown = subprocess.run(command, cwd=stage.folder, env=stage.variables, capture_output=True, text=True)
    found = json.loads(shown.stdout[shown.stdout.index("{"):]) if "{" in shown.stdout else {}
    if not found.get("success"):
        stage.show()
        raise SystemExit(f"flwr run: {shown.stdout}{shown.stderr}")
    return str(found["run-id"])


def inside(given):
    """The run itself, in the namespace."""
    began = time.monotonic()
    until = began + given.limit
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(folder, given)
        try:
            names = prepare(stage, given.parties, given.rounds)
            lead = stage.start(
                "lead", "reticent", "--json", "lead", "run.toml", "--key", "lead", "--journal", "lead.journal", "--out",
                "lead.model", "--courier", "lead.s",
            )
            joins = [stage.start(name, "reticent", "--json", "join", "run.toml", "--party", f"{name}.toml") for name in names]
            stage.start("superlink", "flower-superlink", "--insecure", "--port", SUPERLINK, "--disable-runtime-dependency-installation")
            time.sleep(5)
            for number, name in enumerate(names):
                stage.start(
                    f"node-{name}", "flower-supernode", "--insecure", "--superlink", f"127.0.0.1:{SUPERLINK}", "--port",
                    9800 + number, "--node-config", f'courier="{stage.folder / name}.s"',
                )
            config = f'courier="{stage.folder / "lead.s"}"'
            ran = time.monotonic()
            submit = ["flwr", "run", "app", "here", "--run-config", config, "--format", "json"]
            run = submitted(stage, submit)
            wait(stage, until, lambda: answered(stage) >= 1, "the first answer")
            first = time.monotonic() - ran
            # The first is stopped in the middle; another goes on.
            stage.run("flwr", "stop", run, "here")
            submitted(stage, submit)
            wait(stage, until, lambda: lead.poll() is not None and all(p.poll() is not None for p in joins), "the model")
            models = [(stage.folder / f"{name}.model" / "model.json").read_text() for name in ["lead", *names]]
            good = lead.returncode == 0 and all(p.returncode == 0 for p in joins) and len(set(models)) == 1
            if not good:
                stage.show()
                raise SystemExit("not everybody has the lead's model")
            rounds = answered(stage)
            print(f"{given.parties} parties, {rounds} rounds through Flower, with two runs of it: {time.monotonic() - ran:.0f} s, "
                  f"{first:.0f} s to the first answer")
        finally:
            stage.stop()
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reticent", type=pathlib.Path, required=True)
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parties", type=int, default=2)
    parser.add_argument("--limit", type=float, default=900.0, help="seconds after which it is given up")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.reticent, given.venv = given.reticent.resolve(), given.venv.absolute()
    if given.inside:
        return inside(given)
    if not shutil.which("unshare") or not shutil.which("ip"):
        return skip("there are no unshare and ip here")
    enter = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if subprocess.run([*enter, "true"], capture_output=True).returncode != 0:
        return skip("there is no right to make a network namespace")
    if environment(given.venv) is None:
        return skip("pip cannot get it")
    return subprocess.run([*enter, sys.executable, __file__, *sys.argv[1:], "--inside"]).returncode


if __name__ == "__main__":
    sys.exit(main())
