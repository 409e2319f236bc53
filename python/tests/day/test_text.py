"""Text, names, flags and gaps: the same columns become the same features from the command, `read`, pandas, Polars, Arrow and dictionaries."""

import json

import geowalk
import numpy as np
import pytest
from conftest import command, same_bits, shared

pandas = pytest.importorskip("pandas")

WORDS = ["free", "prize", "call", "now", "meet", "lunch", "home", "Don't", "later", "ok", "WIN", "cash"]
SUBJECTS = ["urgent offer", "hello"]


def messages(rows=300):
    """A table with text, names, numbers with gaps, and truth values; and labels."""
    random = np.random.default_rng(4)
    spam = random.random(rows) < 0.4
    pick = lambda s: " ".join(random.choice(WORDS[:6] if s else WORDS[4:], random.integers(4, 9)))  # noqa: E731
    table = pandas.DataFrame(
        {
            "text": [f"{pick(s)}, {k}!" for k, s in enumerate(spam)],
            "from": random.choice(["bank", "mother", "shop"], rows),
            "length": random.integers(0, 3, rows).astype(float),
            "seen": random.random(rows) < 0.5,
        }
    )
    table.loc[[3, 50], "length"] = np.nan
    table.loc[[5, 60], "from"] = None
    table.loc[[9], "text"] = None
    return table, np.where(spam, "spam", "ham")


def doors(table):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    yield "pandas", table
    yield "types of pandas", table.convert_dtypes()
    yield "objects", table.astype(object)
    yield "polars", pl.from_pandas(table)
    yield "arrow", pa.Table.from_pandas(table)
    yield "categories", table.astype({"from": "category"})


def parquet(table, y, path):
    table.assign(**{"class": y}).to_parquet(path, index=False)
    return path


def test_every_door_makes_the_same_features(tmp_path):
    table, y = messages()
    command("train", parquet(table, y, tmp_path / "data.parquet"), "--model", tmp_path / "cli.gw")
    expected = geowalk.load(tmp_path / "cli.gw")
    assert {"text=free", "text=don't", "from=bank", "from=missing", "length=missing", "seen=true"} <= set(expected.get_feature_names_out())
    data = geowalk.read(tmp_path / "data.parquet")
    assert list(data.names) == list(expected.get_feature_names_out())
    for door, own in doors(table):
        model = geowalk.OnlineClassifier(passes=1).fit(own, y)
        model.save(tmp_path / "fit.gw")
        assert list(model.get_feature_names_out()) == list(data.names), door
        assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw"), door
        assert (expected.decision_function(own) == model.decision_function(own)).all(), door
        assert model.score(own, y) > 0.9
    # Without a table: dictionaries, with the columns of the model.
    rows = [{name: None if value is None or value != value else value for name, value in row.items()} for row in table.to_dict("records")]
    shares = [expected.predict_proba_one(row)["spam"] for row in rows]
    assert np.allclose(shares, expected.predict_proba(table)[:, 1], rtol=1e-12)
    # Sparse rows of `read`, whose columns are the features.
    with pytest.warns(UserWarning):
        assert np.allclose(expected.decision_function(data.X), expected.decision_function(table), rtol=1e-12)


@pytest.mark.parametrize("what, new", [("tree", geowalk.TreeClassifier(max_leaves=8)), ("boost", geowalk.BoostClassifier(rounds=3))])
def test_rules_and_trees_ask_about_words(what, new, tmp_path):
    table, y = messages()
    flags = ["--leaves", 8] if what == "tree" else ["--rounds", 3]
    command(what, parquet(table, y, tmp_path / "data.parquet"), "--model", tmp_path / "cli.gw", *flags)
    loaded = geowalk.load(tmp_path / "cli.gw")
    assert list(loaded.feature_names_in_) == list(table.columns) and "text=free" in loaded.get_feature_names_out()
    for door, own in doors(table):
        model = new.fit(own, y)
        model.save(tmp_path / "fit.gw")
        assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw"), door
        assert (loaded.predict_proba(own) == model.predict_proba(own)).all(), door
        assert model.n_features_in_ == 4 and len(model.get_feature_names_out()) > 10
        assert "text=" in model.write()
    with pytest.raises(ValueError, match="column 'text' held text when the model was fitted, and holds numbers now"):
        loaded.predict(table.assign(text=1.0))
    # What Python has fitted predicts from the command line, bit for bit.
    lines = command("predict", tmp_path / "fit.gw", tmp_path / "data.parquet", "--proba").stdout.split()
    told = np.array([[float(p) for p in line.split(",")] for line in lines[1:]])
    assert (told == model.predict_proba(own)).all()


