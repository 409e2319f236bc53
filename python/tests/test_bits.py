"""The command line, `fit` with passes=1, `partial_fit` in any pieces and `learn_one` leave the same bits."""

import csv
import json

import geowalk
import numpy as np
import pytest
from conftest import ROOT, command, same_bits

DATA = ROOT / "data" / "breast-cancer.csv"


def table(path):
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


@pytest.fixture(scope="module")
def cancer():
    header, rows = table(DATA)
    at = header.index("class")
    X = np.array([[float(x) for k, x in enumerate(row) if k != at] for row in rows])
    y = np.array([row[at] for row in rows])
    return X, y, [name for name in header if name != "class"]


def frame(X, names):
    import pandas

    return pandas.DataFrame(X, columns=names)


def write(path, X, y, names):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*names, "class"])
        out.writerows([*map(repr, map(float, row)), label] for row, label in zip(X, y))


@pytest.mark.parametrize("walk", ["free", "gd", "adagrad", "natural:gaussian-shared"])
@pytest.mark.parametrize("average", [False, True])
def test_two_classes(tmp_path, cancer, walk, average):
    X, y, names = cancer
    if walk.startswith("natural") and average:
        pytest.skip("natural gradient has its own average")
    flags = ["--average"] if average else []
    # One class comes long after the other, so that the pieces differ in what they know.
    order = np.argsort(y == y[0], kind="stable")
    X, y = X[order], y[order]
    write(tmp_path / "data.csv", X, y, names)
    command("train", tmp_path / "data.csv", "--walk", walk, "--model", tmp_path / "cli.gw", *flags)

    def new():
        return geowalk.OnlineClassifier(walk=walk, average=average, passes=1)

    new().fit(frame(X, names), y).save(tmp_path / "fit.gw")
    assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw")
    for sizes in ([1, 2, 3, 100], [569], [300]):
        for classes in (np.unique(y), None):
            model, at, k = new(), 0, 0
            while at < len(y):
                rows = slice(at, at + sizes[k % len(sizes)])
                model.partial_fit(frame(X[rows], names), y[rows], classes=classes)
                at, k = rows.stop, k + 1
            model.save(tmp_path / "pieces.gw")
            assert same_bits(tmp_path / "cli.gw", tmp_path / "pieces.gw")
    one = new()
    for x, label in zip(X, y):
        one.learn_one(dict(zip(names, x.tolist())), str(label))
    one.save(tmp_path / "one.gw")
    assert same_bits(tmp_path / "cli.gw", tmp_path / "one.gw")
    assert (one.classes_ == np.unique(y)).all()


@pytest.mark.parametrize("late", [100, 600])
def test_columns_of_names_beside_numbers(tmp_path, late):
    """Columns of numbers get the first places in a table, wherever they stand in it; and for `late` rows there is one class alone, beyond several progress rows."""
    import pandas

    random = np.random.default_rng(4)
    count = 900
    colors = random.choice(["red", "blue", "green"], count)
    mixed = pandas.DataFrame({"color": colors, "size": random.standard_normal(count), "from": random.choice(["x", "y"], count), "age": random.integers(1, 90, count)})
    mixed.loc[7, "from"] = None
    mixed.insert(2, "nothing", np.nan)
    y = np.where((colors == "red") | (mixed["age"] > 40), "yes", "no")
    order = np.argsort(y != "yes", kind="stable")
    order = np.concatenate([order[:late], random.permutation(order[late:])])
    mixed, y = mixed.iloc[order].reset_index(drop=True), y[order]
    assert (y[:late] == "yes").all() and "no" in y[late:]
    mixed.assign(**{"class": y}).to_csv(tmp_path / "data.csv", index=False)
    command("train", tmp_path / "data.csv", "--model", tmp_path / "cli.gw")
    geowalk.OnlineClassifier(passes=1).fit(mixed, y).save(tmp_path / "fit.gw")
    assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw")
    for size in (1, 50, 700):
        pieces = geowalk.OnlineClassifier()
        for at in range(0, count, size):
            pieces.partial_fit(mixed.iloc[at : at + size], y[at : at + size])
        pieces.save(tmp_path / "pieces.gw")
        assert same_bits(tmp_path / "cli.gw", tmp_path / "pieces.gw")
    # Dictionaries one by one are JSON lines: features in the order in which they come.
    rows = [{name: None if value != value else value for name, value in row.items()} for row in mixed.astype(object).to_dict("records")]
    with open(tmp_path / "data.jsonl", "w") as file:
        file.writelines(json.dumps({**row, "class": label}) + "\n" for row, label in zip(rows, y.tolist()))
    command("train", tmp_path / "data.jsonl", "--model", tmp_path / "lines.gw")
    one = geowalk.OnlineClassifier()
    for row, label in zip(rows, y.tolist()):
        one.learn_one(row, label)
    one.save(tmp_path / "one.gw")
    assert one.summary_["loss"] == geowalk.load(tmp_path / "cli.gw").summary_["loss"]
    assert same_bits(tmp_path / "lines.gw", tmp_path / "one.gw")


