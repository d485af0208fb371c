"""What the machine can and what is reached of it: the picture of docs/performance.md, and the figures beside it.

    python3 benches/roofline.py [--out docs/roofline.svg]

Roofs: a plain sum of doubles (bytes a second), plain reads of a cache file from the memory of the system, and multiplications and
additions in registers, unfused as ours are (operations a second). Reached: gradients of dense and of sparse rows
(crates/oracle/benches/pass.rs) and of rows in a cache file (cached.rs there), the second moment and the change of coordinates of 800
columns (benches/wide.py). All are rates of processor time, one thread, measured in one run.
"""

import argparse
import pathlib
import subprocess
import tempfile

import wide


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=wide.ROOT / "docs" / "roofline.svg")
    parser.add_argument("--pass", dest="passes", help="the benchmark, if it is built already")
    parser.add_argument("--cached", help="likewise")
    parser.add_argument("--wide", help="likewise")
    parser.add_argument("--plot", help="the program that draws (crates/plot/examples/roofline.rs), likewise")
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=800)
    given = parser.parse_args()
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
