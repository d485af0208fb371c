"""What a run on a network costs: loopback, each member a process of its own with its journal on the disk.

    python3 benches/network.py [--reticent PATH] [--only walk,masked] [--parties 10] [--iterations 24] [--links tls,quic]
        [--features 10000] [--hops 2000] [--kills 8] [--repeat 3]

Figures, a line each for each link; --only names some of them, and runs nothing else:

rounds  `auto` between ten parties, end to end; beside it `simulate` of the same job in one process.
first   From the start of a party's command to its first answer: of --parties parties and a small table.
kills   A lead that is killed --kills times and started again, at once and after three seconds: from its end to the next answer.
walk    A walk of --hops steps between five users and the observer, every journal on the disk, and beside it an fdatasync; the same
        with the journals in memory (/dev/shm), which is what links and processors take. The median of --repeat, and all.
masked  A masked round of all parties with 1,000 columns, by the difference of a long and a short run; `simulate` beside it, and
        how many times as long it takes. The median of --repeat, and all.
idle    1,000 idle connections at the lead: what it says of them, its memory, and that the run goes on.
memory  Resident memory of a party with --features numeric columns: the largest that the system has seen (VmHWM), and how
        much of it are pages of the program (RssFile), which processes share; and its first answer.

1,000 parties are measured by crates/host/benches/many.rs, which has them in one process. Times are wall-clock seconds: run it on
a machine that is quiet.
"""

import argparse
import json
import os
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time


def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def peak(process):
    """The most memory that a process has had, in MB."""
    try:
        text = pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    found = [line.split()[1] for line in text.splitlines() if line.startswith("VmHWM")]
    return int(found[0]) / 1024 if found else 0.0


def program(process):
    """The pages of files among the memory of a process, in MB."""
    try:
        text = pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    found = [line.split()[1] for line in text.splitlines() if line.startswith("RssFile")]
    return int(found[0]) / 1024 if found else 0.0