def test_several_classes(tmp_path):
    random = np.random.default_rng(1)
    X = random.standard_normal((1500, 4))
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
    y[:40] = np.minimum(y[:40], 1)  # the third class comes late
    names = ["a", "b", "c", "d"]
    write(tmp_path / "data.csv", X, y, names)
    command("train", tmp_path / "data.csv", "--model", tmp_path / "cli.gw")
    geowalk.OnlineClassifier(passes=1).fit(frame(X, names), y).save(tmp_path / "fit.gw")
    assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw")
    one, pieces = geowalk.OnlineClassifier(), geowalk.OnlineClassifier()
    for x, label in zip(X, y):
        one.learn_one(dict(zip(names, x.tolist())), int(label))
    for at in range(0, len(y), 7):
        pieces.partial_fit(frame(X[at : at + 7], names), y[at : at + 7])
    for model in (one, pieces):
        model.save(tmp_path / "model.gw")
        assert same_bits(tmp_path / "cli.gw", tmp_path / "model.gw")
        assert (model.classes_ == [0, 1, 2]).all()
    # Predictions, and in which order.
    command("predict", tmp_path / "cli.gw", tmp_path / "data.csv", "--output", tmp_path / "out.txt")
    said = np.array((tmp_path / "out.txt").read_text().split(), dtype=int)
    for model in (one, pieces, geowalk.load(tmp_path / "cli.gw")):
        assert (model.predict(frame(X, names)) == said).all()
    out = command("predict", tmp_path / "cli.gw", tmp_path / "data.csv", "--proba").stdout.splitlines()
    head = [int(name) for name in out[0].split(",")]
    shares = np.array([[float(p) for p in line.split(",")] for line in out[1:]])
    proba = geowalk.load(tmp_path / "cli.gw").predict_proba(frame(X, names))
    assert (proba[:, head] == shares).all()


def test_a_third_class_that_comes_too_late_is_an_error():
    model = geowalk.OnlineClassifier()
    for k in range(2000):
        model.learn_one({"x": float(k % 2)}, k % 2)
    with pytest.raises(geowalk.DataError, match="class number 3 came after the first 1024 examples"):
        model.learn_one({"x": 2.0}, 2)


