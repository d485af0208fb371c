"""A SuperLink with a database, a SuperNode for each party, keys and certificates for them, and the members of runs of Reticent."""

import datetime
import ipaddress
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
# Before anything of Flower is started: it reports nothing, asks nobody for updates, and installs nothing.
QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
    "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.1",
}
SUPERLINK = 8731
SUPERNODES = 9800
# What a SuperNode says of a message.
ACTIVE = "Received successfully"
SCHEMA = """row_norm = 1
[[column]]
name = "a"
kind = "numeric"
lower = -1
upper = 1
[[column]]
name = "y"
kind = "target"
classes = ["no", "yes"]
"""


class Stage:
    """Everybody's processes, ended with this."""

    def __init__(self, folder, given):
        self.folder, self.given = pathlib.Path(folder), given
        self.until = time.monotonic() + given.limit
        self.running, self.logs = {}, []
        path = f"{given.venv / 'bin'}:{given.reticent.parent}:{os.environ['PATH']}"
        self.variables = {**os.environ, **QUIET, "PATH": path, "FLWR_HOME": str(self.folder / "flower")}
        self.names = [f"clinic-{party}" for party in range(given.parties)]

    def start(self, name, *command):
        log = open(self.folder / f"{name}.log", "a")
        self.logs.append(log)
        self.running[name] = subprocess.Popen(
            [str(part) for part in command], cwd=self.folder, env=self.variables, stdout=log, stderr=log, start_new_session=True
        )
        return self.running[name]

    def run(self, *command):
        """What a command says; its errors are shown."""
        done = subprocess.run(
            [str(part) for part in command], cwd=self.folder, env=self.variables, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
        return done.stdout

    def flower(self, *command):
        """What a command of Flower says, as JSON: its errors have exit code 0."""
        said = self.run("flwr", *command, "--format", "json")
        found = json.loads(said[said.index("{"):]) if "{" in said else {}
        if not found.get("success"):
            self.show()
            raise SystemExit(f"flwr {' '.join(map(str, command))}: {said}")
        return found

    def kill(self, name):
        process = self.running[name]
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def stop(self):
        for name in reversed(self.running):
            self.kill(name)
        for log in self.logs:
            log.close()

    def text(self, name):
        file = self.folder / f"{name}.log"
        return file.read_text() if file.exists() else ""

    def show(self):
        for name, process in self.running.items():
            print(f"--- {name} ({process.poll()})\n{self.text(name)[-1500:]}")

    def wait(self, done, what):
        while not done():
            if time.monotonic() > self.until:
                self.show()
                raise SystemExit(f"{what} did not come in time")
            time.sleep(0.2)

    # Flower

    def superlink(self):
        """A SuperLink that takes TLS and known SuperNodes alone, and remembers in a file."""
        self.start(
            "superlink", "flower-superlink", "--port", SUPERLINK, "--ssl-ca-certfile", "ca.pem", "--ssl-certfile", "server.pem",
            "--ssl-keyfile", "server.key", "--enable-supernode-auth", "--database", "superlink.db",
            "--disable-runtime-dependency-installation",
        )

    def supernode(self, number, key):
        name = f"node-{key}"
        self.start(
            name, "flower-supernode", "--root-certificates", "ca.pem", "--superlink", f"127.0.0.1:{SUPERLINK}", "--port",
            SUPERNODES + number, "--auth-supernode-private-key", f"{key}.ec", "--node-config", f'courier="{self.folder / key}.s"',
            "--max-retries", "1000",
        )
        return self.running[name]

    def revive(self, number, key):
        """Starts a SuperNode that was killed as a service would: until the SuperLink has noticed (a minute), it takes it for there
        and refuses its key."""
        before = self.text(f"node-{key}").count(ACTIVE)

        def is_back():
            if self.running[f"node-{key}"].poll() is not None:
                time.sleep(2)
                self.supernode(number, key)
            return self.text(f"node-{key}").count(ACTIVE) > before

        self.wait(is_back, "a SuperNode that was killed")

    def submit(self):
        """Starts the couriers; the number of their run."""
        config = f'courier="{self.folder / "lead.s"}"'
        return str(self.flower("run", "app", "here", "--run-config", config)["run-id"])

    # Reticent

    def begin(self, trust, rounds):
        """New journals, sockets and budgets for a run between all, and its processes."""
        job = f'schema = "schema.toml"\nalgorithm = "auto"\nepsilon = 4.0\ndelta = 1e-5\niterations = {rounds}\n'
        network = f'[parties]\ntrust = "{trust}"\n[network]\nroster = "roster.toml"\npatience = 900\n'
        (self.folder / "run.toml").write_text(job + network)
        for old in [*self.folder.glob("*.journal*"), *self.folder.glob("*.budget*")]:
            old.unlink()
        for name in ["lead", *self.names]:
            (self.folder / f"{name}.log").unlink(missing_ok=True)
        for name in self.names:
            self.run("reticent", "--quiet", "budget", "new", f"{name}.budget", "--dataset", name, "--epsilon", 5, "--delta", "1e-4")
        own = ["--key", "lead", "--journal", "lead.journal", "--out", "lead.model", "--courier", "lead.s", "--force"]
        self.start("lead", "reticent", "--json", "lead", "run.toml", *own)
        for name in self.names:
            self.start(name, "reticent", "--json", "join", "run.toml", "--party", f"{name}.toml", "--force")

    def answered(self, name="lead"):
        """How many rounds the lead, or a party, has done."""
        return self.text(name).count('"answered"')

    def are_done(self):
        return all(self.running[name].poll() is not None for name in ["lead", *self.names])

    def check(self):
        """Everybody has the lead's numbers, and each party has paid once."""
        ends = {name: self.running[name].returncode for name in ["lead", *self.names]}
        if any(ends.values()):
            self.show()
            raise SystemExit(f"not everybody came to the end: {ends}")
        models = [json.loads((self.folder / f"{name}.model" / "model.json").read_text()) for name in ends]
        if any(model["coefficients"] != models[0]["coefficients"] for model in models):
            raise SystemExit("not everybody has the lead's numbers")
        for name in self.names:
            jobs = json.loads(self.run("reticent", "--json", "budget", "show", f"{name}.budget"))["jobs"]
            if [job["state"] for job in jobs] != ["settled"]:
                raise SystemExit(f"the budget of {name} has {jobs}")

    def prepare(self):
        """Keys, a roster that all have signed, tables, certificates, and who is reached by which socket."""
        (self.folder / "schema.toml").write_text(SCHEMA)
        for name in ["lead", *self.names]:
            self.run("reticent", "--quiet", "identity", "new", name)
        roster = ["reticent", "--quiet", "roster"]
        self.run(*roster, "new", "roster.toml", "--study", "flower", "--key", "lead.pub", "--address", "127.0.0.1:1")
        for party, name in enumerate(self.names):
            self.run(*roster, "add", "roster.toml", "--name", name, "--key", f"{name}.pub")
            rows = "".join(f"{(i * 37 + party * 11) % 41 / 20 - 1:.2f},{'yes' if i % 3 else 'no'}\n" for i in range(90))
            (self.folder / f"{name}.csv").write_text("a,y\n" + rows)
            own = {"data": "csv", "journal": "journal", "out": "model", "courier": "s", "budget": "budget"}
            keys = "".join(f'{key} = "{name}.{end}"\n' for key, end in own.items())
            (self.folder / f"{name}.toml").write_text(f'key = "{name}"\n{keys}')
        for name in ["lead", *self.names]:
            self.run(*roster, "sign", "roster.toml", "--key", name)
        certificates(self.folder)
        for name in [*self.names, "stranger"]:
            node_key(self.folder / f"{name}.ec")
        (self.folder / "flower").mkdir()
        (self.folder / "flower" / "config.toml").write_text(
            f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "127.0.0.1:{SUPERLINK}"\n'
            f'root-certificates = "{self.folder / "ca.pem"}"\n'
        )
        shutil.copytree(HERE / "reticent_flower", self.folder / "app", ignore=shutil.ignore_patterns("__pycache__"))


def certificates(folder):
    """An authority for a day, and a certificate of it for 127.0.0.1 (by `cryptography`, which Flower brings along)."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    def name(text):
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    def made(subject, key, extensions, issuer):
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder(
            issuer_name=name("authority"), subject_name=name(subject), public_key=key.public_key(),
            serial_number=x509.random_serial_number(), not_valid_before=now - datetime.timedelta(hours=2),
            not_valid_after=now + datetime.timedelta(days=1),
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(issuer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    authority, server = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    places = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")])
    (folder / "ca.pem").write_bytes(made("authority", authority, [(x509.BasicConstraints(True, None), True)], authority))
    (folder / "server.pem").write_bytes(made("127.0.0.1", server, [(places, False)], authority))
    private = server.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.key").write_bytes(private)


def node_key(path):
    """The key of a SuperNode: a curve of NIST, in the format of OpenSSH, which Flower asks for."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP384R1())
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    path.write_bytes(secret)
    path.chmod(0o600)
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    path.with_suffix(".ec.pub").write_bytes(public)
