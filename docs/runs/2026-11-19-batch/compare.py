"""Boosted trees and rules beside their peers on tables that chose no constant: log-loss, error, AUC, CPU time.

    python compare.py GEOWALK DATA OUT.jsonl [--only LEARNER,...] [TABLE ...]
    python compare.py --tell OUT.jsonl

GEOWALK is the command, DATA the folder of the tables. Three stratified folds up to 1,000 rows, otherwise one split of
70 and 30 %; the same for all. `control` is LightGBM with the protocol and settings of `geowalk boost --weak trees`
(from ../2026-11-18-trees/compare.py). Peers have their defaults, HistGradientBoosting early stopping; one thread each.
AdaBoost and logistic regression get names as indicators, gaps as means. What is in OUT already is not repeated.
"""

import json
import math
import sys
import time
from importlib import util
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

spec = util.spec_from_file_location("old", Path(__file__).parent.parent / "2026-11-18-trees" / "compare.py")
old = util.module_from_spec(spec)
spec.loader.exec_module(old)
coded, cpu = old.coded, old.cpu


def splits(y):
    if len(y) <= 1000:
        return list(StratifiedKFold(3, shuffle=True, random_state=0).split(y, y))
    return [train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)]


class Geowalk(old.Geowalk):
    """The command with other flags than `--weak trees`: the last one given counts."""

    def __init__(self, program, weak, *flags):
        super().__init__(program, *flags)
        self.weak = weak

    def __call__(self, X, y, V, classes):
        run = old.subprocess.run

        def other(call, **more):
            call = [self.weak if part == "trees" else part for part in call]
            return run(call, **more)

        old.subprocess.run = other
        try:
            return super().__call__(X, y, V, classes)
        finally:
            old.subprocess.run = run


def fitted(make):
    def learn(X, y, V, classes):
        start = cpu()
        model = make(X).fit(X, coded(y, classes))
        used = cpu() - start
        found = np.zeros((len(V), len(classes)))
        found[:, model.classes_] = model.predict_proba(V)
        return found, used, None

    return learn


def plain(model):
    """Names as indicators, gaps as means, one scale."""

    def make(X):
        names = make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), OneHotEncoder(handle_unknown="ignore"))
        numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
        number = make_column_selector(dtype_include="number")
        return make_pipeline(
            make_column_transformer((numbers, number), (names, make_column_selector(dtype_exclude="number"))), model()
        )

    return lambda X, y, V, classes: fitted(make)(as_text(X), y, as_text(V), classes)


def as_text(X):
    return X.apply(lambda own: own if pd.api.types.is_numeric_dtype(own) else own.astype(object).fillna("?").astype(str))


def ebm(X):
    from interpret.glassbox import ExplainableBoostingClassifier

    kinds = ["continuous" if pd.api.types.is_numeric_dtype(X[c]) else "nominal" for c in X.columns]
    return ExplainableBoostingClassifier(n_jobs=1, random_state=0, feature_types=kinds)


def learners(program):
    hist = {"categorical_features": "from_dtype", "early_stopping": True, "random_state": 0}
    return {
        "trees": Geowalk(program, "trees"),
        "rules": Geowalk(program, "rules"),
        "control": old.control,
        "lightgbm": old.lightgbm,
        "xgboost": old.xgboost,
        "histgb": fitted(lambda X: HistGradientBoostingClassifier(**hist)),
        "adaboost": plain(lambda: AdaBoostClassifier(random_state=0)),
        "logistic": plain(lambda: LogisticRegression(max_iter=2000)),
        "ebm": lambda X, y, V, classes: fitted(ebm)(as_text(X), y, as_text(V), classes),
    }


def measure(fit, X, y, classes):
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
    mean = lambda values: float(np.mean(values)) if values else None
    return {"log_loss": mean(losses), "error": mean(errors), "auc": mean(aucs), "cpu": mean(times), "rounds": rounds}


def tell(path):
    found = {}
    for line in Path(path).read_text().splitlines():
        own = json.loads(line)
        found.setdefault(own["table"], {})[own["learner"]] = own
    names = list(dict.fromkeys(name for own in found.values() for name in own))
    print("| table |", " | ".join(names), "|\n|" + "---|" * (len(names) + 1))
    for table, own in found.items():
        shown = [f"{own[name]['log_loss']:.4f}" if own.get(name, {}).get("log_loss") is not None else "" for name in names]
        print(f"| {table} |", " | ".join(shown), "|")
    for mine in ("trees", "rules"):
        for peer in names:
            both = [(own[mine], own[peer]) for own in found.values() if mine in own and peer in own and mine != peer]
            both = [pair for pair in both if all(part["log_loss"] is not None for part in pair)]
            if not both:
                continue
            lower = sum(a["log_loss"] < b["log_loss"] for a, b in both)
            near = sum(a["log_loss"] <= 1.02 * b["log_loss"] for a, b in both)
            errors = sum(a["error"] < b["error"] for a, b in both), sum(a["error"] == b["error"] for a, b in both)
            ratio = math.exp(np.median([math.log(a["log_loss"] / b["log_loss"]) for a, b in both]))
            aucs = [(a["auc"], b["auc"]) for a, b in both if a["auc"] is not None]
            higher = sum(a > b for a, b in aucs)
            times = np.median([a["cpu"] / b["cpu"] for a, b in both])
            print(
                f"{mine} / {peer}: log-loss lower on {lower} of {len(both)} (within 2 %: {near}), median ratio {ratio:.3f}; "
                f"error lower on {errors[0]}, equal on {errors[1]}; AUC higher on {higher} of {len(aucs)}; CPU {times:.2f}"
            )


def main():
    if sys.argv[1] == "--tell":
        return tell(sys.argv[2])
    program, folder, out, *rest = sys.argv[1:]
    known = learners(str(Path(program).resolve()))
    only = list(known)
    if rest[:1] == ["--only"]:
        only, rest = rest[1].split(","), rest[2:]
    done = set()
    if Path(out).exists():
        done = {(own["table"], own["learner"]) for own in map(json.loads, Path(out).read_text().splitlines())}
    with open(out, "a", encoding="utf-8") as file:
        for name in rest or old.TABLES:
            X, y = old.read(Path(folder), name)
            classes = sorted(y.unique())
            for learner in only:
                if (name, learner) in done:
                    continue
                start = time.time()
                try:
                    found = measure(known[learner], X, y, classes)
                except Exception as error:  # a peer that fails on a table is left out there
                    found = {"log_loss": None, "failed": repr(error)[:200]}
                record = {"table": name, "rows": len(y), "classes": len(classes), "learner": learner, **found}
                file.write(json.dumps(record) + "\n")
                file.flush()
                print(name, learner, found.get("log_loss"), f"{time.time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