@pytest.mark.parametrize("passes", [1, 3])
def test_regression_and_weights(tmp_path, passes):
    random = np.random.default_rng(2)
    X, w = random.standard_normal((2500, 3)), random.integers(1, 4, 2500).astype(float)
    y = X @ [1.0, -2.0, 0.5] + 0.1 * random.standard_normal(2500)
    with open(tmp_path / "data.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["a", "b", "c", "w", "y"])
        out.writerows([*map(repr, row.tolist()), repr(float(v)), repr(float(t))] for row, v, t in zip(X, w, y))
    command("train", tmp_path / "data.csv", "--weight", "w", "--passes", passes, "--model", tmp_path / "cli.gw")
    geowalk.OnlineRegressor(passes=passes).fit(frame(X, list("abc")), y, sample_weight=w).save(tmp_path / "fit.gw")
    assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw")
    again = geowalk.load(tmp_path / "fit.gw")
    assert isinstance(again, geowalk.OnlineRegressor)
    command("predict", tmp_path / "fit.gw", tmp_path / "data.csv", "--ignore", "w", "--output", tmp_path / "out.txt")
    said = np.array([float(x) for x in (tmp_path / "out.txt").read_text().split()])
    assert (again.predict(frame(X, list("abc"))) == said).all()


def test_sparse_matrices_are_the_files_of_libsvm(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    X = sparse.random(800, 50, density=0.1, random_state=0, format="csr")
    y = np.where(X @ np.arange(50.0) > 40.0, 1, -1)
    with open(tmp_path / "data.svm", "w") as file:
        for i in range(X.shape[0]):
            row = slice(X.indptr[i], X.indptr[i + 1])
            order = np.argsort(X.indices[row])
            pairs = zip(X.indices[row][order], X.data[row][order])
            file.write(f"{y[i]} " + " ".join(f"{k + 1}:{float(x)!r}" for k, x in pairs) + "\n")
    X.sort_indices()
    command("train", tmp_path / "data.svm", "--model", tmp_path / "cli.gw")
    model = geowalk.OnlineClassifier(passes=1).fit(X, y)
    model.save(tmp_path / "fit.gw")
    assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw")
    data = geowalk.read(tmp_path / "data.svm")
    assert (data.X != X).nnz == 0 and (data.y == y).all() and data.names is None
    dense = geowalk.OnlineClassifier(passes=1).fit(X.toarray(), y)
    assert (dense.decision_function(X.toarray()) == model.decision_function(X)).all()
    assert (geowalk.load(tmp_path / "cli.gw").decision_function(X) == model.decision_function(X)).all()


def test_layouts_and_types_do_not_matter(cancer):
    X, y, names = cancer
    X32 = X.astype(np.float32)
    expected = geowalk.OnlineClassifier().fit(X32.astype(np.float64), y).coef_
    for layout in (X32, np.asfortranarray(X32), np.repeat(X32, 2, axis=0)[::2], np.asfortranarray(X32.astype(float))):
        assert (geowalk.OnlineClassifier().fit(layout, y).coef_ == expected).all()


def test_models_of_the_command_go_on(tmp_path, cancer):
    X, y, names = cancer
    write(tmp_path / "all.csv", X, y, names)
    write(tmp_path / "half.csv", X[:300], y[:300], names)
    command("train", tmp_path / "all.csv", "--model", tmp_path / "all.gw")
    command("train", tmp_path / "half.csv", "--model", tmp_path / "half.gw")
    model = geowalk.load(tmp_path / "half.gw")
    model.partial_fit(frame(X[300:], names), y[300:]).save(tmp_path / "more.gw")
    assert same_bits(tmp_path / "all.gw", tmp_path / "more.gw")
    write(tmp_path / "rest.csv", X[300:], y[300:], names)
    geowalk.OnlineClassifier(passes=1).fit(frame(X[:300], names), y[:300]).save(tmp_path / "python.gw")
    command("train", tmp_path / "rest.csv", "--resume", tmp_path / "python.gw", "--model", tmp_path / "more.gw")
    assert same_bits(tmp_path / "all.gw", tmp_path / "more.gw")


@pytest.mark.parametrize("what", ["boost", "tree"])
def test_boosting_and_trees(tmp_path, cancer, what):
    X, y, names = cancer
    new = geowalk.BoostClassifier(rounds=5) if what == "boost" else geowalk.TreeClassifier()
    command(what, DATA, "--model", tmp_path / "cli.gw", *(["--rounds", 5] if what == "boost" else []))
    new.fit(frame(X, names), y).save(tmp_path / "fit.gw")
    assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw")
    again = geowalk.load(tmp_path / "cli.gw")
    assert type(again) is type(new)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert (again.predict_proba(X) == new.predict_proba(frame(X, names))).all()
    out = command("predict", tmp_path / "fit.gw", DATA, "--proba").stdout.splitlines()
    shares = np.array([[float(p) for p in line.split(",")] for line in out[1:]])
    assert (shares == again.predict_proba(frame(X, names))).all()
