"""Format, clippy, and the unit tests of the crates that changed and of those that depend on them.

    python3 tools/check.py [BASE]

BASE is what the change is measured against: by default the common ancestor with `main` (or `origin/main`), and on `main`
itself the last commit. The whole workspace is named to cargo every time, with the features of `make test`, so that both use
the same compiled dependencies; cargo compiles again what changed and what depends on it.
"""

import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WHOLE = ["--locked", "--workspace", "--features", "reticent/arrow,reticent/ndarray"]


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def git(*words):
    found = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


def base():
    for branch in ["main", "origin/main"]:
        ancestor = git("merge-base", "HEAD", branch)
        if ancestor and ancestor != git("rev-parse", "HEAD"):
            return ancestor
    return "HEAD"


def changed_files(since):
    tracked = output("git", "diff", "--name-only", since).splitlines()
    return tracked + output("git", "ls-files", "--others", "--exclude-standard").splitlines()


def changed_packages(packages, files):
    """The packages that files are in; all of them where a file concerns all."""
    if {"Cargo.toml", "Cargo.lock", "clippy.toml", "rustfmt.toml"} & set(files):
        return set(packages)
    folders = {str(pathlib.Path(package["manifest_path"]).parent.relative_to(ROOT)): name for name, package in packages.items()}
    return {name for folder, name in folders.items() if any(file.startswith(folder + "/") for file in files)}


def with_dependants(packages, names):
    """These packages and whatever uses them, directly or not; tests that use them count."""
    while True:
        uses = {name for name, package in packages.items() if any(used["name"] in names for used in package["dependencies"])}
        if uses <= names:
            return names
        names = names | uses


def cargo(*words, **options):
    return subprocess.run(["cargo", *words], cwd=ROOT, check=True, **options)


def unit_tests(names):
    """The programs of unit tests of these packages, compiled."""
    built = cargo("test", *WHOLE, "--lib", "--bins", "--no-run", "--message-format=json-render-diagnostics", stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    programs = [each for each in messages if each.get("executable") and each["profile"]["test"]]
    return [(each["manifest_path"], each["executable"]) for each in programs if pathlib.Path(each["manifest_path"]).parent in names]


def main():
    begun = time.monotonic()
    metadata = json.loads(output("cargo", "metadata", "--format-version=1", "--no-deps", "--locked"))
    packages = {package["name"]: package for package in metadata["packages"]}
    since = sys.argv[1] if len(sys.argv) > 1 else base()
    changed = changed_packages(packages, changed_files(since))
    cargo("fmt", "--all", "--check")
    if not changed:
        print(f"no crate has changed since {since}")
        return
    affected = with_dependants(packages, changed)
    print("changed:", ", ".join(sorted(changed)), "- with dependants:", ", ".join(sorted(affected)), flush=True)
    tests = [target["name"] for name in changed for target in packages[name]["targets"] if "test" in target["kind"]]
    named = [word for test in sorted(set(tests)) for word in ["--test", test]]
    cargo("clippy", *WHOLE, "--lib", "--bins", *named, "--", "-D", "warnings")
    folders = {pathlib.Path(packages[name]["manifest_path"]).parent for name in affected}
    for manifest, program in unit_tests(folders):
        subprocess.run([program, "--quiet"], cwd=pathlib.Path(manifest).parent, check=True)
    print(f"checked in {time.monotonic() - begun:.0f} s; `make test` is what a merge needs")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
