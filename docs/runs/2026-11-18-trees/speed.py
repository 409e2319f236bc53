"""CPU time of 100 trees and of one more tree: `geowalk boost --weak trees` beside LightGBM, one thread each.

    python speed.py GEOWALK DATA [TIMES]

User and system time, interleaved, medians. Of geowalk the time of `--dry-run` (reading the table) is taken off; of
LightGBM binning and training are counted, from an array in memory. A tree is a tenth of the difference of 110 and 10
rounds, per 10. `same` has geowalk's settings: 16 leaves, depth 6, 80 % of the rows, 70 % of the columns per node.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
from compare import read

SAME = {
    "num_leaves": 16,
    "max_depth": 6,
    "lambda_l2": 1.0,
    "learning_rate": 0.05,
    "min_data_in_leaf": 5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "feature_fraction_bynode": 0.7,
}


def cpu(of=resource.RUSAGE_SELF):
    used = resource.getrusage(of)
    return used.ru_utime + used.ru_stime


def generated():
    random = np.random.default_rng(1)
    X = random.standard_normal((100_000, 30))
    z = X[:, 0] * X[:, 1] + X[:, 2] - 0.5 * X[:, 3] ** 2 + 0.5
    y = (z > 0) ^ (random.random(len(z)) < 0.1)
    return pd.DataFrame(X, columns=[f"c{k}" for k in range(30)]), pd.Series(y.astype(int).astype(str))


def command(program, path, *flags):
    start = cpu(resource.RUSAGE_CHILDREN)
    call = [program, "boost", path, "--weak", "trees", "--label", "class", "--progress", "none", "--json", *flags]
    subprocess.run(call, check=True, capture_output=True, env={"RAYON_NUM_THREADS": "1"})
    return cpu(resource.RUSAGE_CHILDREN) - start


def library(X, y, rounds, more):
    start = cpu()
    settings = {"objective": "binary", "num_threads": 1, "verbose": -1, **more}
    lgb.train(settings, lgb.Dataset(X, y, params=settings), rounds)
    return cpu() - start


def main():
    program, folder, *times = sys.argv[1:]
    program, times = str(Path(program).resolve()), int(times[0]) if times else 5
    with tempfile.TemporaryDirectory() as place:
        for name, (X, y) in {"adult-train": read(Path(folder), "adult-train"), "100k x 30": generated()}.items():
            path = Path(place) / "t.csv"
            X.assign(**{"class": ["k" + label for label in y]}).to_csv(path, index=False)
            codes = (y == sorted(y.unique())[1]).to_numpy().astype(int)
            found = {key: [] for key in ("geowalk fit", "geowalk tree", "default fit", "default tree", "same fit", "same tree")}
            for _ in range(times):
                few, fit, most = (command(program, path, "--rounds", str(k)) for k in (10, 100, 110))
                dry = command(program, path, "--dry-run")
                found["geowalk fit"].append(fit - dry)
                found["geowalk tree"].append((most - few) / 100)
                for key, more in (("default", {}), ("same", SAME)):
                    few, fit, most = (library(X, codes, k, more) for k in (10, 100, 110))
                    found[f"{key} fit"].append(fit)
                    found[f"{key} tree"].append((most - few) / 100)
            middle = {key: statistics.median(own) for key, own in found.items()}
            print(name, {key: round(value, 5) for key, value in middle.items()}, flush=True)
            for key in ("default", "same"):
                fit, tree = middle["geowalk fit"] / middle[f"{key} fit"], middle["geowalk tree"] / middle[f"{key} tree"]
                print(f"  geowalk / lightgbm {key}: fit {fit:.2f}, tree {tree:.2f}", flush=True)


if __name__ == "__main__":
    main()
