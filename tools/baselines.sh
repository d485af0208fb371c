#!/bin/sh
# The commits that a change of the public API is measured against, the first one first: the newest release (v*), the newest
# public API (api-*), and the commit that tools/api-baseline names. Tags do not always travel with a branch; the file does.
# A commit that this clone does not have is left out.
set -eu
cd "$(dirname "$0")/.."
for pattern in 'v*' 'api-*'; do
    git describe --tags --abbrev=0 --match "$pattern" 2>/dev/null || true
done
named=$(sed 's/ *#.*//; /^$/d; q' tools/api-baseline 2>/dev/null || true)
if [ -n "$named" ] && git cat-file -e "$named^{commit}" 2>/dev/null; then
    echo "$named"
fi
