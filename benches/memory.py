"""Peak memory of a fit of what is in memory, beside the caller's own arrays, as a ratio to the encoded table.

    python3 benches/memory.py

The encoded table is 8 bytes a value of a dense matrix and 12 of a sparse one. Beside it the gate keeps a norm for each
row and a pass its partial sums; a ratio near 2 would mean that the table is held twice.
"""

import subprocess

CASES = [("rows", 1_000_000, 40), ("columns", 1_000_000, 40), ("csr", 1_000_000, 20)]


def main():
    print(f"{'layout':>8} {'rows':>9} {'values':>7} {'caller MB':>10} {'fit MB':>7} {'table MB':>9} {'ratio':>6}")
    for layout, n, d in CASES:
        command = ["cargo", "bench", "-q", "-p", "reticent", "--bench", "memory", "--", layout, str(n), str(d)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        before, fit, table = (float(word) for word in said[3:6])
        print(f"{layout:>8} {n:>9} {d:>7} {before:>10.0f} {fit:>7.0f} {table:>9.0f} {fit / table:>6.2f}")


if __name__ == "__main__":
    main()
