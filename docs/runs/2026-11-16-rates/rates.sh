#!/usr/bin/env bash
# Average progressive loss of walks with the self-tuned rate: rates.sh GEOWALK DATA_DIR. One line for each data set and walk.
set -euo pipefail
for data in sparse/spamassassin.svm.gz uci/adult-train.csv.gz streams/elec2.csv.gz sparse/a9a-train.svm.gz streams/nycflights13.csv.gz; do
    for walk in gd "egu(signed=true)" egu reparam-egu explicit:hyperbolic sphere mirror:burg neg eg+- mirror:p-norm implicit:euclidean; do
        loss="$("$1" train "$2/$data" --walk "$walk" --on-error skip --progress none 2>&1 | sed -nE 's/^average loss +([^ ]+).*/\1/p')" || true
        printf '%s\t%s\t%s\n' "$data" "$walk" "${loss:-stopped}"
    done
done
