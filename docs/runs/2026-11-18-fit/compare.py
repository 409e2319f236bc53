"""`fit` with its defaults against scikit-learn's linear models with theirs: 5-fold, rows as they are and shuffled.

    .venv/bin/python docs/runs/2026-11-18-fit/compare.py ../shared/data [minutes] [order]

`order` is kept, shuffled or both. Prints one line per table, then the figures of the README. Tables that do not fit
into the minutes are
left out and counted; small tables come first. LogisticRegressionCV, which is slow, is tried up to 150 rows.
"""

import sys
import time
import warnings
from pathlib import Path

import geowalk
import numpy as np
import pandas
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge, RidgeCV, SGDClassifier, SGDRegressor
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

warnings.filterwarnings("ignore")
DATA = Path(sys.argv[1])
END = time.time() + 60 * float(sys.argv[2] if len(sys.argv) > 2 else 12)
ORDERS = {"kept": [False], "shuffled": [True], "both": [False, True]}[sys.argv[3] if len(sys.argv) > 3 else "both"]
NUMBERS = ["abalone"]


def table(path):
    """The columns and the label of a file."""
    frame = pandas.read_csv(path, na_values=["?"])
    label = "class" if "class" in frame.columns else frame.columns[-1]
    frame = frame[frame[label].notna()].reset_index(drop=True)
    return frame.drop(columns=label), frame[label]


def prepared(X, model):
    """scikit-learn's usual pipeline: numbers imputed and scaled, names one-hot."""
    numbers = [c for c in X.columns if X[c].dtype.kind in "iuf"]
    names = [c for c in X.columns if c not in numbers]
    scaled = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    one_hot = make_pipeline(SimpleImputer(strategy="constant", fill_value="missing"), OneHotEncoder(handle_unknown="ignore"))
    return make_pipeline(make_column_transformer((scaled, numbers), (one_hot, names)), model)


def as_text(X):
    return X.astype({c: object for c in X.columns if X[c].dtype.kind == "b"})


def log_loss(model, X, y, classes, prior):
    """The mean of -ln p of the true class. A class that training had not gets half a row's probability, for every model alike."""
    p = np.full((len(y), len(classes)), 0.5 / (prior + 1))
    p[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X)
    p = np.clip(p / p.sum(axis=1, keepdims=True), 1e-15, 1)
    return -np.log(p[np.arange(len(y)), np.searchsorted(classes, y)]).mean()


CLASSIFIERS = {
    "geowalk": lambda X: geowalk.OnlineClassifier(),
    "LogisticRegression": lambda X: prepared(X, LogisticRegression()),
    "LogisticRegressionCV": lambda X: prepared(X, LogisticRegressionCV()),
    "SGDClassifier": lambda X: prepared(X, SGDClassifier(loss="log_loss")),
}
REGRESSORS = {
    "geowalk": lambda X: geowalk.OnlineRegressor(),
    "Ridge": lambda X: prepared(X, Ridge()),
    "RidgeCV": lambda X: prepared(X, RidgeCV()),
    "SGDRegressor": lambda X: prepared(X, SGDRegressor()),
}


def folds(y, shuffled, kind):
    """As `cross_val_score(cv=5)` makes them: folds of classes have the shares of the table."""
    return kind(5, shuffle=shuffled, random_state=0 if shuffled else None).split(y, y)


def classify(X, y, shuffled):
    """Mean test log-loss and accuracy, and seconds of fit, of every model; frequencies of classes last."""
    X, y = as_text(X), y.astype(str).to_numpy()
    classes, found = np.unique(y), {name: [] for name in [*CLASSIFIERS, "frequencies"]}
    for train, test in folds(y, shuffled, StratifiedKFold):
        if len(np.unique(y[train])) < 2:
            continue
        n = len(train)
        shares = np.array([((y[train] == c).sum() + 0.5) / (n + 0.5 * len(classes)) for c in classes])
        index = np.searchsorted(classes, y[test])
        found["frequencies"].append((-np.log(shares[index]).mean(), (index == shares.argmax()).mean(), 0.0))
        for name, new in CLASSIFIERS.items():
            if name == "LogisticRegressionCV" and (n > 150 or min(np.unique(y[train], return_counts=True)[1]) < 5):
                continue
            try:
                start = time.process_time()
                model = new(X).fit(X.iloc[train], y[train])
                seconds = time.process_time() - start
                lost = log_loss(model, X.iloc[test], y[test], classes, n)
                found[name].append((lost, (model.predict(X.iloc[test]) == y[test]).mean(), seconds))
            except Exception as error:
                print(f"  {name}: {type(error).__name__}: {str(error)[:160]}", flush=True)
                found[name].append((np.nan, np.nan, np.nan))
    return {name: np.mean(rows, axis=0) if rows else np.full(3, np.nan) for name, rows in found.items()}


