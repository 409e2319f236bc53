#!/usr/bin/env bash
# The direction to which all rows are orthogonal, on the sphere.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Rows in ten dimensions without their part along a hidden unit vector, and a little noise. There is nothing to predict: the label is 0.
awk "$random"'
BEGIN {
    seed(3)
    n = 10
    for (i = 1; i <= n; i++) { hidden[i] = normal(); square += hidden[i] ^ 2 }
    for (i = 1; i <= n; i++) { hidden[i] /= sqrt(square); printf "x%d,", i }
    print "y"
    for (t = 0; t < 3000; t++) {
        along = 0
        for (i = 1; i <= n; i++) { x[i] = normal(); along += x[i] * hidden[i] }
        for (i = 1; i <= n; i++) printf "%.5f,", x[i] - along * hidden[i] + 0.01 * normal()
        print 0
    }
    for (i = 1; i <= n; i++) print "x" i, hidden[i] >"/dev/stderr"
}' >"$work/rows.csv" 2>"$work/hidden"

"$GEOWALK" train "$work/rows.csv" --task regression --walk sphere --loss invariant --no-intercept --rate 0.01 --seed 1 \
    --window 500 --progress none --model "$work/model"
"$GEOWALK" show "$work/model" --top 10 | awk 'NR == FNR { hidden[$1] = $2; next }
    $2 in hidden { inner += $1 * hidden[$2]; square += $1 ^ 2 }
    END {
        cosine = inner < 0 ? -inner : inner
        printf "\nlength of the vector found     %.6f\n|cosine| with the hidden one   %.6f\n", sqrt(square), cosine
    }' "$work/hidden" -
