"""A fit on a table larger than its memory: peak memory, and the time of a pass beside a plain scan of as many bytes.

    python3 benches/cache.py --reticent target/release/reticent [--megabytes 2000] [--columns 20] [--limit 1000] [--persons N] [--parquet]

A CSV table of so many megabytes is made and fitted with --cache under a limit of memory: a control group where
this user may make one, which counts the pages of files too, and otherwise the resident memory is measured without a limit, which
is said. A pass is the difference of two fits of many and few steps; the scan reads a file as long as the cache file, in blocks
of 2 MiB, within the same limit, and from the disk where that file is longer than the limit: the pass has to read it from there too. With --parquet the same table is fitted from a Parquet file as well (needs pyarrow). Promised: a pass in 1.3 scans, a peak of 500 MB. Without a cache the table is fitted as well
where it fits, for the same model. With --persons the rows are those of so many persons, who are protected, and the same is fitted of a thousandth
of them: what the peak is higher by is what a person takes.
"""

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

STEPS = (2, 12)
# Groups of version 2 and 1, and the file of their limit.
GROUPS = [("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")]
SCAN = """
import sys, time
start, spent = time.monotonic(), time.process_time()
with open(sys.argv[1], "rb", buffering=0) as file:
    block = bytearray(2 << 20)
    while file.readinto(block):
        pass
print(time.monotonic() - start, time.process_time() - spent)
"""


def table(path, megabytes, columns, persons=0):
    random.seed(1)
    turn = itertools.count()
    # Everybody comes as often, in an order that is none of the ids'.
    person = (lambda line: f"p{next(turn) * 2_654_435_761 % persons:08d},{line}") if persons else str
    kinds = [lambda: str(random.randrange(100)), lambda: f"{random.uniform(0, 100):.6f}"]
    lines = [",".join(kinds[j % 2]() for j in range(columns)) + f",{random.randrange(2)}\n" for _ in range(20_000)]
    block = "".join(lines)
    blocks = max(1, megabytes * 1_000_000 // len(block))
    with open(path, "w") as out:
        out.write(("who," if persons else "") + ",".join(f"x{j}" for j in range(columns)) + ",y\n")
        for _ in range(blocks):
            out.write("".join(map(person, lines)) if persons else block)
    return blocks * len(lines)


def columnar(folder, group):
    """The table of t.csv as t.parquet, in groups of so many records; a child writes it, whose memory is not ours."""
    write = f"""
import pyarrow.csv, pyarrow.parquet
read = pyarrow.csv.open_csv("t.csv")
with pyarrow.parquet.ParquetWriter("t.parquet", read.schema) as out:
    for batch in read:
        out.write_batch(batch, row_group_size={group})
"""
    subprocess.run([sys.executable, "-c", write], cwd=folder, check=True)


def schema(columns, norm, persons=0):
    text = f"row_norm = {norm}\n" + ("[[column]]\nname = 'who'\nkind = 'user'\n" if persons else "") + "".join(
        f"[[column]]\nname = 'x{j}'\nkind = 'numeric'\nlower = 0\nupper = 100\n" for j in range(columns))
    return text + "[[column]]\nname = 'y'\nkind = 'target'\nclasses = [0, 1]\n"


def limited(megabytes):
    """A control group with this limit, or None."""
    for root, limit in GROUPS:
        group = Path(root, f"reticent-bench-{os.getpid()}")
        try:
            group.mkdir()
            with open(group / limit, "r+") as file:
                file.write(str(megabytes * 1_000_000))
            return group
        except OSError:
            if group.exists():
                group.rmdir()
    print("no limit of memory, only measured: this user may make no control group")
    return None


def within(group):
    return (lambda: (group / "cgroup.procs").write_text(str(os.getpid()))) if group else None


def longest_unnamed(pid, found):
    """The length of the longest file without a name that a process has open, while it runs."""
    while found["running"]:
        try:
            for link in Path(f"/proc/{pid}/fd").iterdir():
                if os.readlink(link).endswith("(deleted)"):
                    found["bytes"] = max(found["bytes"], link.stat().st_size)
        except OSError:
            pass
        time.sleep(0.05)


def fit(given, folder, steps, cache, group, data="t.csv"):
    """Seconds on the wall and of processors, peak megabytes, bytes of the cache and the model."""
    command = [given.reticent, "fit", data, "--schema", "s.toml", "--epsilon", "1", "--delta", "1e-9", "--seed", "1",
               "--algorithm", "dp-sgd", "--iterations", str(steps), "--out", "m", "--quiet", "--force"]
    start = time.monotonic()
    child = subprocess.Popen(command + (["--cache", "."] if cache else []), cwd=folder, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, preexec_fn=within(group))
    found = {"running": True, "bytes": 0}
    watch = threading.Thread(target=longest_unnamed, args=(child.pid, found))
    watch.start()
    _, status, used = os.wait4(child.pid, 0)
    found["running"] = False
    watch.join()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"failed: {command}")
    model = json.loads(Path(folder, "m", "model.json").read_text())
    spent = (time.monotonic() - start, used.ru_utime + used.ru_stime)
    return spent, 1024 * used.ru_maxrss / 1e6, found["bytes"], model


