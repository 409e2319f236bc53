#!/usr/bin/env bash
# Regression on a target that depends on 3 of 300 features: multiplicative updates against gradient descent.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# y = x7 - x100 + x200 + noise, features +1 or -1, so that nothing but the geometry of the weights tells the walks apart.
awk "$random"'
BEGIN {
    seed(1)
    for (t = 0; t < 2000; t++) {
        row = ""
        for (i = 1; i <= 300; i++) { x[i] = 2 * below(2) - 1; row = row " " i ":" x[i] }
        printf "%.4f%s\n", x[7] - x[100] + x[200] + 0.1 * normal(), row
    }
}' >"$work/sparse.svm"

# The rate of each walk is the best of ten for it; predictions that know nothing lose 3.01 on average.
printf '%-34s %-10s %-14s %s\n' walk rate "average loss" "weight on the three"
compare() {
    local best=1e300 at="" loss rate
    for rate in 0.5 0.25 0.1 0.05 0.025 0.01 0.005 0.0025 0.001 0.0005; do
        # A rate that is too large ends in an error.
        loss="$("$GEOWALK" train "$work/sparse.svm" --task regression --walk "$1" --rate "$rate" --progress none --json 2>/dev/null | field loss)" || continue
        if awk "BEGIN { exit !($loss < $best) }"; then best="$loss" at="$rate"; fi
    done
    "$GEOWALK" train "$work/sparse.svm" --task regression --walk "$1" --rate "$at" --progress none --model "$work/model" >/dev/null
    "$GEOWALK" show "$work/model" --top 400 | awk -v walk="$1" -v rate="$at" -v loss="$best" '
        NF == 2 && $1 + 0 == $1 { size = $1 < 0 ? -$1 : $1; all += size; if ($2 == 7 || $2 == 100 || $2 == 200) three += size }
        END { printf "%-34s %-10s %-14.4f %.0f%%\n", walk, rate, loss, 100 * three / all }'
}
compare gd
compare "eg+-(scale=4)"
compare "egu(signed=true, start=0.001)"
