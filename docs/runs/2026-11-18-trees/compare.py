"""Boosted trees beside LightGBM and XGBoost: log-loss, error and AUC on tables that chose no constant.

    python compare.py GEOWALK DATA OUT.jsonl [TABLE ...]

GEOWALK is the command, DATA the folder of the tables. Five stratified folds up to 2,500 rows, otherwise one
split of 70 and 30 %; the same for all. `control` is LightGBM with the protocol and settings of
`geowalk boost --weak trees`: rounds by held-out rows, refit, link scale. `lightgbm` and `xgboost` are their
defaults. One thread each.
"""

import json
import math
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split

TABLES = (
    "saheart ionosphere colic cylinder-bands wdbc breast-w blood-transfusion tic-tac-toe qsar-biodeg banknote "
    "titanic mfeat-fourier cardiotocography hypothyroid splice waveform-5000 banana wall-following page-blocks "
    "optdigits ringnorm pendigits nursery letter"
).split()
QUIET = {"verbose": -1, "num_threads": 1, "seed": 0}


def read(folder, name):
    path = next(p for p in (folder / f"{name}.csv", folder / f"{name}.csv.gz") if p.exists())
    table = pd.read_csv(path, na_values=["?"])
    y = table.pop("class").astype(str)
    for column in table.columns:
        if not pd.api.types.is_numeric_dtype(table[column]):
            table[column] = table[column].astype("category")
    table.columns = [f"c{k}" for k in range(table.shape[1])]
    return table, y


def splits(y):
    if len(y) <= 2500:
        return list(StratifiedKFold(5, shuffle=True, random_state=0).split(y, y))
    return [train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)]


def cpu(of=resource.RUSAGE_SELF):
    used = resource.getrusage(of)
    return used.ru_utime + used.ru_stime


class Geowalk:
    def __init__(self, program, *flags):
        self.program, self.flags = program, flags

    def __call__(self, X, y, V, classes):
        with tempfile.TemporaryDirectory() as place:
            place = Path(place)
            labels = [f"k{classes.index(label)}" for label in y]
            X.assign(**{"class": labels}).to_csv(place / "train.csv", index=False)
            V.to_csv(place / "test.csv", index=False)
            names = [f"--nominal={c}" for c in X.columns if not pd.api.types.is_numeric_dtype(X[c])]
            call = [self.program, "boost", "train.csv", "--weak", "trees", "--model", "m", "--progress", "none"]
            call += ["--json", "--label", "class", *names, *self.flags]
            start = cpu(resource.RUSAGE_CHILDREN)
            env = {"RAYON_NUM_THREADS": "1"}
            made = subprocess.run(call, cwd=place, check=True, capture_output=True, env=env)
            used = cpu(resource.RUSAGE_CHILDREN) - start
            call = [self.program, "predict", "m", "test.csv", "--proba", "--output", "p.csv"]
            subprocess.run(call, cwd=place, check=True, capture_output=True, env=env)
            shares = pd.read_csv(place / "p.csv")
            summary = json.loads(made.stdout)
        found = np.column_stack([shares[f"k{k}"] for k in range(len(classes))])
        return found, used, (summary["chosen"] or {}).get("rounds")


def coded(y, classes):
    return np.array([classes.index(label) for label in y])


def lightgbm(X, y, V, classes):
    start = cpu()
    model = lgb.LGBMClassifier(n_jobs=1, verbose=-1).fit(X, coded(y, classes))
    used = cpu() - start
    return model.predict_proba(V), used, 100


def xgboost(X, y, V, classes):
    start = cpu()
    model = xgb.XGBClassifier(n_jobs=1, enable_categorical=True).fit(X, coded(y, classes))
    used = cpu() - start
    return model.predict_proba(V), used, 100