def scan(folder, length, group, from_disk):
    """Seconds on the wall and of processors of a plain scan of so many bytes, the median of three."""
    path = Path(folder, "scan")
    block = os.urandom(1 << 20)
    with open(path, "wb") as out:
        for _ in range(length >> 20):
            out.write(block)
        os.fsync(out.fileno())
    scans = []
    for _ in range(3):
        if from_disk:
            # We wrote it outside of the limit, so that the system may still have all of it.
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        scans.append(subprocess.run([sys.executable, "-c", SCAN, path], check=True, capture_output=True, text=True,
                                    preexec_fn=within(group)).stdout.split())
    path.unlink()
    return [sorted(float(scan[k]) for scan in scans)[1] for k in range(2)]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--reticent", required=True)
    arguments.add_argument("--megabytes", type=int, default=2000)
    arguments.add_argument("--columns", type=int, default=20)
    arguments.add_argument("--row-norm", type=float, default=0, help="0: no row is scaled down")
    arguments.add_argument("--limit", type=int, default=1000)
    arguments.add_argument("--folder")
    arguments.add_argument("--compare", action="store_true", help="fit in memory too, and compare the models")
    arguments.add_argument("--persons", type=int, default=0, help="whose the rows are; 0: nobody's, and records are protected")
    arguments.add_argument("--parquet", action="store_true", help="fit a Parquet file of the same numbers too")
    arguments.add_argument("--group", type=int, default=1 << 17, help="records of a group of it")
    given = arguments.parse_args()
    given.reticent = str(Path(given.reticent).resolve())
    group = limited(given.limit)
    try:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            rows = table(Path(folder, "t.csv"), given.megabytes, given.columns, given.persons)
            Path(folder, "s.toml").write_text(schema(given.columns, given.row_norm or given.columns, given.persons))
            few, _, length, _ = fit(given, folder, STEPS[0], True, group)
            many, peak, length, model = fit(given, folder, STEPS[1], True, group)
            a_pass = [(many[k] - few[k]) / (STEPS[1] - STEPS[0]) for k in range(2)]
            from_disk = group is not None and length > given.limit * 1_000_000
            plain = scan(folder, length, group, from_disk)
            size = Path(folder, "t.csv").stat().st_size
            print(f"{rows} rows of {given.columns} numbers: {size / 1e6:.0f} MB of CSV, {8e-6 * rows * given.columns:.0f} MB in "
                  f"memory, {length / 1e6:.0f} MB in the cache")
            print(f"a fit of {STEPS[0]} steps, reading included: {few[0]:.1f} s, {few[1]:.1f} processor seconds; peak {peak:.0f} MB (of 500)")
            for k, unit in enumerate(["s", "processor seconds"]):
                print(f"a pass {a_pass[k]:.2f} {unit}, a plain scan from {'the disk' if from_disk else 'memory'} {plain[k]:.2f}: "
                      f"{a_pass[k] / plain[k]:.2f} (of 1.3)")
            if given.persons:
                table(Path(folder, "f.csv"), given.megabytes, given.columns, max(1, given.persons // 1000))
                _, base, _, _ = fit(given, folder, STEPS[0], True, group, "f.csv")
                Path(folder, "f.csv").unlink()
                print(f"{given.persons} persons: {1e6 * (peak - base) / given.persons:.0f} bytes of the peak for each, which is "
                      f"{base:.0f} MB with a thousandth of them")
            if given.compare:
                first, _, _, _ = fit(given, folder, STEPS[0], False, None)
                last, memory, _, other = fit(given, folder, STEPS[1], False, None)
                print(f"in memory: {(last[1] - first[1]) / (STEPS[1] - STEPS[0]):.2f} processor seconds a pass, peak "
                      f"{memory:.0f} MB, the same model: {other == model}")
            if given.parquet:
                columnar(folder, given.group)
                file = Path(folder, "t.parquet").stat().st_size / 1e6
                spent, peak, _, _ = fit(given, folder, STEPS[0], True, group, "t.parquet")
                _, _, _, other = fit(given, folder, STEPS[1], True, group, "t.parquet")
                print(f"{file:.0f} MB of Parquet, a fit of {STEPS[0]} steps: {spent[0]:.1f} s, {spent[1]:.1f} processor seconds; "
                      f"peak {peak:.0f} MB (of 500), the same model: {other == model}")
    finally:
        if group:
            group.rmdir()


if __name__ == "__main__":
    main()