class World:
    """Keys, a roster that all have signed, and a table for each party."""

    def __init__(self, folder, given, parties, features, rows):
        self.folder, self.given, self.parties = pathlib.Path(folder), given, parties
        columns = [f"x{i}" for i in range(features)]
        schema = "row_norm = 1\n" + "".join(
            f'[[column]]\nname = "{name}"\nkind = "numeric"\nlower = -1\nupper = 1\n' for name in columns
        )
        schema += '[[column]]\nname = "y"\nkind = "target"\nclasses = ["no", "yes"]\n'
        (self.folder / "schema.toml").write_text(schema)
        names = ["lead"] + [f"p{i}" for i in range(parties)]
        for name in names:
            self.run("identity", "new", name)
        self.address = f"127.0.0.1:{port()}"
        self.run("roster", "new", "roster.toml", "--study", "a bench", "--key", "lead.pub", "--address", self.address)
        for name in names[1:]:
            self.run("roster", "add", "roster.toml", "--name", name, "--key", f"{name}.pub")
        for name in names:
            self.run("roster", "sign", "roster.toml", "--key", name)
        head, pooled = ",".join([*columns, "y"]) + "\n", []
        for party, name in enumerate(names[1:]):
            lines = []
            for row in range(rows):
                values = [((row * 37 + party * 11 + k * 17) % 41) / 20 - 1 for k in range(features)]
                lines.append(",".join(f"{value:.2f}" for value in values) + (",yes\n" if values[0] > 0.1 else ",no\n"))
            (self.folder / f"{name}.csv").write_text(head + "".join(lines))
            pooled += lines
        (self.folder / "pooled.csv").write_text(head + "".join(pooled))

    def run(self, *command):
        subprocess.run([self.given.reticent, "--quiet", *command], cwd=self.folder, check=True, capture_output=True)

    def job(self, link, patience=300, trust="central"):
        text = f'schema = "schema.toml"\nalgorithm = "auto"\nepsilon = 2.0\ndelta = 1e-5\niterations = {self.given.iterations}\n'
        run = f'{text}[parties]\ntrust = "{trust}"\n[network]\nroster = "roster.toml"\npatience = {patience}\nlink = "{link}"\n'
        (self.folder / "run.toml").write_text(run)
        alone = f'data = "pooled.csv"\nout = "alone"\n{text}unit = "record"\n[parties]\ntrust = "{trust}"\nsplit = {self.parties}\n'
        (self.folder / "alone.toml").write_text(alone)

    def walk(self, link, hops):
        """Steps of a token in a second, from the beginning of the run to its end."""
        for old in self.folder.glob("*.journal*"):
            old.unlink()
        (self.folder / "run.toml").write_text(
            f'schema = "schema.toml"\nalgorithm = "walk"\nunit = "user"\nepsilon = 8.0\ndelta = 1e-5\niterations = {hops}\n'
            f'gamma = 1.0\npenalty = "l2:1e-2"\n[parties]\ntrust = "network"\n'
            f'[network]\nroster = "roster.toml"\nlink = "{link}"\n'
        )
        lead = self.start("lead", "lead", "run.toml", "--key", "lead", "--journal", "lead.journal", "--out", "m-lead", "--force")
        joins = []
        for party in range(self.parties):
            own = f'data = "p{party}.csv"\nkey = "p{party}"\njournal = "p{party}.journal"\nout = "m-{party}"\n'
            (self.folder / f"p{party}.toml").write_text(own)
            join = self.start(f"p{party}", "join", "run.toml", "--party", f"p{party}.toml", "--force")
            threading.Thread(target=join.stderr.read, daemon=True).start()
            joins.append(join)
        seen = []
        for line in lead.stderr:
            said = json.loads(line) if line.startswith("{") else {}
            if said.get("event") == "iteration":
                seen.append((time.monotonic(), said["done"]))
        if lead.wait() != 0 or any(join.wait() != 0 for join in joins):
            raise SystemExit("the walk has ended")
        visits = [entry for entry in seen if entry[1] > 0]
        (begun, first), (ended, last) = visits[0], visits[-1]
        return (last - first) / (ended - begun)

    def fdatasync(self, times=200):
        """The median of milliseconds that 4 kB take to be on the disk."""
        took = []
        with open(self.folder / "synced", "wb") as file:
            for _ in range(times):
                began = time.monotonic()
                file.write(bytes(4096))
                file.flush()
                os.fdatasync(file.fileno())
                took.append(1000 * (time.monotonic() - began))
        return sorted(took)[times // 2]

    def simulate(self):
        began = time.monotonic()
        self.run("simulate", "alone.toml", "--force")
        return time.monotonic() - began

    def start(self, name, *command):
        command = [self.given.reticent, "--json", *command]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def network(self, link, idle=0, trust="central"):
        """One run over a link; seconds, seconds to the first answer of a party, memory of a party and of the lead."""
        self.job(link, trust=trust)
        for old in self.folder.glob("*.journal*"):
            old.unlink()
        began = time.monotonic()
        lead = self.start("lead", "lead", "run.toml", "--key", "lead", "--journal", "lead.journal", "--out", "m-lead", "--force")
        strangers = self.idle(idle)
        joins, first, most, self.pages = [], [], [0.0], 0.0
        for party in range(self.parties):
            own = f'data = "p{party}.csv"\nkey = "p{party}"\njournal = "p{party}.journal"\nout = "m-{party}"\n'
            (self.folder / f"p{party}.toml").write_text(own)
            joins.append((self.start(f"p{party}", "join", "run.toml", "--party", f"p{party}.toml", "--force"), time.monotonic()))

        def watch(process, started):
            seen = False
            for line in process.stderr:
                if '"answered"' in line and not seen:
                    seen = True
                    first.append(time.monotonic() - started)
                if '"answered"' in line or '"delivered"' in line:
                    most[0] = max(most[0], peak(process.pid))
                    self.pages = max(self.pages, program(process.pid))

        watches = [threading.Thread(target=watch, args=pair) for pair in joins]
        for thread in watches:
            thread.start()
        of_lead, said = 0.0, []
        for line in lead.stderr:
            said.append(line)
            of_lead = max(of_lead, peak(lead.pid))
        out = lead.stdout.read()
        if lead.wait() != 0:
            raise SystemExit("".join(said))
        for process, _ in joins:
            process.wait()
        for thread in watches:
            thread.join()
        took = time.monotonic() - began
        for stranger in strangers:
            stranger.close()
        return took, max(first), most[0], of_lead, json.loads(out)

    def masked(self, link):
        """Seconds of a masked round over a link, and in one process."""
        took = []
        for rounds in (5, 45):
            self.given.iterations = rounds
            on_a_network, _, _, _, said = self.network(link, trust="secure-aggregation")
            took.append((on_a_network, self.simulate(), said["rounds"]))
        (short, alone_short, few), (long, alone_long, many) = took
        return (long - short) / (many - few), (alone_long - alone_short) / (many - few)

    def killed(self, link, kills, away):
        """Seconds from the end of a lead that was killed to the next answer, sorted; it was away for so long."""
        self.given.iterations = 5_000
        self.job(link)
        for old in self.folder.glob("*.journal*"):
            old.unlink()
        command = ["lead", "run.toml", "--key", "lead", "--journal", "lead.journal", "--out", "m-lead", "--force"]
        answered, changed = {}, threading.Condition()

        def watch(process, number):
            for line in process.stderr:
                if '"answered"' in line:
                    with changed:
                        answered.setdefault(number, time.monotonic())
                        changed.notify_all()

        def start(number):
            process = self.start("lead", *command)
            threading.Thread(target=watch, args=(process, number), daemon=True).start()
            return process

        running, took, ended = [start(0)], [], 0.0
        for party in range(self.parties):
            own = f'data = "p{party}.csv"\nkey = "p{party}"\njournal = "p{party}.journal"\nout = "m-{party}"\n'
            (self.folder / f"p{party}.toml").write_text(own)
            join = self.start(f"p{party}", "join", "run.toml", "--party", f"p{party}.toml", "--force")
            threading.Thread(target=join.stderr.read, daemon=True).start()
            running.append(join)
        try:
            for number in range(kills + 1):
                with changed:
                    if not changed.wait_for(lambda: number in answered, 60):
                        raise SystemExit(f"{link}: no answer within a minute of the lead's return")
                took += [answered[number] - ended] if number else []
                time.sleep(0.3 + 0.07 * number)
                running[0].kill()
                running[0].wait()
                ended = time.monotonic()
                time.sleep(away)
                if number < kills:
                    running[0] = start(number + 1)
        finally:
            for process in running:
                process.kill()
                process.wait()
        return sorted(took)

    def idle(self, count):
        """Connections that say nothing, once somebody listens."""
        host, number = self.address.split(":")
        found = []
        until = time.monotonic() + 30
        while len(found) < count and time.monotonic() < until:
            try:
                found.append(socket.create_connection((host, int(number)), timeout=5))
            except OSError:
                time.sleep(0.05)
        return found


FIGURES = ["rounds", "first", "kills", "walk", "masked", "idle", "memory"]


def middle(values):
    """The median, and all of them."""
    return sorted(values)[len(values) // 2], ", ".join(f"{value:.3g}" for value in sorted(values))


def rounds(given):
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder, given, given.parties, 10, 300)
        world.job("tls")
        print(f"rounds: simulate, {given.parties} parties, {given.iterations} steps: {world.simulate():.2f} s")
        for link in given.links.split(","):
            took, _, own, lead, said = world.network(link)
            print(f"rounds: {link}: {took:.2f} s, {said['rounds']} rounds; a party {own:.1f} MB, the lead {lead:.1f} MB")


def first(given):
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder, given, given.parties, 10, 300)
        for link in given.links.split(","):
            took, every = middle([world.network(link)[1] for _ in range(given.repeat)])
            print(f"first: {link}: the last of {given.parties} parties has answered first after {took:.2f} s ({every})")