@pytest.mark.parametrize("new", [geowalk.OnlineClassifier(), geowalk.OnlineClassifier(passes=1), geowalk.NaturalClassifier("gaussian-sparse")])
@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_models_move_between_doors(new, form, tmp_path):
    table, y = messages()
    if form != "parquet":
        table = table.drop(columns="seen")  # text files have no truth values
    path = tmp_path / f"data.{form}"
    if form == "parquet":
        parquet(table, y, path)
    elif form == "csv":
        table.assign(**{"class": y}).to_csv(path, index=False)
    else:
        full = table.assign(**{"class": y}).astype(object).where(table.assign(**{"class": y}).notna(), None)
        path.write_text("".join(json.dumps(row) + "\n" for row in full.to_dict("records")))
    model = new.fit(table, y)
    model.save(tmp_path / "fit.gw")
    lines = command("predict", tmp_path / "fit.gw", path, "--proba").stdout.split()
    told = np.array([[float(p) for p in line.split(",")] for line in lines[1:]])
    assert np.allclose(told, model.predict_proba(table), rtol=1e-12) if form == "jsonl" else (told == model.predict_proba(table)).all()
    labels = command("predict", tmp_path / "fit.gw", path).stdout.split()
    assert labels == model.predict(table).tolist()


def test_what_is_text_can_be_said(tmp_path):
    table, y = messages()
    short = table[["text"]].assign(subject=np.random.default_rng(0).choice(SUBJECTS, len(y)))
    model = geowalk.OnlineClassifier(text=["subject"], nominal=["text"])
    names = model.fit(short, y).get_feature_names_out()
    assert {"subject=urgent", "subject=offer", "subject=hello"} <= set(names) and not any(name == "text=free" for name in names)
    stream = geowalk.OnlineClassifier(text=["text"], nominal=["hour"])
    for row, label in zip(table["text"].fillna(""), y):
        stream.learn_one({"text": row, "hour": 7}, label)
    assert {"text=free", "hour=7"} <= set(stream._model.names())
    stream.save(tmp_path / "m.gw")
    again = geowalk.load(tmp_path / "m.gw")
    assert again.predict_proba_one({"text": "free prize"}) == stream.predict_proba_one({"text": "free prize"})
    path = parquet(table, y, tmp_path / "data.parquet")
    assert not any(name == "text=free" for name in geowalk.read(path, nominal=["text"]).names)
    assert "from=bank" in geowalk.read(path, text=["from"]).names


def test_messages_of_phones(tmp_path):
    """The model of the command is no worse in Python: the issue's table."""
    path = shared("sparse/sms-spam.tsv.gz")
    table = pandas.read_csv(path, sep="\t", quoting=3, keep_default_na=False)
    label = next(name for name in table.columns if name in ("class", "label"))
    X, y = table.drop(columns=label), table[label]
    command("train", path, "--model", tmp_path / "cli.gw")
    loaded = geowalk.load(tmp_path / "cli.gw")
    assert loaded.score(X, y) > 0.99
    model = geowalk.OnlineClassifier(passes=1).fit(X, y)
    model.save(tmp_path / "fit.gw")
    assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw") and (model.decision_function(X) == loaded.decision_function(X)).all()
    lines = command("predict", tmp_path / "fit.gw", path, "--proba").stdout.split()
    assert [float(line.split(",")[1]) for line in lines[1:]] == model.predict_proba(X)[:, 1].tolist()
