"""Runs of Reticent through a real Flower, on one machine, in a network namespace that has nothing but loopback.

    python3 python/flower.py --reticent target/debug/reticent --venv target/flower-venv [--rounds 1] [--parties 2]

A SuperLink with TLS, a database and authentication of SuperNodes, a SuperNode for each party, and between them the two couriers
of `reticent_flower`; `reticent lead` and `reticent join` are at their sockets.

1. A SuperNode whose key nobody has registered is refused.
2. A masked run: a SuperNode is killed between two phases of a sum and started again; then `flwr stop`, and another `flwr run`
   goes on with the same run of Reticent.
3. A local run: the SuperLink is killed in the middle and started again with its database; another `flwr run` goes on.

At the end of each everybody has the lead's numbers, and each party has paid once. Without Flower, and without the right to make
namespaces, it says that it is skipped.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from flower_stage import Stage

FLOWER = "flwr==1.41.0"


def skip(why):
    print(f"skipped: the runs through Flower, because {why}")
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


def stranger(stage):
    """A SuperNode with a key of nobody does not come in."""
    node = stage.supernode(len(stage.names), "stranger")
    stage.wait(lambda: node.poll() is not None, "the end of a SuperNode that nobody knows")
    if node.returncode == 0 or "Failed to activate SuperNode" not in stage.text("node-stranger"):
        raise SystemExit(f"a SuperNode that nobody knows: {node.returncode}, {stage.text('node-stranger')[-800:]}")
    print("a SuperNode with a key that is not registered is refused", flush=True)


def finished(stage, what, began):
    stage.wait(stage.are_done, "the model")
    stage.check()
    # The lead says of a round that it was answered when it asks the next.
    print(f"{what}: {stage.answered() + 1} messages of each party, {time.monotonic() - began:.0f} s, one model, paid once", flush=True)


def masked(stage, rounds):
    began = time.monotonic()
    stage.begin("secure-aggregation", rounds)
    run, last = stage.submit(), stage.names[-1]
    # A sum has four phases: two are over, and two are to come.
    stage.wait(lambda: stage.answered(last) >= 2, "two phases of a masked sum")
    first = time.monotonic() - began
    stage.kill(f"node-{last}")
    before = stage.answered(last)
    stage.revive(len(stage.names) - 1, last)
    stage.wait(lambda: stage.answered(last) > before, "an answer after a SuperNode was killed")
    again = time.monotonic() - began - first
    stage.flower("stop", run, "here")
    stage.submit()
    finished(stage, f"masked, a SuperNode killed after {first:.0f} s (its next answer came {again:.0f} s later), two runs of Flower", began)


def local(stage, rounds):
    began = time.monotonic()
    stage.begin("local", rounds + 2)
    stage.submit()
    stage.wait(lambda: stage.answered() >= 1, "the first round")
    first = time.monotonic() - began
    stage.kill("superlink")
    stage.superlink()
    stage.wait(lambda: is_up(stage), "the SuperLink")
    stage.submit()
    finished(stage, f"local, the SuperLink killed after {first:.0f} s and back with its database", began)


def is_up(stage):
    """Whether a SuperLink answers."""
    asked = subprocess.run(
        ["flwr", "supernode", "list", "here", "--format", "json"], cwd=stage.folder, env=stage.variables, capture_output=True, text=True
    )
    return asked.returncode == 0 and '"success": true' in asked.stdout


def inside(given):
    """The runs themselves, in the namespace."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(folder, given)
        try:
            stage.prepare()
            stage.superlink()
            stage.wait(lambda: is_up(stage), "the SuperLink")
            for number, name in enumerate(stage.names):
                stage.flower("supernode", "register", f"{name}.ec.pub", "here")
                stage.supernode(number, name)
            stranger(stage)
            for name in given.only.split(","):
                {"masked": masked, "local": local}[name](stage, given.rounds)
        finally:
            stage.stop()
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reticent", type=pathlib.Path, required=True)
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=1, help="iterations of `auto`")
    parser.add_argument("--parties", type=int, default=2)
    parser.add_argument("--only", default="masked,local")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds after which it is given up")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.reticent, given.venv = given.reticent.resolve(), given.venv.absolute()
    if given.inside:
        return inside(given)
    if not shutil.which("unshare") or not shutil.which("ip"):
        return skip("there are no unshare and ip here")
    # Whatever Flower has started ends with it.
    spaces = ["--net", "--pid", "--mount-proc", "--fork", "--kill-child"]
    enter = ["unshare", *spaces, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if subprocess.run([*enter, "true"], capture_output=True).returncode != 0:
        return skip("there is no right to make namespaces")
    python = environment(given.venv)
    if python is None:
        return skip("pip cannot get it")
    return subprocess.run([*enter, python, __file__, *sys.argv[1:], "--inside"]).returncode


if __name__ == "__main__":
    sys.exit(main())