def control(X, y, V, classes):
    """LightGBM's trees with our protocol and settings."""
    start = cpu()
    y, k, n = coded(y, classes), len(classes), len(y)
    two = k == 2
    settings = dict(
        QUIET,
        objective="binary" if two else "multiclass",
        learning_rate=0.05 if two else 0.1,
        num_leaves=16,
        max_depth=6,
        lambda_l2=1.0,
        min_data_in_leaf=5 if two else 20,
        bagging_fraction=0.8,
        bagging_freq=1,
        feature_fraction_bynode=0.7 if two else 0.8,
        max_bin=254,
        metric="binary_logloss" if two else "multi_logloss",
    )
    if not two:
        settings["num_class"] = k
    most, patience = (1000, 80) if two else (500, 30)
    if (two and n < 2500) or (not two and n < 1000):
        folds = list(StratifiedKFold(5 if two else 3, shuffle=True, random_state=1).split(y, y))
    else:
        # A class with one row cannot be divided.
        groups = y if np.bincount(y).min() > 1 else None
        folds = [train_test_split(np.arange(n), test_size=0.2, stratify=groups, random_state=1)]
    runs = []
    for train, held in folds:
        data = lgb.Dataset(X.iloc[train], y[train], params=settings)
        run = lgb.Booster(settings, data)
        run.add_valid(lgb.Dataset(X.iloc[held], y[held], reference=data, params=settings), "held")
        runs.append((run, held))
    truth = np.concatenate([y[held] for _, held in runs])
    best, least = 0, math.inf
    for made in range(1, most + 1):
        for run, _ in runs:
            run.update()
        loss = sum(run.eval_valid()[0][2] * len(held) for run, held in runs) / len(truth)
        if loss < least - 1e-6:
            best, least = made, loss
        if made - best >= patience:
            break
    raw = [run.predict(X.iloc[held], num_iteration=best, raw_score=True) for run, held in runs]
    logits = np.concatenate(raw)

    def calibrated(z, s):
        if two:
            t = np.clip(s * z, -math.log(2 * n + 1), math.log(2 * n + 1))
            p = 1 / (1 + np.exp(-t))
            return np.column_stack([1 - p, p])
        e = np.exp(s * (z - z.max(1, keepdims=True)))
        return (1 - 1 / (n + 1)) * e / e.sum(1, keepdims=True) + 1 / (n + 1) / k

    grid = np.exp(np.linspace(math.log(0.05), math.log(20), 400))
    held = [log_loss(truth, calibrated(logits, s), labels=list(range(k))) for s in grid]
    cost = [loss * len(truth) + 2 * math.log(s) ** 2 for loss, s in zip(held, grid)]
    scale = grid[int(np.argmin(cost))]
    model = lgb.train(settings, lgb.Dataset(X, y), round(1.2 * best))
    used = cpu() - start
    return calibrated(model.predict(V, raw_score=True), scale), used, round(1.2 * best)


def main():
    program, folder, out, *tables = sys.argv[1:]
    program = str(Path(program).resolve())
    learners = {"geowalk": Geowalk(program), "control": control, "lightgbm": lightgbm, "xgboost": xgboost}
    with open(out, "a", encoding="utf-8") as file:
        for name in tables or TABLES:
            X, y = read(Path(folder), name)
            classes = sorted(y.unique())
            record = {"table": name, "rows": len(y), "classes": len(classes)}
            for learner, fit in learners.items():
                losses, errors, aucs, times, rounds = [], [], [], [], []
                for train, test in splits(y):
                    p, used, made = fit(X.iloc[train], y.iloc[train], X.iloc[test], classes)
                    truth = coded(y.iloc[test], classes)
                    losses.append(log_loss(truth, np.clip(p, 1e-15, 1), labels=list(range(len(classes)))))
                    errors.append(float((p.argmax(1) != truth).mean()))
                    if len(classes) == 2:
                        aucs.append(roc_auc_score(truth, p[:, 1]))
                    times.append(used)
                    rounds.append(made)
                record[learner] = {
                    "log_loss": float(np.mean(losses)),
                    "error": float(np.mean(errors)),
                    "auc": float(np.mean(aucs)) if aucs else None,
                    "cpu": float(np.mean(times)),
                    "rounds": rounds,
                }
            file.write(json.dumps(record) + "\n")
            file.flush()
            shown = {key: round(own["log_loss"], 4) for key, own in record.items() if isinstance(own, dict)}
            print(name, shown, flush=True)


if __name__ == "__main__":
    main()
