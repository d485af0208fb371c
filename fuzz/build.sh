#!/bin/sh
# Builds the fuzz targets with coverage, as cargo-fuzz would on a stable compiler (no address sanitizer: there is no
# unsafe code of ours to watch). Says where the programs are. The target is named so that build scripts go without.
set -eu
cd "$(dirname "$0")/.."
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
coverage="$coverage -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
coverage="$coverage -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
host=$(rustc -vV | sed -n 's/^host: //p')
target="${CARGO_TARGET_DIR:-target}/fuzz"
RUSTFLAGS="$coverage --cfg fuzzing -Cdebug-assertions -Ccodegen-units=16 -Cstrip=debuginfo" \
    CARGO_PROFILE_RELEASE_LTO=off ${CARGO:-cargo} build --locked --release -p reticent-fuzz --features run \
    --target "$host" --target-dir "$target" "$@"
mkdir -p "$target/bin"
find "$target/$host/release" -maxdepth 1 -type f -perm -u+x -exec cp {} "$target/bin/" \;
echo "The fuzz targets are in $target/bin."
