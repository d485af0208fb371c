#!/bin/sh
# The pages in a real browser: pages.sh PROGRAM FOLDER. What it needs (Chromium, Node and two npm packages) is installed
# where that is possible; where it is not, the check is skipped with a message.
set -eu
program=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd)

skip() {
    echo "skipped: pages in a browser, because $1"
    exit 0
}

browser() {
    command -v chromium || command -v chromium-browser || command -v google-chrome
}

if ! browser >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get install -y --no-install-recommends chromium || { apt-get update && apt-get install -y --no-install-recommends chromium; }; } \
        >/dev/null 2>&1 || true
fi
CHROMIUM=$(browser) || skip "there is no Chromium here, and none can be installed"
command -v npm >/dev/null || skip "there is no npm here"

mkdir -p "$folder/node"
cp "$here/package.json" "$here/package-lock.json" "$here/pages.mjs" "$folder/node/"
(cd "$folder/node" && npm ci --silent --no-audit --no-fund --ignore-scripts >/dev/null 2>&1) \
    || skip "npm cannot get playwright-core and axe-core"

# Something to show: a paid model, one that is not private, and a job that never came back.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
out=$(cd "$folder" && pwd)
cd "$work"
"$program" --quiet demo --out clinic >/dev/null
"$program" --quiet budget new clinic.budget --dataset "Patients of the clinic" --epsilon 3 --delta 1e-6 >/dev/null
table="clinic/patients.csv --schema clinic/schema.toml --target stroke --delta 1e-6 --penalty l2:1e-3"
fit() {
    # shellcheck disable=SC2086 # words, on purpose
    "$program" --quiet fit $table "$@" >/dev/null 2>&1
}
fit --epsilon 1 --budget clinic.budget --out private
fit --epsilon 0.5 --budget clinic.budget --sampling poisson:0.1 --iterations 50 --out sampled
fit --epsilon 1 --seed 1 --out seeded
# shellcheck disable=SC2086
"$program" --quiet fit $table --epsilon 0.5 --budget clinic.budget --algorithm dp-sgd --iterations 1000000 --out lost \
    >/dev/null 2>&1 &
lost=$!
tries=0
until "$program" budget show clinic.budget --json 2>/dev/null | grep -q '"open"'; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || { echo "the job that should be lost never reserved" >&2; exit 1; }
    sleep 0.2
done
sleep 4
kill -9 "$lost" 2>/dev/null || true
wait "$lost" 2>/dev/null || true
"$program" --quiet report private -o one.html
"$program" --quiet report private sampled seeded --budget clinic.budget -o report.html 2>/dev/null
echo 0123456789abcdef0123456789abcdef > token
chmod 600 token
CHROMIUM=$CHROMIUM PROGRAM=$program WORK=$work OUT=$out node "$out/node/pages.mjs"
