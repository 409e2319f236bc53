# Sourced by the examples: the command, a directory for their files, and random numbers that are the same everywhere.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
if [ -z "${GEOWALK:-}" ]; then
    cargo build --quiet --release --manifest-path "$here/Cargo.toml" -p geowalk-cli
    GEOWALK="$here/target/release/geowalk"
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# awk functions: seed(n), below(n) is a whole number under n, normal() is nearly normal.
random='
function seed(n) { state = n }
function below(n) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * n) }
function normal(   k, sum) { sum = 0; for (k = 0; k < 12; k++) sum += below(1000000) / 1000000; return sum - 6 }
'

# The value of the last key of that name in the JSON on standard input.
field() { sed -E "s/.*\"$1\":([^,}]*).*/\1/"; }
