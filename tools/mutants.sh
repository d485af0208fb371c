#!/bin/sh
# Mutants of the lines that changed: mutants.sh [BASE]. A mutant that no test of its crate notices is a missing test.
#
# Without BASE it is the first of these since which the source of a crate has changed: the common ancestor with main,
# the baselines of `make semver` (tools/baselines.sh: release, public API), and the last 20 commits that changed some.
# Of many mutants MUTANTS are made (40 by default), every k-th of them, another share at every commit.
# mutants.sh --base says what BASE is, and does no more.
set -eu
cd "$(dirname "$0")/.."
sources='crates/*/src/*.rs'

changed_since() {
    test -n "$1" && ! git diff --quiet "$1" -- "$sources"
}

if [ $# -gt 0 ] && [ "$1" != --base ]; then
    base=$1
else
    ancestor=$(git merge-base HEAD main 2>/dev/null || git merge-base HEAD origin/main 2>/dev/null || true)
    twentieth=$(git log -20 --format=%H -- "$sources" | tail -n 1)
    before=$(git rev-parse --quiet --verify "$twentieth^" || echo "$twentieth")
    for base in "$ancestor" $(sh tools/baselines.sh) "$before"; do
        if changed_since "$base"; then break; fi
    done
fi
if [ "${1:-}" = --base ]; then
    echo "$base"
    exit 0
fi

mkdir -p target/mutants
git diff "$base" -- "$sources" >target/mutants/changed.diff
if [ ! -s target/mutants/changed.diff ]; then
    echo "skipped: mutants, because no source file of a crate has changed since $base"
    exit 0
fi
test -x target/tools/bin/cargo-mutants || cargo install --locked --quiet cargo-mutants --version 27.1.0 --root target/tools
PATH="$PWD/target/tools/bin:$PATH"
count=$(cargo mutants --list --in-diff target/mutants/changed.diff --gitignore true | wc -l)
most=${MUTANTS:-40}
if [ "$count" -eq 0 ]; then
    echo "skipped: mutants, because what has changed since $base has none"
    exit 0
fi
parts=$(((count + most - 1) / most))
part=$(($(git rev-list --count HEAD) % parts))
echo "mutants: $count since $base, of which one in $parts is made (MUTANTS=$most)"
cargo mutants --in-diff target/mutants/changed.diff --output target/mutants --no-shuffle --gitignore true \
    --shard "$part/$parts" --sharding round-robin -- --locked