def regress(X, y, shuffled):
    """R² over the test rows of all folds."""
    y, said = np.asarray(y, dtype=float), {name: np.zeros(len(y)) for name in REGRESSORS}
    for train, test in folds(y, shuffled, KFold):
        for name, new in REGRESSORS.items():
            said[name][test] = new(X).fit(X.iloc[train], y[train]).predict(X.iloc[test])
    return {name: 1 - ((y - z) ** 2).sum() / ((y - y.mean()) ** 2).sum() for name, z in said.items()}


def tables_of_numbers():
    random = np.random.default_rng(0)
    yield "diabetes", *load_diabetes(return_X_y=True, as_frame=True)
    X, y = make_friedman1(1000, 10, noise=1.0, random_state=0)
    yield "friedman1", pandas.DataFrame(X).add_prefix("x"), y
    X = random.standard_normal((120, 300))
    yield "wide (120 x 300)", pandas.DataFrame(X).add_prefix("x"), X[:, :5].sum(axis=1) + 2 * random.standard_normal(120)
    if (DATA / "uci" / "abalone.csv").exists():
        frame = pandas.read_csv(DATA / "uci" / "abalone.csv")
        target = frame.columns[-1]
        if frame[target].dtype.kind in "iuf":
            yield "abalone", frame.drop(columns=target), frame[target]
    for name, target in (("wine", "proline"), ("ecoli", "alm1"), ("vehicle", None), ("wdbc", None), ("segment", None)):
        path = next(iter(sorted((DATA / "uci").glob(f"{name}.csv*"))), None)
        if path is None:
            continue
        X, _ = table(path)
        X = X.loc[:, [c for c in X.columns if X[c].dtype.kind in "iuf"]].dropna()
        target = target if target in X.columns else X.columns[-1]
        yield f"{name}: {target}", X.drop(columns=target), X[target]


def main():
    print(f"geowalk {geowalk.__version__ if hasattr(geowalk, '__version__') else ''}, {time.strftime('%Y-%m-%d %H:%M')} UTC", flush=True)
    for shuffled in ORDERS:
        for name, X, y in tables_of_numbers():
            scores = regress(X, y, shuffled)
            print(f"R2 {'shuffled' if shuffled else 'kept'} {name} n={len(y)} " + " ".join(f"{m}={s:.4f}" for m, s in scores.items()), flush=True)
    paths = sorted((DATA / "uci").glob("*.csv*"), key=lambda path: path.stat().st_size)
    paths = [p for p in paths if p.name.split(".")[0] not in NUMBERS and "-test" not in p.name and "-train" not in p.name]
    rows, late = [], 0
    for path in paths:
        if time.time() > END:
            late += 1
            continue
        X, y = table(path)
        if y.nunique() > 100 or len(X) * X.shape[1] * y.nunique() > 2_000_000:
            late += 1
            continue
        both = {shuffled: classify(X, y, shuffled) for shuffled in ORDERS}
        rows.append((path.name.split(".")[0], len(y), both))
        for shuffled, own in both.items():
            print(f"{path.name.split('.')[0]} n={len(y)} {'shuffled' if shuffled else 'kept'} "
                  + " ".join(f"{m}={s[0]:.4f}/{s[1]:.3f}/{s[2]:.2f}s" for m, s in own.items()), flush=True)
    print(f"\n{len(rows)} tables of classes; {late} left out (time or size)")
    for shuffled in ORDERS:
        got = [(name, n, own[shuffled]) for name, n, own in rows if np.isfinite(own[shuffled]["geowalk"][0]) and np.isfinite(own[shuffled]["LogisticRegression"][0])]
        print(f"-- {'shuffled' if shuffled else 'kept'}: {len(got)} tables")
        for model in [*CLASSIFIERS, "frequencies"]:
            mean = np.nanmean([own[model] for _, _, own in got], axis=0)
            print(f"{model}: log-loss {mean[0]:.4f}, accuracy {mean[1]:.4f}, on {sum(np.isfinite(o[model][0]) for _, _, o in got)} tables")
        ratio = {name: own["geowalk"][0] / own["LogisticRegression"][0] for name, _, own in got}
        worst = sorted(ratio, key=ratio.get)[-6:]
        print(f"within 2 % or better: {np.mean([r <= 1.02 for r in ratio.values()]):.3f}; worst: " + ", ".join(f"{w} {ratio[w]:.3f}" for w in worst))
        print("worse than frequencies:", [name for name, _, own in got if own["geowalk"][0] > own["frequencies"][0]])
        large = [own["geowalk"][2] / own["LogisticRegression"][2] for _, n, own in got if n >= 5000]
        if large:
            print(f"seconds of fit / pipeline of LogisticRegression, n >= 5000: {np.exp(np.mean(np.log(large))):.2f} on {len(large)} tables (not an optimised build)")
    if len(ORDERS) == 2:
        means = [np.nanmean([own[s]["geowalk"][0] + 0 * own[not s]["geowalk"][0] for _, _, own in rows]) for s in ORDERS]
        print(f"both orders: {means[0]:.4f} {means[1]:.4f}")


main()
