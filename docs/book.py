"""Lays out the pages for mdBook: docs/ and proofs/ as they are in the tree, so that their links hold, and the contents.

    python3 docs/book.py OUT

The contents are docs/SUMMARY.md, the proofs behind them, and what the pages link to beside. What is linked and is no
page is copied; a link to a folder is written as its name.
"""

import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[([^\]]*)\]\(([^)#:]+)((?:#[^)]*)?)\)")


def title(page):
    """What a page calls itself, or the name of its file."""
    heads = [line[2:].strip() for line in page.read_text("utf-8").splitlines() if line.startswith("# ")]
    return heads[0] if heads else page.stem


def place(page):
    """Where a page is in the book: what a folder shows first is its index there."""
    place = page.relative_to(ROOT)
    return place.with_name("index.md") if place.name == "README.md" else place


class Book:
    def __init__(self, out):
        self.out, self.pages = out, []

    def lay(self, page):
        """A page, and behind it the pages that it links to."""
        if page in self.pages:
            return
        self.pages.append(page)
        to = self.out / place(page)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(LINK.sub(lambda found: self.link(page, found), page.read_text("utf-8")), "utf-8")

    def link(self, page, found):
        text, target, _ = found.groups()
        there = (page.parent / target).resolve()
        if there.is_dir() or not there.is_relative_to(ROOT):
            return f"{text} (`{there.relative_to(ROOT)}`)"
        if there.suffix == ".md":
            self.lay(there)
            return found.group(0).replace("README.md", "index.md")
        to = self.out / there.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(there, to)
        return found.group(0)


def main():
    out = pathlib.Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    book = Book(out)
    contents = (ROOT / "docs/SUMMARY.md").read_text("utf-8")
    listed = [ROOT / "docs" / target for _, target, _ in LINK.findall(contents)]
    for page in [*listed, *sorted((ROOT / "proofs").glob("*.md"))]:
        book.lay(page)
    proofs = sorted((page for page in book.pages if page.parent == ROOT / "proofs"), key=title)
    proofs.sort(key=lambda page: page.name != "README.md")
    beside = [page for page in book.pages if page not in listed and page not in proofs]
    parts = [contents.replace("](", "](docs/").replace("README.md", "index.md").rstrip()]
    for name, pages in [("Proofs", proofs), ("About the project", beside)]:
        parts += ["", f"# {name}", ""]
        parts += [f"- [{title(page)}]({place(page)})" for page in pages]
    (out / "SUMMARY.md").write_text("\n".join(parts) + "\n", "utf-8")


main()
