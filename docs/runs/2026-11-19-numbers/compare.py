"""Numbers on streams: geowalk's default, river's own pipelines and Vowpal Wabbit's defaults, one pass, no settings.

    python compare.py GEOWALK OUT_DIR [DATA_DIR]

Needs river and vowpalwabbit. River's data sets come with river; with DATA_DIR abalone, beijing-pm25 and the first
60,000 rows of nycflights13 are run too. Every loss is that of predictions made before the label was seen.
"""

import csv
import gzip
import itertools
import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

from river import datasets, evaluate, linear_model, metrics, preprocessing, tree
from vowpalwabbit import Workspace

GEOWALK, OUT = sys.argv[1], Path(sys.argv[2])
OUT.mkdir(exist_ok=True)
MOST_FOR_RIVER = 5_000
"""River's learners run on this many rows at most: they are Python."""


def of_river(kind):
    for x, y in kind():
        yield x, float(y)


def of_file(path, label):
    def number(text):
        try:
            return float(text)
        except ValueError:
            return text

    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        for row in csv.DictReader(file):
            y = row.pop(label)
            if y not in ("", "NA"):
                yield {name: number(value) for name, value in row.items() if value not in ("", "NA")}, float(y)


def geowalk(name, rows):
    path = OUT / f"{name}.jsonl"
    with open(path, "w") as file:
        for x, y in rows:
            file.write(json.dumps({**x, "(label)": y}, default=str) + "\n")
    command = [GEOWALK, "train", path, "--label", "(label)", "--task", "regression", "--interval", "0.9", "--json", "--progress", "none"]
    summary = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    inside = summary["interval"]
    best = min(summary["members"], key=lambda member: member["loss"])
    found = {"mse": summary["loss"], "mae": summary["metrics"]["mae"], "coverage": inside["coverage"], "width": inside["mean_width"]}
    return found | {"best": best["walk"], "best_mse": best["loss"] / summary["examples"]}


def river(rows):
    models = {
        "LinearRegression": lambda: linear_model.LinearRegression(),
        "LinearRegression(intercept_lr=.1)": lambda: linear_model.LinearRegression(intercept_lr=0.1),
        "PARegressor": lambda: linear_model.PARegressor(),
        "BayesianLinearRegression": lambda: linear_model.BayesianLinearRegression(),
        "HoeffdingAdaptiveTreeRegressor": lambda: tree.HoeffdingAdaptiveTreeRegressor(seed=1),
    }
    number = lambda v: v.timestamp() / 86_400 if isinstance(v, datetime) else float(v)
    plain = [({k: number(v) for k, v in x.items() if not isinstance(v, str)}, y) for x, y in rows]
    found = {}
    for name, make in models.items():
        model = preprocessing.StandardScaler() | make()
        found[name] = evaluate.progressive_val_score(iter(plain), model, metrics.MAE()).get()
    return found


def vw(name, rows):
    path = OUT / f"{name}.vw"
    with open(path, "w") as file:
        for x, y in rows:
            x = {k: v.timestamp() / 86_400 if isinstance(v, datetime) else v for k, v in x.items()}
            spelled = (f"{k}={v}" if isinstance(v, str) else f"{k}:{v}" for k, v in x.items())
            file.write(f"{y} | " + " ".join(text.replace(" ", "_") for text in spelled) + "\n")
    learner = Workspace(f"--quiet -d {path} -b 22 --holdout_off")
    return learner.get_sum_loss() / learner.get_weighted_examples()


sets = {kind.__name__: of_river(kind) for kind in (datasets.TrumpApproval, datasets.ChickWeights, datasets.AirlinePassengers, datasets.WaterFlow)}
if len(sys.argv) > 3:
    data = Path(sys.argv[3])
    sets["abalone"] = of_file(data / "uci/abalone.csv", "class")
    sets["beijing-pm25"] = of_file(data / "streams/beijing-pm25.csv.gz", "target")
    sets["nycflights13"] = itertools.islice(of_file(data / "streams/nycflights13.csv.gz", "target"), 60_000)
print("| data | rows | MAE: geowalk | best of river | which | MSE: geowalk | best member | which | VW | inside 90 % | mean width |")
print("|---|---|---|---|---|---|---|---|---|---|---|")
for name, rows in sets.items():
    rows = list(rows)
    own, theirs = geowalk(name, rows), river(rows) if len(rows) <= MOST_FOR_RIVER else {}
    best = min(theirs, key=theirs.get, default="")
    cells = [name, len(rows), f"{own['mae']:.4g}", f"{theirs[best]:.4g}" if best else "", best, f"{own['mse']:.4g}", f"{own['best_mse']:.4g}"]
    cells += [f"`{own['best']}`", f"{vw(name, rows):.4g}", f"{100 * own['coverage']:.1f} %", f"{own['width']:.4g}"]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    if theirs:
        print(f"{name}: " + json.dumps(theirs), file=sys.stderr)