def kills(given):
    with tempfile.TemporaryDirectory() as folder:
        three = World(folder, given, 3, 5, 60)
        for link in given.links.split(","):
            for away in (0.0, 3.0):
                took = three.killed(link, given.kills if away == 0 else 3, away)
                print(f"kills: {link}: a lead killed and back after {away:.0f} s: the next answer after {took[len(took) // 2]:.2f} s "
                      f"(median), {took[-1]:.2f} (longest of {len(took)})")


def walk(given):
    for where in [None, "/dev/shm"]:
        with tempfile.TemporaryDirectory(dir=where) as folder:
            users = World(folder, given, 5, 10, 30)
            for link in given.links.split(","):
                hops, every = middle([users.walk(link, given.hops) for _ in range(given.repeat)])
                print(f"walk: {link}: {hops:.0f} hops/s ({every}), journals in {where or 'files'}; "
                      f"fdatasync {users.fdatasync():.2f} ms")


def masked(given):
    with tempfile.TemporaryDirectory() as folder:
        wide = World(folder, given, given.parties, given.wide, 30)
        for link in given.links.split(","):
            took = [wide.masked(link) for _ in range(given.repeat)]
            (there, every), (alone, _) = (middle([pair[which] for pair in took]) for which in (0, 1))
            print(f"masked: {link}: a round of {given.parties} parties and {given.wide} columns: {1000 * there:.0f} ms (s: {every}); "
                  f"simulate {1000 * alone:.0f} ms; {there / alone:.1f} times as long")


def idle(given):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, given.idle + 200)), hard))
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder, given, given.parties, 10, 300)
        took, _, _, lead, said = world.network("tls", idle=given.idle)
        print(f"idle: with {given.idle} idle connections: {took:.2f} s, the lead {lead:.1f} MB, not let in: {said['rejections']}")


def memory(given):
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder, given, 2, given.features, 40)
        for trust in given.trusts.split(","):
            for link in given.links.split(","):
                _, answer, own, lead, _ = world.network(link, trust=trust)
                print(f"memory: {link}: {given.features} columns, {trust}: a party {own:.1f} MB, of which {world.pages:.1f} are pages of the "
                      f"program; the lead {lead:.1f} MB; first answer after {answer:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="target/release/reticent")
    parser.add_argument("--only", default=",".join(FIGURES), help="some of " + ", ".join(FIGURES))
    parser.add_argument("--parties", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=24)
    parser.add_argument("--links", default="tls,quic")
    parser.add_argument("--features", type=int, default=10_000)
    parser.add_argument("--trusts", default="central", help="of the figure memory: central, local, secure-aggregation")
    parser.add_argument("--idle", type=int, default=1_000)
    parser.add_argument("--hops", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--wide", type=int, default=1_000, help="columns of the masked round")
    parser.add_argument("--repeat", type=int, default=3, help="how often walks, masked rounds and first answers are measured")
    given = parser.parse_args()
    given.reticent = os.path.abspath(given.reticent)
    only = given.only.split(",")
    if unknown := [name for name in only if name not in FIGURES]:
        parser.error(f"--only {', '.join(unknown)}: it must be some of {', '.join(FIGURES)}")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    for name in FIGURES:
        if name in only:
            iterations = given.iterations
            globals()[name](given)
            # Some figures have numbers of steps of their own.
            given.iterations = iterations


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main()
