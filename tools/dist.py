"""What users install, in dist/: `make dist`, from a clean clone.

    python3 tools/dist.py --out dist [--sign KEY] [--url URL] [--allow-changes]

* the program for this platform, and a static one for Linux (musl), each with its manual, completions and bill of materials
* the Python package as a wheel for every Python from 3.10 on (abi3), with a bill of materials inside
* the sources, as a recipe of a distribution needs them, and the recipes of packaging/ filled in
* SHA256SUMS, and with --sign its signature by a key of OpenSSH that the releaser has; none is made here

Times, owners and order in archives are fixed and paths of this machine are taken out of programs, so that two builds of one
commit with one compiler can be compared byte by byte (RELEASING.md). What cannot be had here is skipped with a message.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import sbom

ROOT = pathlib.Path(__file__).resolve().parents[1]
MUSL = "x86_64-unknown-linux-musl"
# The C library of manylinux2014: what the wheel's name promises, and what the program for Linux needs at most.
GLIBC = "2.17"
# Compilers and packers of what is released: another version of them may write other bytes.
ZIG = ["ziglang==0.17.0", "cargo-zigbuild==0.24.0"]
MATURIN = ["maturin==1.16.0"]


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], cwd=ROOT, check=False, **more)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    return done


def said(*command):
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def works(*command):
    try:
        return subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class Dist:
    """One release, as it is put together."""

    def __init__(self, out, url):
        self.out, self.url = out, url
        self.cargo = os.environ.get("CARGO", "cargo")
        self.target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        whole = sbom.metadata(None)
        self.version = next(one["version"] for one in whole["packages"] if one["name"] == "reticent-cli")
        self.host = next(line.split(": ")[1] for line in said("rustc", "-vV").splitlines() if line.startswith("host"))
        self.epoch = int(said("git", "log", "-1", "--format=%ct") or 0)
        os.environ["SOURCE_DATE_EPOCH"] = str(self.epoch)
        if os.environ.get("RETICENT_SEEDED_BUGS"):
            raise SystemExit("RETICENT_SEEDED_BUGS is set: a release has no known defects")
        home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
        # The last that fits counts: what build scripts write is in the target folder, wherever that is.
        places = {ROOT: "/reticent", home: "/cargo", self.target.resolve(): "/target"}
        # What would tell where it was built, in the words that compilers and packers write.
        self.telling = [os.fsencode(path) for path in [ROOT / "crates", home / "registry", self.target.resolve() / "release"]]
        paths = " ".join(f"--remap-path-prefix={path}={name}" for path, name in places.items())
        os.environ["RUSTFLAGS"] = f"{os.environ.get('RUSTFLAGS', '')} {paths}".strip()
        # C names its sources in assertions.
        paths = " ".join(f"-ffile-prefix-map={path}={name}" for path, name in places.items())
        os.environ["CFLAGS"] = f"{os.environ.get('CFLAGS', '')} {paths}".strip()
        self.venv = self.target / "dist-venv"
        # zig is a C compiler and linker for any Linux, and pip has it.
        self.zig = sys.platform == "linux" and self.has(*ZIG)
        if self.zig:
            os.environ["PATH"] = f"{self.venv / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def has(self, *packages):
        """Whether pip has these, or can get them now."""
        python = self.venv / "bin" / "python"
        if not python.exists() and not works(sys.executable, "-m", "venv", self.venv):
            return False
        return works(python, "-m", "pip", "install", "--quiet", *packages)

    def check_paths(self, files):
        """Refuses contents that name folders of this machine: nobody else could build the same."""
        for name, content in files.items():
            found = next((path for path in self.telling if path in content), None)
            if found is not None:
                raise SystemExit(f"{name} names {os.fsdecode(found)}, a folder of this machine")

    def archive(self, name, files):
        """A .tar.gz of these contents, the same for the same contents."""
        self.check_paths(files)
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path, content in sorted(files.items()):
                entry = tarfile.TarInfo(f"{name}/{path}")
                entry.size, entry.mtime = len(content), self.epoch
                entry.mode = 0o755 if path == "reticent" else 0o644
                tar.addfile(entry, io.BytesIO(content))
        with open(self.out / f"{name}.tar.gz", "wb") as file:
            with gzip.GzipFile("", "wb", fileobj=file, mtime=self.epoch) as gz:
                gz.write(packed.getvalue())
        print(f"wrote {name}.tar.gz")

    def program(self, target, built):
        """The program of a platform with all that belongs to it."""
        files = {"reticent": built.read_bytes()}
        for name in ["README.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"]:
            files[name] = (ROOT / name).read_bytes()
        files["reticent.cdx.json"] = bill("reticent-cli", target)
        if works(built, "--version"):
            with tempfile.TemporaryDirectory() as folder:
                run(built, "--quiet", "man", "--out", folder, stdout=subprocess.DEVNULL)
                for page in pathlib.Path(folder).iterdir():
                    files[f"man/{page.name}"] = page.read_bytes()
            for shell in ["bash", "zsh", "fish"]:
                text = run(built, "completions", shell, capture_output=True).stdout
                files[f"completions/reticent.{shell}"] = text
        self.archive(f"reticent-{self.version}-{target}", files)

    def host_program(self):
        package = ["--release", "--locked", "-p", "reticent-cli"]
        if self.zig:
            run("cargo-zigbuild", "zigbuild", *package, "--target", f"{self.host}.{GLIBC}")
            built = self.target / self.host / "release"
        else:
            run(self.cargo, "build", *package)
            built = self.target / "release"
        self.program(self.host, built / "reticent")

    def static_program(self):
        """For any Linux, whatever its C library."""
        if sys.platform != "linux":
            return skip("the static program", "it is built on Linux")
        if not self.zig:
            return skip("the static program", "pip cannot get cargo-zigbuild and ziglang here")
        # The folder of a target has a name whether it is there or not.
        there = said("rustc", "--print", "target-libdir", "--target", MUSL)
        if not (works("rustup", "target", "add", MUSL) or there and pathlib.Path(there).exists()):
            return skip("the static program", f"the target {MUSL} cannot be had here")
        run("cargo-zigbuild", "zigbuild", "--release", "--locked", "-p", "reticent-cli", "--target", MUSL)
        self.program(MUSL, self.target / MUSL / "release" / "reticent")

    def wheel(self):
        if not self.has(*MATURIN):
            return skip("the wheel", "pip cannot get maturin here")
        if sys.platform == "linux" and not self.zig:
            return skip("the wheel", "pip cannot get cargo-zigbuild and ziglang here")
        old = ["--zig", "--compatibility", "manylinux2014"] if self.zig else []
        with tempfile.TemporaryDirectory() as folder:
            run(self.venv / "bin" / "maturin", "build", "--release", "--locked", *old, "--manifest-path", "python/Cargo.toml",
                "--out", folder)
            for wheel in pathlib.Path(folder).glob("*.whl"):
                self.with_bill(wheel)

    def with_bill(self, wheel):
        """The wheel with a bill of materials, its files in order and with one time."""
        with zipfile.ZipFile(wheel) as old:
            files = {name: old.read(name) for name in old.namelist() if not name.endswith("/")}
        # Python spells versions in its own way.
        info = next(name.split("/")[0] for name in files if name.endswith(".dist-info/RECORD"))
        files[f"{info}/sboms/reticent.cdx.json"] = bill("reticent-python", self.host)
        files.pop(f"{info}/RECORD")
        code = lambda content: base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines = [f"{name},sha256={code(content)},{len(content)}" for name, content in sorted(files.items())]
        files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
        self.check_paths(files)
        with zipfile.ZipFile(self.out / wheel.name, "w", zipfile.ZIP_DEFLATED) as new:
            for name in sorted(files, key=lambda name: (name.endswith("RECORD"), name)):
                entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
                new.writestr(entry, files[name])
        print(f"wrote {wheel.name}")

    def sources(self):
        """The sources of the commit, and the recipes that are made of them."""
        name = f"reticent-{self.version}"
        tar = run("git", "archive", "--format=tar", f"--prefix={name}/", "HEAD", capture_output=True).stdout
        with open(self.out / f"{name}.tar.gz", "wb") as file:
            with gzip.GzipFile("", "wb", fileobj=file, mtime=self.epoch) as gz:
                gz.write(tar)
        print(f"wrote {name}.tar.gz")
        digest = hashlib.sha256((self.out / f"{name}.tar.gz").read_bytes()).hexdigest()
        recipe = (ROOT / "packaging" / "homebrew" / "reticent.rb.in").read_text(encoding="utf-8")
        filled = recipe.replace("@URL@", self.url or "@URL@").replace("@SHA256@", digest).replace("@VERSION@", self.version)
        (self.out / "reticent.rb").write_text(filled, encoding="utf-8")

    def sums(self, key):
        names = sorted(path.name for path in self.out.iterdir() if not path.name.startswith("SHA256SUMS"))
        lines = [f"{hashlib.sha256((self.out / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
        (self.out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
        if key is None:
            return print("SHA256SUMS is not signed: give --sign KEY, or SIGN=KEY to make")
        run("ssh-keygen", "-Y", "sign", "-f", key.resolve(), "-n", "reticent", self.out.resolve() / "SHA256SUMS")
        return print("wrote SHA256SUMS.sig")


def bill(package, target):
    return (json.dumps(sbom.document(package, target), indent=2, sort_keys=True) + "\n").encode()


def skip(what, why):
    print(f"skipped: {what}, because {why}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--sign", type=pathlib.Path, help="a private key of OpenSSH")
    parser.add_argument("--url", help="where the sources will be, for recipes")
    parser.add_argument("--allow-changes", action="store_true", help="build though files were changed since the commit")
    args = parser.parse_args()
    if said("git", "status", "--porcelain") and not args.allow_changes:
        raise SystemExit("there are files that no commit has: build a release from a clean clone, or give --allow-changes")
    shutil.rmtree(args.out, ignore_errors=True)
    args.out.mkdir(parents=True)
    dist = Dist(args.out, args.url)
    for part in [dist.host_program, dist.static_program, dist.wheel, dist.sources]:
        part()
    dist.sums(args.sign)


if __name__ == "__main__":
    main()
