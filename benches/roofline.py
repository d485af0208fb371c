"""What the machine can and what is reached of it: the picture of docs/performance.md, and the figures beside it.

    python3 benches/roofline.py [--out docs/roofline.svg]

Roofs: a plain sum of doubles (bytes a second), plain reads of a cache file from the memory of the system, and multiplications and
additions in registers, unfused as ours are (operations a second). Reached: gradients of dense and of sparse rows
(crates/oracle/benches/pass.rs) and of rows in a cache file (cached.rs there), the second moment and the change of coordinates of 800
columns (benches/wide.py). All are rates of processor time, one thread, measured in one run.

Below them, as a table: noise (crates/noise/benches/noise.rs) beside the words of ChaCha20 that it is made from, reading of CSV
(crates/data/examples/measure.rs) beside a plain read of the same file that counts its lines, and what the accountant takes
(crates/accountant/examples/accounting_bench.rs), which has no roof. `--table-alone` leaves out the picture.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import reading
import wide

MEGABYTES = 60
LINES = """
import sys, time
start, found = time.process_time(), 0
with open(sys.argv[1], "rb", buffering=0) as file:
    while block := file.read(1 << 20):
        found += block.count(b"\\n")
print(time.process_time() - start)
"""


def built(package, kind, name):
    """A program of a package in release mode."""
    command = ["bench", "--no-run"] if kind == "bench" else ["build", "--release"]
    said = subprocess.run(["cargo", *command, "--locked", "-q", "-p", package, f"--{kind}", name, "--message-format", "json"],
                          cwd=wide.ROOT, check=True, capture_output=True, text=True).stdout
    found = [json.loads(line) for line in said.splitlines()]
    return next(m["executable"] for m in found if m.get("executable") and m["target"]["name"] == name)


def noise(program):
    """Draws a second beside the words of 64 bits that the machine makes."""
    fields = [line.split("\t") for line in wide.said([program], 1).splitlines()]
    roof = next(float(line[2]) for line in fields if line[0] == "roof")
    for _, name, rate in (line for line in fields if line[0] == "reached"):
        print(f"| noise: {name} | {float(rate) / 1e6:.1f} million a second | {roof / 1e6:.0f} million words of ChaCha20 | "
              f"{float(rate) / roof:.0%} |")


def csv(program):
    """Megabytes of CSV a processor second, and of the same file when its lines are counted."""
    with tempfile.TemporaryDirectory() as folder:
        file, schema = str(pathlib.Path(folder, "t.csv")), pathlib.Path(folder, "s.toml")
        schema.write_text(reading.schema(40))
        for name, digits in [("whole numbers", 0), ("two decimals", 2), ("fifteen digits", 12)]:
            reading.table(file, MEGABYTES * 1_000_000 // (40 * (5 + digits)) // 1000 * 1000, 40, digits)
            size = pathlib.Path(file).stat().st_size / 1e6
            spent = min(reading.measure(program, file, str(schema), 1)[1] for _ in range(3))
            plain = min(float(wide.said([sys.executable, "-c", LINES, file], 1)) for _ in range(3))
            print(f"| reading CSV: {name} | {size / spent:.0f} MB/s | {size / plain:.0f} MB/s, lines counted | {plain / spent:.0%} |")


def accountant(program):
    """Milliseconds of an answer."""
    for name, took in json.loads(wide.said([program], 1)).items():
        if isinstance(took, dict):
            print(f"| accountant: {name} | {1e3 * took['seconds']:.2f} ms | – | – |")


def table(given):
    print("| one thread | reached | the machine | share |\n| --- | --- | --- | --- |")
    noise(given.noise or built("reticent-noise", "bench", "noise"))
    csv(given.measure or built("reticent-data", "example", "measure"))
    accountant(given.accounting or built("reticent-accountant", "example", "accounting_bench"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=wide.ROOT / "docs" / "roofline.svg")
    parser.add_argument("--pass", dest="passes", help="the benchmark, if it is built already")
    parser.add_argument("--cached", help="likewise")
    parser.add_argument("--wide", help="likewise")
    parser.add_argument("--plot", help="the program that draws (crates/plot/examples/roofline.rs), likewise")
    parser.add_argument("--noise", help="likewise")
    parser.add_argument("--measure", help="likewise")
    parser.add_argument("--accounting", help="likewise")
    parser.add_argument("--table-alone", action="store_true", help="without the picture and what is in it")
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=800)
    given = parser.parse_args()
    if not given.table_alone:
        picture(given)
    table(given)


def picture(given):
    said = wide.said([given.passes or wide.bench("pass")], 1)
    with tempfile.TemporaryDirectory() as folder:
        said += wide.said([given.cached or wide.bench("cached"), "400000", "20", folder], 1)
    fields = [line.split("\t") for line in said.splitlines()]
    print(*(line[0] for line in fields if len(line) == 1), sep="\n")
    roof = {line[1]: float(line[2]) for line in fields if line[0] == "roof"}
    reached = [(line[1], float(line[2]), float(line[3])) for line in fields if line[0] == "reached"]
    records, columns = given.records, given.columns
    spent = wide.spent([given.wide or wide.bench("wide"), str(records), str(columns), "5"], 1)
    # A triangle, once through the rows; all of a square, once through the rows and twice through their images, which are fetched
    # before they are written.
    reached += [("second moment", columns / 8, records * columns * (columns + 1) / spent["moment"]["processor"]),
                ("change of coordinates", columns / 12, 2 * records * columns * columns / spent["images"]["processor"])]
    names = {"bytes": "memory and arithmetic, one thread", "file": "reads of a file"}
    lines = [f"roof\t{name}\t{roof[of]}\t{roof['operations']}" for of, name in names.items()]
    for name, intensity, rate in reached:
        of = "file" if "file" in name else "bytes"
        lines.append(f"reached\t{name}\t{intensity}\t{rate}\t{names[of]}")
        most = min(roof["operations"], intensity * roof[of])
        bound = "memory" if most < roof["operations"] else "arithmetic"
        print(f"{name}: {rate / 1e9:.1f} of {most / 1e9:.1f} billion operations a second ({rate / most:.0%}), bound by {bound}")
    draw = [given.plot] if given.plot else ["cargo", "run", "-q", "--locked", "-p", "reticent-plot", "--example", "roofline"]
    drawn = subprocess.run(draw, cwd=wide.ROOT, input="\n".join(lines), check=True, capture_output=True, text=True).stdout
    given.out.write_text(drawn)


if __name__ == "__main__":
    main()
