"""The package on a real Ray, on one machine, in a network namespace that has nothing but loopback.

    python3 python/ray_cluster.py --target target/debug --venv target/ray-venv [--bench]

The wheel is installed as a user does, with its extra: reticent[ray]. One table in 1, 2 and 4 shards, and with an actor killed -9 in the
middle, gives the model of the command line; sweeps and audits are those of one process. Then some of it again on a cluster with
TLS, whose certificates are made here. With --bench it measures what a pass costs beyond its arithmetic instead. Ray opens about
eleven ports on every interface, so that it is started nowhere else; without Ray, and without the right to make a namespace,
it says that it is skipped.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

from pack import pack

HERE = pathlib.Path(__file__).resolve().parent
# Beside the extra.
LIBRARIES = ["pandas", "pytest"]
# Nothing is reported, no page is opened, and no address but loopback is used.
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def skip(why):
    print(f"skipped: the package on Ray, because {why}")
    return 0


def environment(folder, wheel):
    """A virtual environment with Ray and the wheel; None where pip cannot get it."""
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not (folder / "bin" / "ray").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        if subprocess.run([*pip, *LIBRARIES]).returncode != 0:
            return None
    subprocess.run([*pip, "--no-deps", "--force-reinstall", wheel], check=True)
    # What the extra of the wheel says, and nothing that is not there already.
    if subprocess.run([*pip, f"{wheel}[ray]"]).returncode != 0:
        return None
    return python


def certificates(folder):
    """Variables of a cluster with TLS: one authority, and one key for all, of loopback alone."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run = lambda *words: subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    run("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=reticent test authority")
    run("req", *key, "-keyout", "node.key", "-out", "node.csr", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n")
    run("x509", "-req", "-in", "node.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "node.pem", "-days", "2",
        "-extfile", "names")
    return {
        "RAY_USE_TLS": "1",
        "RAY_TLS_SERVER_CERT": str(folder / "node.pem"),
        "RAY_TLS_SERVER_KEY": str(folder / "node.key"),
        "RAY_TLS_CA_CERT": str(folder / "ca.pem"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", type=pathlib.Path, required=True)
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    parser.add_argument("--bench", action="store_true", help="measure a pass in place of the tests")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds after which it is given up")
    given, rest = parser.parse_known_args()
    if not shutil.which("unshare") or not shutil.which("ip"):
        return skip("there are no unshare and ip here")
    # Processes that are left behind end with the namespace of the first of them.
    enter = ["unshare", "-n", "-p", "-f", "--mount-proc", "--kill-child", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if subprocess.run([*enter, "true"], capture_output=True).returncode != 0:
        return skip("there is no right to make a network namespace")
    wheel = pack(next(given.target.glob("lib_reticent.*")), given.target / "wheels")
    python = environment(given.venv.absolute(), wheel)
    if python is None:
        return skip("pip cannot get it")
    variables = {**os.environ, **QUIET, "RETICENT": str((given.target / "reticent").resolve())}
    variables.pop("PYTHONPATH", None)
    pytest = [python, "-m", "pytest", "-c", HERE / "pyproject.toml"]
    if given.bench:
        stages = [([python, HERE.parent / "benches" / "shards.py"], {})]
    else:
        stages = [([*pytest, "ray_tests.py"], {})]
        if shutil.which("openssl"):
            stages.append(([*pytest, "ray_tls_tests.py"], certificates(given.venv.absolute() / "tls")))
        else:
            print("skipped: Ray with TLS, because there is no openssl here")
    for command, more in stages:
        try:
            own = {**variables, **more}
            done = subprocess.run([*enter, *command, *rest], cwd=HERE / "tests", env=own, timeout=given.limit)
        except subprocess.TimeoutExpired:
            print("the package on Ray did not come to its end in time")
            return 1
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
