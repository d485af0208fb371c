"""Packs a library that cargo has built into a wheel, for tests: what is compiled for them already is not compiled again.

    python3 python/pack.py --library target/debug/lib_reticent.so --out target/wheels

`make wheel` is for users: maturin builds and packs there, optimised and for every Python from 3.10 on.
"""

import argparse
import base64
import hashlib
import pathlib
import re
import sysconfig
import zipfile

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

HERE = pathlib.Path(__file__).resolve().parent


def requirements():
    """What the package and its extras need, as the metadata of a wheel has it."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    lines = [f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {one}" for one in project["dependencies"]]
    for extra, needed in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {one}; extra == '{extra}'" for one in needed]
    return "".join(f"{line}\n" for line in lines)


def pack(library, out):
    version = re.search(r'^version = "(.*)"', (HERE.parent / "Cargo.toml").read_text(), re.MULTILINE)[1]
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag = f"cp310-abi3-{platform}"
    info = f"reticent-{version}.dist-info"
    suffix = ".pyd" if platform.startswith("win") else ".abi3.so"
    files = {f"reticent/_reticent{suffix}": library.read_bytes()}
    for path in sorted((HERE / "reticent").glob("**/*")):
        if path.suffix in (".py", ".pyi", ".typed"):
            files[str(path.relative_to(HERE))] = path.read_bytes()
    metadata = f"Metadata-Version: 2.1\nName: reticent\nVersion: {version}\n{requirements()}"
    wheel = f"Wheel-Version: 1.0\nGenerator: pack.py\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = wheel.encode()
    digest = lambda content: base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    lines = [f"{name},sha256={digest(content)},{len(content)}" for name, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"reticent-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    given = parser.parse_args()
    print(pack(given.library, given.out))
