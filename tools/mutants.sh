#!/bin/sh
# Mutants of the lines that changed: mutants.sh [BASE]. A mutant that no test of its crate notices is a missing test.
set -eu
cd "$(dirname "$0")/.."
base=${1:-$(git merge-base HEAD main 2>/dev/null || git merge-base HEAD origin/main 2>/dev/null || true)}
if [ -z "$base" ] || [ "$(git rev-parse "$base")" = "$(git rev-parse HEAD)" ]; then
    base=$(git describe --tags --abbrev=0 2>/dev/null || git rev-parse HEAD~1)
fi
mkdir -p target/mutants
git diff "$base" -- 'crates/*/src/*.rs' >target/mutants/changed.diff
if [ ! -s target/mutants/changed.diff ]; then
    echo "skipped: mutants, because no source file of a crate has changed since $base"
    exit 0
fi
test -x target/tools/bin/cargo-mutants || cargo install --locked --quiet cargo-mutants --version 27.1.0 --root target/tools
PATH="$PWD/target/tools/bin:$PATH" cargo mutants --in-diff target/mutants/changed.diff --output target/mutants \
    --no-shuffle --gitignore true -- --locked
