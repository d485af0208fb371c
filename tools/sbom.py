"""What a package is made of, as a CycloneDX 1.5 document: every crate that is compiled into it, with its version, licence and
the checksum of Cargo.lock, and who needs whom.

    python3 tools/sbom.py --package reticent-cli --target x86_64-unknown-linux-gnu > reticent.cdx.json

It is read from `cargo metadata` and Cargo.lock: crates that only build scripts, macros or tests use are left out as far as
cargo tells them apart. The same sources give the same bytes: the serial number is a digest, the time that of
SOURCE_DATE_EPOCH or none.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[1]


def metadata(target):
    command = [os.environ.get("CARGO", "cargo"), "metadata", "--locked", "--offline", "--format-version", "1"]
    command += ["--filter-platform", target] if target else []
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if done.returncode != 0:
        # What is not on this machine yet is fetched.
        command.remove("--offline")
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return json.loads(done.stdout)


def checksums():
    """The checksums of Cargo.lock, by name and version."""
    text = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    found = {}
    for block in text.split("[[package]]")[1:]:
        fields = dict(re.findall(r'^(name|version|checksum) = "(.*)"', block, re.MULTILINE))
        found[fields["name"], fields["version"]] = fields.get("checksum")
    return found


def inside(whole, package):
    """The crates that are compiled into a package, by id, each with the ids that it needs."""
    nodes = {node["id"]: node for node in whole["resolve"]["nodes"]}
    start = next(one["id"] for one in whole["packages"] if one["name"] == package)
    needs, left = {}, [start]
    while left:
        own = left.pop()
        if own in needs:
            continue
        normal = [dep["pkg"] for dep in nodes[own]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
        needs[own] = sorted(set(normal))
        left += normal
    return start, needs


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, sums):
    found = {"type": "library", "bom-ref": purl(package), "name": package["name"], "version": package["version"],
             "purl": purl(package)}
    if package.get("license"):
        found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = sums.get((package["name"], package["version"]))
    if checksum:
        found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return found


def document(package, target):
    whole = metadata(target)
    packages = {one["id"]: one for one in whole["packages"]}
    start, needs = inside(whole, package)
    sums = checksums()
    of = lambda key: sorted(key, key=lambda own: purl(packages[own]))
    bom = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {**component(packages[start], sums), "type": "application"}},
        "components": [component(packages[own], sums) for own in of(needs) if own != start],
        "dependencies": [{"ref": purl(packages[own]), "dependsOn": [purl(packages[one]) for one in of(needs[own])]}
                         for own in of(needs)],
    }
    if target:
        bom["metadata"]["properties"] = [{"name": "cargo:target", "value": target}]
    bom["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(bom, sort_keys=True))}"
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch:
        time = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
        bom["metadata"]["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ")
    return bom


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default="reticent-cli")
    parser.add_argument("--target", help="the platform; all of them by default")
    args = parser.parse_args()
    print(json.dumps(document(args.package, args.target), indent=2, sort_keys=True))


if __name__ == "__main__":
    main()
